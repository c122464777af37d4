//! Detects, while components are packed, whether packing drops bits that carry values.
//!
//! A component is kept if its bits below the first one are 0, and its bits above the last one are 0
//! (if it is unsigned) or repeat the last one (if it is signed). For signed components, add a one
//! at the last bit. The sum has no bit above the last one exactly if all bits above it equal it;
//! the bits below do not change. So kernels gather one word of all components, with one or two
//! instructions per vector:
//!
//! ```text
//! int8, bits 0 to 3       bits    sum
//! -8                  1111 1000   0000 0000   kept
//!  7                  0000 0111   0000 1111   kept
//!  8                  0000 1000   0001 0000   lost
//! -9                  1111 0111   1111 1111   lost
//! ```
//!
//! Once per run, the gathered word is checked for bits outside the field.

use crate::field::Field;

/// The statistics that a kernel gathers while it packs. It is a constant, so loops that gather nothing lose no
/// speed.
pub(crate) type Watch = u8;

pub(crate) const NOTHING: Watch = 0;
/// Components.
pub(crate) const PLAIN: Watch = 1;
/// The sums of components and their sign bit.
pub(crate) const SUMS: Watch = 2;

/// The words to gather to decide whether components are kept.
pub(crate) fn watch(field: &Field) -> Watch {
    let size_bits = 8 * field.size as u32;
    match field.last_bit() + 1 == size_bits {
        true if field.first_bit == 0 => NOTHING,
        false if field.signed => SUMS,
        _ => PLAIN,
    }
}

/// The union of the bits of all gathered components; a word holds several components.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct UsedBits<const WATCH: Watch>(pub(crate) u64);

impl<const WATCH: Watch> UsedBits<WATCH> {
    /// Looks at whole components. The loops have no branch, so that they become vector
    /// instructions of the function into which this is compiled.
    #[inline(always)]
    pub(crate) fn look(&mut self, field: &Field, components: &[u8]) {
        macro_rules! sums {
            ($word:ty) => {{
                let sign = field.sign() as $word;
                let (words, _) = components.as_chunks::<{ size_of::<$word>() }>();
                let sums =
                    words.iter().map(|word| <$word>::from_le_bytes(*word).wrapping_add(sign));
                u64::from(sums.fold(0, |all, sum| all | sum))
            }};
        }
        self.0 |= match (WATCH, field.size) {
            (NOTHING, _) => return,
            (SUMS, 1) => sums!(u8),
            (SUMS, 2) => sums!(u16),
            (SUMS, 4) => sums!(u32),
            (SUMS, _) => sums!(u64),
            (_, _) => {
                let (words, rest) = components.as_chunks::<8>();
                let mut last = [0; 8];
                last[..rest.len()].copy_from_slice(rest);
                let words = words.iter().chain([&last]).map(|word| u64::from_le_bytes(*word));
                words.fold(0, |all, word| all | word)
            }
        };
    }

    /// Whether all components that were looked at are kept.
    pub(crate) fn is_kept(self, field: &Field) -> bool {
        let component = u64::MAX >> (64 - 8 * field.size);
        let outside = component & !field.mask();
        // In each component of the word.
        self.0 & (outside * (u64::MAX / component)) == 0
    }
}
