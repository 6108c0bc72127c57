//! Showing a folder in a window of the file manager.

use std::{
    path::Path,
    process::{Command, Stdio},
    thread,
    time::{Duration, Instant},
};

use ragmaker_tool::Error;

use crate::{DESKTOP_FAILED, System, does_not_start, program, system};

/// How long to wait for an error of the program that opens the window. Some programs run as long as the window
/// is open.
const SETTLES: Duration = Duration::from_secs(2);

/// Opens the folder `path`, which is absolute, in the file manager.
///
/// # Errors
///
/// [`NO_DISPLAY`](crate::NO_DISPLAY) and [`DESKTOP_FAILED`].
pub fn open(path: &Path) -> Result<(), Error> {
    let system = system()?;
    let mut command = match system {
        // The Finder is named, because `open` alone would start a folder that is an application.
        System::MacOs => with(Command::new("open"), &["-a", "Finder"]),
        System::Windows => Command::new("explorer"),
        System::Other => {
            let (name, found) = program(&["xdg-open", "gio"])?;
            let command = Command::new(found);
            if name == "gio" { with(command, &["open"]) } else { command }
        }
    };
    command.arg(path).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    let mut child = command.spawn().map_err(|error| does_not_start(&command, &error))?;
    let deadline = Instant::now() + SETTLES;
    loop {
        match child.try_wait() {
            // The Explorer exits with status 1 after it has opened the window.
            Ok(Some(status)) if status.success() || system == System::Windows => return Ok(()),
            Ok(Some(status)) => {
                let program = command.get_program().to_string_lossy().into_owned();
                return Err(DESKTOP_FAILED
                    .error(format!("{program} could not open {}: {status}", path.display()))
                    .detail("path", path.to_string_lossy()));
            }
            _ if Instant::now() > deadline => return Ok(()),
            _ => thread::sleep(Duration::from_millis(20)),
        }
    }
}

fn with(mut command: Command, arguments: &[&str]) -> Command {
    command.args(arguments);
    command
}
