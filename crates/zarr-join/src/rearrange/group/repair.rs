//! The repair of a group's interrupted rearrangement.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::slice;
use std::sync::Arc;

use zarr_array::Array;
use zarr_array::ArrayError;
use zarr_array::Group;
use zarr_array::store::{Links, LockGuard, Prefix};
use zarr_array::{Extent, LockedDocument};
use zarr_cf::GroupMeaning;
use zarr_copy::make_region_index;

use super::super::array_marker::{ArrayMarker, Step};
use super::super::run::Run;
use super::super::steps::{CopyCounter, checked, keys_of, put, remove, return_to_own_keys};
use super::super::{Placed, Rearrangement, Repair};
use super::arrays_below;
use super::execute::undo;
use super::group_marker::GroupMarker;
use super::recorded_plan::RecordedPlan;
use crate::conventions;
use crate::error::rearrange::refused;
use crate::rearrange::moved_units::{Part, Targets, move_units};
use crate::rearrange::refill::{Remade, by_number, copy as copy_elements, is_remade};

/// Undoes or completes a rearrangement of a group's arrays that was interrupted, `None` if there is
/// none. It is undone if all arrays were still the old ones, and completed otherwise. To complete
/// it, the chunks of the remaining old arrays are copied again, as they are now.
///
/// Each group of VCF-Zarr without its array `region_index` gets one. Handles of the arrays must be opened
/// again afterwards.
///
/// # Errors
/// [`ArrayError::Refused`] if an array was resized since, while it was still the old one and
/// others were not; otherwise as [`GroupRearrangement::execute`](super::GroupRearrangement::execute).
/// It can be repeated.
pub fn repair_group(group: &Group) -> Result<Option<Repair>, ArrayError> {
    let (store, prefix) = (&**group.store(), group.prefix());
    if GroupMarker::at(store, prefix)?.is_none() {
        return Ok(None);
    }
    let run = Run::of_group(group.store(), prefix)?;
    let mut arrays = marked_arrays(group)?;
    loop {
        let keys = keys_of(&arrays, Some(prefix))?;
        let lock = zarr_array::store::lock_step!("repair of a group: lock", store.lock_all(&keys));
        let guard = Arc::new(lock?);
        let found = marked_arrays(group)?;
        let is_compared = zarr_array::store::step!("repair of a group: arrays under the lock");
        if !is_compared || found.iter().map(Array::prefix).eq(arrays.iter().map(Array::prefix)) {
            let repaired = repair_locked(&run, group, &found, guard)?;
            if repaired.is_some() {
                make_region_indexes(group)?;
            }
            return Ok(repaired);
        }
        // Another process went on before the locks were given.
        arrays = found;
    }
}

/// Makes the indexes of VCF-Zarr, which were deleted before the rearrangement began.
fn make_region_indexes(group: &Group) -> Result<(), ArrayError> {
    for (path, metadata) in arrays_below(group)?.1 {
        let prefix = group.prefix().join(&path)?;
        // One from which no index follows had none.
        if GroupMeaning::of(&metadata).region_index()
            && conventions::has_array(group, &prefix, "variant_length")?
        {
            make_region_index(group.store(), &prefix)?;
        }
    }
    Ok(())
}

/// The arrays that are rearranged with the group, as their markers say.
fn marked_arrays(group: &Group) -> Result<Vec<Array>, ArrayError> {
    let mut arrays = Vec::new();
    for (_, array) in arrays_below(group)?.0 {
        let marker = ArrayMarker::at(&**group.store(), array.prefix())?;
        if marker.is_some_and(|marker| is_of(&marker, &array, group.prefix())) {
            arrays.push(checked(&array));
        }
    }
    Ok(arrays)
}

/// Undoes or completes it; `guard` holds the locks of the arrays' documents and of the group's marker.
fn repair_locked(
    run: &Run,
    group: &Group,
    arrays: &[Array],
    guard: Arc<LockGuard>,
) -> Result<Option<Repair>, ArrayError> {
    let (store, prefix) = (&**group.store(), group.prefix());
    let Some(reached) = GroupMarker::at(store, prefix)? else { return Ok(None) };
    run.take_over(|run| reached.text(run))?;
    // Where no lock excludes the run before, it may be about to put one.
    for array in arrays {
        let document = LockedDocument::within(Arc::clone(&guard), array, Extent::Chunks)?;
        document.refuse_stale()?;
        document.renew()?;
    }
    if reached == GroupMarker::Leaving {
        zarr_array::store::reached!("repair of a group: undone");
        arrays.iter().try_for_each(|array| undo(&run.held(array), prefix))?;
        run.end()?;
        return Ok(Some(Repair::Undone));
    }
    for array in arrays {
        let document = LockedDocument::within(Arc::clone(&guard), array, Extent::Chunks)?;
        if let Some(ArrayMarker { home, step: Step::Leaving, share: Some(share) }) =
            ArrayMarker::at(store, array.prefix())?
            && *array.layout().key_encoding() == home
        {
            zarr_array::store::reached!("repair of a group: an array follows");
            let again = copy_again(&run.held(array), &share)?;
            run.check()?;
            put(&document, again.metadata())?;
        }
    }
    if arrays.is_empty() {
        run.end()?;
    }
    drop(guard);
    return_to_own_keys(run, arrays, Some(prefix), &[], &CopyCounter::new(0, &|_| {}))?;
    zarr_array::store::reached!("repair of a group: completed");
    Ok(Some(Repair::Completed))
}

/// Settles the group with which an array is rearranged. `None` if that group is not marked any more.
pub(in crate::rearrange) fn repair_group_of(
    array: &Array,
    share: &RecordedPlan,
) -> Result<Option<Repair>, ArrayError> {
    let Some(prefix) = share.group(array.prefix()) else {
        let (levels, s) = (share.levels, if share.levels == 1 { "" } else { "s" });
        let reason = format!(
            "a rearrangement of its chunks together with other arrays was interrupted: repair the \
             group, which is {levels} level{s} above it"
        );
        return Err(refused(array.prefix(), reason));
    };
    if GroupMarker::at(&**array.store(), &prefix)?.is_none() {
        return Ok(None);
    }
    let group = Group::open(array.store().clone(), &prefix)?;
    let group = group.with_options(array.options().clone());
    repair_group(&group.with_update_policy(array.update_policy()))
}

/// Whether an array with this marker is rearranged with the group at `group`. An array that returns
/// to its own keys has no group in its marker.
fn is_of(marker: &ArrayMarker, array: &Array, group: &Prefix) -> bool {
    match &marker.share {
        Some(share) => share.group(array.prefix()).as_ref() == Some(group),
        None => marker.step == Step::Returning,
    }
}

/// Copies the chunks of an array to keys of the other encoding, as they are now. The chunks of
/// inserted arrays are there. Returns the array that they make.
fn copy_again(array: &Array, share: &RecordedPlan) -> Result<Array, ArrayError> {
    let plan = share.again(array)?;
    let gone = plan.gone()?;
    let is_kept = |number: u64| {
        plan.placed.iter().any(|Placed { chunks, at, .. }| {
            let count = chunks.end - chunks.start;
            number.checked_sub(*at).is_some_and(|within| within < count)
        })
    };
    let mut outdated = Vec::new();
    for key in array.store().list(array.prefix(), Links::Follow) {
        let key = key?;
        let index = gone.layout().chunk_of_key(&key);
        let number = index.and_then(|index| index.get(plan.axis).copied());
        if number.is_some_and(is_kept) {
            outdated.push(key);
        }
    }
    remove(array, outdated)?;
    let moves = Rearrangement::moves_again(&plan)?;
    let copied = plan.copy(array, &moves.moves, gone.layout(), &CopyCounter::new(0, &|_| {}))?;
    if let Some(refill) = &plan.refill {
        let there = gone.stored_chunks().map(|chunk| Ok(chunk?.index));
        let there = by_number(there.collect::<Result<Vec<_>, ArrayError>>()?, plan.axis);
        let own = refill.own_by_number(array, plan.axis);
        for remade in &refill.remade {
            remake(array, plan.axis, remade, &gone, [&own, &there])?;
        }
    }
    plan.check_all(&moves, &copied)?;
    Ok(gone)
}

/// Puts elements of an array in place of those that its chunks of the other encoding have. Encoded chunks
/// within them move with what comes after them. `own` and `there`: the stored chunks of both arrays, by their
/// number on the axis.
fn remake(
    array: &Array,
    axis: usize,
    remade @ Remade { range, at }: &Remade,
    gone: &Array,
    [own, there]: [&BTreeMap<u64, Vec<Vec<u64>>>; 2],
) -> Result<(), ArrayError> {
    let new = &gone.grid().axes()[axis];
    let chunk = new.chunk_of(*at).and_then(|(chunk, _)| Some((chunk, new.clipped(chunk)?)));
    let part = |array, range: Range<u64>, at| Part { array, range, at, inner: true };
    let edge = part(array, range.clone(), *at).edge_in(gone, axis);
    let length = range.end - range.start;
    let mut moved = 0;
    if let (Some(edge), Some((number, chunk))) = (edge, chunk) {
        // The last elements of the array are alone in their inner chunk.
        let whole = if at + length == new.extent() { length } else { length - length % edge };
        let moved_part = part(array, range.start..range.start + whole, *at);
        let rest = part(gone, at + whole..chunk.end.max(at + whole), at + whole);
        let parts = [moved_part, rest].into_iter().filter(|part| !part.range.is_empty());
        let parts: Vec<Part<'_>> = parts.collect();
        if whole > 0 && parts.iter().all(|part| part.edge_in(gone, axis).is_some()) {
            zarr_array::store::reached!("repair of a group: encoded chunks move again");
            let old = &array.grid().axes()[axis];
            let of = |shard: &u64| is_remade(old, *shard, slice::from_ref(remade));
            let own = own.iter().filter(|(shard, _)| of(shard)).flat_map(|(_, own)| own);
            let targets: BTreeSet<&Vec<u64>> =
                own.chain(there.get(&number).into_iter().flatten()).collect();
            let targets = targets.into_iter().cloned().map(|mut index| {
                index[axis] = number;
                index
            });
            let targets: Vec<_> = targets.collect();
            move_units(&parts, axis, gone, Targets::Only(&targets), None)?;
            moved = whole;
        }
    }
    let rest = range.start + moved..range.end;
    copy_elements(array, axis, rest, gone, at + moved, &mut |_| Ok(()))
}
