//! Trust in the project's own configuration, which the author of the project wrote.
//!
//! A person confirms once where an API key is sent, which programs are started and which calls run without approval.

use ragmaker_config::{Config, Origin};
use ragmaker_model::CANCELLED;
use ragmaker_tool::{Code, Error};

use crate::{
    sanitize,
    terminal::{Line, Terminal},
};

/// The project's own files set what a person has to confirm.
pub(crate) const CONFIG_NOT_TRUSTED: Code = Code::new(
    "CONFIG_NOT_TRUSTED",
    "Read the project's ragmaker.toml and .env. Then start ragmaker-agent once at a terminal, which asks about them, or name the file with --config.",
);

/// Has a person confirm what the project's files widen.
///
/// # Errors
///
/// [`CONFIG_NOT_TRUSTED`] where nobody did; [`CANCELLED`].
pub(crate) fn confirm(config: &Config, terminal: &mut Terminal) -> Result<(), Error> {
    if config.is_confirmed() {
        return Ok(());
    }
    let widened = config.to_confirm();
    let names = widened.iter().map(|(name, _)| *name).collect::<Vec<_>>().join(", ");
    let refused = || {
        CONFIG_NOT_TRUSTED
            .error(format!("the project's own files set {names}, which nobody has confirmed"))
            .detail("keys", widened.iter().map(|(name, _)| *name).collect::<Vec<_>>())
    };
    if !terminal.is_there() {
        return Err(refused());
    }
    terminal.say(&format!("The files of {} set:", config.root().display()));
    for (name, origin) in &widened {
        terminal.say(&format!("  {name} ({})", sanitize::visible(&place(origin))));
    }
    terminal.say(
        "They decide where keys and documents are sent, or which programs run. Trust them only if you know who wrote them.",
    );
    match terminal.line("trust these settings? [y] yes  [n] no  ? ") {
        Line::Text(text) if ["y", "yes"].contains(&text.trim().to_lowercase().as_str()) => {
            config.confirm();
            Ok(())
        }
        Line::Interrupted => Err(CANCELLED.error("the question about the project's files was interrupted")),
        _ => Err(refused()),
    }
}

fn place(origin: &Origin) -> String {
    match origin {
        Origin::File { path, line, .. } => format!("{}, line {line}", path.display()),
        Origin::Environment { name, .. } => format!("{name} in .env"),
        Origin::Default | Origin::Flag => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use ragmaker_config::Options;
    use ragmaker_testkit::{folder, write};

    use super::*;

    #[test]
    fn what_the_project_widens_needs_a_person() {
        let (_holder, root) = folder("project");
        let confirmed = || {
            let options = Options { user_folder: Some(root.join("user")), ..Options::default() };
            confirm(&Config::load(&root, &options).unwrap(), &mut Terminal::absent())
        };
        assert!(confirmed().is_ok(), "nothing is set");
        write(&root, "ragmaker.toml", "[agent]\nmax_steps = 3\n");
        assert!(confirmed().is_ok(), "a limit is harmless");
        write(&root, "ragmaker.toml", "[model]\nbase_url = \"https://evil.example\"\n");
        let error = confirmed().unwrap_err();
        assert!(error.is(CONFIG_NOT_TRUSTED), "{error}");
        assert_eq!(error.details()["keys"], serde_json::json!(["model.base_url"]));
        assert!(!root.join("user").exists(), "nobody confirmed it");
    }

    #[test]
    fn the_place_of_a_setting_is_named() {
        let file = Origin::File { path: "/p/ragmaker.toml".into(), line: 3, in_project: true };
        assert_eq!(place(&file), "/p/ragmaker.toml, line 3");
    }
}
