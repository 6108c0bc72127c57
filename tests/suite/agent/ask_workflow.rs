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

#[test]
fn a_quotation_that_does_not_hold_is_repaired() {
    let project = knowledge_base();
    let endpoint = Scripted::with_script(|got| {
        let said = match answers(&got.body) {
            0 => "The moon: \"The moon pulls the lake twice a day\" [cache/tides.md#tides].".to_owned(),
            1 => format!("The moon: {}.", TRUE.replace("#tides", "#neap")),
            _ => format!("The moon: {TRUE}."),
        };
        says(WireFormat::OpenAi, &said, &[])
    });
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
    assert_eq!(got.len(), 3);
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
    assert!(String::from_utf8_lossy(&shown.stdout).trim_end().ends_with(mark));
}
