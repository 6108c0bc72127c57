//! Code in an argument, such as `python3 -c CODE`: the files that it deletes or writes, and the commands that it runs.
//!
//! The calls of the code are parsed, and their arguments are computed where they consist of texts, known variables,
//! home directories and joined paths. Names that the code gives to modules and functions are followed. Everything else
//! is unknown. Code that is not recognised as harmful still needs an approval.

mod calls;
mod functions;
mod imports;
mod tokens;
mod value;

use std::collections::HashMap;

use self::{
    functions::{ARGUMENTS, DELETE, MOVE, OPEN, RUN},
    tokens::{Language, Token, tokens},
    value::Value,
};
use super::{Inspector, MAX_DEPTH};

/// Words before a variable or an expression.
const BEFORE: [&str; 9] = ["my", "our", "local", "const", "let", "var", "return", "await", "new"];

impl Inspector<'_> {
    /// Examines code for the interpreter `name`.
    pub(super) fn program(&mut self, name: &str, code: &str) {
        self.program_with(name, code, None);
    }

    /// Examines code whose standard input comes from the web.
    pub(super) fn program_of_web(&mut self, name: &str, code: &str) {
        self.program_with(name, code, Some(Value::of_web()));
    }

    fn program_with(&mut self, name: &str, code: &str, input: Option<Value>) {
        if self.depth >= MAX_DEPTH {
            return;
        }
        self.depth += 1;
        let language = Language::of(name);
        let tokens = tokens(code, language);
        // The current line of `perl -n` and `ruby -n`.
        let variables = input.iter().map(|input| ("$_".to_owned(), input.clone())).collect();
        let mut reader = Reader {
            tokens: &tokens,
            at: 0,
            name,
            language,
            variables,
            input,
            inspector: self,
            depth: 0,
            loops_left: MAX_LOOPS,
            is_printing: false,
        };
        reader.statements();
        self.depth -= 1;
    }
}

struct Reader<'r, 'i, 'a> {
    tokens: &'r [Token],
    at: usize,
    /// The interpreter.
    name: &'r str,
    language: Language,
    variables: HashMap<String, Value>,
    /// The value of standard input, if it is known.
    input: Option<Value>,
    inspector: &'i mut Inspector<'a>,
    /// The nesting depth of expressions.
    depth: usize,
    /// How many more loops at the end of a list are read.
    loops_left: usize,
    /// Whether this is a `print` of awk, whose output may go to a file or a command.
    is_printing: bool,
}

/// The maximum nesting depth of expressions.
const MAX_NESTING: usize = 40;

/// The most loops at the end of a list, as in `[f(x) for x in LIST]`.
const MAX_LOOPS: usize = 30;

/// The most tokens of a list that are searched for a loop.
const MAX_SEARCHED: usize = 300;

impl Reader<'_, '_, '_> {
    fn statements(&mut self) {
        while self.at < self.tokens.len() && self.inspector.harm.block.is_none() {
            let start = self.at;
            self.statement();
            if self.at == start {
                let ends = matches!(self.token(0), Some(Token::End | Token::Sign(';' | '}')));
                self.is_printing &= !ends;
                self.at += 1;
            }
        }
    }

    fn statement(&mut self) {
        self.at += usize::from(matches!(self.token(0), Some(Token::Name(word)) if BEFORE.contains(&word.as_str())));
        if self.imports() || self.takes_apart() || self.loops_over() {
            return;
        }
        match (self.token(0), self.token(1), self.token(2)) {
            (Some(Token::Name(name)), Some(Token::Sign('=')), Some(after)) if *after != Token::Sign('=') => {
                let name = name.clone();
                self.at += 2;
                let value = self.expression();
                self.variables.insert(name, value);
            }
            _ => {
                if let Some((name, words)) = self.loop_variable(self.at) {
                    self.at += words;
                    let value = self.expression();
                    self.variables.insert(name, value);
                } else {
                    self.expression();
                }
            }
        }
    }

    /// Sets the variable of the block or function that a method such as `forEach` calls with the elements of `list`.
    fn loop_of_method(&mut self, list: &Value) {
        let sign = |ahead: usize, sign: char| self.token(ahead) == Some(&Token::Sign(sign));
        let at = match () {
            () if sign(0, '{') && sign(1, '|') => 2,
            () if sign(0, '(') => 1 + usize::from(sign(1, '(')),
            () => return,
        };
        let ends = sign(at + 1, '|') || (sign(at + 1, '=') && sign(at + 2, '>')) || sign(at + 1, ')');
        if let Some(Token::Name(name)) = self.token(at).filter(|_| ends && list.name.is_none()) {
            let name = name.clone();
            self.variables.insert(name, list.clone());
        }
    }

    /// Reads `foreach (LIST as $x`, if it begins here.
    fn loops_over(&mut self) -> bool {
        // In Perl, the variable is before the list.
        let begins = self.name == "php"
            && matches!((self.token(0), self.token(1)), (Some(Token::Name(word)), Some(Token::Sign('('))) if word == "foreach");
        if begins {
            self.at += 2;
            let list = self.expression();
            if let (Some(Token::Name(word)), Some(Token::Name(name))) = (self.token(0), self.token(1))
                && word == "as"
            {
                let name = name.clone();
                self.variables.insert(name, list);
                self.at += 2;
            }
        }
        begins
    }

    /// The variable of `for x in LIST` and `for (const x of LIST)` at a token, and the number of tokens before the
    /// list.
    fn loop_variable(&self, at: usize) -> Option<(String, usize)> {
        let is_word = |at: usize, words: &[&str]| matches!(self.tokens.get(at), Some(Token::Name(name)) if words.contains(&name.as_str()));
        if !is_word(at, &["for", "foreach"]) {
            return None;
        }
        let mut next = at + 1;
        next += usize::from(self.tokens.get(next) == Some(&Token::Sign('(')));
        next += usize::from(is_word(next, &BEFORE));
        let Some(Token::Name(name)) = self.tokens.get(next) else { return None };
        let words = match self.tokens.get(next + 1) {
            _ if is_word(next + 1, &["in", "of"]) => next + 2 - at,
            // `for my $x (LIST)`
            Some(Token::Sign('(')) if name.starts_with('$') => next + 1 - at,
            _ => return None,
        };
        Some((name.clone(), words))
    }

    fn token(&self, ahead: usize) -> Option<&Token> {
        self.tokens.get(self.at + ahead)
    }

    fn skip(&mut self, sign: char) -> bool {
        let found = self.token(0) == Some(&Token::Sign(sign));
        self.at += usize::from(found);
        found
    }

    /// Terms that are joined by operators.
    fn expression(&mut self) -> Value {
        self.depth += 1;
        let mut value = if self.depth > MAX_NESTING { Value::unknown() } else { self.term() };
        while self.depth <= MAX_NESTING {
            let (between, length) = match (self.token(0), self.token(1)) {
                (Some(Token::Sign('.')), Some(Token::Sign('.'))) if self.language == Language::Script => ("", 2),
                (Some(Token::Sign('+')), _) => ("", 1),
                (Some(Token::Sign('.')), _) if self.language == Language::Perl => ("", 1),
                (Some(Token::Sign('/')), _) => ("/", 1),
                (Some(Token::Sign('%')), _) if value.is_text() => {
                    self.at += 1;
                    let values = self.term();
                    value = value.formatted(&["%s", "%d"], &values.texts);
                    continue;
                }
                (Some(Token::Sign('|')), _) if self.language == Language::Awk => {
                    self.at += 1;
                    self.pipes(&value);
                    continue;
                }
                (Some(Token::Sign('>')), _) if self.is_printing => {
                    self.at += 1;
                    self.skip('>');
                    let file = self.target();
                    file.texts.iter().for_each(|path| self.inspector.writes(path));
                    continue;
                }
                // Two texts in a row are one; in awk, all terms.
                (Some(Token::Text(_)), _) if !value.texts.is_empty() => ("", 0),
                (Some(Token::Name(_)), _) if !value.texts.is_empty() && self.language == Language::Awk => ("", 0),
                _ => break,
            };
            self.at += length;
            let start = self.at;
            let next = self.term();
            if length == 0 && self.at == start {
                break;
            }
            value = value.joined(next, between);
        }
        self.depth -= 1;
        value
    }

    fn term(&mut self) -> Value {
        let Some(token) = self.token(0).cloned() else { return Value::default() };
        let mut value = match token {
            Token::Text(text) => {
                self.at += 1;
                Value::text(self.at_home(&text))
            }
            Token::Name(name) => {
                self.at += 1;
                self.named(&name)
            }
            Token::Sign('[' | '(' | '{') => self.list(),
            Token::Number => {
                self.at += 1;
                Value::unknown()
            }
            Token::End | Token::Sign(_) => return Value::default(),
        };
        // Methods and elements of the value.
        while self.depth <= MAX_NESTING {
            match (self.token(0), self.token(1), self.token(2)) {
                (Some(Token::Sign('.')), Some(Token::Name(path)), _)
                    if !matches!(self.language, Language::Perl | Language::Awk) =>
                {
                    let path = path.clone();
                    self.at += 2;
                    value = self.member(value, &path);
                }
                (Some(Token::Sign('-')), Some(Token::Sign('>')), Some(Token::Name(path))) => {
                    let path = path.clone();
                    self.at += 3;
                    value = self.member(value, &path);
                }
                (Some(Token::Sign('(')), ..) if self.language != Language::Awk => {
                    let arguments = self.arguments().unwrap_or_default();
                    // PHP calls the function whose name is in a variable.
                    let by_text = value.texts.first().filter(|_| self.name == "php").cloned();
                    value = match value.name.or(by_text) {
                        Some(name) => self.called(&name, arguments, None),
                        None => Value::unknown(),
                    };
                }
                // `fs["rmSync"]`, and an element of a list, which may be each of them.
                (Some(Token::Sign('[')), ..) if matches!(self.language, Language::Python | Language::Script) => {
                    let key = self.list();
                    value = match (value.name, key.texts.first()) {
                        (Some(name), Some(key)) => self.constant(&format!("{name}.{key}")),
                        (Some(_), None) => Value::unknown(),
                        (None, _) => Value::list(value.texts),
                    };
                }
                _ => return value,
            }
        }
        value
    }

    /// A variable, a call, or another name.
    fn named(&mut self, name: &str) -> Value {
        if self.language == Language::Awk && ["print", "printf"].contains(&name) {
            self.is_printing = true;
            return self.term();
        }
        if let Some(value) = self.variables.get(name) {
            return value.clone();
        }
        if BEFORE.contains(&name) {
            return self.term();
        }
        let cut = name.find(['.', ':']).unwrap_or(name.len());
        if let Some(value) = self.variables.get(&name[..cut]).cloned() {
            return self.member(value, name[cut..].trim_start_matches(['.', ':']));
        }
        if self.is_input(name) {
            self.arguments();
            return self.input.clone().unwrap_or_else(Value::unknown);
        }
        if let Some(value) = self.environment(name) {
            return value;
        }
        let last = name.rsplit(['.', ':']).next().unwrap_or(name);
        let has_effect = [&DELETE[..], &RUN, &MOVE, &OPEN].iter().any(|names| names.contains(&last));
        let may_omit = has_effect && matches!(self.language, Language::Perl | Language::Ruby);
        let arguments = match self.token(0) {
            Some(Token::Name(_) | Token::Number | Token::Sign('[')) if may_omit => Some(self.separated(None)),
            _ => self.arguments(),
        };
        match arguments {
            Some(arguments) => self.called(name, arguments, None),
            // The key of `{HOME}` in Perl, and the name of an argument.
            None if name == "HOME" => Value::text(name.to_owned()),
            None => self.constant(name),
        }
    }

    /// A member of a value, such as `promises.rm` of the module `fs`, and its call.
    fn member(&mut self, value: Value, path: &str) -> Value {
        let (before, last) = path.rsplit_once('.').map_or((None, path), |(before, last)| (Some(before), last));
        if ["each", "forEach", "map", "each_with_index"].contains(&last) {
            self.loop_of_method(&value);
        }
        let value = match (before, value.name) {
            (None, name) => Value { name, ..value },
            (Some(before), Some(name)) => Value::named(format!("{name}.{before}")),
            (Some(_), None) => Value::list(value.texts).derived(),
        };
        let full = value.name.as_ref().map(|name| format!("{name}.{last}"));
        if let Some(name) = &full {
            if self.is_input(name) {
                self.arguments();
                return self.input.clone().unwrap_or_else(Value::unknown);
            }
            if let Some(found) = self.environment(name) {
                return found;
            }
        }
        match (self.arguments(), full) {
            (Some(arguments), Some(name)) => self.called(&name, arguments, None),
            (Some(arguments), None) => self.called(last, arguments, Some(value)),
            (None, Some(name)) => self.constant(&name),
            // A method without arguments, as in Ruby and after `process.stdin`.
            (None, None) if self.language == Language::Ruby => self.called(last, vec![], Some(value)),
            (None, None) => value.derived(),
        }
    }

    /// The home directory or another variable of the environment, if `name` reads it.
    fn environment(&mut self, name: &str) -> Option<Value> {
        let last = name.rsplit(['.', ':']).next().unwrap_or(name);
        if ["HOME", "home", "homedir"].contains(&last) && name != last {
            self.arguments();
            return Some(self.home());
        }
        if !["environ", "ENV", "env", "getenv", "get", "$ENV", "_ENV", "$_ENV", "$_SERVER"].contains(&last) {
            return None;
        }
        if last == "get" && !name.contains("env") {
            return None;
        }
        let is_element = matches!(self.token(0), Some(Token::Sign('[' | '{' | '(')));
        if !is_element {
            return Some(Value::named(name.to_owned()));
        }
        let names = self.list();
        let is_home = names.texts.first().is_some_and(|name| name == "HOME");
        Some(if is_home { self.home() } else { Value::unknown() })
    }

    /// A name that is not called: a module or a function.
    fn constant(&self, name: &str) -> Value {
        match name.rsplit(['.', ':']).next() {
            Some("HOME") if name.contains("env") => self.home(),
            _ => Value::named(name.to_owned()),
        }
    }

    /// The arguments of a call; `None` if there is no call.
    fn arguments(&mut self) -> Option<Vec<Value>> {
        match self.token(0) {
            Some(Token::Sign('(')) => {
                self.at += 1;
                let arguments = self.separated(Some(')'));
                Some(arguments)
            }
            // A call without parentheses.
            Some(Token::Text(_)) if !matches!(self.language, Language::Python | Language::Awk) => {
                Some(self.separated(None))
            }
            Some(Token::Name(name))
                if matches!(self.language, Language::Perl | Language::Ruby)
                    && (name.starts_with('$') || self.variables.contains_key(name) || name == "glob") =>
            {
                Some(self.separated(None))
            }
            _ => None,
        }
    }

    /// A list, or an expression in parentheses.
    fn list(&mut self) -> Value {
        let close = match self.token(0) {
            Some(Token::Sign('[')) => ']',
            Some(Token::Sign('{')) => '}',
            _ => ')',
        };
        self.at += 1;
        if close == ']' && self.language == Language::Python {
            self.loop_of_list();
        }
        let mut parts = self.separated(Some(close));
        if close == ')' && parts.len() == 1 {
            return parts.pop().unwrap_or_default();
        }
        Value::list(parts.into_iter().flat_map(|part| part.texts))
    }

    /// Sets the variable of a loop at the end of a list, as in `[f(x) for x in LIST]`.
    fn loop_of_list(&mut self) {
        // What is after the loop's variable is read twice.
        let Some(left) = self.loops_left.checked_sub(1) else { return };
        self.loops_left = left;
        let (start, mut depth) = (self.at, 0);
        for at in start..(start + MAX_SEARCHED).min(self.tokens.len()) {
            match &self.tokens[at] {
                Token::Sign('[' | '(' | '{') => depth += 1,
                Token::Sign(']' | ')' | '}') if depth == 0 => return,
                Token::Sign(']' | ')' | '}') => depth -= 1,
                _ => {}
            }
            if let (0, Some((name, words))) = (depth, self.loop_variable(at)) {
                self.at = at + words;
                let value = self.expression();
                self.variables.insert(name, value);
                self.at = start;
                return;
            }
        }
    }

    /// Expressions with commas between them, up to `close` or the end of the statement.
    fn separated(&mut self, close: Option<char>) -> Vec<Value> {
        let (mut all, mut by_name) = (vec![], vec![]);
        while let Some(token) = self.token(0) {
            match (token, close) {
                (Token::Sign(sign), Some(close)) if *sign == close => {
                    self.at += 1;
                    break;
                }
                (Token::Sign(';' | '}' | ')' | ']') | Token::End, None) => break,
                // An argument with a name, most of which are options, or an assignment in a block.
                (Token::Name(name), Some(close))
                    if self.token(1) == Some(&Token::Sign('=')) && self.token(2) != Some(&Token::Sign('=')) =>
                {
                    let name = name.clone();
                    self.at += 2;
                    let value = self.expression();
                    if close == '}' {
                        self.variables.insert(name, value);
                    } else if ARGUMENTS.contains(&name.as_str()) {
                        by_name.push(value);
                    }
                }
                _ => {
                    let start = self.at;
                    let value = self.expression();
                    if self.at == start {
                        self.at += 1;
                    } else {
                        all.push(value);
                    }
                }
            }
            self.skip(',');
        }
        all.extend(by_name);
        all
    }
}

#[cfg(test)]
mod tests;
