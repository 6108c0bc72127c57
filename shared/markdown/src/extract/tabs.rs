//! Tabs: which label of a tab strip shows which panel.
//!
//! A page shows one panel of a strip at a time, so that the strip says which one it is. A document has all of them one
//! after the other, and then every panel needs its own label. The relations, by their markup:
//!
//! - ARIA: a tab names its panel (`aria-controls`, `href`, `data-target`), or the panel names its tab
//!   (`aria-labelledby`) or has its label (`aria-label`); without names, as Docusaurus writes them, they are in the
//!   same order. A link or a button that names an element called a tab's pane is a tab too, as older Bootstrap writes
//!   them.
//! - Radio buttons: the label of one is right before its panel (Sphinx Design, Hugo), or the labels are in an element
//!   whose next sibling has the panels in the same order (Material for `MkDocs`, `VitePress`).

use std::ops::Range;

use foldhash::{HashMap, HashMapExt, HashSet};

use super::{blocks::Blocks, names::each_word};
use crate::{
    chars::count_words,
    tag::{Attr, Tag},
    tree::{Id, ROOT, Tree},
};

/// The labels to write before elements, each by the element.
pub(crate) type Labels = HashMap<Id, String>;

/// The tabs of a page. Pages with more of them have none.
const MAX_TABS: usize = 1000;

/// The maximum number of words of a label.
const MAX_WORDS: usize = 8;

/// How many elements around a label may be called like a tab strip.
const NAMED: usize = 3;

/// How many nodes are read for a label, and to see whether a panel is empty.
const READ: usize = 1024;

/// A tab, with the panel that it shows.
#[derive(Debug)]
struct Tab {
    /// What is clicked.
    control: Id,
    panel: Id,
    /// What the tabs of a strip are in.
    strip: Id,
    label: String,
}

/// The tabs of a page.
#[derive(Debug, Default)]
pub(crate) struct Tabs {
    /// Sorted by the panel.
    list: Vec<Tab>,
}

impl Tabs {
    /// Finds the tabs of a page.
    pub(crate) fn new(tree: &Tree) -> Self {
        let parts = Parts::find(tree);
        let mut tabs = Self::default();
        if parts.tabs.len() + parts.labels.len() + parts.panels.len() <= MAX_TABS {
            parts.add_labelled(tree, &mut tabs);
            parts.add_named(tree, &mut tabs);
            parts.add_radios(tree, &mut tabs);
            tabs.drop_single();
            parts.add_in_order(tree, &mut tabs);
        }
        tabs.list.sort_unstable_by_key(|tab| tab.panel);
        tabs
    }

    /// Drops what is alone in its strip: a button that unfolds something.
    fn drop_single(&mut self) {
        let mut of_strips: HashMap<Id, usize> = HashMap::new();
        for tab in &self.list {
            *of_strips.entry(tab.strip).or_default() += 1;
        }
        self.list.retain(|tab| of_strips[&tab.strip] > 1);
    }

    /// Whether a tab shows the element.
    pub(super) fn is_panel(&self, id: Id) -> bool {
        self.list.binary_search_by_key(&id, |tab| tab.panel).is_ok()
    }

    /// Chooses the code in the panels of a strip if the code in one of them is chosen: it is the same for another
    /// program or system, and has too few words for the model.
    pub(super) fn choose_code(&self, tree: &Tree, blocks: &Blocks, chosen: &mut [bool]) {
        let within = |panel: Id| {
            let nodes = tree.subtree(panel);
            let place = |id: Id| blocks.list.partition_point(|block| block.first < id);
            place(nodes.start)..place(nodes.end)
        };
        let is_code = |at: &usize| blocks.list[*at].in_code && tree.tag(blocks.list[*at].container) == Tag::Pre;
        let strips: HashSet<Id> = self.list.iter().map(|tab| tab.strip).collect();
        for strip in strips {
            let panels = self.list.iter().filter(|tab| tab.strip == strip).map(|tab| within(tab.panel));
            let with_code: Vec<Range<usize>> = panels.filter(|blocks| blocks.clone().any(|at| is_code(&at))).collect();
            if with_code.iter().any(|blocks| blocks.clone().filter(is_code).any(|at| chosen[at])) {
                for at in with_code.into_iter().flatten() {
                    chosen[at] |= blocks.list[at].counts.words > 0.0;
                }
            }
        }
    }

    /// The labels of the panels that are kept; their tabs, which say no more, are removed from `keep`. A panel that
    /// begins with its label, such as a heading, needs no other.
    pub(crate) fn label(self, tree: &Tree, keep: &mut [bool]) -> Labels {
        let mut labels = Labels::new();
        for Tab { control, panel, strip, label } in self.list {
            let mut texts = tree.subtree(panel).take(READ).filter(|&id| keep[id]);
            let is_shown = |id: &Id| tree.tag(*id) == Tag::Img || !tree.text(*id).trim().is_empty();
            let Some(first) = texts.find(is_shown) else { continue };
            let is_code = tree.ancestors(first).any(|id| matches!(tree.tag(id), Tag::Pre | Tag::Code));
            if is_code || tree.text(first).trim().to_lowercase() != label.to_lowercase() {
                labels.insert(panel, label);
            }
            keep[tree.subtree(control)].fill(false);
            // The items around tabs, and the strip, without other text.
            for around in tree.ancestors(control).take_while(|&id| id != ROOT && tree.subtree(strip).contains(&id)) {
                if tree.descendants(around).any(|id| keep[id] && is_shown(&id)) {
                    break;
                }
                keep[tree.subtree(around)].fill(false);
            }
        }
        labels
    }

    fn add(&mut self, tree: &Tree, tab: Id, panel: Id, strip: Id) {
        let [label, content] = [tab, panel].map(|id| tree.subtree(id));
        let is_apart = !label.contains(&panel) && !content.contains(&tab);
        // The headings of an accordion stay where they are.
        let is_accordion = holds_heading(tree, tab);
        let is_known = self.list.iter().any(|known| known.panel == panel || known.control == tab);
        if is_apart
            && !is_accordion
            && !is_known
            && !is_in_line(tree, panel)
            && let Some(label) = label_of(tree, tab)
        {
            self.list.push(Tab { control: tab, panel, strip, label });
        }
    }
}

fn holds_heading(tree: &Tree, id: Id) -> bool {
    let is_heading = |id: Id| tree.tag(id).heading_level().is_some();
    tree.ancestors(id).take(2).any(is_heading) || tree.subtree(id).take(READ).any(is_heading)
}

/// Whether an element is in one whose content is written on one line, where a label cannot stand alone.
fn is_in_line(tree: &Tree, id: Id) -> bool {
    let is_line = |tag: Tag| tag.heading_level().is_some() || matches!(tag, Tag::Td | Tag::Th | Tag::Dt | Tag::Summary);
    tree.ancestors(id).any(|id| is_line(tree.tag(id)))
}

/// The text of a tab, on one line, if it is a label: not a bare number, such as that of a slide.
fn label_of(tree: &Tree, tab: Id) -> Option<String> {
    let (mut text, mut at) = (String::new(), tab);
    let end = tree.subtree(tab).end.min(tab + READ);
    while at < end {
        let node = tree.node(at);
        if at > tab && (node.hidden || node.aria_hidden || node.tag.is_silent()) {
            at = tree.subtree(at).end;
            continue;
        }
        if node.tag.is_block() || node.tag == Tag::Br {
            text.push(' ');
        }
        text.push_str(tree.text(at));
        at += 1;
    }
    let label = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let has_words = label.chars().any(|c| !c.is_ascii_digit());
    (has_words && count_words(&label) <= MAX_WORDS).then_some(label)
}

/// The elements of a page that make tabs, in order.
#[derive(Default)]
struct Parts {
    /// With the role of a tab.
    tabs: Vec<Id>,
    /// With the role or the name of a panel.
    panels: Vec<Id>,
    /// Labels of radio buttons that are called like tabs.
    labels: Vec<Id>,
}

impl Parts {
    fn find(tree: &Tree) -> Self {
        let mut parts = Self::default();
        let mut radios = HashSet::default();
        for id in (1..tree.len()).filter(|&id| tree.tag(id) != Tag::Text) {
            let tag = tree.tag(id);
            match tree.attr(id, Attr::Role) {
                Some("tab") => parts.tabs.push(id),
                Some("tabpanel") => parts.panels.push(id),
                _ if tag == Tag::Input && tree.attr(id, Attr::Type) == Some("radio") => {
                    radios.extend(tree.attr(id, Attr::Id));
                }
                _ if tag == Tag::Label && tree.attr(id, Attr::For).is_some() => parts.labels.push(id),
                _ if tree.attr(id, Attr::Class).is_some_and(is_pane) => parts.panels.push(id),
                _ => {}
            }
        }
        let is_radio = |id: Id| tree.attr(id, Attr::For).is_some_and(|name| radios.contains(name));
        parts.labels.retain(|&id| is_radio(id) && is_called_tab(tree, id));
        parts
    }

    /// Panels with the label of a tab before them.
    fn add_labelled(&self, tree: &Tree, tabs: &mut Tabs) {
        let labelled = self.panels.iter().filter_map(|&panel| Some((panel, tree.attr(panel, Attr::AriaLabel)?)));
        let mut labelled = labelled.peekable();
        if labelled.peek().is_none() {
            return;
        }
        let labels: Vec<Option<String>> = self.tabs.iter().map(|&tab| label_of(tree, tab)).collect();
        for (panel, label) in labelled {
            let before = self.tabs.partition_point(|&tab| tab < panel);
            let at = labels[..before].iter().rposition(|known| known.as_deref() == Some(label.trim()));
            if let Some(tab) = at.map(|at| self.tabs[at]) {
                tabs.add(tree, tab, panel, strip_of(tree, tab));
            }
        }
    }

    /// Tabs and panels of which one names the other. If several tabs name one panel, it is that of the chosen tab.
    fn add_named(&self, tree: &Tree, tabs: &mut Tabs) {
        if self.tabs.is_empty() && self.panels.is_empty() {
            return;
        }
        let mut wanted: HashMap<&str, Id> = HashMap::new();
        let targets = |id: Id| {
            let names = [Attr::AriaControls, Attr::Href, Attr::DataTarget, Attr::DataBsTarget];
            names.into_iter().filter_map(move |name| {
                let value = tree.attr(id, name)?.trim();
                value.strip_prefix('#').or_else(|| (name == Attr::AriaControls).then_some(value))
            })
        };
        for id in 1..tree.len() {
            if let Some(name) = tree.attr(id, Attr::Id) {
                wanted.entry(name).or_insert(id);
            }
        }
        let panel_of = |id: Id| targets(id).find_map(|name| wanted.get(name).copied());
        let (chosen, others): (Vec<Id>, Vec<Id>) = self.tabs.iter().partition(|&&tab| is_chosen(tree, tab));
        for tab in chosen.into_iter().chain(others) {
            // The role of an item, the address of the link in it.
            let around = tree.parent(tab);
            let named = tree.subtree(tab).take(8).chain([around]).find_map(panel_of);
            if let Some(panel) = named {
                tabs.add(tree, tab, panel, strip_of(tree, tab));
            }
        }
        for &panel in &self.panels {
            let tab = tree.attr(panel, Attr::AriaLabelledby).and_then(|name| wanted.get(name.trim()).copied());
            if let Some(tab) = tab.filter(|&tab| self.is_tab(tree, tab)) {
                tabs.add(tree, tab, panel, strip_of(tree, tab));
            }
        }
        let is_control = |id: &Id| matches!(tree.tag(*id), Tag::A | Tag::Button);
        let panels: HashSet<Id> = self.panels.iter().copied().collect();
        for tab in (1..tree.len()).filter(is_control) {
            if let Some(panel) = panel_of(tab).filter(|panel| panels.contains(panel) && tab < *panel) {
                tabs.add(tree, tab, panel, strip_of(tree, tab));
            }
        }
    }

    /// Whether an element is a tab, or is in one or around one.
    fn is_tab(&self, tree: &Tree, id: Id) -> bool {
        let after = self.tabs.partition_point(|&tab| tab < id);
        self.tabs.get(after).is_some_and(|tab| tree.subtree(id).contains(tab))
            || tree.ancestors(id).take(NAMED).any(|id| self.tabs.binary_search(&id).is_ok())
    }

    /// Tabs and panels without names, in the same order. If there is one panel, it is that of the chosen tab.
    fn add_in_order(&self, tree: &Tree, tabs: &mut Tabs) {
        let known: HashSet<Id> = tabs.list.iter().flat_map(|tab| [tab.control, tab.panel]).collect();
        let mut strips: Vec<(Id, Vec<Id>)> = vec![];
        for &tab in &self.tabs {
            let strip = strip_of(tree, tab);
            match strips.iter_mut().find(|(known, _)| *known == strip) {
                Some((_, strip)) => strip.push(tab),
                None => strips.push((strip, vec![tab])),
            }
        }
        for (strip, of_strip) in strips.into_iter().filter(|(_, of_strip)| of_strip.len() > 1) {
            let of_strip: Vec<Id> = of_strip.into_iter().filter(|tab| !known.contains(tab)).collect();
            let mut panels = tree.ancestors(strip).take(NAMED).map(|around| {
                let mut panels = self.panels_in(tree, strip, around);
                panels.retain(|panel| !known.contains(panel));
                panels
            });
            let Some(panels) = panels.find(|panels| !panels.is_empty()) else { continue };
            if panels.len() == of_strip.len() {
                for (&tab, panel) in of_strip.iter().zip(panels) {
                    tabs.add(tree, tab, panel, strip);
                }
            } else if let ([panel], Some(&tab)) = (&panels[..], of_strip.iter().find(|&&tab| is_chosen(tree, tab))) {
                tabs.add(tree, tab, *panel, strip);
            }
        }
    }

    /// The outermost panels behind a strip, in an element around it.
    fn panels_in(&self, tree: &Tree, strip: Id, around: Id) -> Vec<Id> {
        let place = |id: Id| self.panels.partition_point(|&panel| panel < id);
        let mut end = 0;
        let behind = &self.panels[place(tree.subtree(strip).end)..place(tree.subtree(around).end)];
        let outermost = behind.iter().copied().filter(|&panel| {
            let is_outermost = panel >= end && tree.attr(panel, Attr::Role) == Some("tabpanel");
            end = if is_outermost { tree.subtree(panel).end } else { end };
            is_outermost
        });
        outermost.collect()
    }

    /// Labels of radio buttons, and what the buttons show.
    fn add_radios(&self, tree: &Tree, tabs: &mut Tabs) {
        let next = |id: Id| {
            let behind = tree.subtree(id).end..tree.subtree(tree.parent(id)).end;
            tree.siblings(behind).find(|&id| !matches!(tree.tag(id), Tag::Text | Tag::Input))
        };
        let mut done = ROOT;
        for &label in &self.labels {
            let strip = tree.parent(label);
            match next(label) {
                Some(panel) if tree.tag(panel) != Tag::Label => tabs.add(tree, label, panel, strip),
                _ if done == strip || strip == ROOT => {}
                _ => {
                    done = strip;
                    let of_strip: Vec<Id> = tree.children(strip).filter(|&id| tree.tag(id) == Tag::Label).collect();
                    let is_element = |id: &Id| tree.tag(*id) != Tag::Text;
                    let panels: Vec<Id> =
                        next(strip).map(|all| tree.children(all).filter(is_element).collect()).unwrap_or_default();
                    if panels.len() == of_strip.len() {
                        for (label, panel) in of_strip.into_iter().zip(panels) {
                            tabs.add(tree, label, panel, strip);
                        }
                    }
                }
            }
        }
    }
}

fn is_chosen(tree: &Tree, tab: Id) -> bool {
    tree.attr(tab, Attr::AriaSelected) == Some("true")
}

/// What the tabs of a strip are in: the element with that role, or the one around.
fn strip_of(tree: &Tree, tab: Id) -> Id {
    let is_strip = |id: &Id| tree.attr(*id, Attr::Role) == Some("tablist");
    let around = || match tree.parent(tab) {
        item if tree.tag(item) == Tag::Li => tree.parent(item),
        strip => strip,
    };
    tree.ancestors(tab).find(is_strip).unwrap_or_else(around)
}

/// Whether a class is that of the panel of a tab.
fn is_pane(class: &str) -> bool {
    let is_name = |name: &str| matches!(name, "tab-pane" | "tabpane" | "tab-panel" | "tabs-panel" | "tabs__panel");
    class.contains("tab") && class.split_ascii_whitespace().any(is_name)
}

/// Whether a label, or an element around it, is called like tabs.
fn is_called_tab(tree: &Tree, label: Id) -> bool {
    let around = std::iter::once(label).chain(tree.ancestors(label)).take(NAMED + 1);
    around.filter_map(|id| tree.attr(id, Attr::Class)).any(|class| {
        let mut found = false;
        each_word(class, |word| found |= matches!(word, b"tab" | b"tabs" | b"tabbed" | b"tabset"));
        found
    })
}

#[cfg(test)]
mod tests {
    use crate::{Options, Scope, convert};

    fn whole(html: &str) -> String {
        convert(html, &Options { base_url: None, scope: Scope::Whole }).unwrap().markdown
    }

    #[test]
    fn panels_follow_their_labels() {
        let expected = "**npm**\n\nInstall it.\n\n**yarn**\n\nAdd it.\n";
        for html in [
            // ARIA, named from either side.
            "<div role=tablist><button role=tab aria-controls=a>npm</button><button role=tab aria-controls=b>yarn</button></div>\
             <div id=a role=tabpanel><p>Install it.</div><div id=b role=tabpanel><p>Add it.</div>",
            "<div role=tablist><button role=tab id=a>npm</button><button role=tab id=b>yarn</button></div>\
             <div role=tabpanel aria-labelledby=a><p>Install it.</div><div role=tabpanel aria-labelledby=b><p>Add it.</div>",
            // What `--expand` makes of tabs that share a panel.
            "<div role=tablist><a role=tab aria-controls=a>npm</a><a role=tab aria-controls=a aria-selected=true>yarn</a></div>\
             <div role=tabpanel aria-label=npm><p>Install it.</div><div id=a role=tabpanel><p>Add it.</div>",
            "<div role=tablist><a role=tab>npm</a><a role=tab aria-selected=true>yarn</a></div>\
             <div role=tabpanel aria-label=npm><p>Install it.</div><div role=tabpanel><p>Add it.</div>",
            // GitBook: named tabs, each in an element of its own.
            "<div><div role=tablist><div><button role=tab id=a>npm</button></div><div><button role=tab id=b>yarn</button></div>\
             </div><div role=tabpanel aria-labelledby=a><p>Install it.</div><div role=tabpanel aria-labelledby=b><p>Add it.</div></div>",
            // Docusaurus: without names.
            "<div class=tabs-container><ul role=tablist><li role=tab aria-selected=true>npm<li role=tab>yarn</ul>\
             <div><div role=tabpanel><p>Install it.</div><div role=tabpanel><p>Add it.</div></div></div>",
            // Bootstrap.
            "<ul class=nav><li><a data-toggle=tab href=#a>npm</a><li><a data-toggle=tab href=#b>yarn</a></ul>\
             <div><div class=tab-pane id=a><p>Install it.</div><div class=tab-pane id=b><p>Add it.</div></div>",
            // Material for MkDocs.
            "<div class=tabbed-set><input type=radio id=a><input type=radio id=b>\
             <div class=tabbed-labels><label for=a>npm</label><label for=b>yarn</label></div>\
             <div class=tabbed-content><div class=tabbed-block><p>Install it.</div><div class=tabbed-block><p>Add it.</div></div></div>",
            // VitePress.
            "<div class=vp-code-group><div class=tabs><input type=radio id=a><label for=a>npm</label><input type=radio id=b>\
             <label for=b>yarn</label></div><div class=blocks><div><p>Install it.</div><div><p>Add it.</div></div></div>",
            // Sphinx Design.
            "<div class=sd-tab-set><input type=radio id=a><label class=sd-tab-label for=a>npm</label><div><p>Install it.</div>\
             <input type=radio id=b><label class=sd-tab-label for=b>yarn</label><div><p>Add it.</div></div>",
        ] {
            assert_eq!(whole(html), expected, "{html}");
        }
    }

    #[test]
    fn a_hidden_panel_is_content_because_its_tab_shows_it() {
        let html = "<meta name=generator content='Docusaurus v3.1'><main><article><div class=theme-doc-markdown><p>The tables of \
                    the tides are in a package, which every harbour office installs with one of two commands.</p>\
                    <div><ul role=tablist><li role=tab aria-selected=true>npm<li role=tab>yarn</ul><div>\
                    <div role=tabpanel><pre>npm add tides</pre></div><div role=tabpanel hidden><pre>yarn add tides</pre></div>\
                    </div></div></div></article></main>";
        let markdown = convert(html, &Options::default()).unwrap().markdown;
        let expected = "**npm**\n\n```\nnpm add tides\n```\n\n**yarn**\n\n```\nyarn add tides\n```\n";
        assert!(markdown.ends_with(expected), "{markdown}");
    }

    #[test]
    fn what_is_not_a_strip_of_tabs_stays() {
        // An accordion, one control that unfolds something, and panels that have their label.
        let fold =
            |id: &str| format!("<h3><a href=#{id}>Part {id}</a></h3><div class=tab-pane id={id}><p>Text {id}.</div>");
        let accordion = whole(&format!("<body>{}{}", fold("a"), fold("b")));
        assert!(!accordion.contains("**") && accordion.contains("### [Part b](#b)\n\nText b.\n"), "{accordion}");
        let single = "<ul><li><a href=#a>All systems</a><div class=tab-pane id=a><p>One, two.</div></ul>";
        assert!(whole(single).contains("All systems"), "{}", whole(single));
        // The numbers of slides, and a strip in the cell of a table.
        let strip = |one: &str| {
            format!(
                "<div role=tablist><a role=tab aria-controls=a>{one}</a><a role=tab aria-controls=b>2</a></div>\
                      <div id=a role=tabpanel><p>First.</div><div id=b role=tabpanel><p>Second.</div>"
            )
        };
        let cell = whole(&format!("<table><tr><th>A<th>B<tr><td>{}<td>x</table>", strip("One")));
        for markdown in [whole(&strip("1")), cell] {
            assert!(!markdown.contains("**") && markdown.contains("First."), "{markdown}");
        }
        let titled = "<div role=tablist><a role=tab aria-controls=a>One</a><a role=tab aria-controls=b>Two</a></div>\
                      <div id=a role=tabpanel><h2>One</h2><p>First.</div><div id=b role=tabpanel><h2>Two</h2><p>Second.</div>";
        assert_eq!(whole(titled), "## One\n\nFirst.\n\n## Two\n\nSecond.\n");
    }

    #[test]
    fn the_tabs_of_a_page_are_bounded() {
        let strip = "<div role=tablist><i role=tab>a</i><i role=tab>b</i></div><p role=tabpanel>One</p><p role=tabpanel>Two</p>";
        assert_eq!(whole(strip), "**a**\n\nOne\n\n**b**\n\nTwo\n");
        assert!(!whole(&format!("<body>{}", format!("<div>{strip}</div>").repeat(super::MAX_TABS))).contains("**a**"));
    }
}
