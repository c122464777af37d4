use alloc::vec::Vec;
use core::ops::Range;
use core::sync::atomic::{AtomicU8, Ordering};

use smallvec::SmallVec;

use super::Output;
use crate::view::Dims;
use crate::{CopyError, ViewError};

/// The parts of an output between cuts along each axis. Any thread can take a part, once.
///
/// It stores the cuts, and one bit per part.
///
/// # Examples
/// ```
/// use zarr_view::{Output, View};
///
/// let view = View::contiguous(&[4, 6])?;
/// let mut buffer = [0_u8; 24];
/// let grid = Output::new(&mut buffer, &view, 1)?.grid(&[vec![1], vec![2, 4]])?;
/// assert_eq!(grid.shape(), [2, 3]);
/// let mut part = grid.take(&[1, 2]).expect("not taken yet");
/// assert_eq!(part.view().shape(), [3, 2]);
/// part.fill(b"x")?;
/// assert!(grid.take(&[1, 2]).is_none());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct OutputGrid<'a> {
    whole: Output<'a>,
    /// The cuts of each axis, between 0 and the size.
    edges: SmallVec<[Edges; 6]>,
    shape: Dims<usize>,
    taken: SmallVec<[AtomicU8; 16]>,
}

/// Two for an axis without cuts, which most have in a small output: no larger than a vector.
type Edges = SmallVec<[usize; 2]>;

impl<'a> Output<'a> {
    /// Cuts the output into a grid of parts, at the given indices of each axis.
    ///
    /// `cuts[d]` increases within `1..size`; n cuts make n + 1 parts along axis `d`.
    /// [`View::split`](crate::View::split) proposes cuts for a number of threads.
    ///
    /// # Errors
    /// [`CopyError::Cut`] if cuts do not increase within the axis; [`ViewError::Rank`] unless there
    /// is one list per axis; [`CopyError::Memory`] if one bit per part does not fit in memory.
    pub fn grid(self, cuts: &[impl AsRef<[usize]>]) -> Result<OutputGrid<'a>, CopyError> {
        OutputGrid::new(self, cuts)
    }
}

impl<'a> OutputGrid<'a> {
    fn new(whole: Output<'a>, cuts: &[impl AsRef<[usize]>]) -> Result<Self, CopyError> {
        let sizes = whole.view().shape();
        if cuts.len() != sizes.len() {
            return Err(ViewError::Rank { expected: sizes.len(), found: cuts.len() }.into());
        }
        let mut edges: SmallVec<[Edges; 6]> = SmallVec::new();
        let mut parts = 1_usize;
        for (axis, (cuts, &size)) in cuts.iter().map(AsRef::as_ref).zip(sizes).enumerate() {
            let memory =
                || CopyError::Memory { bytes: cuts.len().saturating_mul(size_of::<usize>()) };
            let mut list = Edges::new();
            list.try_reserve_exact(cuts.len() + 2).map_err(|_| memory())?;
            list.push(0);
            for &cut in cuts {
                if cut >= size || list.last().is_some_and(|&last| cut <= last) {
                    return Err(CopyError::Cut { axis, cut, size });
                }
                list.push(cut);
            }
            list.push(size);
            edges.push(list);
            // No more parts than elements, except along axes of size 0 or 1.
            parts = parts.saturating_mul(cuts.len() + 1);
        }
        let bytes = parts.div_ceil(8);
        let mut taken = SmallVec::new();
        taken.try_reserve_exact(bytes).map_err(|_| CopyError::Memory { bytes })?;
        taken.resize_with(bytes, || AtomicU8::new(0));
        let shape = edges.iter().map(|list| list.len() - 1).collect();
        Ok(Self { whole, edges, shape, taken })
    }

    /// The number of parts along each axis.
    #[must_use]
    pub fn shape(&self) -> &[usize] {
        &self.shape
    }

    /// The indices of the whole output that a part covers; `None` if there is no such part.
    #[must_use]
    pub fn ranges(&self, part: &[usize]) -> Option<Vec<Range<usize>>> {
        self.bounds(part).map(SmallVec::into_vec)
    }

    /// As [`ranges`](OutputGrid::ranges), without an allocation.
    fn bounds(&self, part: &[usize]) -> Option<SmallVec<[Range<usize>; 6]>> {
        if part.len() != self.shape.len() {
            return None;
        }
        let range = |(&i, edges): (&usize, &Edges)| Some(*edges.get(i)?..*edges.get(i + 1)?);
        part.iter().zip(&self.edges).map(range).collect()
    }

    /// Takes a part. `None` if there is no such part or it has been taken.
    #[must_use]
    pub fn take(&self, part: &[usize]) -> Option<Output<'a>> {
        let ranges = self.bounds(part)?;
        let view = self.whole.view().shrink(&ranges).ok()?;
        let number = part.iter().zip(&self.shape).fold(0, |number, (&i, &size)| number * size + i);
        let bit = 1 << (number % 8);
        // Only the bit itself is shared, so the order of other memory accesses does not matter.
        let before = self.taken.get(number / 8)?.fetch_or(bit, Ordering::Relaxed);
        if before & bit != 0 {
            return None;
        }
        #[expect(unsafe_code, reason = "hands out the disjoint parts of an output")]
        // SAFETY: the part is a box of the whole, which the grid never writes itself; different
        // parts share no index and so no position, and the bit lets this one be taken once.
        Some(unsafe { self.whole.part(view) })
    }
}
