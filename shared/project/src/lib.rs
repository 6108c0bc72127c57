//! The project root, the cache folder, the layout of a knowledge base, and the environment variables.
//!
//! All tools, hosts and the browser use these functions, so all of them use the same folders, from any subfolder of a
//! project.
//!
//! ```
//! let project = ragmaker_project::Project::discover(Some("."))?;
//! assert!(project.cache_folder().starts_with(project.root()));
//! # Ok::<(), ragmaker_tool::Error>(())
//! ```

mod broad_roots;
mod cache;
pub mod chrome_for_testing;
pub mod knowledge_base;
mod output;
pub mod programs;
mod project;
pub mod secrets;
pub mod variables;

pub use cache::{
    BROWSER_PROFILE, BROWSER_PROFILES, COMMANDS, CONFIGURATION, CONVERSATIONS, MCP_TOKEN, create_cache_folder,
    create_private, is_of_sessions, user_cache_folder,
};
pub use output::OutputFile;
pub use project::{Candidate, ERRORS, Environment, MARKERS, Project, ROOT_NOT_USABLE, ROOT_TOO_BROAD, RootSource};
pub use variables::{VARIABLES, Variable};
