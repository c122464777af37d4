//! Names in paths and URLs: URLs hold them percent-encoded.

use std::fmt::Write as _;

use crate::addresses::scheme::{percent_decoded_leniently, scheme_of};
use crate::{Prefix, StoreError, shown_url};

/// The path or URL of the node at `names` (separated by `/`) below the path or URL `place`.
///
/// In a URL, characters with another meaning there are percent-encoded; so is `*`, which programs
/// may take for a pattern. In a path, names are unchanged.
///
/// # Examples
/// ```
/// use zarr_store::place_below;
///
/// assert_eq!(place_below("data", "100%/a b"), "data/100%/a b");
/// assert_eq!(place_below("s3://bucket/data/", "100%/a b"), "s3://bucket/data/100%25/a%20b");
/// assert_eq!(place_below("s3://bucket", ""), "s3://bucket");
/// ```
#[must_use]
pub fn place_below(place: &str, names: &str) -> String {
    let is_url = scheme_of(place).is_some();
    let mut all = place.to_owned();
    if !(names.is_empty() || all.is_empty() || all.ends_with('/')) {
        all.push('/');
    }
    for c in names.chars() {
        match c {
            '%' | '?' | '#' | '*' | '\\' | '\0'..=' ' | '\x7f' if is_url => {
                // Writing to a string cannot fail.
                let _ = write!(all, "%{:02X}", u32::from(c));
            }
            c => all.push(c),
        }
    }
    all
}

/// The path or URL of the sibling of `place` (a path or URL) with this name. `None` if no node can
/// have the name, or if the place has no siblings, such as a bucket.
///
/// # Examples
/// ```
/// use zarr_store::place_beside;
///
/// assert_eq!(place_beside("data/rain", "time").as_deref(), Some("data/time"));
/// assert_eq!(place_beside("rain", "time").as_deref(), Some("time"));
/// assert_eq!(place_beside("data/rain", "../time"), None);
/// assert_eq!(place_beside("s3://bucket", "time"), None);
/// ```
#[must_use]
pub fn place_beside(place: &str, name: &str) -> Option<String> {
    // The name may come from a store: it must not lead elsewhere.
    if name.contains('/') || Prefix::new(name).is_err() || name.is_empty() {
        return None;
    }
    let Some((parent, _)) = place.rsplit_once('/') else { return Some(name.to_owned()) };
    // The text after a ? is for the whole URL, and a server has no siblings.
    let is_whole = place.contains("://") && place.contains(['?', '#']);
    (!parent.ends_with('/') && !is_whole).then(|| place_below(parent, name))
}

/// The names in `part`, a part of the path or URL `place`. In a URL, percent encodings are decoded.
///
/// A `%` without two hexadecimal digits is kept, as in the clients of object storage.
///
/// # Errors
/// [`StoreError::Url`] if the names are not UTF-8 once decoded.
///
/// # Examples
/// ```
/// use zarr_store::names_in;
///
/// assert_eq!(names_in("s3://bucket/100%25/a%20b", "100%25/a%20b")?, "100%/a b");
/// assert_eq!(names_in("data/a%20b", "a%20b")?, "a%20b");
/// # Ok::<(), zarr_store::StoreError>(())
/// ```
pub fn names_in(place: &str, part: &str) -> Result<String, StoreError> {
    if scheme_of(place).is_none() {
        return Ok(part.to_owned());
    }
    percent_decoded_leniently(part)
        .map_err(|reason| StoreError::Url { url: shown_url(place), reason })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_encoded_is_decoded() {
        let all: String = (0..=0x250).filter_map(char::from_u32).collect();
        for place in ["s3://bucket/x", "file:///x", "x", "/x", "", "C:\\x"] {
            let below = place_below(place, &all);
            let part = below.strip_prefix(place).expect("begins with it");
            let part = part.strip_prefix('/').filter(|_| !place.is_empty()).unwrap_or(part);
            assert_eq!(names_in(place, part).expect("UTF-8"), all, "{place}");
            assert_eq!(scheme_of(place).is_none(), part == all, "{place}");
        }
    }

    #[test]
    fn a_percent_sign_alone_stands_for_itself() {
        for (part, names) in [
            ("100%", "100%"),
            ("%4", "%4"),
            ("%+9", "%+9"),
            ("%%41", "%A"),
            ("%2541", "%41"),
            ("%c3%A9", "é"),
            ("%é1", "%é1"),
        ] {
            assert_eq!(names_in("s3://b", part).expect("UTF-8"), names);
        }
        let error = names_in("s3://me:secret@b/%ff", "%ff").expect_err("no UTF-8");
        assert!(!error.to_string().contains("secret") && error.to_string().contains("s3://b"));
    }
}
