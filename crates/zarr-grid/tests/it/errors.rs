//! The texts of the errors.

use crate::naive::runs;
use zarr_grid::{Axis, AxisSelection, Grid, GridError, GridErrorKind, Growth};

#[test]
fn messages() {
    let grid = Grid::regular(&[10, 6], &[5, 4]).unwrap();
    let list = Axis::from_edges(6, [4, 4]).unwrap();
    let [mut a, mut b] = [[0; 2]; 2];
    let errors: Vec<GridError> = vec![
        Axis::regular(3, 0).unwrap_err(),
        Axis::from_edges(3, [1, 2, 0]).unwrap_err(),
        Axis::from_runs(3, runs(&[(1, 2), (4, 0)])).unwrap_err(),
        Axis::from_runs(3, runs(&[(1 << 40, 1 << 40)])).unwrap_err(),
        Axis::from_edges(9, [3, 4]).unwrap_err(),
        Grid::regular(&[3, 4], &[3, 0]).unwrap_err(),
        Grid::regular(&[3, 4], &[3]).unwrap_err(),
        grid.locate(&[3, 6], &mut a, &mut b).unwrap_err(),
        grid.locate(&[3], &mut a, &mut b).unwrap_err(),
        grid.chunk_shape(&[2, 0], &mut a).unwrap_err(),
        grid.chunks(&[0..10, 3..7]).unwrap_err(),
        Grid::new(vec![Axis::regular(1 << 40, 1).unwrap(); 2]).all_chunks().unwrap_err(),
        grid.select(&[(0..1).into(), AxisSelection::Step { range: 0..1, step: 0 }]).unwrap_err(),
        list.select(&[true; 5][..].into()).unwrap_err(),
        list.chunks_of(&[1, 2], &mut a, &mut [0]).unwrap_err(),
        list.resized(7, Growth::Edges(&runs(&[(4, 1)]))).unwrap_err(),
        Axis::regular(9, 4).unwrap().resized(10, Growth::Edges(&runs(&[(4, 1)]))).unwrap_err(),
        Axis::from_edges(0, []).unwrap().resized(1, Growth::RepeatLast).unwrap_err(),
        Axis::concat(&[]).unwrap_err(),
        Axis::concat(&[&list, &list]).unwrap_err(),
        list.is_union_of(&Axis::regular(9, 4).unwrap()).unwrap_err(),
        Axis::regular(9, 3)
            .unwrap()
            .common_refinement(&Axis::regular(9, 4).unwrap(), 2)
            .unwrap_err(),
    ];
    let text: Vec<String> = errors.iter().map(ToString::to_string).collect();
    insta::assert_snapshot!(text.join("\n"), @r"
    edge 0 is 0, allowed are lengths of at least 1
    edge 2 is 0, allowed are lengths of at least 1
    run 1 repeats edge 4 0 times, allowed are counts of at least 1
    the sum of the edges exceeds the largest index, 18446744073709551615
    edges sum to 7, less than extent 9
    axis 1: edge 0 is 0, allowed are lengths of at least 1
    got 1 edges, the grid has rank 2
    axis 1: index 6 is out of bounds for extent 6
    got 1 indices, the grid has rank 2
    axis 0: chunk 2 is out of bounds for 2 declared chunks
    axis 1: range 3..7 is not within extent 6
    the region touches more than 18446744073709551615 chunks
    axis 1: step 0, allowed are steps other than 0
    got 5 mask entries, 6 are needed
    got 1 local indices, 2 are needed
    edges already reach 8, extent 7 needs no new ones
    a regular axis of edge 4 takes no new edges; only rectilinear axes do
    there is no edge to repeat
    there is nothing to concatenate
    member 0 ends at 6, inside of its last chunk, which ends at 8
    extents 6 and 9 differ
    the result needs more than the 2 runs allowed
    ");
}

#[test]
fn an_error_names_its_axis_and_its_kind() {
    let error = Grid::regular(&[3, 4], &[3, 0]).unwrap_err();
    assert_eq!((error.axis(), error.kind()), (Some(1), &GridErrorKind::ZeroEdge { position: 0 }));
    assert_eq!(Axis::regular(4, 0).unwrap_err().on_axis(1), error);
    assert_eq!(Axis::regular(4, 0).unwrap_err().axis(), None);
}
