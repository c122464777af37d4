//! What a user may choose about decoding and encoding.

/// Bounds on what decoding may cost, and whether encoding may lose anything.
///
/// # Examples
/// ```
/// use zarr_codec::Options;
///
/// let options = Options::new().unknown_decoded_len(64 << 20).allow_loss(true);
/// assert_ne!(options, Options::new());
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Options {
    pub(crate) unknown_decoded_len: u64,
    pub(crate) allow_loss: bool,
}

impl Default for Options {
    fn default() -> Self {
        Self::new()
    }
}

impl Options {
    /// Outputs of unknown length up to 2 GiB; what would not read back is refused.
    #[must_use]
    pub fn new() -> Self {
        Self { unknown_decoded_len: 2 << 30, allow_loss: false }
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

    /// Whether encoding drops the bits that `packbits` leaves out (SD-49), and those of bytes that are
    /// out of the range of their sub-byte type (SD-18), so that values which have any read back as
    /// others; refused if this is not set.
    #[must_use]
    pub fn allow_loss(mut self, allow: bool) -> Self {
        self.allow_loss = allow;
        self
    }
}
