//! `reshape`.

use std::fmt::Write;

use crate::codec::configuration::{Configuration, Context, Input, Members, dimension};
use crate::error::rule::Rule;
use crate::error::{At, MetadataError, Result};
use crate::json::{JsonType, Object, Raw, read_elements, write_array};
use crate::limits::check_rank;

/// The configuration of `reshape`.
///
/// # Examples
/// ```
/// use zarr_metadata::{Codec, Reshape, ReshapeDim};
///
/// let json = br#"{"name": "reshape", "configuration": {"shape": [4, -1]}}"#;
/// let rows = Reshape::new([ReshapeDim::Size(4), ReshapeDim::Auto]);
/// assert_eq!(Codec::from_json(json)?, Codec::Reshape(rows));
/// # Ok::<(), zarr_metadata::MetadataError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Reshape {
    /// The rule for each output dimension.
    pub shape: Vec<ReshapeDim>,
}

impl Reshape {
    /// A reshape to these dimensions.
    pub fn new(shape: impl Into<Vec<ReshapeDim>>) -> Self {
        Reshape { shape: shape.into() }
    }

    /// The shape that the codec gives to a chunk of shape `input`.
    ///
    /// # Errors
    /// If `input` has not the dimensions that are named (SD-20), in rising order (SD-21) and each
    /// in its place (SD-20); or if the number of elements would change (SD-23).
    ///
    /// # Examples
    /// ```
    /// use zarr_metadata::{Reshape, ReshapeDim};
    ///
    /// let rows = Reshape::new([ReshapeDim::InputDims(vec![0]), ReshapeDim::Auto]);
    /// assert_eq!(rows.output_shape(&[3, 4, 5])?, [3, 20]);
    /// let pairs = Reshape::new([ReshapeDim::Size(2), ReshapeDim::Auto]);
    /// let error = pairs.output_shape(&[3, 3]).unwrap_err();
    /// assert!(error.to_string().contains("the sizes divide 9, the elements of the input"));
    /// # Ok::<(), zarr_metadata::MetadataError>(())
    /// ```
    pub fn output_shape(&self, input: &[u64]) -> Result<Vec<u64>> {
        self.check(Input { data_type: None, rank: Some(input.len()) })?;
        self.output_shape_of(input).member("shape")
    }

    fn output_shape_of(&self, input: &[u64]) -> Result<Vec<u64>> {
        // As documents are read; a value may also be made by hand.
        let named = self.shape.iter().flat_map(ReshapeDim::input_dims);
        if !named.is_sorted_by(|a, b| a < b) {
            let (found, allowed) = ("input dimensions that do not rise", "rising input dimensions");
            return Err(MetadataError::unexpected(found, allowed).breaks(Rule::RESHAPE_INCREASING));
        }
        if self.shape.iter().filter(|dim| **dim == ReshapeDim::Auto).count() > 1 {
            return Err(second_auto());
        }
        let elements = product(input)?;
        let one = |dim: &ReshapeDim| match dim {
            ReshapeDim::Size(size) => Ok(*size),
            ReshapeDim::Auto => Ok(1),
            ReshapeDim::InputDims(dims) => product(dims.iter().filter_map(|dim| input.get(*dim))),
        };
        let mut output = self.shape.iter().map(one).collect::<Result<Vec<_>>>()?;
        let sizes = product(&output)?;
        match self.shape.iter().position(|dim| *dim == ReshapeDim::Auto) {
            Some(axis) => {
                let rest = elements.checked_rem(sizes).filter(|rest| *rest == 0);
                let quotient = rest.and_then(|_| elements.checked_div(sizes));
                let quotient = quotient.ok_or_else(|| {
                    let found = format!("-1 beside sizes whose product is {sizes}");
                    let allowed = format!(
                        "-1 only if the sizes divide {elements}, the elements of the input"
                    );
                    MetadataError::unexpected(found, allowed)
                        .breaks(Rule::RESHAPE_DIVIDES)
                        .in_element(axis)
                })?;
                if let Some(auto) = output.get_mut(axis) {
                    *auto = quotient;
                }
            }
            None if sizes != elements => {
                let found = format!("{sizes} elements");
                let allowed = format!("{elements}, the elements of the input");
                return Err(
                    MetadataError::unexpected(found, allowed).breaks(Rule::RESHAPE_ELEMENTS)
                );
            }
            None => {}
        }
        for (axis, dim) in self.shape.iter().enumerate() {
            check_place(dim, axis, &output, input).element(axis)?;
        }
        Ok(output)
    }
}

/// The two constraints that tie an entry to the place of its input dimensions (SD-20). `[]` is a
/// dimension of size 1 at any place (SD-22).
fn check_place(dim: &ReshapeDim, axis: usize, output: &[u64], input: &[u64]) -> Result<()> {
    let dims = dim.input_dims();
    let (Some(first), Some(last)) = (dims.first(), dims.last()) else { return Ok(()) };
    let after = |list: &[u64], at: usize| product(list.iter().skip(at + 1));
    for (side, dim, found, allowed) in [
        ("before", first, product(output.iter().take(axis))?, product(input.iter().take(*first))?),
        ("after", last, after(output, axis)?, after(input, *last)?),
    ] {
        if found != allowed {
            let found = format!("an output whose lengths {side} it have the product {found}");
            let allowed = format!("{allowed}, as of the lengths {side} input dimension {dim}");
            return Err(MetadataError::unexpected(found, allowed).breaks(Rule::RESHAPE_PLACE));
        }
    }
    Ok(())
}

/// The product of lengths.
fn product<'a>(lengths: impl IntoIterator<Item = &'a u64>) -> Result<u64> {
    let mut lengths = lengths.into_iter();
    let product = lengths.try_fold(1_u64, |product, length| product.checked_mul(*length));
    product.ok_or_else(|| {
        let allowed = "lengths whose product is less than 2^64";
        MetadataError::unexpected("lengths whose product exceeds 64 bits", allowed)
            .breaks(Rule::RESHAPE_OVERFLOW)
    })
}

/// One output dimension of `reshape`.
///
/// # Examples
/// The last two dimensions become one:
/// ```
/// use zarr_metadata::{Codec, ReshapeDim};
///
/// let json = br#"{"name": "reshape", "configuration": {"shape": [[0], [1, 2]]}}"#;
/// let rows = [ReshapeDim::InputDims(vec![0]), ReshapeDim::InputDims(vec![1, 2])];
/// assert_eq!(Codec::from_json(json)?, Codec::reshape(rows));
/// # Ok::<(), zarr_metadata::MetadataError>(())
/// ```
///
/// # Spec
/// zarr-extensions `codecs/reshape`; SD-20 to SD-23.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ReshapeDim {
    /// A size of at least 1.
    Size(u64),
    /// The product of these input dimensions; 1 where there are none (SD-22).
    InputDims(Vec<usize>),
    /// `-1`: the length that remains after the other dimensions. At most one dimension is free.
    Auto,
}

impl ReshapeDim {
    fn input_dims(&self) -> &[usize] {
        match self {
            ReshapeDim::InputDims(dims) => dims,
            ReshapeDim::Size(_) | ReshapeDim::Auto => &[],
        }
    }
}

fn second_auto() -> MetadataError {
    MetadataError::unexpected("a second -1", "-1 at most once").breaks(Rule::RESHAPE_AUTO)
}

impl Configuration for Reshape {
    fn read(members: &mut Object<'_>, _: &mut Context<'_>) -> Result<Self> {
        const ALLOWED: &str = "an array with the size of each output dimension";
        members.check_known(&["shape"])?;
        let raw = members.require("shape", ALLOWED)?;
        let mut has_auto = false;
        // The greatest input dimension mentioned so far, over the flattened list (SD-21).
        let mut last: Option<usize> = None;
        let shape = read_elements(raw, ALLOWED, |raw| {
            let dim = read_dim(raw, &mut last)?;
            if dim == ReshapeDim::Auto {
                if has_auto {
                    return Err(second_auto());
                }
                has_auto = true;
            }
            Ok(dim)
        })
        .breaks(Rule::RESHAPE_SHAPE)
        .member("shape")?;
        check_rank(shape.len()).member("shape")?;
        Ok(Reshape { shape })
    }

    fn write(&self, members: &mut Members<'_>) {
        write_array(&self.shape, members.begin("shape"), |dim, json| {
            let _infallible = match dim {
                ReshapeDim::Size(size) => write!(json, "{size}"),
                ReshapeDim::InputDims(dims) => write!(json, "{dims:?}"),
                ReshapeDim::Auto => json.write_str("-1"),
            };
        });
    }

    fn check(&self, input: Input<'_>) -> Result<()> {
        let Some(rank) = input.rank else { return Ok(()) };
        for (index, dim) in self.shape.iter().enumerate() {
            let ReshapeDim::InputDims(dims) = dim else { continue };
            if let Some(at) = dims.iter().position(|dim| *dim >= rank) {
                let found = dims.get(at).copied().unwrap_or_default().to_string();
                let allowed = format!("a dimension below {rank}, the rank of the input");
                return Err(MetadataError::unexpected(found, allowed)
                    .breaks(Rule::RESHAPE_INPUT_DIM)
                    .in_element(at)
                    .in_element(index)
                    .in_member("shape"));
            }
        }
        Ok(())
    }

    fn output<'a>(&self, input: Input<'a>) -> Input<'a> {
        Input { rank: Some(self.shape.len()), ..input }
    }
}

fn read_dim(raw: Raw<'_>, last: &mut Option<usize>) -> Result<ReshapeDim> {
    const ALLOWED: &str = "a size of at least 1, an array of input dimensions or -1";
    match raw.json_type() {
        JsonType::Number => match raw.natural() {
            Some(size) if size > 0 => Ok(ReshapeDim::Size(size)),
            None if raw.text() == "-1" => Ok(ReshapeDim::Auto),
            _ => Err(raw.expected_natural(ALLOWED)),
        },
        JsonType::Array => {
            let dims = read_elements(raw, ALLOWED, |raw| {
                let dim = dimension(raw).breaks(Rule::RESHAPE_INPUT_DIM)?;
                if let Some(last) = last.filter(|last| dim <= *last) {
                    let allowed = format!(
                        "an input dimension after {last}: they increase over the whole shape"
                    );
                    return Err(raw.expected(allowed).breaks(Rule::RESHAPE_INCREASING));
                }
                *last = Some(dim);
                Ok(dim)
            })?;
            Ok(ReshapeDim::InputDims(dims))
        }
        _ => Err(raw.expected(ALLOWED)),
    }
}
