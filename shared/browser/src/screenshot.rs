//! Screenshots and PDFs of a page.
//!
//! A screenshot is taken when the page is ready, its images and fonts included: readiness for the text does not wait
//! for them. If an earlier call acted in a page without images, they are loaded into that page: a reload would undo its
//! changes.

use std::time::Instant;

use ragmaker_tool::{ARGUMENT_ERROR, Error};
use serde_json::{Value, json};
use url::Url;

use crate::{
    capture::{Capture, Captured, Screenshot, ScreenshotArea, ScreenshotFormat, ScreenshotRequest},
    codes::SELECTOR_NOT_FOUND,
    elements::{ElementId, Frame, Frames, SCREENSHOT, boxes},
    error::{CommandError, Failure, not_a_page},
    limits,
    loading::Load,
    navigation::Navigation,
    page::LoadedPage,
};

/// The maximum number of pixels of a side, which is what WebP can hold.
const MAX_SIDE: f64 = 16_383.0;

/// The part of the remaining time that may be waited for the images.
pub(crate) const IMAGES_SHARE: u32 = 2;

/// The maximum number of numbers that are drawn.
const MAX_NUMBERS: usize = 500;

/// How often a screenshot is made smaller until it fits.
const ROUNDS: usize = 5;

/// The quality of a reduced screenshot.
const QUALITY: u8 = 50;

/// Takes what is requested of the page to which `navigation` went. `numbered` are the listed elements.
pub(crate) fn take(
    capture: Capture<'_>,
    navigation: &mut Navigation<'_>,
    mut page: LoadedPage,
    numbered: &[ElementId],
) -> Result<LoadedPage, Failure> {
    if !capture.is_any() {
        return Ok(page);
    }
    if page.file.is_some() {
        let message = "the URL leads to a file, and files have no screenshot";
        return Err(not_a_page(message, &page.url, Some(&page.content_type), page.http_status).into());
    }
    let mut run = CaptureRun::new(navigation);
    let screenshot = capture.screenshot.map(|request| run.screenshot(request, numbered)).transpose()?;
    let pdf = capture.pdf.then(|| run.pdf()).transpose()?;
    page.captured = Some(Captured { screenshot, pdf });
    Ok(page)
}

/// A part of the document, in CSS pixels.
#[derive(Clone, Copy, Debug)]
struct Area {
    x: f64,
    y: f64,
    width: f64,
    height: f64,
    is_beyond_window: bool,
}

/// Takes screenshots of the page of a navigation.
struct CaptureRun<'n, 'a> {
    navigation: &'n mut Navigation<'a>,
    frames: Frames,
    top: Frame,
    until: Instant,
}

impl<'n, 'a> CaptureRun<'n, 'a> {
    fn new(navigation: &'n mut Navigation<'a>) -> Self {
        let top = Frame { session: None, id: navigation.tab.socket.frame().to_owned(), owner: None };
        let until = navigation.deadline;
        Self { navigation, frames: Frames::default(), top, until }
    }

    fn screenshot(&mut self, request: ScreenshotRequest<'_>, numbered: &[ElementId]) -> Result<Screenshot, Failure> {
        if self.navigation.visible {
            // Chromium draws no tab that is behind another one.
            self.command("Page.bringToFront", &json!({}))?;
        }
        let (area, is_cut) = self.area(request.area)?;
        if request.numbered {
            self.number(numbered)?;
        }
        let taken = self.captured(request, area);
        if request.numbered {
            self.ask("clear", &Value::Null)?;
        }
        let (base64, reduced) = taken?;
        #[expect(clippy::cast_sign_loss, reason = "a side has one pixel at least")]
        let pixels = |length: f64| length.round() as u32;
        Ok(Screenshot { base64, width: pixels(area.width), height: pixels(area.height), is_cut, reduced })
    }

    /// The part of the document that is shown, with its images loaded, and whether it is not all of it.
    fn area(&mut self, area: ScreenshotArea<'_>) -> Result<(Area, bool), Failure> {
        let shown = self.navigation.tab.shown();
        let refresh = shown.is_some_and(|page| page.acted && page.load == Load::Text);
        if refresh {
            // Otherwise, the browser would show what it has in memory under these URLs.
            self.command("Network.setCacheDisabled", &json!({"cacheDisabled": true}))?;
        }
        let selector = if let ScreenshotArea::Element(selector) = area { Some(selector) } else { None };
        let left = self.until.saturating_duration_since(Instant::now()) / IMAGES_SHARE;
        let given = json!({
            "selector": selector, "whole": area == ScreenshotArea::FullPage, "refresh": refresh,
            "patience": limits::IMAGES_TIMEOUT.min(left).as_millis() as u64,
        });
        let prepared = self.ask("prepare", &given)?;
        if refresh {
            self.command("Network.setCacheDisabled", &json!({"cacheDisabled": false}))?;
        }
        if let Some(selector) = selector {
            check(selector, &prepared, &self.navigation.url)?;
        }
        let number = |name: &str| prepared[name].as_f64().unwrap_or_default();
        let mut area = match area {
            ScreenshotArea::FullPage => {
                let metrics = self.command("Page.getLayoutMetrics", &json!({}))?;
                let size = |name: &str| metrics["cssContentSize"][name].as_f64().unwrap_or_default();
                let (width, height) = (size("width"), size("height"));
                Area { x: 0.0, y: 0.0, width, height, is_beyond_window: true }
            }
            area => Area {
                x: number("x"),
                y: number("y"),
                width: number("width"),
                height: number("height"),
                is_beyond_window: area != ScreenshotArea::Viewport,
            },
        };
        let is_cut = area.width > MAX_SIDE || area.height > MAX_SIDE;
        (area.width, area.height) = (area.width.clamp(1.0, MAX_SIDE), area.height.clamp(1.0, MAX_SIDE));
        Ok((area, is_cut))
    }

    /// The screenshot, and its smaller copy.
    fn captured(&mut self, request: ScreenshotRequest<'_>, area: Area) -> Result<(String, Option<String>), Failure> {
        let format = match request.format {
            ScreenshotFormat::Png => "png",
            ScreenshotFormat::WebP => "webp",
        };
        let whole = self.capture_screenshot(area, json!({"format": format}), 1.0)?;
        let Some(most) = request.reduced_to else { return Ok((whole, None)) };
        let small = json!({"format": "webp", "quality": QUALITY});
        let (mut scale, mut reduced) = (1.0, String::new());
        for _ in 0..ROUNDS {
            reduced = self.capture_screenshot(area, small.clone(), scale)?;
            if reduced.len() <= most {
                return Ok((whole, Some(reduced)));
            }
            // The size grows with the number of pixels.
            scale *= (most as f64 / reduced.len() as f64).sqrt().min(0.95) * 0.95;
        }
        Ok((whole, Some(reduced).filter(|reduced| reduced.len() <= most)))
    }

    fn capture_screenshot(&mut self, area: Area, mut params: Value, scale: f64) -> Result<String, Failure> {
        let Area { x, y, width, height, is_beyond_window } = area;
        params["captureBeyondViewport"] = is_beyond_window.into();
        // The browser takes the window's part of the document by itself.
        if is_beyond_window || scale < 1.0 {
            params["clip"] = json!({"x": x, "y": y, "width": width, "height": height, "scale": scale});
        }
        let mut answer = self.command("Page.captureScreenshot", &params)?;
        Ok(if let Value::String(data) = answer["data"].take() { data } else { String::new() })
    }

    fn pdf(&mut self) -> Result<String, Failure> {
        let params = json!({"printBackground": true, "preferCSSPageSize": true});
        let mut answer = self.command("Page.printToPDF", &params)?;
        Ok(if let Value::String(data) = answer["data"].take() { data } else { String::new() })
    }

    /// Draws the numbers of elements into the page.
    fn number(&mut self, elements: &[ElementId]) -> Result<(), Failure> {
        let marks = self.marks(elements).map_err(|error| Failure::of(error, &self.navigation.url))?;
        self.ask("number", &json!(marks)).map(drop)
    }

    /// The number and the box of each element that is shown, in the document.
    fn marks(&mut self, elements: &[ElementId]) -> Result<Vec<(usize, [f64; 4])>, CommandError> {
        let (socket, until) = (&mut self.navigation.tab.socket, self.until);
        let frames = Frames::all(socket, until)?;
        let window = boxes::window(socket, None, until)?;
        let mut marks = vec![];
        for (index, element_id) in elements.iter().enumerate() {
            let session = element_id.session.as_deref();
            let Some((across, down)) = boxes::offset(socket, session, &frames, until)? else { continue };
            let quads = boxes::quads(socket, session, &json!({"backendNodeId": element_id.node}), until)?;
            let Some([left, top, right, bottom]) = quads.first() else { continue };
            let corner = (left + across + window.x, top + down + window.y);
            marks.push((index + 1, [corner.0, corner.1, right - left, bottom - top]));
            if marks.len() >= MAX_NUMBERS {
                break;
            }
        }
        Ok(marks)
    }

    /// Asks what `js/screenshot.js` answers. Where the document is being replaced, the next one is asked.
    fn ask(&mut self, what: &str, given: &Value) -> Result<Value, Failure> {
        for _ in 0..2 {
            match self.frames.run(&mut self.navigation.tab.socket, &self.top, &SCREENSHOT, (what, given), self.until) {
                Ok(answer) => return Ok(answer),
                Err(CommandError::Failed(_)) => self.navigation.rest().map(drop)?,
                Err(error) => return Err(Failure::of(error, &self.navigation.url)),
            }
        }
        Err(Failure::of(CommandError::Late, &self.navigation.url))
    }

    fn command(&mut self, method: &str, params: &Value) -> Result<Value, Failure> {
        let answer = self.navigation.tab.socket.ask(None, method, params, self.until);
        answer.map_err(|error| Failure::of(error, &self.navigation.url))
    }
}

/// Refuses a selector that gives nothing to show.
pub(crate) fn check(selector: &str, prepared: &Value, url: &Url) -> Result<(), Error> {
    if prepared["bad"] == true {
        let message = format!("--screenshot-selector cannot be {selector:?}: it is not a CSS selector");
        return Err(ARGUMENT_ERROR.error(message).detail("argument", "--screenshot-selector"));
    }
    let is_empty = |name: &str| prepared[name].as_f64().is_none_or(|length| length < 1.0);
    if is_empty("width") || is_empty("height") {
        return Err(SELECTOR_NOT_FOUND
            .error(format!("no visible element of the page matches {selector:?}"))
            .detail("selector", selector)
            .detail("url", url.as_str()));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_selector_needs_an_element_with_an_area() {
        let url = Url::parse("https://x.example/").unwrap();
        let of = |prepared: Value| check("#a", &prepared, &url).err().map(|error| error.code());
        assert_eq!(of(json!({"width": 1.0, "height": 20})), None);
        assert_eq!(of(json!({"bad": true, "width": 10, "height": 10})), Some("ARGUMENT_ERROR"));
        for prepared in
            [json!({"width": 0.4, "height": 9}), json!({"width": 9}), Value::Null, json!({"width": "9", "height": 9})]
        {
            assert_eq!(of(prepared), Some("SELECTOR_NOT_FOUND"));
        }
    }
}
