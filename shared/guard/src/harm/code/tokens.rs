//! Code of Python, Perl, Ruby, JavaScript, PHP, Lua and awk as tokens. Their names, texts and operators are similar
//! enough for one lexer. A text with expressions in it becomes its parts, joined by `+`. A shell line between backticks
//! becomes a call of `system`.

use std::iter::Peekable;
use std::str::Chars;

/// A programming language, as far as its tokens differ.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Language {
    /// Python and R: `#` starts a comment, and texts may have three quotes.
    Python,
    /// Perl and PHP: `.` joins texts, variables have a `$`, and texts between backticks are run.
    Perl,
    /// awk: terms in a row are joined.
    Awk,
    /// Ruby: texts between backticks are run.
    Ruby,
    /// JavaScript and Lua: `//` and `--` start comments, and texts may have backticks.
    Script,
}

impl Language {
    /// The language of the interpreter `name`.
    pub(super) fn of(name: &str) -> Self {
        match name {
            "perl" | "php" => Self::Perl,
            "awk" | "gawk" | "mawk" | "nawk" => Self::Awk,
            "ruby" => Self::Ruby,
            "node" | "deno" | "bun" | "lua" => Self::Script,
            _ => Self::Python,
        }
    }
}

/// A token.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Token {
    /// A name with its parts, such as `os.path.join`, `File::Path::rmtree` or `$x`.
    Name(String),
    /// A text.
    Text(String),
    /// A number.
    Number,
    /// The end of a line.
    End,
    /// Any other character.
    Sign(char),
}

/// The tokens of `code`.
pub(super) fn tokens(code: &str, language: Language) -> Vec<Token> {
    let mut lexer = Lexer { rest: code.chars().peekable(), language, tokens: vec![], is_template: false };
    while lexer.token() {}
    lexer.tokens
}

/// The most parts of a text.
const MAX_PARTS: usize = 200;

/// A part of a text.
#[derive(Clone, Debug)]
enum Part {
    Text(String),
    /// An expression whose value is put in.
    Code(String),
}

struct Lexer<'c> {
    rest: Peekable<Chars<'c>>,
    language: Language,
    tokens: Vec<Token>,
    /// Whether the next text has expressions in it, because of its prefix.
    is_template: bool,
}

impl Lexer<'_> {
    /// Reads one token; `false` at the end of the code.
    fn token(&mut self) -> bool {
        let Some(c) = self.rest.next() else { return false };
        let next = self.rest.peek().copied();
        let token = match c {
            '\n' => Token::End,
            ' ' | '\t' | '\r' => return true,
            '#' if self.language != Language::Script => return self.comment(),
            '/' if next == Some('/') && self.language != Language::Python => return self.comment(),
            '-' if next == Some('-') && self.language == Language::Script => return self.comment(),
            '\'' | '"' | '`' => {
                let is_plain = c == '\'' && self.language != Language::Python;
                let parts = match self.text(c, c != '\'' || self.language != Language::Perl) {
                    text if is_plain => vec![Part::Text(text)],
                    text => self.parts(&text, c),
                };
                self.template(parts, c == '`' && self.language != Language::Script);
                return true;
            }
            '%' if self.language == Language::Ruby && next.is_some_and(|c| "xqQwWi".contains(c)) => {
                let kind = self.rest.next().unwrap_or_default();
                return self.delimited(&kind.to_string(), Token::Sign('%'));
            }
            c if c.is_ascii_digit() => {
                while self.rest.next_if(char::is_ascii_alphanumeric).is_some() {}
                Token::Number
            }
            c if c.is_alphabetic() || "_$@".contains(c) => return self.name(c),
            c => Token::Sign(c),
        };
        self.tokens.push(token);
        true
    }

    fn comment(&mut self) -> bool {
        while self.rest.next_if(|c| *c != '\n').is_some() {}
        true
    }

    fn name(&mut self, first: char) -> bool {
        let mut name = first.to_string();
        while let Some(c) = self.rest.next_if(|c| c.is_alphanumeric() || "_!?:.".contains(*c)) {
            // A colon is a part of a name only in `::`, and a point joins texts in Perl.
            let is_colon = c == ':' && !(self.rest.peek() == Some(&':') || name.ends_with(':'));
            if is_colon || (c == '.' && self.language == Language::Perl) {
                self.named(&name);
                self.tokens.push(Token::Sign(c));
                return true;
            }
            name.push(c);
        }
        let quotes = matches!(self.rest.peek(), Some('\'' | '"'));
        if quotes
            && self.language == Language::Python
            && name.len() <= 2
            && name.chars().all(|c| "rRbBfFuU".contains(c))
        {
            // A prefix of a text.
            self.is_template = name.contains(['f', 'F']);
            return true;
        }
        if self.language == Language::Perl && ["q", "qq", "qw", "qx"].contains(&name.as_str()) {
            let token = Token::Name(name.clone());
            return self.delimited(name.strip_prefix('q').unwrap_or_default(), token);
        }
        self.named(&name);
        true
    }

    /// Adds a name. Points at its end are operators.
    fn named(&mut self, name: &str) {
        let end = name.trim_end_matches('.').len();
        self.tokens.push(Token::Name(name[..end].to_owned()));
        self.tokens.extend(name[end..].chars().map(Token::Sign));
    }

    /// The parts of a text between `quote`s, if texts of this kind have expressions in them.
    fn parts(&mut self, text: &str, quote: char) -> Vec<Part> {
        let is_template = std::mem::take(&mut self.is_template);
        let opens: &[&str] = match self.language {
            Language::Python if is_template => &["{"],
            Language::Script if quote == '`' => &["${"],
            Language::Ruby => &["#{"],
            Language::Perl => &["${", "{$", "$"],
            _ => &[],
        };
        let (mut parts, mut rest) = (vec![], text);
        while parts.len() < MAX_PARTS
            && let Some((at, open)) =
                opens.iter().filter_map(|open| Some((rest.find(open)?, *open))).min_by_key(|(at, _)| *at)
        {
            parts.push(Part::Text(rest[..at].to_owned()));
            let after = &rest[at + open.len()..];
            let end = match open {
                "$" => after.find(|c: char| !(c.is_alphanumeric() || c == '_')).unwrap_or(after.len()),
                _ => after.find('}').unwrap_or(after.len()),
            };
            let dollar = if open.contains('$') && self.language == Language::Perl { "$" } else { "" };
            let code = after[..end].trim_start_matches('$');
            let code =
                if self.language == Language::Python { code.split(['!', ':']).next().unwrap_or(code) } else { code };
            parts.push(Part::Code(format!("{dollar}{code}")));
            rest = after[end..].strip_prefix('}').filter(|_| open != "$").unwrap_or(&after[end..]);
        }
        parts.push(Part::Text(rest.to_owned()));
        parts
    }

    /// Adds the parts of a text; as a call of `system` if they are a shell line.
    fn template(&mut self, parts: Vec<Part>, is_line: bool) {
        if let ([Part::Text(text)], false) = (parts.as_slice(), is_line) {
            self.tokens.push(Token::Text(text.clone()));
            return;
        }
        self.tokens.extend(is_line.then(|| Token::Name("system".to_owned())));
        self.tokens.push(Token::Sign('('));
        for (at, part) in parts.into_iter().enumerate() {
            self.tokens.extend((at > 0).then_some(Token::Sign('+')));
            match part {
                Part::Text(text) => self.tokens.push(Token::Text(text)),
                Part::Code(code) => self.tokens.extend(tokens(&code, self.language)),
            }
        }
        self.tokens.push(Token::Sign(')'));
    }

    /// A text between delimiters of its own, as in `qx(…)`; `other` if there are none.
    fn delimited(&mut self, kind: &str, other: Token) -> bool {
        let Some(open) = self.rest.next_if(|c| c.is_ascii_punctuation() && !",;=".contains(*c)) else {
            self.tokens.push(other);
            return true;
        };
        let close = match open {
            '(' => ')',
            '[' => ']',
            '{' => '}',
            '<' => '>',
            other => other,
        };
        let text = self.text(close, true);
        match kind {
            "x" | "q" | "Q" => {
                let parts = self.parts(&text, '`');
                self.template(parts, kind == "x");
            }
            "w" | "W" => {
                for word in text.split_whitespace() {
                    self.tokens.extend([Token::Text(word.to_owned()), Token::Sign(',')]);
                }
            }
            _ => self.tokens.push(Token::Text(text)),
        }
        true
    }

    /// The text up to `close`.
    fn text(&mut self, close: char, escapes: bool) -> String {
        let mut text = String::new();
        let mut triple = false;
        if self.language == Language::Python && self.rest.next_if_eq(&close).is_some() {
            triple = self.rest.next_if_eq(&close).is_some();
            if !triple {
                return text;
            }
        }
        while let Some(c) = self.rest.next() {
            match c {
                '\\' if escapes => self.escape(&mut text),
                c if c == close && triple => {
                    text.push(c);
                    if text.ends_with(&close.to_string().repeat(3)) {
                        text.truncate(text.len() - 3 * close.len_utf8());
                        break;
                    }
                }
                c if c == close => break,
                c => text.push(c),
            }
        }
        text
    }

    fn escape(&mut self, text: &mut String) {
        let digits = match self.rest.next() {
            Some('n') => return text.push('\n'),
            Some('t') => return text.push('\t'),
            Some('x') => 2,
            Some('u') => 4,
            Some('\n') | None => return,
            Some(c) => return text.push(c),
        };
        let mut code = String::new();
        for _ in 0..digits {
            code.extend(self.rest.next_if(char::is_ascii_hexdigit));
        }
        text.extend(u32::from_str_radix(&code, 16).ok().and_then(char::from_u32));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn name(text: &str) -> Token {
        Token::Name(text.into())
    }

    fn string(text: &str) -> Token {
        Token::Text(text.into())
    }

    #[test]
    fn names_texts_and_signs_are_told_apart() {
        let code = "os.remove('a\\x2fb') # gone\nx = 1e3";
        let expected = [
            name("os.remove"),
            Token::Sign('('),
            string("a/b"),
            Token::Sign(')'),
            Token::End,
            name("x"),
            Token::Sign('='),
            Token::Number,
        ];
        assert_eq!(tokens(code, Language::Python), expected);
    }

    #[test]
    fn a_text_with_expressions_is_its_parts() {
        let joined = [
            Token::Sign('('),
            string("a/"),
            Token::Sign('+'),
            name("x"),
            Token::Sign('+'),
            string(""),
            Token::Sign(')'),
        ];
        assert_eq!(tokens("f'a/{x!r}'", Language::Python), joined);
        assert_eq!(tokens("`a/${x}`", Language::Script), joined);
        assert_eq!(tokens("\"a/#{x}\"", Language::Ruby), joined);
        assert_eq!(tokens("'a/{x}'", Language::Python), [string("a/{x}")]);
    }

    #[test]
    fn a_line_between_backticks_is_run() {
        let run = [name("system"), Token::Sign('('), string("rm -rf a"), Token::Sign(')')];
        assert_eq!(tokens("`rm -rf a`", Language::Ruby), run);
        assert_eq!(tokens("qx(rm -rf a)", Language::Perl), run);
        assert_eq!(tokens("%x{rm -rf a}", Language::Ruby), run);
    }

    #[test]
    fn quotes_may_be_three() {
        assert_eq!(tokens("'''a'b'''", Language::Python), [string("a'b")]);
        assert_eq!(tokens("''", Language::Python), [string("")]);
        assert_eq!(tokens("// a\nb", Language::Script), [Token::End, name("b")]);
        assert_eq!(Language::of("php"), Language::Perl);
    }
}
