use super::{Dims, View};

impl View {
    /// The same elements in the same C order, in the fewest possible dimensions.
    ///
    /// Two neighbouring dimensions are merged if one dimension can replace them: the outer one
    /// continues the inner one, and all of the inner one is valid. Dimensions of size 1 are
    /// dropped.
    ///
    /// # Examples
    /// ```
    /// # use zarr_view::View;
    /// let view = View::contiguous(&[2, 3, 1, 4])?.permute(&[3, 0, 2, 1])?;
    /// assert_eq!(view.coalesce().shape(), [4, 6]);
    /// # Ok::<(), zarr_view::ViewError>(())
    /// ```
    #[must_use]
    pub fn coalesce(&self) -> Self {
        let mut above = self.len();
        let mut shape: Dims<usize> = Dims::new();
        if self.is_masked_out() {
            shape.push(above);
            return if above == 0 {
                Self::without_elements(shape)
            } else {
                Self::masked_out(shape)
            };
        }
        let relation = self.progressions();
        if self.mask.is_none() {
            // Its entries are the dimensions.
            let entries = || relation.list.iter().rev();
            let shape = entries().map(|run| run.extent).collect();
            let strides = entries().map(|run| run.stride).collect();
            return Self { shape, strides, offset: self.offset, mask: None };
        }
        // One dimension at the step of each entry: steps divide each other, as in a shape.
        for step in relation.list.iter().rev().map(|run| run.step) {
            shape.push(above / step);
            above = step;
        }
        if above > 1 {
            shape.push(above);
        }
        // Only the offset of a masked view may not be representable; then the view is returned
        // unchanged.
        match relation.realize(shape) {
            Ok(Some(view)) => view,
            _ => self.clone(),
        }
    }
}
