//! The browser tools on a plain page of 500 links: with an open browser compared with Chromium's own load time, without
//! a session compared with `chromium --dump-dom`, and both compared with agent-browser if npm has it. Then real pages.

mod act;
mod pages;

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
    str::FromStr,
    time::Duration,
};

use ragmaker_packages::Browser;
use ragmaker_tests::site::Site;

use super::{
    baseline::{self, Baseline},
    harness::{Subject, compare, verdict},
    memory,
    peers::{AgentBrowser, PlaywrightCli, done},
    release_build,
};
use crate::{process::root, setup};

const WARM_ROUNDS: usize = 30;
const COLD_ROUNDS: usize = 10;

/// The time that a browser continues painting after a page.
const PAUSE: Duration = Duration::from_millis(150);

/// The maximum memory that a tool may hold.
const MEMORY: u64 = 8_000_000;

/// The script with which agent-browser lists a page's links in few bytes.
const LINKS: &str = "JSON.stringify([...document.querySelectorAll('a[href]')].map(a => [a.innerText, a.href]))";

/// A part of the measurement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Part {
    /// A page of links, cold and warm.
    Plain,
    /// Steps in an open page.
    Act,
    /// Pages with noise that does not end.
    Noise,
    /// The toolchain's documentation.
    Documentation,
    /// Saved pages of the web.
    Saved,
}

impl FromStr for Part {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        Ok(match name {
            "plain" => Self::Plain,
            "act" => Self::Act,
            "noise" => Self::Noise,
            "documentation" => Self::Documentation,
            "saved" => Self::Saved,
            _ => return Err("it is plain, act, noise, documentation or saved".to_owned()),
        })
    }
}

/// Measures `parts`, or all parts if none is named; with `saved`, also every `every`th of the saved pages in that
/// folder.
pub(crate) fn run(saved: Option<&Path>, every: usize, parts: &[Part]) -> anyhow::Result<()> {
    let programs = setup::programs()?;
    let tools =
        ["browser-open", "browser-navigate", "browser-extract", "browser-act", "browser-close", "html-to-markdown"];
    let built = release_build(&tools)?;
    let folder = root().join("target/bench/browser");
    fs::create_dir_all(&folder)?;
    let site = Site::start();
    let bench = Bench { built, page: site.url("/links/500"), site, folder, programs };
    let wants = |part| parts.is_empty() || parts.contains(&part);
    if wants(Part::Plain) {
        bench.cold()?;
    }
    bench.warm(saved.map(|folder| (folder, every)), wants)
}

struct Bench {
    /// The folder with the executables.
    built: PathBuf,
    /// The page that every subject loads.
    page: String,
    site: Site,
    /// The folder for profiles, documents and the catalog.
    folder: PathBuf,
    programs: Browser,
}

impl Bench {
    fn cold(&self) -> anyhow::Result<()> {
        // With a browser of an earlier run, the start would not be cold.
        done(&mut self.tool("close", &[]))?;
        let mut dump = Command::new(&self.programs.chromium);
        dump.args(baseline::flags(&self.folder.join("dump-dom"))).arg("--dump-dom").arg(&self.page);
        let subjects = vec![
            Subject::process("chromium --dump-dom", dump, 0),
            Subject::process("browser-navigate, no session", self.navigate(), 0).at_most(1.5),
        ];
        compare("cold", 1, COLD_ROUNDS, PAUSE, subjects).map(drop)
    }

    fn warm(&self, saved: Option<(&Path, usize)>, wants: impl Fn(Part) -> bool) -> anyhow::Result<()> {
        let baseline = Baseline::start(&self.programs, &self.folder.join("baseline"))?;
        let peer = AgentBrowser::find(&self.folder, &self.programs.chromium);
        if let Err(error) = &peer {
            println!("agent-browser is left out: {error:#}");
        }
        let cli = PlaywrightCli::find(&self.folder, &self.programs.chromium);
        if let Err(error) = &cli {
            println!("@playwright/cli is left out: {error:#}");
        }
        done(&mut self.tool("open", &[]))?;
        let measured = self.warm_parts(&baseline, (peer.as_ref().ok(), cli.as_ref().ok()), saved, wants);
        done(&mut self.tool("close", &[]))?;
        measured
    }

    fn warm_parts(
        &self,
        baseline: &Baseline,
        (peer, cli): (Option<&AgentBrowser>, Option<&PlaywrightCli>),
        saved: Option<(&Path, usize)>,
        wants: impl Fn(Part) -> bool,
    ) -> anyhow::Result<()> {
        if wants(Part::Plain) {
            self.warm_rounds(baseline, peer, cli)?;
            self.memory()?;
        }
        if wants(Part::Act) {
            act::run(self, baseline, peer, cli)?;
        }
        if wants(Part::Noise) {
            pages::noise(self)?;
        }
        if wants(Part::Documentation) {
            pages::documentation(self, baseline, peer)?;
        }
        if let Some((folder, every)) = saved.filter(|_| wants(Part::Saved)) {
            pages::saved(self, peer, folder, every)?;
        }
        Ok(())
    }

    fn warm_rounds(
        &self,
        baseline: &Baseline,
        peer: Option<&AgentBrowser>,
        cli: Option<&PlaywrightCli>,
    ) -> anyhow::Result<()> {
        let output = self.folder.join("kb/cache/documents");
        let mut extract = self.tool("extract", &["--url", &self.page]);
        extract.arg("--output-dir").arg(output).arg("--kb-root").arg(self.folder.join("kb"));
        let both = [self.navigate(), extract];
        let mut subjects = vec![
            Subject::new("Chromium: navigation to load", || baseline.load(&self.page)),
            Subject::process("browser-navigate", self.navigate(), 0).at_most(1.5),
            Subject::processes("browser-navigate, then browser-extract", both).at_most(1.85),
        ];
        if let Some(peer) = peer {
            let open = peer.command(&["open", &self.page]);
            let links = peer.command(&["eval", LINKS]);
            subjects.push(Subject::processes(format!("{} open, then links", peer.version), [open, links]));
        }
        if let Some(cli) = cli {
            let open = cli.command(&["goto", &self.page]);
            let links = cli.command(&["eval", &format!("() => {LINKS}")]);
            subjects.push(Subject::processes(format!("{} goto, then links", cli.version), [open, links]));
        }
        let ratios = compare("warm", 3, WARM_ROUNDS, PAUSE, subjects)?;
        let names = peer.map(|peer| &peer.version).into_iter().chain(cli.map(|cli| &cli.version));
        for (name, ratio) in names.zip(&ratios[3..]) {
            println!("browser-navigate faster than {name}: {}\n", verdict(ratios[1] < *ratio));
        }
        Ok(())
    }

    /// Prints the most memory that a warm navigation holds.
    fn memory(&self) -> anyhow::Result<()> {
        let mut peak = None;
        for _ in 0..5 {
            peak = peak.max(memory::peak(&mut self.navigate())?);
        }
        match peak {
            Some(peak) => {
                let (measured, goal) = (peak as f64 / 1e6, MEMORY / 1_000_000);
                println!(
                    "memory of browser-navigate: {measured:.1} MB at most, goal under {goal} MB: {}",
                    verdict(peak < MEMORY)
                );
            }
            None => println!("memory of browser-navigate: not measured, for this system has no /proc"),
        }
        Ok(())
    }

    fn navigate(&self) -> Command {
        self.tool("navigate", &["--url", &self.page])
    }

    fn tool(&self, name: &str, arguments: &[&str]) -> Command {
        let mut tool = Command::new(self.built.join(format!("ragmaker-browser-{name}")));
        tool.args(arguments).current_dir(&self.folder).env("RAGMAKER_PROJECT_ROOT", &self.folder);
        tool
    }
}
