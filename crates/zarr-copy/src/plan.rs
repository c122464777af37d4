//! The reads of a copy of one array, planned before a byte is moved.

use zarr_array::Array;
use zarr_codec::Slice;
use zarr_grid::{Axis, Grid};
use zarr_metadata::Codec;

use crate::CopyOptions;
use crate::error::{TransferError, source};
use crate::prepared::Prepared;
use crate::tasks::budget::size_of_elements;
use crate::tasks::intermediate_place::IntermediatePlace;
use crate::tasks::passes::Passes;
use crate::tasks::route::{Route, Why};
use crate::tasks::sparse::is_sparse;

/// The cost of a further object, in bytes that could be read meanwhile.
const BYTES_PER_OBJECT: u64 = 64 << 10;

/// The reads and the memory of a copy of one array: see [`plan_tree`](crate::plan_tree).
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct CopyPlan {
    /// Bytes of all elements; elements of variable length count as 64 each.
    pub bytes: u64,
    /// The number of units in the source that are decoded as a whole: chunks, or inner chunks of
    /// shards; elements, if the codecs can locate each.
    pub chunks: u64,
    /// The number of decoded units; a unit counts once each time it is decoded.
    pub reads: u64,
    /// The tasks, in both passes if there are two.
    pub tasks: u64,
    /// Bytes that elements and buffers take at most.
    pub memory: u64,
    /// The route of the elements.
    pub route: Route,
    /// The grids of the two passes, if they are to be made.
    pub(crate) passes: Option<Passes>,
}

impl CopyPlan {
    /// The plan of `prepared`, of all of the array or of a part.
    pub(crate) fn new(
        from: &Array,
        prepared: &Prepared,
        is_all: bool,
        options: &CopyOptions,
    ) -> Result<Self, TransferError> {
        let (to, budget) = (&prepared.to, prepared.budget);
        let units = units(from)?;
        let size = size_of_elements(to);
        let elements = to.shape().iter().fold(1, |all: u64, length| all.saturating_mul(*length));
        let bytes = elements.saturating_mul(size);
        let chunks = units.as_ref().map_or(elements, count);
        let reads = |tasks: &Grid| units.as_ref().map_or(elements, |units| overlaps(tasks, units));
        let direct = Self {
            bytes,
            chunks,
            reads: reads(&prepared.tasks),
            tasks: count(&prepared.tasks),
            memory: budget.memory(prepared.tasks.largest_chunk().min(elements)),
            route: Route::Direct,
            passes: None,
        };
        if is_sparse(from, to) {
            return Ok(Self { route: Route::Sparse, ..direct });
        }
        if let Some(moves) = &prepared.moves {
            let direct = Self { route: Route::Moved, ..direct };
            if options.verify {
                return Ok(direct);
            }
            let memory = direct.memory.min(options.memory);
            return Ok(Self { chunks: moves.count(to.shape()), reads: 0, memory, ..direct });
        }
        if direct.times() < 2 {
            return Ok(direct);
        }
        let because = |why| Ok(Self { route: Route::Repeated(why), ..direct.clone() });
        let place = IntermediatePlace::of(to.store(), to.prefix(), options);
        let place = match place {
            _ if !is_all => return because(Why::Part),
            _ if to.data_type().is_variable_length() => return because(Why::Variable),
            Some(place) => place,
            None => return because(Why::Archive),
        };
        let Some(passes) = Passes::new(from, to, budget.elements, options)? else {
            return because(Why::Cost);
        };
        let objects = count(&passes.grid);
        let all = bytes.saturating_mul(3).saturating_add(objects.saturating_mul(BYTES_PER_OBJECT));
        let once = u128::from(bytes).saturating_mul(direct.reads.into());
        if once <= u128::from(all).saturating_mul(chunks.into()) {
            return because(Why::Cost);
        }
        if let Some(free) = place.free_space()
            && free < bytes
            // An interrupted copy's intermediate is used, or its room is.
            && free.saturating_add(place.stored()?) < bytes
        {
            return because(Why::Room { needed: bytes, free });
        }
        Ok(Self {
            reads: reads(&passes.first),
            tasks: count(&passes.first).saturating_add(count(&passes.second)),
            memory: passes.memory,
            route: Route::Intermediate { bytes, chunks: objects },
            passes: Some(passes),
            ..direct
        })
    }

    /// The number of times that a unit of the source is decoded, on average, rounded.
    #[must_use]
    pub fn times(&self) -> u64 {
        let half = self.chunks / 2;
        self.reads.saturating_add(half).checked_div(self.chunks).unwrap_or(1)
    }
}

/// The units of the source that a read decodes as a whole; `None` if the codecs locate single
/// elements.
fn units(from: &Array) -> Result<Option<Grid>, TransferError> {
    if let Some(Codec::ShardingIndexed(shards)) = from.metadata().codecs().first() {
        let axes = from.shape().iter().zip(&shards.chunk_shape);
        let axes = axes.map(|(extent, edge)| Axis::regular(*extent, *edge));
        // An array has been opened with it: it is valid.
        return Ok(axes.collect::<Result<Vec<_>, _>>().ok().map(Grid::new));
    }
    let first: Vec<u64> = from.grid().axes().iter().map(|axis| axis.edge(0).unwrap_or(0)).collect();
    if first.contains(&0) {
        return Ok(Some(from.grid().clone()));
    }
    let codec = from.chunk_codec(&first).map_err(source)?;
    let one = vec![Slice { start: 0, count: 1, step: 1 }; first.len()];
    let is_whole = match codec.needs(&one, 0) {
        Ok(needs) => matches!(needs.need(), zarr_codec::Need::All),
        // A read tells it.
        Err(_) => true,
    };
    Ok(is_whole.then(|| from.grid().clone()))
}

pub(crate) fn count(grid: &Grid) -> u64 {
    grid.occupied_chunks().unwrap_or(u64::MAX)
}

/// Runs of edges in which the pieces of an axis are counted.
const MOST_RUNS: u64 = 1 << 20;

/// The number of parts that chunks of the one grid and of the other share.
fn overlaps(tasks: &Grid, units: &Grid) -> u64 {
    let axes = tasks.axes().iter().zip(units.axes());
    let parts = axes.map(|(tasks, units)| match tasks.common_refinement(units, MOST_RUNS) {
        Ok(parts) => parts.occupied(),
        // Each task cuts one at most.
        Err(_) => tasks.occupied().saturating_add(units.occupied()).saturating_sub(1),
    });
    parts.fold(1, u64::saturating_mul)
}
