//! Texts in legacy encodings: every file tool reads a file in the same one.

use ragmaker_tests::run::{Output, Project};

/// The word alone is two ideographs in GBK; the files beside it show that it is Russian.
#[test]
fn a_short_text_is_read_in_the_encoding_of_the_files_beside_it() {
    let project = Project::new();
    let cyrillic = |text: &str| encoding_rs::WINDOWS_1251.encode(text).0.into_owned();
    let run = |name: &str, arguments: &[&str]| -> Output { project.tool(name).args(arguments).run() };
    for (folder, other, encoding, word) in
        [("alone", "", "GBK", "岳伤"), ("beside", "Это предложение на русском языке.\n", "windows-1251", "ФАЙЛ")]
    {
        let path = format!("{folder}/a.txt");
        let file = project.write(&path, cyrillic("ФАЙЛ\n"));
        project.write(&format!("{folder}/b.txt"), cyrillic(other));
        project.write(&format!("{folder}/c.md"), "# Tides\n");
        assert_eq!(run("read-file", &[&path]).answer()["encoding"], encoding);
        assert_eq!(run("read-many-files", &[&path]).answer()["files"][0]["encoding"], encoding);
        for searched in [folder, &path] {
            let found = run("search-file-content", &["--pattern", word, "--path", searched]);
            assert_eq!(found.answer()["total"], 1, "{searched}");
        }
        let written = run("write-file", &["--path", &path, "--content", word]);
        assert_eq!(written.answer()["encoding"], encoding);
        let change = ["--path", &path, "--old-text", word, "--new-text", &format!("{word}!")];
        assert_eq!(run("modify-file-content", &change).answer()["encoding"], encoding);
        assert_eq!(std::fs::read(&file).unwrap(), cyrillic("ФАЙЛ!\n"));
    }
}
