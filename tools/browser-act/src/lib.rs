//! `ragmaker-browser-act`: takes steps in a page as a person would, and says what changed.

use std::{
    fs::File,
    io::{self, Read},
    path::Path,
    time::Duration,
};

use argh::{ArgsInfo, FromArgs};
use ragmaker_browser::{Acted, Browsing, Changes, Ready, Step, Target, Visit, codes};
use ragmaker_files::{NOT_A_REGULAR_FILE, Roots, input_file, io_error};
use ragmaker_tool::{
    ARGUMENT_ERROR, Annotations, Bounded, Code, ContentOrigin, Error, Invocation, Isolation, Stdin, Tool, host,
};
use schemars::JsonSchema;
use serde::Serialize;

/// Act in the open page as a person would: click, fill in, choose, scroll, wait. `browser_look` lists what there is;
/// what changed is what the next `browser_extract` or `browser_navigate` of the page sees, in a session that
/// `browser_open` keeps. Returns what each step did and what changed.
#[derive(FromArgs, ArgsInfo, Serialize, JsonSchema, Debug)]
#[argh(help_triggers("-h", "--help"))]
pub struct Args {
    #[expect(clippy::doc_link_with_quotes, reason = "the help shows JSON")]
    /// steps as a JSON array, such as [{{"click":"button:Load more","until":"rest"}},
    /// {{"fill":["textbox:Search","tides"]}},{{"press":"Enter"}}]; also select, check, uncheck, hover, upload, scroll
    /// (end, top, down, up, pixels, element), wait ({{"text"|"gone"|"selector":…}} or {{"ms":N}}); elements by role:name,
    /// text or CSS; until: rest or a number; @FILE reads them from a file, - from standard input
    #[argh(option, long = "do")]
    #[serde(rename = "do")]
    pub steps: String,
    /// address of the page (default: the one used last)
    #[argh(option)]
    pub url: Option<String>,
    /// load the page anew before the steps
    #[argh(switch)]
    pub reload: bool,
    /// show the window, for a person to solve a challenge
    #[argh(switch)]
    pub no_headless: bool,
    /// name of the session
    #[argh(option)]
    pub session: Option<String>,
    /// seconds the call may take (default: 30, or 300 with a window)
    #[argh(option)]
    pub timeout: Option<Bounded<1, 3600>>,
}

/// What was done, and what changed.
#[derive(Serialize, JsonSchema, Debug)]
pub struct Answer {
    /// The page's address after the steps.
    pub url: String,
    /// What each step did.
    pub done: Vec<String>,
    /// What is another than before.
    pub changes: Changes,
    /// The error code with which browser-extract refuses the page; left out where it has content.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub obstacle: Option<&'static str>,
    /// What ended the last wait for the page to rest.
    pub ready: Ready,
}

impl Tool for Args {
    type Answer = Answer;
    const NAME: &'static str = env!("CARGO_PKG_NAME");
    const VERSION: &'static str = env!("CARGO_PKG_VERSION");
    // A click may delete what the person has there.
    const ANNOTATIONS: Annotations = Annotations::DESTRUCTIVE.repeating().open_world();
    const HOST_OPTIONS: &'static [&'static str] = host::GATHERING;
    const ISOLATION: Isolation = Isolation::Subprocess;
    const ORIGIN: ContentOrigin = ContentOrigin::Web;
    const STDIN: Option<Stdin> = Some(Stdin { argument: "do", dash: true });
    const JSON_TEXTS: &'static [&'static str] = &["--do"];
    const ERRORS: &'static [&'static [Code]] = &[
        codes::ACT_ERRORS,
        codes::SESSION_ERRORS,
        codes::VISIT_ERRORS,
        codes::PAGE_ERRORS,
        ragmaker_address::ERRORS,
        ragmaker_project::ERRORS,
        ragmaker_files::PATH_ERRORS,
        ragmaker_files::IO_ERRORS,
        &[codes::NO_PAGE, NOT_A_REGULAR_FILE, ragmaker_address::ADDRESS_NOT_ALLOWED],
    ];

    fn run(self, invocation: &Invocation) -> Result<Answer, Error> {
        let mut steps = Step::list(read(&self.steps, invocation)?.trim_start_matches('\u{feff}'))?;
        Step::place_files(&mut steps, |file| upload(file, invocation))?;
        let url = self.url.as_deref().map(ragmaker_address::parse).transpose()?;
        let browsing = Browsing::new(self.session.as_deref(), invocation)?;
        let target = Target::new(url.as_ref(), self.reload)?;
        let visit = Visit {
            visible: self.no_headless,
            timeout: self.timeout.map(|seconds| Duration::from_secs(seconds.get())),
            ..browsing.visit(target)
        };
        let Acted { page, done, changes } = visit.act(&steps)?;
        let obstacle = page.refusal().map(|error| error.code());
        Ok(Answer { url: page.url.into(), done, changes, obstacle, ready: page.ready })
    }
}

/// The most bytes of steps.
const MAX_BYTES: u64 = 1 << 20;

/// The steps that `argument` gives: JSON, `@file`, or `-` for standard input.
fn read(argument: &str, invocation: &Invocation) -> Result<String, Error> {
    let mut text = String::new();
    let (received, path) = match (argument, argument.strip_prefix('@')) {
        ("-", _) => (io::stdin().lock().take(MAX_BYTES + 1).read_to_string(&mut text), Path::new("-")),
        (_, Some(path)) => {
            let file = regular(&input_file(Path::new(path), invocation)?)?;
            (file.take(MAX_BYTES + 1).read_to_string(&mut text), Path::new(path))
        }
        (steps, None) => return Ok(steps.to_owned()),
    };
    received.map_err(|error| io_error(&error, path))?;
    if text.len() as u64 > MAX_BYTES {
        let message = format!("the steps have more than {MAX_BYTES} bytes");
        return Err(ARGUMENT_ERROR.error(message).detail("argument", "--do"));
    }
    Ok(text)
}

/// The file at `path`; opening a pipe would wait for its other end.
fn regular(path: &Path) -> Result<File, Error> {
    let is_regular = path.metadata().map_err(|error| io_error(&error, path))?.is_file();
    if !is_regular {
        let error = NOT_A_REGULAR_FILE.error(format!("{} is not a regular file", path.display()));
        return Err(error.detail("path", path.to_string_lossy()));
    }
    File::open(path).map_err(|error| io_error(&error, path))
}

/// Where a file is that may be given to a web site: within the project and the allowed roots, whoever asks.
fn upload(file: &str, invocation: &Invocation) -> Result<String, Error> {
    let path = Roots::discover(&invocation.host)?.place(file)?.path();
    regular(&path)?;
    Ok(path.to_string_lossy().into_owned())
}
