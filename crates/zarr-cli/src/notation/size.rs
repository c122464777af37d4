//! Sizes in human notation: `64MiB`, `2G`, `1000`.

/// Bytes of elements of a region that are in memory at a time.
pub(crate) const PIECE: u64 = 64 << 20;

/// Parses a size to bytes. `K`, `M`, `G` and `T` are powers of 1024, as are `KiB` and so on; `KB`
/// and so on are powers of 1000.
pub(crate) fn parse(text: &str) -> Result<u64, String> {
    let trimmed = text.trim();
    let end = trimmed.find(|c: char| !c.is_ascii_digit()).unwrap_or(trimmed.len());
    let (number, unit) = trimmed.split_at(end);
    let unit = unit.trim().to_ascii_lowercase();
    let (letter, base) = match unit.strip_suffix("ib") {
        Some(letter) => (letter, 1024_u64),
        None => match unit.strip_suffix('b') {
            Some("") => ("", 1),
            Some(letter) => (letter, 1000),
            None => (unit.as_str(), 1024),
        },
    };
    let power = ["", "k", "m", "g", "t"].iter().position(|known| *known == letter);
    let bytes = power.and_then(|power| {
        let unit = base.checked_pow(u32::try_from(power).ok()?)?;
        number.parse::<u64>().ok()?.checked_mul(unit)
    });
    bytes.ok_or_else(|| "a number of bytes with a unit is allowed: 64MiB, 2GiB".to_owned())
}

#[cfg(test)]
mod tests {
    use super::parse;

    #[test]
    fn units_are_powers_of_1024_or_of_1000() {
        let sizes = [
            ("1000", 1000),
            ("7B", 7),
            ("64MiB", 64 << 20),
            ("64 mib", 64 << 20),
            ("2G", 2 << 30),
            ("2GB", 2_000_000_000),
            ("0", 0),
            ("1T", 1 << 40),
        ];
        for (text, bytes) in sizes {
            assert_eq!(parse(text), Ok(bytes), "{text}");
        }
        for text in ["", "MiB", "1.5G", "-1", "1X", "1MiBs", "99999999999T", "1ib1"] {
            assert!(parse(text).is_err(), "{text}");
        }
    }
}
