//! The commands that are not tools, as people see them.

/// A command that is not a tool.
pub(crate) struct Command {
    /// The name, as in `ragmaker NAME`.
    pub(crate) name: &'static str,
    /// The arguments, for people.
    pub(crate) hint: &'static str,
    /// Its purpose, in a few words.
    pub(crate) purpose: &'static str,
}

const fn command(name: &'static str, hint: &'static str, purpose: &'static str) -> Command {
    Command { name, hint, purpose }
}

/// The workflows of the agent.
pub(crate) const WORKFLOWS: [Command; 2] = [
    command("rag", "SOURCE", "gather a knowledge base from a site, a repository or a folder"),
    command("ask", "QUESTION", "answer from the knowledge bases of the project"),
];

/// The programs that serve tools to a model. Each is also an executable of its own.
pub(crate) const HOSTS: [Command; 4] = [
    command("agent", "[REQUEST]", "run the terminal agent: one request, or a conversation"),
    command("mcp", "", "serve the tools to an agent over the Model Context Protocol"),
    command("discover", "", "print the tools as function declarations"),
    command("call", "TOOL", "run a tool with JSON arguments from standard input"),
];

/// The commands of `ragmaker` itself.
pub(crate) const OWN: [Command; 6] = [
    command("setup", "", "find or install Chromium, ChromeDriver and pdftotext"),
    command("doctor", "", "check everything that the tools need, and advise"),
    command("connect", "CLIENT", "set up gemini, claude, codex, opencode, vscode, cursor or zed"),
    command("link", "--dir DIR", "create links, so that each tool can be called by its own name"),
    command("completions", "SHELL", "print completions for bash, zsh, fish or powershell"),
    command("man", "[COMMAND]", "print a man page"),
];

/// Every command that is not a tool.
pub(crate) fn all() -> impl Iterator<Item = &'static Command> {
    WORKFLOWS.iter().chain(&HOSTS).chain(&OWN)
}
