//! The search for quotations in the documents of knowledge bases.

use std::{
    collections::HashMap,
    fs,
    path::{Path, PathBuf},
    thread,
};

use aho_corasick::{AhoCorasick, MatchKind};
use percent_encoding::percent_decode_str;
use ragmaker_catalog::{Catalog, Listed};
use ragmaker_document::sections::{Section, sections, slugify};
use ragmaker_tool::{Error, JsonSchema};
use serde::Serialize;

use crate::{
    Claim,
    chars::is_cjk,
    fold::{compared, folded, placed},
    link::text_fragment,
    source::Reading,
};

/// The shortest quotation, in characters of the normalized text. Shorter texts also occur by chance in other
/// documents: 3.4 % at 12 characters, 1.1 % at 20, and not less above (333 documents in English).
pub(crate) const SHORTEST: usize = 20;
/// The same if most characters are CJK.
pub(crate) const SHORTEST_CJK: usize = 10;
/// The largest document that is read, in bytes.
const MAX_BYTES: u64 = 64 << 20;
/// The number of documents that are read between two checks whether all claims were found.
const BATCH: usize = 256;

/// The result for a claim.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ClaimVerdict {
    /// The cited section contains the quotation; without a citation, any section contains it.
    Found,
    /// Another section or document contains the quotation.
    Elsewhere,
    /// No document contains the quotation in this form.
    NotFound,
    /// The quotation is too short to check.
    TooShort,
}

/// A place in a document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Passage {
    /// The document's absolute path.
    pub path: PathBuf,
    /// The headings above the passage, joined with ` > `.
    pub heading: String,
    /// The citation `PATH#SLUG` of the section.
    pub citation: String,
    /// The line number of the start, from 1.
    pub start_line: usize,
    /// The text of the passage, verbatim.
    pub text: String,
    /// The URL of the source, with a text fragment for the passage.
    pub url: Option<String>,
    /// The time at which the source was fetched.
    pub fetched_at: Option<String>,
    /// Whether the last refresh found the source changed or gone.
    pub stale: bool,
}

/// A checked claim.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CheckedClaim {
    /// The claim.
    pub claim: Claim,
    /// The result.
    pub verdict: ClaimVerdict,
    /// The place of the quotation, if it was found.
    pub place: Option<Passage>,
}

/// Checks `claims` against the documents that `catalogs` list.
///
/// # Errors
///
/// The errors of reading a catalog.
pub fn check(catalogs: &[Catalog], claims: Vec<Claim>) -> Result<Vec<CheckedClaim>, Error> {
    let bases = catalogs.iter().map(KnowledgeBase::read).collect::<Result<Vec<_>, _>>()?;
    let mut checked: Vec<CheckedClaim> =
        claims.into_iter().map(|claim| CheckedClaim { claim, verdict: ClaimVerdict::NotFound, place: None }).collect();
    let mut open = vec![];
    for (number, one) in checked.iter_mut().enumerate() {
        let written = folded(&one.claim.quote, Reading::Written);
        if is_short(&written) {
            one.verdict = ClaimVerdict::TooShort;
            continue;
        }
        let shown = folded(&one.claim.quote, Reading::ShownPart);
        open.push(PendingClaim { number, cited: ParsedCitation::of(one.claim.citation.as_deref()), written, shown });
    }
    let documents: Vec<SearchedDocument<'_>> = bases.iter().flat_map(KnowledgeBase::documents).collect();
    in_cited(&documents, &mut open, &mut checked);
    let all: Vec<&SearchedDocument<'_>> = documents.iter().collect();
    let differ = anywhere(&all, &mut open, &mut checked, Reading::Written);
    // Most documents and most quotations are the same in both readings.
    let left = if open.iter().all(PendingClaim::is_same) { differ } else { all };
    anywhere(&left, &mut open, &mut checked, Reading::Shown);
    Ok(checked)
}

/// Whether a normalized quotation is too short to check.
fn is_short(folded: &str) -> bool {
    let (mut all, mut cjk) = (0, 0);
    for c in folded.chars() {
        all += 1;
        cjk += usize::from(is_cjk(c));
    }
    all < if cjk * 2 > all { SHORTEST_CJK } else { SHORTEST }
}

/// A claim that was not found yet.
struct PendingClaim {
    number: usize,
    cited: Option<ParsedCitation>,
    written: String,
    shown: String,
}

impl PendingClaim {
    fn quote(&self, reading: Reading) -> &str {
        if reading == Reading::Written { &self.written } else { &self.shown }
    }

    /// Whether it is the same in every reading.
    fn is_same(&self) -> bool {
        self.written == self.shown
    }
}

/// The parts of a citation.
struct ParsedCitation {
    path: String,
    slug: Option<String>,
}

impl ParsedCitation {
    fn of(citation: Option<&str>) -> Option<Self> {
        let citation = citation?.trim();
        let (path, slug) = match citation.rsplit_once('#') {
            Some((path, slug)) => (path, Some(slug.to_owned())),
            None => (citation, None),
        };
        Some(Self { path: path.trim_start_matches("./").to_owned(), slug })
    }

    /// Whether the citation names the section with the anchor `slug`.
    fn names_section(&self, slug: &str) -> bool {
        self.slug.as_deref().is_none_or(|given| {
            given == slug || {
                let given = percent_decode_str(given).decode_utf8_lossy();
                given == slug || (!slug.is_empty() && slugify(&given) == slug)
            }
        })
    }
}

/// A knowledge base.
struct KnowledgeBase {
    root: PathBuf,
    folder: PathBuf,
    listed: Vec<Listed>,
}

impl KnowledgeBase {
    fn read(catalog: &Catalog) -> Result<Self, Error> {
        let listed = catalog.read()?.documents;
        let (folder, root) = (catalog.folder().unwrap_or_default(), catalog.root().unwrap_or_default());
        Ok(Self { root, folder, listed })
    }

    fn documents(&self) -> impl Iterator<Item = SearchedDocument<'_>> {
        self.listed.iter().filter_map(|listed| {
            let given = self.folder.join(listed.path.as_deref()?);
            // The path in the catalog; whether it is inside the root is checked when the file is opened.
            let path = lexical(&given).strip_prefix(&self.root).ok()?.to_str()?.replace('\\', "/");
            Some(SearchedDocument { root: &self.root, given, path, listed })
        })
    }
}

/// `path` with `.` and `..` resolved lexically.
fn lexical(path: &Path) -> PathBuf {
    let mut plain = PathBuf::new();
    for component in path.components() {
        match component {
            std::path::Component::CurDir => {}
            std::path::Component::ParentDir => {
                plain.pop();
            }
            other => plain.push(other),
        }
    }
    plain
}

/// A document of a knowledge base.
struct SearchedDocument<'a> {
    root: &'a Path,
    /// The path of the file, as in the catalog.
    given: PathBuf,
    /// The path relative to the root, with `/`.
    path: String,
    listed: &'a Listed,
}

impl SearchedDocument<'_> {
    /// The path of the file without symbolic links, and its text; `None` if the file is not a document of the
    /// knowledge base.
    fn read(&self) -> Option<(PathBuf, String)> {
        let file = ragmaker_fs::canonicalize(&self.given).ok().filter(|file| file.starts_with(self.root))?;
        fs::metadata(&file).ok().filter(|metadata| metadata.is_file() && metadata.len() <= MAX_BYTES)?;
        Some((file.clone(), String::from_utf8(fs::read(&file).ok()?).ok()?))
    }
}

/// The text of a document.
struct DocumentText {
    file: PathBuf,
    markdown: String,
    /// The end of the front matter.
    body: usize,
    /// The source according to the front matter, if the catalog has none.
    url: Option<String>,
    fetched_at: Option<String>,
}

impl DocumentText {
    fn of(document: &SearchedDocument<'_>) -> Option<Self> {
        let (file, markdown) = document.read()?;
        let parsed = ragmaker_document::parse(&markdown).ok();
        let field = |name| parsed.as_ref().and_then(|parsed| parsed.field(name)).map(str::to_owned);
        let (url, fetched_at) = (field("source_url"), field("fetched_at"));
        let body = parsed.map_or(0, |parsed| markdown.len() - parsed.body.len());
        Some(Self { file, markdown, body, url, fetched_at })
    }

    /// Folded, and whether that certainly is the same in every reading.
    fn folded(&self, reading: Reading) -> (String, bool) {
        compared(&self.markdown[self.body..], reading)
    }
}

/// A normalized document with the positions of its characters.
struct NormalizedDocument<'a> {
    document: &'a SearchedDocument<'a>,
    text: &'a DocumentText,
    folded: String,
    places: Vec<(u32, u32)>,
    sections: Vec<Section>,
}

impl<'a> NormalizedDocument<'a> {
    fn new(document: &'a SearchedDocument<'a>, text: &'a DocumentText, reading: Reading) -> Self {
        let (folded, places) = placed(&text.markdown[text.body..], reading);
        Self { document, text, folded, places, sections: sections(&text.markdown, text.body) }
    }

    /// The place of the normalized bytes from `start` to `end`, and the anchor of its section.
    fn place(&self, start: usize, end: usize) -> (Passage, &str) {
        let DocumentText { file, markdown, body, .. } = self.text;
        let first = body + self.places[start].0 as usize;
        let last = body + self.places[end - 1].1 as usize;
        let section = &self.sections[self.sections.partition_point(|section| section.start <= first).max(1) - 1];
        let line = section.first_line + markdown[section.start.min(first)..first].matches('\n').count();
        let SearchedDocument { path, listed, .. } = self.document;
        let quoted = &markdown[first..last];
        let place = Passage {
            path: file.clone(),
            heading: section.heading.clone(),
            citation: format!("{path}#{}", section.slug),
            start_line: line,
            text: quoted.to_owned(),
            url: listed.url.as_ref().or(self.text.url.as_ref()).map(|url| text_fragment(url, quoted)),
            fetched_at: listed.fetched_at.as_ref().or(self.text.fetched_at.as_ref()).cloned(),
            stale: listed.is_stale(),
        };
        (place, &section.slug)
    }
}

/// Whether `quote`, at `start` in `text`, begins and ends at boundaries of words and numbers.
fn is_whole(text: &str, start: usize, quote: &str) -> bool {
    let is_word = |c: Option<char>| c.is_some_and(|c| c.is_alphanumeric() && !is_cjk(c));
    let is_digit = |c: Option<char>| c.is_some_and(char::is_numeric);
    let cuts = |edge: Option<char>, next: Option<char>, far: Option<char>| {
        let splits_number = is_digit(edge) && matches!(next, Some('.' | ',')) && is_digit(far);
        (is_word(edge) && is_word(next)) || splits_number
    };
    let (mut before, mut after) = (text[..start].chars().rev(), text[start + quote.len()..].chars());
    !cuts(quote.chars().next(), before.next(), before.next())
        && !cuts(quote.chars().next_back(), after.next(), after.next())
}

/// The positions in `text` at which `quote` occurs as whole words.
fn occurrences<'t>(text: &'t str, quote: &'t str) -> impl Iterator<Item = usize> + 't {
    text.match_indices(quote).map(|(at, _)| at).filter(move |at| is_whole(text, *at, quote))
}

/// The documents by the paths that a citation may use.
struct DocumentIndex<'a> {
    relative: HashMap<&'a str, Vec<usize>>,
    absolute: HashMap<PathBuf, Vec<usize>>,
}

impl<'a> DocumentIndex<'a> {
    fn of(documents: &'a [SearchedDocument<'_>]) -> Self {
        let mut names = Self { relative: HashMap::new(), absolute: HashMap::new() };
        for (number, document) in documents.iter().enumerate() {
            names.relative.entry(&document.path).or_default().push(number);
            names.absolute.entry(document.root.join(&document.path)).or_default().push(number);
        }
        names
    }

    fn documents_named(&self, cited: &str) -> Vec<usize> {
        let known = |cited: &str| self.relative.get(cited).or_else(|| self.absolute.get(Path::new(cited)));
        let decoded = || percent_decode_str(cited).decode_utf8_lossy();
        known(cited).or_else(|| known(&decoded())).cloned().unwrap_or_default()
    }
}

/// Searches the cited documents for the quotations.
fn in_cited(documents: &[SearchedDocument<'_>], open: &mut Vec<PendingClaim>, checked: &mut [CheckedClaim]) {
    let names = DocumentIndex::of(documents);
    // The claims for each document.
    let mut wanted: Vec<(usize, Vec<usize>)> = vec![];
    let mut places: HashMap<usize, usize> = HashMap::new();
    for (claim, one) in open.iter().enumerate() {
        let Some(cited) = &one.cited else { continue };
        for document in names.documents_named(&cited.path) {
            let at = *places.entry(document).or_insert_with(|| {
                wanted.push((document, vec![]));
                wanted.len() - 1
            });
            wanted[at].1.push(claim);
        }
    }
    for (document, claims) in wanted {
        let Some(text) = DocumentText::of(&documents[document]) else { continue };
        let mut is_same = false;
        for reading in [Reading::Written, Reading::Shown] {
            let is_left = |claim: &usize| {
                checked[open[*claim].number].verdict != ClaimVerdict::Found && !(is_same && open[*claim].is_same())
            };
            let mut left: Vec<usize> = claims.iter().copied().filter(is_left).collect();
            if left.is_empty() {
                break;
            }
            let (folded, same) = text.folded(reading);
            is_same = same;
            left.retain(|claim| occurrences(&folded, open[*claim].quote(reading)).next().is_some());
            if left.is_empty() {
                continue;
            }
            let mapped = NormalizedDocument::new(&documents[document], &text, reading);
            for claim in left {
                let PendingClaim { number, cited, .. } = &open[claim];
                let quote = open[claim].quote(reading);
                for at in occurrences(&mapped.folded, quote) {
                    let (place, slug) = mapped.place(at, at + quote.len());
                    let is_there = cited.as_ref().is_some_and(|cited| cited.names_section(slug));
                    let one = &mut checked[*number];
                    if is_there || one.place.is_none() {
                        one.verdict = if is_there { ClaimVerdict::Found } else { ClaimVerdict::Elsewhere };
                        one.place = Some(place);
                    }
                    if is_there {
                        break;
                    }
                }
            }
        }
    }
    open.retain(|one| checked[one.number].place.is_none());
}

/// Looks for claims in `documents`; the first that contains a quotation counts. Returns the documents that may be
/// others in another reading.
fn anywhere<'a>(
    documents: &[&'a SearchedDocument<'a>],
    open: &mut Vec<PendingClaim>,
    checked: &mut [CheckedClaim],
    reading: Reading,
) -> Vec<&'a SearchedDocument<'a>> {
    let mut differ = vec![];
    let threads = thread::available_parallelism().map_or(1, usize::from).min(8);
    for batch in documents.chunks(BATCH) {
        if open.is_empty() {
            break;
        }
        let quotes: Vec<&str> = open.iter().map(|one| one.quote(reading)).collect();
        // An answer does not have more quotations than an automaton holds.
        let Ok(automaton) = AhoCorasick::builder().match_kind(MatchKind::Standard).build(&quotes) else { break };
        let part = batch.len().div_ceil(threads);
        let search = |part: &[&'a SearchedDocument<'a>]| -> (Vec<(usize, Passage)>, Vec<&'a SearchedDocument<'a>>) {
            let (mut found, mut differ) = (vec![], vec![]);
            for document in part {
                let Some(text) = DocumentText::of(document) else { continue };
                let (folded, is_same) = text.folded(reading);
                if !is_same {
                    differ.push(*document);
                }
                found.extend(in_document((document, &text, &folded), &automaton, &quotes, reading));
            }
            (found, differ)
        };
        let parts: Vec<_> = thread::scope(|scope| {
            let parts: Vec<_> = batch.chunks(part).map(|part| scope.spawn(|| search(part))).collect();
            parts.into_iter().map(|part| part.join().unwrap_or_default()).collect()
        });
        for (found, own) in parts {
            differ.extend(own);
            for (claim, place) in found {
                let one = &mut checked[open[claim].number];
                if one.place.is_none() {
                    one.verdict =
                        if open[claim].cited.is_some() { ClaimVerdict::Elsewhere } else { ClaimVerdict::Found };
                    one.place = Some(place);
                }
            }
        }
        open.retain(|one| checked[one.number].place.is_none());
    }
    differ
}

/// Searches a document for `quotes`; returns the first position of each that it contains.
fn in_document(
    (document, text, folded): (&SearchedDocument<'_>, &DocumentText, &str),
    automaton: &AhoCorasick,
    quotes: &[&str],
    reading: Reading,
) -> Vec<(usize, Passage)> {
    let mut first: HashMap<usize, usize> = HashMap::new();
    for hit in automaton.find_overlapping_iter(folded) {
        let claim = hit.pattern().as_usize();
        if !first.contains_key(&claim) && is_whole(folded, hit.start(), quotes[claim]) {
            first.insert(claim, hit.start());
        }
    }
    if first.is_empty() {
        return vec![];
    }
    let mapped = NormalizedDocument::new(document, text, reading);
    let place = |(claim, at): (usize, usize)| (claim, mapped.place(at, at + quotes[claim].len()).0);
    first.into_iter().map(place).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_quotation_is_short_by_what_most_of_its_characters_are() {
        assert!(is_short(&"a".repeat(19)) && !is_short(&"a".repeat(20)));
        assert!(is_short(&"\u{6f6e}".repeat(9)) && !is_short(&"\u{6f6e}".repeat(10)));
        let mixed = |cjk: usize, other: usize| "\u{6f6e}".repeat(cjk) + &"a".repeat(other);
        assert!(is_short(&mixed(5, 5)) && !is_short(&mixed(6, 5)) && !is_short(&mixed(1, 19)));
    }

    #[test]
    fn a_path_is_resolved_by_its_text() {
        assert_eq!(lexical(Path::new("/a/./b/../c//d/..")), Path::new("/a/c"));
        assert_eq!(lexical(Path::new("/../a")), Path::new("/a"));
    }
}
