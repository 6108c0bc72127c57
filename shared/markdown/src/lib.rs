//! A page's HTML to clean Markdown.
