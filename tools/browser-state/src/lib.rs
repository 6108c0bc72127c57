//! `ragmaker-browser-state`: takes the cookies and the local storage of a session to another one, or removes them.

mod netscape;

use std::{
    path::{Path, PathBuf},
    time::SystemTime,
};

use argh::{ArgsInfo, FromArgs};
use ragmaker_browser::{RestrictedSession, StorageState, codes, cookies_by_domain};
use ragmaker_files::{InputError, output_file, read_session_file};
use ragmaker_tool::{
    ARGUMENT_ERROR, Annotations, Budget, Code, Error, Invocation, Isolation, JsonSchema, Tool, choice, host,
};
use serde::{Deserialize, Serialize};

/// The file is not a state of a browser session.
pub const STATE_NOT_READABLE: Code = Code::new(
    "STATE_NOT_READABLE",
    "Give a storageState file of Playwright, or a Netscape cookie file with --format netscape.",
);

/// The maximum size in bytes of a file.
const MAX_BYTES: u64 = 64 << 20;

/// List, clear or import the logins of a browser session: cookies and local storage. Values are never returned.
/// Returns how many cookies each domain has, and how many items each origin stores.
#[derive(FromArgs, ArgsInfo, Serialize, JsonSchema, Debug)]
#[argh(help_triggers("-h", "--help"))]
pub struct Args {
    /// write them to this file, readable only by its owner
    #[argh(option)]
    #[serde(skip)]
    pub export: Option<PathBuf>,
    /// import the logins of this file
    #[argh(option)]
    pub import: Option<PathBuf>,
    /// list stored domains and origins
    #[argh(switch)]
    pub list: bool,
    /// remove all cookies and local storage
    #[argh(switch)]
    pub clear: bool,
    /// format of the file: playwright, or netscape for cookies only
    #[argh(option, default = "StateFormat::Playwright", from_str_fn(choice))]
    pub format: StateFormat,
    /// name of the session
    #[argh(option)]
    pub session: Option<String>,
}

/// The form of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum StateFormat {
    /// JSON, as Playwright's `storageState`.
    Playwright,
    /// Cookies, as curl and wget keep them.
    Netscape,
}

/// The exported, imported, removed or stored state.
#[derive(Serialize, JsonSchema, Debug)]
pub struct Answer {
    /// With --export: the file's absolute path.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    /// The number of cookies that were exported, imported or removed, or that are stored.
    pub cookies: usize,
    /// The number of origins, counted in the same way.
    pub origins: usize,
    /// The cookies of each domain and the items of each origin, as many as fit.
    pub sites: Vec<Site>,
    /// Whether there are more sites.
    pub truncated: bool,
}

/// The state of a domain or an origin.
#[derive(Serialize, JsonSchema, Debug)]
pub struct Site {
    /// The domain of cookies, or the origin of items.
    pub site: String,
    /// The number of cookies.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cookies: Option<usize>,
    /// The number of items in local storage.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub items: Option<usize>,
}

impl Tool for Args {
    type Answer = Answer;
    const NAME: &'static str = env!("CARGO_PKG_NAME");
    const VERSION: &'static str = env!("CARGO_PKG_VERSION");
    const ANNOTATIONS: Annotations = Annotations::DESTRUCTIVE;
    const HOST_OPTIONS: &'static [&'static str] = host::GATHERING;
    const ISOLATION: Isolation = Isolation::Subprocess;
    // Of the command line alone: a model that reads files would read the values.
    const COMMAND_LINE_FLAGS: &'static [&'static str] = &["--export"];
    const ERRORS: &'static [&'static [Code]] = &[
        codes::SESSION_ERRORS,
        &[codes::BROWSER_LOST, codes::NAVIGATION_FAILED, codes::BLOCK_LIST_NOT_READABLE, STATE_NOT_READABLE],
        ragmaker_project::ERRORS,
        ragmaker_files::PATH_ERRORS,
        ragmaker_files::IO_ERRORS,
        &[ragmaker_files::NOT_A_REGULAR_FILE, ragmaker_files::PATH_NOT_WRITABLE],
    ];

    fn run(self, invocation: &Invocation) -> Result<Answer, Error> {
        let given = [self.export.is_some(), self.import.is_some(), self.list, self.clear];
        if given.into_iter().filter(|is_given| *is_given).count() != 1 {
            return Err(ARGUMENT_ERROR
                .error("give one of --import, --list and --clear, or --export on a command line")
                .detail("argument", "--list"));
        }
        let session = RestrictedSession::new(self.session.as_deref(), invocation)?;
        if let Some(path) = &self.export {
            let file = output_file(path, "--export", invocation)?;
            let mut state = session.state()?;
            let text = match self.format {
                StateFormat::Playwright => serde_json::to_string_pretty(&state).unwrap_or_default() + "\n",
                StateFormat::Netscape => {
                    state.origins.clear();
                    netscape::write(&state.cookies)
                }
            };
            file.write_secret(text.as_bytes())?;
            return Ok(answer(&state, Some(file.path())));
        }
        let state = match &self.import {
            Some(path) => {
                let mut state = read(path, self.format, invocation)?;
                // A browser takes an ended cookie as the order to remove the one of its name.
                state.cookies.retain(|cookie| !cookie.has_ended(SystemTime::now()));
                session.add_state(&state)?;
                state
            }
            None => session.state()?,
        };
        if self.clear {
            session.clear_state()?;
        }
        Ok(answer(&state, None))
    }
}

/// The state in the file at `path`. No error quotes the file.
fn read(path: &Path, format: StateFormat, invocation: &Invocation) -> Result<StorageState, Error> {
    let unreadable = |what: String| {
        STATE_NOT_READABLE.error(format!("{} {what}", path.display())).detail("path", path.to_string_lossy())
    };
    let text = read_session_file(path, invocation, MAX_BYTES).map_err(|reason| match reason {
        InputError::TooLarge(limit) => unreadable(format!("has more than {limit} bytes")),
        InputError::NotUtf8 => unreadable("is not UTF-8".to_owned()),
        reason => reason.into_error(path),
    })?;
    match format {
        StateFormat::Playwright => {
            // A list would be read as the fields of the state in their order.
            if !text.trim_start().starts_with('{') {
                return Err(unreadable("is not a storageState: it is not a JSON object".to_owned()));
            }
            let state: StorageState = serde_json::from_str(&text).map_err(|error| {
                unreadable(format!("is not a storageState: line {}, column {}", error.line(), error.column()))
            })?;
            let is_of_web = |origin: &str| ["http://", "https://"].iter().any(|scheme| origin.starts_with(scheme));
            if state.origins.iter().any(|storage| !is_of_web(&storage.origin)) {
                return Err(unreadable("has an origin that is neither http nor https".to_owned()));
            }
            Ok(state)
        }
        StateFormat::Netscape => match netscape::read(&text) {
            Ok(cookies) => Ok(StorageState { cookies, origins: vec![] }),
            Err(line) => Err(unreadable(format!("is not a cookie file: line {line}"))),
        },
    }
}

fn answer(state: &StorageState, path: Option<&Path>) -> Answer {
    let cookies = cookies_by_domain(&state.cookies);
    let domains =
        cookies.into_iter().map(|(site, count)| Site { site: site.to_owned(), cookies: Some(count), items: None });
    let origins = state.origins.iter().map(|origin| Site {
        site: origin.origin.clone(),
        cookies: None,
        items: Some(origin.local_storage.len()),
    });
    let sites: Vec<Site> = domains.chain(origins).collect();
    let total = sites.len();
    let mut answer = Answer {
        path: path.map(|path| path.to_string_lossy().into_owned()),
        cookies: state.cookies.len(),
        origins: state.origins.len(),
        sites: vec![],
        truncated: false,
    };
    answer.sites = Budget::for_frame(&answer).take_list(sites);
    answer.truncated = answer.sites.len() < total;
    answer
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_state_is_told_by_its_sites_and_never_by_its_values() {
        let cookie = |domain: &str, value: &str| {
            serde_json::json!({"name": "n", "value": value, "domain": domain, "path": "/", "expires": -1, "httpOnly": true,
                "secure": true, "sameSite": "Lax"})
        };
        let origins = serde_json::json!([{"origin": "https://x.example", "localStorage": [{"name": "token", "value": "secret-3"}]}]);
        let state = serde_json::json!({"cookies": [cookie(".x.example", "secret-1"), cookie("y.example", "secret-2")], "origins": origins});
        let state: StorageState = serde_json::from_value(state).unwrap();
        let answer = answer(&state, Some(Path::new("/project/state.json")));
        assert_eq!((answer.cookies, answer.origins, answer.sites.len(), answer.truncated), (2, 1, 3, false));
        let text = serde_json::to_string(&answer).unwrap();
        assert!(
            text.contains("y.example") && text.contains("/project/state.json") && !text.contains("secret"),
            "{text}"
        );
        let many = StorageState { cookies: vec![], origins: (0..5_000).map(|_| state.origins[0].clone()).collect() };
        let cut = super::answer(&many, None);
        assert!(cut.truncated && cut.sites.len() < 5_000 && cut.origins == 5_000);
    }
}
