//! Checks of hierarchies, and the documents of new arrays.

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use zarr_kit::check::{CheckOptions, Finding, check_with_progress};
use zarr_kit::metadata::{ChunkGrid, FillValue};
use zarr_kit::report::readers::Readers;
use zarr_kit::{ArrayBuilder, ArrayMetadata, Codec, DataType};

use crate::conversion::error::{Done, Raised};
use crate::process::progress::Progress;
use crate::process::signals::Signals;
use crate::stores::node::At;

/// The path of an array, and first and last index plus one of elements on each of its axes.
type Region = (String, Vec<(u64, u64)>);

/// Id, severity, key, JSON path, message, the rule that is broken, and the elements.
type FindingTuple =
    (String, String, Option<String>, Option<String>, String, String, Option<Region>);

/// Groups, arrays, chunks, bytes.
type Checked = (u64, u64, u64, u64);

/// Checks a node and everything below it.
#[pyfunction]
pub(crate) fn check(
    py: Python<'_>,
    node: At<'_>,
    data: bool,
    complete: bool,
    memory: u64,
    progress: Option<Py<PyAny>>,
) -> Done<(Vec<FindingTuple>, Checked)> {
    let (place, prefix) = node.place(py, false)?;
    let mut options = CheckOptions::new().data(data).complete(complete).memory(memory);
    if let Some(threads) = place.handling.threads {
        options = options.threads(threads);
    }
    let mut found = Vec::new();
    let summary = py.detach(|| {
        Signals::during(|signals| {
            let store = signals.guard_all(&place.reading());
            let progress = Progress::new(progress, signals);
            let report = &mut |finding: Finding| found.push(of_finding(&finding));
            check_with_progress(&store, &prefix, &options, report, &|array, at| {
                progress.tell(array.as_str(), at.done, Some(at.total));
            })
        })
    })?;
    Ok((found, (summary.groups, summary.arrays, summary.chunks, summary.bytes)))
}

fn of_finding(finding: &Finding) -> FindingTuple {
    let region = finding.region().map(|(array, region)| {
        (array.to_owned(), region.iter().map(|axis| (axis.start, axis.end)).collect())
    });
    (
        finding.id().to_owned(),
        finding.severity().to_string(),
        finding.key().map(ToString::to_string),
        finding.path().map(ToString::to_string),
        finding.message().to_string(),
        finding.rule().text().to_owned(),
        region,
    )
}

/// Refuses the document of an array that another program does not read.
#[pyfunction]
pub(crate) fn check_portable(document: &str) -> Done<()> {
    let metadata = ArrayMetadata::from_json(document.as_bytes())?;
    Ok(refuse_unportable([&metadata])?)
}

/// Refuses arrays that another program does not read.
pub(crate) fn refuse_unportable<'m>(
    arrays: impl IntoIterator<Item = &'m ArrayMetadata>,
) -> PyResult<()> {
    let mut readers = Readers::new();
    arrays.into_iter().for_each(|metadata| readers.add(metadata));
    match readers.are_all() {
        true => Ok(()),
        false => Err(PyValueError::new_err(format!("portable: read by {}", readers.line()))),
    }
}

/// The document of a new array, from the JSON of its parts. Parts that are `None` get the default
/// values of `ArrayBuilder`.
#[pyfunction]
#[pyo3(signature = (shape, data_type, *, grid=None, codecs=None, fill_value=None))]
pub(crate) fn array_document(
    shape: Vec<u64>,
    data_type: &str,
    grid: Option<&str>,
    codecs: Option<&str>,
    fill_value: Option<&str>,
) -> Done<String> {
    let data_type = DataType::from_json(data_type.as_bytes())?;
    let mut builder = ArrayBuilder::new(shape, data_type.clone());
    if let Some(grid) = grid {
        builder = builder.chunk_grid(ChunkGrid::from_json(grid.as_bytes())?);
    }
    if let Some(codecs) = codecs {
        builder = builder.codecs(Codec::list_from_json(codecs.as_bytes())?);
    }
    if let Some(fill_value) = fill_value {
        let fill = FillValue::parse(&data_type, fill_value)?;
        builder = builder.fill_value(fill);
    }
    Ok(builder.build().map_err(Raised::from)?.json().to_owned())
}
