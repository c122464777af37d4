//! The contiguous runs of a view.

use crate::view::{Dims, View, signed};

/// A run of consecutive elements of a view, in C order.
///
/// # Examples
/// ```
/// use zarr_view::{Run, View};
///
/// let part = View::contiguous(&[6])?.shrink(&[2..5])?;
/// assert_eq!(part.runs().next(), Some(Run::Elements { position: 2, len: 3 }));
/// # Ok::<(), zarr_view::ViewError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Run {
    /// `len` elements at consecutive positions, starting at `position`.
    Elements {
        /// Position of the first element.
        position: usize,
        /// The number of elements, at least 1.
        len: usize,
    },
    /// `len` masked elements.
    Fill {
        /// The number of elements, at least 1.
        len: usize,
    },
}

/// The contiguous runs of a view; see [`View::runs`].
///
/// # Examples
/// ```
/// use zarr_view::View;
///
/// let columns = View::contiguous(&[4, 5])?.shrink(&[0..4, 0..3])?;
/// assert_eq!(columns.runs().count(), 4); // one for each row
/// # Ok::<(), zarr_view::ViewError>(())
/// ```
#[derive(Debug, Clone)]
pub struct Runs {
    view: View,
    /// Index of the next row: all dimensions except the last.
    row: Dims<usize>,
    /// Dimensions of the loop over rows; the last dimension lies within a row.
    rows_left: usize,
    /// The rest of the current row.
    pending: Pending,
    held: Option<Run>,
}

/// The three parts of a row: masked, valid, masked.
#[derive(Debug, Clone, Copy, Default)]
struct Pending {
    before: usize,
    position: usize,
    stride: isize,
    valid: usize,
    after: usize,
}

impl View {
    /// The elements in C order as the fewest possible runs, each masked or of consecutive
    /// positions.
    ///
    /// The cost is per run, not per element, if the innermost dimension of the
    /// [coalesced](View::coalesce) form has stride 1.
    ///
    /// # Examples
    /// ```
    /// use zarr_view::{Run, View};
    ///
    /// let view = View::contiguous(&[4, 5])?.shrink(&[1..3, 0..3])?.pad(&[(1, 0), (0, 0)])?;
    /// let runs: Vec<Run> = view.runs().collect();
    /// assert_eq!(
    ///     runs,
    ///     [
    ///         Run::Fill { len: 3 },
    ///         Run::Elements { position: 5, len: 3 },
    ///         Run::Elements { position: 10, len: 3 },
    ///     ],
    /// );
    /// # Ok::<(), zarr_view::ViewError>(())
    /// ```
    #[must_use]
    pub fn runs(&self) -> Runs {
        let view = self.coalesce();
        let rows = view.rank().saturating_sub(1);
        Runs {
            row: Dims::repeat(0, rows),
            rows_left: view.shape()[..rows].iter().product::<usize>()
                * usize::from(!view.is_empty()),
            pending: Pending::default(),
            held: None,
            view,
        }
    }
}

impl Runs {
    /// The next run, not yet merged with the run before.
    fn next_unmerged(&mut self) -> Option<Run> {
        loop {
            let pending = &mut self.pending;
            if pending.before > 0 {
                return Some(Run::Fill { len: core::mem::take(&mut pending.before) });
            }
            if pending.valid > 0 {
                let position = pending.position;
                let len = if pending.stride == 1 { pending.valid } else { 1 };
                pending.valid -= len;
                pending.position = position.wrapping_add_signed(pending.stride);
                return Some(Run::Elements { position, len });
            }
            if pending.after > 0 {
                return Some(Run::Fill { len: core::mem::take(&mut pending.after) });
            }
            if self.rows_left == 0 {
                return None;
            }
            self.pending = self.start_row();
        }
    }

    /// Starts the next row, or all rows at once that the mask hides together, and advances past
    /// them.
    fn start_row(&mut self) -> Pending {
        let rows = self.row.len();
        let size = self.view.shape().last().copied().unwrap_or(1);
        let mut position = self.view.offset();
        for axis in 0..rows {
            let ((lo, hi), i) = (self.view.valid(axis), self.row[axis]);
            if i < lo || i >= hi {
                // Nothing inside has been started: all indices up to the next valid one are
                // skipped at once.
                let indices = if i < lo { lo } else { self.view.shape()[axis] } - i;
                let inside: usize = self.view.shape()[axis + 1..rows].iter().product();
                self.row[axis] += indices - 1;
                self.skip(axis);
                self.rows_left -= indices * inside;
                return Pending { before: indices * inside * size, ..Pending::default() };
            }
            let moved = signed(i).wrapping_mul(self.view.strides()[axis]);
            position = position.wrapping_add(moved);
        }
        self.skip(rows);
        self.rows_left -= 1;
        if self.view.rank() == 0 {
            return Pending { position: position.cast_unsigned(), valid: 1, ..Pending::default() };
        }
        let (lo, hi) = self.view.valid(rows);
        let stride = self.view.strides()[rows];
        let position = position.wrapping_add(signed(lo).wrapping_mul(stride)).cast_unsigned();
        Pending { before: lo, position, stride, valid: hi - lo, after: size - hi }
    }

    /// Advances the row index along `axis`, or along the last axis, with a carry.
    fn skip(&mut self, axis: usize) {
        let end = (axis + 1).min(self.row.len());
        crate::view::advance(&mut self.row[..end], &self.view.shape()[..end]);
    }
}

impl Iterator for Runs {
    type Item = Run;

    fn next(&mut self) -> Option<Run> {
        let mut current = match self.held.take() {
            Some(run) => run,
            None => self.next_unmerged()?,
        };
        while let Some(next) = self.next_unmerged() {
            match (&mut current, next) {
                (Run::Fill { len }, Run::Fill { len: more }) => *len += more,
                (
                    Run::Elements { position, len },
                    Run::Elements { position: follows, len: more },
                ) if *position + *len == follows => *len += more,
                _ => {
                    self.held = Some(next);
                    break;
                }
            }
        }
        Some(current)
    }
}

impl core::iter::FusedIterator for Runs {}
