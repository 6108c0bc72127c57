"""Crawls a section with trafilatura's crawler and saves what its extraction makes of each page.

    ingest_crawl.py URL FOLDER

Its pauses are taken out. The crawler keeps no pages, so they are taken where it looks for their links: each is fetched once.
It follows no links to hosts without a domain, so the site has a name here that leads to the address of URL.
"""

import hashlib
import pathlib
import socket
import sys
import urllib.parse

import trafilatura
import trafilatura.spider
from trafilatura.settings import use_config

url, folder = urllib.parse.urlsplit(sys.argv[1]), pathlib.Path(sys.argv[2])
start = urllib.parse.urlunsplit(url._replace(netloc=f"site.example.org:{url.port}"))
getaddrinfo = socket.getaddrinfo
socket.getaddrinfo = lambda host, *rest, **more: getaddrinfo(url.hostname, *rest, **more)
trafilatura.spider.sleep = lambda seconds: None
config = use_config()
config.set("DEFAULT", "SLEEP_TIME", "0")
config.set("DEFAULT", "SSRF_PROTECTION", "false")
process_links = trafilatura.spider.process_links


def extract_and_process_links(html, params, url=""):
    if html and url.startswith(start):
        text = trafilatura.extract(html, url=url, output_format="markdown", with_metadata=True, include_links=True, config=config)
        if text:
            (folder / (hashlib.sha256(url.encode()).hexdigest()[:12] + ".md")).write_text(text, encoding="utf-8")
    process_links(html, params, url)


trafilatura.spider.process_links = extract_and_process_links
trafilatura.spider.focused_crawler(start, max_seen_urls=1000, max_known_urls=10000, config=config)
