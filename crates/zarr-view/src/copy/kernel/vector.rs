//! Vectors of whole lanes of 16 bytes.

/// Bytes of a lane.
pub(super) const LANE: usize = 16;

/// Some lanes of [`LANE`] bytes, all treated alike.
///
/// Implementations may need instructions that not every processor has: their methods may be called
/// only where the processor is known to have them, besides what each asks for.
pub(super) trait Vector: Copy {
    /// The number of lanes.
    const LANES: usize;

    /// Loads each lane from an address of its own.
    ///
    /// # Safety
    /// `lane(i)` is valid for reads of 16 bytes for each `i` below `LANES`.
    unsafe fn gather(lane: impl Fn(usize) -> *const u8) -> Self;

    /// Interleaves the lanes of two vectors in units of `N` bytes, 1, 2, 4 or 8: first what comes
    /// of the lower halves, then of the upper ones.
    ///
    /// # Safety
    /// The instructions exist.
    unsafe fn interleave<const N: usize>(self, other: Self) -> (Self, Self);

    /// Loads all lanes, one behind the other.
    ///
    /// # Safety
    /// `from` is valid for reads of that many bytes.
    unsafe fn load(from: *const u8) -> Self;

    /// Writes each lane to an address of its own.
    ///
    /// # Safety
    /// `lane(i)` is valid for writes of 16 bytes for each `i` below `LANES`.
    unsafe fn scatter(self, lane: impl Fn(usize) -> *mut u8);

    /// Transposes the lanes of as many vectors.
    ///
    /// # Safety
    /// The instructions exist.
    unsafe fn cross(vectors: &mut [Self]);

    /// Writes all lanes, one behind the other.
    ///
    /// # Safety
    /// `to` is valid for writes of that many bytes.
    unsafe fn store(self, to: *mut u8);
}

/// One lane, without intrinsics.
#[derive(Clone, Copy)]
pub(super) struct Plain([u8; LANE]);

impl Vector for Plain {
    const LANES: usize = 1;

    #[inline(always)]
    unsafe fn gather(lane: impl Fn(usize) -> *const u8) -> Self {
        // SAFETY: `lane(0)` is valid for reads of 16 bytes, as the caller knows; bytes need no
        // alignment.
        Self(unsafe { lane(0).cast::<[u8; LANE]>().read() })
    }

    #[inline(always)]
    unsafe fn interleave<const N: usize>(self, other: Self) -> (Self, Self) {
        let half = |from: usize| {
            core::array::from_fn(|i| {
                let (unit, byte) = (i / N, i % N);
                let source = if unit.is_multiple_of(2) { &self.0 } else { &other.0 };
                source[from + unit / 2 * N + byte]
            })
        };
        (Self(half(0)), Self(half(LANE / 2)))
    }

    #[inline(always)]
    unsafe fn load(from: *const u8) -> Self {
        // SAFETY: `from` is valid for reads of 16 bytes, as the caller knows.
        unsafe { Self::gather(|_| from) }
    }

    #[inline(always)]
    unsafe fn scatter(self, lane: impl Fn(usize) -> *mut u8) {
        // SAFETY: `lane(0)` is valid for writes of 16 bytes, as the caller knows.
        unsafe { self.store(lane(0)) }
    }

    #[inline(always)]
    unsafe fn cross(_: &mut [Self]) {}

    #[inline(always)]
    unsafe fn store(self, to: *mut u8) {
        // SAFETY: `to` is valid for writes of 16 bytes, as the caller knows; bytes need no alignment.
        unsafe { to.cast::<[u8; LANE]>().write(self.0) }
    }
}
