//! Standard input, which brings the protocol: it is taken away from this process at the start, so
//! that no tool that runs in it can read what was meant for the server.

use std::{fs::File, io};

use tokio::io::AsyncRead;

/// What standard input was. Whoever reads that from now on finds its end.
pub(crate) fn taken() -> io::Result<File> {
    let input = io::stdin();
    #[cfg(unix)]
    {
        let own = std::os::fd::AsFd::as_fd(&input).try_clone_to_owned()?;
        rustix::stdio::dup2_stdin(File::open("/dev/null")?)?;
        Ok(own.into())
    }
    // Nothing puts another handle there without `unsafe`.
    #[cfg(windows)]
    Ok(std::os::windows::io::AsHandle::as_handle(&input).try_clone_to_owned()?.into())
}

/// What standard input was, for the server to read.
pub(crate) fn reader() -> io::Result<Box<dyn AsyncRead + Send + Unpin>> {
    let input = taken()?;
    // A pipe needs no thread to wait for it. It is opened anew, so that those who have its other
    // descriptors go on to wait as they did.
    #[cfg(target_os = "linux")]
    {
        let path = format!("/proc/self/fd/{}", std::os::fd::AsRawFd::as_raw_fd(&input));
        if let Ok(pipe) = tokio::net::unix::pipe::OpenOptions::new().open_receiver(path) {
            return Ok(Box::new(pipe));
        }
    }
    Ok(Box::new(tokio::fs::File::from_std(input)))
}
