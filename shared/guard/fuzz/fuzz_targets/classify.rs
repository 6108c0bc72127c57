//! Fuzz target: every text is classified, and every line that may run is valid for shells.
//!
//!     cd shared/guard && cargo +nightly fuzz run classify -- -max_len=4096 -dict=fuzz/shell.dict
#![no_main]

use std::{process::Command, sync::LazyLock};

use libfuzzer_sys::fuzz_target;
use ragmaker_files::Roots;
use ragmaker_guard::{LineVerdict, Scope, classify};
use ragmaker_tool::HostOptions;

static SCOPE: LazyLock<Scope> = LazyLock::new(|| {
    let root = std::env::temp_dir().join("ragmaker-guard-fuzz");
    std::fs::create_dir_all(root.join("src")).unwrap();
    let host = HostOptions { project_root: root.to_str().map(str::to_owned), ..HostOptions::default() };
    Scope::new(Roots::discover(&host).unwrap(), root.canonicalize().unwrap())
});

fuzz_target!(|line: &str| {
    let classified = classify(line, &SCOPE);
    if classified.verdict != LineVerdict::Run {
        assert!(!classified.reasons.is_empty());
        return;
    }
    // Neither shell runs anything before the words of the line.
    for shell in ["sh", "bash"] {
        assert!(Command::new(shell).args(["-n", "-c", line]).output().unwrap().status.success(), "{line:?} in {shell}");
    }
});
