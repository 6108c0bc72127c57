//! What is taken of a page beside its content: pictures and prints.

/// The file format of a picture.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PictureFormat {
    /// Without loss.
    Png,
    /// Smaller.
    WebP,
}

/// The part of a page that a picture shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PictureArea<'a> {
    /// What the window shows.
    Viewport,
    /// All of the page.
    FullPage,
    /// The first visible element that this CSS selector matches.
    Element(&'a str),
}

/// A picture to be taken.
#[derive(Clone, Copy, Debug)]
pub struct PictureRequest<'a> {
    /// Its format.
    pub format: PictureFormat,
    /// What it shows.
    pub area: PictureArea<'a>,
    /// Whether the listed elements have their numbers in it.
    pub numbered: bool,
    /// The maximum length in characters of a smaller copy in base64, if there is to be one.
    pub reduced_to: Option<usize>,
}

/// What is taken of a page beside its content.
#[derive(Clone, Copy, Debug, Default)]
pub struct Capture<'a> {
    /// A picture.
    pub picture: Option<PictureRequest<'a>>,
    /// Whether the page is printed as a PDF.
    pub pdf: bool,
}

/// A picture of a page.
#[derive(Clone, Debug)]
pub struct Picture {
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

/// What was taken of a page.
#[derive(Clone, Debug, Default)]
pub struct Captured {
    /// The picture.
    pub picture: Option<Picture>,
    /// The PDF in base64.
    pub pdf: Option<String>,
}

impl Capture<'_> {
    /// Whether anything is to be taken.
    pub fn is_any(&self) -> bool {
        self.picture.is_some() || self.pdf
    }
}
