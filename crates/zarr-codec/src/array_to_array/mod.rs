//! The array-to-array codecs that only reorder positions and move no data.

mod reshape;

use zarr_metadata::{Codec, ReshapeDim, Rule};
use zarr_view::{CopyError, Output, View};

use crate::error::ChainErrorKind;
use crate::symbolic::{Dimension, Shape};

/// One array-to-array codec.
#[derive(Clone, Debug)]
pub(crate) enum ArrayToArray {
    /// `encoded_shape[i] = decoded_shape[order[i]]`.
    Transpose { order: Vec<usize> },
    /// The same elements in the same C order, in another shape.
    Reshape { shape: Vec<ReshapeDim> },
    /// The same without the dimensions of size 1.
    Squeeze,
}

impl ArrayToArray {
    /// The array-to-array codec, if `codec` is one.
    pub(crate) fn new(codec: &Codec) -> Option<Self> {
        match codec {
            Codec::Transpose(transpose) => Some(Self::Transpose { order: transpose.order.clone() }),
            Codec::Reshape(reshape) => Some(Self::Reshape { shape: reshape.shape.clone() }),
            Codec::ZarrsSqueeze => Some(Self::Squeeze),
            _ => None,
        }
    }

    /// The encoded shape of arrays of shape `input`.
    pub(crate) fn output_shape<'a>(&self, input: &Shape<'a>) -> Result<Shape<'a>, ChainErrorKind> {
        match self {
            Self::Reshape { shape } => reshape::output_shape(shape, input),
            Self::Squeeze => squeezed(input),
            Self::Transpose { order } => {
                let rank = input.rank();
                permutation(order, rank)
                    .map(|order| {
                        let at = |axis: usize| input.dimensions.get(axis).cloned();
                        input.with(order.iter().filter_map(|axis| at(*axis)).collect())
                    })
                    .ok_or_else(|| {
                        let reason = format!(
                            "order {order:?} is not a permutation of the dimensions of the codec's \
                             input, which has rank {rank}"
                        );
                        let member = ".configuration.order";
                        ChainErrorKind::broken(Rule::TRANSPOSE_PERMUTATION, member, reason)
                    })
            }
        }
    }

    /// Converts a view of the decoded shape to one of the encoded shape, if a single view can.
    pub(crate) fn encode_view(&self, view: &View, encoded_shape: &[usize]) -> Option<View> {
        match self {
            Self::Reshape { .. } | Self::Squeeze => view.reshape(encoded_shape).ok().flatten(),
            Self::Transpose { order } => view.permute(permutation(order, view.rank())?).ok(),
        }
    }

    /// As [`encode_view`](ArrayToArray::encode_view), for an output; if one view cannot hold it,
    /// returns the output unchanged as `Err`.
    pub(crate) fn encode_output<'o>(
        &self,
        output: Output<'o>,
        encoded_shape: &[usize],
    ) -> Result<Result<Output<'o>, Output<'o>>, CopyError> {
        match self {
            Self::Reshape { .. } | Self::Squeeze => output.into_reshaped(encoded_shape),
            Self::Transpose { order } => output.into_permuted(order).map(Ok),
        }
    }

    /// Converts a view of the encoded shape to one of the decoded shape, if a single view can.
    pub(crate) fn decode_view(&self, view: &View, decoded_shape: &[usize]) -> Option<View> {
        match self {
            Self::Reshape { .. } | Self::Squeeze => view.reshape(decoded_shape).ok().flatten(),
            Self::Transpose { order } => {
                let order = permutation(order, view.rank())?;
                let mut inverse = vec![0; order.len()];
                for (encoded, decoded) in order.iter().enumerate() {
                    *inverse.get_mut(*decoded)? = encoded;
                }
                view.permute(&inverse).ok()
            }
        }
    }
}

/// The shape without dimensions of size 1, which must be the same ones in every chunk.
///
/// A shape of no other dimensions keeps one of them, as in zarrs.
fn squeezed<'a>(input: &Shape<'a>) -> Result<Shape<'a>, ChainErrorKind> {
    let mut kept = Vec::new();
    for (axis, dimension) in input.dimensions.iter().enumerate() {
        match input.size(dimension) {
            Some(1) => {}
            None if input.least(dimension) == Some(1) => {
                return Err(ChainErrorKind::SqueezeVaries {
                    axis,
                    size: input.describe(dimension),
                });
            }
            _ => kept.push(dimension.clone()),
        }
    }
    if kept.is_empty() {
        kept.push(Dimension::constant(1));
    }
    Ok(input.with(kept))
}

/// `order` as a slice, if it is a permutation of `rank` dimensions (SD-30).
fn permutation(order: &[usize], rank: usize) -> Option<&[usize]> {
    let mut seen = vec![false; rank];
    for &axis in order {
        let slot = seen.get_mut(axis)?;
        if std::mem::replace(slot, true) {
            return None;
        }
    }
    (order.len() == rank).then_some(order)
}
