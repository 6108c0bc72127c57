//! The functions of programming languages and their libraries, by what they do.

/// Functions that delete a file or a folder.
pub(super) const DELETE: [&str; 24] = [
    "rmtree",
    "rmdir",
    "removedirs",
    "unlink",
    "remove",
    "remove_tree",
    "rm",
    "rm_r",
    "rm_rf",
    "rm_f",
    "remove_dir",
    "remove_entry",
    "remove_entry_secure",
    "delete",
    "rmSync",
    "rmdirSync",
    "unlinkSync",
    "removeSync",
    "emptyDirSync",
    "emptyDir",
    "rimraf",
    "rimrafSync",
    "safe_unlink",
    "unlink_r",
];
/// Functions that move a file or a folder.
pub(super) const MOVE: [&str; 6] = ["rename", "renames", "renameSync", "move", "mv", "replace"];
/// Functions whose first argument is a file that they write.
pub(super) const WRITE: [&str; 9] = [
    "writeFile",
    "writeFileSync",
    "appendFile",
    "appendFileSync",
    "createWriteStream",
    "file_put_contents",
    "writeTextFile",
    "writeTextFileSync",
    "truncate",
];
/// Methods of a path that write its file.
pub(super) const WRITE_SELF: [&str; 3] = ["write_text", "write_bytes", "touch"];
/// Functions that copy a file to their second argument.
pub(super) const COPY: [&str; 10] =
    ["copy", "copyfile", "copy2", "copytree", "copyFileSync", "cp", "cpSync", "symlink", "symlinkSync", "link"];
/// Functions that run a command.
pub(super) const RUN: [&str; 26] = [
    "system",
    "popen",
    "Popen",
    "call",
    "check_call",
    "check_output",
    "run",
    "getoutput",
    "getstatusoutput",
    "exec",
    "execSync",
    "execFile",
    "execFileSync",
    "spawn",
    "spawnSync",
    "shell_exec",
    "passthru",
    "proc_open",
    "execv",
    "execvp",
    "execve",
    "execl",
    "execlp",
    "spawnl",
    "spawnvp",
    "execute",
];
/// Functions that change permissions.
pub(super) const OPEN: [&str; 6] = ["chmod", "chown", "chmodSync", "chownSync", "chmod_R", "chown_R"];
/// Functions and types that return their arguments, as paths or texts.
pub(super) const SAME: [&str; 17] = [
    "Path",
    "PurePath",
    "PosixPath",
    "Pathname",
    "str",
    "String",
    "abspath",
    "realpath",
    "normpath",
    "resolve",
    "expanduser",
    "expand_path",
    "expandvars",
    "glob",
    "iglob",
    "fspath",
    "list",
];
/// The modules of functions that other objects have as well, such as the `remove` of a list.
const MODULES: [&str; 14] = [
    "os",
    "shutil",
    "fs",
    "fsp",
    "promises",
    "Deno",
    "Bun",
    "File",
    "Dir",
    "FileUtils",
    "IO",
    "subprocess",
    "Kernel",
    "child_process",
];

/// The functions that need a module before their name.
const COMMON: [&str; 10] = ["remove", "delete", "rm", "move", "replace", "copy", "call", "run", "execute", "link"];

/// Functions that run code of the same language.
const EVALUATE: [&str; 6] = ["eval", "instance_eval", "class_eval", "runInThisContext", "runInNewContext", "Function"];

/// Functions that return the module that they are given.
pub(super) const IMPORT: [&str; 4] = ["__import__", "import_module", "require", "import"];

/// The names of arguments that are paths, commands or modes.
pub(super) const ARGUMENTS: [&str; 13] = [
    "args",
    "path",
    "cmd",
    "command",
    "file",
    "filename",
    "name",
    "mode",
    "src",
    "dst",
    "target",
    "source",
    "destination",
];

/// Whether a function that may stand alone, such as `remove`, is the one of a module, and not a method of another
/// object. `module` is the name before it.
pub(super) fn is_of_module(last: &str, module: &str) -> bool {
    !COMMON.contains(&last) || MODULES.contains(&module) || (module.is_empty() && last != "delete")
}

/// Whether the function `last` runs code of the same language.
pub(super) fn evaluates(last: &str, is_python: bool, is_alone: bool) -> bool {
    EVALUATE.contains(&last) || (last == "exec" && is_python) || (is_alone && ["load", "loadstring"].contains(&last))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_that_lists_have_as_well_counts_for_a_module_only() {
        for (last, module, expected) in [
            ("remove", "os", true),
            ("remove", "", true),
            ("remove", "items", false),
            ("delete", "File", true),
            ("delete", "", false),
            ("rmtree", "anything", true),
            ("run", "subprocess", true),
            ("run", "app", false),
        ] {
            assert_eq!(is_of_module(last, module), expected, "{module}.{last}");
        }
    }

    #[test]
    fn code_is_evaluated_by_these_functions() {
        assert!(evaluates("eval", false, false) && evaluates("exec", true, false) && evaluates("load", false, true));
        assert!(!evaluates("exec", false, true) && !evaluates("load", false, false) && !evaluates("print", true, true));
    }
}
