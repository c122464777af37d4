//! The plan for each array of a group.

use std::collections::BTreeMap;
use std::sync::Arc;

use zarr_array::ArrayError;
use zarr_array::store::Store;
use zarr_cf::Change;
use zarr_copy::check_planned_region_index;
use zarr_metadata::{ArrayMetadata, GroupMetadata, NodeMetadata};

use super::arranged::{ArrangedGroups, Places};
use super::coordinates::{check_order_of, places};
use super::other_objects::OtherObjects;
use super::tree::{GroupMember, GroupTree};
use crate::conventions;
use crate::error::JoinError;
use crate::join::Join;
use crate::join::plan::JoinPlan;
use crate::members::check_tiles;
use crate::members::tiles::number_of;
use crate::values::attributes::CombineAttributes;

/// The arrangement of groups in the joined group.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum GroupArrangement {
    /// End to end along the dimension of this name, or number if no array has names: see
    /// [`GroupAxes::dimension`](crate::GroupAxes::dimension). The same is true for tiles.
    Along(String),
    /// At one index each of a new dimension with this name. It becomes the first dimension of each
    /// stacked array. Arrays with the coordinates of a dimension are not stacked.
    NewDimension(String),
    /// As tiles, this many along each of these dimensions, members in C order.
    Tiles(Vec<(String, usize)>),
    /// As tiles along these dimensions, in the order of the first values of their coordinates:
    /// decreasing if the coordinates of members decrease and those of none increase. Of coordinates in
    /// several groups, those nearest the root give the places, and then the first by path.
    ByCoordinates(Vec<String>),
}

/// A join of groups, which is planned and then executed. Arrays are matched by their paths.
///
/// An array that has a joined dimension is joined along it. Other arrays must be equal in all
/// members, and are copied from the first member. Coordinates of a joined dimension must continue in
/// one direction from member to member. They are the values of an array with its name and no other
/// dimension, in any group of a member.
#[derive(Clone, Debug)]
#[must_use]
pub struct JoinGroups {
    members: Vec<GroupMember>,
    arrangement: GroupArrangement,
    combine: CombineAttributes,
    check_coordinates: bool,
    promote: bool,
}

/// A planned join of groups: the documents of the joined groups, and the plan of each array.
#[derive(Debug)]
pub struct GroupJoinPlan {
    pub(super) members: Vec<GroupMember>,
    /// By path; the root is the empty one.
    pub(super) groups: BTreeMap<String, GroupMetadata>,
    pub(super) arrays: BTreeMap<String, JoinPlan>,
    pub(super) others: OtherObjects,
    /// The groups whose index of VCF-Zarr is made again.
    pub(super) region_indexes: Vec<String>,
}

impl JoinGroups {
    /// A join of these members, in this order.
    pub fn new(members: Vec<GroupMember>, arrangement: GroupArrangement) -> Self {
        let combine = CombineAttributes::default();
        Self { members, arrangement, combine, check_coordinates: true, promote: false }
    }

    /// Sets the rule for attributes that differ between members.
    pub fn attributes(mut self, combine: CombineAttributes) -> Self {
        self.combine = combine;
        self
    }

    /// Sets whether coordinates that overlap or go back and forth are refused, as they are by
    /// default.
    pub fn check_coordinates(mut self, check: bool) -> Self {
        self.check_coordinates = check;
        self
    }

    /// As [`Join::promote`], for each array.
    pub fn promote(mut self, promote: bool) -> Self {
        self.promote = promote;
        self
    }

    /// As [`Join::with_stores`].
    pub fn with_stores(
        mut self,
        mut layer: impl FnMut(&str, &Arc<dyn Store>) -> Arc<dyn Store>,
    ) -> Self {
        let members = self.members.into_iter().map(|member| {
            let store = layer(member.name(), member.group().store());
            member.with_store(store)
        });
        self.members = members.collect();
        self
    }

    /// Refuses members whose own documents are not those with which they were opened.
    ///
    /// # Errors
    /// [`JoinError::Changed`] with the name of the first; otherwise errors of its store.
    pub fn check_documents(&self) -> Result<(), JoinError> {
        self.members.iter().try_for_each(GroupMember::check_document)
    }

    /// Looks at all nodes of all members, and decides for each chunk whether it is moved or
    /// decoded. Nothing is written.
    ///
    /// # Errors
    /// [`JoinError`] with the name of the first member that does not fit.
    pub fn plan(self) -> Result<GroupJoinPlan, JoinError> {
        self.plan_with(|_, _| Ok(None))
    }

    /// As [`plan`](Self::plan), with the chunks, shards and codecs of the document that `change` gives for
    /// the path and the document of each joined array.
    ///
    /// # Errors
    /// The errors of `plan` and of `change`.
    pub fn plan_with<E: From<JoinError>>(
        self,
        mut change: impl FnMut(&str, &ArrayMetadata) -> Result<Option<ArrayMetadata>, E>,
    ) -> Result<GroupJoinPlan, E> {
        let mut arrays = BTreeMap::new();
        let (mut groups, region_indexes) = self.laid(self.promote, |path, join| {
            arrays.insert(path.to_owned(), join.plan_with(|metadata| change(path, metadata))?);
            Ok::<(), E>(())
        })?;
        self.check_region_indexes(&region_indexes, &arrays)?;
        consolidate(&mut groups, &arrays, &self.members)?;
        let others = OtherObjects::of(&self.members)?;
        Ok(GroupJoinPlan { members: self.members, groups, arrays, others, region_indexes })
    }

    /// Refuses an index of VCF-Zarr that could not be made of the joined arrays: before they are written.
    fn check_region_indexes(
        &self,
        groups: &[String],
        arrays: &BTreeMap<String, JoinPlan>,
    ) -> Result<(), JoinError> {
        let Some(first) = self.members.first() else { return Ok(()) };
        let failed = |cause: ArrayError| JoinError::member(first.name(), cause);
        for path in groups {
            let prefix = first.group().prefix().join(path).map_err(|cause| failed(cause.into()))?;
            let document =
                |name: &str| arrays.get(&conventions::child(path, name)).map(JoinPlan::metadata);
            check_planned_region_index(&prefix, document).map_err(failed)?;
        }
        Ok(())
    }

    /// Looks at all nodes of all members. `each` gets the path of each joined array and its join;
    /// the documents of the joined groups are returned, by path. No types are promoted.
    ///
    /// # Errors
    /// [`JoinError`] with the name of the first member that does not fit; errors of `each`.
    pub fn each<E: From<JoinError>>(
        &self,
        each: impl FnMut(&str, Join) -> Result<(), E>,
    ) -> Result<BTreeMap<String, GroupMetadata>, E> {
        self.laid(false, each).map(|(groups, _)| groups)
    }

    /// As [`each`](Self::each), with the groups of the first member that have an index of VCF-Zarr.
    fn laid<E: From<JoinError>>(
        &self,
        promote: bool,
        mut each: impl FnMut(&str, Join) -> Result<(), E>,
    ) -> Result<(BTreeMap<String, GroupMetadata>, Vec<String>), E> {
        let mut trees = self.members.iter().map(GroupTree::of).collect::<Result<Vec<_>, _>>()?;
        let first = trees.first().ok_or(JoinError::NoMembers)?;
        if let Some((path, reason)) = conventions::refused(&first.groups, Change::Join) {
            return Err(JoinError::unfit(conventions::named(&first.name, path), reason).into());
        }
        let mut indexes = trees.iter_mut().map(GroupTree::without_region_index);
        let region_indexes = indexes.next().unwrap_or_default();
        indexes.for_each(drop);
        let first = trees.first().ok_or(JoinError::NoMembers)?;
        trees.iter().try_for_each(|tree| tree.check_same_nodes(first))?;
        if promote {
            let paths: Vec<String> = first.arrays.keys().cloned().collect();
            GroupTree::promote(&mut trees, &paths)?;
        }
        let Places { dimensions, counts, members } = self.places(&trees)?;
        let mut slots: Vec<Option<GroupTree>> = trees.into_iter().map(Some).collect();
        trees = members.iter().filter_map(|at| slots.get_mut(*at)?.take()).collect();
        let mut axes = trees.first().ok_or(JoinError::NoMembers)?.axes();
        let dimensions: Vec<_> = dimensions.iter().map(|text| axes.dimension(text)).collect();
        let (dimensions, axes) = (&dimensions, &axes);
        let first = trees.first().ok_or(JoinError::NoMembers)?;
        let nothing_along = |dimensions: &str| {
            let known = axes.known().into_iter().map(str::to_owned).collect();
            JoinError::NothingAlong { dimensions: dimensions.into(), known }
        };
        for (number, (dimension, count)) in dimensions.iter().zip(&counts).enumerate() {
            // Numbers from both ends may be those of one axis.
            if dimensions.iter().take(number).any(|before| before == dimension) {
                return Err(JoinError::dimension_twice(&first.name, dimension).into());
            }
            let lacks = |path: &String| axes.numbers(path, dimension).is_empty();
            // Of one dimension alone, an array that differs says more.
            if dimensions.len() > 1 && *count > 1 && first.arrays.keys().all(lacks) {
                return Err(nothing_along(dimension).into());
            }
        }
        let laid = ArrangedGroups { trees: &trees, axes, dimensions, counts: &counts };
        if self.check_coordinates {
            for (axis, dimension) in dimensions.iter().enumerate() {
                check_order_of(&laid.along(axis), dimension)?;
            }
        }
        let new = match &self.arrangement {
            GroupArrangement::NewDimension(name) => Some(name.as_str()),
            _ => None,
        };
        let mut is_joined = false;
        for path in first.arrays.keys() {
            let matched = laid.matched(path, new)?;
            is_joined |= matched.is_joined;
            each(path, matched.join(self.combine))?;
        }
        if !is_joined {
            return Err(nothing_along(&dimensions.join(", ")).into());
        }
        let mut groups = BTreeMap::new();
        for (path, metadata) in &first.groups {
            groups.insert(path.clone(), laid.group(path, metadata, new, self.combine)?);
        }
        Ok((groups, region_indexes))
    }

    fn places(&self, trees: &[GroupTree]) -> Result<Places, JoinError> {
        let count = trees.len();
        let as_given =
            |dimensions, counts| Places { dimensions, counts, members: (0..count).collect() };
        match &self.arrangement {
            GroupArrangement::Along(dimension) => {
                Ok(as_given(vec![dimension.clone()], vec![count]))
            }
            GroupArrangement::NewDimension(_) => Ok(as_given(Vec::new(), Vec::new())),
            GroupArrangement::Tiles(tiles) => {
                let (names, counts): (Vec<String>, Vec<usize>) = tiles.iter().cloned().unzip();
                check_tiles(&counts, count, counts.len())?;
                Ok(as_given(names, counts))
            }
            GroupArrangement::ByCoordinates(dimensions) => {
                let (counts, places) = places(trees, dimensions)?;
                check_tiles(&counts, count, counts.len())?;
                let mut order: Vec<Option<usize>> = vec![None; count];
                for (member, place) in places.iter().enumerate() {
                    let Some(slot) = order.get_mut(number_of(place, &counts)) else { continue };
                    if let Some(other) = slot.replace(member) {
                        let name = |at: usize| trees.get(at).map_or("", |tree| &*tree.name);
                        let reason =
                            format!("it starts at the same coordinates as {}", name(other));
                        return Err(JoinError::unfit(name(member), reason));
                    }
                }
                let (dimensions, members) =
                    (dimensions.clone(), order.into_iter().flatten().collect());
                Ok(Places { dimensions, counts, members })
            }
        }
    }
}

/// Gives the root consolidated metadata if the first member has it.
fn consolidate(
    groups: &mut BTreeMap<String, GroupMetadata>,
    arrays: &BTreeMap<String, JoinPlan>,
    members: &[GroupMember],
) -> Result<(), JoinError> {
    let first = members.first().map(|first| first.group().metadata());
    if first.is_none_or(|first| first.consolidated_metadata().is_none()) {
        return Ok(());
    }
    let below = groups.iter().filter(|(path, _)| !path.is_empty());
    let below = below.map(|(path, group)| (path.as_str(), group.json()));
    let arrays = arrays.iter().map(|(path, plan)| (path.as_str(), plan.metadata.json()));
    let mut nodes: Vec<(&str, &str)> = below.chain(arrays).collect();
    nodes.sort_unstable();
    let root = groups.get("").cloned().unwrap_or_default();
    let root = root.with_consolidated_metadata(nodes).map_err(JoinError::Metadata)?;
    groups.insert(String::new(), root);
    Ok(())
}

impl GroupJoinPlan {
    /// The plan of each array, by its path.
    pub fn arrays(&self) -> impl Iterator<Item = (&str, &JoinPlan)> {
        self.arrays.iter().map(|(path, plan)| (path.as_str(), plan))
    }

    /// The names of objects of members that belong to no node and are not in the joined group: it has those
    /// of its first member, and equal ones are not named.
    #[must_use]
    pub fn left_out(&self) -> &[String] {
        &self.others.left_out
    }

    /// The document of the joined array at a path.
    #[must_use]
    pub fn array(&self, path: &str) -> Option<&ArrayMetadata> {
        self.arrays.get(path).map(JoinPlan::metadata)
    }

    pub(super) fn document(&self, path: &str) -> Option<NodeMetadata> {
        self.groups.get(path).cloned().map(NodeMetadata::Group)
    }
}
