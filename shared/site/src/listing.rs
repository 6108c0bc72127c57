//! Directory listings: pages that a server makes of a folder without an index, such as those of Apache, nginx and
//! `python -m http.server`.

use percent_encoding::percent_decode_str;
use url::Url;

use crate::content::{Content, ContentKind, is_prose};

/// Whether `content` is a directory listing: its title ends with the path of its address, and each of its links leads to
/// an entry of this folder or to a folder above. A listing with prose, such as a README below it, is a document.
pub(crate) fn is_listing(content: &Content) -> bool {
    let Content { url, document, links, .. } = content;
    content.kind == ContentKind::Html
        && is_of_folder(url, &document.metadata.title, &links.anchors)
        && !document.markdown.lines().any(is_prose)
}

fn is_of_folder(url: &Url, title: &str, anchors: &[Url]) -> bool {
    ends_with_path(title, url.path()) && anchors.iter().all(|to| is_entry(url, to))
}

/// Whether a title ends with `path`, which is that of a folder, as a word of its own.
fn ends_with_path(title: &str, path: &str) -> bool {
    let path = percent_decode_str(path).decode_utf8_lossy();
    let Some(folder) = path.strip_suffix('/') else { return false };
    let title = title.trim().trim_end_matches(']');
    let before = title.strip_suffix('/').unwrap_or(title).strip_suffix(folder);
    before.is_some_and(|before| before.ends_with([' ', '[']) && (title.ends_with('/') || !folder.is_empty()))
}

/// Whether `to` is an entry of the folder `at`, the folder itself in another order, or a folder above it.
fn is_entry(at: &Url, to: &Url) -> bool {
    let entry = to.path().strip_prefix(at.path()).map(|entry| entry.strip_suffix('/').unwrap_or(entry));
    let is_above = || to.path().ends_with('/') && at.path().starts_with(to.path());
    at.origin() == to.origin() && (entry.is_some_and(|entry| !entry.contains('/')) || is_above())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn listings_of_several_servers_are_recognised() {
        let apache = "<a href='?C=N;O=D'>Name</a><a href='/pub/'>Parent Directory</a><a href='a.md'>a.md</a><a href='sub/'>sub/</a>";
        let nginx = "<a href='../'>../</a><a href='a%20b.md'>a b.md</a>";
        for (path, title, html, expected) in [
            ("/pub/docs/", "Index of /pub/docs", apache, true),
            ("/pub/docs/", "Index of /pub/docs/", nginx, true),
            ("/pub/a%20b/", "Directory listing for /pub/a b/", nginx, true),
            ("/pub/docs/", "Directory Listing For [/pub/docs/]", nginx, true),
            ("/", "Index of /", "<a href='a/'>a/</a>", true),
            ("/", "Directory listing for /", "", true),
            // Of another folder, of no folder, or with a link to somewhere else.
            ("/pub/docs/", "Index of /pub", nginx, false),
            ("/", "Tides", nginx, false),
            ("/docs/", "All docs", nginx, false),
            ("/pub/docs", "Index of /pub/docs", nginx, false),
            ("/pub/docs/", "Index of /pub/docs", "<a href='sub/deep/a.md'>a</a>", false),
            ("/pub/docs/", "Index of /pub/docs", "<a href='https://y.example/pub/docs/a'>a</a>", false),
        ] {
            let url = Url::parse(&format!("https://x.example{path}")).unwrap();
            let anchors = ragmaker_markdown::links(html, &url).anchors;
            assert_eq!(is_of_folder(&url, title, &anchors), expected, "{path} {title} {html}");
        }
    }
}
