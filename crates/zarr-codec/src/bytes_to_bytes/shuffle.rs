//! `numcodecs.shuffle`: the first bytes of all elements, then their second bytes, and so on.

use std::num::NonZero;

use super::codec::BytesToBytes;
use super::limits::{check_decoded, check_limit, decode_stated, reserve};
use crate::error::ChunkErrorKind;

#[derive(Debug)]
pub(super) struct Shuffle {
    /// Bytes per element; with 0 or 1 nothing moves.
    pub(super) element_size: usize,
}

impl Shuffle {
    /// The number of elements in the bytes.
    fn elements(&self, bytes: &[u8]) -> Option<usize> {
        let size = NonZero::new(self.element_size).unwrap_or(NonZero::<usize>::MIN);
        bytes.len().is_multiple_of(size.get()).then(|| bytes.len() / size)
    }

    fn uneven(&self, bytes: &[u8]) -> String {
        let (found, size) = (bytes.len(), self.element_size);
        format!("{found} bytes, expected a multiple of {size}, the size of an element")
    }
}

impl BytesToBytes for Shuffle {
    fn encoded_len(&self, decoded: Option<u64>) -> Option<u64> {
        decoded
    }

    fn check_len(&self, encoded: &[u8], expected: usize) -> Result<(), ChunkErrorKind> {
        check_decoded(encoded.len(), expected)
    }

    fn decode_to(&self, encoded: &[u8], out: &mut [u8]) -> Result<(), ChunkErrorKind> {
        check_decoded(encoded.len(), out.len())?;
        let Some(elements) = self.elements(encoded) else {
            return Err(ChunkErrorKind::Corrupt { reason: self.uneven(encoded) });
        };
        match self.element_size {
            0 | 1 => out.copy_from_slice(encoded),
            2 => join::<2>(encoded, elements, out),
            4 => join::<4>(encoded, elements, out),
            8 => join::<8>(encoded, elements, out),
            size => {
                for (at, plane) in encoded.chunks_exact(elements.max(1)).enumerate() {
                    let bytes = out.iter_mut().skip(at).step_by(size);
                    bytes.zip(plane).for_each(|(to, from)| *to = *from);
                }
            }
        }
        Ok(())
    }

    fn decode_up_to(
        &self,
        encoded: &[u8],
        limit: u64,
        out: &mut Vec<u8>,
    ) -> Result<(), ChunkErrorKind> {
        check_limit(encoded.len(), limit)?;
        decode_stated(self, encoded, encoded.len(), out)
    }

    fn encode(&self, decoded: &[u8], out: &mut Vec<u8>) -> Result<(), ChunkErrorKind> {
        if self.elements(decoded).is_none() {
            return Err(ChunkErrorKind::Encode { reason: self.uneven(decoded) });
        }
        reserve(out, decoded.len())?;
        match self.element_size {
            0 | 1 => out.extend_from_slice(decoded),
            size => {
                for at in 0..size {
                    out.extend(decoded.iter().skip(at).step_by(size));
                }
            }
        }
        Ok(())
    }
}

/// Assembles each element from one byte of each of `N` planes.
fn join<const N: usize>(encoded: &[u8], elements: usize, out: &mut [u8]) {
    let mut planes = encoded.chunks_exact(elements.max(1));
    let planes: [&[u8]; N] = std::array::from_fn(|_| planes.next().unwrap_or_default());
    // All have the same length, so that bounds are checked once.
    let planes = planes.map(|plane| plane.get(..elements).unwrap_or_default());
    for (at, element) in out.as_chunks_mut::<N>().0.iter_mut().enumerate() {
        for (byte, plane) in element.iter_mut().zip(&planes) {
            *byte = plane.get(at).copied().unwrap_or_default();
        }
    }
}
