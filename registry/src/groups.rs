//! The tools in groups, for overviews that people read.

/// Tools for one purpose.
#[derive(Clone, Copy, Debug)]
pub struct Group {
    /// The purpose in a word, for an overview on one screen. Neighbours with the same one are shown as one group.
    pub label: &'static str,
    /// The purpose of the tools, as it follows "to".
    pub purpose: &'static str,
    /// The names of the tools, such as `read-file`.
    pub tools: &'static [&'static str],
}

/// Every tool, in the order of the work: gather, check, answer; then files and commands.
pub const GROUPS: [Group; 9] = [
    Group {
        label: "browse",
        purpose: "open and save pages in a real browser",
        tools: &[
            "browser-open",
            "browser-navigate",
            "browser-extract",
            "browser-look",
            "browser-act",
            "browser-state",
            "browser-close",
        ],
    },
    Group {
        label: "gather",
        purpose: "save without a browser: web pages, sections of sites, Git repositories, folders, HTML",
        tools: &["http-fetch", "github-fetch", "file-sync", "html-to-markdown"],
    },
    Group { label: "gather", purpose: "find pages", tools: &["web-search"] },
    Group {
        label: "keep",
        purpose: "describe, check, refresh, export and browse a knowledge base",
        tools: &[
            "entry-discovery",
            "enrich-discovery",
            "verify",
            "refresh-knowledge-base",
            "export-knowledge-base",
            "show-knowledge-base",
        ],
    },
    Group {
        label: "answer",
        purpose: "search a knowledge base; check the quotations of an answer",
        tools: &["search-knowledge-base", "cite"],
    },
    Group {
        label: "manage",
        purpose: "create and install a knowledge base; choose and open folders",
        tools: &[
            "create-knowledge-base",
            "install-knowledge-base",
            "init-cache",
            "cache-cleanup",
            "ask-directory",
            "open-directory",
        ],
    },
    Group {
        label: "read",
        purpose: "read and search files, including PDF and office files",
        tools: &["read-file", "read-many-files", "search-file-content", "find-files", "list-directory", "project-info"],
    },
    Group {
        label: "change",
        purpose: "change files; deleted files go to the trash",
        tools: &["write-file", "modify-file-content", "create-directory", "move", "delete-file", "delete-directory"],
    },
    Group {
        label: "other",
        purpose: "record reasoning and plans; run commands in a sandbox",
        tools: &["think", "work", "run-command"],
    },
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::TOOLS;

    #[test]
    fn every_tool_is_in_one_group() {
        let mut grouped: Vec<String> =
            GROUPS.iter().flat_map(|group| group.tools).map(|name| format!("ragmaker-{name}")).collect();
        grouped.sort();
        assert_eq!(grouped, TOOLS.iter().map(|tool| tool.command).collect::<Vec<_>>());
    }
}
