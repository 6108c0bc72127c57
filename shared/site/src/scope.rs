//! The addresses of a section: documents below a path that match the caller's patterns.

use std::sync::Arc;

use ragmaker_address::Pattern;
use ragmaker_tool::{ARGUMENT_ERROR, Error};
use url::Url;

/// Name extensions of files that are not documents.
const OTHERS: [&str; 44] = [
    "png", "jpg", "jpeg", "gif", "svg", "webp", "avif", "ico", "bmp", "tif", "tiff", "css", "js", "mjs", "map", "woff",
    "woff2", "ttf", "otf", "eot", "mp3", "mp4", "m4a", "ogg", "wav", "webm", "avi", "mov", "zip", "gz", "tgz", "bz2",
    "xz", "zst", "7z", "rar", "tar", "exe", "dmg", "msi", "deb", "rpm", "jar", "wasm",
];

/// Name extensions of pages in a folder; then the folder is the section. A version number is not an extension.
const PAGES: [&str; 9] = ["html", "htm", "xhtml", "md", "php", "asp", "aspx", "jsp", "txt"];

/// A section of a site.
#[derive(Clone, Debug)]
pub struct Scope {
    /// Its first address, without query and fragment.
    prefix: Url,
    include: Option<Arc<Pattern>>,
    exclude: Option<Arc<Pattern>>,
}

impl Scope {
    /// The section below `prefix`, or below `start` without a prefix. For a page `…/index.html` it is the page's
    /// folder.
    pub fn new(
        start: &Url,
        prefix: Option<Url>,
        include: Option<Pattern>,
        exclude: Option<Pattern>,
    ) -> Result<Self, Error> {
        let mut below = prefix.unwrap_or_else(|| {
            let mut below = start.clone();
            if PAGES.contains(&ending(&below).to_ascii_lowercase().as_str())
                && let Ok(folder) = below.join(".")
            {
                below = folder;
            }
            below
        });
        below.set_query(None);
        below.set_fragment(None);
        let scope = Self { prefix: below, include: include.map(Arc::new), exclude: exclude.map(Arc::new) };
        if scope.is_below(start) {
            return Ok(scope);
        }
        Err(ARGUMENT_ERROR
            .error(format!("{start} is not below --prefix {}", scope.prefix))
            .remedy("Give a prefix that --url begins with.")
            .detail("argument", "--prefix"))
    }

    pub(crate) fn prefix(&self) -> &Url {
        &self.prefix
    }

    /// The reason why `url` is not in the section; `None` if it is.
    pub(crate) fn refusal(&self, url: &Url) -> Option<&'static str> {
        if let Some(reason) = self.place_refusal(url) {
            Some(reason)
        } else if is_other(url) {
            Some("the file name is not that of a document")
        } else if self.include.as_ref().is_some_and(|include| !include.is_in(url.as_str())) {
            Some("--match does not match it")
        } else if self.exclude.as_ref().is_some_and(|exclude| exclude.is_in(url.as_str())) {
            Some("--exclude matches it")
        } else {
            None
        }
    }

    /// The reason why `url` is not at or below the prefix; the caller's patterns and the file name do not count.
    pub(crate) fn place_refusal(&self, url: &Url) -> Option<&'static str> {
        if !matches!(url.scheme(), "http" | "https") {
            Some("it is not an http or https address")
        } else if !self.is_below(url) {
            Some("it is outside of the section")
        } else {
            None
        }
    }

    /// Whether the path of `url` is the prefix or below it; only whole segments count.
    fn is_below(&self, url: &Url) -> bool {
        let (path, prefix) = (url.path(), self.prefix.path());
        let rest = path.strip_prefix(prefix.trim_end_matches('/'));
        is_same_host(url, &self.prefix) && rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    }
}

/// Whether both addresses are of one host and port, of which robots.txt has one state; `http` and `https` at their
/// usual ports are the same.
pub(crate) fn is_same_host(a: &Url, b: &Url) -> bool {
    let default = |url: &Url| url.port().is_none();
    let port = |url: &Url| url.port_or_known_default();
    a.host() == b.host() && (port(a) == port(b) || default(a) && default(b))
}

/// Whether the name of a file says that it is an image, a program or the like.
fn is_other(url: &Url) -> bool {
    OTHERS.iter().any(|other| ending(url).eq_ignore_ascii_case(other))
}

/// The text after the last dot of the last segment.
pub(crate) fn ending(url: &Url) -> &str {
    let name = url.path_segments().and_then(|mut all| all.next_back()).unwrap_or_default();
    name.rsplit_once('.').map_or("", |(_, ending)| ending)
}

/// Whether `url` is named as Markdown is.
pub(crate) fn is_markdown(url: &Url) -> bool {
    ending(url).eq_ignore_ascii_case("md")
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn url(text: &str) -> Url {
        Url::parse(text).unwrap()
    }

    fn scope(start: &str) -> Scope {
        Scope::new(&url(start), None, None, None).unwrap()
    }

    #[test]
    fn a_section_ends_at_a_segment() {
        let docs = scope("https://x.example/docs?v=1#top");
        for inside in ["/docs", "/docs/", "/docs/a/b?c", "/docs?d"] {
            assert_eq!(docs.refusal(&url(&format!("https://x.example{inside}"))), None, "{inside}");
        }
        for outside in
            ["https://x.example/docs-old", "https://x.example/", "https://y.example/docs/", "https://x.example:8/docs"]
        {
            assert!(docs.refusal(&url(outside)).is_some(), "{outside}");
        }
        assert_eq!(docs.refusal(&url("http://x.example/docs/a")), None);
        assert!(docs.refusal(&url("https://x.example/docs/../a")).is_some());
        assert!(docs.refusal(&url("https://x.example/docs/a.PNG")).is_some());
        assert_eq!(docs.refusal(&url("ftp://x.example/docs/a")), Some("it is not an http or https address"));
        assert_eq!(scope("https://x.example/docs/index.html").refusal(&url("https://x.example/docs/b")), None);
        assert_eq!(scope("https://x.example/").refusal(&url("https://x.example/any")), None);
    }

    #[test]
    fn patterns_and_prefixes_narrow_it() {
        let pattern = |text: &str| Some(Pattern::new("--match", text).unwrap());
        let start = url("https://x.example/docs/a/b");
        let prefix = Some(url("https://x.example/docs/"));
        let scope = Scope::new(&start, prefix, pattern("/a/"), pattern("draft")).unwrap();
        assert_eq!(scope.refusal(&start), None);
        assert!(scope.refusal(&url("https://x.example/docs/c")).is_some());
        assert!(scope.refusal(&url("https://x.example/docs/a/draft-1")).is_some());
        assert!(Scope::new(&start, Some(url("https://x.example/doc")), None, None).is_err());
    }

    proptest! {
        #[test]
        fn what_is_inside_begins_with_the_segments(prefix in "(/[ab]{1,2}){0,3}/?", path in "(/[ab]{1,2}){0,4}/?") {
            let scope = scope(&format!("https://x.example{prefix}"));
            let segments = |path: &str| path.split('/').filter(|one| !one.is_empty()).map(str::to_owned).collect::<Vec<_>>();
            let is_inside = segments(&path).starts_with(&segments(&prefix));
            prop_assert_eq!(scope.refusal(&url(&format!("https://x.example{path}"))).is_none(), is_inside);
        }
    }
}
