//! File types: the MIME type by content and name, and the language of source code by name.
//!
//! The content has precedence if it identifies the type: a file `data.json` with an HTML page is HTML. Otherwise the
//! name decides: only the name distinguishes Rust from Python.
//!
//! ```
//! use std::path::Path;
//! assert_eq!(ragmaker_media::text_type(b"fn main() {}", true, Path::new("main.rs")), "text/x-rust");
//! assert_eq!(ragmaker_media::binary_type(b"%PDF-1.7"), Some("application/pdf"));
//! ```

mod binary;
mod names;
mod text;

pub use binary::{binary_type, is_binary};
pub use names::language;
pub use text::text_type;
