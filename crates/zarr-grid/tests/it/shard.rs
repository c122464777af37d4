//! Grids in two levels.

use crate::naive::{Naive, partitions, runs};
use zarr_grid::{Axis, Grid, GridError, ShardGrid};

#[test]
fn sd_34_every_partition_takes_just_the_inner_edges_that_divide_its_occupied_ones() {
    for naive in partitions(9, 3) {
        let occupied = &naive.edges[..naive.occupied() as usize];
        for inner in 1..=10 {
            let made = ShardGrid::new(Grid::new([naive.axis()]), &[inner]);
            let Some(bad) = occupied.iter().position(|edge| edge % inner != 0) else {
                check(&naive, inner, &made.unwrap());
                continue;
            };
            let error = GridError::InnerEdge { inner, edge: occupied[bad], shard: bad as u64 };
            assert_eq!(made.unwrap_err(), error.on_axis(0));
        }
    }
}

fn check(naive: &Naive, inner: u64, grid: &ShardGrid) {
    let [mut shard, mut chunk, mut local, mut count, mut first] = [[0]; 5];
    for index in 0..naive.extent {
        grid.locate(&[index], &mut shard, &mut chunk, &mut local).unwrap();
        let (outer, offset) = naive.chunk_of(index).unwrap();
        assert_eq!((shard[0], chunk[0], local[0]), (outer, offset / inner, offset % inner));
        grid.inner_counts(&shard, &mut count).unwrap();
        assert_eq!(count[0] * inner, naive.edges[outer as usize]);
        // The inner chunks of all shards are one regular grid.
        grid.first_chunk(&shard, &mut first).unwrap();
        assert_eq!(grid.chunks().axes()[0].chunk_of(index), Some((first[0] + chunk[0], local[0])));
    }
    for start in 0..=naive.extent {
        let region = [start; 1].map(|start| start..naive.extent);
        let mut all = grid.chunks().chunks(&region).unwrap();
        for shard in 0..naive.occupied() {
            let mut some = grid.chunks_in_shard(&[shard], &region).unwrap();
            while let Some(part) = some.next_part() {
                assert_eq!(Some(part), all.next_part());
                let index = start + part.in_region[0];
                assert_eq!(naive.chunk_of(index).unwrap().0, shard);
            }
        }
        assert!(all.is_empty());
    }
    let region = [const { 0..0 }; 1];
    assert!(grid.chunks_in_shard(&[naive.occupied()], &region).is_err());
}

#[test]
fn shards_within_shards() {
    let outer = ShardGrid::new(Grid::new([Axis::from_edges(30, [12, 18]).unwrap()]), &[6]).unwrap();
    let nested = ShardGrid::new(outer.chunks().clone(), &[2]).unwrap();
    let [mut shard, mut chunk, mut local] = [[0]; 3];
    nested.locate(&[19], &mut shard, &mut chunk, &mut local).unwrap();
    assert_eq!((shard, chunk, local), ([3], [0], [1]));
    assert_eq!((nested.inner_shape(), nested.shards().occupied()), (&[2][..], &[5][..]));
}

#[test]
fn hostile_shards_cost_one_run() {
    let axis = Axis::from_runs(1 << 62, runs(&[(2, 1 << 60), (4, 1 << 60)])).unwrap();
    let grid = ShardGrid::new(Grid::new([axis]), &[2]).unwrap();
    assert_eq!(grid.chunks().declared(), [1 << 61]);
    assert!(ShardGrid::new(Grid::regular(&[4], &[2]).unwrap(), &[0]).is_err());
    assert!(ShardGrid::new(Grid::regular(&[4], &[2]).unwrap(), &[]).is_err());
}
