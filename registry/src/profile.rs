//! The profiles: the tools for one kind of work, by a name that a host's `--profile` takes.

use ragmaker_tool::{ARGUMENT_ERROR, Error, ToolProfile};

use crate::{Tool, WORKFLOWS};

/// The tools for one kind of work. Each request sends the declarations of all offered tools to the model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Profile {
    /// The name, as `--profile` takes it.
    pub name: &'static str,
    tools: ProfileTools,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ProfileTools {
    /// Those whose definition names the profile.
    Of(ToolProfile),
    /// Those that the steps of the workflows call.
    OfWorkflows,
    All,
}

/// Every profile; the last is the default.
pub const PROFILES: [Profile; 6] = [
    Profile { name: "gather", tools: ProfileTools::Of(ToolProfile::Gather) },
    Profile { name: "fetch", tools: ProfileTools::Of(ToolProfile::Fetch) },
    Profile { name: "ask", tools: ProfileTools::Of(ToolProfile::Ask) },
    Profile { name: "files", tools: ProfileTools::Of(ToolProfile::Files) },
    Profile { name: "workflows", tools: ProfileTools::OfWorkflows },
    Profile { name: "all", tools: ProfileTools::All },
];

impl Profile {
    /// The profile of this name.
    ///
    /// # Errors
    ///
    /// [`ARGUMENT_ERROR`] if there is none.
    pub fn named(name: &str) -> Result<Self, Error> {
        PROFILES.into_iter().find(|profile| profile.name == name).ok_or_else(|| {
            let names = PROFILES.map(|profile| profile.name);
            let (last, others) = names.split_last().unwrap_or((&"", &[]));
            ARGUMENT_ERROR
                .error(format!("--profile cannot be {name:?}: expected {} or {last}", others.join(", ")))
                .remedy(format!("Choose one of {} and {last}.", others.join(", ")))
                .detail("argument", "--profile")
                .detail("value", name)
        })
    }

    /// Whether `tool` belongs to the profile. A tool that runs commands is added to every profile, and only if a person
    /// asked for it.
    pub fn has(&self, tool: &Tool) -> bool {
        !tool.runs_commands
            && match self.tools {
                ProfileTools::Of(profile) => tool.profiles.contains(&profile),
                ProfileTools::OfWorkflows => {
                    let name = tool.name();
                    WORKFLOWS.iter().any(|workflow| workflow.tools.contains(&name.as_str()))
                }
                ProfileTools::All => true,
            }
    }

    /// The names of its tools, such as `read_file`, in alphabetical order.
    pub fn tool_names(&self) -> Vec<String> {
        crate::TOOLS.iter().filter(|tool| self.has(tool)).map(Tool::name).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_profile_has_the_tools_of_its_work() {
        let names = |profile: &str| Profile::named(profile).unwrap().tool_names();
        let mut called: Vec<_> = WORKFLOWS.iter().flat_map(|workflow| workflow.tools).copied().collect();
        called.sort_unstable();
        called.dedup();
        assert_eq!(names("workflows"), called);
        assert!(names("gather").iter().any(|name| name == "browser_extract"));
        assert!(names("ask").iter().all(|name| name != "browser_extract"));
        assert_eq!(names("all").len(), crate::TOOLS.iter().filter(|tool| !tool.runs_commands).count());
        for profile in PROFILES {
            assert!(names(profile.name).iter().all(|name| name != "run_command"), "{}", profile.name);
        }
    }

    #[test]
    fn an_unknown_profile_is_answered_with_the_known_ones() {
        let error = Profile::named("most").unwrap_err();
        assert!(error.is(ARGUMENT_ERROR));
        assert_eq!(error.remediation(), "Choose one of gather, fetch, ask, files, workflows and all.");
    }
}
