//! Copies of arrays and hierarchies.

use std::sync::Arc;

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use zarr_kit::array::store::Session;
use zarr_kit::copy::{
    CopyOptions, CopyPlan, CopyProgress, CopySummary, Endpoint, Route, copy_tree, plan_tree,
};
use zarr_kit::metadata::ChunkGrid;
use zarr_kit::report::ReportError;
use zarr_kit::report::readers::portable;
use zarr_kit::{ArrayMetadata, Prefix};

use crate::conversion::error::{Done, Raised};
use crate::node::At;
use crate::operations::hierarchy::codecs_of;
use crate::process::progress::Progress;
use crate::process::signals::Signals;
use crate::stores::node_store::{NodeStore, State};

/// The settings of a copy.
#[derive(FromPyObject)]
pub(crate) struct CopyArguments {
    /// A function that gets the path and document of each array, and returns the JSON of its chunk
    /// grid, codecs and grid of shards in the target, and the names of its axes, with `None` for
    /// unchanged ones.
    change: Py<PyAny>,
    /// A function that gets the path of each array that is read many times, how often, and why.
    note: Py<PyAny>,
    portable: bool,
    intermediate: Option<State>,
    memory: u64,
    resume: bool,
    overwrite: bool,
    verify: bool,
    allow_loss: bool,
    ome_0_5: bool,
}

impl CopyArguments {
    /// The place of intermediate chunks, opened.
    fn between(&self, py: Python<'_>) -> Done<Option<Emptied>> {
        let Some(state) = self.intermediate.clone() else { return Ok(None) };
        Ok(Some(Emptied(NodeStore::open(py, state, true)?.0)))
    }

    fn options(&self, between: Option<&Emptied>) -> CopyOptions {
        let options = CopyOptions::new()
            .memory(self.memory)
            .resume(self.resume)
            .overwrite(self.overwrite)
            .verify(self.verify)
            .allow_loss(self.allow_loss)
            .ome_0_5(self.ome_0_5);
        match between {
            Some(Emptied(place)) => options.intermediates(Arc::clone(place.store.store())),
            None => options,
        }
    }

    /// Says of an array that its chunks are read many times.
    fn note(&self, prefix: &Prefix, at: &CopyProgress) {
        if let (0, Route::Repeated(why)) = (at.done, at.route) {
            Python::attach(|py| {
                // A failing note does not end the copy.
                let _said = self.note.call1(py, (prefix.as_str(), at.times, why.to_string()));
            });
        }
    }
}

/// A place that a copy writes. Folders that were made for it and are empty at the end are removed.
struct Emptied(NodeStore);

impl Drop for Emptied {
    fn drop(&mut self) {
        self.0.abandon();
    }
}

/// The numbers of arrays, groups and bytes, of tasks that an earlier copy had finished, and of
/// objects that belong to no node; the names that no copy can have; the number of arrays that were
/// copied in two passes, and of groups that stay of OME-Zarr 0.4.
type Did = (u64, u64, u64, u64, u64, Vec<String>, u64, u64);

/// Copies a node and everything below it.
#[pyfunction]
pub(crate) fn copy(
    py: Python<'_>,
    source: At<'_>,
    target: At<'_>,
    arguments: CopyArguments,
    progress: Option<Py<PyAny>>,
) -> Done<Did> {
    let (from_place, source) = source.place(py, false)?;
    let between = arguments.between(py)?;
    let options = arguments.options(between.as_ref());
    let (to, target) = target.place(py, true)?;
    let to = Emptied(to);
    let summary = py.detach(|| {
        Signals::during(|signals| {
            let from = signals.guard_all(&from_place.reading());
            let progress = Progress::new(progress, signals);
            let shown = [from_place.shown_node(&source), to.0.shown_node(&target)];
            to.0.change(signals, |to| {
                let copied = copy_tree(
                    Endpoint::in_hierarchy(&from, &source),
                    Endpoint::new(&to, &target),
                    &mut |prefix, metadata| Ok(changed(&arguments, prefix, metadata)?),
                    &options,
                    &mut |prefix, at| {
                        arguments.note(prefix, &at);
                        progress.tell(prefix.as_str(), at.done, at.total);
                    },
                );
                copied.map_err(|error| Raised::of_copy(error, &shown))
            })
        })
    })?;
    let CopySummary { arrays, groups, bytes, skipped, others, without_key, .. } = summary;
    Ok((
        arrays,
        groups,
        bytes,
        skipped,
        others,
        without_key,
        summary.intermediates,
        summary.ome_0_4,
    ))
}

/// The plan of an array's copy: its path, and the members of the document that `zarr-kit copy
/// --dry-run --json` prints; `None` for an array that is copied object by object.
type PlannedCopy = (String, Option<PlannedReads>);

/// The route; bytes, chunks of the source, reads, tasks, memory; bytes and chunks of an intermediate;
/// and why chunks are read many times.
type PlannedReads = (&'static str, [u64; 5], Option<(u64, u64)>, Option<String>);

/// The reads of a copy from each array: nothing is written.
#[pyfunction]
pub(crate) fn plan_copy(
    py: Python<'_>,
    source: At<'_>,
    target: At<'_>,
    arguments: CopyArguments,
) -> Done<Vec<PlannedCopy>> {
    let (from, source) = source.place(py, false)?;
    let between = arguments.between(py)?;
    let options = arguments.options(between.as_ref());
    let (to, target) = target.place(py, true)?;
    let to = Emptied(to);
    let plans = py.detach(|| {
        Signals::during(|signals| {
            let from = signals.guard_all(&from.reading());
            // It is never committed.
            let session = Session::begin(&to.0.store)?;
            plan_tree(
                Endpoint::in_hierarchy(&from, &source),
                Endpoint::new(session.store(), &target),
                &mut |prefix, metadata| Ok(changed(&arguments, prefix, metadata)?),
                &options,
            )
            .map_err(Raised::from)
        })
    });
    let planned = |(prefix, plan): (Prefix, Option<CopyPlan>)| {
        let plan = plan.map(|plan| {
            let why = match plan.route {
                Route::Repeated(why) => Some(why.to_string()),
                _ => None,
            };
            let numbers = [plan.bytes, plan.chunks, plan.reads, plan.tasks, plan.memory];
            (plan.route.name(), numbers, plan.route.intermediate(), why)
        });
        (prefix.to_string(), plan)
    };
    Ok(plans?.into_iter().map(planned).collect())
}

/// The JSON of a chunk grid, of codecs, and of a grid of shards; names of axes.
type NewLayout = (Option<String>, Option<String>, Option<String>, Option<Vec<Option<String>>>);

/// The metadata that an array has in the target.
fn changed(
    arguments: &CopyArguments,
    prefix: &Prefix,
    metadata: &ArrayMetadata,
) -> Result<ArrayMetadata, PyErr> {
    let (chunks, codecs, shards, names): NewLayout = Python::attach(|py| {
        arguments.change.call1(py, (prefix.as_str(), metadata.json()))?.extract(py)
    })?;
    let change = || -> Done<ArrayMetadata> {
        let grid = |json: Option<String>| {
            json.map(|json| ChunkGrid::from_json(json.as_bytes())).transpose()
        };
        let (chunks, shards) = (grid(chunks)?, grid(shards)?);
        let rank = metadata.shape().len();
        let codecs = codecs.map(|codecs| codecs_of(&codecs, metadata.data_type(), rank));
        let codecs = codecs.transpose()?;
        let mut metadata =
            metadata.with_layout(chunks.as_ref(), codecs.as_deref(), shards.as_ref())?;
        if let Some(names) = &names {
            let names: Vec<_> = names.iter().map(Option::as_deref).collect();
            metadata = metadata.with_dimension_names(&names)?;
        }
        if arguments.portable {
            metadata = portable(&metadata).map_err(|error| refused(&error))?;
        }
        Ok(metadata)
    };
    change().map_err(Into::into)
}

fn refused(error: &ReportError) -> PyErr {
    PyValueError::new_err(format!("portable: {error}"))
}
