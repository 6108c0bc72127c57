//! What this system does not support.

use ragmaker_tool::Error;

use crate::{CROSS_DEVICE, ResolvedPath, change::Entry};

impl ResolvedPath {
    /// Moving to another drive, which would need a copy with the attributes of Windows.
    pub(crate) fn move_across(
        &self,
        _from: &Entry<'_>,
        destination: &Self,
        _to: &Entry<'_>,
        _overwrite: bool,
    ) -> Result<(), Error> {
        let path = self.path();
        Err(CROSS_DEVICE
            .error(format!("{} is on another drive than {}", path.display(), destination.path().display()))
            .remedy("Moving to another drive is not supported on Windows. Ask the user to move it.")
            .detail("path", path.to_string_lossy()))
    }
}
