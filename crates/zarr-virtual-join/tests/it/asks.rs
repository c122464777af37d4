//! Whoever reads the object of a chunk asks first whether few stored bytes stand for too many: only so
//! do archives take no memory beyond what the metadata allows.

use std::collections::BTreeSet;
use std::error::Error;
use std::sync::{Arc, Mutex, PoisonError};

use zarr_array::store::{
    AsyncStore, Key, Layer, MemoryStore, ObjectMeta, Operation, Prefix, PutFrom, Sharing, Store,
    StoreError,
};
use zarr_array::{Array, Points};
use zarr_check::{CheckOptions, check};
use zarr_copy::{CopyOptions, Endpoint, copy_array, copy_tree};
use zarr_join::rearrange::{Rearrangement, Span};
use zarr_join::{Arrangement, Join, JoinOptions, Member};
use zarr_metadata::{ArrayBuilder, ArrayMetadata, Codec, DataType};
use zarr_store_tests::prefix;

type Done = Result<(), Box<dyn Error>>;

/// A store that copies no objects, and records reads of chunks without a question before.
#[derive(Debug, Default)]
struct Asked {
    inner: MemoryStore,
    /// What was asked about, or written here.
    known: Mutex<BTreeSet<String>>,
    unasked: Mutex<BTreeSet<String>>,
}

impl Asked {
    fn know(&self, key: &str) {
        self.known.lock().unwrap_or_else(PoisonError::into_inner).insert(key.to_owned());
    }
}

impl Layer for Asked {
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

    fn pass<T>(
        &self,
        operation: Operation,
        name: &str,
        work: impl FnOnce() -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        match operation {
            Operation::Put => self.know(name),
            Operation::Get if name.contains("/c/") => {
                let known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
                if !known.contains(name) {
                    let mut unasked = self.unasked.lock().unwrap_or_else(PoisonError::into_inner);
                    unasked.insert(name.to_owned());
                }
            }
            _ => {}
        }
        work()
    }

    fn refuse_inflated(&self, key: &Key, _: u64) -> Result<(), StoreError> {
        self.know(key.as_str());
        Ok(())
    }

    fn put_from(
        &self,
        _: &Key,
        _: &dyn Store,
        _: &Key,
        _: &ObjectMeta,
        _: Sharing,
    ) -> Result<PutFrom, StoreError> {
        Ok(PutFrom::Unsupported)
    }
}

/// An array of 8 elements: bytes, strings, or bytes in shards.
fn metadata(kind: &str, chunk: u64) -> Result<ArrayMetadata, Box<dyn Error>> {
    let of = |data_type| ArrayBuilder::new([8], data_type).chunk_shape([chunk]);
    Ok(match kind {
        "strings" => of(DataType::String).build()?,
        "shards" => of(DataType::Uint8).codecs([Codec::sharding([1], [Codec::bytes()])]).build()?,
        _ => of(DataType::Uint8).build()?,
    })
}

fn write(array: &Array, start: u64, count: usize) -> Done {
    let region = start..start + count as u64;
    match array.data_type().is_variable_length() {
        true => Ok(array.write_as(region, &vec!["text"; count])?),
        false => Ok(array.write(region, &vec![7; count])?),
    }
}

fn member(array: &Array) -> Member {
    Member::new("member", array.clone())
}

fn join(array: &Array, members: Vec<Member>) -> Done {
    let plan = Join::new(members, Arrangement::Along(0)).plan()?;
    plan.execute(array.store(), &prefix("joined"), &JoinOptions::new(), &|_| {})?;
    Ok(())
}

type Use = (&'static str, fn(&Array, &str) -> Done);

/// Each way to read or change chunks that are stored.
const USES: [Use; 13] = [
    ("read", |array, kind| {
        match kind {
            "strings" => drop(array.read_as::<String>(0..8)?),
            _ => drop(array.read(0..8)?),
        }
        Ok(())
    }),
    ("read a part", |array, kind| {
        match kind {
            "strings" => drop(array.read_as::<String>(1..6)?),
            _ => drop(array.read(1..6)?),
        }
        Ok(())
    }),
    ("read points", |array, kind| {
        let points = Points::from([[6, 1]]);
        match kind {
            "strings" => drop(array.read_as::<String>(&points)?),
            _ => drop(array.read(&points)?),
        }
        Ok(())
    }),
    ("write a part", |array, _| write(array, 1, 5)),
    ("write points", |array, kind| {
        let points = Points::from([[6, 1]]);
        match kind {
            "strings" => Ok(array.write_as(&points, &["a", "b"])?),
            _ => Ok(array.write(&points, &[1, 2])?),
        }
    }),
    ("discard", |array, _| {
        array.resize([3])?;
        Ok(())
    }),
    ("plan", |array, _| {
        let plan = array.layout().plan(1..2)?;
        // Else a shard as small as this one is read whole, and its index is not asked for.
        let apart = array.clone().with_range_cost(0);
        plan.chunks(0..1)?.iter().try_for_each(|chunk| chunk.reads(&apart).map(drop))?;
        Ok(())
    }),
    ("check", |array, _| {
        let options = CheckOptions::new().data(true);
        check(array.store(), array.prefix(), &options, &mut |_| {})?;
        Ok(())
    }),
    ("copy", |array, _| {
        let to = prefix("copied");
        let [from, to] = [array.prefix(), &to].map(|at| Endpoint::new(array.store(), at));
        let mut same = |_: &Prefix, metadata: &ArrayMetadata| Ok(metadata.clone());
        copy_tree(from, to, &mut same, &CopyOptions::new(), &mut |_, _| {})?;
        Ok(())
    }),
    ("copy with other chunks", |array, kind| {
        let (store, options) = (array.store().clone(), CopyOptions::new());
        copy_array(array, store, &prefix("copied"), metadata(kind, 8)?, &options, &mut |_| {})?;
        Ok(())
    }),
    ("join", |array, _| join(array, vec![member(array), member(array)])),
    ("join with other chunks", |array, kind| {
        let first = Array::create(array.store().clone(), &prefix("first"), metadata(kind, 8)?)?;
        join(array, vec![member(&first), member(array)])
    }),
    ("insert", |array, kind| {
        let first = Array::create(array.store().clone(), &prefix("first"), metadata(kind, 4)?)?;
        let spans = [Span::Kept(0..8), Span::Inserted(array.clone())];
        Rearrangement::plan(&first, 0, spans)?.execute(&|_| {})?;
        Ok(())
    }),
];

#[test]
fn chunks_are_read_after_a_question_about_their_size() {
    for kind in ["bytes", "strings", "shards"] {
        for (name, use_it) in USES {
            let asked = Arc::new(Asked::default());
            let store: Arc<dyn Store> = asked.clone();
            let array = metadata(kind, 4).expect("valid");
            let array = Array::create(store, &prefix("a"), array).expect("creates");
            write(&array, 0, 8).expect("writes");
            asked.known.lock().expect("no panic").clear();
            use_it(&array, kind).unwrap_or_else(|error| panic!("{name} of {kind}: {error}"));
            let unasked = asked.unasked.lock().expect("no panic");
            assert!(unasked.is_empty(), "{name} of {kind}: {unasked:?}");
            // Plans of whole chunks read nothing.
            let known = asked.known.lock().expect("no panic");
            let reads = name != "plan" || kind == "shards";
            assert!(!reads || known.contains("a/c/0"), "{name} of {kind} reads nothing: {known:?}");
        }
    }
}
