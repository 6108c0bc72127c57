//! Steps in a page, and the list of its interactive elements.

use std::cell::Cell;

use ragmaker_address::canonical;
use ragmaker_tool::{ARGUMENT_ERROR, Error};
use serde_json::json;

use super::Visit;
use crate::{
    act::{ActResult, Actor, Changes, SideEffects, Step, TakeSteps},
    codes::SELECTOR_NOT_FOUND,
    elements::{self, ElementId, ElementScope, Frames, ListedElement, PageNodes},
    error::Failure,
    page::LoadedPage,
    readiness::{PageScript, RequestedContent},
    screenshot,
    snapshots::{self, LookChanges, LookRequest},
    webdriver_only::{self, WebDriverActor},
};

/// The elements of a page that can be acted on.
#[derive(Debug)]
pub struct PageElements {
    /// The page.
    pub page: LoadedPage,
    /// The elements, in the page's order.
    pub elements: Vec<ListedElement>,
    /// The part of the page that they belong to.
    pub within: ElementScope,
    /// The number of other elements on the page.
    pub elsewhere: usize,
    /// The changes since the previous list, if requested.
    pub changes: Option<LookChanges>,
}

/// A look at a page: the elements, the part that they are in, how many others there are, and the changes.
type Looked = (Vec<ListedElement>, ElementScope, usize, Option<LookChanges>);

impl Visit<'_> {
    /// Goes to the page and takes `steps` in it. The error of a failed step names it and the steps before; the
    /// page stays in the state that it has then.
    pub fn act(&self, steps: &[Step]) -> Result<ActResult, Error> {
        let [before, meanwhile, changes] =
            [RequestedContent::Before, RequestedContent::Nothing, RequestedContent::Changes].map(PageScript::new);
        let began = Cell::new(false);
        let (page, (done, side_effects, counted, title, failed, foreign)) = self.work(
            &before,
            &began,
            |navigation, (page, _)| {
                acts_on(&page)?;
                navigation.script = &meanwhile;
                let mut actor = Actor::new(navigation)?;
                let before = actor.foreign_length()?;
                let (done, failed) = actor.take(steps)?;
                let foreign = actor.foreign_length().unwrap_or(before).saturating_sub(before);
                let side_effects = actor.into_side_effects();
                navigation.script = &changes;
                let (after, counted) = navigation.rest().map_err(|failure| after_steps(failure, &done))?;
                let after =
                    if failed.is_none() { screenshot::take(self.capture, navigation, after, &[])? } else { after };
                Ok((after, (done, side_effects, counted, page.title, failed, foreign)))
            },
            |visit, (page, _)| {
                acts_on(&page)?;
                visit.script = &meanwhile;
                let of = |error| Failure::of(error, &page.url);
                let mut actor = WebDriverActor::new(visit, &began).map_err(of)?;
                let before = actor.foreign_length()?;
                let taken = actor.take(steps);
                let foreign = actor.foreign_length().unwrap_or(before).saturating_sub(before);
                actor.close_opened().map_err(of)?;
                let (done, failed) = taken?;
                visit.script = &changes;
                let (after, counted) = visit.rest().map_err(|failure| after_steps(failure, &done))?;
                let after = if failed.is_none() {
                    webdriver_only::screenshot::take(visit, self.capture, after)?
                } else {
                    after
                };
                Ok((after, (done, SideEffects::default(), counted, page.title, failed, foreign)))
            },
        )?;
        if let Some(error) = failed {
            return Err(error.detail("url", page.url.as_str()));
        }
        let mut changes = Changes::new(&page, &title, &counted, side_effects);
        // Frames that the page cannot read, such as those of other sites, are measured one by one.
        changes.added_characters += foreign;
        Ok(ActResult { page, done, changes })
    }

    /// Goes to the page and lists the elements that can be acted on: within the matches of the CSS `selector`,
    /// or else in the main content and in dialogs, or else on the whole page; all of them, or what has changed since
    /// the last look.
    pub fn look(&self, selector: Option<&str>, request: LookRequest) -> Result<PageElements, Error> {
        let script = PageScript::new(RequestedContent::Nothing);
        let (page, (elements, within, elsewhere, changes)) = self.work(
            &script,
            &Cell::new(false),
            |navigation, (page, _)| {
                let until = navigation.deadline;
                let (loading, url) = (navigation.loading.clone(), navigation.url.clone());
                let socket = &mut navigation.tab.socket;
                let nodes = socket
                    .follow_frames(loading, until)
                    .and_then(|()| elements::nodes(&mut Frames::default(), socket, selector, until));
                let nodes = nodes.map_err(|error| Failure::of(error, &url))?;
                self.looked(nodes, (selector, request), page, |page, element_ids| {
                    screenshot::take(self.capture, navigation, page, element_ids)
                })
            },
            |visit, (page, _)| {
                let nodes = visit.nodes(selector).map_err(|error| Failure::of(error, &visit.url))?;
                self.looked(nodes, (selector, request), page, |page, _| {
                    webdriver_only::screenshot::take(visit, self.capture, page)
                })
            },
        )?;
        Ok(PageElements { page, elements, within, elsewhere, changes })
    }

    /// Lists `nodes` of a page. `capture` takes the screenshots, with the places of the listed nodes.
    fn looked(
        &self,
        nodes: Option<PageNodes>,
        (selector, request): (Option<&str>, LookRequest),
        page: LoadedPage,
        capture: impl FnOnce(LoadedPage, &[ElementId]) -> Result<LoadedPage, Failure>,
    ) -> Result<(LoadedPage, Looked), Failure> {
        let PageNodes { nodes, is_matched } = nodes.ok_or_else(|| {
            let message = format!("--selector cannot be {:?}: it is not a CSS selector", selector.unwrap_or_default());
            ARGUMENT_ERROR.error(message).detail("argument", "--selector")
        })?;
        if let Some(selector) = selector.filter(|_| !is_matched) {
            return Err(SELECTOR_NOT_FOUND
                .error(format!("nothing on the page matches {selector:?}"))
                .detail("selector", selector)
                .detail("url", page.url.as_str())
                .into());
        }
        let looks =
            snapshots::compare(&self.session.profile, &canonical(&page.url), &nodes, request, selector.is_some());
        let (listed, within, elsewhere) = elements::listed(&nodes, &looks.listed, selector);
        let element_ids: Vec<ElementId> = listed.iter().map(|(index, _)| nodes[*index].element_id.clone()).collect();
        let page = capture(page, &element_ids)?;
        let changes = looks.changes;
        looks.record(listed.iter().map(|(index, _)| *index));
        let listed = listed.into_iter().map(|(_, listed)| listed).collect();
        Ok((page, (listed, within, elsewhere, changes)))
    }
}

/// Refuses a challenge, in which no step is taken.
fn acts_on(page: &LoadedPage) -> Result<(), Failure> {
    match page.challenge.and_then(|_| page.refusal()) {
        Some(refusal) => Err(refusal.into()),
        None => Ok(()),
    }
}

/// The failure to read the page after the steps in `done`.
fn after_steps(failure: Failure, done: &[String]) -> Failure {
    let (Failure::UnresponsiveTab(error) | Failure::Page(error)) = failure;
    Failure::Page(error.detail("step", done.len().max(1)).detail("done", json!(done)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::codes::TIMEOUT;

    #[test]
    fn a_page_that_cannot_be_read_after_the_steps_says_which_were_taken() {
        for (done, step) in [(vec![], 1), (vec!["clicked A".to_owned(), "clicked B".to_owned()], 2)] {
            for failure in [Failure::Page(TIMEOUT.error("late")), Failure::UnresponsiveTab(TIMEOUT.error("late"))] {
                // Another tab would take the steps again.
                let Failure::Page(error) = after_steps(failure, &done) else { panic!("it is final") };
                assert_eq!((&error.details()["step"], &error.details()["done"]), (&json!(step), &json!(done)));
            }
        }
    }
}
