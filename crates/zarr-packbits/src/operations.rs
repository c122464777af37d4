//! Packing and unpacking: the lengths are checked here, once; then the bits are moved.

use crate::{Error, Packing, PaddingEncoding, memory};

impl Packing {
    /// Packs all elements of `src` into `dst`, and zeroes the padding bits.
    ///
    /// # Shapes and units
    /// `src`: n elements; `dst`: [`packed_len`](Packing::packed_len) of n bytes, all overwritten.
    ///
    /// # Errors
    /// [`Error::UnpackedLength`] or [`Error::PackedLength`]; [`Error::Lost`] if the packing
    /// [refuses loss](Packing::refuse_loss).
    ///
    /// # Examples
    /// ```
    /// use zarr_packbits::Packing;
    ///
    /// // int4: the first element is in the lower half of the first byte
    /// let packing = Packing::builder(4).signed(true).build()?;
    /// let mut packed = [0; 2];
    /// packing.pack(&[0xff, 0x07, 0xf8], &mut packed)?;
    /// assert_eq!(packed, [0x7f, 0x08]);
    /// # Ok::<(), zarr_packbits::Error>(())
    /// ```
    ///
    /// # Spec
    /// zarr-extensions `codecs/packbits`, "Encoding and decoding multiple".
    pub fn pack(&self, src: &[u8], dst: &mut [u8]) -> Result<(), Error> {
        let elements = self.elements_in(src.len())?;
        self.check_packed_len(dst.len(), elements)?;
        if self.padding_bits(elements) > 0
            && let Some(last) = dst.last_mut()
        {
            *last = 0;
        }
        self.run_pack(src, dst, 0)
    }

    /// Unpacks all elements of `packed` into `dst`. Ignores the padding bits.
    ///
    /// # Shapes and units
    /// `packed`: [`packed_len`](Packing::packed_len) of n bytes; `dst`: n elements, all
    /// overwritten.
    ///
    /// # Errors
    /// [`Error::UnpackedLength`] or [`Error::PackedLength`].
    ///
    /// # Spec
    /// zarr-extensions `codecs/packbits`, "Encoding/decoding of individual array elements".
    pub fn unpack(&self, packed: &[u8], dst: &mut [u8]) -> Result<(), Error> {
        let elements = self.elements_in(dst.len())?;
        self.check_packed_len(packed.len(), elements)?;
        memory::unpack(self.kernel, &self.field, packed, 0, dst);
        Ok(())
    }

    /// Packs `src` into the encoded chunk `encoded`, starting at element `first`, and changes no
    /// bit of any other element, nor the padding byte.
    ///
    /// Ranges that start and end at multiples of eight elements share no byte, so a chunk may be
    /// split there for several threads.
    ///
    /// # Examples
    /// ```
    /// use zarr_packbits::{Packing, PaddingEncoding};
    ///
    /// let packing = Packing::builder(4).build()?;
    /// let mut packed = [0x11, 0x11, 0x11];
    /// packing.pack_range(&[2, 3, 4], PaddingEncoding::None, 1, &mut packed)?;
    /// assert_eq!(packed, [0x21, 0x43, 0x11]);
    /// let mut encoded = [4, 0x11, 0x11, 0x01]; // five elements, after their padding byte
    /// packing.pack_range(&[2, 3, 4], PaddingEncoding::FirstByte, 1, &mut encoded)?;
    /// assert_eq!(encoded, [4, 0x21, 0x43, 0x01]);
    /// # Ok::<(), zarr_packbits::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::UnpackedLength`], [`Error::PackedTooShort`] or [`Error::TooManyElements`];
    /// [`Error::Lost`] if the packing [refuses loss](Packing::refuse_loss).
    pub fn pack_range(
        &self,
        src: &[u8],
        padding: PaddingEncoding,
        first: usize,
        encoded: &mut [u8],
    ) -> Result<(), Error> {
        let range = padding.packed_in(encoded.len());
        let packed = &mut encoded[range];
        let elements = self.elements_in(src.len())?;
        let at = self.checked_position(first)?;
        self.check_fits(packed.len(), at, elements)?;
        self.run_pack(src, &mut packed[at.0..], at.1)
    }

    /// Unpacks elements of the encoded chunk `encoded`, starting at element `first`, as many as
    /// `dst` holds. Skips the padding byte, and does not check it: the number of all elements is
    /// not known here.
    ///
    /// # Examples
    /// ```
    /// use zarr_packbits::{Packing, PaddingEncoding};
    ///
    /// let packing = Packing::builder(4).build()?;
    /// let mut out = [0; 3];
    /// packing.unpack_range(&[0x21, 0x43, 0x65], PaddingEncoding::None, 1, &mut out)?;
    /// assert_eq!(out, [2, 3, 4]);
    /// packing.unpack_range(&[0, 0x21, 0x43, 0x65], PaddingEncoding::FirstByte, 1, &mut out)?;
    /// assert_eq!(out, [2, 3, 4]);
    /// # Ok::<(), zarr_packbits::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::UnpackedLength`], [`Error::PackedTooShort`] or [`Error::TooManyElements`].
    pub fn unpack_range(
        &self,
        encoded: &[u8],
        padding: PaddingEncoding,
        first: usize,
        dst: &mut [u8],
    ) -> Result<(), Error> {
        let packed = &encoded[padding.packed_in(encoded.len())];
        let elements = self.elements_in(dst.len())?;
        let at = self.checked_position(first)?;
        self.check_fits(packed.len(), at, elements)?;
        memory::unpack(self.kernel, &self.field, &packed[at.0..], at.1, dst);
        Ok(())
    }

    /// Packs `src` into `packed`, starting at bit `bit`, and changes no other bit.
    ///
    /// `packed` may be any part of a chunk, such as the bytes of
    /// [`byte_range`](Packing::byte_range).
    ///
    /// # Errors
    /// [`Error::UnpackedLength`] or [`Error::PackedTooShort`]; [`Error::Lost`] if the packing
    /// [refuses loss](Packing::refuse_loss).
    pub fn pack_at(&self, src: &[u8], bit: usize, packed: &mut [u8]) -> Result<(), Error> {
        let elements = self.elements_in(src.len())?;
        self.check_fits(packed.len(), (bit / 8, bit % 8), elements)?;
        self.run_pack(src, &mut packed[bit / 8..], bit % 8)
    }

    /// Unpacks elements, starting at bit `bit` of `packed`, as many as `dst` holds.
    ///
    /// `packed` may be any part of a chunk, such as the bytes of
    /// [`byte_range`](Packing::byte_range). It may be longer than the elements.
    ///
    /// # Examples
    /// ```
    /// use zarr_packbits::{Packing, PaddingEncoding};
    ///
    /// // Elements 5 and 6 of six bits each, from the bytes that contain them.
    /// let packing = Packing::builder(6).build()?;
    /// let chunk = [0x41, 0x21, 0x0c, 0x44, 0x61, 0x1c]; // 1 5 2 3 4 5 6 7
    /// let range = packing.byte_range(5, 2, PaddingEncoding::None).unwrap();
    /// let mut out = [0; 2];
    /// packing.unpack_at(&chunk[range.bytes], range.bit, &mut out)?;
    /// assert_eq!(out, [5, 6]);
    /// # Ok::<(), zarr_packbits::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::UnpackedLength`] or [`Error::PackedTooShort`].
    pub fn unpack_at(&self, packed: &[u8], bit: usize, dst: &mut [u8]) -> Result<(), Error> {
        let elements = self.elements_in(dst.len())?;
        self.check_fits(packed.len(), (bit / 8, bit % 8), elements)?;
        memory::unpack(self.kernel, &self.field, &packed[bit / 8..], bit % 8, dst);
        Ok(())
    }

    /// Packs `src` from bit `bit` (0 to 7) of `dst` on, if there is room for it.
    fn run_pack(&self, src: &[u8], dst: &mut [u8], bit: usize) -> Result<(), Error> {
        if !self.refuses_loss {
            memory::pack(self.kernel, &self.field, src, dst, bit);
        } else if !memory::pack_kept(self.kernel, &self.field, src, dst, bit)
            && let Some(element) = self.lost(src)?.next()
        {
            let (first_bit, last_bit) = (self.first_bit(), self.last_bit());
            return Err(Error::Lost { element, first_bit, last_bit });
        }
        Ok(())
    }

    pub(crate) fn elements_in(&self, found: usize) -> Result<usize, Error> {
        let element_size = self.element_size();
        if !found.is_multiple_of(element_size) {
            return Err(Error::UnpackedLength { found, element_size });
        }
        Ok(found / element_size)
    }

    pub(crate) fn check_packed_len(&self, found: usize, elements: usize) -> Result<(), Error> {
        let bits = self.bits();
        let expected =
            self.packed_len(elements).ok_or(Error::TooManyElements { end: elements, bits })?;
        if found != expected {
            return Err(Error::PackedLength { found, expected, elements, bits });
        }
        Ok(())
    }

    fn checked_position(&self, element: usize) -> Result<(usize, usize), Error> {
        self.position(element).ok_or(Error::TooManyElements { end: element, bits: self.bits() })
    }

    /// Checks that `elements` elements, starting at a byte and a bit of it, end within `found`
    /// bytes.
    fn check_fits(
        &self,
        found: usize,
        (byte, bit): (usize, usize),
        elements: usize,
    ) -> Result<(), Error> {
        let end = self.position(elements).and_then(|(whole, rest)| {
            byte.checked_add(whole)?.checked_add((bit + rest).div_ceil(8))
        });
        match end {
            Some(end) if end <= found => Ok(()),
            _ => Err(Error::PackedTooShort { found, byte, bit, elements, bits: self.bits() }),
        }
    }
}
