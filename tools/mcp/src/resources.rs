//! Knowledge bases and their documents as resources of the protocol, and notifications of changes.
//!
//! Changes are found by polling, because other processes change knowledge bases; polling a file takes microseconds.

use std::{
    collections::HashMap,
    path::PathBuf,
    sync::{Arc, PoisonError},
    time::{Duration, Instant, SystemTime},
};

use ragmaker_registry::resources::{self, Contents, Stamp};
use ragmaker_tool::{Error, HostOptions, INTERNAL_ERROR};
use rmcp::{
    ErrorData, RoleServer,
    model::{
        ErrorCode, ListResourcesResult, PaginatedRequestParams, ReadResourceResult, Resource, ResourceContents,
        ResourceUpdatedNotificationParam, SubscriptionFilter,
    },
    service::{Peer, SubscriptionContext},
};
use tokio::{
    sync::Mutex,
    task::{AbortHandle, JoinHandle, spawn_blocking},
};

/// How many resources one page of the list has.
const PAGE: usize = 500;

/// The interval at which watched resources are checked.
const LOOK: Duration = Duration::from_secs(1);

/// The interval of the search for new knowledge bases, which walks through the project.
const SEARCH: Duration = Duration::from_secs(10);

/// The maximum number of subscriptions that are accepted and not yet acknowledged.
const MAX_ACCEPTED: usize = 64;

/// The maximum number of resources that one client watches.
const MAX_WATCHED: usize = 256;

/// The resources of a host, and what one client watches of them.
#[derive(Clone)]
pub(crate) struct Resources {
    host: Arc<HostOptions>,
    /// The watches of a client of the older revisions: by address, and that of the list without one.
    watches: Arc<Mutex<HashMap<Option<String>, AbortHandle>>>,
    /// The subscriptions of the newest revision that are accepted and not yet acknowledged.
    accepted: Arc<std::sync::Mutex<Vec<PendingSubscription>>>,
}

/// A filter, and the first look at what it names.
type PendingSubscription = (SubscriptionFilter, JoinHandle<Result<WatchedResources, Error>>);

impl Resources {
    pub(crate) fn new(host: Arc<HostOptions>) -> Self {
        Self { host, watches: Arc::default(), accepted: Arc::default() }
    }

    /// The same resources for another client.
    pub(crate) fn for_another_client(&self) -> Self {
        Self::new(Arc::clone(&self.host))
    }

    /// A page of the list.
    pub(crate) async fn list(&self, page: Option<PaginatedRequestParams>) -> Result<ListResourcesResult, ErrorData> {
        let start = match page.and_then(|page| page.cursor) {
            Some(cursor) => cursor
                .parse()
                .map_err(|_| ErrorData::invalid_params(format!("{cursor:?} is not a cursor of this server"), None))?,
            None => 0,
        };
        let host = Arc::clone(&self.host);
        let all = blocking(move || resources::list(&host)).await?;
        let total = all.len();
        let page = all.into_iter().skip(start).take(PAGE).map(|found| {
            let resource = Resource::new(found.uri, found.name).with_title(found.title).with_mime_type(found.mime_type);
            let resource = resource.with_size(found.size);
            if found.description.is_empty() { resource } else { resource.with_description(found.description) }
        });
        let mut list = ListResourcesResult::with_all_items(page.collect());
        list.next_cursor = (start + PAGE < total).then(|| (start + PAGE).to_string());
        Ok(list)
    }

    /// Reads a resource.
    pub(crate) async fn read(&self, uri: String) -> Result<ReadResourceResult, ErrorData> {
        let (host, asked) = (Arc::clone(&self.host), uri.clone());
        let Contents { text, mime_type } = blocking(move || resources::read(&asked, &host)).await?;
        Ok(ReadResourceResult::new(vec![ResourceContents::text(text, uri).with_mime_type(mime_type)]))
    }

    /// Tells the client of each change of the resource at `uri`; without one, of changes of the list.
    pub(crate) async fn watch(&self, uri: Option<String>, peer: Peer<RoleServer>) -> Result<(), ErrorData> {
        let mut watches = self.watches.lock().await;
        if watches.contains_key(&uri) {
            return Ok(());
        }
        if watches.len() >= MAX_WATCHED {
            return Err(ErrorData::invalid_params(format!("{MAX_WATCHED} resources are watched already"), None));
        }
        let (host, asked) = (Arc::clone(&self.host), uri.clone());
        let mut changes =
            blocking(move || WatchedResources::of(&host, asked.as_slice(), asked.is_none(), None)).await?;
        let watch = tokio::spawn(async move {
            while !peer.is_transport_closed() {
                let told = match changes.next().await {
                    Change::Resource(uri) => {
                        peer.notify_resource_updated(ResourceUpdatedNotificationParam::new(uri)).await
                    }
                    Change::List => peer.notify_resource_list_changed().await,
                    Change::None => Ok(()),
                };
                if told.is_err() {
                    return;
                }
            }
        });
        watches.insert(uri, watch.abort_handle());
        Ok(())
    }

    /// Ends a watch.
    pub(crate) async fn unwatch(&self, uri: String) {
        if let Some(watch) = self.watches.lock().await.remove(&Some(uri)) {
            watch.abort();
        }
    }

    /// Accepts a subscription of the newest revision: the client is told of every change from now on. The SDK
    /// acknowledges the subscription between this and [`listen`](Self::listen).
    pub(crate) fn accept(&self, requested: &SubscriptionFilter) {
        let mut uris = requested.resource_subscriptions.clone().unwrap_or_default();
        uris.truncate(MAX_WATCHED);
        let (host, list) = (Arc::clone(&self.host), requested.resources_list_changed == Some(true));
        // A walk through the project, which must not hold up other requests.
        let now = SystemTime::now();
        let look = spawn_blocking(move || WatchedResources::of(&host, &uris, list, Some(now)));
        let mut accepted = self.accepted();
        // One whose acknowledgement failed is never listened to.
        if accepted.len() >= MAX_ACCEPTED {
            drop(accepted.remove(0));
        }
        accepted.push((requested.clone(), look));
    }

    fn accepted(&self) -> std::sync::MutexGuard<'_, Vec<PendingSubscription>> {
        self.accepted.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Tells a client of the newest revision of changes, until it ends its subscription.
    pub(crate) async fn listen(&self, subscription: SubscriptionContext) -> Result<(), ErrorData> {
        let look = {
            let mut accepted = self.accepted();
            // Of two with one filter, either start will do.
            let at = accepted.iter().position(|(filter, _)| filter == subscription.requested());
            at.map(|at| accepted.remove(at).1)
                .ok_or_else(|| ErrorData::internal_error("the subscription was not accepted", None))?
        };
        let mut watched = ended(look).await?;
        let sink = subscription.sink();
        loop {
            let change = tokio::select! {
                change = watched.next() => change,
                () = subscription.cancelled() => return Ok(()),
            };
            let told = match change {
                Change::Resource(uri) => sink.notify_resource_updated(uri).await,
                Change::List => sink.notify_resource_list_changed().await,
                Change::None => Ok(()),
            };
            if told.is_err() {
                return Ok(());
            }
        }
    }
}

impl Drop for Resources {
    fn drop(&mut self) {
        // The last clone of a client that has gone: nobody is left to be told.
        if Arc::strong_count(&self.watches) == 1
            && let Ok(watches) = self.watches.try_lock()
        {
            watches.values().for_each(AbortHandle::abort);
        }
    }
}

/// The last seen state of the watched resources.
#[derive(Debug)]
struct WatchedResources {
    host: Arc<HostOptions>,
    resources: Vec<(String, PathBuf, Stamp)>,
    /// The catalogs, where the list is watched.
    catalogs: Option<Vec<(PathBuf, Stamp)>>,
    searched: Instant,
}

enum Change {
    Resource(String),
    List,
    None,
}

impl WatchedResources {
    /// A first look. What changed after `since`, or in the second before it, counts as a change to tell of.
    fn of(host: &Arc<HostOptions>, uris: &[String], list: bool, since: Option<SystemTime>) -> Result<Self, Error> {
        // The times of files are those of a clock that is some milliseconds behind.
        let since = since.and_then(|since| since.checked_sub(LOOK));
        let seen =
            |stamp: Stamp| stamp.filter(|(_, modified)| modified.is_none() || *modified < since || since.is_none());
        let mut resources = vec![];
        for uri in uris {
            let file = resources::find(uri, host)?;
            let stamp = seen(resources::stamp(&file));
            resources.push((uri.clone(), file, stamp));
        }
        let mut catalogs = list.then(|| resources::stamps(host));
        for (_, stamp) in catalogs.iter_mut().flatten() {
            *stamp = seen(*stamp);
        }
        Ok(Self { host: Arc::clone(host), resources, catalogs, searched: Instant::now() })
    }

    /// The next change; or none, for now.
    async fn next(&mut self) -> Change {
        tokio::time::sleep(LOOK).await;
        for (uri, file, stamp) in &mut self.resources {
            let now = resources::stamp(file);
            if now != *stamp {
                *stamp = now;
                return Change::Resource(uri.clone());
            }
        }
        let Some(known) = &mut self.catalogs else { return Change::None };
        let now = if self.searched.elapsed() >= SEARCH {
            self.searched = Instant::now();
            catalogs(&self.host).await
        } else {
            known.iter().map(|(file, _)| (file.clone(), resources::stamp(file))).collect()
        };
        if now == *known {
            return Change::None;
        }
        *known = now;
        Change::List
    }
}

async fn catalogs(host: &Arc<HostOptions>) -> Vec<(PathBuf, Stamp)> {
    let host = Arc::clone(host);
    spawn_blocking(move || resources::stamps(&host)).await.unwrap_or_default()
}

/// Does work that waits for the disk.
async fn blocking<T: Send + 'static>(work: impl FnOnce() -> Result<T, Error> + Send + 'static) -> Result<T, ErrorData> {
    ended(spawn_blocking(work)).await
}

/// The result of such work.
async fn ended<T>(work: JoinHandle<Result<T, Error>>) -> Result<T, ErrorData> {
    let done = work.await.map_err(|error| INTERNAL_ERROR.error(error.to_string()));
    done.and_then(|done| done).map_err(not_found)
}

fn not_found(error: Error) -> ErrorData {
    let code = if error.is(INTERNAL_ERROR) { ErrorCode::INTERNAL_ERROR } else { ErrorCode::RESOURCE_NOT_FOUND };
    ErrorData::new(code, format!("{error}. {}", error.remediation()), serde_json::to_value(error).ok())
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    /// A host of a project with a knowledge base of one document.
    fn host() -> (tempfile::TempDir, Arc<HostOptions>, String) {
        let folder = tempfile::tempdir().unwrap();
        let cache = folder.path().join("kb/cache");
        fs::create_dir_all(cache.join("documents")).unwrap();
        fs::write(cache.join("documents/a.md"), "# A\n").unwrap();
        let catalog = r#"{"title": "Tides", "documents": [{"url": "https://x.example/", "title": "A", "path": "documents/a.md"}]}"#;
        fs::write(cache.join("catalog.json"), catalog).unwrap();
        let host = HostOptions { project_root: folder.path().to_str().map(str::to_owned), ..HostOptions::default() };
        let host = Arc::new(host);
        let uri = resources::list(&host).unwrap().pop().unwrap().uri;
        (folder, host, uri)
    }

    fn done<T>(work: impl Future<Output = T>) -> T {
        tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(work)
    }

    #[test]
    fn a_list_has_pages_and_a_foreign_cursor_is_refused() {
        let (_folder, host, uri) = host();
        let resources = Resources::new(host);
        let list = |cursor: Option<&str>| {
            let page = cursor.map(|cursor| PaginatedRequestParams::default().with_cursor(Some(cursor.to_owned())));
            done(resources.list(page))
        };
        let all = list(None).unwrap();
        assert_eq!((all.resources.len(), all.next_cursor), (2, None));
        assert_eq!((all.resources[1].uri.as_str(), all.resources[1].name.as_str()), (uri.as_str(), "a.md"));
        assert_eq!(list(Some("1")).unwrap().resources.len(), 1);
        assert!(list(Some("99")).unwrap().resources.is_empty());
        for cursor in ["", "-1", "x", "\u{ff11}"] {
            assert_eq!(list(Some(cursor)).unwrap_err().code, ErrorCode::INVALID_PARAMS, "{cursor}");
        }
    }

    #[test]
    fn a_resource_is_read_or_its_error_has_a_code() {
        let (folder, host, uri) = host();
        let resources = Resources::new(host);
        let read = done(resources.read(uri)).unwrap();
        assert!(serde_json::to_string(&read).unwrap().contains("# A"));
        let other = folder.path().join("kb/cache/other.md");
        fs::write(&other, "secret").unwrap();
        for uri in [format!("file://{}", other.display()), "https://x.example/".to_owned(), String::new()] {
            let error = done(resources.read(uri)).unwrap_err();
            assert_eq!(error.code, ErrorCode::RESOURCE_NOT_FOUND);
            assert!(error.data.is_some_and(|data| data["error_code"].is_string()));
        }
        assert_eq!(not_found(INTERNAL_ERROR.error("x")).code, ErrorCode::INTERNAL_ERROR);
    }

    #[test]
    fn a_change_before_the_first_look_is_told() {
        let (folder, host, uri) = host();
        let now = SystemTime::now();
        let uris = [uri.clone()];
        let since = |since| WatchedResources::of(&host, &uris, true, since).unwrap();
        // The document was written just now.
        assert_eq!(since(Some(now)).resources[0].2, None);
        let (quiet, later) = (since(None), since(Some(now + Duration::from_mins(1))));
        assert!(quiet.resources[0].2.is_some() && later.resources[0].2.is_some());
        assert_eq!(quiet.catalogs.map(|catalogs| catalogs.len()), Some(1));
        assert!(WatchedResources::of(&host, &["file:///none".to_owned()], false, None).is_err());
        fs::write(folder.path().join("kb/cache/documents/a.md"), "# B and more\n").unwrap();
        let mut watched = since(None);
        watched.resources[0].2 = resources::stamp(&folder.path().join("none"));
        assert!(matches!(done(watched.next()), Change::Resource(changed) if changed == uri));
    }
}
