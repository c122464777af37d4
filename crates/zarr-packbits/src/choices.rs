//! The choices of a packing: the orders of bits and bytes, the count of padding bits, the kernel.

use core::fmt;
use core::ops::Range;

/// The end of a byte at which the bit sequence starts.
///
/// ```text
/// bits of the sequence:  0 1 2 3 4 5 6 7 | 8 9 ...
/// LsbFirst, byte 0:      0x01 is bit 0 ... 0x80 is bit 7
/// MsbFirst, byte 0:      0x80 is bit 0 ... 0x01 is bit 7
/// ```
///
/// The order also decides which end of a value comes first. So a value is contiguous in both
/// orders.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum BitOrder {
    /// Least significant bit first: the Zarr v3 `packbits` codec (SD-10).
    #[default]
    LsbFirst,
    /// Most significant bit first: numcodecs' `packbits`, numpy's `packbits` (SD-11).
    MsbFirst,
}

/// The order of a component's bytes in memory. The packed bits are the same for both.
///
/// # Examples
/// ```
/// use zarr_packbits::{ByteOrder, Packing};
///
/// let big = Packing::builder(16).last_bit(11).byte_order(ByteOrder::BigEndian).build()?;
/// let mut packed = [0; 3];
/// big.pack(&[0x0a, 0xbc, 0x01, 0x23], &mut packed)?;
/// assert_eq!(packed, [0xbc, 0x3a, 0x12]);
/// # Ok::<(), zarr_packbits::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum ByteOrder {
    /// The least significant byte first.
    #[default]
    LittleEndian,
    /// The most significant byte first.
    BigEndian,
}

impl ByteOrder {
    /// The order of this machine's own numbers.
    pub const NATIVE: Self =
        if cfg!(target_endian = "big") { Self::BigEndian } else { Self::LittleEndian };
}

/// Where an encoded chunk stores the number of its padding bits: the codec's `padding_encoding`.
///
/// # Examples
/// ```
/// use zarr_packbits::{Packing, PaddingEncoding};
///
/// let mask = Packing::builder(1).build()?;
/// let mut encoded = [0; 2];
/// mask.encode(&[1, 0, 1], PaddingEncoding::FirstByte, &mut encoded)?;
/// assert_eq!(encoded, [5, 0b101]); // five bits of padding
/// # Ok::<(), zarr_packbits::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum PaddingEncoding {
    /// `"none"`: nowhere.
    #[default]
    None,
    /// `"first_byte"`: in a byte before the packed bits.
    FirstByte,
    /// `"last_byte"`: in a byte after the packed bits.
    LastByte,
}

impl PaddingEncoding {
    /// The packed bits in an encoded chunk of `len` bytes: all but the padding byte. Empty if that
    /// is missing.
    pub(crate) fn packed_in(self, len: usize) -> Range<usize> {
        match self {
            Self::None => 0..len,
            Self::FirstByte => len.min(1)..len,
            Self::LastByte => 0..len.saturating_sub(1),
        }
    }

    /// Bytes besides the packed bits: 0 for `None`, otherwise 1.
    pub(crate) fn extra_len(self) -> usize {
        usize::from(self != Self::None)
    }
}

impl fmt::Display for PaddingEncoding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::None => "no padding byte",
            Self::FirstByte => "a padding byte in front",
            Self::LastByte => "a padding byte at the end",
        })
    }
}

/// A way to move bits, named after the instructions it needs. All give the same result.
///
/// A [`Packing`](crate::Packing) takes the [best](Kernel::best) one for its machine; tests and
/// benchmarks force another by [`Packing::with_kernel`](crate::Packing::with_kernel).
///
/// # Examples
/// ```
/// use zarr_packbits::{Kernel, Packing};
///
/// let fast = Packing::builder(16).last_bit(9).build()?;
/// assert_eq!(fast.kernel(), Kernel::best());
/// let slow = fast.with_kernel(Kernel::Reference)?;
/// assert_eq!(slow.kernel(), Kernel::Reference);
/// # Ok::<(), zarr_packbits::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Kernel {
    /// One bit at a time: slow, but simple enough to be checked against the document.
    Reference,
    /// Words of 64 bits in safe code, on any machine.
    Portable,
    /// SSSE3: x86-64 since about 2006.
    Ssse3,
    /// AVX2: x86-64 since Haswell and Zen 1.
    Avx2,
    /// AVX-512 with VBMI: x86-64 since Ice Lake and Zen 4.
    Avx512,
    /// NEON: every little-endian AArch64 processor.
    Neon,
    /// WebAssembly's `simd128`: builds for `wasm32` that enable it (`-C target-feature=+simd128`).
    Simd128,
}
