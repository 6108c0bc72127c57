//! Records the URLs that come on standard input in the catalog that the argument names.
//!
//! Each URL is printed once its entry is on disk: whoever reads it may rely on it.

use std::io::{self, BufRead, Write};

use ragmaker_catalog::{Catalog, Entry};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let catalog = Catalog::at(std::env::args_os().nth(1).ok_or("usage: append CATALOG < URLS")?)?;
    append(&catalog)
}

pub(crate) fn append(catalog: &Catalog) -> Result<(), Box<dyn std::error::Error>> {
    for url in io::stdin().lock().lines() {
        let url = url?;
        let name = url.rsplit('/').next().unwrap_or("index");
        catalog.record(&Entry::new(&url, name, catalog.file().with_file_name(format!("{name}.md"))))?;
        writeln!(io::stdout().lock(), "{url}")?;
    }
    Ok(())
}
