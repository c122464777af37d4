use std::thread;

use zarr_view::{CopyElement, CopyError, CopyPlan, Output, View, ViewError, zeroed};

use crate::copy::copy;
use crate::element;
use crate::oracle;
use crate::rng::Rng;

#[test]
#[cfg_attr(target_family = "wasm", ignore = "starts threads")]
fn a_grid_hands_out_every_part_once_to_threads() {
    let shape = [7, 9, 5];
    // Every second element of a larger array, backwards along one axis.
    let view = View::contiguous(&[9, 20, 6]).unwrap();
    let view = view.shrink(&[1..8, 0..20, 0..5]).unwrap();
    let view = view.slice(1, 17, -2, 9).unwrap();
    let mut buffer = vec![0xff_u8; 9 * 20 * 6 * 2];
    let cuts = [vec![3], vec![2, 5], vec![1, 2, 4]];
    let grid = Output::new(&mut buffer, &view, 2).unwrap().grid(&cuts).unwrap();
    assert_eq!(grid.shape(), [2, 3, 4]);
    let parts = oracle::indices(grid.shape());
    let source: Vec<u8> = (0..7 * 9 * 5_u16).flat_map(u16::to_le_bytes).collect();
    let whole = View::contiguous(&shape).unwrap();
    thread::scope(|scope| {
        for worker in 0..4 {
            let (grid, parts, source, whole) = (&grid, &parts, &source, &whole);
            scope.spawn(move || {
                // All workers try every part, each starting elsewhere.
                for i in 0..parts.len() {
                    let part = &parts[(i + worker * 5) % parts.len()];
                    let Some(mut output) = grid.take(part) else { continue };
                    let from = whole.shrink(&grid.ranges(part).unwrap()).unwrap();
                    output.copy_from(&from, source, element(2), &[]).unwrap();
                }
            });
        }
    });
    for part in &parts {
        assert!(grid.take(part).is_none());
    }
    assert!(grid.take(&[2, 0, 0]).is_none() && grid.take(&[0]).is_none());
    drop(grid);
    let mut wanted = vec![0xff_u8; 9 * 20 * 6 * 2];
    copy(&whole, &source, &view, &mut wanted, element(2), &[]).unwrap();
    assert_eq!(buffer, wanted);
}

#[test]
fn parts_of_an_output_can_be_reshaped_and_written() {
    let mut buffer = vec![0; 48];
    let view = View::contiguous(&[4, 12]).unwrap();
    let mut output = Output::new(&mut buffer, &view, 1).unwrap();
    let mut split = output.reshape(&[2, 2, 12]).unwrap().unwrap();
    let mut turned = split.permute(&[2, 0, 1]).unwrap();
    let tile: Vec<u8> = (1..=48).collect();
    let from = View::contiguous(turned.view().shape()).unwrap();
    turned.copy_from(&from, &tile, element(1), &[]).unwrap();
    assert!(output.reshape(&[48, 2]).is_err());
    let mut corner = output.shrink(&[3..4, 11..12]).unwrap();
    corner.fill(&[99]).unwrap();
    let mut wanted = vec![0; 48];
    for i in 0..12 {
        for j in 0..4 {
            wanted[j * 12 + i] = (i * 4 + j + 1) as u8;
        }
    }
    wanted[47] = 99;
    assert_eq!(buffer, wanted);
}

#[test]
fn a_plan_runs_on_every_output_of_its_strides() {
    let chunk = View::contiguous(&[3, 2]).unwrap().permute(&[1, 0]).unwrap();
    let array = View::contiguous(&[4, 6]).unwrap();
    let mut buffer = [0; 24];
    let grid = Output::new(&mut buffer, &array, 1).unwrap().grid(&[vec![2], vec![3]]).unwrap();
    let mut plan: Option<CopyPlan> = None;
    for (n, part) in oracle::indices(grid.shape()).iter().enumerate() {
        let mut output = grid.take(part).unwrap();
        let plan =
            plan.get_or_insert_with(|| CopyPlan::new(&chunk, output.view(), element(1)).unwrap());
        let source: Vec<u8> = (0..6).map(|i| (n * 10 + i) as u8).collect();
        output.run(plan, &source, &[]).unwrap();
    }
    drop(grid);
    #[rustfmt::skip]
    assert_eq!(buffer, [
        0, 2, 4, 10, 12, 14,
        1, 3, 5, 11, 13, 15,
        20, 22, 24, 30, 32, 34,
        21, 23, 25, 31, 33, 35,
    ]);
    let mut small = [0; 6];
    let mut output = Output::new(&mut small, &View::contiguous(&[2, 3]).unwrap(), 1).unwrap();
    assert_eq!(output.run(&plan.unwrap(), &[0; 6], &[]), Err(CopyError::Plan));
}

#[test]
fn a_plan_runs_at_every_box_of_its_shape() {
    // Outputs of several strides, single indices and turned axes among them.
    let views = [
        View::contiguous(&[4, 5]).unwrap(),
        View::contiguous(&[5, 4]).unwrap().permute(&[1, 0]).unwrap(),
        View::contiguous(&[4, 5]).unwrap().flip(0).unwrap(),
        View::contiguous(&[8, 10]).unwrap().slice(0, 1, 2, 4).unwrap().slice(1, 2, 1, 5).unwrap(),
        View::contiguous(&[1, 5]).unwrap(),
        View::contiguous(&[4, 1]).unwrap(),
    ];
    for view in &views {
        let &[rows, columns] = view.shape() else { panic!() };
        for (height, width) in (0..=rows).flat_map(|h| (0..=columns).map(move |w| (h, w))) {
            let chunk = View::contiguous(&[height, width]).unwrap();
            let source: Vec<u8> = (1..=20).collect();
            let made = view.shrink(&[rows - height..rows, 0..width]).unwrap();
            let plan = CopyPlan::new(&chunk, &made, element(1)).unwrap();
            for (row, column) in
                (0..=rows - height).flat_map(|r| (0..=columns - width).map(move |c| (r, c)))
            {
                let (mut found, mut wanted) = (vec![0; 80], vec![0; 80]);
                let mut output = Output::new(&mut found, view, 1).unwrap();
                output.run_at(&[row, column], &plan, &source, &[]).unwrap();
                let place = view.shrink(&[row..row + height, column..column + width]).unwrap();
                copy(&chunk, &source, &place, &mut wanted, element(1), &[]).unwrap();
                assert_eq!(found, wanted, "{view:?} {height} {width} {row} {column}");
            }
            let mut buffer = vec![0; 80];
            let mut output = Output::new(&mut buffer, view, 1).unwrap();
            let refused = output.run_at(&[rows - height + 1, 0], &plan, &source, &[]);
            let (start, end) = (rows - height + 1, rows + 1);
            let range = ViewError::Range { axis: 0, start, end, size: rows };
            assert_eq!(refused, Err(range.into()));
            let refused = output.run_at(&[0, usize::MAX], &plan, &source, &[]);
            assert!(matches!(refused, Err(CopyError::View(ViewError::Range { axis: 1, .. }))));
            assert_eq!(buffer, [0; 80]);
        }
    }
}

#[test]
fn a_plan_runs_at_no_box_of_other_strides() {
    let square = View::contiguous(&[2, 2]).unwrap();
    let plan = |place: &View| CopyPlan::new(&square, place, element(1)).unwrap();
    let mut buffer = [0; 24];
    let wide = View::contiguous(&[4, 6]).unwrap();
    let mut output = Output::new(&mut buffer, &wide, 1).unwrap();
    let inside = wide.shrink(&[0..2, 0..2]).unwrap();
    let ok = plan(&inside);
    let at = [1, 1];
    let mut refused = |plan: &CopyPlan, at: &[usize]| output.run_at(at, plan, b"abcd", &[]);
    assert_eq!(refused(&plan(&square), &at), Err(CopyError::Plan));
    let turned = inside.permute(&[1, 0]).unwrap();
    assert_eq!(refused(&plan(&turned), &at), Err(CopyError::Plan));
    let masked = inside.with_mask(&[(0, 1), (0, 2)]).unwrap();
    assert_eq!(refused(&plan(&masked), &at), Err(CopyError::Plan));
    let rank = ViewError::Rank { expected: 2, found: 1 };
    assert_eq!(refused(&ok, &[1]), Err(rank.into()));
    let wider = CopyPlan::new(&square, &inside, element(2)).unwrap();
    assert!(matches!(refused(&wider, &at), Err(CopyError::ElementSize { .. })));
    let mut padded = output.pad(&[(0, 1), (0, 0)]).unwrap();
    assert_eq!(padded.run_at(&at, &ok, b"abcd", &[]), Err(CopyError::Plan));
    assert!(matches!(output.run_at(&at, &ok, b"abc", &[]), Err(CopyError::Source { .. })));
    assert_eq!(buffer, [0; 24]);
}

/// Copies that exceed the cache take other code paths than small ones.
#[test]
fn large_copies_are_exact() {
    for (size, shape) in [
        (1, [2203, 2111]),
        (2, [1409, 1601]),
        (4, [1031, 1153]),
        (8, [769, 771]),
        (16, [513, 600]),
        (32, [300, 511]),
        (8, [3, 700_001]),
        (8, [700_001, 3]),
        (16, [2, 530_001]),
        (16, [350_003, 3]),
    ] {
        let bytes = shape[0] * shape[1] * size;
        let source: Vec<u8> = (0..bytes + 3).map(|i| (i * 7 + i / 251) as u8).collect();
        let mut buffer = zeroed(bytes + 1).unwrap();
        let from = View::contiguous(&shape).unwrap().permute(&[1, 0]).unwrap();
        let to = View::contiguous(&[shape[1], shape[0]]).unwrap();
        copy(&from, &source[3..], &to, &mut buffer[1..], element(size), &[]).unwrap();
        assert_eq!(buffer[0], 0);
        for i in 0..shape[1] {
            for j in 0..shape[0] {
                let found = &buffer[1 + (i * shape[0] + j) * size..][..size];
                let wanted = &source[3 + (j * shape[1] + i) * size..][..size];
                assert_eq!(found, wanted, "{size} bytes at {i}, {j}");
            }
        }
    }
}

/// A chunk in the place that it has in an array which exceeds the cache, from elements that are
/// stored in another order, and back: each row of the array's part is made of stretches that lie
/// apart in what is stored. Bytes around the part do not change.
#[test]
fn parts_of_large_arrays_are_exact() {
    for (rows, stretches, stretch, pitch, first) in [
        (17, 300, 18, 1_usize << 20, 0_usize),
        (17, 99, 48, 1 << 20, 16),
        (17, 99, 63, 1 << 20, 5),
        (17, 64, 64, 1 << 20, 0),
        (17, 64, 64, 1 << 20, 16),
        (17, 64, 64, 1 << 20, 5),
        (23, 41, 80, (1 << 20) + 16, 48),
        (23, 41, 81, (1 << 20) + 16, 16),
        (19, 33, 128, (1 << 20) + 3, 16),
        (40, 8, 512, 1 << 19, 32),
        (40, 3, 528, 1 << 19, 16),
        (40, 3, 2053, (1 << 19) + 16, 16),
        (9, 1, 8192, 2 << 20, 16),
    ] {
        let len = rows * stretches * stretch;
        let stored = View::contiguous(&[stretches, rows, stretch]).unwrap();
        let stored = stored.permute(&[1, 0, 2]).unwrap();
        let steps = [pitch, stretch, 1_usize].map(|step| isize::try_from(step).unwrap());
        let start = isize::try_from(first).unwrap();
        let part = View::new(&[rows, stretches, stretch], &steps, start).unwrap();
        let chunk: Vec<u8> = (0..len).map(|i| 1 + (i * 7 + i / 251) as u8 % 255).collect();
        let mut array = zeroed(first + rows * pitch).unwrap();
        copy(&stored, &chunk, &part, &mut array, element(1), &[]).unwrap();
        let case = format!("{rows} rows of {stretches} x {stretch} at {first}");
        let mut rest = &array[..];
        for row in 0..rows {
            let (before, after) =
                rest.split_at(if row == 0 { first } else { pitch - stretches * stretch });
            assert!(before.iter().all(|byte| *byte == 0), "before row {row}: {case}");
            let (found, after) = after.split_at(stretches * stretch);
            for (i, found) in found.chunks_exact(stretch).enumerate() {
                assert!(
                    *found == chunk[(i * rows + row) * stretch..][..stretch],
                    "{row}, {i}: {case}"
                );
            }
            rest = after;
        }
        assert!(rest.iter().all(|byte| *byte == 0), "behind the last row: {case}");
        let mut back = zeroed(len).unwrap();
        copy(&part, &array, &stored, &mut back, element(1), &[]).unwrap();
        assert!(back == chunk, "back: {case}");
    }
}

/// Rows that are contiguous on both sides, in another order and with gaps: their ends share cache
/// lines with bytes that must not change.
#[test]
fn large_copies_of_rows_are_exact() {
    for (rows, row, gap) in [
        ([41, 67], 2057, 0),
        ([41, 67], 2057, 5),
        ([70, 130], 513, 1),
        ([70, 130], 512, 64),
        ([190, 201], 504, 0),
        ([170, 203], 512, 16),
        ([151, 401], 288, 0),
        ([13, 81], 4096, 3),
        ([9, 50], 10_001, 7),
        ([3, 2], 800_000, 1),
    ] {
        let element = element(1);
        let [a, b] = rows;
        let step = row + gap;
        let source: Vec<u8> = (0..a * b * step + 3).map(|i| (i * 7 + i / 251) as u8).collect();
        let mut buffer = zeroed(a * b * step + 1).unwrap();
        let stored = |first, second| {
            let whole = View::contiguous(&[first, second, step]).unwrap();
            whole.shrink(&[0..first, 0..second, 0..row]).unwrap()
        };
        let from = stored(a, b).permute(&[1, 0, 2]).unwrap();
        copy(&from, &source[3..], &stored(b, a), &mut buffer[1..], element, &[]).unwrap();
        assert_eq!(buffer[0], 0);
        for i in 0..b {
            for j in 0..a {
                let found = &buffer[1 + (i * a + j) * step..][..step];
                let wanted = &source[3 + (j * b + i) * step..][..row];
                assert!(found[..row] == *wanted, "row of {row} at {i}, {j}");
                assert!(found[row..].iter().all(|byte| *byte == 0), "gap at {i}, {j}");
            }
        }
    }
}

#[test]
fn outputs_that_overlap_are_refused() {
    let mut buffer = [0; 10];
    let twice = View::contiguous(&[1, 3]).unwrap().expand(&[2, 3]).unwrap();
    let sliding = View::new(&[3, 3], &[1, 2], 0).unwrap();
    assert!(matches!(Output::new(&mut buffer, &twice, 1), Err(CopyError::Overlap { .. })));
    assert!(matches!(Output::new(&mut buffer, &sliding, 1), Err(CopyError::Overlap { .. })));
}

#[test]
fn units_of_a_swap_divide_an_element() {
    for size in 0..=16 {
        for unit in 0..=17 {
            let element = CopyElement::swapped_in_units(size, unit);
            let divides = (1..=size).any(|count| count * unit == size);
            assert_eq!(element.is_ok(), divides, "{unit} in {size}");
            if let Ok(element) = element {
                assert_eq!((element.size(), element.unit()), (size, unit));
            }
        }
    }
}

#[test]
fn refused_copies_write_nothing_and_say_why() {
    let mut buffer = [7; 6];
    let view = View::contiguous(&[2, 3]).unwrap();
    let padded = View::contiguous(&[1, 3]).unwrap().pad(&[(1, 0), (0, 0)]).unwrap();
    let one = element(1);
    let mut errors = vec![
        copy(&view, &[0; 5], &view, &mut buffer, one, &[]).unwrap_err(),
        copy(&view, &[0; 12], &view, &mut buffer, element(2), &[]).unwrap_err(),
        copy(&padded, &[0; 3], &view, &mut buffer, one, &[]).unwrap_err(),
        copy(&View::contiguous(&[2, 4]).unwrap(), &[0; 8], &view, &mut buffer, one, &[])
            .unwrap_err(),
        Output::new(&mut buffer, &view, 0).unwrap_err(),
        CopyElement::try_from(0).unwrap_err(),
        CopyElement::swapped_in_units(6, 4).unwrap_err(),
        zeroed(usize::MAX).unwrap_err(),
    ];
    let mut output = Output::new(&mut buffer, &view, 1).unwrap();
    errors.push(output.copy_from(&view, &[0; 12], element(2), &[]).unwrap_err());
    errors.push(output.fill(&[0; 2]).unwrap_err());
    errors.push(output.shrink(&[0..2, 0..4]).unwrap_err());
    errors.push(output.grid(&[vec![], vec![2, 2]]).unwrap_err());
    let sliding = View::new(&[3, 2], &[1, 2], 0).unwrap();
    errors.push(Output::new(&mut buffer, &sliding, 1).unwrap_err());
    assert_eq!(buffer, [7; 6]);
    let text: Vec<String> = errors.iter().map(ToString::to_string).collect();
    // One of them names the largest `usize`.
    let text = text.join("\n").replace(&usize::MAX.to_string(), &u64::MAX.to_string());
    insta::assert_snapshot!(text, @r"
    the source view needs 6 bytes, its buffer has 5
    the destination view needs 12 bytes, its buffer has 6
    expected a fill value of 1 bytes, found 0
    axis 1: the source has size 4, the destination 3
    element of 0 bytes in units of 1: sizes above 0 are allowed, and units that divide them
    element of 0 bytes in units of 1: sizes above 0 are allowed, and units that divide them
    element of 6 bytes in units of 4: sizes above 0 are allowed, and units that divide them
    out of memory for 18446744073709551615 bytes
    expected elements of 1 bytes, found 2
    expected a fill value of 1 bytes, found 2
    axis 1: range 0..4 is not within 0..3
    axis 1: cut 2 does not increase within 0..3
    the output view may overlap itself: stride 2 is below the 3 positions inside it
    ");
}

#[cfg(feature = "count")]
#[test]
fn written_bytes_are_counted_once() {
    let from = View::contiguous(&[30, 20]).unwrap().permute(&[1, 0]).unwrap();
    let to = View::contiguous(&[20, 30]).unwrap();
    let mut buffer = vec![0; 20 * 30 * 4];
    let before = zarr_view::bytes_written();
    zarr_view::copy(&from, &[1; 2400], &to, &mut buffer, element(4), &[]).unwrap();
    assert_eq!(zarr_view::bytes_written() - before, 2400);
}

#[test]
fn filling_writes_every_element_and_no_other() {
    let mut rng = Rng(0x5eed);
    for round in 0..300 {
        let elements = 1 + rng.below(60);
        let view = crate::generators::strided(&mut rng, elements);
        for size in [1, 2, 3, 4, 8, 16] {
            let value: Vec<u8> = (1..=size as u8).collect();
            let span = view.span().end + 2;
            let mut buffer = vec![0xff; span * size];
            let Ok(mut output) = Output::new(&mut buffer, &view, size) else { continue };
            output.fill(&value).unwrap();
            let mut wanted = vec![0xff; span * size];
            for index in oracle::indices(view.shape()) {
                let Some(at) = view.position(&index) else { continue };
                wanted[at * size..(at + 1) * size].copy_from_slice(&value);
            }
            assert_eq!(buffer, wanted, "round {round}, {view:?} of {size} bytes");
        }
    }
}

#[test]
fn filling_many_elements_is_filling_few() {
    let view = View::contiguous(&[90, 100]).unwrap();
    let mut buffer = vec![0; 9000 * 2];
    let mut output = Output::new(&mut buffer, &view, 2).unwrap();
    output.fill(&[1, 2]).unwrap();
    assert!(buffer.chunks(2).all(|element| element == [1, 2]));
}
