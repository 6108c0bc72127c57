//! The output of a run, checked against the contract.

use std::process;

use serde_json::Value;

/// The keys of every error, in order.
const ERROR_KEYS: [&str; 5] = ["status", "error_code", "message", "remediation_suggestion", "details"];

/// The end of a run that kept the contract.
pub struct Output {
    /// The exit status: 0, 1 or 2.
    pub code: i32,
    /// The answer, where the tool succeeded.
    pub stdout_json: Option<Value>,
    /// The error, where it failed.
    pub stderr_json: Option<Value>,
    /// The exact output.
    pub raw: process::Output,
}

impl Output {
    /// Checks a run against the contract: one JSON value on standard output and silence on
    /// standard error, or silence and one JSON error, with the exit status that belongs to it.
    pub(super) fn checked(raw: process::Output) -> Result<Self, String> {
        let Some(code) = raw.status.code() else { return Err(format!("it ended by {}", raw.status)) };
        let (speaks, silent) = if code == 0 { (&raw.stdout, &raw.stderr) } else { (&raw.stderr, &raw.stdout) };
        if !silent.is_empty() {
            return Err(format!("exit status {code} with something on the other stream"));
        }
        let text = str::from_utf8(speaks).map_err(|error| format!("not UTF-8: {error}"))?;
        let json: Value = serde_json::from_str(text).map_err(|error| format!("not one JSON value: {error}"))?;
        let status = &json["status"];
        match code {
            0 if status != "success" => return Err(format!("exit status 0 with status {status}")),
            0 => {}
            1 | 2 => error_is_whole(&json, code)?,
            _ => return Err(format!("exit status {code}")),
        }
        let (stdout_json, stderr_json) = if code == 0 { (Some(json), None) } else { (None, Some(json)) };
        Ok(Self { code, stdout_json, stderr_json, raw })
    }

    /// The answer of a run that had to succeed.
    ///
    /// # Panics
    ///
    /// Where it failed.
    pub fn answer(&self) -> &Value {
        let error = self.stderr_json.as_ref().map(Value::to_string).unwrap_or_default();
        self.stdout_json.as_ref().unwrap_or_else(|| panic!("the tool failed: {error}"))
    }

    /// The error of a run that had to fail with `code`.
    ///
    /// # Panics
    ///
    /// Where it succeeded, or failed otherwise.
    pub fn error(&self, code: &str) -> &Value {
        let answer = self.stdout_json.as_ref().map(Value::to_string).unwrap_or_default();
        let error = self.stderr_json.as_ref().unwrap_or_else(|| panic!("no {code}, but an answer: {answer}"));
        assert_eq!(error["error_code"], code, "{error}");
        error
    }
}

fn error_is_whole(error: &Value, exit: i32) -> Result<(), String> {
    let Some(fields) = error.as_object() else { return Err(format!("an error that is not an object: {error}")) };
    if !fields.keys().eq(ERROR_KEYS) {
        return Err(format!("an error with other keys than {ERROR_KEYS:?}: {error}"));
    }
    let full = |key: &str| error[key].as_str().is_some_and(|text| !text.is_empty());
    if error["status"] != "error" || !ERROR_KEYS[1..4].iter().all(|key| full(key)) || !error["details"].is_object() {
        return Err(format!("an error that does not say what it must: {error}"));
    }
    let is_usage = error["error_code"] == "ARGUMENT_ERROR" || error["error_code"] == "NOT_ALLOWED_IN_ARGUMENTS";
    if (exit == 2) != is_usage {
        return Err(format!("exit status {exit} with {}", error["error_code"]));
    }
    Ok(())
}

#[cfg(all(test, unix))]
mod tests {
    use std::os::unix::process::ExitStatusExt;

    use super::*;

    const ERROR: &str =
        r#"{"status":"error","error_code":"GONE","message":"m","remediation_suggestion":"r","details":{}}"#;

    fn check(code: i32, stdout: &str, stderr: &str) -> Result<Output, String> {
        let status = process::ExitStatus::from_raw(code << 8);
        Output::checked(process::Output { status, stdout: stdout.into(), stderr: stderr.into() })
    }

    #[test]
    fn output_that_keeps_the_contract_passes() {
        assert_eq!(check(0, "{\"status\": \"success\", \"n\": 1}\n", "").unwrap().answer()["n"], 1);
        assert_eq!(check(1, "", ERROR).unwrap().error("GONE")["message"], "m");
        let usage = ERROR.replace("GONE", "ARGUMENT_ERROR");
        assert_eq!(check(2, "", &usage).unwrap().code, 2);
    }

    #[test]
    fn output_that_breaks_the_contract_fails() {
        let success = "{\"status\": \"success\"}";
        for (code, stdout, stderr) in [
            (0, success, "warning"),
            (0, &format!("{success}\n{success}"), ""),
            (0, "", ""),
            (0, "{\"status\": \"error\"}", ""),
            (0, "[]", ""),
            (1, success, ERROR),
            (1, "", success),
            (1, "", "thread 'main' panicked"),
            (2, "", ERROR),
            (1, "", &ERROR.replace("GONE", "ARGUMENT_ERROR")),
            (101, "", ERROR),
            (1, "", &ERROR.replace("\"message\":\"m\",", "")),
            (1, "", &ERROR.replace("{}", "null")),
            (1, "", &ERROR.replace("\"m\"", "\"\"")),
        ] {
            assert!(check(code, stdout, stderr).is_err(), "{code} {stdout} {stderr}");
        }
        let killed = process::Output { status: process::ExitStatus::from_raw(9), stdout: vec![], stderr: vec![] };
        assert!(Output::checked(killed).is_err());
    }
}
