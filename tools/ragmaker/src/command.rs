//! The commands that are not tools, as people see them.

/// A command that is not a tool.
pub(crate) struct Command {
    /// The name, as in `ragmaker NAME`.
    pub(crate) name: &'static str,
    /// The arguments, for people.
    pub(crate) hint: &'static str,
    /// Its purpose, in at most 20 characters.
    pub(crate) purpose: &'static str,
}

const fn command(name: &'static str, hint: &'static str, purpose: &'static str) -> Command {
    Command { name, hint, purpose }
}

/// The workflows of the agent.
pub(crate) const WORKFLOWS: [Command; 2] =
    [command("rag", "SOURCE", "gather knowledge"), command("ask", "QUESTION", "answer from it")];

/// The programs that serve tools to a model. Each is also an executable of its own.
pub(crate) const HOSTS: [Command; 4] = [
    command("agent", "[REQUEST]", "start the agent"),
    command("mcp", "", "serve the tools"),
    command("discover", "", "list tools as JSON"),
    command("call", "TOOL", "run a tool with JSON"),
];

/// The commands of `ragmaker` itself.
pub(crate) const OWN: [Command; 6] = [
    command("setup", "", "install the browser"),
    command("doctor", "", "check everything"),
    command("connect", "CLIENT", "set up an agent"),
    command("link", "[--dir DIR]", "make links to tools"),
    command("completions", "SHELL", "complete commands"),
    command("man", "[COMMAND]", "print a man page"),
];

/// Every command that is not a tool.
pub(crate) fn all() -> impl Iterator<Item = &'static Command> {
    WORKFLOWS.iter().chain(&HOSTS).chain(&OWN)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_hosts_are_those_of_the_contract() {
        let executables = HOSTS.map(|command| format!("ragmaker-{}", command.name));
        let (mut here, mut there) = (executables.to_vec(), ragmaker_tool::HOSTS.to_vec());
        here.sort_unstable();
        there.sort_unstable();
        assert_eq!(here, there);
    }
}
