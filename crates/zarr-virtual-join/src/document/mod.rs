//! The document of a virtual join: which members make up which array.

mod json;
mod member_reference;
mod read;
mod time;
mod write;

use std::collections::BTreeMap;

use zarr_array::store::Prefix;
use zarr_grid::Grid;
use zarr_metadata::{ArrayMetadata, GroupMetadata};

pub use self::member_reference::MemberReference;
pub(crate) use self::member_reference::{LOCATION, is_location};
pub(crate) use self::time::{Latest, same_time, seconds};

use crate::error::VirtualJoinError;

/// The ending of the name of a virtual join's document.
pub const SUFFIX: &str = ".zjoin";

/// A virtual join: a hierarchy of arrays that consist of other arrays, in other stores.
///
/// The book's page on virtual joins has every field of its JSON form. Documents are checked when
/// they are read, in time and memory proportional to their length.
///
/// # Examples
/// ```
/// use zarr_virtual_join::Document;
///
/// let document = Document::from_json("months.zjoin", br#"{
///   "zarr_kit_join": 1,
///   "nodes": {"": {
///     "metadata": {"zarr_format": 3, "node_type": "array", "shape": [59], "data_type": "uint8",
///       "chunk_grid": {"name": "rectilinear",
///         "configuration": {"kind": "inline", "chunk_shapes": [[31, 28]]}},
///       "chunk_key_encoding": {"name": "default"}, "fill_value": 0, "codecs": ["bytes"]},
///     "member_shapes": [[31, 28]],
///     "members": [{"location": "2026-01.zarr", "length": 812}, {"location": "2026-02.zarr"}]
///   }}
/// }"#)?;
/// assert_eq!(document.members().count(), 2);
///
/// let wrong = br#"{"zarr_kit_join": 2}"#;
/// let error = Document::from_json("months.zjoin", wrong).unwrap_err();
/// assert_eq!(
///     error.to_string(),
///     "months.zjoin: $.zarr_kit_join: found 2, expected 1, the only version that is read"
/// );
/// # Ok::<(), zarr_virtual_join::VirtualJoinError>(())
/// ```
#[derive(Clone, Debug)]
pub struct Document {
    pub(crate) nodes: BTreeMap<String, Node>,
}

/// A node of the joined hierarchy.
#[derive(Clone, Debug)]
pub(crate) enum Node {
    Group(GroupMetadata),
    Array(Box<JoinedArray>),
}

/// An array that consists of others.
#[derive(Clone, Debug)]
pub(crate) struct JoinedArray {
    pub(crate) metadata: ArrayMetadata,
    /// Each chunk of it is a member.
    pub(crate) grid: Grid,
    pub(crate) new_axis: Option<usize>,
    pub(crate) missing: Missing,
    /// In C order of the grid; `None` where there is none.
    pub(crate) members: Vec<Option<MemberReference>>,
}

/// The elements of a missing member.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Missing {
    /// Reading it is an error.
    #[default]
    Error,
    /// It reads as the fill value of the joined array.
    Fill,
}

impl Document {
    /// A document of this array alone.
    pub(crate) fn of_array(array: JoinedArray) -> Self {
        Self { nodes: BTreeMap::from([(String::new(), Node::Array(Box::new(array)))]) }
    }

    /// A document of a group, for arrays that are [added](Document::with_array) to it.
    #[must_use]
    pub fn of_group(metadata: GroupMetadata) -> Self {
        Self { nodes: BTreeMap::from([(String::new(), Node::Group(metadata))]) }
    }

    /// Adds a group below a group that was added before.
    ///
    /// # Errors
    /// [`VirtualJoinError::Document`] if there is a node at `path` already, or if there is no group above
    /// it.
    pub fn with_group(
        self,
        path: &Prefix,
        metadata: GroupMetadata,
    ) -> Result<Self, VirtualJoinError> {
        self.with_node(path, Node::Group(metadata))
    }

    /// Adds the array of another document, in a group that was added before.
    ///
    /// # Errors
    /// [`VirtualJoinError::Document`] if there is a node at `path` already, if there is no group above it,
    /// or if the other document is not of one array.
    pub fn with_array(self, path: &Prefix, array: Self) -> Result<Self, VirtualJoinError> {
        let mut nodes = array.nodes.into_iter();
        match (nodes.next(), nodes.next()) {
            (Some((root, node @ Node::Array(_))), None) if root.is_empty() => {
                self.with_node(path, node)
            }
            _ => Err(refused(path, "this is not one array")),
        }
    }

    fn with_node(mut self, path: &Prefix, node: Node) -> Result<Self, VirtualJoinError> {
        let parent = path.parent().map(|parent| self.nodes.get(parent.as_str()));
        if !matches!(parent, Some(Some(Node::Group(_)))) {
            return Err(refused(path, "there is no group above it"));
        }
        if self.nodes.insert(path.as_str().to_owned(), node).is_some() {
            return Err(refused(path, "there is a node already"));
        }
        Ok(self)
    }

    /// The same members, with chunks that may be modified at any time: reads then return their new
    /// elements. Without this, reading a chunk that was modified after the join is an error. For
    /// members that are still being written.
    #[must_use]
    pub fn chunks_may_change(mut self) -> Self {
        let arrays = self.nodes.values_mut().filter_map(|node| match node {
            Node::Array(array) => Some(array),
            Node::Group(_) => None,
        });
        for member in arrays.flat_map(|array| array.members.iter_mut().flatten()) {
            member.chunks_last_updated_at = None;
        }
        self
    }

    /// Whether no member has a time after which its chunks may not be modified.
    pub(crate) fn may_chunks_change(&self) -> bool {
        let mut members = self.members().peekable();
        members.peek().is_some() && members.all(|member| member.chunks_last_updated_at.is_none())
    }

    /// The members of all arrays, in the order of the arrays' paths and of their places.
    pub fn members(&self) -> impl Iterator<Item = &MemberReference> {
        self.nodes
            .values()
            .flat_map(|node| match node {
                Node::Array(array) => array.members.as_slice(),
                Node::Group(_) => &[],
            })
            .flatten()
    }
}

fn refused(path: &Prefix, reason: &str) -> VirtualJoinError {
    VirtualJoinError::Document {
        place: "a virtual join".to_owned(),
        path: format!("$.nodes[{:?}]", path.as_str()),
        reason: reason.to_owned(),
    }
}
