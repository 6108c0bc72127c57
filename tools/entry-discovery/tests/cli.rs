//! `ragmaker-entry-discovery` from outside.

use std::{
    fs,
    path::Path,
    process::{Command, Output},
};

use serde_json::{Value, json};

const PROGRAM: &str = env!("CARGO_BIN_EXE_ragmaker-entry-discovery");

fn run(folder: &Path, arguments: &[&str]) -> Output {
    Command::new(PROGRAM).args(arguments).current_dir(folder).env_remove("RAGMAKER_PROJECT_ROOT").output().unwrap()
}

/// The answer; nothing is on standard error.
fn answer(folder: &Path, arguments: &[&str]) -> Value {
    let output = run(folder, arguments);
    assert_eq!(String::from_utf8_lossy(&output.stderr), "");
    assert_eq!(output.status.code(), Some(0));
    serde_json::from_slice(&output.stdout).unwrap()
}

/// The error's code and the whole error; nothing is on standard output.
fn refusal(output: &Output) -> (String, Value) {
    assert!(output.stdout.is_empty());
    let error: Value = serde_json::from_slice(&output.stderr).unwrap();
    let code = error["error_code"].as_str().unwrap().to_owned();
    assert_eq!(output.status.code(), Some(if code == "ARGUMENT_ERROR" { 2 } else { 1 }), "{error}");
    (code, error)
}

#[test]
fn a_header_is_made_and_changed() {
    let folder = tempfile::tempdir().unwrap();
    let mut made = answer(folder.path(), &["--kb-root=kb", "--title", "The Book", "--src-type=web"]);
    let fetched_at = made["header"]["fetched_at"].take();
    assert_eq!(fetched_at.as_str().map(str::len), Some(20));
    let file = folder.path().canonicalize().unwrap().join("kb/cache/catalog.json");
    let mut expected = json!({
        "status": "success", "catalog_file": file.to_str(),
        "header": {"title": "The Book", "summary": "", "source_url": "", "src_type": "web", "fetched_at": null},
        "documents": 0, "truncated": false,
    });
    assert_eq!(made, expected);

    let text = fs::read_to_string(&file).unwrap().replace("[]", r#"[{"url": "u", "n": 1e2}]"#);
    fs::write(&file, &text).unwrap();
    let changed = answer(folder.path(), &["--catalog-path=kb/cache/catalog.json", "--summary=本", "--title=New"]);
    expected["header"]["fetched_at"] = fetched_at;
    expected["header"]["title"] = "New".into();
    expected["header"]["summary"] = "本".into();
    expected["documents"] = 1.into();
    assert_eq!(changed, expected);
    let text = text.replace("The Book", "New").replace(r#""summary": """#, r#""summary": "本""#);
    assert_eq!(fs::read_to_string(&file).unwrap(), text);
}

#[test]
fn without_a_place_it_is_the_projects_own() {
    let folder = tempfile::tempdir().unwrap();
    answer(folder.path(), &["--title=T"]);
    assert!(folder.path().join(".tmp/cache/catalog.json").is_file());
    let project = folder.path().join("project");
    fs::create_dir(&project).unwrap();
    let output =
        Command::new(PROGRAM).arg("--title=T").current_dir(&folder).env("RAGMAKER_PROJECT_ROOT", &project).output();
    assert!(output.unwrap().status.success());
    assert!(project.join(".tmp/cache/catalog.json").is_file());
}

#[test]
fn arguments_that_say_nothing_or_too_much_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    for (arguments, argument) in [
        (&["--kb-root=kb"][..], "--title"),
        (&["--kb-root=kb", "--title= "], "--title"),
        (&["--kb-root=kb", "--title=T", "--summary="], "--summary"),
        (&["--kb-root=kb", "--catalog-path=c.json", "--title=T"], "--catalog-path"),
        (&["--kb-root=", "--title=T"], "--kb-root"),
        (&["--catalog-path=kb/", "--title=T"], "--catalog-path"),
        (&["--title=T", "--src-type=ftp"], "--src-type"),
        (&["--title=T", "--uri=x"], "--uri"),
    ] {
        let (code, error) = refusal(&run(folder.path(), arguments));
        assert_eq!((code.as_str(), &error["details"]["argument"]), ("ARGUMENT_ERROR", &json!(argument)), "{error}");
    }
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0, "nothing was made");
}

#[test]
fn a_corrupt_catalog_is_reported_and_left_alone() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("c.json");
    fs::write(&file, "{\"documents\": [\n}").unwrap();
    let (code, error) = refusal(&run(folder.path(), &["--catalog-path=c.json", "--title=T"]));
    assert_eq!((code.as_str(), &error["details"]["line"]), ("CATALOG_CORRUPT", &json!(2)));
    assert_eq!(fs::read_to_string(&file).unwrap(), "{\"documents\": [\n}");
}

#[test]
fn a_long_header_fits_the_output() {
    let temp = tempfile::tempdir().unwrap();
    a_long_header_fits(temp.path());
    #[cfg(unix)]
    {
        // Each of these bytes takes six characters of JSON.
        let deep = temp.path().join(format!("{}/", "\u{1}".repeat(250)).repeat(14));
        fs::create_dir_all(&deep).unwrap();
        a_long_header_fits(&deep);
    }
}

fn a_long_header_fits(folder: &Path) {
    let (title, summary) = ("語\u{9b}".repeat(10_000), "s".repeat(100_000));
    for (name, value) in [("title", &title), ("summary", &summary), ("source_url", &title)] {
        answer(folder, &["--arguments", &json!({"catalog_path": "c.json", name: value}).to_string()]);
    }
    for ascii in ["", "1"] {
        let output = Command::new(PROGRAM)
            .args(["--catalog-path=c.json", "--src-type=web"])
            .current_dir(folder)
            .env("RAGMAKER_ASCII_JSON", ascii)
            .output()
            .unwrap();
        let text = String::from_utf8(output.stdout).unwrap();
        assert!(text.chars().count() < 29_000, "{} characters", text.chars().count());
        let shown: Value = serde_json::from_str(&text).unwrap();
        assert_eq!(shown["truncated"], true);
        assert!(title.starts_with(shown["header"]["title"].as_str().unwrap().trim_end_matches('…')));
    }
    let whole: Value = serde_json::from_slice(&fs::read(folder.join("c.json")).unwrap()).unwrap();
    assert_eq!((&whole["title"], &whole["summary"]), (&json!(title), &json!(summary)));
}

#[cfg(unix)]
mod unix {
    use super::*;
    use std::os::unix::{fs::PermissionsExt, process::CommandExt};

    /// The user who owns nothing.
    const NOBODY: u32 = 65534;

    fn shell(folder: &Path, script: &str) -> Output {
        Command::new("sh").args(["-c", script, "sh", PROGRAM]).current_dir(folder).output().unwrap()
    }

    fn filled(folder: &Path) -> String {
        let text = format!("{{\"documents\": [{{\"text\": \"{}\"}}]}}", "x".repeat(10_000));
        fs::write(folder.join("c.json"), &text).unwrap();
        text
    }

    #[test]
    fn a_disk_that_is_full_leaves_the_catalog_as_it_was() {
        let folder = tempfile::tempdir().unwrap();
        let text = filled(folder.path());
        // A limit on the size of files fails a write in its middle, as a full disk does.
        let output = shell(folder.path(), r#"trap "" XFSZ; ulimit -f 4; exec "$1" --catalog-path=c.json --title=T"#);
        assert_eq!(refusal(&output).0, "CATALOG_NOT_WRITABLE");
        assert_eq!(fs::read_to_string(folder.path().join("c.json")).unwrap(), text);
        assert!(!folder.path().join(".c.json.tmp").exists());
    }

    #[test]
    fn a_tool_that_dies_while_it_writes_leaves_the_catalog_as_it_was() {
        let folder = tempfile::tempdir().unwrap();
        let text = filled(folder.path());
        // The same limit, with the signal that kills.
        let output = shell(folder.path(), r#"ulimit -c 0; ulimit -f 4; exec "$1" --catalog-path=c.json --title=T"#);
        assert_eq!(output.status.code(), None, "it was killed");
        assert_eq!(fs::read_to_string(folder.path().join("c.json")).unwrap(), text);
        assert!(folder.path().join(".c.json.tmp").exists(), "it died in the middle of the draft");
        answer(folder.path(), &["--catalog-path=c.json", "--title=T"]);
        assert!(!folder.path().join(".c.json.tmp").exists());
    }

    #[test]
    fn a_folder_that_is_read_only_is_told() {
        let folder = tempfile::tempdir().unwrap();
        fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o755)).unwrap();
        // Root may write anywhere: as root, the tool runs as nobody, from a place where nobody may go.
        let program = folder.path().join("program");
        // Copied by another process: a file that this one has open for writing could not be run.
        assert!(Command::new("cp").args([PROGRAM.as_ref(), program.as_os_str()]).status().unwrap().success());
        let kb = folder.path().join("kb");
        fs::create_dir(&kb).unwrap();
        let text = filled(&kb);
        fs::set_permissions(&kb, fs::Permissions::from_mode(0o555)).unwrap();
        let root = std::os::unix::fs::chown(&program, Some(NOBODY), None).is_ok();
        for path in ["kb/c.json", "kb/new.json", "kb/new/c.json"] {
            let mut command = Command::new(&program);
            command.args(["--title=T", "--catalog-path", path]).current_dir(&folder);
            if root {
                command.uid(NOBODY).gid(NOBODY);
            }
            assert_eq!(refusal(&command.output().unwrap()).0, "CATALOG_NOT_WRITABLE", "{path}");
        }
        assert_eq!(fs::read_to_string(kb.join("c.json")).unwrap(), text);
        assert_eq!(fs::read_dir(&kb).unwrap().count(), 1);
        fs::set_permissions(&kb, fs::Permissions::from_mode(0o755)).unwrap();
    }
}

#[cfg(unix)]
#[test]
fn a_catalog_where_nobody_can_be_told_of_it_is_refused() {
    use std::{ffi::OsStr, os::unix::ffi::OsStrExt};
    let folder = tempfile::tempdir().unwrap();
    let unreadable = folder.path().join(OsStr::from_bytes(b"caf\xE9"));
    fs::create_dir(&unreadable).unwrap();
    let (code, error) = refusal(&run(&unreadable, &["--title", "x"]));
    assert_eq!(code, "ARGUMENT_ERROR");
    assert!(error["message"].as_str().unwrap().contains("UTF-8"));
    assert_eq!(fs::read_dir(&unreadable).unwrap().count(), 0);
}
