//! `ragmaker-html-to-markdown`: converts an HTML page from a file or a pipe to Markdown.

mod input;
pub mod stream;

use std::{io, path::PathBuf, time::Duration};

use argh::{ArgsInfo, FromArgs};
use ragmaker_files::{NOT_A_REGULAR_FILE, input_file};
use ragmaker_knowledge::{Destination, DestinationArgs, EMPTY_CONTENT, decode, now, save_converted};
use ragmaker_markdown::{Document, Error as Conversion, Metadata, Options, Scope, convert, plain_text};
use ragmaker_text::{INPUT_TOO_LARGE, NOT_TEXT};
use ragmaker_tool::{
    ARGUMENT_ERROR, Annotations, Bounded, Budget, Code, ContentOrigin, Error, Invocation, Limit, Next,
    OFFSET_BEYOND_END, Offset, SELECTOR_NOT_FOUND, Stdin, Tool, host,
};
use schemars::JsonSchema;
use serde::Serialize;
use url::Url;

/// Convert an HTML file to Markdown: its main content without menus, banners and footers. For a page on the web use
/// `ragmaker-browser-extract`. Returns the Markdown, paged by next, or saves it with `--output-dir` and lists it with
/// `--kb-root`.
#[derive(FromArgs, ArgsInfo, Serialize, JsonSchema, Debug)]
#[argh(help_triggers("-h", "--help"))]
#[expect(clippy::struct_excessive_bools, reason = "each is a switch of the command line")]
pub struct Args {
    /// file with the page's HTML, in any charset; - is standard input (default: standard input)
    #[argh(option)]
    pub path: Option<PathBuf>,
    /// address of the page, which makes its links absolute
    #[argh(option)]
    pub base_url: Option<String>,
    /// convert everything, not only the main content
    #[argh(switch)]
    pub whole: bool,
    /// CSS selector of the content to convert (default: the main content)
    #[argh(option)]
    pub selector: Option<String>,
    /// print only the Markdown, without JSON
    #[argh(switch)]
    #[serde(skip)]
    pub raw: bool,
    /// print the content as plain text for a terminal or a log, not JSON
    #[argh(switch)]
    #[serde(skip)]
    pub text: bool,
    /// with --text, the maximum number of columns (default: 80)
    #[argh(option)]
    #[serde(skip)]
    pub width: Option<Width>,
    /// folder for a Markdown file with front matter, instead of the Markdown in the answer; created if missing
    #[argh(option)]
    pub output_dir: Option<PathBuf>,
    /// folder of the knowledge base to save the page in; its catalog is cache/catalog.json in it, and --output-dir is
    /// cache/documents unless it is given
    #[argh(option)]
    pub kb_root: Option<PathBuf>,
    /// catalog file to record the page in, instead of --kb-root
    #[argh(option)]
    pub catalog_path: Option<PathBuf>,
    /// convert one page per line: JSON objects with html in, JSON objects with text out
    #[argh(switch)]
    #[serde(skip)]
    pub jsonl: bool,
    /// convert the pages of a WARC archive, with output as of --jsonl
    #[argh(switch)]
    #[serde(skip)]
    pub warc: bool,
    /// with --warc, convert responses of any HTTP status (default: 200)
    #[argh(switch)]
    #[serde(skip)]
    pub any_status: bool,
    /// number of threads for a stream, from 1 to 256 (default: 1)
    #[argh(option)]
    #[serde(skip)]
    pub jobs: Option<stream::Jobs>,
    /// timeout in milliseconds for a page of a stream (default: 1000)
    #[argh(option)]
    #[serde(skip)]
    pub timeout_ms: Option<u64>,
    /// maximum size in bytes of a page of a stream (default: 20000000)
    #[argh(option)]
    #[serde(skip)]
    pub max_bytes: Option<usize>,
    /// maximum number of failed pages of a stream (default: any number)
    #[argh(option)]
    #[serde(skip)]
    pub max_failures: Option<usize>,
    /// number of characters to skip
    #[argh(option, default = "Offset::new(0)")]
    pub offset: Offset,
    /// maximum number of characters (default: as many as fit)
    #[argh(option)]
    pub limit: Option<Limit>,
}

/// The maximum number of columns of plain text.
pub type Width = Bounded<1, { u64::MAX }>;

/// A converted page.
#[derive(Serialize, JsonSchema, Debug)]
pub struct Answer {
    /// The metadata of the page.
    #[serde(flatten)]
    pub metadata: Metadata,
    /// The charset of the page.
    pub charset: &'static str,
    /// The number of words in the Markdown; each CJK character counts as one.
    pub words: usize,
    /// The content; omitted if it was written to a file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub markdown: Option<String>,
    /// The absolute path of the written file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub file_path: Option<String>,
    /// The absolute path of the catalog that lists the page.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub catalog_file: Option<String>,
    /// The number of characters in the whole Markdown.
    pub total: usize,
    /// Whether there is more Markdown than was returned.
    pub truncated: bool,
    /// The arguments that continue.
    pub next: Option<Next>,
    #[serde(skip)]
    raw: bool,
}

impl Tool for Args {
    type Answer = Answer;
    const NAME: &'static str = env!("CARGO_PKG_NAME");
    const VERSION: &'static str = env!("CARGO_PKG_VERSION");
    const ANNOTATIONS: Annotations = Annotations::ADDITIVE;
    const HOST_OPTIONS: &'static [&'static str] = host::SAVING;
    const ORIGIN: ContentOrigin = ContentOrigin::Web;
    const STDIN: Option<Stdin> = Some(Stdin { argument: "path", dash: true });
    const OPERANDS: &'static [&'static str] = &["--path"];
    const ERRORS: &'static [&'static [Code]] = &[
        ragmaker_files::IO_ERRORS,
        ragmaker_files::PATH_ERRORS,
        &[ragmaker_files::PATH_NOT_WRITABLE],
        &[NOT_A_REGULAR_FILE, INPUT_TOO_LARGE, NOT_TEXT, SELECTOR_NOT_FOUND, OFFSET_BEYOND_END],
        ragmaker_knowledge::ERRORS,
        ragmaker_catalog::ERRORS,
        &[stream::INPUT_BROKEN, stream::TOO_MANY_FAILURES],
        // The codes of records.
        &[stream::INVALID_RECORD, stream::PAGE_TIMEOUT],
    ];
    const COMMAND_LINE_FLAGS: &'static [&'static str] = &[
        "--raw",
        "--text",
        "--width",
        "--jsonl",
        "--warc",
        "--any-status",
        "--jobs",
        "--timeout-ms",
        "--max-bytes",
        "--max-failures",
    ];

    fn stream(&self, _: &Invocation) -> Option<Result<(), Error>> {
        let form = match (self.jsonl, self.warc) {
            (false, false) => return self.stream_flag_without_stream().map(Err),
            (true, false) => stream::InputFormat::JsonLines,
            (false, true) => stream::InputFormat::Warc { any_status: self.any_status },
            (true, true) => return Some(Err(conflict("--jsonl", "--warc"))),
        };
        Some(self.settings(form).and_then(|settings| {
            let path = self.path.as_deref().filter(|path| path.as_os_str() != "-");
            match path {
                Some(path) => stream::convert(input::open(path)?, io::stdout().lock(), settings),
                None => stream::convert(io::stdin(), io::stdout().lock(), settings),
            }
        }))
    }

    fn run(self, invocation: &Invocation) -> Result<Answer, Error> {
        let base_url = self.base_url.as_deref().map(parse_url).transpose()?;
        let scope = self.scope()?;
        let named = DestinationArgs {
            output_dir: self.output_dir.as_deref(),
            kb_root: self.kb_root.as_deref(),
            catalog_path: self.catalog_path.as_deref(),
        };
        let place = named.names_catalog().then(|| named.locate(invocation)).transpose()?;
        let destination = match &place {
            Some(place) => Some(place.destination()),
            None => named.output_dir(invocation)?.map(|folder| Destination { folder, catalog: None }),
        };
        let path = self.path.as_deref().filter(|path| path.as_os_str() != "-");
        let path = path.map(|path| input_file(path, invocation)).transpose()?;
        let bytes = input::read(path.as_deref())?;
        let (html, charset) = decode(&bytes, None)?;
        // Links stay relative to an address such as `urn:`, as in a stream.
        let base = base_url.as_ref().filter(|url| !url.cannot_be_a_base());
        let options = Options { base_url: base, scope };
        let mut page = convert(&html, &options).map_err(|error| refusal(&error))?;
        if self.text {
            page.markdown = plain_text(&page.markdown, self.width.map_or(80, Width::index));
            // A picture without a description is Markdown, but no text.
            if page.markdown.trim().is_empty() {
                return Err(refusal(&Conversion::EmptyContent));
            }
        }
        let (mut answer, page) = self.answer(page, charset.name());
        match destination {
            Some(destination) => {
                let url = self.source_url(base_url, answer.metadata.url.as_deref())?;
                let saved = save_converted(page, &url, &now(), None, &destination)?;
                answer.metadata.title = saved.title;
                answer.file_path = Some(saved.file.to_string_lossy().into_owned());
                answer.catalog_file = place.as_ref().map(|place| place.catalog.file().to_string_lossy().into_owned());
            }
            None => self.show(&mut answer, page.markdown)?,
        }
        Ok(answer)
    }

    fn plain(answer: &Answer) -> Option<&str> {
        answer.markdown.as_deref().filter(|_| answer.raw)
    }
}

impl Args {
    /// The error for a flag that is valid only with a stream, if there is no stream.
    fn stream_flag_without_stream(&self) -> Option<Error> {
        let given = [
            ("--any-status", self.any_status),
            ("--jobs", self.jobs.is_some()),
            ("--timeout-ms", self.timeout_ms.is_some()),
            ("--max-bytes", self.max_bytes.is_some()),
            ("--max-failures", self.max_failures.is_some()),
        ];
        let (flag, _) = given.into_iter().find(|(_, is_given)| *is_given)?;
        let needed = if flag == "--any-status" { "--warc" } else { "--jsonl or --warc" };
        Some(ARGUMENT_ERROR.error(format!("{flag} needs {needed}")).detail("argument", flag))
    }

    /// The settings of a stream; an error if other arguments contradict it.
    fn settings(&self, form: stream::InputFormat) -> Result<stream::Settings, Error> {
        let flag = if form == stream::InputFormat::JsonLines { "--jsonl" } else { "--warc" };
        let others = [
            ("--base-url", self.base_url.is_some()),
            ("--raw", self.raw),
            ("--text", self.text),
            ("--output-dir", self.output_dir.is_some()),
            ("--kb-root", self.kb_root.is_some()),
            ("--catalog-path", self.catalog_path.is_some()),
            ("--limit", self.limit.is_some()),
            ("--offset", self.offset.index() > 0),
            ("--any-status", self.any_status && self.jsonl),
        ];
        if let Some((other, _)) = others.iter().find(|(_, is_given)| *is_given) {
            return Err(conflict(flag, other));
        }
        let content = match self.scope()? {
            Scope::Main => stream::Content::Main,
            Scope::Whole => stream::Content::Whole,
            Scope::Selector(css) => {
                ragmaker_markdown::check_selector(css).map_err(|error| refusal(&error))?;
                stream::Content::Selected(css.to_owned())
            }
        };
        Ok(stream::Settings {
            form,
            content,
            jobs: self.jobs.unwrap_or(stream::Jobs::new(1)),
            timeout: Duration::from_millis(self.timeout_ms.unwrap_or(1000)),
            max_bytes: self.max_bytes.unwrap_or(20_000_000),
            max_failures: self.max_failures,
        })
    }

    fn scope(&self) -> Result<Scope<'_>, Error> {
        let conflict = |one, other| Err(conflict(one, other));
        let saving =
            [("--output-dir", &self.output_dir), ("--kb-root", &self.kb_root), ("--catalog-path", &self.catalog_path)];
        for (flag, _) in [("--raw", self.raw), ("--text", self.text)].into_iter().filter(|(_, is_given)| *is_given) {
            if let Some((argument, _)) = saving.iter().find(|(_, path)| path.is_some()) {
                return conflict(flag, argument);
            }
        }
        if self.raw && self.text {
            return conflict("--raw", "--text");
        }
        if self.width.is_some() && !self.text {
            return Err(ARGUMENT_ERROR.error("--width needs --text").detail("argument", "--width"));
        }
        match &self.selector {
            Some(_) if self.whole => conflict("--whole", "--selector"),
            Some(selector) => Ok(Scope::Selector(selector)),
            None if self.whole => Ok(Scope::Whole),
            None => Ok(Scope::Main),
        }
    }

    /// The URL under which the page is saved: the given one, the page's canonical URL, or the URL of its file.
    fn source_url(&self, given: Option<Url>, canonical: Option<&str>) -> Result<String, Error> {
        let path = self.path.as_deref().filter(|path| path.as_os_str() != "-");
        match (given, canonical, path) {
            (Some(url), ..) => Ok(url.into()),
            (None, Some(url), _) => Ok(url.to_owned()),
            (None, None, Some(path)) => {
                let path = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
                Ok(Url::from_file_path(&path).map_or_else(|()| path.to_string_lossy().into_owned(), Into::into))
            }
            (None, None, None) => Err(ARGUMENT_ERROR
                .error("the page has no address to name the file after")
                .remedy("Give its address as --base-url.")
                .detail("argument", "--base-url")),
        }
    }

    /// The answer for `page` without its Markdown, and the page.
    fn answer(&self, page: Document, charset: &'static str) -> (Answer, Document) {
        let mut metadata = page.metadata.clone();
        metadata.url = metadata.url.or(self.base_url.clone());
        let answer = Answer {
            metadata,
            charset,
            words: page.words,
            markdown: None,
            file_path: None,
            catalog_file: None,
            total: page.markdown.chars().count(),
            truncated: false,
            next: None,
            raw: self.raw || self.text,
        };
        (answer, page)
    }

    /// Puts the requested part of `markdown` into the answer, or as much as fits.
    fn show(&self, answer: &mut Answer, mut markdown: String) -> Result<(), Error> {
        // Text that is printed by itself has no frame, and no client that cuts it.
        let limit = self.limit.or(answer.raw.then_some(Limit::new(u64::MAX)));
        (answer.markdown, answer.next) = (Some(String::new()), Some(Next::WIDEST));
        let page = Budget::for_frame(answer).page_of_text(&markdown, answer.total, self.offset, limit)?;
        (answer.truncated, answer.next) = (page.next.is_some(), page.next);
        markdown.truncate(page.range.end);
        markdown.drain(..page.range.start);
        answer.markdown = Some(markdown);
        Ok(())
    }
}

fn conflict(one: &str, other: &str) -> Error {
    ARGUMENT_ERROR.error(format!("{one} and {other} cannot be combined")).detail("argument", other)
}

/// The tool's error for a failed conversion.
fn refusal(error: &Conversion) -> Error {
    let message = error.to_string();
    match error {
        Conversion::EmptyContent => EMPTY_CONTENT.error(message).remedy(
            "Use --whole to convert the whole page; use ragmaker-browser-extract for a page that scripts fill.",
        ),
        Conversion::NothingSelected => SELECTOR_NOT_FOUND.error(message).detail("argument", "--selector"),
        Conversion::BadSelector(_) => ARGUMENT_ERROR.error(message).detail("argument", "--selector"),
    }
}

fn parse_url(text: &str) -> Result<Url, Error> {
    Url::parse(text).map_err(|error| {
        ARGUMENT_ERROR
            .error(format!("--base-url cannot be {text:?}: {error}"))
            .remedy("Give the whole address, such as https://example.com/page.")
            .detail("argument", "--base-url")
            .detail("value", text)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn args(line: &[&str]) -> Args {
        Args::from_args(&["html-to-markdown"], line).unwrap()
    }

    /// The code and the argument of an error.
    fn refused<T>(result: Result<T, Error>) -> Option<(&'static str, String)> {
        let error = result.err()?;
        let argument = error.details().get("argument").and_then(|name| name.as_str()).unwrap_or_default();
        Some((error.code(), argument.to_owned()))
    }

    #[test]
    fn arguments_that_contradict_each_other_are_named() {
        for (line, argument) in [
            (&["--whole", "--selector", "p"][..], "--selector"),
            (&["--raw", "--output-dir", "a"], "--output-dir"),
            (&["--text", "--kb-root", "a"], "--kb-root"),
            (&["--raw", "--text"], "--text"),
            (&["--width", "20"], "--width"),
        ] {
            assert_eq!(refused(args(line).scope()), Some(("ARGUMENT_ERROR", argument.to_owned())), "{line:?}");
        }
        let none = Args::from_args(&["html-to-markdown"], &["--text", "--width", "0"]).unwrap_err();
        assert!(none.output.contains("expected a whole number of at least 1"), "{none:?}");
        assert!(matches!(args(&["--whole"]).scope(), Ok(Scope::Whole)));
        assert!(matches!(args(&["--selector", "p"]).scope(), Ok(Scope::Selector("p"))));
        assert!(matches!(args(&["--text", "--width", "20"]).scope(), Ok(Scope::Main)));
    }

    #[test]
    fn a_stream_takes_its_own_arguments_alone() {
        let settings = |line: &[&str]| args(line).settings(stream::InputFormat::JsonLines);
        for argument in ["--base-url", "--output-dir", "--kb-root", "--catalog-path", "--limit", "--offset"] {
            let found = refused(settings(&["--jsonl", argument, "1"]));
            assert_eq!(found, Some(("ARGUMENT_ERROR", argument.to_owned())));
        }
        assert_eq!(refused(settings(&["--jsonl", "--any-status"])).unwrap().1, "--any-status");
        assert_eq!(refused(settings(&["--jsonl", "--selector", "p["])).unwrap().1, "--selector");
        let given =
            settings(&["--jsonl", "--jobs", "3", "--timeout-ms", "7", "--max-bytes", "9", "--max-failures", "0"])
                .unwrap();
        assert_eq!(
            (given.jobs.get(), given.timeout.as_millis(), given.max_bytes, given.max_failures),
            (3, 7, 9, Some(0))
        );
        let default = settings(&["--jsonl"]).unwrap();
        assert_eq!((default.jobs.get(), default.timeout.as_millis(), default.max_failures), (1, 1000, None));
        for (argument, value) in [("--jobs", "2"), ("--timeout-ms", "1"), ("--max-bytes", "1"), ("--max-failures", "1")]
        {
            let error = args(&[argument, value]).stream_flag_without_stream().unwrap();
            assert!(error.message().contains("--jsonl or --warc"), "{error}");
        }
        assert!(args(&["--path", "a"]).stream_flag_without_stream().is_none());
    }

    #[test]
    fn a_page_is_saved_under_its_best_address() {
        let url = |text: &str| Some(Url::parse(text).unwrap());
        let of = |line: &[&str], given, canonical| args(line).source_url(given, canonical);
        let (given, canonical) = ("https://given.example/", "https://own.example/a");
        assert_eq!(of(&["--path", "a.html"], url(given), Some(canonical)).unwrap(), given);
        assert_eq!(of(&["--path", "a.html"], None, Some(canonical)).unwrap(), canonical);
        let file = of(&["--path", "a \u{6f6e}.html"], None, None).unwrap();
        assert!(file.starts_with("file:///") && file.ends_with("/a%20%E6%BD%AE.html"), "{file}");
        for line in [&[][..], &["--path", "-"]] {
            assert_eq!(refused(of(line, None, None)).unwrap().1, "--base-url");
        }
        assert_eq!(refused(parse_url("example.com/page")).unwrap().1, "--base-url");
    }

    #[test]
    fn parts_of_the_markdown_join_to_the_whole() {
        let markdown = "\u{6f6e}one\n\ntwo \u{1f30a}\n";
        let show = |line: &[&str]| {
            let page = Document {
                markdown: markdown.to_owned(),
                ..convert("<p>x", &Options { base_url: None, scope: Scope::Whole }).unwrap()
            };
            let args = args(line);
            let (mut answer, page) = args.answer(page, "UTF-8");
            args.show(&mut answer, page.markdown).map(|()| answer)
        };
        let (mut joined, mut offset) = (String::new(), 0);
        loop {
            let answer = show(&["--limit", "4", "--offset", &offset.to_string()]).unwrap();
            joined += &answer.markdown.unwrap();
            assert_eq!((answer.total, answer.truncated), (markdown.chars().count(), answer.next.is_some()));
            let Some(next) = answer.next else { break };
            offset = next.offset;
        }
        assert_eq!(joined, markdown);
        assert_eq!(show(&[]).unwrap().markdown.as_deref(), Some(markdown));
        assert!(show(&["--raw"]).unwrap().next.is_none());
        assert_eq!(refused(show(&["--offset", "99"])), Some(("OFFSET_BEYOND_END", "--offset".to_owned())));
    }
}
