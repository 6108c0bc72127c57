//! The messages between the caller, the launcher and the process in the namespaces.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::{Layers, Policy};

/// The first argument of the launcher.
pub(crate) const LAUNCH: &str = "--ragmaker-confine";

/// The first argument of the first process in the namespaces.
pub(crate) const INNER: &str = "--ragmaker-confined";

/// The layers that the launcher reports to the first process in the namespaces.
pub(crate) const LAYERS: &str = ragmaker_project::variables::CONFINE_LAYERS;

/// The input of the launcher.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Plan {
    pub(crate) policy: Policy,
    /// The temporary folder of the command, if it has no mounts of its own.
    pub(crate) temporary: PathBuf,
    /// The file of the [`Report`]. The command may run as long as the caller holds the lock of this file.
    pub(crate) report: PathBuf,
}

/// The output of the launcher.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(crate) struct Report {
    pub(crate) layers: Layers,
    pub(crate) failed: Option<String>,
    pub(crate) exit_code: Option<i32>,
    pub(crate) signal: Option<i32>,
    /// Whether the program has ended. A first report is made before its start, so that the layers are known if it is
    /// killed.
    #[serde(default)]
    pub(crate) has_ended: bool,
}
