//! Reads strings and byte strings without blocking the thread.

use std::sync::{Arc, Mutex};

use zarr_codec::{ByteStrings, Slots, Strings};

use super::free::Free;
use super::turns::Turns;
use crate::array::Array;
use crate::array::variable::{VariableRead, Worker, finish_variable_read};
use crate::error::ArrayError;
use crate::selection::Selection;
use crate::threads::{ArrayFuture, interrupted};

impl Array {
    /// As [`read_strings`](Array::read_strings), without blocking the thread. The future borrows
    /// nothing, so it can be spawned, and it runs on any executor. Dropping it cancels the read;
    /// chunks that are being read are finished.
    ///
    /// # Errors
    /// As [`read_strings`](Array::read_strings): the first error.
    ///
    /// # Panics
    /// If decoding panics, on the thread that polls.
    pub fn read_strings_async(&self, selection: impl Into<Selection>) -> ArrayFuture<Strings> {
        let (array, selection) = (self.clone(), selection.into());
        Box::pin(async move {
            array.check_strings()?;
            let read = array.read_variable_async(selection).await?;
            array.strings(read)
        })
    }

    /// As [`read_byte_strings`](Array::read_byte_strings), without blocking the thread; see
    /// [`read_strings_async`](Array::read_strings_async).
    ///
    /// # Errors
    /// As [`read_byte_strings`](Array::read_byte_strings): the first error.
    ///
    /// # Panics
    /// If decoding panics, on the thread that polls.
    pub fn read_byte_strings_async(
        &self,
        selection: impl Into<Selection>,
    ) -> ArrayFuture<ByteStrings> {
        let (array, selection) = (self.clone(), selection.into());
        Box::pin(async move { array.read_variable_async(selection).await })
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
            let mut worker = workers.take();
            turn.begin();
            while let Some(range) = turn.next() {
                let mut parts = chunks.parts().range(range);
                while let Some(part) = parts.next_part() {
                    if !turn.goes_on() {
                        break;
                    }
                    array.read_variable_part(part, chunks.shape(), &read, &mut worker)?;
                    turn.one_more();
                }
            }
            workers.give(worker);
            Ok(())
        });
        turns.run().await?;
        // Each thread has dropped its share.
        let slots = Arc::into_inner(slots);
        let slots = slots.ok_or_else(|| interrupted("a chunk is still being decoded"))?;
        finish_variable_read(slots, &shape)
    }
}
