//! Removes, reorders and inserts members of a virtual join, and writes its document again.

mod inserted;
mod rearranged;

use std::ops::Range;
use std::sync::Arc;
use std::time::SystemTime;

use zarr_array::Group;
use zarr_array::store::{
    Change, Key, Prefix, Store, StoreError, StoreExt as _, UpdatePolicy, open_url, path_below,
    shown_url, update,
};
use zarr_join::JoinError;
use zarr_join::Member;
use zarr_join::NodeMember;
use zarr_join::rearrange::Span;
use zarr_join::{GroupAxes, GroupMember, GroupTree};
use zarr_metadata::ArrayMetadata;

use crate::document::{Document, JoinedArray, Node};
use crate::document_url::DocumentUrl;
use crate::error::VirtualJoinError;
use crate::new_document::record;
use crate::open::open_store;
use crate::options::OpenOptions;
use crate::rearrange::inserted::{Rearranged, check_array, check_group, member_at, refused};
use crate::rearrange::rearranged::{Placed, RearrangedArray, place_spans};

/// A span, with all inserted nodes.
enum Looked<'a> {
    Kept(Range<u64>),
    Array(&'a Member),
    Group(GroupTree),
}

/// The rearranged node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AxisOf<'a> {
    /// An axis of the one array, by its number.
    Number(usize),
    /// The axes of this name: of the one array, or of all arrays of a group that have it.
    Named(&'a str),
}

/// A stored document of a virtual join, and the array or group in it that a path or URL names.
///
/// # Examples
/// Of a quarter, January is dropped, and March comes before February.
/// ```
/// use std::sync::Arc;
/// use zarr_array::Array;
/// use zarr_array::store::{LocalStore, Prefix, StoreOptions, UpdatePolicy};
/// use zarr_join::{Arrangement, Join, Member};
/// use zarr_join::rearrange::Span;
/// use zarr_virtual_join::{Document, AxisOf, StoredDocument, Missing, OpenOptions, open_store};
/// use zarr_metadata::{ArrayBuilder, DataType};
///
/// let folder = tempfile::tempdir()?;
/// let mut members = Vec::new();
/// for (month, days) in [(1, 31_u8), (2, 28), (3, 31)] {
///     let path = folder.path().join(format!("{month}.zarr"));
///     std::fs::create_dir(&path)?;
///     let metadata = ArrayBuilder::new([u64::from(days)], DataType::Uint8).build()?;
///     let array = Array::create(Arc::new(LocalStore::open(&path)?), &Prefix::root(), metadata)?;
///     array.write(0..u64::from(days), &vec![month; usize::from(days)])?;
///     members.push(Member::new(path.to_string_lossy(), array));
/// }
/// let place = folder.path().join("quarter.zjoin");
/// let place = place.to_string_lossy();
/// let join = Join::new(members, Arrangement::Along(0));
/// let document = Document::of_join(join, &place, Missing::Error)?;
/// document.write(&place, &StoreOptions::new())?;
///
/// let document = StoredDocument::open(&place, &OpenOptions::new())?;
/// let spans = [Span::Kept(59..90), Span::Kept(31..59)];
/// let plan = document.rearrange(AxisOf::Number(0), &spans, false)?;
/// assert_eq!((plan.arrays()[0].kept, plan.arrays()[0].removed), (2, 1));
/// plan.write(UpdatePolicy::RequireExclusion)?;
///
/// let array = Array::open(open_store(&place, &OpenOptions::new())?, &Prefix::root())?;
/// assert_eq!(array.shape(), [59]);
/// assert_eq!(array.read(30..32)?, [3, 2]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct StoredDocument {
    /// Its path or URL, without secrets.
    shown: String,
    /// The path or URL that was opened, and the options.
    url: String,
    options: OpenOptions,
    /// The folder or URL that it is in.
    parent: String,
    inner: Prefix,
    store: Arc<dyn Store>,
    key: Key,
    /// As it was read.
    json: Vec<u8>,
    document: Document,
}

/// A planned change of a document: nothing is written before [`write`](Self::write).
#[derive(Debug)]
pub struct MemberRearrangement<'a> {
    of: &'a StoredDocument,
    to: Document,
    arrays: Vec<RearrangedMembers>,
}

/// The change of one array of a document.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct RearrangedMembers {
    /// Its path in the document.
    pub path: String,
    /// The axis.
    pub axis: usize,
    /// Its shape before the change.
    pub from: Vec<u64>,
    /// Its document after the change.
    pub to: ArrayMetadata,
    /// Kept members.
    pub kept: usize,
    /// Removed members. Their stores are not changed.
    pub removed: usize,
    /// Inserted members.
    pub inserted: usize,
}

impl StoredDocument {
    /// Reads the document that a path or URL names, with or without the path of a node in it.
    ///
    /// For the options, see [`open_store`]: a group that is inserted is compared with members.
    ///
    /// # Errors
    /// [`VirtualJoinError`] if there is none, if it is not valid, or if it has no such node.
    pub fn open(url: &str, options: &OpenOptions) -> Result<Self, VirtualJoinError> {
        let place = DocumentUrl::of(url);
        let place = place.ok_or_else(|| VirtualJoinError::Name { place: shown_url(url) })?;
        let shown = shown_url(&place.url);
        let store = open_url(&place.parent, &options.store)?;
        let key = place.key()?;
        let Some(json) = store.read(&key)? else {
            return Err(VirtualJoinError::NotFound { place: shown });
        };
        let document = Document::from_json(&shown, &json)?;
        let inner = Prefix::new(&place.inner).map_err(StoreError::from)?;
        let (url, options, parent) = (url.to_owned(), options.clone(), place.parent);
        let found = Self { shown, url, options, parent, inner, store, key, json, document };
        match found.document.nodes.contains_key(found.inner.as_str()) {
            true => Ok(found),
            false => Err(VirtualJoinError::NoNode { place: found.shown(found.inner.as_str()) }),
        }
    }

    /// The document.
    #[must_use]
    pub fn document(&self) -> &Document {
        &self.document
    }

    /// The document of the array that was named; `None` if that is a group.
    #[must_use]
    pub fn array(&self) -> Option<&ArrayMetadata> {
        match self.document.nodes.get(self.inner.as_str())? {
            Node::Array(array) => Some(&array.metadata),
            Node::Group(_) => None,
        }
    }

    /// The length of an axis, which must be equal in all arrays that have it.
    ///
    /// # Errors
    /// [`VirtualJoinError::Unfit`] or [`VirtualJoinError::Axis`] if there is no such axis;
    /// [`VirtualJoinError::Length`] if lengths differ.
    pub fn length(&self, axis: AxisOf<'_>) -> Result<u64, VirtualJoinError> {
        let mut first: Option<(&str, u64)> = None;
        for (path, array, number) in self.arrays(axis)? {
            let found = array.metadata.shape()[number];
            let (other, expected) = *first.get_or_insert((path, found));
            if found != expected {
                let names = array.metadata.dimension_names().unwrap_or_default();
                let name = names.get(number).and_then(Option::as_deref).unwrap_or_default();
                return Err(VirtualJoinError::Length {
                    place: self.shown(path),
                    dimension: name.into(),
                    found,
                    expected,
                    first: self.shown(other).into(),
                });
            }
        }
        Ok(first.map_or(0, |(_, length)| length))
    }

    /// Plans to make an axis of these spans, one after another. Indices that no span keeps are not
    /// in the new document. No array is changed, and no chunk is looked at.
    ///
    /// In a group, all arrays that have the dimension are rearranged alike. Since the document is
    /// one object, readers find all old or all new arrays.
    ///
    /// An inserted array has the data type, dimension names and lengths of the joined array, and
    /// equal attributes that give values their meaning. Its chunks, codecs and fill value may
    /// differ. It cannot be inserted where members also adjoin on another axis.
    ///
    /// A group is inserted into a group. It has the same arrays and groups; its arrays that have
    /// the dimension are as above, and have one length on it. The other arrays must be equal in
    /// both groups; they are read to compare them. Coordinates are not compared: the spans give the
    /// order.
    ///
    /// # Errors
    /// [`VirtualJoinError`] with the array, if a span does not consist of whole members or an
    /// inserted array does not fit; [`VirtualJoinError::Unfit`] with `promote`, which
    /// [`GroupRearrangement::plan`](zarr_join::rearrange::GroupRearrangement::plan) allows.
    pub fn rearrange(
        &self,
        axis: AxisOf<'_>,
        spans: &[Span<NodeMember>],
        promote: bool,
    ) -> Result<MemberRearrangement<'_>, VirtualJoinError> {
        if promote {
            let place = self.shown(self.inner.as_str());
            let reason = "a virtual join converts no values".to_owned();
            return Err(VirtualJoinError::Unfit { place, reason });
        }
        // Before anything is looked up, so that no change is missed.
        let since = SystemTime::now();
        self.length(axis)?;
        let spans = self.looked_through(axis, spans)?;
        let mut to = self.document.clone();
        let mut arrays = Vec::new();
        for (path, array, number) in self.arrays(axis)? {
            let placed = self.placed(path, array, number, &spans, since)?;
            let rearranged_array =
                RearrangedArray::of(array, number, &placed, &|| self.shown(path))?;
            arrays.push(RearrangedMembers {
                path: path.to_owned(),
                axis: number,
                from: array.metadata.shape().to_vec(),
                to: rearranged_array.array.metadata.clone(),
                kept: rearranged_array.kept,
                removed: array.members.len().saturating_sub(rearranged_array.kept),
                inserted: rearranged_array.inserted,
            });
            to.nodes.insert(path.to_owned(), Node::Array(Box::new(rearranged_array.array)));
        }
        Ok(MemberRearrangement { of: self, to, arrays })
    }

    /// The arrays that have an axis, each with its path and the axis's number.
    fn arrays(
        &self,
        axis: AxisOf<'_>,
    ) -> Result<Vec<(&str, &JoinedArray, usize)>, VirtualJoinError> {
        let here = self.inner.as_str();
        let nodes = self.document.nodes.iter();
        let arrays = nodes.filter(|(path, _)| path_below(path, here).is_some());
        let arrays = arrays.filter_map(|(path, node)| match node {
            Node::Array(array) => Some((path.as_str(), &**array)),
            Node::Group(_) => None,
        });
        let missing = |dimension: String| VirtualJoinError::Unfit {
            place: self.shown(here),
            reason: format!(
                "no array here has a dimension {dimension}; the axis of a group is given by its name"
            ),
        };
        match axis {
            AxisOf::Number(axis) => {
                let Some(Node::Array(array)) = self.document.nodes.get(here) else {
                    return Err(missing(axis.to_string()));
                };
                let rank = array.metadata.shape().len();
                if axis >= rank {
                    return Err(VirtualJoinError::Axis { place: self.shown(here), axis, rank });
                }
                Ok(vec![(here, &**array, axis)])
            }
            AxisOf::Named(name) => {
                let arrays: Vec<_> = arrays.collect();
                let groups = self.document.nodes.iter().filter_map(|(path, node)| match node {
                    Node::Group(group) => Some((path.as_str(), group)),
                    Node::Array(_) => None,
                });
                let documents = arrays.iter().map(|(path, array)| (*path, &array.metadata));
                let mut axes = GroupAxes::of(groups, documents);
                let dimension = axes.dimension(name);
                // A name of two axes names neither.
                let numbered = |(path, array)| match *axes.numbers(path, &dimension) {
                    [axis] => Some((path, array, axis)),
                    _ => None,
                };
                let having: Vec<_> = arrays.into_iter().filter_map(numbered).collect();
                if having.is_empty() { Err(missing(name.to_owned())) } else { Ok(having) }
            }
        }
    }

    /// The members of the spans, which are checked.
    fn placed(
        &self,
        path: &str,
        array: &JoinedArray,
        axis: usize,
        spans: &[Looked<'_>],
        since: SystemTime,
    ) -> Result<Vec<Placed>, VirtualJoinError> {
        let place = || self.shown(path);
        let wanted = spans.iter().map(|span| {
            let member = match span {
                Looked::Kept(range) => return Ok(Span::Kept(range.clone())),
                Looked::Array(member) => (*member).clone(),
                Looked::Group(tree) => member_at(tree, self.below_named(path))?,
            };
            check_array(&place(), array, axis, &member)?;
            let mut reference = record(&member, &self.parent, since)?;
            if self.document.may_chunks_change() {
                reference.chunks_last_updated_at = None;
            }
            Ok(Span::Inserted(Box::new((member, reference))))
        });
        place_spans(array, axis, wanted.collect::<Result<_, VirtualJoinError>>()?, &place)
    }

    /// Looks through the arrays and groups that are inserted.
    fn looked_through<'a>(
        &self,
        axis: AxisOf<'_>,
        spans: &'a [Span<NodeMember>],
    ) -> Result<Vec<Looked<'a>>, VirtualJoinError> {
        let here = self.shown(self.inner.as_str());
        let is_array = self.array().is_some();
        let mut joined: Option<GroupTree> = None;
        let mut looked = Vec::with_capacity(spans.len());
        for span in spans {
            looked.push(match span {
                Span::Kept(range) => Looked::Kept(range.clone()),
                Span::Inserted(NodeMember::Array(member)) if is_array => Looked::Array(member),
                Span::Inserted(NodeMember::Array(member)) => {
                    let reason = "it is an array, and this is a group: insert a group";
                    return Err(refused(&here, member.name(), reason));
                }
                Span::Inserted(NodeMember::Group(member)) if is_array => {
                    let reason = "it is a group, and this is an array: insert an array";
                    return Err(refused(&here, member.name(), reason));
                }
                Span::Inserted(NodeMember::Group(member)) => {
                    let group = GroupTree::of(member)?;
                    let whole: &GroupTree = match joined {
                        Some(ref whole) => whole,
                        None => joined.insert(self.tree(&here)?),
                    };
                    let rearranged = self.arrays(axis)?.into_iter().map(|(path, array, axis)| {
                        Rearranged { path: self.below_named(path), array, axis }
                    });
                    check_group(&group, whole, &rearranged.collect::<Vec<_>>())?;
                    Looked::Group(group)
                }
            });
        }
        Ok(looked)
    }

    /// All nodes of the group that was named.
    fn tree(&self, shown: &str) -> Result<GroupTree, VirtualJoinError> {
        let store = open_store(&self.url, &self.options)?;
        let group = Group::open(store, &Prefix::root())
            .map_err(|cause| JoinError::Member { member: shown.into(), cause: Box::new(cause) })?;
        Ok(GroupTree::of(&GroupMember::new(shown, group))?)
    }

    /// The path of a node below the named one.
    fn below_named<'a>(&self, path: &'a str) -> &'a str {
        path_below(path, self.inner.as_str()).unwrap_or(path)
    }

    /// The path or URL of a node.
    fn shown(&self, path: &str) -> String {
        if path.is_empty() { self.shown.clone() } else { format!("{}/{path}", self.shown) }
    }
}

impl MemberRearrangement<'_> {
    /// The change of each array.
    #[must_use]
    pub fn arrays(&self) -> &[RearrangedMembers] {
        &self.arrays
    }

    /// The new document.
    #[must_use]
    pub fn document(&self) -> &Document {
        &self.to
    }

    /// Replaces the document that was read, in one step.
    ///
    /// Programs that have opened the old document continue with it.
    ///
    /// # Errors
    /// [`VirtualJoinError::Changed`] if it has changed since it was read (then nothing is written);
    /// [`StoreError::NoExclusion`] without locks or conditional puts, unless the policy accepts
    /// that; or another error of the store.
    pub fn write(&self, policy: UpdatePolicy) -> Result<(), VirtualJoinError> {
        let json = self.to.to_json().into_bytes();
        update(&*self.of.store, &self.of.key, policy, &mut Vec::new(), |current, bytes| {
            if !current.exists || *bytes != self.of.json {
                zarr_array::store::reached!("virtual join: others have rearranged it");
                return Err(VirtualJoinError::Changed { place: self.of.shown.clone() });
            }
            bytes.clone_from(&json);
            Ok(Change::Put)
        })
    }
}
