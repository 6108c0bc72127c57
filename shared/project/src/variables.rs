//! The table of this project's environment variables.
//!
//! Code uses the constants of the names. Documents and configurations are generated from [`VARIABLES`].

/// An environment variable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Variable {
    /// Its name.
    pub name: &'static str,
    /// The meaning of its value.
    pub meaning: &'static str,
    /// The default.
    pub default: &'static str,
}

/// The project root.
pub const PROJECT_ROOT: &str = "RAGMAKER_PROJECT_ROOT";
/// Directories outside the project that may be read or written.
pub const ALLOWED_ROOTS: &str = "RAGMAKER_ALLOWED_ROOTS";
/// Knowledge bases outside the project that may be read.
pub const KB_ROOTS: &str = "RAGMAKER_KB_ROOTS";
/// Whether a home or a directory of the system may be a root.
pub const ALLOW_BROAD_ROOTS: &str = "RAGMAKER_ALLOW_BROAD_ROOTS";
/// Hosts that pages may be opened from.
pub const ALLOWED_DOMAINS: &str = "RAGMAKER_ALLOWED_DOMAINS";
/// Filter lists that hold for the requests of pages.
pub const BLOCK_LISTS: &str = "RAGMAKER_BLOCK_LISTS";
/// The list of the downloads of Chrome for Testing.
pub const CHROME_FOR_TESTING_URL: &str = "RAGMAKER_CHROME_FOR_TESTING_URL";
/// The Chromium executable.
pub const CHROMIUM: &str = "RAGMAKER_CHROMIUM";
/// The WebDriver endpoint whose browsers are used.
pub const WEBDRIVER_URL: &str = "RAGMAKER_WEBDRIVER_URL";
/// Which browser is used.
pub const BROWSER: &str = "RAGMAKER_BROWSER";
/// The Firefox executable.
pub const FIREFOX: &str = "RAGMAKER_FIREFOX";
/// The geckodriver executable.
pub const GECKODRIVER: &str = "RAGMAKER_GECKODRIVER";
/// The `ChromeDriver` executable.
pub const CHROMEDRIVER: &str = "RAGMAKER_CHROMEDRIVER";
/// Whether JSON is printed in ASCII.
pub const ASCII_JSON: &str = "RAGMAKER_ASCII_JSON";
/// The log of operations.
pub const LOG: &str = "RAGMAKER_LOG";
/// The provider of the model.
pub const PROVIDER: &str = "RAGMAKER_PROVIDER";
/// The model's name.
pub const MODEL: &str = "RAGMAKER_MODEL";
/// The root of the model's provider.
pub const BASE_URL: &str = "RAGMAKER_BASE_URL";
/// The name of the variable that contains the key of the model's provider.
pub const API_KEY_ENV: &str = "RAGMAKER_API_KEY_ENV";
/// The endpoint of embeddings.
pub const EMBED_URL: &str = "RAGMAKER_EMBED_URL";
/// The name of its model.
pub const EMBED_MODEL: &str = "RAGMAKER_EMBED_MODEL";
/// The name of the variable that holds its key.
pub const EMBED_API_KEY_ENV: &str = "RAGMAKER_EMBED_API_KEY_ENV";
/// Whether the agent logs what it does.
pub const DEBUG: &str = "RAGMAKER_DEBUG";
/// Which calls run without approval.
pub const APPROVE: &str = "RAGMAKER_APPROVE";
/// The conversation whose notes a call uses.
pub const CONVERSATION: &str = "RAGMAKER_CONVERSATION";
/// The browser profile that a process works for.
pub const BROWSER_PROFILE: &str = "RAGMAKER_BROWSER_PROFILE";
/// The layers that a confined process found, and the place for its report.
pub const CONFINE_LAYERS: &str = "RAGMAKER_CONFINE_LAYERS";
/// The layers of confinement that are taken as missing.
pub const CONFINE_WITHOUT: &str = "RAGMAKER_CONFINE_WITHOUT";
/// The weights of the extraction model.
pub const WEIGHTS: &str = "RAGMAKER_WEIGHTS";

/// The variables that configure the tools, in alphabetical order.
pub const VARIABLES: &[Variable] = &[
    Variable {
        name: ALLOWED_DOMAINS,
        meaning: "Hosts whose pages may be opened, including subdomains; separated by commas.",
        default: "every host",
    },
    Variable {
        name: ALLOWED_ROOTS,
        meaning: "Directories outside the project that the file tools may read, separated as in PATH; rw=DIR may be written too.",
        default: "none",
    },
    Variable {
        name: ALLOW_BROAD_ROOTS,
        meaning: "1 allows a home directory, / or a system directory as a root.",
        default: "0: they are refused",
    },
    Variable {
        name: API_KEY_ENV,
        meaning: "The name of the variable that holds the key of the model's provider.",
        default: "the provider's own variable",
    },
    Variable {
        name: APPROVE,
        meaning: "Which calls run without approval: ask, read, never or all.",
        default: "ask; without a terminal never",
    },
    Variable {
        name: ASCII_JSON,
        meaning: "1 escapes all non-ASCII characters in the printed JSON.",
        default: "0: UTF-8",
    },
    Variable {
        name: BASE_URL,
        meaning: "The root of the model's provider, with or without /v1.",
        default: "the provider's own",
    },
    Variable {
        name: BLOCK_LISTS,
        meaning: "Filter lists in Adblock Plus syntax, separated as in PATH. Matching requests are blocked.",
        default: "none",
    },
    Variable {
        name: BROWSER,
        meaning: "chromium or firefox: the browser that opens the pages. docs/firefox.md lists the limitations of Firefox.",
        default: "chromium",
    },
    Variable {
        name: CHROMEDRIVER,
        meaning: "The ChromeDriver executable.",
        default: "downloaded by `ragmaker setup`, else found on PATH",
    },
    Variable {
        name: CHROME_FOR_TESTING_URL,
        meaning: "The list from which `ragmaker setup` downloads Chrome for Testing, such as that of a mirror that sends `x-goog-hash`.",
        default: "the list of its publisher",
    },
    Variable {
        name: CHROMIUM,
        meaning: "The Chromium or Chrome executable.",
        default: "downloaded by `ragmaker setup`, else found on PATH and where installers put it",
    },
    Variable {
        name: CONVERSATION,
        meaning: "The conversation whose notes `think` and `work` keep; a name of letters, digits, - and _.",
        default: "default",
    },
    Variable {
        name: DEBUG,
        meaning: "1 logs requests, answers and decisions of the agent, without keys.",
        default: "0: no log",
    },
    Variable {
        name: EMBED_API_KEY_ENV,
        meaning: "The name of the variable that holds the key of the embeddings endpoint.",
        default: "no key is sent",
    },
    Variable {
        name: EMBED_MODEL,
        meaning: "The model of the embeddings endpoint.",
        default: "search.embed_model of ragmaker.toml",
    },
    Variable {
        name: EMBED_URL,
        meaning: "An embeddings endpoint in OpenAI's format; a search then also ranks by meaning.",
        default: "search.embed_url of ragmaker.toml, else none: a search ranks by words",
    },
    Variable {
        name: FIREFOX,
        meaning: "The Firefox executable.",
        default: "found on PATH and where installers put it",
    },
    Variable { name: GECKODRIVER, meaning: "The geckodriver executable.", default: "found on PATH" },
    Variable {
        name: KB_ROOTS,
        meaning: "Knowledge bases outside the project that the file tools may read, separated as in PATH.",
        default: "none: a knowledge base is recognised by its catalog.json",
    },
    Variable {
        name: LOG,
        meaning: "A file to which every call of a tool appends one line of JSON: tool, operation, path or URL, sizes, duration, error code.",
        default: "no log",
    },
    Variable { name: MODEL, meaning: "The model's name.", default: "model.name of ragmaker.toml" },
    Variable {
        name: PROJECT_ROOT,
        meaning: "The project root: relative paths and .tmp/cache start there.",
        default: "the nearest directory upwards with .git, .ragmaker, Cargo.toml or the like, else the working directory",
    },
    Variable {
        name: PROVIDER,
        meaning: "The provider of the model: gemini, openai, azure, anthropic or compatible.",
        default: "model.provider of ragmaker.toml, else gemini",
    },
    Variable {
        name: WEBDRIVER_URL,
        meaning: "A WebDriver endpoint, such as a Selenium Grid, whose browsers open the pages: http://HOST:PORT, with user name and password before the host if the server requires them.",
        default: "a browser of this machine",
    },
];

/// The variables that only the project's own processes and its training set.
pub const INTERNAL: &[Variable] = &[
    Variable {
        name: BROWSER_PROFILE,
        meaning: "Marks the processes of a browser session with the profile that they work for.",
        default: "not set",
    },
    Variable {
        name: CONFINE_LAYERS,
        meaning: "Tells a process that confines itself what was set up before.",
        default: "not set",
    },
    Variable {
        name: CONFINE_WITHOUT,
        meaning: "Layers of confinement that are taken as missing, for tests: namespaces, landlock, seccomp.",
        default: "none: every layer that the kernel has is used",
    },
    Variable {
        name: WEIGHTS,
        meaning: "A file with weights of the extraction model that are to be evaluated in training.",
        default: "the weights in the executable",
    },
];

#[cfg(test)]
mod tests {
    use super::*;
    use std::{collections::BTreeSet, fs, path::Path};

    #[test]
    fn names_are_unique_and_sorted() {
        let names: Vec<_> = VARIABLES.iter().map(|variable| variable.name).collect();
        assert!(names.is_sorted(), "{names:?}");
        let all: BTreeSet<_> = VARIABLES.iter().chain(INTERNAL).map(|variable| variable.name).collect();
        assert_eq!(all.len(), VARIABLES.len() + INTERNAL.len());
    }

    #[test]
    fn every_variable_that_the_sources_name_is_in_the_table() {
        let mut unknown = vec![];
        let top = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        let mut folders: Vec<_> = ["shared", "tools", "registry"].map(|name| top.join(name)).to_vec();
        while let Some(folder) = folders.pop() {
            for path in fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path()) {
                if path.is_dir() && !path.ends_with("tests") && !path.ends_with("target") {
                    folders.push(path);
                } else if path.extension().is_some_and(|extension| extension == "rs") {
                    let text = fs::read_to_string(&path).unwrap();
                    for (at, _) in text.match_indices("RAGMAKER_") {
                        let rest = &text[at..];
                        let end = rest.find(|c: char| !c.is_ascii_uppercase() && c != '_').unwrap_or(rest.len());
                        let name = rest[..end].trim_end_matches('_');
                        let is_known = VARIABLES.iter().chain(INTERNAL).any(|variable| variable.name == name);
                        if name != "RAGMAKER" && !is_known {
                            unknown.push(format!("{}: {name}", path.display()));
                        }
                    }
                }
            }
        }
        assert!(unknown.is_empty(), "{unknown:#?}");
    }
}
