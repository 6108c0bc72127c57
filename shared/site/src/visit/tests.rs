//! Tests of the outcome of a page.

use super::*;
use ragmaker_tool::ARGUMENT_ERROR;

fn page(visited: Visited) -> PageResult {
    match visited.outcome {
        VisitOutcome::Page(page) => page,
        _ => panic!("no verdict"),
    }
}

#[test]
fn what_is_no_page_is_refused_and_a_failure_fails() {
    for (error, verdict) in [
        (NOT_A_PAGE.error("an image"), PageVerdict::Refused),
        (EMPTY_CONTENT.error("empty"), PageVerdict::Refused),
        (NotFollowed::Outside.error("https://b.example/".to_owned()), PageVerdict::Refused),
        (ARGUMENT_ERROR.error("no"), PageVerdict::Failed),
    ] {
        assert_eq!(page(failed("u", &error, false)).verdict, verdict, "{error}");
    }
    let seen = NotFollowed::Seen.error("https://a.example/".to_owned());
    assert!(matches!(failed("u", &seen, true).outcome, VisitOutcome::Moved(_)));
    assert!(matches!(failed("u", &seen, false).outcome, VisitOutcome::Alias));
    let for_now = NotFollowed::SeenForNow.error("https://a.example/".to_owned());
    assert_eq!(
        page(failed("u", &for_now, true)).reason.as_deref(),
        Some("it redirects temporarily to https://a.example/")
    );
    assert!(is_permanent_redirect(308) && !is_permanent_redirect(302));
}
