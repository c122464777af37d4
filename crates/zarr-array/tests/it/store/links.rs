//! Symbolic links in local stores.

use std::os::unix::fs::symlink;
use std::sync::Arc;

use zarr_array::delete_node;
use zarr_array::store::{FaultStore, LocalStore, Store, StoreExt as _};
use zarr_store_tests::{key, keys_below, prefix};

/// A deletion removes the link, not its target: by its own name, and below a prefix.
#[test]
fn what_a_link_leads_to_is_not_deleted() {
    let folder = tempfile::tempdir().unwrap();
    let store: Arc<dyn Store> = Arc::new(LocalStore::open(folder.path()).unwrap());
    let node = r#"{"zarr_format": 3, "node_type": "group"}"#;
    for name in ["zarr.json", "real/zarr.json", "group/zarr.json", "group/own/zarr.json"] {
        store.put(&key(name), node.as_bytes()).unwrap();
    }
    let links = ["alias", "group/alias", "group/own/deep"];
    let real = keys_below(&store, "real");
    let any = Arc::new(FaultStore::new(Arc::clone(&store)));
    for store in [&store, &(any as Arc<dyn Store>)] {
        let make = |links: &[&str]| {
            for link in links {
                symlink(folder.path().join("real"), folder.path().join(link)).unwrap();
            }
        };
        make(&links);
        assert!(store.read(&key("group/alias/zarr.json")).unwrap().is_some());
        store.delete_prefix(&prefix("group/alias")).unwrap();
        make(&["group/alias"]);
        delete_node(store, &prefix("alias")).unwrap();
        assert_eq!(keys_below(store, "alias").len(), 0);
        delete_node(store, &prefix("group")).unwrap();
        assert_eq!(keys_below(store, "group").len(), 0);
        assert_eq!(keys_below(store, "real"), real);
        for link in links {
            assert!(!folder.path().join(link).is_symlink(), "{link}");
        }
        for name in ["group/zarr.json", "group/own/zarr.json"] {
            store.put(&key(name), node.as_bytes()).unwrap();
        }
    }
}
