#!/usr/bin/env python3
"""Write the test pages of Mozilla's Readability in the form that train.py reads, for --articles.

    curl -L https://static.crates.io/crates/readability-rust/readability-rust-0.1.0.crate | tar xz
    training/articles.py readability-rust-0.1.0/mozzilla-readability/test/test-pages FOLDER

The main content of a page is its title and the text that Readability is expected to find.  Left out are pages that
were made for a test, which consist of "Lorem ipsum", and those with less than 500 characters.  FOLDER gets
truth.jsonl.gz and pages/ID.html.gz.  No page goes into the project.
"""
import argparse, gzip, json, os, re

import lxml.html

# The address that Readability's own tests give to every page.
ADDRESS = "http://fakehost/test/page.html"
INLINE = {"a", "b", "code", "del", "em", "i", "s", "span", "strong", "sub", "sup"}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("pages", help="the folder with a folder for each page")
    parser.add_argument("out", help="the folder to write")
    options = parser.parse_args()
    os.makedirs(os.path.join(options.out, "pages"), exist_ok=True)
    with gzip.open(os.path.join(options.out, "truth.jsonl.gz"), "wt", encoding="utf-8") as truth:
        for number, name in enumerate(sorted(os.listdir(options.pages))):
            page = read(os.path.join(options.pages, name), f"r{number:03}")
            if page:
                html = page.pop("html")
                with gzip.open(os.path.join(options.out, "pages", page["id"] + ".html.gz"), "wb") as out:
                    out.write(html)
                truth.write(json.dumps(page) + "\n")


def read(folder, id):
    """The page in a folder, or None if it is left out."""
    paths = [os.path.join(folder, name) for name in ("source.html", "expected.html", "expected-metadata.json")]
    if not all(map(os.path.exists, paths)):
        return None
    html, expected, metadata = (open(path, "rb").read() for path in paths)
    text = visible_text(expected.decode())
    if len(text) < 500 or re.search("lorem ipsum|tempor incididunt", text.lower()):
        return None
    site = re.sub(r"-?\d+$", "", os.path.basename(folder))
    return {"id": id, "url": ADDRESS, "site": site, "type": "article", "html": html,
            "main_content": (json.loads(metadata).get("title") or "") + "\n" + text, "with": [], "without": []}


def visible_text(html):
    root = lxml.html.document_fromstring(f"<html><body><div>{html}</div></body></html>")
    for element in root.iter():  # the ends of blocks separate words
        if isinstance(element.tag, str) and element.tag not in INLINE:
            element.tail = "\n" + (element.tail or "")
            element.text = "\n" + (element.text or "")
    return root.text_content()


if __name__ == "__main__":
    main()
