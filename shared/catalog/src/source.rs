//! The source of a document, with the data that detects a change there.

use ragmaker_tool::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// The kind of a knowledge base's source.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[expect(missing_docs, reason = "the names are clear, and texts would turn the schema's list of choices into a union")]
pub enum SourceType {
    #[default]
    Web,
    Github,
    Local,
}

impl SourceType {
    /// The name, as the catalog has it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Web => "web",
            Self::Github => "github",
            Self::Local => "local",
        }
    }

    /// The type for a document with these fields: that of its member `source`, else the web.
    pub(crate) fn of(fields: &Map<String, Value>) -> Self {
        match fields.get("source").and_then(|source| DocumentSource::deserialize(source).ok()) {
            Some(DocumentSource::Git { .. }) => Self::Github,
            Some(DocumentSource::File { .. }) => Self::Local,
            Some(DocumentSource::Http { .. } | DocumentSource::Browser { .. }) | None => Self::Web,
        }
    }
}

/// The source of a document, as the member `source` of its entry has it.
///
/// An entry without it, or with a kind that is not known here, was made by another program or an older one.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "lowercase")]
pub enum DocumentSource {
    /// A page that was fetched over HTTP.
    Http {
        /// The address below which its section is; what the section does not have is not requested for it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        section: Option<String>,
        /// The requested address: that of the publisher's Markdown, which may be the document's own, or another one
        /// than the document's.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        from: Option<String>,
        /// Its `ETag` header.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        etag: Option<String>,
        /// Its `Last-Modified` header.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        last_modified: Option<String>,
    },
    /// A page that was opened in a browser.
    Browser {
        /// The name of the session, if it is not the default session.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        session: Option<String>,
        /// The CSS selector of the saved part, if it is not the main content.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        selector: Option<String>,
        /// The address that was asked for, where the server redirected it to the document's.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        from: Option<String>,
        /// Whether folded sections were opened.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        expand: bool,
        /// Whether the page was scrolled to its end.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        scroll: bool,
    },
    /// A file of a Git repository.
    Git {
        /// The address or path that it is cloned from.
        repository: String,
        /// The requested branch, tag or commit; without it, the default branch.
        #[serde(rename = "ref", default, skip_serializing_if = "Option::is_none")]
        reference: Option<String>,
        /// The commit.
        commit: String,
        /// The path in the repository.
        path: String,
        /// The name of its content, which Git derives from it.
        blob: String,
    },
    /// A local file.
    File {
        /// The folder that was read, absolute.
        folder: String,
        /// The path in the folder, with forward slashes.
        path: String,
        /// The SHA-256 of its bytes in hexadecimal.
        sha256: String,
    },
}

impl DocumentSource {
    /// The source as the JSON member of an entry.
    pub fn to_json(&self) -> Value {
        // A value of texts and numbers can always be serialized.
        serde_json::to_value(self).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn the_type_is_that_of_the_document_s_source() {
        for (fields, expected) in [
            (json!({}), SourceType::Web),
            (json!({"source": {"kind": "wiki"}}), SourceType::Web),
            (json!({"source": {"kind": "http"}}), SourceType::Web),
            (json!({"source": {"kind": "file", "folder": "/f", "path": "p", "sha256": "0"}}), SourceType::Local),
            (
                json!({"source": {"kind": "git", "repository": "r", "commit": "c", "path": "p", "blob": "b"}}),
                SourceType::Github,
            ),
        ] {
            assert_eq!(SourceType::of(fields.as_object().unwrap()), expected, "{fields}");
        }
    }

    #[test]
    fn a_source_reads_back_and_one_of_another_program_is_none() {
        let http = DocumentSource::Http { section: None, from: None, etag: Some("\"a\"".into()), last_modified: None };
        assert_eq!(http.to_json(), json!({"kind": "http", "etag": "\"a\""}));
        let git = DocumentSource::Git {
            repository: "r".into(),
            reference: None,
            commit: "c".into(),
            path: "p".into(),
            blob: "b".into(),
        };
        let browser =
            |expand| DocumentSource::Browser { session: None, selector: None, from: None, expand, scroll: expand };
        assert_eq!(browser(false).to_json(), json!({"kind": "browser"}));
        for source in [http, git, browser(false), browser(true)] {
            assert_eq!(serde_json::from_value::<DocumentSource>(source.to_json()).unwrap(), source);
        }
        assert!(serde_json::from_value::<DocumentSource>(json!({"kind": "wiki"})).is_err());
    }
}
