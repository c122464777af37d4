//! Regions in numpy's notation, and every region of a small array.

use std::sync::Arc;

use zarr_array::store::{MemoryStore, Prefix};
use zarr_array::{Array, AxisSelection, Selection};
use zarr_metadata::ArrayMetadata;

pub(crate) fn array(shape: &str, data_type: &str, grid: &str, codecs: &str) -> Array {
    let document = format!(
        r#"{{"zarr_format": 3, "node_type": "array", "shape": {shape}, "data_type": "{data_type}",
        "chunk_grid": {grid}, "chunk_key_encoding": {{"name": "default"}}, "fill_value": 9,
        "codecs": {codecs}}}"#
    );
    let metadata = ArrayMetadata::from_json(document.as_bytes()).expect("valid");
    Array::create(Arc::new(MemoryStore::new()), &Prefix::root(), metadata).expect("creates")
}

/// Indices as Python's `range(*slice(start, stop, step).indices(length))` gives them.
fn python(start: Option<i64>, stop: Option<i64>, step: i64, length: i64) -> Vec<i64> {
    let clip = |n: i64, low: i64, high: i64| (if n < 0 { n + length } else { n }).clamp(low, high);
    let (low, high) = if step > 0 { (0, length) } else { (-1, length - 1) };
    let (first, last) = if step > 0 { (low, high) } else { (high, low) };
    let start = start.map_or(first, |n| clip(n, low, high));
    let stop = stop.map_or(last, |n| clip(n, low, high));
    let mut indices = Vec::new();
    let mut index = start;
    while if step > 0 { index < stop } else { index > stop } {
        indices.push(index);
        index += step;
    }
    indices
}

fn indices(axis: &AxisSelection) -> Vec<i64> {
    let index = |position| i64::try_from(axis.get(position).expect("so many")).expect("small");
    (0..axis.len()).map(index).collect()
}

/// All steps within an axis of this length.
pub(crate) fn all_steps(length: u64, steps: &[i64]) -> Vec<AxisSelection> {
    let mut all = Vec::new();
    for &step in steps {
        for start in 0..length {
            for count in 1..=length {
                let far = (count - 1) * step.unsigned_abs();
                let range = match step < 0 {
                    true if far <= start => start - far..start + 1,
                    false if start + far < length => start..start + far + 1,
                    _ => continue,
                };
                all.push(AxisSelection::Step { range, step });
            }
        }
    }
    all
}

#[test]
fn ranges_mean_what_they_mean_in_python() {
    let ends = || std::iter::once(None).chain((-7..=7).map(Some));
    for length in 0..=5_i64 {
        for start in ends() {
            for stop in ends() {
                for step in [-7, -3, -2, -1, 1, 2, 3, 7] {
                    let show = |n: Option<i64>| n.map_or(String::new(), |n| n.to_string());
                    let text = format!("{}:{}:{step}", show(start), show(stop));
                    let region =
                        Selection::parse(&text, &[u64::try_from(length).unwrap()]).expect("parses");
                    let wanted = python(start, stop, step, length);
                    assert_eq!(indices(&region.axes()[0]), wanted, "{text} of {length}");
                    let bounds = &region.bounds()[0];
                    assert!(bounds.end <= u64::try_from(length).unwrap(), "{text} of {length}");
                }
            }
        }
    }
}

#[test]
fn messages_name_the_axis() {
    let messages: Vec<String> = [
        "0, 9",
        "0:2:0",
        "x",
        "1,2,3",
        "1:2:3:4",
        "",
        "..., ...",
        "-5",
        "1:3, 2",
        "[1:3, 2]",
        "[1:3",
        "[[1]]",
        "[0, 3, -1]",
        "[]",
        "[0,]",
        "[3, 4], 0",
        "1, [-9]",
        "[1] 2",
        "[1], [2]]",
    ]
    .map(|text| match Selection::parse(text, &[4, 8]) {
        Ok(region) => format!("{text:?}: {:?}", region.shape()),
        Err(error) => format!("{text:?}: {error}"),
    })
    .to_vec();
    insta::assert_snapshot!(messages.join("\n"), @r#"
    "0, 9": axis 1: index 9 is outside the array's length 8
    "0:2:0": axis 0: a step of 0 is not allowed
    "x": axis 0: "x" is not a selection; an index such as 5 or -1, a range such as 0:10 or ::2, a list such as [0, 3, 5], or ... is allowed
    "1,2,3": selection has 3 axes, the array has 2
    "1:2:3:4": axis 0: "1:2:3:4" is not a selection; an index such as 5 or -1, a range such as 0:10 or ::2, a list such as [0, 3, 5], or ... is allowed
    "": [4, 8]
    "..., ...": axis 1: "..." is not a selection; an index such as 5 or -1, a range such as 0:10 or ::2, a list such as [0, 3, 5], or ... is allowed
    "-5": axis 0: index -5 is outside the array's length 4
    "1:3, 2": [2]
    "[1:3, 2]": axis 0: "[1:3, 2]" is not a selection; an index such as 5 or -1, a range such as 0:10 or ::2, a list such as [0, 3, 5], or ... is allowed
    "[1:3": axis 0: "[1:3" is not a selection; an index such as 5 or -1, a range such as 0:10 or ::2, a list such as [0, 3, 5], or ... is allowed
    "[[1]]": axis 0: "[[1]]" is not a selection; an index such as 5 or -1, a range such as 0:10 or ::2, a list such as [0, 3, 5], or ... is allowed
    "[0, 3, -1]": [3, 8]
    "[]": [0, 8]
    "[0,]": axis 0: "[0,]" is not a selection; an index such as 5 or -1, a range such as 0:10 or ::2, a list such as [0, 3, 5], or ... is allowed
    "[3, 4], 0": axis 0: index 4 is outside the array's length 4
    "1, [-9]": axis 1: index -9 is outside the array's length 8
    "[1] 2": axis 0: "[1] 2" is not a selection; an index such as 5 or -1, a range such as 0:10 or ::2, a list such as [0, 3, 5], or ... is allowed
    "[1], [2]]": axis 1: "[2]]" is not a selection; an index such as 5 or -1, a range such as 0:10 or ::2, a list such as [0, 3, 5], or ... is allowed
    "#);
}

/// A number that is too large is reported as such, and not as something else.
#[test]
fn numbers_that_are_too_large_say_so() {
    let huge = "1".to_owned() + &"0".repeat(60);
    let messages: Vec<String> = [
        "100000000000000000000",
        "-100000000000000000000",
        "0:100000000000000000000",
        "[0, 100000000000000000000]",
        "::9223372036854775808",
        &huge,
        "18446744073709551615",
        "0:18446744073709551615",
        "::-9223372036854775807",
        "10^20",
    ]
    .map(|text| match Selection::parse(text, &[8]) {
        Ok(region) => format!("{:?}", region.axes()),
        Err(error) => error.to_string(),
    })
    .to_vec();
    insta::assert_snapshot!(messages.join("\n"), @r#"
    axis 0: 100000000000000000000 is too large; numbers up to 18446744073709551615 are allowed
    axis 0: -100000000000000000000 is too large; numbers up to 18446744073709551615 are allowed
    axis 0: 100000000000000000000 is too large; numbers up to 18446744073709551615 are allowed
    axis 0: 100000000000000000000 is too large; numbers up to 18446744073709551615 are allowed
    axis 0: 9223372036854775808 is too large; numbers up to 9223372036854775807 are allowed
    axis 0: 1000000000000000000000000000000000000000000000000000000000000 is too large; numbers up to 18446744073709551615 are allowed
    axis 0: index 18446744073709551615 is outside the array's length 8
    [Range(0..8)]
    [Step { range: 0..8, step: -9223372036854775807 }]
    axis 0: "10^20" is not a selection; an index such as 5 or -1, a range such as 0:10 or ::2, a list such as [0, 3, 5], or ... is allowed
    "#);
}

/// Every list of up to three indices, counted from either end.
#[test]
fn lists_mean_what_they_mean_in_python() {
    for a in -3..3_i64 {
        for b in -3..3_i64 {
            for c in -3..3_i64 {
                let text = format!("[{a}, {b},{c} ], 1");
                let region = Selection::parse(&text, &[3, 2]).expect("parses");
                let wanted = [a, b, c].map(|n| if n < 0 { n + 3 } else { n });
                assert_eq!(indices(&region.axes()[0]), wanted, "{text}");
                assert_eq!(region.axes()[1], AxisSelection::Index(1));
            }
        }
    }
}

/// Every box with every step of a small array through a chain that is not a single view: reads
/// agree with the elements picked one by one, and writes change exactly these.
#[test]
fn every_region_of_a_small_array() {
    let grid = r#"{"name": "rectilinear",
        "configuration": {"kind": "inline", "chunk_shapes": [[1, 3, 4], 2]}}"#;
    let chains = [
        r#"[{"name": "bytes", "configuration": {"endian": "big"}}]"#,
        r#"[{"name": "transpose", "configuration": {"order": [1, 0]}}, {"name": "packbits"}]"#,
        r#"[{"name": "transpose", "configuration": {"order": [1, 0]}},
            {"name": "reshape", "configuration": {"shape": [-1]}}, {"name": "packbits"}]"#,
        r#"[{"name": "reshape", "configuration": {"shape": [-1, 1]}},
            {"name": "transpose", "configuration": {"order": [1, 0]}},
            {"name": "packbits", "configuration": {"padding_encoding": "last_byte"}},
            {"name": "gzip", "configuration": {"level": 1}}]"#,
    ];
    let shape = [6_u64, 3];
    let steps = [-2_i64, -1, 1, 2, 5];
    for codecs in chains {
        let array = array("[6, 3]", "uint16", grid, codecs);
        let mut model: Vec<u16> = vec![9; 18];
        let mut next = 100;
        for rows in all_steps(shape[0], &steps) {
            for columns in all_steps(shape[1], &steps) {
                let region = Selection::from([rows.clone(), columns.clone()]);
                let places: Vec<usize> = indices(&rows)
                    .iter()
                    .flat_map(|row| indices(&columns).into_iter().map(move |c| row * 3 + c))
                    .map(|place| usize::try_from(place).unwrap())
                    .collect();
                let wanted: Vec<u16> = places.iter().map(|place| model[*place]).collect();
                assert_eq!(array.read_as::<u16>(&region).expect("reads"), wanted, "{codecs}");
                let values: Vec<u16> = places
                    .iter()
                    .map(|_| {
                        next += 1;
                        next
                    })
                    .collect();
                array.write_as(&region, &values).expect("writes");
                for (place, value) in places.iter().zip(&values) {
                    model[*place] = *value;
                }
            }
        }
        assert_eq!(array.read_as::<u16>(Selection::whole(&shape)).expect("reads"), model);
    }
}

#[test]
fn pieces_are_the_region_in_order_and_end_with_chunks() {
    let grid = r#"{"name": "rectilinear", "configuration": {"kind": "inline",
        "chunk_shapes": [[3, 1, 4], 2]}}"#;
    let array = array("[7, 3]", "uint8", grid, r#"["bytes"]"#);
    let elements: Vec<u8> = (0..21).collect();
    array.write(Selection::whole(array.shape()), &elements).expect("writes");
    let entries = ["", "2", "-1", "1:6", "6:0:-1", "::2", "::-3", "3:3", "1:2"];
    for rows in entries {
        for columns in ["", ":", "1", "::-1", "2:2"] {
            let text =
                if columns.is_empty() { rows.to_owned() } else { format!("{rows},{columns}") };
            let text =
                if rows.is_empty() && !columns.is_empty() { format!(":,{columns}") } else { text };
            let region = Selection::parse(&text, array.shape()).expect("parses");
            for most in [0, 1, 3, 6, 12, 100_usize] {
                let mut found = Vec::new();
                let mut pieces = 0;
                for piece in
                    array.batches(&region, u64::try_from(most).expect("small")).expect("inside")
                {
                    let bytes = array.read(&piece).expect("reads");
                    pieces += 1;
                    let touched = |axis: &AxisSelection| {
                        let ends = [axis.bounds().start, axis.bounds().end - 1];
                        let chunk = |index| array.grid().axes()[0].chunk_of(index).expect("in").0;
                        chunk(ends[0]) == chunk(ends[1])
                    };
                    assert!(
                        bytes.len() <= most
                            || touched(&piece.axes()[0])
                            || piece.axes()[0].len() == 1
                    );
                    found.extend(bytes);
                }
                assert_eq!(found, array.read(&region).expect("reads"), "{text} {most}");
                if most == 100 {
                    assert!(pieces <= 1, "{text}");
                }
            }
        }
    }
}

/// An empty selection has no elements, however many there would be along its other axes.
#[test]
fn an_empty_selection_of_a_huge_array_is_nothing() {
    let grid = r#"{"name": "regular", "configuration": {"chunk_shape": [10, 5]}}"#;
    let array = array("[100, 18446744073709551615]", "uint8", grid, r#"["bytes"]"#);
    for text in ["5:5", "100:200, ::-1", "3:3:-1, 1:9223372036854775807:3", "[], :", ":, 7:7"] {
        let region = Selection::parse(text, array.shape()).expect("parses");
        assert_eq!(array.read(&region).expect("reads"), [0; 0], "{text}");
        assert_eq!(array.read_as::<u8>(&region).expect("reads"), [0; 0], "{text}");
        array.write(&region, &[]).expect("writes");
        assert!(array.write(&region, &[1, 2]).is_err(), "{text}");
        assert_eq!(array.batches(&region, 100).expect("inside").count(), 0, "{text}");
        assert!(array.layout().plan(&region).expect("plans").is_empty(), "{text}");
        #[cfg(feature = "async")]
        {
            let read = futures_executor::block_on(array.asynchronous().read(&region));
            assert_eq!(read.expect("reads"), [0; 0], "{text}");
        }
    }
}
