//! Chrome for Testing: a browser and its driver that `ragmaker setup` downloads where no package manager has them.

use std::{env, path::PathBuf};

use crate::user_cache_folder;

/// The folder of the downloaded browser and driver, which need not exist; `None` if the user has no folder for caches.
pub fn folder() -> Option<PathBuf> {
    user_cache_folder().map(|caches| caches.join("chrome-for-testing"))
}

/// What Chrome for Testing calls this system; `None` if it has no builds for it.
pub fn platform() -> Option<&'static str> {
    Some(match (env::consts::OS, env::consts::ARCH) {
        ("linux", "x86_64") => "linux64",
        ("linux", "aarch64") => "linux-arm64",
        ("macos", "x86_64") => "mac-x64",
        ("macos", "aarch64") => "mac-arm64",
        ("windows", "x86_64") => "win64",
        ("windows", "x86") => "win32",
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[cfg(all(target_os = "linux", target_arch = "x86_64"))]
    #[test]
    fn a_system_has_a_name() {
        assert_eq!(platform(), Some("linux64"));
    }
}
