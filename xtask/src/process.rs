//! Runs other programs, shows progress on a terminal, and prints their command lines.

use std::{
    env,
    io::{self, IsTerminal, Write},
    path::{Path, PathBuf},
    process::{Command, Stdio},
    sync::mpsc::{self, RecvTimeoutError},
    thread,
    time::{Duration, Instant},
};

use anyhow::{Context, bail, ensure};
use ragmaker_project::programs::on_path;

/// The repository's root.
pub(crate) fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("xtask is a folder of the repository")
}

/// Runs `command` with this process's own input and output, its line printed before.
pub(crate) fn run_visibly(command: &mut Command) -> anyhow::Result<()> {
    let line = line(command);
    println!("$ {line}");
    io::stdout().flush()?;
    let status = command.status().with_context(|| format!("cannot run {line}"))?;
    ensure!(status.success(), "{line}: {status}");
    Ok(())
}

/// Runs `command` quietly, with progress on a terminal; prints its output if it fails.
pub(crate) fn quiet(label: &str, command: &mut Command) -> anyhow::Result<()> {
    let line = line(command);
    let output = ticking(label, || command.stdin(Stdio::null()).output());
    let output = output.with_context(|| format!("cannot run {line}"))?;
    if !output.status.success() {
        io::stderr().write_all(&output.stdout)?;
        io::stderr().write_all(&output.stderr)?;
        bail!("{line}: {}", output.status);
    }
    Ok(())
}

/// Does `work` while standard error shows `label`, and on a terminal for how long.
pub(crate) fn ticking<T>(label: &str, work: impl FnOnce() -> T) -> T {
    if !io::stderr().is_terminal() {
        eprintln!("{label}");
        return work();
    }
    let started = Instant::now();
    let (done, waiting) = mpsc::channel::<()>();
    let result = thread::scope(|scope| {
        scope.spawn(move || {
            loop {
                eprint!("\r\x1b[2K{label} … {} s", started.elapsed().as_secs());
                if waiting.recv_timeout(Duration::from_millis(250)) != Err(RecvTimeoutError::Timeout) {
                    break;
                }
            }
        });
        let result = work();
        drop(done);
        result
    });
    eprintln!("\r\x1b[2K{label}: {:.1} s", started.elapsed().as_secs_f64());
    result
}

/// `command` as a person could type it.
pub(crate) fn line(command: &Command) -> String {
    let words = std::iter::once(command.get_program()).chain(command.get_args());
    words.map(|word| quoted(&word.to_string_lossy())).collect::<Vec<_>>().join(" ")
}

/// `word` as a POSIX shell reads it back.
pub(crate) fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./:=@%+,".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', r"'\''"))
    }
}

/// The executable `name` on PATH, or an error that names its package.
pub(crate) fn needed(name: &str, provider: &str) -> anyhow::Result<PathBuf> {
    on_path(name).with_context(|| format!("{name} is missing: install {provider}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_shown_line_can_be_pasted() {
        let mut command = Command::new("ragmaker-read-file");
        command.args(["--path=a b.md", "it's", "", "--limit", "5", "https://e.org/?a=1&b=2", "$HOME", "日本"]);
        let expected =
            r"ragmaker-read-file '--path=a b.md' 'it'\''s' '' --limit 5 'https://e.org/?a=1&b=2' '$HOME' '日本'";
        assert_eq!(line(&command), expected);
    }

    #[test]
    fn a_missing_program_is_named_with_what_provides_it() {
        assert!(needed("cargo", "Rust").is_ok());
        let error = needed("no-such-program", "the package no-such").unwrap_err();
        assert_eq!(error.to_string(), "no-such-program is missing: install the package no-such");
    }

    #[test]
    fn a_failure_is_told() {
        let error = run_visibly(Command::new(env::current_exe().unwrap()).arg("--no-such-option")).unwrap_err();
        assert!(error.to_string().contains("--no-such-option"), "{error}");
    }
}
