//! Checks of hierarchies, and the documents of new arrays.

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use zarr_cli::{CheckedPlace, next_step};
use zarr_kit::array::Hierarchy;
use zarr_kit::check::{CheckOptions, CheckProgress, CheckWatch, Finding, check_watched};
use zarr_kit::metadata::{ChunkGrid, CodecNotation, Endian, FillValue, NotationError};
use zarr_kit::report::labels::ArrayLabels;
use zarr_kit::report::readers::Readers;
use zarr_kit::{Array, ArrayBuilder, ArrayMetadata, Codec, DataType, Prefix};

use crate::array::PyArray;
use crate::conversion::error::{Done, Raised};
use crate::group::PyGroup;
use crate::node::At;
use crate::process::progress::Progress;
use crate::process::signals::Signals;
use crate::stores::node_store::NodeStore;

/// The path of an array, and first and last index plus one of elements on each of its axes.
type Region = (String, Vec<(u64, u64)>);

/// Id, severity, key, JSON path, message, the broken rule, the elements, their labels, and the next
/// step.
type FindingTuple = (
    String,
    String,
    Option<String>,
    Option<String>,
    String,
    String,
    Option<Region>,
    Option<String>,
    Option<String>,
);

/// Groups, arrays, chunks, bytes.
type Checked = (u64, u64, u64, u64);

/// Whether elements of the array are read from the group, so that who deletes it deletes them.
#[pyfunction]
pub(crate) fn reads_from(
    py: Python<'_>,
    array: PyRef<'_, PyArray>,
    group: PyRef<'_, PyGroup>,
) -> Done<bool> {
    let (array, group): (&PyArray, &PyGroup) = (&array, &group);
    py.detach(|| {
        let Some(location) = group.place.store.location(group.prefix()) else { return Ok(false) };
        Ok(array.place.store.reads_from(array.array().prefix(), &location)?)
    })
}

/// Checks a node and everything below it.
#[pyfunction]
pub(crate) fn check(
    py: Python<'_>,
    node: At<'_>,
    data: bool,
    complete: bool,
    memory: u64,
    ignore: Vec<String>,
    progress: Option<Py<PyAny>>,
) -> Done<(Vec<FindingTuple>, Checked)> {
    let (place, prefix) = node.place(py, false)?;
    let mut options =
        CheckOptions::new().data(data).checksums(true).complete(complete).memory(memory);
    for text in &ignore {
        options = options.ignore(text).map_err(|id| {
            PyValueError::new_err(format!("ignore: {id:?}; no finding has this id"))
        })?;
    }
    if let Some(threads) = place.handling.threads {
        options = options.threads(threads);
    }
    py.detach(|| {
        Signals::during(|signals| {
            let store = signals.guard_all(&place.reading());
            let progress = Progress::new(progress, signals);
            let told = |array: &Prefix, at: CheckProgress| {
                progress.tell(array.as_str(), at.done, Some(at.total));
            };
            let mut found = Vec::new();
            let watch = CheckWatch { progress: Some(&told), arrays: None };
            let mut report = |finding| found.push(finding);
            let seen = check_watched(&store, &prefix, &options, &mut report, watch)?;
            // No command opens a store in memory.
            let opened = place.opened().filter(|_| !place.is_memory());
            let checked = opened.map(|opened| CheckedPlace {
                url: &place.given,
                path: prefix.as_str(),
                folder: opened.folder(),
                is_virtual_join: opened.is_virtual_join(),
                is_in_file: opened.is_in_file(),
            });
            let mut known = None;
            let found = found.iter().map(|finding| {
                let next = checked.as_ref().and_then(|checked| next_step(finding, checked));
                of_finding(finding, labels(&place, &store, finding, &mut known), next)
            });
            Ok::<_, Raised>((found.collect(), (seen.groups, seen.arrays, seen.chunks, seen.bytes)))
        })
    })
}

/// The labels of the elements. Findings come array by array: `known` has the labels of the last
/// array, by its path.
fn labels(
    place: &NodeStore,
    store: &Hierarchy,
    finding: &Finding,
    known: &mut Option<(String, ArrayLabels)>,
) -> Option<String> {
    let (path, region) = finding.region()?;
    if known.as_ref().is_none_or(|(last, _)| last != path) {
        let prefix = Prefix::new(path).ok()?;
        let labels = Array::open(store.clone(), &prefix).map(|array| {
            let name = place.url_of(&prefix);
            let name = name.trim_end_matches('/').rsplit('/').next().unwrap_or_default();
            let coordinate = |name: &str| place.beside(store, &prefix, name);
            ArrayLabels::of(array.metadata(), name, coordinate)
        });
        *known = Some((path.to_owned(), labels.unwrap_or_default()));
    }
    known.as_ref()?.1.region(region)
}

fn of_finding(finding: &Finding, labels: Option<String>, next: Option<String>) -> FindingTuple {
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
        labels,
        next,
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
    let rank = shape.len();
    let mut builder = ArrayBuilder::new(shape, data_type.clone());
    if let Some(grid) = grid {
        builder = builder.chunk_grid(ChunkGrid::from_json(grid.as_bytes())?);
    }
    if let Some(codecs) = codecs {
        builder = builder.codecs(codecs_of(codecs, &data_type, rank)?);
    }
    if let Some(fill_value) = fill_value {
        let fill = FillValue::parse(&data_type, fill_value)?;
        builder = builder.fill_value(fill);
    }
    Ok(builder.build().map_err(Raised::from)?.json().to_owned())
}

/// The chain of a JSON list of codecs and short forms, for arrays of this type and number of axes.
pub(crate) fn codecs_of(json: &str, data_type: &DataType, rank: usize) -> Done<Vec<Codec>> {
    match CodecNotation::from_json(json.as_bytes()) {
        Ok(notation) => Ok(notation.codecs(data_type, rank, Endian::Little)),
        Err(NotationError::Json(cause)) => Err(cause.into()),
        Err(cause) => Err(PyValueError::new_err(format!("codecs: {cause}")).into()),
    }
}

/// For each chunk, or inner chunk of shards, in C order whether it is stored; `None` if codecs hide it.
#[pyfunction]
pub(crate) fn stored_mask<'py>(
    py: Python<'py>,
    array: &Bound<'py, PyArray>,
) -> Done<Option<Bound<'py, PyBytes>>> {
    let array = array.get();
    let mask = py.detach(|| array.during(Array::stored_mask))?;
    let bytes = |stored: Vec<bool>| stored.into_iter().map(u8::from).collect::<Vec<u8>>();
    Ok(mask.map(|mask| PyBytes::new(py, &bytes(mask.stored))))
}
