//! Differences between nodes.

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::ops::ControlFlow;

use pyo3::prelude::*;
use zarr_kit::report::ReportError;
use zarr_kit::report::diff::{DiffError, DiffEvent, DiffNode, diff as compare};
use zarr_kit::{ArrayMetadata, Selection};

use crate::conversion::error::{Done, with_remedy};
use crate::conversion::report::reported;
use crate::node::At;
use crate::process::signals::Signals;

/// The document of `zarr-kit diff --json` of two nodes.
#[pyfunction]
pub(crate) fn diff(
    py: Python<'_>,
    one: At<'_>,
    other: At<'_>,
    metadata_only: bool,
    region: Vec<(String, String)>,
) -> Done<String> {
    let (one, ours) = one.place(py, false)?;
    let (other, theirs) = other.place(py, false)?;
    let (shown, others) = (one.shown_node(&ours), other.shown_node(&theirs));
    py.detach(|| {
        Signals::during(|signals| {
            let stores = (signals.guard_all(&one.reading()), signals.guard_all(&other.reading()));
            let found = RefCell::new(BTreeSet::new());
            let regions = |_: &str, metadata: &ArrayMetadata| selected(&region, metadata, &found);
            let coordinates = (
                |name: &str| one.beside(&stores.0, &ours, name),
                |name: &str| other.beside(&stores.1, &theirs, name),
            );
            let one = DiffNode::new(&stores.0, ours.clone(), &shown).coordinates(&coordinates.0);
            let other =
                DiffNode::new(&stores.1, theirs.clone(), &others).coordinates(&coordinates.1);
            let [one, other] = [one, other].map(|node| match region.is_empty() {
                true => node,
                false => node.regions(&regions),
            });
            let mut documents = Vec::new();
            let summary = compare(&one, &other, metadata_only, &mut |event| {
                if let DiffEvent::Difference(difference) = event {
                    documents
                        .push(difference.json(|error| with_remedy(&error, error.cause.remedy())));
                }
                ControlFlow::Continue(())
            });
            let summary = summary.and_then(|summary| {
                match region.iter().find(|(name, _)| !found.borrow().contains(name)) {
                    Some((name, _)) => {
                        let reason = format!("region: no compared array has an axis {name:?}");
                        Err(DiffError::new(&shown, ReportError::Region(reason)))
                    }
                    None => Ok(summary),
                }
            });
            let done = summary.map(|summary| summary.json(&shown, &others, &documents).to_string());
            reported(done.map_err(|error| error.cause))
        })
    })?
}

/// The entries of a region that name an axis of the array, in numpy's syntax; `None` if there are none.
fn selected(
    region: &[(String, String)],
    metadata: &ArrayMetadata,
    found: &RefCell<BTreeSet<String>>,
) -> Result<Option<Selection>, String> {
    let names = metadata.dimension_names().unwrap_or_default();
    let mut is_limited = false;
    let entries = (0..metadata.shape().len()).map(|axis| {
        let name = names.get(axis).and_then(Option::as_ref);
        let named = name.and_then(|name| region.iter().find(|(other, _)| other == name));
        let Some((name, entry)) = named else { return ":" };
        is_limited = true;
        found.borrow_mut().insert(name.clone());
        entry
    });
    let text = entries.collect::<Vec<_>>().join(",");
    if !is_limited {
        return Ok(None);
    }
    let selection = Selection::parse(&text, metadata.shape());
    selection.map(Some).map_err(|cause| format!("region: {cause}"))
}
