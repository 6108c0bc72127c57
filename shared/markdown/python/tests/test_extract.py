"""The wheel beside trafilatura, with the same arguments on the same pages.

    pip install ./shared/markdown/python trafilatura==2.3.1
    python shared/markdown/python/tests/test_extract.py [FILE.html ...]
"""
import re, sys
from concurrent.futures import ThreadPoolExecutor

import ragmaker_markdown, trafilatura

URL = "https://sea.example/tides/"
PARAGRAPHS = "".join(f"<p>On day {day} high water comes <b>twice</b>, and a little <a href=later>later</a> than before."
                     for day in range(20))
PAGE = f"""<!doctype html><html lang=en><title>Tides of the bay</title><meta name=author content="A. Sailor">
<body><nav><a href=/>Home</a> <a href=/about>About us</a></nav>
<main><article><h1>Tides of the bay</h1>{PARAGRAPHS}</article></main><footer>All rights reserved.</footer>"""


def words(text):
    return set(re.findall(r"\w+", text.lower()))


def alike(html, url):
    """Both take the same call, give the same type, and agree on most words of an article."""
    ours, theirs = (module.extract(html, url=url, output_format="markdown") for module in (ragmaker_markdown, trafilatura))
    assert (ours is None) == (theirs is None), (url, ours, theirs)
    if ours is not None:
        assert type(ours) is type(theirs) is str
        shared = words(ours) & words(theirs)
        assert len(shared) >= 0.5 * min(len(words(ours)), len(words(theirs))), url


alike(PAGE, URL)
alike(PAGE.encode(), URL)
alike("<html><body></body></html>", None)
for path in sys.argv[1:]:
    alike(open(path, "rb").read(), URL)

markdown = ragmaker_markdown.extract(PAGE, URL)
assert markdown.startswith("# Tides of the bay\n\nOn day 0 high water comes **twice**, and a little [later](https://sea.example/tides/later)")
assert "Home" not in markdown and "rights" not in markdown
page = ragmaker_markdown.convert(PAGE.encode("utf-16"), url=URL, charset="utf-16")
assert page["markdown"] == markdown and page["page_type"] == "article" and 0 <= page["confidence"] <= 1
assert (page["title"], page["lang"], page["author"]) == ("Tides of the bay", "en", "A. Sailor")
assert ragmaker_markdown.extract(PAGE, selector="h1") == "# Tides of the bay\n"
assert ragmaker_markdown.extract(PAGE, selector="h6") is None
assert "Home" in ragmaker_markdown.extract(PAGE, whole=True)
assert ragmaker_markdown.extract(PAGE, url="urn:isbn:1") is not None
for call in (lambda: ragmaker_markdown.convert(""), lambda: ragmaker_markdown.extract(PAGE, selector="p:has(b)"),
             lambda: ragmaker_markdown.extract(PAGE, output_format="xml"),
             lambda: ragmaker_markdown.extract(PAGE, whole=True, selector="p")):
    try:
        call()
    except ValueError:
        continue
    raise AssertionError("no ValueError")
with ThreadPoolExecutor(4) as pool:
    assert set(pool.map(lambda _: ragmaker_markdown.extract(PAGE, URL), range(64))) == {markdown}
print(f"{2 + len(sys.argv[1:])} pages: the wheel and trafilatura take the same calls")
