//! Tests of both forms of arguments.

use super::{names::in_words, *};
use crate::testing::{Fruit, Pick, Picked, Plant};
use crate::{Annotations, Caller, Code, JsonSchema, NOT_ALLOWED_IN_ARGUMENTS};
use proptest::prelude::*;
use serde::Serialize;
use serde_json::{Value, json};

fn pick(line: &[&str]) -> Result<Pick, Error> {
    match parse(line.iter().map(OsString::from))? {
        Parsed::Work((pick, _)) => Ok(pick),
        _ => panic!("{line:?} asks for work"),
    }
}

fn refused(line: &[&str]) -> (String, Value) {
    let error = pick(line).err().unwrap();
    assert!(error.is(ARGUMENT_ERROR));
    (error.message().to_owned(), error.details()["argument"].clone())
}

#[test]
fn gnu_spellings_and_any_order() {
    let expected = Pick {
        basket: "a=b c".into(),
        count: Some(crate::Bounded::new(7)),
        ripe: true,
        no_peeled: false,
        fruit: Fruit::RedApple,
        tag: vec![],
    };
    assert_eq!(pick(&["--ripe", "--basket=a=b c", "--fruit", "red-apple", "--count=7"]).unwrap(), expected);
    assert_eq!(pick(&["--count", "7", "--fruit=red-apple", "--basket", "a=b c", "--ripe", "--"]).unwrap(), expected);
    assert_eq!(pick(&["--basket", "-"]).unwrap().basket, "-");
    assert_eq!(pick(&["--basket", "--ripe"]).unwrap().basket, "--ripe");
    assert_eq!(pick(&["--basket", "", "--tag=x", "--tag", "-7"]).unwrap().tag, ["x", "-7"]);
}

#[test]
fn a_switch_may_have_its_value_after_an_equals_sign() {
    for (word, ripe) in [("--ripe", true), ("--ripe=true", true), ("--ripe=false", false)] {
        assert_eq!(pick(&["--basket=a", word]).unwrap().ripe, ripe, "{word}");
    }
    assert_eq!(refused(&["--basket=a", "--ripe", "--ripe=true"]).0, "--ripe was given more than once");
}

#[test]
fn what_is_missing_is_added_in_the_caller_s_form() {
    assert_eq!(pick(&[]).unwrap_err().remediation(), "Add --basket VALUE.");
    for line in [&["--arguments", "{}"][..], &["--arguments", r#"{"count": 2}"#]] {
        let error = pick(line).unwrap_err();
        assert_eq!((error.message(), error.remediation()), ("basket is required", "Add \"basket\" to the arguments."));
    }
}

#[test]
fn mistakes_name_the_argument() {
    for (line, message, argument) in [
        (&["--basket"][..], "--basket needs a value", "--basket"),
        (&[], "--basket is required", "--basket"),
        (&["--basket=a", "--basket=b"], "--basket was given more than once", "--basket"),
        (&["--baskte=a"], "unknown argument \"--baskte\"", "--baskte"),
        (&["--basket=a", "stray"], "unexpected argument \"stray\"", "stray"),
        (&["--basket=a", "--", "stray"], "unexpected argument \"stray\"", "stray"),
        (&["--describe", "stray"], "unexpected argument \"stray\"", "stray"),
        (&["--version", "--baskte"], "unknown argument \"--baskte\"", "--baskte"),
        (&["--help=1"], "--help cannot be \"1\": it is a switch and takes no value", "--help"),
        (&["-V="], "-V cannot be \"\": it is a switch and takes no value", "-V"),
        (&["--basket=a", "--count=9"], "--count cannot be \"9\": expected a whole number from 1 to 8", "--count"),
        (&["--basket=a", "--ripe=maybe"], "--ripe cannot be \"maybe\": it is a switch and takes no value", "--ripe"),
    ] {
        assert_eq!(refused(line), (message.to_owned(), argument.into()), "{line:?}");
    }
    let (message, argument) = refused(&["--basket=a", "--fruit=kiwi"]);
    assert_eq!(argument, "--fruit");
    assert!(message.contains("`pear`") && message.contains("`red-apple`"), "{message}");
}

#[test]
fn a_number_is_refused_in_words() {
    for bad in ["", "-1", "1.5", "x", "99999999999999999999999"] {
        let reason = bad.parse::<u64>().unwrap_err().to_string();
        assert_eq!(in_words(&reason), "expected a whole number of at least 0", "{bad:?}");
    }
}

#[test]
fn the_nearest_name_is_suggested() {
    // Two letters make --as of --p, and of --x.
    assert_eq!(nearest("--p", &["--as", "--path"]), Some("--path"));
    assert_eq!(nearest("--x", &["--as", "--path"]), None);
    let nearest = |name: &str| pick(&[name, "x"]).err().unwrap().details().get("nearest").cloned();
    assert_eq!(nearest("--baskett"), Some("--basket".into()));
    assert_eq!(nearest("--bask"), Some("--basket".into()));
    assert_eq!(nearest("-bask"), Some("--basket".into()));
    assert_eq!(nearest("-c"), Some("--count".into()));
    assert_eq!(nearest("-x"), None);
    assert_eq!(nearest("--elephant"), None);
}

/// Plants with the words of `line`: the seed and the row.
fn plant(line: &[&str]) -> Result<(String, Option<String>), Error> {
    match parse::<Plant>(line.iter().chain(&["--by=me"]).map(OsString::from))? {
        Parsed::Work((plant, _)) => Ok((plant.seed, plant.bed_row)),
        _ => panic!("{line:?} asks for work"),
    }
}

/// Picks with words: the first is the basket, and the others are tags.
fn picked(line: &[&str]) -> Result<Pick, Error> {
    let mut line_of_words = CommandLine::of_tool::<Pick>().with_operands(&["--basket", "--tag"]);
    line_of_words.push_all(line.iter().map(|&word| word.to_owned()).collect())?;
    line_of_words.finish().map(|(pick, _)| pick)
}

#[test]
fn words_are_values_in_their_order() {
    for (line, seed, row) in [
        (&["oak"][..], "oak", None),
        (&["oak", "3"], "oak", Some("3")),
        (&["oak", "--bed-row", "3"], "oak", Some("3")),
        (&["--bed-row=3", "oak"], "oak", Some("3")),
        (&["-"], "-", None),
        (&["", " "], "", Some(" ")),
        (&["- a list", "-5 degrees"], "- a list", Some("-5 degrees")),
        (&["{a,b}*", "{3}"], "{a,b}*", Some("{3}")),
        (&["{}", "{oak: 3}"], "{}", Some("{oak: 3}")),
        (&["a=b", "c: d"], "a=b", Some("c: d")),
        (&["oak", "--bed_row", "3"], "oak", Some("3")),
    ] {
        assert_eq!(plant(line).unwrap(), (seed.to_owned(), row.map(str::to_owned)), "{line:?}");
    }
    // Without white space, or with a letter or a hyphen after the first one, it is an option.
    for word in ["-5", "-a list", "--5 degrees"] {
        assert!(plant(&[word]).unwrap_err().message().starts_with("unknown argument"), "{word}");
    }
    // After `--`, nothing is an option.
    let after = |words: &[&str]| match parse::<Plant>(["--by=me", "--"].iter().chain(words).map(OsString::from)) {
        Ok(Parsed::Work((plant, _))) => (plant.seed, plant.bed_row.unwrap_or_default()),
        _ => panic!("{words:?}"),
    };
    for words in [["--seed", "--help"], ["--", "-"], ["--seed=a", "{\"seed\": 1}"], ["{seed: a", "--arguments"]] {
        assert_eq!(after(&words), (words[0].to_owned(), words[1].to_owned()));
    }
}

#[test]
fn the_last_word_may_be_repeated() {
    let pick = picked(&["a", "x", "--tag=y", "z", "--ripe", "--", "--count"]).unwrap();
    assert_eq!((pick.basket.as_str(), pick.ripe), ("a", true));
    assert_eq!(pick.tag, ["x", "y", "z", "--count"]);
}

#[test]
fn a_word_is_refused_by_what_was_meant() {
    let refused = |line: &[&str]| {
        let error = plant(line).unwrap_err();
        assert!(error.is(ARGUMENT_ERROR), "{error}");
        (error.message().to_owned(), error.remediation().to_owned(), error.details()["argument"].clone())
    };
    let (message, remedy, argument) = refused(&["my", "oak", "tree"]);
    assert_eq!((message.as_str(), argument), ("unexpected argument \"tree\"", "tree".into()));
    assert_eq!(remedy, "SEED and BED_ROW are the only words: quote values with spaces, or run it once for each.");
    // A word and its option, in each order.
    for line in [["--seed=oak", "tree"], ["tree", "--seed=oak"]] {
        let (message, remedy, argument) = refused(&line);
        assert_eq!(message, "--seed was given twice: as --seed \"oak\" and as the word \"tree\"");
        assert!(argument == "--seed" && remedy.contains("quote"), "{remedy}");
    }
    assert_eq!(refused(&["--seed=oak", "--seed=tree"]).0, "--seed was given more than once");
    let both = refused(&["oak", "--arguments", r#"{"seed": "tree"}"#]);
    assert!(both.0.contains("\"oak\"") && both.0.contains("\"tree\"") && both.2 == "seed", "{both:?}");
    // An object without --arguments, also where a shell took the quotes.
    for word in ["{\"seed\": \"oak\"}", " { \"bed_row\":", "{seed: oak}", "{bed-row:"] {
        let (message, remedy, _) = refused(&[word]);
        assert_eq!(message, format!("unexpected argument {word:?}"));
        assert_eq!(remedy, "Give a JSON object with the arguments as --arguments '{…}'.");
    }
    let error = plant(&["-seedling"]).unwrap_err();
    assert!(error.remediation().contains("Put -- before a word"), "{}", error.remediation());
    // A model has no words.
    assert_eq!(refused(&["--arguments", r#"{"": "oak"}"#]).2, "");
}

#[test]
fn help_shows_the_words() {
    let Ok(Parsed::Help(text)) = parse::<Plant>(["--help".into()]) else { panic!("help") };
    let usage = "Usage: ragmaker-plant --by BY [OPTION]... SEED [BED_ROW]\n\nPlant seeds.\n\nOptions:\n  --seed ";
    assert!(text.starts_with(usage), "{text}");
}

#[cfg(unix)]
#[test]
fn not_utf8_is_a_clear_error() {
    use std::os::unix::ffi::OsStringExt;
    let odd = |text: &[u8]| OsString::from_vec(text.to_vec());
    for (line, argument) in [
        (vec!["--basket".into(), odd(b"a\xFF")], "--basket"),
        (vec![odd(b"--basket=a\xFF")], "--basket"),
        (vec!["--basket=a".into(), odd(b"--caf\xE9")], "--caf\u{fffd}"),
        (vec![odd(b"\xFF")], "\u{fffd}"),
        // The value of no option.
        (vec!["--".into(), odd(b"\xFF")], "\u{fffd}"),
        (vec!["--ripe".into(), odd(b"\xFF")], "\u{fffd}"),
    ] {
        let error = parse::<Pick>(line).err().unwrap();
        assert!(error.message().contains("not UTF-8") && error.details()["argument"] == argument, "{error}");
    }
}

#[test]
fn json_arguments_are_the_same_arguments() {
    let json = r#"{"basket": "it's \"日本\"", "count": "7", "ripe": true, "fruit": "red-apple", "tag": ["x", "2"], "wait_for_previous": true}"#;
    let picked = pick(&["--arguments", json]).unwrap();
    assert_eq!(
        (picked.basket.as_str(), picked.count, picked.ripe),
        ("it's \"日本\"", Some(crate::Bounded::new(7)), true)
    );
    assert_eq!(picked.tag, ["x", "2"]);
    assert_eq!(
        pick(&["--arguments", r#"{"basket":"a","count":5.0,"ripe":"false","wait-for-previous":true}"#]).unwrap().count,
        Some(crate::Bounded::new(5))
    );
    assert_eq!(refused(&["--arguments", r#"{"basket":["a","b"]}"#]).1, "basket");
    assert_eq!(refused(&["--arguments", "[1]"]).1, "--arguments");
    assert_eq!(refused(&["--arguments", r#"{"basket":"a","ripe":{}}"#]).1, "ripe");
    assert_eq!(refused(&["--basket=a", "--arguments", r#"{"basket":"b"}"#]).1, "basket");
}

#[test]
fn a_number_in_json_is_a_whole_one_where_it_can_be() {
    let value = |number: &str| refused(&["--arguments", &format!(r#"{{"basket":"a","count":{number}}}"#)]).0;
    for (number, text) in [
        ("9.0", "9"),
        ("-9.0", "-9"),
        ("9e14", "900000000000000"),
        ("1.5", "1.5"),
        // A number of 64 bits in floating point is exact only up to 2^53.
        ("12345678901234567890", "12345678901234567890"),
        ("2e15", "2000000000000000.0"),
    ] {
        assert!(value(number).starts_with(&format!("count cannot be \"{text}\": ")), "{number}: {}", value(number));
    }
}

#[test]
fn a_switch_in_json_is_true_or_false() {
    let ripe =
        |value: &str| pick(&["--arguments", &format!(r#"{{"basket":"a","ripe":{value}}}"#)]).map(|pick| pick.ripe);
    for (value, expected) in
        [("true", true), ("\"true\"", true), ("false", false), ("\"false\"", false), ("\"\"", false), ("null", false)]
    {
        assert_eq!(ripe(value).unwrap(), expected, "{value}");
    }
    for value in ["1", "\"yes\"", "[]"] {
        assert_eq!(ripe(value).unwrap_err().details()["argument"], "ripe", "{value}");
    }
}

/// A tool with an option for JSON text, and one for the command line only.
#[derive(FromArgs, ArgsInfo, Serialize, JsonSchema, Debug)]
#[argh(help_triggers("-h", "--help"))]
struct Label {
    /// labels as JSON text
    #[argh(option)]
    labels: String,
    /// shows them
    #[argh(switch)]
    #[expect(dead_code, reason = "only its name is needed")]
    #[serde(skip)]
    shown: bool,
}

impl Tool for Label {
    type Answer = Picked;
    const NAME: &'static str = "ragmaker-label";
    const VERSION: &'static str = "0.1.0";
    const ANNOTATIONS: Annotations = Annotations::ADDITIVE;
    const ERRORS: &'static [&'static [Code]] = &[];
    const JSON_TEXTS: &'static [&'static str] = &["--labels"];
    const COMMAND_LINE_FLAGS: &'static [&'static str] = &["--shown"];

    fn run(self, _: &Invocation) -> Result<Picked, Error> {
        unreachable!("no test runs it")
    }
}

#[test]
fn json_text_may_be_written_as_json() {
    let labels = |json: Value| {
        let Value::Object(members) = json else { panic!("{json}") };
        from_json::<Label>(members.into_iter().collect(), &HostOptions::default()).map(|(label, _)| label.labels)
    };
    for (value, text) in [
        (json!("[\"a\"]"), "[\"a\"]"),
        (json!(["a", 1]), "[\"a\",1]"),
        (json!({"a": [null]}), "{\"a\":[null]}"),
        (json!(7), "7"),
        (json!(true), "true"),
    ] {
        assert_eq!(labels(json!({"labels": value})).unwrap(), text);
    }
    let error = labels(json!({"labels": "[]", "shown": true})).unwrap_err();
    assert!(error.message().contains("for the command line only") && error.details()["argument"] == "shown", "{error}");
    let error = labels(json!({"labels": "[]", "show": true})).unwrap_err();
    assert!(!error.remediation().contains("shown"), "{}", error.remediation());
}

/// A program that is not a tool.
#[derive(FromArgs, ArgsInfo, Debug, PartialEq)]
#[argh(help_triggers("-h", "--help"))]
struct Program {
    /// a command
    #[argh(positional)]
    command: String,
    /// says more
    #[argh(switch)]
    loud: bool,
}

/// A program without arguments.
#[derive(FromArgs, ArgsInfo, Debug, PartialEq)]
#[argh(help_triggers("-h", "--help"))]
struct Bare {}

#[test]
fn a_program_has_words_and_takes_no_json() {
    let run =
        |line: &[&str]| match of_program::<Program>("program", line.iter().map(OsString::from), &["--allow-root"])? {
            Parsed::Work((program, host)) => Ok((program.command, program.loud, host.allow_root)),
            _ => panic!("{line:?} asks for work"),
        };
    let expected = ("go".to_owned(), true, vec!["/r".to_owned()]);
    assert_eq!(run(&["go", "--loud", "--allow-root=/r"]).unwrap(), expected);
    assert_eq!(run(&["--loud", "--allow-root", "/r", "--", "go"]).unwrap(), expected);
    // A word may look like JSON or like an option.
    for word in ["{\"command\": \"go\"}", "--loud", "--describe", "- go"] {
        assert_eq!(run(&["--", word]).unwrap().0, word);
    }
    let refused = |line: &[&str]| -> (String, String) {
        let error: Error = run(line).unwrap_err();
        (error.message().to_owned(), error.remediation().to_owned())
    };
    assert_eq!(refused(&["go", "on"]), ("unexpected argument \"on\"".into(), "Run it once for each.".into()));
    for option in ["--describe", "--arguments", "--kb-root=/k"] {
        let name = option.split('=').next().unwrap();
        assert_eq!(refused(&["go", option]).0, format!("unknown argument {name:?}"));
    }
    let bare = of_program::<Bare>("bare", ["--loud".into()], &[]).err().unwrap();
    assert_eq!(bare.remediation(), "Leave it out; there are no arguments.");
}

#[test]
fn a_number_is_not_a_text() {
    for (json, argument) in
        [(r#"{"basket":1}"#, "basket"), (r#"{"basket":true}"#, "basket"), (r#"{"basket":"a","tag":["x",2]}"#, "tag")]
    {
        let (message, named) = refused(&["--arguments", json]);
        assert!(named == argument && message.contains("must be a text"), "{message}");
    }
}

#[test]
fn a_refused_value_is_given_back_as_it_was_written() {
    let value = |line: &[&str]| pick(line).unwrap_err().details()["value"].clone();
    for (json, expected) in [
        (r#"{"basket":["a","b"]}"#, json!(["a", "b"])),
        (r#"{"basket":"a","ripe":{"x":1}}"#, json!({"x": 1})),
        (r#"{"basket":"a","peeled":[1]}"#, json!([1])),
        (r#"{"basket":"a","count":0}"#, json!(0)),
        (r#"{"basket":"a","count":"0"}"#, json!("0")),
        (r#"{"basket":"a","ripe":"[1]"}"#, json!("[1]")),
    ] {
        assert_eq!(value(&["--arguments", json]), expected, "{json}");
    }
    assert_eq!(value(&["--basket=a", "--count=[1]"]), "[1]");
    let long = json!({"basket": ["a".repeat(100_000)]}).to_string();
    assert!(value(&["--arguments", &long]).as_str().unwrap().ends_with('…'));
}

#[test]
fn a_switch_has_a_positive_form_in_json() {
    let peeled = |json: &str| pick(&["--arguments", json]).map(|pick| !pick.no_peeled);
    assert!(peeled(r#"{"basket":"a","peeled":true}"#).unwrap());
    assert!(!peeled(r#"{"basket":"a","peeled":false}"#).unwrap());
    assert!(!peeled(r#"{"basket":"a","peeled":"false"}"#).unwrap());
    assert!(!peeled(r#"{"basket":"a","no_peeled":true}"#).unwrap());
    assert_eq!(refused(&["--arguments", r#"{"basket":"a","peeled":false,"no_peeled":false}"#]).1, "no_peeled");
    let (message, named) = refused(&["--arguments", r#"{"basket":"a","peeled":"x"}"#]);
    assert!(named == "peeled" && message.starts_with("peeled cannot be \"x\""), "{message}");
    let error = pick(&["--arguments", r#"{"basket":"a","pealed":true}"#]).err().unwrap();
    assert!(
        error.remediation().contains("peeled") && !error.remediation().contains("no_peeled"),
        "{}",
        error.remediation()
    );
    assert_eq!(refused(&["--basket=a", "--peeled"]).1, "--peeled");
}

#[test]
fn the_host_decides_outside_of_json() {
    let called = |line: &[&str]| -> Result<Invocation, Error> {
        match parse::<Pick>(line.iter().map(OsString::from))? {
            Parsed::Work((_, invocation)) => Ok(invocation),
            _ => panic!("{line:?} asks for work"),
        }
    };
    let flags = ["--basket=a", "--project-root", "/p", "--allow-root=rw=/q", "--allow-root", "/r"];
    let person = called(&flags).unwrap();
    assert_eq!(person.caller, Caller::Person);
    assert_eq!(person.host.project_root.as_deref(), Some("/p"));
    assert_eq!(person.host.allow_root, ["rw=/q", "/r"]);
    let model = called(&["--project-root=/p", "--arguments", r#"{"basket":"a"}"#]).unwrap();
    assert_eq!((model.caller, model.host.project_root.as_deref()), (Caller::Model, Some("/p")));
    for key in ["allow-root", "allow_root", "kb_root", "project_root", "allow_domain"] {
        let error = called(&["--arguments", &format!(r#"{{"basket":"a","{key}":["/"]}}"#)]).unwrap_err();
        assert!(error.is(NOT_ALLOWED_IN_ARGUMENTS) && error.details()["argument"] == key, "{error}");
    }
    // A flag of another tool is unknown to this one.
    assert!(called(&["--basket=a", "--allow-domain=x"]).unwrap_err().is(ARGUMENT_ERROR));
    assert!(called(&["--basket=a", "--project-root=/p", "--project-root=/q"]).unwrap_err().is(ARGUMENT_ERROR));
}

#[test]
fn a_key_stands_once_in_json() {
    for (json, argument) in [
        (r#"{"basket":"a","basket":"b"}"#, "basket"),
        (r#"{"basket":"a","basket":null}"#, "basket"),
        (r#"{"basket":"a","tag":["x"],"tag":["y"]}"#, "tag"),
        (r#"{"basket":"a","ripe":true,"r\u0069pe":false}"#, "ripe"),
    ] {
        assert_eq!(refused(&["--arguments", json]), (format!("{argument} was given more than once"), argument.into()));
    }
}

#[test]
fn the_first_of_help_and_version_is_answered() {
    let asked = |line: &[&str]| parse::<Pick>(line.iter().map(OsString::from)).unwrap();
    assert!(matches!(asked(&["--version", "--help"]), Parsed::Version));
    assert!(matches!(asked(&["--count=2", "-h", "-V", "--ripe"]), Parsed::Help(_)));
    assert!(matches!(asked(&["--describe", "--basket", "--version"]), Parsed::Describe));
    assert_eq!(pick(&["--basket", "--version"]).unwrap().basket, "--version");
}

#[test]
fn help_names_every_option() {
    let Ok(Parsed::Help(text)) = parse::<Pick>(["--help".into()]) else { panic!("help") };
    for name in ["--basket", "--count", "--ripe", "--fruit", "--describe", "--version", "--arguments", "--allow-root"] {
        assert!(text.contains(name), "{text}");
    }
    assert!(!text.contains("--allow-domain"), "{text}");
}

proptest! {
    #[test]
    fn no_command_line_panics(words in prop::collection::vec("(-{0,2}(basket|count|arguments|x)?=?)?.{0,6}", 0..5)) {
        let _ = parse::<Pick>(words.into_iter().filter(|word| word != "--arguments").map(OsString::from));
    }

    #[test]
    fn no_words_panic(words in prop::collection::vec("(-{0,2}(basket|tag|ripe|arguments|\\{)?=?)?.{0,6}", 0..5)) {
        let words: Vec<_> = words.iter().map(String::as_str).filter(|word| *word != "--arguments").collect();
        let _ = picked(&words);
    }

    #[test]
    fn words_and_options_are_the_same_arguments(
        basket in ".*", tags in prop::collection::vec(".*", 0..4), options in 0_usize..4,
    ) {
        let mut line: Vec<&str> = tags.iter().take(options).flat_map(|tag| ["--tag", tag]).collect();
        line.extend(["--", &basket]);
        line.extend(tags.iter().skip(options).map(String::as_str));
        let pick = picked(&line).unwrap();
        prop_assert_eq!((&pick.basket, &pick.tag), (&basket, &tags));
    }

    #[test]
    fn any_text_is_a_value(text in ".*") {
        prop_assert_eq!(&pick(&["--basket", &text]).unwrap().basket, &text);
        prop_assert_eq!(&pick(&[&format!("--basket={text}")]).unwrap().basket, &text);
        let json = serde_json::json!({"basket": text}).to_string();
        prop_assert_eq!(&pick(&["--arguments", &json]).unwrap().basket, &text);
    }
}
