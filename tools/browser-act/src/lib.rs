//! `ragmaker-browser-act`: takes steps in a page as a person would, and reports the changes.

use std::{
    fs::File,
    path::{Path, PathBuf},
    time::Duration,
};

use argh::{ArgsInfo, FromArgs};
use ragmaker_browser::{ActResult, Changes, Consent, Ready, RestrictedSession, Step, Target, Visit, codes};
use ragmaker_capture::{CaptureArgs, Files, Image};
use ragmaker_files::{InputError, NOT_A_REGULAR_FILE, Roots, io_error, read_standard_input, read_text_file};
use ragmaker_tool::{
    ARGUMENT_ERROR, Annotations, Bounded, Code, ContentOrigin, Error, Invocation, Isolation, Stdin, Tool, host,
};
use schemars::JsonSchema;
use serde::Serialize;

/// Act in the open page as a person would: click, fill in, choose, scroll, wait. `ragmaker-browser-look` lists what
/// there is; later `ragmaker-browser-extract` and `ragmaker-browser-navigate` calls see the changed page, in a session
/// that `ragmaker-browser-open` keeps. Returns what each step did and what changed.
#[derive(FromArgs, ArgsInfo, Serialize, JsonSchema, Debug)]
#[argh(help_triggers("-h", "--help"))]
#[expect(clippy::struct_excessive_bools, reason = "each is a switch of the command line")]
pub struct Args {
    #[expect(clippy::doc_link_with_quotes, reason = "the help shows JSON")]
    /// steps as a JSON array, such as [{"click":"button:Load more","until":"rest"},
    /// {"fill":["textbox:Search","tides"]},{"press":"Enter"}]; also select, check, uncheck, hover, upload, scroll
    /// (end, top, down, up, pixels, element), wait ({"text"|"gone"|"selector":…} or {"ms":N}); elements by role:name,
    /// text or CSS; until: rest or a number; @FILE reads them from a file, - from standard input
    #[argh(option, long = "do")]
    #[serde(rename = "do")]
    pub steps: String,
    /// address of the page (default: the one used last)
    #[argh(option)]
    pub url: Option<String>,
    /// reload the page before the steps
    #[argh(switch)]
    pub reload: bool,
    /// show the window, for a person to solve a challenge
    #[argh(switch)]
    pub no_headless: bool,
    /// name of the session
    #[argh(option)]
    pub session: Option<String>,
    /// timeout in seconds (default: 30, or 300 with a window)
    #[argh(option)]
    pub timeout: Option<Bounded<1, 3600>>,
    /// decline a consent banner first
    #[argh(switch)]
    pub dismiss_consent: bool,
    /// screenshot file: .png or .webp
    #[argh(option)]
    pub screenshot: Option<PathBuf>,
    /// capture the whole page, not only the visible part
    #[argh(switch)]
    pub full_page: bool,
    /// CSS selector of the element to capture
    #[argh(option)]
    pub screenshot_selector: Option<String>,
    /// also return a smaller copy of the screenshot
    #[argh(switch)]
    pub image: bool,
    /// PDF file of the page
    #[argh(option)]
    pub print_pdf: Option<PathBuf>,
}

/// The steps taken, and the changes.
#[derive(Serialize, JsonSchema, Debug)]
pub struct Answer {
    /// The page's URL after the steps.
    pub url: String,
    /// A description of each step.
    pub done: Vec<String>,
    /// The differences from the page before the steps.
    pub changes: Changes,
    /// The error code with which browser-extract refuses the page; omitted if it has content.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub obstacle: Option<&'static str>,
    /// The reason why the last wait for the page ended.
    pub ready: Ready,
    /// With --dismiss-consent: the consent banner, and what was clicked to decline it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub consent: Option<Consent>,
    /// The files that were written.
    #[serde(flatten)]
    pub files: Files,
    /// A copy of the screenshot.
    #[serde(flatten)]
    pub image: Option<Image>,
}

impl Tool for Args {
    type Answer = Answer;
    const NAME: &'static str = env!("CARGO_PKG_NAME");
    const VERSION: &'static str = env!("CARGO_PKG_VERSION");
    // A click may delete the person's data.
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
        ragmaker_address::ERRORS,
        ragmaker_project::ERRORS,
        ragmaker_files::PATH_ERRORS,
        ragmaker_files::IO_ERRORS,
        &[
            codes::BOT_DETECTED,
            codes::NO_PAGE,
            NOT_A_REGULAR_FILE,
            ragmaker_files::PATH_NOT_WRITABLE,
            ragmaker_address::ADDRESS_NOT_ALLOWED,
        ],
    ];

    fn run(self, invocation: &Invocation) -> Result<Answer, Error> {
        let mut steps = Step::list(read(&self.steps, invocation)?.trim_start_matches('\u{feff}'))?;
        Step::place_files(&mut steps, |file| upload(file, invocation))?;
        let url = self.url.as_deref().map(ragmaker_address::parse).transpose()?;
        let plan = CaptureArgs {
            screenshot: self.screenshot.as_deref(),
            full_page: self.full_page,
            selector: self.screenshot_selector.as_deref(),
            annotate: false,
            image: self.image,
            print_pdf: self.print_pdf.as_deref(),
        }
        .plan(invocation)?;
        let session = RestrictedSession::new(self.session.as_deref(), invocation)?;
        let target = Target::new(url.as_ref(), self.reload)?;
        let visit = Visit {
            visible: self.no_headless,
            timeout: self.timeout.map(|seconds| Duration::from_secs(seconds.get())),
            capture: plan.capture(),
            declines_consent: self.dismiss_consent,
            ..session.visit(target)
        };
        let ActResult { mut page, done, changes } = visit.act(&steps)?;
        let (files, image) = plan.save(page.captured.take())?;
        let obstacle = page.refusal().map(|error| error.code());
        Ok(Answer {
            url: page.url.into(),
            done,
            changes,
            obstacle,
            ready: page.ready,
            consent: page.consent,
            files,
            image,
        })
    }
}

/// The largest list of steps, in bytes.
const MAX_BYTES: u64 = 1 << 20;

/// Reads the steps of `argument`: JSON, `@file`, or `-` for standard input.
fn read(argument: &str, invocation: &Invocation) -> Result<String, Error> {
    let (received, path) = match (argument, argument.strip_prefix('@')) {
        ("-", _) => (read_standard_input(MAX_BYTES), "-"),
        (_, Some(path)) => (read_text_file(Path::new(path), invocation, MAX_BYTES), path),
        (steps, None) => return Ok(steps.to_owned()),
    };
    received.map_err(|reason| match reason {
        InputError::TooLarge(limit) => {
            ARGUMENT_ERROR.error(format!("the steps have more than {limit} bytes")).detail("argument", "--do")
        }
        reason => reason.into_error(Path::new(path)),
    })
}

/// The path of a file to upload, which must be inside the project or the allowed roots for every caller.
fn upload(file: &str, invocation: &Invocation) -> Result<String, Error> {
    let path = Roots::discover(&invocation.host)?.place(file)?.path();
    if !path.metadata().map_err(|error| io_error(&error, &path))?.is_file() {
        return Err(InputError::NotRegular.into_error(&path));
    }
    File::open(&path).map_err(|error| io_error(&error, &path))?;
    Ok(path.to_string_lossy().into_owned())
}

#[cfg(test)]
mod tests {
    use ragmaker_testkit::{folder, write};
    use ragmaker_tool::{Caller, HostOptions};

    use super::*;

    /// A call in the project at `root`.
    fn call(root: &Path, caller: Caller) -> Invocation {
        let host = HostOptions { project_root: root.to_str().map(str::to_owned), ..HostOptions::default() };
        Invocation { host, caller, ..Invocation::default() }
    }

    #[test]
    fn steps_are_given_or_read_from_a_file() {
        let (_holder, root) = folder("project");
        let file = write(&root, "steps \u{6f6e}.json", "[{\"click\": \"A\"}]");
        let person = call(&root, Caller::Person);
        assert_eq!(read("[]", &person).unwrap(), "[]");
        assert_eq!(read(&format!("@{}", file.display()), &person).unwrap(), "[{\"click\": \"A\"}]");
        write(&root, "large", vec![b' '; usize::try_from(MAX_BYTES).unwrap() + 1]);
        for (argument, code) in
            [("@none.json", "FILE_NOT_FOUND"), ("@large", "ARGUMENT_ERROR"), ("@/etc/passwd", "PATH_NOT_ALLOWED")]
        {
            assert_eq!(read(argument, &call(&root, Caller::Model)).unwrap_err().code(), code, "{argument}");
        }
    }

    #[test]
    fn only_files_of_the_project_are_uploaded_for_any_caller() {
        let (_holder, root) = folder("project");
        let (inside, outside) = (write(&root, "a.md", "x"), write(root.parent().unwrap(), "outside.md", "x"));
        for caller in [Caller::Person, Caller::Model] {
            let call = call(&root, caller);
            assert_eq!(upload("a.md", &call).unwrap(), inside.to_string_lossy());
            assert_eq!(upload(&outside.to_string_lossy(), &call).unwrap_err().code(), "PATH_NOT_ALLOWED");
            assert_eq!(upload("../outside.md", &call).unwrap_err().code(), "PATH_NOT_ALLOWED");
            assert_eq!(upload(".", &call).unwrap_err().code(), "NOT_A_REGULAR_FILE");
            assert!(upload("none.md", &call).is_err());
        }
    }
}
