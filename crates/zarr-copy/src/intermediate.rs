//! Copies in two passes, where one pass would read the source many times.
//!
//! The first pass reads whole chunks of the source, as many as fit in memory, and writes them to an
//! array beside the chunks of the target. The second pass makes whole chunks of the target from
//! this array. The intermediate's grid has the boundaries of the tasks of both passes, so that each
//! of its chunks is written once and read once.
//!
//! Each pass is a copy with its own marker, so that a pass that was killed is resumed. An
//! intermediate is used only by the interrupted copy: the copy's marker identifies the source.

use zarr_array::Array;
use zarr_array::unfinished::Kind;
use zarr_store::StoreError;

use crate::begin::begin;
use crate::endpoint::Endpoint;
use crate::error::TransferError;
use crate::marker::{Marker, TargetState};
use crate::parts::Share;
use crate::plan::CopyPlan;
use crate::prepared::Prepared;
use crate::tasks::intermediate_place::IntermediatePlace;
use crate::tasks::passes::{Passes, array_between};
use crate::{CopyOptions, CopyProgress, CopySummary};

/// Removes the leftover intermediate of an interrupted copy, if it continues without one.
pub(crate) fn remove_left(
    to: &Array,
    found: TargetState,
    share: &Share<'_>,
    options: &CopyOptions,
) -> Result<(), TransferError> {
    match IntermediatePlace::of(share.target(), to.prefix(), options) {
        Some(IntermediatePlace { store, prefix }) if found != TargetState::Fresh => {
            let store = share.store_of(&store);
            Ok(remove_at(Endpoint::new(&store, &prefix))?)
        }
        _ => Ok(()),
    }
}

/// The array between two passes.
pub(crate) struct Intermediate<'p> {
    array: Array,
    passes: &'p Passes,
}

impl<'p> Intermediate<'p> {
    /// The intermediate of a plan, if it has one.
    pub(crate) fn of(
        plan: &'p CopyPlan,
        to: &Array,
        share: &Share<'_>,
        options: &CopyOptions,
    ) -> Result<Option<Self>, TransferError> {
        let place = IntermediatePlace::of(share.target(), to.prefix(), options);
        let (Some(passes), Some(place)) = (&plan.passes, place) else { return Ok(None) };
        // Who does not hold the copy's marker changes nothing here either.
        let store = share.store_of(&place.store);
        let array = array_between(to, &passes.grid, store, &place.prefix)?;
        Ok(Some(Self { array, passes }))
    }

    pub(crate) fn array(&self) -> &Array {
        &self.array
    }

    fn place(&self) -> Endpoint<'_> {
        Endpoint::new(self.array.store(), self.array.prefix())
    }

    /// The first pass, or the rest of it.
    ///
    /// `found` is the state of the target: leftovers of another copy are removed.
    pub(crate) fn fill(
        &self,
        (here, from): (Endpoint<'_>, &Array),
        found: TargetState,
        share: &Share<'_>,
        options: &CopyOptions,
        progress: &mut dyn FnMut(CopyProgress),
    ) -> Result<CopySummary, TransferError> {
        here.apart(self.place())?;
        let document = self.array.metadata().json();
        let mut marker = Marker::new(
            here,
            from.metadata().json(),
            self.place(),
            Kind::Array,
            document.to_owned(),
        )?;
        let found = match found {
            TargetState::Interrupted | TargetState::Documented if share.trusts_objects() => {
                self.resumed(&mut marker, options)?
            }
            _ => self.anew(&mut marker, options)?,
        };
        let store = self.array.store().clone();
        let metadata = self.array.metadata().clone();
        let first = Prepared::new(from, store, self.array.prefix(), metadata, options)?;
        let first = first.with_tasks(self.passes.first.clone());
        let summary = first.copy(from, found, share, options, false, progress)?;
        marker.put_document()?;
        // There is none if the pass was finished before. Without it, an intermediate counts by its chunks.
        self.place().store.delete(&marker.key)?;
        Ok(summary)
    }

    /// Removes the intermediate, and begins.
    fn anew(
        &self,
        marker: &mut Marker<'_>,
        options: &CopyOptions,
    ) -> Result<TargetState, TransferError> {
        self.remove()?;
        let options = options.clone().resume(false).overwrite(false);
        begin(marker, &[], Some(self.array.metadata()), &options, &mut |_| Ok(()))
    }

    /// Continues the pass that left the intermediate, if it was the same.
    fn resumed(
        &self,
        marker: &mut Marker<'_>,
        options: &CopyOptions,
    ) -> Result<TargetState, TransferError> {
        let is_marked = marker.find()?;
        if is_marked.is_none() && matches!(marker.is_finished(), Ok(true)) {
            zarr_store::reached!("copy: the intermediate is used");
            // A document does not tell that all chunks are there.
            return Ok(TargetState::Interrupted);
        }
        match is_marked {
            Some(Some(_)) => {
                let options = options.clone().overwrite(false).resume(true);
                begin(marker, &[], Some(self.array.metadata()), &options, &mut |_| Ok(()))
            }
            _ => self.anew(marker, options),
        }
    }

    /// Removes it: first the document, so that a part of it is never taken for the whole.
    pub(crate) fn remove(&self) -> Result<(), TransferError> {
        Ok(remove_at(self.place())?)
    }
}

fn remove_at(place: Endpoint<'_>) -> Result<(), StoreError> {
    if let Ok(document) = place.document() {
        place.store.delete(&document)?;
    }
    place.store.delete_prefix(place.prefix)
}
