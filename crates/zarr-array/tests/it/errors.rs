//! Every error says everything once: its text is complete, and `source` adds nothing.

use std::error::Error;
use std::io;

use zarr_array::ArrayError;
use zarr_array::store::{Operation, StoreError};
use zarr_copy::TransferError;
use zarr_grid::GridErrorKind;
use zarr_metadata::Codec;
use zarr_view::{CopyError, ViewError};

/// The output of anyhow, eyre and `std::error::Report`: the joined texts of all levels.
pub(crate) fn reported(error: &dyn Error) -> String {
    let mut text = error.to_string();
    let mut level = error.source();
    while let Some(error) = level {
        text.push_str(": ");
        text.push_str(&error.to_string());
        level = error.source();
    }
    text
}

/// Asserts that the text contains each part once, and that reports add nothing.
#[track_caller]
fn says_once(error: &dyn Error, parts: &[&str]) {
    let text = error.to_string();
    for part in parts {
        assert_eq!(text.matches(part).count(), 1, "{part} in {text}");
    }
    assert_eq!(reported(error), text);
}

fn denied() -> io::Error {
    io::ErrorKind::PermissionDenied.into()
}

/// A typical failure of a client library: the reason is two levels below its text.
#[derive(Debug, thiserror::Error)]
#[error("no answer")]
struct NoAnswer {
    source: io::Error,
}

fn no_answer() -> NoAnswer {
    NoAnswer { source: io::Error::other("connection refused") }
}

#[test]
fn what_a_store_says_is_shown_to_its_end() {
    let key = || "c/0".to_owned();
    says_once(
        &StoreError::io(Operation::Get, "c/0", denied()),
        &["cannot read \"c/0\": ", "permission denied"],
    );
    says_once(
        &StoreError::io(Operation::Get, "c/0", io::Error::other(no_answer())),
        &["cannot read \"c/0\": no answer: connection refused"],
    );
    let remote =
        StoreError::Remote { operation: Operation::Put, key: key(), cause: Box::new(no_answer()) };
    let parts = ["cannot write \"c/0\": no answer: connection refused"];
    says_once(&remote, &parts);
    says_once(&ArrayError::from(remote), &parts);
    let remote =
        StoreError::Remote { operation: Operation::Put, key: key(), cause: Box::new(no_answer()) };
    says_once(&TransferError::from(remote), &["target: ", parts[0]]);
}

#[test]
fn a_place_is_put_before_what_was_found_there() {
    let key = || "a/zarr.json".to_owned();
    let grid = || GridErrorKind::ZeroEdge { position: 3 }.on_axis(1);
    says_once(&grid(), &["axis 1: ", "edge 3 is 0"]);
    says_once(
        &ArrayError::Grid { key: key(), cause: grid() },
        &["a/zarr.json: ", "$.chunk_grid: ", "axis 1: edge 3 is 0"],
    );
    says_once(&ArrayError::Selection { cause: grid() }, &["selection: axis 1: edge 3 is 0"]);
    let cause = Codec::from_json(b"{}").expect_err("no name");
    let text = cause.to_string();
    says_once(&ArrayError::Metadata { key: key(), cause }, &["a/zarr.json: ", &text]);
    let axis = || ViewError::Axis { axis: 2, rank: 1 };
    says_once(&CopyError::from(axis()), &["axis 2 is out of range"]);
    says_once(&ArrayError::from(CopyError::from(axis())), &["axis 2 is out of range"]);
}

#[test]
fn a_copy_says_on_which_side_it_failed() {
    let failed = || ArrayError::from(StoreError::io(Operation::List, "a", denied()));
    let parts = ["cannot list \"a\": ", "permission denied"];
    says_once(&TransferError::Source(failed()), &[&["source: "], &parts[..]].concat());
    says_once(&TransferError::Target(failed()), &[&["target: "], &parts[..]].concat());
    let path = || "b/c".to_owned();
    let change = TransferError::Change { path: path(), cause: Box::new(no_answer()) };
    says_once(&change, &["b/c: no answer: connection refused"]);
    let kept = TransferError::NotDecodable { path: path(), cause: failed() };
    says_once(&kept, &[&["b/c: elements cannot be read here"], &parts[..]].concat());
}
