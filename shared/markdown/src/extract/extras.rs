//! Extras: parts in or after an article that do not belong to it, such as links to related articles and buttons to
//! share.
//!
//! The model knows them by their words and names, but a page of a design that it has not seen may hide them from it.
//! What an element is called, or what introduces a list of links, decides here if it is certain.

use super::{blocks::Blocks, names::each_word};
use crate::{
    metadata::PageType,
    tag::Attr,
    tree::{ROOT, Tree},
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

/// No word of a name is longer, with a byte that ends it.
const LONGEST: usize = 25;

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

/// An element with more than this share of what is chosen is not an extra, whatever its name.
const MAX_SHARE: f32 = 0.25;

/// Drops the extras of a page that is not a list itself.
pub(super) fn drop_extras(tree: &Tree, blocks: &Blocks, kind: PageType, chosen: &mut [bool]) {
    if matches!(kind, PageType::Collection | PageType::Listing | PageType::Product) {
        return;
    }
    let mut extras = named(tree, blocks, chosen);
    if kind == PageType::Article {
        introduced(tree, blocks, chosen, &mut extras);
    }
    for at in extras {
        chosen[at] = false;
    }
}

/// The chosen blocks in elements that are called like extras.
fn named(tree: &Tree, blocks: &Blocks, chosen: &[bool]) -> Vec<usize> {
    let mut words = vec![0.0_f32; tree.len()];
    for (block, _) in blocks.list.iter().zip(chosen).filter(|(_, chosen)| **chosen) {
        words[block.container] += block.counts.words;
    }
    for id in (1..tree.len()).rev() {
        words[tree.parent(id)] += words[id];
    }
    let mut is_extra = vec![false; tree.len()];
    for id in 1..tree.len() {
        let is_small = words[id] > 0.0 && words[id] <= words[ROOT] * MAX_SHARE;
        let names = [Attr::Class, Attr::Id].into_iter().filter_map(|name| tree.attr(id, name));
        is_extra[id] = is_extra[tree.parent(id)] || (is_small && names.into_iter().any(is_called_extra));
    }
    (0..chosen.len()).filter(|&at| chosen[at] && is_extra[blocks.list[at].container]).collect()
}

/// Whether one of the names of an element is that of an extra.
fn is_called_extra(names: &str) -> bool {
    names.split_ascii_whitespace().any(|name| {
        let (mut before, mut found) = ([0; LONGEST], false);
        each_word(name, |word| {
            found |= NAMES.iter().any(|extra| match extra.split_once(' ') {
                Some((first, second)) => {
                    second.as_bytes() == word && before.starts_with(first.as_bytes()) && before[first.len()] == 0
                }
                None => extra.as_bytes() == word,
            });
            before = [0; LONGEST];
            before[..word.len()].copy_from_slice(word);
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
