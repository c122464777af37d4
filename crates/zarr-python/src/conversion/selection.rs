//! Conversion of selections from and to Python.

use pyo3::buffer::PyBuffer;
use pyo3::exceptions::PyIndexError;
use pyo3::prelude::*;
use zarr_kit::grid::Run;
use zarr_kit::{AxisSelection, Points, Selection};

/// The selection of one axis from Python: first index, count and step, or a list of indices.
#[derive(FromPyObject)]
pub(crate) enum AxisKey {
    Steps(u64, u64, i64),
    Indices(PyBuffer<i64>),
}

/// The selection of one axis for Python: first index, count and step, or a list of indices.
#[derive(IntoPyObject)]
pub(crate) enum AxisIndices {
    Steps(u64, u64, i64),
    Indices(Vec<u64>),
}

pub(crate) fn selection(py: Python<'_>, axes: Vec<AxisKey>) -> PyResult<Selection> {
    let axes: PyResult<Vec<AxisSelection>> = axes
        .into_iter()
        .map(|axis| match axis {
            AxisKey::Steps(start, count, step) => Ok(AxisSelection::steps(start, count, step)),
            AxisKey::Indices(indices) => Ok(AxisSelection::from(unsigned(py, &indices)?)),
        })
        .collect();
    Ok(Selection::new(axes?))
}

/// Single elements from Python: one list of indices per axis.
pub(crate) fn points(py: Python<'_>, axes: Vec<PyBuffer<i64>>) -> PyResult<Points> {
    let axes: PyResult<Vec<_>> = axes.iter().map(|indices| unsigned(py, indices)).collect();
    Ok(Points::new(axes?))
}

fn unsigned(py: Python<'_>, indices: &PyBuffer<i64>) -> PyResult<Vec<u64>> {
    let unsigned: Result<Vec<u64>, _> =
        indices.to_vec(py)?.into_iter().map(u64::try_from).collect();
    unsigned.map_err(|_| PyIndexError::new_err("an index below 0"))
}

pub(crate) fn found(axis: &AxisSelection) -> AxisIndices {
    let number = |at: usize| u64::try_from(at).unwrap_or(u64::MAX);
    match axis {
        AxisSelection::Indices(indices) => AxisIndices::Indices(indices.clone()),
        AxisSelection::Mask(mask) => AxisIndices::Indices(
            mask.iter().enumerate().filter(|(_, is)| **is).map(|(at, _)| number(at)).collect(),
        ),
        AxisSelection::Step { range, step } if *step < 0 => {
            AxisIndices::Steps(range.end.saturating_sub(1), axis.len(), *step)
        }
        AxisSelection::Step { range, step } => AxisIndices::Steps(range.start, axis.len(), *step),
        // An index or a range.
        axis => AxisIndices::Steps(axis.bounds().start, axis.len(), 1),
    }
}

/// Runs of equal chunks: their length, and how many there are.
pub(crate) fn runs(edges: Vec<(u64, u64)>) -> Vec<Run> {
    edges.into_iter().map(|(edge, count)| Run { edge, count }).collect()
}
