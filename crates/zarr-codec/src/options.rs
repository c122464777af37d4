//! What a user may choose about decoding and encoding.

/// Bounds on what decoding may cost, and how strict encoding is.
///
/// # Examples
/// ```
/// use zarr_codec::Options;
///
/// let options = Options::default().with_unknown_decoded_len(64 << 20).with_strict(true);
/// assert!(options.strict);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Options {
    /// The most bytes that decoding may take where nothing else bounds them: out of a compressor
    /// under another one or around a shard, and for the elements of a shard, which a few bytes may
    /// stand for, where a `reshape` around it makes a buffer necessary (SD-35).
    pub unknown_decoded_len: u64,
    /// Whether encoding refuses values that would not read back as they are (SD-49).
    pub strict: bool,
}

impl Default for Options {
    fn default() -> Self {
        Self { unknown_decoded_len: 2 << 30, strict: false }
    }
}

impl Options {
    /// With another bound on outputs of unknown length, in bytes.
    #[must_use]
    pub fn with_unknown_decoded_len(mut self, bytes: u64) -> Self {
        self.unknown_decoded_len = bytes;
        self
    }

    /// With strict encoding or without.
    #[must_use]
    pub fn with_strict(mut self, strict: bool) -> Self {
        self.strict = strict;
        self
    }
}
