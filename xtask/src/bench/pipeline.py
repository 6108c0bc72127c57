"""The main content of pages by a Python library, in process: the seconds of the
processor that its calls take in all.

    pipeline.py LIBRARY PAGES.jsonl     # each line has `url` and `html`

The pages are read and parsed before the clock starts; what a library fails on is a page without text.
"""
import json
import sys
import time

import resiliparse.extract.html2text
import trafilatura

LIBRARIES = {
    "trafilatura": lambda html, url: trafilatura.extract(html, url=url, output_format="markdown"),
    "resiliparse": lambda html, url: resiliparse.extract.html2text.extract_plain_text(html, main_content=True),
}


def main():
    library, path = sys.argv[1:]
    extract = LIBRARIES[library]
    # Not by splitlines: U+2028 ends no line here.
    pages = [json.loads(line) for line in open(path, "rb")]
    start = time.process_time()
    for page in pages:
        try:
            extract(page["html"], page["url"])
        except Exception:
            pass
    print(time.process_time() - start)


main()
