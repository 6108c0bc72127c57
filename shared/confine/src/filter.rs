//! seccomp: the system calls that are refused.
//!
//! A filter sees numbers, not paths, so it refuses whole system calls. It refuses sockets if there is no network
//! access. It always refuses Unix sockets, because services that run programs listen on them. It also refuses calls
//! that access other processes, and calls that only an administrator needs.

use std::{collections::BTreeMap, env};

use seccompiler::{
    BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter, SeccompRule,
    apply_filter,
};

/// Calls that are refused with any arguments.
const REFUSED: &[libc::c_long] = &[
    // Other processes.
    libc::SYS_ptrace,
    libc::SYS_process_vm_readv,
    libc::SYS_process_vm_writev,
    libc::SYS_pidfd_getfd,
    libc::SYS_kcmp,
    libc::SYS_process_madvise,
    // Mounts and namespaces.
    libc::SYS_mount,
    libc::SYS_umount2,
    libc::SYS_pivot_root,
    libc::SYS_chroot,
    libc::SYS_move_mount,
    libc::SYS_open_tree,
    libc::SYS_fsopen,
    libc::SYS_fsmount,
    libc::SYS_fsconfig,
    libc::SYS_fspick,
    libc::SYS_mount_setattr,
    libc::SYS_setns,
    libc::SYS_unshare,
    libc::SYS_open_by_handle_at,
    libc::SYS_name_to_handle_at,
    // They can perform other calls without passing this filter.
    libc::SYS_io_uring_setup,
    libc::SYS_io_uring_enter,
    libc::SYS_io_uring_register,
    // The kernel.
    libc::SYS_bpf,
    libc::SYS_perf_event_open,
    libc::SYS_userfaultfd,
    libc::SYS_kexec_load,
    libc::SYS_init_module,
    libc::SYS_finit_module,
    libc::SYS_delete_module,
    libc::SYS_reboot,
    libc::SYS_swapon,
    libc::SYS_swapoff,
    libc::SYS_acct,
    libc::SYS_quotactl,
    libc::SYS_syslog,
    libc::SYS_settimeofday,
    libc::SYS_clock_settime,
    libc::SYS_clock_adjtime,
    libc::SYS_adjtimex,
    libc::SYS_sethostname,
    libc::SYS_setdomainname,
    libc::SYS_vhangup,
    // Kernel key rings.
    libc::SYS_add_key,
    libc::SYS_request_key,
    libc::SYS_keyctl,
];

/// Calls that change modes, owners, times and attributes, which Landlock does not control.
const METADATA: &[libc::c_long] = &[
    libc::SYS_fchmod,
    libc::SYS_fchmodat,
    libc::SYS_fchmodat2,
    libc::SYS_fchown,
    libc::SYS_fchownat,
    libc::SYS_setxattr,
    libc::SYS_lsetxattr,
    libc::SYS_fsetxattr,
    libc::SYS_removexattr,
    libc::SYS_lremovexattr,
    libc::SYS_fremovexattr,
    libc::SYS_utimensat,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_chmod,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_chown,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_lchown,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_utime,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_utimes,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_futimesat,
];

/// On x86-64, the flag of the same call in the x32 ABI.
#[cfg(target_arch = "x86_64")]
const X32: i64 = 0x4000_0000;

/// Filters the system calls of this process and of all its descendants.
pub(crate) fn apply(network: bool, mounts: bool) -> Result<(), Box<dyn std::error::Error>> {
    let mut rules: BTreeMap<i64, Vec<SeccompRule>> = BTreeMap::new();
    for call in REFUSED.iter().chain(if mounts { &[] } else { METADATA }) {
        rules.insert(*call, vec![]);
    }
    let equals = |argument: u8, value: libc::c_int| {
        let value = u64::try_from(value).unwrap_or_default();
        SeccompCondition::new(argument, SeccompCmpArgLen::Dword, SeccompCmpOp::Eq, value)
    };
    let differs = |argument: u8, value: libc::c_int| {
        let value = u64::try_from(value).unwrap_or_default();
        SeccompCondition::new(argument, SeccompCmpArgLen::Dword, SeccompCmpOp::Ne, value)
    };
    let sockets = if network {
        let allowed = [libc::AF_INET, libc::AF_INET6, libc::AF_NETLINK];
        vec![SeccompRule::new(allowed.iter().map(|family| differs(0, *family)).collect::<Result<_, _>>()?)?]
    } else {
        vec![]
    };
    rules.insert(libc::SYS_socket, sockets);
    // A new user namespace gives access to rarely tested kernel code.
    let user = u64::try_from(libc::CLONE_NEWUSER)?;
    let clones = SeccompCondition::new(0, SeccompCmpArgLen::Qword, SeccompCmpOp::MaskedEq(user), user)?;
    rules.insert(libc::SYS_clone, vec![SeccompRule::new(vec![clones])?]);
    // Characters that are inserted into a terminal would be run by the person's shell.
    let typed = [libc::TIOCSTI, libc::TIOCLINUX].into_iter().map(|request| {
        let request = libc::c_int::try_from(request).unwrap_or_default();
        SeccompRule::new(vec![equals(1, request)?])
    });
    rules.insert(libc::SYS_ioctl, typed.collect::<Result<_, _>>()?);
    #[cfg(target_arch = "x86_64")]
    for (call, of_call) in rules.clone() {
        rules.insert(call | X32, of_call);
    }
    install(rules, libc::EPERM)?;
    // The flags of `clone3` are in memory, which a filter cannot read. After ENOSYS, the C library uses
    // `clone`.
    install(BTreeMap::from([(libc::SYS_clone3, vec![])]), libc::ENOSYS)
}

fn install(rules: BTreeMap<i64, Vec<SeccompRule>>, error: libc::c_int) -> Result<(), Box<dyn std::error::Error>> {
    let action = SeccompAction::Errno(u32::try_from(error)?);
    let filter = SeccompFilter::new(rules, SeccompAction::Allow, action, env::consts::ARCH.try_into()?)?;
    let program: BpfProgram = filter.try_into()?;
    Ok(apply_filter(&program)?)
}

#[cfg(test)]
mod tests {
    use std::{
        fs::{self, Permissions},
        io,
        net::TcpListener,
        os::unix::{fs::PermissionsExt, net::UnixListener},
        path::Path,
        thread,
    };

    use super::*;

    /// What may be done in a thread with the filter: TCP, Unix sockets, changes of modes. `None` if the kernel has no
    /// filters.
    fn allowed(network: bool, mounts: bool, folder: &Path) -> Option<[bool; 3]> {
        let ran = |done: io::Result<()>| match done {
            Ok(()) => true,
            Err(error) => {
                assert_eq!(error.raw_os_error(), Some(libc::EPERM), "{error}");
                false
            }
        };
        thread::scope(|scope| {
            let confined = scope.spawn(|| {
                apply(network, mounts).ok()?;
                // What every program needs goes on: files, and threads, whose `clone3` is refused.
                let file = folder.join("a");
                fs::write(&file, "a").unwrap();
                thread::spawn(|| ()).join().unwrap();
                Some([
                    ran(TcpListener::bind("127.0.0.1:0").map(drop)),
                    ran(UnixListener::bind(folder.join(format!("{network}{mounts}"))).map(drop)),
                    ran(fs::set_permissions(&file, Permissions::from_mode(0o600))),
                ])
            });
            confined.join().unwrap()
        })
    }

    #[test]
    fn sockets_and_changes_of_modes_are_refused_unless_another_layer_confines_them() {
        let folder = tempfile::tempdir().unwrap();
        let Some(nothing) = allowed(false, false, folder.path()) else { return };
        assert_eq!(nothing, [false, false, false]);
        assert_eq!(allowed(true, true, folder.path()).unwrap(), [true, false, true]);
        assert_eq!(allowed(false, true, folder.path()).unwrap(), [false, false, true]);
    }
}
