//! The metadata document of an array or a group.

use std::ops::Deref;

use crate::documents::array::ArrayMetadata;
use crate::documents::consolidated::ConsolidatedMetadata;
use crate::documents::document::NodeDocument;
use crate::documents::draft::Draft;
use crate::documents::group::GroupMetadata;
use crate::error::{At, MetadataError};
use crate::json::utf8;

/// A `zarr.json`, by its `node_type`.
///
/// # Examples
/// ```
/// use zarr_metadata::NodeMetadata;
///
/// let json = br#"{"zarr_format": 3, "node_type": "group"}"#;
/// assert!(matches!(NodeMetadata::from_json(json)?, NodeMetadata::Group(_)));
/// let old = NodeMetadata::from_json(br#"{"zarr_format": 2}"#).unwrap_err();
/// assert_eq!(old.to_string(), "$.zarr_format: found 2, expected 3: this is Zarr version 2");
/// # Ok::<_, zarr_metadata::MetadataError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NodeMetadata {
    /// `"array"`
    Array(ArrayMetadata),
    /// `"group"`
    Group(GroupMetadata),
}

impl NodeMetadata {
    /// Reads and checks a document.
    ///
    /// # Errors
    /// As for [`ArrayMetadata::from_json`] and [`GroupMetadata::from_json`]. If the document is
    /// neither, the error names its kind, such as a document of Zarr version 2.
    pub fn from_json(json: &[u8]) -> Result<Self, MetadataError> {
        let draft = Draft::read(utf8(json)?)?;
        match draft.is_array()? {
            true => ArrayMetadata::of(draft).map(NodeMetadata::Array),
            false => GroupMetadata::of(draft).map(NodeMetadata::Group),
        }
    }

    fn of_version_2(self) -> Self {
        match self {
            NodeMetadata::Array(array) => NodeMetadata::Array(array.of_version_2(Vec::new())),
            NodeMetadata::Group(group) => NodeMetadata::Group(group.of_version_2()),
        }
    }
}

impl Deref for NodeMetadata {
    type Target = NodeDocument;

    fn deref(&self) -> &NodeDocument {
        match self {
            NodeMetadata::Array(array) => array,
            NodeMetadata::Group(group) => group,
        }
    }
}

impl ConsolidatedMetadata<'_> {
    /// The path and the document of every node, each read when the iterator reaches it.
    pub fn nodes(
        &self,
    ) -> impl ExactSizeIterator<Item = (&str, Result<NodeMetadata, MetadataError>)> {
        self.entries().map(|(path, text)| (path, self.read_node(path, text)))
    }

    /// The document of the node at `path`, read now.
    #[must_use]
    pub fn node(&self, path: &str) -> Option<Result<NodeMetadata, MetadataError>> {
        self.text(path).map(|text| self.read_node(path, text))
    }

    fn read_node(&self, path: &str, text: &str) -> Result<NodeMetadata, MetadataError> {
        let node = NodeMetadata::from_json(text.as_bytes())
            .member(path)
            .member("metadata")
            .member("consolidated_metadata")?;
        Ok(if self.is_version_2() { node.of_version_2() } else { node })
    }
}
