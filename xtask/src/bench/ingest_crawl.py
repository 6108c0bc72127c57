"""Crawls a section with trafilatura's crawler and saves what its extraction makes of each page.

    ingest.py URL FOLDER

Its pauses are taken out, and its fetcher is given the pages that its crawler found: the crawler keeps none.
"""

import hashlib
import pathlib
import sys

import trafilatura
import trafilatura.spider
from trafilatura.settings import use_config

url, folder = sys.argv[1], pathlib.Path(sys.argv[2])
trafilatura.spider.sleep = lambda seconds: None
config = use_config()
config.set("DEFAULT", "SLEEP_TIME", "0")
_, known = trafilatura.spider.focused_crawler(url, max_seen_urls=1000, max_known_urls=10000)
for page in known:
    if not page.startswith(url):
        continue
    html = trafilatura.fetch_url(page, config=config)
    text = html and trafilatura.extract(html, output_format="markdown", with_metadata=True, include_links=True, config=config)
    if text:
        (folder / (hashlib.sha256(page.encode()).hexdigest()[:12] + ".md")).write_text(text, encoding="utf-8")
