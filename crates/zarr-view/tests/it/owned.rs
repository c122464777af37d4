use std::panic;
use std::sync::mpsc;
use std::thread;

use zarr_view::{CopyError, OwnedGrid, View};

use crate::copy::copy;
use crate::element;
use crate::oracle;

fn grid_of(buffer: Vec<u8>, cuts: &[Vec<usize>]) -> OwnedGrid {
    OwnedGrid::new(buffer, &View::contiguous(&[4, 6]).unwrap(), 1, cuts).unwrap()
}

#[test]
#[cfg_attr(target_family = "wasm", ignore = "starts threads")]
fn threads_that_outlive_the_call_write_every_part_once() {
    let view = View::contiguous(&[9, 20]).unwrap().slice(1, 17, -2, 9).unwrap();
    let mut buffer = Vec::with_capacity(1000);
    buffer.resize(9 * 20 * 2, 0xff);
    let address = buffer.as_ptr();
    let grid = OwnedGrid::new(buffer, &view, 2, &[vec![3, 4], vec![2, 5]]).unwrap();
    let whole = View::contiguous(&[9, 9]).unwrap();
    let source: Vec<u8> = (0..81_u16).flat_map(u16::to_le_bytes).collect();
    let starts = [[0, 3, 4, 9], [0, 2, 5, 9]];
    let threads: Vec<_> = (0..4)
        .map(|_| {
            let (grid, whole, source) = (grid.clone(), whole.clone(), source.clone());
            thread::spawn(move || {
                for part in oracle::indices(&[3, 3]) {
                    let Some(mut output) = grid.take(&part) else { continue };
                    let range =
                        |axis: usize| starts[axis][part[axis]]..starts[axis][part[axis] + 1];
                    let from = whole.shrink(&[range(0), range(1)]).unwrap();
                    assert_eq!(output.view().shape(), from.shape());
                    output.lend().copy_from(&from, &source, element(2), &[]).unwrap();
                }
            })
        })
        .collect();
    for thread in threads {
        thread.join().unwrap();
    }
    let found = grid.into_inner().unwrap();
    let mut wanted = vec![0xff; 9 * 20 * 2];
    copy(&whole, &source, &view, &mut wanted, element(2), &[]).unwrap();
    assert_eq!(found, wanted);
    // The same vector, including its spare capacity.
    assert_eq!((found.as_ptr(), found.capacity()), (address, 1000));
}

#[test]
fn the_vector_comes_back_from_its_only_owner() {
    let grid = grid_of(vec![1; 24], &[vec![2], vec![]]);
    let clone = grid.clone();
    let grid = grid.into_inner().unwrap_err();
    drop(clone);
    let mut top = grid.take(&[0, 0]).unwrap();
    let grid = grid.into_inner().unwrap_err();
    top.lend().fill(b"t").unwrap();
    top.lend().shrink(&[0..1, 0..1]).unwrap().fill(b"c").unwrap();
    drop(top);
    // A part can be taken once, whether or not it was written.
    assert!(grid.take(&[0, 0]).is_none());
    drop(grid.take(&[1, 0]).unwrap());
    let found = grid.into_inner().unwrap();
    assert_eq!(found[..12], *b"cttttttttttt");
    assert_eq!(found[12..], [1; 12]);
}

/// A part may be written after all other owners are gone, and then frees the vector.
#[test]
#[cfg_attr(target_family = "wasm", ignore = "starts a thread")]
fn a_part_keeps_the_memory_alive() {
    let grid = grid_of(vec![0; 24], &[vec![1], vec![3]]);
    let mut part = grid.take(&[1, 1]).unwrap();
    drop(grid);
    let thread = thread::spawn(move || {
        part.lend().fill(b"x").unwrap();
        part
    });
    let mut part = thread.join().unwrap();
    assert_eq!(part.lend().shrink(&[0..1, 0..3]).unwrap().as_mut_slice().unwrap(), b"xxx");
}

#[test]
#[cfg_attr(target_family = "wasm", ignore = "unwinds")]
fn a_panic_gives_its_part_up() {
    let grid = grid_of(vec![0; 24], &[vec![2], vec![]]);
    let mut part = grid.take(&[0, 0]).unwrap();
    let panicked = panic::catch_unwind(panic::AssertUnwindSafe(move || {
        part.lend().fill(b"x").unwrap();
        panic::resume_unwind(Box::new("on purpose"));
    }));
    panicked.unwrap_err();
    assert_eq!(grid.into_inner().unwrap()[10..14], *b"xx\0\0");
}

#[test]
fn a_part_that_waits_in_a_channel_holds_the_vector() {
    let grid = grid_of(vec![0; 24], &[vec![], vec![]]);
    let (sender, receiver) = mpsc::channel();
    sender.send(grid.take(&[0, 0]).unwrap()).unwrap();
    let grid = grid.into_inner().unwrap_err();
    drop(receiver);
    drop(sender);
    assert_eq!(grid.into_inner().unwrap(), [0; 24]);
}

#[test]
fn what_does_not_fit_is_refused() {
    let view = View::contiguous(&[4, 6]).unwrap();
    let none: [Vec<usize>; 2] = [vec![], vec![]];
    let short = OwnedGrid::new(vec![0; 23], &view, 1, &none).unwrap_err();
    assert!(matches!(short, CopyError::Destination { .. }), "{short}");
    assert!(OwnedGrid::new(vec![0; 24], &view, 1, &[vec![4], vec![]]).is_err());
    let overlap = View::new(&[2, 2], &[0, 1], 0).unwrap();
    assert!(OwnedGrid::new(vec![0; 24], &overlap, 1, &none).is_err());
    let empty = OwnedGrid::new(Vec::new(), &View::contiguous(&[0, 3]).unwrap(), 1, &none).unwrap();
    empty.take(&[0, 0]).unwrap().lend().fill(b"x").unwrap();
    assert!(empty.into_inner().unwrap().is_empty());
}
