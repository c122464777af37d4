//! Suggests names for unknown ones.

use std::fs;
use std::path::Path;

/// The most neighbours of a missing folder that are compared.
const LOOKED_AT: usize = 10_000;

/// The wanted neighbour of a missing folder with the nearest name, if it is near enough.
pub(crate) fn neighbour(path: &str, wanted: impl Fn(&Path) -> bool) -> Option<String> {
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
        .filter(|(_, other)| wanted(&listed.join(other)))
        .collect();
    names.sort();
    let (_, nearest) = names.into_iter().next()?;
    Some(parent.join(nearest).display().to_string())
}

/// `; did you mean bytes?`, or nothing.
pub(crate) fn hint<'k>(written: &str, known: impl IntoIterator<Item = &'k str>) -> String {
    let ranked = known.into_iter().filter_map(|known| Some((rank(written, known)?, known)));
    ranked.min().map_or_else(String::new, |(_, near)| format!("; did you mean {near}?"))
}

/// The distance of a name from the written one; `None` if the two cannot be mistaken for each
/// other.
fn rank(written: &str, other: &str) -> Option<usize> {
    let (written, other) = (written.to_lowercase(), other.to_lowercase());
    let length = written.chars().count();
    if length >= 2 && other.starts_with(&written) {
        return Some(0);
    }
    // The written name may be only the beginning.
    let beginning: String = other.chars().take(length).collect();
    let mut distance = strsim::osa_distance(&written, &other);
    if length > 4 {
        distance = distance.min(strsim::osa_distance(&written, &beginning));
    }
    // At most one mistake per three characters, so that short names are not mistaken for one
    // another.
    let shorter = length.min(other.chars().count());
    (distance <= shorter / 3).then_some(distance)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_could_be_meant() {
        let near = [
            ("temp", "temp_max"),
            ("Rain", "rain"),
            ("wnid", "wind"),
            ("temp_rnage", "temp_range_12bit"),
            ("raed", "read"),
            ("zst", "zstd"),
            ("flaot32", "float32"),
            ("seattle-weather.zar", "seattle-weather.zarr"),
        ];
        for (written, known) in near {
            assert!(rank(written, known).is_some(), "{written} {known}");
        }
        let far = [("x", "y"), ("weather", "time"), ("zfp", "gzip"), ("lz4", "zstd"), ("ab", "ac")];
        for (written, known) in far {
            assert!(rank(written, known).is_none(), "{written} {known}");
        }
    }
}
