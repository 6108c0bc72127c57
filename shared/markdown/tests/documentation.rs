//! The toolchain's own documentation, which rustdoc and mdBook wrote (`rustup component add rust-docs`).

use std::{
    path::{Path, PathBuf},
    process::Command,
};

use ragmaker_markdown::{Options, convert};
use url::Url;

/// Some of the pages of a book or a crate.
fn pages(folder: &Path, every: usize) -> Vec<PathBuf> {
    let (mut folders, mut pages) = (vec![folder.to_owned()], vec![]);
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "html") {
                pages.push(path);
            }
        }
    }
    pages.sort();
    pages.into_iter().step_by(every).collect()
}

#[test]
fn headings_and_code_of_the_toolchains_documentation_are_clean() {
    let root = Command::new("rustc").args(["--print", "sysroot"]).output().unwrap().stdout;
    let root = Path::new(String::from_utf8(root).unwrap().trim()).join("share/doc/rust/html");
    if !root.is_dir() {
        eprintln!("not run: the toolchain has no component rust-docs");
        return;
    }
    for (name, every) in [("book", 1), ("std", 40)] {
        let (mut headings, mut linked, mut code, mut named) = (0, 0, 0, 0);
        for path in pages(&root.join(name), every) {
            let base = Url::from_file_path(&path).unwrap();
            let html = std::fs::read_to_string(&path).unwrap();
            let Ok(page) = convert(&html, &Options { base_url: Some(&base), ..Options::default() }) else { continue };
            let mut in_code = false;
            for line in page.markdown.lines() {
                if let Some(language) = line.trim_start_matches(['>', ' ', '-']).strip_prefix("```") {
                    in_code = !in_code;
                    code += usize::from(in_code);
                    named += usize::from(in_code && !language.is_empty());
                } else if !in_code && line.starts_with('#') {
                    headings += 1;
                    linked += usize::from(line.contains(&format!("]({base}#")));
                }
            }
        }
        assert!(headings > 500 && code > 300, "{name}: {headings} headings, {code} blocks of code");
        assert_eq!(linked, 0, "{name}: headings that lead to themselves");
        assert!(named * 100 >= code * 98, "{name}: {named} of {code} blocks of code name their language");
    }
}
