//! A tab of a browser that a test plays.

use std::{
    sync::{Arc, Mutex},
    time::{Duration, Instant},
};

use serde_json::{Value, json};
use tungstenite::Message;

use super::{TabSocket, socket::tests::server};
use crate::endpoint::Endpoint;

/// The commands that a browser received.
pub(crate) type Commands = Arc<Mutex<Vec<Value>>>;

/// A deadline that no test reaches.
pub(crate) fn soon() -> Instant {
    Instant::now() + Duration::from_secs(10)
}

/// The answer to a command.
pub(crate) fn result(value: Value) -> Value {
    [("result", value)].into_iter().collect()
}

/// The answer that refuses a command.
pub(crate) fn refused() -> Value {
    json!({"error": {"message": "no such thing"}})
}

/// The socket of a tab `T`, and the commands that its browser received. The browser sends the messages that `answer`
/// returns for a command; those that are not events answer it.
pub(crate) fn tab(mut answer: impl FnMut(&Value) -> Vec<Value> + Send + 'static) -> (TabSocket, Commands) {
    let commands = Commands::default();
    let received = Arc::clone(&commands);
    let devtools = server(move |mut stream| {
        while let Ok(message) = stream.read() {
            let Ok(command) = serde_json::from_str::<Value>(message.to_text().unwrap_or_default()) else { return };
            received.lock().unwrap().push(command.clone());
            for mut message in answer(&command) {
                if message["method"].is_null() {
                    message["id"] = command["id"].clone();
                }
                if stream.send(Message::text(message.to_string())).is_err() {
                    return;
                }
            }
        }
    });
    let endpoint = Endpoint { webdriver: devtools.clone(), devtools: Some(devtools), is_remote: false };
    (TabSocket::connect(&endpoint, "T", soon()).unwrap(), commands)
}

/// The number of commands `method` that a browser received.
pub(crate) fn count(commands: &Commands, method: &str) -> usize {
    commands.lock().unwrap().iter().filter(|command| command["method"] == method).count()
}
