//! `ragmaker-browser-close`: closes the browser of a session and cleans up after a crashed one.

use argh::{ArgsInfo, FromArgs};
use ragmaker_browser::{Profile, codes};
use ragmaker_project::Project;
use ragmaker_tool::{ARGUMENT_ERROR, Annotations, Code, Error, Invocation, Isolation, Tool, ToolProfile, host};
use schemars::JsonSchema;
use serde::Serialize;

/// Close a session's browser when gathering is done; cookies and logins are kept. Succeeds if none is open.
/// Returns the names of the closed sessions.
#[derive(FromArgs, ArgsInfo, Serialize, JsonSchema, Debug)]
#[argh(help_triggers("-h", "--help"))]
pub struct Args {
    /// name of the session
    #[argh(option)]
    pub session: Option<String>,
    /// close the browsers of all sessions
    #[argh(switch)]
    pub all: bool,
}

/// The closed sessions.
#[derive(Serialize, JsonSchema, Debug)]
pub struct Answer {
    /// The names of the sessions whose browser was closed.
    pub closed: Vec<String>,
}

impl Tool for Args {
    type Answer = Answer;
    const NAME: &'static str = env!("CARGO_PKG_NAME");
    const VERSION: &'static str = env!("CARGO_PKG_VERSION");
    const ANNOTATIONS: Annotations = Annotations::ADDITIVE;
    const HOST_OPTIONS: &'static [&'static str] = host::SESSION;
    const ISOLATION: Isolation = Isolation::Subprocess;
    const PROFILES: &'static [ToolProfile] = &[ToolProfile::Gather];
    const ERRORS: &'static [&'static [Code]] =
        &[&[codes::BROWSER_BUSY, codes::BROWSER_FAILED], ragmaker_project::ERRORS];

    fn run(self, invocation: &Invocation) -> Result<Answer, Error> {
        let cache = Project::discover(invocation.host.project_root.as_deref())?.cache_folder();
        let profiles = match (self.all, &self.session) {
            (true, Some(_)) => {
                return Err(ARGUMENT_ERROR
                    .error("--all and --session cannot be combined")
                    .remedy("Give one of them.")
                    .detail("argument", "--session"));
            }
            (true, None) => Profile::all(&cache)?,
            (false, session) => Profile::of_session(&cache, session.as_deref())?,
        };
        let mut closed = vec![];
        for profile in profiles {
            if ragmaker_browser::close(&profile)? {
                closed.push(profile.session().to_owned());
            }
        }
        closed.dedup();
        Ok(Answer { closed })
    }
}
