//! All time limits of the wait for a page, in one table.
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
    watch: Duration::from_millis(30),
    use_of_response: Duration::from_millis(60),
    load_end: Duration::from_millis(200),
    unexplained: Duration::from_secs(2),
    ping: Duration::from_secs(2),
    reused_tab_share: 4,
    refresh_delay: Duration::from_secs(5),
    leaving: Duration::from_secs(2),
    challenge_clears: Duration::from_secs(6),
    challenge_solved: Duration::from_mins(5),
    challenge_pause: Duration::from_millis(250),
    data: Patience { dense: Duration::from_secs(5), sparse: Duration::MAX },
    body: Patience { dense: Duration::from_secs(2), sparse: Duration::from_secs(5) },
    code: Patience { dense: Duration::from_millis(2500), sparse: Duration::from_secs(5) },
    style: Patience { dense: Duration::from_millis(2500), sparse: Duration::from_millis(2500) },
    push: Patience { dense: Duration::from_millis(320), sparse: Duration::from_secs(1) },
    other_data: Duration::from_secs(2),
    blocker: Duration::from_millis(2500),
    silent_ask: Duration::from_millis(80),
    silent_answer: Duration::from_millis(320),
    silent_answer_most: Duration::from_millis(1500),
    silent_answer_share: 4,
    silent_answer_sparse: Duration::from_secs(2),
    silent_again: Duration::from_millis(20),
    silent_beside: Duration::from_millis(100),
    silent_memory: Duration::from_mins(5),
    silent_hosts: 50,
    reloads: 4,
    pending: 10,
    plain_pause: Duration::from_millis(50),
    plain_look: Duration::from_secs(2),
    plain_take: Duration::from_secs(10),
    plain_dense: Duration::from_millis(300),
    plain_sparse: Duration::from_millis(1500),
    plain_stalled: Duration::from_millis(2500),
    same_request: 3,
    same_address: 30,
    page: PageLimits {
        little_text: 1000,
        hardly_any_text: 300,
        quiet: 60,
        overdue_recheck: 30,
        load_recheck: 100,
        idle_callback: 200,
        drawn: 1000,
        redrawn: 5000,
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
        moves_of_node: 40,
        changes_of_node: 3,
        growths_of_node: 20,
        animations: 500,
        noted: 10,
        noted_text: 500,
    },
};

/// How long one kind of request may take.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Patience {
    /// Where the page has something to read without it.
    pub(crate) dense: Duration,
    /// Where it has little text.
    pub(crate) sparse: Duration,
}

/// The limits of waiting for a page.
pub(crate) struct Limits {
    /// The whole call, unless it is told otherwise.
    pub(crate) call: Duration,
    /// How long a page may go on loading after it has begun to answer: then its content is taken as it is.
    pub(crate) load: Duration,
    /// The share of the time left that loading may take: some has to be left for taking the content.
    pub(crate) load_share: f32,
    /// How long the document may take to report by itself before it is asked.
    pub(crate) first_report: Duration,
    /// How long the page is left alone between two looks at it.
    pub(crate) pause: Duration,
    /// How long the network is left unwatched while the page is asked something.
    pub(crate) watch: Duration,
    /// How long a page gets to use a response that has just come.
    pub(crate) use_of_response: Duration,
    /// How long it may take from a document's load event until all that is to follow on it is known.
    pub(crate) load_end: Duration,
    /// How long a page may keep its load event back while nothing is open that the network shows.
    pub(crate) unexplained: Duration,
    /// How long a page that is not busy may take to answer a ping.
    pub(crate) ping: Duration,
    /// The part of the time left (one in so many) after which the page that an earlier call left in the
    /// tab counts as hung.
    pub(crate) reused_tab_share: u32,
    /// The longest delay of a refresh that is followed; a page that shows longer is the one that was asked for.
    pub(crate) refresh_delay: Duration,
    /// How long a page may take to leave once it has said that it will.
    pub(crate) leaving: Duration,
    /// How long a bot challenge gets to clear itself where no person watches.
    pub(crate) challenge_clears: Duration,
    /// How long a person gets to solve a challenge, unless the call is told otherwise.
    pub(crate) challenge_solved: Duration,
    /// The pause between two looks at a challenge.
    pub(crate) challenge_pause: Duration,
    /// Data that scripts fetch, until the answer begins.
    pub(crate) data: Patience,
    /// The same, once the answer has begun: since the last part of it.
    pub(crate) body: Patience,
    /// A script, or the document of a frame.
    pub(crate) code: Patience,
    /// A style sheet.
    pub(crate) style: Patience,
    /// A WebSocket or an event stream, until its first message.
    pub(crate) push: Patience,
    /// Data from another site, where the page has something to read without it.
    pub(crate) other_data: Duration,
    /// A script or style sheet of another site while the document is parsed: until then the parser may wait for
    /// it. The page is then loaded again without that host.
    pub(crate) blocker: Duration,
    /// How long another site's host that has not answered anything yet is left alone before it is asked for
    /// something small.
    pub(crate) silent_ask: Duration,
    /// How long it may take to answer that, where the page has something to read without it. First contact may
    /// take `silent_ask` and this together.
    pub(crate) silent_answer: Duration,
    /// The same, in times of what the page's own document took: who is far from the one is far from the other.
    pub(crate) silent_answer_share: u32,
    /// The most that this comes to.
    pub(crate) silent_answer_most: Duration,
    /// How long it may take where the page has little text.
    pub(crate) silent_answer_sparse: Duration,
    /// How long anything of a host may take, beside something to read, that was silent on an earlier page as well.
    /// As soon as it answers, be it after that, it is a host like any other.
    pub(crate) silent_again: Duration,
    /// The same for a host that is asked first after the page was loaded again without silent ones.
    pub(crate) silent_beside: Duration,
    /// How long a tab remembers that a host was silent.
    pub(crate) silent_memory: Duration,
    /// How many such hosts it remembers.
    pub(crate) silent_hosts: usize,
    /// How often a page is loaded again for that.
    pub(crate) reloads: usize,
    /// How many of the hosts that something is still open to are named.
    pub(crate) pending: usize,
    /// The pause between two looks at a page that only WebDriver commands reach.
    pub(crate) plain_pause: Duration,
    /// How long such a page may take to say how far it is; the end of its session would wait for that.
    pub(crate) plain_look: Duration,
    /// How long it may take to give its content.
    pub(crate) plain_take: Duration,
    /// How long the text of such a page rests before it is taken, where there is something to read.
    pub(crate) plain_dense: Duration,
    /// The same, where the page has little text.
    pub(crate) plain_sparse: Duration,
    /// The same, where the page never loads to its end.
    pub(crate) plain_stalled: Duration,
    /// How often a page may make the same request; after that it is polling, and says nothing about its content.
    pub(crate) same_request: u32,
    /// How often it may ask one address for something else each time, as applications do that have one for
    /// all of their data; and as polling does that is not to be cached.
    pub(crate) same_address: u32,
    /// The numbers that the page scripts are given.
    pub(crate) page: PageLimits,
}

/// The numbers that `js/look.js`, `js/collect.js`, `js/watch.js` and `js/expand.js` are given: times in milliseconds,
/// text in characters, and counts.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct PageLimits {
    /// Less text than this is little: a page with so little is *sparse*, and waited for longer.
    little_text: u32,
    /// Less text than this is next to none.
    hardly_any_text: u32,
    /// How long nothing may have happened in a page that is idle.
    quiet: u32,
    /// After how long without a load event the page is asked again.
    load_recheck: u32,
    /// The same, once it has taken longer than `stalled_dense`.
    overdue_recheck: u32,
    /// How long the page may take until it is idle for a moment.
    idle_callback: u32,
    /// How long it may take until it is drawn: what it loads when it comes into view, it asks for after that.
    drawn: u32,
    /// How long a page that a call acts in may take to be drawn again.
    redrawn: u32,
    /// Until when a document that is still being parsed may lack the element that is waited for.
    selector_parsing: u32,
    /// How long nothing may have happened in a page that is parsed and whose images never end.
    stalled_quiet: u32,
    /// Since the navigation, in such a page with text.
    stalled_dense: u32,
    /// Since the navigation, in such a page with little text.
    stalled_sparse: u32,
    /// The longest timer whose work may bring content.
    short_timer: u32,
    /// The longest timer that is waited for where it leads to another page.
    long_timer: u32,
    /// How long after an answer a timer may be due that waited for it.
    after_answer: u32,
    /// How long it takes from a request's end to the timer that is set for that, and from a timer to its request.
    reaction: u32,
    /// How long a worker, a database or a decryption may take where there is something to read.
    worker_answer: u32,
    /// How many timers that follow one another are waited for.
    timer_chain: u32,
    /// How many steps a countdown may have.
    countdown: u32,
    /// How often the same work, or the same request, is news.
    repeats: u32,
    /// How often a script may move one element and it is news.
    moves_of_node: u32,
    /// How often one node may change and it is news; more is a clock or a ticker.
    changes_of_node: u32,
    /// How often one node may grow and it is news.
    growths_of_node: u32,
    /// With more animations than this, they are decoration and not asked.
    animations: u32,
    /// How many dialogs and windows are noted while a call acts.
    noted: u32,
    /// How much of the text of each.
    noted_text: u32,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sparse_page_is_never_given_less_time() {
        let Limits {
            data,
            body,
            code,
            style,
            push,
            silent_answer,
            silent_answer_most,
            silent_again,
            silent_beside,
            ..
        } = LIMITS;
        assert!(silent_again < silent_beside && silent_beside < silent_answer && silent_answer < silent_answer_most);
        assert!(silent_answer_most < LIMITS.silent_answer_sparse && LIMITS.other_data < data.dense);
        assert!([data, body, code, style, push].iter().all(|patience| patience.sparse >= patience.dense));
        const { assert!(LIMITS.page.stalled_sparse >= LIMITS.page.stalled_dense) };
    }

    #[test]
    fn every_limit_fits_into_the_load() {
        for limit in [LIMITS.first_report, LIMITS.ping, LIMITS.refresh_delay + LIMITS.leaving, LIMITS.challenge_clears]
        {
            assert!(limit < LIMITS.load, "{limit:?}");
        }
        assert!(LIMITS.load < LIMITS.call);
    }

    #[test]
    fn the_scripts_use_every_number_and_no_other() {
        let scripts = [
            include_str!("../js/look.js"),
            include_str!("../js/collect.js"),
            include_str!("../js/watch.js"),
            include_str!("../js/expand.js"),
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
