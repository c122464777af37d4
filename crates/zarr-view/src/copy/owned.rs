use alloc::boxed::Box;
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::fmt;
use core::mem::ManuallyDrop;

use super::{Output, OutputGrid};
use crate::CopyError;
use crate::view::View;

/// Memory cut into parts that own it jointly: an [`OutputGrid`] for threads and tasks that
/// outlive the call that started them.
///
/// Nothing is borrowed, so a part can be sent anywhere and dropped there. The memory can be a
/// `Vec<u8>` or anything else that lends its bytes. [`into_inner`](OwnedGrid::into_inner) returns
/// it once all parts have been dropped; otherwise it is freed with the last of them. Clones share
/// the same memory.
///
/// # Examples
/// ```
/// use zarr_view::{OwnedGrid, View};
///
/// let grid = OwnedGrid::new(vec![0; 6], &View::contiguous(&[2, 3])?, 1, &[vec![], vec![1]])?;
/// let mut right = grid.take(&[0, 1]).expect("not taken yet");
/// assert!(grid.take(&[0, 1]).is_none());
/// let thread = std::thread::spawn(move || right.lend().fill(b"r"));
/// thread.join().expect("no panic")?;
/// assert_eq!(grid.into_inner().expect("no part is left"), b"\0rr\0rr");
/// # Ok::<(), zarr_view::CopyError>(())
/// ```
pub struct OwnedGrid<M = Vec<u8>> {
    shared: Arc<Shared<M>>,
}

/// A part of an [`OwnedGrid`]. It keeps the memory alive, and nothing else writes its elements.
pub struct OwnedOutput {
    /// A part of the memory that `_shared` keeps. It is never lent for longer than this part
    /// lives.
    output: Output<'static>,
    _shared: Arc<dyn Keep>,
}

struct Shared<M> {
    /// A grid of the elements in `memory`. Its parts never get out of this module without the
    /// memory.
    grid: OutputGrid<'static>,
    memory: Memory<M>,
}

/// Any value that is kept alive.
trait Keep: Send + Sync {}

impl<M: Send> Keep for Shared<M> {}

impl<M: AsMut<[u8]> + Send + 'static> OwnedGrid<M> {
    /// The elements, of `size` bytes, that `view` reaches in the bytes of `memory`, cut at the given
    /// indices of each axis.
    ///
    /// # Errors
    /// As [`Output::new`] and [`Output::grid`]; the memory is dropped then.
    pub fn new(
        memory: M,
        view: &View,
        size: usize,
        cuts: &[impl AsRef<[usize]>],
    ) -> Result<Self, CopyError> {
        let memory = Memory::new(memory);
        #[expect(unsafe_code, reason = "a grid next to the memory that it borrows")]
        // SAFETY: `memory` owns the value at this place, and does not read, move or free it
        // before `grid` and all parts are gone, so until then this borrow is the only way to it.
        // Both are kept in `Shared`; each part holds an `Arc` of it.
        let lent: &'static mut M = unsafe { &mut *memory.place };
        let grid = Output::new(lent.as_mut(), view, size)?.grid(cuts)?;
        Ok(Self { shared: Arc::new(Shared { grid, memory }) })
    }

    /// Takes a part. `None` if there is no such part or it has been taken.
    #[must_use]
    pub fn take(&self, part: &[usize]) -> Option<OwnedOutput> {
        let output = self.shared.grid.take(part)?;
        let shared: Arc<Shared<M>> = Arc::clone(&self.shared);
        Some(OwnedOutput { output, _shared: shared })
    }

    /// The memory as it was given, with the bytes that the parts have written.
    ///
    /// # Errors
    /// Returns the grid itself as the error if a part or a clone of it still exists.
    pub fn into_inner(self) -> Result<M, Self> {
        match Arc::try_unwrap(self.shared) {
            Ok(Shared { grid, memory }) => {
                drop(grid);
                Ok(memory.into_inner())
            }
            Err(shared) => Err(Self { shared }),
        }
    }
}

impl<M> Clone for OwnedGrid<M> {
    fn clone(&self) -> Self {
        Self { shared: Arc::clone(&self.shared) }
    }
}

impl<M> fmt::Debug for OwnedGrid<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OwnedGrid").field("grid", &self.shared.grid).finish_non_exhaustive()
    }
}

impl fmt::Debug for OwnedOutput {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OwnedOutput").field("output", &self.output).finish_non_exhaustive()
    }
}

impl OwnedOutput {
    /// The view of the memory.
    #[must_use]
    pub const fn view(&self) -> &View {
        self.output.view()
    }

    /// The part, to write to.
    #[must_use]
    pub fn lend(&mut self) -> Output<'_> {
        self.output.lend()
    }
}

/// An owned value at a place that never moves, so that nothing else can reach its bytes while
/// parts are written.
struct Memory<M> {
    place: *mut M,
}

#[expect(unsafe_code, reason = "the only owner of a value")]
// SAFETY: it owns its value as a `Box<M>` does.
unsafe impl<M: Send> Send for Memory<M> {}
#[expect(unsafe_code, reason = "the only owner of a value")]
// SAFETY: a shared reference to it allows no operation.
unsafe impl<M: Send> Sync for Memory<M> {}

impl<M> Memory<M> {
    fn new(memory: M) -> Self {
        Self { place: Box::into_raw(Box::new(memory)) }
    }

    fn into_inner(self) -> M {
        let memory = ManuallyDrop::new(self);
        #[expect(unsafe_code, reason = "takes a box back")]
        // SAFETY: the place comes from `Box::into_raw`, and `drop` is not run.
        let memory = unsafe { Box::from_raw(memory.place) };
        *memory
    }
}

impl<M> Drop for Memory<M> {
    fn drop(&mut self) {
        #[expect(unsafe_code, reason = "takes a box back")]
        // SAFETY: the place comes from `Box::into_raw`, and nothing uses it afterwards.
        drop(unsafe { Box::from_raw(self.place) });
    }
}
