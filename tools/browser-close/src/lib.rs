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
                closed.push(profile);
            }
        }
        Ok(Answer { closed: sessions(&closed) })
    }
}

/// The sessions of `profiles`, each once: a session may have a browser of each kind.
fn sessions(profiles: &[Profile]) -> Vec<String> {
    let mut sessions: Vec<String> = vec![];
    for session in profiles.iter().map(Profile::session) {
        if !sessions.iter().any(|known| known == session) {
            sessions.push(session.to_owned());
        }
    }
    sessions
}

#[cfg(test)]
mod tests {
    use std::fs;

    use ragmaker_testkit::folder;
    use ragmaker_tool::HostOptions;

    use super::*;

    #[test]
    fn a_session_with_two_browsers_is_named_once() {
        let (_holder, cache) = folder("cache");
        for profile in ["browser_profile", "browser_profiles/.firefox-default", "browser_profiles/a"] {
            fs::create_dir_all(cache.join(profile)).unwrap();
        }
        let all = Profile::all(&cache).unwrap();
        assert_eq!((all.len(), sessions(&all)), (3, vec!["default".to_owned(), "a".to_owned()]));
    }

    #[test]
    fn closing_what_is_not_open_succeeds() {
        let (_holder, root) = folder("project");
        let host = HostOptions { project_root: root.to_str().map(str::to_owned), ..HostOptions::default() };
        let close = |words: &[&str]| {
            let invocation = Invocation { host: host.clone(), ..Invocation::default() };
            Args::from_args(&["close"], words).unwrap().run(&invocation).map(|answer| answer.closed)
        };
        for words in [&[][..], &["--all"], &["--session", "other"]] {
            assert!(close(words).unwrap().is_empty(), "{words:?}");
        }
        for words in [&["--all", "--session", "other"][..], &["--session", "../x"]] {
            let error = close(words).unwrap_err();
            assert!(error.is(ARGUMENT_ERROR) && error.details()["argument"] == "--session", "{words:?}: {error}");
        }
    }
}
