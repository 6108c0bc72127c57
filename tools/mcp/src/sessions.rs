//! The sessions over HTTP, limited in number.
//!
//! A client that disconnects without ending its session leaves the session open, and the protocol's library keeps it
//! for minutes.

use std::{collections::VecDeque, sync::Arc};

use rmcp::transport::streamable_http_server::session::{SessionId, SessionManager, local::LocalSessionManager};
use tokio::sync::Mutex;

/// The maximum number of sessions that are open at once. Each takes some 60 KB.
const MAX_SESSIONS: usize = 256;

/// The sessions that were opened.
#[derive(Default)]
pub(crate) struct Sessions {
    manager: Arc<LocalSessionManager>,
    /// The one that was used last is the last.
    used: Mutex<VecDeque<SessionId>>,
}

impl Sessions {
    /// The session manager of the protocol's library.
    pub(crate) fn manager(&self) -> Arc<LocalSessionManager> {
        Arc::clone(&self.manager)
    }

    /// Takes in that a client named this session.
    pub(crate) async fn used(&self, id: &str) {
        let mut used = self.used.lock().await;
        let at = used.iter().position(|known| **known == *id);
        if let Some(known) = at.and_then(|at| used.remove(at)) {
            used.push_back(known);
        }
    }

    /// Records a new session, and closes the least recently used one if there are too many.
    pub(crate) async fn opened(&self, id: &str) {
        let mut used = self.used.lock().await;
        used.push_back(id.into());
        if used.len() <= MAX_SESSIONS {
            return;
        }
        let open = self.manager.sessions.read().await;
        used.retain(|id| open.contains_key(id));
        drop(open);
        if used.len() > MAX_SESSIONS
            && let Some(oldest) = used.pop_front()
        {
            // One that cannot be closed has ended.
            let _ = self.manager.close_session(&oldest).await;
        }
    }
}
