//! Keys by name, such as `Enter` and `Control+a`, converted to commands of the protocol.

use serde_json::{Value, json};

/// A key with its modifiers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Keys {
    /// The original text.
    pub(crate) text: String,
    key: Key,
    modifiers: u8,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Key {
    name: String,
    code: String,
    /// The Windows virtual key code.
    number: u32,
    /// The text that the key types.
    types: Option<String>,
}

/// Name, virtual key code, and typed text.
const NAMED: [(&str, u32, Option<&str>); 17] = [
    ("Enter", 13, Some("\r")),
    ("Tab", 9, None),
    ("Escape", 27, None),
    ("Backspace", 8, None),
    ("Delete", 46, None),
    ("Insert", 45, None),
    ("Home", 36, None),
    ("End", 35, None),
    ("PageUp", 33, None),
    ("PageDown", 34, None),
    ("ArrowLeft", 37, None),
    ("ArrowUp", 38, None),
    ("ArrowRight", 39, None),
    ("ArrowDown", 40, None),
    ("Space", 32, Some(" ")),
    ("ContextMenu", 93, None),
    ("CapsLock", 20, None),
];

/// The modifier keys with their bits in the protocol.
const MODIFIERS: [(&str, u8); 5] = [("Alt", 1), ("Control", 2), ("Ctrl", 2), ("Meta", 4), ("Shift", 8)];

/// WebDriver's characters for keys that type nothing, by the names in [`NAMED`].
const CHARACTERS: [(&str, char); 14] = [
    ("Enter", '\u{E007}'),
    ("Tab", '\u{E004}'),
    ("Escape", '\u{E00C}'),
    ("Backspace", '\u{E003}'),
    ("Delete", '\u{E017}'),
    ("Insert", '\u{E016}'),
    ("Home", '\u{E011}'),
    ("End", '\u{E010}'),
    ("PageUp", '\u{E00E}'),
    ("PageDown", '\u{E00F}'),
    ("ArrowLeft", '\u{E012}'),
    ("ArrowUp", '\u{E013}'),
    ("ArrowRight", '\u{E014}'),
    ("ArrowDown", '\u{E015}'),
];

/// WebDriver's characters for the modifier keys, by their bits.
const MODIFIER_CHARACTERS: [(u8, char); 4] = [(1, '\u{E00A}'), (2, '\u{E009}'), (4, '\u{E03D}'), (8, '\u{E008}')];

/// WebDriver's character for F1; those of the others follow.
const F1: u32 = 0xE031;

impl Keys {
    /// Parses the key `text`.
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        let unknown = || format!("{text:?} is not a key: expected one such as Enter, ArrowDown, a or Control+a");
        let (mut rest, mut modifiers) = (text, 0);
        while let Some((name, more)) = rest.split_once('+').filter(|(_, more)| !more.is_empty()) {
            let (_, bit) = MODIFIERS.iter().find(|(known, _)| known.eq_ignore_ascii_case(name)).ok_or_else(unknown)?;
            (rest, modifiers) = (more, modifiers | bit);
        }
        let key = Key::named(rest).ok_or_else(unknown)?;
        Ok(Self { text: text.to_owned(), key, modifiers })
    }

    /// The key that removes what is selected.
    pub(crate) fn delete() -> Self {
        let key = Key { name: "Delete".into(), code: "Delete".into(), number: 46, types: None };
        Self { text: key.name.clone(), key, modifiers: 0 }
    }

    /// The actions of WebDriver that press and release the key; `None` for a key that it does not know.
    pub(crate) fn actions(&self) -> Option<Value> {
        let key = self.key.character()?;
        let held = MODIFIER_CHARACTERS.iter().filter(|(bit, _)| self.modifiers & bit != 0).map(|(_, held)| *held);
        let pressed: Vec<char> = held.chain([key]).collect();
        let action = |kind: &str, key: &char| json!({"type": kind, "value": key});
        let down = pressed.iter().map(|key| action("keyDown", key));
        Some(down.chain(pressed.iter().rev().map(|key| action("keyUp", key))).collect())
    }

    /// The actions of WebDriver that type a text character by character.
    pub(crate) fn typing_actions(text: &str) -> Value {
        let actions = text.chars().flat_map(|character| {
            let key = if character == '\n' { '\u{E007}' } else { character };
            ["keyDown", "keyUp"].map(|kind| json!({"type": kind, "value": key}))
        });
        actions.collect()
    }

    /// The commands that press and release the key.
    pub(crate) fn commands(&self) -> Vec<(&'static str, Value)> {
        self.key.commands(self.modifiers)
    }

    /// The commands that type a text character by character. Characters without a key are inserted as text.
    pub(crate) fn typing(text: &str) -> Vec<(&'static str, Value)> {
        let commands = text.chars().map(|character| {
            let key =
                if character == '\n' { Key::named("Enter") } else { Key::named(character.encode_utf8(&mut [0; 4])) };
            key.filter(|key| key.number > 0)
                .map_or_else(|| vec![("Input.insertText", json!({"text": character}))], |key| key.commands(0))
        });
        commands.flatten().collect()
    }
}

impl Key {
    /// WebDriver's character for the key; `None` if it has none.
    fn character(&self) -> Option<char> {
        let mut characters = self.name.chars();
        if let (Some(character), None) = (characters.next(), characters.next()) {
            return Some(character);
        }
        if let Some(number) = self.name.strip_prefix('F').and_then(|number| number.parse::<u32>().ok()) {
            return char::from_u32(F1 + number - 1);
        }
        CHARACTERS.iter().find(|(name, _)| *name == self.name).map(|(_, character)| *character)
    }

    fn named(name: &str) -> Option<Self> {
        let key = |key: &str, code: &str, number, types: Option<&str>| Self {
            name: key.to_owned(),
            code: code.to_owned(),
            number,
            types: types.map(str::to_owned),
        };
        if let Some((known, number, types)) = NAMED.iter().find(|(known, ..)| known.eq_ignore_ascii_case(name)) {
            return Some(key(types.filter(|text| *text == " ").unwrap_or(known), known, *number, *types));
        }
        if let Some(number) = name.strip_prefix('F').and_then(|number| number.parse::<u32>().ok()) {
            return (1..=12).contains(&number).then(|| key(name, name, 111 + number, None));
        }
        let mut characters = name.chars();
        let (Some(character), None) = (characters.next(), characters.next()) else { return None };
        let upper = character.to_ascii_uppercase();
        Some(match character {
            'a'..='z' | 'A'..='Z' => key(name, &format!("Key{upper}"), u32::from(upper), Some(name)),
            '0'..='9' => key(name, &format!("Digit{character}"), u32::from(character), Some(name)),
            ' ' => key(" ", "Space", 32, Some(" ")),
            _ => key(name, "", 0, Some(name)),
        })
    }

    fn commands(&self, modifiers: u8) -> Vec<(&'static str, Value)> {
        // With a modifier, a letter is a shortcut and types nothing.
        let types = self.types.as_deref().filter(|_| modifiers & !8 == 0);
        let of = |kind: &str, text: Option<&str>| {
            let mut params = json!({
                "type": kind, "key": self.name, "code": self.code, "modifiers": modifiers,
                "windowsVirtualKeyCode": self.number, "nativeVirtualKeyCode": self.number,
            });
            if let Some(text) = text {
                params["text"] = text.into();
                params["unmodifiedText"] = text.into();
            }
            // On some systems, editing shortcuts must be sent as commands.
            if modifiers & 6 != 0 && self.name.eq_ignore_ascii_case("a") {
                params["commands"] = json!(["selectAll"]);
            }
            params
        };
        let down = of(if types.is_some() { "keyDown" } else { "rawKeyDown" }, types);
        vec![("Input.dispatchKeyEvent", down), ("Input.dispatchKeyEvent", of("keyUp", None))]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_have_names() {
        let commands = Keys::parse("Enter").unwrap().commands();
        assert_eq!(commands.len(), 2);
        assert_eq!((&commands[0].1["type"], &commands[0].1["text"]), (&json!("keyDown"), &json!("\r")));
        let commands = Keys::parse("ctrl+shift+A").unwrap().commands();
        assert_eq!((&commands[0].1["type"], &commands[0].1["modifiers"]), (&json!("rawKeyDown"), &json!(10)));
        assert_eq!(Keys::parse("+").unwrap().commands()[0].1["text"], "+");
        assert_eq!(Keys::parse("Control++").unwrap().commands()[0].1["key"], "+");
        assert_eq!(Keys::parse("F5").unwrap().commands()[0].1["windowsVirtualKeyCode"], 116);
        for bad in ["", "Enterr", "Hyper+a", "ab", "F13"] {
            assert!(Keys::parse(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn keys_are_actions_of_webdriver() {
        let actions = |keys: &str| Keys::parse(keys).unwrap().actions();
        let enter = [json!({"type": "keyDown", "value": "\u{E007}"}), json!({"type": "keyUp", "value": "\u{E007}"})];
        assert_eq!(actions("Enter").unwrap(), json!(enter));
        assert_eq!(actions("Control+a").unwrap().as_array().unwrap().len(), 4);
        assert_eq!(actions("Control+a").unwrap()[0]["value"], "\u{E009}");
        assert_eq!(
            (&actions("F12").unwrap()[0]["value"], &actions("Space").unwrap()[0]["value"]),
            (&json!("\u{E03C}"), &json!(" "))
        );
        assert_eq!((actions("CapsLock"), actions("ContextMenu")), (None, None));
        assert_eq!(Keys::parse("Delete"), Ok(Keys::delete()));
        assert_eq!(Keys::typing_actions("é\n").as_array().unwrap().len(), 4);
    }

    #[test]
    fn a_text_is_typed_key_by_key() {
        let commands = Keys::typing("a9 é");
        assert_eq!(commands.len(), 7);
        assert_eq!(commands[6], ("Input.insertText", json!({"text": 'é'})));
    }
}
