//! The chunks of an array that has a million tiny ones: opening it, the key and the place of each,
//! and a read that finds none of them stored. All in memory, so that nothing waits for a disk.

use std::fmt::Write as _;
use std::hint::black_box;
use std::num::NonZeroUsize;
use std::sync::Arc;
use std::time::Instant;

use zarr_kit::{Array, ArrayMetadata, MemoryStore, Prefix, Selection};
use zarrs::array::{ArrayBytes, ArraySubset};
use zarrs::storage::store::MemoryStore as TheirMemory;

use crate::{Result, median, record, theirs};

const CHUNKS: usize = 1000;
const REPETITIONS: usize = 7;
const FILL: u8 = 7;

type TheirArray = zarrs::array::Array<TheirMemory>;

/// What a walk over all chunks adds up to: elements, and bytes of keys.
type Sums = (u64, usize);

struct Arrays {
    edges: Vec<u64>,
    metadata: String,
    ours: Arc<MemoryStore>,
    theirs: Arc<TheirMemory>,
}

pub fn run() -> Result<()> {
    let mut state = 0x2545_f491_4f6c_dd1d_u64;
    let mut random = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state % 7 + 1
    };
    let explicit: Vec<u64> = (0..CHUNKS).map(|_| random()).collect();
    let regular = r#"{"name":"regular","configuration":{"chunk_shape":[4,4]}}"#.to_owned();
    let rectilinear = format!(
        r#"{{"name":"rectilinear","configuration":{{"kind":"inline",
        "chunk_shapes":[{explicit:?},{explicit:?}]}}}}"#
    );
    measure("regular", vec![4; CHUNKS], &regular)?;
    measure("rectilinear, explicit edges", explicit, &rectilinear)
}

fn measure(name: &str, edges: Vec<u64>, grid: &str) -> Result<()> {
    let extent: u64 = edges.iter().sum();
    let metadata = format!(
        r#"{{"zarr_format":3,"node_type":"array","shape":[{extent},{extent}],"data_type":"uint8",
        "chunk_grid":{grid},"chunk_key_encoding":{{"name":"default"}},"fill_value":{FILL},
        "codecs":[{{"name":"bytes"}}]}}"#
    );
    let (ours, theirs) = (Arc::new(MemoryStore::new()), Arc::new(TheirMemory::new()));
    let arrays = Arrays { edges, metadata, ours, theirs };
    Array::create(
        Arc::clone(&arrays.ours) as _,
        &Prefix::root(),
        ArrayMetadata::from_json(arrays.metadata.as_bytes())?,
    )?;
    TheirArray::new_with_metadata(
        Arc::clone(&arrays.theirs),
        "/",
        zarrs::array::ArrayMetadata::try_from(arrays.metadata.as_str())?,
    )?
    .store_metadata()?;

    println!("{CHUNKS} x {CHUNKS} chunks, {name}");
    println!("  {:<32} {:>10} {:>10} {:>10}", "", "by hand", "zarr-kit", "zarrs");
    let million = (CHUNKS * CHUNKS) as f64;
    let open = [
        None,
        Some(timed(|| open_ours(&arrays).map(|_| ()))?),
        Some(timed(|| open_theirs(&arrays).map(|_| ()))?),
    ];
    print_row("open, microseconds", open.map(|time| time.map(|time| time * 1e6)));

    let (array, theirs) = (open_ours(&arrays)?, open_theirs(&arrays)?);
    let expected = by_hand(&arrays.edges)?;
    let check = |sums: Sums| {
        if sums == expected { Ok(()) } else { Err("the walks differ") }
    };
    let walk = [
        Some(timed(|| Ok(check(black_box(by_hand(&arrays.edges)?))?))?),
        Some(timed(|| Ok(check(walk_ours(&array)?)?))?),
        Some(timed(|| Ok(check(walk_theirs(&theirs)?)?))?),
    ];
    let row = format!("{name}, key and place");
    for (who, time) in ["floor", "zarr-kit", "zarrs"].into_iter().zip(walk) {
        record("tiny chunks", &row, who, time.unwrap_or_default() / million);
    }
    print_row("key and place, ns a chunk", walk.map(|time| time.map(|time| time / million * 1e9)));

    let plan = timed(|| Ok(check(plan_ours(&array)?)?))?;
    // The others have no plan, whose parts can be sent to other processes.
    record("tiny chunks", &format!("{name}, plan"), "zarr-kit", plan / million);
    print_row("plan of all, ns a chunk", [None, Some(plan / million * 1e9), None]);

    for threads in [1, 2, 4] {
        let ours = open_ours(&arrays)?;
        let ours = ours.with_threads(NonZeroUsize::new(threads).ok_or("no threads")?);
        let read = [
            None,
            Some(timed(|| is_filled(&ours.read(Selection::whole(ours.shape()))?))?),
            Some(timed(|| {
                let options = theirs::options(threads);
                let whole = theirs.subset_all();
                let bytes: ArrayBytes<'_> = theirs.retrieve_array_subset_opt(&whole, &options)?;
                is_filled(&bytes.into_fixed()?)
            })?),
        ];
        let label = format!("read, none stored, {threads} threads, ns");
        for (who, time) in ["zarr-kit", "zarrs"].into_iter().zip(read.iter().skip(1)) {
            let row = format!("{name}, none stored, read, {threads} threads");
            record("tiny chunks", &row, who, time.unwrap_or_default() / million);
        }
        print_row(&label, read.map(|time| time.map(|time| time / million * 1e9)));
    }
    Ok(())
}

/// The median of several rounds, in seconds.
fn timed(mut run: impl FnMut() -> Result<()>) -> Result<f64> {
    let mut times = Vec::new();
    for _ in 0..REPETITIONS {
        let start = Instant::now();
        run()?;
        times.push(start.elapsed().as_secs_f64());
    }
    Ok(median(times))
}

fn print_row(label: &str, figures: [Option<f64>; 3]) {
    print!("  {label:<32}");
    for figure in figures {
        match figure {
            Some(figure) => print!(" {figure:>10.1}"),
            None => print!(" {:>10}", "-"),
        }
    }
    println!();
}

fn is_filled(elements: &[u8]) -> Result<()> {
    if elements.iter().all(|&element| element == FILL) { Ok(()) } else { Err("not filled".into()) }
}

fn open_ours(arrays: &Arrays) -> Result<Array> {
    Ok(Array::open(Arc::<MemoryStore>::clone(&arrays.ours), &Prefix::root())?)
}

fn open_theirs(arrays: &Arrays) -> Result<TheirArray> {
    Ok(TheirArray::open(Arc::clone(&arrays.theirs), "/")?)
}

fn by_hand(edges: &[u64]) -> Result<Sums> {
    let mut sums = (0, 0);
    let mut key = String::new();
    let mut row = 0;
    for (i, height) in edges.iter().enumerate() {
        let mut column = 0;
        for (j, width) in edges.iter().enumerate() {
            key.clear();
            write!(key, "c/{i}/{j}")?;
            black_box((row, column));
            sums = (sums.0 + height * width, sums.1 + black_box(&key).len());
            column += width;
        }
        row += height;
    }
    Ok(sums)
}

fn walk_ours(array: &Array) -> Result<Sums> {
    let mut sums = (0, 0);
    let mut chunks = array.grid().all_chunks()?;
    while let Some(part) = chunks.next_part() {
        let key = array.layout().key(part.chunk())?;
        let axes = black_box(part.axes()).iter();
        sums = (sums.0 + axes.map(|axis| axis.len()).product::<u64>(), sums.1 + key.as_str().len());
    }
    Ok(sums)
}

/// As for workers that are sent shares of a plan, a thousand chunks at a time.
fn plan_ours(array: &Array) -> Result<Sums> {
    let mut sums = (0, 0);
    let plan = array.layout().plan(Selection::whole(array.shape()))?;
    for start in (0..plan.len()).step_by(CHUNKS) {
        for chunk in plan.chunks(start..plan.len().min(start + CHUNKS as u64))? {
            sums = (sums.0 + chunk.elements, sums.1 + chunk.key.len());
        }
    }
    Ok(sums)
}

fn walk_theirs(array: &TheirArray) -> Result<Sums> {
    let mut sums = (0, 0);
    let chunks = array.chunks_in_array_subset(&array.subset_all())?.ok_or("no chunks")?;
    for chunk in &chunks.indices() {
        let key = array.chunk_key(&chunk);
        let subset: ArraySubset = array.chunk_subset_bounded(&chunk)?;
        black_box(subset.start());
        sums = (sums.0 + subset.num_elements(), sums.1 + key.as_str().len());
    }
    Ok(sums)
}
