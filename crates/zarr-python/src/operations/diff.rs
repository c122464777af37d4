//! Differences between nodes.

use std::ops::ControlFlow;

use pyo3::prelude::*;
use zarr_kit::report::diff::{DiffEvent, DiffNode, diff as compare};

use crate::conversion::error::Done;
use crate::conversion::report::reported;
use crate::process::signals::Signals;
use crate::stores::node::At;

/// The document of `zarr-kit diff --json` of two nodes.
#[pyfunction]
pub(crate) fn diff(
    py: Python<'_>,
    one: At<'_>,
    other: At<'_>,
    metadata_only: bool,
) -> Done<String> {
    let (one, ours) = one.place(py, false)?;
    let (other, theirs) = other.place(py, false)?;
    let (shown, others) = (one.shown_node(&ours), other.shown_node(&theirs));
    py.detach(|| {
        Signals::during(|signals| {
            let stores = (signals.guard_all(&one.reading()), signals.guard_all(&other.reading()));
            let one = DiffNode::new(&stores.0, ours.clone(), &shown);
            let other = DiffNode::new(&stores.1, theirs.clone(), &others);
            let mut documents = Vec::new();
            let summary = compare(&one, &other, metadata_only, &mut |event| {
                if let DiffEvent::Difference(difference) = event {
                    documents.push(difference.json(|error| error.to_string()));
                }
                ControlFlow::Continue(())
            });
            let done = summary.map(|summary| summary.json(&shown, &others, &documents).to_string());
            reported(done.map_err(|error| error.cause))
        })
    })?
}
