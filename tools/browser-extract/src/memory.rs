//! Whether there is memory for another tab.

use sysinfo::System;

/// The memory that has to be free for another tab, in bytes.
const TAB: u64 = 256 << 20;

/// Whether another tab fits into what is free, of the machine and of the container that this process is in. Where
/// nobody can tell, it does.
pub(crate) fn has_room() -> bool {
    let mut system = System::new();
    system.refresh_memory();
    let container = system.cgroup_limits().map_or(u64::MAX, |limits| limits.free_memory);
    let free = system.available_memory().min(container);
    system.total_memory() == 0 || free > TAB
}
