//! `vlen-utf8` and `vlen-bytes`: elements of variable length, each after its length.

use crate::codec::configuration::{Configuration, Context, Input, NoConfiguration};
use crate::data_type::DataType;
use crate::error::rule::Rule;
use crate::error::{MetadataError, Result};
use crate::json::Object;

/// `vlen-utf8` has no configuration.
pub(crate) struct VlenUtf8;

/// `vlen-bytes` has no configuration.
pub(crate) struct VlenBytes;

/// Refuses all types but the codec's own. Of types that are not known it cannot be said.
pub(crate) fn check_type(input: Input<'_>, own: &DataType) -> Result<()> {
    match input.data_type {
        None | Some(DataType::Opaque(_)) => Ok(()),
        Some(data_type) if data_type == own => Ok(()),
        Some(data_type) => {
            let found = format!("type {data_type}");
            let error = MetadataError::unexpected(found, format!("type {own}"));
            Err(error.breaks(Rule::VLEN_DATA_TYPE))
        }
    }
}

macro_rules! vlen {
    ($codec:ident, $own:expr) => {
        impl Configuration for $codec {
            fn read(members: &mut Object<'_>, context: &mut Context<'_>) -> Result<Self> {
                NoConfiguration::read(members, context).map(|_| $codec)
            }

            fn check(&self, input: Input<'_>) -> Result<()> {
                check_type(input, &$own)
            }
        }
    };
}

vlen!(VlenUtf8, DataType::String);
vlen!(VlenBytes, DataType::Bytes);
