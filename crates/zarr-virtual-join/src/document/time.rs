//! Times as documents have them: seconds since 1970 with up to nine decimals.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// Whether a JSON number is a time.
pub(super) fn is_time(text: &str) -> bool {
    let (seconds, decimals) = parts(text);
    let digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    digits(seconds) && digits(decimals) && seconds.parse::<u64>().is_ok() && decimals.len() <= 9
}

/// A time as `1732291200.123456789`; `None` before 1970.
pub(crate) fn seconds(time: SystemTime) -> Option<String> {
    let since = time.duration_since(UNIX_EPOCH).ok()?;
    Some(format!("{}.{:09}", since.as_secs(), since.subsec_nanos()))
}

/// Whether two times are equal as far as both have decimals: not all file systems and programs keep
/// nanoseconds.
pub(crate) fn same_time(found: &str, recorded: &str) -> bool {
    let ((found, decimals), (recorded, known)) = (parts(found), parts(recorded));
    let shared = decimals.len().min(known.len());
    found == recorded && decimals.get(..shared) == known.get(..shared)
}

fn parts(text: &str) -> (&str, &str) {
    text.split_once('.').unwrap_or((text, ""))
}

/// The latest time at which an object may have been modified.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Latest {
    pub(crate) recorded: SystemTime,
    /// The latest time with the recorded decimals, for example the end of the second.
    until: SystemTime,
}

impl Latest {
    /// `None` for a time that no file can have, or that is none.
    pub(crate) fn new(text: &str) -> Option<Self> {
        if !is_time(text) {
            return None;
        }
        let (seconds, decimals) = parts(text);
        let seconds = seconds.parse().ok()?;
        let time = |filled: String| {
            let since = Duration::new(seconds, filled.parse().ok()?);
            UNIX_EPOCH.checked_add(since)
        };
        let (recorded, until) =
            (time(format!("{decimals:0<9}"))?, time(format!("{decimals:9<9}"))?);
        Some(Self { recorded, until })
    }

    /// Whether an object that was modified at this time is older, or as old. Times of HTTP are cut
    /// to whole seconds: an object modified in the second of the recorded time is accepted then.
    pub(crate) fn accepts(self, modified: SystemTime) -> bool {
        modified <= self.until
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_compared_as_far_as_they_are_known() {
        assert!(same_time("12.123456789", "12.123456789"));
        assert!(same_time("12.123456789", "12.1234"));
        assert!(same_time("12.123456789", "12"));
        assert!(!same_time("12.123456789", "12.1235"));
        assert!(!same_time("12.123456789", "13"));
        assert!(!same_time("12.000000000", "120"));
    }

    #[test]
    fn what_is_newer_is_not_accepted() {
        let at = |seconds, nanos| UNIX_EPOCH + Duration::new(seconds, nanos);
        for (recorded, seconds, nanos, accepted) in [
            ("12.5", 12, 500_000_000, true),
            ("12.5", 12, 599_999_999, true),
            ("12.5", 12, 600_000_000, false),
            // As a server says it that knows whole seconds.
            ("12.5", 12, 0, true),
            ("12.5", 13, 0, false),
            ("12", 12, 999_999_999, true),
            ("12", 13, 0, false),
            ("12.000000001", 12, 1, true),
            ("12.000000001", 12, 2, false),
            ("0", 0, 0, true),
            ("9000000000", 4_000_000_000, 0, true),
        ] {
            let latest = Latest::new(recorded).expect(recorded);
            assert_eq!(
                latest.accepts(at(seconds, nanos)),
                accepted,
                "{recorded} {seconds}.{nanos}"
            );
        }
        let before = UNIX_EPOCH.checked_sub(Duration::new(1, 0)).expect("a time");
        assert!(Latest::new("0").expect("a time").accepts(before));
        assert_eq!(Latest::new("12.5").expect("a time").recorded, at(12, 500_000_000));
        // No file can be newer.
        assert_eq!(Latest::new("18446744073709551615.999999999"), None);
        for text in ["", "-1", "1e9", "NaN", "1.0000000000", "18446744073709551616"] {
            assert_eq!(Latest::new(text), None, "{text}");
        }
    }

    #[test]
    fn a_time_is_written_as_it_is_read() {
        let time = UNIX_EPOCH + Duration::new(1_732_291_200, 7);
        let text = seconds(time).expect("after 1970");
        assert_eq!(text, "1732291200.000000007");
        assert_eq!(Latest::new(&text).expect("a time").recorded, time);
    }
}
