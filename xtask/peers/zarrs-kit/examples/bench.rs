//! The plug-ins beside what zarrs has built in, in one run: `cargo run --release --example bench`.
//!
//! The best of seven rounds, in turns, of one chunk of 256 × 256 elements that is in memory.

use std::error::Error;
use std::hint::black_box;
use std::num::NonZeroU64;
use std::sync::Arc;
use std::time::Instant;

use serde_json::{Value, json};
use zarrs::array::chunk_grid::RectilinearChunkGrid;
use zarrs::array::codec::api::{
    ArrayToArrayCodecTraits, ArrayToBytesCodecTraits, BytesPartialDecoderTraits, Codec,
    CodecOptions, CodecTraitsV3,
};
use zarrs::array::codec::{PackBitsCodec, ReshapeCodec};
use zarrs::array::{
    ArrayBytes, ArraySubset, ChunkGrid, ChunkGridTraits, DataType, FillValue, data_type,
};
use zarrs::metadata::v3::MetadataV3;
use zarrs::plugin::PluginCreateError;

type Done = Result<(), Box<dyn Error>>;
type Packbits = Arc<dyn ArrayToBytesCodecTraits>;
type Reshape = Arc<dyn ArrayToArrayCodecTraits>;
type Make = fn(&MetadataV3, &Vec<u64>) -> Result<ChunkGrid, PluginCreateError>;

const SIDE: u64 = 256;

fn metadata(name: &str, configuration: Value) -> Result<MetadataV3, serde_json::Error> {
    serde_json::from_value(json!({"name": name, "configuration": configuration}))
}

/// Prints how long each side takes for the same work.
fn beside<T>(case: &str, sides: [&T; 2], work: impl Fn(&T) -> Done) -> Done {
    let mut best = [f64::INFINITY; 2];
    for _ in 0..7 {
        for (best, side) in best.iter_mut().zip(sides) {
            let (start, mut times) = (Instant::now(), 0_u32);
            while start.elapsed().as_millis() < 30 {
                work(side)?;
                times += 1;
            }
            *best = best.min(start.elapsed().as_secs_f64() * 1e6 / f64::from(times));
        }
    }
    let [ours, theirs] = best;
    println!("| {case} | {ours:.1} | {theirs:.1} | {:.1} |", theirs / ours);
    Ok(())
}

fn packbits(name: &str, of_type: DataType, size: usize, last_bit: Option<u64>) -> Done {
    let metadata = metadata("packbits", json!({"last_bit": last_bit}))?;
    let ours: Packbits = Arc::new(zarrs_kit::PackbitsCodec::from_metadata(&metadata)?);
    let Codec::ArrayToBytes(theirs) = PackBitsCodec::create(&metadata)? else { unreachable!() };
    let (shape, fill) = ([NonZeroU64::new(SIDE).ok_or("0")?; 2], FillValue::new(vec![0; size]));
    let options = CodecOptions::default();
    let count = (SIDE * SIDE) as usize;
    let elements: Vec<u8> =
        (0..count).flat_map(|n| n.to_le_bytes().into_iter().map(|b| b & 1).take(size)).collect();
    let chunk =
        ours.encode(elements.clone().into(), &shape, &of_type, &fill, &options)?.into_owned();
    beside(&format!("packbits, {name}, encode"), [&ours, &theirs], |codec| {
        let elements = ArrayBytes::from(&elements[..]);
        black_box(codec.encode(elements, &shape, &of_type, &fill, &options)?);
        Ok(())
    })?;
    beside(&format!("packbits, {name}, decode"), [&ours, &theirs], |codec| {
        let chunk = std::borrow::Cow::Borrowed(&chunk[..]);
        black_box(codec.decode(chunk, &shape, &of_type, &fill, &options)?);
        Ok(())
    })?;
    let region = ArraySubset::new_with_ranges(&[100..164, 100..164]);
    let input: Arc<dyn BytesPartialDecoderTraits> = Arc::new(chunk.clone());
    beside(&format!("packbits, {name}, 64 × 64 of it"), [&ours, &theirs], |codec| {
        let part =
            codec.clone().partial_decoder(input.clone(), &shape, &of_type, &fill, &options)?;
        black_box(part.partial_decode(&region, &options)?);
        Ok(())
    })
}

fn reshape(name: &str, to: Value, region: ArraySubset) -> Done {
    let (of_type, fill, options) =
        (data_type::uint16(), FillValue::from(0_u16), CodecOptions::default());
    let metadata = metadata("reshape", json!({"shape": to}))?;
    let ours: Reshape = Arc::new(zarrs_kit::ReshapeCodec::from_metadata(&metadata)?);
    let Codec::ArrayToArray(theirs) = ReshapeCodec::create(&metadata)? else { unreachable!() };
    let shape = [NonZeroU64::new(SIDE).ok_or("0")?; 2];
    let bytes = Arc::new(zarrs::array::codec::BytesCodec::little());
    let input: Arc<dyn BytesPartialDecoderTraits> =
        Arc::new(vec![1_u8; (SIDE * SIDE * 2) as usize]);
    beside(&format!("reshape, {name}"), [&ours, &theirs], |codec| {
        let encoded = codec.encoded_shape(&shape)?;
        let inner = bytes.clone();
        let inner = inner.partial_decoder(input.clone(), &encoded, &of_type, &fill, &options)?;
        let outer = codec.clone().partial_decoder(inner, &shape, &of_type, &fill, &options)?;
        black_box(outer.partial_decode(&region, &options)?);
        Ok(())
    })
}

fn grid(name: &str, edges: Value, length: u64) -> Done {
    let metadata = metadata("rectilinear", json!({"kind": "inline", "chunk_shapes": [edges]}))?;
    let makers: [Make; 2] = [zarrs_kit::RectilinearGrid::create, RectilinearChunkGrid::create];
    beside(&format!("rectilinear, {name}, from its document"), [&makers[0], &makers[1]], |make| {
        black_box(make(&metadata, &vec![length])?);
        Ok(())
    })?;
    let made = [makers[0](&metadata, &vec![length])?, makers[1](&metadata, &vec![length])?];
    beside(&format!("rectilinear, {name}, 1000 look-ups"), [&made[0], &made[1]], |grid| {
        for at in 0..1000 {
            black_box(grid.chunk_indices(&[at * (length / 1000)])?);
        }
        Ok(())
    })
}

fn main() -> Done {
    println!("| case | these crates (µs) | zarrs (µs) | times |\n| --- | --: | --: | --: |");
    packbits("bool", data_type::bool(), 1, None)?;
    packbits("int4", data_type::int4(), 1, None)?;
    packbits("uint16 of 12 bits", data_type::uint16(), 2, Some(11))?;
    let square = ArraySubset::new_with_ranges(&[100..164, 64..128]);
    reshape("a box that stays one", json!([[0], 16, -1]), square.clone())?;
    reshape("rows of a flat chunk", json!([-1]), square)?;
    grid("3652 days", json!([31, 28, 31, 30, [60, 55], 232]), 3652)?;
    grid("a million equal edges in one run", json!([[7, 1_000_000]]), 7_000_000)
}
