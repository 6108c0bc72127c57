//! `ragmaker-browser-close`: closes the browser of a session, cleanly, and all that is left of it.

use argh::{ArgsInfo, FromArgs};
use ragmaker_browser::{Profile, codes};
use ragmaker_tool::{ARGUMENT_ERROR, Annotations, Code, Error, Tool};
use schemars::JsonSchema;
use serde::Serialize;

/// Close a session's browser so that its cookies are kept; a success when none was open.
#[derive(FromArgs, ArgsInfo, Serialize, JsonSchema, Debug)]
#[argh(help_triggers("-h", "--help"))]
#[serde(rename_all = "kebab-case")]
pub struct Args {
    /// name of the session
    #[argh(option)]
    pub session: Option<String>,
    /// close the browsers of all of this project's sessions
    #[argh(switch)]
    pub all: bool,
}

/// What was closed.
#[derive(Serialize, JsonSchema, Debug)]
pub struct Answer {
    /// The sessions whose browser was open and is closed now.
    pub closed: Vec<String>,
}

impl Tool for Args {
    type Answer = Answer;
    const NAME: &'static str = env!("CARGO_PKG_NAME");
    const VERSION: &'static str = env!("CARGO_PKG_VERSION");
    const ANNOTATIONS: Annotations =
        Annotations { read_only_hint: false, destructive_hint: false, idempotent_hint: true, open_world_hint: false };
    const ERRORS: &'static [Code] = &[codes::BROWSER_BUSY, codes::BROWSER_FAILED];

    fn run(self) -> Result<Answer, Error> {
        let profiles = match (self.all, &self.session) {
            (true, Some(_)) => {
                return Err(ARGUMENT_ERROR
                    .error("--all and --session exclude each other")
                    .remedy("Give one of them.")
                    .detail("argument", "--session"));
            }
            (true, None) => Profile::all()?,
            (false, session) => vec![Profile::of(session.as_deref())?],
        };
        let mut closed = vec![];
        for profile in profiles {
            if ragmaker_browser::close(&profile)? {
                closed.push(profile.session().to_owned());
            }
        }
        Ok(Answer { closed })
    }
}
