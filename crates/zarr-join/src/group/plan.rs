//! What becomes of each array of a group.

use std::collections::BTreeMap;

use zarr_array::{Array, Selection};
use zarr_metadata::{ArrayMetadata, GroupMetadata, NodeMetadata};

use super::coordinates::{check_order, is_coordinate, places};
use super::tree::{GroupMember, Tree};
use crate::attributes::{self, Attributes, CombineAttributes};
use crate::error::JoinError;
use crate::join::{group_values, plan_of, with_axis_name};
use crate::members::{Arrangement, Member};
use crate::plan::JoinPlan;

/// How groups lie in the joined group.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum GroupArrangement {
    /// End to end along the dimension of this name.
    Along(String),
    /// At one index each of a new dimension with this name, the first of each array that is
    /// stacked. Arrays that hold the coordinates of a dimension are not stacked.
    NewDimension(String),
    /// As tiles, this many along each of these dimensions, members in C order.
    Tiles(Vec<(String, usize)>),
    /// As tiles along these dimensions, each at the place that the first values of its coordinates
    /// give it, in increasing order.
    ByCoordinates(Vec<String>),
}

/// A join of groups, to be planned and then executed. Arrays are matched by their paths.
///
/// An array that has a joined dimension is joined along it. Others must be equal in all members,
/// and are the first member's. Coordinates of a joined dimension, which are the values of the array
/// with its name, must go on in one direction from member to member.
#[derive(Clone, Debug)]
pub struct JoinGroups {
    members: Vec<GroupMember>,
    arrangement: GroupArrangement,
    combine: CombineAttributes,
    check_coordinates: bool,
}

/// A planned join of groups: the documents of the joined groups, and the plan of each array.
#[derive(Debug)]
pub struct GroupJoinPlan {
    pub(super) members: Vec<GroupMember>,
    /// By path; the root is the empty one.
    pub(super) groups: BTreeMap<String, GroupMetadata>,
    pub(super) arrays: BTreeMap<String, JoinPlan>,
}

impl JoinGroups {
    /// A join of these members, in this order.
    #[must_use]
    pub fn new(members: Vec<GroupMember>, arrangement: GroupArrangement) -> Self {
        let combine = CombineAttributes::default();
        Self { members, arrangement, combine, check_coordinates: true }
    }

    /// Sets what becomes of attributes that differ between members.
    #[must_use]
    pub fn attributes(mut self, combine: CombineAttributes) -> Self {
        self.combine = combine;
        self
    }

    /// Sets whether coordinates that overlap or go back and forth are refused, as they are by
    /// default.
    #[must_use]
    pub fn check_coordinates(mut self, check: bool) -> Self {
        self.check_coordinates = check;
        self
    }

    /// Looks at all nodes of all members, and decides what becomes of each chunk. Nothing is
    /// written.
    ///
    /// # Errors
    /// [`JoinError`] with the name of the first member that does not fit.
    pub fn plan(self) -> Result<GroupJoinPlan, JoinError> {
        let mut trees = self.members.iter().map(Tree::of).collect::<Result<Vec<_>, _>>()?;
        let first = trees.first().ok_or(JoinError::NoMembers)?;
        trees.iter().try_for_each(|tree| tree.check_same_nodes(first))?;
        let Places { dimensions, counts, members } = self.places(&trees)?;
        let mut slots: Vec<Option<Tree>> = trees.into_iter().map(Some).collect();
        trees = members.iter().filter_map(|at| slots.get_mut(*at)?.take()).collect();
        let laid = Laid { trees: &trees, dimensions: &dimensions, counts: &counts };
        if self.check_coordinates {
            for (axis, dimension) in dimensions.iter().enumerate() {
                check_order(&laid.along(axis), dimension)?;
            }
        }
        let first = trees.first().ok_or(JoinError::NoMembers)?;
        let mut arrays = BTreeMap::new();
        let mut is_joined = false;
        for path in first.arrays.keys() {
            let new = match &self.arrangement {
                GroupArrangement::NewDimension(name) => Some(name.as_str()),
                _ => None,
            };
            let (plan, joined) = laid.plan(path, new, self.combine)?;
            is_joined |= joined;
            arrays.insert(path.clone(), plan);
        }
        if !is_joined {
            return Err(JoinError::NothingAlong { dimensions: dimensions.join(", ").into() });
        }
        let mut groups = BTreeMap::new();
        for (path, metadata) in &first.groups {
            groups.insert(path.clone(), laid.group(path, metadata, self.combine)?);
        }
        consolidate(&mut groups, &arrays, first)?;
        Ok(GroupJoinPlan { members: self.members, groups, arrays })
    }

    fn places(&self, trees: &[Tree]) -> Result<Places, JoinError> {
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
                check_count(&counts, count)?;
                Ok(as_given(names, counts))
            }
            GroupArrangement::ByCoordinates(dimensions) => {
                let (counts, places) = places(trees, dimensions)?;
                check_count(&counts, count)?;
                let mut order: Vec<Option<usize>> = vec![None; count];
                for (member, place) in places.iter().enumerate() {
                    let Some(slot) = order.get_mut(number_of(place, &counts)) else { continue };
                    if let Some(other) = slot.replace(member) {
                        let name = |at: usize| trees.get(at).map_or("", |tree| tree.name.as_str());
                        let (member, other) = (name(member).into(), name(other).into());
                        return Err(JoinError::SamePlace { member, other });
                    }
                }
                let (dimensions, members) =
                    (dimensions.clone(), order.into_iter().flatten().collect());
                Ok(Places { dimensions, counts, members })
            }
        }
    }
}

/// Where members lie.
struct Places {
    /// The joined dimensions.
    dimensions: Vec<String>,
    /// The number of tiles along each.
    counts: Vec<usize>,
    /// The numbers of the members, in C order of the tiles.
    members: Vec<usize>,
}

fn check_count(counts: &[usize], members: usize) -> Result<(), JoinError> {
    let product = counts.iter().try_fold(1_usize, |all, count| all.checked_mul(*count));
    if product == Some(members) {
        return Ok(());
    }
    let tiles = counts.iter().map(|count| u64::try_from(*count).unwrap_or(u64::MAX)).collect();
    Err(JoinError::TileCount { tiles, members, rank: counts.len() })
}

/// The number of a place, in C order.
fn number_of(place: &[usize], counts: &[usize]) -> usize {
    place
        .iter()
        .zip(counts)
        .fold(0, |number: usize, (at, count)| number.saturating_mul(*count).saturating_add(*at))
}

/// The members in their places: in C order of the joined dimensions.
struct Laid<'a> {
    trees: &'a [Tree],
    dimensions: &'a [String],
    counts: &'a [usize],
}

impl<'a> Laid<'a> {
    fn place(&self, member: usize) -> Vec<usize> {
        let mut left = member;
        let mut place = vec![0; self.counts.len()];
        for (at, count) in place.iter_mut().zip(self.counts).rev() {
            *at = left.checked_rem(*count).unwrap_or(0);
            left = left.checked_div(*count).unwrap_or(0);
        }
        place
    }

    /// The members that are first on every joined dimension but this one.
    fn along(&self, axis: usize) -> Vec<&'a Tree> {
        let is_first = |member: usize| {
            self.place(member).iter().enumerate().all(|(other, at)| other == axis || *at == 0)
        };
        let all = self.trees.iter().enumerate();
        all.filter(|(member, _)| is_first(*member)).map(|(_, tree)| tree).collect()
    }

    /// The plan of the array at a path, and whether it is joined.
    fn plan(
        &self,
        path: &str,
        new: Option<&str>,
        combine: CombineAttributes,
    ) -> Result<(JoinPlan, bool), JoinError> {
        let mut all = Vec::with_capacity(self.trees.len());
        for tree in self.trees {
            if let Some(array) = tree.arrays.get(path) {
                all.push(Member::new(format!("{}/{path}", tree.name), array.clone()));
            }
        }
        let first = all.first().ok_or(JoinError::NoMembers)?;
        if let Some(name) = new {
            if is_coordinate(path, first.array()) {
                return Ok((self.copied(&all, combine)?, false));
            }
            let plan = plan_of(all.clone(), Arrangement::NewAxis(0), combine, None, &all)?;
            return Ok((with_axis_name(plan, 0, name.to_owned())?, true));
        }
        let names = first.array().metadata().dimension_names().unwrap_or_default();
        // The axis of the array on each joined dimension that it has.
        let axes: Vec<Option<usize>> = self
            .dimensions
            .iter()
            .map(|dimension| names.iter().position(|name| name.as_ref() == Some(dimension)))
            .collect();
        let mut tiles = vec![1_usize; first.array().shape().len()];
        for (axis, count) in axes.iter().zip(self.counts) {
            if let Some(slot) = axis.and_then(|axis| tiles.get_mut(axis)) {
                *slot = *count;
            }
        }
        // One member per tile: the others at the same tile differ only in dimensions that the
        // array does not have.
        let mut by_tile: BTreeMap<usize, Member> = BTreeMap::new();
        for (number, member) in all.iter().enumerate() {
            let mut place = vec![0; tiles.len()];
            for (axis, at) in axes.iter().zip(self.place(number)) {
                if let Some(slot) = axis.and_then(|axis| place.get_mut(axis)) {
                    *slot = at;
                }
            }
            match by_tile.entry(number_of(&place, &tiles)) {
                std::collections::btree_map::Entry::Vacant(entry) => {
                    entry.insert(member.clone());
                }
                std::collections::btree_map::Entry::Occupied(entry) => {
                    check_equal(member, entry.get())?;
                }
            }
        }
        let wide = |count: &usize| u64::try_from(*count).unwrap_or(u64::MAX);
        let arrangement = Arrangement::Tiles(tiles.iter().map(wide).collect());
        let members = by_tile.into_values().collect();
        let plan = plan_of(members, arrangement, combine, None, &all)?;
        Ok((plan, axes.iter().any(Option::is_some)))
    }

    /// The plan of an array that is equal in all members.
    fn copied(&self, all: &[Member], combine: CombineAttributes) -> Result<JoinPlan, JoinError> {
        let first = all.first().ok_or(JoinError::NoMembers)?;
        all.iter().skip(1).try_for_each(|member| check_equal(member, first))?;
        let tiles = Arrangement::Tiles(vec![1; first.array().shape().len()]);
        plan_of(vec![first.clone()], tiles, combine, None, all)
    }

    /// The document of the joined group at a path.
    fn group(
        &self,
        path: &str,
        first: &GroupMetadata,
        combine: CombineAttributes,
    ) -> Result<GroupMetadata, JoinError> {
        let each: Vec<Attributes<'_>> = self
            .trees
            .iter()
            .filter_map(|tree| {
                let values = group_values(tree.groups.get(path)?);
                Some(Attributes { member: &tree.name, values })
            })
            .collect();
        let combined = attributes::combine(&each, combine)?;
        let plain = first.without_consolidated_metadata().map_err(JoinError::Metadata)?;
        if combined == group_values(first) {
            return Ok(plain);
        }
        let json = attributes::to_json(&combined).map_err(JoinError::Metadata)?;
        plain.with_attributes(&json).map_err(JoinError::Metadata)
    }
}

/// Refuses an array that does not have the shape, type and elements of another, bit by bit.
fn check_equal(member: &Member, first: &Member) -> Result<(), JoinError> {
    /// The most bytes of elements that are compared at once.
    const PIECE: u64 = 16 << 20;
    let unequal =
        || JoinError::Unequal { member: member.name().into(), first: first.name().into() };
    let failed = |member: &Member| {
        let member = member.name().into();
        move |cause| JoinError::Member { member, cause: Box::new(cause) }
    };
    let (a, b) = (member.array(), first.array());
    if a.shape() != b.shape() || a.data_type() != b.data_type() {
        return Err(unequal());
    }
    let pieces = b.pieces(Selection::whole(b.shape()), PIECE).map_err(failed(first))?;
    for piece in pieces {
        let same = match b.element_size() {
            0 => {
                let read = |array: &Array| array.read_byte_strings(&piece);
                read(a).map_err(failed(member))? == read(b).map_err(failed(first))?
            }
            _ => {
                let read = |array: &Array| array.read(&piece);
                read(a).map_err(failed(member))? == read(b).map_err(failed(first))?
            }
        };
        if !same {
            return Err(unequal());
        }
    }
    Ok(())
}

/// Gives the root consolidated metadata if the first member has it.
fn consolidate(
    groups: &mut BTreeMap<String, GroupMetadata>,
    arrays: &BTreeMap<String, JoinPlan>,
    first: &Tree,
) -> Result<(), JoinError> {
    let had = first.groups.get("").is_some_and(|root| root.consolidated_metadata().is_some());
    if !had {
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

    /// The document of the joined array at a path.
    #[must_use]
    pub fn array(&self, path: &str) -> Option<&ArrayMetadata> {
        self.arrays.get(path).map(JoinPlan::metadata)
    }

    pub(super) fn document(&self, path: &str) -> Option<NodeMetadata> {
        self.groups.get(path).cloned().map(NodeMetadata::Group)
    }
}
