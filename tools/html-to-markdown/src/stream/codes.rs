//! The error codes of the records of a stream.

use ragmaker_tool::Code;

/// A record does not have the format of the stream.
pub(crate) const INVALID_RECORD: Code = Code::new(
    "INVALID_RECORD",
    "Send a JSON object with html or html_base64 on each line, or with --warc, WARC records with HTTP responses.",
);
/// A page exceeds the time limit.
pub(crate) const PAGE_TIMEOUT: Code = Code::new("PAGE_TIMEOUT", "Raise --timeout-ms.");
