//! `zarrs.optional`: which elements are there, then their values.

use crate::codec::chain::{check_chain, read_chain, write_codecs};
use crate::codec::configuration::{Configuration, Context, Input, Members};
use crate::codec::{Bytes, Codec, Endian};
use crate::data_type::{DataType, Optional};
use crate::error::rule::Rule;
use crate::error::{At, MetadataError, Result};
use crate::json::Object;

/// The configuration of `zarrs.optional`.
///
/// # Spec
/// The documentation of zarrs, "The `optional` array to bytes codec".
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct OptionalCodecs {
    /// The chain of the mask: an array of `bool` of the chunk's shape, true for each existing
    /// element.
    pub mask_codecs: Vec<Codec>,
    /// The chain of the values of existing elements, in C order, in one dimension.
    pub data_codecs: Vec<Codec>,
}

impl OptionalCodecs {
    /// The mask and the values, each encoded by its codecs.
    pub fn new(
        mask_codecs: impl IntoIterator<Item = Codec>,
        data_codecs: impl IntoIterator<Item = Codec>,
    ) -> Self {
        let mask_codecs = mask_codecs.into_iter().collect();
        OptionalCodecs { mask_codecs, data_codecs: data_codecs.into_iter().collect() }
    }
}

impl Codec {
    /// The default array-to-bytes codec of a data type: `bytes` in little-endian order, or the
    /// codec of strings, byte strings or optional elements.
    #[must_use]
    pub fn array_to_bytes(data_type: &DataType) -> Self {
        match data_type {
            DataType::String => Codec::VlenUtf8,
            DataType::Bytes => Codec::VlenBytes,
            DataType::ZarrsOptional(optional) => {
                let mask = Codec::Packbits(crate::codec::Packbits::default());
                let data = Codec::array_to_bytes(optional.inner());
                Codec::ZarrsOptional(Box::new(OptionalCodecs::new([mask], [data])))
            }
            _ => Codec::Bytes(Bytes::new(data_type.has_byte_order().then_some(Endian::Little))),
        }
    }
}

/// Boxed, as it is larger than most configurations.
impl Configuration for Box<OptionalCodecs> {
    fn read(members: &mut Object<'_>, context: &mut Context<'_>) -> Result<Self> {
        members.check_known(&["mask_codecs", "data_codecs"])?;
        let mask_codecs = read_chain(members, context, "mask_codecs")?;
        let data_codecs = read_chain(members, context, "data_codecs")?;
        Ok(Box::new(OptionalCodecs { mask_codecs, data_codecs }))
    }

    fn write(&self, members: &mut Members<'_>) {
        write_codecs(&self.mask_codecs, members.begin("mask_codecs"));
        write_codecs(&self.data_codecs, members.begin("data_codecs"));
    }

    fn check(&self, input: Input<'_>) -> Result<()> {
        if let Some(rank) = input.rank {
            check_chain(&self.mask_codecs, &DataType::Bool, rank).member("mask_codecs")?;
        }
        match input.data_type.map(inner) {
            Some(Ok(Some(optional))) => {
                check_chain(&self.data_codecs, optional.inner(), 1).member("data_codecs")
            }
            Some(Err(error)) => Err(error),
            _ => Ok(()),
        }
    }
}

/// The type that the codec stores; `None` if it is not known.
fn inner(data_type: &DataType) -> Result<Option<&Optional>> {
    match data_type {
        DataType::ZarrsOptional(optional) => Ok(Some(optional)),
        DataType::Opaque(_) => Ok(None),
        data_type => {
            let found = format!("type {data_type}");
            let error = MetadataError::unexpected(found, "type zarrs.optional");
            Err(error.breaks(Rule::OPTIONAL_DATA_TYPE))
        }
    }
}
