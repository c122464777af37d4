//! Ranges of numbers, as boxes.

use std::ops::Range;

use zarr_grid::{boxes, unravel};

/// The numbers of the elements of boxes, in the boxes' order.
fn numbers(boxes: &[Vec<Range<u64>>], shape: &[u64]) -> Vec<u64> {
    let mut numbers = Vec::new();
    for of_box in boxes {
        let lengths: Vec<u64> = of_box.iter().map(|range| range.end - range.start).collect();
        for number in 0..lengths.iter().product() {
            let index = unravel(number, &lengths).expect("is inside");
            let axes = index.iter().zip(of_box).zip(shape);
            numbers.push(axes.fold(0, |at, ((i, range), length)| {
                assert!(range.end <= *length, "{of_box:?} of {shape:?}");
                at * length + range.start + i
            }));
        }
    }
    numbers
}

#[test]
fn boxes_are_the_elements_of_every_range_in_order() {
    let shapes: &[&[u64]] =
        &[&[], &[1], &[7], &[3, 4], &[4, 1], &[1, 4], &[2, 3, 4], &[2, 1, 3, 2], &[3, 0, 2]];
    for shape in shapes {
        let count: u64 = shape.iter().product();
        for start in 0..=count + 1 {
            for end in 0..=count + 2 {
                let cut = boxes(start..end, shape);
                let expected: Vec<u64> = (start..end.min(count)).collect();
                assert_eq!(numbers(&cut, shape), expected, "{start}..{end} of {shape:?}");
                assert!(cut.len() <= (2 * shape.len()).max(1), "{cut:?}");
            }
        }
    }
}

#[test]
fn a_box_of_more_elements_than_u64_counts_is_cut_all_the_same() {
    let cut = boxes((1 << 40) - 1..(1 << 40) + 1, &[u64::MAX, 1 << 20, 1 << 20]);
    let last = (1 << 20) - 1;
    assert_eq!(cut, [[0..1, last..last + 1, last..last + 1], [1..2, 0..1, 0..1]]);
}
