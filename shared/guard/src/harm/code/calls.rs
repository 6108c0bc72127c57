//! The effects of calls: files that they delete or write, and commands and code that they run.

use super::super::{names::is_shell, words::WEB};
use super::{
    Reader,
    functions::{COPY, DELETE, IMPORT, MOVE, OPEN, RUN, SAME, WRITE, WRITE_SELF, evaluates, is_of_module},
    imports::module_name,
    tokens::{Language, Token},
    value::Value,
};

/// The letters and signs of the modes in which files are opened, and those with which they are written.
const MODE: &str = "rwaxcbtsenU+<>";
const WRITING: [char; 6] = ['w', 'a', 'x', 'c', '+', '>'];

impl Reader<'_, '_, '_> {
    /// The value of a call, whose effect is examined. `of` is the value whose method it is.
    pub(super) fn called(&mut self, name: &str, arguments: Vec<Value>, of: Option<Value>) -> Value {
        let (before, last) = name.rsplit_once(['.', ':']).unwrap_or(("", name));
        let module = before.trim_end_matches(':').rsplit(['.', ':']).next().unwrap_or_default();
        let first = arguments.first().and_then(|value| value.texts.first()).cloned();
        let targets = |at: usize| arguments.get(at).map(|value| value.texts.clone()).unwrap_or_default();
        let all = |values: Vec<Value>| values.into_iter().flat_map(|value| value.texts);
        // A method of a value, such as a list, that has the name of a function.
        let is_method = of.is_some() && !arguments.is_empty();
        let known = if is_method { is_of_module(last, "value") } else { is_of_module(last, module) };
        let result = self.result(last, &arguments, of.as_ref());
        match last {
            "join" => {
                let between = of.as_ref().and_then(|value| value.texts.first()).cloned();
                let between = between.as_deref().unwrap_or("/");
                let parts = all(arguments).map(Value::text);
                return parts.reduce(|one, next| one.joined(next, between)).unwrap_or_default();
            }
            "format" if of.is_some() => {
                let values: Vec<_> = all(arguments).collect();
                return of.unwrap_or_default().formatted(&["{}", "{0}", "{1}"], &values);
            }
            "getattr" => return attribute(&arguments),
            _ if IMPORT.contains(&last) => return Value::named(module_name(&first.unwrap_or_default())),
            // A function that is called by its name, as in PHP.
            "call_user_func" => {
                let function = first.unwrap_or_default();
                return self.called(&function, arguments.into_iter().skip(1).collect(), None);
            }
            "home" | "homedir" => return self.home(),
            _ if SAME.contains(&last) || (last == "new" && module == "Pathname") => {
                return Value::list(of.into_iter().chain(arguments).flat_map(|value| value.texts));
            }
            _ => {}
        }
        if evaluates(last, self.language == Language::Python, before.is_empty() && of.is_none()) {
            if let Some(code) = first {
                self.evaluates(&code);
            }
        } else if known && DELETE.contains(&last) {
            let is_path = of.is_some() && arguments.is_empty();
            let paths: Vec<_> = if is_path { of.unwrap_or_default().texts } else { all(arguments).collect() };
            for path in paths {
                self.deletes(&path);
            }
        } else if known && MOVE.contains(&last) && (of.is_none() || arguments.len() == 1) {
            // Methods that take two texts, such as `text.replace("a", "b")`, move no file.
            let from = of.map_or_else(|| targets(0), |of| of.texts);
            for path in from {
                self.deletes(&path);
            }
            arguments.last().into_iter().flat_map(|to| &to.texts).for_each(|path| self.inspector.writes(path));
        } else if known && COPY.contains(&last) {
            for path in targets(1) {
                self.inspector.writes(&path);
            }
        } else if WRITE.contains(&last) || (last == "write" && module == "File") {
            for path in targets(0) {
                self.inspector.writes(&path);
            }
        } else if WRITE_SELF.contains(&last) {
            of.unwrap_or_default().texts.iter().for_each(|path| self.inspector.writes(path));
        } else if ["open", "openSync", "fopen"].contains(&last) {
            self.opens(&arguments, of);
        } else if OPEN.contains(&last) {
            for path in of.into_iter().chain(arguments).flat_map(|value| value.texts) {
                self.inspector.opens_up(&path, last.ends_with("_R"));
            }
        } else if known && RUN.contains(&last) {
            self.runs(arguments);
        }
        result
    }

    /// The result of a call as far as it is known: whether it comes from the web.
    fn result(&self, last: &str, arguments: &[Value], of: Option<&Value>) -> Value {
        let texts = || arguments.iter().chain(of).flat_map(|value| &value.texts);
        let address = |text: &String| text.starts_with("http://") || text.starts_with("https://");
        let reads_input = ["input", "gets", "stream_get_contents", "readFileSync"].contains(&last);
        match &self.input {
            Some(input) if reads_input => input.clone(),
            _ if texts().any(|text| address(text) || text.contains(WEB)) => Value::of_web(),
            _ => Value::unknown(),
        }
    }

    /// Whether a name is standard input.
    pub(super) fn is_input(&self, name: &str) -> bool {
        self.input.is_some() && (name.to_ascii_lowercase().contains("stdin") || ["ARGF", "io.read"].contains(&name))
    }

    /// Code of the same language is run.
    fn evaluates(&mut self, code: &str) {
        if code.contains(WEB) {
            self.inspector.runs_web();
        }
        let name = self.name.to_owned();
        self.inspector.program(&name, code);
    }

    /// A command is run: a line, or its words.
    fn runs(&mut self, arguments: Vec<Value>) {
        let lines = arguments.first().map(|value| value.texts.clone()).unwrap_or_default();
        let words: Vec<_> = arguments.into_iter().flat_map(|value| value.texts).collect();
        let is_line = |text: &&String| text.contains(char::is_whitespace);
        // Words of a command with spaces in them are not lines.
        let only = lines.len() == 1 || lines.iter().all(|line| is_line(&line));
        for line in lines.iter().filter(is_line).filter(|_| only) {
            self.inspector.inner(line, &[]);
        }
        if lines.first().is_some_and(|line| line.contains(WEB))
            || words.iter().any(|word| is_shell(word)) && words.iter().any(|word| word.contains(WEB))
        {
            self.inspector.runs_web();
        }
        self.inspector.command(&words);
    }

    /// A line of awk before `|`: it is run, or its output is read by the command after it.
    pub(super) fn pipes(&mut self, value: &Value) {
        if !self.is_printing {
            value.texts.iter().for_each(|line| self.inspector.inner(line, &[]));
            return;
        }
        for command in self.target().texts {
            let words: Vec<_> = command.split_whitespace().map(str::to_owned).collect();
            if super::super::downloads::reads_program(&words) {
                value.texts.iter().for_each(|line| self.inspector.given_program(&words, line));
            }
            self.inspector.inner(&command, &[]);
        }
    }

    /// The file or the command after `>` or `|` of awk, which may be several terms.
    pub(super) fn target(&mut self) -> Value {
        let mut value = self.term();
        while matches!(self.token(0), Some(Token::Text(_) | Token::Name(_))) {
            let next = self.term();
            value = value.joined(next, "");
        }
        value
    }

    fn deletes(&mut self, path: &str) {
        if let Some(reason) = self.inspector.targets.delete(path) {
            self.inspector.harm.block.get_or_insert(reason);
        }
        self.inspector.note("it deletes files");
    }

    /// A file is opened: `open(path, "w")`, `path.open("w")`, or `open(F, ">", path)` in Perl.
    fn opens(&mut self, arguments: &[Value], of: Option<Value>) {
        let all: Vec<_> = of.into_iter().chain(arguments.iter().cloned()).flat_map(|value| value.texts).collect();
        let is_mode = |(at, text): &(usize, &String)| {
            // `>a` is a mode and a path.
            let has_path = text.starts_with('>') && !text.ends_with('>');
            let is_short = *at > 0 && text.len() <= 3 && text.contains(WRITING);
            is_short && !has_path && text.chars().all(|c| MODE.contains(c))
        };
        let writes = all.iter().enumerate().any(|text| is_mode(&text) || text.1.starts_with('>'));
        for (_, path) in all.iter().enumerate().filter(|text| writes && !is_mode(text)) {
            self.inspector.writes(path.trim_start_matches(['>', ' ']));
        }
    }

    /// A text, with its leading `~` substituted.
    pub(super) fn at_home(&self, text: &str) -> String {
        match text.strip_prefix('~') {
            Some(rest) if rest.is_empty() || rest.starts_with('/') => self.home().texts.concat() + rest,
            _ => text.to_owned(),
        }
    }

    pub(super) fn home(&self) -> Value {
        let home = self.inspector.scope.home();
        home.map_or_else(Value::unknown, |home| Value::text(home.to_string_lossy().into_owned()))
    }
}

/// The member of a module whose name is a text.
fn attribute(arguments: &[Value]) -> Value {
    match arguments {
        [Value { name: Some(module), .. }, Value { texts, .. }, ..] if texts.len() == 1 => {
            Value::named(format!("{module}.{}", texts[0]))
        }
        _ => Value::unknown(),
    }
}
