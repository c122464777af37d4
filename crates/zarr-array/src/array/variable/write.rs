//! Writing arrays of strings and of byte strings.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use zarr_codec::{ChunkError, Encoded, Scratch, VariableChunkCodec};
use zarr_grid::{ChunkPart, SelectedChunks};

use crate::array::Array;
use crate::array::elements::{WriteAs, sealed};
use crate::array::variable::{Moves, Worker};
use crate::array::write::change_to;
use crate::array::write::log::Log;
use crate::array::write::shard::Damaged;
use crate::counts::{number, wide};
use crate::error::{ArrayError, check_count, chunk_error, is_out_of_memory};
use crate::parallel;
use crate::selection::AnySelection;
use crate::selection::Selection;
use crate::store::{Key, UpdatePolicy, remove, replace};
#[cfg(feature = "async")]
use crate::threads::ArrayFuture;

/// An element of variable length that is written.
pub(in crate::array) trait Variable {
    /// Refuses arrays of data types that do not match.
    fn check(array: &Array) -> Result<(), ArrayError>;

    fn bytes(&self) -> &[u8];
}

macro_rules! variable {
    ($as:ty, $bytes:expr, $check:expr; $($type:ty $(where const $length:ident)?),*) => {$(
        impl$(<const $length: usize>)? Variable for $type {
            fn check(array: &Array) -> Result<(), ArrayError> {
                $check(array)
            }

            fn bytes(&self) -> &[u8] {
                $bytes(AsRef::<$as>::as_ref(self))
            }
        }

        impl$(<const $length: usize>)? WriteAs for $type {}

        impl$(<const $length: usize>)? sealed::Write for $type {
            fn check(array: &Array) -> Result<(), ArrayError> {
                <Self as Variable>::check(array)
            }

            fn write(
                array: &Array,
                selection: &AnySelection,
                elements: &[Self],
            ) -> Result<(), ArrayError> {
                array.write_variable_as(selection, elements)
            }

            #[cfg(feature = "async")]
            fn write_async(
                array: Array,
                selection: Selection,
                elements: impl AsRef<[Self]> + Send + Sync + 'static,
            ) -> ArrayFuture<()>
            where
                Self: 'static,
            {
                Box::pin(async move { array.write_variable_as_async(selection, elements).await })
            }
        }
    )*};
}

variable! {
    str, str::as_bytes, Array::check_strings;
    String, &str, Cow<'_, str>, Box<str>, Arc<str>
}

variable! {
    [u8], std::convert::identity, Array::check_variable;
    Vec<u8>, &[u8], &[u8; N] where const N, Cow<'_, [u8]>, Box<[u8]>, Arc<[u8]>
}

impl Array {
    fn write_variable_as<T: Variable>(
        &self,
        selection: &AnySelection,
        elements: &[T],
    ) -> Result<(), ArrayError> {
        T::check(self)?;
        let elements: Vec<&[u8]> = elements.iter().map(T::bytes).collect();
        self.write_variable(selection, &elements)
    }

    pub(in crate::array) fn write_variable(
        &self,
        selection: &AnySelection,
        elements: &[&[u8]],
    ) -> Result<(), ArrayError> {
        match selection {
            AnySelection::Points(points) => self.write_variable_points(points, elements),
            AnySelection::Product(selection) => self.write_variable_product(selection, elements),
        }
    }

    fn write_variable_product(
        &self,
        selection: &Selection,
        elements: &(impl Elements + ?Sized),
    ) -> Result<(), ArrayError> {
        let (chunks, bytes) = self.begin_variable_write(selection, elements)?;
        let log = Log::default();
        let threads = self.threads_for(bytes);
        parallel::for_each(chunks.len(), threads, Worker::default, |worker, range| {
            let mut done = log.start(range.start);
            let mut parts = chunks.parts().range(range);
            while let Some(part) = parts.next_part() {
                self.check_wanted()?;
                self.write_variable_part(part, chunks.shape(), elements, worker)?;
                done.one_more();
            }
            Ok::<(), ArrayError>(())
        })
        .map_err(|cause| log.incomplete_selection(self, selection, chunks.len(), cause))
    }

    /// Checks a write; returns the chunks of the selection, and the approximate size in bytes of
    /// the elements.
    pub(in crate::array) fn begin_variable_write(
        &self,
        selection: &Selection,
        elements: &(impl Elements + ?Sized),
    ) -> Result<(SelectedChunks<'_>, usize), ArrayError> {
        self.check_variable()?;
        self.check_codecs_write()?;
        let chunks = self.layout().select(selection)?;
        check_count(elements.count(), chunks.shape())?;
        let bytes = (0..elements.count()).fold(elements.count(), |sum, number| {
            sum.saturating_add(elements.get(number).map_or(0, <[u8]>::len))
        });
        Ok((chunks, bytes))
    }

    /// Writes the part of a selection of this shape that is in one chunk.
    pub(in crate::array) fn write_variable_part(
        &self,
        part: &ChunkPart<'_>,
        shape: &[u64],
        elements: &(impl Elements + ?Sized),
        worker: &mut Worker,
    ) -> Result<(), ArrayError> {
        let Worker { codec: kept, encoded, scratch } = worker;
        let key = &self.layout().key(part.chunk())?;
        let codec = self.codec_of(part.chunk_shape(), kept)?;
        let failed = |cause| chunk_error(key, cause);
        let moves = Moves::new(part, shape);
        let moved = moves.in_chunk.iter().zip(&moves.in_selection);
        let new: Vec<(usize, &[u8])> = moved
            .map(|(to, from)| (*to, elements.get(*from).expect("an element of each index")))
            .collect();
        let mut axes = part.axes().iter().zip(part.chunk_shape());
        if part.is_whole() && axes.all(|(axis, edge)| axis.len() == *edge) {
            let mut list = all(codec, &[]).map_err(failed)?;
            put(&mut list, &new);
            let content = codec.encode(&list, self.fill(), encoded).map_err(failed)?;
            match self.counted_as(content) {
                Encoded::Chunk => replace(&**self.store(), key, encoded)?,
                Encoded::Empty => remove(&**self.store(), key)?,
            }
            return Ok(());
        }
        // Nothing of a damaged chunk can be kept, but the caller provides all elements within the
        // array.
        let (policy, or_fill) = match part.is_whole() {
            true => (UpdatePolicy::AcceptSingleProcess, true),
            false => (self.policy, false),
        };
        self.change_variable_chunk(key, codec, policy, or_fill, (encoded, scratch), &new)
    }

    /// Reads a chunk, replaces the elements with these numbers, and writes it back.
    ///
    /// A chunk that cannot be decoded is an error, unless it is to be treated as one of fill
    /// values (`or_fill`).
    pub(in crate::array) fn change_variable_chunk(
        &self,
        key: &Key,
        codec: &VariableChunkCodec,
        policy: UpdatePolicy,
        or_fill: bool,
        (encoded, scratch): (&mut Vec<u8>, &mut Scratch),
        new: &[(usize, &[u8])],
    ) -> Result<(), ArrayError> {
        let failed = |cause| chunk_error(key, cause);
        if let Some(changes) = codec.inner_changes() {
            self.store().refuse_inflated(key, codec.ordinary_encoded())?;
            let mut by_chunk: BTreeMap<usize, Vec<(usize, &[u8])>> = BTreeMap::new();
            for (element, bytes) in new {
                let (number, within) = changes.place(*element);
                by_chunk.entry(number).or_default().push((within, bytes));
            }
            let is_whole = |new: &[(usize, &[u8])]| {
                let places: BTreeSet<usize> = new.iter().map(|(within, _)| *within).collect();
                places.len() == changes.elements()
            };
            let touched = by_chunk.iter().map(|(number, new)| (*number, is_whole(new))).collect();
            let damaged = if or_fill { Damaged::Replace } else { Damaged::Refuse };
            let how = (policy, damaged);
            let shard = changes.shard();
            return self.change_shard(
                key,
                shard,
                how,
                &touched,
                (encoded, scratch, 0),
                &|number, old, _| {
                    let new = by_chunk.get(&number).map_or(&[][..], Vec::as_slice);
                    changes.change(number, old.map(|old| old.as_slice()), self.fill(), new)
                },
            );
        }
        self.update_chunk(key, codec.ordinary_encoded(), policy, encoded, |current, encoded| {
            let mut list = all(codec, self.fill()).map_err(failed)?;
            let decoded = match current.exists {
                false => None,
                true => match codec.decode_all(encoded, self.fill()) {
                    Ok(decoded) => Some(decoded),
                    Err(error) if or_fill && !is_out_of_memory(&error) => None,
                    Err(error) => return Err(failed(error)),
                },
            };
            if let Some(decoded) = &decoded {
                list.iter_mut().zip(decoded.iter()).for_each(|(slot, element)| *slot = element);
            }
            put(&mut list, new);
            let content = codec.encode(&list, self.fill(), encoded).map_err(failed)?;
            Ok(change_to(self.counted_as(content), current))
        })
    }

    /// Replaces everything in a chunk, except a box at its start, by the fill value, in one step.
    pub(in crate::array) fn keep_start_variable(
        &self,
        key: &Key,
        chunk_shape: &[u64],
        lengths: &[usize],
    ) -> Result<(), ArrayError> {
        let codec = self.variable_codec(chunk_shape)?;
        let is_past = |element: usize| {
            let index = number(wide(element), codec.shape().iter().copied());
            index.iter().zip(lengths).any(|(at, length)| at >= length)
        };
        let (mut encoded, mut scratch) = (Vec::new(), Scratch::new());
        let past = (0..codec.elements()).filter(|element| is_past(*element));
        let past: Vec<(usize, &[u8])> = past.map(|element| (element, self.fill())).collect();
        let memory = (&mut encoded, &mut scratch);
        self.change_variable_chunk(key, &codec, self.policy, false, memory, &past)
    }
}

/// The elements of a write, by their number in C order of the selection.
pub(in crate::array) trait Elements: Sync {
    fn count(&self) -> usize;

    /// `None` past the end.
    fn get(&self, number: usize) -> Option<&[u8]>;
}

impl Elements for [&[u8]] {
    fn count(&self) -> usize {
        self.len()
    }

    fn get(&self, number: usize) -> Option<&[u8]> {
        <[&[u8]]>::get(self, number).copied()
    }
}

/// Puts elements at their places in a list of all elements of a chunk; the last one counts.
fn put<'e>(list: &mut [&'e [u8]], new: &[(usize, &'e [u8])]) {
    for (number, element) in new {
        if let Some(slot) = list.get_mut(*number) {
            *slot = element;
        }
    }
}

/// A list of all elements of a chunk, each equal to this one.
fn all<'e>(codec: &VariableChunkCodec, element: &'e [u8]) -> Result<Vec<&'e [u8]>, ChunkError> {
    let mut list = codec.room()?;
    list.resize(codec.elements(), element);
    Ok(list)
}
