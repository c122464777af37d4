//! Where the members of a group join lie, and which of their arrays become one.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

use zarr_cf::JoinedAxes;
use zarr_metadata::GroupMetadata;

use super::coordinates::is_coordinate;
use super::tree::GroupTree;
use crate::axes::GroupAxes;
use crate::conventions;
use crate::error::JoinError;
use crate::insert::check_unjoined;
use crate::join::Join;
use crate::member::Member;
use crate::members::Arrangement;
use crate::members::tiles::{number_of, place_of};
use crate::values::attributes::{self, Attributes, CombineAttributes};

/// Where members lie.
pub(super) struct Places {
    /// The joined dimensions.
    pub(super) dimensions: Vec<String>,
    /// The number of tiles along each.
    pub(super) counts: Vec<usize>,
    /// The numbers of the members, in C order of the tiles.
    pub(super) members: Vec<usize>,
}

/// The members in their places: in C order of the joined dimensions.
pub(super) struct ArrangedGroups<'a> {
    pub(super) trees: &'a [GroupTree],
    pub(super) axes: &'a GroupAxes,
    pub(super) dimensions: &'a [String],
    pub(super) counts: &'a [usize],
}

impl<'a> ArrangedGroups<'a> {
    /// The members that are first on every joined dimension but this one.
    pub(super) fn along(&self, axis: usize) -> Vec<&'a GroupTree> {
        let is_first = |member: usize| {
            place_of(member, self.counts)
                .iter()
                .enumerate()
                .all(|(other, at)| other == axis || *at == 0)
        };
        let all = self.trees.iter().enumerate();
        all.filter(|(member, _)| is_first(*member)).map(|(_, tree)| tree).collect()
    }

    /// The arrays at a path, of each member.
    pub(super) fn matched(&self, path: &str, new: Option<&str>) -> Result<Matched, JoinError> {
        let all: Vec<Member> = self.trees.iter().filter_map(|tree| tree.member(path)).collect();
        let first = all.first().ok_or(JoinError::NoMembers)?;
        let rank = first.array().shape().len();
        if let Some(name) = new {
            if is_coordinate(path, first.array()) {
                all.iter().skip(1).try_for_each(|member| check_unjoined(first, member))?;
                let (used, arrangement) = (vec![first.clone()], Arrangement::Tiles(vec![1; rank]));
                return Ok(Matched { all, used, arrangement, new_axis: None, is_joined: false });
            }
            let (used, arrangement) = (all.clone(), Arrangement::NewAxis(0));
            let new_axis = Some(name.to_owned());
            return Ok(Matched { all, used, arrangement, new_axis, is_joined: true });
        }
        // The axis of the array on each joined dimension that it has.
        let axes =
            self.dimensions.iter().map(|dimension| match *self.axes.numbers(path, dimension) {
                [] => Ok(None),
                [axis] => Ok(Some(axis)),
                _ => Err(JoinError::dimension_twice(first.name(), dimension)),
            });
        let axes: Vec<Option<usize>> = axes.collect::<Result<_, _>>()?;
        let mut tiles = vec![1_usize; rank];
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
            for (axis, at) in axes.iter().zip(place_of(number, self.counts)) {
                if let Some(slot) = axis.and_then(|axis| place.get_mut(axis)) {
                    *slot = at;
                }
            }
            match by_tile.entry(number_of(&place, &tiles)) {
                Entry::Vacant(entry) => {
                    entry.insert(member.clone());
                }
                Entry::Occupied(entry) => check_unjoined(entry.get(), member)?,
            }
        }
        let wide = |count: &usize| u64::try_from(*count).unwrap_or(u64::MAX);
        let arrangement = Arrangement::Tiles(tiles.iter().map(wide).collect());
        let used = by_tile.into_values().collect();
        let is_joined = axes.iter().any(Option::is_some);
        Ok(Matched { all, used, arrangement, new_axis: None, is_joined })
    }

    /// The document of the joined group at a path.
    pub(super) fn group(
        &self,
        path: &str,
        first: &GroupMetadata,
        new: Option<&str>,
        combine: CombineAttributes,
    ) -> Result<GroupMetadata, JoinError> {
        let each: Vec<Attributes<'_>> = self
            .trees
            .iter()
            .filter_map(|tree| {
                let values = tree.groups.get(path)?.attribute_texts();
                Some(Attributes { member: &tree.name, values })
            })
            .collect();
        let combined = attributes::combine(&each, combine)?;
        let plain = first.without_consolidated_metadata().map_err(JoinError::Metadata)?;
        let plain = match combined == first.attribute_texts() {
            true => Ok(plain),
            false => plain.with_attributes(&attributes::to_json(&combined)),
        };
        let plain = plain.map_err(JoinError::Metadata)?;
        let groups = self.trees.iter().filter_map(|tree| {
            Some((conventions::named(&tree.name, path), tree.groups.get(path)?))
        });
        let axes = match new {
            Some(name) => JoinedAxes::New(name),
            None => JoinedAxes::Along(self.dimensions),
        };
        let is_kept = |name: &str| combined.iter().any(|(kept, _)| kept == name);
        let changes = conventions::joined(&groups.collect::<Vec<_>>(), axes, is_kept)?;
        if changes.is_empty() {
            return Ok(plain);
        }
        let changes: Vec<_> = changes.iter().map(|(name, json)| (*name, json.as_deref())).collect();
        plain.with_changed_attributes(&changes).map_err(JoinError::Metadata)
    }
}

/// The arrays at one path, and how they become one.
pub(super) struct Matched {
    /// The array of each member.
    all: Vec<Member>,
    /// The joined arrays; of equal arrays, the first.
    used: Vec<Member>,
    arrangement: Arrangement,
    /// The name of the axis that is added.
    new_axis: Option<String>,
    /// Whether it has a joined dimension.
    pub(super) is_joined: bool,
}

impl Matched {
    pub(super) fn join(self, combine: CombineAttributes) -> Join {
        let join = Join::new(self.used, self.arrangement).attributes(combine).alike(self.all);
        join.new_axis_name(self.new_axis)
    }
}
