//! Regions of chunks that need not be read whole: the bytes that are read, and the results.

use std::num::NonZeroUsize;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex};
use std::time::Duration;

use zarr_array::store::{
    Capabilities, Key, MemoryStore, ObjectMeta, Prefix, ReadRange, Store, StoreError, StoreExt as _,
};
use zarr_array::{Array, AxisSelection, PlannedChunk, Points, Selection};
use zarr_metadata::ArrayMetadata;
use zarr_store_tests::hand_on;

use crate::regions::all_steps;

mod needed;
mod rewritten;
mod strings;

/// A store that counts the bytes it gives.
#[derive(Debug, Default)]
struct Counting {
    inner: MemoryStore,
    bytes: AtomicU64,
    requests: AtomicU64,
    /// Whether others replace an object whenever ranges of it have been read.
    restless: AtomicBool,
    /// How many requests for whole objects it wants at once, if any.
    in_flight: Option<NonZeroUsize>,
    /// How many it waits for.
    awaited: usize,
    /// The current number of requests, and the maximum.
    asked: Mutex<(usize, usize)>,
    more: Condvar,
}

impl Counting {
    fn count(&self, out: &[u8]) {
        self.bytes.fetch_add(u64::try_from(out.len()).expect("small"), Ordering::Relaxed);
    }

    /// The bytes returned since the last call.
    fn taken(&self) -> u64 {
        self.bytes.swap(0, Ordering::Relaxed)
    }

    /// The requests and the bytes returned since the last call.
    fn asked_for(&self) -> (u64, u64) {
        (self.requests.swap(0, Ordering::Relaxed), self.taken())
    }
}

impl Counting {
    /// Waits until this many requests are waiting, but not forever.
    fn wait_for_others(&self) {
        let mut asked = self.asked.lock().expect("nobody panics");
        asked.0 += 1;
        asked.1 = asked.1.max(asked.0);
        self.more.notify_all();
        let alone = |asked: &mut (usize, usize)| asked.1 < self.awaited;
        let waited = self.more.wait_timeout_while(asked, Duration::from_secs(20), alone);
        waited.expect("nobody panics").0.0 -= 1;
    }
}

impl Store for Counting {
    fn capabilities(&self) -> Capabilities {
        Capabilities::new().requests_in_flight(self.in_flight.unwrap_or(NonZeroUsize::MIN))
    }

    fn get(
        &self,
        key: &Key,
        range: ReadRange<'_>,
        out: &mut Vec<u8>,
    ) -> Result<Option<ObjectMeta>, StoreError> {
        let whole = range == ReadRange::All;
        if whole && key.as_str().starts_with("c/") {
            self.wait_for_others();
        }
        let found = self.inner.get(key, range, out)?;
        self.requests.fetch_add(1, Ordering::Relaxed);
        self.count(out);
        if !whole
            && self.restless.load(Ordering::Relaxed)
            && let Some(same) = self.inner.read(key)?
        {
            self.inner.put(key, &same)?;
        }
        Ok(found)
    }

    hand_on!(inner: head put_opts delete list list_dir lock);
}

fn create(shape: &str, chunks: &str, data_type: &str, codecs: &str) -> (Arc<Counting>, Array) {
    create_filled(shape, chunks, data_type, codecs, "0")
}

fn create_filled(
    shape: &str,
    chunks: &str,
    data_type: &str,
    codecs: &str,
    fill: &str,
) -> (Arc<Counting>, Array) {
    let document = format!(
        r#"{{"zarr_format": 3, "node_type": "array", "shape": {shape}, "data_type": "{data_type}",
        "chunk_grid": {{"name": "rectilinear",
          "configuration": {{"kind": "inline", "chunk_shapes": {chunks}}}}},
        "chunk_key_encoding": {{"name": "default"}}, "fill_value": {fill}, "codecs": {codecs}}}"#
    );
    let metadata = ArrayMetadata::from_json(document.as_bytes()).expect("valid");
    let store = Arc::new(Counting::default());
    let array = Array::create(store.clone(), &Prefix::root(), metadata).expect("creates");
    (store, array.with_range_cost(0))
}

fn axis_regions(length: u64) -> Vec<AxisSelection> {
    all_steps(length, &[-1, 1, 2])
}

fn indices(axis: &AxisSelection) -> impl Iterator<Item = usize> + Clone {
    (0..).map_while(|position| axis.get(position)).map(|index| index as usize)
}

const BYTES: &str = r#"{"name": "bytes", "configuration": {"endian": "big"}}"#;
const CRC32C: &str = r#"{"name": "crc32c"}"#;
const GZIP: &str = r#"{"name": "gzip", "configuration": {"level": 1}}"#;
const TRANSPOSE: &str = r#"{"name": "transpose", "configuration": {"order": [1, 0]}}"#;
const PACKBITS: &str = r#"{"name": "packbits",
    "configuration": {"first_bit": 1, "last_bit": 11, "padding_encoding": "first_byte"}}"#;

fn shard(inner: &str, codecs: &str, location: &str) -> String {
    format!(
        r#"{{"name": "sharding_indexed", "configuration": {{"chunk_shape": {inner},
        "codecs": {codecs}, "index_codecs": [{{"name": "bytes",
        "configuration": {{"endian": "little"}}}}, {CRC32C}], "index_location": "{location}"}}}}"#
    )
}

/// Chains whose parts can be read, for chunks of two axes.
fn chains() -> Vec<String> {
    vec![
        format!("[{BYTES}]"),
        format!("[{TRANSPOSE}, {BYTES}, {CRC32C}]"),
        format!("[{PACKBITS}]"),
        format!("[{TRANSPOSE}, {PACKBITS}, {CRC32C}]"),
        format!(r#"[{{"name": "reshape", "configuration": {{"shape": [-1]}}}}, {PACKBITS}]"#),
        format!(
            r#"[{TRANSPOSE}, {{"name": "reshape", "configuration": {{"shape": [2, -1]}}}},
            {TRANSPOSE}, {PACKBITS}]"#
        ),
        format!("[{}]", shard("[1, 2]", &format!("[{BYTES}]"), "end")),
        format!("[{TRANSPOSE}, {}]", shard("[2, 2]", &format!("[{PACKBITS}]"), "start")),
        format!(
            r#"[{{"name": "reshape", "configuration": {{"shape": [[0], [1], 1]}}}}, {}]"#,
            shard(
                "[2, 2, 1]",
                &format!("[{}]", shard("[1, 2, 1]", &format!("[{BYTES}]"), "end")),
                "end"
            )
        ),
    ]
}

/// Every box with steps of a small array, by exact ranges: the values are right, and no more
/// bytes are read than a chunk has.
#[test]
fn sd_17_every_region_by_ranges_agrees_with_the_elements() {
    for codecs in chains() {
        let (store, array) = create("[6, 7]", "[[2, 4], [[4, 2]]]", "uint16", &codecs);
        // Zeros among them, so that some inner chunks are left out.
        let model: Vec<u16> =
            (0..42_u16).map(|n| if n % 14 < 5 { 0 } else { n * 46 + 2 }).collect();
        array.write_as(Selection::whole(&[6, 7]), &model).expect("writes");
        for rows in axis_regions(6) {
            for columns in axis_regions(7) {
                let region = Selection::from([rows.clone(), columns.clone()]);
                let places = indices(&rows)
                    .flat_map(|row| indices(&columns).map(move |column| row * 7 + column));
                let wanted: Vec<u16> = places.map(|place| model[place]).collect();
                let found = array.read_as::<u16>(&region).expect("reads");
                assert_eq!(found, wanted, "{codecs} {region:?}");
            }
        }
        store.taken();
    }
}

/// The bytes that a region of a large uncompressed chunk takes.
#[test]
fn only_what_a_region_needs_is_read() {
    let cases = [
        // Ten elements of a row are 20 bytes; so are those of a column of a transposed chunk.
        (format!("[{BYTES}]"), "500, 100:110", 20),
        (format!("[{TRANSPOSE}, {BYTES}]"), "100:110, 500", 20),
        // Eleven bits each, from any bit.
        (format!("[{PACKBITS}]"), "3, 7:15", 12),
        // A column costs only its elements.
        (format!("[{BYTES}]"), ":, 7", 2000),
        // An index of 100 entries and its checksum, and one inner chunk.
        (
            format!("[{}]", shard("[100, 100]", &format!("[{BYTES}]"), "end")),
            "150:160, 250:260",
            21604,
        ),
    ];
    for (codecs, region, most) in cases {
        let (store, array) = create("[1000, 1000]", "[1000, 1000]", "uint16", &codecs);
        let elements: Vec<u16> =
            (0..1_000_000_u32).map(|n| u16::try_from(n % 999 * 2).expect("small")).collect();
        array.write_as(Selection::whole(&[1000, 1000]), &elements).expect("writes");
        store.taken();
        let region = Selection::parse(region, array.shape()).expect("parses");
        let found = array.read_as::<u16>(&region).expect("reads");
        let taken = store.taken();
        assert!(taken <= most, "{codecs}: {taken} bytes for {most}");
        let [rows, columns] = region.axes() else { panic!("two axes") };
        let wanted: Vec<u16> = indices(rows)
            .flat_map(|row| indices(columns).map(move |column| row * 1000 + column))
            .map(|place| elements[place])
            .collect();
        assert_eq!(found, wanted, "{codecs}");
    }
}

/// The index of a shard is read once, and again when the shard has changed.
#[test]
fn indices_are_kept_while_they_are_right() {
    let codecs = format!("[{}]", shard("[10]", &format!("[{BYTES}]"), "end"));
    let (store, array) = create("[1000]", "[1000]", "uint16", &codecs);
    array.write_as(Selection::whole(&[1000]), &vec![7_u16; 1000]).expect("writes");
    let index = 100 * 16 + 4;
    store.taken();
    array.read_as::<u16>(25..27).expect("reads");
    assert_eq!(store.taken(), index + 20);
    array.read_as::<u16>(995..998).expect("reads");
    assert_eq!(store.taken(), 20);
    // Most of it becomes the fill value again, so the rest moves.
    array.write_as(0..990, &vec![0_u16; 990]).expect("writes");
    store.taken();
    assert_eq!(array.read_as::<u16>(995..998).expect("reads"), [7, 7, 7]);
    assert_eq!(array.read_as::<u16>(5..6).expect("reads"), [0]);
}

/// A shard that others replace endlessly is still read: in the end, in one piece.
#[test]
fn shards_that_never_rest_are_read_whole() {
    let codecs = format!("[{}]", shard("[10]", &format!("[{BYTES}]"), "end"));
    let (store, array) = create("[1000]", "[1000]", "uint16", &codecs);
    array.write_as(Selection::whole(&[1000]), &vec![7_u16; 1000]).expect("writes");
    store.restless.store(true, Ordering::Relaxed);
    store.taken();
    for _ in 0..3 {
        assert_eq!(array.read_as::<u16>(25..27).expect("reads"), [7, 7]);
    }
    assert!(store.taken() > 3 * 2000);
}

/// A read of a region may skip a wrong checksum, padding byte or length; a read of the whole
/// chunk may not.
#[test]
fn sd_47_a_ranged_read_checks_only_what_it_reads() {
    let codecs = format!("[{PACKBITS}, {CRC32C}]");
    let (store, array) = create("[1000]", "[1000]", "uint16", &codecs);
    array.write_as(Selection::whole(&[1000]), &vec![30_u16; 1000]).expect("writes");
    let key = Key::new("c/0").expect("a key");
    let whole = store.read(&key).expect("reads").expect("stored");
    let mut damaged = [whole.clone(), whole.clone(), whole];
    damaged[0][0] ^= 7; // the padding byte
    damaged[1].pop();
    *damaged[2].last_mut().expect("bytes") ^= 1; // the checksum
    for chunk in damaged {
        store.put(&key, &chunk).expect("writes");
        assert_eq!(array.read_as::<u16>(500..502).expect("reads"), [30, 30]);
        assert!(array.read(Selection::whole(&[1000])).is_err());
    }
}

/// The chunks of a plan make up the region, and the planned bytes are exactly those that a read
/// takes.
#[test]
fn a_plan_is_what_a_read_does() {
    let compressed = format!(r#"[{BYTES}, {{"name": "gzip", "configuration": {{"level": 1}}}}]"#);
    for codecs in chains().into_iter().chain([compressed]) {
        let (store, array) = create("[6, 7]", "[[2, 4], [[4, 2]]]", "uint16", &codecs);
        // This compares the bytes that are read, not the decoded values of some chains.
        let options = zarr_codec::Options::new().allow_loss(true);
        let array = array.with_options(options).expect("binds");
        let model: Vec<u16> = (0..42_u16).map(|n| if n % 14 < 5 { 0 } else { n }).collect();
        array.write_as(Selection::whole(&[6, 7]), &model).expect("writes");
        let lists = |lists: [&[u64]; 3]| lists.map(AxisSelection::from);
        let columns: Vec<AxisSelection> = axis_regions(7)
            .into_iter()
            .step_by(3)
            .chain(lists([&[6, 0, 3], &[1, 3], &[]]))
            .collect();
        for rows in axis_regions(6).into_iter().chain(lists([&[5, 1, 1], &[0, 2, 4], &[4, 0, 2]])) {
            for columns in &columns {
                let region = Selection::from([rows.clone(), columns.clone()]);
                let plan = array.layout().plan(&region).expect("plans");
                let chunks = plan.chunks(0..u64::MAX).expect("lists");
                assert_eq!(chunks.len() as u64, plan.len());
                let mut covered = vec![false; region.elements().expect("small") as usize];
                let mut planned = 0;
                for chunk in &chunks {
                    visit(&array, &region, chunk, &mut covered);
                    planned += chunk.reads(&array).expect("reads").map_or(0, |reads| reads.bytes());
                }
                assert!(covered.iter().all(|covered| *covered), "{codecs} {region:?}");
                // Opened again, so that no index is cached.
                let fresh = Array::open(store.clone(), &Prefix::root()).expect("opens");
                store.taken();
                fresh.with_range_cost(0).read(&region).expect("reads");
                assert_eq!(store.taken(), planned, "{codecs} {region:?}");
            }
        }
    }
}

/// Marks the elements of a region that a planned chunk has, each by the definition.
fn visit(array: &Array, region: &Selection, chunk: &PlannedChunk, covered: &mut [bool]) {
    assert_eq!(array.layout().key(&chunk.chunk).expect("short").as_str(), chunk.key);
    let shape = region.shape();
    let axes: Vec<Vec<u64>> = (0..2)
        .map(|axis| {
            let start = array.grid().axes()[axis].start(chunk.chunk[axis]).expect("declared");
            let inside: Vec<u64> =
                indices(&chunk.in_chunk[axis]).map(|n| start + n as u64).collect();
            let asked: Vec<u64> = indices(&region.axes()[axis]).map(|n| n as u64).collect();
            let positions: Vec<u64> =
                indices(&chunk.in_selection[axis]).map(|n| n as u64).collect();
            let there: Vec<u64> = positions.iter().map(|at| asked[*at as usize]).collect();
            assert_eq!(inside, there, "{region:?} {chunk:?}");
            positions
        })
        .collect();
    for row in &axes[0] {
        for column in &axes[1] {
            let place = &mut covered[(row * shape[1] + column) as usize];
            assert!(!*place, "{region:?} {chunk:?}");
            *place = true;
        }
    }
}

#[test]
fn shares_of_a_plan_are_apart_and_equal() {
    let (_, array) = create("[6, 7]", "[[[1, 6]], [[1, 7]]]", "uint16", &format!("[{BYTES}]"));
    let plan =
        array.layout().plan(Selection::parse("1:4, 2:6", &[6, 7]).expect("parses")).expect("plans");
    assert_eq!(plan.len(), 12);
    for workers in 1..=15_u64 {
        let count = NonZeroUsize::new(workers as usize).expect("not zero");
        let shares = plan.shares(count);
        assert_eq!(shares.len() as u64, workers.min(12));
        assert!(shares.windows(2).all(|pair| pair[0].end == pair[1].start));
        assert_eq!((shares[0].start, shares[shares.len() - 1].end), (0, 12));
        let lengths = shares.iter().map(|share| share.end - share.start);
        assert!(lengths.clone().max().unwrap() - lengths.min().unwrap() <= 1, "{shares:?}");
    }
}

/// A region of a grid too large for memory is planned in steps.
#[test]
fn sd_07_a_plan_of_very_many_chunks_costs_nothing() {
    let (_, array) =
        create("[1000000000000000]", "[[[1, 1000000000000000]]]", "uint16", &format!("[{BYTES}]"));
    let region = Selection::whole(array.shape());
    let plan = array.layout().plan(&region).expect("plans");
    assert_eq!(plan.len(), 1_000_000_000_000_000);
    let chunks = plan.chunks(999_999_999_999_998..u64::MAX).expect("lists");
    assert_eq!((chunks.len(), chunks[1].key.as_str()), (2, "c/999999999999999"));
    assert_eq!(chunks[1].reads(&array).expect("asks"), None);
}

/// A remote store gets as many requests at once as it wants, regardless of the cores: also
/// through pointers, and no more than fit in memory.
#[test]
fn a_store_far_away_is_asked_for_many_chunks_at_once() {
    let read = |edge: u64, awaited: usize| {
        let in_flight = NonZeroUsize::new(40);
        let store = Arc::new(Counting { in_flight, awaited, ..Counting::default() });
        let document = format!(
            r#"{{"zarr_format": 3, "node_type": "array", "shape": [100], "data_type": "uint8",
            "chunk_grid": {{"name": "rectilinear", "configuration": {{"kind": "inline",
              "chunk_shapes": [[[1, 99], {edge}]]}}}},
            "chunk_key_encoding": {{"name": "default"}}, "fill_value": 7,
            "codecs": [{{"name": "bytes"}}]}}"#
        );
        let metadata = ArrayMetadata::from_json(document.as_bytes()).expect("valid");
        let shared: Arc<dyn Store> = Arc::new(Arc::clone(&store));
        let array = Array::create(shared, &Prefix::root(), metadata).expect("creates");
        assert_eq!(array.read(0..99).expect("reads"), [7; 99]);
        store.asked.lock().expect("nobody panics").1
    };
    assert_eq!(read(1, 40), 40);
    assert_eq!(read(1 << 20, 40), 40);
    let cores = std::thread::available_parallelism().map_or(1, NonZeroUsize::get);
    assert!((20..=cores.max(20)).contains(&read((128 << 20) / 20, 20)));
}

/// Points far apart in one chunk: only what holds them is read, and nothing twice.
#[test]
fn points_read_what_holds_them() {
    let corners = || Points::from([[0, 2047, 0, 2047, 0], [0, 0, 2047, 2047, 0]]);
    let elements: Vec<u8> = (0..1 << 22).map(|at: u32| (at % 251) as u8).collect();
    let picked = [0, 2047_u32 * 2048, 2047, (1 << 22) - 1, 0].map(|at| (at % 251) as u8);
    let shards = shard("[256, 256]", r#"["bytes", "crc32c"]"#, "end");
    let index = 64 * 16 + 4;
    let inner = 256 * 256 + 4;
    let cases = [
        // Each element by itself.
        (r#"["bytes"]"#.to_owned(), 4),
        (r#"["bytes", "crc32c"]"#.to_owned(), 4),
        // Four of 64 inner chunks, and the index once.
        (format!("[{shards}]"), index + 4 * inner),
        // What must be read whole is read once.
        (format!("[{shards}, {GZIP}]"), 0),
    ];
    for (codecs, expected) in cases {
        let (store, array) = create("[2048, 2048]", "[2048, 2048]", "uint8", &codecs);
        array.write(Selection::whole(&[2048, 2048]), &elements).expect("writes");
        let whole = store.inner.size(&Key::new("c/0/0").unwrap()).unwrap().expect("stored");
        store.taken();
        let array = array.with_threads(NonZeroUsize::MIN);
        assert_eq!(array.read(corners()).expect("reads"), picked, "{codecs}");
        assert_eq!(store.taken(), if expected == 0 { whole } else { expected }, "{codecs}");
        // Many points close to each other are one box.
        let near: Vec<u64> = (0..200).collect();
        let read = array.read(Points::from([near.clone(), near])).expect("reads");
        assert!(read.iter().zip(0..).all(|(found, at)| *found == (at * 2049_u32 % 251) as u8));
        let box_or_inner = match expected {
            4 => 200 * 200,
            0 => whole,
            _ => inner,
        };
        assert!(store.taken() <= box_or_inner + index, "{codecs}");
    }
}
