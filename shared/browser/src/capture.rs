//! Requests for screenshots and PDFs of a page, and their results.

/// The file format of a screenshot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ScreenshotFormat {
    /// Without loss.
    Png,
    /// Smaller.
    WebP,
}

/// The part of a page that a screenshot shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ScreenshotArea<'a> {
    /// The visible part.
    Viewport,
    /// The whole page.
    FullPage,
    /// The first visible element that this CSS selector matches.
    Element(&'a str),
}

/// A requested screenshot.
#[derive(Clone, Copy, Debug)]
pub struct ScreenshotRequest<'a> {
    /// Its format.
    pub format: ScreenshotFormat,
    /// The part of the page.
    pub area: ScreenshotArea<'a>,
    /// Whether the listed elements have their numbers in it.
    pub numbered: bool,
    /// The maximum length in characters of a smaller copy in base64, if there is to be one.
    pub reduced_to: Option<usize>,
}

/// The requested screenshot and PDF of a page.
#[derive(Clone, Copy, Debug, Default)]
pub struct Capture<'a> {
    /// The screenshot.
    pub screenshot: Option<ScreenshotRequest<'a>>,
    /// Whether the page is printed as a PDF.
    pub pdf: bool,
}

/// A screenshot of a page.
#[derive(Clone, Debug)]
pub struct Screenshot {
    /// The file in base64.
    pub base64: String,
    /// The width in pixels.
    pub width: u32,
    /// The height in pixels.
    pub height: u32,
    /// Whether the page is longer.
    pub is_cut: bool,
    /// A copy as WebP in base64, of the requested size.
    pub reduced: Option<String>,
}

/// The screenshot and the PDF of a page.
#[derive(Clone, Debug, Default)]
pub struct Captured {
    /// The screenshot.
    pub screenshot: Option<Screenshot>,
    /// The PDF in base64.
    pub pdf: Option<String>,
}

impl Capture<'_> {
    /// Whether anything is requested.
    pub fn is_any(&self) -> bool {
        self.screenshot.is_some() || self.pdf
    }
}
