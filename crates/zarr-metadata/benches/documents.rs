//! Reading documents, long lists of edges beside `serde_json`, and elements as text.
//!
//! `cargo bench -p zarr-metadata` prints the best of several rounds and, where there is one, the
//! ratio to the reference of the line above it. Every result is checked before it is timed.

#![expect(clippy::unwrap_used, reason = "a bench that fails stops")]

use std::hint::black_box;
use std::time::{Duration, Instant};

use zarr_metadata::{
    ArrayMetadata, ChunkEdges, ChunkGrid, DataType, format_element, parse_element,
};

const ROUNDS: u32 = 15;

fn best<T>(mut work: impl FnMut() -> T) -> Duration {
    (0..ROUNDS)
        .map(|_| {
            let start = Instant::now();
            black_box(work());
            start.elapsed()
        })
        .min()
        .unwrap_or_default()
}

/// Time for each of `count` items, and how often the reference's time it is.
fn report(id: &str, time: Duration, count: u32, reference: Option<Duration>) {
    let each = time.as_secs_f64() * 1e9 / f64::from(count);
    let ratio = reference.map_or(String::new(), |reference| {
        format!("  {:.2} x reference", time.as_secs_f64() / reference.as_secs_f64())
    });
    println!("{id:<36} {:>10.3} ms {each:>10.1} ns each{ratio}", time.as_secs_f64() * 1e3);
}

/// Two times of one thing, for `cargo xtask bench`.
fn record(row: &str, serde_json: Duration, ours: Duration) {
    if std::env::var_os("BENCH_RECORDS").is_some() {
        for (role, who, time) in
            [("peer", "serde_json", serde_json), ("ours", "zarr-metadata", ours)]
        {
            println!("record\tmetadata\t{row}\t{role}\t{who}\t{}", time.as_nanos());
        }
    }
}

fn document(shape: u64, edges: &str) -> String {
    format!(
        r#"{{"zarr_format": 3, "node_type": "array", "shape": [{shape}], "data_type": "int16",
        "chunk_grid": {{"name": "rectilinear", "configuration":
            {{"kind": "inline", "chunk_shapes": [{edges}]}}}},
        "chunk_key_encoding": {{"name": "default", "configuration": {{"separator": "/"}}}},
        "fill_value": 0,
        "codecs": [{{"name": "bytes", "configuration": {{"endian": "little"}}}},
            {{"name": "zstd", "configuration": {{"level": 1, "checksum": false}}}}],
        "attributes": {{"units": "K", "history": "made for a bench", "range": [180.5, 330.25]}},
        "dimension_names": ["time"]}}"#
    )
}

/// A generator that is the same everywhere.
fn random(state: &mut u64) -> u64 {
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    *state
}

fn ordinary() {
    let text = document(90, "[31, 28, 31]");
    assert!(ArrayMetadata::from_json(text.as_bytes()).is_ok());
    let value = best(|| {
        for _ in 0..1000 {
            black_box(serde_json::from_str::<serde_json::Value>(&text).unwrap());
        }
    });
    report("document/serde_json-value", value, 1000, None);
    let ours = best(|| {
        for _ in 0..1000 {
            black_box(ArrayMetadata::from_json(text.as_bytes()).unwrap());
        }
    });
    report("document/read", ours, 1000, Some(value));
    record("a document, by serde_json as a tree", value, ours);
}

fn edges(id: &str, below: u64) {
    let mut state = 7;
    let lengths: Vec<u64> = (0..1_000_000).map(|_| 1 + random(&mut state) % below).collect();
    let list = lengths.iter().map(u64::to_string).collect::<Vec<_>>().join(",");
    let list = format!("[{list}]");
    let text = document(lengths.iter().sum(), &list);
    let array = ArrayMetadata::from_json(text.as_bytes()).unwrap();
    let ChunkGrid::Rectilinear { chunk_shapes } = array.chunk_grid() else { return };
    let ChunkEdges::Runs(runs) = &chunk_shapes[0] else { return };
    assert!(runs.iter().map(|run| run.edge()).eq(lengths));

    let reference = best(|| serde_json::from_str::<Vec<u64>>(&list).unwrap());
    report(&format!("{id}/serde_json-vec-u64"), reference, 1_000_000, None);
    let ours = best(|| ArrayMetadata::from_json(text.as_bytes()).unwrap());
    report(&format!("{id}/read"), ours, 1_000_000, Some(reference));
    let row = format!("a million {}, by serde_json as numbers alone", id.replace(['/', '-'], " "));
    record(&row, reference, ours);
}

fn elements(data_type: DataType) {
    let size = data_type.size().unwrap();
    let mut state = 11;
    let bytes: Vec<u8> = (0..100_000)
        .flat_map(|_| {
            // Numbers as they occur: tenths between -500 and 500.
            let tenths = random(&mut state) % 10_000;
            let text = match data_type {
                DataType::Int16 => tenths.to_string(),
                _ => format!(
                    "{}{}.{}",
                    if tenths.is_multiple_of(2) { "-" } else { "" },
                    tenths / 20,
                    tenths % 10
                ),
            };
            let mut element = Vec::new();
            parse_element(&data_type, &text, &mut element).unwrap();
            element
        })
        .collect();
    let mut text = String::new();
    let write = best(|| {
        text.clear();
        for element in bytes.chunks_exact(size) {
            format_element(&data_type, element, &mut text).unwrap();
            text.push('\n');
        }
        text.len()
    });
    report(&format!("elements/{data_type}/format"), write, 100_000, None);
    let mut back = Vec::new();
    let read = best(|| {
        back.clear();
        for line in text.lines() {
            parse_element(&data_type, line, &mut back).unwrap();
        }
        back.len()
    });
    assert_eq!(back, bytes);
    report(&format!("elements/{data_type}/parse"), read, 100_000, None);
}

fn main() {
    ordinary();
    edges("edges/1-to-9", 9);
    edges("edges/1-to-999999", 999_999);
    for data_type in [
        DataType::Int16,
        DataType::Float16,
        DataType::Bfloat16,
        DataType::Float32,
        DataType::Float64,
    ] {
        elements(data_type);
    }
}
