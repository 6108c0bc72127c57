//! The scope of the server: its host options with absolute paths, and its working directory.

use std::{
    env,
    path::Path,
    time::{SystemTime, UNIX_EPOCH},
};

use ragmaker_project::{
    Project,
    variables::{CONVERSATION, PROJECT_ROOT},
};
use ragmaker_tool::{ARGUMENT_ERROR, Error, HostOptions};
use ragmaker_work_state::Conversation;

/// Makes the paths of `host` absolute and the project root the working directory, so that relative paths
/// in calls start there whichever process runs them.
pub(crate) fn restrict_to_scope(host: HostOptions) -> Result<HostOptions, Error> {
    let HostOptions { project_root, allow_root, kb_root, conversation, block_list, config, .. } = &host;
    let project_root = project_root.as_ref().map(|root| directory("--project-root", root)).transpose()?;
    let allowed = |root: &String| match root.strip_prefix("rw=") {
        Some(root) => Ok(format!("rw={}", directory("--allow-root", root)?)),
        None => directory("--allow-root", root),
    };
    let allow_root = allow_root.iter().map(allowed).collect::<Result<_, _>>()?;
    let kb_root = kb_root.iter().map(|root| directory("--kb-root", root)).collect::<Result<_, _>>()?;
    let block_list = block_list.iter().map(|list| file("--block-list", list)).collect::<Result<_, _>>()?;
    let config = config.as_ref().map(|config| file("--config", config)).transpose()?;
    let inherited = env::var(PROJECT_ROOT).ok().filter(|root| project_root.is_none() && !root.is_empty());
    let inherited = inherited.map(|root| directory(PROJECT_ROOT, &root)).transpose()?;
    if let Some(root) = project_root.as_ref().or(inherited.as_ref()) {
        start_at(Path::new(root))?;
    }
    let project = Project::discover(project_root.as_deref())?;
    let conversation = match conversation {
        None if env::var_os(CONVERSATION).is_none_or(|name| name.is_empty()) => own_conversation(),
        given => Conversation::named(&project, given.as_deref())?.name().to_owned(),
    };
    let conversation = Some(conversation);
    Ok(HostOptions { project_root, allow_root, kb_root, conversation, block_list, config, ..host })
}

/// The name of a conversation that no other server has.
fn own_conversation() -> String {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    format!("mcp-{}-{}", since.as_millis(), std::process::id())
}

/// The project's cache folder, which is created if necessary.
#[cfg(feature = "http")]
pub(crate) fn cache_folder(host: &HostOptions) -> Result<std::path::PathBuf, Error> {
    Project::discover(host.project_root.as_deref())?.create_cache_folder().map_err(|error| {
        ARGUMENT_ERROR
            .error(format!("the project's cache folder cannot be made: {error}"))
            .remedy("Name a file for the token with --token-file.")
            .detail("argument", "--token-file")
    })
}

/// The directory that `named` is, absolute and without links.
fn directory(argument: &str, named: &str) -> Result<String, Error> {
    place(argument, named, "directory", Path::is_dir)
}

/// The file that `named` is, absolute and without links.
fn file(argument: &str, named: &str) -> Result<String, Error> {
    place(argument, named, "file", Path::is_file)
}

fn place(argument: &str, named: &str, kind: &str, is: fn(&Path) -> bool) -> Result<String, Error> {
    let fail = |reason: String| {
        ARGUMENT_ERROR
            .error(format!("{argument} cannot be {named:?}: {reason}"))
            .remedy(format!("Name a {kind} that exists."))
            .detail("argument", argument)
            .detail("value", named)
    };
    let path = ragmaker_fs::canonicalize(named).map_err(|error| fail(error.to_string()))?;
    if !is(&path) {
        return Err(fail(format!("it is not a {kind}")));
    }
    path.into_os_string().into_string().map_err(|_| fail("it is not UTF-8".to_owned()))
}

fn start_at(root: &Path) -> Result<(), Error> {
    env::set_current_dir(root).map_err(|error| {
        ARGUMENT_ERROR
            .error(format!("{} cannot be the working directory: {error}", root.display()))
            .detail("argument", "--project-root")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_of_the_host_are_absolute_and_of_their_kind() {
        let folder = tempfile::tempdir().unwrap();
        let file_path = folder.path().join("list.txt");
        std::fs::write(&file_path, "").unwrap();
        let named = |path: &Path| path.to_str().unwrap().to_owned();
        let with_points = named(&folder.path().join("x/..").join("."));
        std::fs::create_dir(folder.path().join("x")).unwrap();
        let real = named(&folder.path().canonicalize().unwrap());
        assert_eq!(directory("--kb-root", &with_points).unwrap(), real);
        for (result, reason) in [
            (directory("--kb-root", &named(&file_path)), "it is not a directory"),
            (file("--config", &real), "it is not a file"),
            (file("--config", &named(&folder.path().join("none"))), "No such file"),
        ] {
            let error = result.unwrap_err();
            assert!(error.is(ARGUMENT_ERROR) && error.message().contains(reason), "{error}");
        }
    }
}
