//! The claims of an answer: quotations followed by a citation.
//!
//! The search starts at the citations, because a bracket with `PATH#SLUG` is rare in prose, and quotation marks are
//! not.

use std::path::Path;

use ragmaker_document::sections::Headings;

/// A quotation and its citation.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Claim {
    /// The quotation.
    pub quote: String,
    /// `PATH#SLUG`, as written in the answer.
    pub citation: Option<String>,
}

/// The claims of an answer.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Claims {
    /// The claims, in the order of the answer.
    pub claims: Vec<Claim>,
    /// The number of citations without a quotation, which cannot be checked.
    pub unquoted: usize,
}

/// The longest citation, and the longest quotation in quotation marks, in bytes.
const MAX_CITATION: usize = 1_000;
const MAX_QUOTE: usize = 20_000;
/// The maximum nesting depth of brackets in a citation.
const MAX_DEPTH: usize = 8;
/// Characters that may stand between a quotation and its citation.
const BETWEEN: &[char] = &['.', ',', ';', ':', '(', '（', '、', '。', '，', '．', '—', '–', '-', '*', '_', '~'];

/// Parses the claims in `answer`, a Markdown text.
pub fn claims(answer: &str) -> Claims {
    let mut found = Claims::default();
    let mut code = fenced(answer).into_iter().peekable();
    let (mut at, mut done) = (0, 0);
    while let Some(step) = answer[at..].find('[') {
        let open = at + step;
        at = open + 1;
        while code.next_if(|(_, end)| *end <= open).is_some() {}
        if code.peek().is_some_and(|(start, _)| *start <= open) || answer[..open].ends_with('\\') {
            continue;
        }
        let Some((citation, end)) = citation(answer, open) else { continue };
        let before = trimmed(&answer[done..open]);
        let quote = quoted(before).or_else(|| block(answer, done, open, end));
        match (quote, found.claims.last()) {
            (Some(quote), _) => found.claims.push(Claim { quote, citation: Some(citation) }),
            // A second citation of the same quotation.
            (None, Some(last)) if before.is_empty() && done > 0 => {
                let quote = last.quote.clone();
                found.claims.push(Claim { quote, citation: Some(citation) });
            }
            _ => found.unquoted += 1,
        }
        (at, done) = (end, end);
    }
    found
}

/// The citation in the bracket at `open`, alone or as the target of a link, and its end.
fn citation(answer: &str, open: usize) -> Option<(String, usize)> {
    let inner = &answer[open + 1..answer.floor_char_boundary(open + MAX_CITATION)];
    let close = closing(inner, '[', ']')?;
    let (label, rest) = (&inner[..close], &inner[close + 1..]);
    let end = open + 1 + close + 1;
    let Some(target) = rest.strip_prefix('(') else {
        return is_citation(label).then(|| (label.trim().to_owned(), end));
    };
    let (target, length) = if let Some(inside) = target.trim_start().strip_prefix('<') {
        let close = inside.find('>')?;
        let after = target.len() - inside.len() + close + 1;
        (&inside[..close], after + target[after..].find(')')? + 1)
    } else {
        let close = closing(target, '(', ')')?;
        (target[..close].split_whitespace().next()?, close + 1)
    };
    is_citation(target).then(|| (target.to_owned(), end + 1 + length))
}

/// The position of the bracket that closes one opened before `text`; an empty line ends the search.
fn closing(text: &str, open: char, close: char) -> Option<usize> {
    let (mut depth, mut before) = (0, ' ');
    for (at, c) in text.char_indices() {
        match c {
            _ if before == '\\' => {}
            '\n' if before == '\n' => return None,
            _ if c == open && depth == MAX_DEPTH => return None,
            _ if c == open => depth += 1,
            _ if c == close && depth == 0 => return Some(at),
            _ if c == close => depth -= 1,
            _ => {}
        }
        before = if before == '\\' && c == '\\' { ' ' } else { c };
    }
    None
}

/// Whether `text` has the form `PATH#SLUG`, or is the path of a Markdown file.
fn is_citation(text: &str) -> bool {
    let text = text.trim();
    let (path, slug) = text.rsplit_once('#').map_or((text, None), |(path, slug)| (path, Some(slug)));
    let is_file = Path::new(path).extension().is_some_and(|extension| extension.eq_ignore_ascii_case("md"));
    let has_slug = slug.is_some_and(|slug| !slug.contains(char::is_whitespace));
    !path.contains("://")
        && !text.contains('\n')
        && !path.ends_with(char::is_whitespace)
        && (is_file || (has_slug && path.contains(['.', '/'])))
}

/// `text` without characters that may stand between a quotation and its citation.
fn trimmed(text: &str) -> &str {
    text.trim_end_matches(|c: char| c.is_whitespace() || BETWEEN.contains(&c))
}

/// The quotation in quotation marks at the end of `before`.
fn quoted(before: &str) -> Option<String> {
    let close = before.chars().next_back()?;
    let inner = &before[..before.len() - close.len_utf8()];
    let inner = &inner[inner.ceil_char_boundary(inner.len().saturating_sub(MAX_QUOTE))..];
    let openers: &[char] = match close {
        '”' | '〟' | '〞' => &['“', '„', '”', '〝'],
        '“' => &['„'],
        '」' => &['「'],
        '』' => &['『'],
        '»' => &['«'],
        '«' => &['»'],
        '"' | '＂' => return straight(inner),
        _ => return None,
    };
    let mut depth = 0;
    for (at, c) in inner.char_indices().rev() {
        if openers.contains(&c) {
            if depth == 0 {
                return Some(inner[at + c.len_utf8()..].to_owned());
            }
            depth -= 1;
        } else if c == close {
            depth += 1;
        }
    }
    None
}

/// The quotation between straight quotation marks at the end of `inner`.
fn straight(inner: &str) -> Option<String> {
    let (mut depth, mut inmost) = (0, None);
    for (at, c) in inner.char_indices().rev() {
        if !matches!(c, '"' | '＂') || inner[..at].ends_with('\\') {
            continue;
        }
        let start = at + c.len_utf8();
        let (before, after) = (inner[..at].chars().next_back(), inner[start..].chars().next());
        let ends_word = before.is_some_and(|c| c.is_alphanumeric() || matches!(c, '.' | ',' | '!' | '?' | ')'));
        // A nested quotation ends here.
        if ends_word && after.is_some_and(|c| c.is_whitespace() || matches!(c, '.' | ',' | ';' | ':' | ')')) {
            depth += 1;
        } else if depth == 0 {
            return Some(inner[start..].to_owned());
        } else {
            depth -= 1;
            inmost = Some(start);
        }
    }
    // What looked like an end was an inch sign or similar.
    inmost.map(|start| inner[start..].to_owned())
}

/// The block quote that ends with the citation from `open` to `end`, or precedes its line. The text before
/// `done` belongs to another claim.
fn block(answer: &str, done: usize, open: usize, end: usize) -> Option<String> {
    let line_start = answer[..open].rfind('\n').map_or(0, |at| at + 1);
    let mut in_block = unmarked(&answer[line_start..]).is_some();
    let mut after = answer[end..].lines();
    let ends = after.next().unwrap_or_default().trim_matches(|c: char| c.is_whitespace() || ".,;:)）。*_".contains(c));
    let goes_on = in_block && after.next().and_then(unmarked).is_some_and(|line| !line.trim().is_empty());
    if !ends.is_empty() || goes_on {
        return None;
    }
    let own = &answer[line_start.max(done)..open];
    let own = unmarked(own).unwrap_or(own);
    let is_alone = !in_block && trimmed(own).is_empty();
    let above = answer[done.min(line_start)..line_start].lines().rev();
    let mut lines = vec![own];
    for line in above.skip_while(|line| is_alone && line.trim().is_empty()) {
        match unmarked(line) {
            Some(text) => {
                in_block = true;
                lines.push(text);
            }
            None if in_block || line.trim().is_empty() => break,
            // A paragraph may continue without a marker.
            None => lines.push(line),
        }
    }
    if !in_block {
        return None;
    }
    lines.reverse();
    let text = lines.join("\n");
    let text = trimmed(text.trim()).trim_matches(['"', '“', '”', '「', '」']);
    (!text.is_empty()).then(|| text.to_owned())
}

/// A line of a block quote without its marker.
fn unmarked(line: &str) -> Option<&str> {
    line.trim_start_matches(' ').strip_prefix('>')
}

/// The byte ranges of fenced code, in which brackets are not citations.
fn fenced(answer: &str) -> Vec<(usize, usize)> {
    let (mut headings, mut found, mut at): (_, Vec<(usize, usize)>, _) = (Headings::default(), vec![], 0);
    for line in answer.split_inclusive('\n') {
        let before = headings.in_code();
        headings.read(line.trim_end_matches(['\n', '\r']));
        if before || headings.in_code() {
            found.push((at, at + line.len()));
        }
        at += line.len();
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Quotations and citations, and the number of citations without a quotation.
    fn parsed(answer: &str) -> (Vec<(String, String)>, usize) {
        let found = claims(answer);
        let pairs = found.claims.into_iter().map(|claim| (claim.quote, claim.citation.unwrap_or_default()));
        (pairs.collect(), found.unquoted)
    }

    fn one(answer: &str) -> (String, String) {
        let (mut found, unquoted) = parsed(answer);
        assert_eq!((found.len(), unquoted), (1, 0), "{answer}: {found:?}");
        found.remove(0)
    }

    #[test]
    fn a_quotation_is_followed_by_its_citation() {
        for (answer, quote, citation) in [
            ("It says \"the moon pulls\" [a/tides.md#spring-tide].", "the moon pulls", "a/tides.md#spring-tide"),
            ("“curly”[t.md#]", "curly", "t.md#"),
            ("答え：「月が引く」[潮.md#大潮]。", "月が引く", "潮.md#大潮"),
            ("「外の「内」まで」 [t.md#a]", "外の「内」まで", "t.md#a"),
            ("これは\"月が引く\"[t.md#a]", "月が引く", "t.md#a"),
            ("\"He said \"stop\" and left\" [t.md#a]", "He said \"stop\" and left", "t.md#a"),
            ("\"one\" and \"two\" [t.md#a]", "two", "t.md#a"),
            ("\"a 5\" disc has room\" [t.md#a]", "a 5\" disc has room", "t.md#a"),
            ("**\"bold\"** ([t.md#a])", "bold", "t.md#a"),
            ("\"link\" [Tides](t.md#a)", "link", "t.md#a"),
            ("\"link\" [[x]](<a b.md#a> \"title\")", "link", "a b.md#a"),
            ("\"link\" [t.md#x](t(1).md#a).", "link", "t(1).md#a"),
            ("> quoted\n> on [link](x) lines\n> [t.md#a]", " quoted\n on [link](x) lines", "t.md#a"),
            ("> quoted — [t.md#a]\n\nMore.", "quoted", "t.md#a"),
            ("> quoted\nlazily\n\n[t.md#a]", " quoted\nlazily", "t.md#a"),
            ("> \"marked\"\n\n— [Tides](t.md#a)", "marked", "t.md#a"),
            ("Text.\n\n> \"in\" [t.md#a]\n> and more", "in", "t.md#a"),
        ] {
            let (found, place) = one(answer);
            assert_eq!((found.trim(), place.as_str()), (quote.trim(), citation), "{answer}");
        }
        let both = parsed("\"one\" [a.md#x] [b.md#y]; «two» [c.md#z]").0;
        let expected = [("one", "a.md#x"), ("one", "b.md#y"), ("two", "c.md#z")];
        assert_eq!(both.iter().map(|(q, c)| (q.as_str(), c.as_str())).collect::<Vec<_>>(), expected);
    }

    #[test]
    fn other_brackets_are_no_citations() {
        for answer in [
            "\"x\" [issue #12], [C#], [1], [^1], [text](https://x.example/a.md#b), \"x\" [ ]",
            "```\n\"code\" [a.md#b]\n```\n",
            "\\[a.md#b]",
        ] {
            assert_eq!(parsed(answer), (vec![], 0), "{answer}");
        }
        for answer in ["The moon pulls [a.md#b].", "See [Tides](a.md#b).", "> block\n\nProse [a.md#b]."] {
            assert_eq!(parsed(answer), (vec![], 1), "{answer}");
        }
    }

    proptest! {
        #[test]
        fn every_text_is_an_answer(text in "[\\[\\]()<>#\"“”「」>`\\\\a潮 \n.]{0,80}|(\"q\" |> q |\\[|a.md#b|\\]\\(|\\]|\n){0,30}") {
            let found = claims(&text);
            prop_assert!(found.claims.len() + found.unquoted <= text.matches('[').count());
        }
    }
}
