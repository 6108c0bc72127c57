//! Completions in real shells, and man pages as `man` reads them.

use std::{fs, path::Path};

use ragmaker_tests::{
    discovery::entries,
    run::{Project, Tool, executable},
};

const SHELLS: [&str; 4] = ["bash", "zsh", "fish", "powershell"];

fn ragmaker(project: &Project, words: &[&str]) -> Tool {
    project.program(&executable("ragmaker")).args(words)
}

fn printed(tool: Tool) -> String {
    let output = tool.run_raw();
    assert!(output.status.success() && output.stderr.is_empty(), "{output:?}");
    String::from_utf8(output.stdout).unwrap()
}

/// What the shell `program` prints for its `arguments`. `cargo xtask test` installs the shells.
fn shell(project: &Project, program: &str, arguments: &[&str]) -> String {
    printed(project.program(Path::new(program)).args(arguments))
}

/// The command lines to complete, each with a completion that it has and one that it does not have.
const LINES: [(&str, &str, &str); 12] = [
    ("ragmaker read-f", "read-file", "read-many-files"),
    ("ragmaker read-file --pat", "--path", "--pages"),
    ("ragmaker help web-s", "web-search", "--help"),
    ("ragmaker connect g", "gemini", "claude"),
    ("ragmaker-read-file --project-r", "--project-root", "--path"),
    ("ragmaker-read-file --as base", "base64", "text"),
    ("ragmaker-call read_fil", "read_file", "read_many_files"),
    ("ragmaker agent --approve nev", "never", "read"),
    ("ragmaker ask --provider az", "azure", "openai"),
    ("ragmaker-mcp --profile gat", "gather", "fetch"),
    ("ragmaker discover --format ope", "openai", "gemini"),
    ("ragmaker web-search --engine br", "brave", "google"),
];

#[test]
#[cfg(unix)]
fn bash_completes_the_commands() {
    let project = Project::new();
    project.write("ragmaker.bash", printed(ragmaker(&project, &["completions", "bash"])));
    for (line, expected, other) in LINES {
        // As readline calls the function that is registered for the command.
        let script = format!(
            r#"source ragmaker.bash
            COMP_WORDS=({line}) COMP_CWORD=$((${{#COMP_WORDS[@]}} - 1))
            registered=$(complete -p "${{COMP_WORDS[0]}}")
            [[ $registered =~ -F\ ([^ ]+) ]] && "${{BASH_REMATCH[1]}}" "${{COMP_WORDS[0]}}" "${{COMP_WORDS[COMP_CWORD]}}" "${{COMP_WORDS[COMP_CWORD-1]}}"
            printf '%s\n' "${{COMPREPLY[@]}}""#
        );
        let found = shell(&project, "bash", &["--norc", "-c", &script]);
        assert!(found.lines().any(|word| word == expected), "{line}: {found}");
        assert!(found.lines().all(|word| word != other), "{line}: {found}");
    }
}

#[test]
#[cfg(unix)]
fn fish_completes_the_commands() {
    let project = Project::new();
    project.write("ragmaker.fish", printed(ragmaker(&project, &["completions", "fish"])));
    for (line, expected, other) in LINES {
        let script = format!("source ragmaker.fish; complete --do-complete '{line}'");
        let found = shell(&project, "fish", &["--no-config", "-c", &script]);
        let words: Vec<_> = found.lines().map(|line| line.split('\t').next().unwrap()).collect();
        assert!(words.contains(&expected) && !words.contains(&other), "{line}: {found}");
    }
}

/// Lines whose last word is a file.
const WORDS: [&str; 4] = [
    "ragmaker-read-file note",
    "ragmaker read-file note",
    "ragmaker-search-file-content tide note",
    "ragmaker-cite --answer note",
];

#[test]
#[cfg(unix)]
fn shells_complete_files_as_words() {
    let project = Project::new();
    project.write("notes.md", "");
    for name in ["bash", "fish"] {
        project.write(&format!("words.{name}"), printed(ragmaker(&project, &["completions", name])));
    }
    printed(ragmaker(&project, &["completions", "zsh", "--dir", "zsh"]));
    for line in WORDS {
        let script = format!("source words.fish; complete --do-complete '{line}'");
        let found = shell(&project, "fish", &["--no-config", "-c", &script]);
        assert!(found.lines().any(|line| line.split('\t').next() == Some("notes.md")), "{line}: {found}");
        let found = shell(&project, "zsh", &["-f", "-c", ZSH, "zsh", line]);
        assert!(found.contains(&format!("<{line}s.md")), "{line}: {found}");
    }
    // bash completes files where the function has no reply.
    let script = "source words.bash; COMP_WORDS=(ragmaker-read-file note) COMP_CWORD=1; _ragmaker__read__file x note x
                  printf '%s:' ${#COMPREPLY[@]}; complete -p ragmaker-read-file";
    let found = shell(&project, "bash", &["--norc", "-c", script]);
    assert!(found.starts_with("0:") && found.contains("-o default"), "{found}");
}

/// Types a line and a tab at an interactive zsh, whose widget on Control-X then shows the line.
const ZSH: &str = r#"
zmodload zsh/zpty
zpty typed zsh -f -i
zpty -w typed 'PS1= RPS1= PS2=; unsetopt zle_bracketed_paste; fpath=($PWD/zsh $fpath); autoload -Uz compinit; compinit -u -D'
zpty -w typed 'show() { print -r -- "<$BUFFER>"; }; zle -N show; bindkey "^X" show; bindkey "^I" complete-word; print rea""dy'
zpty -r -m typed text '*ready*'
zpty -n -w typed "$1"$'\t\x18'
zpty -r -m typed text '*<*>*'
print -r -- $text
zpty -d typed
"#;

#[test]
#[cfg(unix)]
fn zsh_completes_the_commands() {
    let project = Project::new();
    printed(ragmaker(&project, &["completions", "zsh", "--dir", "zsh"]));
    for (line, expected, _) in LINES {
        let found = shell(&project, "zsh", &["-f", "-c", ZSH, "zsh", line]);
        let (before, _) = line.rsplit_once(' ').unwrap();
        assert!(found.contains(&format!("<{before} {expected}")), "{line}: {found}");
    }
    // All in one script.
    project.write("all.zsh", printed(ragmaker(&project, &["completions", "zsh"])));
    let loaded =
        "autoload -Uz compinit; compinit -u -D; source all.zsh; print $_comps[ragmaker] $_comps[ragmaker-read-file]";
    assert_eq!(shell(&project, "zsh", &["-f", "-c", loaded]).trim(), "_ragmaker _ragmaker-read-file");
}

#[test]
fn every_option_is_completed_in_every_shell() {
    let project = Project::new();
    for name in SHELLS {
        let script = printed(ragmaker(&project, &["completions", name]));
        for entry in entries() {
            assert!(script.contains(&entry.command), "{name}: {}", entry.command);
        }
        for option in ["as", "kb-root", "base-url", "no-headless", "describe", "token-file"] {
            assert!(script.contains(option), "{name}: {option}");
        }
        let printed_files = printed(ragmaker(&project, &["completions", name, "--dir", name]));
        let files = fs::read_dir(project.path().join(name)).unwrap().count();
        // ragmaker, the tools and the four hosts.
        assert_eq!(files, 1 + entries().len() + 4, "{name}");
        assert!(printed_files.starts_with(&format!("wrote {files} files")), "{printed_files}");
    }
    let powershell = printed(ragmaker(&project, &["completions", "powershell"]));
    // PowerShell accepts `using` only before all other statements.
    assert!(powershell.starts_with("using namespace "), "{powershell:.200}");
    assert_eq!(powershell.matches("using namespace System.Management.Automation\n").count(), 1);
    for part in [
        "Register-ArgumentCompleter -Native -CommandName 'ragmaker'",
        "Register-ArgumentCompleter -Native -CommandName 'ragmaker-read-file'",
        "'ragmaker;read-file'",
        "'--path'",
    ] {
        assert!(powershell.contains(part), "{part}");
    }
    let refused = ragmaker(&project, &["completions", "tcsh"]).run_raw();
    assert_eq!(refused.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&refused.stderr).contains("bash, zsh, fish and powershell"), "{refused:?}");
}

#[test]
#[cfg(unix)]
fn every_man_page_is_one() {
    let project = Project::new();
    printed(ragmaker(&project, &["man", "--dir", "man1"]));
    let pages: Vec<_> = fs::read_dir(project.path().join("man1")).unwrap().map(|page| page.unwrap().path()).collect();
    for command in entries().into_iter().map(|entry| entry.command).chain(["ragmaker".into(), "ragmaker-link".into()]) {
        assert!(pages.iter().any(|page| page.ends_with(format!("{command}.1"))), "{command}");
    }
    // With a command, its page alone.
    let one = printed(ragmaker(&project, &["man", "cite", "--dir", "one"]));
    assert!(one.starts_with("wrote 1 file "), "{one}");
    assert_eq!(fs::read_dir(project.path().join("one")).unwrap().count(), 1);
    for page in &pages {
        let words = [&["--warnings", "-E", "UTF-8", "-l"][..], &[page.to_str().unwrap()]].concat();
        let text = printed(project.program(Path::new("man")).args(words).env("MANWIDTH", "100").env("MANPAGER", "cat"));
        assert!(text.contains("SYNOPSIS") && text.contains("DESCRIPTION"), "{}: {text}", page.display());
        let name = page.file_stem().unwrap().to_str().unwrap();
        assert!(name == "ragmaker" || text.contains("EXIT STATUS"), "{}: {text}", page.display());
        let source = fs::read_to_string(page).unwrap().replace("\\-", "-");
        let title = source.lines().find(|line| line.starts_with(".TH ")).unwrap();
        // The fields after the date, which is empty, are in their places.
        let fields = format!(".TH {name} 1 \"\" \"RAGMaker {}\" \"RAGMaker manual\"", env!("CARGO_PKG_VERSION"));
        assert_eq!(title, fields);
    }
}

#[test]
fn a_man_page_has_what_the_tool_says_of_itself() {
    let project = Project::new();
    let plain = |name: &str| {
        printed(ragmaker(&project, &["man", name])).replace("\\-", "-").replace("\\fB", "").replace("\\fR", "")
    };
    let page = plain("read-file");
    let entry = entries().into_iter().find(|entry| entry.command == "ragmaker-read-file").unwrap();
    for key in entry.json["parameters"]["properties"].as_object().unwrap().keys() {
        let name = key.replace('_', "-");
        // A switch that is on in JSON is turned off by a flag.
        assert!([format!("--{name}"), format!("--no-{name}")].iter().any(|flag| page.contains(flag)), "{key}: {page}");
    }
    for code in entry.json["errors"].as_array().unwrap() {
        assert!(page.contains(code.as_str().unwrap()), "{code}: {page}");
    }
    for part in [
        "ragmaker read-file [OPTION]... PATH",
        "ragmaker-read-file [OPTION]... PATH",
        "-h",
        "-V",
        "HOST OPTIONS",
        "--project-root",
        "base64",
        "EXIT STATUS",
    ] {
        assert!(page.contains(part), "{part}: {page}");
    }
    assert_eq!(plain("read_file"), page);
    assert_eq!(plain("ragmaker-read-file"), page);
    let overview = plain("ragmaker");
    assert!(overview.contains("ragmaker-connect(1)") && overview.contains("RAGMAKER_PROJECT_ROOT"), "{overview}");
    assert_eq!(ragmaker(&project, &["man", "no-such"]).run_raw().status.code(), Some(2));
}
