//! The messages between the caller, the launcher and the process in the namespaces.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::{Layers, Policy};

/// The first argument of the launcher.
pub(crate) const LAUNCH: &str = "--ragmaker-confine";

/// The first argument of the first process in the namespaces.
pub(crate) const INNER: &str = "--ragmaker-confined";

/// What the launcher hands to the process in the namespaces, beside the plan.
pub(crate) const LAYERS: &str = ragmaker_project::variables::CONFINE_LAYERS;

/// What the launcher gets.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Plan {
    pub(crate) policy: Policy,
    /// The temporary folder of the command where it has no mounts of its own.
    pub(crate) temporary: PathBuf,
    /// The file that [`Report`] is written to; while the caller holds its lock, the command may run.
    pub(crate) report: PathBuf,
}

/// What the launcher says.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(crate) struct Report {
    pub(crate) layers: Layers,
    pub(crate) failed: Option<String>,
    pub(crate) exit_code: Option<i32>,
    pub(crate) signal: Option<i32>,
}
