//! `ragmaker-browser-open`: leaves a browser running that later calls attach to.

use argh::{ArgsInfo, FromArgs};
use ragmaker_browser::{IDLE_SECONDS, Profile, codes};
use ragmaker_tool::{Annotations, Code, Error, Tool, Within};
use schemars::JsonSchema;
use serde::Serialize;

/// Start a browser and leave it running: later calls of the same session use it, and its cookies and logins last.
#[derive(FromArgs, ArgsInfo, Serialize, JsonSchema, Debug)]
#[argh(help_triggers("-h", "--help"))]
#[serde(rename_all = "kebab-case")]
pub struct Args {
    /// show the browser's window, for a person to log in or solve a challenge
    #[argh(switch)]
    pub no_headless: bool,
    /// name of the session; each has a profile of its own
    #[argh(option)]
    pub session: Option<String>,
    /// seconds without use after which the browser closes itself
    #[argh(option, default = "Within::new(IDLE_SECONDS)")]
    pub idle_timeout: Within<1, 604_800>,
}

/// A browser that was left running.
#[derive(Serialize, JsonSchema, Debug)]
pub struct Answer {
    /// The session's name, for the calls to come.
    pub session: String,
    /// The folder of the browser's profile.
    pub profile_path: String,
    /// Whether the browser was running before.
    pub already_open: bool,
    /// The browser's name and version.
    pub browser: String,
    /// The browser's main process.
    pub pid: Option<u32>,
    /// Whether the browser runs without a window.
    pub headless: bool,
    /// Whether Chromium's own sandbox is on; it can not work for root and in some containers.
    pub sandbox: bool,
}

impl Tool for Args {
    type Answer = Answer;
    const NAME: &'static str = env!("CARGO_PKG_NAME");
    const VERSION: &'static str = env!("CARGO_PKG_VERSION");
    const ANNOTATIONS: Annotations =
        Annotations { read_only_hint: false, destructive_hint: false, idempotent_hint: true, open_world_hint: false };
    const ERRORS: &'static [Code] = codes::SESSION_ERRORS;

    fn run(self) -> Result<Answer, Error> {
        let profile = Profile::of(self.session.as_deref())?;
        let opened = ragmaker_browser::open(&profile, self.no_headless, self.idle_timeout.get())?;
        Ok(Answer {
            session: profile.session().to_owned(),
            profile_path: profile.folder().to_string_lossy().into_owned(),
            already_open: opened.already_open,
            browser: opened.browser,
            pid: opened.pid,
            headless: opened.headless,
            sandbox: opened.sandbox,
        })
    }
}
