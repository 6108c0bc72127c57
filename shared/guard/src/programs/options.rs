//! Options and operands of programs, as `getopt_long` reads them: `-abc`, `-n5`, `-n 5`, `--name=value`,
//! `--name value`, `--`, in any order.

use super::{CommandContext, refused};
use crate::{Reason, paths, word::Word};

/// The arguments that a program accepts.
#[derive(Clone, Copy, Debug)]
pub(super) struct Entry {
    /// The options, separated by white space. `-abc` are switches. `-n:` and `--name:` take a value. `-f@` and
    /// `--name@` take a path to read. `-w?` and `--name?` take an optional value without a blank. `-#` is a
    /// number, such as `-20`.
    pub(super) options: &'static str,
    /// The operands.
    pub(super) operands: Operands,
}

/// The meaning of the operands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Operands {
    /// No operands.
    None,
    /// Paths to read.
    Paths,
    /// At most one path to read, because the program writes a second one.
    OnePath,
    /// A text, unless one of these options was given; then paths.
    TextThenPaths(&'static [&'static str]),
    /// Texts.
    Text,
    /// Everything is text, including words that look like options.
    Any,
}

/// The kind of value of an option.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Value {
    None,
    Text,
    Path,
    Attached,
}

/// The parsed arguments of a program.
#[derive(Debug, Default)]
pub(super) struct Parsed<'w> {
    /// The options, as `-n` or `--name`, with their values.
    pub(super) options: Vec<(String, Option<Word>)>,
    /// The operands, in order.
    pub(super) operands: Vec<&'w Word>,
    /// The number of operands before `--`; `None` without it.
    pub(super) before_dashes: Option<usize>,
    /// Whether the value of an option is a file pattern in a word of its own: it may match several files, and all but the
    /// first are operands.
    has_value_pattern: bool,
}

impl Parsed<'_> {
    pub(super) fn has(&self, names: &[&str]) -> bool {
        self.options.iter().any(|(name, _)| names.contains(&name.as_str()))
    }
}

impl Entry {
    fn long(&self, name: &str) -> Option<Value> {
        if name.ends_with([':', '@', '?']) {
            return None;
        }
        self.options.split(' ').find_map(|option| {
            let rest = option.strip_prefix("--")?.strip_prefix(name)?;
            Some(match rest {
                "" => Value::None,
                ":" => Value::Text,
                "@" => Value::Path,
                "?" => Value::Attached,
                _ => return None,
            })
        })
    }

    fn short(&self, letter: char) -> Option<Value> {
        self.options.split(' ').filter(|option| !option.starts_with("--")).find_map(|option| {
            let letters = option.strip_prefix('-')?;
            let (letters, value) = match letters.chars().last()? {
                ':' if letters.len() > 1 => (&letters[..letters.len() - 1], Value::Text),
                '@' if letters.len() > 1 => (&letters[..letters.len() - 1], Value::Path),
                '?' if letters.len() > 1 => (&letters[..letters.len() - 1], Value::Attached),
                _ => (letters, Value::None),
            };
            (letters != "#" && letters.contains(letter)).then_some(value)
        })
    }

    fn takes_numbers(&self) -> bool {
        self.options.split(' ').any(|option| option == "-#")
    }
}

/// Checks the arguments of `program`.
pub(super) fn check(
    program: &str,
    entry: &Entry,
    arguments: &[Word],
    context: &CommandContext<'_>,
) -> Result<(), Reason> {
    if entry.operands == Operands::Any {
        return Ok(());
    }
    let parsed = parse(program, entry, arguments, context)?;
    match entry.operands {
        Operands::Any | Operands::Text => Ok(()),
        Operands::None => parsed.operands.first().map_or(Ok(()), |word| Err(refused(program, word))),
        Operands::Paths => all(&parsed.operands, context),
        Operands::OnePath => match parsed.operands.as_slice() {
            [] => Ok(()),
            [one] if one.globs.is_empty() => context.path(one),
            [.., last] => Err(refused(program, last)),
        },
        Operands::TextThenPaths(givers) => {
            // A file that the pattern of an option matches can take the place of the text, which then is a path.
            let first = usize::from(!parsed.has(givers) && !parsed.has_value_pattern);
            let paths = parsed.operands.get(first..).unwrap_or_default();
            all(paths, context)?;
            if program.ends_with("grep") && parsed.has(&["-R", "--dereference-recursive"]) {
                let here = Word::plain(".");
                let paths = if paths.is_empty() { &[&here] } else { paths };
                paths.iter().try_for_each(|word| paths::check_links(word, context.cwds, context.scope))?;
            }
            // If the text is an unquoted pattern, it can expand to any number of files, so it is checked as a
            // path.
            match parsed.operands.first() {
                Some(word) if first == 1 && !word.globs.is_empty() => context.path(word),
                _ => Ok(()),
            }
        }
    }
}

fn all(words: &[&Word], context: &CommandContext<'_>) -> Result<(), Reason> {
    words.iter().filter(|word| word.text != "-").try_for_each(|word| context.path(word))
}

/// Parses the arguments of `program`, and checks the paths among the values of its options.
pub(super) fn parse<'w>(
    program: &str,
    entry: &Entry,
    arguments: &'w [Word],
    context: &CommandContext<'_>,
) -> Result<Parsed<'w>, Reason> {
    let mut parsed = Parsed::default();
    let mut rest = arguments.iter();
    while let Some(word) = rest.next() {
        let text = word.text.as_str();
        if text == "--" {
            parsed.before_dashes = Some(parsed.operands.len());
            parsed.operands.extend(rest);
            break;
        }
        if text == "-" || !text.starts_with('-') {
            parsed.operands.push(word);
            continue;
        }
        let refuse = || refused(program, word);
        if !word.globs.is_empty() && !text.contains('=') {
            return Err(refuse());
        }
        let mut take = |value: Value, name: String, attached: Option<Word>| {
            let given = match (value, attached) {
                (Value::None, None) => None,
                (Value::None, Some(_)) => return Err(refuse()),
                (Value::Attached, attached) => attached,
                (_, Some(attached)) => Some(attached),
                (_, None) => {
                    let given = rest.next().ok_or_else(refuse)?;
                    // A pattern may match several files, and all but the first are operands.
                    parsed.has_value_pattern |= !given.globs.is_empty();
                    match entry.operands {
                        _ if given.globs.is_empty() => {}
                        Operands::Paths | Operands::TextThenPaths(_) => context.path(given)?,
                        _ => return Err(refused(program, given)),
                    }
                    Some(given.clone())
                }
            };
            if let (Value::Path, Some(path)) = (value, &given) {
                context.path(path)?;
            }
            parsed.options.push((name, given));
            Ok(())
        };
        if let Some(long) = text.strip_prefix("--") {
            let name = long.split('=').next().unwrap_or_default();
            let value = entry.long(name).ok_or_else(refuse)?;
            let attached = long.len() > name.len();
            take(value, format!("--{name}"), attached.then(|| word.after(name.len() + 3)))?;
        } else if entry.takes_numbers() && text[1..].bytes().all(|byte| byte.is_ascii_digit()) {
            parsed.options.push((text.to_owned(), None));
        } else {
            let letters = text.char_indices().skip(1);
            for (at, letter) in letters {
                let value = entry.short(letter).ok_or_else(refuse)?;
                let after = at + letter.len_utf8();
                let attached = (after < text.len() && value != Value::None).then(|| word.after(after));
                take(value, format!("-{letter}"), attached)?;
                if value != Value::None {
                    break;
                }
            }
        }
    }
    Ok(parsed)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::{Scope, word};

    const OPTIONS: &str = "-# -ab -n: -f@ -w? --all --name: --file@ --width?";

    /// The options and operands of a line in a project with the files `a1`, `a2` and `.env`.
    fn parsed(line: &str, operands: Operands) -> Result<String, &'static str> {
        let (_folder, scope) = Scope::of_project(&["a1", "a2", ".env"]);
        let cwds = [scope.cwd().to_path_buf()];
        let words = word::split(line).unwrap();
        let context = CommandContext { cwds: &cwds, scope: &scope };
        let parsed = parse("p", &Entry { options: OPTIONS, operands }, &words, &context).map_err(|why| why.rule)?;
        let options = parsed.options.into_iter().map(|(name, value)| match value {
            Some(value) => format!("{name}={}", value.text),
            None => name,
        });
        let operands = parsed.operands.iter().map(|word| format!("<{}>", word.text));
        Ok(options.chain(operands).collect::<Vec<_>>().join(" "))
    }

    #[test]
    fn options_are_read_as_programs_read_them() {
        for (line, expected) in [
            ("", ""),
            ("-ab x", "-a -b <x>"),
            ("-abn5 x", "-a -b -n=5 <x>"),
            ("-n 5 -20", "-n=5 -20"),
            ("-n -- -a", "-n=-- -a"),
            ("--name=a=b --all", "--name=a=b --all"),
            ("--name 5", "--name=5"),
            ("-w5 -w 5", "-w=5 -w <5>"),
            ("--width=5 --width 5", "--width=5 --width <5>"),
            ("x -a -- -b -", "-a <x> <-b> <->"),
            ("-f a1 --file=a2", "-f=a1 --file=a2"),
            ("-n\u{e9}", "-n=\u{e9}"),
        ] {
            assert_eq!(parsed(line, Operands::Paths).as_deref(), Ok(expected), "{line}");
        }
    }

    #[test]
    fn an_option_that_is_not_listed_or_has_no_value_is_refused() {
        let unknown =
            ["-c", "-ac", "--al", "--all=1", "-n", "--name", "-a=1", "-5a", "-#", "-:", "-\u{e9}", "--", "--="];
        for line in unknown.into_iter().chain(["--name:", "--file@", "--width?", "'--=x'"]) {
            let expected = if line == "--" { Ok(String::new()) } else { Err("option") };
            assert_eq!(parsed(line, Operands::Paths), expected, "{line}");
        }
        for (line, rule) in [("-f .env", "path"), ("--file=/etc/shadow", "path"), ("-af../x", "path")] {
            assert_eq!(parsed(line, Operands::Text), Err(rule), "{line}");
        }
    }

    #[test]
    fn a_pattern_as_a_value_adds_operands() {
        assert_eq!(parsed("-n a*", Operands::Paths).as_deref(), Ok("-n=a*"));
        assert_eq!(parsed("-n .e*", Operands::TextThenPaths(&[])), Err("path"));
        // The second file that it matches may be a script, or a file that is written.
        for operands in [Operands::Text, Operands::OnePath, Operands::None] {
            assert_eq!(parsed("-n a*", operands), Err("option"));
        }
        assert_eq!(parsed("--name=a*", Operands::Text).as_deref(), Ok("--name=a*"));
    }

    proptest! {
        #[test]
        fn no_arguments_are_lost(words in prop::collection::vec("(-|--)?[-=abnfw*\u{e9} ]{0,4}", 0..6)) {
            let (_folder, scope) = Scope::of_project(&[]);
            let (cwds, words) = ([scope.cwd().to_path_buf()], words.iter().map(|text| Word::plain(text)).collect::<Vec<_>>());
            let context = CommandContext { cwds: &cwds, scope: &scope };
            let entry = Entry { options: OPTIONS, operands: Operands::Paths };
            if let Ok(parsed) = parse("p", &entry, &words, &context) {
                let is_known = |name: &str| match name.strip_prefix("--") {
                    Some(long) => entry.long(long).is_some(),
                    None => entry.short(name.chars().nth(1).unwrap()).is_some(),
                };
                prop_assert!(parsed.options.iter().all(|(name, _)| is_known(name)));
                let taken = parsed.options.len() * 2 + parsed.operands.len() + 1;
                prop_assert!(words.len() <= taken, "{:?}", parsed);
            }
        }
    }
}
