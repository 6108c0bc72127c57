//! The browser's own DevTools socket: opens and closes tabs, answers dialogs, and quits the browser.

use std::{fs, path::Path, time::Instant};

use serde_json::{Value, json};
use url::Url;

use super::socket::Socket;
use crate::{endpoint::Endpoint, error::CommandError, limits};

/// The browser's socket, with a common deadline for all commands.
pub(crate) struct BrowserSocket {
    socket: Socket,
    deadline: Instant,
}

/// The URL of the socket of the browser that runs on the profile in `folder`, from the file that the browser
/// writes.
pub(crate) fn socket_of(folder: &Path) -> Option<Url> {
    let text = fs::read_to_string(folder.join("DevToolsActivePort")).ok()?;
    let (port, path) = text.trim_end().split_once('\n')?;
    let port: u16 = port.parse().ok()?;
    Url::parse(&format!("ws://127.0.0.1:{port}{path}")).ok()
}

impl BrowserSocket {
    /// Connects to the browser.
    pub(crate) fn connect(endpoint: &Endpoint, deadline: Instant) -> Result<Self, CommandError> {
        let devtools = endpoint.devtools.as_ref().ok_or(CommandError::Gone)?;
        Ok(Self { socket: Socket::connect(devtools, deadline)?, deadline })
    }

    /// Sends a command, and returns its result.
    pub(crate) fn command(&mut self, method: &str, params: &Value) -> Result<Value, CommandError> {
        let id = self.socket.send(None, method, params)?;
        loop {
            let incoming = self.socket.receive(self.deadline)?;
            if incoming.id == Some(id) {
                return incoming.into_result();
            }
        }
    }

    /// Answers every dialog of every page until the browser is gone. `js/watch.js` answers dialogs in the
    /// documents in which it runs; a frame of another site runs in another process. An open dialog blocks its
    /// tab and the driver, and so every call that needs a new tab.
    pub(crate) fn answer_dialogs(mut self) {
        let pages =
            json!({"autoAttach": true, "waitForDebuggerOnStart": false, "flatten": true, "filter": [{"type": "page"}]});
        let mut sent = self.socket.send(None, "Target.setAutoAttach", &pages);
        while !matches!(sent, Err(CommandError::Gone)) {
            let incoming = match self.socket.receive(Instant::now() + limits::EVENT_TIMEOUT) {
                Ok(incoming) => incoming,
                Err(CommandError::Gone) => return,
                Err(_) => continue,
            };
            let session = incoming.session.as_deref();
            sent = match incoming.method.as_str() {
                "Target.attachedToTarget" => {
                    self.socket.send(incoming.params["sessionId"].as_str(), "Page.enable", &json!({}))
                }
                "Page.javascriptDialogOpening" => {
                    let answer = json!({"accept": incoming.params["type"] != "prompt"});
                    self.socket.send(session, "Page.handleJavaScriptDialog", &answer)
                }
                _ => continue,
            };
        }
    }

    /// Opens an empty tab, in a new window if `window`, and returns its handle. A tab in its own window is
    /// never in the background.
    pub(crate) fn open_tab(&mut self, window: bool) -> Result<String, CommandError> {
        let opened = self.command("Target.createTarget", &json!({"url": "about:blank", "newWindow": window}))?;
        opened["targetId"].as_str().map(str::to_owned).ok_or(CommandError::Gone)
    }

    /// Closes a tab immediately, even if its page is busy. The last tab is replaced by an empty one first, because
    /// a browser without tabs quits.
    pub(crate) fn close_tab(&mut self, handle: &str) -> Result<(), CommandError> {
        if self.tabs()?.iter().all(|tab| tab == handle) {
            self.open_tab(false)?;
        }
        self.command("Target.closeTarget", &json!({"targetId": handle})).map(drop)
    }

    /// Closes the tabs that the page in the tab `handle` opened.
    pub(crate) fn close_opened_by(&mut self, handle: &str) -> Result<(), CommandError> {
        let targets = self.command("Target.getTargets", &json!({"filter": [{"type": "page"}]}))?;
        for info in targets["targetInfos"].as_array().into_iter().flatten() {
            if info["openerId"] == handle
                && let Some(opened) = info["targetId"].as_str()
            {
                self.command("Target.closeTarget", &json!({"targetId": opened}))?;
            }
        }
        Ok(())
    }

    /// The handles of all open tabs.
    fn tabs(&mut self) -> Result<Vec<String>, CommandError> {
        Ok(self.tab_urls()?.into_iter().map(|(handle, _)| handle).collect())
    }

    /// The handle and the URL of every open tab.
    pub(crate) fn tab_urls(&mut self) -> Result<Vec<(String, String)>, CommandError> {
        let targets = self.command("Target.getTargets", &json!({"filter": [{"type": "page"}]}))?;
        let infos = targets["targetInfos"].as_array().into_iter().flatten();
        let text = |info: &Value, key: &str| info[key].as_str().map(str::to_owned);
        Ok(infos.filter_map(|info| Some((text(info, "targetId")?, text(info, "url")?))).collect())
    }

    /// Asks the browser to quit normally. Its tabs are made empty before: the browser reopens its tabs at the
    /// next start, which is how it keeps session cookies. Returns whether all tabs became empty; a busy page
    /// prevents that.
    pub(crate) fn quit(mut self) -> Result<bool, CommandError> {
        let emptied = self.empty()?;
        self.command("Browser.close", &json!({})).map(|_| emptied)
    }

    /// Closes every tab but an empty one, which ends what they load; whether that is done.
    pub(crate) fn empty(&mut self) -> Result<bool, CommandError> {
        let open = self.tabs()?;
        self.open_tab(false)?;
        for handle in open {
            self.command("Target.closeTarget", &json!({"targetId": handle}))?;
        }
        let until = Instant::now() + limits::TABS_CLOSE_TIMEOUT;
        let mut emptied = self.tabs()?.len() == 1;
        while !emptied && Instant::now() < until {
            std::thread::sleep(limits::TAB_RETRY);
            emptied = self.tabs()?.len() == 1;
        }
        Ok(emptied)
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::cdp::socket::tests::server;
    use tungstenite::Message;

    #[test]
    fn the_socket_is_where_the_browser_says() {
        let folder = tempfile::tempdir().unwrap();
        assert_eq!(socket_of(folder.path()), None);
        fs::write(folder.path().join("DevToolsActivePort"), "4711\n/devtools/browser/u-1\n").unwrap();
        assert_eq!(socket_of(folder.path()).unwrap().as_str(), "ws://127.0.0.1:4711/devtools/browser/u-1");
        fs::write(folder.path().join("DevToolsActivePort"), "x\n/y").unwrap();
        assert_eq!(socket_of(folder.path()), None);
    }

    #[test]
    fn the_last_tab_is_replaced_before_it_is_closed() {
        // The received commands, for a browser whose only tab is `one`.
        let (send, commands) = std::sync::mpsc::channel();
        let devtools = server(move |mut stream| {
            while let Ok(message) = stream.read() {
                let Ok(command) = serde_json::from_str::<Value>(message.to_text().unwrap()) else { return };
                let method = command["method"].as_str().unwrap().to_owned();
                let result = match method.as_str() {
                    "Target.getTargets" => json!({"targetInfos": [{"targetId": "one", "url": "about:blank"}]}),
                    "Target.createTarget" => json!({"targetId": "two"}),
                    _ => json!({}),
                };
                send.send(method).unwrap();
                stream.send(Message::text(json!({"id": command["id"], "result": result}).to_string())).unwrap();
            }
        });
        let endpoint = Endpoint { webdriver: devtools.clone(), devtools: Some(devtools), is_remote: false };
        let mut browser = BrowserSocket::connect(&endpoint, Instant::now() + Duration::from_secs(10)).unwrap();
        browser.close_tab("one").unwrap();
        assert_eq!(
            commands.try_iter().collect::<Vec<_>>(),
            ["Target.getTargets", "Target.createTarget", "Target.closeTarget"]
        );
        browser.close_tab("three").unwrap();
        assert_eq!(commands.try_iter().collect::<Vec<_>>(), ["Target.getTargets", "Target.closeTarget"]);
    }
}
