//! The open tabs of a project's browser, over its debugging socket, and one of them used with keys.

use std::{fs, net::TcpStream, path::Path, time::Duration};

use serde_json::{Value, json};
use tungstenite::{Message, WebSocket};

use crate::json;

/// The addresses in the tabs of the browser of the project in `folder`.
///
/// # Panics
///
/// Where no browser is open there.
pub fn tabs(folder: &Path) -> Vec<String> {
    let pages = list(folder).into_iter().filter(|target| target["type"] == "page");
    pages.map(|target| target["url"].as_str().unwrap().to_owned()).collect()
}

fn port(folder: &Path) -> u16 {
    let file = folder.join(".tmp/cache/browser_profile/DevToolsActivePort");
    fs::read_to_string(file).unwrap().lines().next().unwrap().parse().unwrap()
}

/// The browser's list of its open pages.
fn list(folder: &Path) -> Vec<Value> {
    let list = json::get(port(folder), "/json/list", Duration::from_secs(5)).unwrap();
    list.as_array().unwrap().clone()
}

/// A tab of a project's browser, as a person uses it: with keys, and with eyes.
pub struct Tab {
    socket: WebSocket<TcpStream>,
}

impl Tab {
    /// The tab that shows `url` in the browser of the project in `folder`.
    ///
    /// # Panics
    ///
    /// Where there is none.
    pub fn of(folder: &Path, url: &str) -> Self {
        let page = list(folder).into_iter().find(|target| target["url"] == url).expect("the page is open");
        let url = page["webSocketDebuggerUrl"].as_str().unwrap();
        let stream = TcpStream::connect(("127.0.0.1", port(folder))).unwrap();
        stream.set_read_timeout(Some(Duration::from_mins(1))).unwrap();
        Self { socket: tungstenite::client(url, stream).unwrap().0 }
    }

    /// The answer to a command of the browser's protocol.
    ///
    /// # Panics
    ///
    /// Where it fails.
    pub fn command(&mut self, method: &str, params: &Value) -> Value {
        let command = json!({"id": 1, "method": method, "params": params});
        self.socket.send(Message::text(command.to_string())).unwrap();
        loop {
            let mut message: Value = serde_json::from_str(self.socket.read().unwrap().to_text().unwrap()).unwrap();
            if message["id"] == 1 {
                assert!(message["error"].is_null(), "{method}: {message}");
                return message["result"].take();
            }
        }
    }

    /// The value of `expression` in the page, when it is settled.
    ///
    /// # Panics
    ///
    /// Where it throws.
    pub fn value(&mut self, expression: &str) -> Value {
        let params = json!({"expression": expression, "awaitPromise": true, "returnByValue": true});
        let mut answer = self.command("Runtime.evaluate", &params);
        assert!(answer["exceptionDetails"].is_null(), "{expression}: {answer}");
        answer["result"]["value"].take()
    }

    /// Presses and releases keys as a keyboard does: a character each, or the name of one such as `Enter`.
    pub fn press(&mut self, keys: &[&str]) {
        for key in keys {
            let (code, text) = match *key {
                "Tab" => (9, ""),
                "Enter" => (13, "\r"),
                "Escape" => (27, ""),
                "Backspace" => (8, ""),
                " " => (32, " "),
                character => (u32::from(character.to_ascii_uppercase().as_bytes()[0]), character),
            };
            let params = json!({"key": key, "windowsVirtualKeyCode": code});
            let mut down = params.clone();
            (down["type"], down["text"]) = ("keyDown".into(), text.into());
            self.command("Input.dispatchKeyEvent", &down);
            let mut up = params;
            up["type"] = "keyUp".into();
            self.command("Input.dispatchKeyEvent", &up);
        }
    }
}
