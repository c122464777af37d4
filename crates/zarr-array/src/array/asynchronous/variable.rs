//! Reads and writes strings and byte strings without blocking the thread.

use std::marker::PhantomData;
use std::sync::Arc;

use zarr_codec::ByteStrings;
use zarr_grid::{ChunkPart, SelectedChunks};

use super::buffer_pool::BufferPool;
use super::turns::{Turn, Turns};
use crate::array::Array;
use crate::array::variable::write::{Elements, Variable};
use crate::array::variable::{Collected, VariableRead, Worker};
use crate::error::ArrayError;
use crate::selection::Selection;
use crate::threads::interrupted;

impl Array {
    pub(in crate::array) async fn write_variable_as_async<T: Variable + 'static>(
        &self,
        selection: Selection,
        elements: impl AsRef<[T]> + Send + Sync + 'static,
    ) -> Result<(), ArrayError> {
        T::check(self)?;
        self.write_variable_async(selection, Held(elements, PhantomData)).await
    }

    pub(in crate::array) async fn write_variable_async(
        &self,
        selection: Selection,
        elements: impl Elements + Send + 'static,
    ) -> Result<(), ArrayError> {
        let (parts, bytes) = {
            let (chunks, bytes) = self.begin_variable_write(&selection, &elements)?;
            (chunks.len(), bytes)
        };
        let (array, selected) = (self.clone(), selection.clone());
        let workers: BufferPool<Worker> = BufferPool::default();
        let turns = Turns::new(self, parts, bytes, move |turn| {
            let chunks = array.layout().select(&selected)?;
            each_part(turn, &chunks, &workers, |part, worker| {
                array.write_variable_part(part, chunks.shape(), &elements, worker)
            })
        });
        let Err((cause, log)) = turns.run_to_end().await else { return Ok(()) };
        Err(log.incomplete_selection(self, &selection, parts, cause))
    }

    pub(in crate::array) async fn read_variable_async(
        &self,
        selection: Selection,
    ) -> Result<ByteStrings, ArrayError> {
        let VariableRead { chunks, collected, bytes } = self.begin_variable_read(&selection)?;
        let collected = Arc::new(collected);
        let (array, read) = (self.clone(), Arc::clone(&collected));
        let (parts, shape) = (chunks.len(), chunks.shape().to_vec());
        drop(chunks);
        let workers: BufferPool<Worker> = BufferPool::default();
        let turns = Turns::new(self, parts, bytes, move |turn| {
            let chunks = array.layout().select(&selection)?;
            each_part(turn, &chunks, &workers, |part, worker| {
                array.read_variable_part(part, chunks.shape(), &read, worker).map(drop)
            })
        });
        turns.run().await?;
        // Each thread has dropped its share.
        let collected = Arc::into_inner(collected);
        let collected = collected.ok_or_else(|| interrupted("a chunk is still being decoded"))?;
        Collected::finish(collected, &shape, self.fill())
    }
}

/// Processes the parts of a turn.
fn each_part(
    turn: &mut Turn<'_>,
    chunks: &SelectedChunks<'_>,
    workers: &BufferPool<Worker>,
    mut work: impl FnMut(&ChunkPart<'_>, &mut Worker) -> Result<(), ArrayError>,
) -> Result<(), ArrayError> {
    let mut worker = workers.take();
    turn.begin();
    while let Some(range) = turn.next() {
        let mut parts = chunks.parts().range(range);
        while let Some(part) = parts.next_part() {
            if !turn.goes_on() {
                break;
            }
            work(part, &mut worker)?;
            turn.one_more();
        }
    }
    workers.give(worker);
    Ok(())
}

/// Elements that a write owns.
struct Held<E, T>(E, PhantomData<fn() -> T>);

impl<E: AsRef<[T]> + Sync, T: Variable> Elements for Held<E, T> {
    fn count(&self) -> usize {
        self.0.as_ref().len()
    }

    fn get(&self, number: usize) -> Option<&[u8]> {
        self.0.as_ref().get(number).map(T::bytes)
    }
}

impl Elements for ByteStrings {
    fn count(&self) -> usize {
        self.len()
    }

    fn get(&self, number: usize) -> Option<&[u8]> {
        Self::get(self, number)
    }
}
