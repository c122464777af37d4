//! The time after `since` in the units of times.

use crate::moment::{Moment, SECOND};

/// The time, and how far its clock is ahead of universal time, in attoseconds: `1970-01-01`,
/// `1970-1-1 00:00:0.0`, `1970-01-01T00:00:00Z`, `1970-01-01 00:00:00 UTC`,
/// `1970-01-01 00:00 -05:30`.
pub(crate) fn reference(words: &[&str]) -> Option<(Moment, i128)> {
    let (first, rest) = words.split_first()?;
    let (date, clock, zone) = match (first.split_once('T'), rest) {
        (Some((date, clock)), zone) => (date, clock, zone),
        (None, [word, zone @ ..]) if word.starts_with(|first: char| first.is_ascii_digit()) => {
            (*first, *word, zone)
        }
        (None, zone) => (*first, "00:00", zone),
    };
    let (clock, attached) = match clock.find(['Z', '+', '-']) {
        Some(at) => clock.split_at_checked(at)?,
        None => (clock, ""),
    };
    let zone = match (attached, zone) {
        ("", []) => "UTC",
        ("", [zone]) => zone,
        (attached, []) => attached,
        _ => return None,
    };
    let (sign, date) = match date.strip_prefix('-') {
        Some(date) => ("-", date),
        None => ("", date),
    };
    // Parts may have one digit here, and may be left out; parts of labels may not.
    let mut parts = date.split('-');
    let year = format!("{sign}{:0>4}", parts.next()?);
    let mut date: Vec<String> = parts.map(|part| format!("{part:0>2}")).collect();
    date.resize(date.len().max(2), "01".to_owned());
    let clock = clock.split(':').map(|part| match part.split_once('.') {
        Some((whole, fraction)) => format!("{whole:0>2}.{fraction:0<1}"),
        None => format!("{part:0>2}"),
    });
    let clock: Vec<String> = clock.collect();
    let moment = Moment::parse(&format!("{year}-{}T{}", date.join("-"), clock.join(":")))?;
    Some((moment, offset(zone)?))
}

/// How far the clock of a zone is ahead of universal time: `UTC`, `GMT`, `Z`, `+01:00`, `-0530`, `+1`,
/// and `0:00`, which UDUNITS takes. Other names of zones are ambiguous.
fn offset(zone: &str) -> Option<i128> {
    if ["UTC", "GMT", "Z"].iter().any(|name| zone.eq_ignore_ascii_case(name)) {
        return Some(0);
    }
    let (sign, digits) = match zone.as_bytes().first()? {
        b'+' => (1, zone.get(1..)?),
        b'-' => (-1, zone.get(1..)?),
        _ if matches!(zone, "0:00" | "00:00") => return Some(0),
        _ => return None,
    };
    let (hours, minutes) = match digits.split_once(':') {
        Some(parts) => parts,
        None if digits.len() > 2 => digits.split_at_checked(digits.len().checked_sub(2)?)?,
        None => (digits, "0"),
    };
    let number = |text: &str, most: i128| {
        let is_one = matches!(text.len(), 1 | 2) && text.bytes().all(|byte| byte.is_ascii_digit());
        text.parse().ok().filter(|number: &i128| is_one && *number < most)
    };
    Some(sign * (number(hours, 24)? * 60 + number(minutes, 60)?) * 60 * SECOND)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::calendar::Calendar;
    use crate::moment::shown;

    /// By Xarray 2026.9 with pandas 3.1, and cftime 1.6.6 where pandas fails.
    #[test]
    fn the_reference_is_in_universal_time() {
        for (text, expected) in [
            ("1970-01-01 00:00:00 +01:00", "1969-12-31T23:00"),
            ("1970-01-01T00:00:00+01:00", "1969-12-31T23:00"),
            ("1970-01-01 00:00:00 -5:30", "1970-01-01T05:30"),
            ("1970-01-01 00:00:00 +0100", "1969-12-31T23:00"),
            ("1970-01-01 00:00 +01", "1969-12-31T23:00"),
            ("1970-01-01 00:00:00 +1", "1969-12-31T23:00"),
            ("1970-01-01 00:00:00 UTC", "1970-01-01"),
            ("1970-01-01 00:00:00 utc", "1970-01-01"),
            ("1970-01-01 +01:00", "1969-12-31T23:00"),
            ("1970-01-01 -00:00", "1970-01-01"),
            ("1970-01-01 00:00:00Z", "1970-01-01"),
            ("1970-01-01 00:00:00.0+02:00", "1969-12-31T22:00"),
            ("1970-1-1 0:0:0 -6:00", "1970-01-01T06:00"),
            ("1970-01-01T00:00:00.5Z", "1970-01-01T00:00:00.5"),
            ("1-1-1 00:00:0.0", "0001-01-01"),
            ("1970", "1970-01-01"),
            ("1970-01", "1970-01-01"),
            ("1970-01-01T06", "1970-01-01T06:00"),
            ("1970-01-01 06", "1970-01-01T06:00"),
            ("1970-01-01 00:00:00 0:00", "1970-01-01"),
            ("1970-01-01 00:00:00 +14:30", "1969-12-31T09:30"),
            ("1970-01-01 00:00:00 -23:59", "1970-01-01T23:59"),
        ] {
            let words: Vec<&str> = text.split_whitespace().collect();
            let (moment, offset) = reference(&words).expect(text);
            let time = moment.start(Calendar::Gregorian) - offset;
            assert_eq!(shown(Calendar::Gregorian, time), expected, "{text}");
        }
    }

    /// pandas reads `UTC+3` as three hours behind, and `5:00` as a clock.
    #[test]
    fn other_texts_are_no_references() {
        for text in [
            "1970-01-01 00:00:00 UTC+3",
            "1970-01-01 00:00:00 EST",
            "1970-01-01 00:00:00 5:00",
            "1970-01-01 24:00:00",
            "1970-01-01 00:00:60",
            "1970-01-01 00:00:00 +24:00",
            "1970-01-01 00:00:00 +1:2:3",
            "1970-01-01 00:00:00+01:00 UTC",
            "1970-01-01 00:00:00 +é1",
            "yesterday",
            "",
        ] {
            let words: Vec<&str> = text.split_whitespace().collect();
            assert_eq!(reference(&words), None, "{text}");
        }
    }
}
