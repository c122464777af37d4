//! `zarr-kit locate`.

use std::ops::Range;

use serde_json::{Value, json};
use zarr_kit::array::PlannedReads;
use zarr_kit::codec::ChunkCodec;
use zarr_kit::metadata::{Codec, CodecKind, DataType, PaddingEncoding};
use zarr_kit::{Array, ArrayError, Region};

use crate::args::Locate;
use crate::error::CliError;
use crate::place::Place;
use crate::print::{Out, Table};
use crate::words;

pub(super) fn run(args: &Locate) -> Result<(), CliError> {
    let place = Place::open(&args.array)?;
    let array = place.array()?.with_range_cost(0);
    let region = Region::parse(&args.index, array.shape())
        .map_err(|source| CliError::argument("index", &args.index, source))?;
    if region.axes().iter().any(|axis| !axis.dropped) || args.index.contains("...") {
        let reason = match array.shape().len() {
            1 => "one number is allowed: the array has 1 axis".to_owned(),
            rank => {
                format!("one number for each axis is allowed: the array has {}", words::axes(rank))
            }
        };
        return Err(CliError::argument("index", &args.index, reason));
    }
    let index: Vec<u64> = region.axes().iter().map(|axis| axis.start).collect();
    let rank = index.len();
    let (mut chunk, mut local, mut shape) = (vec![0; rank], vec![0; rank], vec![0; rank]);
    let grid = array.grid();
    let failed = |source| place.failed(ArrayError::Grid { key: "zarr.json".to_owned(), source });
    grid.locate(&index, &mut chunk, &mut local).map_err(failed)?;
    grid.chunk_shape(&chunk, &mut shape).map_err(failed)?;
    let key = array
        .chunk_key(&chunk)
        .map_err(|source| CliError::Key { place: place.shown.clone(), source })?;
    let stored = array.store().size(&key)?;
    let codec = array.chunk_codec(&shape).map_err(|source| place.failed(source))?;
    let inside: Option<Vec<usize>> =
        local.iter().map(|index| usize::try_from(*index).ok()).collect();
    let inside = inside.unwrap_or_default();
    let mut way = Way::new(array.metadata().codecs(), array.data_type(), &codec, &inside);
    if let Some(inner) = way.inner.first_mut() {
        inner.place = InnerPlace::find(&array, &region).map_err(|source| place.failed(source))?;
    }
    let mut out = Out::stdout();
    if args.json {
        let position = way.position.as_ref();
        out.json(&json!({
            "index": index, "chunk": chunk, "key": key.as_str(), "stored_bytes": stored,
            "chunk_shape": shape, "index_in_chunk": local,
            "inner_chunks": way.inner.iter().map(Inner::json).collect::<Vec<_>>(),
            "element_in_chunk": way.number,
            "bit": position.map(|position| position.bit),
            "bits": position.map(|position| position.bits),
            "compressed": position.map(|position| position.compressed),
        }))?;
        return out.finish();
    }
    let mut table = Table::default();
    table.row("index", list(&index));
    let size = match stored {
        Some(size) => format!("stored in {}", words::bytes(size.into())),
        None => "not stored: reads as the fill value".to_owned(),
    };
    table.row("chunk", format!("{} of shape {}", list(&chunk), words::shape(&shape)));
    table.row("key", format!("{key}, {size}"));
    table.row("inside", format!("index {} of the chunk", list(&local)));
    for inner in &way.inner {
        table.row("shard", inner.words(stored.is_some()));
        table.row("inside", format!("index {} of the inner chunk", list(&inner.local)));
    }
    if let Some(number) = way.number {
        let whose = if way.inner.is_empty() { "the chain" } else { "the inner chain" };
        let position = way.position.map_or_else(String::new, |position| position.words());
        table.row("encoded", format!("element {number} of what {whose} stores{position}"));
    }
    table.print(&mut out)?;
    out.finish()
}

fn list(numbers: &[impl ToString]) -> String {
    numbers.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")
}

/// The way of an element through a chunk: shards within shards, then its place in a leaf.
#[derive(Default)]
struct Way {
    inner: Vec<Inner>,
    number: Option<usize>,
    position: Option<Position>,
}

impl Way {
    fn new(
        mut codecs: &[Codec],
        data_type: &DataType,
        mut codec: &ChunkCodec,
        inside: &[usize],
    ) -> Self {
        let mut way = Self::default();
        let mut local = inside.to_vec();
        loop {
            let Some(number) = codec.route().leaf_position(&local) else { return way };
            let leaf = codecs.iter().find(|c| c.kind() == Some(CodecKind::ArrayToBytes));
            let (Some(Codec::ShardingIndexed(sharding)), Some(shard)) = (leaf, codec.shard())
            else {
                way.number = Some(number);
                way.position = u64::try_from(number)
                    .ok()
                    .and_then(|number| Position::of(codecs, data_type, number));
                return way;
            };
            let Some((chunk, within)) = shard.locate(number) else { return way };
            way.inner.push(Inner {
                chunk: shard.chunk_index(chunk),
                grid: shard.grid_shape().to_vec(),
                shape: shard.inner().shape().to_vec(),
                local: within.clone(),
                place: InnerPlace::NotKnown,
            });
            (local, codec, codecs) = (within, shard.inner(), &sharding.codecs);
        }
    }
}

/// An inner chunk of a shard.
struct Inner {
    chunk: Vec<usize>,
    grid: Vec<usize>,
    shape: Vec<usize>,
    local: Vec<usize>,
    place: InnerPlace,
}

/// Where an inner chunk is.
enum InnerPlace {
    /// The shard is not stored, lies in another one, or is compressed as a whole.
    NotKnown,
    /// The shard has left it out.
    LeftOut,
    /// These bytes of the object.
    Bytes(Range<u64>),
}

impl InnerPlace {
    /// Asks the shard's index for the chunk that holds the region's one element.
    fn find(array: &Array, region: &Region) -> Result<Self, ArrayError> {
        let plan = array.plan(region)?;
        let Some(chunk) = plan.chunks(0..1)?.pop() else { return Ok(Self::NotKnown) };
        Ok(match plan.reads(&chunk)? {
            Some(PlannedReads { index: Some(_), ranges, .. }) => {
                ranges.into_iter().next().map_or(Self::LeftOut, Self::Bytes)
            }
            _ => Self::NotKnown,
        })
    }
}

impl Inner {
    fn words(&self, stored: bool) -> String {
        let place = match &self.place {
            InnerPlace::NotKnown if stored => String::new(),
            InnerPlace::NotKnown => ", not stored".to_owned(),
            InnerPlace::LeftOut => ", left out: reads as the fill value".to_owned(),
            InnerPlace::Bytes(range) => {
                format!(", bytes {}:{} of the object", range.start, range.end)
            }
        };
        format!(
            "inner chunk {} of {}, of shape {}{place}",
            list(&self.chunk),
            words::shape(&self.grid),
            words::shape(&self.shape)
        )
    }

    fn json(&self) -> Value {
        let bytes = match &self.place {
            InnerPlace::Bytes(range) => json!([range.start, range.end]),
            _ => Value::Null,
        };
        json!({
            "chunk": self.chunk, "chunks": self.grid, "chunk_shape": self.shape,
            "index_in_chunk": self.local, "bytes": bytes,
            "left_out": matches!(self.place, InnerPlace::LeftOut),
        })
    }
}

/// Where an element lies among the bytes that its array-to-bytes codec gives.
struct Position {
    bit: u64,
    bits: u64,
    /// A codec comes after, which moves bytes or replaces them.
    compressed: bool,
}

impl Position {
    /// `None` past 64 bits.
    fn of(codecs: &[Codec], data_type: &DataType, number: u64) -> Option<Self> {
        let leaf = codecs.iter().position(|c| c.kind() == Some(CodecKind::ArrayToBytes))?;
        let layout = data_type.layout()?;
        let components = u64::try_from(layout.components).ok()?;
        let (bits, start) = match codecs.get(leaf)? {
            Codec::Bytes { .. } => (u64::try_from(layout.size()).ok()?.checked_mul(8)?, 0),
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
        let after = codecs.get(leaf.checked_add(1)?..).unwrap_or_default();
        // A checksum comes after its bytes and leaves them where they are.
        let compressed = after.iter().any(|codec| !matches!(codec, Codec::Crc32c));
        let bit = number.checked_mul(bits)?.checked_add(start)?;
        Some(Self { bit, bits, compressed })
    }

    fn words(&self) -> String {
        let Self { bit, bits, compressed } = self;
        let place = match (bit % 8, bits % 8) {
            (0, 0) => format!("; {} at byte {}", words::counted(bits / 8, "byte"), bit / 8),
            _ => {
                format!("; {} at bit {} of byte {}", words::counted(*bits, "bit"), bit % 8, bit / 8)
            }
        };
        if *compressed { format!("{place} once decompressed") } else { place }
    }
}
