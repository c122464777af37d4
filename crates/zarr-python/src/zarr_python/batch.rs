//! The chunks that zarr-python lists for an index expression, as one selection of the array.
//!
//! zarr-python passes a codec pipeline one item per chunk: its key, its shape, the part of it, and
//! the place of that part in the result. For slices and integers, the items are the product of runs
//! per axis; [`selected`] finds these, and does not handle anything else.

use std::collections::{BTreeMap, HashSet};

use pyo3::prelude::*;
use pyo3::types::{PyInt, PyList, PySlice, PySliceMethods, PyString, PyTuple};
use zarr_kit::Array;
use zarr_kit::array::store::Key;
use zarr_kit::metadata::ChunkGrid;

/// First index, number of indices and step of an axis.
pub(crate) type Steps = (u64, u64, u64);

/// The selection of the items: each axis of the array, and its place in the result as a first index
/// and a count; no place for an axis that the selection gives by one index.
pub(crate) struct Selected {
    pub(crate) axes: Vec<Steps>,
    pub(crate) places: Vec<Option<(u64, u64)>>,
}

/// The part of an axis that lies in one chunk.
#[derive(Clone, Copy, PartialEq, Eq)]
struct AxisRun {
    start: u64,
    count: u64,
    step: u64,
    /// The first index in the result.
    place: Option<u64>,
}

/// The selection that touches exactly these chunks. `None` if no selection does, or if an item is
/// unknown.
pub(crate) fn selected(array: &Array, items: &Bound<'_, PyList>) -> PyResult<Option<Selected>> {
    let rank = array.shape().len();
    let mut axes: Vec<BTreeMap<u64, AxisRun>> = vec![BTreeMap::new(); rank];
    let mut seen = HashSet::with_capacity(items.len());
    let mut shapes = Shapes { array, last: None };
    for item in items {
        let Some(item) = Item::of(&item)? else { return Ok(None) };
        let key = item.key.to_str()?;
        let chunk = Key::new(key).ok().and_then(|key| array.layout().chunk_of_key(&key));
        let Some(chunk) = chunk else { return Ok(None) };
        let Some((origin, shape)) = shapes.of(&item.spec, &chunk)? else { return Ok(None) };
        if item.within.len() != rank {
            return Ok(None);
        }
        let mut places = item.places.iter();
        for (axis, part) in item.within.iter().enumerate() {
            let (Some(origin), Some(length)) = (origin.get(axis), shape.get(axis)) else {
                return Ok(None);
            };
            let Some(run) = run(&part, *origin, *length, &mut places)? else {
                return Ok(None);
            };
            let (Some(runs), Some(number)) = (axes.get_mut(axis), chunk.get(axis)) else {
                return Ok(None);
            };
            if *runs.entry(*number).or_insert(run) != run {
                return Ok(None);
            }
        }
        if places.next().is_some() || !seen.insert(chunk) {
            return Ok(None);
        }
    }
    let chunks = axes.iter().try_fold(1_usize, |product, axis| product.checked_mul(axis.len()));
    if chunks != Some(items.len()) {
        return Ok(None);
    }
    let mut selected =
        Selected { axes: Vec::with_capacity(rank), places: Vec::with_capacity(rank) };
    for runs in axes.into_iter().map(BTreeMap::into_values) {
        let Some((steps, place)) = joined(runs) else { return Ok(None) };
        selected.axes.push(steps);
        selected.places.push(place);
    }
    Ok(Some(selected))
}

/// One item: the key of a chunk, its description, the part of it and the part of the result.
struct Item<'py> {
    key: Bound<'py, PyString>,
    spec: Bound<'py, PyAny>,
    within: Bound<'py, PyTuple>,
    places: Bound<'py, PyTuple>,
}

impl<'py> Item<'py> {
    fn of(item: &Bound<'py, PyAny>) -> PyResult<Option<Self>> {
        let [getter, spec, within, places, _]: [Bound<'py, PyAny>; 5] = item.extract()?;
        let key = getter.getattr("path")?.cast_into::<PyString>();
        let (within, places) = (within.cast_into::<PyTuple>(), places.cast_into::<PyTuple>());
        Ok(match (key, within, places) {
            (Ok(key), Ok(within), Ok(places)) => Some(Self { key, spec, within, places }),
            _ => None,
        })
    }
}

/// Where chunks begin, and their shapes.
struct Shapes<'a, 'py> {
    array: &'a Array,
    /// The last description, which the chunks of regular grids share.
    last: Option<(Bound<'py, PyAny>, Vec<u64>)>,
}

impl<'py> Shapes<'_, 'py> {
    /// The first index and the shape of a chunk; none if the opened array's differ.
    ///
    /// Chunks of a regular grid may lie past its end: zarr-python does not tell a pipeline of a new
    /// shape.
    fn of(
        &mut self,
        spec: &Bound<'py, PyAny>,
        chunk: &[u64],
    ) -> PyResult<Option<(Vec<u64>, Vec<u64>)>> {
        let shape = match &self.last {
            Some((last, shape)) if last.is(spec) => shape.clone(),
            _ => {
                let shape: Vec<u64> = spec.getattr("shape")?.extract()?;
                self.last = Some((spec.clone(), shape.clone()));
                shape
            }
        };
        if let ChunkGrid::Regular { .. } = self.array.metadata().chunk_grid() {
            let origin = chunk.iter().zip(&shape).map(|(at, length)| at.checked_mul(*length));
            let origin: Option<Vec<u64>> = origin.collect();
            return Ok(origin.map(|origin| (origin, shape)));
        }
        let layout = self.array.layout();
        let mut origin = vec![0; chunk.len()];
        let is_there = layout.grid().chunk_origin(chunk, &mut origin).is_ok()
            && layout.chunk_shape(chunk).is_ok_and(|declared| declared == shape);
        Ok(is_there.then_some((origin, shape)))
    }
}

/// Converts an entry of a selection within a chunk to a run of an axis.
fn run<'py>(
    part: &Bound<'py, PyAny>,
    origin: u64,
    length: u64,
    places: &mut impl Iterator<Item = Bound<'py, PyAny>>,
) -> PyResult<Option<AxisRun>> {
    if part.is_exact_instance_of::<PyInt>() {
        let Ok(index) = part.extract::<u64>() else { return Ok(None) };
        let start = origin.saturating_add(index);
        return Ok((index < length).then_some(AxisRun { start, count: 1, step: 1, place: None }));
    }
    let (Ok(part), Some(Ok(place))) =
        (part.cast::<PySlice>(), places.next().map(Bound::cast_into::<PySlice>))
    else {
        return Ok(None);
    };
    let Ok(length) = isize::try_from(length) else { return Ok(None) };
    let (part, place) = (part.indices(length)?, place.indices(isize::MAX)?);
    if part.slicelength == 0 || place.slicelength != part.slicelength || place.step != 1 {
        return Ok(None);
    }
    let wide = |number: isize| u64::try_from(number).ok();
    let found = || {
        Some(AxisRun {
            start: origin.checked_add(wide(part.start)?)?,
            count: u64::try_from(part.slicelength).ok()?,
            step: wide(part.step)?,
            place: Some(wide(place.start)?),
        })
    };
    Ok(found())
}

/// The runs of an axis as one, if each begins where the one before it ends.
fn joined(mut runs: impl Iterator<Item = AxisRun>) -> Option<(Steps, Option<(u64, u64)>)> {
    let first = runs.next()?;
    let mut count = first.count;
    for run in runs {
        let expected = AxisRun {
            start: first.start.checked_add(count.checked_mul(first.step)?)?,
            count: run.count,
            step: first.step,
            place: Some(first.place?.checked_add(count)?),
        };
        if run != expected {
            return None;
        }
        count = count.checked_add(run.count)?;
    }
    Some(((first.start, count, first.step), first.place.map(|place| (place, count))))
}
