//! Objects of members that belong to no node, such as tables beside arrays.

use std::collections::BTreeMap;

use zarr_array::ArrayError;
use zarr_array::store::{
    Key, ObjectMeta, Prefix, PutFrom, ReadRange, Sharing, Store, StoreExt as _,
};
use zarr_copy::{Endpoint, TransferError, other_objects};

use super::tree::GroupMember;
use crate::conventions;
use crate::error::JoinError;

/// The bytes that are compared at once.
const PIECE: u64 = 4 << 20;

/// The objects that the joined group has, and those that it lacks.
#[derive(Debug, Default)]
pub(super) struct OtherObjects {
    /// Of the first member: by the path below it, each as it was when it was planned.
    kept: BTreeMap<String, (Key, ObjectMeta)>,
    /// The names of those of other members that differ from these.
    pub(super) left_out: Vec<String>,
}

/// The objects of a member, by their paths.
fn objects(member: &GroupMember) -> Result<BTreeMap<String, Key>, JoinError> {
    let group = member.group();
    let place = Endpoint::in_hierarchy(group.hierarchy(), group.prefix());
    Ok(other_objects(place).collect::<Result<_, TransferError>>()?)
}

/// The names of the objects of groups that belong to no node, such as tables beside arrays. A virtual join
/// has none of them, and an append to a group takes none.
///
/// # Errors
/// [`JoinError::Transfer`] if a group cannot be listed.
pub fn names_of_other_objects(groups: &[GroupMember]) -> Result<Vec<String>, JoinError> {
    let mut names = Vec::new();
    for group in groups {
        let paths = objects(group)?.into_keys();
        names.extend(paths.map(|path| conventions::named(group.name(), &path)));
    }
    Ok(names)
}

/// The size and version of an object that was listed.
fn head(member: &GroupMember, key: &Key) -> Result<ObjectMeta, JoinError> {
    let head = member.group().store().head(key);
    let head = head.map_err(|cause| JoinError::member(member.name(), cause))?;
    head.ok_or_else(|| JoinError::changed(member.name(), key))
}

/// Reads bytes of an object of this version.
fn read(
    member: &GroupMember,
    (key, meta): (&Key, &ObjectMeta),
    range: ReadRange<'_>,
) -> Result<Vec<u8>, JoinError> {
    let mut bytes = Vec::new();
    let read = member.group().store().get(key, range, &mut bytes);
    match read.map_err(|cause| JoinError::member(member.name(), cause))? {
        Some(found) if found == *meta => Ok(bytes),
        _ => Err(JoinError::changed(member.name(), key)),
    }
}

/// Whether two objects have the same bytes.
fn are_equal(
    (one, own): (&GroupMember, &(Key, ObjectMeta)),
    (other, theirs): (&GroupMember, &(Key, ObjectMeta)),
) -> Result<bool, JoinError> {
    let size = own.1.size;
    if size != theirs.1.size {
        return Ok(false);
    }
    let mut start = 0;
    while start < size {
        let range = start..size.min(start.saturating_add(PIECE));
        start = range.end;
        let range = ReadRange::Ranges(std::slice::from_ref(&range));
        if read(one, (&own.0, &own.1), range)? != read(other, (&theirs.0, &theirs.1), range)? {
            return Ok(false);
        }
    }
    Ok(true)
}

impl OtherObjects {
    pub(super) fn of(members: &[GroupMember]) -> Result<Self, JoinError> {
        let Some((first, others)) = members.split_first() else { return Ok(Self::default()) };
        let with_meta = |(path, key): (String, Key)| {
            let meta = head(first, &key)?;
            Ok((path, (key, meta)))
        };
        let kept = objects(first)?.into_iter().map(with_meta);
        let kept = kept.collect::<Result<BTreeMap<_, _>, JoinError>>()?;
        let mut left_out = Vec::new();
        for member in others {
            for (path, key) in objects(member)? {
                let is_kept = match kept.get(&path) {
                    Some(own) => {
                        let meta = head(member, &key)?;
                        are_equal((first, own), (member, &(key, meta)))?
                    }
                    None => false,
                };
                if !is_kept {
                    left_out.push(conventions::named(member.name(), &path));
                }
            }
        }
        Ok(Self { kept, left_out })
    }

    /// Copies the objects of the first member into the joined group; their number.
    pub(super) fn put(
        &self,
        members: &[GroupMember],
        store: &dyn Store,
        prefix: &Prefix,
    ) -> Result<u64, JoinError> {
        let Some(first) = members.first() else { return Ok(0) };
        for (path, (key, meta)) in &self.kept {
            let to =
                prefix.key(path).map_err(|cause| JoinError::target(ArrayError::from(cause)))?;
            let from = first.group().store();
            let put = store.put_from(&to, &**from, key, meta, Sharing::Never);
            match put.map_err(JoinError::target)? {
                PutFrom::Linked | PutFrom::Reflinked | PutFrom::Copied => {}
                PutFrom::Changed => return Err(JoinError::changed(first.name(), key)),
                _ => {
                    let bytes = read(first, (key, meta), ReadRange::All)?;
                    store.put(&to, &bytes).map_err(JoinError::target)?;
                }
            }
        }
        Ok(u64::try_from(self.kept.len()).unwrap_or(u64::MAX))
    }
}
