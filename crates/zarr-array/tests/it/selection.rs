//! Every kind of selection, compared with elements picked one by one.

use std::io::ErrorKind;
use std::num::NonZeroUsize;
use std::ops::Range;
use std::sync::Arc;

use zarr_array::store::{Fault, FaultStore, Key, MemoryStore, Prefix};
use zarr_array::{Array, ArrayError, AxisSelection, Boxes, Input, Selection};
use zarr_metadata::{ArrayBuilder, DataType};
use zarr_view::{CopyElement, Output, View};

use crate::regions::array;

const SHAPE: [u64; 2] = [6, 4];

/// A selection along an axis, and the indices that it means.
type Asked = (Vec<u64>, AxisSelection);

/// The selections for an axis of this length.
fn selects(length: u64) -> Vec<Asked> {
    let mut selects: Vec<Asked> = Vec::new();
    for start in 0..=length {
        for end in start..=length {
            selects.push(((start..end).collect(), (start..end).into()));
            for step in [1, 3] {
                let step_by = |step| AxisSelection::Step { range: start..end, step };
                let distance = step as usize;
                selects.push(((start..end).step_by(distance).collect(), step_by(step)));
                selects.push(((start..end).rev().step_by(distance).collect(), step_by(-step)));
            }
        }
    }
    // All single indices, all lists of up to two, and some longer ones, sorted and not.
    let mut list = |indices: Vec<u64>| selects.push((indices.clone(), indices.into()));
    list(Vec::new());
    for a in 0..length {
        list(vec![a]);
        (0..length).for_each(|b| list(vec![a, b]));
    }
    let last = length - 1;
    list((0..length).collect());
    list((0..length).rev().collect());
    list(vec![last, 0, last, 1, 1, 0]);
    list(vec![1, 2, last, 0, 2]);
    selects.extend((0..length).map(|index| (vec![index], index.into())));
    for bits in [0, 1, 0b1010, 0b1111, u64::MAX] {
        let mask: Vec<bool> = (0..length).map(|index| bits >> index & 1 == 1).collect();
        let indices = (0..length).filter(|index| mask[*index as usize]).collect();
        selects.push((indices, mask.into()));
    }
    selects
}

/// Elements of two bytes that are asked for a box at a time.
#[derive(Debug)]
struct Asked16 {
    shape: Vec<usize>,
    elements: Vec<u8>,
}

impl Boxes for Asked16 {
    fn shape(&self) -> &[usize] {
        &self.shape
    }

    fn copy(&self, ranges: &[Range<usize>], out: &mut [u8]) {
        let from = View::contiguous(&self.shape).and_then(|all| all.shrink(ranges)).expect("a box");
        let to = View::contiguous(from.shape()).expect("a shape");
        assert_eq!(out.len(), from.len() * 2);
        let element = CopyElement::try_from(2).expect("a size");
        zarr_view::copy(&from, &self.elements, &to, out, element, &[]).expect("copies");
    }
}

fn codecs() -> [(&'static str, &'static str); 4] {
    let explicit = r#"{"name": "rectilinear",
        "configuration": {"kind": "inline", "chunk_shapes": [[1, 3, 4], 2]}}"#;
    let shards = r#"{"name": "regular", "configuration": {"chunk_shape": [4, 2]}}"#;
    [
        (explicit, r#"[{"name": "bytes", "configuration": {"endian": "big"}}]"#),
        (
            explicit,
            r#"[{"name": "transpose", "configuration": {"order": [1, 0]}}, {"name": "packbits"},
                {"name": "gzip", "configuration": {"level": 1}}]"#,
        ),
        (explicit, r#"[{"name": "packbits", "configuration": {"last_bit": 11}}]"#),
        (
            shards,
            r#"[{"name": "sharding_indexed", "configuration": {"chunk_shape": [2, 1],
                "codecs": [{"name": "bytes", "configuration": {"endian": "little"}}],
                "index_codecs": [{"name": "bytes", "configuration": {"endian": "little"}}]}}]"#,
        ),
    ]
}

#[test]
fn every_selection_of_a_small_array() {
    let elements: Vec<u16> = (0..24).map(|at| 100 + at * 7).collect();
    for (grid, codecs) in codecs() {
        let array = array("[6, 4]", "uint16", grid, codecs);
        let fresh = crate::regions::array("[6, 4]", "uint16", grid, codecs);
        let whole = Selection::whole(&SHAPE);
        array.write_as(&whole, &elements).expect("writes");
        let bytes = |picked: &[u16]| -> Vec<u8> {
            picked.iter().flat_map(|element| element.to_le_bytes()).collect()
        };
        for (n, rows) in selects(SHAPE[0]).iter().enumerate() {
            for (m, columns) in selects(SHAPE[1]).iter().enumerate() {
                let places: Vec<usize> = rows
                    .0
                    .iter()
                    .flat_map(|row| columns.0.iter().map(move |column| (row * 4 + column) as usize))
                    .collect();
                let picked: Vec<u16> = places.iter().map(|place| elements[*place]).collect();
                let both = Selection::from([rows.1.clone(), columns.1.clone()]);
                let read = array.read_as::<u16>(&both).expect("reads");
                assert_eq!(read, picked, "{both:?} {codecs}");
                // Writes of parts of them: each takes a read and a write of its chunks.
                if (n + m) % 7 > 0 {
                    continue;
                }
                let written: Vec<u16> = (0..places.len()).map(|at| 1000 + at as u16).collect();
                fresh.write_as(&whole, &elements).expect("writes");
                fresh.write(&both, &bytes(&written)).expect("writes");
                let mut wanted = elements.clone();
                for (place, element) in places.iter().zip(&written) {
                    wanted[*place] = *element;
                }
                assert_eq!(fresh.read_as::<u16>(&whole).unwrap(), wanted, "{both:?} {codecs}");
                // The same elements, asked for a box at a time, of a part of the parts.
                if (n + m) % 3 > 0 {
                    continue;
                }
                let shape = both.shape().iter().map(|length| *length as usize).collect();
                let asked = Asked16 { shape, elements: bytes(&written) };
                fresh.write_as(&whole, &elements).expect("writes");
                fresh.write(&both, Input::from_boxes(&asked)).expect("writes");
                assert_eq!(fresh.read_as::<u16>(&whole).unwrap(), wanted, "{both:?} {codecs}");
                planned(&array, &both, [&rows.0, &columns.0]);
            }
        }
    }
}

/// A plan's chunks make up the selection: every position once, each with the right index.
fn planned(array: &Array, selection: &Selection, asked: [&Vec<u64>; 2]) {
    let plan = array.layout().plan(selection).expect("plans");
    let mut positions = Vec::new();
    for chunk in plan.chunks(0..u64::MAX).expect("keys") {
        let axes: Vec<Vec<u64>> = (0..2)
            .map(|axis| {
                let start = array.grid().axes()[axis].start(chunk.chunk[axis]).expect("declared");
                let inside = indices(&chunk.in_chunk[axis]);
                let positions = indices(&chunk.in_selection[axis]);
                assert_eq!(inside.len(), positions.len(), "{selection:?} {chunk:?}");
                for (index, position) in inside.iter().zip(&positions) {
                    assert_eq!(start + index, asked[axis][*position as usize], "{chunk:?}");
                }
                positions
            })
            .collect();
        assert_eq!(chunk.elements, (axes[0].len() * axes[1].len()) as u64);
        let columns = asked[1].len() as u64;
        positions
            .extend(axes[0].iter().flat_map(|row| axes[1].iter().map(move |c| row * columns + c)));
    }
    positions.sort_unstable();
    assert!(positions.into_iter().eq(0..(asked[0].len() * asked[1].len()) as u64));
}

fn indices(axis: &AxisSelection) -> Vec<u64> {
    (0..axis.len()).map(|position| axis.get(position).expect("so many")).collect()
}

/// Lists in a random order over many chunks, on several threads.
#[test]
fn long_lists_on_several_threads() {
    let grid = r#"{"name": "rectilinear",
        "configuration": {"kind": "inline", "chunk_shapes": [[7, 30, 1, [20, 13]], [[11, 30]]]}}"#;
    let array = array("[290, 320]", "uint16", grid, codecs()[1].1)
        .with_threads(NonZeroUsize::new(3).unwrap());
    let elements: Vec<u16> = (0..290 * 320_u32).map(|at| (at % 65_521) as u16).collect();
    array.write_as(Selection::whole(&[290, 320]), &elements).expect("writes");
    let mut state = 3_u64;
    let mut random = |below: u64| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (state >> 33) % below
    };
    let rows: Vec<u64> = (0..500).map(|_| random(290)).collect();
    let columns: Vec<u64> = (0..77).map(|_| random(320)).collect();
    let read = array.read((rows.as_slice(), columns.as_slice()));
    let wanted = rows.iter().flat_map(|row| columns.iter().map(move |column| (row, column)));
    let wanted: Vec<u8> = wanted
        .flat_map(|(row, column)| elements[(row * 320 + column) as usize].to_le_bytes())
        .collect();
    assert_eq!(read.expect("reads"), wanted);
}

#[test]
fn mistakes_name_the_axis() {
    let grid = r#"{"name": "regular", "configuration": {"chunk_shape": [4, 4]}}"#;
    let array = array("[6, 4]", "uint16", grid, codecs()[0].1);
    let all = || AxisSelection::Range(0..4);
    let mistakes: [Selection; 6] = [
        all().into(),
        ([0, 6], 0..4).into(),
        (all(), 2..5).into(),
        (all(), AxisSelection::Step { range: 0..4, step: 0 }).into(),
        (6, all()).into(),
        (vec![true; 5], all()).into(),
    ];
    let mut messages: Vec<String> =
        mistakes.iter().map(|selection| array.read(selection).unwrap_err().to_string()).collect();
    let wrong = array.read_into(([1], 0..4), &mut [0_u8; 6]);
    messages.push(wrong.unwrap_err().to_string());
    let wrong = array.write(([1], 0..4), &[0; 10]);
    messages.push(wrong.unwrap_err().to_string());
    insta::assert_snapshot!(messages.join("\n"));
    for mistake in &mistakes {
        assert!(matches!(array.layout().plan(mistake), Err(ArrayError::Selection { .. })));
        assert!(matches!(array.batches(mistake, 1), Err(ArrayError::Selection { .. })));
        assert!(matches!(array.write(mistake, &[]), Err(ArrayError::Selection { .. })));
    }
}

/// Everything that converts to a selection: the same elements.
#[test]
fn selections_are_made_of_what_is_at_hand() {
    let grid = r#"{"name": "regular", "configuration": {"chunk_shape": [4, 4]}}"#;
    let array = array("[6, 4]", "uint8", grid, r#"["bytes"]"#);
    let elements: Vec<u8> = (0..24).collect();
    array.write([0..6, 0..4], &elements).expect("writes");
    let same: [Selection; 6] = [
        [1..3, 0..4].into(),
        [1..3, 0..4].as_slice().into(),
        (1..3, [0, 1, 2, 3]).into(),
        ([1, 2], vec![true; 4]).into(),
        [AxisSelection::from(1..3), vec![0, 1, 2, 3].into()].into(),
        [1..3, 0..4].into_iter().collect(),
    ];
    for selection in same {
        assert_eq!(selection.shape(), [2, 4]);
        assert_eq!(selection.elements(), Some(8));
        assert_eq!(selection.bounds(), [1..3, 0..4]);
        assert_eq!(array.read(selection).expect("reads"), elements[4..12]);
    }
    assert_eq!(Selection::from((5, [0, 3])).shape(), [2]);
    assert_eq!(array.read((5, [0, 3])).expect("reads"), [20, 23]);
    assert_eq!(array.read((5, 3)).expect("reads"), [23]);
    assert_eq!(Selection::from((5, 3)).shape(), [0_u64; 0]);
}

/// One element, and no axis to select along.
#[test]
fn an_array_without_axes_has_one_element() {
    let grid = r#"{"name": "regular", "configuration": {"chunk_shape": []}}"#;
    let array = array("[]", "uint8", grid, r#"["bytes"]"#);
    let none = Selection::new(Vec::new());
    assert_eq!(Selection::parse("", &[]).expect("parses"), none);
    array.write(&none, &[7]).expect("writes");
    assert_eq!(array.read(&none).expect("reads"), [7]);
    assert_eq!(array.layout().plan(&none).expect("plans").len(), 1);
    assert_eq!(array.batches(&none, 0).expect("cuts").collect::<Vec<_>>(), [none]);
    assert!(array.read(0..1).is_err());
}

/// Batches of lists and masks, in sequence, are the selection.
#[test]
fn pieces_of_lists_are_the_selection_in_order() {
    let (grid, codecs) = codecs()[0];
    let array = array("[6, 4]", "uint16", grid, codecs);
    array.write_as(Selection::whole(&SHAPE), &(0..24).collect::<Vec<u16>>()).expect("writes");
    for (rows, by_row) in selects(6) {
        for columns in [AxisSelection::from([3, 0]), 1.into(), vec![true; 4].into()] {
            let selection = Selection::from((by_row.clone(), columns));
            let wanted = array.read(&selection).expect("reads");
            for most in [0, 8, 1000] {
                let pieces: Vec<Selection> =
                    array.batches(&selection, most).expect("inside").collect();
                assert!(most < 1000 || pieces.len() <= 1);
                let read = pieces.iter().flat_map(|piece| array.read(piece).expect("reads"));
                assert_eq!(read.collect::<Vec<u8>>(), wanted, "{rows:?} {most}");
            }
        }
    }
}

/// Serialising a plan for another process and back changes nothing.
#[cfg(feature = "serde")]
#[test]
fn selections_and_plans_of_lists_can_be_sent() {
    let (grid, codecs) = codecs()[0];
    let array = array("[6, 4]", "uint16", grid, codecs);
    let selections = [
        Selection::from(([5, 0, 5], 1..3)),
        Selection::from((3, vec![true, false, true, true])),
        Selection::from([AxisSelection::Step { range: 0..6, step: -4 }, (0..4).into()]),
    ];
    let mut texts = Vec::new();
    for selection in &selections {
        let text = serde_json::to_string(selection).expect("JSON");
        assert_eq!(&serde_json::from_str::<Selection>(&text).expect("reads"), selection);
        let chunks =
            array.layout().plan(selection).expect("plans").chunks(0..u64::MAX).expect("keys");
        let sent = serde_json::to_string(&chunks).expect("JSON");
        let came: Vec<zarr_array::PlannedChunk> = serde_json::from_str(&sent).expect("reads");
        assert_eq!(came, chunks);
        texts.extend([text, serde_json::to_string(&chunks[0]).expect("JSON")]);
    }
    insta::assert_snapshot!(texts.join("\n"));
}

#[test]
fn every_selection_in_memory_with_strides() {
    let elements: Vec<u16> = (0..24).map(|at| 100 + at * 7).collect();
    for (grid, codecs) in codecs() {
        let array = array("[6, 4]", "uint16", grid, codecs);
        array.write_as(Selection::whole(&SHAPE), &elements).expect("writes");
        for (rows, first) in selects(6).into_iter().step_by(3) {
            for (columns, second) in selects(4).into_iter().step_by(5) {
                let selection = Selection::new(vec![first.clone(), second.clone()]);
                let (high, wide) = (rows.len(), columns.len());
                // Columns three apart from the last to the first, rows below each other.
                let strides = [1, -3 * isize::try_from(high + 1).unwrap()];
                let start = 1 - strides[1] * isize::try_from(wide).unwrap();
                let all = View::new(&[high, wide], &strides, start).expect("a view");
                let kept = [(0, &first), (1, &second)].into_iter();
                let kept = kept.filter(|(_, axis)| !matches!(axis, AxisSelection::Index(_)));
                let shape: Vec<usize> = kept.map(|(axis, _)| all.shape()[axis]).collect();
                let view = all.reshape(&shape).expect("a shape").expect("axes of length 1 go");

                let mut expected = vec![7_u8; 2 * (all.span().end.max(1) + 5)];
                for (i, row) in rows.iter().enumerate() {
                    for (j, column) in columns.iter().enumerate() {
                        let at = 2 * all.position(&[i, j]).expect("within");
                        let element = elements[(row * 4 + column) as usize].to_le_bytes();
                        expected[at..at + 2].copy_from_slice(&element);
                    }
                }
                let mut out = vec![7; expected.len()];
                array
                    .read_into(&selection, Output::new(&mut out, &view, 2).unwrap())
                    .expect("reads");
                assert_eq!(out, expected, "{codecs} {selection:?}");

                let written = crate::regions::array("[6, 4]", "uint16", grid, codecs);
                written.write(&selection, (&view, &expected[..])).expect("writes");
                let copy = crate::regions::array("[6, 4]", "uint16", grid, codecs);
                copy.write(&selection, &array.read(&selection).expect("reads")).expect("writes");
                let whole = Selection::whole(&SHAPE);
                assert_eq!(written.read(&whole).unwrap(), copy.read(&whole).unwrap());
            }
        }
    }
}

#[test]
fn views_that_do_not_fit_are_refused() {
    let grid = r#"{"name": "regular", "configuration": {"chunk_shape": [2, 2]}}"#;
    let array = array(
        "[6, 4]",
        "uint16",
        grid,
        r#"[{"name": "packbits", "configuration": {"last_bit": 9}}]"#,
    );
    let rows = |view: &View, out: &mut [u8]| -> Result<(), ArrayError> {
        array.read_into([0..2, 0..2], Output::new(out, view, 2)?)
    };
    let shape = View::contiguous(&[4]).unwrap();
    assert!(matches!(rows(&shape, &mut [0; 8]), Err(ArrayError::Shape { .. })));
    let outside = View::new(&[2, 2], &[3, 1], 0).unwrap();
    assert!(matches!(rows(&outside, &mut [0; 8]), Err(ArrayError::Copy(_))));
    let twice = View::new(&[2, 2], &[0, 1], 0).unwrap();
    assert!(matches!(rows(&twice, &mut [0; 8]), Err(ArrayError::Copy(_))));

    let error = array.write([0..2, 0..2], (&outside, &[0; 8][..])).unwrap_err();
    assert!(matches!(error, ArrayError::BufferLength { found: 8, expected: 10 }), "{error}");
    // One element for all of a box, with strides of 0.
    let one = View::new(&[6, 4], &[0, 0], 0).unwrap();
    array.write([0..6, 0..4], (&one, &[5, 1][..])).unwrap();
    assert_eq!(array.read_as::<u16>([0..6, 0..4]).unwrap(), [261; 24]);
    // A loss is reported by its index, wherever it is in memory.
    let columns = View::new(&[2, 2], &[1, 2], 0).unwrap();
    let elements: Vec<u8> = [1_u16, 2, 3000, 4].into_iter().flat_map(u16::to_le_bytes).collect();
    match array.write([2..4, 1..3], (&columns, &elements[..])) {
        Err(ArrayError::Incomplete { cause, .. }) => match *cause {
            ArrayError::Loss { loss, .. } => assert_eq!(loss.index, [2, 2]),
            other => panic!("{other}"),
        },
        other => panic!("{other:?}"),
    }
}

/// Elements that are computed, of which no more than this many are asked for at once.
#[derive(Debug)]
struct AtMost(usize);

impl Boxes for AtMost {
    fn shape(&self) -> &[usize] {
        &[30]
    }

    fn copy(&self, _: &[Range<usize>], out: &mut [u8]) {
        assert!(out.len() <= self.0, "{} elements at once", out.len());
        out.fill(7);
    }
}

/// All of them may need more memory than there is. Only the description of a loss needs them.
#[test]
fn a_write_that_fails_asks_for_no_more_elements() {
    let full = Fault::Fail(ErrorKind::StorageFull);
    let store = FaultStore::new(MemoryStore::new()).on(Key::new("c/1").unwrap(), full);
    let metadata = ArrayBuilder::new([30], DataType::Uint8).chunk_shape([10]).build().unwrap();
    let array = Array::create(Arc::new(store), &Prefix::root(), metadata).unwrap();
    let error = array.write(0..30, Input::from_boxes(&AtMost(10))).expect_err("no space");
    assert!(matches!(error, ArrayError::Incomplete { .. }), "{error}");
}
