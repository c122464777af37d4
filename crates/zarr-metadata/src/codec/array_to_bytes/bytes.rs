//! `bytes`.

use crate::codec::configuration::{Configuration, Context, Input, Members, Names, read_named};
use crate::data_type::DataType;
use crate::element::Endian;
use crate::error::rule::Rule;
use crate::error::{At, Kind, MetadataError, Result};
use crate::json::Object;

/// The configuration of `bytes`.
///
/// # Examples
/// ```
/// use zarr_metadata::{Bytes, Codec, Endian};
///
/// let json = br#"{"name": "bytes", "configuration": {"endian": "big"}}"#;
/// assert_eq!(Codec::from_json(json)?, Codec::Bytes(Bytes::new(Some(Endian::Big))));
/// # Ok::<(), zarr_metadata::MetadataError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct Bytes {
    /// `None` is valid only for types of one byte (SD-53).
    pub endian: Option<Endian>,
}

impl Bytes {
    /// The elements in this byte order.
    #[must_use]
    pub fn new(endian: Option<Endian>) -> Self {
        Bytes { endian }
    }
}

const ENDIANS: Names<Endian> = &[(Endian::Little, "little"), (Endian::Big, "big")];

impl Configuration for Bytes {
    fn read(members: &mut Object<'_>, _: &mut Context<'_>) -> Result<Self> {
        members.check_known(&["endian"])?;
        let endian = members.take("endian").map(|raw| read_named(ENDIANS, raw).member("endian"));
        Ok(Bytes { endian: endian.transpose().breaks(Rule::BYTES_ENDIAN)? })
    }

    fn write(&self, members: &mut Members<'_>) {
        if let Some(endian) = &self.endian {
            members.named("endian", ENDIANS, endian);
        }
    }

    fn check(&self, input: Input<'_>) -> Result<()> {
        match input.data_type {
            Some(data_type) if data_type.is_variable_length() => {
                let allowed = match data_type {
                    DataType::String => "vlen-utf8, the codec of strings",
                    DataType::ZarrsOptional(_) => "zarrs.optional, the codec of the type",
                    _ => "vlen-bytes, the codec of bytes of variable length",
                };
                let found = format!("type {data_type} under bytes");
                let error = MetadataError::unexpected(found, allowed);
                Err(error.breaks(Rule::BYTES_DATA_TYPE))
            }
            Some(data_type) if data_type.has_byte_order() && self.endian.is_none() => {
                let allowed = format!("\"little\" or \"big\": {data_type} has several bytes");
                Err(MetadataError::new(Kind::Missing { allowed: allowed.into() })
                    .breaks(Rule::BYTES_ENDIAN_MISSING)
                    .in_member("endian"))
            }
            _ => Ok(()),
        }
    }
}
