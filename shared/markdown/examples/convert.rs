//! `convert [--whole] [URL] < page.html`: Markdown on standard output.
use std::io::{Read, Write};

fn main() {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let whole = args.iter().any(|arg| arg == "--whole");
    let url = args.iter().find_map(|arg| url::Url::parse(arg).ok());
    let mut bytes = vec![];
    std::io::stdin().read_to_end(&mut bytes).unwrap();
    let (html, _) = ragmaker_markdown::decode(&bytes, None);
    let scope = if whole { ragmaker_markdown::Scope::Whole } else { ragmaker_markdown::Scope::Main };
    let options = ragmaker_markdown::Options { base_url: url.as_ref(), scope };
    if let Ok(document) = ragmaker_markdown::convert(&html, &options) {
        std::io::stdout().write_all(document.markdown.as_bytes()).unwrap();
    }
}
