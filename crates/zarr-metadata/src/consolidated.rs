//! Consolidated metadata: copies of documents in the document of a group.
//!
//! Their texts are kept here; what they say is read in `node.rs`, which knows both kinds of node.

use std::borrow::Cow;

use crate::error::{At, MetadataError};
use crate::json::{Object, Raw};

type Result<T> = std::result::Result<T, MetadataError>;

/// Copies of the documents below a group, by their path in it.
///
/// They are as old as the last consolidation; the documents themselves may have changed since.
///
/// # Examples
/// ```
/// use zarr_metadata::{GroupMetadata, NodeMetadata};
///
/// let root = GroupMetadata::from_json(br#"{
///   "zarr_format": 3, "node_type": "group",
///   "consolidated_metadata": {"kind": "inline", "must_understand": false, "metadata": {
///     "station": {"zarr_format": 3, "node_type": "group"}
///   }}
/// }"#)?;
/// let nodes = root.consolidated_metadata().expect("copies of the documents below");
/// assert!(nodes.paths().eq(["station"]));
/// assert!(matches!(nodes.node("station"), Some(Ok(NodeMetadata::Group(_)))));
/// # Ok::<_, zarr_metadata::MetadataError>(())
/// ```
#[derive(Debug, Clone)]
pub struct ConsolidatedMetadata<'a> {
    nodes: Vec<(Cow<'a, str>, Raw<'a>)>,
    must_understand: Option<bool>,
    /// The places of the nodes in the order of their paths.
    sorted: Vec<usize>,
    /// Whether the nodes stand for documents of Zarr version 2.
    is_version_2: bool,
}

impl<'a> ConsolidatedMetadata<'a> {
    pub(crate) fn read(raw: Raw<'a>) -> Result<Self> {
        let mut members = Object::read(raw, "an object")?;
        members.check_known(&["kind", "must_understand", "metadata"])?;
        let kind = members.require("kind", "\"inline\"")?;
        if kind.text() != "\"inline\"" {
            return Err(kind.expected("\"inline\"").in_member("kind"));
        }
        let must_understand =
            members.take("must_understand").map(Raw::bool).transpose().member("must_understand")?;
        let raw = members.require("metadata", "an object of documents by their path")?;
        let nodes = Object::read(raw, "an object of documents by their path").member("metadata")?;
        let nodes = nodes.rest();
        let mut sorted: Vec<usize> = (0..nodes.len()).collect();
        sorted.sort_by_key(|at| nodes.get(*at).map(|(path, _)| path.as_ref()));
        Ok(ConsolidatedMetadata { nodes, must_understand, sorted, is_version_2: false })
    }

    pub(crate) fn of_version_2(self) -> Self {
        ConsolidatedMetadata { is_version_2: true, ..self }
    }

    pub(crate) fn is_version_2(&self) -> bool {
        self.is_version_2
    }

    /// What is said of readers that do not know consolidated metadata, if anything.
    pub(crate) fn must_understand(&self) -> Option<bool> {
        self.must_understand
    }

    /// The paths of the nodes, as written.
    pub fn paths(&self) -> impl ExactSizeIterator<Item = &str> {
        self.nodes.iter().map(|(path, _)| path.as_ref())
    }

    /// The path of every node and the JSON text of its document, as written.
    pub fn entries(&self) -> impl ExactSizeIterator<Item = (&str, &'a str)> {
        self.nodes.iter().map(|(path, raw)| (path.as_ref(), raw.text()))
    }

    /// The path and the text of every node.
    pub(crate) fn texts(&self) -> impl ExactSizeIterator<Item = (&str, Raw<'a>)> {
        self.nodes.iter().map(|(path, raw)| (path.as_ref(), *raw))
    }

    /// The text of the node at `path`.
    pub(crate) fn text(&self, path: &str) -> Option<Raw<'a>> {
        let by_path =
            |at: &usize| self.nodes.get(*at).map_or("", |(path, _)| path.as_ref()).cmp(path);
        let at = self.sorted.binary_search_by(by_path).ok()?;
        self.nodes.get(*self.sorted.get(at)?).map(|(_, raw)| *raw)
    }
}
