//! `bench`: measures speed, size and memory together with other programs, in one run.

mod agent;
mod agent_clients;
mod baseline;
mod batch;
mod browser;
mod catalog;
mod files;
mod harness;
mod ingest;
mod markdown;
mod mcp;
mod memory;
mod page;
mod peers;
mod pipeline;
mod search;
mod start;

use std::path::PathBuf;

use argh::FromArgs;

use crate::{
    cargo::cargo,
    process::{quiet, root},
};

/// Compare the tools with other programs: medians, ratios and goals.
#[derive(FromArgs)]
#[argh(subcommand, name = "bench", help_triggers("-h", "--help"))]
pub(crate) struct Arguments {
    #[argh(subcommand)]
    what: Benchmark,
}

#[derive(FromArgs)]
#[argh(subcommand)]
enum Benchmark {
    Agent(Agent),
    Batch(Batch),
    Start(Start),
    Browser(Browser),
    Catalog(Catalog),
    Files(Files),
    Ingest(Ingest),
    Markdown(Markdown),
    Mcp(Mcp),
    Pipeline(Pipeline),
    Page(Page),
    Search(Search),
}

/// the agent beside the clients of target/clients: start to first request, steps, memory, size
#[derive(FromArgs)]
#[argh(subcommand, name = "agent", help_triggers("-h", "--help"))]
struct Agent {}

/// start-up time and size of the executables, beside cat
#[derive(FromArgs)]
#[argh(subcommand, name = "start", help_triggers("-h", "--help"))]
struct Start {}

/// many pages in one call: a thousand with hostile ones among them, and eight tabs beside one
#[derive(FromArgs)]
#[argh(subcommand, name = "batch", help_triggers("-h", "--help"))]
struct Batch {
    /// measure only this part (may be given more than once): pages or tabs; both by default
    #[argh(option)]
    part: Vec<batch::Part>,
}

/// navigation and extraction, beside the browser's own time and other programs
#[derive(FromArgs)]
#[argh(subcommand, name = "browser", help_triggers("-h", "--help"))]
struct Browser {
    /// folder of saved pages of the web, pages/*.html.gz and truth.jsonl.gz, to measure as well: requests to other
    /// sites are never answered
    #[argh(option)]
    pages: Option<PathBuf>,
    /// use only every Nth of them (default: 1)
    #[argh(option, default = "1")]
    every: usize,
    /// measure only this part (may be given more than once): plain, act, noise, documentation or saved; all by
    /// default
    #[argh(option)]
    part: Vec<browser::Part>,
}

/// an append to the catalog, beside writing the same bytes; then writers that are killed
#[derive(FromArgs)]
#[argh(subcommand, name = "catalog", help_triggers("-h", "--help"))]
struct Catalog {}

/// the file tools, beside cat, tail, ls and ripgrep
#[derive(FromArgs)]
#[argh(subcommand, name = "files", help_triggers("-h", "--help"))]
struct Files {}

/// office documents beside markitdown, a folder of a repository of 70 MB, a section of a site beside other crawlers
#[derive(FromArgs)]
#[argh(subcommand, name = "ingest", help_triggers("-h", "--help"))]
struct Ingest {
    /// measure only this part (may be given more than once): office, repository or crawl; all by default
    #[argh(option)]
    part: Vec<ingest::Part>,
}

/// HTML to Markdown, beside other converters; then memory, and pages that are made to be slow
#[derive(FromArgs)]
#[argh(subcommand, name = "markdown", help_triggers("-h", "--help"))]
struct Markdown {
    /// folder of real pages with truth.jsonl.gz (format: xtask/src/bench/markdown.py); with it, quality is
    /// measured and README.md's table is written (default: the pages of the tests' site, speed only)
    #[argh(option)]
    pages: Option<PathBuf>,
    /// use only every Nth page (default: 1)
    #[argh(option, default = "1")]
    every: usize,
}

/// the server of the Model Context Protocol: start, calls, memory, and 1,000 calls at 16 at once
#[derive(FromArgs)]
#[argh(subcommand, name = "mcp", help_triggers("-h", "--help"))]
struct Mcp {}

/// streams of pages: pages a second beside trafilatura and resiliparse, and whether they keep the Markdown of single
/// calls and their memory
#[derive(FromArgs)]
#[argh(subcommand, name = "pipeline", help_triggers("-h", "--help"))]
struct Pipeline {
    /// folder of real pages, as for the benchmark markdown (default: the pages of the tests' site)
    #[argh(option)]
    pages: Option<PathBuf>,
    /// measure only this part (may be given more than once): speed, equal or memory; all by default
    #[argh(option)]
    part: Vec<pipeline::Part>,
}

/// the page of a knowledge base in Chromium: its size, how long it takes to open, and a key in its search
#[derive(FromArgs)]
#[argh(subcommand, name = "page", help_triggers("-h", "--help"))]
struct Page {
    /// file of documents and questions, as for search; may be repeated (default: the pages of the tests' site)
    #[argh(option)]
    set: Vec<PathBuf>,
}

/// ranked search beside qmd's: quality, time of a query, first index, update, size
#[derive(FromArgs)]
#[argh(subcommand, name = "search", help_triggers("-h", "--help"))]
struct Search {
    /// file of documents and questions (format: xtask/src/bench/search.rs); may be repeated (default: the
    /// pages of the tests' site, and the questions of the search's test)
    #[argh(option)]
    set: Vec<PathBuf>,
    /// use only every Nth question (default: 1)
    #[argh(option, default = "1")]
    every: usize,
    /// write each document N times, to see how time grows (default: 1)
    #[argh(option, default = "1")]
    copies: usize,
}

pub(crate) fn run(arguments: &Arguments) -> anyhow::Result<()> {
    match &arguments.what {
        Benchmark::Agent(Agent {}) => agent::run(),
        Benchmark::Batch(Batch { part }) => batch::run(part),
        Benchmark::Start(Start {}) => start::run(),
        Benchmark::Browser(Browser { pages, every, part }) => browser::run(pages.as_deref(), *every, part),
        Benchmark::Catalog(Catalog {}) => catalog::run(),
        Benchmark::Files(Files {}) => files::run(),
        Benchmark::Ingest(Ingest { part }) => ingest::run(part),
        Benchmark::Markdown(Markdown { pages, every }) => markdown::run(pages.as_deref(), *every),
        Benchmark::Mcp(Mcp {}) => mcp::run(),
        Benchmark::Pipeline(Pipeline { pages, part }) => pipeline::run(pages.as_deref(), part),
        Benchmark::Page(Page { set }) => page::run(set),
        Benchmark::Search(Search { set, every, copies }) => search::run(set, *every, *copies),
    }
}

/// The package and the executable of a tool. `ragmaker`, which contains all of them, has no further name.
fn executable(tool: &str) -> String {
    if tool == "ragmaker" { tool.to_owned() } else { format!("ragmaker-{tool}") }
}

/// Builds the executables of `tools` as they are released, and returns their folder.
fn release_build(tools: &[&str]) -> anyhow::Result<PathBuf> {
    let mut build = cargo(&["build", "--release", "--locked", "--bins", "--target-dir", "target"]);
    for tool in tools {
        build.arg("--package").arg(executable(tool));
    }
    quiet("building the executables for release", &mut build)?;
    Ok(root().join("target/release"))
}
