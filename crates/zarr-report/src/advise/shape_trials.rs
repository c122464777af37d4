//! Advice on chunks and shards beside arrays that are written in all of the shapes, and read through a
//! store that counts.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use zarr_array::store::{
    AsyncStore, Capabilities, GetInto, Key, Layer, MemoryStore, ObjectMeta, Prefix, ReadRange,
    Store, StoreError,
};
use zarr_array::{Array, Selection};
use zarr_metadata::{ArrayBuilder, ChunkGrid, Codec, DataType};

use super::shapes::real;
use super::{Advice, AdviceOptions, Shape, read_lengths};

/// Counts requests for chunks and their bytes.
#[derive(Debug, Default)]
struct Counted {
    inner: MemoryStore,
    is_far: bool,
    requests: AtomicU64,
    bytes: AtomicU64,
}

impl Layer for Counted {
    type Inner = MemoryStore;

    fn inner(&self) -> &MemoryStore {
        &self.inner
    }

    fn around(&self, _: Arc<dyn Store>) -> Option<Arc<dyn Store>> {
        None
    }

    fn around_reads(&self, _: Arc<dyn AsyncStore>) -> Option<Arc<dyn AsyncStore>> {
        None
    }

    fn capabilities(&self) -> Capabilities {
        let requests = if self.is_far { 64 } else { 1 };
        Capabilities::new().requests_in_flight(requests.try_into().expect("not zero"))
    }

    fn get_into(&self, _: &Key, _: &mut [u8]) -> Result<GetInto, StoreError> {
        Ok(GetInto::Unsupported)
    }

    fn get(
        &self,
        key: &Key,
        range: ReadRange<'_>,
        out: &mut Vec<u8>,
    ) -> Result<Option<ObjectMeta>, StoreError> {
        let found = Store::get(&self.inner, key, range, out)?;
        if key.as_str().starts_with("c/") {
            self.requests.fetch_add(1, Ordering::Relaxed);
            self.bytes.fetch_add(out.len().try_into().expect("small"), Ordering::Relaxed);
        }
        Ok(found)
    }
}

/// A generator of numbers below a number.
struct Random(u64);

impl Random {
    fn below(&mut self, most: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963);
        (self.0 >> 33) % most
    }
}

fn filled(shape: &[u64], codecs: Vec<Codec>, value: &mut dyn FnMut(u64) -> u16) -> Array {
    let metadata = ArrayBuilder::new(shape.to_vec(), DataType::Uint16)
        .chunk_shape(shape.iter().map(|all| all.div_ceil(3)).collect::<Vec<_>>())
        .dimension_names(["time", "lat", "lon"].into_iter().take(shape.len()))
        .codecs(codecs);
    let metadata = metadata.build().expect("a document");
    let array = Array::create(Arc::new(MemoryStore::new()), &Prefix::root(), metadata);
    let array = array.expect("creates");
    let count = shape.iter().product::<u64>();
    let elements: Vec<u8> = (0..count).flat_map(|n| value(n).to_le_bytes()).collect();
    array.write(Selection::whole(shape), &elements).expect("writes");
    array
}

/// Requests and bytes of each read at random places of a copy in this shape, by new handles. On each
/// axis, there is a place in each part of as many as there are places.
fn counted(
    array: &Array,
    codecs: &[Codec],
    shape: &Shape,
    reads: &[Vec<u64>],
    is_far: bool,
) -> Vec<[f64; 2]> {
    const PLACES: u64 = 25;
    let grid = |lengths: &Vec<u64>| ChunkGrid::Regular { chunk_shape: lengths.clone() };
    let metadata = array.metadata().with_layout(
        Some(&grid(&shape.chunks)),
        Some(codecs),
        shape.shards.as_ref().map(grid).as_ref(),
    );
    let store = Arc::new(Counted { is_far, ..Counted::default() });
    let metadata = metadata.expect("fits");
    let copy = Array::create(store.clone(), &Prefix::root(), metadata).expect("creates");
    let whole = Selection::whole(array.shape());
    copy.write(&whole, &array.read(&whole).expect("reads")).expect("writes");
    let of_read = |read: &Vec<u64>| {
        for count in [&store.requests, &store.bytes] {
            count.store(0, Ordering::Relaxed);
        }
        let (mut random, times) = (Random(7), if read == array.shape() { 1 } else { PLACES });
        for place in 0..times {
            let axes = array.shape().iter().zip(read).zip([1, 7, 11]);
            let region = axes.map(|((all, one), step)| {
                let (part, starts) = (place * step % times, all - one + 1);
                let start = (part * starts + random.below(starts)) / times;
                start..start + one
            });
            let region: Selection = region.collect();
            let new = Array::open(store.clone(), &Prefix::root()).expect("opens");
            new.read(&region).expect("reads");
        }
        let of = |count: &AtomicU64| real(count.load(Ordering::Relaxed)) / real(times);
        [of(&store.requests), of(&store.bytes)]
    };
    reads.iter().map(of_read).collect()
}

/// Seconds of requests to a near store that moves so few bytes that decoding does not count.
fn time([requests, bytes]: [f64; 2]) -> f64 {
    requests / 10_000.0 + bytes / 2e6
}

/// An array of which hardly a part is written has the chunks that it would have if it were full.
#[test]
fn chunks_of_fill_values_are_not_taken_for_data() {
    const SHAPE: [u64; 3] = [400, 20, 30];
    let mut random = Random(3);
    let elements: Vec<u8> =
        (0..400 * 600).flat_map(|_| [random.below(250).try_into().expect("small"), 7]).collect();
    let advised = |places: &[u64]| {
        let metadata = ArrayBuilder::new(SHAPE, DataType::Uint16).chunk_shape([10, 20, 30]);
        let metadata = metadata.codecs([Codec::bytes(), Codec::zstd(3)]).build();
        let store = Arc::new(MemoryStore::new());
        let array = Array::create(store, &Prefix::root(), metadata.expect("a document"));
        let array = array.expect("creates");
        for place in places {
            let (start, bytes) = (10 * place, 10 * 600 * 2);
            let at = usize::try_from(place * bytes).expect("small");
            let bytes = &elements[at..at + usize::try_from(bytes).expect("small")];
            array.write((start..start + 10, 0..20, 0..30), bytes).expect("writes");
        }
        let options = AdviceOptions::new().goal(super::Goal::Size).rate(2_000_000);
        let options = options.memory(1 << 16).sample(1 << 16).read([1, 20, 30]).read([400, 2, 2]);
        let whole = Selection::whole(array.shape());
        Advice::of(&array, &whole, &options, &mut |_, _| {}).expect("advises")
    };
    let full = advised(&(0..40).collect::<Vec<_>>());
    // The first ones, and some that lie far from each other.
    for places in [&[0, 1][..], &[3, 29]] {
        let part = advised(places);
        let mut compared = 0;
        for shape in part.shapes() {
            let same =
                |other: &&Shape| (&other.chunks, &other.shards) == (&shape.chunks, &shape.shards);
            let Some(other) = full.shapes().iter().find(same) else { continue };
            compared += 1;
            for (one, other) in shape.reads.iter().zip(&other.reads) {
                let ratio = one.bytes / other.bytes;
                let (chunks, shards) = (&shape.chunks, &shape.shards);
                assert!((0.8..1.25).contains(&ratio), "{places:?} {chunks:?} {shards:?}: {ratio}");
            }
        }
        assert!(compared > 3, "{places:?}: {compared}");
    }
}

/// Where only fill values are found, chunks have their share of the sample.
#[test]
fn a_value_that_no_part_has_is_no_error() {
    let metadata = ArrayBuilder::new([1 << 20], DataType::Uint8).chunk_shape([1 << 20]);
    let metadata = metadata.codecs([Codec::bytes(), Codec::zstd(1)]).build().expect("a document");
    let array = Array::create(Arc::new(MemoryStore::new()), &Prefix::root(), metadata);
    let array = array.expect("creates");
    array.write(77_777..77_778, &[1]).expect("writes");
    let options = AdviceOptions::new().memory(1 << 12).read([1000]);
    let advice = Advice::of(&array, &Selection::whole(&[1 << 20]), &options, &mut |_, _| {});
    let advice = advice.expect("advises");
    assert!(advice.shapes().len() > 3);
    for shape in advice.shapes() {
        let [read] = shape.reads[..] else { panic!("one read") };
        assert!(read.bytes >= 1.0 && read.seconds < 0.1, "{:?} {read:?}", shape.chunks);
    }
}

/// A chunk much larger than the sample is decoded for the sample, and not for each shape.
#[test]
fn a_large_chunk_is_read_once() {
    const SHAPE: [u64; 2] = [512, 1024];
    let metadata = ArrayBuilder::new(SHAPE, DataType::Uint16).chunk_shape(SHAPE);
    let metadata = metadata.codecs([Codec::bytes(), Codec::zstd(1)]).build();
    let store = Arc::new(Counted::default());
    let array = Array::create(store.clone(), &Prefix::root(), metadata.expect("a document"))
        .expect("is new");
    let elements: Vec<u8> = (0..512 * 1024_u32).flat_map(|n| [n.to_le_bytes()[0], 1]).collect();
    array.write(Selection::whole(&SHAPE), &elements).expect("writes");
    store.requests.store(0, Ordering::Relaxed);
    let options = AdviceOptions::new().sample(1 << 14).read([1, 1024]).read([512, 1]);
    let advice = Advice::of(&array, &Selection::whole(&SHAPE), &options, &mut |_, _| {});
    let advice = advice.expect("advises");
    assert!(advice.shapes().len() > 3 && advice.sample.bytes() <= 1 << 14);
    assert_eq!(store.requests.load(Ordering::Relaxed), 1);
}

/// Many chunks and shards of at most two axes.
fn others(shape: &[u64]) -> Vec<(Vec<u64>, Option<Vec<u64>>)> {
    let lengths = |all: u64| [1, 12, all].into_iter().filter(move |one| *one <= all);
    let chunks: Vec<Vec<u64>> = match *shape {
        [rows, columns] => lengths(rows)
            .flat_map(|row| lengths(columns).map(move |column| vec![row, column]))
            .collect(),
        [all] => [50, 200, 1000, 10_000].map(|one| vec![one.min(all)]).to_vec(),
        _ => Vec::new(),
    };
    let near = |chunks: &Vec<u64>| {
        let axes = shape.iter().zip(chunks);
        let whole: Vec<u64> = axes.map(|(all, one)| all.div_ceil(*one) * one).collect();
        let count: u64 = whole.iter().zip(chunks).map(|(all, one)| all / one).product();
        (count < 2000).then(|| [(chunks.clone(), None), (chunks.clone(), Some(whole))])
    };
    chunks.iter().filter_map(near).flatten().collect()
}

/// What is said of each shape is what a store counts, and no shape that was tried is much better than
/// the advised one by what was counted.
#[test]
fn requests_and_bytes_are_those_of_arrays_in_these_shapes() {
    let mut random = Random(1);
    let mut noise = |n: u64| u16::try_from(n % 700 + random.below(64)).expect("small");
    let zstd = || vec![Codec::bytes(), Codec::zstd(3)];
    let arrays = [
        (filled(&[30, 24, 25], zstd(), &mut noise), vec!["time=1", "lat=4,lon=4"]),
        (filled(&[30, 24, 25], zstd(), &mut noise), vec!["whole", "time=7,lat=5"]),
        (filled(&[30_000], vec![Codec::bytes()], &mut noise), vec!["time=100"]),
        (filled(&[100, 150], vec![Codec::bytes()], &mut noise), vec!["time=1", "lat=1"]),
        (filled(&[100, 150], vec![Codec::packbits(0..=11)], &mut noise), vec!["lat=16", "whole"]),
    ];
    let (mut all, mut wrong) = (0, Vec::new());
    for (at, (array, texts)) in arrays.iter().enumerate() {
        // To a remote store, one compressed array and one that is not.
        let near = (Duration::from_micros(100), false);
        let far = (Duration::from_millis(20), true);
        for (latency, is_far) in [near, far].into_iter().take(if at % 3 == 0 { 2 } else { 1 }) {
            let reads =
                texts.iter().map(|text| read_lengths(text, array.metadata()).expect("fits"));
            let reads: Vec<_> = reads.collect();
            let start = AdviceOptions::new()
                .goal(super::Goal::Read)
                .latency(latency)
                .memory(1 << 16)
                .rate(2_000_000)
                .sample(1 << 14);
            let options = reads.iter().fold(start, |options, read| options.read(read.clone()));
            let whole = Selection::whole(array.shape());
            let advice = Advice::of(array, &whole, &options, &mut |_, _| {}).expect("advises");
            let codecs = advice.chunk_codecs();
            let mut times = Vec::new();
            // The advised one, and some of the others.
            for shape in advice.shapes().iter().step_by(3) {
                let mut of = Vec::new();
                let found = counted(array, codecs, shape, &reads, is_far);
                for ((read, said), [requests, bytes]) in reads.iter().zip(&shape.reads).zip(found) {
                    all += 1;
                    let is_near = |said: f64, found: f64, least: f64| {
                        (said - found).abs() <= 0.12 * found + least
                    };
                    if !is_near(said.requests, requests, 0.2) || !is_near(said.bytes, bytes, 200.0)
                    {
                        let (chunks, shards) = (&shape.chunks, &shape.shards);
                        wrong.push(format!(
                            "{read:?} {chunks:?} {shards:?}: {said:?}, counted {requests} {bytes}"
                        ));
                    }
                    of.push(time([requests, bytes]));
                }
                times.push(of);
            }
            assert!(times.len() > 3, "{texts:?}");
            if is_far {
                continue;
            }
            // Layouts that advice may not have looked at.
            for (chunks, shards) in others(array.shape()) {
                let mut shape = advice.shapes()[0].clone();
                (shape.chunks, shape.shards) = (chunks, shards);
                let found = counted(array, codecs, &shape, &reads, false);
                times.push(found.into_iter().map(time).collect());
            }
            // The reads count the same, as multiples of the best shape for each.
            let least: Vec<f64> = (0..reads.len())
                .map(|read| times.iter().map(|of| of[read]).fold(f64::INFINITY, f64::min))
                .collect();
            let score = |of: &Vec<f64>| of.iter().zip(&least).map(|(a, b)| a / b).sum::<f64>();
            let best = times.iter().map(score).fold(f64::INFINITY, f64::min);
            let advised = score(&times[0]);
            assert!(advised <= 1.3 * best, "{texts:?}: {advised} {best} {:?}", advice.shapes()[0]);
        }
    }
    // Whether a gap of about the cost of a range is bridged depends on a few bytes of each chunk.
    assert!(wrong.len() * 30 <= all, "{} of {all}: {wrong:#?}", wrong.len());
}
