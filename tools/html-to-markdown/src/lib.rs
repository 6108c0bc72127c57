//! `ragmaker-html-to-markdown`: a page from a file or a pipe to clean Markdown.

mod input;

use std::path::{Path, PathBuf};

use argh::{ArgsInfo, FromArgs};
use ragmaker_document::{Document, OUTPUT_DIR_NOT_WRITABLE};
use ragmaker_markdown::{Error as Conversion, Options, PageType, Scope, convert, decode};
use ragmaker_tool::{
    ARGUMENT_ERROR, Annotations, Code, Error, OFFSET_BEYOND_END, OUTPUT_LIMIT, Tool, Within,
    json::{Charset, cost},
};
use schemars::JsonSchema;
use serde::Serialize;
use url::Url;

pub use input::{
    FILE_NOT_FOUND, INPUT_TOO_LARGE, IO_ERROR, IS_A_DIRECTORY, NOT_A_REGULAR_FILE, NOT_TEXT, PERMISSION_DENIED,
};

/// There is nothing to convert.
pub const EMPTY_CONTENT: Code = Code::new(
    "EMPTY_CONTENT",
    "Use --whole to convert all there is; a page that needs a browser to fill it is for ragmaker-browser-extract.",
);
/// The selector matches nothing.
pub const SELECTOR_NOT_FOUND: Code =
    Code::new("SELECTOR_NOT_FOUND", "Check the selector against the page, or leave it out.");

/// The characters of an answer that are not its Markdown or its metadata.
const FRAME: usize = 600;

/// Convert an HTML page to clean Markdown: its main content without menus, banners and footers.
#[derive(FromArgs, ArgsInfo, Serialize, JsonSchema, Debug)]
#[argh(help_triggers("-h", "--help"))]
#[serde(rename_all = "kebab-case")]
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
    /// CSS selector of what to convert, instead of the main content
    #[argh(option)]
    pub selector: Option<String>,
    /// print the Markdown alone, not JSON
    #[argh(switch)]
    pub raw: bool,
    /// folder to write a Markdown file with front matter to, instead of printing the Markdown; made where it is missing
    #[argh(option)]
    pub output_dir: Option<PathBuf>,
    /// character of the Markdown to begin at
    #[argh(option, default = "0")]
    pub offset: usize,
    /// most characters of Markdown to print (default: as many as fit an answer; all with --raw)
    #[argh(option)]
    pub limit: Option<Within<1, { u64::MAX }>>,
}

/// A converted page.
#[derive(Serialize, JsonSchema, Debug)]
pub struct Answer {
    /// The title, without the site's name.
    pub title: String,
    /// The page's address: the canonical one that it states, else --base-url.
    pub url: Option<String>,
    /// The language, as a BCP 47 tag.
    pub lang: Option<String>,
    /// The name of the site.
    pub site_name: Option<String>,
    /// Who wrote it.
    pub author: Option<String>,
    /// When it was published, as the page writes it.
    pub published: Option<String>,
    /// A sentence or two about the content.
    pub description: Option<String>,
    /// What kind of page it is.
    pub page_type: PageType,
    /// The charset that the page was read in.
    pub charset: &'static str,
    /// How many words the Markdown has; each CJK character is one.
    pub words: usize,
    /// The content; left out where it was written to a file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub markdown: Option<String>,
    /// The absolute path of the file that was written.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub file_path: Option<String>,
    /// How many characters the whole Markdown has.
    pub total: usize,
    /// Whether there is more Markdown than was printed.
    pub truncated: bool,
    /// The arguments that continue.
    pub next: Option<Next>,
    #[serde(skip)]
    raw: bool,
}

/// The arguments that continue where an answer ends.
#[derive(Serialize, JsonSchema, Debug)]
pub struct Next {
    /// The first character that was not printed.
    pub offset: usize,
}

impl Tool for Args {
    type Answer = Answer;
    const NAME: &'static str = env!("CARGO_PKG_NAME");
    const VERSION: &'static str = env!("CARGO_PKG_VERSION");
    const ANNOTATIONS: Annotations =
        Annotations { read_only_hint: false, destructive_hint: false, idempotent_hint: true, open_world_hint: false };
    const ERRORS: &'static [Code] = &[
        FILE_NOT_FOUND,
        IS_A_DIRECTORY,
        NOT_A_REGULAR_FILE,
        PERMISSION_DENIED,
        IO_ERROR,
        INPUT_TOO_LARGE,
        NOT_TEXT,
        EMPTY_CONTENT,
        SELECTOR_NOT_FOUND,
        OFFSET_BEYOND_END,
        OUTPUT_DIR_NOT_WRITABLE,
    ];

    fn run(self) -> Result<Answer, Error> {
        let base_url = self.base_url.as_deref().map(parse_url).transpose()?;
        let scope = self.scope()?;
        let bytes = input::read(self.path.as_deref())?;
        let (html, charset) = decode(&bytes, None);
        if input::is_garbled(&html) {
            return Err(NOT_TEXT.error("this is a binary file, not a page"));
        }
        let page = convert(&html, &Options { base_url: base_url.as_ref(), scope }).map_err(|error| {
            let message = error.to_string();
            match error {
                Conversion::EmptyContent => EMPTY_CONTENT.error(message),
                Conversion::NothingSelected => SELECTOR_NOT_FOUND.error(message).detail("argument", "--selector"),
                Conversion::BadSelector(_) => ARGUMENT_ERROR.error(message).detail("argument", "--selector"),
            }
        })?;
        let mut answer = Answer {
            url: page.url.or(self.base_url.clone()),
            title: page.title,
            lang: page.lang,
            site_name: page.site_name,
            author: page.author,
            published: page.published,
            description: page.description,
            page_type: page.page_type,
            charset: charset.name(),
            words: page.words,
            markdown: None,
            file_path: None,
            total: page.markdown.chars().count(),
            truncated: false,
            next: None,
            raw: self.raw,
        };
        match &self.output_dir {
            Some(folder) => answer.file_path = Some(self.save(folder, &answer, &page.markdown)?),
            None => self.show(&mut answer, page.markdown)?,
        }
        Ok(answer)
    }

    fn plain(answer: &Answer) -> Option<&str> {
        answer.markdown.as_deref().filter(|_| answer.raw)
    }
}

impl Args {
    fn scope(&self) -> Result<Scope<'_>, Error> {
        let clash = |one: &str, other: &str| {
            Err(ARGUMENT_ERROR.error(format!("{one} and {other} exclude each other")).detail("argument", other))
        };
        if self.raw && self.output_dir.is_some() {
            return clash("--raw", "--output-dir");
        }
        match &self.selector {
            Some(_) if self.whole => clash("--whole", "--selector"),
            Some(selector) => Ok(Scope::Selector(selector)),
            None if self.whole => Ok(Scope::Whole),
            None => Ok(Scope::Main),
        }
    }

    fn save(&self, folder: &Path, answer: &Answer, markdown: &str) -> Result<String, Error> {
        if folder.as_os_str().is_empty() {
            return Err(ARGUMENT_ERROR.error("--output-dir is empty").detail("argument", "--output-dir"));
        }
        let path = self.path.as_deref().filter(|path| path.as_os_str() != "-");
        let source = match (&self.base_url, &answer.url, path) {
            (Some(url), ..) | (None, Some(url), _) => url.clone(),
            (None, None, Some(path)) => {
                let path = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
                Url::from_file_path(&path).map_or_else(|()| path.to_string_lossy().into_owned(), Into::into)
            }
            (None, None, None) => {
                return Err(ARGUMENT_ERROR
                    .error("the file would have no name: the page states no address")
                    .remedy("Give its address as --base-url.")
                    .detail("argument", "--base-url"));
            }
        };
        let known = [
            ("author", &answer.author),
            ("published", &answer.published),
            ("site_name", &answer.site_name),
            ("lang", &answer.lang),
        ];
        let fields: Vec<(&str, &str)> =
            known.iter().filter_map(|(name, value)| Some((*name, value.as_deref()?))).collect();
        let fetched_at = ragmaker_catalog::now();
        let document =
            Document { source_url: &source, title: &answer.title, fetched_at: &fetched_at, fields: &fields, markdown };
        Ok(document.save(folder)?.to_string_lossy().into_owned())
    }

    /// Puts as much of `markdown` into the answer as was asked for, or as fits.
    fn show(&self, answer: &mut Answer, mut markdown: String) -> Result<(), Error> {
        let Some((start, _)) = markdown.char_indices().nth(self.offset) else {
            return Err(OFFSET_BEYOND_END
                .error(format!("the Markdown has {} characters", answer.total))
                .detail("argument", "--offset")
                .detail("total", answer.total));
        };
        let rest = &markdown[start..];
        let shown = match self.limit {
            Some(limit) => {
                let limit = usize::try_from(limit.get()).unwrap_or(usize::MAX);
                rest.char_indices().nth(limit).map_or(rest, |(end, _)| &rest[..end])
            }
            None if self.raw => rest,
            None => fitting(rest, OUTPUT_LIMIT.saturating_sub(FRAME + cost(answer, Charset::from_env()))),
        };
        answer.truncated = shown.len() < rest.len();
        if answer.truncated {
            answer.next = Some(Next { offset: self.offset + shown.chars().count() });
        }
        let end = start + shown.len();
        markdown.truncate(end);
        markdown.drain(..start);
        answer.markdown = Some(markdown);
        Ok(())
    }
}

/// The start of `text` that takes at most `budget` characters in JSON; it ends with a line where it can.
fn fitting(text: &str, budget: usize) -> &str {
    let charset = Charset::from_env();
    if text.len() <= budget && cost(&text, charset) <= budget {
        return text;
    }
    let mut spent = 0;
    let mut line_end = 0;
    for (at, c) in text.char_indices() {
        spent += cost(&c, charset) - 3;
        if spent > budget {
            // A line that is longer than half of an answer is cut where the answer is full.
            return &text[..if line_end * 2 > at { line_end } else { at.max(c.len_utf8()) }];
        }
        if c == '\n' {
            line_end = at + 1;
        }
    }
    text
}

fn parse_url(text: &str) -> Result<Url, Error> {
    let refuse = |reason: String| {
        ARGUMENT_ERROR
            .error(format!("--base-url can not be {text:?}: {reason}"))
            .remedy("Give the whole address, such as https://example.com/page.")
            .detail("argument", "--base-url")
            .detail("value", text)
    };
    let url = Url::parse(text).map_err(|error| refuse(error.to_string()))?;
    if url.cannot_be_a_base() { Err(refuse("links can not be relative to it".into())) } else { Ok(url) }
}
