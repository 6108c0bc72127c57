//! The parts of a release archive.

pub mod archive;
pub mod licences;
pub mod packages;
pub mod release;
pub mod sbom;
