//! `scale_offset`.

use super::cast_value::{check_real, check_scalar};
use crate::codec::configuration::{Configuration, Context, Input, Members};
use crate::error::rule::Rule;
use crate::error::{At, Result};
use crate::json::Object;

/// The configuration of `scale_offset`.
///
/// # Spec
/// zarr-extensions `codecs/scale_offset`.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct ScaleOffset {
    /// The number to subtract, as the JSON text of a fill value of the data type; `None` is 0.
    pub offset: Option<Box<str>>,
    /// The factor of the difference, as JSON text; `None` is 1.
    pub scale: Option<Box<str>>,
}

impl Configuration for ScaleOffset {
    fn read(members: &mut Object<'_>, _: &mut Context<'_>) -> Result<Self> {
        members.check_known(&["offset", "scale"])?;
        let mut text = |key: &str| members.take(key).map(|raw| raw.text().into());
        Ok(ScaleOffset { offset: text("offset"), scale: text("scale") })
    }

    fn write(&self, members: &mut Members<'_>) {
        for (key, value) in [("offset", &self.offset), ("scale", &self.scale)] {
            if let Some(value) = value {
                members.plain(key, value);
            }
        }
    }

    fn check(&self, input: Input<'_>) -> Result<()> {
        let Some(data_type) = input.data_type else { return Ok(()) };
        check_real(data_type).breaks(Rule::SCALE_OFFSET_CONFIGURATION)?;
        for (key, value) in [("offset", &self.offset), ("scale", &self.scale)] {
            if let Some(value) = value {
                check_scalar(data_type, value)
                    .breaks(Rule::SCALE_OFFSET_CONFIGURATION)
                    .member(key)?;
            }
        }
        Ok(())
    }
}
