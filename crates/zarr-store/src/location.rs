//! Where objects are, comparable between stores.

use std::fmt;
use std::path::PathBuf;

/// The space of local files.
pub(super) const FILES: &str = "file";

/// The location of the objects below a prefix, comparable between stores: a file system and the
/// folders of a path, or a bucket and the segments of a path.
///
/// Two stores may have the same location, or one may lie within the other.
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
    pub(super) space: String,
    pub(super) segments: Vec<Vec<u8>>,
}

impl Location {
    /// The location of the path `segments` in `space`: a file system, a bucket, or another space of
    /// paths. `space` is shown in messages and must not hold secrets.
    pub fn new(space: impl Into<String>, segments: impl IntoIterator<Item: AsRef<[u8]>>) -> Self {
        let segments = segments.into_iter().map(|segment| segment.as_ref().to_vec()).collect();
        Self { space: space.into(), segments }
    }

    /// Whether `other` is this location or lies below it.
    #[must_use]
    pub fn contains(&self, other: &Self) -> bool {
        self.space == other.space && other.segments.starts_with(&self.segments)
    }

    /// Whether they are equal, or one lies within the other.
    #[must_use]
    pub fn overlaps(&self, other: &Self) -> bool {
        self.contains(other) || other.contains(self)
    }

    /// The location of a prefix below this one.
    #[must_use]
    pub fn below(mut self, prefix: &crate::Prefix) -> Self {
        self.segments.extend(prefix.segments().map(|segment| segment.as_bytes().to_vec()));
        self
    }

    /// Free bytes in the file system of a local path, for this user; `None` for other places, and
    /// if the system does not tell.
    #[must_use]
    pub fn free_space(&self) -> Option<u64> {
        #[cfg(target_os = "linux")]
        if self.space == FILES {
            use std::os::unix::ffi::OsStrExt as _;
            let names = self.segments.iter().map(|name| std::ffi::OsStr::from_bytes(name));
            let path: PathBuf = names.collect();
            let there = path.ancestors().find(|path| path.exists())?;
            let found = rustix::fs::statvfs(there).ok()?;
            return Some(found.f_bavail.saturating_mul(found.f_frsize));
        }
        None
    }

    /// Bytes that identify the location.
    pub fn bytes(&self) -> Vec<u8> {
        let mut bytes = self.space.as_bytes().to_vec();
        for segment in &self.segments {
            // NUL is in no segment of a key or a path.
            bytes.push(0);
            bytes.extend_from_slice(segment);
        }
        bytes
    }
}

/// For people: a path of the file system, or the space and the path in it.
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
