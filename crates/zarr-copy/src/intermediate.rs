//! Copies in two passes, where one pass would read the source many times.
//!
//! The first pass reads whole chunks of the source, as many as the memory takes, and writes them to an
//! array beside the chunks of the target; the second makes whole chunks of the target from that. The
//! intermediate's grid has the boundaries of the tasks of both passes, so that each of its chunks is
//! written once and read once.
//!
//! Each pass is a copy with its own marker, so that a pass that was killed is resumed. An intermediate is
//! used only by the copy that was interrupted, whose marker says what the source was.

use std::sync::Arc;

use zarr_array::unfinished::Kind;
use zarr_array::{Array, chunk_grid_of};
use zarr_grid::Grid;
use zarr_metadata::{ArrayMetadata, ChunkKeyEncoding, Codec};
use zarr_store::{Prefix, Store, StoreError};

use crate::array::Prepared;
use crate::begin::begin;
use crate::budget::{Budget, largest};
use crate::endpoint::Endpoint;
use crate::error::{TransferError, target};
use crate::marker::{Marker, TargetState};
use crate::parts::Share;
use crate::plan::{CopyPlan, count};
use crate::{CopyOptions, CopyProgress, CopySummary};

/// The folder of an intermediate, beside the chunks of the target.
pub const INTERMEDIATE: &str = "zarr-kit-intermediate";

/// Runs of edges that the document of an intermediate may have on each axis.
const MOST_RUNS: u64 = 1 << 16;

/// How often less memory is tried, each time three quarters.
const TRIALS: usize = 12;

/// The place of an intermediate.
pub(crate) struct IntermediatePlace {
    pub(crate) store: Arc<dyn Store>,
    pub(crate) prefix: Prefix,
}

impl IntermediatePlace {
    /// Bytes that are free there, if the system tells.
    pub(crate) fn free_space(&self) -> Option<u64> {
        self.store.linking()?.location(&self.prefix)?.free_space()
    }
}

/// The grids of two passes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Passes {
    /// Tasks of whole chunks of the source.
    pub(crate) first: Grid,
    /// Tasks of whole chunks of the target.
    pub(crate) second: Grid,
    /// The chunks of the intermediate: what a task of each has in common.
    pub(crate) grid: Grid,
    /// Bytes that either pass takes.
    pub(crate) memory: u64,
}

impl Passes {
    /// Tasks as large as the memory allows, whose chunks in common are buffered besides; `None` if
    /// there are none.
    pub(crate) fn new(
        from: &Array,
        to: &Array,
        mut elements: u64,
        options: &CopyOptions,
    ) -> Result<Option<Self>, TransferError> {
        for _ in 0..TRIALS {
            let first = from.grid().grouped(elements, None);
            let second = to.grid().grouped(elements, None);
            let (Ok(first), Ok(second)) = (first, second) else { return Ok(None) };
            let Ok(grid) = first.common_refinement(&second, MOST_RUNS) else { return Ok(None) };
            let between = array(to, &grid, to.store().clone(), to.prefix())?;
            let budgets =
                (Budget::new(from, &between, options), Budget::new(&between, to, options));
            if let (Ok(one), Ok(two)) = budgets
                && largest(&first) <= one.elements
                && largest(&second) <= two.elements
            {
                let taken = |budget: Budget, tasks: &Grid| {
                    let share = budget.bytes.checked_div(budget.elements.max(1)).unwrap_or(0);
                    budget.buffers.saturating_add(largest(tasks).saturating_mul(share.max(1)))
                };
                let memory = taken(one, &first).max(taken(two, &second));
                return Ok(Some(Self { first, second, grid, memory }));
            }
            elements = elements.saturating_sub(elements / 4);
        }
        Ok(None)
    }
}

/// The array between the passes, which nothing has been written of: elements as they are, so that its
/// size is known.
fn array(
    to: &Array,
    grid: &Grid,
    store: Arc<dyn Store>,
    prefix: &Prefix,
) -> Result<Array, TransferError> {
    let document = |metadata: &ArrayMetadata| {
        metadata
            .with_codecs(&[Codec::bytes()])?
            .with_shape_and_grid(to.shape(), &chunk_grid_of(grid))?
            .with_chunk_key_encoding(&ChunkKeyEncoding::default())
    };
    let failed = |cause| {
        target(zarr_array::ArrayError::Metadata {
            key: zarr_array::node::metadata_key(prefix),
            cause,
        })
    };
    let metadata = document(to.metadata()).map_err(failed)?;
    Array::with_metadata(store, prefix, metadata, zarr_codec::Options::new()).map_err(target)
}

/// Removes the intermediate that an interrupted copy has left, if it goes on without one.
pub(crate) fn remove_left(
    to: &Array,
    found: TargetState,
    options: &CopyOptions,
) -> Result<(), TransferError> {
    match options.intermediate_for(to.store(), to.prefix()) {
        Some(IntermediatePlace { store, prefix }) if found == TargetState::Interrupted => {
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
    /// That of a plan, if it has one.
    pub(crate) fn of(
        plan: &'p CopyPlan,
        to: &Array,
        options: &CopyOptions,
    ) -> Result<Option<Self>, TransferError> {
        let place = options.intermediate_for(to.store(), to.prefix());
        let (Some(passes), Some(place)) = (&plan.passes, place) else { return Ok(None) };
        let array = array(to, &passes.grid, place.store, &place.prefix)?;
        Ok(Some(Self { array, passes }))
    }

    pub(crate) fn array(&self) -> &Array {
        &self.array
    }

    fn place(&self) -> Endpoint<'_> {
        Endpoint::new(self.array.store(), self.array.prefix())
    }

    /// The first pass, or what is left to do of it.
    ///
    /// `found` is the state of the target: what lies here of another copy is removed.
    pub(crate) fn fill(
        &self,
        from: &Array,
        found: TargetState,
        options: &CopyOptions,
        progress: &mut dyn FnMut(CopyProgress),
    ) -> Result<CopySummary, TransferError> {
        let here = Endpoint::new(from.store(), from.prefix());
        here.apart(self.place())?;
        let document = self.array.metadata().json();
        let marker = Marker::new(
            here,
            from.metadata().json(),
            self.place(),
            Kind::Array,
            document.to_owned(),
        )?;
        let found = match found {
            TargetState::Interrupted => self.resumed(&marker, options)?,
            TargetState::Fresh | TargetState::Finished => self.anew(&marker, options)?,
        };
        let store = self.array.store().clone();
        let metadata = self.array.metadata().clone();
        let first = Prepared::new(from, store, self.array.prefix(), metadata, options)?;
        let first = first.with_tasks(self.passes.first.clone());
        let all = Share::all(self.array.prefix());
        let tasks = count(&self.passes.first);
        if found == TargetState::Finished {
            marker.remove()?;
            return Ok(CopySummary { skipped: tasks, ..CopySummary::default() });
        }
        marker.finish(found, || first.copy(from, found, &all, options, false, progress))
    }

    /// Removes what is here, and begins.
    fn anew(
        &self,
        marker: &Marker<'_>,
        options: &CopyOptions,
    ) -> Result<TargetState, TransferError> {
        self.remove()?;
        let options = options.clone().resume(false).overwrite(false);
        begin(marker, &[], Some(self.array.metadata()), &options, &mut || Ok(()))
    }

    /// Continues the pass that left what is here, if it was the same.
    fn resumed(
        &self,
        marker: &Marker<'_>,
        options: &CopyOptions,
    ) -> Result<TargetState, TransferError> {
        let is_marked = marker.find()?;
        if is_marked.is_none() && matches!(marker.is_finished(), Ok(true)) {
            zarr_store::reached!("copy: the intermediate is used");
            return Ok(TargetState::Finished);
        }
        match is_marked {
            Some(Some(_)) => {
                let options = options.clone().overwrite(false).resume(true);
                begin(marker, &[], Some(self.array.metadata()), &options, &mut || Ok(()))
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
