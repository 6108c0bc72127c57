//! The person's desktop: whether there is one, showing a folder in a window, and a dialog to choose folders.
//!
//! Programs of the desktop do this: zenity or kdialog and `xdg-open` on Linux, `osascript` and the Finder on macOS,
//! `PowerShell` and the Explorer on Windows. Texts and paths are passed as arguments or in the environment, never
//! inside a script.

mod ask;
mod open;

use std::{path::PathBuf, process::Command};

use ragmaker_project::programs::has_display;
use ragmaker_tool::{Code, Error};

pub use ask::{Question, ask};
pub use open::open;

pub use ragmaker_project::programs::NO_DISPLAY;

/// The person closed the window without an answer.
pub const USER_CANCELLED: Code = Code::new("USER_CANCELLED", "Ask the person in the conversation how to continue.");
/// Nobody answered in time.
pub const NO_ANSWER: Code =
    Code::new("NO_ANSWER", "Ask the person in the conversation, or allow more time with --timeout.");
/// The desktop's program failed.
pub const DESKTOP_FAILED: Code =
    Code::new("DESKTOP_FAILED", "The message is from the program. Tell the person the path instead.");

/// The error codes of [`open`].
pub const OPEN_ERRORS: &[Code] = &[NO_DISPLAY, DESKTOP_FAILED];
/// The error codes of [`ask`].
pub const ASK_ERRORS: &[Code] = &[NO_DISPLAY, USER_CANCELLED, NO_ANSWER, DESKTOP_FAILED];

/// The remedy if there is no display.
const IN_WORDS: &str = "Ask or tell the person in the conversation; there is no display for a window.";

/// A desktop, by the programs that it has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum System {
    MacOs,
    Windows,
    /// Linux and other Unixes, with X11 or Wayland.
    Other,
}

/// The desktop of this process.
fn system() -> Result<System, Error> {
    if cfg!(target_os = "macos") {
        return Ok(System::MacOs);
    }
    if cfg!(windows) {
        return Ok(System::Windows);
    }
    if has_display() {
        return Ok(System::Other);
    }
    Err(NO_DISPLAY.error("there is no display: neither DISPLAY nor WAYLAND_DISPLAY is set").remedy(IN_WORDS))
}

/// The first of `names` that is installed.
fn program(names: &[&'static str]) -> Result<(&'static str, PathBuf), Error> {
    let found = names.iter().find_map(|name| Some((*name, ragmaker_project::programs::on_path(name)?)));
    found.ok_or_else(|| {
        NO_DISPLAY
            .error(format!("none of these programs is installed: {}", names.join(", ")))
            .remedy(format!("Install {} to show windows, or ask the person in the conversation.", names[0]))
            .detail("programs", names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>())
    })
}

/// The error for a program that does not start.
fn does_not_start(command: &Command, error: &std::io::Error) -> Error {
    DESKTOP_FAILED.error(format!("{} does not start: {error}", command.get_program().to_string_lossy()))
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[test]
    fn the_first_program_that_is_installed_is_taken() {
        let (name, path) = program(&["ragmaker-no-such-program", "sh", "ls"]).unwrap();
        assert_eq!(name, "sh");
        assert!(path.is_absolute() && path.ends_with("sh"), "{}", path.display());
    }

    #[test]
    fn without_a_program_the_first_is_recommended_and_all_are_named() {
        let error = program(&["ragmaker-no-such-program", "ragmaker-nor-this"]).unwrap_err();
        assert!(error.is(NO_DISPLAY), "{error}");
        assert!(error.remediation().starts_with("Install ragmaker-no-such-program "), "{}", error.remediation());
        assert_eq!(error.details()["programs"][1], "ragmaker-nor-this");
    }
}
