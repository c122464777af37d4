//! `zstd`.

use crate::codec::configuration::{Configuration, Context, Members};
use crate::error::rule::Rule;
use crate::error::{At, Result};
use crate::json::{Object, Raw};

/// The configuration of `zstd`.
///
/// # Examples
/// ```
/// use zarr_metadata::{Codec, Zstd};
///
/// let json = br#"{"name": "zstd", "configuration": {"level": 3, "checksum": true}}"#;
/// assert_eq!(Codec::from_json(json)?, Codec::Zstd(Zstd::new(3)));
///
/// // Without a checksum, changed bytes may read as other elements.
/// let json = br#"{"name": "zstd", "configuration": {"level": 3}}"#;
/// assert_eq!(Codec::from_json(json)?, Codec::Zstd(Zstd::new(3).with_checksum(false)));
/// # Ok::<(), zarr_metadata::MetadataError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub struct Zstd {
    /// From -131072 to 22.
    pub level: i32,
    /// Whether frames carry a checksum.
    pub checksum: bool,
}

impl Zstd {
    /// Compresses at a level from -131072 to 22, with a checksum in each frame: readers notice changed
    /// bytes.
    #[must_use]
    pub fn new(level: i32) -> Self {
        Zstd { level, checksum: true }
    }

    /// The same with a checksum in each frame, or without.
    #[must_use]
    pub fn with_checksum(self, checksum: bool) -> Self {
        Zstd { checksum, ..self }
    }
}

impl Configuration for Zstd {
    fn read(members: &mut Object<'_>, context: &mut Context<'_>) -> Result<Self> {
        members.check_known(&["level", "checksum"])?;
        let Zstd { level, checksum } = Zstd::default();
        let level = context.or_default(members, "level", level, read_level);
        let level = level.breaks(Rule::ZSTD_CONFIGURATION)?;
        let checksum = context.or_default(members, "checksum", checksum, |raw| raw.bool());
        Ok(Zstd { level, checksum: checksum.breaks(Rule::ZSTD_CONFIGURATION)? })
    }

    fn write(&self, members: &mut Members<'_>) {
        members.plain("level", self.level);
        members.plain("checksum", self.checksum);
    }
}

fn read_level(raw: Raw<'_>) -> Result<i32> {
    raw.integer()
        .and_then(|n| i32::try_from(n).ok())
        .filter(|level| (-131_072..=22).contains(level))
        .ok_or_else(|| raw.expected("an integer from -131072 to 22"))
}
