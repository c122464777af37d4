//! Reading arrays of strings and of byte strings, with parts that writing also uses.

mod points;
pub(crate) mod write;

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use zarr_codec::{
    AnyChain, ByteStrings, Scratch, Slice, Slots, Strings, VariableChunkCodec, VariableChunkReader,
};
use zarr_grid::{ChunkPart, PartIndices, SelectedChunks};
use zarr_metadata::DataType;

use crate::array::Array;
use crate::array::elements::{Destination, ReadAs, destination, sealed};
use crate::array::read::region_reader::{Answer, OneVersion, read_range};
use crate::counts::{narrow, wide};
use crate::error::{ArrayError, check_count, chunk_error};
use crate::parallel;
use crate::selection::AnySelection;
use crate::selection::Selection;
use crate::store::StoreExt as _;
#[cfg(feature = "async")]
use crate::threads::ArrayFuture;

/// The assumed size in bytes of an element of variable length, when work is divided.
pub(crate) const TYPICAL: usize = 64;

impl ReadAs for String {
    type Output = Strings;
}

impl sealed::Read<Strings> for String {
    fn read(array: &Array, selection: &AnySelection) -> Result<Strings, ArrayError> {
        array.check_strings()?;
        array.strings(array.read_variable(selection)?)
    }

    #[cfg(feature = "async")]
    fn read_async(array: Array, selection: Selection) -> ArrayFuture<Strings> {
        Box::pin(async move {
            array.check_strings()?;
            let read = array.read_variable_async(selection).await?;
            array.strings(read)
        })
    }
}

impl ReadAs for Vec<u8> {
    type Output = ByteStrings;
}

impl sealed::Read<ByteStrings> for Vec<u8> {
    fn read(array: &Array, selection: &AnySelection) -> Result<ByteStrings, ArrayError> {
        array.read_variable(selection)
    }

    #[cfg(feature = "async")]
    fn read_async(array: Array, selection: Selection) -> ArrayFuture<ByteStrings> {
        Box::pin(async move { array.read_variable_async(selection).await })
    }
}

/// A destination of [`Array::read_into`] for strings and byte strings that takes a limited number of
/// bytes, lengths not included.
///
/// # Examples
/// ```
/// # use std::sync::Arc;
/// # use zarr_array::Array;
/// # use zarr_array::store::{MemoryStore, Prefix};
/// # use zarr_metadata::{ArrayBuilder, DataType};
/// use zarr_array::LimitedStrings;
///
/// # let metadata = ArrayBuilder::new([4], DataType::String).build()?;
/// # let array = Array::create(Arc::new(MemoryStore::new()), &Prefix::root(), metadata)?;
/// array.write_as(0..4, &["a", "bc", "", "def"])?;
/// let mut strings = LimitedStrings::new(4);
/// array.read_into(0..2, &mut strings)?;
/// assert!(strings.take().is_ok_and(|read| read.iter().eq([&b"a"[..], b"bc"])));
/// array.read_into(0..4, &mut strings)?;
/// assert_eq!(strings.take(), Err(6)); // the bytes that they take at least
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct LimitedStrings {
    limit: u64,
    read: Result<ByteStrings, u64>,
}

impl LimitedStrings {
    /// A destination for at most this many bytes.
    #[must_use]
    pub fn new(limit: u64) -> Self {
        Self { limit, read: Ok(ByteStrings::new()) }
    }

    /// The elements of the last read. If they exceed the limit, returns the number of bytes that
    /// they take at least; no chunk is read after the limit is exceeded.
    ///
    /// # Errors
    /// The number of bytes.
    pub fn take(&mut self) -> Result<ByteStrings, u64> {
        std::mem::replace(&mut self.read, Ok(ByteStrings::new()))
    }
}

impl Destination for &mut LimitedStrings {}

impl destination::sealed::Destination for &mut LimitedStrings {
    fn read(self, array: &Array, selection: &AnySelection) -> Result<(), ArrayError> {
        self.read = match selection {
            AnySelection::Product(selection) => {
                array.read_variable_within(selection, self.limit)?
            }
            AnySelection::Points(points) => {
                let read = array.read_variable_points(points)?;
                let bytes = u64::try_from(read.bytes().len()).unwrap_or(u64::MAX);
                if bytes > self.limit { Err(bytes) } else { Ok(read) }
            }
        };
        Ok(())
    }
}

impl Array {
    /// Refuses arrays with elements other than strings.
    pub(crate) fn check_strings(&self) -> Result<(), ArrayError> {
        match self.data_type() {
            DataType::String => Ok(()),
            _ => Err(self.is_not("strings")),
        }
    }

    pub(in crate::array) fn is_not(&self, requested: &'static str) -> ArrayError {
        ArrayError::ElementType { data_type: self.data_type().to_string(), requested }
    }

    /// Refuses arrays with elements of a fixed size.
    pub(in crate::array) fn check_variable(&self) -> Result<(), ArrayError> {
        match &self.shared.compiled.chain {
            AnyChain::Variable(_) => Ok(()),
            AnyChain::Fixed(_) => Err(self.is_not("byte strings")),
        }
    }

    pub(in crate::array) fn read_variable(
        &self,
        selection: &AnySelection,
    ) -> Result<ByteStrings, ArrayError> {
        match selection {
            AnySelection::Points(points) => self.read_variable_points(points),
            AnySelection::Product(selection) => {
                let read = self.read_variable_within(selection, u64::MAX)?;
                Ok(read.expect("no memory holds more bytes than the limit"))
            }
        }
    }

    /// The elements, or how many bytes they take at least if that is more than the limit. No chunk is
    /// read after that is known.
    fn read_variable_within(
        &self,
        selection: &Selection,
        limit: u64,
    ) -> Result<Result<ByteStrings, u64>, ArrayError> {
        let VariableRead { chunks, collected, bytes } = self.begin_variable_read(selection)?;
        let threads = self.threads_for(bytes);
        let bytes = AtomicU64::new(0);
        parallel::for_each(chunks.len(), threads, Worker::default, |worker, range| {
            let mut parts = chunks.parts().range(range);
            while let Some(part) = parts.next_part() {
                if bytes.load(Ordering::Relaxed) > limit {
                    break;
                }
                let read = self.read_variable_part(part, chunks.shape(), &collected, worker)?;
                bytes.fetch_add(read, Ordering::Relaxed);
            }
            Ok::<(), ArrayError>(())
        })?;
        let bytes = bytes.into_inner();
        if bytes > limit {
            return Ok(Err(bytes));
        }
        Collected::finish(collected, chunks.shape(), self.fill()).map(Ok)
    }

    /// Checks a selection, and allocates memory for its elements.
    pub(in crate::array) fn begin_variable_read(
        &self,
        selection: &Selection,
    ) -> Result<VariableRead<'_>, ArrayError> {
        self.check_variable()?;
        let chunks = self.layout().select(selection)?;
        let is_alone =
            chunks.parts().next_part().is_some_and(|part| alone(part, chunks.shape()).is_some());
        let collected = match is_alone {
            true => Collected::Alone(None),
            false => Collected::Slots(filled(chunks.shape(), self.fill())?),
        };
        let bytes = count(chunks.shape()).unwrap_or(0).saturating_mul(TYPICAL);
        Ok(VariableRead { chunks, collected: Mutex::new(collected), bytes })
    }

    /// Reads the part of a selection of this shape that is in one chunk; returns its bytes.
    pub(in crate::array) fn read_variable_part(
        &self,
        part: &ChunkPart<'_>,
        shape: &[u64],
        collected: &Mutex<Collected>,
        worker: &mut Worker,
    ) -> Result<u64, ArrayError> {
        let of_member = self.read_variable_of_member(part)?;
        if let Some(region) = alone(part, shape) {
            let decoded = match of_member {
                Some(read) => read,
                None => self.read_variable_region(part, shape, &region, worker)?,
            };
            let length = decoded.as_ref().map_or(0, |decoded| wide(decoded.bytes().len()));
            *collected.lock().unwrap_or_else(PoisonError::into_inner) = Collected::Alone(decoded);
            return Ok(length);
        }
        let Moves { in_chunk, in_selection } = Moves::new(part, shape);
        let decoded = match of_member {
            Some(read) => read,
            None => {
                let (chunk, chunk_shape) = (part.chunk(), part.chunk_shape());
                self.read_variable_chunk(chunk, chunk_shape, in_chunk, part.is_whole(), worker)?
            }
        };
        let Some(decoded) = decoded else { return Ok(0) };
        let mut collected = collected.lock().unwrap_or_else(PoisonError::into_inner);
        if let Collected::Slots(slots) = &mut *collected {
            set_all(slots, &in_selection, &decoded)?;
        }
        Ok(wide(decoded.bytes().len()))
    }

    /// The elements of a region of a chunk, `None` if the chunk is not stored.
    fn read_variable_region(
        &self,
        part: &ChunkPart<'_>,
        shape: &[u64],
        region: &[Slice],
        worker: &mut Worker,
    ) -> Result<Option<ByteStrings>, ArrayError> {
        let (chunk, chunk_shape) = (part.chunk(), part.chunk_shape());
        let codec = self.codec_of(chunk_shape, &mut worker.codec)?;
        let key = self.layout().key(chunk)?;
        let failed = |cause| chunk_error(&key, cause);
        if codec.inner_grid().is_some() {
            let elements = Moves::new(part, shape).in_chunk;
            return self.read_variable_chunk(chunk, chunk_shape, elements, part.is_whole(), worker);
        }
        self.store().refuse_inflated(&key, codec.ordinary_encoded())?;
        if !self.store().read_into(&key, &mut worker.encoded)? {
            return Ok(None);
        }
        codec.decode(&worker.encoded, region, self.fill()).map(Some).map_err(failed)
    }

    /// The elements with these numbers in C order of a chunk, `None` if the chunk is not stored. Of a
    /// `whole` chunk, everything is read and checked.
    pub(in crate::array) fn read_variable_chunk(
        &self,
        chunk: &[u64],
        chunk_shape: &[u64],
        elements: Vec<usize>,
        whole: bool,
        worker: &mut Worker,
    ) -> Result<Option<ByteStrings>, ArrayError> {
        let Worker { codec: kept, encoded, scratch } = worker;
        let codec = self.codec_of(chunk_shape, kept)?;
        let (most, is_shard) = (codec.ordinary_encoded(), codec.inner_grid().is_some());
        let mut object = OneVersion::new(self, self.layout().key(chunk)?, most, is_shard)?;
        let begin = |object: &OneVersion| match whole || object.is_restless() {
            true => VariableChunkReader::whole(codec, elements.clone()),
            false => VariableChunkReader::new(codec, elements.clone(), self.range_cost()),
        };
        let mut reader = begin(&object);
        if !whole && let Some(index) = object.cached_index(self, chunk) {
            reader.use_index(index);
        }
        while let Some(range) = read_range(reader.need()) {
            let found = self.store().get(object.key(), range, encoded);
            match object.judge(self, chunk, found)? {
                Answer::Found(found) => {
                    let read = reader
                        .supply(encoded, Some(found.size), self.fill(), scratch)
                        .map_err(|cause| object.failed(cause))?;
                    object.keep_index(self, chunk, reader.index());
                    if read.is_some() {
                        return Ok(read);
                    }
                }
                Answer::Missing => break,
                Answer::Replaced => reader = begin(&object),
            }
        }
        Ok(None)
    }

    /// The strings of byte strings that are known to be UTF-8: chunks and the fill value were
    /// checked.
    pub(in crate::array) fn strings(&self, read: ByteStrings) -> Result<Strings, ArrayError> {
        Strings::try_from(read).map_err(|_| self.is_not("strings"))
    }

    /// The codec of a chunk, kept for the next one of the same shape.
    pub(in crate::array) fn codec_of<'k>(
        &self,
        chunk_shape: &[u64],
        kept: &'k mut Option<(Vec<u64>, Arc<VariableChunkCodec>)>,
    ) -> Result<&'k VariableChunkCodec, ArrayError> {
        let (_, codec) = match kept.take() {
            Some(codec) if codec.0 == chunk_shape => kept.insert(codec),
            _ => kept.insert((chunk_shape.to_vec(), self.variable_codec(chunk_shape)?)),
        };
        Ok(codec)
    }
}

/// A checked read.
pub(in crate::array) struct VariableRead<'a> {
    pub(in crate::array) chunks: SelectedChunks<'a>,
    pub(in crate::array) collected: Mutex<Collected>,
    /// Their approximate size in bytes.
    pub(in crate::array) bytes: usize,
}

/// The elements that have been read.
pub(in crate::array) enum Collected {
    /// All of them in order, once the one chunk that has them is decoded. A copy of each element in
    /// its slot would take a multiple of the memory of short elements. `None` if it is not stored.
    Alone(Option<ByteStrings>),
    /// The fill value until they are read.
    Slots(Slots),
}

impl Collected {
    /// The elements, of this shape.
    pub(in crate::array) fn finish(
        collected: Mutex<Self>,
        shape: &[u64],
        fill: &[u8],
    ) -> Result<ByteStrings, ArrayError> {
        match collected.into_inner().unwrap_or_else(PoisonError::into_inner) {
            Self::Alone(Some(all)) => {
                check_count(all.len(), shape)?;
                Ok(all)
            }
            Self::Alone(None) => finish_variable_read(filled(shape, fill)?.into(), shape),
            Self::Slots(slots) => finish_variable_read(slots.into(), shape),
        }
    }
}

/// The selection of a part in its chunk, if the part is a whole selection of this shape, in order.
fn alone(part: &ChunkPart<'_>, shape: &[u64]) -> Option<Vec<Slice>> {
    let axes = part.axes().iter().zip(shape).map(|(axis, length)| match axis.indices {
        PartIndices::Step { in_chunk, step, len, reversed: false, .. } if len == *length => {
            Some(Slice { start: narrow(in_chunk), count: narrow(len), step: narrow(step) })
        }
        PartIndices::Step { .. } | PartIndices::List { .. } => None,
    });
    axes.collect()
}

/// Sets the slots of elements that were read together.
pub(in crate::array) fn set_all(
    slots: &mut Slots,
    places: &[usize],
    elements: &ByteStrings,
) -> Result<(), ArrayError> {
    check_count(elements.len(), &[wide(places.len())])?;
    places.iter().zip(elements.iter()).for_each(|(slot, element)| slots.set(*slot, element));
    Ok(())
}

/// Slots for elements of this shape.
fn filled(shape: &[u64], fill: &[u8]) -> Result<Slots, ArrayError> {
    let slots = count(shape).and_then(|count| Slots::filled_with(count, fill).ok());
    slots.ok_or_else(|| too_large(shape))
}

/// The elements in the slots, of this shape.
pub(in crate::array) fn finish_variable_read(
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
pub(in crate::array) struct Worker {
    pub(in crate::array) codec: Option<(Vec<u64>, Arc<VariableChunkCodec>)>,
    pub(in crate::array) encoded: Vec<u8>,
    pub(in crate::array) scratch: Scratch,
}

/// The number of elements of this shape; `None` if it exceeds the address space.
pub(in crate::array) fn count(shape: &[u64]) -> Option<usize> {
    match shape.contains(&0) {
        true => Some(0),
        false => shape
            .iter()
            .try_fold(1_usize, |product, count| product.checked_mul(usize::try_from(*count).ok()?)),
    }
}

/// The elements of a part: their numbers in C order of the chunk, and in C order of the selection.
pub(in crate::array) struct Moves {
    pub(in crate::array) in_chunk: Vec<usize>,
    pub(in crate::array) in_selection: Vec<usize>,
}

impl Moves {
    pub(in crate::array) fn new(part: &ChunkPart<'_>, shape: &[u64]) -> Self {
        let (mut in_chunk, mut in_selection) = (vec![0], vec![0]);
        let axes = part.axes().iter().zip(part.chunk_shape()).zip(shape);
        for ((axis, edge), count) in axes {
            let pairs: Vec<(usize, usize)> =
                axis.iter().map(|(index, at)| (narrow(index), narrow(at))).collect();
            let next = |numbers: &[usize], size: u64, of: fn(&(usize, usize)) -> usize| {
                let rows = numbers.iter().map(|number| number * narrow(size));
                rows.flat_map(|row| pairs.iter().map(move |pair| row + of(pair)))
                    .collect::<Vec<usize>>()
            };
            in_chunk = next(&in_chunk, *edge, |(index, _)| *index);
            in_selection = next(&in_selection, *count, |(_, at)| *at);
        }
        Self { in_chunk, in_selection }
    }
}
