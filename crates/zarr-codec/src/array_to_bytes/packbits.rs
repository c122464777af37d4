//! `packbits`: connects its configuration with the packing kernels.

use std::ops::Range;

use zarr_metadata::{Packbits, Rule};
use zarr_packbits::{BitOrder, Packing, PaddingEncoding};

use crate::bytes_to_bytes::reserve;
use crate::element::ElementType;
use crate::error::{ChainErrorKind, ChunkErrorKind};
use crate::length::widen;
use crate::scratch::{Buffer, Bytes, Pool};

/// The packing of a configuration, and where the number of padding bits is.
pub(super) fn bind(
    codec: &Packbits,
    element: &ElementType,
) -> Result<(Packing, PaddingEncoding), ChainErrorKind> {
    let unpackable = || ChainErrorKind::DataType { data_type: element.name.clone() };
    if !element.packable {
        return Err(unpackable());
    }
    let bits = element.component_bits;
    let first = codec.first_bit.unwrap_or(0);
    let last = codec.last_bit.unwrap_or_else(|| u64::from(bits).saturating_sub(1));
    let components = u32::try_from(element.components).map_err(|_| unpackable())?;
    let packing = Packing::builder(bits)
        .first_bit(first)
        .last_bit(last)
        .components(components)
        .signed(element.signed)
        .build()
        .map_err(|_| {
            let member = if first >= u64::from(bits) { "first_bit" } else { "last_bit" };
            let reason = format!(
                "bits {first} to {last} are not within the {bits} bits of a component of {}; \
                 first_bit <= last_bit < {bits} is allowed",
                element.name
            );
            let member = format!(".configuration.{member}");
            ChainErrorKind::broken(Rule::PACKBITS_BIT_RANGE, member, reason)
        })?;
    let padding = match codec.padding_encoding {
        zarr_metadata::PaddingEncoding::None => PaddingEncoding::None,
        zarr_metadata::PaddingEncoding::FirstByte => PaddingEncoding::FirstByte,
        zarr_metadata::PaddingEncoding::LastByte => PaddingEncoding::LastByte,
    };
    Ok((packing, padding))
}

/// As [`bind`], for `numcodecs.packbits`.
pub(super) fn bind_numcodecs(
    element: &ElementType,
) -> Result<(Packing, PaddingEncoding), ChainErrorKind> {
    let unpackable = || ChainErrorKind::DataType { data_type: element.name.clone() };
    if !element.is_bool() {
        return Err(unpackable());
    }
    let packing = Packing::builder(1).bit_order(BitOrder::MsbFirst).build();
    let packing = packing.map_err(|_| unpackable())?;
    Ok((packing, PaddingEncoding::FirstByte))
}

/// All elements of a chunk as packed bits.
pub(crate) struct Packed<'a> {
    /// The bits, and the padding byte if there is one.
    pub(crate) bytes: Bytes<'a>,
    packing: &'a Packing,
    padding: PaddingEncoding,
}

impl<'a> Packed<'a> {
    /// Checks the length and the padding byte of a chunk of this many elements.
    pub(crate) fn new(
        packing: &'a Packing,
        padding: PaddingEncoding,
        bytes: Bytes<'a>,
        elements: usize,
    ) -> Result<Self, ChunkErrorKind> {
        packing.packed_part(&bytes, elements, padding)?;
        Ok(Self { bytes, packing, padding })
    }

    /// Unpacks as many elements as `out` holds, starting at `first`.
    pub(crate) fn unpack_range(&self, first: usize, out: &mut [u8]) -> Result<(), ChunkErrorKind> {
        Ok(self.packing.unpack_range(&self.bytes, self.padding, first, out)?)
    }
}

/// Builds a chunk of packed bits.
pub(crate) struct Packer<'a> {
    packing: &'a Packing,
    /// The same packing, but refusing elements that it would change.
    refusing: Packing,
    padding: PaddingEncoding,
    bytes: Buffer,
}

impl<'a> Packer<'a> {
    /// Allocates memory for this many elements, with the padding already written.
    pub(crate) fn new(
        packing: &'a Packing,
        padding: PaddingEncoding,
        elements: usize,
        pool: &mut Pool,
    ) -> Result<Self, ChunkErrorKind> {
        let too_large = || ChunkErrorKind::OutOfMemory { bytes: widen(elements) };
        let mut bytes = pool.take(packing.encoded_len(elements, padding).ok_or_else(too_large)?)?;
        // The last bits may be padding.
        let (byte, last) = match (padding, &mut bytes[..]) {
            (PaddingEncoding::FirstByte, [byte, bits @ ..])
            | (PaddingEncoding::LastByte, [bits @ .., byte]) => (Some(byte), bits.last_mut()),
            (_, bits) => (None, bits.last_mut()),
        };
        if let Some(last) = last {
            *last = 0;
        }
        if let Some(byte) = byte {
            *byte = packing.padding_bits(elements);
        }
        Ok(Self { packing, refusing: packing.refuse_loss(true), padding, bytes })
    }

    /// Packs `elements`; the first has number `first`. If `refuse`, elements that would
    /// not read back unchanged (SD-49) are an error.
    pub(crate) fn pack(
        &mut self,
        first: usize,
        elements: &[u8],
        refuse: bool,
    ) -> Result<(), ChunkErrorKind> {
        let packing = if refuse { &self.refusing } else { self.packing };
        let packed = packing.pack_range(elements, self.padding, first, &mut self.bytes);
        packed.map_err(|error| refusal(error, elements, packing.element_size()))
    }

    /// The chunk, once all elements are packed.
    pub(crate) fn finish(self) -> Buffer {
        self.bytes
    }
}

pub(super) fn decode(
    packing: &Packing,
    padding: PaddingEncoding,
    encoded: Bytes<'_>,
    elements: usize,
    element: &ElementType,
    pool: &mut Pool,
) -> Result<Buffer, ChunkErrorKind> {
    // Check the length before allocating memory in proportion to the elements.
    let packed = packing.packed_part(&encoded, elements, padding)?;
    let mut unpacked = pool.take(elements * element.size())?;
    packing.unpack(packed, &mut unpacked)?;
    encoded.give_to(pool);
    Ok(unpacked)
}

/// Refuses elements that would not read back unchanged (SD-49).
pub(crate) fn check_survival(packing: &Packing, elements: &[u8]) -> Result<(), ChunkErrorKind> {
    match packing.lost(elements)?.next() {
        None => Ok(()),
        Some(element) => Err(lost(element, elements, packing.element_size())),
    }
}

/// Converts an error of packing `elements`.
fn refusal(error: zarr_packbits::Error, elements: &[u8], size: usize) -> ChunkErrorKind {
    match error {
        zarr_packbits::Error::Lost { element, .. } => lost(element, elements, size),
        error => error.into(),
    }
}

/// The error of an element that packing would change.
fn lost(element: usize, elements: &[u8], size: usize) -> ChunkErrorKind {
    let start = element * size;
    let bytes = elements.iter().skip(start).take(size).rev();
    let value = bytes.fold(String::from("0x"), |hex, byte| format!("{hex}{byte:02x}"));
    ChunkErrorKind::Lost { element: widen(element), value }
}

/// As [`encode`], into `out`, which is emptied first. If `refuse`, elements that would not read
/// back unchanged (SD-49) are an error.
pub(crate) fn encode_to(
    packing: &Packing,
    padding: PaddingEncoding,
    elements: &[u8],
    out: &mut Vec<u8>,
    refuse: bool,
) -> Result<(), ChunkErrorKind> {
    let size = packing.element_size();
    let count = elements.len().checked_div(size).unwrap_or(0);
    let too_large = || ChunkErrorKind::OutOfMemory { bytes: widen(elements.len()) };
    let len = packing.encoded_len(count, padding).ok_or_else(too_large)?;
    out.clear();
    reserve(out, len)?;
    out.resize(len, 0);
    let encoded = packing.refuse_loss(refuse).encode(elements, padding, out);
    encoded.map_err(|error| refusal(error, elements, size))
}

pub(super) fn encode(
    packing: &Packing,
    padding: PaddingEncoding,
    elements: Buffer,
    element: &ElementType,
    pool: &mut Pool,
) -> Result<Buffer, ChunkErrorKind> {
    let count = elements.len().checked_div(element.size()).unwrap_or(0);
    let too_large = || ChunkErrorKind::OutOfMemory { bytes: widen(elements.len()) };
    let mut packed = pool.take(packing.encoded_len(count, padding).ok_or_else(too_large)?)?;
    packing.encode(&elements, padding, &mut packed)?;
    pool.give(elements);
    Ok(packed)
}

/// Decodes spans of `span_len` bytes of elements. The spans are concatenated in `bytes`; each
/// starts at a byte boundary.
pub(super) fn decode_spans(
    packing: &Packing,
    bytes: &[u8],
    spans: impl Iterator<Item = (Range<u64>, usize)>,
    span_len: usize,
    count: usize,
    pool: &mut Pool,
) -> Result<Buffer, ChunkErrorKind> {
    let mut unpacked = pool.take(span_len * count)?;
    let mut rest = bytes;
    let mut targets = unpacked.chunks_exact_mut(span_len.max(1));
    for (range, bit) in spans {
        let length = usize::try_from(range.end - range.start).unwrap_or(usize::MAX);
        let expected = widen(length);
        let (Some((span, after)), Some(target)) = (rest.split_at_checked(length), targets.next())
        else {
            return Err(ChunkErrorKind::DecodedLength { found: widen(rest.len()), expected });
        };
        packing.unpack_at(span, bit, target)?;
        rest = after;
    }
    Ok(unpacked)
}
