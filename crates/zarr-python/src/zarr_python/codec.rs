//! Codec chains for zarr-python, which fetches and stores the bytes of chunks itself.

use std::collections::HashMap;
use std::ops::Range;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use pyo3::exceptions::{PyMemoryError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyTuple};
use zarr_kit::codec::{
    AxisEdges, Chain, ChainError, ChunkCodec, ChunkError, ChunkErrorKind, ChunkReader, Encoded,
    Need, Options, Scratch, Slice,
};
use zarr_kit::metadata::{Codec, DataType};
use zarr_kit::view::View;

use crate::conversion::error::{Done, LossError};
use crate::conversion::memory::Memory;

/// The most compiled chunk shapes that a chain keeps: a rectilinear grid usually has few, but may
/// have many.
const SHAPES: usize = 1024;

/// Raises an error if a codec's JSON is not valid.
#[pyfunction]
pub(crate) fn check_codec(json: &str) -> Done<()> {
    Ok(Codec::from_json(json.as_bytes()).map(drop)?)
}

/// Codecs bound to a data type and to the edges of chunks.
#[pyclass(frozen, name = "Chain", module = "zarr_kit._native")]
pub(crate) struct PyChain {
    chain: Chain,
    /// The path of the first codec in messages, if it differs from its place in the list.
    place: Option<String>,
    shapes: Mutex<HashMap<Vec<u64>, Arc<ChunkCodec>>>,
}

#[pymethods]
impl PyChain {
    /// `codecs`: a JSON list. `edges`: the lengths of chunks that each axis has. `place`: the path
    /// of the first codec in messages, in place of `$.codecs[0]`.
    #[new]
    #[pyo3(signature = (codecs, data_type, edges, place = None))]
    fn new(
        codecs: &str,
        data_type: &str,
        edges: Vec<Vec<u64>>,
        place: Option<String>,
    ) -> Done<Self> {
        let codecs = Codec::list_from_json(codecs.as_bytes())?;
        let data_type = DataType::from_json(data_type.as_bytes())?;
        let edges: Vec<_> = edges.into_iter().map(AxisEdges::of).collect();
        let chain = Chain::bind_with(&codecs, &data_type, &edges, Options::new());
        let chain = chain.map_err(|error| unbound(&error, place.as_deref()))?;
        Ok(Self { chain, place, shapes: Mutex::default() })
    }

    #[getter]
    fn element_size(&self) -> usize {
        self.chain.element_size()
    }

    /// Whether chunks can be written: some codecs are only read.
    #[getter]
    fn is_writable(&self) -> bool {
        self.chain.check_writable().is_ok()
    }

    /// The shape of a chunk after the array-to-array codecs.
    fn stored_shape<'py>(&self, py: Python<'py>, shape: Vec<u64>) -> PyResult<Bound<'py, PyTuple>> {
        PyTuple::new(py, self.of_shape(&shape)?.transform().stored_shape())
    }

    /// The length of an encoded chunk, if the chain determines it.
    fn encoded_len(&self, shape: Vec<u64>) -> PyResult<Option<u64>> {
        Ok(self.of_shape(&shape)?.encoded_len())
    }

    /// Encodes a chunk of the shape of `elements`; nothing, if `skip_fill` and all of them are
    /// `fill`.
    fn encode<'py>(
        &self,
        shape: Vec<u64>,
        elements: &Bound<'py, PyAny>,
        fill: &[u8],
        skip_fill: bool,
    ) -> PyResult<Option<Bound<'py, PyBytes>>> {
        let (py, codec) = (elements.py(), self.of_shape(&shape)?);
        self.chain.check_writable().map_err(|error| self.unbound(&error))?;
        let fill = self.of_element_size(fill)?;
        let memory = Memory::of(elements, self.chain.element_size(), shape.len())?;
        let (content, bytes) = memory.read_all(py, |view, bytes| {
            let (mut encoded, mut scratch) = (Vec::new(), Scratch::new());
            let content = codec.encode(bytes, view, fill, &mut encoded, &mut scratch);
            (content, encoded)
        })?;
        match content.map_err(|error| undone(&error, self.place.as_deref()))? {
            Encoded::Empty if skip_fill => Ok(None),
            Encoded::Chunk | Encoded::Empty => Ok(Some(PyBytes::new(py, &bytes))),
        }
    }

    /// Decodes a region of a chunk of this shape into `out`, which has the region's shape.
    fn decode(
        &self,
        shape: Vec<u64>,
        encoded: &Bound<'_, PyAny>,
        region: Vec<(usize, usize, usize)>,
        out: &Bound<'_, PyAny>,
        fill: &[u8],
    ) -> PyResult<()> {
        let (py, codec) = (encoded.py(), self.of_shape(&shape)?);
        let (region, fill) = (slices(&shape, region)?, self.of_element_size(fill)?);
        let encoded = Memory::of(encoded, 1, 1)?;
        let size = self.chain.element_size();
        Memory::of(out, size, shape.len())?
            .write_from(py, &encoded, |mut out, encoded| {
                codec.decode(encoded, &region, &mut out, fill, &mut Scratch::new())
            })?
            .map_err(|error| undone(&error, self.place.as_deref()))
    }

    /// Begins to read a region of a chunk of this shape without all of its bytes.
    fn reader(
        &self,
        shape: Vec<u64>,
        region: Vec<(usize, usize, usize)>,
        range_cost: u64,
    ) -> PyResult<PyReader> {
        let (codec, region) = (self.of_shape(&shape)?, slices(&shape, region)?);
        let lengths: Vec<_> = region.iter().map(|slice| slice.count).collect();
        let view = View::contiguous(&lengths)
            .map_err(|error| PyMemoryError::new_err(error.to_string()))?;
        let reader = ChunkReader::new(codec, &region, &view, range_cost);
        Ok(PyReader {
            reader: Mutex::new(reader),
            place: self.place.clone(),
            size: self.chain.element_size(),
            rank: shape.len(),
        })
    }
}

impl PyChain {
    fn of_shape(&self, shape: &[u64]) -> PyResult<Arc<ChunkCodec>> {
        if let Some(codec) = locked(&self.shapes).get(shape) {
            return Ok(Arc::clone(codec));
        }
        let codec = self.chain.for_shape(shape).map_err(|error| self.unbound(&error))?;
        let codec = Arc::new(codec);
        let mut shapes = locked(&self.shapes);
        if shapes.len() >= SHAPES {
            shapes.clear();
        }
        shapes.insert(shape.to_vec(), Arc::clone(&codec));
        Ok(codec)
    }

    fn of_element_size<'f>(&self, fill: &'f [u8]) -> PyResult<&'f [u8]> {
        let (found, size) = (fill.len(), self.chain.element_size());
        if found != size {
            let text = format!("a fill value of {found} bytes, elements have {size}");
            return Err(PyValueError::new_err(text));
        }
        Ok(fill)
    }

    fn unbound(&self, error: &ChainError) -> PyErr {
        unbound(error, self.place.as_deref())
    }
}

/// A region of a chunk that is being read.
#[pyclass(frozen, name = "Reader", module = "zarr_kit._native")]
pub(crate) struct PyReader {
    reader: Mutex<ChunkReader<Arc<ChunkCodec>>>,
    place: Option<String>,
    size: usize,
    rank: usize,
}

/// A range of bytes: (none, none) is all of them, (none, n) the last n.
type Bytes = (Option<u64>, Option<u64>);

#[pymethods]
impl PyReader {
    /// The ranges of bytes that are needed next, concatenated; None if the region has been read.
    fn need(&self) -> Option<Vec<Bytes>> {
        match locked(&self.reader).need() {
            Need::Nothing => None,
            Need::All => Some(vec![(None, None)]),
            Need::Suffix(bytes) => Some(vec![(None, Some(bytes))]),
            Need::Ranges(ranges) => {
                let range = |Range { start, end }: &Range<u64>| (Some(*start), Some(*end));
                Some(ranges.iter().map(range).collect())
            }
        }
    }

    /// Takes the needed bytes; the region is complete in `out` once nothing more is needed.
    fn supply(
        &self,
        encoded: &Bound<'_, PyAny>,
        out: &Bound<'_, PyAny>,
        fill: &[u8],
    ) -> PyResult<()> {
        let (py, size) = (encoded.py(), self.size);
        let encoded = Memory::of(encoded, 1, 1)?;
        Memory::of(out, size, self.rank)?
            .write_from(py, &encoded, |mut out, encoded| {
                locked(&self.reader).supply(encoded, None, &mut out, fill, &mut Scratch::new())
            })?
            .map_err(|error| undone(&error, self.place.as_deref()))
    }
}

fn undone(error: &ChunkError, place: Option<&str>) -> PyErr {
    let text = placed(error.to_string(), place);
    match error.kind() {
        ChunkErrorKind::Lost { .. } => LossError::new_err(text),
        ChunkErrorKind::OutOfMemory { .. } => PyMemoryError::new_err(text),
        _ => PyValueError::new_err(text),
    }
}

fn unbound(error: &ChainError, place: Option<&str>) -> PyErr {
    PyValueError::new_err(placed(error.to_string(), place))
}

/// A message about the first codec of a list, at another place.
fn placed(text: String, place: Option<&str>) -> String {
    match place {
        Some(place) => text.replacen("$.codecs[0]", place, 1),
        None => text,
    }
}

fn slices(shape: &[u64], region: Vec<(usize, usize, usize)>) -> PyResult<Vec<Slice>> {
    if region.len() != shape.len() {
        let text = format!("a region of {} axes in a chunk of {}", region.len(), shape.len());
        return Err(PyValueError::new_err(text));
    }
    Ok(region.into_iter().map(|(start, count, step)| Slice { start, count, step }).collect())
}

/// The value behind a lock: it is valid also if a thread panicked.
fn locked<T>(lock: &Mutex<T>) -> MutexGuard<'_, T> {
    lock.lock().unwrap_or_else(PoisonError::into_inner)
}
