//! The options and operands of programs that only read.
//!
//! Options that write (`sort -o`, `tree -o`), run a program (`rg --pre`, `sort --compress-program`) or read lists of
//! files from a file (`wc --files0-from`) are not listed.

use super::options::{Entry, Operands};

type Line = (&'static str, &'static str, Operands);

const PROGRAMS: &[Line] = &[
    // Files and folders.
    (
        "ls dir vdir",
        "-aAbBcCdfFgGhHiklLmnNopqQrRsStuUvxXZ1 -I: -w: -T: --all --almost-all --author --escape --block-size: \
         --ignore-backups --color? --directory --classify? --file-type --format: --full-time \
         --group-directories-first --no-group --human-readable --si --dereference --hide: --hyperlink? \
         --indicator-style: --inode --ignore: --kibibytes --literal --quote-name --quoting-style: --reverse \
         --recursive --size --sort: --time: --time-style: --tabsize: --width: --context --zero --numeric-uid-gid",
        Operands::Paths,
    ),
    (
        "tree",
        "-adfilspughDFrtcQNqvUSnxACJX -L: -P: -I: --dirsfirst --filesfirst --noreport --prune --du --si --charset: \
         --filelimit: --matchdirs --ignore-case --gitignore --sort? --inodes --device --timefmt:",
        Operands::Paths,
    ),
    (
        "eza exa",
        "-1abBdFghHimrRTx -L: -s: -t: -I: --long --all --tree --level: --git --icons? --color? --header --sort: \
         --reverse --only-dirs --git-ignore --no-user --no-permissions --no-time --group-directories-first -l",
        Operands::Paths,
    ),
    ("stat", "-Lft -c: --dereference --file-system --format: --printf: --terse", Operands::Paths),
    ("file", "-biknNhLrE0 --brief --mime --mime-type --mime-encoding --extension --no-dereference", Operands::Paths),
    (
        "du",
        "-abchkmsSxlD0 -d: -t: -B: --all --apparent-size --bytes --total --human-readable --summarize --max-depth: \
         --threshold: --exclude: --si --time? --one-file-system --inodes --separate-dirs --block-size:",
        Operands::Paths,
    ),
    (
        "df",
        "-ahHiklmPT -t: -x: -B: --all --human-readable --inodes --local --portability --print-type --si --total \
         --type: --exclude-type: --output? --block-size:",
        Operands::Text,
    ),
    (
        "readlink",
        "-femnqsvz --canonicalize --canonicalize-existing --canonicalize-missing --no-newline",
        Operands::Paths,
    ),
    (
        "realpath",
        "-emLPqsz --relative-to@ --relative-base@ --canonicalize-existing --canonicalize-missing",
        Operands::Paths,
    ),
    ("basename", "-az -s: --multiple --suffix: --zero", Operands::Text),
    ("dirname", "-z --zero", Operands::Text),
    ("pathchk", "-pP", Operands::Text),
    // Text.
    (
        "cat",
        "-AbeEnstTuv --show-all --number-nonblank --show-ends --number --squeeze-blank --show-tabs --show-nonprinting",
        Operands::Paths,
    ),
    (
        "bat batcat",
        "-pnA -l: -r: --plain --number --show-all --language: --line-range: --paging: --style: --color: --theme:",
        Operands::Paths,
    ),
    ("tac", "-br -s: --before --regex --separator:", Operands::Paths),
    ("rev", "", Operands::Paths),
    (
        "nl",
        "-p -b: -d: -f: -h: -i: -l: -n: -s: -v: -w: --body-numbering: --number-format: --number-separator: --number-width:",
        Operands::Paths,
    ),
    ("head", "-# -qvz -n: -c: --lines: --bytes: --quiet --silent --verbose --zero-terminated", Operands::Paths),
    ("tail", "-# -qvz -n: -c: --lines: --bytes: --quiet --silent --verbose --zero-terminated", Operands::Paths),
    ("wc", "-clmLw --bytes --chars --lines --max-line-length --words --total:", Operands::Paths),
    (
        "sort",
        "-bdfgiMhnRrVcCmsuz -k: -t: -S: --key: --field-separator: --numeric-sort --reverse --unique --ignore-case \
         --human-numeric-sort --version-sort --general-numeric-sort --month-sort --random-sort --dictionary-order \
         --ignore-leading-blanks --ignore-nonprinting --check? --merge --stable --zero-terminated --sort: \
         --parallel: --buffer-size: --debug",
        Operands::Paths,
    ),
    (
        "uniq",
        "-cdDiuz -f: -s: -w: --count --repeated --all-repeated? --ignore-case --unique --skip-fields: --skip-chars: \
         --check-chars: --group? --zero-terminated",
        Operands::OnePath,
    ),
    (
        "cut",
        "-nsz -b: -c: -d: -f: --bytes: --characters: --delimiter: --fields: --complement --only-delimited \
         --output-delimiter: --zero-terminated",
        Operands::Paths,
    ),
    ("paste", "-sz -d: --delimiters: --serial --zero-terminated", Operands::Paths),
    (
        "join",
        "-iz -a: -e: -1: -2: -j: -o: -t: -v: --ignore-case --check-order --nocheck-order --header --zero-terminated",
        Operands::Paths,
    ),
    ("comm", "-123z --check-order --nocheck-order --output-delimiter: --total --zero-terminated", Operands::Paths),
    ("tr", "-cCdst --complement --delete --squeeze-repeats --truncate-set1", Operands::Text),
    ("fold", "-bs -w: --bytes --spaces --width:", Operands::Paths),
    ("fmt", "-cstu -w: -p: -g: --width: --split-only --uniform-spacing", Operands::Paths),
    ("expand unexpand", "-ai -t: --tabs: --initial --all --first-only", Operands::Paths),
    (
        "column",
        "-tJexnLRd -s: -o: -c: -N: -H: --table --separator: --output-separator: --json --table-columns: --output-width:",
        Operands::Paths,
    ),
    ("shuf", "-erz -i: -n: --echo --repeat --input-range: --head-count: --zero-terminated", Operands::Paths),
    ("od", "-abcdfilosxv -A: -t: -N: -j: -w? --address-radix: --format: --read-bytes: --skip-bytes:", Operands::Paths),
    ("hexdump hd", "-bcCdovx -n: -s: -e:", Operands::Paths),
    ("strings", "-# -ao -n: -t: -e: --all --bytes: --radix: --encoding:", Operands::Paths),
    ("zcat bzcat xzcat zstdcat", "", Operands::Paths),
    ("base64 base32", "-di -w: --decode --ignore-garbage --wrap:", Operands::Paths),
    (
        "md5sum sha1sum sha224sum sha256sum sha384sum sha512sum b2sum",
        "-bctwz -l: --binary --check --tag --text --zero --ignore-missing --quiet --status --strict --warn --length:",
        Operands::Paths,
    ),
    ("shasum", "-bcpt -a: --algorithm: --binary --check --text", Operands::Paths),
    ("cksum sum", "-rs", Operands::Paths),
    ("cmp", "-bls -i: -n: --print-bytes --verbose --silent --quiet --bytes: --ignore-initial:", Operands::Paths),
    (
        "diff",
        "-# -abBdiHnNpqrstTuvwyZEce -C: -U: -I: -W: -x: -L: -F: --brief --unified? --context? --color? --recursive \
         --new-file --side-by-side --ignore-case --ignore-all-space --ignore-space-change --ignore-blank-lines \
         --ignore-matching-lines: --ignore-trailing-space --exclude: --strip-trailing-cr --width: \
         --suppress-common-lines --text --minimal --report-identical-files --label: --show-c-function --normal \
         --no-dereference",
        Operands::Paths,
    ),
    ("diff3", "-aAeEimTxX3 -L:", Operands::Paths),
    (
        "grep egrep fgrep",
        "-# -EFGPabcHhiIlLnoqrRsTuUvVwxyzZ -A: -B: -C: -e: -m: -f@ -d: -D: --extended-regexp --fixed-strings \
         --basic-regexp --perl-regexp --regexp: --file@ --ignore-case --no-ignore-case --invert-match --word-regexp \
         --line-regexp --count --color? --colour? --files-with-matches --files-without-match --max-count: \
         --only-matching --quiet --silent --no-messages --byte-offset --with-filename --no-filename --label: \
         --line-number --initial-tab --null --null-data --after-context: --before-context: --context: --text \
         --binary-files: --devices: --directories: --exclude: --exclude-dir: --include: --recursive \
         --dereference-recursive --line-buffered --binary",
        Operands::TextThenPaths(&["-e", "-f", "--regexp", "--file"]),
    ),
    (
        "rg",
        "-abcFHIilNnopPqSsUuvVwx0. -A: -B: -C: -E: -e: -f@ -g: -m: -M: -r: -t: -T: -j: -d: --regexp: --file@ \
         --fixed-strings --ignore-case --smart-case --case-sensitive --word-regexp --line-regexp --line-number \
         --no-line-number --count --count-matches --files --files-with-matches --files-without-match --glob: \
         --iglob: --type: --type-not: --type-list --hidden --no-hidden --no-ignore --no-ignore-vcs \
         --no-ignore-parent --no-ignore-global --no-ignore-dot --max-count: --max-depth: --max-columns: \
         --max-columns-preview --max-filesize: --after-context: --before-context: --context: --only-matching \
         --replace: --invert-match --multiline --multiline-dotall --pcre2 --json --stats --sort: --sortr: --color: \
         --colors: --heading --no-heading --with-filename --no-filename --column --no-column --null --null-data \
         --text --trim --vimgrep --quiet --pretty --passthru --unrestricted --no-messages --no-config \
         --one-file-system --byte-offset --crlf --encoding: --engine: --threads: --path-separator: \
         --context-separator: --no-follow --glob-case-insensitive --include-zero --line-buffered --binary \
         --no-binary --field-match-separator:",
        Operands::TextThenPaths(&["-e", "-f", "--regexp", "--file", "--files", "--type-list"]),
    ),
    (
        "fd fdfind",
        "-HIuapsigF01 -d: -t: -e: -E: -S: -c: -j: --hidden --no-ignore --unrestricted --absolute-path \
         --case-sensitive --ignore-case --glob --fixed-strings --max-depth: --min-depth: --type: --extension: \
         --exclude: --size: --color: --max-results: --changed-within: --changed-before: --full-path --print0",
        Operands::TextThenPaths(&[]),
    ),
    ("tokei", "-fsC -e: -t: -o: --files --compact --exclude: --sort: --types: --output:", Operands::Paths),
    ("nm", "-aABCDgnoprSsuv", Operands::Paths),
    ("readelf", "-aehlSgtsnrudVAW", Operands::Paths),
    ("size", "-ABdox", Operands::Paths),
    ("zipinfo", "-12lmsvhtz", Operands::OnePath),
    ("bc", "-lqsw --mathlib", Operands::Paths),
    // The system.
    ("pwd", "-LP", Operands::None),
    ("whoami tty arch", "", Operands::None),
    ("id", "-agGnruzZ", Operands::Text),
    ("groups", "", Operands::Text),
    ("who", "-abdHlmpqrsTtuw", Operands::None),
    ("uname", "-asnrvmpio --all --kernel-name --kernel-release --machine --operating-system", Operands::None),
    ("nproc", "--all --ignore:", Operands::None),
    ("uptime", "-ps --pretty --since", Operands::None),
    ("free", "-bkmghtwlv --bytes --kilo --mega --giga --human --total --wide", Operands::None),
    ("cal ncal", "-13jmyY", Operands::Text),
    ("pgrep", "-aflcinxo -u:", Operands::Text),
    ("printenv", "-0 --null", Operands::Text),
    ("locale", "-ackm", Operands::Text),
    ("getconf", "-a", Operands::Text),
    ("lscpu lsmem", "-aeJp --json --extended? --parse?", Operands::None),
    ("lsblk", "-abdfiJlmnpPrStT -o: --fs --json --output:", Operands::Text),
    ("lsb_release", "-acdirsv", Operands::None),
    ("which", "-as --all", Operands::Text),
    ("whereis", "-bms", Operands::Text),
    ("type", "-aPpt", Operands::Text),
    ("command", "-vV", Operands::Text),
    ("hash", "", Operands::None),
    // Programs without access to files.
    ("echo expr true false :", "", Operands::Any),
    ("seq", "-# -w -s: -f: --equal-width --separator: --format:", Operands::Text),
    ("factor", "", Operands::Text),
    ("sleep", "", Operands::Text),
    (
        "numfmt",
        "-z -d: --delimiter: --field: --format: --from: --to: --suffix: --padding: --grouping --header?",
        Operands::Text,
    ),
];

/// The accepted arguments of the program `name`, if it is listed.
pub(super) fn entry(name: &str) -> Option<&'static Entry> {
    use std::sync::LazyLock;
    static ENTRIES: LazyLock<Vec<(&str, Entry)>> = LazyLock::new(|| {
        let entries = PROGRAMS.iter().flat_map(|&(names, options, operands)| {
            names.split(' ').map(move |name| (name, Entry { options, operands }))
        });
        entries.collect()
    });
    ENTRIES.iter().find(|(listed, _)| *listed == name).map(|(_, entry)| entry)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_program_is_listed_once() {
        let mut names: Vec<_> = PROGRAMS.iter().flat_map(|(names, ..)| names.split(' ')).collect();
        let all = names.len();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), all);
    }
}
