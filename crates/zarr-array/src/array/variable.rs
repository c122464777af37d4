//! Arrays of strings and of byte strings.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

use zarr_codec::{
    ByteStrings, ChunkError, ChunkErrorKind, Encoded, Slots, Strings, VariableChain,
    VariableChunkCodec,
};
use zarr_grid::{ChunkPart, SelectedChunks};
use zarr_metadata::DataType;

use super::write::change_to;
use super::write_log::Log;
use super::{Array, BoundChain};
use crate::counts::narrow;
use crate::error::ArrayError;
use crate::node;
use crate::parallel;
use crate::selection::Selection;
use crate::store::{Key, StoreExt as _, UpdatePolicy, remove, replace, update};

/// The assumed size in bytes of an element of variable length, when work is divided.
pub(crate) const TYPICAL: usize = 64;

impl Array {
    /// Reads the strings of a [`Selection`] in C order. Chunks that are not stored read as the fill
    /// value.
    ///
    /// Each chunk that the selection touches is read whole, once: only the chunk itself tells
    /// where its elements are.
    ///
    /// # Errors
    /// [`ArrayError::ElementType`] unless the data type is `string`; otherwise as for
    /// [`read`](Array::read). A chunk with bytes that are not UTF-8 is an error.
    ///
    /// # Examples
    /// ```
    /// # use std::sync::Arc;
    /// # use zarr_array::Array;
    /// # use zarr_array::store::{MemoryStore, Prefix};
    /// use zarr_metadata::{ArrayBuilder, DataType};
    ///
    /// let metadata = ArrayBuilder::new([5], DataType::String).fill_value("?").build()?;
    /// let array = Array::create(Arc::new(MemoryStore::new()), &Prefix::root(), metadata)?;
    /// array.write_strings(1..4, &["Genève", "", "Zürich"])?;
    /// let names = array.read_strings(0..4)?;
    /// assert_eq!((names.len(), &names[3]), (4, "Zürich"));
    /// assert!(names.iter().eq(["?", "Genève", "", "Zürich"]));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Spec
    /// zarr-extensions `data-types/string` and `codecs/vlen-utf8`.
    pub fn read_strings(&self, selection: impl Into<Selection>) -> Result<Strings, ArrayError> {
        self.check_strings()?;
        self.strings(self.read_variable(&selection.into())?)
    }

    /// Reads the byte strings of a [`Selection`] in C order; for strings, their UTF-8.
    ///
    /// # Errors
    /// [`ArrayError::ElementType`] unless the data type is `bytes` or `string`; otherwise as for
    /// [`read_strings`](Array::read_strings).
    pub fn read_byte_strings(
        &self,
        selection: impl Into<Selection>,
    ) -> Result<ByteStrings, ArrayError> {
        self.read_variable(&selection.into())
    }

    /// Writes a [`Selection`] from its strings in C order. Chunks that are covered only in part
    /// are read, changed and written, as by [`write`](Array::write).
    ///
    /// # Errors
    /// [`ArrayError::ElementType`] unless the data type is `string`; [`ArrayError::ElementCount`]
    /// if the number of strings differs from that of the selection; otherwise as for
    /// [`write`](Array::write).
    pub fn write_strings<S: AsRef<str>>(
        &self,
        selection: impl Into<Selection>,
        strings: &[S],
    ) -> Result<(), ArrayError> {
        self.check_strings()?;
        let elements: Vec<&[u8]> =
            strings.iter().map(|string| string.as_ref().as_bytes()).collect();
        self.write_variable(&selection.into(), elements.as_slice())
    }

    /// Writes a [`Selection`] from its byte strings in C order. Those of an array of strings must be
    /// UTF-8.
    ///
    /// # Errors
    /// As for [`write_strings`](Array::write_strings), for the data types `bytes` and `string`.
    ///
    /// # Examples
    /// ```
    /// # use std::sync::Arc;
    /// # use zarr_array::Array;
    /// # use zarr_array::store::{MemoryStore, Prefix};
    /// use zarr_metadata::{ArrayBuilder, DataType};
    ///
    /// let metadata = ArrayBuilder::new([3], DataType::Bytes).build()?;
    /// let array = Array::create(Arc::new(MemoryStore::new()), &Prefix::root(), metadata)?;
    /// array.write_byte_strings(1..3, &[&b"\x89PNG"[..], b"\0"])?;
    /// assert!(array.read_byte_strings(0..3)?.iter().eq([&b""[..], b"\x89PNG", b"\0"]));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn write_byte_strings<B: AsRef<[u8]>>(
        &self,
        selection: impl Into<Selection>,
        byte_strings: &[B],
    ) -> Result<(), ArrayError> {
        let elements: Vec<&[u8]> = byte_strings.iter().map(AsRef::as_ref).collect();
        self.write_variable(&selection.into(), elements.as_slice())
    }

    /// Refuses arrays whose elements are not strings.
    pub(crate) fn check_strings(&self) -> Result<(), ArrayError> {
        match self.data_type() {
            DataType::String => Ok(()),
            _ => Err(self.is_not("strings")),
        }
    }

    fn is_not(&self, requested: &'static str) -> ArrayError {
        ArrayError::ElementType { data_type: self.data_type().to_string(), requested }
    }

    /// The chain of elements of variable length.
    fn variable_chain(&self) -> Result<&VariableChain, ArrayError> {
        match &self.shared.chain {
            BoundChain::Variable(chain) => Ok(chain),
            BoundChain::Fixed(_) => Err(self.is_not("byte strings")),
        }
    }

    /// The codec of chunks of one shape of elements of variable length.
    pub(crate) fn variable_codec(
        &self,
        chunk_shape: &[u64],
    ) -> Result<VariableChunkCodec, ArrayError> {
        self.variable_chain()?
            .for_shape(chunk_shape)
            .map_err(|cause| ArrayError::Chain { key: node::metadata_key(self.prefix()), cause })
    }

    pub(crate) fn read_variable(&self, selection: &Selection) -> Result<ByteStrings, ArrayError> {
        let read = self.read_variable_within(selection, u64::MAX)?;
        Ok(read.expect("no memory holds more bytes than the limit"))
    }

    /// As [`read_byte_strings`](Array::read_byte_strings), unless the elements take more bytes than
    /// the limit, lengths not included: then gives how many they take at least. No chunk is read after
    /// that is known.
    pub(crate) fn read_variable_within(
        &self,
        selection: &Selection,
        limit: u64,
    ) -> Result<Result<ByteStrings, u64>, ArrayError> {
        let VariableRead { chunks, slots, bytes } = self.begin_variable_read(selection)?;
        let threads = self.threads_for(bytes);
        let bytes = AtomicU64::new(0);
        parallel::for_each(chunks.len(), threads, Worker::default, |worker, range| {
            let mut parts = chunks.parts().range(range);
            while let Some(part) = parts.next_part() {
                if bytes.load(Ordering::Relaxed) > limit {
                    break;
                }
                let read = self.read_variable_part(part, chunks.shape(), &slots, worker)?;
                bytes.fetch_add(read, Ordering::Relaxed);
            }
            Ok::<(), ArrayError>(())
        })?;
        let bytes = bytes.into_inner();
        if bytes > limit {
            return Ok(Err(bytes));
        }
        finish_variable_read(slots, chunks.shape()).map(Ok)
    }

    /// Checks a selection, and allocates memory for its elements.
    pub(super) fn begin_variable_read(
        &self,
        selection: &Selection,
    ) -> Result<VariableRead<'_>, ArrayError> {
        self.variable_chain()?;
        let chunks = self.layout().select(selection)?;
        let count = count(chunks.shape());
        let slots = count.and_then(|count| Slots::filled_with(count, self.fill()).ok());
        let slots = Mutex::new(slots.ok_or_else(|| too_large(chunks.shape()))?);
        let bytes = count.unwrap_or(0).saturating_mul(TYPICAL);
        Ok(VariableRead { chunks, slots, bytes })
    }

    /// Reads the part of a selection of this shape that is in one chunk; returns its bytes.
    pub(super) fn read_variable_part(
        &self,
        part: &ChunkPart<'_>,
        shape: &[u64],
        slots: &Mutex<Slots>,
        worker: &mut Worker,
    ) -> Result<u64, ArrayError> {
        let moves = Moves::new(part, shape);
        let decoded = match self.read_variable_of_member(part)? {
            Some(read) => read,
            None => self.decode_variable_part(part, &moves, worker)?,
        };
        let Some(decoded) = decoded else { return Ok(0) };
        let mut slots = slots.lock().unwrap_or_else(PoisonError::into_inner);
        let moved = moves.in_selection.iter().zip(decoded.iter());
        moved.for_each(|(slot, element)| slots.set(*slot, element));
        Ok(u64::try_from(decoded.bytes().len()).unwrap_or(u64::MAX))
    }

    /// The elements of a part of a chunk, `None` if the chunk is not stored.
    fn decode_variable_part(
        &self,
        part: &ChunkPart<'_>,
        moves: &Moves,
        worker: &mut Worker,
    ) -> Result<Option<ByteStrings>, ArrayError> {
        let Worker { codec: kept, encoded } = worker;
        let key = self.chunk_key(part.chunk())?;
        if !self.store().read_into(&key, encoded)? {
            return Ok(None);
        }
        let codec = self.codec_of(part.chunk_shape(), kept)?;
        let decoded = codec.decode_at(encoded, &moves.in_chunk, self.fill());
        decoded.map(Some).map_err(|cause| chunk_error(&key, cause))
    }

    /// The strings of byte strings that are known to be UTF-8: chunks and the fill value were
    /// checked.
    pub(super) fn strings(&self, read: ByteStrings) -> Result<Strings, ArrayError> {
        Strings::try_from(read).map_err(|_| self.is_not("strings"))
    }

    fn write_variable(
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
        .map_err(|cause| incomplete(&chunks, cause, log))
    }

    /// Checks a write; returns the chunks of the selection, and the approximate size in bytes of
    /// the elements.
    pub(super) fn begin_variable_write(
        &self,
        selection: &Selection,
        elements: &(impl Elements + ?Sized),
    ) -> Result<(SelectedChunks<'_>, usize), ArrayError> {
        self.refuse_version_2()?;
        let key = node::metadata_key(self.prefix());
        let chain = |cause| ArrayError::Chain { key: key.clone(), cause };
        self.variable_chain()?.check_writable().map_err(chain)?;
        let chunks = self.layout().select(selection)?;
        if count(chunks.shape()) != Some(elements.count()) {
            let found = u64::try_from(elements.count()).unwrap_or(u64::MAX);
            return Err(ArrayError::ElementCount { found, expected: chunks.shape().to_vec() });
        }
        let bytes = (0..elements.count()).fold(elements.count(), |sum, number| {
            sum.saturating_add(elements.get(number).map_or(0, <[u8]>::len))
        });
        Ok((chunks, bytes))
    }

    /// Writes the part of a selection of this shape that is in one chunk.
    pub(super) fn write_variable_part(
        &self,
        part: &ChunkPart<'_>,
        shape: &[u64],
        elements: &(impl Elements + ?Sized),
        worker: &mut Worker,
    ) -> Result<(), ArrayError> {
        let Worker { codec: kept, encoded } = worker;
        let key = &self.chunk_key(part.chunk())?;
        let codec = self.codec_of(part.chunk_shape(), kept)?;
        let failed = |cause| chunk_error(key, cause);
        let moves = Moves::new(part, shape);
        let moved = moves.in_chunk.iter().zip(&moves.in_selection);
        let new: Vec<(usize, &[u8])> =
            moved.map(|(to, from)| (*to, elements.get(*from).unwrap_or_default())).collect();
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
        self.change_variable_chunk(key, codec, policy, or_fill, encoded, &new)
    }

    /// Reads a chunk, replaces the elements with these numbers, and writes it back.
    ///
    /// A chunk that cannot be decoded is an error, unless it is to be treated as one of fill
    /// values (`or_fill`).
    fn change_variable_chunk(
        &self,
        key: &Key,
        codec: &VariableChunkCodec,
        policy: UpdatePolicy,
        or_fill: bool,
        encoded: &mut Vec<u8>,
        new: &[(usize, &[u8])],
    ) -> Result<(), ArrayError> {
        let failed = |cause| chunk_error(key, cause);
        update(&**self.store(), key, policy, encoded, |current, encoded| {
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
            Ok::<_, ArrayError>(change_to(self.counted_as(content), current))
        })
    }

    /// Replaces everything in a chunk, except a box at its start, by the fill value, in one step.
    pub(super) fn keep_start_variable(
        &self,
        key: &Key,
        chunk_shape: &[u64],
        lengths: &[usize],
    ) -> Result<(), ArrayError> {
        let codec = self.variable_codec(chunk_shape)?;
        let is_past = |mut element: usize| {
            let axes = codec.shape().iter().zip(lengths).rev();
            axes.fold(false, |past, (size, length)| {
                let at = element.checked_rem(*size).unwrap_or(0);
                element = element.checked_div(*size).unwrap_or(0);
                past || at >= *length
            })
        };
        let mut encoded = Vec::new();
        let past = (0..codec.elements()).filter(|element| is_past(*element));
        let past: Vec<(usize, &[u8])> = past.map(|element| (element, self.fill())).collect();
        self.change_variable_chunk(key, &codec, self.policy, false, &mut encoded, &past)
    }

    /// The codec of a chunk, kept for the next one of the same shape.
    fn codec_of<'k>(
        &self,
        chunk_shape: &[u64],
        kept: &'k mut Option<(Vec<u64>, VariableChunkCodec)>,
    ) -> Result<&'k VariableChunkCodec, ArrayError> {
        let (_, codec) = match kept.take() {
            Some(codec) if codec.0 == chunk_shape => kept.insert(codec),
            _ => kept.insert((chunk_shape.to_vec(), self.variable_codec(chunk_shape)?)),
        };
        Ok(codec)
    }
}

/// The elements of a write, by their number in C order of the selection.
pub(super) trait Elements: Sync {
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

/// The error of a write to these chunks that failed with `cause`.
pub(super) fn incomplete(chunks: &SelectedChunks<'_>, cause: ArrayError, log: Log) -> ArrayError {
    let axes = chunks.axes().iter();
    let numbers = axes.map(|axis| axis.parts().map(|part| part.chunk).collect()).collect();
    log.incomplete(numbers, chunks.len(), cause)
}

/// A checked read.
pub(super) struct VariableRead<'a> {
    pub(super) chunks: SelectedChunks<'a>,
    /// The elements; the fill value until they are read.
    pub(super) slots: Mutex<Slots>,
    /// Their approximate size in bytes.
    pub(super) bytes: usize,
}

/// The elements that have been read, of this shape.
pub(super) fn finish_variable_read(
    slots: Mutex<Slots>,
    shape: &[u64],
) -> Result<ByteStrings, ArrayError> {
    let slots = slots.into_inner().unwrap_or_else(PoisonError::into_inner);
    slots.finish().map_err(|_| too_large(shape))
}

fn too_large(shape: &[u64]) -> ArrayError {
    ArrayError::SelectionTooLarge {
        elements: shape.iter().fold(1, |n, count| n.saturating_mul(u128::from(*count))),
        element_size: TYPICAL,
    }
}

/// The state that a thread keeps from chunk to chunk.
#[derive(Default)]
pub(super) struct Worker {
    codec: Option<(Vec<u64>, VariableChunkCodec)>,
    encoded: Vec<u8>,
}

/// The number of elements of this shape; `None` if it exceeds the address space.
fn count(shape: &[u64]) -> Option<usize> {
    match shape.contains(&0) {
        true => Some(0),
        false => shape
            .iter()
            .try_fold(1_usize, |product, count| product.checked_mul(usize::try_from(*count).ok()?)),
    }
}

/// The elements of a part: their numbers in C order of the chunk, and in C order of the selection.
struct Moves {
    in_chunk: Vec<usize>,
    in_selection: Vec<usize>,
}

impl Moves {
    fn new(part: &ChunkPart<'_>, shape: &[u64]) -> Self {
        let (mut in_chunk, mut in_selection) = (vec![0], vec![0]);
        let axes = part.axes().iter().zip(part.chunk_shape()).zip(shape);
        for ((axis, edge), count) in axes {
            let pairs: Vec<(usize, usize)> =
                axis.iter().map(|(index, at)| (narrow(index), narrow(at))).collect();
            let next = |numbers: &[usize], size: u64, of: fn(&(usize, usize)) -> usize| {
                let rows = numbers.iter().map(|number| number.saturating_mul(narrow(size)));
                rows.flat_map(|row| pairs.iter().map(move |pair| row.saturating_add(of(pair))))
                    .collect::<Vec<usize>>()
            };
            in_chunk = next(&in_chunk, *edge, |(index, _)| *index);
            in_selection = next(&in_selection, *count, |(_, at)| *at);
        }
        Self { in_chunk, in_selection }
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

fn is_out_of_memory(error: &ChunkError) -> bool {
    matches!(error.kind(), ChunkErrorKind::OutOfMemory { .. })
}

fn chunk_error(key: &Key, cause: ChunkError) -> ArrayError {
    ArrayError::Chunk { key: key.to_string(), cause }
}
