//! A rearrangement in a store that gives stored chunks other numbers by itself.

use std::ops::Range;
use std::slice;
use std::sync::Arc;

use zarr_array::store::{Store, StoreError, StoreExt as _};
use zarr_array::{Array, ArrayError, Extent, LockedDocument, node};
use zarr_metadata::{ArrayMetadata, ChunkGrid};

use super::Rearrangement;
use super::moves::ChunkMove;
use super::steps::{
    CopyCounter, Report, checked, refresh_groups, refuse_unfinished, with_attributes,
};

impl Rearrangement {
    /// The document with room for the old and the new chunks; `None` unless chunks only get other numbers
    /// in a regular grid.
    fn with_room(&self) -> Option<ArrayMetadata> {
        if self.refill.is_some() || self.is_in_place() {
            return None;
        }
        let (before, after) = (self.array.metadata(), self.rearranged.metadata());
        let ChunkGrid::Regular { chunk_shape } = before.chunk_grid() else { return None };
        let chunks = self.chunks(&self.array).checked_add(self.chunks(&self.rearranged))?;
        let mut shape = before.shape().to_vec();
        *shape.get_mut(self.axis)? = chunks.checked_mul(*chunk_shape.get(self.axis)?)?;
        (before.chunk_grid() == after.chunk_grid()).then(|| before.with_shape(&shape).ok())?
    }

    /// The number of chunks on the axis.
    fn chunks(&self, array: &Array) -> u64 {
        array.grid().occupied().get(self.axis).copied().unwrap_or(0)
    }

    /// As [`execute`](Self::execute), in a transaction whose store gives stored chunks other numbers
    /// without a copy. It has no markers: nobody sees the steps, and what is left by a process that ends
    /// is never committed.
    ///
    /// `renumber` gets ranges of chunks on the axis, each with the number of its first chunk afterwards.
    /// It removes all others. It is not called where the grid is not regular, a shard is cut or filled, or no
    /// chunk gets another number: there the steps are those of [`execute`](Self::execute).
    ///
    /// `steady` is the array's store without anything that ends an operation midway, as a layer does
    /// that looks for signals. Documents are put in it, and what has failed is undone.
    ///
    /// # Steps
    /// 1. The document is locked and compared with the array's, and the stored chunks are listed again.
    /// 2. A document with room for the old and the new chunks is put.
    /// 3. Inserted chunks are put past all others. If that fails, the array is the old one again.
    /// 4. All chunks get their numbers, and the new document is put. If that fails, they get the old
    ///    numbers, and the array is the old one again, but without the chunks that are not in the new one.
    /// 5. Consolidated metadata of the groups above follows.
    ///
    /// # Errors
    /// As for [`execute`](Self::execute), and those of `renumber`.
    pub fn execute_renumbering(
        &self,
        steady: &Arc<dyn Store>,
        renumber: impl Fn(&[(Range<u64>, u64)]) -> Result<(), StoreError>,
        progress: Report<'_>,
    ) -> Result<Array, ArrayError> {
        let Some(room) = self.with_room() else { return self.execute(progress) };
        let array = checked(&self.array);
        refresh_groups(slice::from_ref(&array))?;
        let document = LockedDocument::lock(&array, Extent::Chunks)?;
        refuse_unfinished(&self.array)?;
        node::refuse_unfinished_above(array.store(), [array.prefix()])?;
        let moves = self.moves_alone()?;
        let counter = CopyCounter::new(moves.counts(true).copies, progress);
        let past_all = self.chunks(&self.array);
        let roomy = array.with_document(room)?;
        let after = with_attributes(&document, self.rearranged.metadata())?;
        // The lock puts a document once, and compares it with what was there.
        let put = |text: &str| Ok(steady.put(document.key(), text.as_bytes())?);
        let aside = moves.inserted().iter().map(|moved| {
            let mut to = moved.to.clone();
            to.iter_mut().skip(self.axis).take(1).for_each(|number| *number += past_all);
            ChunkMove { inserted: moved.inserted, from: moved.from.clone(), to }
        });
        let aside: Vec<_> = aside.collect();
        let ranges = self.placed.iter().map(|placed| {
            let chunks = placed.chunks.clone();
            let start = if placed.is_own() { chunks.start } else { past_all + placed.at };
            (start..start + (chunks.end - chunks.start), placed.at)
        });
        let ranges: Vec<_> = ranges.collect();
        let placed = || {
            put(roomy.metadata().json())?;
            let copied = self.copy(&array, &aside, roomy.layout(), &counter)?;
            self.check(&aside, &copied)?;
            renumber(&ranges)?;
            put(after.json()).inspect_err(|_| {
                let back = ranges
                    .iter()
                    .map(|(from, at)| (*at..*at + (from.end - from.start), from.start));
                let _stay = put(roomy.metadata().json());
                let _stay = renumber(&back.collect::<Vec<_>>());
            })
        };
        if let Err(error) = placed() {
            for moved in &aside {
                let _stays = roomy.layout().key(&moved.to).map(|key| steady.delete(&key));
            }
            // Even if a chunk stays: without its document the array has another length.
            let _stays: Result<(), ArrayError> = put(document.current().json());
            return Err(error);
        }
        drop(document);
        let array = self.rearranged.clone().with_store(array.store().clone());
        refresh_groups(slice::from_ref(&array))?;
        Ok(self.rearranged.clone())
    }
}
