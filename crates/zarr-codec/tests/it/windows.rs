//! Regions of shards: which bytes of the inner chunks are needed, and what becomes of them.

use std::ops::Range;

use zarr_codec::{Need, Scratch, Slice};
use zarr_view::{Output, View};

use crate::naive::crc32c;
use crate::support::{codec, decode};

/// Shards of 8 x 8 elements, in inner chunks of 4 x 4.
const EDGE: usize = 8;
const INNER: usize = 4;
const FILL: [u8; 2] = [0xee, 0xff];

/// How inner chunks are stored.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Stored {
    Little,
    Big,
    Checked,
}

fn chain(stored: Stored, transposed: bool) -> String {
    let endian = if stored == Stored::Big { "big" } else { "little" };
    let checksum = if stored == Stored::Checked { r#", {"name": "crc32c"}"# } else { "" };
    let order = r#"{"name": "transpose", "configuration": {"order": [1, 0]}}, "#;
    format!(
        r#"[{}{{"name": "sharding_indexed", "configuration": {{"chunk_shape": [{INNER}, {INNER}],
        "codecs": [{{"name": "bytes", "configuration": {{"endian": "{endian}"}}}}{checksum}],
        "index_codecs": [{{"name": "bytes", "configuration": {{"endian": "little"}}}}]}}}}]"#,
        if transposed { order } else { "" }
    )
}

/// The element of the stored array at this place.
fn element([row, column]: [usize; 2]) -> [u8; 2] {
    match (row / INNER, column / INNER) {
        (1, 0) => FILL,
        _ => [row as u8, column as u8 + 100],
    }
}

/// A shard whose third inner chunk is not stored. The others lie in another order than their
/// numbers, with three bytes between them. Also returns where they are.
fn shard(stored: Stored) -> (Vec<u8>, [Option<Range<u64>>; 4]) {
    let mut bytes = vec![0xaa; 3];
    let mut places = [const { None }; 4];
    for number in [1, 3, 0] {
        let start = bytes.len();
        for at in 0..INNER * INNER {
            let place = [number / 2 * INNER + at / INNER, number % 2 * INNER + at % INNER];
            let [a, b] = element(place);
            bytes.extend(if stored == Stored::Big { [b, a] } else { [a, b] });
        }
        if stored == Stored::Checked {
            let checksum = crc32c(&bytes[start..]);
            bytes.extend(checksum.to_le_bytes());
        }
        places[number] = Some(start as u64..bytes.len() as u64);
        bytes.extend([0xaa; 3]);
    }
    for place in &places {
        let all =
            place.clone().map_or([u64::MAX; 2], |place| [place.start, place.end - place.start]);
        bytes.extend(all.into_iter().flat_map(u64::to_le_bytes));
    }
    (bytes, places)
}

fn slices() -> Vec<Slice> {
    let mut slices = Vec::new();
    for start in 0..EDGE {
        for step in [1, 2, 3, 5] {
            for count in 1..=(EDGE - start).div_ceil(step) {
                slices.push(Slice { start, count, step });
            }
        }
    }
    slices
}

fn indices(slice: Slice) -> impl Iterator<Item = usize> + Clone {
    (0..slice.count).map(move |n| slice.start + n * slice.step)
}

/// Element by element: the bytes from the first to the last that is selected of each inner chunk,
/// or all of those whose bytes are not the elements.
fn needed(
    places: &[Option<Range<u64>>; 4],
    selected: &[[usize; 2]],
    stored: Stored,
) -> Vec<Range<u64>> {
    let mut found: [Option<Range<u64>>; 4] = Default::default();
    for [row, column] in selected {
        let number = row / INNER * 2 + column / INNER;
        let Some(place) = places[number].clone() else { continue };
        let at = place.start + (row % INNER * INNER + column % INNER) as u64 * 2;
        let new = if stored == Stored::Little { at..at + 2 } else { place };
        let range = found[number].get_or_insert(new.clone());
        *range = range.start.min(new.start)..range.end.max(new.end);
    }
    let mut ranges: Vec<Range<u64>> = found.into_iter().flatten().collect();
    ranges.sort_by_key(|range| range.start);
    ranges
}

#[test]
fn a_region_of_a_shard_needs_only_the_bytes_around_its_elements() {
    for stored in [Stored::Little, Stored::Big, Stored::Checked] {
        for transposed in [false, true] {
            let codec = codec(&chain(stored, transposed), "uint16", &[EDGE as u64; 2]);
            let (bytes, places) = shard(stored);
            let index = codec.shard().expect("a shard").read_index(&bytes, &mut Scratch::new());
            let index = std::sync::Arc::new(index.expect("valid"));
            for (rows, columns) in
                slices().into_iter().flat_map(|a| slices().into_iter().map(move |b| (a, b)))
            {
                let region = [rows, columns];
                let places_of = |row: usize| {
                    let place =
                        move |column| if transposed { [column, row] } else { [row, column] };
                    indices(columns).map(place)
                };
                let selected: Vec<[usize; 2]> = indices(rows).flat_map(places_of).collect();
                let expected: Vec<u8> = selected.iter().flat_map(|at| element(*at)).collect();

                let view = View::contiguous(&[rows.count, columns.count]).expect("small");
                let mut found = vec![0xcd; expected.len()];
                let mut out = Output::new(&mut found, &view, 2).expect("fits");
                let mut reader = codec.reader(&region, &view, 0);
                reader.use_index(index.clone());
                let ranges = needed(&places, &selected, stored);
                assert_eq!(reader.need(), Need::Ranges(&ranges), "{stored:?} {region:?}");
                let fetched: Vec<u8> = ranges
                    .iter()
                    .flat_map(|range| &bytes[range.start as usize..range.end as usize])
                    .copied()
                    .collect();
                let supplied = reader.supply(&fetched, None, &mut out, &FILL, &mut Scratch::new());
                supplied.expect("decodes");
                assert_eq!(found, expected, "{stored:?} {region:?}");
                // And of the whole shard.
                let found = decode(&codec, &bytes, &region, &FILL, &mut Scratch::new());
                assert_eq!(found.expect("decodes"), expected, "{stored:?} {region:?}");
            }
        }
    }
}

/// An inner chunk of another length than its elements is fetched and refused, although the bytes
/// of the region would be there.
#[test]
fn an_inner_chunk_of_another_length_is_refused() {
    let codec = codec(&chain(Stored::Little, false), "uint16", &[EDGE as u64; 2]);
    let (bytes, places) = shard(Stored::Little);
    let place = places[0].clone().expect("stored");
    let region = [Slice::from(0..1); 2];
    for length in [0_u64, 2, 31, 33] {
        let mut bytes = bytes.clone();
        let entry = bytes.len() - 4 * 16;
        bytes[entry + 8..entry + 16].copy_from_slice(&length.to_le_bytes());
        let whole = decode(&codec, &bytes, &region, &FILL, &mut Scratch::new());
        let whole = whole.expect_err("another length").to_string();
        assert!(whole.contains("inner chunk [0, 0]"), "{whole}");
        assert!(whole.contains(&format!("{length} ")), "{whole}");

        let view = View::contiguous(&[1, 1]).expect("small");
        let mut found = [0; 2];
        let mut out = Output::new(&mut found, &view, 2).expect("fits");
        let mut reader = codec.reader(&region, &view, 0);
        let (_, suffix) = bytes.split_at(entry);
        let mut result = reader.supply(suffix, None, &mut out, &FILL, &mut Scratch::new());
        if length > 0 {
            result.expect("an index");
            let range = place.start..place.start + length;
            assert_eq!(reader.need(), Need::Ranges(std::slice::from_ref(&range)));
            let fetched = &bytes[range.start as usize..range.end as usize];
            result = reader.supply(fetched, None, &mut out, &FILL, &mut Scratch::new());
        }
        assert_eq!(result.expect_err("another length").to_string(), whole);
    }
}
