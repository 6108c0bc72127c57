//! Values of the configuration, and the kinds of values that a key accepts.

use toml::{
    Spanned,
    de::{DeTable, DeValue},
};

/// The kinds of values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ValueKind {
    /// Any text.
    Text,
    /// The name of an environment variable.
    Variable,
    /// An http or https URL, or an empty string.
    Url,
    /// One of these.
    Choice(&'static [&'static str]),
    /// An integer.
    Whole {
        /// The least.
        least: u64,
        /// The most.
        most: u64,
    },
    /// A number from 0 to this.
    Number {
        /// The most.
        most: u32,
    },
    /// true or false.
    Switch,
    /// An array of texts.
    Texts,
    /// A table of texts.
    Pairs,
    /// An array of catalogs.
    Catalogs,
}

/// A catalog of external tools.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Catalog {
    /// The file, absolute once the configuration is loaded; empty where a command prints the catalog.
    pub file: String,
    /// The command that prints the catalog, and its arguments.
    pub discover: Vec<String>,
    /// The command that runs a tool whose name is its last argument, and its other arguments.
    pub call: Vec<String>,
    /// Whether its tools are kept to what they declare.
    pub confined: bool,
}

/// A value, after its check.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Value {
    Text(String),
    Whole(u64),
    Number(f64),
    Switch(bool),
    Texts(Vec<String>),
    Pairs(Vec<(String, String)>),
    Catalogs(Vec<Catalog>),
}

impl ValueKind {
    /// A description of the valid values, for messages and the reference.
    pub fn expected(self) -> String {
        match self {
            Self::Text => "a text".to_owned(),
            Self::Variable => "the name of an environment variable, in capitals, and not the key itself".to_owned(),
            Self::Url => "a URL that begins with http:// or https://".to_owned(),
            Self::Choice(names) => format!("one of {}", names.join(", ")),
            Self::Whole { least, most } => format!("a whole number from {least} to {most}"),
            Self::Number { most } => format!("a number from 0 to {most}"),
            Self::Switch => "true or false".to_owned(),
            Self::Texts => "an array of texts".to_owned(),
            Self::Pairs => "a table of texts".to_owned(),
            Self::Catalogs => "an array of paths, or of tables with file, discover, call or confined".to_owned(),
        }
    }

    /// The value in a file, if it is one of this kind.
    pub(crate) fn of_toml(self, value: &DeValue<'_>) -> Option<Value> {
        match (self, value) {
            // A prefix may end with a blank.
            (Self::Text, DeValue::String(text)) if !text.trim().is_empty() => Some(Value::Text(text.to_string())),
            (Self::Text | Self::Variable | Self::Url | Self::Choice(_), DeValue::String(text)) => self.of_text(text),
            (Self::Whole { .. } | Self::Number { .. }, DeValue::Integer(number)) if number.radix() == 10 => {
                self.of_text(number.as_str())
            }
            (Self::Number { .. }, DeValue::Float(number)) => self.of_text(number.as_str()),
            (Self::Switch, DeValue::Boolean(is_on)) => Some(Value::Switch(*is_on)),
            (Self::Texts, _) => texts(value).map(Value::Texts),
            (Self::Pairs, DeValue::Table(table)) => pairs(table).map(Value::Pairs),
            (Self::Catalogs, DeValue::Array(all)) => {
                all.iter().map(|one| catalog(one.get_ref())).collect::<Option<_>>().map(Value::Catalogs)
            }
            _ => None,
        }
    }

    /// The value in an environment variable or a flag, if it is one of this kind.
    pub(crate) fn of_text(self, text: &str) -> Option<Value> {
        let text = text.trim();
        match self {
            Self::Text => Some(Value::Text(text.to_owned())),
            Self::Variable => is_variable(text).then(|| Value::Text(text.to_owned())),
            Self::Url => {
                let is_url = text.is_empty()
                    || ["http://", "https://"]
                        .iter()
                        .any(|scheme| text.len() > scheme.len() && text.starts_with(scheme));
                is_url.then(|| Value::Text(text.to_owned()))
            }
            Self::Choice(names) => names.contains(&text).then(|| Value::Text(text.to_owned())),
            Self::Whole { least, most } => {
                let number = text.parse().ok().filter(|number| (least..=most).contains(number))?;
                Some(Value::Whole(number))
            }
            Self::Number { most } => {
                let number = text.parse().ok().filter(|number| (0.0..=f64::from(most)).contains(number))?;
                Some(Value::Number(number))
            }
            Self::Switch => match text {
                "1" | "true" | "yes" | "on" | "True" | "TRUE" => Some(Value::Switch(true)),
                "0" | "false" | "no" | "off" | "False" | "FALSE" => Some(Value::Switch(false)),
                _ => None,
            },
            Self::Texts => {
                let all = text.split(',').map(str::trim).filter(|one| !one.is_empty());
                Some(Value::Texts(all.map(str::to_owned).collect()))
            }
            Self::Pairs | Self::Catalogs => None,
        }
    }
}

/// Whether `text` is empty or the name of a variable. API keys have small letters or hyphens, so an API key that is
/// written here by mistake is not accepted as a name, and messages do not quote it.
fn is_variable(text: &str) -> bool {
    text.chars().all(|c| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_')
        && !text.starts_with(|c: char| c.is_ascii_digit())
}

fn texts(value: &DeValue<'_>) -> Option<Vec<String>> {
    value.as_array()?.iter().map(|one| one.get_ref().as_str().map(str::to_owned)).collect()
}

fn pairs(table: &DeTable<'_>) -> Option<Vec<(String, String)>> {
    let pair = |(name, value): (&Spanned<_>, &Spanned<DeValue<'_>>)| {
        let name: &std::borrow::Cow<'_, str> = name.get_ref();
        Some((name.to_string(), value.get_ref().as_str()?.to_owned()))
    };
    table.iter().map(pair).collect()
}

/// A catalog: its path, or a table.
fn catalog(value: &DeValue<'_>) -> Option<Catalog> {
    let mut catalog = Catalog { file: String::new(), discover: vec![], call: vec![], confined: true };
    if let Some(file) = value.as_str() {
        return (!file.trim().is_empty()).then(|| Catalog { file: file.to_owned(), ..catalog });
    }
    for (name, value) in value.as_table()? {
        let value = value.get_ref();
        match &**name.get_ref() {
            "file" => catalog.file = value.as_str()?.to_owned(),
            "discover" => catalog.discover = texts(value)?,
            "call" => catalog.call = texts(value)?,
            "confined" => catalog.confined = value.as_bool()?,
            _ => return None,
        }
    }
    (catalog.file.trim().is_empty() != catalog.discover.is_empty()).then_some(catalog)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_checked_by_its_kind() {
        let text = |kind: ValueKind, given: &str| kind.of_text(given);
        assert_eq!(text(ValueKind::Text, " a "), Some(Value::Text("a".into())));
        assert_eq!(text(ValueKind::Url, "http://a"), Some(Value::Text("http://a".into())));
        assert_eq!(text(ValueKind::Choice(&["a", "b"]), "b"), Some(Value::Text("b".into())));
        assert_eq!(text(ValueKind::Whole { least: 1, most: 9 }, "9"), Some(Value::Whole(9)));
        assert_eq!(text(ValueKind::Number { most: 2 }, "0.5"), Some(Value::Number(0.5)));
        assert_eq!(text(ValueKind::Switch, "off"), Some(Value::Switch(false)));
        assert_eq!(text(ValueKind::Texts, "a, ,b"), Some(Value::Texts(vec!["a".into(), "b".into()])));
        for (kind, given) in [
            (ValueKind::Url, "http://"),
            (ValueKind::Url, "ftp://a"),
            (ValueKind::Choice(&["a", "b"]), "c"),
            (ValueKind::Whole { least: 1, most: 9 }, "10"),
            (ValueKind::Whole { least: 1, most: 9 }, "1.5"),
            (ValueKind::Number { most: 2 }, "-1"),
            (ValueKind::Number { most: 2 }, "NaN"),
            (ValueKind::Switch, "maybe"),
            (ValueKind::Pairs, "a=b"),
        ] {
            assert_eq!(text(kind, given), None, "{kind:?}: {given}");
        }
    }

    #[test]
    fn a_key_is_not_the_name_of_a_variable() {
        for name in ["", "OPENAI_API_KEY", "_A1"] {
            assert!(ValueKind::Variable.of_text(name).is_some(), "{name}");
        }
        for key in ["sk-abc", "AIzaSy", "1KEY", "A KEY"] {
            assert!(ValueKind::Variable.of_text(key).is_none(), "{key}");
        }
    }

    #[test]
    fn a_catalog_is_a_path_or_a_table_with_file_or_command() {
        let of = |line: &str| {
            let table = DeTable::parse(line).unwrap().into_inner();
            let (_, value) = table.iter().next().unwrap();
            ValueKind::Catalogs.of_toml(value.get_ref())
        };
        let Some(Value::Catalogs(catalogs)) =
            of("a = ['x.json', {discover = ['d'], call = ['c', '-v'], confined = false}]")
        else {
            panic!("two catalogs")
        };
        assert_eq!((catalogs[0].file.as_str(), catalogs[0].confined), ("x.json", true));
        assert_eq!((catalogs[1].call.len(), catalogs[1].confined), (2, false));
        for line in ["a = ['']", "a = [{}]", "a = [{file = 'x', discover = ['d']}]", "a = [{fil = 'x'}]", "a = 'x'"] {
            assert!(of(line).is_none(), "{line}");
        }
    }
}
