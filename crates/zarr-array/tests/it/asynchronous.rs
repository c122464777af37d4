//! Reads that do not block, against reads that do.

mod changes;
pub(crate) mod face;
mod gate;
mod opens;
mod strings;
mod writes;

use std::num::NonZeroUsize;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, Waker};
use std::thread;

use zarr_array::asynchronous::AsyncArray;
use zarr_array::store::{Fault, FaultStore, Key, MemoryStore, Prefix, Store};
use zarr_array::{Array, ArrayError, Selection};
use zarr_metadata::ArrayMetadata;
use zarr_store_tests::SetAtEnd;
pub(crate) use zarr_store_tests::executor::block_on;

use face::{Faced, Manner};

const BYTES: &str = r#"{"name": "bytes", "configuration": {"endian": "big"}}"#;
const RECTILINEAR: &str = r#"{"name": "rectilinear", "configuration": {"kind": "inline",
  "chunk_shapes": [[20, [8, 5]], [[14, 5]]]}}"#;
const REGULAR: &str = r#"{"name": "regular", "configuration": {"chunk_shape": [8, 14]}}"#;

fn shard(codecs: &str) -> String {
    format!(
        r#"{{"name": "sharding_indexed", "configuration": {{"chunk_shape": [4, 7],
        "codecs": {codecs}, "index_codecs": [{{"name": "bytes",
        "configuration": {{"endian": "little"}}}}, {{"name": "crc32c"}}]}}}}"#
    )
}

/// Every kind of chain: what is read in ranges, in two steps, and whole.
fn chains() -> Vec<String> {
    let gzip = r#"{"name": "gzip", "configuration": {"level": 1}}"#;
    let zstd = r#"{"name": "zstd", "configuration": {"level": 1, "checksum": true}}"#;
    let turned = r#"{"name": "transpose", "configuration": {"order": [1, 0]}}"#;
    vec![
        format!("[{BYTES}]"),
        format!("[{turned}, {BYTES}, {zstd}]"),
        format!(r#"[{turned}, {{"name": "packbits"}}]"#),
        format!("[{}]", shard(&format!("[{BYTES}]"))),
        format!("[{}]", shard(&format!("[{BYTES}, {gzip}]"))),
        format!("[{}, {gzip}]", shard(r#"[{"name": "packbits"}]"#)),
    ]
}

/// An array of 60 x 70, whose last rows of chunks are not stored.
fn create(store: Arc<dyn Store>, grid: &str, codecs: &str) -> Array {
    let document = format!(
        r#"{{"zarr_format": 3, "node_type": "array", "shape": [60, 70], "data_type": "uint16",
        "chunk_grid": {grid}, "chunk_key_encoding": {{"name": "default"}}, "fill_value": 9,
        "codecs": {codecs}}}"#
    );
    let metadata = ArrayMetadata::from_json(document.as_bytes()).expect("valid");
    let array = Array::create(store, &Prefix::root(), metadata).expect("creates");
    let elements: Vec<u16> = (0..44 * 70).map(|n| n * 7 + 1).collect();
    array.write_as([0..44, 0..70], &elements).expect("writes");
    array
}

/// The store as it is, and with every face that it could have.
pub(crate) fn faces(store: &Arc<dyn Store>) -> [Arc<dyn Store>; 3] {
    let faced = |manner| -> Arc<dyn Store> { Arc::new(Faced::new(Arc::clone(store), manner)) };
    [Arc::clone(store), faced(Manner::Ready), faced(Manner::Blocking)]
}

/// The asynchronous operations of an array, with one chunk in flight.
fn one_by_one(array: &Array) -> AsyncArray {
    array.asynchronous().with_chunks_in_flight(at_once(1))
}

fn at_once(chunks: usize) -> NonZeroUsize {
    NonZeroUsize::new(chunks).expect("not zero")
}

fn with_each<A: Clone, const N: usize>(
    all: [A; N],
    numbers: [usize; 3],
) -> impl Iterator<Item = (A, usize)> {
    all.into_iter().flat_map(move |one| numbers.map(|number| (one.clone(), number)))
}

fn poll<T>(future: Pin<&mut (impl Future<Output = T> + ?Sized)>) -> Poll<T> {
    future.poll(&mut Context::from_waker(Waker::noop()))
}

#[test]
fn every_way_of_reading_gives_the_same() {
    let current = tokio::runtime::Builder::new_current_thread().build().expect("starts");
    let multi = tokio::runtime::Builder::new_multi_thread().worker_threads(2).build();
    let multi = multi.expect("starts");
    for codecs in chains() {
        for grid in [REGULAR, RECTILINEAR] {
            let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
            let array = create(store.clone(), grid, &codecs);
            for text in [
                "",
                "3:50:3, ::-2",
                "19:21, 13:29",
                "59, 69",
                "5:5, :",
                "[40, 3, 41, 3], [0, 60, 1]",
                "::-7, [5, 6, 30]",
                "17, [69, 0]",
                "[], :",
            ] {
                let region = Selection::parse(text, array.shape()).expect("parses");
                let wanted = array.read(&region).expect("reads");
                for (face, chunks) in with_each(faces(&store), [1, 2, 16]) {
                    // Opened anew, so that indices are read, and then known.
                    let opened = Array::open(face, &Prefix::root()).expect("opens");
                    let in_flight = at_once(chunks);
                    let fresh = opened.asynchronous().with_chunks_in_flight(in_flight);
                    let found = [
                        current.block_on(fresh.read(&region)),
                        multi.block_on(multi.spawn(fresh.read(&region))).expect("ends"),
                        block_on(opened.with_threads(at_once(1)).asynchronous().read(&region)),
                    ];
                    for found in found {
                        assert_eq!(found.expect("reads"), wanted, "{codecs} {text} {chunks}");
                    }
                    let typed = block_on(fresh.read_as::<u16>(&region)).expect("reads");
                    let bytes: Vec<u8> = typed.iter().flat_map(|n| n.to_le_bytes()).collect();
                    assert_eq!(bytes, wanted, "{codecs} {text} {chunks}");
                }
            }
        }
    }
}

#[test]
fn typed_reads_take_the_types_of_the_elements() {
    let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
    create(store.clone(), REGULAR, &chains()[0]);
    for face in faces(&store) {
        let array = Array::open(face, &Prefix::root()).expect("opens");
        let other =
            block_on(array.asynchronous().read_as::<f32>([0..1, 0..1])).expect_err("not floats");
        assert!(matches!(other, ArrayError::ElementType { .. }), "{other}");
        let outside =
            block_on(array.asynchronous().read_as::<u16>([0..61, 0..1])).expect_err("too long");
        assert!(matches!(outside, ArrayError::Selection { .. }), "{outside}");
        let row = block_on(array.asynchronous().read_as::<u16>((43, [1, 0]))).expect("reads");
        assert_eq!(row, [(43 * 70 + 1) * 7 + 1, 43 * 70 * 7 + 1]);
        #[cfg(feature = "ndarray")]
        {
            let selection = ([43, 0], 1..3);
            let found = block_on(array.asynchronous().read_as::<ndarray::ArrayD<u16>>(selection))
                .expect("reads");
            let first = (43 * 70 + 1) * 7 + 1;
            assert_eq!(found, ndarray::arr2(&[[first, first + 7], [8, 15]]).into_dyn());
        }
    }
}

#[test]
fn many_reads_share_the_threads() {
    let array = create(Arc::new(MemoryStore::new()), REGULAR, &chains()[1]);
    let runtime = tokio::runtime::Builder::new_multi_thread().build().expect("starts");
    let reads: Vec<_> = (0..200)
        .map(|n| {
            let region = Selection::from([n % 44..60, n % 70..70]);
            (array.read(&region).expect("reads"), runtime.spawn(array.asynchronous().read(&region)))
        })
        .collect();
    for (wanted, read) in reads {
        assert_eq!(runtime.block_on(read).expect("ends").expect("reads"), wanted);
    }
}

/// With the error's text up to the number of the operation, which differs.
fn outcome(read: Result<Vec<u8>, ArrayError>) -> Result<Vec<u8>, String> {
    let cut = |text: String| text.split(" at operation").next().map(str::to_owned);
    read.map_err(|error| cut(error.to_string()).unwrap_or_default())
}

/// A chunk that cannot be read, or comes short, is as it is to a read that blocks.
#[test]
fn faults_are_those_of_reads_that_block() {
    let faults = [
        Fault::Fail(std::io::ErrorKind::ConnectionReset),
        Fault::Truncate(0),
        Fault::Truncate(11),
        Fault::Truncate(60),
    ];
    let mut failed = 0;
    for codecs in chains() {
        let memory = MemoryStore::new();
        create(Arc::new(memory.clone()), REGULAR, &codecs);
        for fault in faults {
            let key = Key::new("c/1/2").expect("a key");
            let store: Arc<dyn Store> = Arc::new(FaultStore::new(memory.clone()).on(key, fault));
            for text in ["", "10:13, 30:33", "15, 41", "[20, 13], [41, 30]"] {
                let open = || Array::open(store.clone(), &Prefix::root()).expect("opens");
                let region = Selection::parse(text, open().shape()).expect("parses");
                let wanted = outcome(open().read(&region));
                failed += usize::from(wanted.is_err());
                for (face, chunks) in with_each(faces(&store), [1, 2, 16]) {
                    let array = Array::open(face, &Prefix::root()).expect("opens");
                    let array = array.asynchronous().with_chunks_in_flight(at_once(chunks));
                    let found = outcome(block_on(array.read(&region)));
                    assert_eq!(found, wanted, "{codecs} {fault:?} {text} {chunks}");
                }
            }
        }
    }
    assert!(failed > 40, "{failed}");
}

#[test]
fn nothing_begins_after_an_error() {
    let memory = MemoryStore::new();
    create(Arc::new(memory.clone()), REGULAR, &chains()[1]);
    let lost = Fault::Fail(std::io::ErrorKind::ConnectionReset);
    let key = Key::new("c/0/1").expect("a key");
    let faulty = Arc::new(FaultStore::new(memory).on(key, lost));
    let store: Arc<dyn Store> = faulty.clone();
    for face in faces(&store) {
        let array = Array::open(face, &Prefix::root()).expect("opens");
        let before = faulty.operations();
        block_on(one_by_one(&array).read(Selection::whole(array.shape()))).expect_err("lost");
        assert_eq!(faulty.operations(), before + 2);
    }
}

/// Every shard is replaced again and again by one of other elements, all of them alike and longer
/// or shorter as they compress: what is read of it is of one of them.
#[test]
fn objects_that_are_replaced_are_read_as_one() {
    let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
    let array = create(store.clone(), REGULAR, &chains()[4]);
    for face in faces(&store) {
        replaced(&array, face);
    }
}

fn replaced(array: &Array, store: Arc<dyn Store>) {
    array.write_as(Selection::whole(&[60, 70]), &[1_u16; 60 * 70]).expect("writes");
    let done = AtomicBool::new(false);
    thread::scope(|scope| {
        let _done = SetAtEnd(&done);
        scope.spawn(|| {
            for round in 0_u16.. {
                let elements = vec![round % 7 + 1; 60 * 70];
                array.write_as(Selection::whole(&[60, 70]), &elements).expect("writes");
                if done.load(Ordering::Relaxed) {
                    break;
                }
            }
        });
        let reader = Array::open(store, &Prefix::root()).expect("opens");
        // Parts of a row of shards: some inner chunks of each.
        let region = Selection::parse("9:15, :", reader.shape()).expect("parses");
        let many = reader.asynchronous().with_chunks_in_flight(at_once(16));
        for _ in 0..200 {
            let found = match block_on(many.read(&region)) {
                Err(ArrayError::Changing { .. }) => continue,
                found => found.expect("reads"),
            };
            let row = |row: usize| &found[row * 140..][..140];
            for shard in 0..5 {
                let first = &row(0)[shard * 28..][..2];
                let alike = |element: &[u8]| element == first;
                assert!((0..6).all(|at| row(at)[shard * 28..][..28].chunks(2).all(alike)));
            }
        }
    });
}

#[test]
fn answers_come_in_any_order() {
    for codecs in chains() {
        let store = Arc::new(Faced::new(Arc::new(MemoryStore::new()), Manner::Held));
        let array = create(store.clone(), RECTILINEAR, &codecs);
        for (seed, text) in
            ["", "3:50:3, ::-2", "10:43, 10:68", "[50, 3, 4], [60, 0, 1]"].into_iter().enumerate()
        {
            let region = Selection::parse(text, array.shape()).expect("parses");
            let wanted = array.read(&region).expect("reads");
            let done = AtomicBool::new(false);
            thread::scope(|scope| {
                scope.spawn(|| {
                    let mut random = seed;
                    while !done.load(Ordering::Relaxed) {
                        random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                        if !store.answer((random >> 33) % store.waiting().max(1)) {
                            thread::yield_now();
                        }
                    }
                });
                let found = block_on(array.asynchronous().read(&region));
                done.store(true, Ordering::Relaxed);
                assert_eq!(found.expect("reads"), wanted, "{codecs} {text}");
            });
        }
    }
}

/// Dropped after any number of answers: no request is left waiting, none begins, and all memory is
/// given back.
#[test]
fn a_read_can_be_dropped_at_any_point() {
    for codecs in chains() {
        let store = Faced::new(Arc::new(MemoryStore::new()), Manner::Held);
        let handle: Arc<dyn Store> = Arc::new(store.clone());
        let array = create(handle.clone(), REGULAR, &codecs);
        let region = Selection::parse("2:42, 2:68", array.shape()).expect("parses");
        let three = array.asynchronous().with_chunks_in_flight(at_once(3));
        for answers in 0..40 {
            let mut read = Box::pin(three.read(&region));
            let mut given = 0;
            let ended = loop {
                if poll(read.as_mut()).is_ready() {
                    break true;
                }
                assert!(store.waiting() <= 3);
                if given == answers {
                    break false;
                }
                match store.answer(answers % 3) || store.answer(0) {
                    true => given += 1,
                    false => thread::yield_now(),
                }
            };
            drop(read);
            assert_eq!(store.given_up(), store.waiting(), "{ended}");
            while store.answer(0) {}
        }
        drop((array, three));
        while Arc::strong_count(&handle) > 1 {
            thread::yield_now();
        }
        assert_eq!(store.waiting(), 0);
    }
}
