//! The extended attributes of files and directories, among which Linux keeps access control lists.

use std::io;

use rustix::{
    fd::AsFd,
    fs::{XattrFlags, fgetxattr, fgetxattr_query, flistxattr, fsetxattr},
    io::Errno,
};

/// The maximum size in bytes of all names of a file's attributes on Linux.
const MAX_NAMES: usize = 64 << 10;

/// Gives `to` the extended attributes of `from`. Those that the file system of `to` does not keep, and those that this
/// user may not read or set, are left out, as `mv` leaves them out.
pub(crate) fn copy_attributes(from: impl AsFd, to: impl AsFd) -> io::Result<()> {
    let mut names = vec![0; MAX_NAMES];
    let length = match flistxattr(&from, names.as_mut_slice()) {
        Err(errno) if is_left_out(errno) => return Ok(()),
        length => length?,
    };
    for name in names[..length].split(|byte| *byte == 0).filter(|name| !name.is_empty()) {
        let value = (|| {
            let mut value = vec![0; fgetxattr_query(&from, name)?];
            let length = fgetxattr(&from, name, value.as_mut_slice())?;
            value.truncate(length);
            Ok(value)
        })();
        match value.and_then(|value| fsetxattr(&to, name, &value, XattrFlags::empty())) {
            Err(errno) if is_left_out(errno) => {}
            set => set?,
        }
    }
    Ok(())
}

/// Whether a call failed because attributes are not kept there, or not by this user.
fn is_left_out(errno: Errno) -> bool {
    [Errno::NOTSUP, Errno::NOSYS, Errno::PERM, Errno::ACCESS].contains(&errno)
}
