//! Carries out the rearrangement of several arrays, in steps between which it can be undone or
//! completed.

use zarr_array::Array;
use zarr_array::ArrayError;
use zarr_array::LockedDocument;
use zarr_array::delete_node;
use zarr_array::node;
use zarr_array::store::{Prefix, Store};
use zarr_array::unfinished::REARRANGE_MARKER as MARKER;
use zarr_cf::REGION_INDEX;
use zarr_copy::make_region_index;

use super::super::array_marker::{ArrayMarker, Step};
use super::super::moves::Moves;
use super::super::run::Run;
use super::super::steps::{
    CopyCounter, Report, checked, leave, lock_all, put, refresh_groups, refuse_unfinished,
    return_to_own_keys,
};
use super::super::{RearrangeCounts, Rearrangement};
use super::GroupRearrangement;
use super::group_marker::GroupMarker;
use super::recorded_plan::RecordedPlan;
use crate::error::rearrange::{RearrangeError, UNFINISHED, refused};

impl GroupRearrangement {
    /// Moves the chunks of all arrays; see [`Rearrangement::execute`].
    ///
    /// # Steps
    /// 1. The documents of all arrays and the group's marker are locked together, the documents are
    ///    compared, and the stored chunks are listed.
    /// 2. The marker `zarr-kit-rearrange.json` is put in the group, and one in each array.
    /// 3. The chunks of all new arrays are copied to keys of another encoding.
    /// 4. The group's marker says that documents are put; then the document of each array is put.
    ///    They are unlocked, and consolidated metadata of each group follows in one step.
    /// 5. They are locked again, and the group's marker says that this is done. All arrays return
    ///    to their own keys, like an array that is rearranged alone. They are unlocked once more
    ///    while consolidated metadata follows. At last the group's marker is removed.
    ///
    /// Each array `region_index` of VCF-Zarr, which refers to chunks by number, is deleted after a first
    /// round of the checks of step 1, and made again after step 5, or once the arrays are the old ones
    /// again. Without it, programs ask for it.
    ///
    /// After an interruption before step 4 the arrays are the old ones, after step 4 the new ones.
    /// In step 4 there may be some of each: [`refuse_half_rearranged`] and `check` report this, and
    /// [`repair_group`] completes it. Readers by consolidated metadata find all old or all new
    /// arrays at every moment.
    ///
    /// [`refuse_half_rearranged`]: super::refuse_half_rearranged
    /// [`repair_group`]: super::repair_group
    ///
    /// # Errors
    /// As [`Rearrangement::execute`]. Up to step 4 the arrays are unchanged, and the copies are
    /// removed as far as the store allows.
    pub fn execute(&self, progress: Report<'_>) -> Result<(), ArrayError> {
        if self.arrays.iter().all(changes_nothing) {
            return Ok(());
        }
        let (store, prefix) = (&**self.group.store(), self.group.prefix());
        let arrays: Vec<Array> = self.arrays.iter().map(|plan| checked(&plan.array)).collect();
        // A group that cannot be written is found out now, and not half-way.
        refresh_groups(&arrays)?;
        let run = Run::of_group(self.group.store(), prefix)?;
        let checked_and_locked = || {
            let documents = lock_all(&arrays, Some(prefix))?;
            if GroupMarker::at(store, prefix)?.is_some() {
                return Err(refused(prefix, UNFINISHED));
            }
            documents.iter().try_for_each(LockedDocument::refuse_stale)?;
            let prefixes = arrays.iter().map(Array::prefix);
            node::refuse_unfinished_above(self.group.store(), prefixes)?;
            let mut all = Vec::with_capacity(arrays.len());
            for plan in &self.arrays {
                refuse_unfinished(&plan.array)?;
                all.push((plan, plan.gone()?, plan.moves()?));
            }
            Ok((documents, all))
        };
        if !self.region_indexes.is_empty() {
            // A rearrangement that is refused keeps them. A deletion takes locks of its own, so that these
            // are given back for it.
            drop(checked_and_locked()?);
            for group in &self.region_indexes {
                delete_node(self.group.store(), &group.join(REGION_INDEX)?)?;
            }
        }
        let (documents, all) = checked_and_locked()?;
        let counts = all.iter().map(|(_, _, moves)| moves.counts(false));
        let total =
            counts.fold(0_u64, |sum, RearrangeCounts { copies, .. }| sum.saturating_add(copies));
        let counter = CopyCounter::new(total, progress);
        run.begin(|run| GroupMarker::Leaving.text(run))?;
        let held: Vec<Array> = arrays.iter().map(|array| run.held(array)).collect();
        if let Err(error) = self.leave(&held, &all, &counter) {
            // As if the process had ended here, if they cannot be removed.
            let left = held.iter().try_for_each(|array| undo(array, prefix));
            drop(documents);
            let _stays = left.and_then(|()| run.end()).and_then(|()| self.make_region_indexes());
            return Err(error);
        }
        run.step(|run| GroupMarker::Switching.text(run))?;
        for (document, (_, gone, _)) in documents.iter().zip(&all) {
            run.check()?;
            put(document, gone.metadata())?;
        }
        drop(documents);
        return_to_own_keys(&run, &arrays, Some(prefix), &self.arrays, &counter)?;
        self.make_region_indexes()
    }

    fn make_region_indexes(&self) -> Result<(), ArrayError> {
        let mut groups = self.region_indexes.iter();
        groups.try_for_each(|group| make_region_index(self.group.store(), group))
    }

    /// Marks all arrays, and copies their chunks to keys of the other encoding.
    fn leave(
        &self,
        arrays: &[Array],
        all: &[(&Rearrangement, Array, Moves)],
        counter: &CopyCounter<'_>,
    ) -> Result<(), ArrayError> {
        let mut copied = Vec::with_capacity(all.len());
        for (array, (plan, gone, moves)) in arrays.iter().zip(all) {
            self.marker(plan, gone).put(&**array.store(), &array.prefix().key(MARKER)?)?;
            copied.push(plan.copy(array, &moves.moves, gone.layout(), counter)?);
        }
        for ((plan, _, moves), copied) in all.iter().zip(&copied) {
            plan.check_all(moves, copied)?;
        }
        Ok(())
    }

    fn marker(&self, plan: &Rearrangement, gone: &Array) -> ArrayMarker {
        let array = &plan.array;
        let levels = |prefix: &Prefix| prefix.segments().count();
        let share = RecordedPlan {
            levels: levels(array.prefix()).saturating_sub(levels(self.group.prefix())),
            axis: plan.axis,
            length: array.shape()[plan.axis],
            placements: plan.spans.clone(),
            remade: plan.refill.as_ref().map_or_else(Vec::new, |refill| refill.remade.clone()),
            document: gone.metadata().clone(),
        };
        let home = array.layout().key_encoding();
        ArrayMarker { share: Some(Box::new(share)), ..ArrayMarker::alone(home, Step::Leaving) }
    }
}

/// Whether all chunks are kept unchanged.
fn changes_nothing(plan: &Rearrangement) -> bool {
    plan.is_in_place() && plan.rearranged.grid() == plan.array.grid()
}

/// Removes the copies of an array's chunks and its marker, if it was marked.
pub(super) fn undo(array: &Array, group: &Prefix) -> Result<(), ArrayError> {
    let (store, prefix): (&dyn Store, _) = (&**array.store(), array.prefix());
    match ArrayMarker::at(store, prefix)? {
        Some(ArrayMarker { home, step: Step::Leaving, share: Some(share) })
            if share.group(prefix).as_ref() == Some(group)
                && *array.layout().key_encoding() == home =>
        {
            leave(array)
        }
        Some(_) => Err(refused(array.prefix(), RearrangeError::marker(prefix.key(MARKER)?))),
        None => Ok(()),
    }
}
