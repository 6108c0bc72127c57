//! HTML to Markdown, compared with other converters: quality, speed, memory, and pages that are made to be slow.

use std::{
    fs,
    path::{Path, PathBuf},
    process::{Command, Stdio},
    time::{Duration, Instant},
};

use anyhow::{Context, ensure};
use serde_json::Value;

use super::{
    harness::{median, verdict},
    memory::peak,
};
use crate::{
    cargo::cargo,
    process::{quiet, root, ticking},
    python::environment,
};

/// The most memory: so many times the page, and so many bytes.
const MEMORY: (u64, u64) = (10, 10_000_000);

/// The maximum number of pages that are kept in memory at once.
const IN_MEMORY: usize = 120;

pub(super) fn run(pages: Option<&Path>, every: usize) -> anyhow::Result<()> {
    let built = build()?;
    let folder = root().join("target/bench/markdown");
    fs::create_dir_all(&folder)?;
    let python = python()?;
    let files = match pages {
        Some(pages) => unpacked(&python, pages, &folder)?,
        None => site()?,
    };
    let mut compared = Command::new(python);
    compared.arg(root().join("xtask/src/bench/markdown.py")).arg(&built.tool).arg(built.example("peers"));
    match pages {
        Some(pages) => compared.arg(pages).arg(every.to_string()),
        None => compared.args(&files),
    };
    let output = ticking("converting with seven converters", || compared.stderr(Stdio::null()).output())?;
    ensure!(output.status.success(), "the comparison failed: {}", output.status);
    let rows: Vec<Value> =
        String::from_utf8(output.stdout)?.lines().map(serde_json::from_str).collect::<Result<_, _>>()?;
    let table = table(&rows);
    println!("\n{table}");
    if pages.is_some() {
        write_table(&table)?;
    }
    let some = files.iter().step_by(files.len().div_ceil(IN_MEMORY).max(1));
    let status = Command::new(built.example("throughput")).args(some).status()?;
    ensure!(status.success(), "the pages in memory: {status}");
    let hostile = hostile(&folder)?;
    memory(&built.tool, &files, &hostile)?;
    doubled(&built.tool, &hostile)
}

struct BuiltPrograms {
    tool: PathBuf,
    examples: PathBuf,
}

impl BuiltPrograms {
    fn example(&self, name: &str) -> PathBuf {
        self.examples.join(format!("{name}{}", std::env::consts::EXE_SUFFIX))
    }
}

fn build() -> anyhow::Result<BuiltPrograms> {
    let release = ["build", "--release", "--locked", "--target-dir", "target", "-p"];
    let build = |rest: &[&str]| quiet("building for release", cargo(&release).args(rest));
    build(&["ragmaker-html-to-markdown"])?;
    build(&["ragmaker-markdown", "--example", "peers", "--example", "throughput"])?;
    let folder = root().join("target/release");
    let tool = folder.join(format!("ragmaker-html-to-markdown{}", std::env::consts::EXE_SUFFIX));
    Ok(BuiltPrograms { tool, examples: folder.join("examples") })
}

/// The Python of an environment with the converters that are written in it.
pub(super) fn python() -> anyhow::Result<PathBuf> {
    let folder = root().join("target/bench/markdown/python");
    environment(&folder, "xtask/src/bench/markdown_requirements.txt", &[])
}

/// The pages of a folder as files that are not compressed.
fn unpacked(python: &Path, pages: &Path, folder: &Path) -> anyhow::Result<Vec<PathBuf>> {
    let out = folder.join("pages");
    fs::create_dir_all(&out)?;
    let script = "import glob, gzip, os, sys\n\
        for path in glob.glob(os.path.join(sys.argv[1], 'pages', '*.html.gz')):\n    \
        open(os.path.join(sys.argv[2], os.path.basename(path)[:-3]), 'wb').write(gzip.open(path).read())";
    quiet("unpacking the pages", Command::new(python).args(["-c", script]).arg(pages).arg(&out))?;
    html_files(&out)
}

/// The pages of the site that the tests visit, small as they are.
pub(super) fn site() -> anyhow::Result<Vec<PathBuf>> {
    html_files(&root().join("tests/site/wiki"))
}

fn html_files(folder: &Path) -> anyhow::Result<Vec<PathBuf>> {
    let entries = fs::read_dir(folder).with_context(|| format!("cannot read {}", folder.display()))?;
    let mut files: Vec<PathBuf> = entries.map(|entry| entry.map(|entry| entry.path())).collect::<Result<_, _>>()?;
    files.retain(|path| path.extension().is_some_and(|extension| extension == "html"));
    files.sort();
    ensure!(!files.is_empty(), "{} has no pages", folder.display());
    Ok(files)
}

fn table(rows: &[Value]) -> String {
    let trafilatura = rows.iter().find(|row| row["name"].as_str().is_some_and(|name| name.starts_with("trafilatura")));
    let base = trafilatura.and_then(|row| row["median_ms"].as_f64()).unwrap_or(f64::NAN);
    let pages = rows.first().map_or(0, |row| row["pages"].as_u64().unwrap_or(0));
    let header = format!(
        "| {pages} pages | F1 | mean of kinds | with | without | median ms | speed |\n|---|---:|---:|---:|---:|---:|---:|\n"
    );
    let line = |row: &Value| {
        let share = |key: &str| row[key].as_f64().map_or("–".to_owned(), |share| format!("{share:.3}"));
        let name = row["name"].as_str().unwrap_or_default();
        let ms = row["median_ms"].as_f64().unwrap_or(f64::NAN);
        let shares = ["f1", "macro", "with", "without"].map(share).join(" | ");
        format!("| {name} | {shares} | {ms:.1} | {:.1}x |\n", base / ms)
    };
    header + &rows.iter().map(line).collect::<String>()
}

/// Puts the table where README.md has its place.
fn write_table(table: &str) -> anyhow::Result<()> {
    let path = root().join("README.md");
    let readme = fs::read_to_string(&path)?;
    Ok(fs::write(path, with_table(&readme, table)?)?)
}

/// `readme` with `table` in place of the one that it has.
fn with_table(readme: &str, table: &str) -> anyhow::Result<String> {
    const BEGIN: &str = "<!-- cargo xtask bench markdown -->\n";
    const END: &str = "<!-- end -->";
    let (before, rest) = readme.split_once(BEGIN).context("README.md has no place for the table")?;
    let (_, after) = rest.split_once(END).context("README.md has no end of the table")?;
    Ok(format!("{before}{BEGIN}\n{table}\n{END}{after}"))
}

/// A page written to be slow.
struct HostilePage {
    name: &'static str,
    path: PathBuf,
    /// The page, twice as large.
    twice: PathBuf,
}

/// Writes the hostile pages: about two megabytes each, and twice that.
fn hostile(folder: &Path) -> anyhow::Result<Vec<HostilePage>> {
    let shapes = [
        ("nested elements", "<div>", "x"),
        ("unclosed <b>", "<b>x ", ""),
        ("overlapping tags", "<b><p>x</b>y</p>", ""),
        ("nested lists", "<ul><li>x", ""),
        ("nested quotes", "<blockquote>x", ""),
        ("nested tables", "<table><tr><td>x", ""),
        ("a row of cells", "<td>x", ""),
        ("rows", "<tr><td>a<td>b", ""),
        ("links to footnotes", "<a id=a href=#a>1</a>", ""),
        ("brackets", "[![", ""),
        ("backticks", "`` ` <code>`</code>", ""),
        ("emphasis", "<i>*</i><b>_</b>", ""),
        ("open comments", "<!-- ", ""),
        ("references", "&amp;&am&#x41;", ""),
        ("attributes", "<p a=b class='x y' ", ">x"),
        ("scripts", "<script>a</script>x", ""),
        ("line breaks", "x<br><br>", ""),
        ("one long word", "abcdefghij", ""),
    ];
    let mut pages = vec![];
    for (at, (name, part, end)) in shapes.into_iter().enumerate() {
        let write = |size: usize| {
            let path = folder.join(format!("hostile-{at}-{size}.html"));
            let lead = if part.starts_with("<t") && !part.contains("<table") { "<table>" } else { "<p>" };
            fs::write(&path, format!("{lead}{}{end}", part.repeat(size / part.len()))).map(|()| path)
        };
        pages.push(HostilePage { name, path: write(2_000_000)?, twice: write(4_000_000)? });
    }
    Ok(pages)
}

/// Prints the most memory that real and hostile pages take, beside what they may.
fn memory(tool: &Path, files: &[PathBuf], hostile: &[HostilePage]) -> anyhow::Result<()> {
    let mut by_size: Vec<&PathBuf> = files.iter().collect();
    by_size.sort_by_key(|path| std::cmp::Reverse(fs::metadata(path).map_or(0, |data| data.len())));
    let spread = by_size.iter().step_by(by_size.len().div_ceil(20).max(1));
    let real: Vec<_> = by_size.iter().take(10).chain(spread).map(|path| ("a page", path.as_path())).collect();
    let hostile: Vec<_> = hostile.iter().map(|page| (page.name, page.path.as_path())).collect();
    println!("\n| memory: the most, of ten times the page and 10 MB | goal |\n|---|---|");
    for pages in [real, hostile] {
        let mut used = vec![];
        for (name, path) in pages {
            let size = fs::metadata(path)?.len();
            let mut command = Command::new(tool);
            command.args(["--raw", "--path"]).arg(path);
            // A page without text is refused, which is not a measurement.
            let Ok(Some(peak)) = peak(&mut command) else { continue };
            let allowed = MEMORY.0 * size + MEMORY.1;
            let [size, peak, allowed] = [size, peak, allowed].map(|bytes| bytes as f64 / 1e6);
            used.push((peak / allowed, format!("{name} of {size:.1} MB: {peak:.1} MB of {allowed:.1}")));
        }
        used.sort_by(|a, b| b.0.total_cmp(&a.0));
        for (share, line) in used.iter().take(4) {
            println!("| {line} | {} |", verdict(*share <= 1.0));
        }
    }
    Ok(())
}

/// Prints how the time grows where a hostile page doubles.
fn doubled(tool: &Path, hostile: &[HostilePage]) -> anyhow::Result<()> {
    println!("\n| hostile page | ms for 2 MB | ms for 4 MB | growth | goal |\n|---|---:|---:|---:|---|");
    for page in hostile {
        let mut growth = vec![];
        let (mut once, mut twice) = (vec![], vec![]);
        for _ in 0..3 {
            let (small, large) = (converted(tool, &page.path)?, converted(tool, &page.twice)?);
            once.push(small.as_secs_f64() * 1e3);
            twice.push(large.as_secs_f64() * 1e3);
            growth.push(large.as_secs_f64() / small.as_secs_f64());
        }
        let growth = median(growth.into_iter());
        println!(
            "| {} | {:.0} | {:.0} | {growth:.1}x | about 2x: {} |",
            page.name,
            median(once.into_iter()),
            median(twice.into_iter()),
            verdict(growth < 3.0)
        );
    }
    Ok(())
}

fn converted(tool: &Path, page: &Path) -> anyhow::Result<Duration> {
    let mut command = Command::new(tool);
    command.args(["--raw", "--path"]).arg(page).stdout(Stdio::null()).stderr(Stdio::null());
    let start = Instant::now();
    let status = command.status()?;
    ensure!(matches!(status.code(), Some(0 | 1)), "{}: {status}", page.display());
    Ok(start.elapsed())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn speed_is_relative_to_trafilatura() {
        let ours =
            json!({"name": "ours", "pages": 7, "f1": 0.9, "macro": 0.8, "with": 1, "without": 0.5, "median_ms": 2.0});
        let rows = [ours, json!({"name": "trafilatura 2.0", "pages": 7, "median_ms": 30.04})];
        let expected = "| 7 pages | F1 | mean of kinds | with | without | median ms | speed |\n\
            |---|---:|---:|---:|---:|---:|---:|\n\
            | ours | 0.900 | 0.800 | 1.000 | 0.500 | 2.0 | 15.0x |\n\
            | trafilatura 2.0 | – | – | – | – | 30.0 | 1.0x |\n";
        assert_eq!(table(&rows), expected);
    }

    #[test]
    fn the_table_of_the_readme_is_replaced() {
        let readme = fs::read_to_string(root().join("README.md")).unwrap();
        let once = with_table(&readme, "| a |\n").unwrap();
        assert!(once.contains("<!-- cargo xtask bench markdown -->\n\n| a |\n\n<!-- end -->"));
        assert_eq!(with_table(&once, "| a |\n").unwrap(), once);
        // The text around it stays.
        let (first, last) = (readme.lines().next().unwrap(), readme.lines().last().unwrap());
        assert!(once.starts_with(first) && once.trim_end().ends_with(last));
        assert!(with_table("<!-- cargo xtask bench markdown -->\n", "").is_err() && with_table("", "").is_err());
    }
}
