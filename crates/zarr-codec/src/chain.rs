//! A codec chain bound to its data type and to the chunk shapes of its grid.

use std::sync::Arc;

use zarr_metadata::{Codec, DataType, Rule};

use crate::array_to_array::ArrayToArray;
use crate::array_to_bytes::shard::Shard;
use crate::array_to_bytes::{ArrayToBytes, ElementCodec, Mapped};
use crate::bound::Bound;
use crate::bytes_to_bytes::{self, Other};
use crate::chunk::ChunkCodec;
use crate::codec_path::CodecPath;
use crate::element::ElementType;
use crate::error::{ChainError, ChainErrorKind, ChunkError};
use crate::length::widen;
use crate::options::Options;
use crate::scratch::{Bytes, Pool};
use crate::symbolic::{AxisEdges, Shape};
use crate::third_party::{ArrayCodec, ArrayOutput, Codecs, Make, is_skipped};
use crate::values::ValueCodec;

/// A codec chain that fits its data type and every chunk shape of its grid.
///
/// Binding makes all checks that need no chunk: the order of the codecs (SD-31); their
/// configurations against the data type (SD-15, SD-50, SD-53); for `transpose` and `reshape`, every
/// occupied chunk shape at once (SD-24). [`for_shape`](Chain::for_shape) then only computes the
/// numbers of one shape.
///
/// # Examples
/// ```
/// use zarr_codec::{AxisEdges, Chain};
/// use zarr_metadata::{Codec, DataType, Packbits};
///
/// let codecs = [Codec::Packbits(Packbits::default())];
/// let edges = [AxisEdges::of([31, 28])];
/// let chain = Chain::bind(&codecs, &DataType::Bool, &edges)?;
/// // Thirty-one booleans are four bytes, with one bit of padding.
/// assert_eq!(chain.for_shape(&[31])?.encoded_len(), Some(4));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Spec
/// Zarr v3 core, "Codecs"; the documents of each codec.
#[derive(Clone, Debug)]
pub struct Chain {
    inner: Arc<Bound>,
}

/// Elements that would not read back unchanged; found by [`Chain::lost`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lost {
    /// The number of the first such element.
    pub first: usize,
    /// The number of such elements.
    pub count: u64,
}

/// The most codecs of a chain that may change values: each adds another chain and a copy of the
/// elements.
const MAPPED: usize = 16;

/// The codec that stores single elements.
enum Last<'c> {
    /// A codec of this chain.
    Elements(&'c Bound, &'c ElementCodec),
    /// A codec that changes the elements first.
    Mapped(&'c Bound, &'c Mapped),
}

impl Chain {
    /// Binds `codecs` to a data type and to the edges of each grid axis's occupied chunks.
    ///
    /// # Errors
    /// [`ChainError`] if the chain does not fit, with the codec's JSON path.
    pub fn bind(
        codecs: &[Codec],
        data_type: &DataType,
        edges: &[AxisEdges],
    ) -> Result<Self, ChainError> {
        Self::bind_with(codecs, data_type, edges, Options::new())
    }

    /// As [`bind`](Chain::bind), with [`Options`].
    ///
    /// # Errors
    /// As [`bind`](Chain::bind).
    pub fn bind_with(
        codecs: &[Codec],
        data_type: &DataType,
        edges: &[AxisEdges],
        options: Options,
    ) -> Result<Self, ChainError> {
        Self::bind_at("$.codecs", codecs, data_type, edges, &options)
    }

    /// As [`bind_with`](Chain::bind_with), for a list of codecs anywhere in a document: `path` is
    /// the JSON path of the list.
    pub(crate) fn bind_at(
        path: &str,
        codecs: &[Codec],
        data_type: &DataType,
        edges: &[AxisEdges],
        options: &Options,
    ) -> Result<Self, ChainError> {
        let path: Arc<str> = path.into();
        let whole = CodecPath::of_chain(&path);
        let shape = Shape::of_grid(edges).map_err(|kind| whole.error(kind))?;
        Self::bind_shape(&path, codecs, data_type, shape, options)
    }

    /// As [`bind_at`](Chain::bind_at), for all arrays of a symbolic shape.
    pub(crate) fn bind_shape(
        path: &Arc<str>,
        codecs: &[Codec],
        data_type: &DataType,
        shape: Shape<'_>,
        options: &Options,
    ) -> Result<Self, ChainError> {
        Self::bind_from(path, codecs, 0, data_type, shape, options, MAPPED)
    }

    /// As [`bind_shape`](Chain::bind_shape), for the codecs from number `first` on. At most
    /// `mapped` of them may change values.
    fn bind_from(
        path: &Arc<str>,
        codecs: &[Codec],
        first: usize,
        data_type: &DataType,
        mut shape: Shape<'_>,
        options: &Options,
        mapped: usize,
    ) -> Result<Self, ChainError> {
        let whole = CodecPath::of_chain(path);
        let element = ElementType::new(data_type).map_err(|kind| whole.error(kind))?;
        let mut array_to_array = Vec::new();
        let mut array_to_bytes = None;
        let mut numcodecs = None;
        let mut bytes_to_bytes = Vec::new();
        let mut read_only = None;

        for (index, codec) in codecs.iter().enumerate().skip(first) {
            let place = CodecPath::of_codec(path, index, codec);
            if is_skipped(codec, &options.codecs) {
                read_only = Some(place);
                continue;
            }
            if array_to_bytes.is_some() {
                let codec = bytes_to_bytes::bind(codec, &element, &options.codecs);
                let codec = codec.map_err(|kind| place.error(kind))?;
                bytes_to_bytes.push((codec, place));
                continue;
            }
            if let Some((bound, numcodecs)) = numcodecs.take() {
                if !matches!(codec, Codec::Bytes(_)) {
                    let reason = "only bytes is read directly after numcodecs.packbits";
                    let kind = ChainErrorKind::fixed(Rule::NUMCODECS_PACKBITS, "", reason);
                    return Err(place.error(kind));
                }
                array_to_bytes = Some((ArrayToBytes::Elements(bound), numcodecs));
                continue;
            }
            let mut values = ValueCodec::bind(codec, data_type, options);
            if let Some(other) = other_array(codec, data_type, &options.codecs) {
                let other = other.map_err(|kind| place.error(kind))?;
                match other.output() {
                    ArrayOutput::Elements(output) => {
                        values = Some(ValueCodec::other(other, data_type, output));
                    }
                    ArrayOutput::Bytes => {
                        let elements = ElementCodec::Bytes { big_endian: false };
                        array_to_bytes = Some((ArrayToBytes::Elements(elements), place.clone()));
                        // `for_shape` gives it the shape.
                        let codec = Box::new(Other::of_array(other, &[]));
                        bytes_to_bytes.push((codec, place));
                        continue;
                    }
                }
            }
            if let Some(values) = values {
                let values = values.map_err(|kind| place.error(kind))?;
                let Some(mapped) = mapped.checked_sub(1) else {
                    let what = format!("more than {MAPPED} codecs that change values");
                    return Err(place.error(ChainErrorKind::NotHere { what }));
                };
                let (next, output) = (index + 1, values.output());
                let inner = Self::bind_from(path, codecs, next, output, shape, options, mapped)?;
                if !values.is_elementwise() && inner.has_shard() {
                    let what = "a shard behind a codec that takes a chunk as a whole".to_owned();
                    return Err(place.error(ChainErrorKind::NotHere { what }));
                }
                read_only = read_only.or_else(|| inner.read_only().cloned());
                let data_type = data_type.clone();
                let mapped = Mapped { codec: values, data_type, inner };
                array_to_bytes = Some((ArrayToBytes::Mapped(Box::new(mapped)), place));
                break;
            }
            let rank = shape.dimensions.len();
            if let Some(compressor) = bytes_to_bytes::bind_elements(codec, data_type, rank, options)
            {
                // Of the elements in C order, little-endian as they are in memory.
                let elements = ElementCodec::Bytes { big_endian: false };
                array_to_bytes = Some((ArrayToBytes::Elements(elements), place.clone()));
                let compressor = compressor.map_err(|kind| place.error(kind))?;
                bytes_to_bytes.push((compressor, place));
                continue;
            }
            match codec {
                Codec::NumcodecsPackbits => {
                    let bound =
                        ElementCodec::numcodecs(&element).map_err(|kind| place.error(kind))?;
                    read_only = Some(place.clone());
                    numcodecs = Some((bound, place));
                }
                Codec::ShardingIndexed(sharding) => {
                    let shard = Shard::bind(sharding, data_type, &shape, &place, options)?;
                    read_only = read_only.or_else(|| shard.read_only().cloned());
                    array_to_bytes = Some((ArrayToBytes::Shard(Box::new(shard)), place));
                }
                _ => {
                    if let Some(step) = ArrayToArray::new(codec) {
                        shape = step.output_shape(&shape).map_err(|kind| place.error(kind))?;
                        array_to_array.push((step, place));
                    } else {
                        let bound = ElementCodec::new(codec, &element);
                        let bound = bound.map_err(|kind| place.error(kind))?;
                        array_to_bytes = Some((ArrayToBytes::Elements(bound), place));
                    }
                }
            }
        }
        let (array_to_bytes, array_to_bytes_path) =
            array_to_bytes.ok_or_else(|| whole.error(ChainErrorKind::ORDER))?;
        let bound = Bound {
            element,
            array_to_array,
            array_to_bytes,
            array_to_bytes_path,
            bytes_to_bytes,
            options: options.clone(),
            read_only,
            whole,
        };
        Ok(Self { inner: Arc::new(bound) })
    }

    /// The codec of the chunks of one shape.
    ///
    /// Cache the result: a grid has few distinct chunk shapes, and this method computes everything
    /// that depends on the shape.
    ///
    /// # Errors
    /// [`ChainError`] if the chain was not bound to the shape and does not fit it, or if a chunk is
    /// larger than the machine's address space.
    pub fn for_shape(&self, chunk_shape: &[u64]) -> Result<ChunkCodec, ChainError> {
        ChunkCodec::new(&self.inner, chunk_shape)
    }

    /// Bytes of one element in memory.
    #[must_use]
    pub fn element_size(&self) -> usize {
        self.inner.element.size()
    }

    /// The elements as they read back after writing. They differ only if the
    /// [options](Options::allow_loss) allow loss (SD-49). Bits are then lost by `first_bit` and
    /// `last_bit`, and of bytes out of the range of a sub-byte type (SD-18).
    ///
    /// `elements` are whole elements in memory.
    ///
    /// # Errors
    /// [`ChunkError`] if `elements` are not elements of the data type.
    pub fn read_back(&self, elements: &[u8]) -> Result<Vec<u8>, ChunkError> {
        let (bound, array_to_bytes) = match self.element_codec() {
            Last::Elements(bound, array_to_bytes) => (bound, array_to_bytes),
            Last::Mapped(bound, mapped) => {
                let failed = |kind| bound.array_to_bytes_path.chunk_error(kind);
                let mut pool = Pool::default();
                if mapped.codec.is_other() {
                    return Ok(elements.to_vec());
                }
                let stored = mapped.codec.encode(elements, &[], &mut pool).map_err(failed)?;
                let stored = mapped.inner.read_back(&stored)?;
                let decoded = mapped.codec.decode(&stored, &[], &mapped.data_type, &mut pool);
                return Ok(decoded.map_err(failed)?.into_vec());
            }
        };
        let Bound { element, array_to_bytes_path: place, .. } = bound;
        let failed = |kind| place.chunk_error(kind);
        let mut pool = Pool::default();
        element.check(elements).map_err(failed)?;
        let mut canonical = elements.to_vec();
        element.canonicalise(&mut canonical);
        let count = elements.len().checked_div(element.size()).unwrap_or(0);
        let encoded =
            array_to_bytes.encode(canonical.into(), element, &mut pool).map_err(failed)?;
        let encoded = Bytes::Taken(encoded);
        let decoded = array_to_bytes.decode(encoded, count, element, &mut pool).map_err(failed)?;
        Ok(decoded.bytes.to_vec())
    }

    /// The value that a fill value (one element in memory) reads back as after writing, if it
    /// differs. `packbits` may cut it (SD-49); `cast_value` must keep it; codecs that round need
    /// not keep it.
    ///
    /// # Errors
    /// [`ChunkError`] if `fill` is not an element of the data type, or cannot be written.
    pub fn lost_fill(&self, fill: &[u8]) -> Result<Option<Vec<u8>>, ChunkError> {
        let Last::Mapped(bound, mapped) = self.element_codec() else {
            let read_back = self.read_back(fill)?;
            return Ok(Some(read_back).filter(|read_back| read_back != fill));
        };
        let failed = |kind| bound.array_to_bytes_path.chunk_error(kind);
        let mut pool = Pool::default();
        if mapped.codec.is_other() {
            return Ok(None);
        }
        let rounds = mapped.codec.rounds();
        let stored = match mapped.codec.encode(fill, &[], &mut pool) {
            Err(_) if rounds => return Ok(None),
            stored => stored.map_err(failed)?,
        };
        let lost = mapped.inner.lost_fill(&stored)?;
        if rounds && lost.is_none() {
            return Ok(None);
        }
        let stored = lost.as_deref().unwrap_or(&stored);
        let decoded = mapped.codec.decode(stored, &[], &mapped.data_type, &mut pool);
        let decoded = decoded.map_err(failed)?;
        Ok(Some(decoded.into_vec()).filter(|read_back| read_back != fill))
    }

    /// Which of `elements` (whole elements in memory, in any order) would not read back unchanged
    /// (SD-49): `packbits` cuts them, or they are out of the range of their sub-byte type (SD-18).
    /// `None` if all read back unchanged; third-party codecs are assumed to be lossless.
    ///
    /// # Errors
    /// [`ChunkError`] if `elements` are not whole elements.
    ///
    /// # Examples
    /// ```
    /// use zarr_codec::{AxisEdges, Chain, Lost};
    /// use zarr_metadata::{Codec, DataType};
    ///
    /// let codecs = [Codec::packbits(0..=3)];
    /// let chain = Chain::bind(&codecs, &DataType::Uint8, &[AxisEdges::one(4)])?;
    /// assert_eq!(chain.lost(&[15, 16, 0, 17])?, Some(Lost { first: 1, count: 2 }));
    /// assert_eq!(chain.lost(&[15, 0])?, None);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn lost(&self, elements: &[u8]) -> Result<Option<Lost>, ChunkError> {
        let (bound, array_to_bytes) = match self.element_codec() {
            Last::Elements(bound, array_to_bytes) => (bound, array_to_bytes),
            Last::Mapped(bound, mapped) => {
                if mapped.codec.is_other() {
                    return Ok(None);
                }
                let stored = mapped.codec.encode(elements, &[], &mut Pool::default());
                let stored = stored.map_err(|kind| bound.array_to_bytes_path.chunk_error(kind))?;
                return mapped.inner.lost(&stored);
            }
        };
        let Bound { element, array_to_bytes_path: place, .. } = bound;
        let Some(packing) = array_to_bytes.losing(element) else { return Ok(None) };
        let lost = packing.lost(elements);
        let mut lost = lost.map_err(|error| place.chunk_error(error.into()))?;
        Ok(lost.next().map(|first| {
            let others = widen(lost.count());
            Lost { first, count: others + 1 }
        }))
    }

    /// The codec that stores single elements, possibly within shards, and its chain.
    fn element_codec(&self) -> Last<'_> {
        let mut chain = self;
        loop {
            match &chain.inner.array_to_bytes {
                ArrayToBytes::Elements(codec) => return Last::Elements(&chain.inner, codec),
                ArrayToBytes::Mapped(mapped) => return Last::Mapped(&chain.inner, mapped),
                ArrayToBytes::Shard(shard) => chain = &shard.inner,
            }
        }
    }

    /// Whether there is a shard in the chain.
    pub(crate) fn has_shard(&self) -> bool {
        match &self.inner.array_to_bytes {
            ArrayToBytes::Elements(_) => false,
            ArrayToBytes::Shard(_) => true,
            ArrayToBytes::Mapped(mapped) => mapped.inner.has_shard(),
        }
    }

    /// Checks that chunks can be written. They cannot if a codec was skipped (SD-42), or with
    /// `numcodecs.packbits` (SD-11).
    ///
    /// # Errors
    /// [`ChainError`] that names the codec.
    pub fn check_writable(&self) -> Result<(), ChainError> {
        self.inner.check_writable()
    }

    /// The codec that cannot be written, if there is one.
    pub(crate) fn read_only(&self) -> Option<&CodecPath> {
        self.inner.read_only.as_ref()
    }

    /// Whether the number of elements determines the length of an encoded chunk.
    pub(crate) fn has_fixed_size(&self) -> bool {
        let Bound { array_to_bytes, bytes_to_bytes, .. } = &*self.inner;
        let is_fixed = match array_to_bytes {
            ArrayToBytes::Elements(_) => true,
            ArrayToBytes::Mapped(mapped) => mapped.inner.has_fixed_size(),
            ArrayToBytes::Shard(_) => false,
        };
        is_fixed && bytes_to_bytes.iter().all(|(codec, _)| codec.encoded_len(Some(0)).is_some())
    }

    /// The path of the chain itself.
    pub(crate) fn path(&self) -> &CodecPath {
        &self.inner.whole
    }
}

/// A third-party codec that takes arrays; `None` if it is none, or not given.
fn other_array(
    codec: &Codec,
    data_type: &DataType,
    given: &Codecs,
) -> Option<Result<Arc<dyn ArrayCodec>, ChainErrorKind>> {
    let Codec::Unknown(unknown) = codec else { return None };
    Some(match given.get(unknown.name())? {
        Make::Array(make) => make(unknown, data_type).map(Arc::from).map_err(ChainErrorKind::other),
        Make::Bytes(_) => Err(ChainErrorKind::ORDER),
    })
}
