//! Tests with real agent clients and a scripted model, without a network. They check what the model receives.
//!
//! `cargo xtask test --clients` installs the clients under `target/clients` and runs these tests. A plain
//! `cargo test` ignores them, because they need Node.js and 1 GB.

mod clients;
mod scripts;

use ragmaker_tests::{
    model::{
        ModelReply, ReceivedConversation,
        workflows::{self, ask, gather},
    },
    run::Output,
};
use serde_json::{Value, json};

use crate::{
    clients::{Client, ClientSetup},
    scripts::{VisibleResults, explore, wiki},
};

/// The client can use every tool through the server.
fn explores(client: &Client) {
    let seat = ClientSetup::new();
    let heard = client.run(&seat, "go", explore(&seat));
    offers_its_tools(client, &heard);
    saw_the_site(&seat, &heard, client.saw);
}

/// The model has the tools that the configuration offers, and no others.
fn offers_its_tools(client: &Client, heard: &ReceivedConversation) {
    for entry in ragmaker_tests::discovery::entries() {
        let name = entry.json["name"].as_str().unwrap();
        assert_eq!(workflows::ours(heard, name).is_some(), client.offers(name), "{name}: {:?}", heard.tools);
    }
}

/// The results of [`explore`] that the model received: links, a saved page, its text, an error, an image.
fn saw_the_site(seat: &ClientSetup, heard: &ReceivedConversation, saw: VisibleResults) {
    let [links, saved, read, missing, image] = &heard.results[..] else { panic!("five results: {heard:#?}") };
    let links: Value = workflows::json(&links.text).unwrap_or_else(|| panic!("{}", links.text));
    assert_eq!(links["links"][0]["href"], seat.site.url("/wiki/"), "{links}");
    let saved: Value = workflows::json(&saved.text).unwrap_or_else(|| panic!("{}", saved.text));
    assert_eq!(saved["catalog_updated"], true, "{saved}");
    assert!(read.text.contains("14.77 days"), "{}", read.text);
    assert!(missing.text.contains("FILE_NOT_FOUND"), "{}", missing.text);
    assert_eq!(missing.is_error, saw.errors.then_some(true), "{missing:?}");
    if saw.images {
        assert_eq!(image.images, ["image/png"], "{image:?}");
    }
    assert!(image.text.contains("chart.png"), "{}", image.text);
}

/// Runs a complete `/rag` as documented, and checks the knowledge base. The workflow that the model receives
/// names its source as `source`, where `URL` is replaced by the site's URL.
fn gathers(client: &Client, source: &str) {
    let seat = ClientSetup::new();
    let heard = client.gather(&seat, gather(wiki(&seat)));
    let asked = format!("Gather a knowledge base from {}:", source.replace("URL", &seat.site.url("/wiki/")));
    assert!(heard.texts.iter().any(|text| text.contains(&asked)), "{:#?}", heard.texts);
    let last = heard.results.last().unwrap_or_else(|| panic!("{heard:#?}"));
    assert!(last.text.contains("advice"), "{last:?}");
    let verified: Output = seat.project.tool("verify").args(["--kb-root", "kb/tidemark"]).run();
    assert_eq!(verified.answer()["documents"], 3);
    assert_eq!(verified.answer()["total"], 0);
}

/// The question of the person.
const QUESTION: &str = "How long from one spring tide to the next?";

/// Runs a complete `/ask`, up to the answer. `before` precedes the question, and the workflow that the model
/// receives names the question as `question`.
fn answers(client: &Client, before: &str, question: &str) {
    let seat = ClientSetup::new();
    seat.project.write("kb/tidemark/cache/documents/tides.md", "# Tides\n\nA spring tide comes\nevery 14.77 days.\n");
    let listed = json!({"url": "https://tidemark.example/tides", "title": "Tides", "path": "documents/tides.md"});
    let catalog = json!({"title": "Tidemark", "documents": [listed]});
    seat.project.write("kb/tidemark/cache/catalog.json", catalog.to_string());
    let heard = client.run(&seat, &format!("{before}{QUESTION}"), ask("How often do spring and neap tides come?"));
    let asked = format!("and from nothing else: {question}");
    assert!(heard.texts.iter().any(|text| text.contains(&asked)), "{:#?}", heard.texts);
    let [found, read, checked] = &heard.results[..] else { panic!("three results: {heard:#?}") };
    assert!(found.text.contains("Tidemark"), "{found:?}");
    assert!(found.text.contains("A spring tide comes"), "{found:?}");
    assert!(read.text.contains("14.77 days"), "{read:?}");
    let checked: Value = workflows::json(&checked.text).unwrap_or_else(|| panic!("{}", checked.text));
    assert_eq!(checked["counts"]["found"], 1, "{checked}");
}

/// The domains that the person allows are enforced for every request of the model.
fn keeps_to_its_domains(client: &Client) {
    let mut seat = ClientSetup::new();
    seat.domains = Some("example.org");
    let heard = client.run(&seat, "go", explore(&seat));
    assert!(heard.results[0].text.contains("DOMAIN_NOT_ALLOWED"), "{:?}", heard.results);
}

macro_rules! with_clients {
    ($($(#[$meta:meta])* fn $name:ident() $body:block)*) => {
        $(
            $(#[$meta])*
            #[test]
            #[ignore = "cargo xtask test --clients installs what this drives"]
            fn $name() $body
        )*
    };
}

with_clients! {
    fn gemini_cli_explores_by_its_extension() {
        explores(&clients::GEMINI);
    }

    fn gemini_cli_explores_by_discovery_and_call() {
        explores(&clients::GEMINI_DISCOVERY);
    }

    fn gemini_cli_gathers_by_its_installed_extension() {
        gathers(&clients::GEMINI_POLICY, "URL");
    }

    fn gemini_cli_answers_by_its_installed_extension() {
        answers(&clients::GEMINI_POLICY, "/ask ", QUESTION);
    }

    fn claude_code_explores() {
        explores(&clients::CLAUDE_MCP);
    }

    fn claude_code_gathers_by_its_installed_plugin() {
        gathers(&clients::CLAUDE_PLUGIN, "URL");
    }

    fn claude_code_answers_by_its_installed_plugin() {
        answers(&clients::CLAUDE_PLUGIN, "/ragmaker:ask ", QUESTION);
    }

    fn claude_code_only_reads_by_the_server_alone() {
        let seat = ClientSetup::new();
        let heard = clients::CLAUDE_READ_ONLY.run(&seat, "go", |_| ModelReply::Text("done".to_owned()));
        assert!(workflows::ours(&heard, "read_file").is_some(), "{:?}", heard.tools);
        assert!(workflows::ours(&heard, "write_file").is_none(), "{:?}", heard.tools);
    }

    fn codex_explores() {
        explores(&clients::CODEX);
    }

    fn codex_gathers_by_its_skill() {
        gathers(&clients::CODEX, "the source that the person named");
    }

    fn codex_answers_by_its_skill() {
        answers(&clients::CODEX, "$ask ", "the person's question");
    }

    fn every_client_keeps_to_the_domains_that_the_person_allows() {
        let all = [&clients::GEMINI, &clients::GEMINI_DISCOVERY, &clients::CLAUDE_MCP, &clients::CODEX, &clients::OPENCODE];
        all.into_iter().for_each(keeps_to_its_domains);
    }

    fn opencode_explores() {
        explores(&clients::OPENCODE);
    }

    fn opencode_answers_by_its_command() {
        // opencode quotes arguments of several words.
        answers(&clients::OPENCODE_ASK, "", &format!("\"{QUESTION}\""));
    }

    fn opencode_gathers_by_its_command() {
        gathers(&clients::OPENCODE, "URL");
    }

    fn gemini_cli_answers_after_connect() {
        answers(&clients::GEMINI_CONNECTED, "/ask ", QUESTION);
    }

    fn claude_code_answers_after_connect() {
        answers(&clients::CLAUDE_CONNECTED, "/ask ", QUESTION);
    }

    fn codex_answers_after_connect() {
        answers(&clients::CODEX_CONNECTED, "$ask ", "the person's question");
    }

    fn opencode_gathers_after_connect() {
        gathers(&clients::OPENCODE_CONNECTED, "URL");
    }
}
