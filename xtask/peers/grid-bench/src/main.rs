//! zarr-grid beside zarrs 0.23, in one process with interleaved repetitions.
//!
//! `cargo run --release` prints the tables that `docs/bench` keeps. Every timed result is compared
//! with the peer's.

mod edges;
mod open;
mod timing;

use std::hint::black_box;

use timing::{Case, table};
use zarr_grid::{Axis, Grid};
use zarrs::array::chunk_grid::{RectilinearChunkGrid, RunLengthElement};
use zarrs::array::{ArraySubset, ChunkGridTraits};

fn main() {
    let only = std::env::args().nth(1);
    let parts: [(&str, fn()); 4] =
        [("look-ups", look_ups), ("bulk", bulk), ("regions", regions), ("open", open::run)];
    for (name, part) in parts {
        if only.as_ref().is_none_or(|only| only == name) {
            part();
        }
    }
}

/// The same axes for both.
fn ours(list: &edges::List) -> Grid {
    let runs = list.runs.iter().map(|&(edge, count)| zarr_grid::Run { edge, count });
    Grid::new([Axis::from_runs(list.extent(), runs).expect("edges are valid")])
}

fn theirs(list: &edges::List) -> RectilinearChunkGrid {
    RectilinearChunkGrid::new(vec![list.extent()], &[list.zarrs()]).expect("edges are valid")
}

fn look_ups() {
    let (mut independent, mut chained) = (Vec::new(), Vec::new());
    for list in edges::lists() {
        let (grid, peer) = (ours(&list), theirs(&list));
        let indices = list.indices(200_000);
        let [mut chunk, mut local] = [[0], [0]];
        for &index in &indices {
            grid.locate(&[index], &mut chunk, &mut local).expect("in bounds");
            let found = peer.chunk_indices(&[index]).expect("one axis").expect("in bounds");
            assert_eq!(found, chunk);
            let inside = peer.chunk_element_indices(&[index]).expect("one axis");
            assert_eq!(inside.expect("in bounds"), local);
        }
        let find_theirs =
            |index: u64| peer.chunk_indices(&[index]).ok().flatten().map_or(0, |found| found[0]);
        let find_ours = |index: u64| {
            let [mut chunk, mut local] = [[0], [0]];
            _ = grid.locate(&[index], &mut chunk, &mut local);
            black_box(local);
            chunk[0]
        };
        let cases = [
            Case::new("zarrs", indices.len(), || {
                indices.iter().for_each(|&index| _ = black_box(find_theirs(index)));
            }),
            Case::new("zarr-grid", indices.len(), || {
                indices.iter().for_each(|&index| _ = black_box(find_ours(index)));
            }),
        ];
        independent.push((list.name.to_string(), timing::run(cases)));

        // Each index depends on the answer before it, so that nothing overlaps.
        let extent = list.extent();
        let chain = |find: &dyn Fn(u64) -> u64| {
            indices.iter().fold(0, |found, &index| find((index ^ (found & 1)).min(extent - 1)))
        };
        let cases = [
            Case::new("zarrs", indices.len(), || _ = black_box(chain(&find_theirs))),
            Case::new("zarr-grid", indices.len(), || _ = black_box(chain(&find_ours))),
        ];
        chained.push((list.name.to_string(), timing::run(cases)));
    }
    table("Index to chunk, 1-D, about a million chunks, random indices, ns each", &independent);
    table("The same, each look-up waiting for the one before, ns each", &chained);
}

fn bulk() {
    let mut rows = Vec::new();
    for list in edges::lists() {
        let (grid, peer) = (ours(&list), theirs(&list));
        let axis = &grid.axes()[0];
        let unsorted = list.indices(50_000);
        let mut sorted = unsorted.clone();
        sorted.sort_unstable();
        let [mut chunks, mut locals] = [vec![0; 50_000], vec![0; 50_000]];
        let [mut more_chunks, mut more_locals] = [vec![0; 50_000], vec![0; 50_000]];
        let cases = [
            Case::new("zarrs, unsorted", unsorted.len(), || {
                for &index in &unsorted {
                    black_box(peer.chunk_indices(&[index]).ok());
                }
            }),
            Case::new("unsorted", unsorted.len(), || {
                axis.chunks_of(&unsorted, &mut chunks, &mut locals).expect("in bounds");
            }),
            Case::new("sorted", sorted.len(), || {
                axis.chunks_of(&sorted, &mut more_chunks, &mut more_locals).expect("in bounds");
            }),
        ];
        rows.push((list.name.to_string(), timing::run(cases)));
    }
    table("Index to chunk in bulk, 50,000 indices, ns each", &rows);
}

fn regions() {
    let mut rows = Vec::new();
    for (name, edges) in edges::region_lists() {
        let extent: u64 = edges.iter().sum();
        let axis = Axis::from_edges(extent, edges.iter().copied()).expect("edges are valid");
        let grid = Grid::new([axis.clone(), axis]);
        let elements: Vec<_> = edges
            .iter()
            .map(|&edge| RunLengthElement::Single(edge.try_into().expect("not zero")))
            .collect();
        let shapes =
            [(); 2].map(|()| zarrs::array::chunk_grid::ChunkEdgeLengths::Varying(elements.clone()));
        let peer = RectilinearChunkGrid::new(vec![extent; 2], &shapes).expect("edges are valid");
        let peer_regular = zarrs::array::chunk_grid::RegularChunkGrid::new(
            vec![extent; 2],
            vec![(extent / 1000).max(1).try_into().expect("not zero"); 2],
        )
        .expect("valid");
        let whole = ArraySubset::new_with_shape(vec![extent; 2]);
        let walk_peer = |peer: &dyn ChunkGridTraits| {
            let chunks = peer.chunks_in_array_subset(&whole).expect("rank").expect("in bounds");
            let mut sum = 0;
            for chunk in &chunks.indices() {
                let subset = peer.subset(&chunk).expect("rank").expect("exists");
                let overlap = subset.overlap(&whole).expect("rank");
                let in_chunk = overlap.relative_to(subset.start()).expect("rank");
                let in_region = overlap.relative_to(whole.start()).expect("rank");
                sum += in_chunk.shape()[1] ^ in_region.start()[0];
            }
            sum
        };
        let region = [0..extent, 0..extent];
        let walk = |mut parts: zarr_grid::ChunkParts<'_>| {
            let mut sum = 0;
            while let Some(part) = parts.next_part() {
                sum += part.axes()[1].len() ^ part.axes()[0].in_selection().start;
            }
            sum
        };
        let walk_ours = |grid: &Grid| walk(grid.chunks(&region).expect("in bounds"));
        assert_eq!(walk_peer(&peer), walk_ours(&grid));
        let count = usize::try_from(grid.occupied_chunks().expect("few")).expect("few");
        let cases = [
            Case::new("zarrs rectilinear", count, || {
                black_box(walk_peer(&peer));
            }),
            Case::new("zarr-grid", count, || {
                black_box(walk_ours(&grid));
            }),
            Case::new("zarr-grid, 2 threads", count, || {
                let all = grid.chunks(&region).expect("in bounds");
                let middle = all.len() / 2;
                let (first, second) = (all.range(0..middle), all.range(middle..all.len()));
                std::thread::scope(|scope| {
                    let other = scope.spawn(|| walk(second));
                    black_box(walk(first) + other.join().expect("no panic"));
                });
            }),
            Case::new("zarrs regular", count, || {
                black_box(walk_peer(&peer_regular));
            }),
        ];
        rows.push((name.to_string(), timing::run(cases)));
    }
    table("All chunks of 1000 x 1000, with the part of each, ns a chunk", &rows);
}
