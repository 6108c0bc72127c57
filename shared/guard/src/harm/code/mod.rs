//! Code in an argument, such as `python3 -c CODE`: the files that it deletes or writes, and the commands that it runs.
//!
//! The calls of the code are parsed, and their arguments are computed where they consist of texts, known variables, home
//! directories and joined paths. Everything else is unknown. Code that is not recognised as harmful still needs an
//! approval.

mod tokens;

use std::collections::HashMap;

use self::tokens::{Language, Token, tokens};
use super::{Inspector, MAX_DEPTH, words::UNKNOWN};

/// Functions that delete a file or a folder.
const DELETE: [&str; 24] = [
    "rmtree",
    "rmdir",
    "removedirs",
    "unlink",
    "remove",
    "remove_tree",
    "rm",
    "rm_r",
    "rm_rf",
    "rm_f",
    "remove_dir",
    "remove_entry",
    "remove_entry_secure",
    "delete",
    "rmSync",
    "rmdirSync",
    "unlinkSync",
    "removeSync",
    "emptyDirSync",
    "emptyDir",
    "rimraf",
    "rimrafSync",
    "safe_unlink",
    "unlink_r",
];
/// Functions that move a file or a folder.
const MOVE: [&str; 6] = ["rename", "renames", "renameSync", "move", "mv", "replace"];
/// Functions whose first argument is a file that they write.
const WRITE: [&str; 9] = [
    "writeFile",
    "writeFileSync",
    "appendFile",
    "appendFileSync",
    "createWriteStream",
    "file_put_contents",
    "writeTextFile",
    "writeTextFileSync",
    "truncate",
];
/// Methods of a path that write its file.
const WRITE_SELF: [&str; 3] = ["write_text", "write_bytes", "touch"];
/// Functions that copy a file to their second argument.
const COPY: [&str; 10] =
    ["copy", "copyfile", "copy2", "copytree", "copyFileSync", "cp", "cpSync", "symlink", "symlinkSync", "link"];
/// Functions that run a command.
const RUN: [&str; 26] = [
    "system",
    "popen",
    "Popen",
    "call",
    "check_call",
    "check_output",
    "run",
    "getoutput",
    "getstatusoutput",
    "exec",
    "execSync",
    "execFile",
    "execFileSync",
    "spawn",
    "spawnSync",
    "shell_exec",
    "passthru",
    "proc_open",
    "execv",
    "execvp",
    "execve",
    "execl",
    "execlp",
    "spawnl",
    "spawnvp",
    "execute",
];
/// Functions that change permissions.
const OPEN: [&str; 6] = ["chmod", "chown", "chmodSync", "chownSync", "chmod_R", "chown_R"];
/// Functions and types that return their arguments, as paths or texts.
const SAME: [&str; 17] = [
    "Path",
    "PurePath",
    "PosixPath",
    "Pathname",
    "str",
    "String",
    "abspath",
    "realpath",
    "normpath",
    "resolve",
    "expanduser",
    "expand_path",
    "expandvars",
    "glob",
    "iglob",
    "fspath",
    "list",
];
/// The modules of functions that other objects have as well, such as the `remove` of a list.
const MODULES: [&str; 14] = [
    "os",
    "shutil",
    "fs",
    "fsp",
    "promises",
    "Deno",
    "Bun",
    "File",
    "Dir",
    "FileUtils",
    "IO",
    "subprocess",
    "Kernel",
    "child_process",
];

/// The functions that need a module before their name.
const COMMON: [&str; 10] = ["remove", "delete", "rm", "move", "replace", "copy", "call", "run", "execute", "link"];

/// Words before a variable or an expression.
const BEFORE: [&str; 9] = ["my", "our", "local", "const", "let", "var", "return", "await", "new"];

/// The values of an expression: one text, or the elements of a list. An unknown text is [`UNKNOWN`].
type Values = Vec<String>;

impl Inspector<'_> {
    /// Examines code for the interpreter `name`.
    pub(super) fn program(&mut self, name: &str, code: &str) {
        if self.depth >= MAX_DEPTH {
            return;
        }
        self.depth += 1;
        let language = Language::of(name);
        let tokens = tokens(code, language);
        let mut reader =
            Reader { tokens: &tokens, at: 0, name, language, variables: HashMap::new(), inspector: self, depth: 0 };
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
    variables: HashMap<String, Values>,
    inspector: &'i mut Inspector<'a>,
    /// The nesting depth of expressions.
    depth: usize,
}

/// The maximum nesting depth of expressions.
const NESTED: usize = 40;

impl Reader<'_, '_, '_> {
    fn statements(&mut self) {
        while self.at < self.tokens.len() && self.inspector.harm.block.is_none() {
            let start = self.at;
            self.at += usize::from(matches!(self.token(0), Some(Token::Name(word)) if BEFORE.contains(&word.as_str())));
            let variable = match (self.token(0), self.token(1), self.token(2)) {
                (Some(Token::Name(name)), Some(Token::Sign('=')), Some(after)) if *after != Token::Sign('=') => {
                    Some((name.clone(), 2))
                }
                // `for x in LIST`
                (Some(Token::Name(word)), Some(Token::Name(name)), Some(Token::Name(of)))
                    if word == "for" && of == "in" =>
                {
                    Some((name.clone(), 3))
                }
                _ => None,
            };
            if let Some((name, words)) = variable {
                self.at += words;
                let values = self.expression();
                self.variables.insert(name, values);
            } else {
                self.expression();
            }
            self.at = self.at.max(start + 1);
        }
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
    fn expression(&mut self) -> Values {
        self.depth += 1;
        let mut values = if self.depth > NESTED { vec![UNKNOWN.to_string()] } else { self.term() };
        loop {
            let joins = match self.token(0) {
                Some(Token::Sign('+')) => Some(""),
                Some(Token::Sign('.')) if self.language == Language::Perl => Some(""),
                Some(Token::Sign('/')) => Some("/"),
                // Two texts in a row are one, also in awk.
                Some(Token::Text(_)) if !values.is_empty() && self.depth <= NESTED => {
                    let next = self.term();
                    values = joined(values, next, "");
                    continue;
                }
                _ => None,
            };
            let Some(between) = joins.filter(|_| self.depth <= NESTED) else { break };
            self.at += 1;
            let next = self.term();
            values = joined(values, next, between);
        }
        self.depth -= 1;
        values
    }

    fn term(&mut self) -> Values {
        let Some(token) = self.token(0).cloned() else { return vec![] };
        let mut values = match token {
            Token::Text(text) => {
                self.at += 1;
                vec![self.at_home(&text)]
            }
            Token::Line(line) => {
                self.at += 1;
                self.inspector.inner(&line);
                vec![UNKNOWN.to_string()]
            }
            Token::Name(name) => {
                self.at += 1;
                self.named(&name)
            }
            Token::Sign('[' | '(' | '{') => self.list(),
            Token::Number => {
                self.at += 1;
                vec![UNKNOWN.to_string()]
            }
            Token::End | Token::Sign(_) => return vec![],
        };
        // Methods and elements of the value.
        loop {
            match (self.token(0), self.token(1)) {
                (Some(Token::Sign('.')), Some(Token::Name(name))) if self.language != Language::Perl => {
                    let name = name.clone();
                    self.at += 2;
                    let arguments = self.arguments().unwrap_or_default();
                    values = self.called(&name, arguments, Some(values));
                }
                (Some(Token::Sign('(')), _) => {
                    self.list();
                    values = vec![UNKNOWN.to_string()];
                }
                _ => return values,
            }
        }
    }

    /// A variable, a call, or another name.
    fn named(&mut self, name: &str) -> Values {
        if let Some(values) = self.variables.get(name) {
            return values.clone();
        }
        if BEFORE.contains(&name) {
            return self.term();
        }
        let last = name.rsplit(['.', ':']).next().unwrap_or(name);
        if ["HOME", "home", "homedir"].contains(&last) && name != last {
            self.arguments();
            return vec![self.home()];
        }
        if ["environ", "ENV", "env", "getenv", "get", "$ENV", "_ENV", "$_ENV", "$_SERVER"].contains(&last) {
            let is_element = matches!(self.token(0), Some(Token::Sign('[' | '{' | '(')));
            let names = if is_element { self.list() } else { vec![] };
            let is_home = names.first().is_some_and(|name| name == "HOME");
            return vec![if is_home { self.home() } else { UNKNOWN.to_string() }];
        }
        let may_omit =
            matches!(self.language, Language::Perl | Language::Ruby) && (DELETE.contains(&last) || RUN.contains(&last));
        let arguments = match self.token(0) {
            Some(Token::Name(_)) if may_omit => Some(self.separated(None)),
            _ => self.arguments(),
        };
        match arguments {
            Some(arguments) => self.called(name, arguments, None),
            // The key of `{HOME}` in Perl, and the name of an argument.
            None if name == "HOME" => vec![name.to_owned()],
            None => vec![UNKNOWN.to_string()],
        }
    }

    /// The arguments of a call; `None` if there is no call.
    fn arguments(&mut self) -> Option<Vec<Values>> {
        match self.token(0) {
            Some(Token::Sign('(')) => {
                self.at += 1;
                let arguments = self.separated(Some(')'));
                Some(arguments)
            }
            // A call without parentheses.
            Some(Token::Text(_)) if self.language != Language::Python => Some(self.separated(None)),
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
    fn list(&mut self) -> Values {
        let close = match self.token(0) {
            Some(Token::Sign('[')) => ']',
            Some(Token::Sign('{')) => '}',
            _ => ')',
        };
        self.at += 1;
        self.separated(Some(close)).into_iter().flatten().collect()
    }

    /// Expressions with commas between them, up to `close` or the end of the statement.
    fn separated(&mut self, close: Option<char>) -> Vec<Values> {
        let mut all = vec![];
        while let Some(token) = self.token(0) {
            match (token, close) {
                (Token::Sign(sign), Some(close)) if *sign == close => {
                    self.at += 1;
                    break;
                }
                (Token::Sign(';' | '}' | ')' | ']') | Token::End, None) => break,
                // The name of an argument, whose value is an option.
                (Token::Name(_), Some(_))
                    if self.token(1) == Some(&Token::Sign('=')) && self.token(2) != Some(&Token::Sign('=')) =>
                {
                    self.at += 2;
                    self.expression();
                }
                _ => {
                    let start = self.at;
                    let values = self.expression();
                    if self.at == start {
                        self.at += 1;
                    } else {
                        all.push(values);
                    }
                }
            }
            self.skip(',');
        }
        all
    }

    /// The value of a call, whose effect is examined. `of` is the value whose method it is.
    fn called(&mut self, name: &str, arguments: Vec<Values>, of: Option<Values>) -> Values {
        let (before, last) = name.rsplit_once(['.', ':']).unwrap_or(("", name));
        let module = before.trim_end_matches(':').rsplit(['.', ':']).next().unwrap_or_default();
        let first = arguments.first().and_then(|values| values.first()).cloned();
        let targets = |at: usize| arguments.get(at).cloned().unwrap_or_default();
        let is_path = of.is_some() && arguments.is_empty();
        let known = !COMMON.contains(&last) || MODULES.contains(&module) || before.is_empty();
        if last == "join" {
            let between = of.as_ref().and_then(|values| values.first()).cloned();
            let parts: Vec<_> = arguments.into_iter().flatten().collect();
            return vec![match between {
                Some(between) => parts.join(&between),
                None => parts.join("/"),
            }];
        }
        if ["home", "homedir"].contains(&last) {
            return vec![self.home()];
        }
        if SAME.contains(&last) || (last == "new" && module == "Pathname") {
            let all: Values = of.into_iter().flatten().chain(arguments.into_iter().flatten()).collect();
            return all;
        }
        if ["eval", "exec"].contains(&last) && (last == "eval" || self.language == Language::Python) {
            if let Some(code) = first {
                let name = self.name.to_owned();
                self.inspector.program(&name, &code);
            }
        } else if known && DELETE.contains(&last) {
            let all: Values = if is_path { of.unwrap_or_default() } else { arguments.into_iter().flatten().collect() };
            for path in &all {
                self.deletes(path);
            }
        } else if known && MOVE.contains(&last) && (of.is_none() || arguments.len() == 1) {
            // Methods that take two texts, such as `text.replace("a", "b")`, move no file.
            let from = if let Some(of) = of { of } else { targets(0) };
            for path in &from {
                self.deletes(path);
            }
            arguments.last().into_iter().flatten().for_each(|path| self.inspector.writes(path));
        } else if known && COPY.contains(&last) {
            for path in &targets(1) {
                self.inspector.writes(path);
            }
        } else if WRITE.contains(&last) || (last == "write" && module == "File") {
            for path in &targets(0) {
                self.inspector.writes(path);
            }
        } else if WRITE_SELF.contains(&last) {
            of.unwrap_or_default().iter().for_each(|path| self.inspector.writes(path));
        } else if ["open", "openSync", "fopen"].contains(&last) {
            self.opens(&arguments, of);
        } else if OPEN.contains(&last) {
            let all: Values = of.into_iter().flatten().chain(arguments.into_iter().flatten()).collect();
            for path in &all {
                self.inspector.opens_up(path, last.ends_with("_R"));
            }
        } else if known && RUN.contains(&last) {
            match first {
                Some(line) if line.contains(char::is_whitespace) => self.inspector.inner(&line),
                _ => {
                    let words: Values = arguments.into_iter().flatten().collect();
                    self.inspector.command(&words);
                }
            }
        }
        vec![UNKNOWN.to_string()]
    }

    fn deletes(&mut self, path: &str) {
        if let Some(reason) = self.inspector.targets.delete(path) {
            self.inspector.harm.block.get_or_insert(reason);
        }
        self.inspector.note("it deletes files");
    }

    /// A file is opened: `open(path, "w")`, `path.open("w")`, or `open(F, ">", path)` in Perl.
    fn opens(&mut self, arguments: &[Values], of: Option<Values>) {
        let all: Vec<_> = of.into_iter().chain(arguments.iter().cloned()).flatten().collect();
        let is_mode = |text: &&String| text.len() <= 3 && text.contains(['w', 'a', 'x', '+', '>']);
        let writes = all.iter().any(|text| is_mode(&text) || text.starts_with('>'));
        for path in all.iter().filter(|text| writes && !is_mode(text)) {
            self.inspector.writes(path.trim_start_matches(['>', ' ']));
        }
    }

    /// A text, with its leading `~` substituted.
    fn at_home(&self, text: &str) -> String {
        match text.strip_prefix('~') {
            Some(rest) if rest.is_empty() || rest.starts_with('/') => self.home() + rest,
            _ => text.to_owned(),
        }
    }

    fn home(&self) -> String {
        let home = self.inspector.scope.home();
        home.map_or_else(|| UNKNOWN.to_string(), |home| home.to_string_lossy().into_owned())
    }
}

/// Two values with `between` between them; lists follow one another.
fn joined(mut one: Values, other: Values, between: &str) -> Values {
    if let ([only], [next]) = (one.as_mut_slice(), other.as_slice()) {
        *only = format!("{only}{between}{next}");
    } else {
        one.extend(other);
    }
    one
}
