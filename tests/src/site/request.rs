//! A parsed request: path, query, headers, form.

use std::str::FromStr;

use super::{http::Request, visitors::Visit};

/// A request on its way to the page that answers it.
pub(super) struct PageRequest<'a> {
    pub(super) request: &'a Request,
    /// The first part of the path, by which the pages are ordered.
    pub(super) topic: &'a str,
    /// The parts after it, decoded.
    pub(super) rest: Vec<String>,
    query: &'a str,
    pub(super) port: u16,
    pub(super) visit: &'a Visit,
}

impl<'a> PageRequest<'a> {
    pub(super) fn new(request: &'a Request, port: u16, visit: &'a Visit) -> Self {
        let (path, query) = request.path.split_once('?').unwrap_or((&request.path, ""));
        let mut parts = path.trim_start_matches('/').split('/');
        let topic = parts.next().unwrap_or_default();
        Self { request, topic, rest: parts.filter(|part| !part.is_empty()).map(decoded).collect(), query, port, visit }
    }

    /// The parts of the path after the topic, to match against.
    pub(super) fn rest(&self) -> Vec<&str> {
        self.rest.iter().map(String::as_str).collect()
    }

    /// The fields of the query.
    pub(super) fn query(&self) -> Vec<(String, String)> {
        fields(self.query)
    }

    /// The fields of a form that was sent.
    pub(super) fn form(&self) -> Vec<(String, String)> {
        fields(&String::from_utf8_lossy(&self.request.body))
    }
}

/// A number in the path, where it is one.
pub(super) fn number<T: FromStr>(part: &str) -> Option<T> {
    part.parse().ok()
}

fn fields(encoded: &str) -> Vec<(String, String)> {
    let pairs = encoded.split('&').filter_map(|pair| pair.split_once('='));
    pairs.map(|(name, value)| (decoded(name), decoded(&value.replace('+', " ")))).collect()
}

fn decoded(text: &str) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let [first, after @ ..] = rest {
        let escaped = (*first == b'%').then(|| after.get(..2)).flatten();
        let byte = escaped.and_then(|hex| u8::from_str_radix(std::str::from_utf8(hex).ok()?, 16).ok());
        bytes.push(byte.unwrap_or(*first));
        rest = if byte.is_some() { &after[2..] } else { after };
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escapes_are_decoded_and_other_percent_signs_stay() {
        assert_eq!(decoded("%E6%97%A5+a%2Fb%zz%4"), "日+a/b%zz%4");
        assert_eq!(
            fields("a=1+2&b=%26&c&d="),
            [("a", "1 2"), ("b", "&"), ("d", "")].map(|(n, v)| (n.into(), v.into()))
        );
    }
}
