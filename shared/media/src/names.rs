//! Text files by name: MIME type and language.
//!
//! A type is registered with IANA, or else `text/x-` with the name of the language.

use std::path::Path;

/// A kind of text file.
struct Kind {
    /// The usual name of the language.
    language: &'static str,
    mime_type: &'static str,
    /// File name extensions in lower case, and complete file names.
    names: &'static [&'static str],
}

const fn kind(language: &'static str, mime_type: &'static str, names: &'static [&'static str]) -> Kind {
    Kind { language, mime_type, names }
}

const KINDS: &[Kind] = &[
    kind("Text", "text/plain", &["txt", "text", "log", "LICENSE", "README"]),
    kind("Markdown", "text/markdown", &["md", "markdown", "mdx"]),
    kind("reStructuredText", "text/x-rst", &["rst"]),
    kind("AsciiDoc", "text/x-asciidoc", &["adoc", "asciidoc"]),
    kind("TeX", "text/x-tex", &["tex", "sty", "bib"]),
    kind("Org", "text/x-org", &["org"]),
    kind("HTML", "text/html", &["html", "htm"]),
    kind("HTML", "application/xhtml+xml", &["xhtml"]),
    kind("CSS", "text/css", &["css"]),
    kind("Sass", "text/x-scss", &["scss", "sass"]),
    kind("SVG", "image/svg+xml", &["svg"]),
    kind("XML", "application/xml", &["xml", "xsd", "plist", "csproj", "resx"]),
    kind("XSLT", "application/xslt+xml", &["xsl", "xslt"]),
    kind("JSON", "application/json", &["json", "jsonc", "geojson", "webmanifest"]),
    kind("JSON Lines", "application/x-ndjson", &["jsonl", "ndjson"]),
    kind("Jupyter Notebook", "application/x-ipynb+json", &["ipynb"]),
    kind("YAML", "application/yaml", &["yaml", "yml"]),
    kind("TOML", "application/toml", &["toml"]),
    kind("INI", "text/x-ini", &["ini", "cfg", "conf", "properties", "editorconfig"]),
    kind("CSV", "text/csv", &["csv"]),
    kind("TSV", "text/tab-separated-values", &["tsv"]),
    kind("SQL", "application/sql", &["sql"]),
    kind("GraphQL", "application/graphql", &["graphql", "gql"]),
    kind("Protocol Buffers", "text/x-protobuf", &["proto"]),
    kind("Diff", "text/x-diff", &["diff", "patch"]),
    kind("Calendar", "text/calendar", &["ics"]),
    kind("WebVTT", "text/vtt", &["vtt"]),
    kind("Rust", "text/x-rust", &["rs"]),
    kind("Python", "text/x-python", &["py", "pyi", "pyw"]),
    kind("JavaScript", "text/javascript", &["js", "mjs", "cjs", "jsx"]),
    kind("TypeScript", "text/x-typescript", &["ts", "mts", "cts", "tsx"]),
    kind("Vue", "text/x-vue", &["vue"]),
    kind("Svelte", "text/x-svelte", &["svelte"]),
    kind("Go", "text/x-go", &["go"]),
    kind("C", "text/x-c", &["c", "h"]),
    kind("C++", "text/x-c++", &["cc", "cpp", "cxx", "hpp", "hh", "hxx"]),
    kind("C#", "text/x-csharp", &["cs"]),
    kind("Objective-C", "text/x-objectivec", &["m", "mm"]),
    kind("Java", "text/x-java", &["java"]),
    kind("Kotlin", "text/x-kotlin", &["kt", "kts"]),
    kind("Scala", "text/x-scala", &["scala"]),
    kind("Groovy", "text/x-groovy", &["groovy", "gradle"]),
    kind("Clojure", "text/x-clojure", &["clj", "cljs", "cljc"]),
    kind("Swift", "text/x-swift", &["swift"]),
    kind("Dart", "text/x-dart", &["dart"]),
    kind("Ruby", "text/x-ruby", &["rb", "rake", "gemspec", "Gemfile", "Rakefile"]),
    kind("PHP", "text/x-php", &["php"]),
    kind("Perl", "text/x-perl", &["pl", "pm"]),
    kind("Lua", "text/x-lua", &["lua"]),
    kind("R", "text/x-r", &["r"]),
    kind("Julia", "text/x-julia", &["jl"]),
    kind("Haskell", "text/x-haskell", &["hs"]),
    kind("OCaml", "text/x-ocaml", &["ml", "mli"]),
    kind("F#", "text/x-fsharp", &["fs", "fsx"]),
    kind("Elixir", "text/x-elixir", &["ex", "exs"]),
    kind("Erlang", "text/x-erlang", &["erl", "hrl"]),
    kind("Elm", "text/x-elm", &["elm"]),
    kind("Zig", "text/x-zig", &["zig"]),
    kind("Nix", "text/x-nix", &["nix"]),
    kind("Assembly", "text/x-asm", &["s", "asm"]),
    kind("Shell", "text/x-shellscript", &["sh", "bash", "zsh", "fish"]),
    kind("PowerShell", "text/x-powershell", &["ps1", "psm1"]),
    kind("Batch", "text/x-batch", &["bat", "cmd"]),
    kind("Make", "text/x-makefile", &["mk", "Makefile", "makefile", "GNUmakefile"]),
    kind("CMake", "text/x-cmake", &["cmake", "CMakeLists.txt"]),
    kind("Dockerfile", "text/x-dockerfile", &["dockerfile", "Dockerfile", "Containerfile"]),
    kind("Terraform", "text/x-terraform", &["tf", "tfvars"]),
];

fn of(path: &Path) -> Option<&'static Kind> {
    let name = path.file_name()?.to_str()?;
    let by = |name: &str| KINDS.iter().find(|kind| kind.names.contains(&name));
    by(name).or_else(|| by(&path.extension()?.to_str()?.to_ascii_lowercase()))
}

/// The MIME type for the name of a text file.
pub(crate) fn mime_type(path: &Path) -> Option<&'static str> {
    of(path).map(|kind| kind.mime_type)
}

/// The language for the name of a file, including data and markup languages.
pub fn language(path: &Path) -> Option<&'static str> {
    of(path).map(|kind| kind.language)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn no_name_is_listed_twice() {
        let names: Vec<_> = KINDS.iter().flat_map(|kind| kind.names).collect();
        let unique: BTreeSet<_> = names.iter().collect();
        assert_eq!(unique.len(), names.len());
        assert_eq!(language(Path::new("src/a.RS")), Some("Rust"));
        assert_eq!(language(Path::new("CMakeLists.txt")), Some("CMake"));
        assert_eq!(language(Path::new("a.bin")), None);
    }
}
