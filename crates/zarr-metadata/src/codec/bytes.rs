//! `bytes`.

use super::configuration::{Configuration, Context, Input, Members, Names, Result, read_named};
use crate::error::{At, Kind, MetadataError};
use crate::json::Object;
use crate::rule::Rule;

/// The configuration of `bytes`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct Bytes {
    /// `None` is right for types of one byte only (SD-53).
    pub endian: Option<Endian>,
}

impl Bytes {
    /// The elements in this byte order.
    #[must_use]
    pub fn new(endian: Option<Endian>) -> Self {
        Bytes { endian }
    }
}

/// A byte order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Endian {
    /// The least significant byte first.
    Little,
    /// The most significant byte first.
    Big,
}

const ENDIANS: Names<Endian> = &[(Endian::Little, "little"), (Endian::Big, "big")];

impl Configuration for Bytes {
    fn read(members: &mut Object<'_>, _: &mut Context<'_>) -> Result<Self> {
        members.check_known(&["endian"])?;
        let endian = members.take("endian").map(|raw| read_named(ENDIANS, raw).member("endian"));
        Ok(Bytes { endian: endian.transpose().breaks(Rule::BytesEndian)? })
    }

    fn write(&self, members: &mut Members<'_>) {
        if let Some(endian) = &self.endian {
            members.named("endian", ENDIANS, endian);
        }
    }

    fn check(&self, input: Input<'_>) -> Result<()> {
        match input.data_type.map(|data_type| (data_type, data_type.layout())) {
            Some((data_type, Some(layout))) if layout.swap_unit > 1 && self.endian.is_none() => {
                let allowed = format!("\"little\" or \"big\": {data_type} has several bytes");
                Err(MetadataError::new(Kind::Missing { allowed: allowed.into() })
                    .breaks(Rule::BytesEndianMissing)
                    .in_member("endian"))
            }
            _ => Ok(()),
        }
    }
}
