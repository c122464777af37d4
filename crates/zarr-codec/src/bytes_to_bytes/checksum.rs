//! `crc32c` and the checksums of numcodecs: four little-endian bytes after the input, or before it.

use zarr_metadata::ChecksumLocation;

use super::codec::BytesToBytes;
use super::limits::{check_decoded, check_limit, reserve};
use crate::error::ChunkErrorKind;
use crate::length::widen;

/// Bytes that the codec adds.
const LENGTH: usize = 4;

#[derive(Debug)]
pub(super) struct Checksum {
    algorithm: Algorithm,
    location: ChecksumLocation,
}

/// The checksum algorithm.
#[derive(Debug, Clone, Copy)]
pub(super) enum Algorithm {
    #[cfg(feature = "crc32c")]
    Crc32c,
    #[cfg(feature = "crc32")]
    Crc32,
    #[cfg(feature = "adler32")]
    Adler32,
    Fletcher32,
    /// With the initial value of the hash.
    Lookup3(u32),
}

impl Algorithm {
    fn of(self, bytes: &[u8]) -> u32 {
        match self {
            #[cfg(feature = "crc32c")]
            Self::Crc32c => ::crc32c::crc32c(bytes),
            #[cfg(feature = "crc32")]
            Self::Crc32 => crc32fast::hash(bytes),
            #[cfg(feature = "adler32")]
            Self::Adler32 => adler2::adler32_slice(bytes),
            Self::Fletcher32 => fletcher32(bytes),
            Self::Lookup3(initial) => lookup3(bytes, initial),
        }
    }
}

impl Checksum {
    pub(super) fn new(algorithm: Algorithm, location: ChecksumLocation) -> Self {
        Self { algorithm, location }
    }

    /// The input without its checksum; an error if the checksum does not match.
    fn verified<'e>(&self, encoded: &'e [u8]) -> Result<&'e [u8], ChunkErrorKind> {
        let split = match self.location {
            ChecksumLocation::Start => encoded.split_first_chunk().map(|(sum, rest)| (rest, sum)),
            ChecksumLocation::End => encoded.split_last_chunk(),
        };
        let Some((data, stored)) = split else {
            let (found, least) = (widen(encoded.len()), widen(LENGTH));
            return Err(ChunkErrorKind::EncodedLength { found, least });
        };
        let stored = u32::from_le_bytes(*stored);
        let computed = self.algorithm.of(data);
        match stored == computed {
            true => Ok(data),
            false => Err(ChunkErrorKind::Checksum { stored, computed }),
        }
    }
}

impl BytesToBytes for Checksum {
    fn encoded_len(&self, decoded: Option<u64>) -> Option<u64> {
        decoded?.checked_add(widen(LENGTH))
    }

    fn input_offset(&self) -> Option<u64> {
        Some(match self.location {
            ChecksumLocation::Start => widen(LENGTH),
            ChecksumLocation::End => 0,
        })
    }

    fn decoded_prefix(&self, encoded: &[u8]) -> Option<Result<usize, ChunkErrorKind>> {
        match self.location {
            ChecksumLocation::Start => None,
            ChecksumLocation::End => Some(self.verified(encoded).map(<[u8]>::len)),
        }
    }

    fn check_len(&self, encoded: &[u8], expected: usize) -> Result<(), ChunkErrorKind> {
        match self.location {
            ChecksumLocation::Start => check_decoded(self.verified(encoded)?.len(), expected),
            // A prefix needs no memory, and a wrong checksum is a better error than a wrong length.
            ChecksumLocation::End => Ok(()),
        }
    }

    fn decode_to(&self, encoded: &[u8], out: &mut [u8]) -> Result<(), ChunkErrorKind> {
        let data = match self.location {
            // Already verified when the length was checked.
            ChecksumLocation::Start => encoded.get(LENGTH..).unwrap_or_default(),
            ChecksumLocation::End => self.verified(encoded)?,
        };
        check_decoded(data.len(), out.len())?;
        out.copy_from_slice(data);
        Ok(())
    }

    fn decode_up_to(
        &self,
        encoded: &[u8],
        limit: u64,
        out: &mut Vec<u8>,
    ) -> Result<(), ChunkErrorKind> {
        let data = self.verified(encoded)?;
        check_limit(data.len(), limit)?;
        reserve(out, data.len())?;
        out.extend_from_slice(data);
        Ok(())
    }

    fn encode(&self, decoded: &[u8], out: &mut Vec<u8>) -> Result<(), ChunkErrorKind> {
        reserve(out, decoded.len().saturating_add(LENGTH))?;
        let sum = self.algorithm.of(decoded).to_le_bytes();
        match self.location {
            ChecksumLocation::Start => {
                out.extend_from_slice(&sum);
                out.extend_from_slice(decoded);
            }
            ChecksumLocation::End => {
                out.extend_from_slice(decoded);
                out.extend_from_slice(&sum);
            }
        }
        Ok(())
    }
}

/// Fletcher's sums of big-endian 16-bit words, as in HDF5: modulo 2^16 - 1. A multiple of 2^16 -
/// 1 gives 2^16 - 1, and 0 results only if all bytes are zero. An odd byte is the upper half of a
/// word.
fn fletcher32(bytes: &[u8]) -> u32 {
    // Words that 64 bits can sum without a division: the sums of n words stay below n^2 * 2^16.
    const BATCH: usize = 1 << 16;
    let reduced = |sum: u64| sum.checked_sub(1).map_or(0, |less| (less % 0xffff).saturating_add(1));
    let (mut sum, mut sums) = (0_u64, 0_u64);
    for batch in bytes.chunks(2 * BATCH) {
        let (words, odd) = batch.as_chunks();
        let odd = odd.first().map(|byte| u16::from_be_bytes([*byte, 0]));
        for word in words.iter().map(|word| u16::from_be_bytes(*word)).chain(odd) {
            sum = sum.wrapping_add(word.into());
            sums = sums.wrapping_add(sum);
        }
        (sum, sums) = (reduced(sum), reduced(sums));
    }
    let [low, high] = [sum, sums].map(|half| u32::try_from(half).unwrap_or_default());
    (high << 16) | low
}

/// Bob Jenkins's hash `lookup3` of bytes.
///
/// Processes twelve bytes at a time as three words and mixes them; the last one to twelve bytes,
/// padded with zeros, get a final mix.
fn lookup3(bytes: &[u8], initial: u32) -> u32 {
    // The length counts modulo 2^32.
    let length = u32::try_from(bytes.len() & 0xffff_ffff).unwrap_or_default();
    let mut state = [0xdead_beef_u32.wrapping_add(length).wrapping_add(initial); 3];
    if bytes.is_empty() {
        return state[2];
    }
    let before_last = bytes.len().saturating_sub(1);
    let (blocks, rest) = bytes.split_at(before_last.saturating_sub(before_last % 12));
    for block in blocks.chunks_exact(12) {
        add(&mut state, block);
        state = mixed(state);
    }
    let mut block = [0; 12];
    block.iter_mut().zip(rest).for_each(|(to, from)| *to = *from);
    add(&mut state, &block);
    finished(state)
}

/// Adds twelve bytes as three little-endian words.
fn add(state: &mut [u32; 3], block: &[u8]) {
    for (word, bytes) in state.iter_mut().zip(block.as_chunks().0) {
        *word = word.wrapping_add(u32::from_le_bytes(*bytes));
    }
}

/// Mixes three words reversibly.
fn mixed([mut a, mut b, mut c]: [u32; 3]) -> [u32; 3] {
    for [first, second, third] in [[4, 6, 8], [16, 19, 4]] {
        a = a.wrapping_sub(c) ^ c.rotate_left(first);
        c = c.wrapping_add(b);
        b = b.wrapping_sub(a) ^ a.rotate_left(second);
        a = a.wrapping_add(c);
        c = c.wrapping_sub(b) ^ b.rotate_left(third);
        b = b.wrapping_add(a);
    }
    [a, b, c]
}

/// Mixes three words into the last of them.
fn finished([mut a, mut b, mut c]: [u32; 3]) -> u32 {
    c = (c ^ b).wrapping_sub(b.rotate_left(14));
    a = (a ^ c).wrapping_sub(c.rotate_left(11));
    b = (b ^ a).wrapping_sub(a.rotate_left(25));
    c = (c ^ b).wrapping_sub(b.rotate_left(16));
    a = (a ^ c).wrapping_sub(c.rotate_left(4));
    b = (b ^ a).wrapping_sub(a.rotate_left(14));
    (c ^ b).wrapping_sub(b.rotate_left(24))
}

#[cfg(test)]
mod tests {
    use super::{fletcher32, lookup3};

    /// One addition at a time, with end-around carry.
    #[test]
    fn fletcher32_gives_what_its_definition_does() {
        let add = |a: u32, b: u32| ((a + b) & 0xffff) + ((a + b) >> 16);
        for length in [0, 1, 2, 3, 130_000, 262_143, 262_144, 400_001] {
            for (factor, least) in [(31, 0x80), (0, 0), (0, 0xff), (7, 0)] {
                let bytes: Vec<u8> =
                    (0..length).map(|n| u8::try_from(n * factor % 253).unwrap() | least).collect();
                let (mut sum, mut sums) = (0_u32, 0_u32);
                for pair in bytes.chunks(2) {
                    let word = (u32::from(pair[0]) << 8) | pair.get(1).map_or(0, |b| u32::from(*b));
                    sum = add(sum, word);
                    sums = add(sums, sum);
                }
                assert_eq!(fletcher32(&bytes), (sums << 16) | sum, "{length}");
            }
        }
        // The values of numcodecs 0.17.1.
        assert_eq!(fletcher32(&[0, 1, 2]), 0x0202_0201);
        assert_eq!(fletcher32(&[0xff, 0xff]), 0xffff_ffff);
    }

    /// The values that the algorithm's author gives in its driver.
    #[test]
    fn lookup3_gives_its_authors_values() {
        let text = b"Four score and seven years ago";
        assert_eq!(lookup3(b"", 0), 0xdead_beef);
        assert_eq!(lookup3(b"", 0xdead_beef), 0xbd5b_7dde);
        assert_eq!(lookup3(text, 0), 0x1777_0551);
        assert_eq!(lookup3(text, 1), 0xcd62_8161);
    }
}
