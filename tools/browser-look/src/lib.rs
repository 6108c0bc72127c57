//! `ragmaker-browser-look`: lists what can be acted on in a page, by role and name.

use std::{path::PathBuf, time::Duration};

use argh::{ArgsInfo, FromArgs};
use ragmaker_browser::{
    Consent, ElementScope, ListedElement, LookChanges, LookRequest, PageElements, RestrictedSession, Target, Visit,
    codes,
};
use ragmaker_capture::{CaptureArgs, Files, Image};
use ragmaker_tool::{
    Annotations, Bounded, Budget, Code, ContentOrigin, Error, Invocation, Isolation, Limit, Next, OFFSET_BEYOND_END,
    Offset, Tool, host,
};
use schemars::JsonSchema;
use serde::Serialize;

/// List the interactive elements of a page (buttons, links, fields, tabs) by `role:name`, as `ragmaker-browser-act`
/// takes them. For the addresses of links use `ragmaker-browser-navigate`. Returns elements with their state, by
/// default those of the main content and dialogs, paged by next.
#[derive(FromArgs, ArgsInfo, Serialize, JsonSchema, Debug)]
#[argh(help_triggers("-h", "--help"))]
#[expect(clippy::struct_excessive_bools, reason = "each is a switch of the command line")]
pub struct Args {
    /// address of the page (default: the one used last)
    #[argh(option)]
    pub url: Option<String>,
    /// list only elements that are new or changed since the last call
    #[argh(switch)]
    pub changed: bool,
    /// CSS selector of the part to list, such as body (default: the main content and dialogs)
    #[argh(option)]
    pub selector: Option<String>,
    /// show the window, for a person to solve a challenge
    #[argh(switch)]
    pub no_headless: bool,
    /// name of the session
    #[argh(option)]
    pub session: Option<String>,
    /// timeout in seconds (default: 30, or 300 with a window)
    #[argh(option)]
    pub timeout: Option<Bounded<1, 3600>>,
    /// CSS selector to wait for
    #[argh(option)]
    pub wait_for: Option<String>,
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
    /// number the elements in the screenshot
    #[argh(switch)]
    pub annotate: bool,
    /// also return a smaller copy of the screenshot
    #[argh(switch)]
    pub image: bool,
    /// PDF file of the page
    #[argh(option)]
    pub print_pdf: Option<PathBuf>,
    /// number of elements to skip (from `next`)
    #[argh(option, default = "Offset::new(0)")]
    pub offset: Offset,
    /// maximum number of elements (default: as many as fit in 6,000 characters)
    #[argh(option)]
    pub limit: Option<Limit>,
}

/// The elements that can be acted on.
#[derive(Serialize, JsonSchema, Debug)]
pub struct Answer {
    /// The page's URL.
    pub url: String,
    /// The page's title.
    pub title: String,
    /// The part of the page that the elements belong to.
    pub within: ElementScope,
    /// The elements in the order of the page.
    pub elements: Vec<ListedElement>,
    /// The number of elements in that part.
    pub total: usize,
    /// The number of other elements on the page; the selector body lists all.
    pub elsewhere: usize,
    /// Whether there are more elements than were returned.
    pub truncated: bool,
    /// The arguments that return the rest; null if there is none.
    pub next: Option<Next>,
    /// With --changed: what the elements were compared with.
    #[serde(flatten)]
    pub changes: Option<LookChanges>,
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

/// The size of an answer without --limit and without the screenshot, in characters.
const ANSWER: usize = 6_000;

impl Tool for Args {
    type Answer = Answer;
    const NAME: &'static str = env!("CARGO_PKG_NAME");
    const VERSION: &'static str = env!("CARGO_PKG_VERSION");
    const ANNOTATIONS: Annotations = Annotations::ADDITIVE.repeating().open_world();
    const HOST_OPTIONS: &'static [&'static str] = host::GATHERING;
    const ISOLATION: Isolation = Isolation::Subprocess;
    const ORIGIN: ContentOrigin = ContentOrigin::Web;
    const OPERANDS: &'static [&'static str] = &["--url"];
    const ERRORS: &'static [&'static [Code]] = &[
        codes::SESSION_ERRORS,
        codes::VISIT_ERRORS,
        ragmaker_address::ERRORS,
        ragmaker_project::ERRORS,
        ragmaker_files::PATH_ERRORS,
        ragmaker_files::IO_ERRORS,
        &[ragmaker_files::NOT_A_REGULAR_FILE, ragmaker_files::PATH_NOT_WRITABLE],
        &[codes::NO_PAGE, ragmaker_address::ADDRESS_NOT_ALLOWED, OFFSET_BEYOND_END],
    ];

    fn run(self, invocation: &Invocation) -> Result<Answer, Error> {
        let url = self.url.as_deref().map(ragmaker_address::parse).transpose()?;
        let plan = CaptureArgs {
            screenshot: self.screenshot.as_deref(),
            full_page: self.full_page,
            selector: self.screenshot_selector.as_deref(),
            annotate: self.annotate,
            image: self.image,
            print_pdf: self.print_pdf.as_deref(),
        }
        .plan(invocation)?;
        let session = RestrictedSession::new(self.session.as_deref(), invocation)?;
        let visit = Visit {
            visible: self.no_headless,
            timeout: self.timeout.map(|seconds| Duration::from_secs(seconds.get())),
            wait_for: self.wait_for.as_deref(),
            capture: plan.capture(),
            declines_consent: self.dismiss_consent,
            ..session.visit(url.as_ref().map_or(Target::Latest, Target::Show))
        };
        let request = LookRequest { changed: self.changed, continues: self.offset.get() > 0 };
        let looked = visit.look(self.selector.as_deref(), request)?;
        let PageElements { mut page, mut elements, within, elsewhere, changes } = looked;
        let (files, image) = plan.save(page.captured.take())?;
        if self.annotate {
            for (index, element) in elements.iter_mut().enumerate() {
                element.number = Some(index + 1);
            }
        }
        let frame = Answer {
            url: page.url.into(),
            title: page.title,
            within,
            elements: vec![],
            total: elements.len(),
            elsewhere,
            truncated: false,
            next: Some(Next::WIDEST),
            changes,
            consent: page.consent,
            files,
            image: None,
        };
        let page = Budget::beside_in(&frame, ANSWER).page(elements, self.offset, self.limit);
        let page = page.map_err(|error| error.detail("url", frame.url.as_str()))?;
        Ok(Answer { elements: page.items, truncated: page.next.is_some(), next: page.next, image, ..frame })
    }
}
