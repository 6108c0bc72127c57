//! Describes a knowledge base: sets the header of its catalog and says how many documents it has.

use std::path::PathBuf;

use argh::{ArgsInfo, FromArgs};
use ragmaker_catalog::{Catalog, Header};
use ragmaker_tool::{ARGUMENT_ERROR, Annotations, Code, Error, JsonSchema, OUTPUT_LIMIT, Tool, choice, json};
use serde::{Deserialize, Serialize};

/// Describe a knowledge base: set the title, summary and source in its catalog. Fields that are not
/// given stay as they are; a catalog that does not exist yet is made.
#[derive(FromArgs, ArgsInfo, Serialize, JsonSchema)]
#[argh(help_triggers("-h", "--help"))]
#[serde(rename_all = "kebab-case")]
pub struct Args {
    /// folder of the knowledge base; its catalog is cache/catalog.json in it
    #[argh(option)]
    pub kb_root: Option<PathBuf>,
    /// catalog file, instead of --kb-root; with neither it is .tmp/cache/catalog.json in the
    /// project
    #[argh(option)]
    pub catalog_path: Option<PathBuf>,
    /// name of the knowledge base
    #[argh(option)]
    pub title: Option<String>,
    /// what the knowledge base is about
    #[argh(option)]
    pub summary: Option<String>,
    /// where its documents come from
    #[argh(option)]
    pub source_url: Option<String>,
    /// kind of that source
    #[argh(option, from_str_fn(choice))]
    pub src_type: Option<SourceType>,
}

/// Where a knowledge base was taken from.
#[derive(Clone, Copy, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[expect(missing_docs, reason = "the names say it, and texts would turn the schema's list of choices into a union")]
pub enum SourceType {
    Web,
    Github,
    Local,
}

impl SourceType {
    /// The name, as the catalog has it.
    fn name(self) -> &'static str {
        match self {
            Self::Web => "web",
            Self::Github => "github",
            Self::Local => "local",
        }
    }
}

/// The catalog's header after the change.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Answer {
    /// The catalog's absolute path.
    pub catalog_file: String,
    /// The whole header, with the fields that were there before.
    pub header: Header,
    /// Number of documents in the catalog.
    pub documents: usize,
    /// Whether a field is too long to be shown whole and was cut in this answer. The catalog has
    /// all of it.
    pub truncated: bool,
}

impl Tool for Args {
    type Answer = Answer;
    const NAME: &'static str = env!("CARGO_PKG_NAME");
    const VERSION: &'static str = env!("CARGO_PKG_VERSION");
    const ANNOTATIONS: Annotations =
        Annotations { read_only_hint: false, destructive_hint: false, idempotent_hint: true, open_world_hint: false };
    const ERRORS: &'static [Code] = ragmaker_catalog::ERRORS;

    fn run(self) -> Result<Answer, Error> {
        let catalog = Catalog::locate(self.kb_root.as_deref(), self.catalog_path.as_deref())?;
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
        let catalog_file = catalog.file().to_string_lossy().into_owned();
        let room = OUTPUT_LIMIT.saturating_sub(AROUND + json::cost(&catalog_file, json::Charset::from_env()));
        let mut header = description.header;
        let mut truncated = false;
        for text in header.texts_mut() {
            truncated |= shorten(text, room / FIELDS);
        }
        Ok(Answer { catalog_file, header, documents: description.documents, truncated })
    }
}

/// The fields of the header, which share what the catalog's path leaves of the output.
const FIELDS: usize = 5;

/// Characters that are kept for everything else.
const AROUND: usize = 1_000;

/// Cuts a text that takes more than its share of the output; tells whether it did.
fn shorten(text: &mut String, share: usize) -> bool {
    let charset = json::Charset::from_env();
    let mut cut = false;
    while json::cost(text, charset) > share {
        // Halving may cut more than it must; what is left still says what the text is about.
        let keep = text.len().min(share * 2) / 2;
        text.truncate(text.floor_char_boundary(keep));
        cut = true;
    }
    if cut {
        text.push('…');
    }
    cut
}
