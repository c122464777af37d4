//! Writing selections.

pub(crate) mod log;
mod loss;
pub(crate) mod shard;

use std::borrow::Cow;
use std::io::IoSlice;
use std::mem;

use zarr_codec::{ChunkCodec, Encoded, Order, margins, sliced};
use zarr_view::{CopyError, Output, View};

use crate::array::Array;
use crate::array::elements::strided::{Boxes, Content, Input};
use crate::array::worker::{ChunkBuffers, Worker};
use crate::array::write::log::Log;
use crate::array::write::shard::{Damaged, moves_by_inner_chunk};
use crate::counts::{number, wide};
use crate::error::{ArrayError, chunk_error, is_out_of_memory};
use crate::parallel;
use crate::selection::AnySelection;
use crate::selection::Selection;
use crate::selection::index_moves::IndexMoves;
use crate::store::{Change, Current, Key, UpdatePolicy, remove, replace_vectored};
use crate::transfer::{ChunkRegion, Selected, Transfer};

impl Array {
    /// Writes elements from their bytes, in C order of a [`Selection`] or in the order of
    /// [`Points`](crate::Points). [`Input`] lists the containers. If a list repeats an index, or points
    /// repeat an element, the last value stays.
    ///
    /// Chunks that the selection covers entirely, by ranges, are encoded without reading them. In
    /// all other chunks the rest is kept: they are read, changed and written under the best
    /// exclusion that the store has. The same applies to chunks that the array's end cuts, even if
    /// the selection covers their whole part within the array: others may append there at the same
    /// time, or have appended since this array was opened. (If such a chunk cannot be decoded, it
    /// is encoded without its old content.)
    ///
    /// Of a shard, only the inner chunks that the selection touches are decoded and encoded; the others
    /// move as they are stored, also damaged ones. Excepted are shards that other codecs follow.
    ///
    /// The document is not read again. If another writer has shrunk the array since it was opened,
    /// elements written past its new end are stored. They show again when the array grows (SD-08).
    ///
    /// A chunk that then holds only the fill value, bit by bit, is removed, since it reads the
    /// same. [`with_empty_chunks_stored`](Array::with_empty_chunks_stored) changes this. Such inner
    /// chunks of a shard are not stored.
    ///
    /// # Errors
    /// [`ArrayError`] names the axis, or the chunk that could not be written; each chunk is then
    /// old or new. If there are several chunks, and no session that stores all or none,
    /// [`ArrayError::Incomplete`] lists the written chunks. [`ArrayError::Loss`] names the first
    /// element that would not read back unchanged, unless loss is
    /// [allowed](zarr_codec::Options::allow_loss). [`ArrayError::FillValue`] is the same for the
    /// fill value, if a chunk would be stored with elements that were never written.
    pub fn write<'e>(
        &self,
        selection: impl Into<AnySelection>,
        elements: impl Into<Input<'e>>,
    ) -> Result<(), ArrayError> {
        self.write_input(&selection.into(), elements.into())
    }

    pub(in crate::array) fn write_selection(
        &self,
        selection: &Selection,
        elements: &[u8],
    ) -> Result<(), ArrayError> {
        let transfer = Transfer::new(Selected::new(self, selection)?, elements.len())?;
        let content = Content::Bytes(elements);
        self.write_transfer(selection, &transfer, content, || Some(Cow::Borrowed(elements)))
    }

    /// Writes the elements at the positions of the transfer, or the elements of boxes. `in_order`
    /// gives the same elements in C order, to describe a loss.
    pub(in crate::array) fn write_transfer<'e>(
        &self,
        selection: &Selection,
        transfer: &Transfer<'_>,
        content: Content<'_>,
        in_order: impl FnOnce() -> Option<Cow<'e, [u8]>>,
    ) -> Result<(), ArrayError> {
        self.check_codecs_write()?;
        let threads = self.threads_for(transfer.selected.length);
        let log = Log::default();
        parallel::for_each(
            transfer.parts(),
            threads,
            || Worker::of_parts(self, threads, transfer.parts()),
            |worker, range| {
                let mut done = log.start(range.start);
                transfer.for_each_part(range, |part| {
                    self.check_wanted()?;
                    match content {
                        Content::Bytes(elements) | Content::View(_, elements) => {
                            self.write_selected_part(transfer, part, elements, worker)?;
                        }
                        Content::Boxes(boxes) => {
                            self.write_asked(selection, transfer, part, boxes, worker)?;
                        }
                    }
                    done.one_more();
                    Ok(())
                })
            },
        )
        .map_err(|cause| self.write_error(selection, transfer, in_order, cause, log))
    }

    /// Refuses codecs that cannot write, and arrays of Zarr version 2.
    pub(in crate::array) fn check_codecs_write(&self) -> Result<(), ArrayError> {
        self.refuse_version_2()?;
        let key = self.prefix().key(crate::hierarchy::node::METADATA_KEY)?;
        let chain = |cause| ArrayError::Chain { key: key.to_string(), cause };
        self.shared.compiled.chain.check_writable().map_err(chain)
    }

    /// Writes the part of a selection that is in one chunk.
    pub(in crate::array) fn write_selected_part(
        &self,
        transfer: &Transfer<'_>,
        part: &ChunkRegion<'_>,
        elements: &[u8],
        worker: &mut Worker<'_>,
    ) -> Result<(), ArrayError> {
        let Worker { keys, codecs, buffers } = worker;
        let codec = codecs.of(part.chunk_shape)?;
        if let Some(pairs) = transfer.scattered(part) {
            let key = keys.of(part.chunk)?;
            let (shape, size) = (&transfer.selected.shape, self.element_size());
            if let Some(changes) = self.inner_changes(key, codec)? {
                let moves = moves_by_inner_chunk(&changes, &pairs, shape, size);
                return self.write_moves_to_shard(key, &changes, &moves, elements, buffers);
            }
            let moves = IndexMoves::new(&pairs, shape, codec.shape(), size);
            // In C order, for which the moves are computed.
            return self.change_chunk(key, codec, Order::C, buffers, |_, decoded| {
                moves.run(elements, decoded);
                Ok(())
            });
        }
        let view = transfer.view().shrink(part.place).map_err(CopyError::from)?;
        self.write_box(part, elements, &view, worker)
    }

    /// As [`write_selected_part`](Self::write_selected_part), with elements for which `boxes` is asked.
    fn write_asked(
        &self,
        selection: &Selection,
        transfer: &Transfer<'_>,
        part: &ChunkRegion<'_>,
        boxes: &dyn Boxes,
        worker: &mut Worker<'_>,
    ) -> Result<(), ArrayError> {
        let (ranges, view) = transfer.asked(selection, part)?;
        let mut memory = mem::take(&mut worker.buffers.gathered);
        let elements = memory.room(view.len().saturating_mul(self.element_size()))?;
        boxes.copy(&ranges, elements);
        let done = self.write_box(part, elements, &view, worker);
        worker.buffers.gathered = memory;
        done
    }

    /// Writes a box of a chunk from elements at the positions of a view.
    fn write_box(
        &self,
        part: &ChunkRegion<'_>,
        elements: &[u8],
        view: &View,
        worker: &mut Worker<'_>,
    ) -> Result<(), ArrayError> {
        let Worker { keys, codecs, buffers } = worker;
        let (key, codec) = (keys.of(part.chunk)?, codecs.of(part.chunk_shape)?);
        if part.fills_chunk() {
            self.write_whole(key, codec, elements, view, buffers)
        } else if let Some(changes) = self.inner_changes(key, codec)? {
            let how = match part.is_whole {
                // As in `write_to_end`.
                true => (UpdatePolicy::AcceptSingleProcess, Damaged::Replace),
                false => (self.policy, Damaged::Refuse),
            };
            self.write_box_of_shard(key, &changes, how, part.in_chunk, (elements, view), buffers)
        } else if part.is_whole {
            self.write_to_end(key, codec, part, elements, view, buffers)
        } else {
            self.write_part(key, codec, part, elements, view, buffers)
        }
    }

    /// The error of a write that failed with `cause`: describes a loss among the elements in C
    /// order, and the chunks that were written.
    pub(in crate::array) fn write_error<'e>(
        &self,
        selection: &Selection,
        transfer: &Transfer<'_>,
        in_order: impl FnOnce() -> Option<Cow<'e, [u8]>>,
        cause: ArrayError,
        log: Log,
    ) -> ArrayError {
        let index = |element| {
            let places = number(wide(element), transfer.selected.shape.iter().copied());
            let axes = selection.axes().iter().zip(places);
            axes.map(|(axis, at)| axis.get(wide(at)).unwrap_or_default()).collect()
        };
        let cause = self.explain_loss(cause, in_order, index);
        log.incomplete_selection(self, selection, transfer.parts(), cause)
    }

    /// Encodes a chunk from the caller's elements and writes it, replacing any old content.
    fn write_whole(
        &self,
        key: &Key,
        codec: &ChunkCodec,
        elements: &[u8],
        view: &View,
        buffers: &mut ChunkBuffers,
    ) -> Result<(), ArrayError> {
        let ChunkBuffers { encoded, scratch, .. } = buffers;
        let rows = match self.store().capabilities().vectored_put {
            true => codec.encoded_rows(elements, view, self.fill()),
            false => None,
        };
        let whole;
        let (content, pieces) = match &rows {
            Some((content, rows)) => (*content, rows.as_slice()),
            None => {
                let content = codec
                    .encode(elements, view, self.fill(), encoded, scratch)
                    .map_err(|cause| chunk_error(key, cause))?;
                whole = [IoSlice::new(encoded)];
                (content, whole.as_slice())
            }
        };
        match self.counted_as(content) {
            Encoded::Chunk => replace_vectored(&**self.store(), key, pieces)?,
            Encoded::Empty => remove(&**self.store(), key)?,
        }
        Ok(())
    }

    /// How to treat an encoded chunk: one of only the fill value like any other, if all are to be
    /// stored.
    pub(in crate::array) fn counted_as(&self, content: Encoded) -> Encoded {
        if self.empty_chunks_stored { Encoded::Chunk } else { content }
    }

    /// Writes all of a chunk within the array, and keeps the stored elements past its end.
    fn write_to_end(
        &self,
        key: &Key,
        codec: &ChunkCodec,
        part: &ChunkRegion<'_>,
        elements: &[u8],
        view: &View,
        buffers: &mut ChunkBuffers,
    ) -> Result<(), ArrayError> {
        let failed = |cause| chunk_error(key, cause);
        let padded = view.pad(&margins(part.in_chunk, codec.shape())).map_err(CopyError::from)?;
        let ChunkBuffers { encoded, scratch, .. } = buffers;
        // If no lock excludes other processes, appending is not safe either; the stored elements
        // are still kept.
        let policy = UpdatePolicy::AcceptSingleProcess;
        self.update_chunk(key, codec.ordinary_encoded(), policy, encoded, |current, encoded| {
            let decoded = match current.exists {
                true => {
                    codec.decode_elements(encoded, Order::Stored, self.fill(), scratch).map(Some)
                }
                false => Ok(None),
            };
            let content = match decoded {
                Ok(Some(mut decoded)) => {
                    let (whole, bytes) = decoded.parts_mut();
                    let target = sliced(whole, part.in_chunk)?;
                    self.copy_elements(view, elements, &target, bytes)?;
                    codec.encode_elements(decoded, self.fill(), encoded, scratch)
                }
                Err(error) if is_out_of_memory(&error) => Err(error),
                // Nothing of a damaged chunk can be kept, but the caller provides all elements
                // within the array.
                Ok(None) | Err(_) => codec.encode(elements, &padded, self.fill(), encoded, scratch),
            };
            Ok(change_to(self.counted_as(content.map_err(failed)?), current))
        })
    }

    /// Reads a chunk, changes a part of it and writes it back.
    fn write_part(
        &self,
        key: &Key,
        codec: &ChunkCodec,
        part: &ChunkRegion<'_>,
        elements: &[u8],
        view: &View,
        buffers: &mut ChunkBuffers,
    ) -> Result<(), ArrayError> {
        self.change_chunk(key, codec, Order::Stored, buffers, |whole, decoded| {
            let target = sliced(whole, part.in_chunk)?;
            self.copy_elements(view, elements, &target, decoded)
        })
    }

    /// Replaces everything in a chunk, except a box at its start, by the fill value, in one step.
    pub(crate) fn keep_start(
        &self,
        key: &Key,
        chunk_shape: &[u64],
        lengths: &[usize],
    ) -> Result<(), ArrayError> {
        if self.data_type().is_variable_length() {
            return self.keep_start_variable(key, chunk_shape, lengths);
        }
        let codec = self.fixed_codec(chunk_shape)?;
        let mut buffers = ChunkBuffers::default();
        let explained = |cause| self.explain_loss(cause, || Some(Cow::default()), |_| Vec::new());
        if let Some(changes) = self.inner_changes(key, &codec)? {
            return self
                .keep_start_of_shard(key, &changes, lengths, &mut buffers)
                .map_err(explained);
        }
        self.change_chunk(key, &codec, Order::Stored, &mut buffers, |whole, decoded| {
            for (axis, (length, size)) in lengths.iter().zip(codec.shape()).enumerate() {
                let mut past: Vec<_> = codec.shape().iter().map(|size| 0..*size).collect();
                if let Some(range) = past.get_mut(axis).filter(|_| length < size) {
                    *range = *length..*size;
                    let past = whole.shrink(&past)?;
                    Output::new(decoded, &past, self.element_size())?.fill(self.fill())?;
                }
            }
            Ok(())
        })
        // Only fill values are written.
        .map_err(explained)
    }

    /// Reads a chunk, lets `change` modify its elements through a view, and writes it back, under
    /// the best exclusion that the store has.
    pub(in crate::array) fn change_chunk(
        &self,
        key: &Key,
        codec: &ChunkCodec,
        order: Order,
        buffers: &mut ChunkBuffers,
        mut change: impl FnMut(&View, &mut [u8]) -> Result<(), CopyError>,
    ) -> Result<(), ArrayError> {
        let ChunkBuffers { encoded, scratch, .. } = buffers;
        let failed = |cause| chunk_error(key, cause);
        self.update_chunk(
            key,
            codec.ordinary_encoded(),
            self.policy,
            encoded,
            |current, encoded| {
                let decoded = match current.exists {
                    true => codec.decode_elements(encoded, order, self.fill(), scratch),
                    false => {
                        crate::store::reached!("write: a part of a chunk that is not stored");
                        codec.filled_elements(order, self.fill(), scratch)
                    }
                };
                let mut decoded = decoded.map_err(failed)?;
                let (view, bytes) = decoded.parts_mut();
                change(view, bytes)?;
                let content = codec
                    .encode_elements(decoded, self.fill(), encoded, scratch)
                    .map_err(failed)?;
                Ok(change_to(self.counted_as(content), current))
            },
        )
    }
}

/// The next step for an encoded chunk.
pub(in crate::array) fn change_to(content: Encoded, current: Current) -> Change {
    match content {
        Encoded::Chunk => Change::Put,
        Encoded::Empty if !current.exists => Change::Keep,
        Encoded::Empty if current.can_delete => {
            crate::store::reached!("write: an empty chunk is removed");
            Change::Delete
        }
        // Stored although empty: it reads the same as a missing one.
        Encoded::Empty => {
            crate::store::reached!("write: an empty chunk is put");
            Change::Put
        }
    }
}
