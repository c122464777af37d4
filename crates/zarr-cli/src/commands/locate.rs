//! `zarr-kit locate`.

use serde_json::json;
use zarr_kit::Region;
use zarr_kit::metadata::{Codec, CodecKind, DataType, PaddingEncoding};

use crate::args::Locate;
use crate::error::CliError;
use crate::place::Place;
use crate::print::{Out, Table};
use crate::words;

pub(super) fn run(args: &Locate) -> Result<(), CliError> {
    let place = Place::open(&args.array)?;
    let array = place.array()?;
    let region = Region::parse(&args.index, array.shape())
        .map_err(|source| CliError::argument("index", &args.index, source))?;
    if region.axes().iter().any(|axis| !axis.dropped) || args.index.contains("...") {
        let reason = format!("one number for each of the {} axes is allowed", array.shape().len());
        return Err(CliError::argument("index", &args.index, reason));
    }
    let index: Vec<u64> = region.axes().iter().map(|axis| axis.start).collect();
    let rank = index.len();
    let (mut chunk, mut local, mut shape) = (vec![0; rank], vec![0; rank], vec![0; rank]);
    let grid = array.grid();
    let failed =
        |source| place.failed(zarr_kit::ArrayError::Grid { key: "zarr.json".to_owned(), source });
    grid.locate(&index, &mut chunk, &mut local).map_err(failed)?;
    grid.chunk_shape(&chunk, &mut shape).map_err(failed)?;
    let key = array
        .chunk_key(&chunk)
        .map_err(|source| CliError::Key { place: place.shown.clone(), source })?;
    let stored = array.store().size(&key)?;
    let codec = array.chunk_codec(&shape).map_err(|source| place.failed(source))?;
    let inside: Option<Vec<usize>> =
        local.iter().map(|index| usize::try_from(*index).ok()).collect();
    let number = inside.and_then(|index| codec.route().leaf_position(&index));
    let number = number.and_then(|number| u64::try_from(number).ok());
    let position = number
        .and_then(|number| Position::of(array.metadata().codecs(), array.data_type(), number));
    let mut out = Out::stdout();
    if args.json {
        out.json(&json!({
            "index": index, "chunk": chunk, "key": key.as_str(), "stored_bytes": stored,
            "chunk_shape": shape, "index_in_chunk": local, "element_in_chunk": number,
            "bit": position.as_ref().map(|position| position.bit),
            "bits": position.as_ref().map(|position| position.bits),
            "compressed": position.as_ref().map(|position| position.compressed),
        }))?;
        return out.finish();
    }
    let list = |numbers: &[u64]| numbers.iter().map(u64::to_string).collect::<Vec<_>>().join(", ");
    let mut table = Table::default();
    table.row("index", list(&index));
    let size = match stored {
        Some(size) => format!("stored in {}", words::bytes(size.into())),
        None => "not stored: reads as the fill value".to_owned(),
    };
    table.row("chunk", format!("{} of shape {}", list(&chunk), words::shape(&shape)));
    table.row("key", format!("{key}, {size}"));
    table.row("inside", format!("index {} of the chunk", list(&local)));
    if let Some(number) = number {
        let position = position.map_or_else(String::new, |position| position.words());
        table.row("encoded", format!("element {number} of what the chain stores{position}"));
    }
    table.print(&mut out)?;
    out.finish()
}

/// Where an element lies among the bytes that its array-to-bytes codec gives.
struct Position {
    bit: u64,
    bits: u64,
    /// A codec comes after, which moves bytes or replaces them.
    compressed: bool,
}

impl Position {
    /// `None` in shards, and past 64 bits.
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
