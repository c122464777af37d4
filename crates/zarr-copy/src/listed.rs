//! Comparison of the objects of a listing with those that reads find.

use std::time::{SystemTime, UNIX_EPOCH};

use zarr_store::{ObjectMeta, Version};

/// Whether an object is the one that was listed. Listings of some servers have no versions, and
/// times have other decimals there.
pub(crate) fn is_as_listed(listed: Option<&ObjectMeta>, found: Option<&ObjectMeta>) -> bool {
    let (Some(listed), Some(found)) = (listed, found) else {
        return listed.is_none() && found.is_none();
    };
    let versions = listed.version.as_ref().zip(found.version.as_ref());
    let is_version = match versions.and_then(|(listed, found)| is_same_version(listed, found)) {
        Some(is_same) => is_same,
        None => match (seconds(listed.modified), seconds(found.modified)) {
            (Some(listed), Some(found)) => listed == found,
            _ => true,
        },
    };
    is_version && listed.size == found.size
}

/// Whether the version in a listing is that of a read; `None` if they cannot be compared. Listings
/// of S3, Google and Azure leave out the number of the version that their reads tell after the ETag,
/// and those of Azure have ETags without quotes.
fn is_same_version(listed: &Version, found: &Version) -> Option<bool> {
    let (Some(listed), Some(found)) = (listed.tag(), found.tag()) else {
        let are_numbers = listed.tag().is_none() && found.tag().is_none();
        return are_numbers.then(|| listed == found);
    };
    let [listed, found] = [listed, found].map(|text| text.split_once('\n').unwrap_or((text, "")));
    let same = |listed: &str, found: &str| {
        (!listed.is_empty() && !found.is_empty()).then(|| listed == found)
    };
    match (same(listed.0.trim_matches('"'), found.0.trim_matches('"')), same(listed.1, found.1)) {
        (Some(tag), number) => Some(tag && number.unwrap_or(true)),
        (None, number) => number,
    }
}

/// Whether two listings tell the same of an object.
pub(crate) fn is_listed_again(first: Option<&ObjectMeta>, again: Option<&ObjectMeta>) -> bool {
    let (Some(first), Some(again)) = (first, again) else {
        return first.is_none() && again.is_none();
    };
    first == again && (first.version.is_some() || first.modified == again.modified)
}

fn seconds(time: Option<SystemTime>) -> Option<u64> {
    Some(time?.duration_since(UNIX_EPOCH).ok()?.as_secs())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As servers tell one version in a listing and in a read.
    #[test]
    fn versions_of_listings_lack_numbers_and_quotes() {
        let [tag, other] = ["\"x\"\n", "\"y\"\n"].map(Version::from_tag);
        let numbered = Version::from_tag("\"x\"\n17");
        let bare = Version::from_tag("x\n");
        let time = Version::from_numbers([1, 2, 0, 0]);
        for (listed, found, expected) in [
            (&tag, &tag, Some(true)),
            (&tag, &other, Some(false)),
            (&tag, &numbered, Some(true)),
            (&other, &numbered, Some(false)),
            (&bare, &tag, Some(true)),
            (&bare, &other, Some(false)),
            (&numbered, &Version::from_tag("\"x\"\n18"), Some(false)),
            (&Version::from_tag("\n17"), &tag, None),
            (&time, &tag, None),
            (&time, &Version::from_numbers([2, 2, 0, 0]), Some(false)),
        ] {
            assert_eq!(is_same_version(listed, found), expected, "{listed:?} {found:?}");
        }
    }
}
