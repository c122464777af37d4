//! What conventions say of the groups and arrays that are joined or rearranged.

use std::collections::BTreeMap;

use zarr_array::node;
use zarr_array::store::Prefix;
use zarr_array::{Array, ArrayError, Group};
use zarr_cf::{Change, GroupMeaning, JoinedAxes, REGION_INDEX};
use zarr_metadata::{GroupMetadata, NodeMetadata};

use crate::error::JoinError;

/// The group at a path below a member.
pub(crate) fn named(member: &str, path: &str) -> String {
    if path.is_empty() { member.to_owned() } else { format!("{member}/{path}") }
}

/// The path of a child of the node at a path.
pub(crate) fn child(path: &str, name: &str) -> String {
    if path.is_empty() { name.to_owned() } else { format!("{path}/{name}") }
}

/// The first of these groups, by path, that cannot be changed so, and why.
pub(crate) fn refused<'a>(
    groups: &'a BTreeMap<String, GroupMetadata>,
    change: Change<'_>,
) -> Option<(&'a str, String)> {
    let mut all = groups.iter();
    all.find_map(|(path, group)| Some((path.as_str(), GroupMeaning::of(group).refuses(change)?)))
}

/// Whether the array at a path is the index of VCF-Zarr of the group above it.
pub(crate) fn is_region_index(path: &str, groups: &BTreeMap<String, GroupMetadata>) -> bool {
    let (above, name) = path.rsplit_once('/').unwrap_or(("", path));
    let group = groups.get(above).filter(|_| name == REGION_INDEX);
    group.is_some_and(|group| GroupMeaning::of(group).region_index())
}

/// Whether an array is stored in the group at a prefix of the store of another.
pub(crate) fn has_array(of: &Group, prefix: &Prefix, name: &str) -> Result<bool, ArrayError> {
    match node::open(of.store(), &prefix.join(name)?) {
        Ok(_) => Ok(true),
        Err(ArrayError::NotFound { .. }) => Ok(false),
        Err(error) => Err(error),
    }
}

/// Why an array cannot be joined or rearranged without the arrays beside it.
pub(crate) fn refused_alone(array: &Array) -> Option<String> {
    let outer = array.store().outer_stores();
    let outer = outer.iter().filter(|_| array.prefix().is_root());
    let mut places = outer.map(|(store, prefix)| (store, prefix.clone())).collect::<Vec<_>>();
    places.push((array.store(), array.prefix().clone()));
    places.iter().find_map(|(store, prefix)| {
        GroupMeaning::refuses_alone(prefix.segments().last()?, || {
            // Who may not read it has no group there.
            match node::open(store, &prefix.parent()?) {
                Ok(NodeMetadata::Group(group)) => Some(group),
                _ => None,
            }
        })
    })
}

/// The attributes of a joined group that conventions change; only those that `is_kept`.
pub(crate) fn joined(
    members: &[(String, &GroupMetadata)],
    axes: JoinedAxes<'_>,
    is_kept: impl Fn(&str) -> bool,
) -> Result<Vec<(&'static str, Option<String>)>, JoinError> {
    let meaning = |group| GroupMeaning::of(group).only(&is_kept);
    let members: Vec<(&str, GroupMeaning)> =
        members.iter().map(|(name, group)| (name.as_str(), meaning(group))).collect();
    GroupMeaning::joined(&members, axes)
        .map_err(|error| JoinError::unfit(error.member, error.reason))
}
