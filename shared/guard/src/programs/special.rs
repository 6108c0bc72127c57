//! Programs whose arguments are not plain options: wrappers, `cd`, version queries, archives, dates.

use std::{fs, path::PathBuf};

use super::{
    CommandContext,
    options::{self, Entry, Operands},
    refused, table,
};
use crate::{Reason, paths, word::Word};

/// The command that the wrapper `name` runs; `None` if it is not a wrapper.
pub(super) fn unwrapped<'w>(name: &str, arguments: &'w [Word]) -> Result<Option<&'w [Word]>, Reason> {
    let number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
    let mut rest = arguments;
    match name {
        "command" if rest.first().is_some_and(|word| ["-v", "-V"].contains(&word.text.as_str())) => return Ok(None),
        "command" | "time" | "env" => {}
        "nice" => {
            if let [option, rest_of @ ..] = rest
                && let Some(value) = option.text.strip_prefix("-n")
            {
                rest = rest_of;
                if value.is_empty() {
                    if let Some(pattern) = rest.first().filter(|value| !value.globs.is_empty()) {
                        return Err(refused(name, pattern));
                    }
                    rest = rest.get(1..).unwrap_or_default();
                }
            }
        }
        "timeout" => {
            if let Some(duration) = rest.first()
                && number(duration.text.trim_end_matches(['s', 'm', 'h', 'd']))
            {
                rest = &rest[1..];
            } else {
                return rest.first().map_or(Ok(None), |word| Err(refused(name, word)));
            }
        }
        _ => return Ok(None),
    }
    match rest.first() {
        None => Ok(None),
        Some(word) if word.text.starts_with('-') || word.text.contains('=') => {
            if arguments.len() == 1 && VERSION.contains(&word.text.as_str()) {
                return Ok(None);
            }
            Err(refused(name, word))
        }
        Some(_) => Ok(Some(rest)),
    }
}

/// The line that a shell runs: `sh -c 'ls'`.
pub(super) fn shell_line<'w>(name: &str, arguments: &'w [Word]) -> Option<&'w str> {
    match arguments {
        [option, line] if ["sh", "bash", "dash"].contains(&name) && option.text == "-c" && line.globs.is_empty() => {
            Some(&line.text)
        }
        _ => None,
    }
}

/// The possible working directories after `cd`.
pub(super) fn cd(arguments: &[Word], context: &CommandContext<'_>) -> Result<Vec<PathBuf>, Reason> {
    let [to] = arguments else { return Err(Reason::new("path", "cd without one directory leads out of the project")) };
    if to.text.starts_with('-') || !to.globs.is_empty() || to.text.is_empty() {
        return Err(refused("cd", to));
    }
    context.path(to)?;
    let path = to.path(context.scope.home()).unwrap_or_default();
    // The shell resolves `..` lexically, programs physically, so both results must be permitted.
    let real = |path: PathBuf| ragmaker_fs::canonicalize(&path).unwrap_or(path);
    let mut led = vec![];
    for cwd in context.cwds {
        let joined = cwd.join(&path);
        for one in [real(joined.clone()), real(paths::normal(&joined))] {
            paths::readable(&one, context.scope)?;
            if !led.contains(&one) {
                led.push(one);
            }
        }
    }
    Ok(led)
}

const VERSION: [&str; 2] = ["--version", "--help"];

/// Programs that may be run to query their version only, with alternative spellings of the option.
const VERSIONS: &[(&str, &[&str])] = &[
    ("ansible", &[]),
    ("bash", &[]),
    ("bun", &["-v"]),
    ("c++", &[]),
    ("cargo", &["-V", "-vV", "--list"]),
    ("cc", &["-v"]),
    ("chromium", &[]),
    ("clang", &["-v"]),
    ("clang++", &["-v"]),
    ("cmake", &[]),
    ("curl", &["-V"]),
    ("deno", &["-V"]),
    ("docker", &["-v"]),
    ("dotnet", &["--info", "--list-sdks", "--list-runtimes"]),
    ("ffmpeg", &["-version"]),
    ("g++", &["-v"]),
    ("gcc", &["-v", "-dumpversion", "-dumpmachine"]),
    ("gh", &[]),
    ("ghc", &["-V"]),
    ("go", &["version", "env"]),
    ("java", &["-version"]),
    ("javac", &["-version"]),
    ("julia", &["-v"]),
    ("ld", &["-v"]),
    ("lua", &["-v"]),
    ("make", &["-v"]),
    ("ninja", &[]),
    ("node", &["-v"]),
    ("npm", &["-v"]),
    ("openssl", &["version"]),
    ("pandoc", &["-v"]),
    ("perl", &["-v"]),
    ("php", &["-v"]),
    ("pip", &["-V"]),
    ("pip3", &["-V"]),
    ("protoc", &[]),
    ("psql", &["-V"]),
    ("python", &["-V"]),
    ("python3", &["-V", "-VV"]),
    ("ruby", &["-v"]),
    ("rustc", &["-V", "-vV"]),
    ("rustfmt", &["-V"]),
    ("rustup", &["-V"]),
    ("sqlite3", &["-version"]),
    ("ssh", &["-V"]),
    ("tsc", &["-v"]),
    ("uv", &["-V"]),
    ("wget", &["-V"]),
    ("zsh", &[]),
];

/// Whether the command only queries the version of a program.
pub(super) fn asks_for_version(name: &str, arguments: &[Word], context: &CommandContext<'_>) -> Result<bool, Reason> {
    let [question] = arguments else { return Ok(false) };
    let text = question.text.as_str();
    let listed = VERSIONS.iter().find(|(program, _)| *program == name);
    let is_asked = match listed {
        Some((_, spellings)) => text == "--version" || spellings.contains(&text),
        // A program of the table prints its version and help itself.
        None => VERSION.contains(&text) && (table::entry(name).is_some() || ["awk", "sed", "find"].contains(&name)),
    };
    if is_asked && ["cargo", "rustc", "rustfmt", "rustup"].contains(&name) {
        no_toolchain_of_the_project(context)?;
    }
    Ok(is_asked)
}

/// Checks that rustup does not run a toolchain that a file in the project names.
fn no_toolchain_of_the_project(context: &CommandContext<'_>) -> Result<(), Reason> {
    let files = context.cwds.iter().flat_map(|cwd| cwd.ancestors());
    let mut files = files.flat_map(|folder| ["rust-toolchain", "rust-toolchain.toml"].map(|name| folder.join(name)));
    let names_path =
        |file: PathBuf| fs::read_to_string(file).is_ok_and(|text| text.contains("path") || text.contains('/'));
    if files.any(names_path) {
        return Err(Reason::new("program", "rust-toolchain names a path whose programs would be run"));
    }
    Ok(())
}

/// Checks a program that is handled here and not in the table; false if it is not.
pub(super) fn check(name: &str, arguments: &[Word], context: &CommandContext<'_>) -> Result<bool, Reason> {
    let texts: Vec<&str> = arguments.iter().map(|word| word.text.as_str()).collect();
    let refuse = || Reason::new("option", format!("{name} {}", texts.join(" ")));
    let has_patterns = arguments.iter().any(|word| !word.globs.is_empty());
    let allowed = match name {
        "date" => {
            let entry = Entry { options: DATE, operands: Operands::Text };
            let parsed = options::parse(name, &entry, arguments, context)?;
            // Any other operand sets the clock.
            !has_patterns && parsed.operands.iter().all(|word| word.text.starts_with('+'))
        }
        "tar" | "bsdtar" => match arguments {
            [mode, archive, members @ ..] => {
                let letters = mode.text.strip_prefix('-').unwrap_or(&mode.text);
                let lists = letters.contains('t') && letters.ends_with('f');
                let known = letters.chars().all(|letter| "tvfzjJ".contains(letter));
                // A colon denotes a remote host, which tar accesses with a program.
                let is_file = archive.globs.is_empty() && !archive.text.contains(':');
                let plain = members.iter().all(|word| !word.text.starts_with('-'));
                context.path(archive)?;
                lists && known && is_file && plain
            }
            _ => false,
        },
        "unzip" => match arguments {
            [mode, archive] => {
                context.path(archive)?;
                ["-l", "-v", "-t", "-Z1", "-lv"].contains(&mode.text.as_str())
            }
            _ => false,
        },
        "xxd" => {
            // Its options are words, not letters: `-ps` is one option.
            let (mut files, mut rest, mut known) = (0, arguments.iter(), !has_patterns);
            while let Some(word) = rest.next() {
                match word.text.as_str() {
                    "-p" | "-ps" | "-plain" | "-b" | "-u" | "-i" | "-e" | "-a" | "-E" => {}
                    "-l" | "-len" | "-s" | "-c" | "-cols" | "-g" => drop(rest.next()),
                    text if text.starts_with('-') => known = false,
                    _ => {
                        files += 1;
                        context.path(word)?;
                    }
                }
            }
            // A second file would be written.
            known && files <= 1
        }
        "ps" => match texts.as_slice() {
            [] => true,
            // Options that may print the environment of processes are not listed.
            [one] => ["aux", "ax", "axu", "a", "-ef", "-e", "-f", "-A", "-a", "-x", "-ax"].contains(one),
            _ => false,
        },
        "pip" | "pip3" => match texts.as_slice() {
            ["list" | "freeze"] => true,
            ["show", rest @ ..] => rest.iter().all(|name| !name.starts_with('-')),
            _ => false,
        },
        "npm" => {
            matches!(texts.as_slice(), ["ls" | "list", rest @ ..] if rest.iter().all(|option| ["--depth=0", "-g", "--all", "--json"].contains(option)))
        }
        "rustup" => {
            no_toolchain_of_the_project(context)?;
            matches!(
                texts.as_slice(),
                ["toolchain" | "target" | "component", "list"] | ["target" | "component", "list", "--installed"]
            )
        }
        "go" => {
            matches!(texts.as_slice(), ["env", rest @ ..] if rest.iter().all(|name| name.bytes().all(|byte| byte.is_ascii_uppercase())))
        }
        "rustc" => matches!(texts.as_slice(), ["--print", "sysroot" | "target-list" | "cfg"]),
        "umask" | "history" | "jobs" | "env" => texts.is_empty(),
        "ulimit" => texts == ["-a"],
        // Bash evaluates the subscript in the name of a variable, and a subscript can run a program. A pattern can
        // expand to the names of files that are such words.
        "test" | "[" => !has_patterns && !texts.iter().any(|text| ["-v", "-R"].contains(text)),
        "printf" => {
            let format = usize::from(texts.first() == Some(&"--"));
            arguments.get(format).is_none_or(|word| word.globs.is_empty())
                && !texts.first().is_some_and(|text| text.starts_with("-v"))
                && !texts.get(format).is_some_and(|text| sets_variables(text))
        }
        "hostname" => texts.iter().all(|option| ["-f", "-s", "-i", "-I", "-d"].contains(option)),
        "diff" => {
            let entry = table::entry(name).ok_or_else(refuse)?;
            let parsed = options::parse(name, entry, arguments, context)?;
            for word in parsed.operands.iter().filter(|word| word.text != "-") {
                context.path(word)?;
                if parsed.has(&["-r", "--recursive"]) {
                    paths::check_links(word, context.cwds, context.scope)?;
                }
            }
            true
        }
        "jq" => {
            jq(arguments, context)?;
            true
        }
        _ => return Ok(false),
    };
    if allowed { Ok(true) } else { Err(refuse()) }
}

/// Whether a format of `printf` has the conversion `%n`, which sets a variable such as PATH.
fn sets_variables(format: &str) -> bool {
    let plain = format.replace("%%", "");
    let mut conversions = plain.split('%').skip(1);
    let is_modifier = |c: char| c.is_ascii_digit() || "#-+ '.*hjlLtz".contains(c);
    conversions.any(|conversion| conversion.trim_start_matches(is_modifier).starts_with('n'))
}

const DATE: &str = "-uR -d: -r@ -I? --date: --reference@ --utc --universal --iso-8601? --rfc-3339: --rfc-email";

const JQ: &str = "-cnrRsSaCMej --compact-output --null-input --raw-output --raw-input --slurp --sort-keys --ascii-output \
    --color-output --monochrome-output --exit-status --join-output --raw-output0 --tab --indent: --unbuffered --seq \
    --stream --stream-errors";

/// Checks `jq`, whose filter can read modules and nothing else.
fn jq(arguments: &[Word], context: &CommandContext<'_>) -> Result<(), Reason> {
    // The options with two values are removed first.
    let (mut rest, mut plain) = (arguments.iter(), vec![]);
    while let Some(word) = rest.next() {
        match word.text.as_str() {
            option @ ("--arg" | "--argjson" | "--slurpfile" | "--rawfile") => {
                let (Some(name), Some(value)) = (rest.next(), rest.next()) else { return Err(refused("jq", word)) };
                // Of a pattern, the second file that it matches would be the filter.
                if let Some(pattern) = [name, value].into_iter().find(|word| !word.globs.is_empty()) {
                    return Err(refused("jq", pattern));
                }
                if option.ends_with("file") {
                    context.path(value)?;
                }
            }
            _ => plain.push(word.clone()),
        }
    }
    let entry = Entry { options: JQ, operands: Operands::Text };
    let parsed = options::parse("jq", &entry, &plain, context)?;
    let Some((filter, files)) = parsed.operands.split_first() else { return Ok(()) };
    if !filter.globs.is_empty() || ["import", "include"].iter().any(|word| filter.text.contains(word)) {
        return Err(refused("jq", filter));
    }
    files.iter().filter(|word| word.text != "-").try_for_each(|word| context.path(word))
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::{Scope, word};

    fn words(line: &str) -> Vec<Word> {
        word::split(line).unwrap()
    }

    /// What `see` says about a line in a project with a folder and the file `a.tar`.
    fn about<T>(line: &str, see: impl FnOnce(&str, &[Word], &CommandContext<'_>) -> T) -> T {
        let (_folder, scope) = Scope::of_project(&["src/a.md", "a.tar", ".env"]);
        let (cwds, words) = ([scope.cwd().to_path_buf()], words(line));
        see(&words[0].text, &words[1..], &CommandContext { cwds: &cwds, scope: &scope })
    }

    #[test]
    fn the_command_of_a_wrapper_is_known_or_refused() {
        for (line, expected) in [
            ("timeout 5 ls -l", Ok(Some("ls -l"))),
            ("timeout 1.5m ls", Ok(Some("ls"))),
            ("nice -n 5 ls", Ok(Some("ls"))),
            ("nice -n5 ls", Ok(Some("ls"))),
            ("time env ls", Ok(Some("env ls"))),
            ("command -v ls", Ok(None)),
            ("env", Ok(None)),
            ("nice --version", Ok(None)),
            ("cat x", Ok(None)),
            ("timeout -k 5 5 ls", Err("option")),
            ("timeout [5] ls", Err("option")),
            ("env A=b ls", Err("option")),
            ("time -o out ls", Err("option")),
            // The second file that the pattern matches would be the program.
            ("nice -n [0r]* cat x", Err("option")),
        ] {
            let words = words(line);
            let inner = unwrapped(&words[0].text, &words[1..]).map_err(|why| why.rule);
            let said = inner.map(|inner| {
                inner.map(|inner| inner.iter().map(|word| word.text.as_str()).collect::<Vec<_>>().join(" "))
            });
            assert_eq!(said.as_ref().map(Option::as_deref), expected.as_ref().map(|some| *some), "{line}");
        }
        assert_eq!(shell_line("sh", &words("-c 'ls -l'")), Some("ls -l"));
        for line in ["-ec ls", "-c ls x", "-c *", "x.sh"] {
            assert_eq!(shell_line("bash", &words(line)), None, "{line}");
        }
    }

    #[test]
    fn a_program_that_can_change_something_is_allowed_only_where_it_reads() {
        for line in [
            "date +%F",
            "date -u -d '1 day ago' +%s",
            "tar tzf a.tar src",
            "tar -tvf a.tar",
            "unzip -l a.tar",
            "xxd -l 4 a.tar",
            "ps aux",
            "pip show requests",
            "npm ls --depth=0",
            "go env GOPATH",
            "env",
            "test -f a.tar",
            "printf '100%%n %s' x",
            "jq --arg a b '.x' a.tar",
            "jq -n --slurpfile a a.tar '$a'",
            "diff -r src src",
        ] {
            assert_eq!(about(line, check), Ok(true), "{line}");
        }
        for (line, rule) in [
            ("date 12312359", "option"),
            ("date -s tomorrow", "option"),
            ("date [1]*", "option"),
            ("tar xf a.tar", "option"),
            ("tar tf host:a.tar", "option"),
            ("tar tf a.tar --to-command=sh", "option"),
            ("tar tf ../a.tar", "path"),
            ("unzip a.tar", "option"),
            ("xxd a.tar out", "option"),
            ("xxd -r a.tar", "option"),
            ("ps auxe", "option"),
            ("pip install x", "option"),
            ("npm run x", "option"),
            ("go env -w A=b", "option"),
            ("test -v 'a[$(id)]'", "option"),
            ("printf '%n' PATH", "option"),
            ("printf -v PATH x", "option"),
            ("hostname evil", "option"),
            ("jq 'import \"a\" as a; .'", "option"),
            ("jq --slurpfile a .env .", "path"),
            ("jq --slurpfile a", "option"),
            ("jq --arg a [a]* .", "option"),
            ("diff -r src /etc", "path"),
        ] {
            assert_eq!(about(line, check).map_err(|why| why.rule), Err(rule), "{line}");
        }
        assert_eq!(about("rm x", check), Ok(false));
    }

    #[test]
    fn a_conversion_that_sets_a_variable_is_seen() {
        for (format, sets) in [
            ("", false),
            ("%", false),
            ("%s%d", false),
            ("%%n", false),
            ("%%%n", true),
            ("%-5.3n", true),
            ("%*hhn", true),
            ("\u{e9}%n", true),
        ] {
            assert_eq!(sets_variables(format), sets, "{format}");
        }
    }

    #[test]
    fn a_toolchain_in_the_project_is_not_run_for_its_version() {
        let asks = |line| about(line, asks_for_version);
        assert_eq!((asks("cargo --version"), asks("node -v"), asks("ls --help")), (Ok(true), Ok(true), Ok(true)));
        assert_eq!(
            (asks("cargo --version x"), asks("node x.js"), asks("evil --version")),
            (Ok(false), Ok(false), Ok(false))
        );
        let (_folder, scope) = Scope::of_project(&[]);
        fs::write(scope.cwd().join("rust-toolchain.toml"), "[toolchain]\npath = \"evil\"\n").unwrap();
        let cwds = [scope.cwd().to_path_buf()];
        let context = CommandContext { cwds: &cwds, scope: &scope };
        assert_eq!(asks_for_version("cargo", &words("--version"), &context).map_err(|why| why.rule), Err("program"));
        assert_eq!(asks_for_version("node", &words("--version"), &context), Ok(true));
    }

    #[test]
    fn a_folder_is_entered_only_inside_the_project() {
        let enters = |line| about(line, |_, arguments, context| cd(arguments, context).map(|cwds| cwds.len()));
        assert_eq!(enters("cd src"), Ok(1));
        for line in ["cd", "cd -", "cd ''", "cd s*", "cd ..", "cd /", "cd src ..", "cd src/../.."] {
            assert!(enters(line).is_err(), "{line}");
        }
    }
}
