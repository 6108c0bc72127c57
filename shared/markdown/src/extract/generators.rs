//! Documentation generators: the element that holds the content of their pages.
//!
//! A generator writes each page in the same way, so its content needs no model: it is the main element without the
//! parts that the generator adds, such as links to the source. A page is recognised by `<meta name="generator">`, or by
//! the names of its main element if only one generator uses them.

use super::{
    diagrams::keep_diagrams,
    hidden::holds_formula,
    rules::remove_boilerplate,
    tabs::Tabs,
    visible::{is_invisible, is_label},
};
use crate::{
    chars::count_words,
    tag::{Attr, Tag},
    tree::{Id, ROOT, Tree},
};

/// The pages of a generator. A pattern is a tag, an `#id`, a `.class`, a `@role` or an `=itemprop`, or several of these
/// without spaces, which must all match.
struct Generator {
    /// How the content of `<meta name="generator">` begins, in lower case.
    names: &'static [&'static str],
    /// The main element: the first of these patterns that matches an element.
    main: &'static [&'static str],
    /// The parts of it that are not content.
    without: &'static [&'static str],
}

/// The pattern of the whole page.
const BODY: &str = "body";

static NAMED: [Generator; 23] = [
    // It names DocBook, which it is made with, as well.
    Generator { names: &["gtk-doc"], main: &[BODY], without: &[".navigation", ".footer"] },
    Generator {
        names: &["rustdoc"],
        main: &["#main-content"],
        without: &[".src", ".since", ".sub-heading", ".out-of-band", ".rightside", ".anchor", ".doc-anchor", ".hideme"],
    },
    Generator { names: &["javadoc"], main: &["main", "@main"], without: &[] },
    Generator { names: &["docbook"], main: &[BODY], without: &[".navheader", ".navfooter", ".spirit-nav"] },
    Generator {
        names: &["docutils", "sphinx"],
        main: &[
            "#furo-main-content",
            "article.bd-article",
            "=articleBody",
            "div.body",
            "main",
            "@main",
            "div.document",
        ],
        without: &[".headerlink", ".viewcode-link", ".rst-footer-buttons", ".prev-next-footer"],
    },
    Generator {
        names: &["doxygen"],
        main: &[BODY],
        without: &[
            "#top",
            "#titlearea",
            "#side-nav",
            "#nav-path",
            "#MSearchSelectWindow",
            "#MSearchResultsWindow",
            ".tabs",
            ".tabs2",
            ".tabs3",
            ".navpath",
            ".footer",
            ".summary",
            ".permalink",
            ".ttc",
        ],
    },
    Generator {
        names: &["mkdocs"],
        main: &["article.md-content__inner", "@main"],
        without: &[".headerlink", ".md-content__button", ".md-source-file", ".md-feedback"],
    },
    Generator {
        names: &["mediawiki"],
        main: &["#mw-content-text", "#bodyContent"],
        without: &[
            ".mw-editsection",
            ".editsection",
            ".mw-jump-link",
            "#toc",
            ".toc",
            ".navbox",
            ".vertical-navbox",
            ".t-navbar",
            ".sidebar",
            ".ambox",
            ".noprint",
            ".metadata",
            ".catlinks",
            ".printfooter",
            ".mw-empty-elt",
            "#siteSub",
            "#contentSub",
            "#jump-to-nav",
        ],
    },
    Generator { names: &["docusaurus"], main: &[".theme-doc-markdown"], without: &[".hash-link"] },
    Generator { names: &["vitepress"], main: &[".vp-doc"], without: &[".header-anchor", "span.lang"] },
    Generator {
        names: &["vuepress"],
        main: &[".theme-default-content", ".theme-hope-content"],
        without: &[".header-anchor"],
    },
    Generator { names: &["starlight"], main: &["main"], without: &[".sl-anchor-link", ".pagination-links", "footer"] },
    Generator { names: &["gitbook"], main: &[".markdown-section"], without: &[] },
    Generator { names: &["antora"], main: &["article.doc"], without: &["a.anchor", ".pagination", ".toc"] },
    Generator { names: &["asciidoc"], main: &[BODY], without: &["a.anchor", "#footer", "#toc", ".toc"] },
    Generator {
        names: &["exdoc"],
        main: &["#top-content", "#content", "main"],
        without: &["footer", ".bottom-actions", ".hover-link", ".detail-link", ".view-source", ".icon-action"],
    },
    Generator {
        names: &["makeinfo", "texi2any", "gnu texinfo"],
        main: &[BODY],
        without: &[".nav-panel", ".header", ".navigation", ".copiable-link", ".copiable-anchor"],
    },
    Generator { names: &["pandoc"], main: &[BODY], without: &["#TOC"] },
    Generator { names: &["pdoc"], main: &["main"], without: &[".pdoc-button", ".headerlink", ".view-source-button"] },
    Generator { names: &["groff", "mandoc"], main: &[BODY], without: &["table.head", "table.foot"] },
    Generator {
        names: &["pydoctor"],
        main: &[BODY],
        without: &[
            "nav",
            "footer",
            "noscript",
            "#current-docs-container",
            "#search-results-container",
            "#showPrivate",
            "#show-private",
            ".sidebarcontainer",
            ".sourceLink",
            ".headerLink",
        ],
    },
    Generator { names: &["odoc"], main: &[BODY], without: &["nav", ".anchor", ".source_link"] },
    Generator {
        names: &["gapdoc2html"],
        main: &[BODY],
        without: &[
            ".chlinktop",
            ".chlinkbot",
            ".chlinkprevnexttop",
            ".chlinkprevnextbot",
            "#mathjaxlink",
            ".ChapSects",
            "p.foot",
        ],
    },
];

/// Generators that do not name themselves: `<div>` or `<nav>` elements that only they write together, and their pages.
static UNNAMED: [(&[&str], Generator); 10] = [
    // Nim's.
    (
        &["#documentId"],
        Generator { names: &[], main: &["#documentId"], without: &[".three.columns", "a.link-seesrc", "#toc-list"] },
    ),
    // Doxygen, with a head of the project's own.
    (&[".headertitle"], Generator { names: &[], main: &["div.contents"], without: &[".permalink", ".ttc"] }),
    // Apache's manuals.
    (
        &["#quickview"],
        Generator { names: &[], main: &["div#page-content"], without: &[".top", ".toplang", "#comments_section"] },
    ),
    // ErlDoc, before ExDoc.
    (&[".innertube"], Generator { names: &[], main: &["div#content"], without: &[".title-anchors"] }),
    // gi-docgen.
    (
        &[".sidebar.devhelp-hidden"],
        Generator { names: &[], main: &["section#main.content"], without: &[".srclink", ".anchor"] },
    ),
    // Haddock.
    (
        &["#module-header"],
        Generator { names: &[], main: &["div#content"], without: &["#table-of-contents", ".selflink", "a.link"] },
    ),
    // Javadoc before Java 9, and Groovydoc.
    (
        &[".topNav", ".subNav", ".bottomNav"],
        Generator {
            names: &[],
            main: &[BODY],
            without: &[".topNav", ".subNav", ".bottomNav", ".skipNav", ".legalCopy", "noscript"],
        },
    ),
    // YARD.
    (
        &[".nav_wrap", "#menu"],
        Generator {
            names: &[],
            main: &["div#content"],
            without: &[".summary_toggle", ".inheritanceTree", "pre.lines"],
        },
    ),
    // TypeDoc.
    (
        &[".tsd-page-title"],
        Generator { names: &[], main: &[".col-content"], without: &[".tsd-breadcrumb", ".tsd-anchor-icon"] },
    ),
    // Scaladoc.
    (
        &["#definition", "#template"],
        Generator {
            names: &[],
            main: &[BODY],
            without: &[
                ".permalink",
                "#mbrsel",
                "#inheritedMembers",
                "#groupedMembers",
                "#tooltip",
                "#footer",
                "#search",
            ],
        },
    ),
];

/// Node's own generator, mdBook, Sphinx before it named itself, and Qt's: main elements that only they write.
static BY_MAIN: Generator = Generator {
    names: &[],
    main: &[
        "#apicontent",
        "#mdbook-content",
        "div.body@main",
        "#furo-main-content",
        "article.bd-article",
        "div.mainContent.content",
    ],
    without: &[".mark", ".headerlink", ".viewcode-link", ".nav-wrapper", ".nav-wide-wrapper", ".sidebar"],
};

/// An element with fewer words is not taken for the main one.
const MIN_WORDS: usize = 10;

/// The nodes of the content, if a generator wrote the page.
pub(super) fn content(tree: &Tree, tabs: &Tabs) -> Option<Vec<bool>> {
    let (main, without) = main(tree)?;
    let mut keep = vec![false; tree.len()];
    let mut id = main.max(1);
    let end = tree.subtree(main).end;
    while id < end {
        let is_excluded = without.iter().any(|pattern| matches(tree, id, pattern));
        if is_excluded || is_absent(tree, id, tabs) || is_bar_of_links(tree, id) {
            id = tree.subtree(id).end;
            continue;
        }
        keep[id] = true;
        id += 1;
    }
    keep[ROOT] = true;
    for ancestor in tree.ancestors(main) {
        keep[ancestor] = true;
    }
    remove_boilerplate(tree, &mut keep);
    keep_diagrams(tree, &mut keep);
    let words = (1..tree.len()).filter(|&id| keep[id]).map(|id| count_words(tree.text(id))).sum::<usize>();
    (words >= MIN_WORDS).then_some(keep)
}

/// Whether a generator wrote the page.
pub(super) fn is_documentation(tree: &Tree) -> bool {
    main(tree).is_some()
}

/// The main element of a page that a generator wrote, and the parts of it that are not content.
fn main(tree: &Tree) -> Option<(Id, &'static [&'static str])> {
    let first = |pattern: &str| match pattern {
        BODY => Some(ROOT),
        pattern => (1..tree.len()).find(|&id| matches(tree, id, pattern)),
    };
    let of = |generator: &Generator| generator.main.iter().find_map(|pattern| first(pattern));
    let metas = tree.head.metas.iter().filter(|(name, _)| name == "generator");
    let names: Vec<String> = metas.map(|(_, name)| name.to_ascii_lowercase()).collect();
    let is_called =
        |generator: &&Generator| names.iter().any(|name| generator.names.iter().any(|known| name.starts_with(known)));
    if let Some(generator) = NAMED.iter().find(is_called) {
        return Some((of(generator)?, generator.without));
    }
    let is_main = |&id: &Id| {
        matches!(tree.tag(id), Tag::Div | Tag::Main | Tag::Article)
            && BY_MAIN.main.iter().any(|pattern| matches(tree, id, pattern))
    };
    if let Some(main) = (1..tree.len()).find(is_main) {
        return Some((main, BY_MAIN.without));
    }
    let is_container = |&id: &Id| matches!(tree.tag(id), Tag::Div | Tag::Nav);
    let holds = |sign: &&str| (1..tree.len()).filter(is_container).any(|id| matches(tree, id, sign));
    let (_, generator) = UNNAMED.iter().find(|(signs, _)| signs.iter().all(holds))?;
    Some((of(generator)?, generator.without))
}

/// Whether a reader does not see a node, and no control on the page shows it: a folded tab is shown by its label.
fn is_absent(tree: &Tree, id: Id, tabs: &Tabs) -> bool {
    let is_folded = || tree.attr(id, Attr::Role) == Some("tabpanel") || tabs.is_panel(id);
    let is_button = || tree.tag(id) == Tag::Button && is_label(tree, id);
    let is_hidden = tree.node(id).hidden && !is_folded() && !holds_formula(tree, id);
    is_invisible(tree, id) || is_hidden || is_button()
}

/// Whether a table is a row of links, as Boost has at the top of each page.
fn is_bar_of_links(tree: &Tree, id: Id) -> bool {
    const MIN_CELLS: usize = 3;
    const MAX_NODES: usize = 64;
    if tree.tag(id) != Tag::Table || tree.subtree(id).len() > MAX_NODES {
        return false;
    }
    let count = |tag: Tag| tree.subtree(id).filter(|&id| tree.tag(id) == tag).count();
    let is_linked = |text: Id| tree.ancestors(text).take_while(|&above| above != id).any(|id| tree.tag(id) == Tag::A);
    let texts = || tree.subtree(id).filter(|&id| !tree.text(id).trim().is_empty());
    count(Tag::Tr) == 1 && count(Tag::Td) >= MIN_CELLS && count(Tag::A) + 1 >= count(Tag::Td) && texts().all(is_linked)
}

fn matches(tree: &Tree, id: Id, pattern: &str) -> bool {
    let mut rest = pattern;
    loop {
        let end = rest[1..].find(['#', '.', '@', '=']).map_or(rest.len(), |at| at + 1);
        let (part, others) = rest.split_at(end);
        let is = |attr: Attr| tree.attr(id, attr).unwrap_or_default();
        let found = match part.as_bytes()[0] {
            b'#' => is(Attr::Id) == &part[1..],
            b'.' => is(Attr::Class).split_ascii_whitespace().any(|class| class == &part[1..]),
            b'@' => is(Attr::Role) == &part[1..],
            b'=' => is(Attr::Itemprop) == &part[1..],
            _ => tree.tag(id) == Tag::from_name(part),
        };
        if !found || others.is_empty() {
            return found;
        }
        rest = others;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The text of the content of a page.
    fn text(html: &str) -> Option<String> {
        let tree = Tree::parse(html, None);
        let keep = content(&tree, &Tabs::new(&tree))?;
        let texts: Vec<&str> = (1..tree.len()).filter(|&id| keep[id]).map(|id| tree.text(id).trim()).collect();
        Some(texts.into_iter().filter(|text| !text.is_empty()).collect::<Vec<_>>().join(" "))
    }

    const PROSE: &str = "High water comes twice a day at the pier, and so does low water.";

    #[test]
    fn the_main_element_of_a_generator_is_the_content() {
        let page = format!(
            "<meta name=generator content=rustdoc><nav>a</nav><section id=main-content><h1>b <button>c</button></h1>\
            <a class=src href=x>Source</a><p>{PROSE}<p hidden>d</section><footer>e</footer>"
        );
        assert_eq!(text(&page).unwrap(), format!("b {PROSE}"));
        let page =
            format!("<meta name=generator content='DocBook XSL'><div class=navheader>a</div><h2>b</h2><p>{PROSE}");
        assert_eq!(text(&page).unwrap(), format!("b {PROSE}"));
        let page = format!("<nav>a</nav><div id=mdbook-content class=content><main><p>{PROSE}</main></div>");
        assert_eq!(text(&page).unwrap(), PROSE);
    }

    #[test]
    fn an_article_of_a_wiki_has_no_edit_links_and_keeps_its_formulas() {
        let page = format!(
            "<meta name=generator content='MediaWiki 1.45.0'><h1>a</h1><div class=mw-parser-output>b</div>\
            <div id=mw-content-text><div class=mw-parser-output><table class=sidebar><td>c</table><h2>d</h2>\
            <span class=mw-editsection>[<a href=x>edit</a>]</span><p>{PROSE}<span style='display: none'><math><mi>x\
            </math></span><p hidden>e<div class=navbox>f</div></div></div>"
        );
        assert_eq!(text(&page).unwrap(), format!("d {PROSE} x"));
    }

    #[test]
    fn a_generator_is_known_by_an_element_that_only_it_writes() {
        let page = format!(
            "<div id=package-header>a</div><div id=content><div id=module-header><p>b</div><div id=table-of-contents>c\
            </div><p>{PROSE} <a class=link href=x>Source</a></div>"
        );
        assert_eq!(text(&page).unwrap(), format!("b {PROSE}"));
        let page = format!(
            "<div id=path>a</div><div id=page-content><div id=quickview>b</div><div class=top>c</div><p>{PROSE}</div>"
        );
        assert_eq!(text(&page).unwrap(), format!("b {PROSE}"));
    }

    #[test]
    fn the_search_and_the_links_of_an_api_are_no_content() {
        let page = format!(
            "<meta name=generator content='pydoctor 22.9.1'><nav>a</nav><noscript><h1>b</h1></noscript><div \
            id=search-results-container>c</div><h1>d</h1><div class=functionHeader>e <a class=sourceLink>f</a></div>\
            <p>{PROSE}</p><footer>g</footer>"
        );
        assert_eq!(text(&page).unwrap(), format!("d e {PROSE}"));
        let page = format!(
            "<div class=nav_wrap></div><div id=menu>a</div><div id=content><h2>b <a class=summary_toggle>c</a></h2>\
            <p>{PROSE}<table><tr><td><pre class=lines>12</pre><td><pre class=code>d</pre></table></div>"
        );
        assert_eq!(text(&page).unwrap(), format!("b {PROSE} d"));
        let page = format!(
            "<div class=topNav>a</div><div class=subNav>b</div><div class=header><h2 class=title>c</h2></div>\
            <div class=contentContainer><p>{PROSE}</div><div class=bottomNav>d</div>"
        );
        assert_eq!(text(&page).unwrap(), format!("c {PROSE}"));
        // Any page may have a part of that name.
        assert_eq!(text(&page.replace("subNav", "links")), None);
    }

    #[test]
    fn a_page_may_name_two_generators() {
        let metas = "<meta name=generator content='DocBook XSL'><meta name=generator content='GTK-Doc V1.33'>";
        assert_eq!(text(&format!("{metas}<table class=navigation><td>a</table><p>{PROSE}")).unwrap(), PROSE);
    }

    #[test]
    fn a_bar_of_links_is_no_content() {
        let bar = |last: &str| {
            let row = format!("<tr><td><img src=x><td><a href=a>a</a><td><a href=b>b</a><td>{last}");
            format!("<meta name=generator content='DocBook XSL'><table>{row}</table><p>{PROSE}")
        };
        assert_eq!(text(&bar("<a href=c>c</a>")).unwrap(), PROSE);
        assert_eq!(text(&bar("c")).unwrap(), format!("a b c {PROSE}"));
    }

    #[test]
    fn a_folded_tab_is_shown_by_its_label() {
        let page =
            format!("<div role=main class='body x'><p>{PROSE}<div role=tabpanel hidden>a</div><p hidden>b</div>");
        assert_eq!(text(&page).unwrap(), format!("{PROSE} a"));
    }

    #[test]
    fn other_pages_and_empty_ones_are_left_to_the_model() {
        assert_eq!(text(&format!("<div class=body><p>{PROSE}</div>")), None);
        assert_eq!(text(&format!("<meta name=generator content=WordPress><main><p>{PROSE}</main>")), None);
        assert_eq!(text("<meta name=generator content=rustdoc><section id=main-content>Redirecting</section>"), None);
    }

    #[test]
    fn a_pattern_matches_with_all_its_parts() {
        let tree = Tree::parse("<div id=a class='b c' role=main itemprop=articleBody>", None);
        for pattern in ["div", "#a", ".b", ".c", "@main", "=articleBody", "div#a.c@main"] {
            assert!(matches(&tree, 1, pattern), "{pattern}");
        }
        for pattern in ["main", "#b", ".a", "@b", "=b", "div#a.d", "p.b"] {
            assert!(!matches(&tree, 1, pattern), "{pattern}");
        }
    }
}
