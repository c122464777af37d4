//! Objects of members that belong to no node, such as tables beside arrays.

use std::collections::BTreeMap;

use zarr_array::ArrayError;
use zarr_array::store::{Key, Prefix, Store, StoreExt as _};
use zarr_copy::{Endpoint, other_objects};

use super::tree::GroupMember;
use crate::conventions;
use crate::error::JoinError;

/// The objects that the joined group has, and those that it lacks.
#[derive(Debug, Default)]
pub(super) struct OtherObjects {
    /// Of the first member: by the path below it.
    kept: BTreeMap<String, Key>,
    /// The names of those of other members that differ from these.
    pub(super) left_out: Vec<String>,
}

/// The objects of a member, by their paths.
fn objects(member: &GroupMember) -> Result<BTreeMap<String, Key>, JoinError> {
    let group = member.group();
    let place = Endpoint::in_hierarchy(group.hierarchy(), group.prefix());
    let named = other_objects(place).map(|key| {
        let key = key?;
        Ok((group.prefix().strip(&key).unwrap_or_default().to_owned(), key))
    });
    named.collect()
}

fn read(member: &GroupMember, key: &Key) -> Result<Option<Vec<u8>>, JoinError> {
    member.group().store().read(key).map_err(|cause| JoinError::member(member.name(), cause))
}

impl OtherObjects {
    pub(super) fn of(members: &[GroupMember]) -> Result<Self, JoinError> {
        let Some((first, others)) = members.split_first() else { return Ok(Self::default()) };
        let kept = objects(first)?;
        let mut left_out = Vec::new();
        for member in others {
            for (path, key) in objects(member)? {
                let is_kept = match kept.get(&path) {
                    Some(own) => read(first, own)? == read(member, &key)?,
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
        for (path, key) in &self.kept {
            let bytes = read(first, key)?.ok_or_else(|| JoinError::changed(first.name(), key))?;
            let to =
                prefix.key(path).map_err(|cause| JoinError::target(ArrayError::from(cause)))?;
            store.put(&to, &bytes).map_err(JoinError::target)?;
        }
        Ok(u64::try_from(self.kept.len()).unwrap_or(u64::MAX))
    }
}
