//! The rules of Windows for paths, as pure functions, so that they are tested on every system.
//!
//! Windows gives some names another meaning: `NUL.txt` is a device, `a.txt.` and `a.txt ` are the file `a.txt`,
//! `a.txt:b` is a stream of it, `C:a` is relative to a directory that belongs to the drive, and `\\server\share` sends
//! the user's credentials to a server. A check of the text of a path must not be evaded by such names, so they are
//! refused.

/// The names of devices, with any extension and in any case.
const DEVICES: [&str; 6] = ["CON", "PRN", "AUX", "NUL", "CONIN$", "CONOUT$"];

/// The devices with a number after their name.
const PORTS: [&str; 2] = ["COM", "LPT"];

/// The numbers of ports; the superscript digits are those of Latin-1.
const PORT_NUMBERS: [char; 13] = ['0', '1', '2', '3', '4', '5', '6', '7', '8', '9', '¹', '²', '³'];

/// The start of a path that Windows passes to the file system unchanged.
const VERBATIM: &str = r"\\?\";

/// Where a path starts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PathStart {
    /// At another directory.
    Relative,
    /// At the top of the current drive: `\a`.
    Top,
    /// At the top of a drive: `C:\a`.
    Drive,
    /// At a share of a server: `\\server\share\a`.
    Share,
}

/// Where the path `text` starts.
///
/// # Errors
/// The reason why the path is not used: a device, a reserved name, a stream, a name that Windows changes.
pub fn check(text: &str) -> Result<PathStart, &'static str> {
    let is_separator = |byte: u8| matches!(byte, b'\\' | b'/');
    let (start, names) = match text.as_bytes() {
        [a, b, b'?' | b'.', ..] if is_separator(*a) && is_separator(*b) => {
            return Err(r"it names a device or a verbatim path; write it as C:\directory\file");
        }
        [a, b, ..] if is_separator(*a) && is_separator(*b) => (PathStart::Share, &text[2..]),
        [a, ..] if is_separator(*a) => (PathStart::Top, &text[1..]),
        [letter, b':', c, ..] if letter.is_ascii_alphabetic() && is_separator(*c) => (PathStart::Drive, &text[3..]),
        [letter, b':', ..] if letter.is_ascii_alphabetic() => {
            return Err(
                r"after a drive letter without a backslash, it depends on a directory of the drive; write C:\file",
            );
        }
        _ => (PathStart::Relative, text),
    };
    names.split(['\\', '/']).filter(|name| !matches!(*name, "" | "." | "..")).try_for_each(check_name)?;
    Ok(start)
}

/// Whether Windows uses `name` unchanged as the name of a file.
///
/// # Errors
/// The reason why it does not.
pub fn check_name(name: &str) -> Result<(), &'static str> {
    if name.contains(':') {
        return Err("a colon in a name is for streams of files and devices, which are not used");
    }
    if name.chars().any(|c| matches!(c, '<' | '>' | '"' | '|' | '?' | '*' | '\\' | '/' | '\0'..='\u{1f}')) {
        return Err("a name on Windows has none of the characters <>\"|?* and no control characters");
    }
    if name.ends_with(['.', ' ']) {
        return Err("Windows removes dots and spaces at the end of a name, so it would be another file");
    }
    if is_device(name) {
        return Err("it has the name of a device of Windows, such as CON, NUL or COM1, with any extension");
    }
    Ok(())
}

fn is_device(name: &str) -> bool {
    let stem = name.split('.').next().unwrap_or_default().trim_end_matches(' ');
    let is_port = |port: &&str| {
        let (Some(start), Some(end)) = (stem.get(..port.len()), stem.get(port.len()..)) else { return false };
        let mut number = end.chars();
        let is_number = number.next().is_some_and(|c| PORT_NUMBERS.contains(&c)) && number.next().is_none();
        start.eq_ignore_ascii_case(port) && is_number
    };
    DEVICES.iter().any(|device| stem.eq_ignore_ascii_case(device)) || PORTS.iter().any(is_port)
}

/// The verbatim path `text` as it is usually written, `\\?\C:\a` as `C:\a`, if it then has the same meaning.
pub fn ordinary(text: &str) -> Option<String> {
    let rest = text.strip_prefix(VERBATIM)?;
    let written = match rest.strip_prefix(r"UNC\") {
        Some(share) => format!(r"\\{share}"),
        None => rest.to_owned(),
    };
    let is_literal = !rest.contains('/') && rest.split('\\').all(|name| !matches!(name, "." | ".."));
    (is_literal && matches!(check(&written), Ok(PathStart::Drive | PathStart::Share))).then_some(written)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn where_paths_start() {
        for (text, start) in [
            (r"C:\a\b.md", PathStart::Drive),
            ("c:/a/b.md", PathStart::Drive),
            (r"C:\", PathStart::Drive),
            (r"docs\a.md", PathStart::Relative),
            ("docs/../a.md", PathStart::Relative),
            (".gitignore", PathStart::Relative),
            ("日本/資料.md", PathStart::Relative),
            (r"\a", PathStart::Top),
            ("/a", PathStart::Top),
            (r"\\server\share\a", PathStart::Share),
            ("//server/share/a", PathStart::Share),
            (r"/\server\share", PathStart::Share),
            // Not devices.
            ("console.log", PathStart::Relative),
            ("nulls", PathStart::Relative),
            ("COM10", PathStart::Relative),
            ("a.nul", PathStart::Relative),
            ("COM日", PathStart::Relative),
        ] {
            assert_eq!(check(text), Ok(start), "{text}");
        }
    }

    #[test]
    fn names_with_another_meaning() {
        for text in [
            "NUL",
            "nul.txt",
            r"docs\CON",
            "a/aux.md/b",
            "COM1",
            "lpt9.log",
            "COM¹",
            "COM0",
            "CONIN$",
            "con .txt",
            "nul.tar.gz",
            r"\\.\C:",
            r"\\.\pipe\x",
            r"\\?\C:\a",
            "//?/C:/a",
            r"\\?\GLOBALROOT\Device",
            r"\??\C:\a",
            "C:a",
            "C:",
            "c:..",
            "a.txt:stream",
            ".env::$DATA",
            r"C:\a\b:c",
            ".env.",
            ".env ",
            r".git.\config",
            "....",
            "a?",
            "*.md",
            "a|b",
            "a\tb",
        ] {
            assert!(check(text).is_err(), "{text}");
        }
    }

    #[test]
    fn verbatim_paths_are_written_as_usual() {
        for (text, expected) in [
            (r"\\?\C:\a\b", Some(r"C:\a\b")),
            (r"\\?\UNC\server\share\a", Some(r"\\server\share\a")),
            (r"\\?\C:\a\nul", None),
            (r"\\?\C:\a.", None),
            (r"\\?\C:\a\..\b", None),
            (r"\\?\C:\a/b", None),
            (r"\\?\Volume{b75e2c83-0000-0000-0000-602f00000000}\a", None),
            (r"C:\a", None),
        ] {
            assert_eq!(ordinary(text).as_deref(), expected, "{text}");
        }
    }

    /// A name that Windows uses unchanged.
    fn plain_name() -> impl Strategy<Value = String> {
        "[a-zA-Z0-9ぁ-ん漢字é._ -]{0,8}[a-zA-Z0-9ぁ-ん漢字é]".prop_filter("no device", |name| !is_device(name))
    }

    /// The name of a device, in any case.
    fn device() -> impl Strategy<Value = String> {
        let ports = (prop::sample::select(&PORTS[..]), prop::sample::select(&PORT_NUMBERS[..]));
        let names = prop_oneof![
            prop::sample::select(&DEVICES[..]).prop_map(str::to_owned),
            ports.prop_map(|(port, number)| format!("{port}{number}")),
        ];
        (names, any::<u16>()).prop_map(|(name, cases)| {
            let in_case = |(at, c): (usize, char)| {
                if cases >> (at % 16) & 1 == 0 { c.to_ascii_lowercase() } else { c.to_ascii_uppercase() }
            };
            name.chars().enumerate().map(in_case).collect()
        })
    }

    fn separator() -> impl Strategy<Value = &'static str> {
        prop::sample::select(&[r"\", "/"][..])
    }

    proptest! {
        #[test]
        fn plain_paths_are_used(
            start in prop::sample::select(&["", r"C:\", "d:/", r"\\server\share\", r".\", "../"][..]),
            names in prop::collection::vec((plain_name(), separator()), 1..5),
        ) {
            let text: String = std::iter::once(start).chain(names.iter().flat_map(|(name, end)| [name.as_str(), end])).collect();
            prop_assert!(check(&text).is_ok(), "{}", text);
        }

        #[test]
        fn a_name_with_another_meaning_is_refused_anywhere(
            before in prop::collection::vec((plain_name(), separator()), 0..3),
            name in prop_oneof![
                (device(), r" {0,2}(\.[a-z.]{0,5}[a-z])?").prop_map(|(device, end)| format!("{device}{end}")),
                (plain_name(), "[. ]{1,3}").prop_map(|(name, end)| format!("{name}{end}")),
                (plain_name(), ":[a-z$]{0,6}").prop_map(|(name, stream)| format!("{name}x{stream}")),
                (plain_name(), "[<>\"|?*\u{1}-\u{1f}]").prop_map(|(name, character)| format!("{name}{character}")),
            ].prop_filter("not a step", |name| !matches!(name.as_str(), "." | "..")),
            after in prop::collection::vec((separator(), plain_name()), 0..3),
        ) {
            let before: String = before.into_iter().map(|(name, end)| name + end).collect();
            let after: String = after.iter().flat_map(|(start, name)| [*start, name]).collect();
            let text = format!("{before}{name}{after}");
            prop_assert!(check(&text).is_err(), "{}", text);
        }

        #[test]
        fn what_is_used_has_only_plain_names(text in r#"[a-cA-C:.\\/ ?*<|"NULCONul漢]{0,16}"#) {
            if let Ok(start) = check(&text) {
                let names = if start == PathStart::Drive { &text[2..] } else { &text };
                for name in names.split(['\\', '/']).filter(|name| !matches!(*name, "" | "." | "..")) {
                    prop_assert!(check_name(name).is_ok() && !name.contains(':'));
                }
                prop_assert_eq!(start == PathStart::Relative, !text.starts_with(['\\', '/']) && !text.contains(':'));
            }
        }

        #[test]
        fn verbatim_paths_lose_nothing(names in prop::collection::vec(plain_name(), 0..5)) {
            let path = format!(r"C:\{}", names.join(r"\"));
            prop_assert_eq!(ordinary(&format!("{VERBATIM}{path}")), Some(path));
        }
    }
}
