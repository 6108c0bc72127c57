//! Documents from files of this machine.

use std::path::Path;

use ragmaker_files::Roots;
use ragmaker_ingest::{Run, Store};
use ragmaker_sources::{Folder, place};
use ragmaker_tool::{Caller, Error, Invocation};

use crate::failed;

/// Compares the documents at `urls`, which came from `folder`. A catalog may name any folder, so a model can refresh
/// only documents of folders that it may read.
pub(crate) fn refresh(
    folder: &str,
    urls: &[String],
    store: &mut Store<'_>,
    run: &mut Run,
    invocation: &Invocation,
) -> Result<(), Error> {
    let roots = Roots::discover(&invocation.host);
    if invocation.caller == Caller::Model {
        let allowed = match &roots {
            Ok(roots) => roots.place(folder).map(drop),
            Err(_) => Roots::discover(&invocation.host).map(drop),
        };
        if let Err(error) = allowed {
            return failed(urls, &error, run);
        }
    }
    let path = Path::new(folder);
    if let Err(error) = path.read_dir() {
        // It may be on a disk that is not there now: that takes nothing out.
        return failed(urls, &ragmaker_files::io_error(&error, path), run);
    }
    let place = place(path, roots.as_ref().ok());
    Folder { place, path: path.to_owned(), include: &[], exclude: &[], no_ignore: false }.refresh(urls, store, run)
}
