//! From JSON text to a grid that is ready.

use std::fmt;
use std::hint::black_box;

use serde::de::{Deserialize, Deserializer, SeqAccess, Visitor};
use zarr_grid::{Axis, Run};
use zarr_metadata::{ArrayMetadata, ChunkEdges, ChunkGrid, EdgeRun};
use zarrs::array::ChunkGridTraits;
use zarrs::array::chunk_grid::RectilinearChunkGrid;

use crate::edges;
use crate::timing::{self, Case, table};

/// One item of a list of edges.
struct Item(Run);

impl<'de> Deserialize<'de> for Item {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Item, D::Error> {
        struct ItemVisitor;
        impl<'de> Visitor<'de> for ItemVisitor {
            type Value = Item;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an edge or [edge, count]")
            }

            fn visit_u64<E>(self, edge: u64) -> Result<Item, E> {
                Ok(Item(Run { edge, count: 1 }))
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut pair: A) -> Result<Item, A::Error> {
                let missing = || serde::de::Error::custom("a run is [edge, count]");
                let edge = pair.next_element()?.ok_or_else(missing)?;
                let count = pair.next_element()?.ok_or_else(missing)?;
                Ok(Item(Run { edge, count }))
            }
        }
        deserializer.deserialize_any(ItemVisitor)
    }
}

/// The axis of an array's whole document, which is read and checked as `zarr-array` does.
fn axis_of_document(document: &str) -> Axis {
    let metadata = ArrayMetadata::from_json(document.as_bytes()).expect("valid");
    let ChunkGrid::Rectilinear { chunk_shapes } = metadata.chunk_grid() else { unreachable!() };
    let [ChunkEdges::Runs(runs)] = chunk_shapes.as_slice() else { unreachable!() };
    let runs = runs.iter().map(|run| match *run {
        EdgeRun::Edge(edge) => Run { edge, count: 1 },
        EdgeRun::Repeat { edge, count } => Run { edge, count: count.get() },
    });
    Axis::from_runs(metadata.shape()[0], runs).expect("valid")
}

pub fn run() {
    let mut rows = Vec::new();
    for list in edges::lists() {
        let extent = list.extent();
        let explicit = list.runs.iter().all(|&(_, count)| count == 1);
        let items = list.runs.iter().map(|&(edge, count)| match count {
            1 => edge.to_string(),
            _ => format!("[{edge},{count}]"),
        });
        let text = format!("[{}]", items.collect::<Vec<_>>().join(","));
        let document = format!(
            r#"{{"name":"rectilinear","configuration":{{"kind":"inline","chunk_shapes":[{text}]}}}}"#
        );
        let array = format!(
            r#"{{"zarr_format":3,"node_type":"array","shape":[{extent}],"data_type":"uint8",
            "chunk_grid":{document},"chunk_key_encoding":{{"name":"default"}},"fill_value":0,
            "codecs":[{{"name":"bytes"}}]}}"#
        );
        let open = || -> Axis {
            let items: Vec<Item> = serde_json::from_str(&text).expect("valid");
            Axis::from_runs(extent, items.into_iter().map(|item| item.0)).expect("valid")
        };
        assert_eq!(open().declared(), list.runs.iter().map(|run| run.1).sum::<u64>());
        let numbers = || {
            if explicit {
                black_box(serde_json::from_str::<Vec<u64>>(&text).expect("valid"));
            } else {
                black_box(serde_json::from_str::<Vec<[u64; 2]>>(&text).expect("valid"));
            }
        };
        assert_eq!(axis_of_document(&array).declared(), open().declared());
        let cases = [
            Case::new("serde_json, numbers only", 1000, numbers),
            Case::new("zarr-metadata and zarr-grid", 1000, || {
                black_box(axis_of_document(&array));
            }),
            Case::new("serde and zarr-grid", 1000, || {
                black_box(open());
            }),
            Case::new("zarrs", 1000, || {
                let metadata = serde_json::from_str(&document).expect("valid");
                black_box(RectilinearChunkGrid::create(&metadata, &vec![extent]).expect("valid"));
            }),
        ];
        rows.push((list.name.to_string(), timing::run(cases)));
    }
    table("JSON to a ready grid, microseconds", &rows);

    let start = std::time::Instant::now();
    let axis = Axis::from_runs(1 << 63, [Run { edge: 1, count: 1 << 63 }]).expect("valid");
    let grid = zarr_grid::Grid::new(vec![axis; 8]);
    black_box(grid.locate(&[1 << 62; 8], &mut [0; 8], &mut [0; 8]).expect("in bounds"));
    println!("\nEight axes of `[[1, 2^63]]`, made and looked up once: {:?}.", start.elapsed());
}
