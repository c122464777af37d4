//! An array that zarr-python opened, for its codec pipeline: read and written in our own store.

use pyo3::prelude::*;
use pyo3::types::{PyList, PyTuple};
use zarr_kit::codec::Options;
use zarr_kit::grid::AxisSelection;
use zarr_kit::{Array, ArrayMetadata, Selection};

use crate::conversion::error::Done;
use crate::conversion::memory::Memory;
use crate::process::writes::Counted;
use crate::stores::node_store::{NodeStore, Settings};
use crate::zarr_python::batch::{self, Steps};

/// An array with a document that zarr-python has read.
#[pyclass(frozen, name = "Opened", module = "zarr_kit._native")]
pub(crate) struct PyOpened {
    array: Array,
}

/// Axes, and their places in the result.
type SelectedItems = (Vec<Steps>, Vec<Option<(u64, u64)>>);

#[pymethods]
impl PyOpened {
    /// The array at `path` of the store; nothing is read. `empty_chunks`: whether chunks of the
    /// fill value only are stored.
    #[new]
    fn new(
        py: Python<'_>,
        url: String,
        path: String,
        settings: Settings,
        threads: Option<usize>,
        document: &str,
        empty_chunks: bool,
    ) -> Done<Self> {
        let metadata = ArrayMetadata::from_json(document.as_bytes())?;
        let state = (url, path, settings, threads, empty_chunks, 0);
        let (place, prefix) = NodeStore::open(py, state, false)?;
        let array = Array::with_metadata(&place.store, &prefix, metadata, Options::new())?;
        Ok(Self { array: place.handling.of(array) })
    }

    #[getter]
    fn shape<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        PyTuple::new(py, self.array.shape())
    }

    /// The selection of zarr-python's items for its chunks, if it is a product of steps.
    fn selected(&self, items: &Bound<'_, PyList>) -> PyResult<Option<SelectedItems>> {
        let selected = batch::selected(&self.array, items)?;
        Ok(selected.map(|selected| (selected.axes, selected.places)))
    }

    /// Reads a selection into memory of its shape, with any strides.
    fn read(&self, axes: Vec<Steps>, out: &Bound<'_, PyAny>) -> Done<()> {
        let selection = selection(axes);
        let mut memory = Memory::of(out, self.array.element_size(), selection.axes().len())?;
        Ok(memory.write(out.py(), |out| self.array.read_into(&selection, out))??)
    }

    /// Writes a selection from memory of its shape, with any strides.
    fn write(&self, axes: Vec<Steps>, elements: &Bound<'_, PyAny>) -> Done<()> {
        let (_counted, selection) = (Counted, selection(axes));
        let memory = Memory::of(elements, self.array.element_size(), selection.axes().len())?;
        Ok(memory.read(elements.py(), |input| self.array.write(&selection, input))?)
    }
}

fn selection(axes: Vec<Steps>) -> Selection {
    let axes = axes.into_iter().map(|(start, count, step)| {
        AxisSelection::steps(start, count, i64::try_from(step).unwrap_or(i64::MAX))
    });
    Selection::new(axes.collect::<Vec<_>>())
}
