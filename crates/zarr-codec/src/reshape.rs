//! The `reshape` codec's output shape, for all chunk shapes at once.
//!
//! One implementation serves both opening an array (every occupied chunk shape) and compiling one
//! chunk shape, since the latter is a grid whose axes have one edge each.

use zarr_metadata::ReshapeDim;

use crate::error::ChainErrorKind;
use crate::symbolic::{Dimension, Shape};

/// The shape that `reshape` gives to chunks of shape `input`, with every constraint of the
/// document checked in the order in which a reader would: the list itself (SD-20, SD-21), the
/// number of elements (SD-23, SD-24), then each dimension's place (SD-20).
pub(crate) fn output_shape<'a>(
    output: &[ReshapeDim],
    input: &Shape<'a>,
) -> Result<Shape<'a>, ChainErrorKind> {
    check_input_dims(output, input.rank())?;
    let sizes = explicit_product(output)?;
    let unmentioned = unmentioned_product(output, input)?;
    let auto = match output.iter().any(|dim| matches!(dim, ReshapeDim::Auto)) {
        true => match input.divided(&unmentioned, sizes)? {
            Some(quotient) => quotient,
            None => {
                return Err(ChainErrorKind::ReshapeNotDivisible {
                    divisor: sizes,
                    elements: input.describe(&unmentioned),
                });
            }
        },
        false => {
            let sizes = Dimension::constant(sizes);
            if !input.equal(&unmentioned, &sizes)? {
                return Err(ChainErrorKind::ReshapeElements {
                    elements: input.describe(&unmentioned),
                    sizes: input.describe(&sizes),
                });
            }
            Dimension::constant(1)
        }
    };

    let dimensions = output
        .iter()
        .map(|dim| match dim {
            ReshapeDim::Size(size) => Ok(Dimension::constant(*size)),
            ReshapeDim::Auto => Ok(auto.clone()),
            ReshapeDim::InputDims(dims) => {
                Shape::product(dims.iter().filter_map(|dim| input.dimensions.get(*dim)))
            }
        })
        .collect::<Result<Vec<_>, _>>()?;
    let result = input.with(dimensions);
    for (axis, dim) in output.iter().enumerate() {
        if let ReshapeDim::InputDims(dims) = dim {
            check_place(axis, dims, input, &result)?;
        }
    }
    Ok(result)
}

/// Input dimensions exist and rise strictly over the flattened list (SD-20, SD-21).
fn check_input_dims(output: &[ReshapeDim], rank: usize) -> Result<(), ChainErrorKind> {
    let mut previous = None;
    for (axis, dim) in output.iter().enumerate() {
        let ReshapeDim::InputDims(dims) = dim else { continue };
        for &input_dim in dims {
            if input_dim >= rank {
                return Err(ChainErrorKind::ReshapeInputDim { axis, input_dim, rank });
            }
            if previous.is_some_and(|previous| previous >= input_dim) {
                return Err(ChainErrorKind::ReshapeOrder { axis, input_dim });
            }
            previous = Some(input_dim);
        }
    }
    Ok(())
}

fn explicit_product(output: &[ReshapeDim]) -> Result<u64, ChainErrorKind> {
    output
        .iter()
        .try_fold(1_u64, |product, dim| match dim {
            ReshapeDim::Size(size) => product.checked_mul(*size),
            _ => Some(product),
        })
        .ok_or(ChainErrorKind::SizeOverflow)
}

/// The product of the input dimensions that no entry mentions. Those mentioned stand on both sides
/// of the invariant `prod(B_shape) == prod(A_shape)` and cancel.
fn unmentioned_product(
    output: &[ReshapeDim],
    input: &Shape<'_>,
) -> Result<Dimension, ChainErrorKind> {
    let mentioned = |dimension: usize| {
        output.iter().any(|dim| match dim {
            ReshapeDim::InputDims(dims) => dims.contains(&dimension),
            _ => false,
        })
    };
    Shape::product(
        input
            .dimensions
            .iter()
            .enumerate()
            .filter(|(dimension, _)| !mentioned(*dimension))
            .map(|(_, size)| size),
    )
}

/// The two constraints that tie an entry to the place of its input dimensions:
/// `prod(B_shape[:i]) == prod(A_shape[:input_dims[0]])` and
/// `prod(B_shape[i+1:]) == prod(A_shape[input_dims[k-1]+1:])`.
fn check_place(
    axis: usize,
    dims: &[usize],
    input: &Shape<'_>,
    output: &Shape<'_>,
) -> Result<(), ChainErrorKind> {
    let (Some(&first), Some(&last)) = (dims.first(), dims.last()) else {
        return Ok(()); // `[]` is a dimension of size 1 anywhere (SD-22)
    };
    let before = |list: &[Dimension], end: usize| Shape::product(list.iter().take(end));
    let after =
        |list: &[Dimension], last: usize| Shape::product(list.iter().skip(last.saturating_add(1)));
    let sides = [
        ("before", before(&output.dimensions, axis)?, first, before(&input.dimensions, first)?),
        ("after", after(&output.dimensions, axis)?, last, after(&input.dimensions, last)?),
    ];
    for (side, ours, input_dim, theirs) in sides {
        if !input.equal(&ours, &theirs)? {
            return Err(ChainErrorKind::ReshapePlace {
                axis,
                side,
                output: input.describe(&ours),
                input_dim,
                input: input.describe(&theirs),
            });
        }
    }
    Ok(())
}
