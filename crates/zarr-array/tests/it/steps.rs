//! New nodes in stores that have locks and no conditional puts: see `docs/steps.md`.

use std::sync::Arc;

use zarr_array::store::Prefix;
use zarr_array::{Array, ArrayError};
use zarr_metadata::{ArrayBuilder, ArrayMetadata, DataType};
use zarr_store_tests::LockedChanges;

fn metadata(length: u64) -> ArrayMetadata {
    ArrayBuilder::new([length], DataType::Uint8).build().expect("valid")
}

#[test]
fn a_new_document_is_put_under_a_lock() {
    let store = Arc::new(LockedChanges::without_conditions());
    Array::create(store.clone(), &Prefix::root(), metadata(3)).expect("creates");
    assert!(!store.was_changed_without(), "put without a lock");
}

#[test]
fn a_document_that_is_there_is_not_replaced() {
    let store = Arc::new(LockedChanges::without_conditions());
    Array::create(store.clone(), &Prefix::root(), metadata(3)).expect("creates");
    let again = Array::create(store.clone(), &Prefix::root(), metadata(4));
    assert!(matches!(again, Err(ArrayError::Exists { .. })), "{again:?}");
    assert_eq!(Array::open(store, &Prefix::root()).expect("opens").shape(), [3]);
}
