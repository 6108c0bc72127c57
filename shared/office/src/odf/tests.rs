//! Texts, presentations and spreadsheets from their `content.xml`.

use super::*;
use crate::package::tests::archive;

fn package(content: &str) -> Package {
    let content = format!("<office:document-content>{content}</office:document-content>");
    Package::open(&archive(&[(CONTENT, content.as_bytes())])).unwrap().unwrap()
}

/// The HTML of a text with these styles and this body.
fn html_of(styles: &str, body: &str) -> String {
    html(&mut package(&format!("{styles}<office:body>{body}</office:body>"))).unwrap()
}

/// The Markdown of a sheet with these rows.
fn sheet_of(rows: &str) -> Result<String, Damage> {
    sheets(&mut package(&format!("<table:table table:name=\"S&amp;T\">{rows}</table:table>")))
}

#[test]
fn white_space_is_one_space_and_spaces_that_are_meant_are_kept() {
    for (body, expected) in [
        ("<text:p>a\n\t  b</text:p>", "<p>a b</p>\n"),
        ("<text:p>a<text:s text:c=\"3\"/>b<text:tab/>c<text:line-break/>d</text:p>", "<p>a   b c<br>d</p>\n"),
        ("<text:p>\u{6f6e} &lt;b&gt; &amp;</text:p>", "<p>\u{6f6e} &lt;b&gt; &amp;</p>\n"),
        ("<text:p/>", ""),
        ("", ""),
    ] {
        assert_eq!(html_of("", body), expected, "{body}");
    }
    // An attribute cannot ask for gigabytes of spaces.
    assert!(html_of("", "<text:p>a<text:s text:c=\"4000000000\"/>b</text:p>").len() < 2_000);
}

#[test]
fn marks_come_from_styles_and_their_ancestors() {
    let style = |name: &str, parent: &str, properties: &str| {
        format!(
            "<style:style style:name=\"{name}\" style:parent-style-name=\"{parent}\"><style:text-properties {properties}/></style:style>"
        )
    };
    let styles = [
        style("Bold", "", "fo:font-weight=\"700\" style:font-name=\"Courier\""),
        style("Thin", "Bold", "fo:font-weight=\"normal\""),
        style("A", "B", ""),
        style("B", "A", "style:text-position=\"-33% 58%\""),
        style("Over", "", "style:text-position=\"super 58%\""),
    ]
    .concat();
    let span = |style: &str| format!("<text:p><text:span text:style-name=\"{style}\">x</text:span></text:p>");
    for (name, expected) in [
        ("Bold", "<p><code><b>x</b></code></p>\n"),
        ("Thin", "<p><code>x</code></p>\n"),
        ("A", "<p><sub>x</sub></p>\n"),
        ("Over", "<p><sup>x</sup></p>\n"),
        ("Unknown", "<p>x</p>\n"),
    ] {
        assert_eq!(html_of(&styles, &span(name)), expected, "{name}");
    }
    // All headings of a style are bold.
    let heading = "<text:h text:style-name=\"Bold\" text:outline-level=\"9\">x</text:h>";
    assert_eq!(html_of(&styles, heading), "<h6>x</h6>\n");
}

#[test]
fn the_place_of_a_text_is_a_word_or_a_share_of_the_height() {
    for (position, expected) in [
        ("super 58%", Shift::Above),
        ("sub", Shift::Below),
        ("33% 58%", Shift::Above),
        ("-5%", Shift::Below),
        ("0% 100%", Shift::None),
        ("", Shift::None),
        ("nan%", Shift::None),
    ] {
        assert_eq!(shift(position), expected, "{position}");
    }
}

#[test]
fn lists_notes_and_hidden_parts() {
    let list = "<text:list-style style:name=\"L\"><text:list-level-style-number text:level=\"1\"/>\
        <text:list-level-style-bullet text:level=\"2\"/></text:list-style>";
    let item = |inside: &str| format!("<text:list-item>{inside}</text:list-item>");
    let inner = format!("<text:list>{}</text:list>", item("<text:p>two</text:p>"));
    let body = format!(
        "<text:list text:style-name=\"L\">{}</text:list>",
        item(&format!("<text:p>one</text:p><text:p>more</text:p>{inner}"))
    );
    let expected = "<ol><li>one<p>more</p><ul><li>two</li></ul>\n</li></ol>\n";
    assert_eq!(html_of(list, &body), expected);
    let note = "<text:p>High<text:note><text:note-citation>1</text:note-citation><text:note-body><text:p>At nine.</text:p>\
        </text:note-body></text:note> water</text:p>";
    assert_eq!(html_of("", note), "<p>High[1] water</p>\n<p>[1] At nine.</p>\n");
    let hidden = "<text:tracked-changes><text:p>gone</text:p></text:tracked-changes><text:p>kept<office:annotation><text:p>a \
        remark</text:p></office:annotation></text:p>";
    assert_eq!(html_of("", hidden), "<p>kept</p>\n");
    let link = "<text:p><text:a xlink:href='https://x.example/\"a'>x</text:a></text:p>";
    assert_eq!(html_of("", link), "<p><a href=\"https://x.example/%22a\">x</a></p>\n");
}

#[test]
fn code_is_kept_line_by_line_and_margins_of_slides_are_left_out() {
    let code = "<text:p text:style-name=\"Preformatted_20_Text\">a  b</text:p><text:p text:style-name=\"Preformatted_20_Text\">c</text:p>";
    assert_eq!(html_of("", code), "<pre><code>a  b\nc\n</code></pre>\n");
    let frame = |class: &str| {
        format!(
            "<draw:frame presentation:class=\"{class}\"><draw:text-box><text:p>x</text:p></draw:text-box></draw:frame>"
        )
    };
    assert_eq!(html_of("", &frame("title")), "<h2>x</h2>\n");
    assert_eq!(html_of("", &frame("page-number")), "");
}

#[test]
fn cells_show_what_the_sheet_shows() {
    let cell = |attributes: &str, text: &str| {
        format!("<table:table-cell {attributes}><text:p>{text}</text:p></table:table-cell>")
    };
    let row = |cells: &str| format!("<table:table-row>{cells}</table:table-row>");
    let rows = [
        row(&(cell("", "day") + &cell("", "a|b"))),
        row(&(cell("office:value-type=\"date\" office:date-value=\"2026-11-24\"", "24.11.")
            + &cell("office:value-type=\"float\" office:value=\"1.25\"", "1,3"))),
        row("<table:table-cell table:number-columns-repeated=\"1000000\"/>"),
        row(&cell("table:number-columns-repeated=\"2\"", "x<text:s/>y")),
    ];
    let expected = "## S&T\n\n| day | a\\|b |\n| --- | --- |\n| 2026-11-24 | 1.25 |\n| x y | x y |\n\n";
    assert_eq!(sheet_of(&rows.concat()).unwrap(), expected);
    assert_eq!(sheet_of("").unwrap(), "## S&T\n\n\n");
}

#[test]
fn a_sheet_that_repeats_a_cell_billions_of_times_is_refused() {
    for rows in [
        "<table:table-row><table:table-cell table:number-columns-repeated=\"4000000000\"><text:p>x</text:p></table:table-cell></table:table-row>",
        "<table:table-row table:number-rows-repeated=\"4000000000\"><table:table-cell><text:p>x</text:p></table:table-cell></table:table-row>",
    ] {
        assert!(matches!(sheet_of(rows), Err(Damage::TooManyCells { sheet }) if sheet == "S&T"));
    }
}
