//! Any text is judged, and what runs is a line that shells can parse.
//!
//!     cd shared/guard && cargo +nightly fuzz run judge -- -max_len=4096 -dict=fuzz/shell.dict
#![no_main]

use std::{process::Command, sync::LazyLock};

use libfuzzer_sys::fuzz_target;
use ragmaker_files::Roots;
use ragmaker_guard::{Scope, Verdict, judge};
use ragmaker_tool::HostOptions;

static SCOPE: LazyLock<Scope> = LazyLock::new(|| {
    let root = std::env::temp_dir().join("ragmaker-guard-fuzz");
    std::fs::create_dir_all(root.join("src")).unwrap();
    let host = HostOptions { project_root: root.to_str().map(str::to_owned), ..HostOptions::default() };
    Scope::new(Roots::discover(&host).unwrap(), root.canonicalize().unwrap())
});

fuzz_target!(|line: &str| {
    let judged = judge(line, &SCOPE);
    if judged.verdict != Verdict::Run {
        assert!(!judged.reasons.is_empty());
        return;
    }
    // Neither shell has anything to run before the words that were judged.
    for shell in ["sh", "bash"] {
        assert!(Command::new(shell).args(["-n", "-c", line]).output().unwrap().status.success(), "{line:?} in {shell}");
    }
});
