//! The workflow `ask` ends with the check of its quotations.

use super::*;

const TRUE: &str = "\"The moon pulls the sea twice a day\" [cache/tides.md#tides]";

fn knowledge_base() -> Project {
    let project = Project::new();
    project.write(
        "kb/cache/tides.md",
        "# Tides\n\nThe moon pulls the sea twice a day.\n\n## Neap\n\nThe sun pulls across.\n",
    );
    let listed = json!({"documents": [{"url": "https://x.example/tides", "title": "Tides", "path": "tides.md"}]});
    project.write("kb/cache/catalog.json", listed.to_string());
    project
}

fn ask(project: &Project, endpoint: &Scripted) -> Output {
    let arguments = ["ask", "Why", "tides?", "--output", "json"];
    agent(project, endpoint, WireFormat::OpenAi).args(arguments).run()
}

/// A model that quotes wrongly twice.
fn careless() -> Scripted {
    Scripted::with_script(|got| {
        let said = match answers(&got.body) {
            0 => "The moon: \"The moon pulls the lake twice a day\" [cache/tides.md#tides].".to_owned(),
            1 => format!("The moon: {}.", TRUE.replace("#tides", "#neap")),
            _ => format!("The moon: {TRUE}."),
        };
        says(WireFormat::OpenAi, &said, &[])
    })
}

#[test]
fn a_quotation_that_does_not_hold_is_repaired() {
    let project = knowledge_base();
    let endpoint = careless();
    let output = ask(&project, &endpoint);
    let answer = output.answer();
    assert_eq!(answer["answer"], format!("The moon: {TRUE}."));
    let citation = &answer["citations"][0];
    assert_eq!((&citation["found"], &citation["verdict"]), (&json!(true), &json!("found")));
    assert_eq!((&citation["citation"], &citation["start_line"]), (&json!("cache/tides.md#tides"), &json!(3)));
    assert!(citation["url"].as_str().unwrap().starts_with("https://x.example/tides#:~:text=The%20moon"), "{citation}");
    let got = endpoint.requests();
    let told = |request: usize| got[request].body["messages"].as_array().unwrap().last().unwrap().to_string();
    assert!(told(1).contains("not_found") && told(1).contains("pulls the lake"), "{}", told(1));
    assert!(told(2).contains("elsewhere") && told(2).contains("cache/tides.md#tides"), "{}", told(2));
    assert_eq!((got.len(), &answer["steps"]), (3, &json!(3)));
}

#[test]
fn only_the_checked_answer_is_an_answer() {
    let project = knowledge_base();
    let endpoint = careless();
    let shown = agent(&project, &endpoint, WireFormat::OpenAi).args(["ask", "Why", "tides?"]).run_raw();
    assert_eq!(String::from_utf8_lossy(&shown.stdout), format!("The moon: {TRUE}.\n"));
    let arguments = ["ask", "Why", "tides?", "--output", "jsonl"];
    let shown = agent(&project, &endpoint, WireFormat::OpenAi).args(arguments).run_raw();
    let lines = String::from_utf8(shown.stdout).unwrap();
    let lines: Vec<Value> = lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let kinds: Vec<_> = lines.iter().map(|line| line["type"].as_str().unwrap()).collect();
    let repair = ["note", "user", "assistant"];
    assert_eq!(kinds, [&["session", "user", "assistant"][..], &repair, &repair, &["answer"]].concat());
    assert_eq!((&lines[3]["note"], &lines[9]["text"]), (&json!("repair"), &json!(format!("The moon: {TRUE}."))));
}

#[test]
fn an_ask_that_was_killed_is_checked_when_it_is_continued() {
    let project = knowledge_base();
    let silent = Scripted::with_script(|_| Reply::default().then(AfterReply::Hang));
    let mut command = agent(&project, &silent, WireFormat::OpenAi).args(["ask", "Why", "tides?"]).into_command();
    let mut child = command.stdin(std::process::Stdio::null()).stdout(std::process::Stdio::piped()).spawn().unwrap();
    while silent.requests().is_empty() {
        assert!(child.try_wait().unwrap().is_none(), "it ends");
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
    child.kill().unwrap();
    child.wait().unwrap();
    let endpoint = careless();
    let go_on = || agent(&project, &endpoint, WireFormat::OpenAi).args(["--continue", "--output", "json"]).run();
    let run = go_on();
    assert_eq!((&run.answer()["answer"], &run.answer()["steps"]), (&json!(format!("The moon: {TRUE}.")), &json!(3)));
    go_on().error("ARGUMENT_ERROR");
    // Killed after the first answer, before its check, and in the second repair.
    let (id, events) = conversations(&project).pop_first().unwrap();
    for (kept, repairs) in [(3, 2), (7, 1)] {
        let events =
            events.iter().take(kept + 1).flat_map(|event| [event.to_string(), "\n".into()]).collect::<String>();
        project.write(&format!(".tmp/cache/conversations/{id}.jsonl"), events);
        endpoint.requests();
        assert_eq!(go_on().answer()["answer"], format!("The moon: {TRUE}."));
        assert_eq!(endpoint.requests().len(), repairs);
    }
}

#[test]
fn claims_that_stay_incorrect_are_marked() {
    let project = knowledge_base();
    let wrong = "\"The moon pulls the lake twice a day\" [cache/tides.md#tides]";
    let endpoint = Scripted::with_script(move |_| says(WireFormat::OpenAi, &format!("{TRUE}, and {wrong}."), &[]));
    let output = ask(&project, &endpoint);
    let answer = output.answer();
    let text = answer["answer"].as_str().unwrap();
    let mark = "- not_found (cache/tides.md#tides): \"The moon pulls the lake twice a day\"";
    assert!(text.ends_with(&format!("\n\n{mark}\n")), "{text}");
    let found: Vec<_> = answer["citations"].as_array().unwrap().iter().map(|one| one["found"].clone()).collect();
    assert_eq!((found, endpoint.requests().len()), (vec![json!(true), json!(false)], 3));
    // A person sees it as well.
    let shown = agent(&project, &endpoint, WireFormat::OpenAi).args(["ask", "Why", "tides?"]).run_raw();
    let shown = String::from_utf8_lossy(&shown.stdout);
    assert_eq!((shown.matches("lake").count(), shown.trim_end().ends_with(mark)), (2, true), "{shown}");
}
