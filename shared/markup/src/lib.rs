//! Lightweight markup languages of documentation, as Markdown: MDX, reStructuredText, AsciiDoc.
//!
//! The text is converted, not rendered: no other files are included, no directive is run, and unknown markup stays as
//! text. So any text can be converted, and no word of a paragraph is lost. No crate does this: those for
//! reStructuredText are unfinished, and those for AsciiDoc make HTML from a complete document model.
//!
//! ```
//! assert_eq!(ragmaker_markup::restructured_text("Tides\n=====\n\n``high`` water"), "# Tides\n\n`high` water\n");
//! assert_eq!(ragmaker_markup::asciidoc("= Tides\n\n*high* water"), "# Tides\n\n**high** water\n");
//! assert_eq!(ragmaker_markup::mdx("import A from 'a'\n\n# Tides\n\n<A>\nhigh\n</A>\n"), "# Tides\n\nhigh\n");
//! ```

mod asciidoc;
mod lines;
mod mdx;
mod restructured;
mod table;

pub use asciidoc::asciidoc;
pub use mdx::mdx;
pub use restructured::restructured_text;
