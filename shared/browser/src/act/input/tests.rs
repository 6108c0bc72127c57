//! Tests of the elements that input reaches, and of the errors for those that it does not reach.

use ragmaker_tool::Code;

use super::*;
use crate::elements::ListedElement;

const NAME: &str = "button:Save";

fn locator() -> Locator {
    Locator::new(NAME)
}

fn reached(state: Value) -> UsableElement {
    let element_id = ElementId { session: None, frame: String::new(), node: 1 };
    UsableElement { element_id, object: String::new(), state, point: None, name: None }
}

#[test]
fn a_disabled_element_may_be_pointed_at_and_not_used() {
    let of = |need, state: Value| refusal(&locator(), need, &state).map(|error| error.code());
    let all = [
        Requirement::Exists,
        Requirement::ReceivesPointer,
        Requirement::Enabled,
        Requirement::Focused,
        Requirement::Click,
    ];
    for (index, need) in all.into_iter().enumerate() {
        let refused = (index > 1).then_some("ELEMENT_NOT_USABLE");
        assert_eq!(of(need, json!({"disabled": true})), refused, "{index}");
        assert_eq!(of(need, json!({"gone": true, "disabled": true})), Some("ELEMENT_NOT_FOUND"));
        assert_eq!(of(need, json!({})), None);
        assert_eq!(need.given(), json!(need == Requirement::Focused));
        assert_eq!(need.is_pointed_at(), [1, 4].contains(&index));
    }
}

#[test]
fn a_click_that_reached_another_element_is_an_error() {
    let checked = |state, heard: Value| check_click(&locator(), &reached(state), &heard);
    let error = checked(json!({"description": "<button>"}), json!({"own": false, "other": "<div>"})).unwrap_err();
    assert!(error.is(ELEMENT_NOT_USABLE) && error.message().contains("hit <div>"), "{error}");
    assert_eq!(error.details()["found"], "<button>");
    for heard in [json!({"own": true, "other": "<div>"}), json!({"own": false}), json!({}), Value::Null] {
        assert!(checked(json!({}), heard).is_ok());
    }
    // The page has drawn an equal element in its place.
    let equal = json!({"own": false, "gone": true, "other": "<button>"});
    assert!(checked(json!({"description": "<button>"}), equal.clone()).is_ok());
    assert!(checked(json!({"description": "<a>"}), equal).is_err());
}

#[test]
fn an_element_that_is_not_found_has_candidates() {
    let element =
        ListedElement { number: None, element: "link:Save".into(), state: None, value: None, under: None, url: None };
    let cases: [(NotFound, Code); 2] = [
        (NotFound::Several(vec![element.clone()]), ELEMENT_AMBIGUOUS),
        (NotFound::Nothing(vec![element]), ELEMENT_NOT_FOUND),
    ];
    for (not_found, code) in cases {
        let error = missing(&locator(), not_found);
        assert!(error.is(code) && error.message().contains(NAME), "{error}");
        assert_eq!(error.details()["candidates"][0]["element"], "link:Save");
    }
    let error = missing(&locator(), NotFound::Nothing(vec![]));
    assert!(!error.remediation().contains("candidates"), "{error}");
    assert!(error.details().contains_key("element") && !error.details().contains_key("candidates"), "{error}");
    assert_eq!(gone(&locator()).details()["element"], NAME);
}

#[test]
fn an_element_that_ignores_the_pointer_is_not_called_covered() {
    let of = |state: Value, refused: (&str, &'static str)| {
        unreachable_by_pointer(&locator(), &state, (refused.0.to_owned(), refused.1)).message().to_owned()
    };
    let ignores = json!({"ignoresPointer": true});
    assert_eq!(
        of(ignores.clone(), ("is covered by <p>", UNCOVER)),
        "button:Save ignores the pointer (pointer-events: none)"
    );
    assert_eq!(of(ignores, ("is not shown", SHOW)), "button:Save is not shown");
    assert_eq!(of(json!({}), ("is covered by <p>", UNCOVER)), "button:Save is covered by <p>");
}

#[test]
fn a_press_of_the_mouse_has_a_button_and_a_move_has_none() {
    let (method, pressed) = mouse("mousePressed", Some((1.5, 2.0)), 1);
    assert_eq!(method, "Input.dispatchMouseEvent");
    assert_eq!((&pressed["button"], &pressed["clickCount"], &pressed["x"]), (&json!("left"), &json!(1), &json!(1.5)));
    let (_, moved) = mouse("mouseMoved", None, 0);
    assert_eq!((&moved["button"], &moved["clickCount"], &moved["y"]), (&json!("none"), &json!(0), &json!(0.0)));
}
