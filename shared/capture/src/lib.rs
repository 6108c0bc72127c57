//! Screenshots and PDFs of pages as files, for all tools that visit pages.
//!
//! [`CaptureArgs`] are the arguments that ask for them. [`CaptureArgs::plan`] checks them before a page is visited,
//! [`CapturePlan::capture`] is what the visit takes, and [`CapturePlan::save`] writes the files.

use std::path::Path;

use base64::{Engine, engine::general_purpose::STANDARD};
use ragmaker_browser::{
    Capture, Captured, Screenshot, ScreenshotArea, ScreenshotFormat, ScreenshotRequest, codes::BROWSER_LOST,
};
use ragmaker_files::{OutputFile, output_file};
use ragmaker_tool::{ARGUMENT_ERROR, Error, Invocation};
use schemars::JsonSchema;
use serde::Serialize;

/// The maximum length in characters of a screenshot in an answer, in base64.
pub const MAX_CHARACTERS: usize = 20_000;

/// The arguments that ask for screenshots and prints.
#[derive(Clone, Copy, Debug, Default)]
pub struct CaptureArgs<'a> {
    /// `--screenshot`: the file of the screenshot, .png or .webp.
    pub screenshot: Option<&'a Path>,
    /// `--full-page`: the whole page, instead of what the window shows.
    pub full_page: bool,
    /// `--screenshot-selector`: the element of the screenshot.
    pub selector: Option<&'a str>,
    /// `--annotate`: the numbers of the listed elements are drawn.
    pub annotate: bool,
    /// `--image`: a smaller copy of the screenshot is in the answer.
    pub image: bool,
    /// `--print-pdf`: the file of the PDF.
    pub print_pdf: Option<&'a Path>,
}

/// Checked arguments: what is taken, and where it is written.
#[derive(Clone, Debug, Default)]
pub struct CapturePlan<'a> {
    screenshot: Option<(OutputFile, ScreenshotRequest<'a>)>,
    pdf: Option<OutputFile>,
}

/// The files that were written.
#[derive(Serialize, JsonSchema, Debug, Default)]
pub struct Files {
    /// With --screenshot: its file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub screenshot: Option<ScreenshotFile>,
    /// With --print-pdf: the PDF's absolute path.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pdf_path: Option<String>,
}

/// A screenshot that was written.
#[derive(Serialize, JsonSchema, Debug)]
pub struct ScreenshotFile {
    /// The absolute path.
    pub path: String,
    /// The width in pixels.
    pub width: u32,
    /// The height in pixels.
    pub height: u32,
    /// Whether the page is longer than a screenshot can be.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub cut: bool,
}

/// A copy of the screenshot that is small enough for an answer.
#[derive(Serialize, JsonSchema, Debug)]
pub struct Image {
    /// With --image: image/webp.
    pub mime_type: &'static str,
    /// With --image: a smaller copy of the screenshot in base64; over MCP an image instead.
    pub data: String,
}

impl<'a> CaptureArgs<'a> {
    /// Checks the arguments.
    ///
    /// # Errors
    ///
    /// `ARGUMENT_ERROR` for what does not go together and for an unknown file format; those of
    /// [`output_file`].
    pub fn plan(&self, invocation: &Invocation) -> Result<CapturePlan<'a>, Error> {
        let needs = |flag: &str, what: &str| {
            Err(ARGUMENT_ERROR.error(format!("{flag} needs {what}")).detail("argument", flag.to_owned()))
        };
        let of_screenshots = [
            ("--full-page", self.full_page),
            ("--screenshot-selector", self.selector.is_some()),
            ("--annotate", self.annotate),
            ("--image", self.image),
        ];
        if self.screenshot.is_none()
            && let Some((flag, _)) = of_screenshots.into_iter().find(|(_, is_given)| *is_given)
        {
            return needs(flag, "--screenshot");
        }
        let area = match (self.full_page, self.selector) {
            (true, Some(_)) => {
                return Err(ARGUMENT_ERROR
                    .error("--full-page and --screenshot-selector cannot be combined")
                    .detail("argument", "--full-page"));
            }
            (true, None) => ScreenshotArea::FullPage,
            (false, Some(selector)) => ScreenshotArea::Element(selector),
            (false, None) => ScreenshotArea::Viewport,
        };
        let screenshot = |path: &'a Path| {
            let request = ScreenshotRequest {
                format: format(path)?,
                area,
                numbered: self.annotate,
                reduced_to: self.image.then_some(MAX_CHARACTERS),
            };
            Ok((output_file(path, "--screenshot", invocation)?, request))
        };
        let pdf = |path| {
            if ending(path) != "pdf" {
                return Err(unknown_ending(path, "--print-pdf", ".pdf"));
            }
            output_file(path, "--print-pdf", invocation)
        };
        Ok(CapturePlan {
            screenshot: self.screenshot.map(screenshot).transpose()?,
            pdf: self.print_pdf.map(pdf).transpose()?,
        })
    }
}

impl<'a> CapturePlan<'a> {
    /// The requests for the visit.
    pub fn capture(&self) -> Capture<'a> {
        Capture { screenshot: self.screenshot.as_ref().map(|(_, request)| *request), pdf: self.pdf.is_some() }
    }

    /// Writes what the visit took. Also returns the smaller copy of the screenshot, if one was requested and fits.
    ///
    /// # Errors
    ///
    /// Those of [`OutputFile::write`]; `BROWSER_LOST` where the browser sent no file.
    pub fn save(&self, captured: Option<Captured>) -> Result<(Files, Option<Image>), Error> {
        let Captured { screenshot, pdf } = captured.unwrap_or_default();
        let (mut files, mut image) = (Files::default(), None);
        if let (Some((file, _)), Some(screenshot)) = (&self.screenshot, screenshot) {
            let Screenshot { base64, width, height, is_cut: cut, reduced } = screenshot;
            file.write(&decoded(&base64)?)?;
            let path = file.path().to_string_lossy().into_owned();
            files.screenshot = Some(ScreenshotFile { path, width, height, cut });
            image = reduced.map(|data| Image { mime_type: "image/webp", data });
        }
        if let (Some(file), Some(pdf)) = (&self.pdf, pdf) {
            file.write(&decoded(&pdf)?)?;
            files.pdf_path = Some(file.path().to_string_lossy().into_owned());
        }
        Ok((files, image))
    }
}

fn decoded(base64: &str) -> Result<Vec<u8>, Error> {
    let bytes = STANDARD.decode(base64).unwrap_or_default();
    if bytes.is_empty() { Err(BROWSER_LOST.error("the browser sent no screenshot of the page")) } else { Ok(bytes) }
}

fn ending(path: &Path) -> String {
    path.extension().unwrap_or_default().to_string_lossy().to_ascii_lowercase()
}

fn format(path: &Path) -> Result<ScreenshotFormat, Error> {
    match ending(path).as_str() {
        "png" => Ok(ScreenshotFormat::Png),
        "webp" => Ok(ScreenshotFormat::WebP),
        _ => Err(unknown_ending(path, "--screenshot", ".png or .webp")),
    }
}

fn unknown_ending(path: &Path, argument: &str, known: &str) -> Error {
    ARGUMENT_ERROR
        .error(format!("{argument} cannot be {:?}: the name of the file ends in {known}", path.to_string_lossy()))
        .detail("argument", argument)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plan(args: CaptureArgs<'_>) -> Result<Capture<'_>, Error> {
        args.plan(&Invocation::default()).map(|plan| plan.capture())
    }

    #[test]
    fn arguments_are_checked_before_a_visit() {
        let screenshot = CaptureArgs { screenshot: Some(Path::new("a.PNG")), ..CaptureArgs::default() };
        assert_eq!(plan(screenshot).unwrap().screenshot.unwrap().format, ScreenshotFormat::Png);
        assert!(!plan(CaptureArgs::default()).unwrap().is_any());
        let whole = CaptureArgs { full_page: true, ..screenshot };
        assert_eq!(plan(whole).unwrap().screenshot.unwrap().area, ScreenshotArea::FullPage);
        for (args, argument) in [
            (CaptureArgs { screenshot: Some(Path::new("a.jpg")), ..screenshot }, "--screenshot"),
            (CaptureArgs { screenshot: Some(Path::new("png")), ..screenshot }, "--screenshot"),
            (CaptureArgs { print_pdf: Some(Path::new("a.html")), ..screenshot }, "--print-pdf"),
            (CaptureArgs { selector: Some("main"), ..whole }, "--full-page"),
            (CaptureArgs { screenshot: None, ..whole }, "--full-page"),
            (CaptureArgs { image: true, ..CaptureArgs::default() }, "--image"),
        ] {
            let error = plan(args).unwrap_err();
            assert!(error.is(ARGUMENT_ERROR) && error.details()["argument"] == argument, "{error}");
        }
    }

    #[test]
    fn files_are_written_with_what_was_taken() {
        let folder = tempfile::tempdir().unwrap();
        let (png, pdf) = (folder.path().join("new/a.png"), folder.path().join("a.pdf"));
        let args = CaptureArgs { screenshot: Some(&png), print_pdf: Some(&pdf), image: true, ..CaptureArgs::default() };
        let plan = args.plan(&Invocation::default()).unwrap();
        let screenshot =
            Screenshot { base64: "AQID".into(), width: 2, height: 1, is_cut: false, reduced: Some("BAUG".into()) };
        let (files, image) =
            plan.save(Some(Captured { screenshot: Some(screenshot), pdf: Some("Nw==".into()) })).unwrap();
        assert_eq!((std::fs::read(&png).unwrap(), std::fs::read(&pdf).unwrap()), (vec![1, 2, 3], vec![55]));
        assert_eq!(files.screenshot.unwrap().path, png.to_string_lossy());
        assert_eq!(image.unwrap().data, "BAUG");
        // Nothing is written in place of a file that the browser did not send.
        let screenshot = Screenshot { base64: String::new(), width: 2, height: 1, is_cut: false, reduced: None };
        assert!(plan.save(Some(Captured { screenshot: Some(screenshot), pdf: None })).unwrap_err().is(BROWSER_LOST));
        assert_eq!(std::fs::read(&png).unwrap(), [1, 2, 3]);
    }
}
