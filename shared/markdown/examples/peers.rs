//! `peers`: pages converted by this crate and by others, for `cargo xtask bench markdown`.
//!
//! A line of input is the name of a converter, a tab, the path of an HTML file, a tab, and the URL of the page.
//! A line of output is JSON: the time in seconds and the Markdown.

use std::{
    io::{BufRead, Write, stdin, stdout},
    time::Instant,
};

use ragmaker_markdown::{Options, convert, decode};

fn main() -> std::io::Result<()> {
    for line in stdin().lock().lines() {
        let line = line?;
        let mut fields = line.splitn(3, '\t');
        let mut field = || fields.next().unwrap_or_default();
        let (way, path, address) = (field(), field(), field());
        let bytes = std::fs::read(path)?;
        let start = Instant::now();
        let html = decode(&bytes, None).0;
        let markdown = match way {
            "ragmaker-markdown" => ours(&html, address),
            "dom_smoothie" => dom_smoothie(&html, address),
            "htmd" => htmd::HtmlToMarkdown::builder().skip_tags(vec!["script", "style"]).build().convert(&html).ok(),
            way => panic!("{way} is unknown"),
        };
        let seconds = start.elapsed().as_secs_f64();
        let answer = serde_json::json!({"seconds": seconds, "markdown": markdown.unwrap_or_default()});
        writeln!(stdout(), "{answer}")?;
    }
    Ok(())
}

fn ours(html: &str, address: &str) -> Option<String> {
    let address = url::Url::parse(address).ok();
    let page = convert(html, &Options { base_url: address.as_ref(), ..Options::default() });
    page.ok().map(|page| page.markdown)
}

fn dom_smoothie(html: &str, address: &str) -> Option<String> {
    let config = dom_smoothie::Config { text_mode: dom_smoothie::TextMode::Markdown, ..Default::default() };
    let mut page = dom_smoothie::Readability::new(html, Some(address), Some(config)).ok()?;
    page.parse().ok().map(|article| article.text_content.to_string())
}
