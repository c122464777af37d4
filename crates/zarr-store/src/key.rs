//! Names of objects and prefixes.

use std::borrow::Cow;
use std::fmt;
use std::iter;
use std::sync::Arc;

/// The longest key, in bytes: the limit of S3 and GCS.
pub const MAX_KEY_LEN: usize = 1024;

/// The name of one object in a store, such as `group/array/c/0/1`.
///
/// Relative, with `/` between segments. No segment is empty, `.` or `..`, and no character is NUL
/// or a backslash. So a key means the same object on every file system and never leads outside a
/// store. At most [`MAX_KEY_LEN`] bytes. A clone is cheap.
///
/// # Examples
/// ```
/// use zarr_store::{Key, Prefix};
///
/// let array = Prefix::new("group/array")?;
/// assert_eq!(array.key("zarr.json")?.as_str(), "group/array/zarr.json");
/// assert!(Key::new("group/../secret").is_err());
/// # Ok::<(), zarr_store::KeyError>(())
/// ```
///
/// # Spec
/// Zarr v3 core, "Abstract store interface".
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Key(Arc<String>);

impl Key {
    /// Checks `text` and makes it a key.
    ///
    /// # Errors
    /// [`KeyError`] names the rule that `text` breaks.
    pub fn new(text: impl AsRef<str>) -> Result<Self, KeyError> {
        let text = text.as_ref();
        check(text)?;
        Ok(Self(Arc::new(text.to_owned())))
    }

    /// This key with another end: keeps its first `kept` bytes and lets `write` append the rest.
    /// Reuses the memory unless a clone shares it.
    ///
    /// # Errors
    /// [`KeyError`] names the rule that the new key breaks.
    pub fn with_end(
        mut self,
        kept: usize,
        write: impl FnOnce(&mut String),
    ) -> Result<Self, KeyError> {
        let text = Arc::make_mut(&mut self.0);
        text.truncate(kept);
        write(text);
        check(text)?;
        Ok(self)
    }

    /// The whole key.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The last segment.
    ///
    /// ```
    /// # use zarr_store::Key;
    /// assert_eq!(Key::new("a/c/0")?.name(), "0");
    /// # Ok::<(), zarr_store::KeyError>(())
    /// ```
    #[must_use]
    pub fn name(&self) -> &str {
        self.0.rsplit_once('/').map_or(self.as_str(), |(_, name)| name)
    }

    /// Whether its name is that of a node's document: `zarr.json`, or one of Zarr version 2.
    ///
    /// ```
    /// # use zarr_store::Key;
    /// assert!(Key::new("group/array/zarr.json")?.is_document());
    /// assert!(!Key::new("group/array/c/0")?.is_document());
    /// # Ok::<(), zarr_store::KeyError>(())
    /// ```
    #[must_use]
    pub fn is_document(&self) -> bool {
        matches!(self.name(), "zarr.json" | ".zarray" | ".zattrs" | ".zgroup" | ".zmetadata")
    }

    /// All segments except the last.
    #[must_use]
    pub fn parent(&self) -> Prefix {
        let parent = self.0.rsplit_once('/').map(|(parent, _)| parent.to_owned());
        Prefix(Arc::new(parent.unwrap_or_default()))
    }
}

impl AsRef<str> for Key {
    fn as_ref(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Debug for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Key({:?})", self.as_str())
    }
}

/// A node of a store's hierarchy: the root, or the segments that keys below it begin with.
///
/// The same rules as for a [`Key`] apply, and the root is the empty text. There is no final `/`.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Prefix(Arc<String>);

impl Prefix {
    /// The root of the store: every key lies below it.
    #[must_use]
    pub fn root() -> Self {
        Self(Arc::default())
    }

    /// Checks `text` and makes it a prefix; the empty text is the root.
    ///
    /// # Errors
    /// [`KeyError`] names the rule that `text` breaks.
    pub fn new(text: impl AsRef<str>) -> Result<Self, KeyError> {
        let text = text.as_ref();
        if text.is_empty() {
            return Ok(Self::root());
        }
        Key::new(text).map(Self::from)
    }

    /// Whether this is the root.
    #[must_use]
    pub fn is_root(&self) -> bool {
        self.0.is_empty()
    }

    /// The whole prefix, without a final `/`.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Its segments, from the root on; none for the root itself.
    pub fn segments(&self) -> impl Iterator<Item = &str> {
        self.0.split('/').filter(|segment| !segment.is_empty())
    }

    /// The key `relative` below this prefix.
    ///
    /// # Errors
    /// [`KeyError`] if the two together are not a key.
    pub fn key(&self, relative: &str) -> Result<Key, KeyError> {
        check(relative)?;
        self.key_of(relative.len(), |text| text.push_str(relative))
    }

    /// The key below this prefix; `write` appends the rest, of about `length` bytes.
    ///
    /// # Errors
    /// [`KeyError`] if the two together are not a key.
    pub fn key_of(&self, length: usize, write: impl FnOnce(&mut String)) -> Result<Key, KeyError> {
        let mut text = String::with_capacity(self.key_start() + length);
        text.push_str(&self.0);
        if !self.is_root() {
            text.push('/');
        }
        write(&mut text);
        check(&text)?;
        Ok(Key(Arc::new(text)))
    }

    /// Length in bytes of the prefix and the `/` after it, with which every key below it starts.
    pub fn key_start(&self) -> usize {
        if self.is_root() { 0 } else { self.0.len() + 1 }
    }

    /// The prefix `relative` below this one.
    ///
    /// # Errors
    /// [`KeyError`] if the two together are not a prefix.
    pub fn join(&self, relative: &str) -> Result<Self, KeyError> {
        if relative.is_empty() {
            return Ok(self.clone());
        }
        self.key(relative).map(Self::from)
    }

    /// The prefix one segment up, `None` for the root.
    #[must_use]
    pub fn parent(&self) -> Option<Self> {
        if self.is_root() { None } else { Some(Key(Arc::clone(&self.0)).parent()) }
    }

    /// This prefix, the prefix one segment up, and so on to the root.
    ///
    /// ```
    /// # use zarr_store::Prefix;
    /// let array = Prefix::new("a/b")?;
    /// let above: Vec<String> = array.ancestors().skip(1).map(|group| group.to_string()).collect();
    /// assert_eq!(above, ["a", ""]);
    /// # Ok::<(), zarr_store::KeyError>(())
    /// ```
    pub fn ancestors(&self) -> impl Iterator<Item = Self> + use<> {
        iter::successors(Some(self.clone()), Self::parent)
    }

    /// The rest of `key` below this prefix, `None` if it lies elsewhere.
    ///
    /// ```
    /// # use zarr_store::{Key, Prefix};
    /// let array = Prefix::new("a")?;
    /// assert_eq!(array.strip(&Key::new("a/c/0")?), Some("c/0"));
    /// assert_eq!(array.strip(&Key::new("ab/c/0")?), None);
    /// # Ok::<(), zarr_store::KeyError>(())
    /// ```
    #[must_use]
    pub fn strip<'a>(&self, key: &'a Key) -> Option<&'a str> {
        path_below(key.as_str(), self.as_str()).filter(|rest| !rest.is_empty())
    }
}

/// The rest of a path at or below the path `above`, both as [`Prefix::as_str`] has them: empty if
/// they are the same, `None` if `path` lies elsewhere. Everything is below the root, the empty path.
///
/// ```
/// use zarr_store::path_below;
///
/// assert_eq!(path_below("a/b/c", "a"), Some("b/c"));
/// assert_eq!(path_below("a/b/c", "a/b/c"), Some(""));
/// assert_eq!(path_below("a/b/c", ""), Some("a/b/c"));
/// assert_eq!(path_below("ab/c", "a"), None);
/// ```
#[must_use]
pub fn path_below<'a>(path: &'a str, above: &str) -> Option<&'a str> {
    let rest = path.strip_prefix(above)?;
    if above.is_empty() || rest.is_empty() { Some(rest) } else { rest.strip_prefix('/') }
}

impl From<Key> for Prefix {
    fn from(key: Key) -> Self {
        Self(key.0)
    }
}

/// The path of a node in a store, as functions take it: a [`Prefix`], or its text.
///
/// # Examples
/// ```
/// use zarr_store::{AsPrefix, Prefix};
///
/// assert_eq!("group/rain".to_prefix()?, Prefix::new("group/rain")?);
/// assert!("group/../rain".to_prefix().is_err());
///
/// // Also borrowed, boxed or shared, so that the items of a list need no conversion.
/// # use std::{borrow::Cow, sync::Arc};
/// fn name(path: &(impl AsPrefix + ?Sized)) -> Result<String, zarr_store::KeyError> {
///     Ok(path.to_prefix()?.as_str().to_owned())
/// }
/// for text in &["group/rain", "group/snow"] {
///     assert_eq!(name(text)?, *text);
/// }
/// let rain = Prefix::new("rain")?;
/// assert_eq!(name(&&rain)?, "rain");
/// assert_eq!(name(&Arc::new(rain.clone()))?, "rain");
/// assert_eq!(name(&Arc::<str>::from("rain"))?, "rain");
/// assert_eq!(name(&Box::new(rain))?, "rain");
/// assert_eq!(name(&Cow::from("rain"))?, "rain");
/// # Ok::<(), zarr_store::KeyError>(())
/// ```
pub trait AsPrefix {
    /// The path, checked.
    ///
    /// # Errors
    /// As [`Prefix::new`].
    fn to_prefix(&self) -> Result<Prefix, KeyError>;
}

impl AsPrefix for Prefix {
    fn to_prefix(&self) -> Result<Prefix, KeyError> {
        Ok(self.clone())
    }
}

impl AsPrefix for str {
    fn to_prefix(&self) -> Result<Prefix, KeyError> {
        Prefix::new(self)
    }
}

impl AsPrefix for String {
    fn to_prefix(&self) -> Result<Prefix, KeyError> {
        Prefix::new(self)
    }
}

impl AsPrefix for Cow<'_, str> {
    fn to_prefix(&self) -> Result<Prefix, KeyError> {
        Prefix::new(self)
    }
}

impl<T: AsPrefix + ?Sized> AsPrefix for &T {
    fn to_prefix(&self) -> Result<Prefix, KeyError> {
        (**self).to_prefix()
    }
}

impl<T: AsPrefix + ?Sized> AsPrefix for Box<T> {
    fn to_prefix(&self) -> Result<Prefix, KeyError> {
        (**self).to_prefix()
    }
}

impl<T: AsPrefix + ?Sized> AsPrefix for Arc<T> {
    fn to_prefix(&self) -> Result<Prefix, KeyError> {
        (**self).to_prefix()
    }
}

impl fmt::Display for Prefix {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Debug for Prefix {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Prefix({:?})", self.as_str())
    }
}

// By bytes, because this runs for the key of every chunk: all rules concern ASCII characters.
fn check(text: &str) -> Result<(), KeyError> {
    // An over-long key is shown in part: the message stays readable and small.
    if text.len() > MAX_KEY_LEN {
        let shown: String = text.chars().take(40).collect();
        return Err(KeyError::TooLong { start: shown, len: text.len() });
    }
    if let Some(at) = text.bytes().position(|byte| matches!(byte, 0 | b'\\')) {
        return Err(KeyError::Character { key: text.to_owned(), byte: at });
    }
    for segment in text.as_bytes().split(|byte| *byte == b'/') {
        let dots = match segment {
            b"" => return Err(KeyError::EmptySegment { key: text.to_owned() }),
            b"." => ".",
            b".." => "..",
            _ => continue,
        };
        return Err(KeyError::DotSegment { key: text.to_owned(), segment: dots.to_owned() });
    }
    Ok(())
}

/// The reason why a text is not a [`Key`] or [`Prefix`].
#[derive(Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum KeyError {
    /// The text is empty, begins or ends with `/`, or has `//`.
    #[error("store key {key:?} {}", empty_segment(key))]
    EmptySegment {
        /// The text.
        key: String,
    },
    /// A segment is `.` or `..`.
    #[error("store key {key:?} has the segment {segment:?}, which would lead elsewhere")]
    DotSegment {
        /// The text.
        key: String,
        /// The segment.
        segment: String,
    },
    /// The text holds NUL or a backslash.
    #[error("store key {key:?} has a NUL or a backslash at byte {byte}; neither is allowed")]
    Character {
        /// The text.
        key: String,
        /// Offset in bytes of the first such character.
        byte: usize,
    },
    /// The text is longer than [`MAX_KEY_LEN`] bytes.
    #[error("store key {start:?}... has {len} bytes, allowed are {MAX_KEY_LEN}")]
    TooLong {
        /// The first characters of the text.
        start: String,
        /// Length of the text in bytes.
        len: usize,
    },
}

/// The empty segment of a key, and the remedy.
fn empty_segment(key: &str) -> &'static str {
    match key {
        "" => "is empty; at least one segment is needed",
        _ if key.starts_with('/') => "begins with a slash: leave out the leading slash",
        _ if key.ends_with('/') => "ends with a slash: leave out the final slash",
        _ => "has two slashes in a row: segments must not be empty",
    }
}
