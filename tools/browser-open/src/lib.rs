//! `ragmaker-browser-open`: starts a browser that later calls use.

use argh::{ArgsInfo, FromArgs};
use ragmaker_browser::{IDLE_SECONDS, Profile, codes};
use ragmaker_project::Project;
use ragmaker_tool::{Annotations, Bounded, Code, Error, Invocation, Isolation, Tool, ToolProfile, host};
use schemars::JsonSchema;
use serde::Serialize;

/// Start a browser that later calls of the same session share; its cookies and logins are kept. Use it to
/// gather several pages, or with a window for a person to log in. Returns the session and the browser.
#[derive(FromArgs, ArgsInfo, Serialize, JsonSchema, Debug)]
#[argh(help_triggers("-h", "--help"))]
pub struct Args {
    /// show a window, for a person to log in
    #[argh(switch)]
    pub no_headless: bool,
    /// name of the session
    #[argh(option)]
    pub session: Option<String>,
    /// idle time in seconds after which it closes
    #[argh(option, default = "Bounded::new(IDLE_SECONDS)")]
    pub idle_timeout: Bounded<1, 604_800>,
}

/// The running browser.
#[derive(Serialize, JsonSchema, Debug)]
pub struct Answer {
    /// The session's name, for later calls.
    pub session: String,
    /// The folder of the browser's profile.
    pub profile_path: String,
    /// Whether the browser was running before the call.
    pub already_open: bool,
    /// The browser's name and version.
    pub browser: String,
    /// The process id of the browser's main process.
    pub pid: Option<u32>,
    /// Whether the browser runs without a window.
    pub headless: bool,
    /// Whether Chromium's sandbox is on; it does not work for root and in some containers.
    pub sandbox: bool,
}

impl Tool for Args {
    type Answer = Answer;
    const NAME: &'static str = env!("CARGO_PKG_NAME");
    const VERSION: &'static str = env!("CARGO_PKG_VERSION");
    const ANNOTATIONS: Annotations = Annotations::ADDITIVE;
    const HOST_OPTIONS: &'static [&'static str] = host::SESSION;
    const ISOLATION: Isolation = Isolation::Subprocess;
    const PROFILES: &'static [ToolProfile] = &[ToolProfile::Gather];
    const ERRORS: &'static [&'static [Code]] = &[codes::SESSION_ERRORS, ragmaker_project::ERRORS];

    fn run(self, invocation: &Invocation) -> Result<Answer, Error> {
        let project = Project::discover(invocation.host.project_root.as_deref())?;
        let profile = Profile::of(&project.cache_folder(), self.session.as_deref())?;
        let opened = ragmaker_browser::open(&profile, self.no_headless, self.idle_timeout.get(), &invocation.host)?;
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
