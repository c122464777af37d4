//! The fixture of Seattle, cut into stores per month and joined again.

use std::sync::Arc;

use zarr_array::store::{Key, MemoryStore, Prefix, Store, StoreExt as _};
use zarr_array::{Array, Selection};
use zarr_join::{Arrangement, Join, JoinOptions};

use crate::cases::{fixture, month, whole, year};

#[test]
fn twelve_months_are_the_year_byte_for_byte() {
    for name in ["temp_range_12bit", "temp_max", "temp_min"] {
        let of = fixture(name);
        let plan = Join::new(year(&of), Arrangement::Along(0)).plan().expect("fits");
        assert_eq!((plan.moved_chunks(), plan.written_chunks()), (12, 0), "{name}");
        let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
        let to = Prefix::root();
        let done = plan.execute(&store, &to, &JoinOptions::new(), &|_| {}).expect("joins");
        let (joined, summary) = done;
        assert_eq!((summary.copied, summary.written), (12, 0));
        let days = joined.shape()[0];
        assert_eq!(days, 366);
        let mut selection: Vec<_> = of.shape().iter().map(|length| 0..*length).collect();
        selection[0] = 0..days;
        assert_eq!(whole(&joined), of.read(selection.as_slice()).expect("reads"), "{name}");
        for chunk in 0..12 {
            let mut index = vec![0; of.shape().len()];
            index[0] = chunk;
            let object = |array: &Array| {
                let key: Key = array.layout().key(&index).expect("a key");
                array.store().read(&key).expect("reads")
            };
            assert_eq!(object(&joined), object(&of), "{name}: {chunk}");
        }
        // What is not the grid is the document of the members.
        let (new, old) = (joined.metadata(), of.metadata());
        assert_eq!((new.codecs(), new.attributes()), (old.codecs(), old.attributes()));
        assert_eq!(new.dimension_names(), old.dimension_names());
    }
}

#[test]
fn all_months_are_the_fixture() {
    let of = fixture("temp_range_12bit");
    let members = (0..48).map(|chunk| month(&of, chunk)).collect();
    let plan = Join::new(members, Arrangement::Along(0)).plan().expect("fits");
    let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
    let to = Prefix::root();
    let (joined, _) = plan.execute(&store, &to, &JoinOptions::new(), &|_| {}).expect("joins");
    assert_eq!(joined.grid().axes()[0], of.grid().axes()[0]);
    let all = Selection::whole(of.shape());
    assert_eq!(whole(&joined), of.read(all).expect("reads"));
}
