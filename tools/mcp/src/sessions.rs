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

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn the_session_that_was_used_longest_ago_is_closed() {
        let sessions = Sessions::default();
        let (mut ids, mut transports) = (vec![], vec![]);
        for _ in 0..MAX_SESSIONS {
            let (id, transport) = sessions.manager.create_session().await.unwrap();
            sessions.opened(&id).await;
            ids.push(id);
            transports.push(transport);
        }
        let open = async |id: &SessionId| sessions.manager.sessions.read().await.contains_key(id);
        sessions.used(&ids[0]).await;
        sessions.used("no such session").await;
        let (new, _transport) = sessions.manager.create_session().await.unwrap();
        sessions.opened(&new).await;
        assert_eq!((open(&ids[0]).await, open(&ids[1]).await, open(&new).await), (true, false, true));
        assert_eq!(sessions.used.lock().await.len(), MAX_SESSIONS);
        // A session that ended by itself does not count against the limit.
        sessions.manager.close_session(&ids[5]).await.unwrap();
        let (newer, _transport) = sessions.manager.create_session().await.unwrap();
        sessions.opened(&newer).await;
        assert!(open(&ids[2]).await && open(&newer).await);
    }
}
