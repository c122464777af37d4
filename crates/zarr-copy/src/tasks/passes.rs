//! The grids of two passes, and the array between them.

use std::sync::Arc;

use zarr_array::{Array, chunk_grid_of};
use zarr_grid::Grid;
use zarr_metadata::{ArrayMetadata, ChunkKeyEncoding, Codec};
use zarr_store::{Prefix, Store};

use crate::CopyOptions;
use crate::error::{TransferError, target};
use crate::tasks::budget::Budget;

/// Runs of edges that the document of an intermediate may have on each axis.
const MOST_RUNS: u64 = 1 << 16;

/// How often less memory is tried, each time three quarters.
const TRIALS: usize = 12;

/// The grids of two passes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Passes {
    /// Tasks of whole chunks of the source.
    pub(crate) first: Grid,
    /// Tasks of whole chunks of the target.
    pub(crate) second: Grid,
    /// The chunks of the intermediate: intersections of a task of either pass.
    pub(crate) grid: Grid,
    /// Bytes that either pass takes.
    pub(crate) memory: u64,
}

impl Passes {
    /// Tasks as large as the memory allows; the chunks that they share are buffered as well; `None`
    /// if there are none.
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
            let between = array_between(to, &grid, to.store().clone(), to.prefix())?;
            let budgets =
                (Budget::new(from, &between, options), Budget::new(&between, to, options));
            if let (Ok(one), Ok(two)) = budgets
                && first.largest_chunk() <= one.elements
                && second.largest_chunk() <= two.elements
            {
                let memory =
                    one.memory(first.largest_chunk()).max(two.memory(second.largest_chunk()));
                return Ok(Some(Self { first, second, grid, memory }));
            }
            elements = elements.saturating_sub(elements / 4);
        }
        Ok(None)
    }
}

/// The array between the passes, not yet written: with uncompressed elements, so that its size is
/// known.
pub(crate) fn array_between(
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
