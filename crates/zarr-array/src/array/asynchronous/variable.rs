//! Reads and writes strings and byte strings without blocking the thread.

use std::marker::PhantomData;
use std::sync::{Arc, Mutex};

use zarr_codec::{ByteStrings, Slots, Strings};
use zarr_grid::{ChunkPart, SelectedChunks};

use super::AsyncArray;
use super::free::Free;
use super::turns::{Turn, Turns};
use crate::array::Array;
use crate::array::variable::{VariableRead, Worker, finish_variable_read};
use crate::array::variable_write::Elements;
use crate::error::ArrayError;
use crate::selection::Selection;
use crate::threads::{ArrayFuture, interrupted};

impl AsyncArray {
    /// As [`read_strings`](Array::read_strings), without blocking the thread. The future borrows
    /// nothing, so it can be spawned, and it runs on any executor. Dropping it cancels the read;
    /// chunks that are being read are finished.
    ///
    /// # Errors
    /// As [`read_strings`](Array::read_strings): the first error.
    ///
    /// # Panics
    /// If decoding panics, on the thread that polls.
    pub fn read_strings(&self, selection: impl Into<Selection>) -> ArrayFuture<Strings> {
        let (array, selection) = (self.0.clone(), selection.into());
        Box::pin(async move {
            array.check_strings()?;
            let read = array.read_variable_async(selection).await?;
            array.strings(read)
        })
    }

    /// As [`read_byte_strings`](Array::read_byte_strings), without blocking the thread; see
    /// [`read_strings`](Self::read_strings).
    ///
    /// # Errors
    /// As [`read_byte_strings`](Array::read_byte_strings): the first error.
    ///
    /// # Panics
    /// If decoding panics, on the thread that polls.
    pub fn read_byte_strings(&self, selection: impl Into<Selection>) -> ArrayFuture<ByteStrings> {
        let (array, selection) = (self.0.clone(), selection.into());
        Box::pin(async move { array.read_variable_async(selection).await })
    }

    /// As [`write_strings`](Array::write_strings), without blocking the thread. `strings` can be
    /// anything that holds strings: a vector, an `Arc<[String]>`, a static slice. The future is
    /// spawned, limited and dropped as that of [`write`](Self::write).
    ///
    /// # Errors
    /// As [`write_strings`](Array::write_strings).
    ///
    /// # Panics
    /// If encoding panics, on the thread that polls.
    ///
    /// # Examples
    /// ```
    /// # use std::sync::Arc;
    /// # use zarr_array::Array;
    /// # use zarr_array::store::{MemoryStore, Prefix};
    /// # use zarr_metadata::{ArrayBuilder, DataType};
    /// # let metadata = ArrayBuilder::new([3], DataType::String).chunk_shape([2]).build()?;
    /// # let array = Array::create(Arc::new(MemoryStore::new()), &Prefix::root(), metadata)?;
    /// # let runtime = tokio::runtime::Builder::new_current_thread().build()?;
    /// # runtime.block_on(async {
    /// array.asynchronous().write_strings(1..3, vec!["Bern", "Basel"]).await?;
    /// assert!(array.asynchronous().read_strings(0..3).await?.iter().eq(["", "Bern", "Basel"]));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// # })?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn write_strings<S: AsRef<str> + 'static>(
        &self,
        selection: impl Into<Selection>,
        strings: impl AsRef<[S]> + Send + Sync + 'static,
    ) -> ArrayFuture<()> {
        let (array, selection) = (self.0.clone(), selection.into());
        Box::pin(async move {
            array.check_strings()?;
            array.write_variable_async(selection, Utf8(strings, PhantomData)).await
        })
    }

    /// As [`write_byte_strings`](Array::write_byte_strings), without blocking the thread; see
    /// [`write_strings`](Self::write_strings).
    ///
    /// # Errors
    /// As [`write_byte_strings`](Array::write_byte_strings).
    ///
    /// # Panics
    /// If encoding panics, on the thread that polls.
    pub fn write_byte_strings<B: AsRef<[u8]> + 'static>(
        &self,
        selection: impl Into<Selection>,
        byte_strings: impl AsRef<[B]> + Send + Sync + 'static,
    ) -> ArrayFuture<()> {
        let (array, selection) = (self.0.clone(), selection.into());
        Box::pin(async move {
            array.write_variable_async(selection, Bytes(byte_strings, PhantomData)).await
        })
    }
}

impl Array {
    async fn write_variable_async(
        &self,
        selection: Selection,
        elements: impl Elements + Send + 'static,
    ) -> Result<(), ArrayError> {
        let (parts, bytes) = {
            let (chunks, bytes) = self.begin_variable_write(&selection, &elements)?;
            (chunks.len(), bytes)
        };
        let (array, selected) = (self.clone(), selection.clone());
        let workers: Free<Worker> = Free::default();
        let turns = Turns::new(self, parts, bytes, move |turn| {
            let chunks = array.layout().select(&selected)?;
            each_part(turn, &chunks, &workers, |part, worker| {
                array.write_variable_part(part, chunks.shape(), &elements, worker)
            })
        });
        let Err((cause, log)) = turns.run_to_end().await else { return Ok(()) };
        Err(log.incomplete_selection(self, &selection, parts, cause))
    }

    async fn read_variable_async(&self, selection: Selection) -> Result<ByteStrings, ArrayError> {
        let VariableRead { chunks, slots, bytes } = self.begin_variable_read(&selection)?;
        let slots: Arc<Mutex<Slots>> = Arc::new(slots);
        let (array, read) = (self.clone(), Arc::clone(&slots));
        let (parts, shape) = (chunks.len(), chunks.shape().to_vec());
        drop(chunks);
        let workers: Free<Worker> = Free::default();
        let turns = Turns::new(self, parts, bytes, move |turn| {
            let chunks = array.layout().select(&selection)?;
            each_part(turn, &chunks, &workers, |part, worker| {
                array.read_variable_part(part, chunks.shape(), &read, worker).map(drop)
            })
        });
        turns.run().await?;
        // Each thread has dropped its share.
        let slots = Arc::into_inner(slots);
        let slots = slots.ok_or_else(|| interrupted("a chunk is still being decoded"))?;
        finish_variable_read(slots, &shape)
    }
}

/// Works on the parts that a turn gets.
fn each_part(
    turn: &mut Turn<'_>,
    chunks: &SelectedChunks<'_>,
    workers: &Free<Worker>,
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

/// Strings that a write owns, as UTF-8.
struct Utf8<E, S>(E, PhantomData<fn() -> S>);

impl<E: AsRef<[S]> + Sync, S: AsRef<str>> Elements for Utf8<E, S> {
    fn count(&self) -> usize {
        self.0.as_ref().len()
    }

    fn get(&self, number: usize) -> Option<&[u8]> {
        self.0.as_ref().get(number).map(|string| string.as_ref().as_bytes())
    }
}

/// Byte strings that a write owns.
struct Bytes<E, B>(E, PhantomData<fn() -> B>);

impl<E: AsRef<[B]> + Sync, B: AsRef<[u8]>> Elements for Bytes<E, B> {
    fn count(&self) -> usize {
        self.0.as_ref().len()
    }

    fn get(&self, number: usize) -> Option<&[u8]> {
        self.0.as_ref().get(number).map(AsRef::as_ref)
    }
}
