//! Local stores beside the plain file operations that they are made of, and whole arrays in memory.
//!
//! `cargo bench -p zarr-array --bench store -- read` runs the ids that match: `read-whole/4KiB/plain` is
//! an operation, a size and what is measured, for each object.

#![expect(clippy::unwrap_used, reason = "a bench that fails stops")]

use std::fs;
use std::hint::black_box;
use std::io::Read;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use zarr_array::store::{
    Change, Key, LocalStore, MemoryStore, Prefix, ReadRange, Store, StoreError, StoreExt,
    UpdatePolicy, replace, update,
};
use zarr_array::{Array, Selection};
use zarr_metadata::{ArrayBuilder, Codec, DataType};

const FILES: usize = 200;

fn stores(criterion: &mut Criterion) {
    let folder = tempfile::tempdir().unwrap();
    let store = LocalStore::open(folder.path()).unwrap();
    let key = |n: usize| Key::new(format!("group/array/c/{}/{}", n / 20, n % 20)).unwrap();
    let keys: Vec<Key> = (0..FILES).map(key).collect();
    let paths: Vec<_> = keys.iter().map(|key| folder.path().join(key.as_str())).collect();
    let mut buffer = Vec::new();
    for size in [4 << 10, 64 << 10, 1 << 20] {
        let bytes = vec![1; size];
        keys.iter().for_each(|key| store.put(key, &bytes).unwrap());
        store.read_into(&keys[0], &mut buffer).unwrap();
        assert_eq!(buffer, bytes);
        // Each call takes the next object.
        let mut turn = 0;
        let mut next = || {
            turn = (turn + 1) % FILES;
            turn
        };
        let mut compare =
            |what: &str, ours: &mut dyn FnMut(usize), plain: &mut dyn FnMut(usize)| {
                let mut group = criterion.benchmark_group(format!("{what}/{}KiB", size >> 10));
                group.throughput(Throughput::Bytes(size as u64));
                group.bench_function("store", |bencher| bencher.iter(|| ours(next())));
                group.bench_function("plain", |bencher| bencher.iter(|| plain(next())));
                group.finish();
            };
        let mut plain_buffer = Vec::new();
        let mut plain_read = |n: usize| read(&paths[n], &mut plain_buffer).unwrap();
        let mut ours = |n: usize| assert!(store.read_into(&keys[n], &mut buffer).is_ok());
        compare("read-whole", &mut ours, &mut plain_read);
        let range = ReadRange::Suffix(1024);
        let mut ours = |n: usize| assert!(store.get(&keys[n], range, &mut buffer).is_ok());
        compare("read-last-KiB", &mut ours, &mut plain_read);

        let mut plain_write = |n: usize| write(&paths[n], &bytes).unwrap();
        let mut ours = |n: usize| store.put(&keys[n], &bytes).unwrap();
        compare("write", &mut ours, &mut plain_write);
        let mut ours = |n: usize| replace(&store, &keys[n], &bytes).unwrap();
        compare("write-under-lock", &mut ours, &mut plain_write);
        let mut ours = |n: usize| {
            let policy = UpdatePolicy::default();
            let done = update(&store, &keys[n], policy, &mut buffer, |_, bytes| {
                bytes[0] = black_box(2);
                Ok::<_, StoreError>(Change::Put)
            });
            done.unwrap();
        };
        compare("update", &mut ours, &mut plain_write);
    }
}

/// An array of 16 MiB in chunks of 1 MiB, read whole and in small regions, beside a copy.
fn arrays(criterion: &mut Criterion) {
    const EDGE: u64 = 2048;
    let values: Vec<i32> = (0..EDGE * EDGE).map(|n| (n % 4096) as i32).collect();
    let chains = [
        ("bytes", Vec::new()),
        ("transpose", vec![Codec::transpose([1, 0])]),
        ("packbits", vec![Codec::packbits(0..=12)]),
    ];
    let mut group = criterion.benchmark_group("array/read-whole");
    group.throughput(Throughput::Bytes(EDGE * EDGE * 4));
    let mut out = vec![0_i32; values.len()];
    group.bench_function("copy", |bencher| {
        bencher.iter(|| black_box(&mut out).copy_from_slice(black_box(&values)));
    });
    let mut opened = Vec::new();
    for (name, mut codecs) in chains {
        if name != "packbits" {
            codecs.push(Codec::bytes());
        }
        let metadata = ArrayBuilder::new([EDGE, EDGE], DataType::Int32)
            .chunks([[512].into(), [512].into()])
            .codecs(codecs)
            .build()
            .unwrap();
        let store = Arc::new(MemoryStore::new());
        let array = Array::create(store, &Prefix::root(), metadata).unwrap();
        let whole = Selection::whole(&[EDGE, EDGE]);
        array.write_as::<i32>(&whole, &values).unwrap();
        assert!(array.read_as::<i32>(&whole).unwrap() == values);
        let mut bytes = vec![0; values.len() * 4];
        group.bench_function(name, |bencher| {
            bencher.iter(|| array.read_into(&whole, black_box(&mut bytes)).unwrap());
        });
        opened.push((name, array));
    }
    group.finish();
    let mut group = criterion.benchmark_group("array/read-16x16");
    for (name, array) in &opened {
        let region = Selection::from((504..520, 504..520));
        let mut bytes = vec![0; 16 * 16 * 4];
        group.bench_function(*name, |bencher| {
            bencher.iter(|| array.read_into(&region, black_box(&mut bytes)).unwrap());
        });
    }
    group.finish();
}

/// What reading a whole file into a buffer that is used again takes at least.
fn read(path: &Path, buffer: &mut Vec<u8>) -> std::io::Result<()> {
    let mut file = fs::File::open(path)?;
    let size = file.metadata()?.len() as usize;
    buffer.resize(size, 0);
    file.read_exact(buffer)
}

/// A temporary file and a rename, with nothing else.
fn write(path: &Path, bytes: &[u8]) -> std::io::Result<()> {
    let temporary = path.with_extension("tmp");
    fs::write(&temporary, bytes)?;
    fs::rename(temporary, path)
}

criterion_group! {
    name = benches;
    config = Criterion::default()
        .sample_size(20)
        .warm_up_time(Duration::from_millis(200))
        .measurement_time(Duration::from_secs(1));
    targets = stores, arrays
}
criterion_main!(benches);
