//! Ranked search over the documents of knowledge bases: BM25 over chunks by heading.
//!
//! ```
//! use ragmaker_catalog::{Catalog, Entry};
//! use ragmaker_index::{Filter, search};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let folder = tempfile::tempdir()?;
//! let file = folder.path().join("tides.md");
//! std::fs::write(&file, "# Tides\n\nThe moon pulls.\n")?;
//! let catalog = Catalog::at(folder.path().join("catalog.json"))?;
//! catalog.record(&Entry::new("https://example.com/", "Tides", &file))?;
//! let found = search(&[catalog], "moon", &Filter::default(), None, 10)?;
//! assert_eq!((found.total, found.hits[0].citation.as_str()), (1, "tides.md#tides"));
//! # Ok(())
//! # }
//! ```
//!
//! The engine is our own: `SQLite` FTS5 over the same terms took 74 ms for a query at 11,000 chunks, and
//! tantivy is 122 crates. The index of `JSQuAD` is 0.49 of the text, 44 copies of it 0.36. Scores are BM25's
//! (Robertson and Zaragoza, 2009) over one field into which titles and headings count with a weight; several
//! knowledge bases share document frequencies, so that their scores compare.

mod best;
mod bits;
mod broken;
mod build;
mod chunks;
mod file;
mod near;
mod query;
mod rank;
mod read;
mod rows;
mod stamp;
mod store;
mod texts;
mod tokens;
mod vectors;

use std::path::PathBuf;

use ragmaker_catalog::Catalog;
use ragmaker_tool::{Code, Error};

pub use near::{Embed, Embedded, Embedder, Kind, Nearness};

use broken::Broken;
use query::Query;
use rank::Wanted;
use store::{Index, Look};
use tokens::Tokenizer;

/// The query has no word.
pub const QUERY_EMPTY: Code = Code::new("QUERY_EMPTY", "Search for at least one word that must be there.");
/// An index cannot be read, and a new one neither.
pub const INDEX_NOT_USABLE: Code =
    Code::new("INDEX_NOT_USABLE", "Delete the folder .search beside the catalog; it is made again.");

/// How often documents that change during a search are read again.
const ATTEMPTS: usize = 3;

/// Which hits are wanted.
#[derive(Default)]
pub struct Filter<'a> {
    /// Whether a hit with this text (its path, heading path or URL) is one; any of the three suffices.
    pub matches: Option<&'a dyn Fn(&str) -> bool>,
    /// The earliest `fetched_at` (RFC 3339, or the start of one).
    pub since: Option<&'a str>,
}

/// A part of a document that was found.
#[derive(Clone, Debug, PartialEq)]
pub struct Hit {
    /// The document's absolute path.
    pub path: PathBuf,
    /// The headings that lead to it, joined with ` > `; empty before the first.
    pub heading: String,
    /// `path#slug`, with the path as seen from the root of the knowledge base.
    pub citation: String,
    /// BM25, or where vectors rank, too, the reciprocal ranks; larger is better.
    pub score: f32,
    /// Verbatim from the document.
    pub text: String,
    /// First line of `text` in the document, from 1.
    pub start_line: u32,
    /// Last line, inclusive.
    pub end_line: u32,
    /// The document's title.
    pub title: String,
    /// Which of the catalogs lists it.
    pub catalog: usize,
    /// Title of the knowledge base.
    pub knowledge_base: String,
    /// Root of the knowledge base.
    pub root: PathBuf,
    /// Where the document came from.
    pub url: String,
    /// When.
    pub fetched_at: String,
    /// Whether its text changed after its summary was written.
    pub stale: bool,
}

/// What was found.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Found {
    /// The best, in order.
    pub hits: Vec<Hit>,
    /// How many there are.
    pub total: usize,
    /// The share of the query's terms, from 0 to 1, that the best three hits hold.
    pub coverage: f32,
    /// How many documents were searched.
    pub documents: usize,
    /// With an [`Embedder`], how much was ranked by vectors, too.
    pub nearness: Option<Nearness>,
}

/// The `most` best hits of `query` in the knowledge bases of `catalogs`: by its words, and with an `embedder` by its
/// meaning as well. One that fails is no error: the words rank alone.
///
/// # Errors
///
/// [`QUERY_EMPTY`]; the codes of reading a catalog; [`INDEX_NOT_USABLE`].
pub fn search(
    catalogs: &[Catalog],
    query: &str,
    filter: &Filter<'_>,
    embedder: Option<&Embedder<'_>>,
    most: usize,
) -> Result<Found, Error> {
    let mut tokenizer = Tokenizer::new();
    let query = Query::parse(query, &mut tokenizer);
    if query.terms.is_empty() {
        return Err(QUERY_EMPTY.error("the query has no word to search for"));
    }
    let wanted = Wanted { query: &query, filter, embedder, most };
    let mut look = Look::Usual;
    for _ in 0..ATTEMPTS {
        let indexes = catalogs.iter().map(|catalog| Index::of(catalog, look)).collect::<Result<Vec<_>, _>>()?;
        look = match rank::ranked(&indexes, &wanted, &mut tokenizer) {
            Ok(found) => return Ok(found),
            Err(Broken::Damaged) => Look::Rebuild,
            Err(Broken::Changed) => Look::Everywhere,
        };
    }
    Err(INDEX_NOT_USABLE.error("the documents change faster than they can be indexed"))
}

#[cfg(test)]
mod segment_tests;
#[cfg(test)]
mod tests;
