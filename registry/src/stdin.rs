//! Standard input of a host, which carries the protocol.
//!
//! It is moved to another descriptor at the start, so that no tool in the process can read messages for the host.

use std::{fs::File, io};

/// Takes standard input away from the process and returns it. Later readers of standard input find its end.
///
/// # Errors
///
/// Where the descriptor cannot be duplicated or replaced.
pub fn take() -> io::Result<File> {
    let input = io::stdin();
    #[cfg(unix)]
    {
        let own = std::os::fd::AsFd::as_fd(&input).try_clone_to_owned()?;
        rustix::stdio::dup2_stdin(File::open("/dev/null")?)?;
        Ok(own.into())
    }
    // Windows has no safe way to replace the handle.
    #[cfg(windows)]
    Ok(std::os::windows::io::AsHandle::as_handle(&input).try_clone_to_owned()?.into())
}
