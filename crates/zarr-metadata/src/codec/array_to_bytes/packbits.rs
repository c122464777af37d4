//! `packbits`, and `numcodecs.packbits`.

use crate::codec::configuration::{
    Configuration, Context, Input, Members, Names, NoConfiguration, read_named,
};
use crate::data_type::DataType;
use crate::error::rule::Rule;
use crate::error::{At, MetadataError, Result};
use crate::json::{Object, Raw};

/// The configuration of `packbits`.
///
/// # Examples
/// ```
/// use zarr_metadata::{PaddingEncoding, Packbits};
///
/// let all = Packbits::default();
/// let low = Packbits::new(None, Some(11)).with_padding(PaddingEncoding::LastByte);
/// assert_eq!((all.last_bit, low.last_bit), (None, Some(11)));
/// ```
///
/// # Spec
/// zarr-extensions `codecs/packbits`; SD-12, SD-15.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub struct Packbits {
    /// Where the number of padding bits is stored.
    pub padding_encoding: PaddingEncoding,
    /// The first bit that is kept; `None` is 0.
    pub first_bit: Option<u64>,
    /// The last bit that is kept, inclusive; `None` is the last one of a component.
    pub last_bit: Option<u64>,
}

impl Packbits {
    /// Keeps the bits from `first_bit` to `last_bit`, inclusive, without padding byte.
    #[must_use]
    pub fn new(first_bit: Option<u64>, last_bit: Option<u64>) -> Self {
        Packbits { padding_encoding: PaddingEncoding::None, first_bit, last_bit }
    }

    /// The same bits, with the number of padding bits stored in this place.
    #[must_use]
    pub fn with_padding(self, padding_encoding: PaddingEncoding) -> Self {
        Packbits { padding_encoding, ..self }
    }
}

/// Where `packbits` stores the number of padding bits.
///
/// The enum is exhaustive, because the codec's text allows no fourth place.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum PaddingEncoding {
    /// Nowhere.
    #[default]
    None,
    /// In a byte before the packed bits.
    FirstByte,
    /// In a byte after the packed bits.
    LastByte,
}

const PADDINGS: Names<PaddingEncoding> = &[
    (PaddingEncoding::None, "none"),
    (PaddingEncoding::FirstByte, "first_byte"),
    (PaddingEncoding::LastByte, "last_byte"),
];

impl Configuration for Packbits {
    fn read(members: &mut Object<'_>, _: &mut Context<'_>) -> Result<Self> {
        early_spelling(members)?;
        members.check_known(&["padding_encoding", "first_bit", "last_bit"])?;
        let padding = members.take("padding_encoding").map(|raw| {
            let allowed = match raw.text() {
                r#""start_byte""# => "\"first_byte\", which \"start_byte\" is in an early schema",
                r#""end_byte""# => "\"last_byte\", which \"end_byte\" is in an early schema",
                _ => return read_named(PADDINGS, raw),
            };
            Err(raw.expected(allowed))
        });
        let padding = padding
            .transpose()
            .breaks(Rule::PACKBITS_PADDING_ENCODING)
            .member("padding_encoding")?;
        let bit = |raw: Raw<'_>| {
            raw.natural().ok_or_else(|| raw.expected("a bit, counted from 0, or null"))
        };
        let first_bit = members.optional("first_bit", bit).breaks(Rule::PACKBITS_BIT)?;
        let last_bit = members.optional("last_bit", bit).breaks(Rule::PACKBITS_BIT)?;
        let packbits =
            Packbits { padding_encoding: padding.unwrap_or_default(), first_bit, last_bit };
        packbits.check_order().map(|()| packbits)
    }

    fn write(&self, members: &mut Members<'_>) {
        if self.padding_encoding != PaddingEncoding::None {
            members.named("padding_encoding", PADDINGS, &self.padding_encoding);
        }
        for (name, bit) in [("first_bit", self.first_bit), ("last_bit", self.last_bit)] {
            if let Some(bit) = bit {
                members.plain(name, bit);
            }
        }
    }

    /// SD-15, SD-50.
    fn check(&self, input: Input<'_>) -> Result<()> {
        let Some(data_type) = input.data_type else { return Ok(()) };
        let Some(layout) = data_type.element_layout().filter(|_| data_type.is_packable()) else {
            let allowed = "a bool, integer, float or complex type of fixed size under packbits";
            let error = MetadataError::unexpected(format!("type {data_type}"), allowed);
            return Err(error.breaks(Rule::PACKBITS_DATA_TYPE));
        };
        let bits = u64::from(layout.component_bits);
        for (member, bit) in [("first_bit", self.first_bit), ("last_bit", self.last_bit)] {
            if let Some(bit) = bit.filter(|bit| *bit >= bits) {
                let allowed = format!("a bit below {bits}, the bits of a component of {data_type}");
                return Err(MetadataError::unexpected(bit.to_string(), allowed)
                    .breaks(Rule::PACKBITS_BIT_RANGE)
                    .in_member(member));
            }
        }
        self.check_order()
    }
}

impl Packbits {
    fn check_order(&self) -> Result<()> {
        match (self.first_bit, self.last_bit) {
            (Some(first), Some(last)) if last < first => {
                let allowed = format!("at least {first}, the first bit");
                Err(MetadataError::unexpected(last.to_string(), allowed)
                    .breaks(Rule::PACKBITS_BIT_RANGE)
                    .in_member("last_bit"))
            }
            _ => Ok(()),
        }
    }
}

/// The members of `packbits` as a published schema has them (SD-12).
fn early_spelling(members: &mut Object<'_>) -> Result<()> {
    for (theirs, ours) in [
        ("start_byte", "\"padding_encoding\": \"first_byte\""),
        ("end_byte", "\"padding_encoding\": \"last_byte\""),
        ("start_bit", "\"first_bit\""),
        ("end_bit", "\"last_bit\""),
    ] {
        if members.take(theirs).is_some() {
            let found = format!("\"{theirs}\", the spelling of an early schema");
            return Err(MetadataError::unexpected(found, ours)
                .breaks(Rule::PACKBITS_SPELLING)
                .in_member(theirs));
        }
    }
    Ok(())
}

/// `numcodecs.packbits` has no configuration: bool elements become a list of uint8 (SD-11).
pub(crate) struct NumcodecsPackbits;

impl Configuration for NumcodecsPackbits {
    fn read(members: &mut Object<'_>, context: &mut Context<'_>) -> Result<Self> {
        NoConfiguration::read(members, context).map(|_| NumcodecsPackbits)
    }

    fn check(&self, input: Input<'_>) -> Result<()> {
        match input.data_type {
            Some(data_type) if *data_type != DataType::Bool => {
                let found = format!("type {data_type}");
                Err(MetadataError::unexpected(found, "type bool").breaks(Rule::NUMCODECS_PACKBITS))
            }
            _ => Ok(()),
        }
    }

    fn output<'a>(&'a self, _: Input<'a>) -> Input<'a> {
        Input { data_type: Some(&DataType::Uint8), rank: Some(1) }
    }
}
