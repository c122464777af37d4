//! Differences between nodes.

use pyo3::prelude::*;
use zarr_cli::Description;

use crate::array::described;
use crate::error::Done;
use crate::node::At;
use crate::signals::Signals;

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
            let stores = (signals.guard(&one.store), signals.guard(&other.store));
            described(Description::differences(
                (&stores.0, &ours, &shown),
                (&stores.1, &theirs, &others),
                metadata_only,
            ))
        })
    })?
}
