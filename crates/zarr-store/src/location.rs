//! Where objects are, over all stores.

use std::fmt;
use std::path::PathBuf;

/// The space of the local file system.
pub(super) const FILES: &str = "file";

/// Where the objects below a prefix are, told so that places in different stores can be compared:
/// a file system and the folders down to it, or a bucket and the segments of a path.
///
/// Two stores may be handles of one place, or one may lie within the other.
///
/// # Examples
/// ```
/// use zarr_store::Location;
///
/// let group = Location::new("bucket weather", ["daily"]);
/// assert!(group.overlaps(&Location::new("bucket weather", ["daily", "temp_max"])));
/// assert!(!group.overlaps(&Location::new("bucket weather", ["dailyish"])));
/// assert!(!group.overlaps(&Location::new("bucket backup", ["daily"])));
/// ```
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Location {
    space: String,
    segments: Vec<Vec<u8>>,
}

impl Location {
    /// The place to which `segments` lead in `space`, which names a file system, a bucket, or
    /// whatever else has paths of its own, and no secret.
    pub fn new(space: impl Into<String>, segments: impl IntoIterator<Item: AsRef<[u8]>>) -> Self {
        let segments = segments.into_iter().map(|segment| segment.as_ref().to_vec()).collect();
        Self { space: space.into(), segments }
    }

    /// Whether `other` is this place or lies below it.
    #[must_use]
    pub fn contains(&self, other: &Self) -> bool {
        self.space == other.space && other.segments.starts_with(&self.segments)
    }

    /// Whether one of the two lies in the other, or they are the same.
    #[must_use]
    pub fn overlaps(&self, other: &Self) -> bool {
        self.contains(other) || other.contains(self)
    }

    /// Bytes that no other place has.
    pub fn bytes(&self) -> Vec<u8> {
        let mut bytes = self.space.as_bytes().to_vec();
        for segment in &self.segments {
            // In no segment of a key, nor of a path.
            bytes.push(0);
            bytes.extend_from_slice(segment);
        }
        bytes
    }
}

/// A path of the file system, or the space and the path in it: for people, not to be opened.
impl fmt::Display for Location {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let segments = self.segments.iter().map(|segment| String::from_utf8_lossy(segment));
        if self.space != FILES {
            f.write_str(&self.space)?;
            return segments.into_iter().try_for_each(|segment| write!(f, "/{segment}"));
        }
        // The first segment is the root itself.
        let path: PathBuf = segments.map(|segment| segment.into_owned()).collect();
        write!(f, "{}", path.display())
    }
}

impl fmt::Debug for Location {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let segments = self.segments.iter().map(|segment| String::from_utf8_lossy(segment));
        f.debug_tuple("Location")
            .field(&self.space)
            .field(&segments.collect::<Vec<_>>().join("/"))
            .finish()
    }
}
