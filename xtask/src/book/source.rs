//! The folder that mdBook reads: each page of docs/SUMMARY.md, and the files to which the pages lead.

use std::{
    collections::BTreeSet,
    fs,
    path::{Component, Path, PathBuf},
};

use anyhow::{Context, ensure};

/// The pages outside docs/, and where they are in the book.
const MOVED: [(&str, &str); 8] = [
    ("README.md", "index.md"),
    ("README.ja.md", "ja/index.md"),
    ("CONTRIBUTING.md", "contributing.md"),
    ("CHANGELOG.md", "changelog.md"),
    // docs/security.md would have the same name where case does not count.
    ("SECURITY.md", "reporting.md"),
    ("tools/README.md", "tools/index.md"),
    ("shared/markdown/python/README.md", "python.md"),
    ("discovery.json", "discovery.json"),
];

/// Writes book.toml and the pages into `folder`.
pub(super) fn write(root: &Path, folder: &Path) -> anyhow::Result<()> {
    let source = folder.join("source");
    let summary = "docs/SUMMARY.md";
    let text = read(root, summary)?;
    let pages: BTreeSet<String> = targets(&text).filter_map(|link| resolved(summary, link)).collect();
    let mut files = BTreeSet::from(["docs/book.toml".to_owned()]);
    for page in pages.iter().map(String::as_str).chain([summary]) {
        let text = read(root, page)?;
        for file in targets(&text).filter_map(|link| resolved(page, link)) {
            // Of what is not a page, such as a picture, a copy is part of the site.
            if root.join(&file).is_file() && !pages.contains(&file) {
                files.insert(file);
            }
        }
        put(&source.join(place(page)), relinked(page, &text, root))?;
    }
    for file in files {
        let to = if file.ends_with("book.toml") { folder.join("book.toml") } else { source.join(place(&file)) };
        put(&to, fs::read(root.join(&file)).with_context(|| format!("cannot read {file}"))?)?;
    }
    Ok(())
}

fn read(root: &Path, page: &str) -> anyhow::Result<String> {
    fs::read_to_string(root.join(page)).with_context(|| format!("cannot read {page}, which docs/SUMMARY.md names"))
}

fn put(path: &Path, content: impl AsRef<[u8]>) -> anyhow::Result<()> {
    fs::create_dir_all(path.parent().context("a page is in a folder")?)?;
    ensure!(!path.exists(), "two pages have the place {}", path.display());
    fs::write(path, content).with_context(|| format!("cannot write {}", path.display()))
}

/// Where a file of the repository is in the book.
fn place(path: &str) -> String {
    if let Some((_, moved)) = MOVED.iter().find(|(from, _)| *from == path) {
        return (*moved).to_owned();
    }
    let page = path.strip_prefix("docs/").or_else(|| path.strip_prefix("integrations/")).unwrap_or(path);
    page.strip_suffix("/README.md").map_or_else(|| page.to_owned(), |folder| format!("{folder}.md"))
}

/// The targets of the links and pictures of a document.
fn targets(markdown: &str) -> impl Iterator<Item = &str> {
    markdown.split("](").skip(1).filter_map(|rest| rest.split(')').next())
}

/// The path in the repository to which a link of `page` leads, without its anchor; `None` if it is not a path.
fn resolved(page: &str, link: &str) -> Option<String> {
    let path = link.split('#').next().filter(|path| !path.is_empty())?;
    if path.contains("://") || path.contains([' ', '\n', '{', '$']) {
        return None;
    }
    let mut parts: Vec<String> = vec![];
    for part in Path::new(page).parent()?.join(path).components() {
        match part {
            Component::ParentDir => drop(parts.pop()?),
            Component::Normal(name) => parts.push(name.to_string_lossy().into_owned()),
            _ => {}
        }
    }
    Some(parts.join("/"))
}

/// The text of `page` with its links as they are in the book.
fn relinked(page: &str, text: &str, root: &Path) -> String {
    let mut parts = text.split("](");
    let mut changed = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let link = part.split(')').next().unwrap_or_default();
        let target = resolved(page, link).filter(|file| root.join(file).is_file());
        let new = target.map_or_else(
            || link.to_owned(),
            |file| {
                let anchor = link.find('#').map_or("", |at| &link[at..]);
                relative(&place(page), &place(&file)) + anchor
            },
        );
        changed += "](";
        changed += &new;
        changed += &part[link.len()..];
    }
    changed
}

/// The path `to` as a link in the page `from`.
fn relative(from: &str, to: &str) -> String {
    let up = from.matches('/').count();
    let path: PathBuf = std::iter::repeat_n("..", up).chain([to]).collect();
    path.to_string_lossy().replace('\\', "/")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::process::root;

    #[test]
    fn a_link_leads_to_the_same_page_in_the_book() {
        let linked = |page: &str, text: &str| relinked(page, text, root());
        for (page, text, expected) in [
            ("README.md", "[a](docs/contract.md#paths)", "[a](contract.md#paths)"),
            ("docs/contract.md", "[a](../tools/README.md)", "[a](tools/index.md)"),
            ("docs/contract.md", "[a](mcp.md) [b](#paths)", "[a](mcp.md) [b](#paths)"),
            ("tools/cite/README.md", "[a](../verify/README.md#x)", "[a](../tools/verify.md#x)"),
            ("tools/cite/README.md", "[a](../../docs/search.md)", "[a](../search.md)"),
            ("docs/mcp.md", "[a](https://a.example/README.md)", "[a](https://a.example/README.md)"),
            ("docs/mcp.md", "[a](no-such-file.md)", "[a](no-such-file.md)"),
        ] {
            assert_eq!(linked(page, text), expected, "{page}");
        }
        assert_eq!(place("tools/cite/README.md"), "tools/cite.md");
        assert_eq!(resolved("README.md", "../outside.md"), None);
    }
}
