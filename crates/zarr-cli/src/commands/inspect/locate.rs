//! `zarr-kit locate`.

use std::slice::from_ref;

use serde_json::{Value, json};
use zarr_kit::array::store::{Key, ReadRange, StoreExt as _};
use zarr_kit::array::{ChunkLayout, SelectionError};
use zarr_kit::codec::{
    AnyChunkCodec, ChunkCodec, ElementLocation, InnerChunk, Scratch, StoredBytes,
};
use zarr_kit::metadata::Printable;
use zarr_kit::report::{Table, words};
use zarr_kit::{Array, ArrayError, AxisSelection, Selection};

use crate::args::Locate;
use crate::error::{CliError, remedy};
use crate::notation::region::by_names;
use crate::output::print::{self, Out, print_table};
use crate::stores::node_store::NodeStore;

pub(crate) fn run(args: &Locate) -> Result<(), CliError> {
    let place = NodeStore::open(&args.array)?;
    let metadata = place.metadata()?;
    let layout = place.layout(&metadata)?;
    let region = if args.index.contains('=') {
        by_names(&place, &metadata, "index", &args.index)
    } else {
        Selection::parse(&args.index, metadata.shape()).map_err(|cause| wrong(args, cause))
    }?;
    let numbers = region.axes().iter().map(|axis| match axis {
        AxisSelection::Index(index) => Some(*index),
        _ => None,
    });
    let Some(index) = numbers.collect::<Option<Vec<u64>>>().filter(|_| !args.index.contains("..."))
    else {
        let reason = match metadata.shape().len() {
            1 => "one number is allowed: the array has 1 axis".to_owned(),
            rank => {
                format!("one number for each axis is allowed: the array has {}", words::axes(rank))
            }
        };
        return Err(CliError::argument("index", &args.index, reason));
    };
    let failed = |cause| place.failed(ArrayError::Grid { key: "zarr.json".to_owned(), cause });
    let mut target = Target { layout, array: place.bind(metadata), at: index.clone() };
    let mut members = Vec::new();
    while let Some(member) = target.member().map_err(|cause| place.failed(cause))? {
        members.push((member.name, member.at));
        match member.target {
            Some(next) => target = next,
            None => return no_member(args, &index, &members),
        }
    }
    let Target { layout, array, at } = target;
    let store = array.as_ref().map_or(place.store.store(), Array::store).clone();
    let (chunk, local) = layout.locate(&at).map_err(failed)?;
    let shape = layout.chunk_shape(&chunk).map_err(failed)?;
    let key = layout.key(&chunk).map_err(|cause| place.failed(cause))?;
    let stored = store.size(&key).map_err(|cause| place.failed(cause))?;
    // Without the codecs, the content of the chunk is unknown.
    let (location, unknown) = match array {
        Ok(array) => match array.chunk_codec(&shape).map_err(|cause| place.failed(cause))? {
            AnyChunkCodec::Variable(_) => {
                let what = format!("elements of type {} have no fixed size", array.data_type());
                let why = format!("{what}: the position of each depends on those before it");
                (None, Some(("not located", why)))
            }
            AnyChunkCodec::Fixed(codec) => {
                let inside: Option<Vec<usize>> =
                    local.iter().map(|index| usize::try_from(*index).ok()).collect();
                let inside = inside.unwrap_or_default();
                let location = find(&array, &key, stored, &codec, &inside);
                (location.map_err(|cause| place.failed(cause))?, None)
            }
        },
        Err(cause) => (None, Some(("not readable", remedy::of_array(&cause)))),
    };
    let inner_chunks = location.as_ref().map_or(&[][..], |location| &location.inner_chunks);
    if args.json {
        let location = location.as_ref();
        let mut found = json!({
            "index": index, "chunk": chunk, "key": key.as_str(), "stored_bytes": stored,
            "chunk_shape": shape, "index_in_chunk": local,
            "inner_chunks": inner_chunks.iter().map(inner_json).collect::<Vec<_>>(),
            "element_in_chunk": location.map(|location| location.position),
            "bit": location.map(first_bit),
            "bits": location.map(|location| location.bits),
            "byte_in_object":
                location.and_then(ElementLocation::encoded_bytes).map(|bytes| bytes.start),
            "compressed": location.map(|location| location.compressed),
        });
        if let Some((_, cause)) = unknown {
            found["error"] = json!(cause);
        }
        if !members.is_empty() {
            found["members"] = members_json(&members);
        }
        return print::json(&found);
    }
    let mut out = Out::stdout();
    let mut table = Table::default();
    table.row("index", list(&index));
    for (name, at) in &members {
        table.row("member", format!("{}, index {}", Printable(name), list(at)));
    }
    let size = match stored {
        Some(size) => format!("stored in {}", words::bytes(size.into())),
        None => "not stored: reads as the fill value".to_owned(),
    };
    table.row("chunk", format!("{} of shape {}", list(&chunk), words::shape(&shape)));
    table.row("key", format!("{key}, {size}"));
    table.row("inside", format!("index {} of the chunk", list(&local)));
    for inner in inner_chunks {
        table.row("shard", inner_words(inner));
        table.row("inside", format!("index {} of the inner chunk", list(&inner.index)));
    }
    if let Some(location) = &location {
        let inner = if inner_chunks.is_empty() { "" } else { "inner " };
        let ElementLocation { position, .. } = location;
        let bits = bit_words(location);
        table.row("encoded", format!("element {position} of the encoded {inner}chunk{bits}"));
    }
    if let Some((label, cause)) = unknown {
        table.row(label, cause);
    }
    print_table(&table, &mut out)?;
    out.finish()
}

/// Why a text is no index.
fn wrong(args: &Locate, cause: SelectionError) -> CliError {
    let reason = match cause {
        SelectionError::Rank { found, rank } => {
            let found = words::counted(found, "number");
            format!("{found}, but the array has {}", words::axes(rank))
        }
        SelectionError::Syntax { axis, found } => {
            format!("axis {axis}: {found:?} is not an index; a number such as 5 or -1 is allowed")
        }
        cause => cause.to_string(),
    };
    CliError::argument("index", &args.index, reason)
}

/// An array, and an index in it.
struct Target {
    layout: ChunkLayout,
    array: Result<Array, ArrayError>,
    at: Vec<u64>,
}

/// A member of an array that consists of others.
struct InMember {
    name: String,
    /// The index in the member.
    at: Vec<u64>,
    /// `None` where there is no member.
    target: Option<Target>,
}

impl Target {
    /// The member with the element; `None` if the array has chunks of its own.
    fn member(&self) -> Result<Option<InMember>, ArrayError> {
        let Some(members) = self.array.as_ref().ok().and_then(Array::members) else {
            return Ok(None);
        };
        let (number, at) = members.locate(&self.at)?;
        let target = members.open(&number)?.map(|array| Self {
            layout: array.layout().clone(),
            array: Ok(array),
            at: at.clone(),
        });
        Ok(Some(InMember { name: members.name(&number), at, target }))
    }
}

/// The output for an element in no member.
fn no_member(args: &Locate, index: &[u64], members: &[(String, Vec<u64>)]) -> Result<(), CliError> {
    if args.json {
        return print::json(
            &json!({"index": index, "members": members_json(members), "chunk": null}),
        );
    }
    let mut out = Out::stdout();
    let mut table = Table::default();
    table.row("index", list(index));
    table.row("member", "none here: reads as the fill value");
    print_table(&table, &mut out)?;
    out.finish()
}

/// The members that lead to an element, the outermost first.
fn members_json(members: &[(String, Vec<u64>)]) -> Value {
    let member = |(name, at): &(String, Vec<u64>)| json!({"name": name, "index": at});
    members.iter().map(member).collect()
}

/// Formats `1, 4`.
fn list(numbers: &[impl ToString]) -> String {
    numbers.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")
}

/// Locates the element at `index` in the chunk at `key`, which has the given number of bytes if
/// it is stored. Reads the index of each shard on the way.
fn find(
    array: &Array,
    key: &Key,
    stored: Option<u64>,
    codec: &ChunkCodec,
    index: &[usize],
) -> Result<Option<ElementLocation>, ArrayError> {
    let Some(mut locator) = codec.locate(index, stored) else { return Ok(None) };
    let mut encoded = Vec::new();
    while let Some(range) = locator.need() {
        array.get_object(key, ReadRange::Ranges(from_ref(&range)), &mut encoded)?;
        locator
            .supply(&encoded, &mut Scratch::default())
            .map_err(|cause| ArrayError::Chunk { key: key.to_string(), cause })?;
    }
    Ok(locator.location())
}

fn inner_words(inner: &InnerChunk) -> String {
    let place = match &inner.stored {
        StoredBytes::LeftOut => "left out: reads as the fill value".to_owned(),
        StoredBytes::EncodedBy(codec) => {
            format!("no bytes of its own: {codec} encodes the shard as a whole")
        }
        StoredBytes::Range(range) => format!("bytes {}:{} of the object", range.start, range.end),
        _ => "not stored".to_owned(),
    };
    format!(
        "inner chunk {} of {}, of shape {}, {place}",
        list(&inner.chunk),
        words::shape(&inner.grid_shape),
        words::shape(&inner.shape)
    )
}

fn inner_json(inner: &InnerChunk) -> Value {
    let bytes = match &inner.stored {
        StoredBytes::Range(range) => json!([range.start, range.end]),
        _ => Value::Null,
    };
    let compressed_by = match &inner.stored {
        StoredBytes::EncodedBy(codec) => json!(codec),
        _ => Value::Null,
    };
    json!({
        "chunk": inner.chunk, "chunks": inner.grid_shape, "chunk_shape": inner.shape,
        "index_in_chunk": inner.index, "bytes": bytes, "shard_compressed_by": compressed_by,
        "left_out": inner.stored == StoredBytes::LeftOut,
    })
}

/// The element's lowest bit, counted from the first byte of the array-to-bytes codec's output.
fn first_bit(location: &ElementLocation) -> u64 {
    location.bytes.start.saturating_mul(8).saturating_add(location.bit.into())
}

fn bit_words(location: &ElementLocation) -> String {
    let ElementLocation { bytes, bit, bits, compressed, .. } = location;
    let byte = bytes.start;
    let place = match (bit, bits % 8) {
        (0, 0) => format!("; {} at byte {byte}", words::counted(bits / 8, "byte")),
        _ => format!("; {} at bit {bit} of byte {byte}", words::counted(*bits, "bit")),
    };
    match location.encoded_bytes() {
        _ if *compressed => format!("{place} once decompressed"),
        // Without a shard around it, the two are equal.
        Some(encoded) if encoded.start != byte => {
            format!("{place}, which is {} of the object", encoded.start)
        }
        _ => place,
    }
}
