use alloc::vec::Vec;

use crate::view::View;

impl View {
    /// Cuts that divide the view into at least `parts` boxes, for example one per thread. The cuts
    /// of a dimension are an increasing list of indices, as [`Output::grid`](crate::Output::grid)
    /// takes them.
    ///
    /// The outermost dimensions are cut first, into nearly equal pieces, so that each box stays
    /// as contiguous as possible. If there are at least `parts` elements, there are at least
    /// `parts` boxes, and fewer than twice as many.
    ///
    /// # Examples
    /// ```
    /// # use zarr_view::View;
    /// let cuts = View::contiguous(&[3, 100])?.split(6);
    /// assert_eq!(cuts, [vec![1, 2], vec![50]]);
    /// # Ok::<(), zarr_view::ViewError>(())
    /// ```
    #[must_use]
    pub fn split(&self, parts: usize) -> Vec<Vec<usize>> {
        let mut needed = parts.max(1);
        self.shape
            .iter()
            .map(|&size| {
                let pieces = size.min(needed).max(1);
                needed = needed.div_ceil(pieces);
                // Below `size`, since i < pieces.
                (1..pieces).map(|i| (size as u128 * i as u128 / pieces as u128) as usize).collect()
            })
            .collect()
    }
}
