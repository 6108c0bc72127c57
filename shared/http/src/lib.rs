//! HTTP requests with a policy and limits.
//!
//! A [`Client`] checks each address before the request, including redirects: only http and https, only allowed domains,
//! only public machines (`resolver`). The connection is made to the checked address. The sizes of body, headers and
//! decompressed data, and the time, are limited (`body`). The client sends its own user agent, and stores no cookies.
//!
//! ```no_run
//! use ragmaker_http::{Client, GetRequest, Limits};
//! use ragmaker_tool::HostOptions;
//!
//! # fn main() -> Result<(), ragmaker_tool::Error> {
//! let url = ragmaker_address::parse("https://example.com/")?;
//! let client = Client::new(&HostOptions::default(), Some(&url), Limits::default())?;
//! let response = client.get(&GetRequest { url: &url, accept: "text/html", headers: &[] })?;
//! assert_eq!(response.status, 200);
//! # Ok(())
//! # }
//! ```

mod body;
mod client;
mod local;
mod resolver;
mod response;
#[cfg(test)]
mod tests;
mod wait;

use ragmaker_address::codes::{NAVIGATION_FAILED, TIMEOUT};
use ragmaker_tool::Code;

pub use body::{RESPONSE_TOO_LARGE, unzip};
pub use client::{Client, GetRequest, Limits};
pub use local::is_on_this_machine;
pub use response::{Response, Step};
pub use wait::{Backoff, retry_after};

/// The product token that sites name us by, also in robots.txt.
pub const PRODUCT: &str = "ragmaker";

/// The `User-Agent` header of every request.
pub const USER_AGENT: &str = concat!("ragmaker/", env!("CARGO_PKG_VERSION"));

/// The codes of [`Client::get`], beside those of addresses: [`ragmaker_address::ERRORS`].
pub const ERRORS: &[Code] = &[ragmaker_address::ADDRESS_NOT_ALLOWED, RESPONSE_TOO_LARGE, TIMEOUT, NAVIGATION_FAILED];
