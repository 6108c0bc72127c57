//! A dialog in which the person chooses folders.

use std::{
    io::Read,
    path::{Path, PathBuf},
    process::{Command, ExitStatus, Stdio},
    thread,
    time::{Duration, Instant},
};

use ragmaker_tool::Error;

use crate::{DESKTOP_FAILED, IN_WORDS, NO_ANSWER, NO_DISPLAY, System, USER_CANCELLED, does_not_start, program, system};

/// The content of a dialog.
#[derive(Clone, Copy, Debug)]
pub struct Question<'a> {
    /// The title of the window.
    pub title: &'a str,
    /// The folder that the dialog shows first.
    pub initial: Option<&'a Path>,
    /// Whether several folders may be chosen, if the desktop's dialog supports that.
    pub multiple: bool,
    /// How long the dialog waits for an answer.
    pub wait: Duration,
}

/// The exit status of zenity after a timeout.
const ZENITY_TIMEOUT: i32 = 5;

const MAC_OS: &str = r#"on run argv
  set chosen to {}
  tell application "System Events" to activate
  if item 2 of argv is "" then
    set chosen to choose folder with prompt (item 1 of argv) multiple selections allowed (item 3 of argv is "yes")
  else
    set chosen to choose folder with prompt (item 1 of argv) default location (POSIX file (item 2 of argv)) multiple selections allowed (item 3 of argv is "yes")
  end if
  if class of chosen is not list then set chosen to {chosen}
  set lines_ to ""
  repeat with folder_ in chosen
    set lines_ to lines_ & POSIX path of folder_ & linefeed
  end repeat
  return lines_
end run"#;

const WINDOWS: &str = "[Console]::OutputEncoding = [Text.Encoding]::UTF8; \
    Add-Type -AssemblyName System.Windows.Forms; \
    $dialog = New-Object System.Windows.Forms.FolderBrowserDialog; \
    $dialog.Description = $env:DIALOG_TITLE; \
    if ($env:DIALOG_INITIAL) { $dialog.SelectedPath = $env:DIALOG_INITIAL }; \
    $owner = New-Object System.Windows.Forms.Form -Property @{TopMost = $true}; \
    if ($dialog.ShowDialog($owner) -eq 'OK') { $dialog.SelectedPath } else { exit 1 }";

/// Asks the person for folders, and returns at least one path.
///
/// # Errors
///
/// [`NO_DISPLAY`], [`USER_CANCELLED`], [`NO_ANSWER`] and [`DESKTOP_FAILED`].
pub fn ask(question: &Question<'_>) -> Result<Vec<PathBuf>, Error> {
    let mut command = dialog(question)?;
    let said = answer(&mut command, question.wait)?;
    match said.status.and_then(|status| status.code()) {
        None if said.status.is_none() => Err(timed_out(question.wait)),
        Some(ZENITY_TIMEOUT) => Err(timed_out(question.wait)),
        // A display is set but does not exist.
        _ if says_no_display(&said.error) => Err(NO_DISPLAY.error(said.error.trim().to_owned()).remedy(IN_WORDS)),
        Some(0) => chosen(&said.output),
        // Cancelled: zenity, kdialog and the PowerShell script exit with 1, as osascript does (-128).
        Some(1) if said.error.trim().is_empty() || is_noise(&said.error) => Err(cancelled()),
        _ => Err(DESKTOP_FAILED.error(format!(
            "{} failed: {}",
            command.get_program().to_string_lossy(),
            said.error.trim().lines().last().unwrap_or("it was ended")
        ))),
    }
}

fn cancelled() -> Error {
    USER_CANCELLED.error("the person closed the dialog without choosing a folder")
}

fn timed_out(wait: Duration) -> Error {
    NO_ANSWER.error(format!("nobody chose a folder within {} seconds", wait.as_secs()))
}

/// The folders in the output of a dialog, one per line.
fn chosen(output: &str) -> Result<Vec<PathBuf>, Error> {
    let paths: Vec<PathBuf> =
        output.lines().map(|line| line.trim_end_matches('\r')).filter(|line| !line.is_empty()).map(trimmed).collect();
    if paths.is_empty() { Err(cancelled()) } else { Ok(paths) }
}

/// The path without the trailing separator that some dialogs add.
fn trimmed(line: &str) -> PathBuf {
    let bare = line.trim_end_matches('/');
    PathBuf::from(if bare.is_empty() { line } else { bare })
}

fn says_no_display(error: &str) -> bool {
    let error = error.to_lowercase();
    [
        "cannot open display",
        "failed to open display",
        "could not connect to display",
        "no gui",
        "not connect to the x server",
    ]
    .iter()
    .any(|text| error.contains(text))
}

/// Whether the text is a diagnostic message of a toolkit, or the message of a cancelled dialog.
fn is_noise(error: &str) -> bool {
    error.lines().all(|line| {
        let line = line.trim();
        line.is_empty()
            || ["Gtk", "GLib", "Adwaita", "dconf", "MESA", "libEGL", "qt.", "QStandardPaths", "kf."]
                .iter()
                .any(|word| line.contains(word))
            || line.contains("(-128)")
    })
}

/// The command that shows the dialog.
fn dialog(question: &Question<'_>) -> Result<Command, Error> {
    let initial = question.initial.map(|path| path.to_string_lossy().into_owned());
    Ok(match system()? {
        System::MacOs => {
            let mut command = Command::new("osascript");
            let multiple = if question.multiple { "yes" } else { "no" };
            command.args(["-e", MAC_OS, question.title, initial.as_deref().unwrap_or_default(), multiple]);
            command
        }
        System::Windows => {
            let mut command = Command::new("powershell");
            command.args(["-NoProfile", "-STA", "-Command", WINDOWS]);
            command.env("DIALOG_TITLE", question.title).env("DIALOG_INITIAL", initial.unwrap_or_default());
            command
        }
        System::Other => match program(&["zenity", "kdialog"])? {
            ("zenity", found) => {
                let mut command = Command::new(found);
                command.args(["--file-selection", "--directory"]).arg(format!("--title={}", question.title));
                // If this process is killed, nothing else closes the window.
                command.arg(format!("--timeout={}", question.wait.as_secs().max(1)));
                if let Some(initial) = initial {
                    command.arg(format!("--filename={}/", initial.trim_end_matches('/')));
                }
                if question.multiple {
                    command.args(["--multiple", "--separator=\n"]);
                }
                command
            }
            (_, found) => {
                let mut command = Command::new(found);
                command.args(["--title", question.title, "--getexistingdirectory"]);
                command.arg(initial.as_deref().unwrap_or("."));
                command
            }
        },
    })
}

/// The output of a dialog; `status` is `None` after a timeout.
struct DialogOutput {
    status: Option<ExitStatus>,
    output: String,
    error: String,
}

fn answer(command: &mut Command, wait: Duration) -> Result<DialogOutput, Error> {
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().map_err(|error| does_not_start(command, &error))?;
    // Read while the program runs, because it may write more than a pipe holds.
    let mut readers = vec![];
    let streams: [Option<Box<dyn Read + Send>>; 2] = [
        child.stdout.take().map(|stream| Box::new(stream) as Box<dyn Read + Send>),
        child.stderr.take().map(|stream| Box::new(stream) as Box<dyn Read + Send>),
    ];
    for stream in streams {
        readers.push(thread::spawn(move || {
            let mut bytes = vec![];
            if let Some(mut stream) = stream {
                let _ = stream.read_to_end(&mut bytes);
            }
            String::from_utf8_lossy(&bytes).into_owned()
        }));
    }
    let deadline = Instant::now() + wait;
    let status = loop {
        match child.try_wait() {
            Ok(Some(status)) => break Some(status),
            Ok(None) if Instant::now() < deadline => thread::sleep(Duration::from_millis(50)),
            _ => {
                let _ = child.kill();
                let _ = child.wait();
                // A child process of the dialog may keep the pipes open.
                return Ok(DialogOutput { status: None, output: String::new(), error: String::new() });
            }
        }
    };
    let mut texts = readers.into_iter().map(|reader| reader.join().unwrap_or_default());
    let (output, error) = (texts.next().unwrap_or_default(), texts.next().unwrap_or_default());
    Ok(DialogOutput { status, output, error })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_output_of_a_dialog_is_parsed() {
        assert_eq!(chosen("/a b/\r\n/c\n").unwrap(), [PathBuf::from("/a b"), "/c".into()]);
        assert_eq!(chosen("/\n").unwrap(), [PathBuf::from("/")]);
        assert!(chosen("\n").unwrap_err().is(USER_CANCELLED));
        assert!(is_noise("(zenity:7): Gtk-WARNING **: no theme\n\nAdwaita-WARNING x\n"));
        assert!(!is_noise("zenity: This option is not available\n"));
        assert!(says_no_display("Unable to init server\n(zenity:9): Gtk-WARNING: cannot open display: :99"));
    }
}
