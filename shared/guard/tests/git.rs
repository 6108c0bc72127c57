//! Tests that commands of Git print no files with keys without an approval.

mod place;

use std::fs;

use place::Place;
use ragmaker_guard::{Hides, LineVerdict, classify};

/// Lines that print no file with keys in a project that tracks one.
const HARMLESS: &[&str] = &[
    "git status",
    "git log --oneline",
    "git log --stat",
    "git diff",
    "git diff --stat",
    "git diff HEAD~1 --stat",
    "git diff -- README.md",
    "git diff HEAD~1 -- README.md src",
    "git diff HEAD~1 README.md",
    "git diff HEAD~1 -- *.md",
    "git log -p -- README.md",
    "git log -p -- README.md src/main.rs | head -50",
    "git log -p --follow README.md",
    "git log -p HEAD~1",
    "git log -p ':!api'",
    "git log -S one",
    "git show HEAD~1",
    "git show --stat HEAD",
    "git show --name-only HEAD",
    "git show HEAD:README.md",
    "git show HEAD:README.md HEAD:src/main.rs",
    "git show HEAD:src",
    "git show HEAD~1 -- README.md",
    "git show HEAD -- README.md",
    "git cat-file -p HEAD",
    "git cat-file -t HEAD",
    "git cat-file blob HEAD:README.md",
    "git diff HEAD~1:README.md HEAD:README.md",
    "git grep one",
    "git grep -n one -- src README.md",
    "git grep x -- src",
    "git ls-files",
    "git blame README.md",
    "git -C src log -p -- main.rs",
    "cd src && git diff -- main.rs",
    "cd src && git status",
];

/// Lines that print it.
const PRINTING: &[&str] = &[
    "git show",
    "git show HEAD",
    "git show --stat -p HEAD",
    "git show HEAD -- api",
    "git show HEAD -- a*",
    "git show HEAD -- ':(glob)**/.e*'",
    "git log -p",
    "git log -p --graph --oneline -n1",
    "git log -p -- api",
    "git log -L 1,1:README.md",
    "git log -L 1,1:README.md -n 1 HEAD~1..",
    "git log -p -- ':(attr:x)'",
    "git log -S x",
    "git log -G KEY -- api",
    "git diff HEAD~1",
    "git diff --exit-code HEAD~1",
    "git diff --check HEAD~1",
    "git diff HEAD~1:api HEAD:api",
    "git diff-tree -p HEAD",
    "git grep KEY",
    "git grep -c KEY",
    "git grep -q KEY HEAD",
    "git grep -L one",
    "git reflog -p",
    "cd api && git log -p -- .",
    "git -C api log -p",
    "sh -c 'git log -p'",
    "git status && grep -r x .",
    "git for-each-ref --format='%(raw)'",
    "git log -L 1,1:README.md HEAD^!",
    "git show light",
    "git show heavy",
    "git show HEAD^{}",
];

/// A repository of the project, with one commit.
struct Repository(Place);

impl Repository {
    fn new() -> Self {
        let new = Self(Place::new());
        new.git(&["init", "-q"]);
        new.commit("first");
        new
    }

    fn git(&self, arguments: &[&str]) -> String {
        let identity = ["-c", "user.name=x", "-c", "user.email=x@x.example"];
        let git = std::process::Command::new("git").args(identity).args(arguments).current_dir(&self.0.root).output();
        let git = git.unwrap();
        assert!(git.status.success(), "{git:?}");
        String::from_utf8(git.stdout).unwrap().trim().to_owned()
    }

    fn commit(&self, message: &str) {
        self.git(&["add", "-f", "."]);
        self.git(&["commit", "-q", "--allow-empty", "-m", message]);
    }

    fn write(&self, name: &str, text: &str) {
        let path = self.0.root.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    fn check(&self, expected: LineVerdict, lines: &[&str]) {
        let found = lines.iter().map(|line| (line, classify(line, &self.0.scope())));
        let wrong: Vec<_> = found.filter(|(_, found)| found.verdict != expected).collect();
        assert!(wrong.is_empty(), "{expected:?}: {wrong:#?}");
    }
}

#[test]
fn git_needs_approval_to_print_files_with_keys() {
    let repository = Repository::new();
    let lines = [
        "git show HEAD",
        "git show --stat HEAD",
        "git cat-file -p HEAD",
        "git log -p",
        "git log -G x",
        "git log -S x",
        "git log -L 1,1:README.md",
        "git log -p --follow README.md",
        "git diff",
        "git diff --cached",
        "git diff --check",
        "git status -v",
        "git status -vv",
        "git grep one",
        "git grep -L x",
        "git stash show -p",
        "git diff-tree -p HEAD",
        "git reflog -p",
        "sh -c 'git log -p'",
        "git status && grep -r x .",
    ];
    repository.check(LineVerdict::Run, &lines);
    let named = [
        "git show HEAD:.env",
        "git cat-file -p HEAD:api/id_rsa",
        "git show :.env",
        "git log -L 1,2:.env",
        "git diff HEAD:.env..HEAD:README.md",
        "git show HEAD:.env/",
        "git grep x -- .env",
        "git diff -- api/.env",
    ];
    repository.check(LineVerdict::Ask, &named);
    let hides = |line: &str| classify(line, &repository.0.scope()).hides;
    assert_eq!((hides("grep -rn x ."), hides("git grep --untracked x")), (Hides::Everywhere, Hides::Everywhere));
    assert_eq!((hides("git status"), hides("cat README.md")), (Hides::Top, Hides::Top));
    // A project with a tracked `.env`: what does not print it needs no approval.
    repository.write("api/.env", "KEY=x\n");
    repository.commit("second");
    repository.check(LineVerdict::Run, HARMLESS);
    for line in HARMLESS {
        assert_eq!(hides(line), Hides::Nothing, "{line}");
    }
    assert_eq!(hides("grep -rn x ."), Hides::Everywhere);
    let blob = repository.git(&["rev-parse", "HEAD:api/.env"]);
    repository.git(&["tag", "light", &blob]);
    repository.git(&["tag", "-m", "x", "heavy", &blob]);
    repository.check(LineVerdict::Ask, PRINTING);
    let of_blob =
        [format!("git show {blob}"), format!("git cat-file blob {blob}"), format!("git diff {blob} README.md")];
    repository.check(LineVerdict::Ask, &of_blob.each_ref().map(String::as_str));
    repository.write("api/.env", "KEY=y\n");
    repository.check(
        LineVerdict::Ask,
        &["git diff", "git diff HEAD", "git diff -p --stat", "git status -v", "git status -vv"],
    );
    repository.check(LineVerdict::Run, &["git diff --cached", "git diff --stat", "git diff -- src"]);
    repository.git(&["stash", "-q"]);
    repository.check(LineVerdict::Ask, &["git stash show -p", "git show stash@{0}"]);
    repository.check(LineVerdict::Run, &["git stash show", "git stash list"]);
}

#[test]
fn git_needs_approval_to_print_what_a_repository_once_tracked() {
    let repository = Repository::new();
    repository.write("api/.env", "KEY=x\n");
    repository.commit("second");
    repository.git(&["rm", "-q", "api/.env"]);
    repository.commit("third");
    repository.write("README.md", "two\n");
    repository.commit("fourth");
    let old = [
        "git log -p",
        "git show HEAD~1",
        "git show HEAD~2",
        "git diff HEAD~2 HEAD",
        "git log -S x",
        "git grep x HEAD~2",
    ];
    repository.check(LineVerdict::Ask, &old);
    let new = [
        "git show",
        "git show HEAD",
        "git log -p -1",
        "git log -p -n 1",
        "git diff HEAD~1",
        "git log -p README.md",
        "git grep x",
    ];
    repository.check(LineVerdict::Run, &new);
    // A commit that only the log of HEAD knows.
    let lost = Repository::new();
    lost.write("id_rsa", "x\n");
    lost.commit("second");
    let second = lost.git(&["rev-parse", "--short", "HEAD"]);
    lost.git(&["reset", "-q", "--hard", "HEAD~1"]);
    lost.check(LineVerdict::Run, &["git log -p", "git show HEAD"]);
    let shown = format!("git show {second}");
    lost.check(
        LineVerdict::Ask,
        &["git show HEAD@{1}", "git reflog -p", "git show ORIG_HEAD", "git log -p -g", &shown],
    );
    lost.check(LineVerdict::Ask, &["git log -L 1,1:README.md -g"]);
    // The keys were under another name.
    let renamed = Repository::new();
    renamed.write(".env", "KEY=x\nNAME=a\nPORT=1\n");
    renamed.commit("second");
    renamed.git(&["mv", ".env", ".env.example"]);
    renamed.write(".env.example", "KEY=\nNAME=a\nPORT=1\n");
    renamed.commit("third");
    renamed
        .check(LineVerdict::Ask, &["git log -p --follow .env.example", "git log -L 1,1:.env.example", "git show HEAD"]);
    renamed.check(LineVerdict::Run, &["git show HEAD:.env.example", "git blame .env.example"]);
    // Every form of an index, and a linked working tree, are understood.
    let other = lost.0.root.join("other");
    lost.git(&["worktree", "add", "-q", "other"]);
    lost.write("other/a.md", "x\n");
    lost.check(LineVerdict::Run, &["git -C other log -p", "git -C other status"]);
    fs::write(other.join(".env"), "x").unwrap();
    lost.git(&["-C", "other", "add", "-f", ".env"]);
    for form in [&["--index-version", "4"][..], &["--index-version", "2"], &["--split-index"]] {
        lost.git(&[&["-C", "other", "update-index"][..], form].concat());
        lost.check(LineVerdict::Ask, &["git -C other diff --cached", "git -C other grep x -- ."]);
        lost.check(LineVerdict::Run, &["git -C other log -p"]);
        assert_eq!(classify("git -C other status", &lost.0.scope()).hides, Hides::Nothing);
    }
}
