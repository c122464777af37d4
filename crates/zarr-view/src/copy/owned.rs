use alloc::sync::Arc;
use alloc::vec::Vec;
use core::mem::ManuallyDrop;

use super::{Output, OutputGrid};
use crate::CopyError;
use crate::view::View;

/// A vector cut into parts that own it together: an [`OutputGrid`] for threads and tasks that
/// outlive the call that began them.
///
/// Nothing is borrowed, so that a part can be sent anywhere and forgotten there. The vector comes
/// back from [`into_vec`](OwnedGrid::into_vec) once its parts have been dropped, and is freed with
/// the last of them if nobody asks for it. Clones are of the same vector.
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
/// assert_eq!(grid.into_vec().expect("no part is left"), b"\0rr\0rr");
/// # Ok::<(), zarr_view::CopyError>(())
/// ```
#[derive(Debug, Clone)]
pub struct OwnedGrid {
    shared: Arc<Shared>,
}

/// A part of an [`OwnedGrid`], which keeps the vector alive and is the only one to write its
/// elements.
#[derive(Debug)]
pub struct OwnedOutput {
    /// Of the vector that `_shared` keeps, and never lent for longer than this part lives.
    output: Output<'static>,
    _shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    /// Of the elements in `memory`. Its parts leave this module with the vector beside them alone.
    grid: OutputGrid<'static>,
    memory: Memory,
}

impl OwnedGrid {
    /// The elements, of `size` bytes, that `view` reaches in `buffer`, cut at the given indices of
    /// each axis.
    ///
    /// # Errors
    /// As [`Output::new`] and [`Output::grid`]; the vector is then gone.
    pub fn new(
        buffer: Vec<u8>,
        view: &View,
        size: usize,
        cuts: &[impl AsRef<[usize]>],
    ) -> Result<Self, CopyError> {
        let memory = Memory::new(buffer);
        #[expect(unsafe_code, reason = "a grid beside the vector that it is of")]
        // SAFETY: these are the vector's initialised bytes, which nothing else leads to: `memory`
        // has given up the vector, and neither reads nor frees it before `grid` and all parts are
        // gone. Both are kept in `Shared`, the parts beside an `Arc` of it.
        let bytes: &'static mut [u8] =
            unsafe { core::slice::from_raw_parts_mut(memory.start, memory.len) };
        let grid = Output::new(bytes, view, size)?.grid(cuts)?;
        Ok(Self { shared: Arc::new(Shared { grid, memory }) })
    }

    /// Takes a part. None if there is no such part, or it has been taken.
    #[must_use]
    pub fn take(&self, part: &[usize]) -> Option<OwnedOutput> {
        let output = self.shared.grid.take(part)?;
        Some(OwnedOutput { output, _shared: Arc::clone(&self.shared) })
    }

    /// The vector, as long and as large as it was given, with what the parts have written.
    ///
    /// # Errors
    /// The grid itself, if a part of it or a clone is still somewhere.
    pub fn into_vec(self) -> Result<Vec<u8>, Self> {
        match Arc::try_unwrap(self.shared) {
            Ok(Shared { grid, memory }) => {
                drop(grid);
                Ok(memory.into_vec())
            }
            Err(shared) => Err(Self { shared }),
        }
    }
}

impl OwnedOutput {
    /// The view of the vector.
    #[must_use]
    pub const fn view(&self) -> &View {
        self.output.view()
    }

    /// The part, to be written.
    #[must_use]
    pub fn lend(&mut self) -> Output<'_> {
        let view = self.output.view().clone();
        #[expect(unsafe_code, reason = "lends a part as itself")]
        // SAFETY: the same view.
        unsafe {
            self.output.reborrow(view)
        }
    }
}

/// A vector in pieces, so that there is no second way to its elements while parts are written.
#[derive(Debug)]
struct Memory {
    start: *mut u8,
    len: usize,
    capacity: usize,
}

#[expect(unsafe_code, reason = "the only owner of a vector's memory")]
// SAFETY: it owns its memory as a `Vec<u8>` does, which can be sent.
unsafe impl Send for Memory {}
#[expect(unsafe_code, reason = "the only owner of a vector's memory")]
// SAFETY: a shared one does nothing.
unsafe impl Sync for Memory {}

impl Memory {
    fn new(buffer: Vec<u8>) -> Self {
        let mut buffer = ManuallyDrop::new(buffer);
        Self { start: buffer.as_mut_ptr(), len: buffer.len(), capacity: buffer.capacity() }
    }

    fn into_vec(self) -> Vec<u8> {
        let memory = ManuallyDrop::new(self);
        #[expect(unsafe_code, reason = "puts a vector together again")]
        // SAFETY: these are the pieces of a vector that was given up, and `drop` does not come.
        unsafe {
            Vec::from_raw_parts(memory.start, memory.len, memory.capacity)
        }
    }
}

impl Drop for Memory {
    fn drop(&mut self) {
        #[expect(unsafe_code, reason = "puts a vector together again")]
        // SAFETY: these are the pieces of a vector that was given up, and nothing uses them after.
        drop(unsafe { Vec::from_raw_parts(self.start, self.len, self.capacity) });
    }
}
