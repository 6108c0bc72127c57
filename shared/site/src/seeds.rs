//! The start addresses of a section: its first page, the pages in the knowledge base, sitemaps and llms.txt.

use std::collections::{HashSet, VecDeque};

use ragmaker_address::page_key;
use ragmaker_http::{GetRequest, unzip};
use ragmaker_knowledge::decode;
use url::Url;

use crate::{content::is_html, redirect::Reach, relations::markdown_links, site::Site, sitemap::Sitemap};

/// The maximum number of sitemaps that are read.
const SITEMAPS: usize = 200;

/// The maximum depth of nested sitemaps.
const NESTED: u32 = 4;

/// The maximum number of addresses that are taken from them.
const ADDRESSES: usize = 50_000;

/// The addresses in the sitemaps of the site, those below `prefix` and others: robots.txt names them, or they
/// are where sitemaps usually are.
pub(crate) fn of_sitemaps(prefix: &Url, site: &Site<'_>) -> Vec<Url> {
    let named: Vec<Url> = site.rules.robots.sitemaps.iter().filter_map(|at| prefix.join(at).ok()).collect();
    let usual = ["/sitemap.xml", "sitemap.xml"].into_iter().filter_map(|at| as_folder(prefix).join(at).ok());
    let first = if named.is_empty() { usual.collect() } else { named };
    let mut queue: VecDeque<(Url, u32)> = first.into_iter().map(|at| (at, 0)).collect();
    let (mut seen, mut found) = (HashSet::new(), vec![]);
    while let Some((at, depth)) = queue.pop_front() {
        if seen.len() >= SITEMAPS || !seen.insert(page_key(&at)) {
            continue;
        }
        let get = GetRequest { url: &at, accept: "application/xml, text/xml;q=0.9, */*;q=0.5", headers: &[] };
        let Ok(response) = site.get(&get, Reach::Site, &mut |_| Ok(())) else { continue };
        if !(200..300).contains(&response.status) {
            continue;
        }
        let Ok(unzipped) = unzip(&response.body, site.client.limits()) else { continue };
        let bytes = unzipped.unwrap_or(response.body);
        let Ok((text, _)) = decode(&bytes, None) else { continue };
        let Sitemap { pages, sitemaps } = Sitemap::parse(&text);
        found.extend(pages.iter().filter_map(|page| at.join(page).ok()));
        if depth < NESTED {
            queue.extend(sitemaps.iter().filter_map(|child| Some((at.join(child).ok()?, depth + 1))));
        }
        if found.len() >= ADDRESSES {
            break;
        }
    }
    found.truncate(ADDRESSES);
    found
}

/// The addresses in the llms.txt that covers `prefix`: the nearest one upwards.
pub(crate) fn of_llms_txt(prefix: &Url, site: &Site<'_>) -> Vec<Url> {
    let mut at = as_folder(prefix);
    loop {
        let found = at.join("llms.txt").ok().and_then(|index| in_llms_txt(&index, site));
        if let Some(found) = found {
            return found;
        }
        match at.join("..") {
            Ok(above) if above != at => at = above,
            _ => return vec![],
        }
    }
}

/// The addresses in an llms.txt; `None` if it does not exist.
pub(crate) fn in_llms_txt(index: &Url, site: &Site<'_>) -> Option<Vec<Url>> {
    let get = GetRequest { url: index, accept: "text/plain, text/markdown;q=0.9, */*;q=0.5", headers: &[] };
    let response = site.get(&get, Reach::Site, &mut |_| Ok(())).ok()?;
    let (text, _) = decode(&response.body, Some(&response.content_type())).ok()?;
    // A site that answers everything with a page has no such file.
    let is_index = (200..300).contains(&response.status) && !is_html(&text);
    is_index.then(|| markdown_links(&text, &response.url))
}

/// `prefix` as a folder.
pub(crate) fn as_folder(prefix: &Url) -> Url {
    let mut folder = prefix.clone();
    if !folder.path().ends_with('/') {
        folder.set_path(&format!("{}/", prefix.path()));
    }
    folder
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_prefix_is_a_folder_without_its_query_being_one() {
        for (prefix, folder) in [
            ("https://a.example/docs", "https://a.example/docs/"),
            ("https://a.example/docs/", "https://a.example/docs/"),
            ("https://a.example", "https://a.example/"),
        ] {
            assert_eq!(as_folder(&Url::parse(prefix).unwrap()).as_str(), folder);
        }
    }
}
