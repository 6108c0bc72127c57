//! `ragmaker doctor`: its findings on a machine that is set up and on one that is not.

use ragmaker_tests::run::{Output, Project, Tool, executable};
use serde_json::Value;

fn doctor(project: &Project) -> Tool {
    project.program(&executable("ragmaker")).args(["doctor", "--output", "json"])
}

fn check<'a>(checks: &'a Value, name: &str) -> &'a Value {
    checks.as_array().unwrap().iter().find(|check| check["name"] == name).unwrap_or_else(|| panic!("{name}: {checks}"))
}

fn failed(run: &Output) -> &Value {
    &run.error("CHECKS_FAILED")["details"]["checks"]
}

#[test]
fn a_machine_with_a_browser_is_ready() {
    let project = Project::new();
    let run = doctor(&project).run();
    let checks = &run.answer()["checks"];
    for name in ["Chromium", "ChromeDriver", "browser", "project", "confinement"] {
        assert_ne!(check(checks, name)["status"], "problem", "{checks}");
    }
    assert_eq!(check(checks, "browser")["found"], "opens a page");
    assert!(project.left_running(std::time::Duration::from_secs(20)).is_empty());
    let text = project.program(&executable("ragmaker")).args(["doctor", "--quick"]).run_raw();
    assert!(text.status.success() && String::from_utf8_lossy(&text.stdout).contains("Chromium"), "{text:?}");
}

#[test]
fn broken_parts_are_reported_with_remedies() {
    let project = Project::new();
    let run = doctor(&project).arg("--quick").env("RAGMAKER_CHROMEDRIVER", "/nowhere/chromedriver").run();
    let driver = check(failed(&run), "ChromeDriver");
    assert_eq!(driver["status"], "problem");
    assert!(driver["advice"].as_str().unwrap().contains("RAGMAKER_CHROMEDRIVER"), "{driver}");
    let text = project.program(&executable("ragmaker")).args(["doctor", "--quick"]);
    let text = text.env("RAGMAKER_CHROMEDRIVER", "/nowhere/chromedriver").run_raw();
    assert_eq!(text.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&text.stdout).contains("1 problem"), "{text:?}");
}

#[test]
fn a_model_is_asked_without_showing_its_key() {
    let project = Project::new();
    let server = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = server.local_addr().unwrap();
    std::thread::spawn(move || {
        let lists = [r#"{"data": [{"id": "gpt-5"}, {"id": "m"}]}"#, r#"{"data": [{"id": "gpt-5"}, {"id": "mm"}]}"#];
        let answers = [
            ("200 OK", lists[0]),
            ("200 OK", lists[1]),
            ("401 Unauthorized", "{}"),
            ("404 Not Found", "{}"),
            ("302 Found", "{}"),
        ];
        for (connection, (status, body)) in server.incoming().zip(answers) {
            use std::io::{BufRead, BufReader, Write};
            let connection = connection.unwrap();
            let head: Vec<_> =
                BufReader::new(&connection).lines().map_while(Result::ok).take_while(|line| !line.is_empty()).collect();
            assert!(
                head[0].starts_with("GET /v1/models ")
                    && head.iter().any(|line| line.ends_with("Bearer very-secret-key"))
            );
            let head = format!("HTTP/1.1 {status}\r\nContent-Length: {}\r\nConnection: close", body.len());
            write!(&connection, "{head}\r\n\r\n{body}").unwrap();
        }
    });
    let model = |project: &Project| {
        let doctor = doctor(project)
            .env("RAGMAKER_PROVIDER", "openai")
            .env("RAGMAKER_MODEL", "m")
            .env("OPENAI_API_KEY", "very-secret-key");
        doctor.env("RAGMAKER_BASE_URL", format!("http://{address}")).run()
    };
    let run = model(&project);
    let found = check(&run.answer()["checks"], "model").to_string();
    assert!(
        found.contains("127.0.0.1 answers, and lists the model")
            && found.contains("OPENAI_API_KEY")
            && !found.contains("secret"),
        "{found}"
    );
    let run = model(&project);
    let other = check(failed(&run), "model");
    assert_eq!(other["status"], "problem");
    assert!(other["advice"].as_str().unwrap().contains("mm"), "{other}");
    let run = model(&project);
    let refused = check(failed(&run), "model").to_string();
    assert!(refused.contains("refuses the key") && !refused.contains("secret"), "{refused}");
    let run = model(&project);
    assert_eq!(check(&run.answer()["checks"], "model")["status"], "note");
    let run = model(&project);
    assert_eq!(check(failed(&run), "model")["status"], "problem");
}

#[test]
fn a_grid_that_does_not_answer_is_a_problem() {
    let project = Project::new();
    let free = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let run = doctor(&project).env("RAGMAKER_WEBDRIVER_URL", format!("http://{free}")).run();
    assert_eq!(check(failed(&run), "WebDriver")["status"], "problem");
}

#[test]
fn setup_finds_what_is_there_and_corrects_no_path_of_the_person() {
    let project = Project::new();
    let setup = || project.program(&executable("ragmaker")).args(["setup", "--output", "json"]);
    let run = setup().run();
    assert_eq!(run.answer()["installed"], Value::Array(vec![]), "{:?}", run.answer());
    let run = setup().env("RAGMAKER_CHROMIUM", "/nowhere/chromium").run();
    assert!(run.error("BROWSER_NOT_FOUND")["message"].as_str().unwrap().contains("RAGMAKER_CHROMIUM"));
}

/// A driver or a browser that prints `version`.
#[cfg(unix)]
fn fake(project: &Project, path: &str, script: &str) -> std::path::PathBuf {
    ragmaker_testkit::script(project.path(), path, script)
}

#[test]
#[cfg(unix)]
fn a_driver_of_another_version_is_a_problem_with_a_remedy() {
    let project = Project::new();
    let driver = fake(&project, "chromedriver", "echo ChromeDriver 1.2.3");
    let run = doctor(&project).arg("--quick").env("RAGMAKER_CHROMEDRIVER", &driver).run();
    let versions = check(failed(&run), "versions");
    assert!(versions["advice"].as_str().unwrap().contains("ragmaker setup --download"), "{versions}");
    let setup = |words: &[&str]| {
        let setup = project.program(&executable("ragmaker")).args(["setup", "--output", "json"]).args(words);
        setup.env("RAGMAKER_CHROMEDRIVER", &driver).run()
    };
    let run = setup(&[]);
    assert!(run.error("INSTALL_FAILED")["message"].as_str().unwrap().contains("ChromeDriver 1 does not drive"));
    // What is downloaded would not be used.
    let run = setup(&["--download", "--yes"]);
    let error = run.error("INSTALL_FAILED");
    assert_eq!(error["remediation_suggestion"], "Unset RAGMAKER_CHROMEDRIVER, then run it again.", "{error}");
}

#[test]
fn a_browser_or_a_server_that_is_misnamed_is_a_problem_also_with_quick() {
    let project = Project::new();
    let run = doctor(&project).arg("--quick").env("RAGMAKER_BROWSER", "safari").run();
    assert!(check(failed(&run), "browser")["found"].as_str().unwrap().contains("safari"));
    let run = doctor(&project).arg("--quick").env("RAGMAKER_WEBDRIVER_URL", "localhost:4444").run();
    let server = check(failed(&run), "WebDriver");
    assert_eq!(server["found"], "RAGMAKER_WEBDRIVER_URL begins with localhost:, not with http://");
    let run = doctor(&project).args(["--quick", "--webdriver-url", "localhost:4444"]).run();
    let server = check(failed(&run), "WebDriver");
    assert_eq!(server["found"], "--webdriver-url begins with localhost:, not with http://");
}

#[test]
fn a_key_or_a_configuration_that_cannot_be_used_is_named() {
    let project = Project::new();
    let model = doctor(&project).env("RAGMAKER_PROVIDER", "openai").env("RAGMAKER_MODEL", "m");
    let run = model.arg("--quick").env("OPENAI_API_KEY", "very-secret\nkey").run();
    let found = check(failed(&run), "model").to_string();
    assert!(found.contains("OPENAI_API_KEY") && found.contains("line break") && !found.contains("secret"), "{found}");
    std::fs::create_dir_all(project.path().join("config/ragmaker/ragmaker.toml")).unwrap();
    let run = doctor(&project).arg("--quick").env("XDG_CONFIG_HOME", project.path().join("config")).run();
    let model = check(failed(&run), "model");
    assert!(model["advice"].as_str().unwrap().contains("that you may read"), "{model}");
}

#[test]
#[cfg(unix)]
fn the_reason_of_a_missing_confinement_is_the_true_one() {
    use std::{ffi::OsStr, os::unix::ffi::OsStrExt};
    let project = Project::new();
    let folder = project.path().join(OsStr::from_bytes(b"x\xff"));
    std::fs::create_dir(&folder).unwrap();
    std::fs::create_dir(folder.join(".git")).unwrap();
    let run = doctor(&project).arg("--quick").env("RAGMAKER_PROJECT_ROOT", "").directory(&folder).run();
    let checks = run.stdout_json.as_ref().map_or_else(|| failed(&run), |answer| &answer["checks"]);
    let found = check(checks, "confinement");
    #[cfg(target_os = "linux")]
    assert!(found["found"].as_str().unwrap().contains("not UTF-8"), "{found}");
    // The user is known without a program on PATH.
    let sandbox = |path: &str| {
        let run = doctor(&project).arg("--quick").env("PATH", path).run();
        let checks = run.stdout_json.as_ref().map_or_else(|| failed(&run), |answer| &answer["checks"]);
        check(checks, "sandbox").clone()
    };
    assert_eq!(sandbox("/nonexistent"), sandbox(&std::env::var("PATH").unwrap()), "{found}");
}

#[test]
#[cfg(unix)]
fn what_a_connection_lacks_and_what_shadows_a_tool_is_noted() {
    let project = Project::new();
    fake(&project, "bin/gemini", "");
    let path = format!("{}:{}", project.path().join("bin").display(), std::env::var("PATH").unwrap());
    let of_user = |words: &[&str]| {
        let tool = project.program(&executable("ragmaker")).args(words).args(["--output", "json"]);
        tool.env("HOME", project.path()).env("XDG_CONFIG_HOME", "").env("PATH", &path).run()
    };
    let checked = |name: &str| {
        let run = of_user(&["doctor", "--quick"]);
        let checks = run.stdout_json.as_ref().map_or_else(|| failed(&run), |answer| &answer["checks"]);
        checks.as_array().unwrap().iter().find(|check| check["name"] == name).cloned().unwrap_or_default()
    };
    assert!(checked("Gemini CLI")["found"].as_str().unwrap().contains("does not name ragmaker"));
    for words in [&["connect", "gemini", "--yes"][..], &["connect", "gemini", "--yes", "--all-tools"]] {
        of_user(words).answer();
        assert_eq!(checked("Gemini CLI")["status"], "ok", "{words:?}");
    }
    std::fs::remove_file(project.path().join(".gemini/commands/rag.toml")).unwrap();
    let incomplete = checked("Gemini CLI");
    assert_eq!(incomplete["status"], "note", "{incomplete}");
    assert!(incomplete["advice"].as_str().unwrap().contains("ragmaker connect gemini"), "{incomplete}");

    assert_eq!(checked("tools"), Value::Null);
    fake(&project, "bin/ragmaker-cite", "");
    let shadowing = checked("tools");
    assert!(shadowing["status"] == "note" && shadowing.to_string().contains("bin/ragmaker-cite"), "{shadowing}");
}

/// A repository may have a link where a program writes.
#[test]
#[cfg(unix)]
fn a_check_changes_no_file() {
    let project = Project::new();
    let precious = project.write("precious", "text");
    std::fs::create_dir_all(project.path().join(".tmp/cache")).unwrap();
    std::os::unix::fs::symlink(&precious, project.path().join(".tmp/cache/doctor.lock")).unwrap();
    doctor(&project).arg("--quick").run().answer();
    assert_eq!(std::fs::read_to_string(precious).unwrap(), "text");
    let left: Vec<_> = std::fs::read_dir(project.path().join(".tmp/cache")).unwrap().collect();
    assert_eq!(left.len(), 1, "{left:?}");
}
