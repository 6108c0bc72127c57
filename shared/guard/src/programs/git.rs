//! `git` commands that only read, in a repository whose own configuration runs no programs.

use super::{
    CommandContext, contents,
    options::{self, Entry, Operands},
    refused,
};
use crate::{Reason, git, word::Word};

/// Options of diffs. Not listed: `--output`, which writes, and `--ext-diff`, `--textconv` and
/// `--show-signature`, which run programs.
const DIFF: &str = "-# -pusabBCDMRWwz -U: -G: -S: -l: --patch --no-patch --stat? --numstat --shortstat \
    --dirstat? --summary --name-only --name-status --unified: --raw --minimal --patience --histogram \
    --diff-algorithm: --color? --no-color --color-words? --color-moved? --word-diff? --word-diff-regex: --check --full-index \
    --binary --abbrev? --find-renames? --find-copies? --no-renames --diff-filter: --pickaxe-all \
    --pickaxe-regex --relative? --text --ignore-cr-at-eol --ignore-space-at-eol --ignore-space-change \
    --ignore-all-space --ignore-blank-lines --inter-hunk-context: --function-context --exit-code --quiet \
    --no-ext-diff --no-textconv --ignore-submodules? --no-prefix --compact-summary --cached --staged --merge-base";

const LOG: &str = "-# -pusabBCDMRWwzgitEF -U: -G: -S: -l: -n: -L: --oneline --graph --decorate? --no-decorate --all --branches? --tags? \
    --remotes? --since: --until: --after: --before: --author: --committer: --grep: --all-match --invert-grep \
    --regexp-ignore-case --extended-regexp --fixed-strings --perl-regexp --max-count: --skip: --merges --no-merges \
    --first-parent --reverse --follow --format: --pretty? --date: --abbrev-commit --no-abbrev-commit --patch \
    --no-patch --stat? --numstat --shortstat --summary --name-only --name-status --unified: --diff-filter: \
    --topo-order --date-order --author-date-order --left-right --cherry-pick --no-color --color? --full-history \
    --ancestry-path --boundary --simplify-by-decoration --walk-reflogs --find-renames? --no-renames --no-ext-diff \
    --no-textconv --relative-date --parents --children --count --left-only --right-only --not --source --raw --cc \
    --word-diff? --ignore-submodules? --no-notes --show-pulls --pickaxe-all --pickaxe-regex --abbrev? --ignore-all-space \
    --ignore-space-change --text --compact-summary --dirstat?";

/// The commands with their options. Operands are checked as paths; a revision is a path that does not exist.
const COMMANDS: &[(&str, &str)] = &[
    (
        "status",
        "-sbuvz -u? --short --branch --show-stash --porcelain? --long --verbose --untracked-files? --ignored? \
         --ignore-submodules? --no-renames --renames --ahead-behind --no-ahead-behind --column? --no-column",
    ),
    ("log", LOG),
    ("show", LOG),
    ("whatchanged", LOG),
    ("reflog", LOG),
    ("rev-list", LOG),
    ("diff", DIFF),
    ("diff-tree", DIFF),
    ("shortlog", "-snecw --summary --numbered --email --committer --all --no-merges --since: --until: --group:"),
    (
        "branch",
        "-avrq --all --verbose --remotes --list --show-current --contains? --no-contains? --merged? --no-merged? \
         --sort: --format: --points-at: --no-color --color? --column? --no-column -vv",
    ),
    ("tag", "-l -n? --list --contains? --no-contains? --merged? --no-merged? --sort: --format: --points-at: --column?"),
    ("remote", "-v --verbose"),
    (
        "rev-parse",
        "-q --abbrev-ref? --short? --verify --quiet --show-toplevel --show-prefix --show-cdup --git-dir --git-common-dir \
         --is-inside-work-tree --is-inside-git-dir --is-bare-repository --absolute-git-dir --symbolic-full-name --all \
         --branches? --tags? --remotes? --show-superproject-working-tree",
    ),
    (
        "ls-files",
        "-cdmoiskuzvt -x: --cached --deleted --modified --others --ignored --stage --unmerged --exclude: \
         --exclude-standard --directory --full-name --error-unmatch --eol --deduplicate --abbrev?",
    ),
    ("ls-tree", "-drtlz --name-only --name-status --long --full-name --full-tree --abbrev? --object-only"),
    ("cat-file", "-tsep"),
    (
        "describe",
        "--all --tags --long --always --dirty? --abbrev: --match: --exclude: --first-parent --contains --exact-match",
    ),
    (
        "blame",
        "-bcefFlnpstwMC -L: --root --show-stats --date: --line-porcelain --porcelain --show-name --show-number \
         --show-email --abbrev: --no-textconv",
    ),
    ("annotate", "-bcefFlnpstwMC -L:"),
    ("merge-base", "-a --all --is-ancestor --octopus --independent --fork-point"),
    ("name-rev", "--tags --all --name-only --always --no-undefined --refs:"),
    (
        "for-each-ref",
        "--count: --sort: --format: --points-at: --merged? --no-merged? --contains? --no-contains? --color?",
    ),
    ("show-ref", "-qdhs --head --heads --tags --branches --dereference --hash? --abbrev? --verify --quiet"),
    ("count-objects", "-vH --verbose --human-readable"),
    ("check-ignore", "-qvzn --quiet --verbose --non-matching --no-index"),
    ("version", "--build-options"),
    (
        "grep",
        "-# -acEFGHhiIlLnoPpqrvWwz -A: -B: -C: -e: -m: --cached --untracked --no-index --text --ignore-case --word-regexp \
         --invert-match --extended-regexp --basic-regexp --perl-regexp --fixed-strings --line-number --column \
         --files-with-matches --name-only --files-without-match --count --color? --no-color --break --heading \
         --show-function --function-context --context: --after-context: --before-context: --max-count: --max-depth: \
         --and --or --not --all-match --quiet --exclude-standard --recursive --full-name --only-matching",
    ),
];

pub(super) fn check(arguments: &[Word], context: &CommandContext<'_>) -> Result<(), Reason> {
    let mut cwds = context.cwds.to_vec();
    let mut is_literal = false;
    let mut rest = arguments;
    let command = loop {
        let Some((first, after)) = rest.split_first() else {
            return Err(Reason::new("syntax", "git without a command"));
        };
        rest = after;
        match first.text.as_str() {
            "--no-pager" | "-P" | "--no-optional-locks" => {}
            "--literal-pathspecs" => is_literal = true,
            "-C" => {
                let Some((folder, after)) = rest.split_first() else { return Err(refused("git", first)) };
                if !folder.globs.is_empty() {
                    return Err(refused("git", folder));
                }
                context.path(folder)?;
                let path = folder.path(context.scope.home()).unwrap_or_default();
                cwds = cwds.iter().map(|cwd| cwd.join(&path)).collect();
                rest = after;
            }
            "--version" if rest.is_empty() => return Ok(()),
            text if text.starts_with('-') || !first.globs.is_empty() => return Err(refused("git", first)),
            _ => break first,
        }
    };
    let context = &CommandContext { cwds: &cwds, scope: context.scope };
    let name = command.text.as_str();
    for cwd in &cwds {
        git::runs_nothing(cwd, rest.iter().any(|word| word.text == "--ignore-submodules"))?;
    }
    if special(name, rest)? {
        let prints = name == "stash" && rest.iter().any(|word| word.text == "-p");
        return if prints { contents::of_stash(context) } else { Ok(()) };
    }
    let Some((_, listed)) = COMMANDS.iter().find(|(listed, _)| *listed == name) else {
        return Err(Reason::new("option", format!("git {name} may change something")));
    };
    let entry = Entry { options: listed, operands: Operands::Text };
    let parsed = options::parse("git", &entry, rest, context)?;
    contents::check(&contents::Call { name, parsed: &parsed, is_literal }, context)?;
    let mut operands = parsed.operands.as_slice();
    match name {
        // An operand would create a branch, a tag or a remote.
        "branch"
            if !parsed.has(&["--list", "--contains", "--no-contains", "--merged", "--no-merged", "--points-at"]) =>
        {
            return operands.first().map_or(Ok(()), |word| Err(refused("git branch", word)));
        }
        "tag"
            if !parsed.has(&[
                "-l",
                "--list",
                "--contains",
                "--no-contains",
                "--merged",
                "--no-merged",
                "--points-at",
            ]) =>
        {
            return operands.first().map_or(Ok(()), |word| Err(refused("git tag", word)));
        }
        "remote" => {
            let gets = matches!(operands, [get, _] if get.text == "get-url");
            return if operands.is_empty() || gets { Ok(()) } else { Err(refused("git remote", operands[0])) };
        }
        "reflog" => match operands {
            [] => {}
            [show, ..] if show.text == "show" => {}
            [other, ..] => return Err(refused("git reflog", other)),
        },
        // The pattern is not a path.
        "grep" if !parsed.has(&["-e"]) => operands = operands.get(1..).unwrap_or_default(),
        _ => {}
    }
    operands.iter().try_for_each(|word| context.path(word))
}

/// Commands with subcommands.
fn special(name: &str, rest: &[Word]) -> Result<bool, Reason> {
    let texts: Vec<&str> = rest.iter().map(|word| word.text.as_str()).collect();
    let refuse = || Reason::new("option", format!("git {name} {}", texts.join(" ")));
    let plain = |text: &str| !text.starts_with('-');
    let has_patterns = rest.iter().any(|word| !word.globs.is_empty());
    let reads = match (name, texts.as_slice()) {
        // A pattern may match two files, and two words set a key.
        ("stash" | "worktree" | "config" | "symbolic-ref", _) if has_patterns => false,
        ("stash", ["list" | "show"] | ["show", "-p" | "--stat" | "--name-only"])
        | ("worktree", ["list"])
        | ("config", ["--list" | "-l" | "list"] | ["--local" | "--global", "--list" | "-l"])
        | ("symbolic-ref", ["HEAD"] | ["--short" | "-q", "HEAD"]) => true,
        ("stash", ["show", stash]) => plain(stash),
        ("config", ["--get" | "--get-all" | "--get-regexp" | "get", key]) => plain(key),
        // One word reads the key, two words set it.
        ("config", [key]) => plain(key) && key.contains('.'),
        ("stash" | "worktree" | "config" | "symbolic-ref", _) => false,
        _ => return Ok(false),
    };
    if reads { Ok(true) } else { Err(refuse()) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::word;

    #[test]
    fn a_subcommand_that_only_reads_is_told_from_one_that_changes() {
        for (line, reads) in [
            ("stash list", Some(true)),
            ("stash show -p", Some(true)),
            ("stash show stash@{0}", Some(true)),
            ("config --get user.name", Some(true)),
            ("config user.name", Some(true)),
            ("symbolic-ref --short HEAD", Some(true)),
            ("worktree list", Some(true)),
            ("log", None),
            ("stash", Some(false)),
            ("stash pop", Some(false)),
            ("stash show --output=x", Some(false)),
            ("config user.name me", Some(false)),
            ("config --unset user.name", Some(false)),
            ("config --get --file=x", Some(false)),
            ("config -e", Some(false)),
            ("symbolic-ref HEAD refs/heads/x", Some(false)),
            ("worktree add x", Some(false)),
            // With two files that match, the second is the value that is set.
            ("config core.[px]*", Some(false)),
            ("config --get core.*", Some(false)),
        ] {
            let words = word::split(line).unwrap();
            let found = match special(&words[0].text, &words[1..]) {
                Ok(true) => Some(true),
                Ok(false) => None,
                Err(why) => {
                    assert_eq!(why.rule, "option");
                    Some(false)
                }
            };
            assert_eq!(found, reads, "{line}");
        }
    }

    #[test]
    fn no_option_that_writes_or_runs_a_program_is_listed() {
        for (name, options) in COMMANDS {
            for option in ["--output:", "--ext-diff", "--textconv", "--show-signature", "--open-files-in-pager?", "-O:"]
            {
                assert!(!options.split(' ').any(|listed| listed == option), "{name} {option}");
            }
        }
    }
}
