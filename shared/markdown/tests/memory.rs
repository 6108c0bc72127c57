//! The memory of a conversion: at most ten times the page and ten megabytes, for any page.

#![cfg(target_os = "linux")]

use std::{env, process::Command};

use ragmaker_markdown::{Options, Scope, convert};

/// The size of every page here.
const SIZE: usize = 600_000;

/// The allowed memory beyond ten times the page, without that of the executable.
const BESIDE: usize = 6_000_000;

/// The environment variable with the part that a page consists of, for a process that converts this page alone.
const PART: &str = "MEMORY_TEST_PART";

/// The maximum memory that this process has held so far, in bytes.
fn peak() -> usize {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
    line.trim().strip_suffix(" kB").unwrap().parse::<usize>().unwrap() * 1024
}

/// Each page is converted by a process of its own: the peak of this one would include what the allocator keeps of the
/// pages before.
#[test]
fn memory_is_bounded_by_the_size_of_the_page() {
    if let Ok(part) = env::var(PART) {
        return check(&part);
    }
    for part in [
        "<p>a",
        "<td>1",
        "<li>a",
        "<b>",
        "<b>x ",
        "a<br>",
        "<ul><li>x",
        "<blockquote><p>a",
        "<tr><td colspan=64><td>x",
        "<p id=a1>x<a href=#a1>1</a>",
        "<b><p>x</b>y</p>",
        "<p>word word word word word",
        "<p a b c d ",
        "<a href=x>y</a>",
        "<noscript>a</noscript>",
        "<script>",
        "<script type=application/json>[\"a b c d e f g h i.\"]</script>",
        "<script type=application/ld+json>[1,1,1,1,1]</script>",
        "<svg><text>a</text></svg>",
        "<svg><text>a",
        "&amp;",
    ] {
        let mut run = Command::new(env::current_exe().unwrap());
        run.args(["--exact", "memory_is_bounded_by_the_size_of_the_page", "--nocapture"]).env(PART, part);
        let output = run.output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    }
}

/// Converts a page that repeats `part`.
fn check(part: &str) {
    // Memory of the program and of the model does not belong to a page.
    let _ = convert("<h1>a</h1><p>b <i>c</i><table><tr><td>d<td>e</table>", &Options::default());
    let start = peak();
    let page = format!("<p>{}<p>the end", part.repeat(SIZE / part.len()));
    let found = convert(&page, &Options { base_url: None, scope: Scope::Main });
    // A tag that is most of the page exceeds the limit of the tokenizer, and nothing after it is read.
    let is_read = found.is_ok_and(|page| page.markdown.contains("the end"));
    assert!(is_read || part.starts_with("<p a b") || part == "<script>", "the end of {part}");
    let taken = peak() - start;
    assert!(taken <= 10 * SIZE + BESIDE, "{taken} bytes for {SIZE} of {part}");
}
