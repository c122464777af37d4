//! `bitround`, and `numcodecs.bitround`.

use super::configuration::{Configuration, Context, Input, Members, Result};
use crate::data_type::DataType;
use crate::error::{At, MetadataError};
use crate::json::{Object, Raw};
use crate::rule::Rule;

/// The configuration of `bitround` and of `numcodecs.bitround`.
///
/// # Spec
/// zarr-extensions `codecs/bitround`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct Bitround {
    /// Bits that are kept: of the mantissa of floats, from the highest that is set of integers. 0 is
    /// for `numcodecs.bitround` only.
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
        let least = |raw: Raw<'_>| {
            let keepbits = raw.at_least(0)?;
            u32::try_from(keepbits).map_err(|_| raw.expected("fewer than 2^32 bits"))
        };
        let keepbits = least(raw).breaks(Rule::BITROUND_CONFIGURATION).member("keepbits")?;
        Ok(Bitround { keepbits })
    }

    fn write(&self, members: &mut Members<'_>) {
        members.plain("keepbits", self.keepbits);
    }

    fn check(&self, input: Input<'_>) -> Result<()> {
        let takes = |data_type: &DataType| {
            data_type.layout().is_some_and(|layout| layout.component_bits >= 8)
                && data_type.is_packable()
        };
        match input.data_type {
            Some(data_type) if !takes(data_type) => {
                let allowed = "integers, floats or complex numbers of 8 bits and more";
                let error = MetadataError::unexpected(format!("type {data_type}"), allowed);
                Err(error.breaks(Rule::BITROUND_CONFIGURATION))
            }
            _ => Ok(()),
        }
    }
}
