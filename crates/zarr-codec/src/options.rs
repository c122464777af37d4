//! Options for decoding and encoding.

use crate::third_party::Codecs;

/// Limits of the cost of decoding, whether encoding may lose bits, and third-party codecs.
///
/// # Examples
/// ```
/// use zarr_codec::Options;
///
/// let options = Options::new().unknown_decoded_len(64 << 20).allow_loss(true);
/// assert_ne!(options, Options::new());
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[must_use]
pub struct Options {
    pub(crate) unknown_decoded_len: u64,
    pub(crate) allow_loss: bool,
    pub(crate) codecs: Codecs,
}

impl Default for Options {
    fn default() -> Self {
        Self::new()
    }
}

impl Options {
    /// The defaults: outputs of unknown length up to 2 GiB; values that would not read back
    /// unchanged are refused.
    pub fn new() -> Self {
        Self { unknown_decoded_len: 2 << 30, allow_loss: false, codecs: Codecs::new() }
    }

    /// The most bytes that decoding may produce where the metadata gives no length (SD-35). This
    /// applies to the output of a compressor that is followed by another compressor or contains a
    /// shard. It also applies to the mask and to the values of `zarrs.optional`, and to the elements
    /// of a chunk with a `reshape` before its shard: a part of it may need a buffer for all elements,
    /// and a few bytes may expand to many. Longer chunks of these kinds are not written either.
    ///
    /// The chunk's elements limit the output of a compressor as well: it is at most twice the output
    /// of encoders for incompressible elements, plus a mebibyte.
    pub fn unknown_decoded_len(mut self, bytes: u64) -> Self {
        self.unknown_decoded_len = bytes;
        self
    }

    /// Whether encoding may lose bits: the bits that `packbits` does not store (SD-49), and bytes
    /// out of the range of their sub-byte type (SD-18). Such values read back as others. By default
    /// such values are refused. So are those that a codec that changes values would wrap or make
    /// infinite; those that could not be read back are refused in any case.
    pub fn allow_loss(mut self, allow: bool) -> Self {
        self.allow_loss = allow;
        self
    }

    /// The third-party codecs, by their names.
    pub fn codecs(mut self, codecs: Codecs) -> Self {
        self.codecs = codecs;
        self
    }

    /// The third-party codecs that were [given](Options::codecs).
    pub fn other_codecs(&self) -> &Codecs {
        &self.codecs
    }
}
