//! Arrays.

use std::collections::BTreeMap;
use std::num::NonZeroUsize;
use std::sync::Arc;

use pyo3::buffer::PyBuffer;
use pyo3::exceptions::{PyIndexError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyList, PyTuple};
use zarr_kit::array::{ArrayError, Cut};
use zarr_kit::codec::Options;
use zarr_kit::grid::{AxisSelection, Run};
use zarr_kit::metadata::Codec;
use zarr_kit::{Array, ArrayMetadata, Selection};

use crate::error::{raised, refused};
use crate::memory::Memory;
use crate::place::{Place, State, prefix};
use crate::variable::{self, PyElements};

/// An array of a store.
#[pyclass(frozen, name = "Array", module = "zarr_kit._native")]
pub(crate) struct PyArray {
    array: Array,
    place: Place,
}

impl PyArray {
    pub(crate) fn new(array: Array, place: Place) -> Self {
        let array = match place.threads {
            Some(threads) => array.with_threads(threads),
            None => array,
        };
        Self { array, place }
    }

    /// The array with the result of a change.
    fn changed(&self, result: Result<Array, ArrayError>) -> PyResult<Self> {
        Ok(Self { array: result.map_err(|e| raised(&e))?, place: self.place.clone() })
    }
}

/// The pickled form of an array: its place, and its document, so that it need not be read again.
type ArrayState = (State, String);

#[pymethods]
impl PyArray {
    #[staticmethod]
    fn open(
        py: Python<'_>,
        url: String,
        path: &str,
        settings: BTreeMap<String, String>,
        threads: Option<usize>,
    ) -> PyResult<Self> {
        let (prefix, place) = (prefix(path)?, Place::open(py, url, settings, threads, false)?);
        let array = py.detach(|| Array::open(Arc::clone(&place.store), &prefix));
        Ok(Self::new(array.map_err(|e| raised(&e))?, place))
    }

    #[staticmethod]
    fn create(
        py: Python<'_>,
        url: String,
        path: &str,
        settings: BTreeMap<String, String>,
        threads: Option<usize>,
        document: &str,
    ) -> PyResult<Self> {
        let metadata = ArrayMetadata::from_json(document.as_bytes()).map_err(refused)?;
        let (prefix, place) = (prefix(path)?, Place::open(py, url, settings, threads, true)?);
        let array = py.detach(|| Array::create(Arc::clone(&place.store), &prefix, metadata));
        Ok(Self::new(array.map_err(|e| raised(&e))?, place))
    }

    /// The array with this [`state`](Self::state). Reads nothing from the store.
    #[staticmethod]
    fn restored(py: Python<'_>, state: State, document: &str) -> PyResult<Self> {
        let (url, path, settings, threads) = state;
        let metadata = ArrayMetadata::from_json(document.as_bytes()).map_err(refused)?;
        let (prefix, place) = (prefix(&path)?, Place::open(py, url, settings, threads, false)?);
        let array =
            Array::with_metadata(Arc::clone(&place.store), &prefix, metadata, Options::new());
        Ok(Self::new(array.map_err(|e| raised(&e))?, place))
    }

    fn state(&self) -> PyResult<ArrayState> {
        Ok((self.place.state(self.array.prefix())?, self.document().to_owned()))
    }

    /// The array with its document read again.
    fn reopened(&self, py: Python<'_>) -> PyResult<Self> {
        let array = py.detach(|| Array::open(Arc::clone(self.array.store()), self.array.prefix()));
        Ok(Self::new(array.map_err(|e| raised(&e))?, self.place.clone()))
    }

    fn with_threads(&self, threads: Option<usize>) -> PyResult<Self> {
        let threads = threads
            .map(|count| {
                NonZeroUsize::new(count)
                    .ok_or_else(|| PyValueError::new_err("threads: at least 1, or None"))
            })
            .transpose()?;
        let place = Place { threads, ..self.place.clone() };
        let array = Array::with_metadata(
            Arc::clone(self.array.store()),
            self.array.prefix(),
            self.array.metadata().clone(),
            Options::new(),
        );
        Ok(Self::new(array.map_err(|e| raised(&e))?, place))
    }

    #[getter]
    fn document(&self) -> &str {
        self.array.metadata().json()
    }

    #[getter]
    fn path(&self) -> &str {
        self.array.prefix().as_str()
    }

    #[getter]
    fn shown_url(&self) -> String {
        self.place.shown()
    }

    #[getter]
    fn shape<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        PyTuple::new(py, self.array.shape())
    }

    #[getter]
    fn element_size(&self) -> usize {
        self.array.element_size()
    }

    #[getter]
    fn fill<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, self.array.fill())
    }

    #[getter]
    fn is_sharded(&self) -> bool {
        self.array
            .metadata()
            .codecs()
            .iter()
            .any(|codec| matches!(codec, Codec::ShardingIndexed(_)))
    }

    /// The lengths of the chunks along an axis, within the array's shape, as little-endian 64-bit integers.
    fn edges<'py>(&self, py: Python<'py>, axis: usize) -> PyResult<Bound<'py, PyBytes>> {
        let found = self.array.grid().axes().get(axis);
        let found =
            found.ok_or_else(|| PyIndexError::new_err(format!("there is no axis {axis}")))?;
        let edge = |chunk| found.clipped(chunk).map_or(0, |range| range.end - range.start);
        let edges = (0..found.occupied()).map(edge);
        let bytes: Vec<u8> = edges.flat_map(u64::to_le_bytes).collect();
        Ok(PyBytes::new(py, &bytes))
    }

    /// Reads a selection into memory of its shape, with any strides.
    fn read(&self, axes: Vec<AxisKey>, out: &Bound<'_, PyAny>) -> PyResult<()> {
        let py = out.py();
        let selection = selection(py, axes)?;
        let mut memory = Memory::of(out, self.array.element_size(), selection.axes().len())?;
        memory
            .write(py, |view, bytes| self.array.read_into_view(&selection, view, bytes))?
            .map_err(|e| raised(&e))
    }

    /// Writes a selection from memory of its shape, with any strides.
    fn write(&self, axes: Vec<AxisKey>, elements: &Bound<'_, PyAny>) -> PyResult<()> {
        let py = elements.py();
        let selection = selection(py, axes)?;
        let rank = selection.axes().len();
        let memory = Memory::of(elements, self.array.element_size(), rank)?;
        memory
            .read(py, |view, bytes| self.array.write_from_view(&selection, view, bytes))
            .map_err(|e| raised(&e))
    }

    /// Reads a selection of an array of strings or byte strings.
    fn read_variable(&self, py: Python<'_>, axes: Vec<AxisKey>) -> PyResult<PyElements> {
        variable::read(py, &self.array, &selection(py, axes)?).map_err(|e| raised(&e))
    }

    /// Writes a selection from a list of `str` or `bytes`.
    fn write_variable(
        &self,
        py: Python<'_>,
        axes: Vec<AxisKey>,
        elements: &Bound<'_, PyList>,
    ) -> PyResult<()> {
        variable::write(py, &self.array, &selection(py, axes)?, elements)
    }

    fn resize(
        &self,
        py: Python<'_>,
        shape: Vec<u64>,
        added: Option<Vec<Vec<(u64, u64)>>>,
        discard: bool,
    ) -> PyResult<Self> {
        let runs: Vec<Vec<Run>> = match added {
            Some(axes) => axes.into_iter().map(runs).collect(),
            None => vec![Vec::new(); shape.len()],
        };
        let cut = if discard { Cut::Discard } else { Cut::Keep };
        self.changed(py.detach(|| self.array.resize(&shape, &runs, cut)))
    }

    fn append(
        &self,
        axis: usize,
        count: u64,
        elements: &Bound<'_, PyAny>,
        added: Vec<(u64, u64)>,
    ) -> PyResult<Self> {
        let (py, added) = (elements.py(), runs(added));
        let rank = self.array.shape().len();
        let memory = Memory::of(elements, self.array.element_size(), rank)?;
        self.changed(memory.read(py, |_, bytes| self.array.append(axis, count, bytes, &added)))
    }

    /// As [`append`](Self::append), from a list of `str` or `bytes`.
    fn append_variable(
        &self,
        py: Python<'_>,
        axis: usize,
        count: u64,
        elements: &Bound<'_, PyList>,
        added: Vec<(u64, u64)>,
    ) -> PyResult<Self> {
        let added = runs(added);
        self.changed(variable::append(py, &self.array, axis, count, elements, &added)?)
    }

    fn update_attributes(
        &self,
        py: Python<'_>,
        changes: Vec<(String, Option<String>)>,
    ) -> PyResult<Self> {
        let changes: Vec<_> =
            changes.iter().map(|(name, json)| (name.as_str(), json.as_deref())).collect();
        self.changed(py.detach(|| self.array.update_attributes(&changes)))
    }
}

/// Python's selection of an axis: first index, count and step, or a list of indices.
#[derive(FromPyObject)]
enum AxisKey {
    Steps(u64, u64, i64),
    Indices(PyBuffer<i64>),
}

fn selection(py: Python<'_>, axes: Vec<AxisKey>) -> PyResult<Selection> {
    let axes: PyResult<Vec<AxisSelection>> = axes
        .into_iter()
        .map(|axis| match axis {
            AxisKey::Steps(start, count, step) => Ok(steps(start, count, step)),
            AxisKey::Indices(indices) => {
                let indices = indices.to_vec(py)?;
                let unsigned: Result<Vec<u64>, _> =
                    indices.into_iter().map(u64::try_from).collect();
                let unsigned = unsigned.map_err(|_| PyIndexError::new_err("an index below 0"))?;
                Ok(AxisSelection::from(unsigned))
            }
        })
        .collect();
    Ok(Selection::new(axes?))
}

fn steps(start: u64, count: u64, step: i64) -> AxisSelection {
    let Some(last) = count.checked_sub(1) else { return AxisSelection::from(0..0) };
    let reach = last.saturating_mul(step.unsigned_abs());
    let range = match step {
        ..0 => start.saturating_sub(reach)..start.saturating_add(1),
        _ => start..start.saturating_add(reach).saturating_add(1),
    };
    AxisSelection::Step { range, step }
}

fn runs(edges: Vec<(u64, u64)>) -> Vec<Run> {
    edges.into_iter().map(|(edge, count)| Run { edge, count }).collect()
}
