//! The bearer token of the HTTP server. Each request needs it, because any local process can connect to a port.

use std::{
    fs,
    io::{self, Write},
    path::{Path, PathBuf},
};

use ragmaker_tool::{ARGUMENT_ERROR, Error, INTERNAL_ERROR};
use subtle::ConstantTimeEq;

/// The bytes of a token that is made here; it is twice as long in hexadecimal.
const BYTES: usize = 32;

/// The fewest characters of a token that is given.
const SHORTEST: usize = 16;

/// A secret that clients send in `Authorization: Bearer …`.
#[derive(Clone)]
pub(crate) struct Token {
    text: String,
    /// The file that holds it.
    pub(crate) file: PathBuf,
}

impl Token {
    /// The token in `file`; if the file does not exist, a new token is written to it.
    pub(crate) fn at(file: &Path) -> Result<Self, Error> {
        match fs::read_to_string(file) {
            Ok(text) => Self::given(file, text.trim()),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Self::made(file),
            Err(error) => Err(unusable(file, &error.to_string())),
        }
    }

    fn given(file: &Path, text: &str) -> Result<Self, Error> {
        if text.len() < SHORTEST || !text.bytes().all(|byte| byte.is_ascii_graphic()) {
            return Err(unusable(file, &format!("a token has {SHORTEST} or more visible ASCII characters")));
        }
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            let mode = fs::metadata(file).map_err(|error| unusable(file, &error.to_string()))?.permissions().mode();
            if mode & 0o077 != 0 {
                return Err(unusable(file, "others may read it").remedy("Run chmod 600 on it."));
            }
        }
        Ok(Self { text: text.to_owned(), file: file.to_owned() })
    }

    /// A token made for this server, in a `file` that only its owner can read.
    pub(crate) fn made(file: &Path) -> Result<Self, Error> {
        let mut bytes = [0; BYTES];
        getrandom::fill(&mut bytes)
            .map_err(|error| INTERNAL_ERROR.error(format!("the system gives no random bytes: {error}")))?;
        let digits = bytes.iter().flat_map(|byte| [byte >> 4, byte & 15]);
        let text: String = digits.filter_map(|digit| char::from_digit(digit.into(), 16)).collect();
        let written = write_private(file, &text);
        written.map_err(|error| unusable(file, &error.to_string()))?;
        Ok(Self { text, file: file.to_owned() })
    }

    /// Whether the value of an `Authorization` header contains the token. The comparison takes the same time
    /// wherever the two differ.
    pub(crate) fn admits(&self, authorization: Option<&[u8]>) -> bool {
        let Some((scheme, given)) = authorization.and_then(|value| value.split_at_checked("Bearer ".len())) else {
            return false;
        };
        scheme.eq_ignore_ascii_case(b"Bearer ") && bool::from(given.trim_ascii().ct_eq(self.text.as_bytes()))
    }
}

fn write_private(file: &Path, text: &str) -> io::Result<()> {
    // An old one may be readable by others, or be held open by them.
    match fs::remove_file(file) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    writeln!(ragmaker_fs::private_options().write(true).create_new(true).open(file)?, "{text}")
}

fn unusable(file: &Path, reason: &str) -> Error {
    ARGUMENT_ERROR
        .error(format!("the token file {} cannot be used: {reason}", file.display()))
        .remedy("Name another file with --token-file.")
        .detail("argument", "--token-file")
        .detail("path", file.to_string_lossy())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_is_made_once_and_admits_nobody_else() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("token");
        let token = Token::at(&file).unwrap();
        let text = fs::read_to_string(&file).unwrap();
        let text = text.trim();
        assert_eq!((text.len(), Token::at(&file).unwrap().text), (64, token.text.clone()));
        for (value, admitted) in [
            (Some(format!("Bearer {text}")), true),
            (Some(format!("bearer {text} ")), true),
            (Some(text.to_owned()), false),
            (Some(format!("Bearer {}", &text[1..])), false),
            (Some(format!("Bearer {text}0")), false),
            (Some("Bearer ".to_owned()), false),
            (Some(format!("Basic  {text}")), false),
            (None, false),
        ] {
            assert_eq!(token.admits(value.as_deref().map(str::as_bytes)), admitted, "{value:?}");
        }
        assert_ne!(Token::made(&file).unwrap().text, token.text);
    }

    #[cfg(unix)]
    #[test]
    fn a_token_that_others_read_is_refused() {
        use std::os::unix::fs::PermissionsExt;
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("token");
        Token::at(&file).unwrap();
        assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
        fs::set_permissions(&file, fs::Permissions::from_mode(0o644)).unwrap();
        assert!(Token::at(&file).is_err_and(|error| error.message().contains("others")));
        fs::write(&file, "short").unwrap();
        assert!(Token::at(&file).is_err());
    }
}
