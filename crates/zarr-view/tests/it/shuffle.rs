//! Copies whose elements change places within a few vectors, all near the sizes of a vector.

use zarr_view::{CopyElement, View};

use crate::copy::{copy, expected};
use crate::{element, swapped};

/// Copies from a buffer that ends with the last element of the view, to one with some bytes more
/// on both sides, and compares every byte.
fn check(from: &View, to: &View, element: CopyElement) {
    let src: Vec<u8> =
        (0..from.span().end * element.size()).map(|i| (i * 31 + i / 253) as u8).collect();
    let before = vec![0xee; to.span().end * element.size() + 40];
    let wanted = expected(from, &src, to, &before, element, &[]);
    // In every second case the first byte of the buffers is not aligned.
    let skip = from.len() % 2 * 3;
    let memory: Vec<u8> = [&vec![0; skip][..], &src].concat();
    let mut dst = [&vec![0; skip][..], &before].concat();
    copy(from, &memory[skip..], to, &mut dst[skip..], element, &[]).unwrap();
    assert!(dst[skip..] == wanted, "{from:?} to {to:?} of {element:?}");
}

fn elements() -> Vec<CopyElement> {
    let mut all: Vec<CopyElement> = [1, 2, 4, 8].map(element).into();
    all.extend([2, 4, 8].map(swapped));
    all.extend([(4, 2), (8, 4), (8, 2)].map(|(n, u)| CopyElement::swapped_in_units(n, u).unwrap()));
    all
}

/// Numbers of elements around those of vectors with 1, 2 and 4 lanes of 16 bytes.
fn counts(element: CopyElement) -> Vec<usize> {
    let lane = 16 / element.size();
    let mut counts = vec![1, lane - 1, lane, lane + 1, 2 * lane - 1, 2 * lane, 2 * lane + 1];
    counts.extend([3 * lane + 1, 4 * lane - 1, 4 * lane, 4 * lane + 1, 5 * lane + 1, 9 * lane - 1]);
    counts.retain(|&count| count > 0);
    counts
}

/// Elements of a short axis: few, and around the most that shuffles take.
const SHORT: [usize; 11] = [1, 2, 3, 4, 5, 7, 8, 12, 15, 16, 17];

/// The view, and each flip of its axes.
fn flips(view: &View) -> Vec<View> {
    let mut all = vec![view.clone()];
    for axis in 0..view.rank() {
        let more: Vec<View> = all.iter().map(|view| view.flip(axis).unwrap()).collect();
        all.extend(more);
    }
    all
}

#[test]
fn rows_are_woven_together() {
    for element in elements() {
        for count in counts(element) {
            for rows in SHORT {
                // Rows that are longer than what is read of them.
                let stored = View::contiguous(&[rows, count + rows % 3]).unwrap();
                let from = stored.shrink(&[0..rows, 0..count]).unwrap().permute(&[1, 0]).unwrap();
                let to = View::contiguous(&[count, rows]).unwrap();
                flips(&from).iter().for_each(|from| check(from, &to, element));
                // Room between the elements of the destination.
                let wide = View::contiguous(&[count, rows + 1]).unwrap();
                check(&from, &wide.shrink(&[0..count, 0..rows]).unwrap(), element);
            }
        }
    }
}

#[test]
fn rows_are_woven_apart() {
    for element in elements() {
        for count in counts(element) {
            for stored in SHORT {
                let pixels = View::contiguous(&[count, stored]).unwrap().permute(&[1, 0]).unwrap();
                for range in [0..stored, 0..stored.div_ceil(2), stored / 2..stored] {
                    let rows = range.len();
                    let from = pixels.shrink(&[range, 0..count]).unwrap();
                    let room = View::contiguous(&[rows, count + rows % 3]).unwrap();
                    let to = room.shrink(&[0..rows, 0..count]).unwrap();
                    flips(&from).iter().for_each(|from| check(from, &to, element));
                    if rows > 2 {
                        // Every second row.
                        let from = from.slice(0, 0, 2, rows.div_ceil(2)).unwrap();
                        let to = to.shrink(&[0..rows.div_ceil(2), 0..count]).unwrap();
                        flips(&from).iter().for_each(|from| check(from, &to, element));
                    }
                }
            }
        }
    }
}

#[test]
fn steps_and_reversed_axes() {
    for element in elements() {
        for count in counts(element) {
            for step in SHORT {
                let line = View::contiguous(&[(count - 1) * step + 1]).unwrap();
                let from = line.slice(0, 0, step as isize, count).unwrap();
                let to = View::contiguous(&[count]).unwrap();
                flips(&from).iter().for_each(|from| check(from, &to, element));
                // Two rows of it, the second of which ends where the buffer does.
                let rows = View::contiguous(&[3, (count - 1) * step + 1]).unwrap();
                let from = rows.slice(1, 0, step as isize, count).unwrap();
                let to = View::contiguous(&[3, count]).unwrap();
                flips(&from).iter().for_each(|from| check(from, &to, element));
            }
        }
    }
}

/// Elements and stretches of every length that moves as vectors, or as two parts that overlap.
#[test]
fn short_stretches() {
    for size in (1..=40).chain([
        47, 48, 63, 64, 65, 95, 96, 127, 128, 129, 200, 256, 511, 512, 513, 1000, 1024, 1025,
    ]) {
        for [outer, inner] in [[1, 2], [3, 5], [7, 2]] {
            let rows = View::contiguous(&[outer, inner, 2]).unwrap();
            let rows = rows.shrink(&[0..outer, 0..inner, 0..1]).unwrap();
            let to = View::contiguous(&[inner, outer, 1]).unwrap();
            for from in flips(&rows.permute(&[1, 0, 2]).unwrap()) {
                check(&from, &to, element(size));
            }
        }
    }
}

/// One element many times, of each size, in short and in long rows: rows that follow each other,
/// rows that lie apart, and boxes of rows.
#[test]
fn columns_that_repeat() {
    for element in elements().into_iter().chain([3, 12, 16, 24].map(element)) {
        for count in [1, 2, 3, 5, 8, 31, 32, 33, 64, 65, 4096, 4097] {
            let from = View::contiguous(&[3, 1]).unwrap().expand(&[3, count]).unwrap();
            check(&from, &View::contiguous(&[3, count]).unwrap(), element);
            if count > 65 {
                continue;
            }
            let boxes = View::contiguous(&[2, 2, 3, 1]).unwrap().permute(&[2, 0, 1, 3]).unwrap();
            let room = View::contiguous(&[3, 2, 2, count + 3]).unwrap();
            let to = room.shrink(&[0..3, 0..2, 0..2, 1..count + 1]).unwrap();
            for from in flips(&boxes.expand(&[3, 2, 2, count]).unwrap()) {
                check(&from, &to, element);
            }
        }
    }
    for unit in [2, 4, 8, 16] {
        let element = CopyElement::swapped_in_units(16, unit).unwrap();
        let from = View::contiguous(&[3, 1]).unwrap().expand(&[3, 9]).unwrap();
        check(&from, &View::contiguous(&[3, 9]).unwrap(), element);
    }
}
