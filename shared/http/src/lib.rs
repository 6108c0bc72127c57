//! One address, fetched over HTTP within a policy and limits.
//!
//! A [`Client`] checks every address before it asks for it, redirects included: http and https only, in the
//! allowed domains, on public machines (`resolver`), where the connection goes to the address that was checked.
//! Body, headers, decompressed size and time are limited (`body`). It names itself, and keeps no cookies.
//!
//! ```no_run
//! use ragmaker_http::{Client, Get, Limits};
//! use ragmaker_tool::HostOptions;
//!
//! # fn main() -> Result<(), ragmaker_tool::Error> {
//! let url = ragmaker_address::parse("https://example.com/")?;
//! let client = Client::new(&HostOptions::default(), Some(&url), Limits::default())?;
//! let response = client.get(&Get { url: &url, accept: "text/html", headers: &[] })?;
//! assert_eq!(response.status, 200);
//! # Ok(())
//! # }
//! ```

mod body;
mod client;
mod resolver;
mod response;
#[cfg(test)]
mod tests;
mod wait;

use ragmaker_address::codes::{NAVIGATION_FAILED, TIMEOUT};
use ragmaker_tool::Code;

pub use body::{RESPONSE_TOO_LARGE, unzip};
pub use client::{Client, Get, Limits};
pub use response::{Response, Step};
pub use wait::{Backoff, retry_after};

/// The product token that sites name us by, also in robots.txt.
pub const PRODUCT: &str = "ragmaker";

/// How every request says who asks.
pub const USER_AGENT: &str = concat!("ragmaker/", env!("CARGO_PKG_VERSION"));

/// The codes of [`Client::get`], beside those of addresses: [`ragmaker_address::ERRORS`].
pub const ERRORS: &[Code] = &[ragmaker_address::ADDRESS_NOT_ALLOWED, RESPONSE_TOO_LARGE, TIMEOUT, NAVIGATION_FAILED];
