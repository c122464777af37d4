//! `bitround`, and `numcodecs.bitround`.

use crate::codec::configuration::{Configuration, Context, Input, Members};
use crate::data_type::DataType;
use crate::error::rule::Rule;
use crate::error::{At, MetadataError, Result};
use crate::json::{Object, Raw};

/// The configuration of `bitround`.
///
/// # Examples
/// ```
/// use zarr_metadata::{Bitround, Codec};
///
/// let json = br#"{"name": "bitround", "configuration": {"keepbits": 10}}"#;
/// assert_eq!(Codec::from_json(json)?, Codec::Bitround(Bitround::new(10)));
/// # Ok::<(), zarr_metadata::MetadataError>(())
/// ```
///
/// # Spec
/// zarr-extensions `codecs/bitround`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct Bitround {
    /// Bits that are kept: of floats, bits of the mantissa; of integers, bits from the highest set
    /// bit on. 0 is for `numcodecs.bitround` only.
    pub keepbits: u32,
}

impl Bitround {
    /// Keeps this many bits.
    #[must_use]
    pub fn new(keepbits: u32) -> Self {
        Bitround { keepbits }
    }
}

impl Configuration for Bitround {
    fn read(members: &mut Object<'_>, _: &mut Context<'_>) -> Result<Self> {
        members.check_known(&["keepbits"])?;
        let raw = members.require("keepbits", "how many bits are kept")?;
        let keepbits = at_least(raw, 1).breaks(Rule::BITROUND_CONFIGURATION);
        Ok(Bitround { keepbits: keepbits.member("keepbits")? })
    }

    fn write(&self, members: &mut Members<'_>) {
        members.plain("keepbits", self.keepbits);
    }

    fn check(&self, input: Input<'_>) -> Result<()> {
        let takes = |data_type: &DataType| {
            let is_time =
                matches!(data_type, DataType::NumpyDatetime64(_) | DataType::NumpyTimedelta64(_));
            let is_wide =
                data_type.element_layout().is_some_and(|layout| layout.component_bits >= 8);
            is_time || (is_wide && data_type.is_packable())
        };
        match input.data_type {
            Some(data_type) if !takes(data_type) => {
                let allowed = "integers, floats or complex numbers of 8 bits and more, or times";
                let error = MetadataError::unexpected(format!("type {data_type}"), allowed);
                Err(error.breaks(Rule::BITROUND_CONFIGURATION))
            }
            _ => Ok(()),
        }
    }
}

/// The configuration of `numcodecs.bitround`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct NumcodecsBitround {
    /// Bits of the mantissa that are kept, from 0 to all of them.
    pub keepbits: u32,
}

impl NumcodecsBitround {
    /// Keeps this many bits.
    #[must_use]
    pub fn new(keepbits: u32) -> Self {
        NumcodecsBitround { keepbits }
    }
}

impl Configuration for NumcodecsBitround {
    fn read(members: &mut Object<'_>, _: &mut Context<'_>) -> Result<Self> {
        members.check_known(&["keepbits"])?;
        let raw = members.require("keepbits", "how many bits are kept")?;
        let keepbits = at_least(raw, 0).breaks(Rule::NUMCODECS_CONFIGURATION);
        Ok(NumcodecsBitround { keepbits: keepbits.member("keepbits")? })
    }

    fn write(&self, members: &mut Members<'_>) {
        members.plain("keepbits", self.keepbits);
    }

    fn check(&self, input: Input<'_>) -> Result<()> {
        let most = match input.data_type {
            None | Some(DataType::Opaque(_)) => return Ok(()),
            Some(DataType::Float16) => 10,
            Some(DataType::Float32) => 23,
            Some(DataType::Float64) => 52,
            Some(data_type) => {
                let allowed = "float16, float32 or float64";
                let error = MetadataError::unexpected(format!("type {data_type}"), allowed);
                return Err(error.breaks(Rule::NUMCODECS_CONFIGURATION));
            }
        };
        if self.keepbits <= most {
            return Ok(());
        }
        let allowed = format!("at most {most}, the bits of the mantissa");
        let error = MetadataError::unexpected(self.keepbits.to_string(), allowed);
        Err(error.breaks(Rule::NUMCODECS_CONFIGURATION).in_member("keepbits"))
    }
}

/// Reads a number of bits.
fn at_least(raw: Raw<'_>, least: u64) -> Result<u32> {
    u32::try_from(raw.at_least(least)?).map_err(|_| raw.expected("fewer than 2^32 bits"))
}
