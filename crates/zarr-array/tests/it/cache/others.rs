//! Arrays with a cache while other threads, processes and sessions write.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;
use std::time::Duration;

use zarr_array::Array;
use zarr_array::store::{LocalStore, MemoryStore, Prefix, Store};
use zarr_metadata::{ArrayBuilder, Codec, DataType};
use zarr_store_tests::SetAtEnd;
use zarr_zip::ZipStore;

use super::Random;
use super::watched::Watched;

/// A session that is given up, and the next one; then the archive is replaced.
#[test]
fn reads_of_archives_are_of_what_is_in_them_now() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("a.zip");
    let builder = ArrayBuilder::new([4], DataType::Uint8).chunk_shape([4]);
    let metadata = builder.codecs([Codec::sharding([2], [Codec::bytes()])]).build().expect("valid");
    let zip = Arc::new(ZipStore::create(&path).expect("opens"));
    let array = Array::create(zip.clone(), &Prefix::root(), metadata).expect("creates");
    let array = array.with_cache(1 << 20);
    let old = std::fs::read(&path).expect("reads");
    for round in 1..=3 {
        let session = zip.session().expect("begins").expect("has sessions");
        let inside = array.clone().with_store(Arc::clone(session.store()));
        inside.write(0..4, &[round; 4]).expect("writes");
        for _ in 0..2 {
            assert_eq!(inside.read(0..4).expect("reads"), [round; 4]);
            assert_eq!(inside.read(1..2).expect("reads"), [round]);
        }
        if round == 3 {
            session.commit().expect("commits");
        }
    }
    thread::sleep(Duration::from_millis(60));
    for _ in 0..2 {
        assert_eq!(array.read(0..4).expect("reads"), [3; 4]);
    }
    std::fs::write(&path, old).expect("writes");
    array.read(0..4).expect_err("was replaced");
}

/// One thread replaces a shard of equal elements, others read windows of it: each read is of one
/// version, and of none older than what was written before it began.
fn reads_while_others_write(store: Arc<dyn Store>, rounds: u8) {
    let builder = ArrayBuilder::new([8, 8], DataType::Uint8).chunk_shape([8, 8]);
    let codecs = [Codec::sharding([2, 4], [Codec::bytes()])];
    let metadata = builder.codecs(codecs).build().expect("valid");
    let plain = Array::create(store, &Prefix::root(), metadata).expect("creates");
    plain.write([0..8, 0..8], &[1; 64]).expect("writes");
    let array = plain.clone().with_cache(1500);
    let (written, done) = (AtomicU64::new(1), AtomicBool::new(false));
    thread::scope(|scope| {
        let _done = SetAtEnd(&done);
        for reader in 0..3 {
            let (array, written, done) = (array.clone(), &written, &done);
            scope.spawn(move || {
                let mut random = Random(reader);
                while !done.load(Ordering::Acquire) {
                    let least = written.load(Ordering::Acquire);
                    let region = [random.range(8), random.range(8)];
                    let found = array.read(region).expect("reads");
                    assert!(found.iter().all(|value| *value == found[0]), "{found:?}");
                    assert!(u64::from(found[0]) >= least, "{} after {least}", found[0]);
                }
            });
        }
        for round in 2..rounds {
            plain.write([0..8, 0..8], &[round; 64]).expect("writes");
            written.store(round.into(), Ordering::Release);
            // Long enough for some versions to be kept, at times.
            thread::sleep(Duration::from_millis(if round % 8 == 0 { 70 } else { 1 }));
        }
    });
}

#[test]
fn reads_see_one_version_and_none_that_was_replaced_before() {
    reads_while_others_write(Arc::new(MemoryStore::new()), 250);
    let far = Watched::new(MemoryStore::new());
    far.set_far();
    reads_while_others_write(far, 250);
    let folder = tempfile::tempdir().expect("a folder");
    reads_while_others_write(Arc::new(LocalStore::open(folder.path()).expect("opens")), 60);
}

/// Another process writes between reads of files that are kept.
#[test]
fn writes_of_another_process_are_seen() {
    use std::io::Write as _;
    use zarr_store_tests::child::wait_for;
    let folder = tempfile::tempdir().expect("a folder");
    let builder = ArrayBuilder::new([4], DataType::Uint8).chunk_shape([4]);
    let metadata = builder.codecs([Codec::sharding([2], [Codec::bytes()])]).build().expect("valid");
    let store = Arc::new(LocalStore::open(folder.path()).expect("opens"));
    let array = Array::create(store, &Prefix::root(), metadata).expect("creates");
    let array = array.with_cache(1 << 20);
    let job = format!("fill {}", folder.path().display());
    let (mut child, mut output) = crate::store::processes::start(&job);
    let mut input = child.stdin.take().expect("a pipe");
    for round in 1..=8_u8 {
        input.write_all(&[round]).expect("asks");
        wait_for(&mut output, "written");
        // At once, and when it is kept.
        for wait in [0, 60, 0] {
            thread::sleep(Duration::from_millis(wait));
            assert_eq!(array.read(0..4).expect("reads"), [round; 4]);
        }
    }
    drop(input);
    assert!(child.wait().expect("ends").success());
}
