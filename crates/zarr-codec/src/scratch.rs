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
}

impl Scratch {
    /// Empty buffers.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }
}
