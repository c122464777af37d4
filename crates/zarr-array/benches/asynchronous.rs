//! Reading and writing an array through futures beside doing so on blocked threads:
//! `cargo bench -p zarr-array --features object_store --bench asynchronous [FOLDER]`.
//!
//! 256 MiB of uint16 behind zstd 1, in a folder (its page cache is warm), in memory, and in an object
//! store that is in memory and has an asynchronous interface, in chunks of 2 MiB and of 32 KiB, on
//! 1, 2 and 4 threads; reads into memory that is used again. The tick is how long the executor's only
//! thread was kept from its other work at most, while the future was awaited there.

use std::cell::Cell;
use std::hint::black_box;
use std::num::NonZeroUsize;
use std::rc::Rc;
use std::sync::Arc;
use std::time::{Duration, Instant};

use object_store::memory::InMemory;
use object_store::path::Path;
use tokio::runtime::{Builder, Runtime};
use tokio::task::LocalSet;
use zarr_array::store::{
    ConditionalPut, LocalStore, MemoryStore, Prefix, RemoteStore, Store, StoreOptions,
};
use zarr_array::{Array, ArrayFuture, Selection};
use zarr_metadata::ArrayMetadata;

const EDGE: u64 = 8192;
const WIDTH: u64 = 16384;
const ROUNDS: usize = 5;

fn document(chunk: u64) -> String {
    format!(
        r#"{{"zarr_format": 3, "node_type": "array", "shape": [{EDGE}, {WIDTH}],
        "data_type": "uint16", "fill_value": 0, "chunk_key_encoding": {{"name": "default"}},
        "chunk_grid": {{"name": "regular", "configuration": {{"chunk_shape": [{chunk}, {chunk}]}}}},
        "codecs": [{{"name": "bytes", "configuration": {{"endian": "little"}}}},
          {{"name": "zstd", "configuration": {{"level": 1, "checksum": false}}}}]}}"#
    )
}

/// Slopes with noise, which compress to about a third.
fn elements() -> Vec<u8> {
    let mut seed = 1_u64;
    let noise = || {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (seed >> 60) as u16
    };
    let values = std::iter::repeat_with(noise).zip(0_u64..EDGE * WIDTH);
    values.flat_map(|(noise, at)| ((at % WIDTH / 8) as u16 + noise).to_le_bytes()).collect()
}

fn median(mut seconds: Vec<f64>) -> f64 {
    seconds.sort_by(f64::total_cmp);
    seconds[seconds.len() / 2]
}

/// Awaits an operation on a runtime of one thread, and tells the longest pause between two turns of
/// another task there.
fn awaited<T>(runtime: &Runtime, operation: ArrayFuture<T>) -> (T, f64) {
    let longest = Rc::new(Cell::new(0.0_f64));
    let pauses = Rc::clone(&longest);
    let done = LocalSet::new().block_on(runtime, async {
        let ticker = tokio::task::spawn_local(async move {
            let mut last = Instant::now();
            loop {
                tokio::time::sleep(Duration::from_millis(1)).await;
                pauses.set(pauses.get().max(last.elapsed().as_secs_f64() - 0.001));
                last = Instant::now();
            }
        });
        let done = operation.await;
        ticker.abort();
        done
    });
    (done.expect("nothing fails"), longest.get())
}

/// The median of `blocking` and of `asynchronous`, which also tells its tick: one after the other,
/// so that both meet what else the machine does.
fn compare(name: &str, mut blocking: impl FnMut(), mut asynchronous: impl FnMut() -> f64) {
    let (mut first, mut second, mut ticks) = (Vec::new(), Vec::new(), Vec::new());
    for round in 0..=ROUNDS {
        let start = Instant::now();
        blocking();
        let middle = Instant::now();
        let tick = asynchronous();
        let end = middle.elapsed();
        // The first round warms what there is to be warmed.
        if round > 0 {
            first.push((middle - start).as_secs_f64());
            second.push(end.as_secs_f64());
            ticks.push(tick);
        }
    }
    let (first, second) = (median(first), median(second));
    println!(
        "  {name}: blocking {:.1} ms, asynchronous {:.1} ms, {:.2} times; tick {:.2} ms",
        first * 1e3,
        second * 1e3,
        second / first,
        median(ticks) * 1e3
    );
}

fn measure(name: &str, array: &Array, wanted: &Arc<[u8]>, runtime: &Runtime) {
    println!("{name}");
    for threads in [1, 2, 4] {
        let array = array.clone().with_threads(NonZeroUsize::new(threads).expect("not zero"));
        let whole = Selection::whole(array.shape());
        let mut into = vec![1; wanted.len()];
        let mut buffer = into.clone();
        compare(
            &format!("{threads} threads, read"),
            || {
                array.read_into(&whole, &mut into).expect("reads");
                assert!(black_box(&into[..]) == &wanted[..]);
            },
            || {
                let read = array.asynchronous().read_into(&whole, std::mem::take(&mut buffer));
                let tick;
                (buffer, tick) = awaited(runtime, read);
                assert!(black_box(&buffer[..]) == &wanted[..]);
                tick
            },
        );
        compare(
            &format!("{threads} threads, write"),
            || array.write(&whole, wanted).expect("writes"),
            || awaited(runtime, array.asynchronous().write(&whole, Arc::clone(wanted))).1,
        );
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let folder = std::env::args().skip(1).find(|argument| !argument.starts_with('-'));
    let folder = tempfile::tempdir_in(folder.map_or_else(std::env::temp_dir, Into::into))?;
    let runtime = Builder::new_current_thread().enable_time().build()?;
    let elements: Arc<[u8]> = elements().into();
    for chunk in [1024, 128] {
        let bytes = (chunk * chunk * 2) >> 10;
        let local: Arc<dyn Store> = Arc::new(LocalStore::open(folder.path())?);
        let backend = Arc::new(InMemory::new());
        let object = RemoteStore::new(
            backend,
            Path::default(),
            ConditionalPut::Supported,
            &StoreOptions::new(),
        );
        let places: [(Arc<dyn Store>, &str); 3] = [
            (local, "files"),
            (Arc::new(MemoryStore::new()), "memory"),
            (Arc::new(object), "object store"),
        ];
        for (store, place) in places {
            let metadata = ArrayMetadata::from_json(document(chunk).as_bytes())?;
            let prefix = Prefix::new(format!("chunks-of-{bytes}-KiB"))?;
            let array = Array::create(store, &prefix, metadata)?;
            array.write(Selection::whole(array.shape()), &elements)?;
            measure(&format!("{place}, chunks of {bytes} KiB"), &array, &elements, &runtime);
        }
    }
    Ok(())
}
