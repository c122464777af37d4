//! Reading strings without blocking, against reads that do.

use std::sync::Arc;
use std::thread;

use zarr_array::store::{MemoryStore, Prefix, Store};
use zarr_array::{Array, ArrayError, Selection};
use zarr_metadata::{ArrayBuilder, DataType};

use super::gate::Gate;
use super::writes::{EDGES, Random, open};
use super::{at_once, block_on, poll};

/// Strings are read as by reads that block, and a read of them can be dropped.
#[test]
fn strings_are_those_of_reads_that_block() {
    let memory: Arc<dyn Store> = Arc::new(MemoryStore::new());
    let metadata = ArrayBuilder::new(EDGES, DataType::String).chunk_shape([8, 14]).fill_value("?");
    let metadata = metadata.build().expect("valid");
    let array = Array::create(memory.clone(), &Prefix::root(), metadata).expect("creates");
    let strings: Vec<String> = (0..44 * 70).map(|n| "é".repeat(n % 11)).collect();
    array.write_strings([0..44, 0..70], &strings).expect("writes");
    let mut random = Random(2);
    for round in 0..60 {
        let selection = random.selection();
        let wanted = array.read_strings(&selection).expect("reads");
        for face in super::faces(&memory) {
            let array = open(face).with_chunks_in_flight(at_once([1, 2, 16][round % 3]));
            let found = block_on(array.read_strings_async(&selection)).expect("reads");
            assert_eq!(found, wanted);
            let found = block_on(array.read_byte_strings_async(&selection)).expect("reads");
            assert!(found.iter().eq(wanted.iter().map(str::as_bytes)));
        }
    }
    let outside = block_on(array.read_strings_async([0..61, 0..1]));
    assert!(matches!(outside, Err(ArrayError::Selection { .. })), "{outside:?}");
    for stop in 0..25 {
        let gate = Gate::new(memory.clone(), stop);
        let store: Arc<dyn Store> = Arc::new(gate.clone());
        let array = Array::with_metadata(
            store.clone(),
            &Prefix::root(),
            array.metadata().clone(),
            zarr_codec::Options::new(),
        );
        let array = array.expect("binds").with_chunks_in_flight(at_once(1));
        let mut read = array.read_strings_async(Selection::whole(&EDGES));
        while !gate.reached(|| true) {
            assert!(poll(read.as_mut()).is_pending());
            thread::yield_now();
        }
        drop(read);
        gate.open();
        drop(array);
        while Arc::strong_count(&store) > 1 {
            thread::yield_now();
        }
        assert_eq!(gate.operations(), stop + 1);
    }
}
