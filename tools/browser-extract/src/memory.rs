//! Checks whether free memory suffices for another tab.

use sysinfo::System;

/// The free memory that another tab needs, in bytes.
const TAB: u64 = 256 << 20;

/// Whether the free memory of the machine and of this process's container suffices for another tab; true if unknown.
pub(crate) fn has_room() -> bool {
    let mut system = System::new();
    system.refresh_memory();
    let container = system.cgroup_limits().map_or(u64::MAX, |limits| limits.free_memory);
    let free = system.available_memory().min(container);
    system.total_memory() == 0 || free > TAB
}
