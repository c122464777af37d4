//! Memory that is used again from chunk to chunk.

/// Buffers for decoding and encoding, one set a thread.
///
/// They grow to the largest chunk met and are not zeroed or freed in between: fresh memory costs
/// page faults, which is dearer than decoding.
#[derive(Debug, Default)]
pub struct Scratch {
    /// What comes out of the bytes-to-bytes codecs, and what goes in.
    pub(crate) bytes: (Vec<u8>, Vec<u8>),
    /// Elements in the leaf's order.
    pub(crate) elements: Vec<u8>,
    /// Elements at a depth of the chain where no single view leads on.
    pub(crate) levels: Vec<Vec<u8>>,
    /// For a shard.
    pub(crate) shard: Option<Box<ShardScratch>>,
}

/// What a shard needs besides: it has chunks of its own.
#[derive(Debug, Default)]
pub(crate) struct ShardScratch {
    /// The offsets and lengths of the inner chunks.
    pub(crate) index: Vec<u8>,
    /// An encoded inner chunk, or the encoded index.
    pub(crate) encoded: Vec<u8>,
    /// For the inner chunks, and for the index.
    pub(crate) inner: Scratch,
}

impl Scratch {
    /// Empty buffers.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }
}
