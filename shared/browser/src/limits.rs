//! All time limits of the browser: [`LIMITS`], the table of the wait for a page, and those of everything else that
//! waits: acting, screenshots, tabs, sockets, starting and closing.
//!
//! Limits that are used in Rust are [`Duration`]s. Limits of the page scripts are numbers of milliseconds, because they
//! are passed to the scripts as JSON.

use std::time::Duration;

use serde::Serialize;

/// The table.
pub(crate) const LIMITS: Limits = Limits {
    call: Duration::from_secs(30),
    load: Duration::from_secs(10),
    load_share: 0.8,
    first_report: Duration::from_millis(400),
    pause: Duration::from_millis(8),
    max_script_run: Duration::from_millis(30),
    response_processing: Duration::from_millis(60),
    load_end: Duration::from_millis(200),
    blocked_load_event: Duration::from_secs(2),
    ping: Duration::from_secs(2),
    reused_tab_divisor: 4,
    refresh_delay: Duration::from_secs(5),
    navigation_grace: Duration::from_secs(2),
    challenge_clears: Duration::from_secs(6),
    challenge_solved: Duration::from_mins(5),
    challenge_pause: Duration::from_millis(250),
    data: RequestTimeout { dense: Duration::from_secs(5), sparse: Duration::MAX },
    body: RequestTimeout { dense: Duration::from_secs(2), sparse: Duration::from_secs(5) },
    code: RequestTimeout { dense: Duration::from_millis(2500), sparse: Duration::from_secs(5) },
    style: RequestTimeout { dense: Duration::from_millis(2500), sparse: Duration::from_millis(2500) },
    stream: RequestTimeout { dense: Duration::from_millis(320), sparse: Duration::from_secs(1) },
    other_data: Duration::from_secs(2),
    parser_blocking: Duration::from_millis(2500),
    probe_after: Duration::from_millis(80),
    probe_timeout: Duration::from_millis(200),
    probe_timeout_max: Duration::from_millis(1500),
    probe_timeout_factor: 4,
    probe_timeout_sparse: Duration::from_secs(2),
    known_silent_wait: Duration::from_millis(20),
    reload_first_contact: Duration::from_millis(100),
    silent_host_ttl: Duration::from_mins(5),
    silent_hosts: 50,
    reloads: 4,
    pending: 10,
    webdriver_poll: Duration::from_millis(50),
    webdriver_probe: Duration::from_secs(2),
    webdriver_read: Duration::from_secs(10),
    webdriver_quiet_dense: Duration::from_millis(300),
    webdriver_quiet_sparse: Duration::from_millis(1500),
    webdriver_quiet_stalled: Duration::from_millis(2500),
    webdriver_quiet_expanded: Duration::from_millis(100),
    same_request: 3,
    same_address: 30,
    page: PageLimits {
        little_text: 1000,
        hardly_any_text: 300,
        quiet: 40,
        quiet_most: 150,
        quiet_after_step: 15,
        quiet_share: 4,
        overdue_recheck: 30,
        load_recheck: 100,
        idle_callback: 200,
        first_paint: 1000,
        repaint: 5000,
        selector_parsing: 3000,
        stalled_quiet: 200,
        stalled_dense: 300,
        stalled_sparse: 2500,
        short_timer: 2000,
        long_timer: 5000,
        after_answer: 300,
        reaction: 50,
        worker_answer: 1000,
        timer_chain: 3,
        countdown: 6,
        repeats: 3,
        max_moves_per_node: 40,
        max_changes_per_node: 3,
        max_growths_per_node: 20,
        animations: 500,
        max_recorded_events: 100,
        max_event_text: 500,
        html: MAX_HTML as u32,
    },
};

/// The most HTML that is taken of a page, in bytes: reading it takes four times as much memory.
pub(crate) const MAX_HTML: usize = 9_000_000;

/// The time limits of one kind of request.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RequestTimeout {
    /// In a page with text.
    pub(crate) dense: Duration,
    /// In a page with little text.
    pub(crate) sparse: Duration,
}

/// The limits of waiting for a page.
pub(crate) struct Limits {
    /// The default timeout of a call.
    pub(crate) call: Duration,
    /// How long a page may load after its first response. Then its content is taken as it is.
    pub(crate) load: Duration,
    /// The maximum share of the remaining time for loading; the rest is for reading the content.
    pub(crate) load_share: f32,
    /// How long to wait for the document's own report before it is polled.
    pub(crate) first_report: Duration,
    /// The interval between two polls of the page.
    pub(crate) pause: Duration,
    /// The longest time without reading network events while the page runs a script.
    pub(crate) max_script_run: Duration,
    /// The time that a page gets to use a response.
    pub(crate) response_processing: Duration,
    /// The time from a document's load event until all its consequences are known.
    pub(crate) load_end: Duration,
    /// How long a page may delay its load event without open requests.
    pub(crate) blocked_load_event: Duration,
    /// The time limit for a ping to a page that is not busy.
    pub(crate) ping: Duration,
    /// The divisor of the remaining time after which the page of an earlier call in the tab is considered to
    /// hang.
    pub(crate) reused_tab_divisor: u32,
    /// The longest refresh delay that is followed. A page that is shown for longer is the requested one.
    pub(crate) refresh_delay: Duration,
    /// The time limit for leaving a page after it announced that.
    pub(crate) navigation_grace: Duration,
    /// How long a bot challenge may take to clear itself without a person.
    pub(crate) challenge_clears: Duration,
    /// How long a person may take to solve a challenge, unless the call has a timeout.
    pub(crate) challenge_solved: Duration,
    /// The interval between two checks of a challenge.
    pub(crate) challenge_pause: Duration,
    /// Data that scripts fetch, until the response begins.
    pub(crate) data: RequestTimeout,
    /// The same after the response began, since its last part.
    pub(crate) body: RequestTimeout,
    /// A script, or the document of a frame.
    pub(crate) code: RequestTimeout,
    /// A style sheet.
    pub(crate) style: RequestTimeout,
    /// A WebSocket or an event stream, until its first message.
    pub(crate) stream: RequestTimeout,
    /// Data from another site in a page with text.
    pub(crate) other_data: Duration,
    /// A script or style sheet of another site while the document is parsed, because the parser may wait for
    /// it. The page is then loaded again without that host.
    pub(crate) parser_blocking: Duration,
    /// How long another site's host without any response is waited for before it is probed.
    pub(crate) probe_after: Duration,
    /// How long the probe may take in a page with text. The first contact may take the sum of `probe_after` and
    /// this.
    pub(crate) probe_timeout: Duration,
    /// The same, as a multiple of the response time of the page's own document, because the network is as slow
    /// for both.
    pub(crate) probe_timeout_factor: u32,
    /// The upper bound of the latter.
    pub(crate) probe_timeout_max: Duration,
    /// How long the probe may take in a page with little text.
    pub(crate) probe_timeout_sparse: Duration,
    /// How long a host that was silent on an earlier page is waited for in a page with text. As soon as it
    /// responds, even later, it is treated like any other host.
    pub(crate) known_silent_wait: Duration,
    /// The same for a host that is contacted first after the page was loaded again without silent hosts.
    pub(crate) reload_first_contact: Duration,
    /// How long a tab remembers silent hosts.
    pub(crate) silent_host_ttl: Duration,
    /// The maximum number of hosts that a tab remembers.
    pub(crate) silent_hosts: usize,
    /// How often a page is loaded again without silent hosts.
    pub(crate) reloads: usize,
    /// The maximum number of hosts in `pending`.
    pub(crate) pending: usize,
    /// The pause between two looks at a page that only WebDriver commands reach.
    pub(crate) webdriver_poll: Duration,
    /// How long such a page may take to say how far it is; the end of its session would wait for that.
    pub(crate) webdriver_probe: Duration,
    /// How long it may take to give its content.
    pub(crate) webdriver_read: Duration,
    /// The time for which the text of such a page must be unchanged, if there is text.
    pub(crate) webdriver_quiet_dense: Duration,
    /// The same, where the page has little text.
    pub(crate) webdriver_quiet_sparse: Duration,
    /// The same, where the page never loads to its end.
    pub(crate) webdriver_quiet_stalled: Duration,
    /// The same after each click and each screen with which it is expanded.
    pub(crate) webdriver_quiet_expanded: Duration,
    /// How often a page may send the same request. More is polling, which does not count for readiness.
    pub(crate) same_request: u32,
    /// How often a page may send different requests to one URL. Applications with a single endpoint do that,
    /// and so does polling without caching.
    pub(crate) same_address: u32,
    /// The limits for the page scripts.
    pub(crate) page: PageLimits,
}

/// The numbers that `js/page-state.js`, `js/collect.js`, `js/watch.js`, `js/expand.js` and `js/html.js` are given:
/// times in milliseconds, text in characters, and counts.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct PageLimits {
    /// A page with less text is *sparse*, and is waited for longer.
    little_text: u32,
    /// A page with less text has hardly any.
    hardly_any_text: u32,
    /// The shortest time that an idle page must be quiet; after a step, the longest.
    quiet: u32,
    /// The longest.
    quiet_most: u32,
    /// The shortest after a step.
    pub(crate) quiet_after_step: u32,
    /// Between both, the divisor of the page's load time: the scripts of a page that loads slowly, because of the page
    /// or of the machine, also continue later.
    quiet_share: u32,
    /// The interval after which a page without a load event is polled again.
    load_recheck: u32,
    /// The same after `stalled_dense`.
    overdue_recheck: u32,
    /// How long a page may take to have an idle moment.
    idle_callback: u32,
    /// How long a page may take to be drawn, after which it requests content that comes into view.
    first_paint: u32,
    /// How long a page that a call acts in may take to be drawn again.
    repaint: u32,
    /// Until when a document that is still being parsed may lack the element that is waited for.
    selector_parsing: u32,
    /// How long a parsed page whose images never finish must be quiet.
    stalled_quiet: u32,
    /// The time since the navigation for such a page with text.
    stalled_dense: u32,
    /// The time since the navigation for such a page with little text.
    stalled_sparse: u32,
    /// The longest timer that may add content.
    short_timer: u32,
    /// The longest timer that is waited for if it leads to another page.
    long_timer: u32,
    /// How long after a response a timer that waited for it may be due.
    after_answer: u32,
    /// The longest time from the end of a request to the timer that it sets, and from a timer to the request
    /// that it sends.
    reaction: u32,
    /// How long a worker, a database or a decryption may take in a page with text.
    worker_answer: u32,
    /// The maximum number of consecutive timers that are waited for.
    timer_chain: u32,
    /// The maximum number of steps of a countdown.
    countdown: u32,
    /// How often the same work or request counts as new.
    repeats: u32,
    /// How often a script may move one element before the moves are ignored.
    max_moves_per_node: u32,
    /// How often a node may change before the changes are ignored, as for a clock or a ticker.
    max_changes_per_node: u32,
    /// How often a node may grow before that is ignored.
    max_growths_per_node: u32,
    /// With more animations, they are decoration and are not examined.
    animations: u32,
    /// The maximum number of dialogs and windows that are recorded while a call acts.
    max_recorded_events: u32,
    /// The longest text of one.
    max_event_text: u32,
    /// The most HTML that is taken of a page, in bytes.
    html: u32,
}

/// How long a banner may take to appear where the page loads the script of a platform, and has stored no answer. It is
/// part of the answer's documentation ([`ConsentOutcome::NotShown`](crate::ConsentOutcome::NotShown)).
pub(crate) const CONSENT_APPEARS: Duration = Duration::from_millis(800);

/// How long a banner may take to disappear, or its second layer to appear.
pub(crate) const CONSENT_CHANGES: Duration = Duration::from_secs(2);

/// The interval at which a consent banner is looked for.
pub(crate) const CONSENT_PAUSE: Duration = Duration::from_millis(50);

/// The time that is reserved for reading the page at the end of a call.
pub(crate) const ACT_RESERVE: Duration = Duration::from_millis(1500);

/// How long to wait for the first effect of a repeated step.
pub(crate) const GROWTH_TIMEOUT: Duration = Duration::from_millis(300);

/// How long a known element must be missing to count as removed.
pub(crate) const REMOVAL_TIMEOUT: Duration = Duration::from_millis(300);

/// How long to wait for a list or a file dialog to open.
pub(crate) const LIST_TIMEOUT: Duration = Duration::from_secs(2);

/// How long to wait for a checkbox to change its state.
pub(crate) const CHECK_TIMEOUT: Duration = Duration::from_millis(600);

/// The interval between two attempts at a step.
pub(crate) const STEP_PAUSE: Duration = Duration::from_millis(30);

/// The least interval between two searches for closed shadow roots.
pub(crate) const CLOSED_ROOTS_PAUSE: Duration = Duration::from_millis(300);

/// How long to wait for an element to exist and be usable.
pub(crate) const ELEMENT_TIMEOUT: Duration = Duration::from_secs(3);

/// The same as [`ELEMENT_TIMEOUT`] if several elements match and some may be about to disappear.
pub(crate) const AMBIGUITY_TIMEOUT: Duration = Duration::from_millis(400);

/// The interval between two searches for an element.
pub(crate) const ELEMENT_PAUSE: Duration = Duration::from_millis(40);

/// How long to wait for the images and fonts of a page.
pub(crate) const IMAGES_TIMEOUT: Duration = Duration::from_secs(5);

/// The interval between two attempts at a step by WebDriver commands.
pub(crate) const WEBDRIVER_STEP_PAUSE: Duration = Duration::from_millis(50);

/// The interval at which a call that waits for a session of WebDriver commands tries again.
pub(crate) const WEBDRIVER_TAB_RETRY: Duration = Duration::from_millis(20);

/// How long to wait for tabs to close before the browser quits.
pub(crate) const TABS_CLOSE_TIMEOUT: Duration = Duration::from_millis(300);

/// The time limit for commands to the browser process, which is never busy with pages.
pub(crate) const SOCKET_TIMEOUT: Duration = Duration::from_secs(5);

/// How long to wait for an answer that a removed frame may never send.
pub(crate) const FRAME_GONE_TIMEOUT: Duration = Duration::from_millis(300);

/// The interval at which a call that waits for a tab tries again.
pub(crate) const TAB_RETRY: Duration = Duration::from_millis(10);

/// The time limit for closing a tab, also for a call whose own time is over.
pub(crate) const TAB_CLOSE_TIMEOUT: Duration = Duration::from_secs(1);

/// The time limit for connecting when only the availability of the server is checked.
pub(crate) const CONNECT_TIMEOUT: Duration = Duration::from_secs(1);

/// The time limit for starting the driver and the browser.
pub(crate) const LAUNCH_TIMEOUT: Duration = Duration::from_mins(1);

/// How long the helpers of a closed browser may take to end, because they may have data to write.
pub(crate) const HELPER_GRACE: Duration = Duration::from_secs(1);

/// After how long a folder without locks counts as left behind.
pub(crate) const NEW_PROFILE_GRACE: Duration = Duration::from_mins(1);

/// How long a supervisor without a browser may take to end.
pub(crate) const OWNER_END_TIMEOUT: Duration = Duration::from_millis(500);

/// How long a request for a browser may wait in the endpoint's queue: longer than a grid keeps one. The call that it
/// is for may be over by then; whoever asked has to be there to release the browser.
pub(crate) const QUEUE_TIMEOUT: Duration = Duration::from_secs(330);

/// The pause before an endpoint that does not answer is asked again.
pub(crate) const QUEUE_RETRY: Duration = Duration::from_millis(500);

/// The time limit for matching URLs against the pattern.
pub(crate) const PATTERN_TIME: Duration = Duration::from_secs(5);

/// How long closing may wait for another call that starts or closes the same browser.
pub(crate) const CLOSE_TIMEOUT: Duration = Duration::from_secs(70);

/// The time limit for reading or setting the state of a session.
pub(crate) const STATE_TIMEOUT: Duration = Duration::from_mins(1);

/// The time limit for the storage of one origin.
pub(crate) const ORIGIN_TIMEOUT: Duration = Duration::from_secs(5);

/// How long the driver may take to answer the request to end, and then to end.
pub(crate) const DRIVER_END_TIMEOUT: Duration = Duration::from_secs(2);

/// How long the browser may take to write its cookies and end.
pub(crate) const BROWSER_END_TIMEOUT: Duration = Duration::from_secs(10);

/// How long the supervisor tries to return a browser to a machine that does not answer.
pub(crate) const RELEASE_TIMEOUT: Duration = Duration::from_mins(2);

/// How often a tool that waits for a browser looks whether it still wants one.
pub(crate) const WAITING_CHECK_INTERVAL: Duration = Duration::from_millis(100);

/// The interval at which a process that is ending is checked.
pub(crate) const PROCESS_END_POLL: Duration = Duration::from_millis(5);

/// How long to wait for the end of all processes of a profile.
pub(crate) const PROCESSES_END_TIMEOUT: Duration = Duration::from_secs(5);

/// The interval at which a call that waits for the end of other calls tries again.
pub(crate) const UNUSED_POLL: Duration = Duration::from_millis(20);

/// How long a new supervisor waits for its lock, which others hold for a moment only, to check it.
pub(crate) const SUPERVISOR_LOCK_TIMEOUT: Duration = Duration::from_secs(5);

/// The time until the supervisor first checks its browser, which the tool that requested it uses by then.
pub(crate) const FIRST_CHECK: Duration = Duration::from_millis(500);

/// The interval at which the supervisor checks its browser.
pub(crate) const CHECK_INTERVAL: Duration = Duration::from_millis(200);

/// The time limit for an event of the browser, which may never come.
pub(crate) const EVENT_TIMEOUT: Duration = Duration::from_hours(1);

/// The time limit for closing the tab in which the state of a session was read.
pub(crate) const STATE_TAB_CLOSE_TIMEOUT: Duration = Duration::from_secs(2);

/// The interval at which the supervisor closes orphaned tabs and lets the driver process its events.
pub(crate) const UPKEEP_INTERVAL: Duration = Duration::from_secs(5);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sparse_page_never_has_a_shorter_limit() {
        let Limits {
            data,
            body,
            code,
            style,
            stream,
            probe_timeout,
            probe_timeout_max,
            known_silent_wait,
            reload_first_contact,
            ..
        } = LIMITS;
        assert!(
            known_silent_wait < reload_first_contact
                && reload_first_contact < probe_timeout
                && probe_timeout < probe_timeout_max
        );
        assert!(probe_timeout_max < LIMITS.probe_timeout_sparse && LIMITS.other_data < data.dense);
        assert!([data, body, code, style, stream].iter().all(|patience| patience.sparse >= patience.dense));
        const { assert!(LIMITS.page.stalled_sparse >= LIMITS.page.stalled_dense) };
    }

    #[test]
    fn every_limit_fits_into_the_load() {
        for limit in
            [LIMITS.first_report, LIMITS.ping, LIMITS.refresh_delay + LIMITS.navigation_grace, LIMITS.challenge_clears]
        {
            assert!(limit < LIMITS.load, "{limit:?}");
        }
        assert!(LIMITS.load < LIMITS.call);
    }

    #[test]
    fn the_scripts_use_every_number_and_no_other() {
        let scripts = [
            include_str!("js/page-state.js"),
            include_str!("js/collect.js"),
            include_str!("js/watch.js"),
            include_str!("js/expand.js"),
            include_str!("js/html.js"),
        ];
        let given = serde_json::to_value(&LIMITS.page).unwrap();
        for name in given.as_object().unwrap().keys() {
            let used = format!("limits.{name}");
            assert!(scripts.iter().any(|script| script.contains(&used)), "{name} is not used");
        }
        for script in scripts {
            for rest in script.split("limits.").skip(1) {
                let name = rest.split(|c: char| !c.is_ascii_alphanumeric()).next().unwrap();
                assert!(given[name].is_u64(), "{name} is not given");
            }
        }
    }
}
