//! Copies that would read their source many times: in two passes, by counts of reads.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use zarr_array::store::{
    AsyncStore, Fault, FaultStore, Layer, Listing, LocalStore, MemoryStore, Operation, Prefix,
    Store, StoreError,
};
use zarr_array::{Array, Part, Selection};
use zarr_copy::{
    CopyOptions, CopyPlan, Endpoint, INTERMEDIATE, MARKER, Route, TransferError, Why, plan_tree,
};
use zarr_metadata::{ArrayBuilder, ArrayMetadata, Codec, DataType};
use zarr_store_tests::{Objects, objects};

use super::copy;

const SHAPE: [u64; 2] = [1024, 2048];

/// Counts the reads of each object.
#[derive(Debug)]
pub(crate) struct Counting {
    inner: Arc<dyn Store>,
    gets: Arc<Mutex<BTreeMap<String, u64>>>,
}

impl Layer for Counting {
    type Inner = dyn Store;

    fn inner(&self) -> &Self::Inner {
        &*self.inner
    }

    fn pass<T>(
        &self,
        operation: Operation,
        key: &str,
        work: impl FnOnce() -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        if operation == Operation::Get && !key.ends_with("json") {
            *self.gets.lock().unwrap().entry(key.to_owned()).or_default() += 1;
        }
        work()
    }

    fn pass_listing<'s, T: Send + 's>(
        &'s self,
        _: &Prefix,
        list: impl FnOnce() -> Listing<'s, T>,
    ) -> Listing<'s, T> {
        list()
    }

    fn around(&self, inner: Arc<dyn Store>) -> Option<Arc<dyn Store>> {
        Some(Arc::new(Self { inner, gets: Arc::clone(&self.gets) }))
    }

    fn around_reads(&self, _: Arc<dyn AsyncStore>) -> Option<Arc<dyn AsyncStore>> {
        None
    }
}

fn metadata(chunks: [u64; 2], codecs: impl IntoIterator<Item = Codec>) -> ArrayMetadata {
    let builder = ArrayBuilder::new(SHAPE, DataType::Uint8).chunk_shape(chunks);
    builder.codecs(codecs).fill_value(7).build().expect("valid")
}

fn elements() -> Vec<u8> {
    // The first columns are the fill value.
    let value = |at: u64| if at % SHAPE[1] < 40 { 7 } else { u8::try_from(at * at % 251).unwrap() };
    (0..SHAPE[0] * SHAPE[1]).map(value).collect()
}

/// Compressed rows, with the reads of each.
pub(crate) fn rows() -> (Array, Arc<Counting>) {
    let store = Arc::new(Counting {
        inner: Arc::new(MemoryStore::new()),
        gets: Arc::new(Mutex::default()),
    });
    let made = metadata([16, 2048], [Codec::bytes(), Codec::zstd(1)]);
    let array = Array::create(store.clone(), &Prefix::root(), made).expect("creates");
    array.write(Selection::whole(&SHAPE), &elements()).expect("writes");
    store.gets.lock().unwrap().clear();
    (array, store)
}

pub(crate) fn columns() -> ArrayMetadata {
    metadata([1024, 32], [Codec::bytes(), Codec::zstd(1)])
}

/// With two chunks of [`rows`] in each.
pub(crate) fn slabs() -> ArrayMetadata {
    metadata([32, 2048], [Codec::bytes(), Codec::zstd(1)])
}

/// What a plain write of the target stores.
pub(crate) fn direct() -> Objects {
    let store = Arc::new(MemoryStore::new());
    Array::create(store.clone(), &Prefix::root(), columns())
        .and_then(|array| array.write(Selection::whole(&SHAPE), &elements()))
        .expect("writes");
    objects(&*store)
}

fn plan(from: &Array, to: &Arc<dyn Store>, options: &CopyOptions) -> CopyPlan {
    let root = Prefix::root();
    let (here, there) = (Endpoint::new(from.store(), &root), Endpoint::new(to, &root));
    let mut plans = plan_tree(here, there, &mut |_, _| Ok(columns()), options).expect("plans");
    plans.pop().and_then(|(_, plan)| plan).expect("of the array")
}

fn reads(store: &Counting) -> (u64, u64) {
    let gets = std::mem::take(&mut *store.gets.lock().unwrap());
    (gets.values().sum(), gets.values().max().copied().unwrap_or(0))
}

pub(super) const LITTLE_MEMORY: u64 = 400 << 10;

#[test]
fn each_chunk_of_the_source_is_read_once_in_little_memory_and_in_much() {
    let (from, counting) = rows();
    let expected = direct();
    for (memory, is_in_passes) in [(LITTLE_MEMORY, true), (500 << 10, true), (64 << 20, false)] {
        for verify in [false, true] {
            let options = CopyOptions::new().memory(memory).verify(verify);
            let to: Arc<dyn Store> = Arc::new(MemoryStore::new());
            let plan = plan(&from, &to, &options);
            let summary = copy(&from, to.clone(), columns(), &options).expect("copies");
            assert_eq!(objects(&*to), expected, "{memory}");
            assert_eq!(summary.intermediates, u64::from(is_in_passes), "{plan:?}");
            assert_eq!((summary.tasks, summary.bytes), (plan.tasks, SHAPE[0] * SHAPE[1]));
            let is_planned = matches!(plan.route, Route::Intermediate { bytes: 0x20_0000, .. });
            assert_eq!(is_planned, is_in_passes, "{plan:?}");
            assert_eq!((plan.chunks, plan.reads, plan.times()), (64, 64, 1), "{plan:?}");
            assert!(plan.memory <= memory, "{plan:?}");
            assert_eq!(reads(&counting), (64, 1), "{plan:?}");
        }
    }
}

/// What cannot have an intermediate says so before, and the plan counts what is read.
#[test]
fn copies_that_read_many_times_say_so() {
    let (from, counting) = rows();
    let part = Part::new(1, 2).expect("a part");
    let options = CopyOptions::new().memory(LITTLE_MEMORY);
    let to: Arc<dyn Store> = Arc::new(MemoryStore::new());
    let planned = plan(&from, &to, &options.clone().part(part));
    assert_eq!(planned.route, Route::Repeated(Why::Part));
    assert!(planned.times() >= 8, "{planned:?}");
    let root = Prefix::root();
    let mut said = Vec::new();
    for number in [1, 2] {
        let part = Part::new(number, 2).expect("a part");
        let said = &mut |at: zarr_copy::CopyProgress| said.push((at.route, at.times));
        let options = options.clone().part(part);
        zarr_copy::copy_array(&from, to.clone(), &root, columns(), &options, said).expect("copies");
    }
    let said_first = said.first().copied();
    assert_eq!(said_first, Some((planned.route, planned.times())));
    let (all, _) = reads(&counting);
    // A task that two parts share reads for each.
    assert!((planned.reads..=planned.reads + 64).contains(&all), "{all} {planned:?}");

    // A memory that has room for a task of either, but makes tiny chunks of both.
    let small = ArrayBuilder::new([64, 64], DataType::Uint8);
    let rows = small.clone().chunk_shape([1, 64]).codecs([Codec::bytes(), Codec::zstd(1)]);
    let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
    let array = Array::create(store.clone(), &root, rows.build().expect("valid")).expect("creates");
    let columns = small.chunk_shape([64, 1]).codecs([Codec::bytes()]).build().expect("valid");
    let ends = (Endpoint::new(array.store(), &root), Endpoint::new(&to, &root));
    let options = CopyOptions::new().memory(400);
    let change = &mut |_: &_, _: &_| Ok(columns.clone());
    let plans = plan_tree(ends.0, ends.1, change, &options).expect("plans");
    let routes: Vec<_> = plans.iter().filter_map(|(_, plan)| Some(plan.as_ref()?.route)).collect();
    assert_eq!(routes, [Route::Repeated(Why::Cost)]);
}

#[cfg(target_os = "linux")]
#[test]
fn an_intermediate_that_has_no_room_is_not_begun() {
    let folder = tempfile::tempdir().expect("makes a folder");
    let to: Arc<dyn Store> = Arc::new(LocalStore::create(folder.path()).expect("a store"));
    let side = 1_u64 << 26;
    let builder = ArrayBuilder::new([side, side], DataType::Uint8);
    let zstd = [Codec::bytes(), Codec::zstd(1)];
    let rows = builder.clone().chunk_shape([1 << 18, side]).codecs(zstd.clone());
    let from: Arc<dyn Store> = Arc::new(MemoryStore::new());
    let root = Prefix::root();
    Array::create(from.clone(), &root, rows.build().expect("valid")).expect("creates");
    let columns = builder.chunk_shape([side, 1 << 18]).codecs(zstd).build().expect("valid");
    let options = CopyOptions::new().memory(1 << 48);
    let change = &mut |_: &_, _: &_| Ok(columns.clone());
    let ends = (Endpoint::new(&from, &root), Endpoint::new(&to, &root));
    let plans = plan_tree(ends.0, ends.1, change, &options).expect("plans");
    let found = plans.first().and_then(|(_, plan)| plan.as_ref()).expect("a plan");
    let Route::Repeated(Why::Room { needed, free }) = found.route else { panic!("{found:?}") };
    assert_eq!(needed, 1 << 52);
    assert!(0 < free && free < needed);
    assert_eq!(std::fs::read_dir(folder.path()).expect("a folder").count(), 0);
}

/// The room that an interrupted copy's intermediate takes counts as free: the copy uses it again.
#[cfg(target_os = "linux")]
#[test]
fn an_intermediate_that_is_there_needs_no_further_room() {
    const TERA: u64 = 1 << 40;
    let folder = tempfile::tempdir().expect("makes a folder");
    let to: Arc<dyn Store> = Arc::new(LocalStore::create(folder.path()).expect("a store"));
    let root = Prefix::root();
    let location = to.location(&root).expect("a folder");
    let free = location.free_space().expect("known on Linux");
    let (rows, columns) = ((free + 8 * TERA) >> 22, 1_u64 << 22);
    let builder = ArrayBuilder::new([rows, columns], DataType::Uint8);
    let zstd = [Codec::bytes(), Codec::zstd(1)];
    let of_rows = builder.clone().chunk_shape([rows / 256, columns]).codecs(zstd.clone());
    let from: Arc<dyn Store> = Arc::new(MemoryStore::new());
    Array::create(from.clone(), &root, of_rows.build().expect("valid")).expect("creates");
    let of_columns = builder.chunk_shape([rows, columns / 256]).codecs(zstd).build();
    let of_columns = of_columns.expect("valid");
    let options = CopyOptions::new().memory((rows / 16) << 22);
    let route = || {
        let change = &mut |_: &_, _: &_| Ok(of_columns.clone());
        let ends = (Endpoint::new(&from, &root), Endpoint::new(&to, &root));
        let plans = plan_tree(ends.0, ends.1, change, &options).expect("plans");
        plans.first().and_then(|(_, plan)| plan.as_ref()).expect("a plan").route
    };
    let without = route();
    assert!(matches!(without, Route::Repeated(Why::Room { .. })), "{without:?}");
    // Files of holes, which take no room.
    let chunks = folder.path().join(INTERMEDIATE).join("c");
    std::fs::create_dir_all(&chunks).expect("makes folders");
    for name in 0..10 {
        let file = std::fs::File::create(chunks.join(name.to_string())).expect("makes a file");
        file.set_len(TERA).expect("makes a hole");
    }
    let with = route();
    assert!(matches!(with, Route::Intermediate { .. }), "{with:?}");
}

/// Killed anywhere, the copy is resumed to the same objects; from the second pass on, nothing of the
/// source is read again.
#[test]
fn a_copy_killed_in_or_between_passes_is_resumed() {
    let (from, counting) = rows();
    let expected = direct();
    let options = CopyOptions::new().memory(500 << 10);
    let counted = Arc::new(FaultStore::new(MemoryStore::new()));
    copy(&from, counted.clone(), columns(), &options).expect("copies");
    let all = counted.operations();
    let (mut in_first, mut in_second) = (0, 0);
    for step in (0..all).step_by(7).chain(all.saturating_sub(12)..all) {
        let inner = MemoryStore::new();
        let dying = Arc::new(FaultStore::new(inner.clone()).at(step, Fault::DieBefore));
        copy(&from, dying, columns(), &options).expect_err("dies");
        let left = objects(&inner);
        assert!(
            !left.contains_key("zarr.json")
                || !left.keys().any(|key| key.starts_with(INTERMEDIATE))
        );
        let is_whole = left.contains_key(&format!("{INTERMEDIATE}/zarr.json"))
            && !left.contains_key(&format!("{INTERMEDIATE}/{MARKER}"));
        reads(&counting);
        let to: Arc<dyn Store> = Arc::new(inner);
        let resume = match left.contains_key(MARKER) {
            true => options.clone().resume(true),
            false => options.clone(),
        };
        if left.contains_key("zarr.json") && !left.contains_key(MARKER) {
            assert_eq!(left, expected, "{step}");
            continue;
        }
        copy(&from, to.clone(), columns(), &resume).expect("resumes");
        assert_eq!(objects(&*to), expected, "{step}");
        let (again, most) = reads(&counting);
        assert!(most <= 1, "{step}");
        if is_whole {
            in_second += 1;
            assert_eq!(again, 0, "{step}");
        } else if again < 64 && !left.contains_key("zarr.json") {
            in_first += 1;
        }
    }
    assert!(in_first > 2 && in_second > 2, "{in_first} {in_second} of {all}");
}

/// What an interrupted copy left is used only by itself: with other memory, or from a new start,
/// nothing old is read.
#[test]
fn another_copy_does_not_use_the_intermediate() {
    let (from, _) = rows();
    let expected = direct();
    let options = CopyOptions::new().memory(500 << 10);
    let counted = Arc::new(FaultStore::new(MemoryStore::new()));
    copy(&from, counted.clone(), columns(), &options).expect("copies");
    // In the first pass, and in the second.
    for step in [counted.operations() / 4, counted.operations() * 3 / 4] {
        for other in [
            options.clone().memory(LITTLE_MEMORY).resume(true),
            options.clone().memory(64 << 20).resume(true),
            options.clone().overwrite(true),
        ] {
            let inner = MemoryStore::new();
            let dying = Arc::new(FaultStore::new(inner.clone()).at(step, Fault::DieBefore));
            copy(&from, dying, columns(), &options).expect_err("dies");
            let to: Arc<dyn Store> = Arc::new(inner);
            copy(&from, to.clone(), columns(), &other).expect("copies");
            assert_eq!(objects(&*to), expected, "{step} {other:?}");
        }
    }
}

#[test]
fn intermediates_in_a_given_place() {
    let (from, counting) = rows();
    let (place, elsewhere) = (Arc::new(MemoryStore::new()), Arc::new(MemoryStore::new()));
    let plain = CopyOptions::new().memory(500 << 10);
    let options = plain.clone().intermediates(place.clone());
    let counted = Arc::new(FaultStore::new(MemoryStore::new()));
    copy(&from, counted.clone(), columns(), &options).expect("copies");
    let step = counted.operations() - 9;
    assert_eq!(objects(&*counted), direct());
    assert_eq!(objects(&*place), Objects::new());

    // Where the target dies, in the second pass, the intermediate is whole.
    let inner = MemoryStore::new();
    let dying = Arc::new(FaultStore::new(inner.clone()).at(step, Fault::DieBefore));
    copy(&from, dying, columns(), &options).expect_err("dies");
    assert!(!objects(&*place).is_empty());
    let to: Arc<dyn Store> = Arc::new(inner);
    assert!(!objects(&*to).keys().any(|key| key.contains(INTERMEDIATE)));
    let refused = copy(&from, to.clone(), columns(), &plain.resume(true));
    let Err(error @ TransferError::OtherIntermediates { .. }) = refused else {
        panic!("{refused:?}")
    };
    assert!(error.to_string().ends_with("resume it with the same place"), "{error}");
    reads(&counting);
    copy(&from, to.clone(), columns(), &options.resume(true)).expect("resumes");
    assert_eq!(reads(&counting), (0, 0));
    assert_eq!(objects(&*to), direct());
    assert_eq!(objects(&*place), Objects::new());

    // What an old copy left is not taken for that of a new one, whose source has changed.
    let inner = MemoryStore::new();
    let dying = Arc::new(FaultStore::new(inner.clone()).at(step, Fault::DieBefore));
    let options = CopyOptions::new().memory(500 << 10).intermediates(elsewhere.clone());
    copy(&from, dying, columns(), &options).expect_err("dies");
    assert!(!objects(&*elsewhere).is_empty());
    inner.delete_prefix(&Prefix::root()).expect("clears");
    from.write((0..16_u64, 0..2048_u64), &vec![9; 16 * 2048]).expect("writes");
    let to = Arc::new(inner);
    copy(&from, to.clone(), columns(), &options).expect("copies");
    let copied = Array::open(to, &Prefix::root()).expect("opens");
    assert_eq!(copied.read((0..16_u64, 0..2048_u64)).expect("reads"), vec![9; 16 * 2048]);
    assert_eq!(objects(&*elsewhere), Objects::new());
}
