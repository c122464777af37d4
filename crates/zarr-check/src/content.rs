//! Examines the content of a chunk, including the inner chunks of shards.
//!
//! Inner chunks of a shard are examined separately, and missing ones cost nothing. So time and
//! memory follow the stored bytes, and the elements of one chunk at a time.

use zarr_array::Array;
use zarr_codec::{AxisEdges, Chain, ChunkCodec, ChunkError, Encoded, Options, Scratch, Slice};
use zarr_metadata::{Codec, CodecKind, DataType, ElementPart};
use zarr_store::Key;
use zarr_view::{CopyError, Output, View};

use crate::finding::{BITS, FILL_ONLY, Finding, OVERFLOW, shows_again, unexamined};
use crate::past_end::PastEnd;

/// The most bytes of elements for which a shard is decoded as a whole, however few bytes it has.
const WHOLE: u64 = 64 << 20;

/// A chain up to its array-to-bytes codec: the elements alone determine its output.
///
/// A shard may lay out its inner chunks in many ways, so the chain within it is used.
pub(crate) enum Canonical {
    Elements(Chain),
    Shard(Box<Canonical>),
}

impl Canonical {
    /// `None` if the chain cannot be bound (which is reported elsewhere), or changes values.
    pub(crate) fn new(codecs: &[Codec], data_type: &DataType, edges: &[AxisEdges]) -> Option<Self> {
        let array_to_bytes =
            codecs.iter().position(|codec| codec.kind() == Some(CodecKind::ArrayToBytes))?;
        if let Some(Codec::ShardingIndexed(sharding)) = codecs.get(array_to_bytes) {
            let edges: Vec<_> =
                sharding.chunk_shape.iter().map(|size| AxisEdges::one(*size)).collect();
            return Some(Self::Shard(Box::new(Self::new(&sharding.codecs, data_type, &edges)?)));
        }
        let before = codecs.get(..array_to_bytes)?;
        // Values that a codec rounds or casts may come out differently when they are encoded
        // again.
        let moves = |codec: &Codec| {
            matches!(codec, Codec::Transpose(_) | Codec::Reshape(_) | Codec::ZarrsSqueeze)
        };
        // The same is true for codecs that compress elements.
        let compresses = matches!(
            codecs.get(array_to_bytes),
            Some(Codec::NumcodecsPcodec(_) | Codec::Zfp(_) | Codec::NumcodecsZfpy(_))
        );
        if compresses || !before.iter().all(moves) {
            return None;
        }
        let chain =
            Chain::bind_with(codecs.get(..=array_to_bytes)?, data_type, edges, Options::new())
                .ok()?;
        Some(Self::Elements(chain))
    }

    fn inner(&self) -> Option<&Self> {
        match self {
            Self::Shard(inner) => Some(inner),
            Self::Elements(_) => None,
        }
    }
}

/// Memory for examining chunks, one set per thread.
#[derive(Default)]
pub(crate) struct ExaminerBuffers {
    decoded: Vec<u8>,
    again: Vec<u8>,
    scratch: Scratch,
    spare: Scratch,
    /// The chain for encoding again, for the shape of the last chunk.
    plain: Option<ChunkCodec>,
    /// For the inner chunks of a shard.
    inner: Option<Box<ExaminerBuffers>>,
}

/// The findings in a chunk that decodes.
pub(crate) struct ExaminedChunk {
    pub(crate) content: Content,
    pub(crate) past_end: PastEnd,
}

/// The content of a chunk.
pub(crate) enum Content {
    /// The content that a writer should write.
    Canonical,
    /// Only the fill value.
    Empty,
    /// A byte with bits that no element has; describes the byte.
    Bits(String),
    /// Inner chunks with such content: the first of each kind and the number of others.
    Shard { empty: Option<(Vec<usize>, u64)>, bits: Option<((Vec<usize>, String), u64)> },
}

impl Content {
    /// The findings for a chunk's content.
    fn findings(self, key: &Key) -> Vec<Finding> {
        match self {
            Self::Empty => {
                let message = "nothing but the fill value; it need not be stored";
                vec![Finding::new(FILL_ONLY, message).with_key(key.as_str())]
            }
            Self::Bits(bits) => {
                vec![
                    Finding::new(BITS, format!("{bits}: bits beyond the elements' own"))
                        .with_key(key.as_str()),
                ]
            }
            Self::Shard { empty, bits } => {
                let more = |others: u64| match others {
                    0 => String::new(),
                    1 => ", and 1 more inner chunk".to_owned(),
                    n => format!(", and {n} more inner chunks"),
                };
                let mut findings = Vec::new();
                if let Some((first, others)) = empty {
                    let message = format!(
                        "inner chunk {first:?}{}: nothing but the fill value; need not be stored",
                        more(others)
                    );
                    findings.push(Finding::new(FILL_ONLY, message).with_key(key.as_str()));
                }
                if let Some(((first, found), others)) = bits {
                    let message = format!(
                        "inner chunk {first:?}, {found}{}: bits beyond the elements' own",
                        more(others)
                    );
                    findings.push(Finding::new(BITS, message).with_key(key.as_str()));
                }
                findings
            }
            Self::Canonical => Vec::new(),
        }
    }
}

impl ExaminedChunk {
    /// The findings for a chunk of this array.
    pub(crate) fn findings(self, array: &Array, key: &Key) -> Vec<Finding> {
        let past_end = match self.past_end {
            PastEnd::None => None,
            PastEnd::At(at) => {
                zarr_store::reached!("check: elements past the end");
                let message = format!(
                    "element {at:?} of the chunk is past the array's end, and not the fill value; {}",
                    shows_again(array.metadata().is_version_2())
                );
                Some(Finding::new(OVERFLOW, message).with_key(key.as_str()))
            }
            PastEnd::Unknown => {
                Some(unexamined(key, "elements past the array's end are not looked for"))
            }
        };
        past_end.into_iter().chain(self.content.findings(key)).collect()
    }
}

/// Why a chunk could not be examined.
pub(crate) enum ExamineError {
    /// Its bytes are invalid.
    Chunk(ChunkError),
    /// An element of a type of text contains no text.
    Text(String),
    /// Examining it needs more memory than allowed.
    Unexamined(String),
}

/// Examines chunks of one array.
pub(crate) struct Examiner<'a> {
    array: &'a Array,
    canonical: Option<Canonical>,
    /// The parts of an element that are `fixed_length_utf32`, which codecs do not read.
    texts: Vec<ElementPart>,
    /// The most bytes of elements that may be decoded at a time.
    memory: u64,
}

impl<'a> Examiner<'a> {
    pub(crate) fn new(array: &'a Array, edges: &[AxisEdges], memory: u64) -> Self {
        let canonical = Canonical::new(array.metadata().codecs(), array.data_type(), edges);
        let mut texts = array.data_type().parts();
        texts.retain(|part| matches!(part.data_type, DataType::FixedLengthUtf32(_)));
        Self { array, canonical, texts, memory }
    }

    /// Examines a chunk. The first `end` indices of each axis lie within the array; `None` if all
    /// do.
    pub(crate) fn examine(
        &self,
        codec: &ChunkCodec,
        encoded: &[u8],
        end: Option<&[u64]>,
        buffers: &mut ExaminerBuffers,
    ) -> Result<ExaminedChunk, ExamineError> {
        self.chunk(self.canonical.as_ref(), codec, encoded, end, buffers)
    }

    fn chunk(
        &self,
        canonical: Option<&Canonical>,
        codec: &ChunkCodec,
        encoded: &[u8],
        end: Option<&[u64]>,
        buffers: &mut ExaminerBuffers,
    ) -> Result<ExaminedChunk, ExamineError> {
        if codec.shard().is_some() {
            return self.shard(canonical.and_then(Canonical::inner), codec, encoded, end, buffers);
        }
        self.decode(codec, encoded, buffers)?;
        self.texts(codec, buffers)?;
        let past_end = self.past_end(codec, end, buffers);
        let content = match canonical {
            Some(Canonical::Elements(chain)) => self.again(chain, codec, encoded, buffers),
            _ => Content::Canonical,
        };
        Ok(ExaminedChunk { content, past_end })
    }

    fn shard(
        &self,
        canonical: Option<&Canonical>,
        codec: &ChunkCodec,
        encoded: &[u8],
        end: Option<&[u64]>,
        buffers: &mut ExaminerBuffers,
    ) -> Result<ExaminedChunk, ExamineError> {
        let Some(shard) = codec.shard() else { return Err(wrong_size()) };
        let ExaminerBuffers { scratch, spare, inner, .. } = &mut *buffers;
        let within = inner.get_or_insert_default();
        let bytes = codec.decompress(encoded, scratch).map_err(ExamineError::Chunk)?;
        let index = shard.read_index(bytes, spare).map_err(ExamineError::Chunk)?;
        let order = codec.transform().order();
        // Converted to the order of the shard's dimensions.
        let end_within: Option<Vec<u64>> = end.zip(order).map(|(end, order)| {
            order.iter().map(|axis| end.get(*axis).copied().unwrap_or(u64::MAX)).collect()
        });
        let (mut empty, mut bits) = (First::default(), First::default());
        let (mut any, mut all_empty, mut past_end) = (false, true, PastEnd::None);
        for number in 0..index.len() {
            let Some(range) = index.range(number) else { continue };
            any = true;
            let chunk = part(bytes, &range).ok_or_else(wrong_size)?;
            let place = end_within.as_ref().map(|end| CutInnerChunk::new(shard, number, end));
            let end = place.as_ref().and_then(|place| place.end.as_deref());
            let found = self.chunk(canonical, shard.inner(), chunk, end, within);
            let ExaminedChunk { content, past_end: past } = found.map_err(|fault| match fault {
                ExamineError::Chunk(error) => ExamineError::Chunk(shard.error_in(number, error)),
                ExamineError::Text(found) => ExamineError::Text(in_shard(shard, number, &found)),
                ExamineError::Unexamined(why) => {
                    ExamineError::Unexamined(in_shard(shard, number, &why))
                }
            })?;
            match (&past_end, past, &place, order) {
                (PastEnd::None, PastEnd::At(at), Some(place), Some(order)) => {
                    past_end = PastEnd::At(place.in_chunk(&at, order));
                }
                (PastEnd::None, PastEnd::Unknown, ..) => past_end = PastEnd::Unknown,
                _ => {}
            }
            let at = || shard.chunk_index(number);
            all_empty &= matches!(content, Content::Empty);
            match content {
                Content::Canonical => {}
                Content::Empty => empty.add(at),
                Content::Bits(found) => bits.add(|| (at(), found)),
                Content::Shard { empty: Some((first, _)), .. } => {
                    // Naming a place within nested inner chunks would be too much for one line.
                    empty.add(|| [at(), first].concat());
                }
                Content::Shard { bits: Some(((first, found), _)), .. } => {
                    bits.add(|| ([at(), first].concat(), found));
                }
                Content::Shard { .. } => {}
            }
        }
        if any && end.is_some() && order.is_none() {
            // With a reshape around the shard, only decoding all elements would tell where they
            // go.
            past_end = PastEnd::Unknown;
            let stored = u64::try_from(encoded.len()).unwrap_or(u64::MAX);
            if self.bytes(codec) <= WHOLE.max(stored.saturating_mul(16)) {
                match self.decode(codec, encoded, buffers) {
                    Ok(()) => past_end = self.past_end(codec, end, buffers),
                    Err(ExamineError::Unexamined(_)) => {}
                    Err(fault) => return Err(fault),
                }
            }
        }
        let content = if all_empty {
            Content::Empty
        } else {
            Content::Shard { empty: empty.first_and_others(), bits: bits.first_and_others() }
        };
        Ok(ExaminedChunk { content, past_end })
    }

    /// Bytes of a chunk's elements.
    fn bytes(&self, codec: &ChunkCodec) -> u64 {
        let bytes = codec.elements() * self.array.element_size();
        u64::try_from(bytes).unwrap_or(u64::MAX)
    }

    /// Decodes the whole chunk.
    fn decode(
        &self,
        codec: &ChunkCodec,
        encoded: &[u8],
        buffers: &mut ExaminerBuffers,
    ) -> Result<(), ExamineError> {
        let (bytes, memory) = (self.bytes(codec), self.memory);
        if bytes > memory {
            let why = format!("its elements take {bytes} bytes, more than the {memory} allowed");
            return Err(ExamineError::Unexamined(why));
        }
        let ExaminerBuffers { decoded, scratch, .. } = buffers;
        let length = codec.elements() * self.array.element_size();
        let copy = |error: CopyError| ExamineError::Unexamined(error.to_string());
        if decoded.len() < length {
            // Free the old memory before allocating the new.
            *decoded = Vec::new();
            *decoded = zarr_view::zeroed(length).map_err(copy)?;
        }
        decoded.truncate(length);
        let whole = View::contiguous(codec.shape()).map_err(|error| copy(error.into()))?;
        let everything: Vec<Slice> = codec.shape().iter().map(|size| (0..*size).into()).collect();
        let mut out = Output::new(decoded, &whole, self.array.element_size()).map_err(copy)?;
        let fill = self.array.fill();
        codec.decode(encoded, &everything, &mut out, fill, scratch).map_err(ExamineError::Chunk)
    }

    /// Searches for code units outside Unicode among the decoded elements.
    fn texts(&self, codec: &ChunkCodec, buffers: &ExaminerBuffers) -> Result<(), ExamineError> {
        let elements = buffers.decoded.chunks_exact(self.array.element_size().max(1));
        let widen = |n: usize| u64::try_from(n).unwrap_or(u64::MAX);
        let shape: Vec<u64> = codec.shape().iter().map(|size| widen(*size)).collect();
        for part in &self.texts {
            let end = part.offset + part.layout.size();
            for (number, element) in elements.clone().enumerate() {
                let (units, _) = element.get(part.offset..end).unwrap_or_default().as_chunks::<4>();
                let mut units = units.iter().map(|unit| u32::from_le_bytes(*unit));
                if let Some(unit) = units.find(|unit| char::from_u32(*unit).is_none()) {
                    return Err(ExamineError::Text(format!(
                        "element {:?} has the code unit {unit:#x}, expected 0 to 0x10ffff without \
                         0xd800 to 0xdfff",
                        zarr_grid::unravel(widen(number), &shape).unwrap_or_default()
                    )));
                }
            }
        }
        Ok(())
    }

    /// Searches for elements past the array's end among the decoded ones.
    fn past_end(
        &self,
        codec: &ChunkCodec,
        end: Option<&[u64]>,
        buffers: &ExaminerBuffers,
    ) -> PastEnd {
        let fill = self.array.fill();
        let elements = buffers.decoded.chunks_exact(fill.len().max(1));
        end.map_or(PastEnd::None, |end| PastEnd::find(elements, codec.shape(), end, fill))
    }

    /// Encodes the decoded elements again.
    fn again(
        &self,
        chain: &Chain,
        codec: &ChunkCodec,
        encoded: &[u8],
        buffers: &mut ExaminerBuffers,
    ) -> Content {
        let ExaminerBuffers { decoded, again, scratch, spare, plain, .. } = buffers;
        if plain.as_ref().is_none_or(|plain| plain.shape() != codec.shape()) {
            let size = |size: &usize| u64::try_from(*size).ok();
            let shape: Option<Vec<u64>> = codec.shape().iter().map(size).collect();
            *plain = shape.and_then(|shape| chain.for_shape(&shape).ok());
        }
        let Some(plain) = plain else { return Content::Canonical };
        let Ok(whole) = View::contiguous(codec.shape()) else { return Content::Canonical };
        // A chain that can only read has nothing to compare with.
        let Ok(content) = plain.encode(decoded, &whole, self.array.fill(), again, spare) else {
            return Content::Canonical;
        };
        if content == Encoded::Empty {
            return Content::Empty;
        }
        let Ok(stored) = codec.decompress(encoded, scratch) else { return Content::Canonical };
        let differs =
            stored.iter().zip(again.iter()).position(|(found, expected)| found != expected);
        differs.map_or(Content::Canonical, |byte| {
            let at = |bytes: &[u8]| bytes.get(byte).copied().unwrap_or_default();
            Content::Bits(format!(
                "byte {byte} is {:#04x}, expected {:#04x}",
                at(stored),
                at(again)
            ))
        })
    }
}

/// An inner chunk that the array's end cuts.
struct CutInnerChunk {
    /// Its first index.
    start: Vec<u64>,
    /// The number of its indices along each axis that lie within the array; `None` if all do.
    end: Option<Vec<u64>>,
}

impl CutInnerChunk {
    /// `end` gives the indices of the shard within the array.
    fn new(shard: &zarr_codec::ShardCodec, number: usize, end: &[u64]) -> Self {
        let widen = |n: usize| u64::try_from(n).unwrap_or(u64::MAX);
        let sizes: Vec<u64> = shard.inner().shape().iter().map(|size| widen(*size)).collect();
        let index = shard.chunk_index(number);
        let start: Vec<u64> =
            index.iter().zip(&sizes).map(|(at, size)| widen(*at).saturating_mul(*size)).collect();
        let within = end.iter().zip(&start).zip(&sizes);
        let within: Vec<u64> =
            within.map(|((end, start), size)| end.saturating_sub(*start).min(*size)).collect();
        let end = (within != sizes).then_some(within);
        Self { start, end }
    }

    /// Converts an index of the inner chunk to one of the whole chunk. `order` maps the dimensions
    /// of the shard to the dimensions of the chunk.
    fn in_chunk(&self, at: &[usize], order: &[usize]) -> Vec<usize> {
        let mut index = vec![0; order.len()];
        for ((axis, at), start) in order.iter().zip(at).zip(&self.start) {
            if let Some(slot) = index.get_mut(*axis) {
                *slot = usize::try_from(*start).unwrap_or(usize::MAX).saturating_add(*at);
            }
        }
        index
    }
}

/// The first of several, and their number.
struct First<T> {
    first: Option<T>,
    count: u64,
}

impl<T> Default for First<T> {
    fn default() -> Self {
        Self { first: None, count: 0 }
    }
}

impl<T> First<T> {
    fn add(&mut self, found: impl FnOnce() -> T) {
        self.first.get_or_insert_with(found);
        self.count += 1;
    }

    fn first_and_others(self) -> Option<(T, u64)> {
        Some((self.first?, self.count - 1))
    }
}

/// A text about an inner chunk.
fn in_shard(shard: &zarr_codec::ShardCodec, number: usize, text: &str) -> String {
    format!("inner chunk {:?}: {text}", shard.chunk_index(number))
}

fn part<'b>(bytes: &'b [u8], range: &std::ops::Range<u64>) -> Option<&'b [u8]> {
    bytes.get(usize::try_from(range.start).ok()?..usize::try_from(range.end).ok()?)
}

/// A size that parsing the index has excluded.
fn wrong_size() -> ExamineError {
    ExamineError::Unexamined("its index and its bytes do not go together".to_owned())
}
