//! No path leads out of its root, and none makes the rules panic.
//!
//!     cd shared/files && cargo +nightly fuzz run paths
#![no_main]

use std::{fs, os::unix::fs::symlink, path::PathBuf, sync::LazyLock};

use libfuzzer_sys::fuzz_target;
use ragmaker_files::Roots;
use ragmaker_tool::HostOptions;

/// A tree with links in it that lead about and out.
static ROOT: LazyLock<PathBuf> = LazyLock::new(|| {
    let root = std::env::temp_dir().join(format!("ragmaker-fuzz-{}", std::process::id()));
    fs::create_dir_all(root.join("a/b")).unwrap();
    for (target, link) in [("/etc", "e"), ("..", "u"), ("l", "l"), ("a/b", "d"), ("no", "n")] {
        let _ = symlink(target, root.join(link));
    }
    root.canonicalize().unwrap()
});

fuzz_target!(|text: &str| {
    let project_root = ROOT.to_str().map(str::to_owned);
    let roots = Roots::discover(&HostOptions { project_root, ..HostOptions::default() }).unwrap();
    for place in [roots.place(text), roots.place_to_write(text), roots.entry_to_write(text)].into_iter().flatten() {
        let path = place.path();
        assert!(path.starts_with(&*ROOT), "{}", path.display());
        let real = path.parent().unwrap().canonicalize();
        assert!(real.is_err() || real.unwrap().starts_with(ROOT.parent().unwrap()), "{}", path.display());
    }
});
