//! Orthogonal selections, against elements picked one by one.

use std::num::NonZeroUsize;

use zarr_array::{AxisSelection, Region};

use crate::regions::array;

const SHAPE: [u64; 2] = [6, 4];

/// The indices that are asked for, and the start, end and step of the range that says so, unless
/// it is a list.
type Asked = (Vec<u64>, Option<(u64, u64, u64)>);

/// What an axis of this length is asked for.
fn selects(length: u64) -> Vec<Asked> {
    let mut selects: Vec<Asked> = Vec::new();
    for start in 0..=length {
        for end in start..=length {
            for step in 1..=3 {
                let indices = (start..end).step_by(step as usize).collect();
                selects.push((indices, Some((start, end, step))));
            }
        }
    }
    // All lists of up to two indices, and some longer ones with and without an order.
    selects.push((Vec::new(), None));
    for a in 0..length {
        selects.push((vec![a], None));
        selects.extend((0..length).map(|b| (vec![a, b], None)));
    }
    let last = length - 1;
    selects.push(((0..length).collect(), None));
    selects.push(((0..length).rev().collect(), None));
    selects.push((vec![last, 0, last, 1, 1, 0], None));
    selects.push((vec![1, 2, last, 0, 2], None));
    selects
}

fn select(of: &Asked) -> AxisSelection<'_> {
    match of.1 {
        Some((start, end, 1)) => AxisSelection::Range(start..end),
        Some((start, end, step)) => AxisSelection::Step { range: start..end, step },
        None => of.0.as_slice().into(),
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
        let whole = Region::whole(&SHAPE);
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
                let both = [select(rows), select(columns)];
                let read = array.read_orthogonal(&both).expect("reads");
                assert_eq!(read, bytes(&picked), "{both:?} {codecs}");
                // Writes of a part of them: each takes a read and a write of its chunks.
                if (n + m) % 7 > 0 {
                    continue;
                }
                let written: Vec<u16> = (0..places.len()).map(|at| 1000 + at as u16).collect();
                fresh.write_as(&whole, &elements).expect("writes");
                fresh.write_orthogonal(&both, &bytes(&written)).expect("writes");
                let mut wanted = elements.clone();
                for (place, element) in places.iter().zip(&written) {
                    wanted[*place] = *element;
                }
                assert_eq!(fresh.read_as::<u16>(&whole).unwrap(), wanted, "{both:?} {codecs}");
            }
        }
    }
}

/// Lists in a random order over many chunks, on several threads.
#[test]
fn long_lists_on_several_threads() {
    let grid = r#"{"name": "rectilinear",
        "configuration": {"kind": "inline", "chunk_shapes": [[7, 30, 1, [20, 13]], [[11, 30]]]}}"#;
    let array = array("[290, 320]", "uint16", grid, codecs()[1].1)
        .with_threads(NonZeroUsize::new(3).unwrap());
    let elements: Vec<u16> = (0..290 * 320_u32).map(|at| (at % 65_521) as u16).collect();
    array.write_as(&Region::whole(&[290, 320]), &elements).expect("writes");
    let mut state = 3_u64;
    let mut random = |below: u64| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (state >> 33) % below
    };
    let rows: Vec<u64> = (0..500).map(|_| random(290)).collect();
    let columns: Vec<u64> = (0..77).map(|_| random(320)).collect();
    let read = array.read_orthogonal(&[rows.as_slice().into(), columns.as_slice().into()]);
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
    let mistakes: [&[AxisSelection<'_>]; 4] = [
        &[all()],
        &[[0, 6].into(), all()],
        &[all(), (2..5).into()],
        &[all(), AxisSelection::Step { range: 0..4, step: 0 }],
    ];
    let mut messages: Vec<String> =
        mistakes.map(|selects| array.read_orthogonal(selects).unwrap_err().to_string()).to_vec();
    let wrong = array.read_orthogonal_into(&[[1].into(), all()], &mut [0; 6]);
    messages.push(wrong.unwrap_err().to_string());
    let wrong = array.write_orthogonal(&[[1].into(), all()], &[0; 10]);
    messages.push(wrong.unwrap_err().to_string());
    insta::assert_snapshot!(messages.join("\n"));
}
