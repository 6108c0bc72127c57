//! Records the URLs that come on standard input in the catalog that the argument names.
//!
//! Each URL is printed once its entry is in the catalog: whoever reads it may rely on it. After it
//! stands how many nanoseconds that took.

use std::{
    io::{self, BufRead, Write},
    time::{Duration, Instant},
};

use ragmaker_catalog::{Catalog, Entry};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let catalog = Catalog::at(std::env::args_os().nth(1).ok_or("usage: append CATALOG < URLS")?)?;
    append(&catalog, |url, took| format!("{url} {}", took.as_nanos()))
}

pub(crate) fn append(
    catalog: &Catalog,
    acknowledgement: impl Fn(&str, Duration) -> String,
) -> Result<(), Box<dyn std::error::Error>> {
    for url in io::stdin().lock().lines() {
        let url = url?;
        let name = url.rsplit('/').next().unwrap_or("index");
        let entry = Entry::new(&url, name, catalog.file().with_file_name(format!("{name}.md")));
        let started = Instant::now();
        catalog.record(&entry)?;
        writeln!(io::stdout().lock(), "{}", acknowledgement(&url, started.elapsed()))?;
    }
    Ok(())
}
