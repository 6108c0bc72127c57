//! The delay before a request is sent again.

use std::{
    collections::hash_map::RandomState,
    hash::{BuildHasher, Hasher},
    time::{Duration, SystemTime},
};

/// The wait of a `Retry-After` header: seconds, or a date (RFC 9110, section 10.2.3). A number of any size is a number.
pub fn retry_after(value: &str) -> Option<Duration> {
    let value = value.trim();
    let date = || httpdate::parse_http_date(value).ok();
    let is_number = !value.is_empty() && value.bytes().all(|byte| byte.is_ascii_digit());
    // A century can be added to any time.
    let seconds = is_number.then(|| Duration::from_secs(value.parse::<u32>().unwrap_or(u32::MAX).into()));
    seconds.or_else(|| Some(date()?.duration_since(SystemTime::now()).unwrap_or_default()))
}

/// Waits that double, with jitter.
#[derive(Clone, Copy, Debug)]
pub struct Backoff {
    /// The wait before the first repetition, at most.
    pub first: Duration,
    /// The maximum delay.
    pub longest: Duration,
}

impl Backoff {
    /// The wait before repetition `number`, counted from 1: 50 to 100 % of the doubled one, so that clients which
    /// failed together do not return together.
    pub fn wait(self, number: u32) -> Duration {
        let doubled = self.first.saturating_mul(1 << number.saturating_sub(1).min(16)).min(self.longest);
        let random = RandomState::new().build_hasher().finish() % 512;
        doubled.mul_f64(0.5 + random as f64 / 1024.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_double_up_to_the_longest() {
        let backoff = Backoff { first: Duration::from_secs(1), longest: Duration::from_secs(30) };
        for (number, most) in [(0, 1), (1, 1), (2, 2), (3, 4), (6, 30), (40, 30)] {
            let wait = backoff.wait(number);
            let most = Duration::from_secs(most);
            assert!(wait >= most / 2 && wait <= most, "{number}: {wait:?}");
        }
    }

    #[test]
    fn retry_after_is_seconds_or_a_date() {
        assert_eq!(retry_after(" 7 "), Some(Duration::from_secs(7)));
        assert_eq!(retry_after("Sun, 06 Nov 1994 08:49:37 GMT"), Some(Duration::ZERO));
        let hour = httpdate::fmt_http_date(SystemTime::now() + Duration::from_hours(1));
        assert!(retry_after(&hour).is_some_and(|wait| wait > Duration::from_mins(59)));
        assert_eq!(retry_after("99999999999999999999999"), Some(Duration::from_secs(u32::MAX.into())));
        assert_eq!(retry_after("soon"), None);
        assert_eq!(retry_after("-1"), None);
    }
}
