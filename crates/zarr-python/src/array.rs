//! Arrays.

use std::num::NonZeroUsize;
use std::sync::Arc;

use pyo3::buffer::PyBuffer;
use pyo3::exceptions::{PyIndexError, PyMemoryError};
use pyo3::prelude::*;
use pyo3::types::{PyByteArray, PyBytes, PyList, PyTuple};
use zarr_kit::array::{PlannedChunk, Resize};
use zarr_kit::codec::Options;
use zarr_kit::metadata::Codec;
use zarr_kit::report::draw::{ChunkPicture, ValuePicture};
use zarr_kit::report::info::ArrayInfo;
use zarr_kit::report::stats::Stats;
use zarr_kit::report::words;
use zarr_kit::{Array, ArrayError, ArrayMetadata};

use crate::advice::{Asked, advised, options};
use crate::conversion::error::Done;
use crate::conversion::memory::Memory;
use crate::conversion::report::{decoded, reported};
use crate::conversion::selection::{AxisIndices, AxisKey, found, points, runs, selection};
use crate::conversion::variable_length::{self, PyElements};
use crate::process::signals::Signals;
use crate::stores::node_store::{
    AttributeChanges, Described, Handling, NodeStore, Settings, State, borrowed, threads,
};

/// The most chunks of an axis that are listed: a document of a few bytes may declare any number of
/// them.
pub(crate) const LISTED: usize = 1 << 26;

/// An array of a store.
#[pyclass(frozen, name = "Array", module = "zarr_kit._native")]
pub(crate) struct PyArray {
    array: Array,
    pub(crate) place: NodeStore,
}

impl PyArray {
    pub(crate) fn new(array: Array, place: NodeStore) -> Self {
        Self { array: place.handling.of(array), place }
    }

    pub(crate) fn array(&self) -> &Array {
        &self.array
    }

    fn with_handling(&self, handling: Handling) -> Self {
        Self::new(self.array.clone(), NodeStore { handling, ..self.place.clone() })
    }

    /// Works with the array until a signal's handler raises an exception. The GIL must be free.
    pub(crate) fn during<T>(&self, work: impl FnOnce(&Array) -> Result<T, ArrayError>) -> Done<T> {
        self.place.check_thread()?;
        let done = Signals::during(|signals| {
            work(&self.array.clone().with_store(signals.guard(&self.place.reading())))
        });
        self.place.named(self.array.prefix(), done)
    }

    /// As [`during`](Self::during), for writes.
    fn change<T>(&self, work: impl FnOnce(&Array) -> Result<T, ArrayError>) -> Done<T> {
        let done = Signals::during(|signals| {
            self.place.change(signals, |store| work(&self.array.clone().with_store(store)))
        });
        self.place.named(self.array.prefix(), done)
    }

    /// The array after a change.
    pub(crate) fn changed(
        &self,
        work: impl FnOnce(&Array) -> Result<Array, ArrayError>,
    ) -> Done<Self> {
        let array = self.change(work)?.with_store(Arc::clone(&self.place.store));
        Ok(Self { array, place: self.place.clone() })
    }
}

/// The plan of a chunk's read: the chunk's key, index and shape; the selected indices in it, and
/// their positions in the selection; whether they are the whole chunk; the size of the object if it
/// is stored; and the byte ranges that are read.
type PlannedTuple = (
    String,
    Vec<u64>,
    Vec<u64>,
    Vec<AxisIndices>,
    Vec<AxisIndices>,
    bool,
    Option<u64>,
    Vec<(u64, u64)>,
);

/// Decoded values, numpy's name of their type, and notes.
type Decoded<'py> = (Bound<'py, PyByteArray>, String, Vec<String>);

#[pymethods]
impl PyArray {
    #[staticmethod]
    pub(crate) fn open(py: Python<'_>, state: State) -> Done<Self> {
        let (place, prefix) = NodeStore::open(py, state, false)?;
        let open = |signals: &Arc<Signals>| Array::open(signals.guard_all(&place.store), &prefix);
        let array = place.named(&prefix, py.detach(|| Signals::during(open)))?;
        Ok(Self::new(array.with_store(Arc::clone(&place.store)), place))
    }

    /// The array with this [`state`](Self::state) and document. Nothing is read.
    #[staticmethod]
    fn restored(py: Python<'_>, state: State, document: &str) -> Done<Self> {
        let metadata = ArrayMetadata::from_json(document.as_bytes())?;
        let (place, prefix) = NodeStore::open(py, state, false)?;
        let array = Array::with_metadata(&place.store, &prefix, metadata, Options::new())?;
        Ok(Self::new(array, place))
    }

    fn state(&self, py: Python<'_>) -> PyResult<State> {
        self.place.state(py, self.array.prefix())
    }

    /// Begins a `with` block.
    fn enter(&self, py: Python<'_>) {
        py.detach(|| self.place.block.enter());
    }

    /// Ends a `with` block, and commits its writes unless it `drops` them.
    fn exit(&self, py: Python<'_>, drops: bool) -> Done<()> {
        self.place.named(self.array.prefix(), py.detach(|| Ok(self.place.exit_block(drops)?)))
    }

    fn described(&self) -> Described {
        let (document, path) = (self.array.metadata().json(), self.array.prefix().as_str());
        (document.to_owned(), path.to_owned(), self.place.shown())
    }

    /// The array with its current document, which is read again.
    fn reopened(&self, py: Python<'_>) -> Done<Self> {
        let array = py.detach(|| Array::open(self.place.reading(), self.array.prefix()))?;
        Ok(Self::new(array.with_store(Arc::clone(&self.place.store)), self.place.clone()))
    }

    fn with_threads(&self, count: Option<usize>) -> PyResult<Self> {
        let handling = Handling { threads: threads(count)?, ..self.place.handling };
        Ok(self.with_handling(handling))
    }

    fn with_write_empty_chunks(&self, stores_empty: bool) -> Self {
        self.with_handling(Handling { stores_empty, ..self.place.handling })
    }

    fn with_cache(&self, cache: usize) -> Self {
        self.with_handling(Handling { cache, ..self.place.handling })
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
        let mut codecs = self.array.metadata().codecs().iter();
        codecs.any(|codec| matches!(codec, Codec::ShardingIndexed(_)))
    }

    /// How many chunks hold elements of the array; `None` past 64 bits.
    #[getter]
    fn occupied_chunks(&self) -> Option<u64> {
        self.array.grid().occupied_chunks()
    }

    /// The largest number of threads of a read or write, `None` for one per core.
    #[getter]
    fn threads(&self) -> Option<usize> {
        self.place.handling.threads.map(NonZeroUsize::get)
    }

    /// Whether writes store chunks that hold only the fill value.
    #[getter]
    fn write_empty_chunks(&self) -> bool {
        self.place.handling.stores_empty
    }

    /// Whether the store knows the size of each object without a request.
    #[getter]
    fn is_quick(&self) -> bool {
        self.place.is_quick()
    }

    /// The store, told apart from all others of this process.
    #[getter]
    fn identity(&self) -> String {
        self.place.identity()
    }

    fn version(&self, py: Python<'_>) -> Option<String> {
        py.detach(|| self.place.version(self.array.prefix()))
    }

    /// The URL, which may hold a password.
    #[getter]
    fn url(&self) -> &str {
        self.place.url()
    }

    #[getter]
    fn settings(&self) -> Settings {
        self.place.settings.clone()
    }

    /// The lengths of the chunks along an axis, within the array's shape, as little-endian 64-bit integers.
    fn edges<'py>(&self, py: Python<'py>, axis: usize) -> PyResult<Bound<'py, PyBytes>> {
        let found = self.array.grid().axes().get(axis);
        let found =
            found.ok_or_else(|| PyIndexError::new_err(format!("there is no axis {axis}")))?;
        let count = usize::try_from(found.occupied()).ok().filter(|count| *count <= LISTED);
        let Some(count) = count else {
            let chunks = found.occupied();
            let message =
                format!("axis {axis} has {chunks} chunks, and at most {LISTED} are listed");
            return Err(PyMemoryError::new_err(message));
        };
        let edge = |chunk| found.clipped(chunk).map_or(0, |range| range.end - range.start);
        PyBytes::new_with(py, count.saturating_mul(size_of::<u64>()), |bytes| {
            let entries = bytes.chunks_exact_mut(size_of::<u64>()).zip(0..);
            entries.for_each(|(entry, chunk)| entry.copy_from_slice(&edge(chunk).to_le_bytes()));
            Ok(())
        })
    }

    /// Reads a selection into memory of its shape, with any strides.
    fn read(&self, axes: Vec<AxisKey>, out: &Bound<'_, PyAny>) -> Done<()> {
        let py = out.py();
        let selection = selection(py, axes)?;
        let mut memory = Memory::of(out, self.array.element_size(), selection.axes().len())?;
        memory.write(py, |out| self.during(|array| array.read_into(&selection, out)))?
    }

    /// Reads a selection as the attributes mean it: the values, numpy's name of their type, and notes.
    /// `None` if the values are the elements themselves.
    fn read_decoded<'py>(&self, py: Python<'py>, axes: Vec<AxisKey>) -> Done<Option<Decoded<'py>>> {
        let selection = selection(py, axes)?;
        let values = py.detach(|| self.during(|array| decoded(array, &selection)))??;
        Ok(values.map(|(values, name, notes)| (PyByteArray::new(py, &values), name, notes)))
    }

    /// Writes a selection from memory of its shape, with any strides.
    fn write(&self, axes: Vec<AxisKey>, elements: &Bound<'_, PyAny>) -> Done<()> {
        let py = elements.py();
        let selection = selection(py, axes)?;
        let rank = selection.axes().len();
        let memory = Memory::of(elements, self.array.element_size(), rank)?;
        memory.read(py, |input| self.change(|array| array.write(&selection, input)))
    }

    /// Reads single elements into memory of one axis.
    fn read_points(&self, axes: Vec<PyBuffer<i64>>, out: &Bound<'_, PyAny>) -> Done<()> {
        let py = out.py();
        let points = points(py, axes)?;
        let mut memory = Memory::of(out, self.array.element_size(), 1)?;
        memory.check_in_order()?;
        memory.write(py, |mut out| {
            let bytes = out.as_mut_slice().unwrap_or_default();
            self.during(|array| array.read_into(points, bytes))
        })?
    }

    /// Writes single elements from memory of one axis.
    fn write_points(&self, axes: Vec<PyBuffer<i64>>, elements: &Bound<'_, PyAny>) -> Done<()> {
        let py = elements.py();
        let points = points(py, axes)?;
        let memory = Memory::of(elements, self.array.element_size(), 1)?;
        memory.read(py, |input| self.change(|array| array.write(points, input)))
    }

    /// Reads single elements of an array of strings or byte strings.
    fn read_variable_points(&self, py: Python<'_>, axes: Vec<PyBuffer<i64>>) -> Done<PyElements> {
        let points = points(py, axes)?;
        py.detach(|| self.during(|array| variable_length::read(array, points)))
    }

    /// Writes single elements from a list of `str` or `bytes`.
    fn write_variable_points(
        &self,
        py: Python<'_>,
        axes: Vec<PyBuffer<i64>>,
        elements: &Bound<'_, PyList>,
    ) -> Done<()> {
        let points = points(py, axes)?;
        let elements = variable_length::New::of(&self.array, elements)?;
        py.detach(|| self.change(|array| elements.write(array, points)))
    }

    /// Reads a selection of an array of strings or byte strings.
    fn read_variable(&self, py: Python<'_>, axes: Vec<AxisKey>) -> Done<PyElements> {
        let selection = selection(py, axes)?;
        py.detach(|| self.during(|array| variable_length::read(array, &selection)))
    }

    /// Writes a selection from a list of `str` or `bytes`.
    fn write_variable(
        &self,
        py: Python<'_>,
        axes: Vec<AxisKey>,
        elements: &Bound<'_, PyList>,
    ) -> Done<()> {
        let selection = selection(py, axes)?;
        let elements = variable_length::New::of(&self.array, elements)?;
        py.detach(|| self.change(|array| elements.write(array, &selection)))
    }

    fn resize(
        &self,
        py: Python<'_>,
        shape: Vec<u64>,
        added: Option<Vec<Vec<(u64, u64)>>>,
        discard: bool,
    ) -> Done<Self> {
        let axes = added.into_iter().flatten().map(runs).enumerate();
        let to =
            axes.fold(Resize::to(shape).keep(!discard), |to, (axis, edges)| to.edges(axis, edges));
        py.detach(|| self.changed(|array| array.resize(to)))
    }

    fn append(
        &self,
        axis: usize,
        count: u64,
        elements: &Bound<'_, PyAny>,
        added: Vec<(u64, u64)>,
    ) -> Done<Self> {
        let (py, added) = (elements.py(), runs(added));
        let rank = self.array.shape().len();
        let memory = Memory::of(elements, self.array.element_size(), rank)?;
        memory.check_in_order()?;
        memory.read_all(py, |_, bytes| {
            self.changed(|array| array.append(axis, (count, added), bytes))
        })?
    }

    /// As [`append`](Self::append), from a list of `str` or `bytes`.
    fn append_variable(
        &self,
        py: Python<'_>,
        axis: usize,
        count: u64,
        elements: &Bound<'_, PyList>,
        added: Vec<(u64, u64)>,
    ) -> Done<Self> {
        let added = runs(added);
        let elements = variable_length::New::of(&self.array, elements)?;
        py.detach(|| self.changed(|array| elements.append(array, axis, count, added)))
    }

    fn update_attributes(&self, py: Python<'_>, changes: AttributeChanges) -> Done<Self> {
        let changes = borrowed(&changes);
        py.detach(|| self.changed(|array| array.update_attributes(&changes)))
    }

    /// How many chunks a selection needs.
    fn planned(&self, py: Python<'_>, axes: Vec<AxisKey>) -> Done<u64> {
        Ok(self.array.layout().plan(&selection(py, axes)?)?.len())
    }

    /// The reads of the chunks with these numbers by a selection.
    fn plan(
        &self,
        py: Python<'_>,
        axes: Vec<AxisKey>,
        start: u64,
        stop: u64,
    ) -> Done<Vec<PlannedTuple>> {
        let selection = selection(py, axes)?;
        py.detach(|| {
            self.during(|array| {
                let chunks = array.layout().plan(&selection)?.chunks(start..stop)?;
                chunks.into_iter().map(|chunk| planned(array, chunk)).collect()
            })
        })
    }

    /// The output of `zarr-kit info` for the array: text, and a JSON document.
    fn info(&self, py: Python<'_>) -> Done<(String, String)> {
        let quick = self.place.is_quick();
        let info = |array: &Array| {
            let info = ArrayInfo::of(array, quick);
            Ok((info.table().text(), serde_json::to_string(&info.json()).unwrap_or_default()))
        };
        py.detach(|| self.during(info))
    }

    /// The number of stored chunks with elements; `None` if the store cannot be listed.
    fn chunks_stored(&self, py: Python<'_>) -> Done<Option<u64>> {
        let count = |array: &Array| {
            let mut chunks = array.layout().stored_chunks(array.store());
            Ok(chunks.try_fold(0, |sum, chunk| chunk.map(|it| sum + u64::from(it.occupied))).ok())
        };
        py.detach(|| self.during(count))
    }

    /// The picture of the array, with a selection marked.
    fn draw(&self, py: Python<'_>, axes: Option<Vec<AxisKey>>, title: &str) -> Done<String> {
        let selection = axes.map(|axes| selection(py, axes)).transpose()?;
        let draw = |array: &Array| {
            Ok(ChunkPicture::of(title, array, selection.as_ref())?.svg(&|_, _| None))
        };
        py.detach(|| self.during(draw))
    }

    /// The picture of the values of a selection as PNG, and notes on it.
    fn draw_values<'py>(
        &self,
        py: Python<'py>,
        axes: Vec<AxisKey>,
    ) -> Done<(Bound<'py, PyBytes>, Vec<String>)> {
        let selection = selection(py, axes)?;
        let shown = self.place.shown_node(self.array().prefix());
        let draw = |array: &Array| {
            let (name, shape) = (array.data_type().name(), words::shape(array.shape()));
            let title = format!("{shown}: {name} of {shape}");
            let picture = ValuePicture::read(array, &selection, &mut |_read, _all| {})?;
            Ok((picture.png(&title, &|_, _| None)?, picture.notes()))
        };
        let (png, notes) = py.detach(|| self.during(|array| reported(draw(array))))??;
        Ok((PyBytes::new(py, &png), notes))
    }

    /// The document of `zarr-kit stats --json` of a selection.
    fn stats(&self, py: Python<'_>, axes: Vec<AxisKey>, title: &str) -> Done<String> {
        let selection = selection(py, axes)?;
        let stats = |array: &Array| {
            let mut stats = Stats::new(array.metadata())?;
            stats.add(array, &selection, &mut |_bytes| {})?;
            Ok(stats.json(title)?.to_string())
        };
        py.detach(|| self.during(|array| reported(stats(array))))?
    }

    /// The document of `zarr-kit advise --json` of a selection.
    fn advise(
        &self,
        py: Python<'_>,
        axes: Vec<AxisKey>,
        title: &str,
        asked: Asked,
    ) -> Done<String> {
        let selection = selection(py, axes)?;
        let options = options(&asked)?;
        let advise = |array: &Array| advised(array, &selection, options.clone(), &asked, title);
        py.detach(|| self.during(|array| reported(advise(array))))?
    }
}

/// The read of one chunk.
fn planned(array: &Array, chunk: PlannedChunk) -> Result<PlannedTuple, ArrayError> {
    let (stored, ranges) = match chunk.reads(array)? {
        Some(reads) => {
            let ranges = reads.index.into_iter().chain(reads.ranges);
            (Some(reads.stored_bytes), ranges.map(|range| (range.start, range.end)).collect())
        }
        None => (None, Vec::new()),
    };
    Ok((
        chunk.key,
        chunk.chunk,
        chunk.chunk_shape,
        chunk.in_chunk.iter().map(found).collect(),
        chunk.in_selection.iter().map(found).collect(),
        chunk.is_whole,
        stored,
        ranges,
    ))
}
