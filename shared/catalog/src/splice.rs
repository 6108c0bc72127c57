//! Which bytes of a catalog a change replaces, and with what.
//!
//! Whatever a change does not name stays as it was: other fields, their order, the spelling of
//! numbers and escapes, the layout. What is new is laid out like what is there.

use std::{io::Read, ops::Range};

use serde_json::Value;

use crate::{
    Description, Header, Outcome,
    scan::{self, Documents, Failure, Member},
};

/// One replacement in a text. Several are in order and do not overlap.
#[derive(Debug)]
pub(crate) struct Edit {
    pub(crate) at: Range<u64>,
    pub(crate) new: String,
}

/// The edits that leave one entry for `url`, with `fields`.
pub(crate) fn record(catalog: impl Read, url: &str, fields: &[(&str, Value)]) -> Result<(Vec<Edit>, Outcome), Failure> {
    let documents = scan::outline(catalog, Some(url))?.documents;
    if let Some(members) = &documents.found {
        return Ok((set(members, fields, Before::Nothing), Outcome::Updated));
    }
    let fields: Vec<String> = fields.iter().map(|(name, value)| format!("{}: {value}", Value::from(*name))).collect();
    let entry = format!("{{{}}}", fields.join(", "));
    Ok((vec![append(&documents, &entry)], Outcome::Added))
}

/// The edit that puts `entry` after the last document.
fn append(documents: &Documents, entry: &str) -> Edit {
    let at = documents.end..documents.end;
    if documents.count > 0 {
        // It stands where the others stand.
        return Edit { at, new: format!(",{}{entry}", documents.gap) };
    }
    // One step further in than `documents`, which is itself one step in.
    let gap = &documents.member.gap;
    let (line, step) = match gap.rfind('\n') {
        Some(at) => (&gap[at - usize::from(gap[..at].ends_with('\r'))..], &gap[at + 1..]),
        None => ("", ""),
    };
    let close = if documents.gap.contains('\n') { "" } else { line };
    Edit { at, new: format!("{line}{step}{entry}{close}") }
}

/// The edits that give the catalog the fields that `header` has, and how it reads then.
pub(crate) fn describe(
    catalog: impl Read,
    header: &Header,
    now: impl FnOnce() -> String,
) -> Result<(Vec<Edit>, Description), Failure> {
    let outline = scan::outline(catalog, None)?;
    let mut result = Header::default();
    let mut fresh = true;
    for member in &outline.members {
        let key: Option<String> = serde_json::from_str(&member.key).ok();
        let Some(field) = key.and_then(|key| result.field_mut(&key)) else { continue };
        fresh = false;
        // Null is how some write that there is none; what is not text is shown as it is spelled.
        *field = match serde_json::from_str(&member.value) {
            Ok(text) => text,
            Err(_) => Some(member.value.clone()),
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
    let edits = set(&outline.members, &fields, Before::Member(&outline.documents.member));
    Ok((edits, Description { header: result, documents: outline.documents.count }))
}

/// Where an object takes members that it does not have yet.
#[derive(Clone, Copy)]
enum Before<'a> {
    /// Before this one.
    Member(&'a Member),
    /// At the end.
    Nothing,
}

/// The edits that give an object with `members` these `fields`.
fn set(members: &[Member], fields: &[(&str, Value)], before: Before<'_>) -> Vec<Edit> {
    let mut edits = vec![];
    for (name, value) in fields {
        // Of members with one name, the last is the one that parsers keep.
        if let Some(member) = members.iter().rev().find(|member| member.is(name)) {
            edits.push(Edit { at: member.value_at(), new: value.to_string() });
            continue;
        }
        let name = Value::from(*name);
        match (before, members.last()) {
            (Before::Member(Member { gap, colon, at, .. }), _) => {
                edits.push(Edit { at: at.start..at.start, new: format!("{name}{colon}{value},{gap}") });
            }
            (Before::Nothing, Some(Member { gap, colon, at, .. })) => {
                edits.push(Edit { at: at.end..at.end, new: format!(",{gap}{name}{colon}{value}") });
            }
            // An object that has a URL has a member.
            (Before::Nothing, None) => {}
        }
    }
    edits.sort_by_key(|edit| edit.at.start);
    edits
}
