//! `ragmaker-ask-directory`: asks the person for a folder in a dialog of the desktop.

use std::{path::PathBuf, time::Duration};

use argh::{ArgsInfo, FromArgs};
use ragmaker_desktop::{Question, ask};
use ragmaker_files::{NOT_A_DIRECTORY, input_directory, lossy_text};
use ragmaker_tool::{Annotations, Bounded, Code, Error, Invocation, Isolation, JsonSchema, Tool, ToolProfile, host};
use serde::Serialize;

/// Ask the person to choose a folder in a dialog, for example the place of a new knowledge base. Fails without a
/// display; then ask in the conversation. Returns the absolute paths of the chosen folders; it gives no access to them.
#[derive(FromArgs, ArgsInfo, Serialize, JsonSchema, Debug)]
#[argh(help_triggers("-h", "--help"))]
pub struct Args {
    /// title of the window (default: "Choose a folder")
    #[argh(option)]
    pub title: Option<String>,
    /// folder that is shown first
    #[argh(option)]
    pub initial_dir: Option<PathBuf>,
    /// allow several folders if the dialog supports it
    #[argh(switch)]
    pub multiple: bool,
    /// timeout in seconds (default: 300)
    #[argh(option)]
    pub timeout: Option<Bounded<1, 3600>>,
}

/// The chosen folders.
#[derive(Serialize, JsonSchema)]
pub struct Answer {
    /// The absolute paths of the chosen folders: one, or more with multiple.
    pub directories: Vec<String>,
}

/// The default time that the person has.
const WAIT: Duration = Duration::from_mins(5);

/// The default title of the window.
const TITLE: &str = "Choose a folder";

/// The maximum length in characters of a title that is shown.
const MAX_TITLE: usize = 200;

impl Tool for Args {
    type Answer = Answer;
    const NAME: &'static str = env!("CARGO_PKG_NAME");
    const VERSION: &'static str = env!("CARGO_PKG_VERSION");
    const ANNOTATIONS: Annotations = Annotations::READ_ONLY.repeating();
    const HOST_OPTIONS: &'static [&'static str] = host::SAVING;
    const ISOLATION: Isolation = Isolation::Subprocess;
    const PROFILES: &'static [ToolProfile] = &[ToolProfile::Fetch];
    const ALIASES: &'static [&'static str] = &["ask-dir"];
    const ERRORS: &'static [&'static [Code]] =
        &[ragmaker_desktop::ASK_ERRORS, &[NOT_A_DIRECTORY], ragmaker_files::PATH_ERRORS];

    fn run(self, invocation: &Invocation) -> Result<Answer, Error> {
        let initial = self.initial_dir.as_deref().map(|path| input_directory(path, invocation)).transpose()?;
        let title = title(self.title.as_deref());
        let question = Question {
            title: &title,
            initial: initial.as_deref(),
            multiple: self.multiple,
            wait: self.timeout.map_or(WAIT, |seconds| Duration::from_secs(seconds.get())),
        };
        let mut chosen = ask(&question)?;
        // A dialog that cannot choose one may still return several.
        if !self.multiple {
            chosen.truncate(1);
        }
        Ok(Answer { directories: chosen.into_iter().map(|path| lossy_text(path).0).collect() })
    }
}

/// The title of the window: on one line, of a bounded length.
fn title(given: Option<&str>) -> String {
    let title = given.unwrap_or(TITLE);
    title.chars().map(|c| if c.is_control() { ' ' } else { c }).take(MAX_TITLE).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_title_is_one_line_of_a_bounded_length() {
        assert_eq!(title(Some("Where?\nHere\u{1b}[2J")), "Where? Here [2J");
        let long = "潮".repeat(MAX_TITLE);
        assert_eq!(title(Some(&(long.clone() + "more"))), long);
        assert!(!title(None).is_empty());
    }
}
