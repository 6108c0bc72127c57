//! The edits of a change: which bytes of a catalog are replaced, and by what.
//!
//! Everything else stays byte for byte: other fields, their order, the spelling of numbers and escapes, the layout. New
//! entries have the layout of the existing ones.

use std::{
    io::{self, Write},
    ops::Range,
};

use serde_json::Value;

use crate::{
    Description, Header, RecordOutcome,
    outline::{Corrupt, DocumentSpan, DocumentSpans, Member, Outline},
};

/// One replacement in a text. Several are in order and do not overlap.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Edit {
    pub(crate) range: Range<usize>,
    pub(crate) new: String,
}

/// Writes `text` with `edits` made.
pub(crate) fn write(text: &[u8], edits: &[Edit], mut out: impl Write) -> io::Result<()> {
    let mut kept = 0;
    for edit in edits {
        out.write_all(&text[kept..edit.range.start])?;
        out.write_all(edit.new.as_bytes())?;
        kept = edit.range.end;
    }
    out.write_all(&text[kept..])
}

/// The edits that leave one entry for `url`, with `fields`.
pub(crate) fn record(
    catalog: &Outline<'_>,
    url: &str,
    fields: &[(&str, Value)],
) -> Result<(Vec<Edit>, RecordOutcome), Corrupt> {
    match catalog.documents.items.iter().find(|document| document.has_url(url)) {
        Some(found) => Ok((update(catalog, found, fields)?, RecordOutcome::Updated)),
        None => Ok((append(&catalog.documents, &[entry(fields)]).into_iter().collect(), RecordOutcome::Added)),
    }
}

/// The edits that give a document these `fields`.
pub(crate) fn update(
    catalog: &Outline<'_>,
    document: &DocumentSpan<'_>,
    fields: &[(&str, Value)],
) -> Result<Vec<Edit>, Corrupt> {
    Ok(set(&catalog.members_of(document)?, fields, InsertPosition::End))
}

/// An entry with `fields`, as text.
pub(crate) fn entry(fields: &[(&str, Value)]) -> String {
    let fields: Vec<String> = fields.iter().map(|(name, value)| format!("{}: {value}", Value::from(*name))).collect();
    format!("{{{}}}", fields.join(", "))
}

/// The edit that puts `entries` after the last document; `None` if `entries` is empty.
pub(crate) fn append(documents: &DocumentSpans<'_>, entries: &[String]) -> Option<Edit> {
    if entries.is_empty() {
        return None;
    }
    let range = documents.end..documents.end;
    if !documents.items.is_empty() {
        // They are laid out as the others are.
        let before = format!(",{}", documents.gap);
        return Some(Edit { range, new: format!("{before}{}", entries.join(&before)) });
    }
    // One step further in than `documents`, which is itself one step in.
    let gap = documents.member.gap;
    let (line, step) = match gap.rfind('\n') {
        Some(at) => (&gap[at - usize::from(gap[..at].ends_with('\r'))..], &gap[at + 1..]),
        None => ("", ""),
    };
    let close = if documents.gap.contains('\n') { "" } else { line };
    let listed = entries.join(&format!(",{line}{step}"));
    Some(Edit { range, new: format!("{line}{step}{listed}{close}") })
}

/// The edits that give the catalog the fields that `header` has, and how it reads then.
pub(crate) fn describe(
    catalog: &Outline<'_>,
    header: &Header,
    now: impl FnOnce() -> String,
) -> (Vec<Edit>, Description) {
    let mut result = Header::default();
    let mut fresh = true;
    for member in &catalog.members {
        let key: Option<String> = serde_json::from_str(member.key).ok();
        let Some(field) = key.and_then(|key| result.field_mut(&key)) else { continue };
        fresh = false;
        // Null is how some write that there is none; what is not text is shown as it is spelled.
        *field = match serde_json::from_str(member.value) {
            Ok(text) => text,
            Err(_) => Some(member.value.to_owned()),
        };
    }
    let mut given = header.clone();
    if fresh && given.fetched_at.is_none() {
        given.fetched_at = Some(now());
    }
    let mut fields = vec![];
    for (name, value) in given.fields() {
        if let (Some(value), Some(field)) = (value, result.field_mut(name)) {
            *field = Some(value.clone());
            fields.push((name, Value::from(value.as_str())));
        }
    }
    let edits = set(&catalog.members, &fields, InsertPosition::Before(&catalog.documents.member));
    (edits, Description { header: result, documents: catalog.documents.items.len() })
}

/// The place in an object where new members are inserted.
#[derive(Clone, Copy)]
enum InsertPosition<'a> {
    /// Before this one.
    Before(&'a Member<'a>),
    /// At the end.
    End,
}

/// The edits that give an object with `members` these `fields`.
fn set(members: &[Member<'_>], fields: &[(&str, Value)], place: InsertPosition<'_>) -> Vec<Edit> {
    let mut edits = vec![];
    for (name, value) in fields {
        // Of members with one name, the last is the one that parsers keep.
        if let Some(member) = members.iter().rev().find(|member| member.is(name)) {
            edits.push(Edit { range: member.value_range(), new: value.to_string() });
            continue;
        }
        let name = Value::from(*name);
        match (place, members.last()) {
            (InsertPosition::Before(Member { gap, colon, range, .. }), _) => {
                edits.push(Edit { range: range.start..range.start, new: format!("{name}{colon}{value},{gap}") });
            }
            (InsertPosition::End, Some(Member { gap, colon, range, .. })) => {
                edits.push(Edit { range: range.end..range.end, new: format!(",{gap}{name}{colon}{value}") });
            }
            // An object that has a URL has a member.
            (InsertPosition::End, None) => {}
        }
    }
    edits.sort_by_key(|edit| edit.range.start);
    edits
}

/// `text` with `edits` made.
#[cfg(test)]
pub(crate) fn applied(text: &str, edits: &[Edit]) -> String {
    let mut new = vec![];
    write(text.as_bytes(), edits, &mut new).expect("memory takes all");
    String::from_utf8(new).expect("edits are at the edges of characters")
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::{Map, json, value::RawValue};
    use std::collections::BTreeMap;

    use super::applied as apply;

    fn recorded(text: &str, url: &str, fields: &[(&str, Value)]) -> (String, RecordOutcome) {
        let fields: Vec<_> = [("url", json!(url))].into_iter().chain(fields.iter().cloned()).collect();
        let (edits, outcome) = record(&Outline::parse(text.as_bytes()).unwrap(), url, &fields).unwrap();
        (apply(text, &edits), outcome)
    }

    fn described(text: &str, header: &Header) -> (String, Description) {
        let (edits, description) = describe(&Outline::parse(text.as_bytes()).unwrap(), header, || "now".into());
        (apply(text, &edits), description)
    }

    #[test]
    fn a_new_entry_stands_like_the_others() {
        for (text, expected) in [
            ("{\n  \"documents\": []\n}\n", "{\n  \"documents\": [\n    {\"url\": \"u\"}\n  ]\n}\n"),
            ("{\r\n\t\"documents\": [ ]\r\n}", "{\r\n\t\"documents\": [\r\n\t\t{\"url\": \"u\"}\r\n\t ]\r\n}"),
            ("{\n  \"documents\": [\n  ]\n}\n", "{\n  \"documents\": [\n    {\"url\": \"u\"}\n  ]\n}\n"),
            ("{\"documents\":[]}", "{\"documents\":[{\"url\": \"u\"}]}"),
            ("{\"documents\":[{\"a\":1}],\"z\":[]}", "{\"documents\":[{\"a\":1},{\"url\": \"u\"}],\"z\":[]}"),
            ("{\"documents\": [\n{},\n{} ] }", "{\"documents\": [\n{},\n{},\n{\"url\": \"u\"} ] }"),
        ] {
            assert_eq!(recorded(text, "u", &[]), (expected.to_owned(), RecordOutcome::Added));
        }
    }

    #[test]
    fn an_update_touches_only_the_fields_it_has() {
        let text = r#"{"documents": [{"n": 1e2, "url":"u" , "title": "old", "summary": "\u0041"}, {"url": "u"}]}"#;
        let (new, outcome) = recorded(text, "u", &[("title", json!("new")), ("path", json!("a.md"))]);
        let expected = r#"{"documents": [{"n": 1e2, "url":"u" , "title": "new", "summary": "\u0041", "path": "a.md"}, {"url": "u"}]}"#;
        assert_eq!((new.as_str(), outcome), (expected, RecordOutcome::Updated));
    }

    #[test]
    fn a_header_is_made_above_the_documents_and_changed_where_it_is() {
        let header = |title: &str| Header { title: Some(title.into()), ..Header::default() };
        let (new, made) = described("{\n  \"documents\": [{}]\n}\n", &header("a"));
        assert_eq!(new, "{\n  \"title\": \"a\",\n  \"fetched_at\": \"now\",\n  \"documents\": [{}]\n}\n");
        assert_eq!((made.documents, made.header.fetched_at.as_deref()), (1, Some("now")));

        let (new, _) = described(&new, &Header { summary: Some("s".into()), ..header("b") });
        let expected =
            "{\n  \"title\": \"b\",\n  \"fetched_at\": \"now\",\n  \"summary\": \"s\",\n  \"documents\": [{}]\n}\n";
        assert_eq!(new, expected);

        let (new, kept) = described(r#"{"x":1, "documents":[], "title" : null, "src_type": [7]}"#, &header("c"));
        assert_eq!(new, r#"{"x":1, "documents":[], "title" : "c", "src_type": [7]}"#);
        assert_eq!(kept.header, Header { src_type: Some("[7]".into()), ..header("c") });
    }

    /// JSON with white space, numbers and escapes as no serializer writes them.
    fn odd_json() -> impl Strategy<Value = String> {
        let leaf = prop_oneof![
            Just("null"),
            Just("true"),
            Just("1e2"),
            Just("-0.50"),
            Just("1.0E+3"),
            Just("12345678901234567890"),
            Just(r#""""#),
            Just(r#""\u0041\/\"""#),
            Just("\"日本 } ] , :\""),
        ]
        .prop_map(str::to_owned);
        leaf.prop_recursive(3, 12, 3, |inner| {
            (proptest::collection::vec(inner, 0..3), gap(), any::<bool>()).prop_map(|(values, gap, array)| {
                if array {
                    return format!("[{gap}{}{gap}]", values.join(&format!("{gap},")));
                }
                let members: Vec<_> =
                    values.iter().enumerate().map(|(n, value)| format!("\"k{n}\"{gap}:{value}")).collect();
                format!("{{{gap}{}}}", members.join(&format!(",{gap}")))
            })
        })
    }

    fn gap() -> impl Strategy<Value = String> {
        "[ \t\r\n]{0,3}"
    }

    fn object(members: &[(String, String)], gaps: &[String; 3]) -> String {
        let [open, colon, close] = gaps;
        let members: Vec<_> =
            members.iter().map(|(key, value)| format!("{open}\"{key}\"{colon}:{close}{value}")).collect();
        format!("{{{}{close}}}", members.join(&format!("{close},")))
    }

    prop_compose! {
        fn document()(
            url in proptest::option::of(prop_oneof![Just(r#""u""#), Just(r#""\u0075""#), Just("\"v\""), Just("1")]),
            title in proptest::option::of(odd_json()),
            others in proptest::collection::btree_map("[a-f]{1,2}", odd_json(), 0..3),
            first: bool,
            gaps in [gap(), gap(), gap()],
        ) -> String {
            let mut members: Vec<(String, String)> = others.into_iter().collect();
            members.extend(title.map(|title| ("title".to_owned(), title)));
            let url = url.map(|url| ("url".to_owned(), url.to_owned()));
            members.splice(if first { 0..0 } else { members.len()..members.len() }, url);
            object(&members, &gaps)
        }
    }

    prop_compose! {
        fn catalog()(
            documents in proptest::collection::vec(document(), 0..4),
            before in proptest::collection::btree_map("[a-f]{1,2}|title|summary", odd_json(), 0..3),
            after in proptest::collection::btree_map("[g-k]{1,2}|src_type|fetched_at", odd_json(), 0..3),
            gaps in [gap(), gap(), gap()],
            inner in gap(),
        ) -> String {
            let documents = format!("[{inner}{}{inner}]", documents.join(&format!(",{inner}")));
            let members: Vec<_> = before.into_iter().chain([("documents".to_owned(), documents)]).chain(after).collect();
            format!("{}{}{}", gaps[0], object(&members, &gaps), gaps[1])
        }
    }

    /// The members as they are spelled.
    fn raw(object: &str) -> BTreeMap<String, Box<RawValue>> {
        serde_json::from_str(object).unwrap()
    }

    fn spelled(object: &str, without: &[&str]) -> Vec<(String, String)> {
        let members = raw(object).into_iter().filter(|(key, _)| !without.contains(&key.as_str()));
        members.map(|(key, value)| (key, value.get().to_owned())).collect()
    }

    proptest! {
        #[test]
        fn recording_changes_one_document(text in catalog(), title in ".{0,4}") {
            let fields = [("title", json!(title)), ("path", json!("p.md"))];
            let (new, outcome) = recorded(&text, "u", &fields);
            prop_assert_eq!(spelled(&text, &["documents"]), spelled(&new, &["documents"]));

            let list = |text: &str| -> Vec<Box<RawValue>> { serde_json::from_str(raw(text)["documents"].get()).unwrap() };
            let (old, new) = (list(&text), list(&new));
            let is_u = |document: &RawValue| serde_json::from_str::<Value>(document.get()).unwrap()["url"] == "u";
            let at = old.iter().position(|document| is_u(document));
            prop_assert_eq!(outcome == RecordOutcome::Updated, at.is_some());
            prop_assert_eq!(new.len(), old.len() + usize::from(at.is_none()));
            for (n, document) in old.iter().enumerate().filter(|(n, _)| Some(*n) != at) {
                prop_assert_eq!(document.get(), new[n].get());
            }
            let entry = new[at.unwrap_or(old.len())].get();
            let own = ["url", "title", "path"];
            prop_assert_eq!(spelled(entry, &own), at.map_or(vec![], |at| spelled(old[at].get(), &own)));
            let entry: Map<String, Value> = serde_json::from_str(entry).unwrap();
            prop_assert_eq!(&entry["url"], "u");
            prop_assert_eq!(&entry["title"], &fields[0].1);
            prop_assert_eq!(&entry["path"], "p.md");
        }

        #[test]
        fn describing_changes_the_header_alone(text in catalog(), title in ".{0,4}", summary in proptest::option::of(".{0,4}")) {
            let (new, description) = described(&text, &Header { title: Some(title.clone()), summary: summary.clone(), ..Header::default() });
            let mut own = vec!["title"];
            own.extend(summary.as_ref().map(|_| "summary"));
            let fresh = ["title", "summary", "src_type", "fetched_at"].iter().all(|name| !raw(&text).contains_key(*name));
            own.extend(fresh.then_some("fetched_at"));
            prop_assert_eq!(spelled(&text, &own), spelled(&new, &own));
            let value: Value = serde_json::from_str(&new).unwrap();
            prop_assert_eq!(&value["title"], &json!(title));
            prop_assert!(summary.is_none_or(|summary| value["summary"] == summary));
            prop_assert_eq!(fresh, value["fetched_at"] == "now");
            prop_assert_eq!(description.documents, value["documents"].as_array().unwrap().len());
        }
    }
}
