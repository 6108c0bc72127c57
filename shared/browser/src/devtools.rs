//! The browser's own debugging socket, for the few things that must work when no driver does.
//!
//! The driver serializes what it is asked and waits for pages that do not answer; the browser
//! process itself does neither. So tabs are opened and closed here, and the browser is asked to
//! quit here: cleanly, with cookies written, whatever became of driver and pages.

use std::{
    fs,
    net::{Ipv4Addr, SocketAddr, TcpStream},
    path::Path,
    time::Duration,
};

use serde_json::{Value, json};
use tungstenite::{Message, WebSocket};

use crate::profile::Running;

/// How long the browser process may take for one command. It is never busy with pages.
const PATIENCE: Duration = Duration::from_secs(5);

/// A connection to the browser process.
pub(crate) struct DevTools(WebSocket<TcpStream>);

/// The browser is not there, or does not answer.
#[derive(Debug)]
pub(crate) struct Gone;

/// Where the browser on the profile in `folder` listens: its port and the path of its socket.
pub(crate) fn endpoint(folder: &Path) -> Option<(u16, String)> {
    let text = fs::read_to_string(folder.join("DevToolsActivePort")).ok()?;
    let (port, path) = text.trim_end().split_once('\n')?;
    Some((port.parse().ok()?, path.to_owned()))
}

impl DevTools {
    /// Connects to the browser, and to no other: the path holds a name that only it has.
    pub(crate) fn connect(running: &Running) -> Result<Self, Gone> {
        let address = SocketAddr::from((Ipv4Addr::LOCALHOST, running.debug_port));
        let stream = TcpStream::connect_timeout(&address, PATIENCE).map_err(|_| Gone)?;
        stream.set_read_timeout(Some(PATIENCE)).map_err(|_| Gone)?;
        stream.set_nodelay(true).map_err(|_| Gone)?;
        let (socket, _) =
            tungstenite::client(format!("ws://{address}{}", running.debug_path), stream).map_err(|_| Gone)?;
        Ok(Self(socket))
    }

    /// Gives one command and waits for its result.
    pub(crate) fn command(&mut self, method: &str, params: &Value) -> Result<Value, Gone> {
        let command = json!({"id": 1, "method": method, "params": params});
        self.0.send(Message::text(command.to_string())).map_err(|_| Gone)?;
        loop {
            let message = self.0.read().map_err(|_| Gone)?;
            let Ok(mut answer) = serde_json::from_str::<Value>(message.to_text().unwrap_or_default()) else { continue };
            if answer["id"] == 1 {
                return if answer["error"].is_null() { Ok(answer["result"].take()) } else { Err(Gone) };
            }
        }
    }

    /// Opens an empty tab in a window of its own, so that it is never in the background, and
    /// returns its handle.
    pub(crate) fn open_tab(&mut self, window: bool) -> Result<String, Gone> {
        let opened = self.command("Target.createTarget", &json!({"url": "about:blank", "newWindow": window}))?;
        opened["targetId"].as_str().map(str::to_owned).ok_or(Gone)
    }

    /// Closes a tab at once, however busy its page is. The last one is replaced by an empty one
    /// first: a browser without tabs quits.
    pub(crate) fn close_tab(&mut self, handle: &str) -> Result<(), Gone> {
        if self.tabs()?.iter().all(|tab| tab == handle) {
            self.open_tab(false)?;
        }
        self.command("Target.closeTarget", &json!({"targetId": handle})).map(drop)
    }

    /// The handles of all open tabs.
    pub(crate) fn tabs(&mut self) -> Result<Vec<String>, Gone> {
        let targets = self.command("Target.getTargets", &json!({"filter": [{"type": "page"}]}))?;
        let infos = targets["targetInfos"].as_array().into_iter().flatten();
        Ok(infos.filter_map(|info| info["targetId"].as_str().map(str::to_owned)).collect())
    }

    /// Asks the browser to quit as a person would. Its tabs are left empty: the browser opens
    /// again what was open, which is how it keeps session cookies.
    pub(crate) fn quit(mut self) -> Result<(), Gone> {
        let open = self.tabs()?;
        self.open_tab(false)?;
        for handle in open {
            self.command("Target.closeTarget", &json!({"targetId": handle}))?;
        }
        self.command("Browser.close", &json!({})).map(drop)
    }
}
