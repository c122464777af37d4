//! Reading and writing without blocking the thread.

mod free;
mod job;
mod read;
#[cfg(test)]
mod tests;
mod turns;
mod variable;
mod write;

use std::num::NonZeroUsize;

use super::Array;

impl Array {
    /// With a number of chunks in flight for each asynchronous read and write: from the first request
    /// for a chunk until it has been decoded or stored. It bounds the requests under way, and the
    /// memory for encoded chunks.
    ///
    /// The default is one per thread if the store answers as fast as a thread can ask, two per
    /// thread that decodes if it has an asynchronous interface, and for a store that is far away as
    /// many as it is to have
    /// [requests in flight](crate::store::Capabilities::requests_in_flight), as long as they take no
    /// more than 256 MiB.
    #[must_use]
    pub fn with_chunks_in_flight(mut self, chunks: NonZeroUsize) -> Self {
        self.in_flight = Some(chunks);
        self
    }
}
