//! Reading documents, long lists of edges beside `serde_json`, and elements as text.
//!
//! `cargo bench -p zarr-metadata -- edges` runs the ids that match: `edges/1-to-9/read` is an operation,
//! an input and what is measured. Each result is checked before it is timed.

#![expect(clippy::unwrap_used, reason = "a bench that fails stops")]

use std::hint::black_box;
use std::time::Duration;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use zarr_metadata::{
    ArrayMetadata, ChunkEdges, ChunkGrid, DataType, format_element, parse_element,
};

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

fn ordinary(criterion: &mut Criterion) {
    let text = document(90, "[31, 28, 31]");
    assert!(ArrayMetadata::from_json(text.as_bytes()).is_ok());
    let mut group = criterion.benchmark_group("document");
    group.throughput(Throughput::Bytes(text.len() as u64));
    group.bench_function("serde_json-value", |bencher| {
        bencher.iter(|| serde_json::from_str::<serde_json::Value>(black_box(&text)).unwrap());
    });
    group.bench_function("read", |bencher| {
        bencher.iter(|| ArrayMetadata::from_json(black_box(text.as_bytes())).unwrap());
    });
    group.finish();
}

fn edges(criterion: &mut Criterion) {
    for (name, below) in [("1-to-9", 9), ("1-to-999999", 999_999)] {
        let mut state = 7;
        let lengths: Vec<u64> = (0..1_000_000).map(|_| 1 + random(&mut state) % below).collect();
        let list = lengths.iter().map(u64::to_string).collect::<Vec<_>>().join(",");
        let list = format!("[{list}]");
        let text = document(lengths.iter().sum(), &list);
        let array = ArrayMetadata::from_json(text.as_bytes()).unwrap();
        let ChunkGrid::Rectilinear { chunk_shapes } = array.chunk_grid() else { unreachable!() };
        let ChunkEdges::Runs(runs) = &chunk_shapes[0] else { unreachable!() };
        assert!(runs.iter().map(|run| run.edge()).eq(lengths));

        let mut group = criterion.benchmark_group(format!("edges/{name}"));
        group.throughput(Throughput::Elements(1_000_000));
        group.bench_function("serde_json-vec-u64", |bencher| {
            bencher.iter(|| serde_json::from_str::<Vec<u64>>(black_box(&list)).unwrap());
        });
        group.bench_function("read", |bencher| {
            bencher.iter(|| ArrayMetadata::from_json(black_box(text.as_bytes())).unwrap());
        });
        group.finish();
    }
}

/// Numbers as they occur, as elements: tenths between -500 and 500.
fn elements_of(data_type: &DataType) -> Vec<u8> {
    let mut state = 11;
    let element = |_| {
        let tenths = random(&mut state) % 10_000;
        let sign = if tenths.is_multiple_of(2) { "-" } else { "" };
        let text = match data_type {
            DataType::Int16 => tenths.to_string(),
            _ => format!("{sign}{}.{}", tenths / 20, tenths % 10),
        };
        let mut element = Vec::new();
        parse_element(data_type, &text, &mut element).unwrap();
        element
    };
    (0..100_000).flat_map(element).collect()
}

fn elements(criterion: &mut Criterion) {
    let types = [
        DataType::Int16,
        DataType::Float16,
        DataType::Bfloat16,
        DataType::Float32,
        DataType::Float64,
    ];
    for data_type in types {
        let size = data_type.size().unwrap();
        let bytes = elements_of(&data_type);
        let mut text = String::new();
        let mut format = || {
            text.clear();
            for element in bytes.chunks_exact(size) {
                format_element(&data_type, element, &mut text).unwrap();
                text.push('\n');
            }
            text.len()
        };
        let mut group = criterion.benchmark_group(format!("elements/{data_type}"));
        group.throughput(Throughput::Elements(100_000));
        group.bench_function("format", |bencher| bencher.iter(&mut format));
        format();
        let mut back = Vec::new();
        let mut parse = || {
            back.clear();
            for line in text.lines() {
                parse_element(&data_type, line, &mut back).unwrap();
            }
            back.len()
        };
        group.bench_function("parse", |bencher| bencher.iter(&mut parse));
        parse();
        assert_eq!(back, bytes);
        group.finish();
    }
}

criterion_group! {
    name = benches;
    config = Criterion::default()
        .sample_size(15)
        .warm_up_time(Duration::from_millis(200))
        .measurement_time(Duration::from_secs(1));
    targets = ordinary, edges, elements
}
criterion_main!(benches);
