//! The codecs of a chain, which the chain and the codecs of its chunk shapes share.

use std::sync::Arc;

use crate::array_to_array::ArrayToArray;
use crate::array_to_bytes::ArrayToBytes;
use crate::bytes_to_bytes::BytesToBytes;
use crate::codec_path::CodecPath;
use crate::element::ElementType;
use crate::error::{ChainError, ChainErrorKind};
use crate::options::Options;
use crate::symbolic::{AxisEdges, Shape};
use crate::transform::ArrayTransform;

/// The codecs of a chain, bound to a data type; `A` and `E` are others for elements of variable
/// length.
#[derive(Debug)]
pub(crate) struct Bound<A = ArrayToBytes, E = ElementType> {
    pub(crate) element: E,
    pub(crate) array_to_array: Vec<(ArrayToArray, CodecPath)>,
    pub(crate) array_to_bytes: A,
    pub(crate) array_to_bytes_path: CodecPath,
    pub(crate) bytes_to_bytes: Vec<(Box<dyn BytesToBytes>, CodecPath)>,
    pub(crate) options: Options,
    /// A codec that can be read but not written: a skipped codec, which a document allows
    /// for reading only (SD-42), `numcodecs.packbits` (SD-11) or `numcodecs.json2`.
    pub(crate) read_only: Option<CodecPath>,
    /// The chain itself, for errors that do not belong to a single codec.
    pub(crate) whole: CodecPath,
}

impl<A, E> Bound<A, E> {
    /// The array-to-array codecs, compiled for one chunk shape.
    pub(crate) fn transform(&self, chunk_shape: &[u64]) -> Result<ArrayTransform, ChainError> {
        let edges: Vec<_> = chunk_shape.iter().map(|edge| AxisEdges::one(*edge)).collect();
        let mut shape = Shape::of_grid(&edges).map_err(|kind| self.whole.error(kind))?;
        // The shape at each depth: the chunk's own first, the stored array's last.
        let mut shapes = vec![chunk_shape.to_vec()];
        for (step, place) in &self.array_to_array {
            shape = step.output_shape(&shape).map_err(|kind| place.error(kind))?;
            let sizes = shape.dimensions.iter().map(|dimension| shape.size(dimension));
            let sizes: Option<Vec<u64>> = sizes.collect();
            shapes.push(sizes.ok_or_else(|| place.error(ChainErrorKind::SIZE_OVERFLOW))?);
        }
        ArrayTransform::new(&self.array_to_array, &shapes, self.options.unknown_decoded_len)
            .ok_or_else(|| self.too_large(chunk_shape))
    }

    /// The error of a chunk that the address space does not hold.
    pub(crate) fn too_large(&self, chunk_shape: &[u64]) -> ChainError {
        self.whole.error(ChainErrorKind::AddressSpace { shape: chunk_shape.to_vec() })
    }

    /// The first bytes-to-bytes codec for the shape of the stored elements, if that matters to it.
    pub(crate) fn shaped(&self, stored_shape: &[usize]) -> Option<Arc<dyn BytesToBytes>> {
        self.bytes_to_bytes.first()?.0.for_shape(stored_shape)
    }

    /// Refuses to write with a codec that can only be read.
    pub(crate) fn check_writable(&self) -> Result<(), ChainError> {
        match &self.read_only {
            Some(place) => Err(place.error(ChainErrorKind::ReadOnly)),
            None => Ok(()),
        }
    }
}
