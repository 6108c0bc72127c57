//! Where Chromium and ChromeDriver are: the environment, PATH, the usual places.

use std::{env, path::PathBuf};

use crate::process::on_path;

/// Names the browser's executable, before all other places.
pub(crate) const CHROMIUM: &str = "RAGMAKER_CHROMIUM";
/// Names the driver's executable, before all other places.
pub(crate) const CHROMEDRIVER: &str = "RAGMAKER_CHROMEDRIVER";

pub(crate) fn chromium() -> Option<PathBuf> {
    let names = ["chromium", "chromium-browser", "google-chrome-stable", "google-chrome", "chrome"];
    let places = [
        "/snap/bin/chromium",
        "/usr/lib/chromium/chromium",
        "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
        "/Applications/Chromium.app/Contents/MacOS/Chromium",
        r"C:\Program Files\Google\Chrome\Application\chrome.exe",
        r"C:\Program Files (x86)\Google\Chrome\Application\chrome.exe",
    ];
    find(CHROMIUM, &names, &places)
}

pub(crate) fn chromedriver() -> Option<PathBuf> {
    let places = [
        "/usr/lib/chromium-browser/chromedriver",
        "/usr/lib/chromium/chromedriver",
        "/snap/bin/chromium.chromedriver",
        "/opt/homebrew/bin/chromedriver",
        "/usr/local/bin/chromedriver",
    ];
    find(CHROMEDRIVER, &["chromedriver"], &places)
}

fn find(variable: &str, names: &[&str], places: &[&str]) -> Option<PathBuf> {
    let given = env::var_os(variable).filter(|path| !path.is_empty()).map(PathBuf::from);
    given
        .or_else(|| names.iter().find_map(|name| on_path(name)))
        .or_else(|| places.iter().map(PathBuf::from).find(|path| path.is_file()))
}
