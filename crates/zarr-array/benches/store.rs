//! Local stores beside the plain file operations that they are made of: `cargo bench --bench store`.
//!
//! Prints microseconds an operation, the best of several rounds, and their ratio.

use std::fs;
use std::hint::black_box;
use std::io::Read;
use std::path::Path;
use std::time::Instant;

use zarr_array::store::{
    Change, Key, LocalStore, ReadRange, Store, StoreError, StoreExt, UpdatePolicy, replace, update,
};

const FILES: usize = 200;
const ROUNDS: usize = 15;

/// Microseconds an operation, the best of all rounds.
fn best(mut run: impl FnMut(usize)) -> f64 {
    let mut best = f64::INFINITY;
    for _ in 0..ROUNDS {
        let start = Instant::now();
        for n in 0..FILES {
            run(n);
        }
        best = best.min(start.elapsed().as_secs_f64());
    }
    best * 1e6 / FILES as f64
}

fn report(what: &str, ours: f64, plain: f64) {
    println!("{what:<28} {ours:8.1} µs  plain {plain:8.1} µs  ratio {:.2}", ours / plain);
    // For `cargo xtask bench`.
    if std::env::var_os("BENCH_RECORDS").is_some() {
        for (role, who, time) in [("floor", "plain files", plain), ("ours", "LocalStore", ours)] {
            println!("record\tlocal files\t{what}\t{role}\t{who}\t{}", time * 1e3);
        }
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let folder = tempfile::tempdir()?;
    let store = LocalStore::open(folder.path())?;
    let keys: Vec<Key> = (0..FILES)
        .map(|n| Key::new(format!("group/array/c/{}/{}", n / 20, n % 20)))
        .collect::<Result<_, _>>()?;
    let paths: Vec<_> = keys.iter().map(|key| folder.path().join(key.as_str())).collect();
    let mut buffer = Vec::new();
    for size in [4 << 10, 64 << 10, 1 << 20] {
        let bytes = vec![1; size];
        let label = |what: &str| format!("{what} {} KiB", size >> 10);
        for key in &keys {
            store.put(key, &bytes)?;
        }
        let ours = best(|n| assert!(store.read_into(&keys[n], &mut buffer).is_ok()));
        assert_eq!(buffer, bytes);
        let plain = best(|n| assert!(read(&paths[n], &mut buffer).is_ok()));
        assert_eq!(buffer, bytes);
        report(&label("read whole"), ours, plain);

        let range = ReadRange::Suffix(1024);
        let ours = best(|n| assert!(store.get(&keys[n], range, &mut buffer).is_ok()));
        report(&label("read last KiB of"), ours, plain);

        let plain = best(|n| assert!(write(&paths[n], &bytes).is_ok()));
        let ours = best(|n| assert!(store.put(&keys[n], &bytes).is_ok()));
        report(&label("write"), ours, plain);
        let ours = best(|n| assert!(replace(&store, &keys[n], &bytes).is_ok()));
        report(&label("write under lock"), ours, plain);
        let ours = best(|n| {
            let policy = UpdatePolicy::default();
            let done = update(&store, &keys[n], policy, &mut buffer, |_, bytes| {
                bytes[0] = black_box(2);
                Ok::<_, StoreError>(Change::Put)
            });
            assert!(done.is_ok());
        });
        report(&label("update"), ours, plain);
    }
    Ok(())
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
