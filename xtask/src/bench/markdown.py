"""Pages through several converters, one after the other for each page: time, and quality where there is truth.

    markdown.py OURS PEERS FOLDER EVERY     # FOLDER/truth.jsonl.gz and FOLDER/pages/ID.html.gz
    markdown.py OURS PEERS FILE...          # time only

OURS is ragmaker-html-to-markdown, PEERS the `peers` example. Out comes one JSON object a converter. A
line of the truth has `id`, `url`, `type`, `main_content` and the snippets `with` and `without`: those
that the content must and must not have. Quality is the F1 of the words of the Markdown's visible text; snippets are
compared with quotes, dashes, letter case and white space folded.
"""
import collections
import gzip
import json
import os
import re
import statistics
import subprocess
import sys
import tempfile
import time
import unicodedata

import lxml.html
import markdownify
import readability
import trafilatura
from markdown_it import MarkdownIt

RENDER = MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"]).render
INLINE = {"a", "b", "i", "em", "strong", "code", "del", "s", "span", "sup", "sub"}


def visible_text(markdown):
    html = RENDER(markdown).replace("\0", "")
    if not html.strip():
        return ""
    root = lxml.html.document_fromstring("<html><body><div>" + html + "</div></body></html>")
    for e in root.xpath("//script|//style|//head"):
        e.drop_tree()
    for e in root.iter():
        if isinstance(e.tag, str) and e.tag not in INLINE:
            e.tail = "\n" + (e.tail or "")
            e.text = "\n" + (e.text or "")
    return root.text_content()


def f1(got, want):
    a, b = (collections.Counter(re.findall(r"\w+", text.lower())) for text in (got, want))
    if not a or not b:
        return float(not a and not b)
    overlap = sum((a & b).values())
    return 2 * overlap / (sum(a.values()) + sum(b.values()))


FOLDS = str.maketrans(
    {c: "'" for c in "\u2018\u2019\u201a"} | {c: '"' for c in "\u201c\u201d\u201e"}
    | {c: "-" for c in "\u2010\u2011\u2012\u2013\u2014"} | {"\u00ad": None, "\u200b": None}
)


def folded(text):
    """Quotes, dashes, letter case and white space folded: as a reader compares."""
    return re.sub(r"\s+", " ", unicodedata.normalize("NFKC", text).translate(FOLDS)).strip().lower()


def timed(convert):
    def run(path, html, url):
        start = time.perf_counter()
        markdown = convert(html.decode("utf-8", "replace"), url) or ""
        return markdown, time.perf_counter() - start
    return run


def readable(html, url):
    return markdownify.markdownify(readability.Document(html, url=url).summary())


def process(*command):
    def run(path, html, url):
        words = [word.replace("{url}", url) for word in command]
        start = time.perf_counter()
        done = subprocess.run(words, input=html, capture_output=True)
        return done.stdout.decode("utf-8", "replace"), time.perf_counter() - start
    return run


def without_text(run):
    """For what is only timed."""
    return lambda *page: (None, run(*page)[1])


def library(peers, way):
    def run(path, html, url):
        peers.stdin.write(f"{way}\t{path}\t{url}\n".encode())
        peers.stdin.flush()
        answer = json.loads(peers.stdout.readline())
        return answer["markdown"], answer["seconds"]
    return run


def careful(run):
    """Some converters fail on some pages; that is a page without text."""
    def attempt(path, html, url):
        start = time.perf_counter()
        try:
            return run(path, html, url)
        except Exception:
            return "", time.perf_counter() - start
    return attempt


def pages(arguments, scratch):
    if not os.path.isdir(arguments[0]):
        for path in arguments:
            yield {"url": "https://example.com/", "path": path}
        return
    folder, every = arguments[0], int(arguments[1])
    for line in list(gzip.open(os.path.join(folder, "truth.jsonl.gz"), "rt", encoding="utf-8"))[::every]:
        page = json.loads(line)
        page["path"] = os.path.join(scratch, page["id"] + ".html")
        page["url"] = page["url"] or "https://example.com/"
        with open(page["path"], "wb") as out:
            out.write(gzip.open(os.path.join(folder, "pages", page["id"] + ".html.gz")).read())
        yield page


def mean_of(values):
    values = [value for value in values if value is not None]
    return statistics.mean(values) if values else None


def main():
    ours, peers, *arguments = sys.argv[1:]
    peers = subprocess.Popen([peers], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    ways = {
        "ragmaker-html-to-markdown, process": process(ours, "--raw", "--base-url", "{url}"),
        "ragmaker-markdown, library": library(peers, "ragmaker-markdown"),
        "trafilatura, library": timed(lambda html, url: trafilatura.extract(html, url=url, output_format="markdown")),
        "dom_smoothie, library": library(peers, "dom_smoothie"),
        "readability-lxml and markdownify": timed(readable),
        "htmd, whole page": library(peers, "htmd"),
        "markdownify, whole page": timed(lambda html, url: markdownify.markdownify(html)),
        # What starting a process and handing it the page takes, whatever it does then.
        "`wc -c`, which only counts, process": without_text(process("wc", "-c")),
    }
    ways = {name: careful(run) for name, run in ways.items()}
    rows = {name: [] for name in ways}
    with tempfile.TemporaryDirectory() as scratch:
        for at, page in enumerate(pages(arguments, scratch)):
            html = open(page["path"], "rb").read()
            names = list(ways)
            for name in names[at % len(names):] + names[:at % len(names)]:
                markdown, seconds = ways[name](page["path"], html, page["url"])
                row = {"seconds": seconds, "type": page.get("type")}
                if "main_content" in page and markdown is not None:
                    text = visible_text(markdown)
                    known = folded(text)
                    shares = {key: mean_of([folded(s) in known for s in page[key]]) for key in ("with", "without")}
                    row |= {"f1": f1(text, page["main_content"] or ""), **shares}
                rows[name].append(row)
    for name, found in rows.items():
        kinds = collections.defaultdict(list)
        for row in found:
            kinds[row["type"]].append(row.get("f1"))
        print(json.dumps({
            "name": name,
            "pages": len(found),
            "median_ms": statistics.median(row["seconds"] for row in found) * 1e3,
            "f1": mean_of([row.get("f1") for row in found]),
            "macro": mean_of([mean_of(values) for values in kinds.values()]),
            "with": mean_of([row.get("with") for row in found]),
            "without": mean_of([row.get("without") for row in found]),
        }))


main()
