//! What a user may choose about decoding and encoding.

/// Bounds on what decoding may cost, and how strict encoding is.
///
/// # Examples
/// ```
/// use zarr_codec::Options;
///
/// let options = Options::new().unknown_decoded_len(64 << 20).strict(true);
/// assert_ne!(options, Options::new());
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Options {
    pub(crate) unknown_decoded_len: u64,
    pub(crate) strict: bool,
}

impl Default for Options {
    fn default() -> Self {
        Self::new()
    }
}

impl Options {
    /// Outputs of unknown length up to 2 GiB; encoding is not strict.
    #[must_use]
    pub fn new() -> Self {
        Self { unknown_decoded_len: 2 << 30, strict: false }
    }

    /// The most bytes that decoding may take where the metadata says no length: out of a compressor
    /// under another one or around a shard, and for the elements of a shard, which a few bytes may
    /// stand for, where a `reshape` around it makes a buffer necessary (SD-35).
    ///
    /// What comes out of a compressor is bounded by the chunk's elements as well: it is at most
    /// twice what encoders make of them where nothing can be compressed, and a mebibyte.
    #[must_use]
    pub fn unknown_decoded_len(mut self, bytes: u64) -> Self {
        self.unknown_decoded_len = bytes;
        self
    }

    /// Whether encoding refuses values that would not read back as they are (SD-49).
    #[must_use]
    pub fn strict(mut self, strict: bool) -> Self {
        self.strict = strict;
        self
    }
}
