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

#[cfg(test)]
mod tests {
    use std::fs::{self, File};

    use rustix::fs::{getxattr, setxattr};

    use super::*;

    #[test]
    fn attributes_are_copied_with_any_bytes_and_others_stay() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        fs::write(at("from"), "").unwrap();
        fs::write(at("to"), "").unwrap();
        let set = |file, name, value: &[u8]| setxattr(at(file), name, value, XattrFlags::empty());
        if set("from", "user.note", b"\0new").is_err() {
            // The file system keeps none.
            return;
        }
        set("from", "user.empty", b"").unwrap();
        set("to", "user.note", b"old and longer").unwrap();
        set("to", "user.own", b"own").unwrap();
        copy_attributes(File::open(at("from")).unwrap(), File::open(at("to")).unwrap()).unwrap();
        let get = |name| {
            let mut value = vec![0; 100];
            let length = getxattr(at("to"), name, value.as_mut_slice()).unwrap();
            value.truncate(length);
            value
        };
        assert_eq!(
            (get("user.note"), get("user.empty"), get("user.own")),
            (b"\0new".to_vec(), vec![], b"own".to_vec())
        );
    }

    #[test]
    fn a_file_system_without_attributes_is_no_error_but_a_broken_one_is() {
        let leaves_out = [Errno::NOTSUP, Errno::NOSYS, Errno::PERM, Errno::ACCESS];
        assert!(leaves_out.into_iter().all(is_left_out));
        assert!(![Errno::IO, Errno::NOSPC, Errno::DQUOT, Errno::ROFS].into_iter().any(is_left_out));
    }
}
