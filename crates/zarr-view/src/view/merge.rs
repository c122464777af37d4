use alloc::vec::Vec;

use super::{View, signed};

/// Whether two neighbouring dimensions are one, and if not, why.
///
/// # Spec
/// "Conditions for mergeability" of tinygrad's pull request 2218, with corrections (SD-62): a split mask
/// may span whole rows, and a single valid index needs no size to divide.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Merge {
    /// One dimension can take the place of both.
    Merges,
    /// The outer dimension has several valid indices, and the mask cuts the inner one: the valid
    /// elements are not consecutive in C order.
    Masked {
        /// The valid indices of the inner dimension.
        valid: usize,
        /// The size of the inner dimension.
        size: usize,
    },
    /// The outer stride is 0 and the inner one is not: the inner elements occur several times,
    /// which no single stride expresses.
    Repeated {
        /// How often they occur.
        times: usize,
    },
    /// The outer stride does not continue the inner one.
    Stride {
        /// The inner stride times the inner size; none if that exceeds an `isize`.
        expected: Option<isize>,
        /// The outer stride.
        found: isize,
    },
}

impl View {
    /// For each pair of neighbouring dimensions, whether they merge into one.
    ///
    /// Entry `d` is about dimensions `d` and `d + 1`, and is [`Merge::Merges`] exactly if
    /// [`reshape`](View::reshape) to the shape with their product in place of both exists. The
    /// conditions, in this order:
    ///
    /// 1. A size of 1, or no valid index at all: they merge.
    /// 2. A single valid outer index: they merge (the mask of the result is where it lies).
    /// 3. Otherwise the inner dimension must be valid as a whole, and
    /// 4. the outer stride must be the inner stride times the inner size.
    ///
    /// Several pairs in a row merge together, unless a dimension of size 1 stands between them:
    /// drop those first.
    ///
    /// # Examples
    /// ```
    /// # use zarr_view::{Merge, View};
    /// let view = View::contiguous(&[2, 3, 4])?.permute(&[2, 0, 1])?;
    /// assert_eq!(
    ///     view.merges(),
    ///     [Merge::Stride { expected: Some(24), found: 1 }, Merge::Merges],
    /// );
    /// # Ok::<(), zarr_view::ViewError>(())
    /// ```
    #[must_use]
    pub fn merges(&self) -> Vec<Merge> {
        (1..self.rank()).map(|inner| self.merge(inner - 1, inner)).collect()
    }

    fn merge(&self, outer: usize, inner: usize) -> Merge {
        let size = self.shape[inner];
        if self.is_masked_out() || size == 1 || self.shape[outer] == 1 {
            return Merge::Merges;
        }
        let extent = |axis| {
            let (lo, hi) = self.valid(axis);
            hi - lo
        };
        let (times, valid) = (extent(outer), extent(inner));
        if times == 1 {
            return Merge::Merges;
        }
        if valid < size {
            return Merge::Masked { valid, size };
        }
        let expected = self.strides[inner].checked_mul(signed(size));
        let found = self.strides[outer];
        if expected == Some(found) {
            Merge::Merges
        } else if found == 0 {
            Merge::Repeated { times }
        } else {
            Merge::Stride { expected, found }
        }
    }
}
