//! What is kept when a person ends a step, and what ends the program.

#![cfg(target_os = "linux")]

use super::{terminal::Person, *};

#[test]
fn an_interrupted_answer_is_kept_and_ctrl_c_twice_ends_the_program() {
    let project = Project::new();
    let endpoint = Scripted::with_script(|got| {
        let messages = got.body["messages"].as_array().unwrap();
        match messages.last().unwrap()["content"].as_str().unwrap_or_default() {
            "Speak." => Reply::events([text(WireFormat::OpenAi, "潮は月の引力で満ち、")]).then(AfterReply::Hang),
            _ => says(WireFormat::OpenAi, "Here I am.\n", &[]),
        }
    });
    let mut person = Person::start(&project, &endpoint, "");
    person.wait_for("> ");
    person.type_keys("Speak.\r");
    // It is shown before its line ends.
    person.wait_for("潮は月の引力で満ち、");
    person.type_keys("\u{3}");
    person.wait_for("CANCELLED");
    person.wait_for("> ");
    person.type_keys(&format!("My key is {KEY}.\r"));
    person.wait_for("Here I am.");
    person.wait_for("> ");
    let sent = endpoint.requests().pop().unwrap().body["messages"].clone();
    let said = sent.as_array().unwrap().iter().find(|message| message["role"] == "assistant").unwrap();
    assert_eq!(said["content"], "潮は月の引力で満ち、\n\n[interrupted by the user]");
    person.type_keys("Speak.\r");
    person.wait_for("潮は月の引力で満ち、");
    person.type_keys("\u{3}");
    person.wait_for("CANCELLED");
    person.wait_for("> ");
    person.type_keys("\u{3}");
    person.wait_for("--resume");
    person.end();
    let history = std::fs::read_to_string(project.path().join(".tmp/cache/conversations/history")).unwrap();
    assert!(history.contains("My key is [key].") && !history.contains(KEY), "{history}");
}

#[test]
fn a_key_that_a_person_types_is_kept_nowhere() {
    let project = Project::new();
    // Put together here: scanners of repositories would report it.
    let typed = format!("sk-{}", "aB3dE5gH7j".repeat(4));
    let repeats = format!("Your key is {typed}, and no key is sk-example.");
    let endpoint = Scripted::with_script(move |_| says(WireFormat::OpenAi, &repeats, &[]));
    let mut person = Person::start(&project, &endpoint, "--debug");
    person.wait_for("> ");
    person.type_keys(&format!("Use {typed} please.\r"));
    person.wait_for("Your key is");
    person.wait_for("> ");
    person.type_keys("Go on.\r");
    person.wait_for("Your key is");
    person.wait_for("> ");
    person.end();
    for request in endpoint.requests() {
        assert!(!request.body.to_string().contains(&typed), "{}", request.body);
    }
    let cache = project.path().join(".tmp/cache");
    let history = std::fs::read_to_string(cache.join("conversations/history")).unwrap();
    assert!(history.contains("Use [key] please."), "{history}");
    let files = [cache.join("conversations"), cache.join("logs")].map(|folder| std::fs::read_dir(folder).unwrap());
    let texts = files.into_iter().flatten().map(|entry| entry.unwrap().path()).filter(|path| path.is_file());
    let texts: Vec<_> = texts.map(|path| std::fs::read_to_string(path).unwrap()).collect();
    assert!(texts.len() >= 3 && texts.iter().all(|text| !text.contains(&typed)), "{texts:?}");
    assert!(texts.iter().any(|text| text.contains("Your key is [key], and no key is sk-example.")), "{texts:?}");
}
