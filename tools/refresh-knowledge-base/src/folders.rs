//! Documents from files of this machine.

use std::path::Path;

use ragmaker_catalog::DocumentSource;
use ragmaker_files::{FILE_NOT_FOUND, PATH_NOT_ALLOWED, Roots};
use ragmaker_ingest::{PageResult, Run, Store};
use ragmaker_sources::{Folder, place};
use ragmaker_tool::{Error, Invocation};

use crate::failed;

/// Compares the documents at `urls`, which came from `folder`. A catalog may name any folder, so only documents of the
/// project and the allowed roots are refreshed.
pub(crate) fn refresh(
    folder: &str,
    urls: &[String],
    store: &mut Store<'_>,
    run: &mut Run,
    invocation: &Invocation,
) -> Result<(), Error> {
    let path = Path::new(folder);
    let roots = Roots::discover(&invocation.host)?;
    // For a folder that is not there, the error below says so.
    if let Err(error) = roots.place_or_missing(folder)
        && !error.is(FILE_NOT_FOUND)
    {
        if !error.is(PATH_NOT_ALLOWED) {
            return failed(urls, &error, run);
        }
        let reason =
            "only folders of the project and of the allowed roots are refreshed, because a catalog may name any";
        let remedy = format!("a person can allow it with --allow-root {folder}");
        let error = PATH_NOT_ALLOWED.error(format!("{reason}: {remedy}. {}", error.message()));
        return failed(urls, &error, run);
    }
    if let Err(error) = path.read_dir() {
        // It may be on a disk that is not there now: that takes nothing out.
        return failed(urls, &ragmaker_files::io_error(&error, path), run);
    }
    let mut allowed = vec![];
    for url in urls {
        let Some(DocumentSource::File { path: name, .. }) = store.known(url).and_then(|listed| listed.source.as_ref())
        else {
            continue;
        };
        // Such as a file with keys.
        match roots.place_or_missing(&path.join(name).to_string_lossy()) {
            Ok(_) => allowed.push(url.clone()),
            Err(error) if error.is(FILE_NOT_FOUND) => allowed.push(url.clone()),
            Err(error) => run.end(PageResult::failed(url, &error), ())?,
        }
    }
    let place = place(path, Some(&roots));
    Folder { place, path: path.to_owned(), include: &[], exclude: &[], no_ignore: false }.refresh(&allowed, store, run)
}
