//! Validation of arguments against the JSON schema of a tool.

use boon::{Compiler, ErrorKind, SchemaIndex, Schemas, UrlLoader, ValidationError};
use ragmaker_tool::{ARGUMENT_ERROR, Error};
use serde_json::{Value, json};

/// A compiled schema.
pub(crate) struct Schema {
    schemas: Schemas,
    index: SchemaIndex,
}

impl std::fmt::Debug for Schema {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Schema")
    }
}

/// A catalog has no say in which files and addresses are read.
struct NoRetriever;

impl UrlLoader for NoRetriever {
    fn load(&self, url: &str) -> Result<Value, Box<dyn std::error::Error>> {
        Err(format!("{url} is not read").into())
    }
}

/// The schema of the arguments in an entry, as an object. An entry without a schema has no arguments.
pub(crate) fn parameters(schema: &Value) -> Result<Value, String> {
    match schema {
        Value::Null => Ok(json!({"type": "object", "properties": {}})),
        Value::Object(members) => {
            let mut members = members.clone();
            members.remove("$schema");
            match members.get("type") {
                None => {
                    members.insert("type".to_owned(), "object".into());
                }
                // As Gemini's own declarations spell it.
                Some(Value::String(kind)) if kind.eq_ignore_ascii_case("object") => {
                    members.insert("type".to_owned(), "object".into());
                }
                Some(_) => return Err("its arguments are not an object".to_owned()),
            }
            Ok(Value::Object(members))
        }
        _ => Err("its parameters are not a JSON Schema".to_owned()),
    }
}

impl Schema {
    /// The schema in `parameters`.
    pub(crate) fn new(parameters: &Value) -> Result<Self, String> {
        const NAME: &str = "mem:parameters";
        let (mut schemas, mut compiler) = (Schemas::new(), Compiler::new());
        compiler.use_loader(Box::new(NoRetriever));
        let broken = |error: boon::CompileError| format!("its parameters are not a JSON Schema: {error}");
        compiler.add_resource(NAME, parameters.clone()).map_err(broken)?;
        let index = compiler.compile(NAME, &mut schemas).map_err(broken)?;
        Ok(Self { schemas, index })
    }

    /// Refuses arguments that the schema does not allow.
    pub(crate) fn check(&self, arguments: &Value) -> Result<(), Error> {
        self.schemas.validate(arguments, self.index).map_err(|error| {
            let mut causes = vec![];
            leaf_errors(&error, &mut causes);
            let argument = causes.first().map(|(place, _)| place.clone()).unwrap_or_default();
            let all: Vec<_> = causes.iter().take(5).map(|(place, cause)| format!("{place}: {cause}")).collect();
            ARGUMENT_ERROR
                .error(format!("the arguments do not match: {}", all.join("; ")))
                .remedy("See the tool's description for its arguments.")
                .detail("argument", argument)
        })
    }
}

/// The causes that have no further one, each with its place.
fn leaf_errors(error: &ValidationError<'_, '_>, found: &mut Vec<(String, String)>) {
    if error.causes.is_empty() {
        let place = error.instance_location.to_string();
        let place = place.trim_start_matches('/');
        let place = match &error.kind {
            ErrorKind::Required { want } => want.first().copied().unwrap_or(place),
            ErrorKind::AdditionalProperties { got } => got.first().map_or(place, |name| name.as_ref()),
            _ => place,
        };
        found.push((place.to_owned(), error.kind.to_string()));
    }
    for cause in &error.causes {
        leaf_errors(cause, found);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn invalid_members_are_named() {
        let schema = json!({"type": "object", "properties": {"url": {}, "depth": {"type": "integer"}}, "required": ["url"], "additionalProperties": false});
        let schema = Schema::new(&parameters(&schema).unwrap()).unwrap();
        for (arguments, argument) in
            [(json!({}), "url"), (json!({"url": 1, "depth": "x"}), "depth"), (json!({"url": 1, "dept": 1}), "dept")]
        {
            let error = schema.check(&arguments).unwrap_err();
            assert!(error.is(ARGUMENT_ERROR) && error.details()["argument"] == argument, "{arguments}: {error}");
        }
        schema.check(&json!({"url": "x", "depth": 1})).unwrap();
    }

    #[test]
    fn invalid_schemas_are_rejected() {
        assert!(parameters(&json!([])).is_err() && parameters(&json!({"type": "array"})).is_err());
        assert_eq!(parameters(&json!({"type": "OBJECT"})).unwrap()["type"], "object");
        assert!(Schema::new(&json!({"type": "nothing"})).is_err());
        for outside in ["file:///etc/hostname", "http://127.0.0.1:9/x", "other.json"] {
            assert!(Schema::new(&json!({"$ref": outside})).is_err(), "{outside}");
        }
    }
}
