//! Vectors of whole lanes of 16 bytes.

#[cfg(all(target_arch = "aarch64", target_feature = "neon", target_endian = "little"))]
mod neon;
#[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
pub(super) mod vbmi;
#[cfg(all(target_arch = "wasm32", target_feature = "simd128"))]
mod wasm;
#[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
pub(super) mod x86;

/// Bytes of a lane.
pub(super) const LANE: usize = 16;

/// Bytes of a word, half a lane.
pub(super) const WORD: usize = 8;

/// The vectors of a processor that has only vectors of one lane.
#[cfg(all(target_arch = "aarch64", target_feature = "neon", target_endian = "little"))]
pub(super) type OneLane = core::arch::aarch64::uint8x16_t;
/// The vectors of a processor that has only vectors of one lane.
#[cfg(all(target_arch = "wasm32", target_feature = "simd128"))]
pub(super) type OneLane = core::arch::wasm32::v128;

/// Some lanes of [`LANE`] bytes (one kind has a single lane of 64), all treated the same.
///
/// Implementations may need instructions that not every processor has. Their methods may be called
/// only if the processor is known to have them; each method states its further requirements.
pub(super) trait Vector: Copy {
    /// The number of lanes.
    const LANES: usize;

    /// Loads each lane from its own address.
    ///
    /// # Safety
    /// `lane(i)` is valid for reads of a lane for each `i` below `LANES`.
    unsafe fn gather(lane: impl Fn(usize) -> *const u8) -> Self;

    /// Loads all lanes from consecutive addresses.
    ///
    /// # Safety
    /// `from` is valid for reads of that many bytes.
    unsafe fn load(from: *const u8) -> Self;

    /// Writes each lane to its own address.
    ///
    /// # Safety
    /// `lane(i)` is valid for writes of a lane for each `i` below `LANES`.
    unsafe fn scatter(self, lane: impl Fn(usize) -> *mut u8);

    /// Writes all lanes to consecutive addresses.
    ///
    /// # Safety
    /// `to` is valid for writes of that many bytes.
    unsafe fn store(self, to: *mut u8);

    /// Writes all lanes to consecutive addresses, past the cache where there are such stores.
    ///
    /// # Safety
    /// `to` is valid for writes of that many bytes, and aligned to as many. A `fence` comes before
    /// other bytes are written there, and before another thread reads these bytes.
    #[inline(always)]
    unsafe fn stream(self, to: *mut u8) {
        // SAFETY: the caller guarantees that `to` is valid for writes.
        unsafe { self.store(to) }
    }
}

/// Vectors for transposes.
pub(super) trait Interleave: Vector {
    /// Interleaves the lanes of two vectors in units of `N` bytes (1, 2, 4 or 8): first the
    /// result of the lower halves, then of the upper halves.
    ///
    /// # Safety
    /// The processor has the instructions.
    unsafe fn interleave<const N: usize>(self, other: Self) -> (Self, Self);

    /// Transposes the lanes of `LANES` vectors.
    ///
    /// # Safety
    /// The processor has the instructions.
    unsafe fn cross(vectors: &mut [Self]);
}

/// Vectors of one lane that load and store halves of it.
pub(super) trait Halves: Interleave {
    /// Loads the lower half. The upper half is not specified.
    ///
    /// # Safety
    /// `from` is valid for reads of 8 bytes.
    unsafe fn half(from: *const u8) -> Self;

    /// Writes each half to its own address.
    ///
    /// # Safety
    /// Both are valid for writes of 8 bytes.
    unsafe fn store_halves(self, low: *mut u8, high: *mut u8);
}

/// Vectors whose bytes can change places. Their lanes have `LANE` bytes, and so have the tables:
/// each byte is the number of a byte of the lane, or 0x80 for none.
pub(super) trait Shuffle: Vector {
    /// Bytes of a lane.
    const LANE: usize;

    /// The table at `table`, for all lanes.
    ///
    /// # Safety
    /// `table` is valid for reads of `LANE` bytes, and the processor has the instructions.
    unsafe fn table(table: *const u8) -> Self;

    /// In each lane, the bytes that `table` names. The byte written for none is unspecified.
    ///
    /// # Safety
    /// The processor has the instructions.
    unsafe fn shuffle(self, table: Self) -> Self;

    /// `self`, and in each lane the bytes of `other` that `table` names. `self` comes from tables
    /// that have none there.
    ///
    /// # Safety
    /// The processor has the instructions.
    unsafe fn blend(self, other: Self, table: Self) -> Self;
}

/// One lane, without intrinsics.
#[derive(Clone, Copy)]
pub(super) struct Plain([u8; LANE]);

impl Vector for Plain {
    const LANES: usize = 1;

    #[inline(always)]
    unsafe fn gather(lane: impl Fn(usize) -> *const u8) -> Self {
        // SAFETY: the caller guarantees that `lane(0)` is valid for reads of 16 bytes; bytes need
        // no alignment.
        Self(unsafe { lane(0).cast::<[u8; LANE]>().read() })
    }

    #[inline(always)]
    unsafe fn load(from: *const u8) -> Self {
        // SAFETY: the caller guarantees that `from` is valid for reads of 16 bytes.
        unsafe { Self::gather(|_| from) }
    }

    #[inline(always)]
    unsafe fn scatter(self, lane: impl Fn(usize) -> *mut u8) {
        // SAFETY: the caller guarantees that `lane(0)` is valid for writes of 16 bytes.
        unsafe { self.store(lane(0)) }
    }

    #[inline(always)]
    unsafe fn store(self, to: *mut u8) {
        // SAFETY: the caller guarantees that `to` is valid for writes of 16 bytes; bytes need no
        // alignment.
        unsafe { to.cast::<[u8; LANE]>().write(self.0) }
    }
}

impl Interleave for Plain {
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
    unsafe fn cross(_: &mut [Self]) {}
}
