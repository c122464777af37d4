//! `numcodecs.json2`: a chunk of objects as one JSON text.

use super::or;
use crate::codec::array_to_bytes::vlen::check_type;
use crate::codec::configuration::{Configuration, Context, Input, Members};
use crate::data_type::DataType;
use crate::error::Result;
use crate::json::{Object, Raw};

/// Names in numcodecs of text encodings that are UTF-8 or a subset of it.
const ENCODINGS: &[&str] = &["utf-8", "utf8", "UTF-8", "UTF8", "ascii", "us-ascii"];

/// No member matters for reading but the encoding, which must be UTF-8.
pub(in crate::codec) struct Json2;

impl Configuration for Json2 {
    fn read(members: &mut Object<'_>, _: &mut Context<'_>) -> Result<Self> {
        members.check_known(&[
            "encoding",
            "skipkeys",
            "ensure_ascii",
            "check_circular",
            "allow_nan",
            "sort_keys",
            "indent",
            "separators",
            "strict",
        ])?;
        or(members, "encoding", (), |raw: Raw<'_>| {
            let allowed = "utf-8 or ascii";
            match ENCODINGS.contains(&raw.string(allowed)?.as_ref()) {
                true => Ok(()),
                false => Err(raw.expected(allowed)),
            }
        })?;
        Ok(Json2)
    }

    fn write(&self, members: &mut Members<'_>) {
        members.plain("encoding", "\"utf-8\"");
    }

    fn check(&self, input: Input<'_>) -> Result<()> {
        check_type(input, &DataType::String)
    }
}
