//! `dist` and `package`: the release archive, and the packages for crates.io. A package of its own makes
//! both, so that other tasks start sooner. It has the definitions of their arguments.

use argh::FromArgs;

use crate::{cargo::cargo, process::run_visibly};

/// The tasks whose arguments another program parses, which also prints their help.
const FORWARDED: [&str; 2] = ["dist", "package"];

/// Build the release archive in target/dist, and with --deb a Debian package.
#[derive(FromArgs)]
#[argh(subcommand, name = "dist")]
pub(crate) struct Dist {
    /// the arguments of xtask-dist
    #[argh(positional)]
    pub(crate) words: Vec<String>,
}

/// Package every crate that can be published, in target/package.
#[derive(FromArgs)]
#[argh(subcommand, name = "package")]
pub(crate) struct Package {
    /// the arguments of the program package
    #[argh(positional)]
    pub(crate) words: Vec<String>,
}

/// Ends the options of a forwarded task in the command line, so that all that follows is a word.
pub(crate) fn end_options(words: &mut Vec<&str>) {
    if words.first().is_some_and(|task| FORWARDED.contains(task)) {
        words.insert(1, "--");
    }
}

pub(crate) fn dist(words: &[String]) -> anyhow::Result<()> {
    run("xtask-dist", words)
}

pub(crate) fn package(words: &[String]) -> anyhow::Result<()> {
    run("package", words)
}

fn run(program: &str, words: &[String]) -> anyhow::Result<()> {
    let dist = ["run", "--quiet", "--locked", "--package", "xtask-dist", "--bin", program, "--"];
    run_visibly(cargo(&dist).args(words))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_arguments_of_a_forwarded_task_are_words() {
        let mut words = vec!["dist", "--help", "--twice"];
        end_options(&mut words);
        let dist = Dist::from_args(&["cargo xtask", "dist"], &words[1..]).unwrap();
        assert_eq!(dist.words, ["--help", "--twice"]);
        let mut others = vec!["demo", "--help"];
        end_options(&mut others);
        assert_eq!(others, ["demo", "--help"]);
    }
}
