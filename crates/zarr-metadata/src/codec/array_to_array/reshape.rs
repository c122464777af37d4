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
                    let error = MetadataError::unexpected("a second -1", "-1 at most once");
                    return Err(error.breaks(Rule::RESHAPE_AUTO));
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
