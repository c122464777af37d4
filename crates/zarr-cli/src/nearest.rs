//! The node that was meant where a path leads nowhere.

use std::fs;
use std::path::Path;

/// Folders beside the missing one that are looked at.
const LOOKED_AT: usize = 10_000;

/// The node beside a missing folder whose name is nearest, if it is near enough.
pub(crate) fn node(path: &str) -> Option<String> {
    let path = Path::new(path);
    let name = path.file_name()?.to_str()?;
    if path.exists() {
        return None;
    }
    let parent = path.parent()?;
    let listed = if parent == Path::new("") { Path::new(".") } else { parent };
    let mut names: Vec<(usize, String)> = fs::read_dir(listed)
        .ok()?
        .take(LOOKED_AT)
        .filter_map(|entry| entry.ok()?.file_name().into_string().ok())
        .filter_map(|other| Some((rank(name, &other)?, other)))
        .filter(|(_, other)| listed.join(other).join("zarr.json").is_file())
        .collect();
    names.sort();
    let (_, nearest) = names.into_iter().next()?;
    Some(parent.join(nearest).display().to_string())
}

/// The name among `known` that was meant, if one is near enough.
pub(crate) fn name<'k>(written: &str, known: impl IntoIterator<Item = &'k str>) -> Option<&'k str> {
    let ranked = known.into_iter().filter_map(|known| Some((rank(written, known)?, known)));
    ranked.min().map(|(_, known)| known)
}

/// `; did you mean bytes?`, or nothing.
pub(crate) fn hint<'k>(written: &str, known: impl IntoIterator<Item = &'k str>) -> String {
    name(written, known).map_or_else(String::new, |near| format!("; did you mean {near}?"))
}

/// How far a name is from what was written, `None` if nobody would mistake them.
fn rank(written: &str, other: &str) -> Option<usize> {
    let (lower, other_lower) = (written.to_lowercase(), other.to_lowercase());
    // What was written may be the beginning alone.
    let length = lower.chars().count();
    let beginning: String = other_lower.chars().take(length).collect();
    let distance = match length {
        0..=4 => distance(&lower, &other_lower),
        _ => distance(&lower, &other_lower).min(distance(&lower, &beginning)),
    };
    let near = distance <= 2.max(written.chars().count() / 3) && distance < other.chars().count();
    let begun = written.len() >= 2 && other.starts_with(written);
    match begun {
        true => Some(0),
        false => near.then_some(distance),
    }
}

/// How many characters to insert, remove or replace.
fn distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, from) in a.chars().enumerate() {
        let mut before = i;
        row[0] = i + 1;
        for (j, to) in b.iter().enumerate() {
            let replaced = before + usize::from(from != *to);
            before = row[j + 1];
            row[j + 1] = replaced.min(before + 1).min(row[j] + 1);
        }
    }
    row[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distances() {
        let cases = [("", "", 0), ("", "ab", 2), ("rain", "train", 1), ("temp", "tmp", 1)];
        for (a, b, expected) in cases {
            assert_eq!((distance(a, b), distance(b, a)), (expected, expected), "{a} {b}");
        }
        assert_eq!(distance("kitten", "sitting"), 3);
    }

    #[test]
    fn only_what_could_be_meant() {
        assert!(rank("temp", "temp_max").is_some());
        assert!(rank("Rain", "rain").is_some());
        assert!(rank("wnid", "wind").is_some());
        assert!(rank("temp_rnage", "temp_range_12bit").is_some());
        assert!(rank("x", "y").is_none());
        assert!(rank("weather", "time").is_none());
    }
}
