//! The arrays of a group that share a dimension are rearranged together.
//!
//! Several documents cannot be put in one step. So the chunks of all arrays are first copied to
//! keys of the other encoding. Only then the documents are put, one directly after another. The
//! group's marker records whether this has begun. Nothing of the old arrays is removed before that
//! is done. So consolidated metadata, which is one document, leads to all old arrays or to all new
//! ones at every moment. Readers of the arrays' own documents may find some of each meanwhile.

mod execute;
mod group_marker;
pub(super) mod recorded_plan;
mod repair;

use std::collections::BTreeMap;

use zarr_array::Array;
use zarr_array::ArrayError;
use zarr_array::Group;
use zarr_array::node;
use zarr_array::store::Prefix;
use zarr_cf::{Change, GroupMeaning, JoinedAxes, REGION_INDEX};
use zarr_copy::check_region_index;
use zarr_metadata::{GroupMetadata, NodeMetadata};

use super::{RearrangeCounts, Rearrangement, Span};
use crate::axes::GroupAxes;
use crate::conventions;
use crate::error::Known;
use crate::error::rearrange::{RearrangeError, UNFINISHED, refused, refused_unless};
use crate::member::Member;
use crate::rearrange::refill::MOST;
use crate::values::times::coordinate_of;
use crate::values::widened::fitted;

pub(super) use self::group_marker::GroupMarker;
pub use self::repair::repair_group;
pub(super) use self::repair::repair_group_of;

/// A planned rearrangement of the arrays of a group.
#[derive(Clone, Debug)]
pub struct GroupRearrangement {
    group: Group,
    paths: Vec<String>,
    arrays: Vec<Rearrangement>,
    inserted: Vec<Vec<Array>>,
    /// The arrays without the dimension, with their paths: of the group, and of each inserted group.
    unjoined: Vec<(String, Array)>,
    inserted_unjoined: Vec<Vec<(String, Array)>>,
    /// The groups whose index of VCF-Zarr is removed before, and made again afterwards.
    region_indexes: Vec<Prefix>,
    dimension: String,
    promote: bool,
}

impl GroupRearrangement {
    pub(crate) fn is_promoting(&self) -> bool {
        self.promote
    }

    /// The arrays of the group without the dimension, each with its path.
    pub(crate) fn unjoined(&self) -> &[(String, Array)] {
        &self.unjoined
    }

    /// For each inserted group, its arrays without the dimension, in the order of
    /// [`unjoined`](Self::unjoined).
    pub(crate) fn inserted_unjoined(&self) -> &[Vec<(String, Array)>] {
        &self.inserted_unjoined
    }

    /// The rearrangement of each array, in the order of their paths. They are not executed
    /// separately.
    #[must_use]
    pub fn arrays(&self) -> &[Rearrangement] {
        &self.arrays
    }

    /// The paths of the arrays from the group, in the order of [`arrays`](Self::arrays).
    #[must_use]
    pub fn paths(&self) -> &[String] {
        &self.paths
    }

    /// For each inserted group, its arrays that are inserted, in the order of
    /// [`arrays`](Self::arrays).
    #[must_use]
    pub fn inserted(&self) -> &[Vec<Array>] {
        &self.inserted
    }

    /// The dimension: its name, also if a number named it, or the number where it has no name.
    #[must_use]
    pub fn dimension(&self) -> &str {
        &self.dimension
    }

    /// The counts of the chunks of all arrays that were stored when it was planned. All chunks that
    /// stay are copied twice, even if they keep their keys.
    #[must_use]
    pub fn counts(&self) -> RearrangeCounts {
        self.arrays.iter().fold(RearrangeCounts::default(), |sum, array| {
            let RearrangeCounts { kept, removed, inserted, .. } = array.counts();
            RearrangeCounts {
                kept: sum.kept + kept,
                removed: sum.removed + removed,
                inserted: sum.inserted + inserted,
                copies: sum.copies + (kept + inserted) * 2,
            }
        })
    }
}

impl GroupRearrangement {
    /// Plans to make a dimension of these spans, one after another, in all arrays below a group
    /// that have a dimension of this name, or number: see [`GroupAxes::dimension`] and
    /// [`Rearrangement::plan`]. An inserted group has the same
    /// arrays with this dimension, at the same paths. Its other arrays are not looked at. Its times are
    /// converted to the units of the group's own, exactly. With `promote`, its arrays may have numbers
    /// of a narrower type than the group's own: they are written in its type, from memory, at most
    /// 4 GiB in all.
    ///
    /// # Errors
    /// [`ArrayError::Refused`] with the path of the array or group if no array has this dimension,
    /// if the arrays do not all have the same length on it, or if one of them cannot be rearranged
    /// so. Otherwise as [`Rearrangement::plan`]. Nothing is changed.
    ///
    /// # Examples
    /// ```
    /// # use std::sync::Arc;
    /// # use zarr_array::store::{MemoryStore, Prefix, Store};
    /// # use zarr_metadata::{ArrayBuilder, DataType, GroupMetadata};
    /// use zarr_array::Group;
    /// use zarr_join::rearrange::{GroupRearrangement, Span};
    ///
    /// let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
    /// let group = Group::create(store, &Prefix::root(), GroupMetadata::new())?;
    /// for (name, edges) in [("time", &[31, 59][..]), ("temp", &[31, 28, 31])] {
    ///     let metadata = ArrayBuilder::new([90], DataType::Uint8).chunks([edges.into()]);
    ///     group.create_array(name, metadata.dimension_names(["time"]).build()?)?;
    /// }
    /// group.array("temp")?.write(31..32, &[5])?;
    /// let plan = GroupRearrangement::plan(&group, "time", [Span::Kept(31..90)], false)?;
    /// assert_eq!(plan.arrays().len(), 2);
    /// plan.execute(&|_| {})?;
    /// assert_eq!(group.array("time")?.shape(), [59]);
    /// assert_eq!(group.array("temp")?.read(0..2)?, [5, 0]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn plan(
        group: &Group,
        dimension: &str,
        spans: impl IntoIterator<Item = Span<Group>>,
        promote: bool,
    ) -> Result<Self, ArrayError> {
        node::refuse_version_2(group.metadata().is_version_2(), group.prefix())?;
        refuse_unfinished(group)?;
        let found = ByDimension::of(group, dimension)?;
        found.length(group)?;
        let ByDimension { dimension, own, others: unjoined, groups, .. } = found;
        let dimension = dimension.as_str();
        let refuse = |path: &str, reason: String| {
            let prefix = group.prefix().join(path)?;
            Err::<(), _>(refused(&prefix, reason))
        };
        if let Some((path, reason)) = conventions::refused(&groups, Change::Rearrange(dimension)) {
            refuse(path, reason)?;
        }
        let mut inserted = Vec::new();
        let mut inserted_unjoined = Vec::new();
        let mut of_arrays: Vec<Vec<Span>> = vec![Vec::new(); own.len()];
        let (mut at, mut is_moved) = (0_u64, false);
        let mut room = MOST;
        for span in spans {
            match span {
                Span::Kept(range) => {
                    is_moved |= range.start != at && !range.is_empty();
                    at = at.saturating_add(range.end.saturating_sub(range.start));
                    of_arrays.iter_mut().for_each(|spans| spans.push(Span::Kept(range.clone())));
                }
                Span::Inserted(other) => {
                    let found = ByDimension::of(&other, dimension)?;
                    let added = found.length(&other)?;
                    let ByDimension { own: theirs, others, groups: inserted_groups, .. } = found;
                    for (path, own) in &groups {
                        let Some(found) = inserted_groups.get(path) else { continue };
                        let both = [
                            ("the group".to_owned(), own),
                            ("the inserted group".to_owned(), found),
                        ];
                        let axes = &[dimension.to_owned()];
                        conventions::joined(&both, JoinedAxes::Along(axes), |_| true).or_else(
                            |error| refuse(path, error.to_string()).map(|()| Vec::new()),
                        )?;
                    }
                    at = at.saturating_add(added);
                    check_paths(group, "with", &own, &theirs, |found| &found.path)?;
                    check_paths(group, "without", &unjoined, &others, |(path, _)| path)?;
                    inserted_unjoined.push(others);
                    let theirs = as_ours(&own, &theirs, promote, &mut room)?;
                    for (spans, (ours, theirs)) in of_arrays.iter_mut().zip(own.iter().zip(&theirs))
                    {
                        check_names(&ours.array, theirs)?;
                        spans.push(Span::Inserted(theirs.clone()));
                    }
                    inserted.push(theirs);
                }
            }
        }
        if is_moved
            && let Some((path, reason)) = conventions::refused(&groups, Change::Move(dimension))
        {
            refuse(path, reason)?;
        }
        let arrays = own.iter().zip(of_arrays).map(|(found, spans)| {
            Rearrangement::planned(&found.array, found.axis, spans, false, &mut room)
        });
        let arrays = arrays.collect::<Result<_, _>>()?;
        let prefixes = own.iter().map(|found| found.array.prefix());
        node::refuse_unfinished_above(group.store(), prefixes)?;
        let paths = own.into_iter().map(|found| found.path).collect();
        let group = group.clone();
        let mut region_indexes = Vec::new();
        for (path, metadata) in &groups {
            let prefix = group.prefix().join(path)?;
            if GroupMeaning::of(metadata).region_index()
                && conventions::has_array(&group, &prefix, REGION_INDEX)?
            {
                check_region_index(group.store(), &prefix)?;
                region_indexes.push(prefix);
            }
        }
        Ok(Self {
            group,
            paths,
            arrays,
            inserted,
            unjoined,
            inserted_unjoined,
            region_indexes,
            dimension: dimension.to_owned(),
            promote,
        })
    }
}

/// The length of a dimension, which is the same in all arrays below a group that have it.
///
/// # Errors
/// As [`GroupRearrangement::plan`].
pub fn dimension_length(group: &Group, dimension: &str) -> Result<u64, ArrayError> {
    refuse_unfinished(group)?;
    ByDimension::of(group, dimension)?.length(group)
}

/// Refuses a group in which some arrays may have been rearranged and others not, because a
/// rearrangement was interrupted or is in progress. It looks for the marker in this group and in
/// those above it in the store: a request for each. Opening a group does not do this.
///
/// # Errors
/// [`ArrayError::Refused`] with the path of the marked group, or an error of the store.
pub fn refuse_half_rearranged(group: &Group) -> Result<(), ArrayError> {
    for prefix in group.prefix().ancestors() {
        if GroupMarker::at(&**group.store(), &prefix)? == Some(GroupMarker::Switching) {
            let reason = "rearranging its arrays was interrupted, and some may be rearranged while \
                          others are not: repair it first";
            return Err(refused(&prefix, reason));
        }
    }
    Ok(())
}

fn refuse_unfinished(group: &Group) -> Result<(), ArrayError> {
    match GroupMarker::at(&**group.store(), group.prefix())? {
        Some(_) => Err(refused(group.prefix(), UNFINISHED)),
        None => Ok(()),
    }
}

/// Inserted arrays. Arrays of times in other units are replaced by copies in memory with the units
/// of the group's own; with `promote`, arrays of narrower types by copies with its types.
fn as_ours(
    own: &[DimensionArray],
    theirs: &[DimensionArray],
    promote: bool,
    room: &mut u64,
) -> Result<Vec<Array>, ArrayError> {
    let member = |name: &str, found: &DimensionArray, all: &[DimensionArray]| {
        let all = all.iter().map(|other| (other.path.as_str(), &other.array));
        let coordinate = coordinate_of(&found.path, all);
        Member::new(name, found.array.clone()).bounds_of(coordinate)
    };
    let arrays = own.iter().zip(theirs).map(|(ours, found)| {
        let first = member("the group", ours, own);
        let room = promote.then_some(&mut *room);
        let copy = fitted(&member("the inserted array", found, theirs), &first, room);
        let copy =
            copy.map_err(|cause| refused_unless(ours.array.prefix(), &cause, cause.remedy()))?;
        Ok(copy.unwrap_or_else(|| found.array.clone()))
    });
    arrays.collect()
}

/// An array below a group, and its axis that is the dimension.
struct DimensionArray {
    path: String,
    array: Array,
    axis: usize,
}

/// The groups by path, beginning with the group itself.
type Groups = BTreeMap<String, GroupMetadata>;

/// The arrays below a group, by its documents and not by consolidated metadata, sorted by path. The index
/// of VCF-Zarr is none of them: it is made again.
fn arrays_below(group: &Group) -> Result<(Vec<(String, Array)>, Groups), ArrayError> {
    let (mut found, mut groups) = (Vec::new(), Groups::new());
    let mut waiting = vec![String::new()];
    while let Some(path) = waiting.pop() {
        let prefix = group.prefix().join(&path)?;
        match node::open(group.store(), &prefix) {
            Ok(NodeMetadata::Array(metadata)) => {
                let (store, options) = (group.store().clone(), group.options().clone());
                let array = Array::with_metadata(store, &prefix, metadata, options)?;
                found.push((path, array.with_update_policy(group.update_policy())));
            }
            Ok(NodeMetadata::Group(metadata)) => {
                groups.insert(path.clone(), metadata.clone());
                let names =
                    Group::with_metadata(group.store().clone(), &prefix, metadata).children()?;
                waiting.extend(names.iter().map(|name| conventions::child(&path, name)));
            }
            // Removed meanwhile.
            Err(ArrayError::NotFound { .. }) if !path.is_empty() => {}
            Err(error) => return Err(error),
        }
    }
    found.retain(|(path, _)| !conventions::is_region_index(path, &groups));
    found.sort_by(|(a, _), (b, _)| a.cmp(b));
    Ok((found, groups))
}

/// The arrays below a group by a dimension.
struct ByDimension {
    /// Its name.
    dimension: String,
    /// The arrays that have it.
    own: Vec<DimensionArray>,
    /// The others, with their paths.
    others: Vec<(String, Array)>,
    groups: Groups,
    /// The names of all dimensions.
    known: Vec<String>,
}

impl ByDimension {
    /// Of the dimension that a text names: [`GroupAxes::dimension`].
    fn of(group: &Group, dimension: &str) -> Result<Self, ArrayError> {
        let (mut own, mut others) = (Vec::new(), Vec::new());
        let (arrays, groups) = arrays_below(group)?;
        let documents = arrays.iter().map(|(path, array)| (path.as_str(), array.metadata()));
        let each = groups.iter().map(|(path, group)| (path.as_str(), group));
        let mut axes = GroupAxes::of(each, documents);
        let dimension = axes.dimension(dimension);
        let known = axes.known().into_iter().map(str::to_owned).collect();
        for (path, array) in arrays {
            match *axes.numbers(&path, &dimension) {
                [] => others.push((path, array)),
                [axis] => own.push(DimensionArray { path, array, axis }),
                _ => {
                    let reason = format!("two axes have the dimension {dimension}");
                    return Err(refused(array.prefix(), reason));
                }
            }
        }
        Ok(Self { dimension, own, others, groups, known })
    }

    /// The length of the dimension in all arrays that have it.
    fn length(&self, group: &Group) -> Result<u64, ArrayError> {
        let dimension = &self.dimension;
        let length = |found: &DimensionArray| found.array.shape()[found.axis];
        let Some(first) = self.own.first() else {
            let known = Known(&self.known);
            let none = format!("no array in it has the dimension {dimension}{known}");
            return Err(refused(group.prefix(), none));
        };
        let expected = length(first);
        match self.own.iter().find(|found| length(found) != expected) {
            None => Ok(expected),
            Some(other) => {
                let (found, path) = (length(other), &first.path);
                let reason = format!(
                    "has the length {found} on the dimension {dimension}, and {path} has {expected}"
                );
                Err(refused(other.array.prefix(), reason))
            }
        }
    }
}

/// Refuses an inserted group with arrays at other paths; `which` says whether these are the arrays
/// with the dimension, or without.
fn check_paths<T>(
    group: &Group,
    which: &'static str,
    own: &[T],
    theirs: &[T],
    path: impl Fn(&T) -> &String,
) -> Result<(), ArrayError> {
    let lacks = |arrays: &[T], wanted: &String| !arrays.iter().any(|found| path(found) == wanted);
    let lacking = own.iter().map(&path).find(|path| lacks(theirs, path));
    let more = theirs.iter().map(&path).find(|path| lacks(own, path));
    let (what, path) = match (lacking, more) {
        (Some(path), _) => ("lacks", path),
        (None, Some(path)) => ("alone has", path),
        (None, None) => return Ok(()),
    };
    let reason = format!("the inserted group {what} an array {path} {which} this dimension");
    Err(refused(group.prefix(), reason))
}

/// Arrays of the same shapes may mean different things by their axes.
fn check_names(ours: &Array, theirs: &Array) -> Result<(), ArrayError> {
    let names = |array: &Array| {
        let names = array.metadata().dimension_names().unwrap_or_default().iter();
        names.map(|name| name.as_deref().unwrap_or("null")).collect::<Vec<_>>().join(", ")
    };
    let (found, expected) = (names(theirs), names(ours));
    match found == expected {
        true => Ok(()),
        false => {
            let cause = RearrangeError::inserted("dimension names", &found, &expected);
            Err(refused(ours.prefix(), cause))
        }
    }
}
