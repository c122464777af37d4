//! Consolidated metadata: copies of documents in the document of a group.
//!
//! Their texts are kept here; `node.rs` reads them, since it knows both kinds of node.

use std::ops::Range;

use crate::error::{At, Result};
use crate::json::{Object, Raw, range_of};

/// Copies of the documents below a group, by their path in it.
///
/// They date from the last consolidation; the documents themselves may have changed since.
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
    /// The document of the group.
    text: &'a str,
    copies: &'a Copies,
    /// Whether the nodes are translated from Zarr version 2.
    is_version_2: bool,
}

/// Where the copies are in the document of a group.
#[derive(Debug, Clone)]
pub(crate) struct Copies {
    /// The path of each node and the place of its document.
    nodes: Vec<(Box<str>, Range<usize>)>,
    /// The places of the nodes in the order of their paths.
    sorted: Vec<usize>,
}

impl Copies {
    /// Reads the member of the document `text`, with its `must_understand`.
    pub(crate) fn read(raw: Raw<'_>, text: &str) -> Result<(Self, Option<bool>)> {
        const METADATA: &str = "an object of documents by their path";
        let mut members = Object::read(raw, "an object")?;
        members.check_known(&["kind", "must_understand", "metadata"])?;
        let kind = members.require("kind", "\"inline\"")?;
        if kind.text() != "\"inline\"" {
            return Err(kind.expected("\"inline\"").in_member("kind"));
        }
        let must_understand =
            members.take("must_understand").map(Raw::bool).transpose().member("must_understand")?;
        let raw = members.require("metadata", METADATA)?;
        let nodes = Object::read(raw, METADATA).member("metadata")?.rest();
        let nodes: Vec<(Box<str>, _)> =
            nodes.map(|(path, raw)| (path.into(), range_of(raw.text(), text))).collect();
        let mut sorted: Vec<usize> = (0..nodes.len()).collect();
        sorted.sort_by_key(|at| nodes.get(*at).map(|(path, _)| path.as_ref()));
        Ok((Copies { nodes, sorted }, must_understand))
    }

    /// The nodes in the document `text`.
    pub(crate) fn of<'a>(&'a self, text: &'a str, is_version_2: bool) -> ConsolidatedMetadata<'a> {
        ConsolidatedMetadata { text, copies: self, is_version_2 }
    }
}

impl<'a> ConsolidatedMetadata<'a> {
    pub(crate) fn is_version_2(&self) -> bool {
        self.is_version_2
    }

    /// The paths of the nodes, as written.
    pub fn paths(&self) -> impl ExactSizeIterator<Item = &str> {
        self.copies.nodes.iter().map(|(path, _)| path.as_ref())
    }

    /// The path of every node and the JSON text of its document, as written.
    pub fn entries(&self) -> impl ExactSizeIterator<Item = (&str, &'a str)> {
        self.copies.nodes.iter().map(|(path, at)| (path.as_ref(), self.slice(at)))
    }

    /// The text of the node at `path`.
    pub(crate) fn text(&self, path: &str) -> Option<&'a str> {
        let nodes = &self.copies.nodes;
        let by_path = |at: &usize| nodes.get(*at).map_or("", |(path, _)| path.as_ref()).cmp(path);
        let at = self.copies.sorted.binary_search_by(by_path).ok()?;
        let (_, place) = nodes.get(*self.copies.sorted.get(at)?)?;
        Some(self.slice(place))
    }

    fn slice(&self, at: &Range<usize>) -> &'a str {
        self.text.get(at.clone()).unwrap_or_default()
    }
}
