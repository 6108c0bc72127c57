//! Names that code gives to modules and functions: imports, and the members that an assignment takes from a module.

use super::{Reader, tokens::Token, value::Value};

/// The target of an import.
enum Imported {
    /// A module, or the whole of the module that is named after `from`.
    Whole(String),
    /// A member of the module that is named after `from`.
    Member(String),
}

impl Reader<'_, '_, '_> {
    /// Reads `import a.b as c`, `from a import b as c`, or an import of JavaScript, if one begins here.
    pub(super) fn imports(&mut self) -> bool {
        let Some(Token::Name(word)) = self.token(0) else { return false };
        match (word.as_str(), self.token(1)) {
            ("from", Some(Token::Name(module))) => {
                let module = module.clone();
                self.at += 3;
                self.skip('(');
                for (member, name) in self.members() {
                    self.variables.insert(name, Value::named(format!("{module}.{member}")));
                }
                true
            }
            ("import", Some(Token::Name(_) | Token::Sign('{' | '*'))) => {
                self.at += 1;
                self.imported();
                true
            }
            _ => false,
        }
    }

    /// Reads what follows `import`.
    fn imported(&mut self) {
        let mut found = vec![];
        loop {
            if self.skip('{') {
                found.extend(self.members().into_iter().map(|(member, name)| (Imported::Member(member), name)));
                self.skip('}');
            } else if self.skip('*') {
                self.at += 1;
                found.extend(self.members().into_iter().map(|(module, name)| (Imported::Whole(module), name)));
            } else {
                found.extend(self.members().into_iter().map(|(module, name)| (Imported::Whole(module), name)));
            }
            let goes_on = matches!(self.token(0), Some(Token::Sign('{' | '*')));
            if !goes_on {
                break;
            }
        }
        let from = match (self.token(0), self.token(1)) {
            (Some(Token::Name(word)), Some(Token::Text(module))) if word == "from" => Some(module_name(module)),
            _ => None,
        };
        for (imported, name) in found {
            let whole = match (imported, &from) {
                (Imported::Whole(_), Some(from)) => from.clone(),
                (Imported::Whole(module), None) => module,
                (Imported::Member(member), Some(from)) => format!("{from}.{member}"),
                (Imported::Member(_), None) => continue,
            };
            self.variables.insert(name, Value::named(whole));
        }
    }

    /// Reads `{a, b: c} = MODULE`, if one begins here.
    pub(super) fn takes_apart(&mut self) -> bool {
        let start = self.at;
        if !self.skip('{') {
            return false;
        }
        let members = self.members();
        if !(self.skip('}') && self.skip('=')) {
            self.at = start;
            return false;
        }
        if let Some(module) = self.expression().name {
            for (member, name) in members {
                self.variables.insert(name, Value::named(format!("{module}.{member}")));
            }
        }
        true
    }

    /// Names with commas between them, each with the name that it gets.
    fn members(&mut self) -> Vec<(String, String)> {
        let mut members = vec![];
        while let Some(member) = self.name().filter(|name| name != "from") {
            self.at += 1;
            let mut name = member.clone();
            if self.skip(':') || self.name().is_some_and(|word| word == "as") {
                self.at += usize::from(self.name().is_some_and(|word| word == "as"));
                name = self.name().unwrap_or(name);
                self.at += 1;
            }
            members.push((member, name));
            if !self.skip(',') {
                break;
            }
        }
        members
    }

    fn name(&self) -> Option<String> {
        match self.token(0) {
            Some(Token::Name(name)) => Some(name.clone()),
            _ => None,
        }
    }
}

/// The name of the module that is imported by a text such as `node:fs/promises`.
pub(super) fn module_name(text: &str) -> String {
    text.trim_start_matches("node:").replace('/', ".")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn modules_of_node_have_names_with_points() {
        assert_eq!(module_name("node:fs/promises"), "fs.promises");
        assert_eq!(module_name("child_process"), "child_process");
    }
}
