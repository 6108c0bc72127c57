//! What differs between operating systems: handles of directories, metadata, permissions.
//!
//! Both modules have the same functions. Their meaning is documented at [`Directory`](crate::Directory).

#[cfg(unix)]
mod unix;
#[cfg(windows)]
mod windows;

#[cfg(unix)]
pub(crate) use unix::*;
#[cfg(windows)]
pub(crate) use windows::*;
