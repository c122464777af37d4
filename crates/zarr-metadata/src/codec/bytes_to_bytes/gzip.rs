//! `gzip`.

use crate::codec::configuration::{Configuration, Context, Members, from_0_to_9};
use crate::error::rule::Rule;
use crate::error::{At, Result};
use crate::json::Object;

/// The configuration of `gzip`.
///
/// # Examples
/// ```
/// use zarr_metadata::{Codec, Gzip};
///
/// let json = br#"{"name": "gzip", "configuration": {"level": 6}}"#;
/// assert_eq!(Codec::from_json(json)?, Codec::Gzip(Gzip::new(6)));
/// # Ok::<(), zarr_metadata::MetadataError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct Gzip {
    /// From 0 to 9.
    pub level: u32,
}

impl Gzip {
    /// Compresses at a level from 0 to 9.
    #[must_use]
    pub fn new(level: u32) -> Self {
        Gzip { level }
    }
}

/// The default level of the `gzip` program, used if a document has no level.
impl Default for Gzip {
    fn default() -> Self {
        Gzip { level: 6 }
    }
}

impl Configuration for Gzip {
    fn read(members: &mut Object<'_>, context: &mut Context<'_>) -> Result<Self> {
        members.check_known(&["level"])?;
        let Gzip { level } = Gzip::default();
        let level = context.or_default(members, "level", level, from_0_to_9);
        Ok(Gzip { level: level.breaks(Rule::GZIP_CONFIGURATION)? })
    }

    fn write(&self, members: &mut Members<'_>) {
        members.plain("level", self.level);
    }
}
