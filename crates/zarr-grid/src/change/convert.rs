//! From regular to rectilinear grids and back.

use crate::axis::storage::AxisStorage;
use crate::axis::{Axis, AxisKind};

impl Axis {
    /// The rectilinear axis that declares the same chunks; a rectilinear axis is returned unchanged.
    #[must_use]
    pub fn to_rectilinear(&self) -> Axis {
        match (self.kind(), self.storage()) {
            (AxisKind::Regular { .. }, layout) => {
                let layout = match (self.declared(), layout) {
                    (0, _) => AxisStorage::no_chunks(),
                    (_, layout) => layout.clone(),
                };
                let (declared, end) = (self.declared(), self.declared_end());
                Axis::from_parts(self.extent(), declared, end, layout, false)
            }
            _ => self.clone(),
        }
    }

    /// The regular axis that declares the same chunks, if there is one (SD-09). An empty list has
    /// none, as no edge is known.
    ///
    /// # Examples
    /// ```
    /// use zarr_grid::Axis;
    ///
    /// let regular = Axis::regular(10, 4)?;
    /// assert_eq!(regular.to_rectilinear().to_regular(), Some(regular));
    /// assert_eq!(Axis::from_edges(6, [4, 4, 4])?.to_regular(), None);
    /// # Ok::<(), zarr_grid::GridError>(())
    /// ```
    #[must_use]
    pub fn to_regular(&self) -> Option<Axis> {
        Axis::regular(self.extent(), self.regular_edge()?).ok()
    }
}
