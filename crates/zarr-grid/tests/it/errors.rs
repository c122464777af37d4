//! What the errors say.

use crate::naive::runs;
use zarr_grid::{Axis, Grid, GridError};

#[test]
fn messages() {
    let grid = Grid::regular(&[10, 6], &[5, 4]).unwrap();
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
    ");
}
