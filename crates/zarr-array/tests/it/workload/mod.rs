//! The life of a hierarchy (creates, writes, partial writes, appends, resizes, attributes,
//! deletion), interrupted at every operation and at random moments, and continued.

mod between;
mod deletes;
mod faults;
mod kills;
mod refused;

use std::num::NonZeroUsize;
use std::sync::Arc;

#[cfg(feature = "async")]
use zarr_array::asynchronous::{self, AsyncArray, AsyncGroup};
use zarr_array::store::{MemoryStore, Prefix, Store, UpdatePolicy};
use zarr_array::{Array, ArrayError, Group, Resize, Selection, delete_node};
use zarr_grid::Run;
use zarr_metadata::{ArrayMetadata, GroupMetadata};
use zarr_store_tests::{Objects, objects, restore};

#[cfg(feature = "object_store")]
pub(crate) use faults::remote;
pub(crate) use kills::run_from;

/// The result of a future, if the workload uses those and they are compiled; otherwise of what
/// blocks.
macro_rules! outcome {
    ($workload:ident, $blocking:expr, $future:expr) => {{
        #[cfg(feature = "async")]
        let outcome = match $workload.asynchronous {
            true => crate::asynchronous::block_on($future),
            false => $blocking,
        };
        #[cfg(not(feature = "async"))]
        let outcome = $blocking;
        outcome
    }};
}

/// The steps on one store. Each can be repeated after an interruption, and does nothing if it was
/// finished.
pub(crate) struct Workload {
    store: Arc<dyn Store>,
    /// The factor of the lengths of the first axis.
    scale: u64,
    threads: Option<NonZeroUsize>,
    policy: UpdatePolicy,
    /// Whether the steps do not block.
    #[cfg(feature = "async")]
    asynchronous: bool,
}

type Outcome = Result<(), ArrayError>;

const BYTES: &str = r#"[{"name": "bytes", "configuration": {"endian": "big"}},
    {"name": "crc32c"}]"#;
const PACKED: &str = r#"[{"name": "transpose", "configuration": {"order": [1, 0]}},
    {"name": "packbits", "configuration": {"last_bit": 11}}, {"name": "crc32c"}]"#;

fn shards(scale: u64) -> String {
    format!(
        r#"[{{"name": "sharding_indexed", "configuration": {{"chunk_shape": [{}, 2],
        "codecs": {BYTES}, "index_codecs": [{{"name": "bytes",
        "configuration": {{"endian": "little"}}}}, {{"name": "crc32c"}}],
        "index_location": "end"}}}}]"#,
        2 * scale
    )
}

fn prefix(name: &str) -> Prefix {
    Prefix::new(name).expect("a prefix")
}

fn edges(scale: u64, edges: &[u64]) -> Vec<Run> {
    edges.iter().map(|edge| Run { edge: edge * scale, count: 1 }).collect()
}

impl Workload {
    pub(crate) fn new(store: Arc<dyn Store>, scale: u64) -> Self {
        Self {
            store,
            scale,
            threads: None,
            policy: UpdatePolicy::default(),
            #[cfg(feature = "async")]
            asynchronous: false,
        }
    }

    #[cfg(feature = "async")]
    fn asynchronous(mut self) -> Self {
        self.asynchronous = true;
        self
    }

    /// With operations in the same order each time.
    fn in_order(mut self) -> Self {
        self.threads = Some(NonZeroUsize::MIN);
        self
    }

    #[cfg(feature = "async")]
    fn with_policy(mut self, policy: UpdatePolicy) -> Self {
        self.policy = policy;
        self
    }

    fn set(&self, array: Array) -> Array {
        let array = array.with_update_policy(self.policy);
        match self.threads {
            Some(threads) => array.with_threads(threads),
            None => array,
        }
    }

    fn open(&self, name: &str) -> Result<Array, ArrayError> {
        Ok(self.set(Array::open(self.store.clone(), &prefix(name))?))
    }

    fn create(&self, name: &str, shape: [u64; 2], grid: &str, codecs: &str) -> Outcome {
        let document = format!(
            r#"{{"zarr_format": 3, "node_type": "array", "shape": {shape:?},
            "data_type": "uint16", "chunk_grid": {grid},
            "chunk_key_encoding": {{"name": "default"}}, "fill_value": 7, "codecs": {codecs},
            "attributes": {{"kept": 1.50, "units": "K"}}}}"#
        );
        let metadata = ArrayMetadata::from_json(document.as_bytes()).expect("valid");
        let (store, prefix) = (self.store.clone(), prefix(name));
        match outcome!(
            self,
            Array::create(store, &prefix, metadata),
            AsyncArray::create(store, &prefix, metadata)
        ) {
            Err(ArrayError::Exists { .. }) => Ok(()),
            created => created.map(drop),
        }
    }

    fn group(&self) -> Outcome {
        let (store, metadata) = (self.store.clone(), GroupMetadata::new());
        match outcome!(
            self,
            Group::create(store, &Prefix::root(), metadata),
            AsyncGroup::create(store, &Prefix::root(), metadata)
        ) {
            Err(ArrayError::Exists { .. }) => Ok(()),
            created => created.map(drop),
        }
    }

    /// Elements that encode the step and their place; some chunks get only the fill value.
    fn elements(region: &Selection, seed: u64) -> Vec<u16> {
        let count = region.elements().expect("small");
        (0..count)
            .map(|n| match n % 97 {
                0..9 => 7,
                _ => u16::try_from((n * 13 + seed * 501) % 4096).expect("twelve bits"),
            })
            .collect()
    }

    fn write(&self, name: &str, region: &str, seed: u64) -> Outcome {
        let array = self.open(name)?;
        let region = self.region(region, &array);
        let elements = Self::elements(&region, seed);
        outcome!(
            self,
            array.write_as(&region, &elements),
            array.asynchronous().write_as(&region, elements)
        )
    }

    /// A region in which numbers before `@` are multiplied by the scale.
    fn region(&self, region: &str, array: &Array) -> Selection {
        let mut out = String::new();
        let mut number = String::new();
        for c in region.chars() {
            match c {
                '0'..='9' => number.push(c),
                '@' => {
                    let n: u64 = number.parse().expect("a number");
                    number = (n * self.scale).to_string();
                }
                _ => {
                    out.push_str(&number);
                    number.clear();
                    out.push(c);
                }
            }
        }
        Selection::parse(&(out + &number), array.shape()).expect("a region")
    }

    fn append(&self, name: &str, axis: usize, to: u64, new: &[Run], seed: u64) -> Outcome {
        let array = self.open(name)?;
        let Some(count) = to.checked_sub(array.shape()[axis]).filter(|count| *count > 0) else {
            return Ok(());
        };
        let mut slab = array.shape().to_vec();
        slab[axis] = count;
        let elements = Self::elements(&Selection::whole(&slab), seed);
        let appended = outcome!(
            self,
            array.append_as(axis, (count, new.iter().copied()), &elements),
            array.asynchronous().append_as(axis, (count, new.iter().copied()), elements)
        );
        appended.map(drop)
    }

    fn resize(&self, name: &str, shape: [u64; 2], new: &[Run], keep: bool) -> Outcome {
        let array = self.open(name)?;
        let new = if array.shape() == shape { &[] } else { new };
        let to = Resize::to(shape).edges(0, new.iter().copied()).keep(keep);
        let resized = outcome!(self, array.resize(to), array.asynchronous().resize(to));
        resized.map(drop)
    }

    fn delete(&self, name: &str) -> Outcome {
        let (store, prefix) = (self.store.clone(), prefix(name));
        match outcome!(
            self,
            delete_node(&store, &prefix),
            asynchronous::delete_node(store, &prefix)
        ) {
            Err(ArrayError::NotFound { .. }) => Ok(()),
            deleted => deleted,
        }
    }

    /// One step; `None` after the last.
    pub(crate) fn step(&self, number: usize) -> Option<Outcome> {
        let x = self.scale;
        let months = format!(
            r#"{{"name": "rectilinear", "configuration": {{"kind": "inline",
            "chunk_shapes": [[{}, {}, {}], [3, 4]]}}}}"#,
            5 * x,
            2 * x,
            6 * x
        );
        let regular =
            format!(r#"{{"name": "regular", "configuration": {{"chunk_shape": [{}, 4]}}}}"#, 4 * x);
        Some(match number {
            0 => self.group(),
            1 => self.create("a", [13 * x, 7], &months, BYTES),
            2 => self.write("a", ":, :", 1),
            3 => self.write("a", "3@:9@, 1:5", 2),
            4 => self.create("s", [9 * x, 6], &regular, &shards(x)),
            5 => self.write("s", ":, :", 3),
            6 => self.write("s", "1@:7@, 3:6", 4),
            // Explicit edges, the last of which is not filled.
            7 => self.append("a", 0, 17 * x, &edges(x, &[3, 4]), 5),
            // What is left of it, and then the last edge again and again.
            8 => self.append("a", 0, 26 * x, &[], 6),
            9 => self.append("s", 0, 14 * x, &[], 7),
            10 => self.open("a").and_then(|array| {
                let changes = [("units", Some(r#""degC""#)), ("kept", None), ("new", Some("[1]"))];
                let array = outcome!(
                    self,
                    array.update_attributes(&changes),
                    array.asynchronous().update_attributes(&changes)
                );
                array.map(drop)
            }),
            11 => Group::open(self.store.clone(), &Prefix::root()).and_then(|group| {
                let changes = [("title", Some(r#""life""#))];
                let group = outcome!(
                    self,
                    group.update_attributes(&changes),
                    group.asynchronous().update_attributes(&changes)
                );
                group.map(drop)
            }),
            12 => self.write("a", "::3, ::2", 8),
            13 => self.resize("a", [31 * x, 7], &edges(x, &[7]), true),
            14 => self.write("a", "24@:, 2:", 9),
            15 => self.resize("a", [23 * x, 7], &[], true),
            16 => self.resize("a", [11 * x, 5], &[], false),
            17 => self.resize("s", [5 * x, 3], &[], false),
            18 => self.open("a").and_then(|array| {
                let region = self.region("2@:9@, :", &array);
                let count = usize::try_from(region.elements().expect("small")).expect("small");
                let elements = vec![7_u16; count];
                outcome!(
                    self,
                    array.write_as(&region, &elements),
                    array.asynchronous().write_as(&region, elements)
                )
            }),
            19 => self.append("a", 1, 9, &[2.into()], 10),
            20 => self.resize("a", [40 * x, 9], &[], true),
            21 => self.delete("s"),
            22 => self.create("s", [6 * x, 5], &regular, PACKED),
            23 => self.write("s", "::-1, 1:", 11),
            24 => self.append("s", 1, 8, &[], 12),
            _ => return None,
        })
    }
}

fn holding(objects: &Objects) -> Arc<dyn Store> {
    let store = MemoryStore::new();
    restore(&store, objects);
    Arc::new(store)
}

/// What a store in memory holds before each step and after the last, if nothing goes wrong.
pub(crate) fn states(scale: u64) -> Vec<Objects> {
    states_of(&Workload::new(Arc::new(MemoryStore::new()), scale))
}

fn states_of(workload: &Workload) -> Vec<Objects> {
    let store = &workload.store;
    let mut states = vec![objects(&**store)];
    while let Some(outcome) = workload.step(states.len() - 1) {
        outcome.expect("nothing goes wrong");
        states.push(objects(&**store));
    }
    states
}
