//! `ragmaker-entry-discovery`: sets the header of a catalog and counts its documents.

use std::path::PathBuf;

use argh::{ArgsInfo, FromArgs};
use ragmaker_catalog::{Access, Catalog, Header, SourceType};
use ragmaker_tool::{
    ARGUMENT_ERROR, Annotations, Budget, Code, Error, Invocation, JsonSchema, Tool, ToolProfile,
    budget::longest_prefix, choice, host, json::Charset,
};
use serde::Serialize;

/// Describe a whole knowledge base: set title, summary and source in its catalog, which is made if missing. Other
/// fields stay. For single documents use `ragmaker-enrich-discovery`. Returns the whole header.
#[derive(FromArgs, ArgsInfo, Serialize, JsonSchema)]
#[argh(help_triggers("-h", "--help"))]
pub struct Args {
    /// folder of the knowledge base (default: the project's)
    #[argh(option)]
    pub kb_root: Option<PathBuf>,
    /// catalog file, instead of --kb-root
    #[argh(option)]
    pub catalog_path: Option<PathBuf>,
    /// name of the knowledge base
    #[argh(option)]
    pub title: Option<String>,
    /// summary of the content of the knowledge base
    #[argh(option)]
    pub summary: Option<String>,
    /// source of its documents
    #[argh(option)]
    pub source_url: Option<String>,
    /// type of that source
    #[argh(option, from_str_fn(choice))]
    pub src_type: Option<SourceType>,
}

/// The catalog's header after the change.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Answer {
    /// The catalog's absolute path.
    pub catalog_file: String,
    /// The complete header, including fields that existed before.
    pub header: Header,
    /// Number of documents in the catalog.
    pub documents: usize,
    /// Whether a field was cut because it is too long for an answer. The catalog has the complete text.
    pub truncated: bool,
}

impl Tool for Args {
    type Answer = Answer;
    const NAME: &'static str = env!("CARGO_PKG_NAME");
    const VERSION: &'static str = env!("CARGO_PKG_VERSION");
    const ANNOTATIONS: Annotations = Annotations::ADDITIVE;
    const HOST_OPTIONS: &'static [&'static str] = host::SAVING;
    const PROFILES: &'static [ToolProfile] = &[ToolProfile::Gather, ToolProfile::Fetch];
    const OPERANDS: &'static [&'static str] = &["--kb-root"];
    const ERRORS: &'static [&'static [Code]] =
        &[ragmaker_catalog::ERRORS, ragmaker_files::PATH_ERRORS, &[ragmaker_files::PATH_NOT_WRITABLE]];

    fn run(self, invocation: &Invocation) -> Result<Answer, Error> {
        let catalog =
            Catalog::locate(self.kb_root.as_deref(), self.catalog_path.as_deref(), Access::Write, invocation)?;
        let given = [("--title", &self.title), ("--summary", &self.summary), ("--source-url", &self.source_url)];
        if let Some((argument, _)) =
            given.iter().find(|(_, text)| text.as_ref().is_some_and(|text| text.trim().is_empty()))
        {
            return Err(ARGUMENT_ERROR.error(format!("{argument} is empty")).detail("argument", *argument));
        }
        if self.src_type.is_none() && given.iter().all(|(_, text)| text.is_none()) {
            return Err(ARGUMENT_ERROR
                .error("nothing to set")
                .remedy("Give at least one of --title, --summary, --source-url and --src-type.")
                .detail("argument", "--title"));
        }
        let description = catalog.describe(&Header {
            title: self.title,
            summary: self.summary,
            source_url: self.source_url,
            src_type: self.src_type.map(|kind| kind.name().to_owned()),
            fetched_at: None,
        })?;
        let mut header = description.header;
        let answer = Answer {
            catalog_file: catalog.file().to_string_lossy().into_owned(),
            header: Header::default(),
            documents: description.documents,
            truncated: false,
        };
        let budget = Budget::for_frame(&answer);
        let mut truncated = false;
        for text in header.texts_mut() {
            truncated |= shorten(text, budget.left() / FIELDS, budget.charset());
        }
        Ok(Answer { header, truncated, ..answer })
    }
}

/// The fields of the header, which share the characters that are left.
const FIELDS: usize = 5;

/// Cuts a text that takes more than its share of the output; returns whether it did.
fn shorten(text: &mut String, share: usize, charset: Charset) -> bool {
    // Room for the quotes and the sign of the cut, which takes six characters in ASCII.
    let fits = longest_prefix(text, share.saturating_sub(8), charset).len();
    let cut = fits < text.len();
    if cut {
        text.truncate(fits);
        text.push('…');
    }
    cut
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_over_its_share_is_cut_between_characters() {
        for (text, share, charset, expected) in [
            ("short", 13, Charset::Utf8, "short"),
            ("longer", 13, Charset::Utf8, "longe…"),
            ("潮位表", 10, Charset::Utf8, "潮位…"),
            // Each takes six characters in ASCII.
            ("潮位表", 20, Charset::Ascii, "潮位…"),
            ("", 0, Charset::Utf8, ""),
            ("a", 0, Charset::Utf8, "…"),
        ] {
            let mut cut = text.to_owned();
            assert_eq!((shorten(&mut cut, share, charset), cut.as_str()), (cut != text, expected), "{text:?} {share}");
        }
    }
}
