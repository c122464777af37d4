//! Members of Zarr version 2.

use std::sync::Arc;

use zarr_array::Array;
use zarr_array::store::{Key, MemoryStore, Prefix, Store, StoreExt as _};
use zarr_join::{Arrangement, Join, JoinOptions, Member};

#[test]
fn members_of_zarr_version_2_are_joined_into_an_array_of_version_3() {
    let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
    let put = |key: &str, bytes: &[u8]| {
        store.put(&Key::new(key).expect("a key"), bytes).expect("puts");
    };
    for (name, bytes) in [("a", [1_u8, 2]), ("b", [3, 4])] {
        let document = br#"{"zarr_format": 2, "shape": [2], "chunks": [2], "dtype": "|u1",
            "order": "C", "filters": null, "compressor": null, "fill_value": 0}"#;
        put(&format!("{name}/.zarray"), document);
        put(&format!("{name}/0"), &bytes);
    }
    let member = |name: &str| {
        let prefix = Prefix::new(name).expect("a prefix");
        Member::new(name, Array::open(store.clone(), &prefix).expect("opens"))
    };
    let plan = Join::new(vec![member("a"), member("b")], Arrangement::Along(0)).plan();
    let plan = plan.expect("fits");
    let to = Prefix::new("to").expect("a prefix");
    let joined = plan.execute(&store, &to, &JoinOptions::new(), &|_| {}).expect("joins").0;
    assert!(!joined.metadata().is_version_2());
    assert_eq!(joined.read(0..4).expect("reads"), [1, 2, 3, 4]);
    put("b/.zattrs", br#"{"a": 1}"#);
    let to = Prefix::new("again").expect("a prefix");
    let changed = plan.execute(&store, &to, &JoinOptions::new(), &|_| {}).expect_err("changed");
    assert_eq!(
        changed.to_string(),
        "b: b/.zarray has changed since the join was planned: plan it again"
    );
}
