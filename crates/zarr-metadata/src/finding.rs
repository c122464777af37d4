//! What a document has that is read all the same, but should be told.

use std::fmt;

use crate::printable::Printable;

/// Something that a document should not have, and that does not keep it from being read.
///
/// Its text is one line: the JSON path, what was found, what is allowed, and the id in brackets.
///
/// # Examples
/// ```
/// use zarr_metadata::NodeMetadata;
///
/// let json = br#"{"zarr_format": 3, "node_type": "group", "attributes": {"x": [0, NaN]}}"#;
/// let group = NodeMetadata::from_json(json)?;
/// let [finding] = group.findings() else { panic!("one") };
/// assert_eq!((finding.id(), finding.path()), ("not-finite-word", "$.attributes.x[1]"));
/// # Ok::<_, zarr_metadata::MetadataError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    pub(crate) id: &'static str,
    pub(crate) path: String,
    pub(crate) found: String,
    pub(crate) allowed: &'static str,
}

/// How many findings of one place are told. In a chain of many codecs deep inside of shards each would
/// have a long path of its own, and their memory be out of proportion to the document's.
const MOST: usize = 100;

/// Behind what was found by the last of them.
const MORE: &str = ", and more that is not listed";

impl Finding {
    pub(crate) fn new(id: &'static str, found: impl Into<String>, allowed: &'static str) -> Self {
        Finding { id, path: "$".to_owned(), found: found.into(), allowed }
    }

    /// A stable name of the kind of finding, such as `bare-string-codec`.
    #[must_use]
    pub fn id(&self) -> &'static str {
        self.id
    }

    /// The place inside the document as a JSON path.
    #[must_use]
    pub fn path(&self) -> &str {
        &self.path
    }

    /// What the document has there.
    #[must_use]
    pub fn found(&self) -> &str {
        &self.found
    }

    /// What belongs there.
    #[must_use]
    pub fn allowed(&self) -> &'static str {
        self.allowed
    }

    /// Puts `path` before whatever `read` finds, up to a number.
    pub(crate) fn scope<T>(
        findings: &mut Vec<Finding>,
        path: impl FnOnce() -> String,
        read: impl FnOnce(&mut Vec<Finding>) -> T,
    ) -> T {
        let mut inside = Vec::new();
        let result = read(&mut inside);
        if inside.len() > MOST {
            inside.truncate(MOST);
            if let Some(last) = inside.last_mut().filter(|last| !last.found.ends_with(MORE)) {
                last.found.push_str(MORE);
            }
        }
        if !inside.is_empty() {
            let path = path();
            findings.extend(inside.into_iter().map(|finding| finding.under(&path)));
        }
        result
    }

    pub(crate) fn under(mut self, path: &str) -> Self {
        self.path.insert_str(1, path);
        self
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Finding { id, path, found, allowed } = self;
        write!(f, "{}: found {}, expected {allowed} [{id}]", Printable(path), Printable(found))
    }
}
