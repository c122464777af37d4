//! Whole encoded chunks: the packed bits and the byte that counts the padding bits.

use crate::{BitOrder, Error, Packing, PaddingEncoding};

impl Packing {
    /// Bytes of an encoded chunk of `elements` elements, including the padding byte.
    ///
    /// `None` if that exceeds `usize`.
    #[must_use]
    pub fn encoded_len(&self, elements: usize, padding: PaddingEncoding) -> Option<usize> {
        self.packed_len(elements)?.checked_add(padding.extra_len())
    }

    /// Encodes a whole chunk: packs all elements of `src`, pads, and writes the padding byte.
    ///
    /// # Shapes and units
    /// `src`: n elements; `dst`: [`encoded_len`](Packing::encoded_len) of n bytes, all overwritten.
    ///
    /// # Errors
    /// [`Error::UnpackedLength`] or [`Error::EncodedLength`]; [`Error::Lost`] if the packing
    /// [refuses loss](Packing::refuse_loss).
    ///
    /// # Examples
    /// ```
    /// use zarr_packbits::{Packing, PaddingEncoding};
    ///
    /// // bool: seven padding bits
    /// let packing = Packing::builder(1).build()?;
    /// let mut encoded = [0; 3];
    /// packing.encode(&[1, 0, 0, 0, 0, 0, 0, 0, 1], PaddingEncoding::FirstByte, &mut encoded)?;
    /// assert_eq!(encoded, [7, 0x01, 0x01]);
    /// # Ok::<(), zarr_packbits::Error>(())
    /// ```
    ///
    /// # Spec
    /// zarr-extensions `codecs/packbits`, "Encoding and decoding multiple".
    pub fn encode(
        &self,
        src: &[u8],
        padding: PaddingEncoding,
        dst: &mut [u8],
    ) -> Result<(), Error> {
        let elements = self.elements_in(src.len())?;
        self.check_encoded_len(dst.len(), elements, padding)?;
        let count = self.padding_bits(elements);
        let packed = match (padding, dst) {
            (PaddingEncoding::FirstByte, [first, rest @ ..]) => {
                *first = count;
                rest
            }
            (PaddingEncoding::LastByte, [rest @ .., last]) => {
                *last = count;
                rest
            }
            (_, dst) => dst,
        };
        self.pack(src, packed)
    }

    /// Decodes a whole chunk: checks its length and its padding byte, and unpacks all elements.
    ///
    /// Padding bits that are not zero are accepted (SD-16); see
    /// [`padding_is_zero`](Packing::padding_is_zero).
    ///
    /// # Shapes and units
    /// `encoded`: [`encoded_len`](Packing::encoded_len) of n bytes; `dst`: n elements.
    ///
    /// # Errors
    /// [`Error::UnpackedLength`], or as [`packed_part`](Packing::packed_part).
    pub fn decode(
        &self,
        encoded: &[u8],
        padding: PaddingEncoding,
        dst: &mut [u8],
    ) -> Result<(), Error> {
        let elements = self.elements_in(dst.len())?;
        self.unpack(self.packed_part(encoded, elements, padding)?, dst)
    }

    /// The bytes of an encoded chunk of `elements` elements without its padding byte, after checking
    /// its length and that byte.
    ///
    /// # Errors
    /// [`Error::EncodedLength`], [`Error::MissingPaddingByte`], [`Error::PaddingByte`] or
    /// [`Error::TooManyElements`].
    pub fn packed_part<'a>(
        &self,
        encoded: &'a [u8],
        elements: usize,
        padding: PaddingEncoding,
    ) -> Result<&'a [u8], Error> {
        self.check_encoded_len(encoded.len(), elements, padding)?;
        let range = padding.packed_in(encoded.len());
        let position = match padding {
            PaddingEncoding::None => return Ok(encoded),
            PaddingEncoding::FirstByte => 0,
            PaddingEncoding::LastByte => range.end,
        };
        let (found, expected) = (encoded[position], self.padding_bits(elements));
        if found != expected {
            let bits = self.bits();
            return Err(Error::PaddingByte { position, found, expected, elements, bits });
        }
        Ok(&encoded[range])
    }

    /// Whether the padding bits of `packed`, which ends with the last of `elements` elements, are
    /// zero, as the specification requires of writers. True if there are none.
    ///
    /// # Errors
    /// [`Error::PackedLength`] or [`Error::TooManyElements`].
    pub fn padding_is_zero(&self, packed: &[u8], elements: usize) -> Result<bool, Error> {
        self.check_packed_len(packed.len(), elements)?;
        let count = u32::from(self.padding_bits(elements));
        let last = packed.last().copied().unwrap_or(0);
        Ok(match self.bit_order() {
            BitOrder::LsbFirst => last.leading_zeros() >= count,
            BitOrder::MsbFirst => last.trailing_zeros() >= count,
        })
    }

    fn check_encoded_len(
        &self,
        found: usize,
        elements: usize,
        padding: PaddingEncoding,
    ) -> Result<(), Error> {
        let bits = self.bits();
        let expected = self
            .encoded_len(elements, padding)
            .ok_or(Error::TooManyElements { end: elements, bits })?;
        if found == expected {
            Ok(())
        } else if self.is_full_width() && found + 1 == expected && padding.extra_len() == 1 {
            Err(Error::MissingPaddingByte { found, expected, padding })
        } else {
            Err(Error::EncodedLength { found, expected, elements, bits, padding })
        }
    }
}
