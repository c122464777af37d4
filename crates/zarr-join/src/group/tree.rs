//! The arrays and groups of a member that is a group.

use std::collections::BTreeMap;
use std::sync::Arc;

use zarr_array::store::Store;
use zarr_array::{Array, ArrayError, Group, open_node};
use zarr_metadata::{ArrayMetadata, GroupMetadata, NodeMetadata};

use crate::axes::GroupAxes;
use crate::conventions;
use crate::error::JoinError;
use crate::member::Member;
use crate::values::times::coordinate_of;
use crate::values::widened::promoted;

/// One group to join.
#[derive(Clone, Debug)]
pub struct GroupMember {
    name: String,
    group: Group,
}

impl GroupMember {
    /// An open group, with the name that messages use for it: its path or URL, as the user gave it.
    #[must_use]
    pub fn new(name: impl Into<String>, group: Group) -> Self {
        Self { name: name.into(), group }
    }

    /// The same member, read through another store with the same objects.
    pub(crate) fn with_store(mut self, store: Arc<dyn Store>) -> Self {
        self.group = self.group.with_store(store);
        self
    }

    pub(crate) fn check_document(&self) -> Result<(), JoinError> {
        let (store, prefix) = (self.group.store(), self.group.prefix());
        match open_node(store, prefix) {
            Ok(NodeMetadata::Group(found)) if found == *self.group.metadata() => Ok(()),
            Err(cause) if cause.is_of_store() => Err(JoinError::member(&self.name, cause)),
            _ => {
                let key = prefix.key("zarr.json");
                let key = key.map_err(|cause| JoinError::member(&self.name, cause))?;
                Err(JoinError::changed(&self.name, &key))
            }
        }
    }

    /// The name for messages.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The group.
    #[must_use]
    pub fn group(&self) -> &Group {
        &self.group
    }
}

/// All nodes of a member that is a group, by their paths below it. The group itself is the empty
/// path.
#[derive(Debug)]
#[non_exhaustive]
pub struct GroupTree {
    /// The member's name.
    pub name: Arc<str>,
    /// The arrays.
    pub arrays: BTreeMap<String, Array>,
    /// The documents of the groups.
    pub groups: BTreeMap<String, GroupMetadata>,
    /// The stored documents of arrays that are views with a wider type.
    stored: BTreeMap<String, ArrayMetadata>,
}

impl GroupTree {
    /// Looks at every node of the member.
    ///
    /// # Errors
    /// [`JoinError::Member`] with the node that could not be opened.
    pub fn of(member: &GroupMember) -> Result<Self, JoinError> {
        let mut tree = Self {
            name: member.name.as_str().into(),
            arrays: BTreeMap::new(),
            groups: BTreeMap::new(),
            stored: BTreeMap::new(),
        };
        tree.groups.insert(String::new(), member.group.metadata().clone());
        let mut waiting = vec![(String::new(), member.group.clone())];
        let failed = |cause| JoinError::member(&member.name, cause);
        while let Some((path, group)) = waiting.pop() {
            for (child, node) in group.nodes().map_err(failed)? {
                let below = conventions::child(&path, &child);
                match node.map_err(failed)? {
                    NodeMetadata::Array(metadata) => {
                        let array = opened(&group, &child, metadata).map_err(failed)?;
                        tree.arrays.insert(below, array);
                    }
                    NodeMetadata::Group(metadata) => {
                        tree.groups.insert(below.clone(), metadata);
                        waiting.push((below, group.group(&child).map_err(failed)?));
                    }
                }
            }
        }
        Ok(tree)
    }

    /// The array at a path.
    pub(crate) fn member(&self, path: &str) -> Option<Member> {
        let array = self.arrays.get(path)?;
        let arrays = self.arrays.iter().map(|(path, array)| (path.as_str(), array));
        let coordinate = coordinate_of(path, arrays);
        let member = Member::in_group(&self.name, path, array.clone());
        Some(member.bounds_of(coordinate).stored_as(self.stored.get(path)))
    }

    /// Gives the arrays at each of these paths one type of numbers: the narrowest that has the numbers of
    /// all. Groups may lack some of them.
    pub(super) fn promote(trees: &mut [Self], paths: &[String]) -> Result<(), JoinError> {
        for path in paths {
            let members = trees.iter().filter_map(|tree| tree.member(path)).collect();
            let having = trees.iter_mut().filter(|tree| tree.arrays.contains_key(path));
            for (tree, member) in having.zip(promoted(members)?) {
                if member.is_widened() {
                    tree.arrays.insert(path.clone(), member.array().clone());
                    tree.stored.insert(path.clone(), member.stored().clone());
                }
            }
        }
        Ok(())
    }

    /// The names of the axes of its arrays.
    #[must_use]
    pub fn axes(&self) -> GroupAxes {
        let groups = self.groups.iter().map(|(path, group)| (path.as_str(), group));
        let arrays = self.arrays.iter().map(|(path, array)| (path.as_str(), array.metadata()));
        GroupAxes::of(groups, arrays)
    }

    /// Leaves out each index of VCF-Zarr, which is made again of the joined arrays; the paths of their
    /// groups.
    pub(super) fn without_region_index(&mut self) -> Vec<String> {
        let Self { groups, arrays, .. } = self;
        let mut above = Vec::new();
        arrays.retain(|path, _| {
            let is_index = conventions::is_region_index(path, groups);
            if is_index {
                above.push(path.rsplit_once('/').map_or("", |(above, _)| above).to_owned());
            }
            !is_index
        });
        above
    }

    /// Refuses a member with other nodes than the first.
    ///
    /// # Errors
    /// [`JoinError::Missing`] with a node that only one of them has.
    pub fn check_same_nodes(&self, first: &Self) -> Result<(), JoinError> {
        let missing = |has: &Self, lacks: &Self| {
            let arrays = has.arrays.keys().find(|path| !lacks.arrays.contains_key(*path));
            let groups = has.groups.keys().find(|path| !lacks.groups.contains_key(*path));
            arrays.or(groups).map(|path| JoinError::Missing {
                member: lacks.name.as_ref().into(),
                node: path.as_str().into(),
                other: has.name.as_ref().into(),
            })
        };
        missing(first, self).or_else(|| missing(self, first)).map_or(Ok(()), Err)
    }
}

/// The array with this document directly in a group.
fn opened(group: &Group, name: &str, metadata: ArrayMetadata) -> Result<Array, ArrayError> {
    let prefix = group.prefix().join(name)?;
    let options = group.options().clone();
    let array = Array::with_metadata(group.hierarchy(), &prefix, metadata, options)?;
    Ok(array.with_update_policy(group.update_policy()))
}
