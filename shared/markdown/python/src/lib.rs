//! `ragmaker_markdown` for Python: a page's HTML to Markdown, with the arguments of `trafilatura.extract`.

use pyo3::{exceptions::PyValueError, prelude::*, types::PyDict};
use ragmaker_markdown::{Document, Error, Options, Scope, decode};
use url::Url;

/// HTML as Python has it.
#[derive(FromPyObject)]
enum Html {
    Text(String),
    Bytes(Vec<u8>),
}

/// Converts a page without Python's global lock.
fn document(
    python: Python<'_>,
    html: Html,
    url: Option<&str>,
    whole: bool,
    selector: Option<&str>,
    charset: Option<&str>,
) -> PyResult<Result<Document, Error>> {
    if whole && selector.is_some() {
        return Err(PyValueError::new_err("whole and selector exclude each other"));
    }
    let scope = match selector {
        Some(selector) => Scope::Selector(selector),
        None if whole => Scope::Whole,
        None => Scope::Main,
    };
    // An address that links cannot be relative to is no error of the page.
    let base = url.and_then(|url| Url::parse(url).ok()).filter(|url| !url.cannot_be_a_base());
    let options = Options { base_url: base.as_ref(), scope };
    Ok(python.detach(|| match html {
        Html::Text(html) => ragmaker_markdown::convert(&html, &options),
        Html::Bytes(bytes) => {
            let content_type = charset.map(|charset| format!("text/html; charset={charset}"));
            let (html, _) = decode(&bytes, content_type.as_deref());
            ragmaker_markdown::convert(&html, &options)
        }
    }))
}

fn refusal(error: &Error) -> PyErr {
    PyValueError::new_err(error.to_string())
}

/// The main content of a page as Markdown; None if the page has no content.
#[pyfunction]
#[pyo3(signature = (html, url=None, *, output_format="markdown", whole=false, selector=None, charset=None))]
fn extract(
    python: Python<'_>,
    html: Html,
    url: Option<&str>,
    output_format: &str,
    whole: bool,
    selector: Option<&str>,
    charset: Option<&str>,
) -> PyResult<Option<String>> {
    if output_format != "markdown" {
        return Err(PyValueError::new_err("output_format must be \"markdown\""));
    }
    match document(python, html, url, whole, selector, charset)? {
        Ok(document) => Ok(Some(document.markdown)),
        Err(Error::EmptyContent | Error::NothingSelected) => Ok(None),
        Err(error) => Err(refusal(&error)),
    }
}

/// The content of a page as Markdown, and its metadata, as a dictionary.
#[pyfunction]
#[pyo3(signature = (html, url=None, *, whole=false, selector=None, charset=None))]
fn convert<'p>(
    python: Python<'p>,
    html: Html,
    url: Option<&str>,
    whole: bool,
    selector: Option<&str>,
    charset: Option<&str>,
) -> PyResult<Bound<'p, PyDict>> {
    let Document { metadata, markdown, words } =
        document(python, html, url, whole, selector, charset)?.map_err(|error| refusal(&error))?;
    let page = PyDict::new(python);
    page.set_item("markdown", markdown)?;
    page.set_item("words", words)?;
    page.set_item("title", metadata.title)?;
    page.set_item("url", metadata.url)?;
    page.set_item("lang", metadata.lang)?;
    page.set_item("site_name", metadata.site_name)?;
    page.set_item("author", metadata.author)?;
    page.set_item("published", metadata.published)?;
    page.set_item("description", metadata.description)?;
    page.set_item("page_type", format!("{:?}", metadata.page_type).to_lowercase())?;
    page.set_item("confidence", metadata.confidence)?;
    Ok(page)
}

#[pymodule(name = "ragmaker_markdown")]
fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    module.add_function(wrap_pyfunction!(extract, module)?)?;
    module.add_function(wrap_pyfunction!(convert, module)?)
}
