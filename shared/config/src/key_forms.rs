//! Keys that are recognised by their form alone, in a text that no configuration names: a person may type one.
//!
//! Only forms that nothing else has count, because a text without what was taken for a key is of no use. A password has
//! no form, and neither has a key of plain hexadecimal digits.

/// The prefixes of keys, the minimum number of characters after them, and whether they may contain `-`.
const PREFIXES: [(&str, usize, bool); 22] = [
    // OpenAI, Anthropic, OpenRouter, DeepSeek.
    ("sk-", 20, true),
    // Google.
    ("AIza", 35, true),
    // GitHub.
    ("ghp_", 36, false),
    ("gho_", 36, false),
    ("ghu_", 36, false),
    ("ghs_", 36, false),
    ("ghr_", 36, false),
    ("github_pat_", 50, false),
    // GitLab.
    ("glpat-", 20, true),
    // Slack.
    ("xoxa-", 10, true),
    ("xoxb-", 10, true),
    ("xoxe-", 10, true),
    ("xoxp-", 10, true),
    ("xoxr-", 10, true),
    ("xoxs-", 10, true),
    // Hugging Face, npm, Stripe, Tavily.
    ("hf_", 30, false),
    ("npm_", 36, false),
    ("sk_live_", 20, false),
    ("rk_live_", 20, false),
    ("tvly-", 20, true),
    // xAI, Groq.
    ("xai-", 40, true),
    ("gsk_", 40, false),
];

/// The prefixes of the access keys of AWS, which sixteen capitals and digits follow.
const AWS: [&str; 2] = ["AKIA", "ASIA"];

/// The shortest line of a private key that counts; the last one may have a few characters.
const SHORTEST_LINE: usize = 16;

/// The length of a line of a private key that is not its last one, in the shorter of the usual forms.
const FULL_LINE: usize = 64;

/// The keys in `text`. Of a private key, each line.
pub(crate) fn keys(text: &str) -> Vec<&str> {
    let is_part = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    let words = text.split(|c: char| !is_part(c)).map(|word| word.trim_matches('.'));
    words.filter_map(key).chain(private_keys(text)).collect()
}

/// The key that `word` is, without what follows it.
fn key(word: &str) -> Option<&str> {
    if is_web_token(word) {
        return Some(word);
    }
    // A dot ends every other key, such as that at the end of a sentence.
    let word = word.split('.').next().unwrap_or_default();
    let of_aws = AWS.iter().find_map(|prefix| word.strip_prefix(prefix));
    if of_aws.is_some_and(|rest| rest.len() == 16 && rest.bytes().all(|b| b.is_ascii_uppercase() || b.is_ascii_digit()))
    {
        return Some(word);
    }
    let has_form = PREFIXES.iter().any(|(prefix, least, has_dashes)| {
        word.strip_prefix(prefix).is_some_and(|rest| {
            rest.len() >= *least && (*has_dashes || !rest.contains('-')) && rest.split(['-', '_']).any(is_random)
        })
    });
    has_form.then_some(word)
}

/// Whether a part of a word is made of random characters, as no word of a language or a program is.
fn is_random(part: &str) -> bool {
    let has = |is: fn(&u8) -> bool| part.as_bytes().iter().any(is);
    part.len() >= 10 && has(u8::is_ascii_digit) && has(u8::is_ascii_alphabetic)
}

/// Whether a word is a JSON Web Token: three parts, of which the first two are JSON objects in base64.
fn is_web_token(word: &str) -> bool {
    let parts: Vec<&str> = word.split('.').collect();
    matches!(parts[..], [header, claims, signature]
        if header.starts_with("eyJ") && claims.starts_with("eyJ") && header.len() >= 12 && signature.len() >= 20)
}

/// The lines of the private keys in PEM form.
fn private_keys(text: &str) -> impl Iterator<Item = &str> {
    let blocks = text.match_indices("-----BEGIN ").filter_map(|(at, start)| {
        let rest = &text[at + start.len()..];
        let (kind, rest) = rest.split_once("-----")?;
        let is_private = kind.ends_with("PRIVATE KEY") || kind.ends_with("PRIVATE KEY BLOCK");
        // After a key without an end, the text goes on with words and paths, which are shorter than a line of a key.
        is_private.then(|| match rest.split_once("-----END ") {
            Some((key, _)) => (key, SHORTEST_LINE),
            None => (rest, FULL_LINE),
        })
    });
    let is_base64 = |line: &str| line.bytes().all(|b| b.is_ascii_alphanumeric() || b"+/=".contains(&b));
    blocks.flat_map(move |(block, shortest)| {
        // In JSON, `\n` is two characters.
        let lines = block.split(['\n', '\r', '\\', ' ', '"']).map(|line| line.trim().trim_start_matches('n'));
        lines.filter(move |line| line.len() >= shortest && is_base64(line))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A key of this form. No key stands in this file as it is: scanners of repositories would report it.
    fn made(prefix: &str, length: usize) -> String {
        prefix.to_owned() + &"aB3dE5gH7j".repeat(10)[..length]
    }

    #[test]
    fn keys_are_recognised_by_their_form() {
        let token = format!("{}.{}.{}", made("eyJ", 20), made("eyJ", 30), made("", 43));
        let keys_of_services = [
            made("sk-", 48),
            made("sk-proj-", 100),
            made("sk-ant-api03-", 80),
            made("AIza", 35),
            made("ghp_", 36),
            made("github_pat_", 82),
            format!("AKIA{}", &"ABC3DEF5".repeat(2)),
            format!("xoxb-12345-67890-{}", made("", 24)),
            made("glpat-", 20),
            token,
        ];
        for key in &keys_of_services {
            for text in [
                key.clone(),
                format!("Use {key}."),
                format!("KEY=\"{key}\""),
                format!("鍵は{key}です"),
                format!("a\n{key}\nb"),
            ] {
                assert_eq!(keys(&text), [key], "{text}");
            }
        }
    }

    #[test]
    fn the_lines_of_a_private_key_are_found() {
        let lines = [made("", 64), made("x", 64), made("y", 30)];
        for kind in ["PRIVATE KEY", "RSA PRIVATE KEY", "OPENSSH PRIVATE KEY"] {
            let block = format!("-----BEGIN {kind}-----\n{}\n-----END {kind}-----", lines.join("\n"));
            assert_eq!(keys(&format!("a {block} b")), lines);
            assert_eq!(keys(&serde_json::to_string(&block).unwrap()), lines);
        }
        let public = format!("-----BEGIN PUBLIC KEY-----\n{}\n-----END PUBLIC KEY-----", lines.join("\n"));
        assert!(keys(&public).is_empty());
    }

    #[test]
    fn other_texts_have_no_keys() {
        for text in [
            "sk-folding-cube-with-a-very-long-name-2024",
            "sk-learn",
            "sk-...",
            "sk-xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx",
            "AIza",
            "ghp_",
            "AKIA",
            "AKIAsomething",
            "xoxb-",
            "eyJhbGciOiJIUzI1NiJ9",
            "a.b.c",
            "the npm_config_registry_of_the_package_manager_is_set",
            "d41d8cd98f00b204e9800998ecf8427e",
            "550e8400-e29b-41d4-a716-446655440000",
            "task-1234567890abcdef1234567890",
            "https://example.org/a?b=c#d",
            "-----BEGIN CERTIFICATE-----",
            "-----BEGIN RSA PRIVATE KEY----- is the first line of /usr/local/share/ragmaker/example/key",
        ] {
            assert!(keys(text).is_empty(), "{text}: {:?}", keys(text));
        }
    }
}
