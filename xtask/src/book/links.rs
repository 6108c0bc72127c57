//! The links of a built site: each leads to a file, and its anchor to an element there.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::{Path, PathBuf},
};

use anyhow::Context;

/// The number of pages below `folder`, and each dead link, with its page.
pub(super) fn dead(folder: &Path) -> anyhow::Result<(usize, Vec<String>)> {
    let mut pages = BTreeMap::new();
    for path in files(folder)?.into_iter().filter(|path| path.extension().is_some_and(|extension| extension == "html"))
    {
        let html = fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))?;
        pages.insert(path, html);
    }
    let anchors: BTreeMap<&PathBuf, BTreeSet<&str>> =
        pages.iter().map(|(path, html)| (path, values(html, " id=\"").collect())).collect();
    let mut dead = vec![];
    // 404.html has links from the root of a host.
    for (path, html) in pages.iter().filter(|(path, _)| !path.ends_with("404.html")) {
        for link in values(html, " href=\"").chain(values(html, " src=\"")) {
            let is_elsewhere = link.contains(':') || link.starts_with('/');
            if !is_elsewhere && !is_alive(path, link, &anchors) {
                dead.push(format!("{}: {link}", path.strip_prefix(folder).unwrap_or(path).display()));
            }
        }
    }
    Ok((pages.len(), dead))
}

fn is_alive(page: &Path, link: &str, anchors: &BTreeMap<&PathBuf, BTreeSet<&str>>) -> bool {
    let (file, anchor) = link.split_once('#').unwrap_or((link, ""));
    let target = match file {
        "" => page.to_owned(),
        file => page.parent().unwrap_or(page).join(file.split('?').next().unwrap_or_default()),
    };
    let Ok(target) = target.canonicalize() else { return false };
    let is_there = |ids: &BTreeSet<&str>| anchor.is_empty() || ids.contains(anchor);
    anchors.get(&target).map_or_else(|| target.is_file(), is_there)
}

/// The values of an attribute of the elements in `html`; code that shows HTML has no tags.
fn values<'a>(html: &'a str, attribute: &'a str) -> impl Iterator<Item = &'a str> {
    let tags = html.split('<').skip(1).filter_map(|rest| rest.split('>').next());
    let values = tags.filter_map(move |tag| tag.split_once(attribute)?.1.split('"').next());
    values.filter(|value| !value.is_empty())
}

fn files(folder: &Path) -> anyhow::Result<Vec<PathBuf>> {
    let mut found = vec![];
    let mut folders = vec![folder.canonicalize().with_context(|| format!("there is no {}", folder.display()))?];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder)? {
            let path = entry?.path();
            if path.is_dir() { folders.push(path) } else { found.push(path) }
        }
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_dead_link_is_found_with_its_page() {
        let folder = tempfile::tempdir().unwrap();
        let put = |name: &str, text: &str| fs::write(folder.path().join(name), text).unwrap();
        fs::create_dir(folder.path().join("a")).unwrap();
        put(
            "index.html",
            r##"<h1 id="top"><a href="a/b.html#c">1</a><a href="#top">2</a><img src="x.svg"><a href="#no">"##,
        );
        put("x.svg", "<svg/>");
        put("c.html", "<code>&lt;a href=\"example\"></code>");
        put(
            "a/b.html",
            r#"<p id="c"><a href="../index.html">1</a><a href="../gone.html">2</a><a href="../index.html#no">3</a>
               <a href="https://a.example/gone.html">4</a>"#,
        );
        let (pages, dead) = dead(folder.path()).unwrap();
        assert_eq!(pages, 3);
        assert_eq!(dead, ["a/b.html: ../gone.html", "a/b.html: ../index.html#no", "index.html: #no"]);
    }
}
