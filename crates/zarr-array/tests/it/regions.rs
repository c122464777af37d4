//! Regions in numpy's notation, and every region of a small array.

use std::sync::Arc;

use zarr_array::store::{MemoryStore, Prefix};
use zarr_array::{Array, AxisRegion, Region};
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

fn indices(axis: &AxisRegion) -> Vec<i64> {
    let signed = |n: u64| i64::try_from(n).expect("small");
    let (start, count) = (signed(axis.start), signed(axis.count));
    (0..count).map(|n| start + n * axis.step).collect()
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
                        Region::parse(&text, &[u64::try_from(length).unwrap()]).expect("parses");
                    let wanted = python(start, stop, step, length);
                    assert_eq!(indices(&region.axes()[0]), wanted, "{text} of {length}");
                    region.check(&[u64::try_from(length).unwrap()]).expect("within the array");
                }
            }
        }
    }
}

#[test]
fn messages_name_the_axis() {
    let messages: Vec<String> = [
        "0, 9", "0:2:0", "x", "1,2,3", "1:2:3:4", "", "..., ...", "-5", "[1:3, 2]", "[1:3", "[[1]]",
    ]
    .map(|text| match Region::parse(text, &[4, 8]) {
        Ok(region) => format!("{text:?}: {:?}", region.shape()),
        Err(error) => format!("{text:?}: {error}"),
    })
    .to_vec();
    insta::assert_snapshot!(messages.join("\n"), @r#"
    "0, 9": axis 1: index 9 is outside the array's length 8
    "0:2:0": axis 0: a step of 0 leads nowhere
    "x": axis 0: "x" is not a region; an index such as 5 or -1, a range such as 0:10 or ::2, or ... is allowed
    "1,2,3": region has 3 axes, the array has 2
    "1:2:3:4": axis 0: "1:2:3:4" is not a region; an index such as 5 or -1, a range such as 0:10 or ::2, or ... is allowed
    "": [4, 8]
    "..., ...": axis 1: "..." is not a region; an index such as 5 or -1, a range such as 0:10 or ::2, or ... is allowed
    "-5": axis 0: index -5 is outside the array's length 4
    "[1:3, 2]": [2]
    "[1:3": axis 0: "[1:3" is not a region; an index such as 5 or -1, a range such as 0:10 or ::2, or ... is allowed
    "[[1]]": axis 0: "[1]" is not a region; an index such as 5 or -1, a range such as 0:10 or ::2, or ... is allowed
    "#);
}

/// Every box with every step of a small array through a chain that is no single view: reads agree
/// with the elements picked one by one, and writes change exactly these.
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
    let axis_regions = |length: u64| {
        let mut regions = Vec::new();
        for step in steps {
            for start in 0..length {
                for count in 1..=length {
                    let axis = AxisRegion { start, count, step, dropped: false };
                    if Region::new(vec![axis]).check(&[length]).is_ok() {
                        regions.push(axis);
                    }
                }
            }
        }
        regions
    };
    for codecs in chains {
        let array = array("[6, 3]", "uint16", grid, codecs);
        let mut model: Vec<u16> = vec![9; 18];
        let mut next = 100;
        for rows in axis_regions(shape[0]) {
            for columns in axis_regions(shape[1]) {
                let region = Region::new(vec![rows, columns]);
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
        assert_eq!(array.read_as::<u16>(&Region::whole(&shape)).expect("reads"), model);
    }
}

#[test]
fn pieces_are_the_region_in_order_and_end_with_chunks() {
    let grid = r#"{"name": "rectilinear", "configuration": {"kind": "inline",
        "chunk_shapes": [[3, 1, 4], 2]}}"#;
    let array = array("[7, 3]", "uint8", grid, r#"["bytes"]"#);
    let elements: Vec<u8> = (0..21).collect();
    array.write(&Region::whole(array.shape()), &elements).expect("writes");
    let entries = ["", "2", "-1", "1:6", "6:0:-1", "::2", "::-3", "3:3", "1:2"];
    for rows in entries {
        for columns in ["", ":", "1", "::-1", "2:2"] {
            let text =
                if columns.is_empty() { rows.to_owned() } else { format!("{rows},{columns}") };
            let text =
                if rows.is_empty() && !columns.is_empty() { format!(":,{columns}") } else { text };
            let region = Region::parse(&text, array.shape()).expect("parses");
            for most in [0, 1, 3, 6, 12, 100_usize] {
                let mut found = Vec::new();
                let mut pieces = 0;
                for piece in
                    array.pieces(&region, u64::try_from(most).expect("small")).expect("inside")
                {
                    let bytes = array.read(&piece).expect("reads");
                    pieces += 1;
                    let touched = |axis: &AxisRegion| {
                        let ends = [
                            axis.start,
                            axis.start.wrapping_add_signed(
                                axis.step * i64::try_from(axis.count - 1).expect("small"),
                            ),
                        ];
                        let chunk = |index| array.grid().axes()[0].chunk_of(index).expect("in").0;
                        chunk(ends[0]) == chunk(ends[1])
                    };
                    assert!(
                        bytes.len() <= most
                            || touched(&piece.axes()[0])
                            || piece.axes()[0].count == 1
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
