//! Web addresses: which URLs may be opened or fetched, which machines may be reached, and when two URLs are
//! the same page.
//!
//! All tools that open or fetch pages use these checks, so all of them refuse the same URLs. Only [`Domains::new`]
//! does I/O: it reads one environment variable.
//!
//! ```
//! use ragmaker_address::{Domains, canonical, parse, same_page};
//!
//! let url = parse("https://docs.example.com/guide#install")?;
//! Domains::new(&["example.com".to_owned()])?.check(&url)?;
//! assert!(same_page(&url, &parse("https://docs.example.com/guide")?));
//! assert_eq!(canonical(&url), "https://docs.example.com/guide");
//! # Ok::<(), ragmaker_tool::Error>(())
//! ```

mod allowed;
pub mod codes;
mod network;
mod pattern;
mod same;

pub use allowed::{DOMAIN_NOT_ALLOWED, Domains, ERRORS, MAX_BYTES, URL_NOT_ALLOWED, check, parse};
pub use network::{ADDRESS_NOT_ALLOWED, Network, is_public, refused};
pub use pattern::Pattern;
pub use same::{canonical, page_key, same_page, same_site, without_credentials};
