//! The files whose contents a command of Git prints. None of them may be one with keys, in the working tree or in
//! history.
//!
//! Git itself is asked with the arguments of the command ([`WorkTree`]): it prints the names of the same files instead
//! of their contents. So a repository that tracks a file with keys, or once tracked one, needs no approval for commands
//! that do not print it. A parser of the index alone cannot tell what revisions contain, and what Git does not answer
//! in time needs an approval.

use ragmaker_git::WorkTree;

use super::{CommandContext, options::Parsed};
use crate::{
    Reason,
    git::{is_secret_path, work_tree},
    paths,
    word::Word,
};

/// Options with which Git prints no contents of files.
const WITHOUT_CONTENTS: [&str; 11] = [
    "--stat",
    "--numstat",
    "--shortstat",
    "--dirstat",
    "--summary",
    "--name-only",
    "--name-status",
    "--compact-summary",
    "--no-patch",
    "-s",
    "--raw",
];

/// Options with which Git prints contents of files, or whether a file contains a text.
const WITH_CONTENTS: [&str; 16] = [
    "-p",
    "-u",
    "--patch",
    "-U",
    "--unified",
    "-L",
    "-G",
    "-S",
    "-W",
    "--function-context",
    "--cc",
    "--word-diff",
    "--word-diff-regex",
    "--color-words",
    "--binary",
    "--check",
];

/// Options that choose no files and would change how their names are printed.
const OF_FORM: [&str; 12] = [
    "--graph",
    "--exit-code",
    "--quiet",
    "--check",
    "--color",
    "--color-words",
    "--color-moved",
    "--word-diff",
    "-q",
    "-c",
    "-z",
    "--count",
];

/// The maximum number of paths that Git is asked about for one pattern.
const MAX_MATCHES: usize = 1_000;

/// A command of Git with its arguments.
pub(super) struct Call<'a> {
    /// The command, such as `log`.
    pub(super) name: &'a str,
    pub(super) parsed: &'a Parsed<'a>,
    /// Whether its path patterns are plain paths.
    pub(super) is_literal: bool,
}

/// Checks that a command prints no file with keys.
pub(super) fn check(call: &Call<'_>, context: &CommandContext<'_>) -> Result<(), Reason> {
    let Call { name, parsed, .. } = *call;
    // `REVISION:PATH`, and the path of `-L 1,9:PATH`.
    let ranges = parsed.options.iter().filter(|(option, _)| option == "-L").filter_map(|(_, value)| value.as_ref());
    for word in parsed.operands.iter().copied().chain(ranges) {
        let paths = word.text.split("..").flat_map(|part| part.split([':', ')']).skip(1));
        if let Some(path) = paths.into_iter().find(|path| is_secret_path(path)) {
            return Err(Reason::new("secret", format!("{path} may hold keys or passwords")));
        }
    }
    let is_raw = |(option, value): &(String, Option<Word>)| {
        option == "--format" && value.as_ref().is_none_or(|value| value.text.contains("raw"))
    };
    if matches!(name, "for-each-ref" | "branch" | "tag") && parsed.options.iter().any(is_raw) {
        return Err(Reason::new("secret", "%(raw) prints the contents of an object, which may be a file with keys"));
    }
    let prints = match name {
        "grep" => true,
        "cat-file" => !parsed.has(&["-t", "-s", "-e"]),
        "status" => parsed.has(&["-v", "--verbose"]),
        "diff" | "show" => !parsed.has(&WITHOUT_CONTENTS) || parsed.has(&WITH_CONTENTS),
        "log" | "whatchanged" | "reflog" | "rev-list" | "diff-tree" => parsed.has(&WITH_CONTENTS),
        _ => false,
    };
    // Of a file, `git show` prints the contents, whatever its options are.
    if !prints && name != "show" {
        return Ok(());
    }
    for cwd in context.cwds {
        let Some(tree) = work_tree(cwd)? else { continue };
        let command = CommandInTree { call, tree: &tree, cwd, context };
        let objects = command.objects()?;
        let names = match name {
            "cat-file" => continue,
            _ if !prints => continue,
            "grep" => command.found()?,
            // Staged changes, and with `-vv` those of the working tree.
            "status" => command.ask(&["diff", "--name-status", "-z", "HEAD"].map(str::to_owned))?,
            // All that it prints are files whose names were checked, and names.
            "show" if !objects.is_empty() && objects.iter().all(|(_, is_commit)| !is_commit) => continue,
            _ if parsed.has(&["-L"]) => command.in_history(&objects)?,
            _ => command.changed(&objects)?,
        };
        no_secret(name, &names)?;
    }
    Ok(())
}

/// Checks that `git stash show -p` prints no file with keys.
pub(super) fn of_stash(context: &CommandContext<'_>) -> Result<(), Reason> {
    for cwd in context.cwds {
        if let Some(tree) = work_tree(cwd)? {
            // Without a stash, Git prints nothing.
            if tree.kinds(cwd, &["refs/stash"]).map_err(|error| unknown(error.message()))? == [None] {
                continue;
            }
            let asked = tree.ask(cwd, &["stash", "show", "--name-status", "-z"]);
            no_secret("stash", &asked.map_err(|error| unknown(error.message()))?)?;
        }
    }
    Ok(())
}

fn no_secret(name: &str, names: &[String]) -> Result<(), Reason> {
    // `git grep` prints `REVISION:PATH`.
    let path = |name: &String| is_secret_path(name.rsplit(':').next().unwrap_or(name));
    match names.iter().find(|name| path(name)) {
        Some(secret) => {
            Err(Reason::new("secret", format!("git {name} prints {secret}, which may hold keys or passwords")))
        }
        None => Ok(()),
    }
}

fn unknown(reason: &str) -> Reason {
    Reason::new("secret", format!("it may print files with keys; Git does not say which files it prints: {reason}"))
}

/// A command, and the working tree in which Git is asked about it.
struct CommandInTree<'a> {
    call: &'a Call<'a>,
    tree: &'a WorkTree,
    cwd: &'a std::path::Path,
    context: &'a CommandContext<'a>,
}

impl CommandInTree<'_> {
    fn ask(&self, arguments: &[String]) -> Result<Vec<String>, Reason> {
        let literal = self.call.is_literal.then(|| "--literal-pathspecs".to_owned());
        let arguments: Vec<String> = literal.into_iter().chain(arguments.iter().cloned()).collect();
        self.tree.ask(self.cwd, &arguments).map_err(|error| unknown(error.message()))
    }

    /// The objects among the operands, or at the ends of a range in them, and whether they are commits.
    ///
    /// # Errors
    ///
    /// An operand is a file by the name of its content: whether it has keys is not known.
    fn objects(&self) -> Result<Vec<(String, bool)>, Reason> {
        let parsed = self.call.parsed;
        if self.call.name == "grep" {
            return Ok(vec![]);
        }
        let operands = &parsed.operands[..parsed.before_dashes.unwrap_or(parsed.operands.len())];
        let parts = operands.iter().flat_map(|word| word.text.trim_start_matches('^').split(".."));
        let parts = parts.map(|part| part.trim_start_matches('.').to_owned()).filter(|part| !part.is_empty());
        let parts: Vec<String> = parts.collect();
        if parts.is_empty() {
            return Ok(vec![]);
        }
        // A tag may denote a file.
        let peeled = parts.iter().map(|part| if part.contains(':') { part.clone() } else { format!("{part}^{{}}") });
        let peeled: Vec<String> = peeled.collect();
        let kinds = self.tree.kinds(self.cwd, &peeled).map_err(|error| unknown(error.message()))?;
        let mut objects = vec![];
        for (part, kind) in parts.into_iter().zip(kinds) {
            match kind.as_deref() {
                Some("blob") if !part.contains(':') => {
                    return Err(Reason::new("secret", format!("{part} is a file without a name, which may hold keys")));
                }
                Some(kind) => objects.push((part, kind == "commit")),
                None => {}
            }
        }
        Ok(objects)
    }

    /// The files whose changes it prints.
    fn changed(&self, objects: &[(String, bool)]) -> Result<Vec<String>, Reason> {
        let form = |option: &str| OF_FORM.contains(&option) || WITHOUT_CONTENTS.contains(&option);
        let more: &[&str] = match self.call.name {
            "diff" => &["--name-status", "-z"],
            // Without -p, it names folders.
            "diff-tree" => &["-r", "--name-status", "-z"],
            _ => &["--name-status", "-z", "--format="],
        };
        let mut arguments = self.arguments(form, more)?;
        if self.call.name == "show" {
            // Of these, it would print the contents.
            let is_printed = |text: &String| objects.iter().any(|(object, is_commit)| object == text && !is_commit);
            arguments.retain(|argument| !is_printed(argument));
        }
        self.ask(&arguments)
    }

    /// The files that it searches and that have the text.
    fn found(&self) -> Result<Vec<String>, Reason> {
        let parsed = self.call.parsed;
        if parsed.has(&["-L", "--files-without-match"]) {
            // It says that a file does not have the text.
            return self.tree.tracked().map_err(|error| unknown(error.message()));
        }
        if parsed.has(&["--untracked", "--no-index"]) {
            // It searches folders, and the files with keys in them are hidden from it.
            return Ok(vec![]);
        }
        self.ask(&self.arguments(|option| OF_FORM.contains(&option), &["--name-only", "-z"])?)
    }

    /// All files in the history that `-L` follows a file through, to other names: with it, Git prints no names.
    fn in_history(&self, objects: &[(String, bool)]) -> Result<Vec<String>, Reason> {
        let mut arguments = vec![self.call.name.to_owned()];
        let parsed = self.call.parsed;
        let before = parsed.before_dashes.unwrap_or(parsed.operands.len());
        if objects.is_empty() && before > 0 {
            return Err(unknown("a revision is not understood"));
        }
        let chosen = ["--all", "--branches", "--tags", "--remotes", "-g", "--walk-reflogs"];
        let chosen = parsed.options.iter().filter(|(option, _)| chosen.contains(&option.as_str()));
        arguments.extend(chosen.map(|(option, _)| option.clone()));
        arguments.extend(["--name-status", "-z", "--format="].map(str::to_owned));
        let commits = objects.iter().filter(|(_, is_commit)| *is_commit).map(|(object, _)| object.as_str());
        // The end of a range may be left out.
        let head = (!objects.is_empty()).then_some("HEAD");
        arguments.extend(commits.chain(head).map(str::to_owned));
        arguments.push("--".to_owned());
        self.ask(&arguments)
    }

    /// The arguments of the command without options for which `is_form` holds, with `more`.
    fn arguments(&self, is_form: impl Fn(&str) -> bool, more: &[&str]) -> Result<Vec<String>, Reason> {
        let parsed = self.call.parsed;
        let mut arguments = vec![self.call.name.to_owned()];
        for (option, value) in parsed.options.iter().filter(|(option, _)| !is_form(option)) {
            if let Some(value) = value.as_ref().filter(|value| !value.globs.is_empty()) {
                return Err(Reason::new("pattern", format!("{:?} may match any file", value.text)));
            }
            let separator = if option.starts_with("--") { "=" } else { "" };
            arguments.push(match value {
                Some(value) => format!("{option}{separator}{}", value.text),
                None => option.clone(),
            });
        }
        arguments.extend(more.iter().map(|option| (*option).to_owned()));
        let is_pattern = |at: usize| self.call.name == "grep" && at == 0 && !parsed.has(&["-e"]);
        for (at, word) in parsed.operands.iter().enumerate() {
            if parsed.before_dashes == Some(at) {
                arguments.push("--".to_owned());
            }
            let is_before = parsed.before_dashes.is_some_and(|before| at < before);
            if !word.globs.is_empty() && (is_before || is_pattern(at)) {
                return Err(Reason::new("pattern", format!("{:?} may match any file", word.text)));
            }
            arguments.extend(self.operand(word)?);
        }
        if parsed.before_dashes == Some(parsed.operands.len()) {
            arguments.push("--".to_owned());
        }
        Ok(arguments)
    }

    /// An operand as the shell passes it; of a pattern, what it may match.
    fn operand(&self, word: &Word) -> Result<Vec<String>, Reason> {
        let mut texts = vec![];
        if !word.globs.is_empty() {
            let found = paths::matches(word, self.cwd, self.context.scope)?;
            if found.len() > MAX_MATCHES {
                return Err(Reason::new("pattern", format!("{:?} matches too much", word.text)));
            }
            texts.extend(found.iter().map(|path| path.to_string_lossy().into_owned()));
        }
        // Without a match, it stays as it is.
        if texts.is_empty() {
            let path = word.path(self.context.scope.home());
            texts.push(path.unwrap_or_default().to_string_lossy().into_owned());
        }
        match texts.iter().find(|text| text.starts_with(":(") && text.contains("attr")) {
            Some(text) => Err(Reason::new("pattern", format!("{text:?} depends on attributes"))),
            None => Ok(texts),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{
        super::options::{self, Entry, Operands},
        *,
    };
    use crate::{Scope, word};

    /// The rule that refuses a command of Git in a folder without a repository.
    fn refuses(line: &str) -> Option<&'static str> {
        let (_folder, scope) = Scope::of_project(&["a.md"]);
        let cwds = [scope.cwd().to_path_buf()];
        let context = CommandContext { cwds: &cwds, scope: &scope };
        let words = word::split(line).unwrap();
        let entry = Entry { options: "-p -L: --format: --stat", operands: Operands::Text };
        let parsed = options::parse("git", &entry, &words[1..], &context).unwrap();
        let call = Call { name: &words[0].text, parsed: &parsed, is_literal: false };
        check(&call, &context).err().map(|reason| reason.rule)
    }

    #[test]
    fn a_file_with_keys_is_refused_by_its_name_in_any_revision() {
        for line in [
            "show HEAD:.env",
            "show HEAD:api/.env",
            "diff a.md HEAD~1:.env..HEAD:a.md",
            "diff HEAD:a.md..HEAD:.env",
            "cat-file HEAD:.env",
            "show :0:.env",
            "log -L 1,9:api/.env",
            "log -p -- ':(top).env'",
            "log ':(glob)**/.env'",
            "ls-tree HEAD:.env",
        ] {
            assert_eq!(refuses(line), Some("secret"), "{line}");
        }
        for line in ["show HEAD:a.md", "log -p", "log -L 1,9:a.md", "show HEAD:env", "log --stat"] {
            assert_eq!(refuses(line), None, "{line}");
        }
    }

    #[test]
    fn a_format_that_prints_objects_is_refused() {
        assert_eq!(refuses("for-each-ref --format='%(raw)'"), Some("secret"));
        assert_eq!(refuses("tag --format '%(contents) %(raw:size)'"), Some("secret"));
        assert_eq!(refuses("branch --format='%(refname)'"), None);
        assert_eq!(refuses("log --format=raw"), None);
    }

    #[test]
    fn names_that_git_prints_are_checked_with_their_folders_and_revisions() {
        let of = |names: &[&str]| no_secret("grep", &names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>());
        let reason = of(&["a.md", "HEAD~1:api/.env"]).unwrap_err();
        assert_eq!(
            (reason.rule, reason.text.as_str()),
            ("secret", "git grep prints HEAD~1:api/.env, which may hold keys or passwords")
        );
        assert!(of(&["M", "a.md", "env", ".env.d/a.md"]).is_ok() && of(&[]).is_ok());
    }
}
