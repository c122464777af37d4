//! The definition of a packing: the numbers of the codec's configuration and of its data type,
//! and the lengths and positions that follow from them.

use core::hash::{Hash, Hasher};
use core::ops::Range;

use crate::{BitOrder, ByteOrder, Error, Kernel, PaddingEncoding, field::Field};

/// How the elements of one data type are packed: the layout, its lengths and its operations.
///
/// In memory an element is `components` values of [`component_size`](Packing::component_size) bytes
/// each, little-endian unless [`byte_order`](PackingBuilder::byte_order) says otherwise, in C
/// order, without gaps. Types of less than 8 bits take one byte per component (SD-18):
/// sign-extended if signed, zero-extended otherwise. A bool is a byte, 0 or 1. Of any other byte,
/// packing takes bit 0; [`is_lossless_for`](Packing::is_lossless_for) tells whether there is such a
/// byte.
///
/// # Examples
/// ```
/// use zarr_packbits::Packing;
///
/// // int16 with the configuration {"first_bit": 0, "last_bit": 6}
/// let packing = Packing::builder(16).signed(true).last_bit(6).build()?;
/// let values: [i16; 5] = [-1, -2, -64, 63, 0];
/// let src: Vec<u8> = values.iter().flat_map(|v| v.to_le_bytes()).collect();
///
/// let mut packed = [0; 5];
/// packing.pack(&src, &mut packed)?;
/// assert_eq!(packed, [0x7f, 0x3f, 0xf0, 0x07, 0x00]);
///
/// let mut back = [0; 10];
/// packing.unpack(&packed, &mut back)?;
/// assert_eq!(back, src[..]);
/// # Ok::<(), zarr_packbits::Error>(())
/// ```
///
/// # Spec
/// zarr-extensions `codecs/packbits`, "Encoding/decoding of individual array elements".
#[derive(Debug, Clone, Copy)]
pub struct Packing {
    pub(crate) field: Field,
    pub(crate) components: u32,
    pub(crate) kernel: Kernel,
    pub(crate) refuses_loss: bool,
}

/// Packings are equal if they use the same layout. All kernels give the same bytes, so the kernel
/// is not compared: packings made on different machines can be equal.
/// [`refuse_loss`](Packing::refuse_loss) is not compared either.
impl PartialEq for Packing {
    fn eq(&self, other: &Self) -> bool {
        (self.field, self.components) == (other.field, other.components)
    }
}

impl Eq for Packing {}

impl Hash for Packing {
    fn hash<H: Hasher>(&self, state: &mut H) {
        (self.field, self.components).hash(state);
    }
}

/// Builds a [`Packing`]; see [`Packing::builder`].
///
/// # Examples
/// ```
/// use zarr_packbits::Packing;
///
/// let packing = Packing::builder(16).signed(true).first_bit(2).last_bit(11).build()?;
/// assert_eq!(packing.bits(), 10);
/// assert!(Packing::builder(16).last_bit(16).build().is_err());
/// # Ok::<(), zarr_packbits::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[must_use]
pub struct PackingBuilder {
    component_bits: u32,
    first_bit: u64,
    last_bit: Option<u64>,
    components: u32,
    signed: bool,
    order: BitOrder,
    memory: ByteOrder,
}

impl PackingBuilder {
    /// The index of the first encoded bit, counted from the least significant; by default 0.
    pub fn first_bit(mut self, first_bit: u64) -> Self {
        self.first_bit = first_bit;
        self
    }

    /// The index of the last encoded bit (inclusive); by default the component's last.
    pub fn last_bit(mut self, last_bit: u64) -> Self {
        self.last_bit = Some(last_bit);
        self
    }

    /// The number of components: 2 for complex types, 1 (the default) for all others.
    pub fn components(mut self, components: u32) -> Self {
        self.components = components;
        self
    }

    /// Whether unpacking extends the sign: true for signed integers, false (the default) otherwise.
    pub fn signed(mut self, signed: bool) -> Self {
        self.signed = signed;
        self
    }

    /// The order of bits within a byte; by default least significant first.
    pub fn bit_order(mut self, order: BitOrder) -> Self {
        self.order = order;
        self
    }

    /// The order of a component's bytes in memory; by default little-endian, on every machine.
    ///
    /// # Examples
    /// ```
    /// use zarr_packbits::{ByteOrder, Packing};
    ///
    /// let builder = Packing::builder(16).last_bit(11);
    /// let src: Vec<u8> = [0x123_u16, 0xabc].iter().flat_map(|v| v.to_be_bytes()).collect();
    /// let mut packed = [0; 3];
    /// builder.byte_order(ByteOrder::BigEndian).build()?.pack(&src, &mut packed)?;
    /// // The packed bits are in the order of little-endian memory.
    /// assert_eq!(packed, [0x23, 0xc1, 0xab]);
    /// # Ok::<(), zarr_packbits::Error>(())
    /// ```
    pub fn byte_order(mut self, memory: ByteOrder) -> Self {
        self.memory = memory;
        self
    }

    /// Checks that the numbers are consistent (SD-15).
    ///
    /// # Errors
    /// [`Error::ComponentBits`], [`Error::Components`], [`Error::LastBit`] or [`Error::FirstBit`],
    /// unless `first_bit <= last_bit < component_bits`.
    pub fn build(self) -> Result<Packing, Error> {
        let Self { component_bits, first_bit, last_bit, components, signed, order, memory } = self;
        let size = match component_bits {
            1..=8 => 1,
            9..=16 => 2,
            17..=32 => 4,
            33..=64 => 8,
            found => return Err(Error::ComponentBits { found }),
        };
        if !(1..=2).contains(&components) {
            return Err(Error::Components { found: components });
        }
        let last_bit = last_bit.unwrap_or(u64::from(component_bits) - 1);
        if last_bit >= u64::from(component_bits) {
            return Err(Error::LastBit { last_bit, component_bits });
        }
        if first_bit > last_bit {
            return Err(Error::FirstBit { first_bit, last_bit });
        }
        let bits = (last_bit - first_bit + 1) as u32;
        let field = Field { bits, first_bit: first_bit as u32, size, signed, order, memory };
        Ok(Packing { field, components, kernel: Kernel::best(), refuses_loss: false })
    }
}

/// The bytes of an encoded chunk that hold some of its elements.
///
/// # Examples
/// ```
/// use zarr_packbits::{PackedRange, Packing, PaddingEncoding};
///
/// let packing = Packing::builder(16).last_bit(11).build()?;
/// let range = packing.byte_range(1, 2, PaddingEncoding::None);
/// assert_eq!(range, Some(PackedRange { bytes: 1..5, bit: 4 }));
/// # Ok::<(), zarr_packbits::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct PackedRange {
    /// The bytes, counted from the first of the chunk.
    pub bytes: Range<usize>,
    /// The position of the first element within the first byte, 0 to 7 bits.
    pub bit: usize,
}

impl Packing {
    /// Starts a packing of components of `component_bits` bits: the `N` of the document.
    ///
    /// Examples: 1 for bool, 6 for `float6_e2m3fn`, 16 for int16, 32 for `complex_float32`.
    ///
    /// In memory a component takes 1, 2, 4 or 8 bytes: the smallest of these that holds it.
    pub fn builder(component_bits: u32) -> PackingBuilder {
        PackingBuilder {
            component_bits,
            first_bit: 0,
            last_bit: None,
            components: 1,
            signed: false,
            order: BitOrder::LsbFirst,
            memory: ByteOrder::LittleEndian,
        }
    }

    /// The same packing with another kernel than the best one.
    ///
    /// # Errors
    /// [`Error::KernelUnavailable`] if this processor cannot run it.
    pub fn with_kernel(mut self, kernel: Kernel) -> Result<Self, Error> {
        if !kernel.is_available() {
            return Err(Error::KernelUnavailable { kernel });
        }
        self.kernel = kernel;
        Ok(self)
    }

    /// The kernel that moves the bits.
    #[must_use]
    pub fn kernel(&self) -> Kernel {
        self.kernel
    }

    /// Sets whether every operation that packs refuses elements that unpacking would not restore
    /// (SD-49). By default, operations drop the bits that are not stored.
    ///
    /// The kernels check the elements while they pack them, which takes almost no time. A refused
    /// operation may have written any bits in the place of its elements, and no others.
    ///
    /// # Examples
    /// ```
    /// use zarr_packbits::{Error, Packing};
    ///
    /// let packing = Packing::builder(8).last_bit(3).build()?;
    /// let mut packed = [0; 2];
    /// packing.pack(&[1, 2, 0x13], &mut packed)?;
    /// assert_eq!(packed, [0x21, 0x03]);
    ///
    /// let refused = packing.refuse_loss(true).pack(&[1, 2, 0x13], &mut packed);
    /// assert_eq!(refused, Err(Error::Lost { element: 2, first_bit: 0, last_bit: 3 }));
    /// # Ok::<(), Error>(())
    /// ```
    #[must_use]
    pub fn refuse_loss(mut self, refuse: bool) -> Self {
        self.refuses_loss = refuse;
        self
    }

    /// Bits of one packed element: the `k` of the document.
    #[must_use]
    pub fn bits(&self) -> u32 {
        self.components * self.field.bits
    }

    /// The index of the first encoded bit of a component.
    #[must_use]
    pub fn first_bit(&self) -> u32 {
        self.field.first_bit
    }

    /// The index of the last encoded bit of a component.
    #[must_use]
    pub fn last_bit(&self) -> u32 {
        self.field.last_bit()
    }

    /// Components of one element: 1, or 2 for complex types.
    #[must_use]
    pub fn components(&self) -> u32 {
        self.components
    }

    /// Whether unpacking extends the sign.
    #[must_use]
    pub fn is_signed(&self) -> bool {
        self.field.signed
    }

    /// The order of bits within a byte.
    #[must_use]
    pub fn bit_order(&self) -> BitOrder {
        self.field.order
    }

    /// The order of a component's bytes in memory.
    #[must_use]
    pub fn byte_order(&self) -> ByteOrder {
        self.field.memory
    }

    /// Bytes of one component in memory: 1, 2, 4 or 8.
    #[must_use]
    pub fn component_size(&self) -> usize {
        self.field.size
    }

    /// Bytes of one element in memory.
    #[must_use]
    pub fn element_size(&self) -> usize {
        self.components as usize * self.field.size
    }

    /// Whether the packed bits are all the bits in memory, so that packing saves nothing.
    pub(crate) fn is_full_width(&self) -> bool {
        self.field.bits as usize == 8 * self.field.size
    }

    /// Bytes of `elements` packed elements, without a padding byte: `ceil(n * k / 8)`.
    ///
    /// `None` if that exceeds `usize`.
    #[must_use]
    pub fn packed_len(&self, elements: usize) -> Option<usize> {
        let (byte, bit) = self.position(elements)?;
        byte.checked_add(usize::from(bit > 0))
    }

    /// The number of zero bits, 0 to 7, that fill up the last byte of `elements` packed elements.
    #[must_use]
    pub fn padding_bits(&self, elements: usize) -> u8 {
        let bits = (elements % 8) as u32 * self.bits();
        (bits.wrapping_neg() % 8) as u8
    }

    /// The place of elements `[first, first + count)` in an encoded chunk, to read only these bytes.
    /// [`unpack_at`](Packing::unpack_at) takes the bytes and the bit. `None` if a position exceeds
    /// `usize`.
    ///
    /// # Examples
    /// ```
    /// use zarr_packbits::{Packing, PaddingEncoding};
    ///
    /// let packing = Packing::builder(6).build()?;
    /// let range = packing.byte_range(5, 2, PaddingEncoding::None).unwrap();
    /// // bits 30 to 41
    /// assert_eq!((range.bytes, range.bit), (3..6, 6));
    /// let range = packing.byte_range(5, 2, PaddingEncoding::FirstByte).unwrap();
    /// assert_eq!((range.bytes, range.bit), (4..7, 6));
    /// # Ok::<(), zarr_packbits::Error>(())
    /// ```
    #[must_use]
    pub fn byte_range(
        &self,
        first: usize,
        count: usize,
        padding: PaddingEncoding,
    ) -> Option<PackedRange> {
        let ahead = usize::from(padding == PaddingEncoding::FirstByte);
        let (start, bit) = self.position(first)?;
        let start = start.checked_add(ahead)?;
        let end = self.packed_len(first.checked_add(count)?)?.checked_add(ahead)?;
        if count == 0 {
            return Some(PackedRange { bytes: start..start, bit: 0 });
        }
        Some(PackedRange { bytes: start..end, bit })
    }

    /// The byte and the bit within it at which an element starts. Eight elements take whole
    /// bytes, so no number of bits is ever computed, which could exceed `usize` when the bytes do
    /// not.
    pub(crate) fn position(&self, element: usize) -> Option<(usize, usize)> {
        let bits = self.bits() as usize;
        let rest = element % 8 * bits;
        let byte = (element / 8).checked_mul(bits)?.checked_add(rest / 8)?;
        Some((byte, rest % 8))
    }
}
