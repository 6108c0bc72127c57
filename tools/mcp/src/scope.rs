//! Where the server works: the project and the knowledge bases of all its calls.

use std::{
    env,
    path::Path,
    process::{Command, ExitStatus},
};

use ragmaker_tool::{ARGUMENT_ERROR, Error, INTERNAL_ERROR};

const PROJECT_ROOT: &str = "RAGMAKER_PROJECT_ROOT";
const KB_ROOTS: &str = "RAGMAKER_KB_ROOTS";

/// What the command line says of it.
pub(crate) struct Scope<'a> {
    pub(crate) project_root: Option<&'a str>,
    pub(crate) kb_roots: &'a [String],
}

impl Scope<'_> {
    /// Makes it hold for this process and all that it starts: the tools read it from their
    /// environment, wherever they run.
    ///
    /// A process can not safely change its own environment, so one that has to starts itself again,
    /// in its own place, before it does anything else.
    pub(crate) fn enter(&self) -> Result<(), Error> {
        let root = self.project_root.map(|root| directory("--project-root", root)).transpose()?;
        let mut bases = vec![];
        for base in self.kb_roots {
            bases.push(directory("--kb-root", base)?);
        }
        if root.is_none() && bases.is_empty() {
            let named = env::var(PROJECT_ROOT).ok().filter(|root| !root.is_empty());
            return named.map_or(Ok(()), |root| start_at(Path::new(&directory(PROJECT_ROOT, &root)?)));
        }
        if let Some(inherited) = env::var_os(KB_ROOTS).filter(|roots| !roots.is_empty()) {
            bases.extend(env::split_paths(&inherited).filter_map(|path| path.into_os_string().into_string().ok()));
        }
        let program = env::current_exe().map_err(|error| INTERNAL_ERROR.error(format!("no way to itself: {error}")))?;
        let mut again = Command::new(program);
        again.args(rest());
        if let Some(root) = &root {
            again.env(PROJECT_ROOT, root);
        }
        if !bases.is_empty() {
            let bases = env::join_paths(&bases).map_err(|error| {
                ARGUMENT_ERROR.error(format!("--kb-root can not be used: {error}")).detail("argument", "--kb-root")
            })?;
            again.env(KB_ROOTS, bases);
        }
        let status = replaced_by(&mut again)?;
        std::process::exit(status.code().unwrap_or(1));
    }
}

/// The command line without what becomes the environment.
fn rest() -> impl Iterator<Item = String> {
    let mut arguments = env::args().skip(1);
    std::iter::from_fn(move || {
        loop {
            let argument = arguments.next()?;
            match argument.as_str() {
                "--project-root" | "--kb-root" => drop(arguments.next()),
                _ if argument.starts_with("--project-root=") || argument.starts_with("--kb-root=") => {}
                _ => return Some(argument),
            }
        }
    })
}

/// The directory that `named` is, absolute and without links.
fn directory(argument: &str, named: &str) -> Result<String, Error> {
    let fail = |reason: String| {
        ARGUMENT_ERROR
            .error(format!("{argument} can not be {named:?}: {reason}"))
            .remedy("Name a directory that exists.")
            .detail("argument", argument)
            .detail("value", named)
    };
    let path = Path::new(named).canonicalize().map_err(|error| fail(error.to_string()))?;
    if !path.is_dir() {
        return Err(fail("it is no directory".to_owned()));
    }
    path.into_os_string().into_string().map_err(|_| fail("it is not UTF-8".to_owned()))
}

/// Makes relative paths start at `root`.
fn start_at(root: &Path) -> Result<(), Error> {
    env::set_current_dir(root).map_err(|error| {
        ARGUMENT_ERROR
            .error(format!("{} can not be worked in: {error}", root.display()))
            .detail("argument", "--project-root")
    })
}

fn replaced_by(command: &mut Command) -> Result<ExitStatus, Error> {
    #[cfg(unix)]
    let outcome = Err(std::os::unix::process::CommandExt::exec(command));
    #[cfg(not(unix))]
    let outcome = command.status();
    outcome.map_err(|error: std::io::Error| INTERNAL_ERROR.error(format!("can not start itself again: {error}")))
}
