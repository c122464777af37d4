//! Opening virtual joins and reading them, beside the same elements in one array:
//! `cargo bench -p zarr-join --bench linked [FOLDER]`.
//!
//! Opening: 10,000 members from a document, and 1,000 members that are opened, joined and written
//! down. Reads of 64 MiB of uint16 in a folder (its page cache is warm), plain and behind zstd 1, as
//! 12 members and as 1,024 members of one chunk, on all cores, into memory that is used again; the
//! first read of a join opens its members. Links: 100 members of 100 chunks become one array by hard
//! links, beside a loop that only links the same files. The best of rounds that do both, one after
//! the other: other programs on the machine only make rounds slower. For reads also the processor's time
//! on one thread, which they disturb less.

use std::hint::black_box;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

use zarr_array::store::{LocalStore, Prefix, Store, StoreOptions};
use zarr_array::{Array, Selection};
use zarr_join::{Arrangement, Join, JoinOptions, Member};
use zarr_metadata::{ArrayBuilder, Codec, DataType};
use zarr_virtual_join::{Document, Missing, OpenOptions, open_store};

const WIDTH: u64 = 1024;
const ROUNDS: usize = 9;

/// Slopes with noise, which compress to about a third.
fn elements(rows: u64) -> Vec<u8> {
    let mut seed = 1_u64;
    let value = |at: u64| {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        ((at % WIDTH / 8) as u16 + (seed >> 60) as u16).to_le_bytes()
    };
    (0..rows * WIDTH).flat_map(value).collect()
}

fn best(seconds: Vec<f64>) -> f64 {
    seconds.into_iter().fold(f64::INFINITY, f64::min)
}

/// Nanoseconds that this thread has computed, on Linux: other programs hardly change them.
fn computed() -> u64 {
    let stat = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    stat.split(' ').next().and_then(|time| time.parse().ok()).unwrap_or(0)
}

/// The processor's time for a read on one thread, in seconds.
fn computing(array: &Array, selection: &Selection, out: &mut [u8]) -> f64 {
    let alone = array.clone().with_threads(NonZeroUsize::MIN);
    let before = computed();
    alone.read_into(selection, black_box(out)).expect("reads");
    (computed() - before) as f64 / 1e9
}

fn timed<T>(work: impl FnOnce() -> T) -> (f64, T) {
    let start = Instant::now();
    let result = work();
    (start.elapsed().as_secs_f64(), result)
}

fn create(path: &Path, rows: u64, chunk: u64, codecs: &[Codec]) -> Array {
    std::fs::create_dir_all(path).expect("creates");
    let metadata = ArrayBuilder::new([rows, WIDTH], DataType::Uint16)
        .chunk_shape([chunk, WIDTH])
        .codecs(codecs.to_vec())
        .build()
        .expect("valid");
    let store = Arc::new(LocalStore::open(path).expect("opens"));
    Array::create(store, &Prefix::root(), metadata).expect("creates")
}

fn open(path: &Path) -> Array {
    let store = Arc::new(LocalStore::open(path).expect("opens"));
    Array::open(store, &Prefix::root()).expect("opens")
}

fn open_join(path: &Path) -> Array {
    let store = open_store(path.to_str().expect("UTF-8"), &OpenOptions::new());
    Array::open(store.expect("opens"), &Prefix::root()).expect("opens")
}

/// Opens the members, and writes the document of their join.
fn link(paths: &[PathBuf], place: &Path) {
    let member = |path: &PathBuf| Member::new(path.to_str().expect("UTF-8"), open(path));
    let members = paths.iter().map(member).collect();
    let place = place.to_str().expect("UTF-8");
    let document =
        Document::of_join(Join::new(members, Arrangement::Along(0)), place, Missing::Error);
    document.expect("fits").write(place, &StoreOptions::new()).expect("writes");
}

fn opening(folder: &Path) {
    for count in [1_000_usize, 10_000] {
        let folder = folder.join(format!("{count}"));
        // Lengths that differ, as those of months do.
        let paths: Vec<PathBuf> = (0..count).map(|at| folder.join(format!("{at}.zarr"))).collect();
        for (at, path) in paths.iter().enumerate() {
            create(path, 28 + at as u64 % 4, 16, &[Codec::bytes()]);
        }
        let place = folder.join("all.zjoin");
        let cold = (0..ROUNDS).map(|_| {
            std::fs::remove_file(&place).ok();
            timed(|| link(&paths, &place)).0
        });
        let cold = best(cold.collect());
        let cached = best((0..ROUNDS).map(|_| timed(|| open_join(&place)).0).collect());
        let bytes = std::fs::metadata(&place).expect("is there").len();
        println!(
            "{count} members: opened, joined and written in {:.0} ms; a document of {bytes} bytes \
             is opened in {:.1} ms",
            cold * 1e3,
            cached * 1e3
        );
    }
}

fn reading(folder: &Path, name: &str, codecs: &[Codec], count: u64) {
    let rows = (32 << 20) / WIDTH;
    let folder = folder.join(format!("{name}-{count}"));
    // Members of unequal length, each of whole chunks; the last has the rest.
    let chunk = 32;
    let all = elements(rows);
    let whole = create(&folder.join("whole.zarr"), rows, chunk, codecs);
    whole.write(Selection::whole(whole.shape()), &all).expect("writes");
    let mut paths = Vec::new();
    let mut start = 0;
    for at in 0..count {
        let chunks = rows / chunk / count + u64::from(at % 2 == 0 && count < 100);
        let end = if at + 1 == count { rows } else { (start + chunks * chunk).min(rows) };
        let path = folder.join(format!("{at}.zarr"));
        let member = create(&path, end - start, chunk, codecs);
        let bytes = usize::try_from(start * WIDTH * 2).expect("small")
            ..usize::try_from(end * WIDTH * 2).expect("small");
        member.write(Selection::whole(member.shape()), &all[bytes]).expect("writes");
        paths.push(path);
        start = end;
    }
    link(&paths, &folder.join("all.zjoin"));
    let joined = open_join(&folder.join("all.zjoin"));
    let selection = Selection::whole(joined.shape());
    let mut out = vec![0; all.len()];
    let (first, ()) = timed(|| joined.read_into(&selection, &mut out).expect("reads"));
    assert!(out == all);
    let (mut one, mut many) = (Vec::new(), Vec::new());
    let (mut one_cpu, mut many_cpu) = (Vec::new(), Vec::new());
    for _ in 0..ROUNDS {
        one_cpu.push(computing(&whole, &selection, &mut out));
        many_cpu.push(computing(&joined, &selection, &mut out));
        one.push(timed(|| whole.read_into(&selection, black_box(&mut out)).expect("reads")).0);
        many.push(timed(|| joined.read_into(&selection, black_box(&mut out)).expect("reads")).0);
    }
    let (one, many) = (best(one), best(many));
    let (one_cpu, many_cpu) = (best(one_cpu), best(many_cpu));
    println!(
        "{name}, {count} members: one array {:.1} ms, joined {:.1} ms ({:.2}), its first read {:.1} ms; \
         processor time on one thread: one array {:.1} ms, joined {:.1} ms ({:.2})",
        one * 1e3,
        many * 1e3,
        many / one,
        first * 1e3,
        one_cpu * 1e3,
        many_cpu * 1e3,
        many_cpu / one_cpu
    );
}

/// The files of a folder and below, relative to it.
fn files(folder: &Path, below: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder.join(below)).expect("lists") {
        let entry = entry.expect("an entry");
        let path = below.join(entry.file_name());
        match entry.file_type().expect("a type").is_dir() {
            true => files(folder, &path, found),
            false => found.push(path),
        }
    }
}

fn linking(folder: &Path) {
    const MEMBERS: u64 = 100;
    const CHUNKS: u64 = 100;
    let folder = folder.join("links");
    let place = |at: u64| folder.join(format!("{at}.zarr"));
    for at in 0..MEMBERS {
        std::fs::create_dir_all(place(at)).expect("creates");
        let metadata = ArrayBuilder::new([CHUNKS * 64], DataType::Uint8).chunk_shape([64]);
        let store = Arc::new(LocalStore::open(place(at)).expect("opens"));
        let array = Array::create(store, &Prefix::root(), metadata.build().expect("valid"));
        array.expect("creates").write(0..CHUNKS * 64, &[7; 6400]).expect("writes");
    }
    let (mut planned, mut joined, mut looped) = (Vec::new(), Vec::new(), Vec::new());
    for round in 0..ROUNDS {
        let target = folder.join(format!("joined-{round}"));
        std::fs::create_dir_all(&target).expect("creates");
        let store: Arc<dyn Store> = Arc::new(LocalStore::open(&target).expect("opens"));
        let members = (0..MEMBERS).map(|at| {
            let path = place(at);
            Member::new(path.to_str().expect("UTF-8"), open(&path))
        });
        let join = Join::new(members.collect(), Arrangement::Along(0));
        let (seconds, plan) = timed(|| join.plan().expect("fits"));
        planned.push(seconds);
        let options = JoinOptions::new().link(true);
        let (seconds, (_, did)) =
            timed(|| plan.execute(&store, &Prefix::root(), &options, &|_| {}).expect("joins"));
        assert_eq!((did.linked, did.copied_bytes, did.written), (MEMBERS * CHUNKS, 0, 0));
        joined.push(seconds);
        // The same links, in the same folders, which were made before.
        let mut pairs = Vec::new();
        let again = folder.join(format!("looped-{round}"));
        let mut made = Vec::new();
        files(&target, Path::new(""), &mut made);
        for path in made.iter().filter(|path| path.starts_with("c")) {
            let parent = again.join(path).parent().expect("in a folder").to_owned();
            std::fs::create_dir_all(parent).expect("creates");
            pairs.push((target.join(path), again.join(path)));
        }
        assert_eq!(pairs.len() as u64, MEMBERS * CHUNKS);
        looped.push(
            timed(|| pairs.iter().for_each(|(a, b)| std::fs::hard_link(a, b).expect("links"))).0,
        );
    }
    let (planned, joined, looped) = (best(planned), best(joined), best(looped));
    println!(
        "{} chunks linked: planned in {:.0} ms, joined in {:.0} ms; a loop that only links {:.0} ms \
         ({:.2})",
        MEMBERS * CHUNKS,
        planned * 1e3,
        joined * 1e3,
        looped * 1e3,
        joined / looped
    );
}

fn main() {
    let chosen = std::env::args().skip(1).find(|argument| !argument.starts_with("--"));
    let folder = match chosen {
        Some(folder) => tempfile::tempdir_in(folder),
        None => tempfile::tempdir(),
    };
    let folder = folder.expect("a folder");
    linking(folder.path());
    opening(folder.path());
    for (name, codecs) in
        [("plain", vec![Codec::bytes()]), ("zstd 1", vec![Codec::bytes(), Codec::zstd(1)])]
    {
        for count in [12, 1024] {
            reading(folder.path(), name, &codecs, count);
        }
    }
}
