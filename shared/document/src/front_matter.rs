//! Parsing a document into front matter and content.

use std::fmt;

use saphyr_parser::{Event, Parser, ScalarStyle};

/// A document that was read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Parsed<'a> {
    /// The front matter's fields that contain one value, in order; lists and mappings are left out.
    pub fields: Vec<(String, String)>,
    /// The text after the front matter.
    pub body: &'a str,
}

impl Parsed<'_> {
    /// The value of the field `name`, if it is not blank.
    pub fn field(&self, name: &str) -> Option<&str> {
        let found = self.fields.iter().find(|(known, _)| known == name);
        found.map(|(_, value)| value.as_str()).filter(|value| !value.trim().is_empty())
    }
}

/// The reasons why the front matter cannot be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FrontMatterError {
    /// It does not start with a line `---`.
    Missing,
    /// There is no second such line.
    Unclosed,
    /// The front matter is not YAML, for this reason.
    NotYaml(String),
    /// It is YAML, and no mapping of names to values.
    NotAMapping,
}

impl std::error::Error for FrontMatterError {}

impl fmt::Display for FrontMatterError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Missing => f.write_str("it does not begin with front matter"),
            Self::Unclosed => f.write_str("its front matter has no closing `---`"),
            Self::NotYaml(reason) => write!(f, "its front matter is not YAML: {reason}"),
            Self::NotAMapping => f.write_str("its front matter is not a mapping of names to values"),
        }
    }
}

/// Parses a document. A byte order mark and CRLF are allowed: editors write them.
///
/// # Errors
///
/// Why there is no front matter, or none that can be read.
pub fn parse(text: &str) -> Result<Parsed<'_>, FrontMatterError> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let mut lines = text.split_inclusive('\n');
    let is_fence = |line: &str| line.trim_end() == "---";
    let opening = lines.next().filter(|line| is_fence(line)).ok_or(FrontMatterError::Missing)?;
    let mut end = opening.len();
    for line in lines {
        if is_fence(line) {
            let fields = fields(&text[opening.len()..end])?;
            return Ok(Parsed { fields, body: &text[end + line.len()..] });
        }
        end += line.len();
    }
    Err(FrontMatterError::Unclosed)
}

/// The scalars of the outermost mapping. It is read as a stream of events: the tree of a hostile page
/// may be so deep that dropping it overflows the stack.
fn fields(yaml: &str) -> Result<Vec<(String, String)>, FrontMatterError> {
    let mut fields = vec![];
    let (mut depth, mut mapping, mut key) = (0, false, None);
    for event in Parser::new_from_str(yaml) {
        let (event, _) = event.map_err(|error| FrontMatterError::NotYaml(error.to_string()))?;
        match event {
            Event::MappingStart(..) | Event::SequenceStart(..) => {
                mapping |= depth == 0 && matches!(event, Event::MappingStart(..));
                depth += 1;
            }
            Event::MappingEnd | Event::SequenceEnd => {
                depth -= 1;
                if depth == 1 {
                    // What was nested is the value of a key, or, oddly, a key itself.
                    key = if key.is_some() { None } else { Some(String::new()) };
                }
            }
            Event::Scalar(text, style, ..) if depth == 1 => match key.take() {
                None => key = Some(text.into_owned()),
                // The parser's way to spell that there is no value.
                Some(name) if text == "~" && style == ScalarStyle::Plain => fields.push((name, String::new())),
                Some(name) => fields.push((name, text.into_owned())),
            },
            Event::Alias(_) if depth == 1 => key = if key.is_some() { None } else { Some(String::new()) },
            _ => {}
        }
    }
    if mapping { Ok(fields) } else { Err(FrontMatterError::NotAMapping) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::DocumentFile;
    use proptest::prelude::*;

    #[test]
    fn fields_and_body_are_separated() {
        let text = "---\r\ntitle: \"A: b\"\r\ntags: [a, {b: c}]\r\nn: 7\r\nempty:\r\n---\r\n\r\n# A\n---\nrest";
        let parsed = parse(text).unwrap();
        assert_eq!(parsed.field("title"), Some("A: b"));
        assert_eq!((parsed.field("n"), parsed.field("tags"), parsed.field("empty")), (Some("7"), None, None));
        assert_eq!(parsed.body, "\r\n# A\n---\nrest");
        assert_eq!(parse("\u{feff}---\na: b\n---").unwrap().body, "");
    }

    #[test]
    fn invalid_front_matter_is_an_error() {
        assert_eq!(parse("# A"), Err(FrontMatterError::Missing));
        assert_eq!(parse(""), Err(FrontMatterError::Missing));
        assert_eq!(parse("---\ntitle: a\n"), Err(FrontMatterError::Unclosed));
        assert_eq!(parse("---\n- a\n- b\n---\n"), Err(FrontMatterError::NotAMapping));
        assert_eq!(parse("---\n---\n"), Err(FrontMatterError::NotAMapping));
        assert!(matches!(parse("---\ntitle: a: \"b\n---\n"), Err(FrontMatterError::NotYaml(_))));
    }

    #[test]
    fn no_depth_is_too_deep() {
        for nested in ["- ".repeat(100_000), "[".repeat(100_000), "- ? ".repeat(100_000), "{a: ".repeat(100_000)] {
            assert!(parse(&format!("---\n{nested}\n---\n")).is_err());
        }
    }

    proptest! {
        #[test]
        fn what_is_saved_is_read_back(title in any::<String>(), url in ".*", markdown in "[a-z #\n-]{0,40}") {
            let page = DocumentFile { source_url: &url, title: &title, fetched_at: "t", fields: &[], markdown: &markdown };
            let text = page.text();
            let parsed = parse(&text).unwrap();
            let expected = title.replace(['\u{feff}', '\u{fffe}', '\u{ffff}'], "");
            prop_assert_eq!(parsed.field("title").unwrap_or_default().trim(), expected.trim());
            prop_assert_eq!(parsed.body.trim(), markdown.trim());
        }

        #[test]
        fn any_text_is_parsed_or_refused(text in "(---\n)?[\\[\\]{}:,&*!|>'\"%@`#? \na-c-]{0,60}(\n---\n)?") {
            let _ = parse(&text);
        }
    }
}
