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

/// The codecs of a chain, bound to a data type.
#[derive(Debug)]
pub(crate) struct Bound {
    pub(crate) element: ElementType,
    pub(crate) array_to_array: Vec<(ArrayToArray, CodecPath)>,
    pub(crate) array_to_bytes: ArrayToBytes,
    pub(crate) array_to_bytes_path: CodecPath,
    pub(crate) bytes_to_bytes: Vec<(Box<dyn BytesToBytes>, CodecPath)>,
    pub(crate) options: Options,
    /// A codec that can be read but not written: a skipped codec, which a document allows
    /// for reading only (SD-42), or `numcodecs.packbits` (SD-11).
    pub(crate) read_only: Option<CodecPath>,
    /// The chain itself, for errors that do not belong to a single codec.
    pub(crate) whole: CodecPath,
}

impl Bound {
    /// The shape at each depth for one chunk shape: the chunk's own first, the stored array's last.
    pub(crate) fn shapes(&self, chunk_shape: &[u64]) -> Result<Vec<Vec<u64>>, ChainError> {
        shapes(&self.array_to_array, &self.whole, chunk_shape)
    }

    /// The first bytes-to-bytes codec for the shape of the stored elements, if that matters to it.
    pub(crate) fn shaped(&self, stored_shape: &[usize]) -> Option<Arc<dyn BytesToBytes>> {
        self.bytes_to_bytes.first()?.0.for_shape(stored_shape)
    }
}

/// The shapes before and after each array-to-array codec for one chunk shape; `whole` is the
/// chain.
pub(crate) fn shapes(
    array_to_array: &[(ArrayToArray, CodecPath)],
    whole: &CodecPath,
    chunk_shape: &[u64],
) -> Result<Vec<Vec<u64>>, ChainError> {
    let edges: Vec<_> = chunk_shape.iter().map(|edge| AxisEdges::one(*edge)).collect();
    let mut shape = Shape::of_grid(&edges).map_err(|kind| whole.error(kind))?;
    let mut shapes = vec![chunk_shape.to_vec()];
    for (step, place) in array_to_array {
        shape = step.output_shape(&shape).map_err(|kind| place.error(kind))?;
        let sizes = shape.dimensions.iter().map(|dimension| shape.size(dimension));
        let sizes: Option<Vec<u64>> = sizes.collect();
        shapes.push(sizes.ok_or_else(|| place.error(ChainErrorKind::SizeOverflow))?);
    }
    Ok(shapes)
}
