//! Whether packing keeps all bits of values.

use core::iter::FusedIterator;

use crate::{ByteOrder, Error, Packing, field::Field};

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
    /// assert!(packing.is_lossless_for(&(-64_i16).to_le_bytes())?);
    /// assert!(!packing.is_lossless_for(&64_i16.to_le_bytes())?);
    /// # Ok::<(), zarr_packbits::Error>(())
    /// ```
    pub fn is_lossless_for(&self, src: &[u8]) -> Result<bool, Error> {
        Ok(self.lost(src)?.next().is_none())
    }

    /// The indices of the elements of `src` that packing and unpacking would change, in order.
    ///
    /// To refuse such elements while packing, use [`refuse_loss`](Packing::refuse_loss), which
    /// costs less than a separate pass.
    ///
    /// # Errors
    /// [`Error::UnpackedLength`].
    ///
    /// # Examples
    /// ```
    /// use zarr_packbits::Packing;
    ///
    /// let packing = Packing::builder(8).last_bit(3).build()?;
    /// assert!(packing.lost(&[15, 16, 0, 255])?.eq([1, 3]));
    /// # Ok::<(), zarr_packbits::Error>(())
    /// ```
    pub fn lost<'a>(&self, src: &'a [u8]) -> Result<Lost<'a>, Error> {
        self.elements_in(src.len())?;
        Ok(Lost {
            bits: LostBits::of(&self.field),
            component_size: self.field.size,
            element_size: self.element_size(),
            src,
            at: 0,
            until: 0,
        })
    }
}

/// The elements that a packing changes; made by [`Packing::lost`].
#[derive(Debug, Clone)]
pub struct Lost<'a> {
    bits: LostBits,
    component_size: usize,
    element_size: usize,
    src: &'a [u8],
    /// The position of the next element, in bytes.
    at: usize,
    /// The end of a block that contains a lost element: up to there, each element is checked.
    until: usize,
}

/// The block size in bytes: whole elements of any size.
const BLOCK: usize = 4096;

impl Iterator for Lost<'_> {
    type Item = usize;

    fn next(&mut self) -> Option<usize> {
        loop {
            while self.at < self.until {
                let element = &self.src[self.at..][..self.element_size];
                let index = self.at / self.element_size;
                self.at += self.element_size;
                let mut components = element.chunks_exact(self.component_size);
                if components.any(|component| self.bits.any(component)) {
                    return Some(index);
                }
            }
            let rest = &self.src[self.at..];
            let mut blocks = rest.chunks(BLOCK);
            let kept = blocks.position(|block| self.bits.any(block))?;
            self.at += kept * BLOCK;
            self.until = self.src.len().min(self.at + BLOCK);
        }
    }
}

impl FusedIterator for Lost<'_> {}

/// The bits of a component that unpacking would not restore, for each component of a word of 64
/// bits. Kernels gather the same in their own registers.
#[derive(Debug, Clone, Copy)]
pub(crate) struct LostBits {
    /// Bits above the last one, which unpack as 0 (if signed, as the bit below), and bits below
    /// the first one, which unpack as 0.
    outside: u64,
    /// The bits among them that lie above the last one, if signed.
    extended: u64,
    memory: ByteOrder,
}

impl LostBits {
    pub(crate) fn of(field: &Field) -> Self {
        let all = u64::MAX >> (64 - 8 * field.size);
        let below = (1 << field.first_bit) - 1;
        let outside = all & !field.mask();
        // One at the lowest bit of every component in a word.
        let lanes = u64::MAX / all;
        Self {
            outside: outside * lanes,
            extended: if field.signed { (outside & !below) * lanes } else { 0 },
            memory: field.memory,
        }
    }

    /// Whether a component in `bytes`, which are whole components, would change.
    pub(crate) fn any(&self, bytes: &[u8]) -> bool {
        let (words, rest) = bytes.as_chunks::<8>();
        // Big-endian components come in the opposite order, which makes no difference.
        let word = |bytes| match self.memory {
            ByteOrder::LittleEndian => u64::from_le_bytes(bytes),
            ByteOrder::BigEndian => u64::from_be_bytes(bytes),
        };
        let lost = words.iter().fold(0, |all, bytes| all | self.in_word(word(*bytes)));
        // The zeros that fill up the last word are always restored.
        let mut last = [0; 8];
        last[..rest.len()].copy_from_slice(rest);
        lost | self.in_word(word(last)) != 0
    }

    /// Not zero if a component in `word` would change. If signed, a bit above the last must equal
    /// the bit below it. That bit is in the same component, since bit 0 is never above the last.
    fn in_word(&self, word: u64) -> u64 {
        (word ^ (word << 1 & self.extended)) & self.outside
    }
}
