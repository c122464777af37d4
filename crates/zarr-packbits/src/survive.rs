//! Whether values keep what packing drops.

use crate::{Error, Packing, field::Field};

impl Packing {
    /// Whether every element of `src` is unchanged by packing and unpacking (SD-49): it has no bit
    /// outside `first_bit..=last_bit` that unpacking would not restore.
    ///
    /// # Errors
    /// [`Error::UnpackedLength`].
    ///
    /// # Examples
    /// ```
    /// use zarr_packbits::Packing;
    ///
    /// let packing = Packing::builder(16).signed(true).last_bit(6).build()?;
    /// assert!(packing.survives(&(-64_i16).to_le_bytes())?);
    /// assert!(!packing.survives(&64_i16.to_le_bytes())?);
    /// # Ok::<(), zarr_packbits::Error>(())
    /// ```
    pub fn survives(&self, src: &[u8]) -> Result<bool, Error> {
        Ok(self.first_lost(src)?.is_none())
    }

    /// The index of the first element of `src` that packing and unpacking would change.
    ///
    /// # Errors
    /// [`Error::UnpackedLength`].
    pub fn first_lost(&self, src: &[u8]) -> Result<Option<usize>, Error> {
        self.elements_in(src.len())?;
        let lost = Lost::of(&self.field);
        let whole = src.len() / BLOCK * BLOCK;
        let block = src[..whole].chunks_exact(BLOCK).position(|block| lost.in_words(block) != 0);
        let start = block.map_or(whole, |block| block * BLOCK);
        let component = src[start..].chunks_exact(self.field.size).position(|component| {
            let mut word = [0; 8];
            word[..component.len()].copy_from_slice(component);
            lost.in_word(u64::from_le_bytes(word)) != 0
        });
        Ok(component.map(|component| (start + component * self.field.size) / self.element_size()))
    }
}

/// Bytes looked at before the answer is: enough for a loop of vector instructions.
const BLOCK: usize = 512;

/// Which bits of a word full of components would not come back.
struct Lost {
    /// Bits above the last one, which come back as 0, or as the bit below if signed.
    above: u64,
    /// Bits below the first one, which come back as 0.
    below: u64,
    /// All ones if signed.
    signed: u64,
}

impl Lost {
    fn of(field: &Field) -> Self {
        let all = u64::MAX >> (64 - 8 * field.size);
        let below = (1 << field.first_bit) - 1;
        // One at the lowest bit of every component in a word.
        let lanes = u64::MAX / all;
        Self {
            above: (all & !field.mask() & !below) * lanes,
            below: below * lanes,
            signed: if field.signed { u64::MAX } else { 0 },
        }
    }

    /// Not zero if a component in `word` would change. A bit above the last must equal the bit
    /// below it if signed; that one is never of another component, as bit 0 is not above the last.
    fn in_word(&self, word: u64) -> u64 {
        (word ^ (word << 1 & self.signed)) & self.above | word & self.below
    }

    fn in_words(&self, block: &[u8]) -> u64 {
        let (words, _) = block.as_chunks::<8>();
        words.iter().fold(0, |all, word| all | self.in_word(u64::from_le_bytes(*word)))
    }
}
