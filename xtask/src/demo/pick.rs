//! The links that the demo follows: a fixed rule in place of an agent's choice.

use serde_json::Value;

/// Endings of URLs that are not pages.
const NO_PAGES: [&str; 12] =
    [".pdf", ".zip", ".gz", ".png", ".jpg", ".jpeg", ".gif", ".svg", ".webp", ".json", ".xml", ".txt"];

/// The first `most` links in the answer `page` that lead beside or below `start`, without those in
/// `known` and the start page itself.
///
/// Addresses are compared without their fragment; those with a query are left out: they are
/// mostly the same page in another order.
pub(super) fn pages(start: &str, page: &Value, known: &[String], most: usize) -> Vec<String> {
    let start = without_fragment(start);
    let folder = &start[..=start.rfind('/').unwrap_or(start.len() - 1)];
    let mut picked: Vec<String> = vec![];
    for link in page["links"].as_array().into_iter().flatten() {
        let url = without_fragment(link["href"].as_str().unwrap_or_default());
        let content = url.starts_with(folder) && !url.contains('?') && !NO_PAGES.iter().any(|end| url.ends_with(end));
        let new = url != start && url != folder && !known.iter().chain(&picked).any(|one| one == url);
        if content && new && picked.len() < most {
            picked.push(url.to_owned());
        }
    }
    picked
}

fn without_fragment(url: &str) -> &str {
    url.split('#').next().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn pages_beside_and_below_the_start_are_picked_once() {
        let hrefs = [
            "https://e.org/wiki/",
            "https://e.org/wiki/index.html#top",
            "https://e.org/wiki/a",
            "https://e.org/wiki/a#part",
            "https://e.org/wiki/a?sort=1",
            "https://e.org/other",
            "https://else.org/wiki/b",
            "https://e.org/wiki/b.pdf",
            "https://e.org/wiki/known",
            "https://e.org/wiki/deep/c",
            "https://e.org/wiki/d",
        ];
        let page = json!({"links": hrefs.map(|href| json!({"text": "x", "href": href}))});
        let known = ["https://e.org/wiki/known".to_owned()];
        let picked = pages("https://e.org/wiki/index.html", &page, &known, 2);
        assert_eq!(picked, ["https://e.org/wiki/a", "https://e.org/wiki/deep/c"]);
    }
}
