//! The `reshape` codec's output shape, for all chunk shapes at once.
//!
//! One implementation serves both opening an array (every occupied chunk shape) and compiling one
//! chunk shape: one shape is a grid with one edge on each axis.

use zarr_metadata::{ReshapeDim, Rule};

use crate::error::{ChainErrorKind, s};
use crate::symbolic::{Balance, Dimension, Shape};

const SHAPE: &str = ".configuration.shape";

/// The place of an entry of the shape.
fn entry(axis: usize) -> String {
    format!("{SHAPE}[{axis}]")
}

/// The shape that `reshape` gives to chunks of shape `input`. Checks every constraint of the
/// document in reading order: the list itself (SD-20, SD-21), the number of elements (SD-23,
/// SD-24), then the position of each dimension (SD-20).
pub(crate) fn output_shape<'a>(
    output: &[ReshapeDim],
    input: &Shape<'a>,
) -> Result<Shape<'a>, ChainErrorKind> {
    let mentioned = check_input_dims(output, input.rank())?;
    let sizes = explicit_product(output)?;
    // Mentioned dimensions are on both sides of `prod(B_shape) == prod(A_shape)` and cancel.
    let unmentioned = input.dimensions.iter().zip(&mentioned).filter(|(_, mentioned)| !**mentioned);
    let unmentioned = Shape::product(unmentioned.map(|(size, _)| size))?;
    let auto = match output.iter().any(|dim| matches!(dim, ReshapeDim::Auto)) {
        true => match input.divided(&unmentioned, sizes)? {
            Some(quotient) => quotient,
            None => {
                let reason = format!(
                    "-1 cannot be resolved: the sizes multiply to {sizes}, which does not always \
                     divide {}, the product of the input dimensions that no entry names",
                    input.describe(&unmentioned)
                );
                return Err(ChainErrorKind::broken(Rule::RESHAPE_DIVIDES, SHAPE, reason));
            }
        },
        false => {
            let sizes = Dimension::constant(sizes);
            if !input.equal(&unmentioned, &sizes)? {
                let reason = format!(
                    "sizes multiply to {}, but the input dimensions that no entry names multiply to {}",
                    input.describe(&sizes),
                    input.describe(&unmentioned)
                );
                return Err(ChainErrorKind::broken(Rule::RESHAPE_ELEMENTS, SHAPE, reason));
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
    check_places(output, input, &result)?;
    Ok(result)
}

/// Checks that input dimensions exist and increase strictly over the flattened list (SD-20,
/// SD-21). Returns which are mentioned.
fn check_input_dims(output: &[ReshapeDim], rank: usize) -> Result<Vec<bool>, ChainErrorKind> {
    let mut mentioned = vec![false; rank];
    let mut previous = None;
    for (axis, dim) in output.iter().enumerate() {
        let ReshapeDim::InputDims(dims) = dim else { continue };
        for &input_dim in dims {
            let Some(mentioned) = mentioned.get_mut(input_dim) else {
                let s = s(rank == 1);
                let reason = format!(
                    "shape[{axis}] names input dimension {input_dim}, but the input has {rank} \
                     dimension{s}"
                );
                return Err(ChainErrorKind::broken(Rule::RESHAPE_INPUT_DIM, entry(axis), reason));
            };
            *mentioned = true;
            if previous.is_some_and(|previous| previous >= input_dim) {
                let reason = format!(
                    "shape[{axis}] names input dimension {input_dim} after one not below it; \
                     reshape never transposes, so input dimensions must rise strictly"
                );
                return Err(ChainErrorKind::broken(Rule::RESHAPE_INCREASING, entry(axis), reason));
            }
            previous = Some(input_dim);
        }
    }
    Ok(mentioned)
}

fn explicit_product(output: &[ReshapeDim]) -> Result<u64, ChainErrorKind> {
    output
        .iter()
        .try_fold(1_u64, |product, dim| match dim {
            ReshapeDim::Size(size) => product.checked_mul(*size),
            _ => Some(product),
        })
        .ok_or(ChainErrorKind::SIZE_OVERFLOW)
}

/// The two constraints that tie an entry to the position of its input dimensions:
/// `prod(B_shape[:i]) == prod(A_shape[:input_dims[0]])` and
/// `prod(B_shape[i+1:]) == prod(A_shape[input_dims[k-1]+1:])`.
///
/// Input dimensions increase, so one pass along both shapes from the front compares all prefixes,
/// and one from the back all suffixes. `[]` is a dimension of size 1 at any position (SD-22).
fn check_places(
    output: &[ReshapeDim],
    input: &Shape<'_>,
    result: &Shape<'_>,
) -> Result<(), ChainErrorKind> {
    let entries = output.iter().zip(&result.dimensions).enumerate().map(|(axis, (dim, size))| {
        let dims = match dim {
            ReshapeDim::InputDims(dims) => dims.as_slice(),
            _ => &[],
        };
        (axis, size, dims)
    });
    let mut before = None;
    let mut balance = Balance::new(input);
    let mut rest = input.dimensions.iter().enumerate().peekable();
    for (axis, size, dims) in entries.clone() {
        if let Some(first) = dims.first() {
            while let Some((_, theirs)) = rest.next_if(|(dim, _)| dim < first) {
                balance.right(theirs)?;
            }
            if !balance.is_even()? {
                before = Some((axis, *first));
                break;
            }
        }
        balance.left(size)?;
    }
    let mut after = None;
    let mut balance = Balance::new(input);
    let mut rest = input.dimensions.iter().enumerate().rev().peekable();
    for (axis, size, dims) in entries.rev() {
        if let Some(last) = dims.last() {
            while let Some((_, theirs)) = rest.next_if(|(dim, _)| dim > last) {
                balance.right(theirs)?;
            }
            if !balance.is_even()? {
                after = Some((axis, *last));
            }
        }
        balance.left(size)?;
    }
    // Report the first entry that is wrong, and of its two constraints the first.
    let (side, axis, input_dim) = match (before, after) {
        (None, None) => return Ok(()),
        (Some((axis, dim)), after) if after.is_none_or(|(other, _)| axis <= other) => {
            ("before", axis, dim)
        }
        (_, Some((axis, dim))) => ("after", axis, dim),
        (Some((axis, dim)), None) => ("before", axis, dim),
    };
    let part = |list: &[Dimension], at: usize| {
        let part = if side == "before" { list.get(..at) } else { list.get(at + 1..) };
        Shape::product(part.unwrap_or_default()).map(|product| input.describe(&product))
    };
    let (output, input) = (part(&result.dimensions, axis)?, part(&input.dimensions, input_dim)?);
    let reason = format!(
        "the sizes {side} shape[{axis}] multiply to {output}, but the input dimensions {side} \
         {input_dim} multiply to {input}"
    );
    Err(ChainErrorKind::broken(Rule::RESHAPE_PLACE, entry(axis), reason))
}
