//! Ranges in pieces that stay in the cache, for destinations and sources that are not contiguous.

use core::ops::Range;

use crate::{Error, Packing};

/// Element ranges that cover a range in order; see [`Packing::tiles`].
#[derive(Debug, Clone)]
pub struct Tiles {
    rest: Range<usize>,
    step: usize,
}

impl Iterator for Tiles {
    type Item = Range<usize>;

    fn next(&mut self) -> Option<Range<usize>> {
        if self.rest.is_empty() {
            return None;
        }
        // All but the first start at a multiple of the step, which is one of 64 if it can be.
        let start = self.rest.start;
        let aligned = (start / self.step).checked_add(1).and_then(|t| t.checked_mul(self.step));
        let end = aligned.map_or(self.rest.end, |end| end.min(self.rest.end));
        self.rest.start = end;
        Some(start..end)
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        let Range { start, end } = self.rest;
        let count = if start < end { end.div_ceil(self.step) - start / self.step } else { 0 };
        (count, Some(count))
    }
}

impl ExactSizeIterator for Tiles {}

impl core::iter::FusedIterator for Tiles {}

impl Packing {
    /// Splits a range of elements into tiles of at most `tile_bytes` unpacked bytes.
    ///
    /// All tiles but the first start at the same multiple of elements, one of 64 where
    /// `tile_bytes` has room for so many: there a packed element starts at a byte, and kernels run
    /// at full speed. 16 to 32 KiB suit the first-level caches of today.
    ///
    /// # Examples
    /// ```
    /// use zarr_packbits::Packing;
    ///
    /// let packing = Packing::builder(16).last_bit(9).build()?; // two bytes an element
    /// let tiles: Vec<_> = packing.tiles(100..300, 256)?.collect();
    /// assert_eq!(tiles, [100..128, 128..256, 256..300]);
    /// # Ok::<(), zarr_packbits::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::TileLength`] if not even one element fits, [`Error::ElementRange`] if the range
    /// ends before it starts.
    pub fn tiles(&self, elements: Range<usize>, tile_bytes: usize) -> Result<Tiles, Error> {
        let element_size = self.element_size();
        let Range { start, end } = elements;
        if start > end {
            return Err(Error::ElementRange { start, end });
        }
        let step = match tile_bytes / element_size {
            0 => return Err(Error::TileLength { found: tile_bytes, element_size }),
            few @ 1..64 => few,
            many => many / 64 * 64,
        };
        Ok(Tiles { rest: elements, step })
    }

    /// Unpacks a range of elements tile by tile into `scratch`, and hands each on while it is in
    /// the cache: `consume` gets the index of the tile's first element and its unpacked bytes.
    ///
    /// # Shapes and units
    /// `packed`: the chunk from its first element on; `scratch`: one tile, best 16 to 32 KiB.
    ///
    /// # Errors
    /// As [`tiles`](Packing::tiles) and [`unpack_range`](Packing::unpack_range).
    ///
    /// # Examples
    /// ```
    /// use zarr_packbits::Packing;
    ///
    /// // every second place of the destination
    /// let packing = Packing::builder(4).build()?;
    /// let mut out = [0; 8];
    /// packing.unpack_tiles(&[0x21, 0x43], 0..4, &mut [0; 2], |first, tile| {
    ///     for (i, value) in tile.iter().enumerate() {
    ///         out[2 * (first + i)] = *value;
    ///     }
    /// })?;
    /// assert_eq!(out, [1, 0, 2, 0, 3, 0, 4, 0]);
    /// # Ok::<(), zarr_packbits::Error>(())
    /// ```
    pub fn unpack_tiles(
        &self,
        packed: &[u8],
        elements: Range<usize>,
        scratch: &mut [u8],
        mut consume: impl FnMut(usize, &[u8]),
    ) -> Result<(), Error> {
        for range in self.tiles(elements, scratch.len())? {
            let tile = &mut scratch[..range.len() * self.element_size()];
            self.unpack_range(packed, range.start, tile)?;
            consume(range.start, tile);
        }
        Ok(())
    }

    /// Packs a range of elements tile by tile from `scratch`, which `fill` fills: it gets the index
    /// of the tile's first element and the bytes to write, which hold an earlier tile. Bits of
    /// elements outside the range are not changed.
    ///
    /// # Shapes and units
    /// `packed`: the chunk from its first element on; `scratch`: one tile, best 16 to 32 KiB.
    ///
    /// # Errors
    /// As [`tiles`](Packing::tiles) and [`pack_range`](Packing::pack_range).
    pub fn pack_tiles(
        &self,
        elements: Range<usize>,
        scratch: &mut [u8],
        packed: &mut [u8],
        mut fill: impl FnMut(usize, &mut [u8]),
    ) -> Result<(), Error> {
        for range in self.tiles(elements, scratch.len())? {
            let tile = &mut scratch[..range.len() * self.element_size()];
            fill(range.start, tile);
            self.pack_range(tile, range.start, packed)?;
        }
        Ok(())
    }
}
