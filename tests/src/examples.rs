//! The command lines in the documentation, found and checked.
//!
//! Shell blocks are parsed as far as necessary to find the tools' command lines: line continuations, quotes,
//! comments, pipes, `xargs`, loops, substitutions, here-documents. Other blocks are parsed as sessions, where
//! `$ ` begins a command.

use std::iter::Peekable;

use serde_json::Value;

use crate::discovery::{Entry, option};

/// A command line of a tool in a document.
pub struct Example {
    /// The line number in the document, from 1.
    pub line: usize,
    /// The executable and its arguments.
    pub words: Vec<String>,
    /// Whether `xargs` appends arguments.
    pub is_open: bool,
}

/// The tools' command lines in a Markdown document, or the first syntax that cannot be parsed.
pub fn examples(markdown: &str) -> Result<Vec<Example>, String> {
    let mut found = vec![];
    let mut lines = markdown.lines().enumerate().peekable();
    while let Some((_, line)) = lines.next() {
        let Some((fence, language)) = opened(line) else { continue };
        let is_powershell = ["powershell", "pwsh"].contains(&language);
        let is_script = is_powershell || ["sh", "bash", "shell", "zsh"].contains(&language);
        let continues = if is_powershell { '`' } else { '\\' };
        while let Some((at, line)) = lines.next_if(|(_, line)| !closes(line, fence)) {
            let command = if is_script { Some(line.trim()) } else { line.trim().strip_prefix("$ ") };
            if let Some(command) = command {
                let inside =
                    &mut std::iter::from_fn(|| lines.next_if(|(_, line)| !closes(line, fence))).map(|(_, line)| line);
                let words = words(command, continues, inside).map_err(|reason| format!("line {}: {reason}", at + 1))?;
                tools(&words, &mut |words, is_open| found.push(Example { line: at + 1, words, is_open }));
            }
        }
        // The fence that closes the block.
        lines.next();
    }
    Ok(found)
}

/// The shell blocks in the section of a Markdown document with this heading.
pub fn scripts(markdown: &str, heading: &str) -> Vec<String> {
    let title = format!("## {heading}");
    let mut lines = markdown.lines().skip_while(|line| *line != title).skip(1);
    let mut found = vec![];
    while let Some(line) = lines.next().filter(|line| !line.starts_with("## ")) {
        let Some((fence, language)) = opened(line) else { continue };
        let block: Vec<&str> = lines.by_ref().take_while(|line| !closes(line, fence)).collect();
        if language == "sh" {
            found.push(block.join("\n"));
        }
    }
    found
}

/// The fence that a line opens, and the block's language.
pub(crate) fn opened(line: &str) -> Option<(&str, &str)> {
    let line = line.trim_start();
    let mark = line.chars().next().filter(|mark| ['`', '~'].contains(mark))?;
    let rest = line.trim_start_matches(mark);
    let fence = &line[..line.len() - rest.len()];
    let language = rest.trim().split([' ', ',', '{']).next().unwrap_or_default();
    (fence.len() >= 3 && !rest.contains('`')).then_some((fence, language))
}

pub(crate) fn closes(line: &str, fence: &str) -> bool {
    let line = line.trim();
    line.starts_with(fence) && line.trim_start_matches(&fence[..1]).is_empty()
}

/// The words of the command that starts with `first`. Takes the continuation lines, marked by `continues` at
/// the end of a line, and skips the text of a here-document.
fn words<'a>(first: &'a str, continues: char, rest: &mut impl Iterator<Item = &'a str>) -> Result<Vec<String>, String> {
    let mut text = first.to_owned();
    loop {
        let is_continued = text.ends_with(continues) || text.ends_with(" |");
        let split = shell_words::split(&text);
        match (split, is_continued) {
            (Ok(words), false) => {
                skip_here_document(&words, rest);
                return Ok(words);
            }
            (split, _) => match rest.next() {
                Some(line) => {
                    let kept = text.trim_end_matches(continues).len();
                    // Inside quotes, the line break is kept.
                    let joint = if is_continued { " " } else { "\n" };
                    text.replace_range(kept.., joint);
                    text += line.trim().trim_start_matches("> ");
                }
                None => return split.map_err(|error| format!("{error}: {text}")),
            },
        }
    }
}

fn skip_here_document<'a>(words: &[String], rest: &mut impl Iterator<Item = &'a str>) {
    let here = words.iter().enumerate().find(|(_, word)| word.starts_with("<<") && !word.starts_with("<<<"));
    if let Some((at, word)) = here {
        let end = word.trim_start_matches(['<', '-']);
        let end = if end.is_empty() { words.get(at + 1).map_or("", String::as_str) } else { end };
        for line in rest {
            if line.trim() == end {
                break;
            }
        }
    }
}

/// Words that may precede a command.
const BEFORE: [&str; 14] =
    ["do", "then", "else", "if", "while", "until", "!", "time", "timeout", "env", "exec", "sudo", "nice", "xargs"];

/// Calls `found` with every tool's command line among `words`, and whether `xargs` completes it.
fn tools(words: &[String], found: &mut impl FnMut(Vec<String>, bool)) {
    for word in words {
        for (_, inner) in word.match_indices("$(").map(|(at, open)| word.split_at(at + open.len())) {
            let inner = inner.rsplit_once(')').map_or(inner, |(inner, _)| inner);
            if let Ok(words) = shell_words::split(inner) {
                tools(&words, found);
            }
        }
    }
    let mut words = words.iter().map(String::as_str).peekable();
    while words.peek().is_some() {
        let command = simple_command(&mut words);
        let start = command.iter().position(|word| !is_assignment(word)).unwrap_or(0);
        let command = &command[start..];
        let Some(first) = command.first() else { continue };
        let at = if BEFORE.contains(first) { command.iter().position(|word| is_tool(word)) } else { Some(0) };
        if let Some(at) = at.filter(|at| is_tool(command[*at])) {
            let is_open = command[..at].contains(&"xargs");
            found(command[at..].iter().map(|word| (*word).to_owned()).collect(), is_open);
        }
    }
}

/// Takes the words up to the next operator, without redirections.
fn simple_command<'a>(words: &mut Peekable<impl Iterator<Item = &'a str>>) -> Vec<&'a str> {
    let mut command = vec![];
    while let Some(word) = words.next() {
        if ["|", "||", "&&", "&", ";", "|&"].contains(&word) {
            break;
        }
        let redirects = word.trim_start_matches(|c: char| c.is_ascii_digit() || c == '&');
        if redirects.starts_with(['>', '<']) {
            if redirects.trim_start_matches(['>', '<']).is_empty() {
                words.next();
            }
            continue;
        }
        if let Some(last) = word.strip_suffix(';') {
            command.push(last);
            break;
        }
        command.push(word);
    }
    command
}

fn is_assignment(word: &str) -> bool {
    word.split_once('=')
        .is_some_and(|(name, _)| !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_'))
}

fn is_tool(word: &str) -> bool {
    let name = base(word);
    name == "ragmaker" || name.starts_with("ragmaker-")
}

/// The name of an executable, without its folder and `.exe`.
fn base(word: &str) -> &str {
    let name = word.rsplit(['/', '\\']).next().unwrap_or(word);
    name.strip_suffix(".exe").unwrap_or(name)
}

impl Example {
    /// The executable's name.
    pub fn command(&self) -> &str {
        base(&self.words[0])
    }

    /// Checks the command line against the entries; the error is the problem.
    pub fn check(&self, entries: &[Entry]) -> Result<(), String> {
        let entry = entries.iter().find(|entry| entry.command == self.command()).ok_or("there is no such tool")?;
        let mut given: Vec<String> = vec![];
        let (mut places, mut is_option) = (entry.words.iter().peekable(), true);
        let mut words = self.words[1..].iter().map(String::as_str).peekable();
        while let Some(word) = words.next() {
            if word == "--" && is_option {
                is_option = false;
                continue;
            }
            if !is_option || !word.starts_with('-') || word == "-" {
                let key = places.peek().copied().ok_or_else(|| format!("{word} is not an option"))?;
                fits(key, &entry.arguments[key], word)?;
                if entry.arguments[key]["type"] != "array" {
                    places.next();
                    if given.contains(key) {
                        return Err(format!("--{key} is given twice"));
                    }
                }
                given.push(key.clone());
                continue;
            }
            let (name, inline) = word.split_once('=').map_or((word, None), |(name, value)| (name, Some(value)));
            if ["-h", "--help", "-V", "--version", "--describe"].contains(&word) {
                return Ok(());
            }
            let name = name.strip_prefix("--").ok_or_else(|| format!("{word} is not an option"))?.replace('_', "-");
            if name == "arguments" {
                let object = inline.or_else(|| words.next()).ok_or("--arguments has no value")?;
                if is_unknown(object) || object == "-" {
                    return Ok(());
                }
                given.extend(object_keys(entry, object)?);
                continue;
            }
            let flag = format!("--{name}");
            if !entry.json["command_line_flags"][&flag].is_null() {
                // The tool's own parser decides whether an option takes a value.
                words.next_if(|word| !word.starts_with('-'));
                continue;
            }
            let found = entry.arguments.iter().find(|(key, schema)| option(key, schema) == flag);
            let (key, schema) = found.ok_or_else(|| format!("there is no --{name}"))?;
            if schema["type"] != "boolean" {
                match inline.or_else(|| words.next()) {
                    Some(value) => fits(&name, schema, value)?,
                    None if self.is_open => {}
                    None => return Err(format!("--{name} has no value")),
                }
            }
            if given.contains(key) && schema["type"] != "array" {
                return Err(format!("--{name} is given twice"));
            }
            given.push(key.clone());
        }
        let is_appended = |name: &String| self.is_open && places.clone().any(|place| place == name);
        match entry.required.iter().find(|name| !given.contains(name) && !is_appended(name)) {
            Some(missing) => Err(format!("{} is missing", option(missing, &entry.arguments[missing]))),
            None => Ok(()),
        }
    }
}

/// The arguments in a JSON object.
fn object_keys(entry: &Entry, object: &str) -> Result<Vec<String>, String> {
    let object: Value = serde_json::from_str(object).map_err(|error| format!("--arguments: {error}"))?;
    let object = object.as_object().ok_or("--arguments is not an object")?;
    let mut keys = vec![];
    for (key, value) in object.iter().filter(|(key, _)| *key != "wait_for_previous") {
        let name = key.replace('-', "_");
        let positive = name.strip_prefix("no_").unwrap_or(&name);
        let found = [&name, positive].into_iter().find_map(|name| entry.arguments.get_key_value(name));
        let (name, schema) = found.ok_or_else(|| format!("there is no {key}"))?;
        if schema["type"] != "boolean" {
            let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
            fits(name, schema, &text)?;
        }
        keys.push(name.clone());
    }
    Ok(keys)
}

/// Whether the shell or `xargs -I` replaces this text.
fn is_unknown(text: &str) -> bool {
    text.contains(['$', '`']) || text.contains("{}")
}

fn fits(name: &str, schema: &Value, value: &str) -> Result<(), String> {
    if is_unknown(value) {
        return Ok(());
    }
    let choices = schema["enum"].as_array();
    let is_choice = choices.is_none_or(|choices| choices.iter().any(|choice| choice == value));
    let is_number = match schema["type"].as_str() {
        Some("integer") => value.parse().is_ok_and(|number: i64| {
            schema["minimum"].as_i64().is_none_or(|least| number >= least)
                && schema["maximum"].as_i64().is_none_or(|most| number <= most)
        }),
        Some("number") => value.parse::<f64>().is_ok(),
        _ => true,
    };
    if is_choice && is_number { Ok(()) } else { Err(format!("--{name} cannot be {value}")) }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn found(markdown: &str) -> Vec<(usize, String, bool)> {
        let examples = examples(markdown).unwrap();
        examples.into_iter().map(|example| (example.line, example.words.join(" "), example.is_open)).collect()
    }

    fn one(command: &str) -> Vec<String> {
        found(&format!("```sh\n{command}\n```\n")).into_iter().map(|(_, words, _)| words).collect()
    }

    #[test]
    fn only_shell_and_session_blocks_are_parsed() {
        let document = "ragmaker-a\n\n    ragmaker-b\n\n```json\n{\"command\": \"ragmaker-c\"}\n```\n\
                        - item\n  ```bash\n  ragmaker-d --x 1 # ragmaker-e\n  ```\n\
                        ~~~~console\n$ ragmaker-f --x 2\nragmaker-g\n~~~\n$ ragmaker-h\n~~~~\nragmaker-i\n";
        let expected = [(10, "ragmaker-d --x 1"), (13, "ragmaker-f --x 2"), (16, "ragmaker-h")];
        assert_eq!(found(document), expected.map(|(line, words)| (line, words.to_owned(), false)));
    }

    #[test]
    fn the_scripts_of_a_section_are_those_below_its_heading() {
        let document =
            "```sh\na\n```\n## One\n```sh\nb\n## c\n```\n```\nd\n```\ntext\n```sh\ne\n```\n## Two\n```sh\nf\n```\n";
        assert_eq!(scripts(document, "One"), ["b\n## c", "e"]);
        assert_eq!(scripts(document, "Two"), ["f"]);
        assert!(scripts(document, "Three").is_empty());
    }

    #[test]
    fn a_command_is_found_where_a_shell_finds_it() {
        for (command, expected) in [
            ("ragmaker-a --x 'b c' \\\n  --y=\"d\"", &["ragmaker-a --x b c --y=d"][..]),
            ("./target/release/ragmaker-a.exe --x", &["./target/release/ragmaker-a.exe --x"]),
            ("A=1 B='2 3' ragmaker-a > out.json 2>err.txt <in 2> /dev/null", &["ragmaker-a"]),
            (
                "ragmaker-a --x | jq -r .y |\n  ragmaker-b && ragmaker-c; ragmaker-d",
                &["ragmaker-a --x", "ragmaker-b", "ragmaker-c", "ragmaker-d"],
            ),
            ("for f in *; do ragmaker-a --x \"$f\"; done", &["ragmaker-a --x $f"]),
            ("while read -r u\ndo ragmaker-a --x \"$u\"\ndone", &["ragmaker-a --x $u"]),
            ("ids=\"$(ragmaker-a --x 1)\"", &["ragmaker-a --x 1"]),
            ("echo $(ragmaker-a)", &["ragmaker-a"]),
            ("ragmaker-a --x 'two\nlines'", &["ragmaker-a --x two\nlines"]),
            (
                "ragmaker-a --arguments - <<'END'\n{\"it's\": 1}\nragmaker-b\nEND\nragmaker-c",
                &["ragmaker-a --arguments -", "ragmaker-c"],
            ),
            ("cargo install ragmaker-a\nwhich ragmaker-b", &[]),
            ("timeout 10 ragmaker-a", &["ragmaker-a"]),
            ("x=`date`\nragmaker-a", &["ragmaker-a"]),
        ] {
            assert_eq!(one(command), expected, "{command}");
        }
        let piped = found("```sh\ncat urls | xargs -P4 -n1 ragmaker-a --x 1 --url\n```");
        assert_eq!(piped, [(2, "ragmaker-a --x 1 --url".to_owned(), true)]);
        let powershell = found("```powershell\nragmaker-a `\n  --x 1\n```");
        assert_eq!(powershell, [(2, "ragmaker-a --x 1".to_owned(), false)]);
        assert!(examples("```sh\nragmaker-a --x 'never closed\n```\n").is_err());
    }

    #[test]
    fn an_invalid_command_line_is_reported() {
        let entry = |command: &str| Entry {
            command: command.to_owned(),
            arguments: json!({
                "url": {"type": "string"}, "limit": {"type": "integer", "minimum": 1, "maximum": 9},
                "kind": {"type": "string", "enum": ["web", "local"]}, "deep_down": {"type": "boolean"},
                "shallow": {"type": "boolean", "default": true},
                "tag": {"type": "array"},
            })
            .as_object()
            .unwrap()
            .clone(),
            required: vec!["url".to_owned()],
            words: ["url", "tag"].map(str::to_owned).to_vec(),
            json: json!({}),
        };
        let check = |command: &str| {
            let examples = examples(&format!("```sh\n{command}\n```\n")).unwrap();
            examples[0].check(&[entry("ragmaker-a"), Entry { words: vec![], ..entry("ragmaker-b") }])
        };
        for right in [
            "ragmaker-a --url x --limit=9 --kind web --deep-down --tag 1 --tag 2",
            "ragmaker-a --url \"$url\" --limit \"$n\" --deep_down",
            "ragmaker-a --arguments '{\"url\": \"x\", \"limit\": 3, \"deep_down\": true, \"wait_for_previous\": true}'",
            "ragmaker-a --url x --no-shallow",
            "ragmaker-a --arguments '{\"url\": \"x\", \"shallow\": false}'",
            "ragmaker-a --arguments '{\"url\": \"x\", \"no-shallow\": true}'",
            "ragmaker-a --arguments -",
            "ragmaker-a --help",
            "ragmaker-a x --limit=9",
            "ragmaker-a --limit=9 -- --x tag tag --tag",
            "xargs ragmaker-a --limit 9",
            "xargs ragmaker-a --url",
            "xargs -I{} ragmaker-a --url {}",
        ] {
            assert_eq!(check(right), Ok(()), "{right}");
        }
        for (wrong, reason) in [
            ("ragmaker-c", "there is no such tool"),
            ("ragmaker-a", "--url is missing"),
            ("ragmaker-a --url", "--url has no value"),
            ("ragmaker-a --url x --urls y", "there is no --urls"),
            ("ragmaker-a --url x --shallow", "there is no --shallow"),
            ("ragmaker-b x", "x is not an option"),
            ("ragmaker-a x --url y", "--url is given twice"),
            ("ragmaker-a --url x y", "--url is given twice"),
            ("ragmaker-a -x", "-x is not an option"),
            ("ragmaker-a --url x --url y", "--url is given twice"),
            ("ragmaker-a --url x --limit 10", "--limit cannot be 10"),
            ("ragmaker-a --url x --limit many", "--limit cannot be many"),
            ("ragmaker-a --url x --kind none", "--kind cannot be none"),
            ("ragmaker-a --arguments '{\"limit\": 3}'", "--url is missing"),
            ("ragmaker-a --arguments '{\"url\": 3, \"limit\": 0}'", "--limit cannot be 0"),
        ] {
            assert_eq!(check(wrong), Err(reason.to_owned()), "{wrong}");
        }
    }
}
