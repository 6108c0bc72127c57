//! The silent hosts: hosts of other sites that did not answer. A tab remembers them between calls.
//!
//! All pages of a site use the same third parties. Without this memory, each page would wait again for a dead one. A
//! host is waited for again after some minutes, or as soon as it answers any request.

use std::{
    collections::BTreeMap,
    time::{Duration, SystemTime, UNIX_EPOCH},
};

use serde::{Deserialize, Serialize};
use url::Host;

use crate::limits::LIMITS;

/// Hosts that did not respond.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct SilentHosts(BTreeMap<String, SilentEntry>);

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct SilentEntry {
    /// The time at which it was last found silent, in milliseconds since 1970.
    at: u64,
    /// Whether it blocked a parser, so that it is not contacted any more.
    blocked: bool,
}

impl SilentHosts {
    /// The entries that have not expired.
    pub(crate) fn current(mut self) -> Self {
        let (now, memory) = (now(), LIMITS.silent_host_ttl);
        self.0.retain(|_, silence| Duration::from_millis(now.saturating_sub(silence.at)) < memory);
        self
    }

    /// Adds a silent host; `blocked` says that it blocked a parser.
    ///
    /// The entry of a known host is not renewed, because the host only gets a short time limit. It gets another
    /// chance when the entry expires.
    pub(crate) fn add(&mut self, host: &Host, blocked: bool) {
        let name = host.to_string();
        if self.0.len() >= LIMITS.silent_hosts && !self.0.contains_key(&name) {
            let oldest = self.0.iter().min_by_key(|(_, silence)| silence.at).map(|(name, _)| name.clone());
            oldest.and_then(|name| self.0.remove(&name));
        }
        let silence = self.0.entry(name).or_insert(SilentEntry { at: now(), blocked });
        if blocked && !silence.blocked {
            *silence = SilentEntry { at: now(), blocked };
        }
    }

    /// Removes a host that responded.
    pub(crate) fn forget(&mut self, host: &Host) {
        if !self.0.is_empty() {
            self.0.remove(&host.to_string());
        }
    }

    /// Whether `host` is in the list.
    pub(crate) fn contains(&self, host: &Host) -> bool {
        !self.0.is_empty() && self.0.contains_key(&host.to_string())
    }

    /// The blocked hosts.
    pub(crate) fn blocked(&self) -> Vec<&str> {
        self.0.iter().filter(|(_, silence)| silence.blocked).map(|(host, _)| host.as_str()).collect()
    }
}

fn now() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_millis() as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn host(name: &str) -> Host {
        Host::parse(name).unwrap()
    }

    #[test]
    fn a_host_is_remembered_until_it_answers_or_its_time_is_over() {
        let mut hosts = SilentHosts::default();
        hosts.add(&host("a.example"), false);
        hosts.add(&host("b.example"), true);
        hosts.add(&host("b.example"), false);
        assert!(hosts.contains(&host("a.example")) && !hosts.contains(&host("c.example")));
        assert_eq!(hosts.blocked(), ["b.example"]);
        hosts.forget(&host("a.example"));
        assert!(!hosts.contains(&host("a.example")));
        assert_eq!(hosts.clone().current(), hosts);
        hosts.0.values_mut().for_each(|silence| silence.at -= LIMITS.silent_host_ttl.as_millis() as u64);
        assert_eq!(hosts.current(), SilentHosts::default());
    }

    #[test]
    fn a_page_cannot_fill_the_memory() {
        let mut hosts = SilentHosts::default();
        for n in 0..1000 {
            hosts.add(&host(&format!("x{n}.example")), false);
        }
        assert_eq!(hosts.0.len(), LIMITS.silent_hosts);
        // A new host replaces an old one, because a host must be in the list to be given up.
        assert!(hosts.contains(&host("x999.example")));
    }
}
