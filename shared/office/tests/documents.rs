//! Office documents and books as Markdown.

use std::{
    fs::{self, File},
    io::Write,
    path::Path,
};

use ragmaker_office::{OfficeDocument, OfficeFormat};
use ragmaker_text::ByteSource;
use ragmaker_tool::Error;
use tempfile::TempDir;
use zip::{ZipArchive, ZipWriter, write::SimpleFileOptions};

fn archive(path: &Path, parts: &[(&str, &str)]) {
    let mut zip = ZipWriter::new(File::create(path).unwrap());
    for (name, content) in parts {
        zip.start_file(*name, SimpleFileOptions::default()).unwrap();
        zip.write_all(content.as_bytes()).unwrap();
    }
    zip.finish().unwrap();
}

/// The converted file at `path`; `None` if it is not a document.
fn read(path: &Path) -> Result<Option<(OfficeFormat, String)>, Error> {
    let source = ByteSource::file(File::open(path).unwrap()).unwrap();
    let Some(document) = OfficeDocument::open(&source).unwrap() else { return Ok(None) };
    let format = document.format();
    let text = document.convert(&source, None).map_err(|failure| failure.at("a.docx"))?;
    let mut bytes = vec![0; usize::try_from(text.size()).unwrap()];
    text.read_at(0, &mut bytes).unwrap();
    Ok(Some((format, String::from_utf8(bytes).unwrap())))
}

/// Reads an archive of `parts`, which has to be a document of the MIME type, and gives its text.
fn text_of(parts: &[(&str, &str)], mime_type: &str) -> String {
    let folder = TempDir::new().unwrap();
    // The name says nothing.
    let path = folder.path().join("document.bin");
    archive(&path, parts);
    let (format, text) = read(&path).unwrap().unwrap();
    assert_eq!(format.mime_type(), mime_type);
    text
}

const DOCX: &str = "application/vnd.openxmlformats-officedocument.wordprocessingml.document";
const W: &str = "xmlns:w=\"http://schemas.openxmlformats.org/wordprocessingml/2006/main\" \
                 xmlns:r=\"http://schemas.openxmlformats.org/officeDocument/2006/relationships\"";

fn docx(body: &str) -> String {
    let document = format!("<?xml version=\"1.0\"?><w:document {W}><w:body>{body}</w:body></w:document>");
    let styles = format!(
        "<w:styles {W}><w:style w:styleId=\"2\"><w:name w:val=\"heading 2\"/><w:rPr><w:i/></w:rPr></w:style>\
         <w:style w:styleId=\"Titel\"><w:name w:val=\"Title\"/></w:style></w:styles>"
    );
    let numbering = format!(
        "<w:numbering {W}><w:abstractNum w:abstractNumId=\"7\"><w:lvl w:ilvl=\"0\"><w:numFmt w:val=\"decimal\"/></w:lvl>\
         <w:lvl w:ilvl=\"1\"><w:numFmt w:val=\"bullet\"/></w:lvl></w:abstractNum>\
         <w:num w:numId=\"1\"><w:abstractNumId w:val=\"7\"/></w:num></w:numbering>"
    );
    let links = "<Relationships><Relationship Id=\"r1\" Target=\"https://example.org/?a=1&amp;b=2\"/></Relationships>";
    let notes = format!(
        "<w:footnotes {W}><w:footnote w:id=\"-1\"><w:p/></w:footnote>\
         <w:footnote w:id=\"1\"><w:p><w:r><w:t>A note.</w:t></w:r></w:p></w:footnote></w:footnotes>"
    );
    text_of(
        &[
            ("[Content_Types].xml", "<Types/>"),
            ("word/document.xml", &document),
            ("word/styles.xml", &styles),
            ("word/numbering.xml", &numbering),
            ("word/_rels/document.xml.rels", links),
            ("word/footnotes.xml", &notes),
        ],
        DOCX,
    )
}

#[test]
fn word_documents_are_converted() {
    let run = |text: &str| format!("<w:r><w:t xml:space=\"preserve\">{text}</w:t></w:r>");
    let paragraph = |properties: &str, text: &str| format!("<w:p><w:pPr>{properties}</w:pPr>{text}</w:p>");
    let item = |level: usize, text: &str| {
        let properties = format!("<w:numPr><w:ilvl w:val=\"{level}\"/><w:numId w:val=\"1\"/></w:numPr>");
        paragraph(&properties, &run(text))
    };
    let cell = |text: &str| format!("<w:tc>{}</w:tc>", paragraph("", &run(text)));
    let row = |a: &str, b: &str| format!("<w:tr>{}{}</w:tr>", cell(a), cell(b));
    let body = [
        paragraph("<w:pStyle w:val=\"Titel\"/>", &run("潮汐 &amp; tides")),
        paragraph("<w:pStyle w:val=\"2\"/>", &run("Spring")),
        paragraph(
            "<w:tabs><w:tab w:val=\"left\"/></w:tabs>",
            "<w:r><w:t xml:space=\"preserve\">plain </w:t></w:r><w:r><w:rPr><w:b/></w:rPr><w:t>bold</w:t></w:r>\
             <w:r><w:rPr><w:b w:val=\"0\"/></w:rPr><w:t xml:space=\"preserve\"> &lt;not a tag&gt; </w:t></w:r>\
             <w:hyperlink r:id=\"r1\"><w:r><w:t>link</w:t></w:r></w:hyperlink>\
             <w:del><w:r><w:delText>deleted</w:delText></w:r></w:del>\
             <w:moveFrom><w:r><w:t>moved away</w:t></w:r></w:moveFrom>\
             <w:r><w:footnoteReference w:id=\"1\"/></w:r>",
        ),
        item(0, "one"),
        item(1, "within"),
        item(0, "two"),
        format!("<w:tbl>{}{}</w:tbl>", row("Port", "m"), row("Brest", "6.9")),
    ]
    .concat();
    let text = docx(&body);
    for expected in [
        "# 潮汐 & tides\n",
        "## Spring\n",
        "plain **bold** \\<not a tag> [link](https://example.org/?a=1&b=2)",
        "[1]",
        "1. one\n",
        "2. two\n",
        "| Brest | 6.9 |",
        "A note.",
    ] {
        assert!(text.contains(expected), "{expected:?} is not in {text:?}");
    }
    assert!(text.contains("- within") || text.contains("* within"), "{text}");
    assert!(!text.contains("deleted") && !text.contains("moved away"), "{text}");
}

#[test]
fn formatting_that_changes_the_meaning_is_kept_and_that_of_a_heading_is_not() {
    let run = |properties: &str, text: &str| {
        format!("<w:r><w:rPr>{properties}</w:rPr><w:t xml:space=\"preserve\">{text}</w:t></w:r>")
    };
    // Pandoc writes the properties of a list before the style.
    let item = "<w:numPr><w:ilvl w:val=\"0\"/><w:numId w:val=\"1\"/></w:numPr><w:pStyle w:val=\"Compact\"/>";
    let body = [
        format!(
            "<w:p><w:pPr><w:pStyle w:val=\"2\"/></w:pPr>{}{}</w:p>",
            run("", "Spring "),
            run("<w:i w:val=\"0\"/>", "tides")
        ),
        format!("<w:p><w:pPr>{item}</w:pPr>{}</w:p>", run("", "one")),
        format!(
            "<w:p>{}{}{}{}</w:p>",
            run("", "2"),
            run("<w:vertAlign w:val=\"superscript\"/>", "7"),
            run("", " of H"),
            run("<w:vertAlign w:val=\"subscript\"/>", "2")
        ),
    ]
    .concat();
    let text = docx(&body);
    assert!(text.starts_with("## Spring tides\n\n1. one\n\n2<sup>7</sup> of H<sub>2</sub>\n"), "{text}");

    let mime_type = "application/vnd.oasis.opendocument.text";
    let style = |name: &str, properties: &str| {
        format!("<style:style style:name=\"{name}\"><style:text-properties {properties}/></style:style>")
    };
    let styles = [
        style("H", "fo:font-style=\"italic\""),
        style("U", "style:text-position=\"super 58%\""),
        style("D", "style:text-position=\"-33% 58%\""),
    ]
    .concat();
    let content = format!(
        "<office:document-content xmlns:office=\"o\" xmlns:style=\"s\" xmlns:text=\"t\" xmlns:fo=\"f\"><office:automatic-styles>\
         {styles}</office:automatic-styles><office:body><office:text><text:h text:style-name=\"H\" text:outline-level=\"2\">\
         Spring</text:h><text:p>2<text:span text:style-name=\"U\">7</text:span> of H<text:span text:style-name=\"D\">2\
         </text:span></text:p></office:text></office:body></office:document-content>"
    );
    let text = text_of(&[("mimetype", mime_type), ("content.xml", &content)], mime_type);
    assert_eq!(text, "## Spring\n\n2<sup>7</sup> of H<sub>2</sub>\n");
}

#[test]
fn code_of_slides_is_code() {
    let run = |properties: &str, text: &str| format!("<a:r><a:rPr{properties}</a:rPr><a:t>{text}</a:t></a:r>");
    let code = "><a:latin typeface=\"Courier New\"/>";
    let none = "<a:pPr><a:buNone/></a:pPr>";
    let paragraphs = [
        format!("<a:p>{none}{}{}</a:p>", run(">", "Call "), run(code, "main")),
        format!("<a:p>{none}{}<a:br/>{}</a:p>", run(code, "fn main() {"), run(code, "    a &lt; b")),
        format!("<a:p>{none}{}</a:p>", run(code, "}")),
        format!("<a:p>{}{}</a:p>", run(" b=\"1\">", "2"), run(" baseline=\"30000\">", "7")),
    ]
    .concat();
    let slide = format!(
        "<p:sld xmlns:p=\"p\" xmlns:a=\"a\"><p:sp><p:nvSpPr><p:nvPr><p:ph idx=\"1\"/></p:nvPr></p:nvSpPr>\
         <p:txBody>{paragraphs}</p:txBody></p:sp></p:sld>"
    );
    let text = text_of(
        &[
            (
                "ppt/presentation.xml",
                "<p:presentation xmlns:p=\"p\" xmlns:r=\"r\"><p:sldIdLst><p:sldId id=\"256\" r:id=\"a\"/></p:sldIdLst></p:presentation>",
            ),
            (
                "ppt/_rels/presentation.xml.rels",
                "<Relationships><Relationship Id=\"a\" Target=\"slides/slide1.xml\"/></Relationships>",
            ),
            ("ppt/slides/slide1.xml", &slide),
        ],
        "application/vnd.openxmlformats-officedocument.presentationml.presentation",
    );
    let expected = "Call `main`\n\n```\nfn main() {\n    a < b\n}\n```\n\n- **2**<sup>7</sup>\n";
    assert_eq!(text, expected);
}

#[test]
fn presentations_are_converted() {
    let shape = |kind: &str, paragraphs: &str| {
        format!("<p:sp><p:nvSpPr><p:nvPr><p:ph {kind}/></p:nvPr></p:nvSpPr><p:txBody>{paragraphs}</p:txBody></p:sp>")
    };
    let paragraph =
        |level: usize, text: &str| format!("<a:p><a:pPr lvl=\"{level}\"/><a:r><a:t>{text}</a:t></a:r></a:p>");
    let slide = |shapes: &str| format!("<p:sld xmlns:p=\"p\" xmlns:a=\"a\"><p:cSld>{shapes}</p:cSld></p:sld>");
    let first = slide(
        &[
            shape("type=\"title\"", &paragraph(0, "High &amp; low")),
            shape("idx=\"1\"", &(paragraph(0, "point") + &paragraph(1, "part of it"))),
            shape("type=\"sldNum\"", &paragraph(0, "17")),
        ]
        .concat(),
    );
    let table = "<p:graphicFrame><a:tbl><a:tr><a:tc><a:txBody><a:p><a:r><a:t>港</a:t></a:r></a:p></a:txBody></a:tc>\
                 <a:tc><a:txBody><a:p><a:r><a:t>m</a:t></a:r></a:p></a:txBody></a:tc></a:tr></a:tbl></p:graphicFrame>";
    let text = text_of(
        &[
            (
                "ppt/presentation.xml",
                "<p:presentation xmlns:p=\"p\" xmlns:r=\"r\"><p:sldIdLst><p:sldId id=\"256\" r:id=\"b\"/>\
                 <p:sldId id=\"257\" r:id=\"a\"/></p:sldIdLst></p:presentation>",
            ),
            (
                "ppt/_rels/presentation.xml.rels",
                "<Relationships><Relationship Id=\"a\" Target=\"slides/slide1.xml\"/>\
                 <Relationship Id=\"b\" Target=\"/ppt/slides/slide2.xml\"/></Relationships>",
            ),
            ("ppt/slides/slide1.xml", &slide(table)),
            ("ppt/slides/slide2.xml", &first),
            (
                "ppt/slides/_rels/slide2.xml.rels",
                "<Relationships><Relationship Id=\"n\" Target=\"../notesSlides/notesSlide1.xml\"/></Relationships>",
            ),
            ("ppt/notesSlides/notesSlide1.xml", &slide(&shape("type=\"body\"", &paragraph(0, "Say it slowly.")))),
        ],
        "application/vnd.openxmlformats-officedocument.presentationml.presentation",
    );
    let places: Vec<_> = ["## High & low", "point", "part of it", "Notes", "Say it slowly.", "港"]
        .iter()
        .map(|expected| text.find(expected).unwrap_or_else(|| panic!("{expected:?} is not in {text:?}")))
        .collect();
    assert!(places.is_sorted(), "{text}");
    assert!(!text.contains("17"), "{text}");
    // Notes are not a list and have no heading in the outline.
    assert!(text.contains("\n> Notes:\n>\n> Say it slowly.\n"), "{text}");
}

#[test]
fn notes_of_slides_are_quotations() {
    let mime_type = "application/vnd.oasis.opendocument.presentation";
    let page = |title: &str, notes: &str| {
        format!(
            "<draw:page><draw:frame presentation:class=\"title\"><draw:text-box><text:p>{title}</text:p></draw:text-box>\
             </draw:frame><presentation:notes><draw:page-thumbnail/><draw:frame presentation:class=\"notes\">\
             <draw:text-box>{notes}</draw:text-box></draw:frame></presentation:notes></draw:page>"
        )
    };
    let pages = page("High", "<text:p>Say it slowly.</text:p><text:p>Then wait.</text:p>") + &page("Low", "");
    let content = format!(
        "<office:document-content xmlns:office=\"o\" xmlns:draw=\"d\" xmlns:text=\"t\" xmlns:presentation=\"p\">\
         <office:body><office:presentation>{pages}</office:presentation></office:body></office:document-content>"
    );
    let text = text_of(&[("mimetype", mime_type), ("content.xml", &content)], mime_type);
    // Programs write empty notes for every slide, which are none.
    assert_eq!(text, "## High\n\n> Notes:\n>\n> Say it slowly.\n>\n> Then wait.\n\n## Low\n");
}

/// The parts of a workbook with one sheet.
fn workbook(sheet: &str) -> Vec<(&str, &str)> {
    vec![
        (
            "_rels/.rels",
            "<Relationships xmlns=\"http://schemas.openxmlformats.org/package/2006/relationships\">\
             <Relationship Id=\"r1\" Target=\"xl/workbook.xml\" \
             Type=\"http://schemas.openxmlformats.org/officeDocument/2006/relationships/officeDocument\"/></Relationships>",
        ),
        (
            "xl/workbook.xml",
            "<workbook xmlns=\"http://schemas.openxmlformats.org/spreadsheetml/2006/main\" \
             xmlns:r=\"http://schemas.openxmlformats.org/officeDocument/2006/relationships\">\
             <sheets><sheet name=\"潮位\" sheetId=\"1\" r:id=\"r1\"/></sheets></workbook>",
        ),
        (
            "xl/_rels/workbook.xml.rels",
            "<Relationships xmlns=\"http://schemas.openxmlformats.org/package/2006/relationships\">\
             <Relationship Id=\"r1\" Target=\"worksheets/sheet1.xml\" \
             Type=\"http://schemas.openxmlformats.org/officeDocument/2006/relationships/worksheet\"/></Relationships>",
        ),
        (
            "xl/styles.xml",
            "<styleSheet xmlns=\"http://schemas.openxmlformats.org/spreadsheetml/2006/main\">\
             <cellXfs><xf numFmtId=\"0\"/><xf numFmtId=\"14\"/></cellXfs></styleSheet>",
        ),
        (
            "xl/sharedStrings.xml",
            "<sst xmlns=\"http://schemas.openxmlformats.org/spreadsheetml/2006/main\">\
             <si><t>Port</t></si><si><t>a|b\nc</t></si></sst>",
        ),
        ("xl/worksheets/sheet1.xml", sheet),
    ]
}

fn sheet(rows: &str) -> String {
    format!(
        "<worksheet xmlns=\"http://schemas.openxmlformats.org/spreadsheetml/2006/main\">\
         <sheetData>{rows}</sheetData></worksheet>"
    )
}

#[test]
fn workbooks_are_converted() {
    let xlsx = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet";
    let rows = "<row r=\"2\"><c r=\"B2\" t=\"s\"><v>0</v></c><c r=\"D2\" t=\"inlineStr\"><is><t>date</t></is></c></row>\
                <row r=\"9\"><c r=\"B9\" t=\"s\"><v>1</v></c><c r=\"D9\" s=\"1\"><v>45000</v></c></row>\
                <row r=\"10\"><c r=\"B10\"><v>6.9</v></c></row>";
    let text = text_of(&workbook(&sheet(rows)), xlsx);
    assert_eq!(text, "## 潮位\n\n| Port | date |\n| --- | --- |\n| a\\|b<br>c | 2023-03-15 |\n| 6.9 | |\n\n");
    // In each corner of the largest sheet one cell: what is between them takes no memory.
    let rows = "<row r=\"1\"><c r=\"A1\"><v>1</v></c></row><row r=\"1048576\"><c r=\"XFD1048576\"><v>2</v></c></row>";
    assert!(text_of(&workbook(&sheet(rows)), xlsx).ends_with("| 1 | |\n| --- | --- |\n| | 2 |\n\n"));
}

#[test]
fn books_are_converted() {
    let chapter = |text: &str| format!("<html xmlns=\"http://www.w3.org/1999/xhtml\"><body>{text}</body></html>");
    let text = text_of(
        &[
            ("mimetype", "application/epub+zip"),
            (
                "META-INF/container.xml",
                "<container><rootfiles><rootfile full-path=\"OEBPS/book.opf\"/></rootfiles></container>",
            ),
            (
                "OEBPS/book.opf",
                "<package><manifest><item id=\"b\" href=\"second.xhtml\"/><item id=\"a\" href=\"%E7%AC%AC%201.xhtml\"/>\
                 <item id=\"c\" href=\"cover.xhtml\"/></manifest>\
                 <spine><itemref idref=\"c\"/><itemref idref=\"a\"/><itemref idref=\"b\"/></spine></package>",
            ),
            ("OEBPS/cover.xhtml", &chapter("<img src=\"cover.png\"/>")),
            ("OEBPS/第 1.xhtml", &chapter("<h1>潮</h1><p>Two <b>high</b> waters.</p>")),
            ("OEBPS/second.xhtml", &chapter("<h1>Moon</h1><p>It pulls.</p>")),
        ],
        "application/epub+zip",
    );
    let (first, second) = (text.find("# 潮\n\nTwo **high** waters."), text.find("# Moon\n\nIt pulls."));
    assert!(first.is_some() && first < second, "{text}");
}

#[test]
fn damaged_documents_are_errors() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("a.docx");
    let code = || read(&path).unwrap_err().code();
    archive(&path, &[("word/document.xml", "<w:document><w:body><w:p></w:document>")]);
    assert_eq!(code(), "DOCUMENT_UNREADABLE");
    archive(&path, &[("META-INF/container.xml", "<container/>")]);
    assert_eq!(code(), "DOCUMENT_UNREADABLE");
    // Of a few kilobytes, more than is taken; in each kind of document.
    let bomb = folder.path().join("bomb");
    archive(&bomb, &[("bomb", &" ".repeat((64 << 20) + 1))]);
    for (name, part) in [
        ("other", "word/document.xml"),
        ("ppt/presentation.xml", "ppt/_rels/presentation.xml.rels"),
        ("xl/workbook.xml", "xl/worksheets/sheet1.xml"),
        ("other", "META-INF/container.xml"),
    ] {
        let mut zip = ZipWriter::new(File::create(&path).unwrap());
        zip.start_file(name, SimpleFileOptions::default()).unwrap();
        zip.write_all(b"<x/>").unwrap();
        let mut packed = ZipArchive::new(File::open(&bomb).unwrap()).unwrap();
        zip.raw_copy_file_rename(packed.by_index(0).unwrap(), part).unwrap();
        zip.finish().unwrap();
        assert!(path.metadata().unwrap().len() < 100_000);
        let error = read(&path).unwrap_err();
        assert_eq!(error.code(), "DOCUMENT_UNREADABLE", "{part}: {error}");
        assert!(error.message().contains("unpacks to more"), "{error}");
    }
    // Half of one is none, and another archive is not one at all.
    archive(&path, &[("word/document.xml", &"<w:p/>".repeat(99))]);
    let bytes = fs::read(&path).unwrap();
    fs::write(&path, &bytes[..bytes.len() / 2]).unwrap();
    assert!(read(&path).unwrap().is_none());
    archive(&path, &[("readme.txt", "text")]);
    assert!(read(&path).unwrap().is_none());
    archive(&path, &[("word/document.xml", "<w:document/>")]);
    assert_eq!(read(&path).unwrap().unwrap().1, "");
}
