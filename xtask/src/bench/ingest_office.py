"""Office documents of known structure, and how much of it converters keep.

    ingest_office.py make FOLDER               writes documents and FOLDER/truth.json
    ingest_office.py score FOLDER OUTPUT       OUTPUT/NAME.md of each document; prints one JSON line per document
    ingest_office.py markitdown FILE           converts one file with markitdown, as its command line does
    ingest_office.py peer FOLDER OUTPUT        converts all documents with markitdown, in one process

The structure of a document is the multiset of its headings (with their level, where the format has levels), items
of lists, cells of tables, links and blocks of code. F1 is that of the multisets, the mean is over documents.
"""

import collections
import json
import pathlib
import random
import sys

WORDS = {
    "en": "tide gauge water spring neap harbour chart moon level station record high low current depth".split(),
    "ja": "潮位 観測 港湾 満潮 干潮 月齢 海面 記録 水深 潮流".split(),
}


class Plan:
    """What a document has, block by block."""

    def __init__(self, seed):
        self.random = random.Random(seed)
        self.language = "ja" if seed % 3 == 2 else "en"

    def words(self, least, most):
        return " ".join(self.random.choice(WORDS[self.language]) for _ in range(self.random.randint(least, most)))

    def unique(self, least=2, most=4):
        return f"{self.words(least, most)} {self.random.randint(1000, 9999)}"

    def blocks(self, sections):
        blocks = [("title", self.unique())]
        for _ in range(sections):
            blocks.append(("heading", 1, self.unique()))
            blocks.append(("text", self.words(20, 60)))
            blocks.append(("link", self.unique(), f"https://{self.random.choice('abc')}.example/{self.random.randint(1, 999)}?a=1&b=2"))
            blocks.append(("heading", 2, self.unique()))
            blocks.append(("list", self.random.random() < 0.5, [(self.random.choice([0, 0, 1]) if n else 0, self.unique()) for n in range(5)]))
            blocks.append(("table", [[self.unique(1, 2) for _ in range(3)] for _ in range(4)]))
            blocks.append(("code", [f"let depth_{self.random.randint(1, 99)} = gauge(\"{self.random.randint(1, 99)}\");", "if depth > 3 {", "    warn();", "}"]))
        return blocks


def structure(blocks, levels=True, code=True, links=True):
    """The items that a conversion of these blocks has."""
    items = []
    for block in blocks:
        match block:
            case ("title", text):
                items.append(["heading", 1 if levels else 0, text])
            case ("heading", level, text):
                items.append(["heading", level if levels else 0, text])
            case ("list", _, entries):
                items += [["item", text] for _, text in entries]
            case ("table", rows):
                items += [["cell", cell] for row in rows for cell in row]
            case ("link", text, url) if links:
                items.append(["link", text, url])
            case ("code", lines) if code:
                items.append(["code", "\n".join(lines)])
    return items


def make_docx(path, blocks):
    import docx
    from docx.enum.style import WD_STYLE_TYPE
    from docx.oxml import OxmlElement
    from docx.oxml.ns import qn

    document = docx.Document()
    style = document.styles.add_style("Source Code", WD_STYLE_TYPE.PARAGRAPH)
    style.font.name = "Courier New"
    for block in blocks:
        match block:
            case ("title", text):
                document.add_heading(text, 0)
            case ("heading", level, text):
                document.add_heading(text, level)
            case ("text", text):
                document.add_paragraph(text).add_run(" bold").bold = True
            case ("list", ordered, entries):
                for level, text in entries:
                    name = ("List Number" if ordered else "List Bullet") + (" 2" if level else "")
                    document.add_paragraph(text, style=name)
            case ("table", rows):
                table = document.add_table(len(rows), len(rows[0]))
                for row, cells in zip(rows, table.rows):
                    for text, cell in zip(row, cells.cells):
                        cell.text = text
            case ("link", text, url):
                paragraph = document.add_paragraph("See ")
                identity = document.part.relate_to(url, "http://schemas.openxmlformats.org/officeDocument/2006/relationships/hyperlink", is_external=True)
                link, run, inner = OxmlElement("w:hyperlink"), OxmlElement("w:r"), OxmlElement("w:t")
                link.set(qn("r:id"), identity)
                inner.text = text
                run.append(inner)
                link.append(run)
                paragraph._p.append(link)
            case ("code", lines):
                for line in lines:
                    document.add_paragraph(line, style="Source Code")
    document.save(path)


def make_pptx(path, blocks):
    import pptx
    from pptx.util import Inches

    deck = pptx.Presentation()
    slide = None
    for block in blocks:
        match block:
            case ("title", text):
                slide = deck.slides.add_slide(deck.slide_layouts[0])
                slide.shapes.title.text = text
            case ("heading", _, text):
                slide = deck.slides.add_slide(deck.slide_layouts[1])
                slide.shapes.title.text = text
            case ("list", _, entries):
                frame = slide.placeholders[1].text_frame
                for index, (level, text) in enumerate(entries):
                    paragraph = frame.paragraphs[0] if index == 0 else frame.add_paragraph()
                    paragraph.text, paragraph.level = text, level
                slide.notes_slide.notes_text_frame.text = "notes of the speaker"
            case ("table", rows):
                table = slide.shapes.add_table(len(rows), len(rows[0]), Inches(1), Inches(4), Inches(6), Inches(2)).table
                for r, row in enumerate(rows):
                    for c, text in enumerate(row):
                        table.cell(r, c).text = text
            case ("link", text, url):
                run = slide.shapes.add_textbox(Inches(1), Inches(6), Inches(6), Inches(1)).text_frame.paragraphs[0].add_run()
                run.text = text
                run.hyperlink.address = url
    deck.save(path)


def make_xlsx(path, blocks):
    import openpyxl

    book = openpyxl.Workbook()
    book.remove(book.active)
    for index, block in enumerate(blocks):
        if block[0] == "table":
            sheet = book.create_sheet(block_title(blocks, index))
            for row in block[1]:
                sheet.append(row)
    book.save(path)


def block_title(blocks, index):
    """The heading above a table: the name of its sheet."""
    above = [block[2] for block in blocks[:index] if block[0] == "heading"]
    return above[-1][:31]


def make_odf(path, blocks, kind):
    from odf import draw, opendocument, presentation, style, table, text

    if kind == "odt":
        document = opendocument.OpenDocumentText()
        into = document.text
        for name in ("Title", "Preformatted_20_Text"):
            document.styles.addElement(style.Style(name=name, family="paragraph"))
        for ordered in (False, True):
            listed = text.ListStyle(name="Numbers" if ordered else "Bullets")
            for level in (1, 2):
                listed.addElement(text.ListLevelStyleNumber(level=level, numformat="1") if ordered else text.ListLevelStyleBullet(level=level, bulletchar="•"))
            document.automaticstyles.addElement(listed)
    elif kind == "odp":
        document = opendocument.OpenDocumentPresentation()
        layout = style.PageLayout(name="L")
        document.automaticstyles.addElement(layout)
        document.masterstyles.addElement(style.MasterPage(name="M", pagelayoutname=layout))
        into = None
    else:
        document = opendocument.OpenDocumentSpreadsheet()

    def listed(ordered, entries):
        outer = text.List(stylename="Numbers" if ordered else "Bullets") if kind == "odt" else text.List()
        item = None
        inner = None
        for level, said in entries:
            if level == 0:
                item, inner = text.ListItem(), None
                item.addElement(text.P(text=said))
                outer.addElement(item)
            else:
                if inner is None:
                    inner = text.List()
                    item.addElement(inner)
                entry = text.ListItem()
                entry.addElement(text.P(text=said))
                inner.addElement(entry)
        return outer

    def tabled(rows, name):
        made = table.Table(name=name)
        made.addElement(table.TableColumn(numbercolumnsrepeated=len(rows[0])))
        for row in rows:
            line = table.TableRow()
            for said in row:
                cell = table.TableCell(valuetype="string") if kind == "ods" else table.TableCell()
                cell.addElement(text.P(text=said))
                line.addElement(cell)
            made.addElement(line)
        return made

    def frame(element, role=None):
        box = draw.TextBox()
        box.addElement(element)
        made = draw.Frame(width="20cm", height="5cm", x="1cm", y="1cm")
        if role:
            made.setAttrNS("urn:oasis:names:tc:opendocument:xmlns:presentation:1.0", "class", role)
        made.addElement(box)
        return made

    for index, block in enumerate(blocks):
        if kind == "ods":
            if block[0] == "table":
                document.spreadsheet.addElement(tabled(block[1], block_title(blocks, index)))
            continue
        if kind == "odp" and block[0] in ("title", "heading"):
            into = draw.Page(masterpagename="M")
            document.presentation.addElement(into)
            into.addElement(frame(text.P(text=block[-1]), "title"))
            continue
        match block:
            case ("title", said):
                into.addElement(text.P(text=said, stylename="Title"))
            case ("heading", level, said):
                into.addElement(text.H(text=said, outlinelevel=level))
            case ("text", said):
                element = text.P(text=said)
                into.addElement(frame(element) if kind == "odp" else element)
            case ("list", ordered, entries):
                made = listed(ordered, entries)
                into.addElement(frame(made, "outline") if kind == "odp" else made)
            case ("table", rows):
                made = tabled(rows, f"T{index}")
                if kind == "odp":
                    holder = draw.Frame(width="20cm", height="5cm", x="1cm", y="8cm")
                    holder.addElement(made)
                    made = holder
                into.addElement(made)
            case ("link", said, url):
                element = text.P(text="See ")
                link = text.A(href=url, type="simple")
                link.addText(said)
                element.addElement(link)
                into.addElement(frame(element) if kind == "odp" else element)
            case ("code", lines) if kind == "odt":
                for line in lines:
                    element = text.P(stylename="Preformatted_20_Text")
                    spaces = len(line) - len(line.lstrip())
                    if spaces:
                        element.addElement(text.S(c=spaces))
                    element.addText(line.lstrip())
                    into.addElement(element)
    document.save(str(path))


def html_of(blocks):
    import html

    parts = []
    for block in blocks:
        match block:
            case ("title", said):
                parts.append(f"<h1>{html.escape(said)}</h1>")
            case ("heading", level, said):
                parts.append(f"<h{level}>{html.escape(said)}</h{level}>")
            case ("text", said):
                parts.append(f"<p>{html.escape(said)}</p>")
            case ("list", ordered, entries):
                tag = "ol" if ordered else "ul"
                parts.append(f"<{tag}>" + "".join(f"<li>{html.escape(said)}</li>" for _, said in entries) + f"</{tag}>")
            case ("table", rows):
                cells = lambda row, tag: "<tr>" + "".join(f"<{tag}>{html.escape(said)}</{tag}>" for said in row) + "</tr>"
                parts.append("<table>" + cells(rows[0], "th") + "".join(cells(row, "td") for row in rows[1:]) + "</table>")
            case ("link", said, url):
                parts.append(f'<p>See <a href="{html.escape(url)}">{html.escape(said)}</a></p>')
            case ("code", lines):
                parts.append("<pre><code>" + html.escape("\n".join(lines)) + "</code></pre>")
    return "".join(parts)


def make_epub(path, blocks):
    from ebooklib import epub

    book = epub.EpubBook()
    book.set_identifier("id")
    book.set_title("book")
    book.set_language("en")
    chapter = epub.EpubHtml(title="chapter", file_name="chapter.xhtml", lang="en")
    chapter.content = f"<html><body>{html_of(blocks)}</body></html>"
    book.add_item(chapter)
    book.add_item(epub.EpubNcx())
    book.spine = [chapter]
    epub.write_epub(str(path), book)


def make_ipynb(path, blocks):
    cells = []
    for block in blocks:
        match block:
            case ("title", said):
                source = f"# {said}"
            case ("heading", level, said):
                source = f"{'#' * level} {said}"
            case ("text", said):
                source = said
            case ("list", ordered, entries):
                source = "\n".join(f"{'   ' * level}{'1.' if ordered else '-'} {said}" for level, said in entries)
            case ("table", rows):
                line = lambda row: "| " + " | ".join(row) + " |"
                source = "\n".join([line(rows[0]), line(["---"] * len(rows[0]))] + [line(row) for row in rows[1:]])
            case ("link", said, url):
                source = f"See [{said}]({url})"
            case ("code", lines):
                cells.append({"cell_type": "code", "metadata": {}, "execution_count": 1, "outputs": [], "source": [line + "\n" for line in lines[:-1]] + lines[-1:]})
                continue
        cells.append({"cell_type": "markdown", "metadata": {}, "source": source.splitlines(keepends=True)})
    notebook = {"nbformat": 4, "nbformat_minor": 5, "metadata": {"kernelspec": {"language": "python", "name": "p", "display_name": "p"}}, "cells": cells}
    pathlib.Path(path).write_text(json.dumps(notebook), encoding="utf-8")


def make(folder):
    truth = {}
    for seed in range(3):
        for kind in ("docx", "pptx", "xlsx", "odt", "odp", "ods", "epub", "ipynb"):
            blocks = Plan(seed * 100 + len(kind) + seed).blocks(4)
            name = f"{kind}-{seed}.{kind}"
            path = folder / name
            if kind == "docx":
                make_docx(path, blocks)
                items = structure(blocks)
            elif kind == "pptx":
                # A title has a slide of its own; a slide has no levels and no code.
                make_pptx(path, blocks)
                items = structure(blocks, levels=False, code=False)
            elif kind in ("xlsx", "ods"):
                (make_xlsx(path, blocks) if kind == "xlsx" else make_odf(path, blocks, kind))
                tables = [(index, block) for index, block in enumerate(blocks) if block[0] == "table"]
                items = [["heading", 0, block_title(blocks, index)] for index, _ in tables]
                items += [["cell", cell] for _, block in tables for row in block[1] for cell in row]
            elif kind in ("odt", "odp"):
                make_odf(path, blocks, kind)
                items = structure(blocks, levels=kind == "odt", code=kind == "odt")
            elif kind == "epub":
                make_epub(path, blocks)
                items = structure(blocks)
            else:
                make_ipynb(path, blocks)
                items = structure(blocks)
            truth[name] = items
    (folder / "truth.json").write_text(json.dumps(truth, ensure_ascii=False), encoding="utf-8")


def inline(token):
    return "".join("\n" if child.type in ("softbreak", "hardbreak") else child.content for child in token.children or []).strip()


def parsed(markdown, levels):
    from markdown_it import MarkdownIt

    items = []
    tokens = MarkdownIt("commonmark").enable(["table"]).parse(markdown)
    opened = []
    for token in tokens:
        if token.nesting == 1:
            opened.append(token)
        elif token.nesting == -1:
            opened.pop()
        elif token.type == "inline":
            around = opened[-1]
            said = inline(token)
            for index, child in enumerate(token.children or []):
                if child.type == "link_open":
                    text = []
                    for after in token.children[index + 1:]:
                        if after.type == "link_close":
                            break
                        text.append(after.content)
                    items.append(["link", "".join(text), child.attrGet("href")])
            if around.type == "heading_open":
                items.append(["heading", int(around.tag[1]) if levels else 0, said])
            elif around.type in ("th_open", "td_open"):
                if said:
                    items.append(["cell", said])
            elif len(opened) > 1 and opened[-2].type == "list_item_open":
                items.append(["item", said])
        elif token.type in ("fence", "code_block"):
            items.append(["code", token.content.rstrip("\n")])
    return items


def score(folder, output):
    truth = json.loads((folder / "truth.json").read_text(encoding="utf-8"))
    for name, expected in truth.items():
        path = output / (name + ".md")
        markdown = path.read_text(encoding="utf-8") if path.exists() else ""
        levels = any(item[0] == "heading" and item[1] for item in expected)
        found = parsed(markdown, levels)
        key = lambda item: json.dumps(item, ensure_ascii=False)
        wanted, had = collections.Counter(map(key, expected)), collections.Counter(map(key, found))
        both = sum((wanted & had).values())
        precision, recall = both / max(sum(had.values()), 1), both / max(sum(wanted.values()), 1)
        f1 = 2 * precision * recall / max(precision + recall, 1e-9)
        missing = list((wanted - had).elements())[:3]
        extra = list((had - wanted).elements())[:3]
        print(json.dumps({"name": name, "f1": f1, "missing": missing, "extra": extra}, ensure_ascii=False))


def peer(folder, output):
    from markitdown import MarkItDown

    converter = MarkItDown()
    for name in json.loads((folder / "truth.json").read_text(encoding="utf-8")):
        try:
            markdown = converter.convert(str(folder / name)).text_content
        except Exception:
            # It does not read this kind.
            continue
        (output / (name + ".md")).write_text(markdown, encoding="utf-8")


def main():
    command, *rest = sys.argv[1:]
    paths = [pathlib.Path(path) for path in rest]
    if command == "make":
        make(paths[0])
    elif command == "score":
        score(*paths)
    elif command == "peer":
        peer(*paths)
    elif command == "markitdown":
        from markitdown import MarkItDown

        sys.stdout.write(MarkItDown().convert(str(paths[0])).text_content)


if __name__ == "__main__":
    main()
