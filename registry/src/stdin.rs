//! Standard input of a host, which carries the protocol: it is taken away from the process at the start, so
//! that no tool in it can read what was meant for the host.

use std::{fs::File, io};

/// What standard input was. Whoever reads standard input from now on finds its end.
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
