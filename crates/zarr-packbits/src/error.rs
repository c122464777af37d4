//! Errors of packings and of the buffers passed to them.

use crate::Kernel;

/// The errors of all operations of this crate.
///
/// Lengths are in bytes, positions in bits; each message has the found and the allowed values.
///
/// # Examples
/// ```
/// use zarr_packbits::{Error, Packing};
///
/// let error = Packing::builder(16).last_bit(16).build().unwrap_err();
/// assert_eq!(error, Error::LastBit { last_bit: 16, component_bits: 16 });
/// ```
#[derive(Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A component has 1 to 64 bits.
    #[error("component of {found} bits: 1 to 64 are allowed")]
    ComponentBits {
        /// Bits of one component.
        found: u32,
    },
    /// An element has one component, or two if it is complex.
    #[error("{found} components per element: 1 or 2 are allowed")]
    Components {
        /// Components of one element.
        found: u32,
    },
    /// `last_bit` is not a bit of the component.
    #[error("last_bit is {last_bit}: a component of {component_bits} bits allows 0 to {}", component_bits - 1)]
    LastBit {
        /// The configured last bit.
        last_bit: u64,
        /// Bits of one component.
        component_bits: u32,
    },
    /// `first_bit` comes after `last_bit`.
    #[error("first_bit is {first_bit}: last_bit {last_bit} allows 0 to {last_bit}")]
    FirstBit {
        /// The configured first bit.
        first_bit: u64,
        /// The last bit, configured or by default.
        last_bit: u64,
    },
    /// An unpacked buffer is not a whole number of elements.
    #[error(
        "unpacked buffer of {found} bytes: a multiple of the element size {element_size} is required"
    )]
    UnpackedLength {
        /// Bytes of the unpacked buffer.
        found: usize,
        /// Bytes of one element in memory.
        element_size: usize,
    },
    /// The length of a packed buffer does not match the number of elements.
    #[error(
        "packed buffer of {found} byte{}: {elements} element{} of {bits} bit{} take exactly {expected}",
        s(*found == 1), s(*elements == 1), s(*bits == 1)
    )]
    PackedLength {
        /// Bytes of the packed buffer.
        found: usize,
        /// Bytes that the elements take.
        expected: usize,
        /// Number of elements.
        elements: usize,
        /// Bits of one packed element.
        bits: u32,
    },
    /// A packed buffer ends before the last of the requested elements.
    #[error(
        "packed buffer of {found} bytes: {elements} elements of {bits} bits from byte {byte}, bit {bit} on do not fit"
    )]
    PackedTooShort {
        /// Bytes of the packed buffer.
        found: usize,
        /// The byte in which the first element starts.
        byte: usize,
        /// The bit of that byte.
        bit: usize,
        /// Number of elements.
        elements: usize,
        /// Bits of one packed element.
        bits: u32,
    },
    /// The position of an element exceeds the address space of this machine.
    #[error("elements up to {end} of {bits} bits each exceed the address space")]
    TooManyElements {
        /// One past the last element.
        end: usize,
        /// Bits of one packed element.
        bits: u32,
    },
    /// The length of an encoded chunk does not match its elements and its padding byte.
    #[error(
        "encoded chunk of {found} byte{}: {elements} element{} of {bits} bit{} with {padding} take exactly {expected}",
        s(*found == 1), s(*elements == 1), s(*bits == 1)
    )]
    EncodedLength {
        /// Bytes of the encoded chunk.
        found: usize,
        /// Bytes that the elements and the padding byte take.
        expected: usize,
        /// Number of elements.
        elements: usize,
        /// Bits of one packed element.
        bits: u32,
        /// Where the padding byte is.
        padding: crate::PaddingEncoding,
    },
    /// A chunk of a type that is packed at its full width lacks the padding byte.
    ///
    /// zarrs up to 0.23 writes such chunks, and cannot read chunks with the padding byte.
    #[error(
        "encoded chunk of {found} byte{} lacks its padding byte: {expected} are required with {padding}; \
         zarrs omits that byte for types packed at their full width",
        s(*found == 1)
    )]
    MissingPaddingByte {
        /// Bytes of the encoded chunk.
        found: usize,
        /// Bytes that the elements and the padding byte take.
        expected: usize,
        /// Where the padding byte should be.
        padding: crate::PaddingEncoding,
    },
    /// The padding byte does not state the number of padding bits.
    #[error(
        "padding byte at {position} is {found}: {elements} element{} of {bits} bit{} leave {expected} padding bit{}",
        s(*elements == 1), s(*bits == 1), s(*expected == 1)
    )]
    PaddingByte {
        /// Index of the padding byte in the encoded chunk.
        position: usize,
        /// Its value.
        found: u8,
        /// The number of padding bits.
        expected: u8,
        /// Number of elements.
        elements: usize,
        /// Bits of one packed element.
        bits: u32,
    },
    /// A packing that [refuses loss](crate::Packing::refuse_loss) would change an element.
    #[error("element {element} does not fit bits {first_bit} to {last_bit}")]
    Lost {
        /// The first such element, counted from the start of the unpacked buffer.
        element: usize,
        /// The first encoded bit of a component.
        first_bit: u32,
        /// The last encoded bit of a component.
        last_bit: u32,
    },
    /// The processor lacks the instructions of a kernel.
    #[error("kernel {kernel:?} is not available on this processor")]
    KernelUnavailable {
        /// The requested kernel.
        kernel: Kernel,
    },
}

/// As the text.
impl core::fmt::Debug for Error {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        core::fmt::Display::fmt(self, f)
    }
}

/// The plural ending of a noun.
fn s(one: bool) -> &'static str {
    if one { "" } else { "s" }
}
