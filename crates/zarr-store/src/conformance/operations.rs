//! Operations of a store that end the test if they fail.

use std::fmt;

use crate::{Key, Prefix, Store, StoreExt as _};

/// The result, or the end of the test.
pub(super) fn found<T, E: fmt::Display>(what: impl fmt::Display, result: Result<T, E>) -> T {
    match result {
        Ok(value) => value,
        Err(error) => panic!("{what} failed: {error}"),
    }
}

/// The value, or the end of the test.
pub(super) fn some<T>(what: impl fmt::Display, value: Option<T>) -> T {
    match value {
        Some(value) => value,
        None => panic!("{what} found nothing"),
    }
}

pub(super) fn key(text: &str) -> Key {
    found(format_args!("the key {text}"), Key::new(text))
}

pub(super) fn prefix(text: &str) -> Prefix {
    found(format_args!("the prefix {text}"), Prefix::new(text))
}

pub(super) fn put(store: &dyn Store, key: &Key, bytes: &[u8]) {
    found(format_args!("put of {key}"), store.put(key, bytes));
}

pub(super) fn read(store: &dyn Store, key: &Key) -> Option<Vec<u8>> {
    found(format_args!("get of {key}"), store.read(key))
}

pub(super) fn delete(store: &dyn Store, key: &Key) {
    found(format_args!("delete of {key}"), store.delete(key));
}

/// A pattern in which every byte tells its position.
pub(super) fn pattern(len: usize) -> Vec<u8> {
    (0..=250).cycle().take(len).collect()
}
