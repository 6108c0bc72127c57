//! `throughput FILE...`: the speed of converting pages in memory on one thread, beside that of tokenizing them with
//! `lol_html` and of parsing them with html5ever.

use std::{
    hint::black_box,
    time::{Duration, Instant},
};

use ragmaker_markdown::{Options, Scope, convert, decode};

const ROUNDS: usize = 3;

type Converter<'w> = (&'w str, &'w dyn Fn(&str), Vec<Duration>);

fn main() -> std::io::Result<()> {
    let pages = std::env::args().skip(1).map(std::fs::read).collect::<Result<Vec<_>, _>>()?;
    let pages: Vec<String> = pages.iter().map(|bytes| decode(bytes, None).0.into_owned()).collect();
    let size: usize = pages.iter().map(String::len).sum();
    let with = |scope| move |html: &str| drop(black_box(convert(html, &Options { base_url: None, scope })));
    let html5ever = |html: &str| drop(black_box(html2text::config::plain().parse_html(html.as_bytes())));
    let no_op = |html: &str| {
        let mut rewriter = lol_html::HtmlRewriter::new(lol_html::Settings::new(), |_: &[u8]| ());
        let _ = black_box(rewriter.write(html.as_bytes()).and_then(|()| rewriter.end()));
    };
    let htmd = |html: &str| drop(black_box(htmd::convert(html)));
    let dom_smoothie = |html: &str| {
        let page = dom_smoothie::Readability::new(html, None, None);
        drop(black_box(page.and_then(|mut page| page.parse())));
    };
    let (main, whole) = (with(Scope::Main), with(Scope::Whole));
    let mut ways: [Converter<'_>; 6] = [
        ("lol_html, no-op", &no_op, vec![]),
        ("html5ever, parse", &html5ever, vec![]),
        ("htmd, convert", &htmd, vec![]),
        ("dom_smoothie, main content", &dom_smoothie, vec![]),
        ("ragmaker-markdown, whole", &whole, vec![]),
        ("ragmaker-markdown, main content", &main, vec![]),
    ];
    // The converters take turns, so that other load on the machine affects all of them.
    for _ in 0..ROUNDS {
        for (_, way, took) in &mut ways {
            let start = Instant::now();
            for page in &pages {
                way(page);
            }
            took.push(start.elapsed());
        }
    }
    println!("| {} pages in memory, one thread | MB/s | ms a page |\n|---|---:|---:|", pages.len());
    for (name, _, took) in &mut ways {
        took.sort();
        let best = took[0].as_secs_f64();
        println!("| {name} | {:.1} | {:.2} |", size as f64 / best / 1e6, best * 1e3 / pages.len() as f64);
    }
    Ok(())
}
