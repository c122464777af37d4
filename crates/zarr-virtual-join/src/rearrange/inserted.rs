//! Whether arrays and groups may be inserted into a virtual join.

use std::sync::Arc;

use zarr_array::Array;
use zarr_array::store::{MemoryStore, Prefix, shown_url};
use zarr_codec::Options;
use zarr_join::GroupTree;
use zarr_join::JoinError;
use zarr_join::{Arrangement, Member};
use zarr_join::{check_member, check_unjoined};
use zarr_metadata::ArrayBuilder;

use crate::document::JoinedArray;
use crate::error::VirtualJoinError;

/// An array of a document that is rearranged.
pub(crate) struct Rearranged<'a> {
    /// Its path below the node that was named.
    pub(crate) path: &'a str,
    pub(crate) array: &'a JoinedArray,
    pub(crate) axis: usize,
}

/// Refuses a group with other nodes than the joined group, with other elements in the arrays that
/// are not rearranged, or with arrays of different lengths on the dimension.
pub(crate) fn check_group(
    group: &GroupTree,
    joined: &GroupTree,
    rearranged: &[Rearranged<'_>],
) -> Result<(), VirtualJoinError> {
    group.check_same_nodes(joined)?;
    if let Some(path) =
        group.arrays.iter().find_map(|(path, array)| array.members().and(Some(path)))
    {
        return Err(refused(&joined.name, &format!("{}/{path}", group.name), NESTED));
    }
    let mut first: Option<(&str, u64)> = None;
    for Rearranged { path, array, axis } in rearranged {
        // Members that are stacked do not have the axis.
        let found = group.arrays.get(*path).filter(|_| array.new_axis != Some(*axis));
        let Some(found) = found.and_then(|found| found.shape().get(*axis).copied()) else {
            continue;
        };
        let (other, expected) = *first.get_or_insert((path, found));
        if found != expected {
            let names = array.metadata.dimension_names().unwrap_or_default();
            let name = names.get(*axis).and_then(Option::as_deref).unwrap_or_default();
            return Err(VirtualJoinError::Length {
                place: format!("{}/{path}", group.name),
                dimension: name.into(),
                found,
                expected,
                first: format!("{}/{other}", group.name).into(),
            });
        }
    }
    for path in joined.arrays.keys() {
        if rearranged.iter().all(|rearranged| rearranged.path != path) {
            check_unjoined(&member_at(joined, path)?, &member_at(group, path)?)?;
        }
    }
    Ok(())
}

/// The array at a path of a group.
pub(crate) fn member_at(group: &GroupTree, path: &str) -> Result<Member, VirtualJoinError> {
    let array = group.arrays.get(path).ok_or_else(|| JoinError::Member {
        member: group.name.as_ref().into(),
        cause: Box::new(zarr_array::ArrayError::NotFound { path: path.to_owned() }),
    })?;
    Ok(Member::in_group(&group.name, path, array.clone()))
}

/// Refuses an array that does not fit into a joined one, which is at `place`.
pub(crate) fn check_array(
    place: &str,
    array: &JoinedArray,
    axis: usize,
    member: &Member,
) -> Result<(), VirtualJoinError> {
    let refuse = |reason| Err(refused(place, member.name(), reason));
    let counts = array.grid.occupied();
    let mut others = counts.iter().enumerate().filter(|(number, _)| *number != axis);
    if others.any(|(_, count)| *count > 1) {
        return refuse("members lie side by side on another axis, and each needs a neighbor");
    }
    let mut lengths = array.metadata.shape().iter().enumerate();
    if lengths.any(|(number, length)| number != axis && *length == 0) {
        return refuse("the array has no elements on another axis");
    }
    if array.new_axis.is_some_and(|new| new != axis) {
        return refuse("the members are stacked, and it would be a part of one");
    }
    if member.array().members().is_some() {
        return refuse(NESTED);
    }
    let arrangement = match array.new_axis {
        Some(axis) => Arrangement::NewAxis(axis),
        None => Arrangement::Along(axis),
    };
    let whole = Member::new(place, unstacked(array)?);
    Ok(check_member(&whole, member, arrangement)?)
}

const NESTED: &str = "it is a virtual join itself, which may contain this one: copy it first";

/// The error for something that cannot be inserted at `place`.
pub(crate) fn refused(place: &str, member: &str, reason: &'static str) -> VirtualJoinError {
    let reason = format!("{} cannot be inserted: {reason}", shown_url(member));
    VirtualJoinError::Unfit { place: place.to_owned(), reason }
}

/// An array with the data type, dimensions and attributes that a member of another has.
fn unstacked(array: &JoinedArray) -> Result<Array, VirtualJoinError> {
    let metadata = match array.new_axis {
        None => array.metadata.clone(),
        Some(axis) => {
            let mut shape = array.metadata.shape().to_vec();
            let mut names = array.metadata.dimension_names().map(<[_]>::to_vec);
            shape.remove(axis);
            // The name of the new axis may be the only one.
            names.as_mut().map(|names| names.remove(axis));
            let builder = ArrayBuilder::new(shape, array.metadata.data_type().clone());
            let builder = match names {
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
    // The chunks of the joined array do not matter here, nor how they are compressed: this build may
    // be without the compressor of new arrays.
    let plain = ArrayBuilder::new(metadata.shape(), metadata.data_type().clone());
    let plain = plain.build().map_err(JoinError::Metadata)?;
    let metadata = metadata
        .with_codecs(plain.codecs().get(..1).unwrap_or_default())
        .and_then(|metadata| metadata.with_shape_and_grid(plain.shape(), plain.chunk_grid()));
    let metadata = metadata.map_err(JoinError::Metadata)?;
    let store = Arc::new(MemoryStore::new());
    let array = Array::with_metadata(store, &Prefix::root(), metadata, Options::new());
    array.map_err(|cause| JoinError::Target(Box::new(cause)).into())
}
