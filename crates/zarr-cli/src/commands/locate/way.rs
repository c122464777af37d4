//! The way of an element through a chunk: shards within shards, then its place among the stored elements.

use std::ops::Range;
use std::slice::from_ref;

use serde_json::{Value, json};
use zarr_kit::array::store::{Key, ReadRange};
use zarr_kit::codec::{ChunkCodec, Scratch, ShardCodec};
use zarr_kit::metadata::{Codec, CodecKind, DataType, PaddingEncoding};
use zarr_kit::{Array, ArrayError};

use super::list;
use crate::words;

/// Bytes of a checksum, which comes after its bytes and leaves them where they are.
const CRC32C: u64 = 4;

#[derive(Default)]
pub(super) struct Way {
    pub(super) inner: Vec<Inner>,
    pub(super) number: Option<usize>,
    pub(super) position: Option<Position>,
}

impl Way {
    /// The way to the element at `inside` of the chunk at `key`, which has so many bytes if it is
    /// stored. The index of each shard on the way is read.
    pub(super) fn find(
        array: &Array,
        key: &Key,
        stored: Option<u64>,
        mut codec: &ChunkCodec,
        inside: &[usize],
    ) -> Result<Self, ArrayError> {
        let mut way = Self::default();
        let mut codecs = array.metadata().codecs();
        let mut local = inside.to_vec();
        let mut place = stored.map_or(Where::NotStored, |length| Where::Bytes(0..length));
        loop {
            let Some(number) = codec.transform().stored_position(&local) else { return Ok(way) };
            let is_array_to_bytes = |codec: &Codec| codec.kind() == Some(CodecKind::ArrayToBytes);
            let array_to_bytes = codecs.iter().position(is_array_to_bytes).unwrap_or(codecs.len());
            place =
                place.decoded(codecs.get(array_to_bytes.saturating_add(1)..).unwrap_or_default());
            let (Some(Codec::ShardingIndexed(sharding)), Some(shard)) =
                (codecs.get(array_to_bytes), codec.shard())
            else {
                way.number = Some(number);
                way.position = u64::try_from(number)
                    .ok()
                    .and_then(|number| Position::of(codecs, array.data_type(), number));
                if let (Some(position), Where::Bytes(range)) = (&mut way.position, &place) {
                    position.byte_in_object = range.start.checked_add(position.bit / 8);
                }
                return Ok(way);
            };
            let Some((chunk, within)) = shard.locate(number) else { return Ok(way) };
            place = match place {
                Where::Bytes(range) => inner_place(array, key, shard, &range, chunk)?,
                Where::LeftOut => Where::NotStored,
                other => other,
            };
            way.inner.push(Inner {
                chunk: shard.chunk_index(chunk),
                grid: shard.grid_shape().to_vec(),
                shape: shard.inner().shape().to_vec(),
                local: within.clone(),
                place: place.clone(),
            });
            (local, codec, codecs) = (within, shard.inner(), &sharding.codecs);
        }
    }
}

/// Asks the index of the shard that has these bytes of the object for one of its inner chunks.
fn inner_place(
    array: &Array,
    key: &Key,
    shard: &ShardCodec,
    bytes: &Range<u64>,
    chunk: usize,
) -> Result<Where, ArrayError> {
    let length = bytes.end.saturating_sub(bytes.start);
    // A shard shorter than its index is one that does not decode.
    let index = shard.index_range(length).unwrap_or(0..length);
    let moved = |at: u64| bytes.start.saturating_add(at);
    let index = moved(index.start)..moved(index.end);
    let mut encoded = Vec::new();
    array.store().get(key, ReadRange::Ranges(from_ref(&index)), &mut encoded)?;
    let index = shard
        .parse_index(&encoded, Some(length), &mut Scratch::default())
        .map_err(|cause| ArrayError::Chunk { key: key.to_string(), cause })?;
    let found = index.range(chunk).map(|range| moved(range.start)..moved(range.end));
    Ok(found.map_or(Where::LeftOut, Where::Bytes))
}

/// Where a chunk, or an inner chunk, is.
#[derive(Clone)]
enum Where {
    /// It is not stored, or what it is in is not.
    NotStored,
    /// The shard has left it out.
    LeftOut,
    /// A codec compresses what it is in as a whole.
    Within(String),
    /// These bytes of the object.
    Bytes(Range<u64>),
}

impl Where {
    /// Before the bytes-to-bytes codecs that it went through.
    fn decoded(self, after: &[Codec]) -> Self {
        after.iter().rev().fold(self, |place, codec| match (place, codec) {
            (Self::Bytes(range), Codec::Crc32c) => {
                Self::Bytes(range.start..range.end.saturating_sub(CRC32C).max(range.start))
            }
            (Self::Bytes(_), codec) => Self::Within(codec.name().to_owned()),
            (place, _) => place,
        })
    }
}

/// An inner chunk of a shard.
pub(super) struct Inner {
    chunk: Vec<usize>,
    grid: Vec<usize>,
    shape: Vec<usize>,
    pub(super) local: Vec<usize>,
    place: Where,
}

impl Inner {
    pub(super) fn words(&self) -> String {
        let place = match &self.place {
            Where::NotStored => "not stored".to_owned(),
            Where::LeftOut => "left out: reads as the fill value".to_owned(),
            Where::Within(codec) => {
                format!("no bytes of its own: {codec} compresses the shard as a whole")
            }
            Where::Bytes(range) => format!("bytes {}:{} of the object", range.start, range.end),
        };
        format!(
            "inner chunk {} of {}, of shape {}, {place}",
            list(&self.chunk),
            words::shape(&self.grid),
            words::shape(&self.shape)
        )
    }

    pub(super) fn json(&self) -> Value {
        let bytes = match &self.place {
            Where::Bytes(range) => json!([range.start, range.end]),
            _ => Value::Null,
        };
        let within = match &self.place {
            Where::Within(codec) => json!(codec),
            _ => Value::Null,
        };
        json!({
            "chunk": self.chunk, "chunks": self.grid, "chunk_shape": self.shape,
            "index_in_chunk": self.local, "bytes": bytes, "shard_compressed_by": within,
            "left_out": matches!(self.place, Where::LeftOut),
        })
    }
}

/// Where an element lies among the bytes that its array-to-bytes codec gives.
pub(super) struct Position {
    pub(super) bit: u64,
    pub(super) bits: u64,
    /// A codec comes after, which moves bytes or replaces them.
    pub(super) compressed: bool,
    /// The byte of the object, unless something is compressed or not stored.
    pub(super) byte_in_object: Option<u64>,
}

impl Position {
    /// `None` past 64 bits.
    fn of(codecs: &[Codec], data_type: &DataType, number: u64) -> Option<Self> {
        let array_to_bytes =
            codecs.iter().position(|c| c.kind() == Some(CodecKind::ArrayToBytes))?;
        let layout = data_type.layout()?;
        let components = u64::try_from(layout.components).ok()?;
        let (bits, start) = match codecs.get(array_to_bytes)? {
            Codec::Bytes(_) => (u64::try_from(layout.size()).ok()?.checked_mul(8)?, 0),
            Codec::Packbits(packbits) => {
                let last = packbits
                    .last_bit
                    .unwrap_or_else(|| u64::from(layout.component_bits).saturating_sub(1));
                let first = packbits.first_bit.unwrap_or(0);
                let bits = last.checked_sub(first)?.checked_add(1)?;
                let padding = packbits.padding_encoding == PaddingEncoding::FirstByte;
                (bits.checked_mul(components)?, if padding { 8 } else { 0 })
            }
            _ => return None,
        };
        let after = codecs.get(array_to_bytes.checked_add(1)?..).unwrap_or_default();
        // A checksum comes after its bytes and leaves them where they are.
        let compressed = after.iter().any(|codec| !matches!(codec, Codec::Crc32c));
        let bit = number.checked_mul(bits)?.checked_add(start)?;
        Some(Self { bit, bits, compressed, byte_in_object: None })
    }

    pub(super) fn words(&self) -> String {
        let Self { bit, bits, compressed, byte_in_object } = self;
        let place = match (bit % 8, bits % 8) {
            (0, 0) => format!("; {} at byte {}", words::counted(bits / 8, "byte"), bit / 8),
            _ => {
                format!("; {} at bit {} of byte {}", words::counted(*bits, "bit"), bit % 8, bit / 8)
            }
        };
        match byte_in_object {
            _ if *compressed => format!("{place} once decompressed"),
            // Without a shard around it the two are the same.
            Some(byte) if *byte != bit / 8 => format!("{place}, which is {byte} of the object"),
            _ => place,
        }
    }
}
