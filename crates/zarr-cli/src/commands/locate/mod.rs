//! `zarr-kit locate`.

mod way;

use serde_json::json;
use zarr_kit::array::RegionError;
use zarr_kit::array::store::StoreExt as _;
use zarr_kit::{ArrayError, Region};

use self::way::{Inner, Position, Way};
use crate::args::Locate;
use crate::error::CliError;
use crate::place::Place;
use crate::print::{Out, Table};
use crate::words;

pub(super) fn run(args: &Locate) -> Result<(), CliError> {
    let place = Place::open(&args.array)?;
    let metadata = place.metadata()?;
    let layout = place.layout(&metadata)?;
    let region = Region::parse(&args.index, metadata.shape()).map_err(|cause| {
        let reason = match cause {
            RegionError::Rank { found, rank } => {
                let found = words::counted(u64::try_from(found).unwrap_or(u64::MAX), "number");
                format!("{found}, but the array has {}", words::axes(rank))
            }
            RegionError::Syntax { axis, found } => {
                format!("axis {axis}: {found:?} is no index; a number such as 5 or -1 is allowed")
            }
            cause => cause.to_string(),
        };
        CliError::argument("index", &args.index, reason)
    })?;
    if region.axes().iter().any(|axis| !axis.dropped) || args.index.contains("...") {
        let reason = match metadata.shape().len() {
            1 => "one number is allowed: the array has 1 axis".to_owned(),
            rank => {
                format!("one number for each axis is allowed: the array has {}", words::axes(rank))
            }
        };
        return Err(CliError::argument("index", &args.index, reason));
    }
    let index: Vec<u64> = region.axes().iter().map(|axis| axis.start).collect();
    let failed = |cause| place.failed(ArrayError::Grid { key: "zarr.json".to_owned(), cause });
    let (chunk, local) = layout.locate(&index).map_err(failed)?;
    let shape = layout.chunk_shape(&chunk).map_err(failed)?;
    let key =
        layout.key(&chunk).map_err(|cause| CliError::Key { place: place.shown.clone(), cause })?;
    let stored = place.store.size(&key)?;
    // Without the codecs, what is in the chunk is not known.
    let (way, unknown) = match place.bind(metadata) {
        Ok(array) => {
            let codec = array.chunk_codec(&shape).map_err(|cause| place.failed(cause))?;
            let inside: Option<Vec<usize>> =
                local.iter().map(|index| usize::try_from(*index).ok()).collect();
            let inside = inside.unwrap_or_default();
            let way = Way::find(&array, &key, stored, &codec, &inside);
            (way.map_err(|cause| place.failed(cause))?, None)
        }
        Err(cause) => (Way::default(), Some(cause.to_string())),
    };
    let mut out = Out::stdout();
    if args.json {
        let position = way.position.as_ref();
        let mut found = json!({
            "index": index, "chunk": chunk, "key": key.as_str(), "stored_bytes": stored,
            "chunk_shape": shape, "index_in_chunk": local,
            "inner_chunks": way.inner.iter().map(Inner::json).collect::<Vec<_>>(),
            "element_in_chunk": way.number,
            "bit": position.map(|position| position.bit),
            "bits": position.map(|position| position.bits),
            "byte_in_object": position.and_then(|position| position.byte_in_object),
            "compressed": position.map(|position| position.compressed),
        });
        if let Some(cause) = unknown {
            found["error"] = json!(cause);
        }
        out.json(&found)?;
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
        table.row("shard", inner.words());
        table.row("inside", format!("index {} of the inner chunk", list(&inner.local)));
    }
    if let Some(number) = way.number {
        let whose = if way.inner.is_empty() { "the chain" } else { "the inner chain" };
        let position = way.position.as_ref().map_or_else(String::new, Position::words);
        table.row("encoded", format!("element {number} of what {whose} stores{position}"));
    }
    if let Some(cause) = unknown {
        table.row("not readable", cause);
    }
    table.print(&mut out)?;
    out.finish()
}

/// `1, 4`.
fn list(numbers: &[impl ToString]) -> String {
    numbers.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")
}
