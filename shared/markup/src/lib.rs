//! Lightweight markup of documentation as Markdown: MDX, reStructuredText, AsciiDoc.
//!
//! These are read for what they say, not rendered: nothing is included from other files, no directive is run, and
//! what is not known stays as the text that it is. So any text is converted, and no word of a paragraph is lost.
//! There is no crate for this: those for reStructuredText are unfinished, and those for AsciiDoc make HTML by way
//! of a whole document model.
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
