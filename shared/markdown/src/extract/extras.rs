//! Extras: what stands in or after an article and is no part of it, such as links to related articles and buttons to share.
//!
//! The model knows them by their words and names, but a page of a design that it has not seen may hide them from it. What
//! an element is called, or what introduces a list of links, decides here if it is certain.

use super::{blocks::Blocks, names::each_word};
use crate::{
    metadata::PageType,
    tag::Attr,
    tree::{Id, Tree},
};

/// Words of names, alone or in pairs, that only extras have.
const NAMES: [&str; 46] = [
    "addtoany",
    "article copyright",
    "author box",
    "blog pager",
    "borlabs cookie",
    "brlbs content",
    "comments disclosure",
    "content blocker",
    "editorial disclosure",
    "image copyright",
    "jp relatedposts",
    "likes widget",
    "most popular",
    "most read",
    "nav links",
    "newsletter box",
    "newsletter form",
    "newsletter signup",
    "newsletter teaser",
    "outbrain",
    "post navigation",
    "post tags",
    "privacy embed",
    "reading time",
    "recent entries",
    "recent posts",
    "recommended articles",
    "related article",
    "related articles",
    "related content",
    "related links",
    "related news",
    "related post",
    "related posts",
    "related stories",
    "related story",
    "relatedposts",
    "sd like",
    "sd social",
    "share buttons",
    "sharedaddy",
    "social share",
    "taboola",
    "tags links",
    "wp embedded",
    "yarpp",
];

/// How the lines begin that introduce links to other articles, in lower case.
const INTRODUCTIONS: [&str; 66] = [
    "also read",
    "more from ",
    "more on this",
    "read also",
    "read more",
    "read next",
    "recommended for you",
    "related:",
    "related articles",
    "related posts",
    "related stories",
    "related topics",
    "see more stories",
    "share this",
    "you may also like",
    "you might also like",
    "auch interessant",
    "auch lesen",
    "das könnte dich",
    "das könnte sie",
    "das könnte euch",
    "den artikel mit anderen teilen",
    "lesen sie auch",
    "lies auch",
    "mehr themen",
    "mehr zum thema",
    "schon gelesen",
    "teilen mit",
    "weitere artikel",
    "weitere meldungen",
    "weiterlesen",
    "à lire aussi",
    "lire aussi",
    "sur le même sujet",
    "vous aimerez aussi",
    "le puede interesar",
    "lea también",
    "lee también",
    "lee además",
    "lea además",
    "noticias relacionadas",
    "otras noticias",
    "puedes leer",
    "te puede interesar",
    "también te puede",
    "también le puede",
    "leia também",
    "leia mais",
    "veja também",
    "leggi anche",
    "potrebbe interessarti",
    "czytaj także",
    "czytaj też",
    "przeczytaj także",
    "przeczytaj też",
    "zobacz także",
    "zobacz też",
    "lees ook",
    "läs också",
    "διαβάστε επίσης",
    "διαβάστε ακόμα",
    "δείτε επίσης",
    "читайте также",
    "関連記事",
    "相关阅读",
    "延伸閱讀",
];

/// The longest line that introduces links, in words.
const MAX_INTRODUCTION: f32 = 24.0;

/// At most this share of what is chosen is extra.
const MAX_SHARE: f32 = 0.25;

/// Drops the extras of a page with a single text.
pub(super) fn drop_extras(tree: &Tree, blocks: &Blocks, kind: PageType, chosen: &mut [bool]) {
    if kind != PageType::Article {
        return;
    }
    let words = |at: usize| blocks.list[at].counts.words;
    let total: f32 = (0..chosen.len()).filter(|&at| chosen[at]).map(words).sum();
    let mut extras = named(tree, blocks, chosen);
    introduced(tree, blocks, chosen, &mut extras);
    let dropped: f32 = extras.iter().map(|&at| words(at)).sum();
    if dropped <= total * MAX_SHARE {
        for at in extras {
            chosen[at] = false;
        }
    }
}

/// The chosen blocks in elements that are called like extras.
fn named(tree: &Tree, blocks: &Blocks, chosen: &[bool]) -> Vec<usize> {
    let mut known: Vec<Option<bool>> = vec![None; tree.len()];
    let mut is_extra = |id: Id| {
        let mut path = vec![];
        let mut found = false;
        for id in std::iter::once(id).chain(tree.ancestors(id)) {
            if let Some(known) = known[id] {
                found = known;
                break;
            }
            path.push(id);
        }
        for id in path.into_iter().rev() {
            found |= [Attr::Class, Attr::Id].into_iter().filter_map(|name| tree.attr(id, name)).any(is_called_extra);
            known[id] = Some(found);
        }
        found
    };
    (0..chosen.len()).filter(|&at| chosen[at] && is_extra(blocks.list[at].container)).collect()
}

/// Whether one of the names of an element is that of an extra.
fn is_called_extra(names: &str) -> bool {
    names.split_ascii_whitespace().any(|name| {
        let (mut before, mut found) = (String::new(), false);
        each_word(name, |word| {
            let word = String::from_utf8_lossy(word).into_owned();
            found |= NAMES.contains(&word.as_str()) || NAMES.contains(&format!("{before} {word}").as_str());
            before = word;
        });
        found
    })
}

/// The chosen blocks that introduce links to other articles, and these links.
fn introduced(tree: &Tree, blocks: &Blocks, chosen: &[bool], extras: &mut Vec<usize>) {
    let is_link = |at: usize| blocks.list[at].counts.linked >= blocks.list[at].counts.words * 0.6;
    let mut prose = 0.0;
    let mut at = 0;
    while at < chosen.len() {
        let counts = &blocks.list[at].counts;
        let introduces =
            chosen[at] && prose > 0.0 && counts.words <= MAX_INTRODUCTION && is_introduction(&blocks.text(tree, at));
        prose += if chosen[at] { counts.prose } else { 0.0 };
        at += 1;
        if !introduces {
            continue;
        }
        let is_heading = blocks.list[at - 1].counts.headings > 0.0;
        let end = (at..chosen.len()).find(|&next| !is_link(next)).unwrap_or(chosen.len());
        // A sentence that only begins so has neither a link nor links behind it.
        let has_links = counts.linked > 0.0 || (at..end).any(|next| blocks.list[next].counts.words > 0.0);
        if has_links || is_heading || blocks.list[at - 1].last_char == ':' {
            extras.push(at - 1);
            extras.extend((at..end).filter(|&next| chosen[next]));
            at = end;
        }
    }
    extras.sort_unstable();
    extras.dedup();
}

fn is_introduction(text: &str) -> bool {
    let start: String = text.trim_start_matches(|c: char| !c.is_alphanumeric()).chars().take(32).collect();
    let start = start.to_lowercase();
    INTRODUCTIONS.iter().any(|introduction| start.starts_with(introduction))
}

#[cfg(test)]
mod tests {
    use super::*;

    const PROSE: &str = "<p>High water comes twice a day at the pier, and so does low water, a little later every day.";

    fn dropped(rest: &str, kind: PageType) -> Vec<String> {
        let tree = Tree::parse(&format!("{PROSE}{PROSE}{PROSE}{rest}"), None);
        let blocks = Blocks::new(&tree);
        let mut chosen = vec![true; blocks.list.len()];
        drop_extras(&tree, &blocks, kind, &mut chosen);
        (0..chosen.len()).filter(|&at| !chosen[at]).map(|at| blocks.text(&tree, at).into_owned()).collect()
    }

    #[test]
    fn extras_are_known_by_their_names() {
        let share = "<div class='x sd-social'><h3>Share</h3><p>Print</div><div class=relatedArticle>Ebb</div><p>End.";
        assert_eq!(dropped(share, PageType::Article), ["Share", "Print", "Ebb"]);
        assert!(dropped(share, PageType::Listing).is_empty());
        assert!(dropped("<div class=related><p>Ebb</div>", PageType::Article).is_empty());
        let most = format!("<div class=related-posts>{PROSE}{PROSE}</div>");
        assert!(dropped(&most, PageType::Article).is_empty());
    }

    #[test]
    fn links_to_other_articles_go_with_their_introduction() {
        let links =
            "<h3>Das könnte Dich auch interessieren …</h3><ul><li><a href=x>Ebbe</a><li><a href=y>Flut</a></ul><p>Ende";
        assert_eq!(dropped(links, PageType::Article), ["Das könnte Dich auch interessieren …", "Ebbe", "Flut"]);
        assert_eq!(dropped("<p>Czytaj też: <a href=x>Pływy</a>", PageType::Article), ["Czytaj też: Pływy"]);
        assert!(dropped("<p>Read more of this in the almanac.<p>It is old.", PageType::Article).is_empty());
    }
}
