//! The plain HTML that the special pages share.

use std::fmt::Write;

use super::http::Response;

/// A page with a title and a body; `head` is what else its head contains.
pub(super) fn document(title: &str, head: &str, body: &str) -> String {
    // The icon is given, so that no browser asks for one.
    format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<title>{}</title>\n\
         <link rel=\"icon\" href=\"data:,\">\n{head}</head>\n<body>\n{body}\n</body>\n</html>\n",
        escaped(title)
    )
}

/// The response with such a page.
pub(super) fn page(title: &str, body: &str) -> Response {
    Response::html(document(title, "", body))
}

/// A page with a heading, some text, and then `body`.
pub(super) fn text_page(title: &str, body: &str) -> Response {
    page(title, &format!("<main>\n<h1>{}</h1>\n{}{body}\n</main>", escaped(title), prose(title, 3)))
}

/// A short article about `name`.
pub(super) fn article(name: &str) -> Response {
    let body = format!(
        "<nav><a href=\"/\">All pages</a> <a href=\"/wiki/\">Wiki</a></nav>\n<article>\n<h1>{}</h1>\n{}</article>",
        escaped(name),
        prose(name, 5)
    );
    page(name, &body)
}

pub(super) fn not_found(path: &str) -> Response {
    let body = format!("<h1>Not found</h1>\n<p>There is no page <code>{}</code>.</p>", escaped(path));
    page("Not found", &body).status(404)
}

/// A path of the table with the letters that stand for numbers and names filled in.
pub(super) fn example(path: &str) -> String {
    path.replace("CODE", "404").replace("NAME", "amber").replace("MS", "500").replace('N', "20")
}

/// The list of all pages.
pub(super) fn index(pages: &[(&str, String)]) -> Response {
    let mut rows = String::new();
    for (path, about) in pages {
        let link = example(path);
        let _ = writeln!(
            rows,
            "<tr><td><a href=\"{link}\"><code>{path}</code></a></td><td>{}</td></tr>",
            escaped(about).replace('`', "")
        );
    }
    page("Pages for tests", &format!("<h1>Pages for tests</h1>\n<table>\n{rows}</table>"))
}

/// Paragraphs of plausible sentences, always the same for the same `seed`.
pub(super) fn prose(seed: &str, paragraphs: usize) -> String {
    const SUBJECTS: [&str; 8] = [
        "The harbour office",
        "A tide gauge",
        "The station log",
        "Each survey team",
        "The older archive",
        "This instrument",
        "The coastal network",
        "A careful observer",
    ];
    const VERBS: [&str; 8] =
        ["records", "compares", "describes", "explains", "measures", "confirms", "questions", "summarises"];
    const OBJECTS: [&str; 8] = [
        "the height of the water every six minutes",
        "how the pressure of the air moves the sea",
        "the readings of the neighbouring stations",
        "what the spring tide does to the breakwater",
        "the drift of its own clock",
        "the mean level over nineteen years",
        "a surge that arrived two hours early",
        "the notes that earlier keepers left behind",
    ];
    let mut pick = sequence(seed);
    let mut text = String::new();
    for _ in 0..paragraphs {
        let mut sentence = || format!("{} {} {}.", SUBJECTS[pick(8)], VERBS[pick(8)], OBJECTS[pick(8)]);
        let _ = writeln!(text, "<p>{} {} {} {}</p>", sentence(), sentence(), sentence(), sentence());
    }
    text
}

/// A name of two words, always the same for the same `seed`.
pub(super) fn name(seed: &str) -> String {
    const FIRST: [&str; 8] = ["Amber", "Quiet", "Northern", "Hollow", "Silver", "Early", "Broken", "Distant"];
    const SECOND: [&str; 8] = ["harbour", "current", "lantern", "channel", "meadow", "signal", "island", "ledger"];
    let mut pick = sequence(seed);
    format!("{} {}", FIRST[pick(8)], SECOND[pick(8)])
}

/// Numbers below a bound, from a linear congruential generator (Knuth, MMIX) seeded with `seed`.
fn sequence(seed: &str) -> impl FnMut(u64) -> usize {
    let mut state = seed.bytes().fold(0, |state: u64, byte| state.wrapping_mul(31).wrapping_add(byte.into()));
    move |bound| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((state >> 33) % bound) as usize
    }
}

pub(super) fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}
