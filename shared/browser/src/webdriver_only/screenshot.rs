//! Screenshots and PDFs by WebDriver commands alone: of the window or of an element, as PNG, and of the page as PDF.

use std::time::Instant;

use base64::{Engine as _, engine::general_purpose::STANDARD};
use serde_json::{Value, json};

use super::{WebDriverVisit, frames};
use crate::{
    capture::{Capture, Captured, Screenshot, ScreenshotArea, ScreenshotFormat, ScreenshotRequest},
    elements::SCREENSHOT,
    error::{CommandError, Failure},
    limits,
    page::LoadedPage,
    screenshot::{self, IMAGES_SHARE},
    webdriver::is_stale_element,
};

/// The requested option for which WebDriver has no command, if any.
pub(crate) fn unsupported(capture: Capture<'_>) -> Option<&'static str> {
    let request = capture.screenshot?;
    let what = [
        (request.area == ScreenshotArea::FullPage, "--full-page needs"),
        (request.numbered, "--annotate needs"),
        (request.reduced_to.is_some(), "--image needs"),
        (request.format == ScreenshotFormat::WebP, "a screenshot as WebP needs"),
    ];
    what.into_iter().find_map(|(is_requested, what)| is_requested.then_some(what))
}

/// Takes what is requested of the page of `visit`.
pub(crate) fn take(
    visit: &WebDriverVisit<'_>,
    capture: Capture<'_>,
    mut page: LoadedPage,
) -> Result<LoadedPage, Failure> {
    if !capture.is_any() {
        return Ok(page);
    }
    let screenshot = capture.screenshot.map(|request| screenshot(visit, request)).transpose()?;
    let pdf = capture.pdf.then(|| text(visit, visit.driver.post("print", json!({"background": true}), visit.deadline)));
    page.captured = Some(Captured { screenshot, pdf: pdf.transpose()? });
    Ok(page)
}

fn screenshot(visit: &WebDriverVisit<'_>, request: ScreenshotRequest<'_>) -> Result<Screenshot, Failure> {
    let selector = if let ScreenshotArea::Element(selector) = request.area { Some(selector) } else { None };
    let left = visit.deadline.saturating_duration_since(Instant::now()) / IMAGES_SHARE;
    let patience = limits::IMAGES_TIMEOUT.min(left).as_millis() as u64;
    let given = json!({"selector": selector, "whole": false, "refresh": false, "patience": patience});
    let ask = |what, given| visit.ask(&SCREENSHOT, what, given).map_err(|error| visit.failure(error));
    let prepared = ask("prepare", &given)?;
    let path = match selector {
        Some(selector) => {
            screenshot::check(selector, &prepared, &visit.url)?;
            let element = frames::reference(&ask("element", &json!(selector))?);
            let element = element.ok_or_else(|| visit.failure(CommandError::Late))?;
            format!("element/{element}/screenshot")
        }
        None => "screenshot".to_owned(),
    };
    let base64 = text(visit, visit.driver.get(&path, visit.deadline))?;
    let (width, height) = size(&base64).unwrap_or_default();
    Ok(Screenshot { base64, width, height, is_cut: false, reduced: None })
}

/// A text that the driver answers.
fn text(visit: &WebDriverVisit<'_>, answer: Result<Value, CommandError>) -> Result<String, Failure> {
    match answer {
        Ok(Value::String(text)) => Ok(text),
        Ok(_) => Err(visit.failure(CommandError::Failed("the driver answered without a file".into()))),
        // The page is replaced meanwhile.
        Err(error) if is_stale_element(&error) => Err(visit.failure(CommandError::Late)),
        Err(error) => Err(visit.failure(error)),
    }
}

/// The width and the height of a PNG file in base64, from its head.
fn size(base64: &str) -> Option<(u32, u32)> {
    let head = STANDARD.decode(base64.get(..32)?).ok()?;
    let number = |at: usize| Some(u32::from_be_bytes(head.get(at..at + 4)?.try_into().ok()?));
    Some((number(16)?, number(20)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_size_of_an_image_is_in_its_head() {
        let mut head = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR".to_vec();
        head.extend([0, 0, 5, 0, 0, 0, 2, 208, 8, 6]);
        assert_eq!(size(&STANDARD.encode(&head)), Some((1280, 720)));
        assert_eq!(size("abc"), None);
    }
}
