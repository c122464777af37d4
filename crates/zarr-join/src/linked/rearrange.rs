//! Removes, reorders and inserts members of a virtual join, whose document is written again.

use std::ops::Range;
use std::sync::Arc;

use zarr_array::Array;
use zarr_array::store::{
    Change, Key, MemoryStore, Prefix, Store, StoreError, StoreExt as _, StoreOptions, UpdatePolicy,
    open_url, shown_url, update,
};
use zarr_codec::Options;
use zarr_metadata::{ArrayBuilder, ArrayMetadata};

use super::error::LinkError;
use super::open::DocumentUrl;
use super::record::record;
use super::relaid::{Placed, Relaid, Wanted, place_spans};
use crate::document::{Document, JoinedArray, MemberReference, Node};
use crate::error::JoinError;
use crate::insert::check_member;
use crate::members::{Arrangement, Member};

/// One part of the new axis of a virtual join.
#[derive(Clone, Debug)]
pub enum MemberSpan {
    /// Indices of the array itself. Both ends are edges of members, or the array's end.
    Kept(Range<u64>),
    /// All of another array, whose name is its path or URL.
    Inserted(Member),
}

/// What is rearranged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AxisOf<'a> {
    /// An axis of the one array, by its number.
    Number(usize),
    /// The axes of this name: that of the one array, or of all arrays of a group that have it.
    Named(&'a str),
}

/// The document of a virtual join at its place, and the array or group in it that a path or URL
/// names.
///
/// # Examples
/// Of a quarter, January is dropped, and March comes before February.
/// ```
/// use std::sync::Arc;
/// use zarr_array::Array;
/// use zarr_array::store::{LocalStore, Prefix, StoreOptions, UpdatePolicy};
/// use zarr_join::{
///     Arrangement, AxisOf, Join, LinkedDocument, Member, MemberSpan, Missing, OpenOptions, open_store,
/// };
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
/// let document = Join::new(members, Arrangement::Along(0)).link(&place, Missing::Error)?;
/// document.write(&place, &StoreOptions::new())?;
///
/// let document = LinkedDocument::open(&place, &StoreOptions::new())?;
/// let spans = [MemberSpan::Kept(59..90), MemberSpan::Kept(31..59)];
/// let plan = document.rearrange(AxisOf::Number(0), &spans)?;
/// assert_eq!((plan.arrays()[0].kept, plan.arrays()[0].removed), (2, 1));
/// plan.write(UpdatePolicy::RequireExclusion)?;
///
/// let array = Array::open(open_store(&place, &OpenOptions::new())?, &Prefix::root())?;
/// assert_eq!(array.shape(), [59]);
/// assert_eq!(array.read(30..32)?, [3, 2]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct LinkedDocument {
    /// Its path or URL, without secrets.
    shown: String,
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
pub struct LinkedRearrangement<'a> {
    of: &'a LinkedDocument,
    to: Document,
    arrays: Vec<LinkedArray>,
}

/// The change of one array of a document.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct LinkedArray {
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

impl LinkedDocument {
    /// Reads the document that a path or URL names, with or without the path of a node in it.
    ///
    /// # Errors
    /// [`LinkError`] if there is none, if it is not valid, or if it has no such node.
    pub fn open(url: &str, options: &StoreOptions) -> Result<Self, LinkError> {
        let place = DocumentUrl::of(url);
        let place = place.ok_or_else(|| LinkError::Name { place: shown_url(url) })?;
        let shown = shown_url(&place.url());
        let store = open_url(&place.parent, options)?;
        let key = place.key()?;
        let Some(json) = store.read(&key)? else {
            return Err(LinkError::NotFound { place: shown });
        };
        let document = Document::from_json(&shown, &json)?;
        let inner = Prefix::new(&place.inner).map_err(StoreError::from)?;
        let found = Self { shown, parent: place.parent, inner, store, key, json, document };
        match found.document.nodes.contains_key(found.inner.as_str()) {
            true => Ok(found),
            false => Err(LinkError::NoNode { place: found.shown(found.inner.as_str()) }),
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

    /// The length of an axis, which is equal in all arrays that have it.
    ///
    /// # Errors
    /// [`LinkError::NoDimension`], [`LinkError::Axis`], or [`LinkError::Length`] if it is not.
    pub fn length(&self, axis: AxisOf<'_>) -> Result<u64, LinkError> {
        let mut first: Option<(&str, u64)> = None;
        for (path, array, number) in self.arrays(axis)? {
            let found = array.metadata.shape().get(number).copied().unwrap_or(0);
            let (other, expected) = *first.get_or_insert((path, found));
            if found != expected {
                let names = array.metadata.dimension_names().unwrap_or_default();
                let name = names.get(number).and_then(Option::as_deref).unwrap_or_default();
                return Err(LinkError::Length {
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

    /// Plans to make an axis of these spans, one after another. What no span keeps is left out of
    /// the document; no array is changed, and no chunk is looked at.
    ///
    /// In a group, all arrays that have the dimension are rearranged alike. Since the document is
    /// one object, readers find all old or all new arrays.
    ///
    /// An inserted array has the data type, dimension names and lengths of the joined one, and equal
    /// attributes that say what values mean; chunks, codecs and fill value are its own. It cannot
    /// be inserted into a group, or where members also adjoin on another axis.
    ///
    /// # Errors
    /// [`LinkError`] with the array, if the spans cannot be made of whole members or an inserted
    /// array does not fit.
    pub fn rearrange(
        &self,
        axis: AxisOf<'_>,
        spans: &[MemberSpan],
    ) -> Result<LinkedRearrangement<'_>, LinkError> {
        self.length(axis)?;
        let mut to = self.document.clone();
        let mut arrays = Vec::new();
        for (path, array, number) in self.arrays(axis)? {
            let placed = self.placed(path, array, number, spans)?;
            let relaid = Relaid::of(array, number, &placed, &|| self.shown(path))?;
            arrays.push(LinkedArray {
                path: path.to_owned(),
                axis: number,
                from: array.metadata.shape().to_vec(),
                to: relaid.array.metadata.clone(),
                kept: relaid.kept,
                removed: array.members.len().saturating_sub(relaid.kept),
                inserted: relaid.inserted,
            });
            to.nodes.insert(path.to_owned(), Node::Array(Box::new(relaid.array)));
        }
        Ok(LinkedRearrangement { of: self, to, arrays })
    }

    /// The arrays that have an axis, each with its path and the axis's number.
    fn arrays(&self, axis: AxisOf<'_>) -> Result<Vec<(&str, &JoinedArray, usize)>, LinkError> {
        let here = self.inner.as_str();
        let below = |path: &str| {
            here.is_empty()
                || path
                    .strip_prefix(here)
                    .is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        };
        let arrays = self.document.nodes.iter().filter(|(path, _)| below(path));
        let arrays = arrays.filter_map(|(path, node)| match node {
            Node::Array(array) => Some((path.as_str(), &**array)),
            Node::Group(_) => None,
        });
        let missing =
            |dimension: String| LinkError::NoDimension { place: self.shown(here), dimension };
        match axis {
            AxisOf::Number(axis) => {
                let Some(Node::Array(array)) = self.document.nodes.get(here) else {
                    return Err(missing(axis.to_string()));
                };
                let rank = array.metadata.shape().len();
                if axis >= rank {
                    return Err(LinkError::Axis { place: self.shown(here), axis, rank });
                }
                Ok(vec![(here, &**array, axis)])
            }
            AxisOf::Named(name) => {
                let having: Vec<_> = arrays
                    .filter_map(|(path, array)| {
                        let names = array.metadata.dimension_names()?.iter();
                        let axis = names.map(Option::as_deref).position(|own| own == Some(name))?;
                        Some((path, array, axis))
                    })
                    .collect();
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
        spans: &[MemberSpan],
    ) -> Result<Vec<Placed>, LinkError> {
        let place = || self.shown(path);
        let wanted = spans.iter().map(|span| match span {
            MemberSpan::Kept(range) => Ok(Wanted::Own(range.clone())),
            MemberSpan::Inserted(member) => {
                let reference = self.inserted(path, array, axis, member)?;
                Ok(Wanted::Inserted(Box::new((member.clone(), reference))))
            }
        });
        place_spans(array, axis, wanted.collect::<Result<_, LinkError>>()?, &place)
    }

    /// The entry of the document for an inserted array, which is checked.
    fn inserted(
        &self,
        path: &str,
        array: &JoinedArray,
        axis: usize,
        member: &Member,
    ) -> Result<MemberReference, LinkError> {
        let refuse = |reason| LinkError::Insertion {
            place: self.shown(path),
            member: shown_url(member.name()).into(),
            reason,
        };
        if self.array().is_none() {
            return Err(refuse("this is a group; name an array in it, or join the groups again"));
        }
        let counts = array.grid.occupied();
        let mut others = counts.iter().enumerate().filter(|(number, _)| *number != axis);
        if others.any(|(_, count)| *count > 1) {
            return Err(refuse(
                "members lie side by side on another axis, and each needs a neighbor",
            ));
        }
        let mut lengths = array.metadata.shape().iter().enumerate();
        if lengths.any(|(number, length)| number != axis && *length == 0) {
            return Err(refuse("the array has no elements on another axis"));
        }
        if array.new_axis.is_some_and(|new| new != axis) {
            return Err(refuse("the members are stacked, and it would be a part of one"));
        }
        if member.array().members().is_some() {
            return Err(refuse(
                "it is a virtual join itself, which may contain this one: copy it first",
            ));
        }
        let arrangement = match array.new_axis {
            Some(axis) => Arrangement::NewAxis(axis),
            None => Arrangement::Along(axis),
        };
        let whole = Member::new(self.shown(path), unstacked(array)?);
        check_member(&whole, member, arrangement)?;
        record(member, &self.parent)
    }

    /// The path or URL of a node.
    fn shown(&self, path: &str) -> String {
        if path.is_empty() { self.shown.clone() } else { format!("{}/{path}", self.shown) }
    }
}

impl LinkedRearrangement<'_> {
    /// The change of each array.
    #[must_use]
    pub fn arrays(&self) -> &[LinkedArray] {
        &self.arrays
    }

    /// The new document.
    #[must_use]
    pub fn document(&self) -> &Document {
        &self.to
    }

    /// Writes the document in place of the one that was read, in one step.
    ///
    /// Programs that have the old one open go on with it.
    ///
    /// # Errors
    /// [`LinkError::Changed`] if it has changed since it was read, and nothing is written then;
    /// [`StoreError::NoExclusion`] without locks or conditional puts, unless the policy accepts
    /// that; or another error of the store.
    pub fn write(&self, policy: UpdatePolicy) -> Result<(), LinkError> {
        let json = self.to.to_json().into_bytes();
        update(&*self.of.store, &self.of.key, policy, &mut Vec::new(), |current, bytes| {
            if !current.exists || *bytes != self.of.json {
                return Err(LinkError::Changed { place: self.of.shown.clone() });
            }
            bytes.clone_from(&json);
            Ok(Change::Put)
        })
    }
}

/// An array with the data type, dimensions and attributes that a member of another has.
fn unstacked(array: &JoinedArray) -> Result<Array, LinkError> {
    let metadata = match array.new_axis {
        None => array.metadata.clone(),
        Some(axis) => {
            let mut shape = array.metadata.shape().to_vec();
            let mut names = array.metadata.dimension_names().map(<[_]>::to_vec);
            shape.remove(axis);
            // The name of the new axis may be the only one.
            names.as_mut().map(|names| names.remove(axis));
            let builder = ArrayBuilder::new(shape, array.metadata.data_type().clone());
            let builder = match names.filter(|names| names.iter().any(Option::is_some)) {
                Some(names) => builder.dimension_names_or_none(names),
                None => builder,
            };
            let plain = builder.build().map_err(JoinError::Metadata)?;
            match array.metadata.attribute_names().is_empty() {
                true => plain,
                false => plain
                    .with_attributes(array.metadata.attributes())
                    .map_err(JoinError::Metadata)?,
            }
        }
    };
    // The chunks of the joined array do not matter here.
    let plain = ArrayBuilder::new(metadata.shape(), metadata.data_type().clone());
    let plain = plain.build().map_err(JoinError::Metadata)?;
    let metadata = metadata
        .with_codecs(plain.codecs())
        .and_then(|metadata| metadata.with_shape_and_grid(plain.shape(), plain.chunk_grid()));
    let metadata = metadata.map_err(JoinError::Metadata)?;
    let store = Arc::new(MemoryStore::new());
    let array = Array::with_metadata(store, &Prefix::root(), metadata, Options::new());
    array.map_err(|cause| JoinError::Target(Box::new(cause)).into())
}
