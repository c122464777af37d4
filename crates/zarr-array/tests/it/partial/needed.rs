//! Reads of shards take the inner chunks that hold selected elements, and no others: over random
//! selections and layouts, against a model that knows where each element is.

use std::collections::BTreeSet;

use zarr_array::store::{Key, Prefix, StoreExt as _};
use zarr_array::{Array, AxisSelection, Points, Selection};
use zarr_codec::Scratch;

use super::{BYTES, CRC32C, Counting, GZIP, TRANSPOSE, create, shard};
use std::sync::Arc;

/// Random numbers that are the same each time.
pub(super) struct Random(pub(super) u64);

impl Random {
    pub(super) fn below(&mut self, end: u64) -> u64 {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % end
    }

    pub(super) fn axis(&mut self, length: u64) -> AxisSelection {
        let (a, b) = (self.below(length), self.below(length) + 1);
        match self.below(4) {
            0 => AxisSelection::Range(a.min(b - 1)..b.max(a + 1)),
            1 => AxisSelection::Step {
                range: a.min(b - 1)..b.max(a + 1),
                step: [2, 3, 7, -1, -5][self.below(5) as usize],
            },
            2 => {
                let mask: Vec<bool> = (0..length).map(|_| self.below(9) == 0).collect();
                mask.into()
            }
            _ => {
                let count = self.below(6) + 1;
                AxisSelection::Indices((0..count).map(|_| self.below(length)).collect())
            }
        }
    }
}

pub(super) const SHAPE: [u64; 2] = [40, 36];

/// Layouts, with the shape of the inner chunks in the array and whether the shard's axes are
/// turned.
pub(super) fn layouts() -> Vec<(String, [u64; 2], bool)> {
    let gzip = format!("[{BYTES}, {GZIP}]");
    let nested = |inner: &str| format!("[{}]", shard(inner, &gzip, "start"));
    vec![
        (format!("[{}]", shard("[4, 6]", &gzip, "end")), [4, 6], false),
        (format!("[{}]", shard("[1, 36]", &gzip, "start")), [1, 36], false),
        (format!("[{TRANSPOSE}, {}]", shard("[3, 5]", &gzip, "end")), [5, 3], true),
        // Behind the shard, what is not looked at.
        (format!("[{}, {CRC32C}]", shard("[8, 4]", &gzip, "end")), [8, 4], false),
        (format!("[{}]", shard("[4, 6]", &nested("[2, 3]"), "end")), [4, 6], false),
        (format!("[{TRANSPOSE}, {}]", shard("[6, 4]", &nested("[3, 2]"), "start")), [4, 6], true),
    ]
}

fn array(codecs: &str) -> (Arc<Counting>, Array, Vec<u16>) {
    let (store, array) = create("[40, 36]", "[40, 36]", "uint16", codecs);
    // One inner chunk in three is left out, whatever its shape.
    let model: Vec<u16> = (0..SHAPE[0] * SHAPE[1])
        .map(|n| {
            if (n / 36 / 8 + n % 36 / 6) % 3 == 0 {
                0
            } else {
                u16::try_from(n * 45 % 65521).unwrap()
            }
        })
        .collect();
    array.write_as(Selection::whole(&SHAPE), &model).expect("writes");
    (store, array, model)
}

/// Bytes of the index, and those of the inner chunks that hold these elements.
fn needed(
    store: &Counting,
    array: &Array,
    inner: [u64; 2],
    is_turned: bool,
    elements: impl Iterator<Item = [u64; 2]>,
) -> (u64, u64) {
    let codec = array.chunk_codec(&SHAPE).expect("binds");
    let shard = codec.fixed().expect("numbers").shard().expect("a shard");
    let object = store.inner.read(&Key::new("c/0/0").unwrap()).unwrap().expect("stored");
    // A checksum of four bytes follows.
    let after = u64::from(shard.index_range(object.len() as u64).is_none());
    assert_eq!(after, 0);
    let trailer = if array.metadata().codecs().len() > 1 && !is_turned { 4 } else { 0 };
    let index =
        shard.read_index(&object[..object.len() - trailer], &mut Scratch::new()).expect("an index");
    let chunks: BTreeSet<usize> = elements
        .map(|[row, column]| {
            let at = [row / inner[0], column / inner[1]];
            let counts = [SHAPE[0] / inner[0], SHAPE[1] / inner[1]];
            let number =
                if is_turned { at[1] * counts[0] + at[0] } else { at[0] * counts[1] + at[1] };
            usize::try_from(number).unwrap()
        })
        .collect();
    let ranges = chunks.iter().filter_map(|chunk| index.range(*chunk));
    let bytes = ranges.map(|range| range.end - range.start).sum();
    (shard.index_len() + trailer as u64, bytes)
}

#[test]
fn only_the_inner_chunks_that_a_selection_needs_are_read() {
    let mut random = Random(7);
    for (codecs, inner, is_turned) in layouts() {
        let (store, array, model) = array(&codecs);
        for round in 0..150 {
            let axes = [random.axis(SHAPE[0]), random.axis(SHAPE[1])];
            let lists: Vec<Vec<u64>> = axes.iter().map(|axis| axis.indices().collect()).collect();
            let elements = || lists[0].iter().flat_map(|row| lists[1].iter().map(|at| [*row, *at]));
            let (index, bytes) = needed(&store, &array, inner, is_turned, elements());
            let region = Selection::from(axes);
            let wanted: Vec<u16> =
                elements().map(|[row, at]| model[(row * 36 + at) as usize]).collect();
            let fresh = Array::open(store.clone(), &Prefix::root()).expect("opens");
            let fresh = fresh.with_range_cost(0);
            store.asked_for();
            assert_eq!(
                fresh.read_as::<u16>(&region).expect("reads"),
                wanted,
                "{codecs} {region:?}"
            );
            let (requests, taken) = store.asked_for();
            let all = lists.iter().zip(SHAPE).all(|(list, length)| list.len() as u64 == length);
            if elements().next().is_none() {
                assert_eq!((requests, taken), (0, 0), "{codecs} {region:?}");
            } else if !all {
                assert_eq!(taken, index + bytes, "{codecs} {region:?}");
                // The index, and all inner chunks together.
                assert_eq!(requests, 1 + u64::from(bytes > 0), "{codecs} {region:?}");
            }
            // With a cost, gaps of at most that are read, too.
            let cost = [1, 10, 100][round % 3];
            fresh.clone().with_range_cost(cost).read(&region).expect("reads");
            let (requests, taken) = store.asked_for();
            assert!(requests <= 2 && (all || taken <= index + bytes * (cost + 1)), "{region:?}");
            #[cfg(feature = "async")]
            {
                let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
                let fresh = Array::open(store.clone(), &Prefix::root()).expect("opens");
                let fresh = fresh.with_range_cost(0).asynchronous();
                store.asked_for();
                let read = runtime.block_on(fresh.read_as::<u16>(region.clone())).expect("reads");
                assert_eq!(read, wanted, "{codecs} {region:?}");
                assert!(all || elements().next().is_none() || store.taken() == index + bytes);
            }
        }
    }
}

#[test]
fn only_the_inner_chunks_that_points_need_are_read() {
    let mut random = Random(11);
    for (codecs, inner, is_turned) in layouts() {
        let (store, array, model) = array(&codecs);
        for count in (1..12).cycle().take(100) {
            let elements: Vec<[u64; 2]> =
                (0..count).map(|_| SHAPE.map(|length| random.below(length))).collect();
            let (index, bytes) = needed(&store, &array, inner, is_turned, elements.iter().copied());
            let axis =
                |axis: usize| -> Vec<u64> { elements.iter().map(|found| found[axis]).collect() };
            let points = Points::from([axis(0), axis(1)]);
            let fresh = Array::open(store.clone(), &Prefix::root()).expect("opens");
            store.asked_for();
            let read = fresh.with_range_cost(0).read_as::<u16>(&points).expect("reads");
            let wanted = elements.iter().map(|[row, at]| model[(row * 36 + at) as usize]);
            assert!(read.into_iter().eq(wanted), "{codecs} {points:?}");
            let expected = (1 + u64::from(bytes > 0), index + bytes);
            assert_eq!(store.asked_for(), expected, "{codecs} {points:?}");
        }
    }
}

/// A large shard is read in pieces, all or most of it: each request is for some MiB, nothing is
/// read twice, and an object that changes between the pieces is read again.
#[test]
fn large_shards_are_read_in_pieces() {
    for (codecs, is_all) in [
        (format!("[{}]", shard("[64, 512]", &format!("[{BYTES}]"), "end")), true),
        (format!("[{}]", shard("[8, 4096]", &format!(r#"["bytes", {CRC32C}]"#), "start")), true),
        (format!("[{}, {CRC32C}]", shard("[64, 512]", &format!("[{BYTES}]"), "end")), false),
    ] {
        let (store, array) = create("[4096, 4096]", "[4096, 4096]", "uint8", &codecs);
        let row: Vec<u8> = (0..=255).collect();
        let model: Vec<u8> = (0..4096_usize)
            .flat_map(|n| row.iter().map(move |at| at ^ (n % 251) as u8).cycle().take(4096))
            .collect();
        array.write(Selection::whole(&[4096, 4096]), &model).expect("writes");
        let stored = store.inner.size(&Key::new("c/0/0").unwrap()).unwrap().expect("stored");
        for (rows, share) in [(0..4096_u64, 1), (0..2048, 2)] {
            let fresh = Array::open(store.clone(), &Prefix::root()).expect("opens");
            store.asked_for();
            let bytes = (rows.end as usize) * 4096;
            assert!(fresh.read([rows.clone(), 0..4096]).expect("reads") == model[..bytes]);
            let (requests, taken) = store.asked_for();
            assert!(taken <= stored / share + (1 << 16), "{taken} of {stored}");
            let pieces = 4 / share;
            let whole = share == 1 && !is_all;
            assert_eq!(requests, if whole { 1 } else { 1 + pieces }, "{codecs} {rows:?}");
        }
        // Every fifth row, in no order: the encoded bytes of some MiB at a time, into place.
        let rows: Vec<u64> = (0..4096).map(|n| n * 5 % 4096).filter(|n| n % 5 == 0).collect();
        let wanted = rows.iter().flat_map(|row| &model[*row as usize * 4096..][..4096]);
        assert!(array.read((rows.clone(), 0..4096)).expect("reads").iter().eq(wanted));
        store.restless.store(true, std::sync::atomic::Ordering::Relaxed);
        assert!(array.read(Selection::whole(&[4096, 4096])).expect("reads") == model);
    }
}

/// Rows of an uncompressed chunk are ranges, and near ones are one range.
#[test]
fn rows_of_a_large_uncompressed_chunk_are_ranges() {
    let (store, array) = create("[2048, 2048]", "[2048, 2048]", "uint16", &format!("[{BYTES}]"));
    let model: Vec<u16> = (0..1_u32 << 22).map(|n| (n % 65521) as u16).collect();
    array.write_as(Selection::whole(&[2048, 2048]), &model).expect("writes");
    let rows: Vec<u64> = vec![2000, 5, 1000, 5, 1001, 17];
    let wanted: Vec<u16> =
        rows.iter().flat_map(|row| model[*row as usize * 2048..][..2048].iter().copied()).collect();
    store.asked_for();
    assert!(array.read_as::<u16>((rows.clone(), 0..2048)).expect("reads") == wanted);
    assert_eq!(store.asked_for(), (1, 5 * 4096));
    // Columns, whose elements are each a range: more than one request has.
    let found = array.read_as::<u16>((0..2048, [9, 2000])).expect("reads");
    let wanted = (0..2048).flat_map(|row| [9, 2000].map(|at| model[row * 2048 + at]));
    assert!(found.into_iter().eq(wanted));
    assert_eq!(store.taken(), 2 * 2 * 2048);
    let plan = array.layout().plan((rows, 0..2048)).expect("plans").chunks(0..9).expect("lists");
    let reads = plan[0].reads(&array).expect("plans").expect("stored");
    assert_eq!((reads.requests(), reads.bytes()), (1, 5 * 4096));
}
