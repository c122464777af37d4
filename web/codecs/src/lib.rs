//! The codecs `packbits` and `reshape`, as the classes in `package/codecs.js` call them.
//!
//! # Non-goals
//! - What a chunk is in zarrita.js: its arrays, shapes and strides.

#![forbid(unsafe_code)]

use wasm_bindgen::prelude::{JsError, wasm_bindgen};
use zarr_metadata::{Codec, DataType, PaddingEncoding as Padding};
use zarr_packbits::{ByteOrder, Packing, PaddingEncoding};

/// The message of an error, which names the place.
fn shown(error: impl std::fmt::Display) -> JsError {
    JsError::new(&error.to_string())
}

/// The codec `packbits` for chunks of one number of elements.
#[wasm_bindgen]
#[derive(Debug)]
pub struct Packed {
    packing: Packing,
    padding: PaddingEncoding,
    elements: usize,
    /// The bytes of a chunk's elements, and of the encoded chunk.
    decoded: usize,
    encoded: usize,
}

#[wasm_bindgen]
impl Packed {
    /// The codec that a document has, as JSON, for elements of this data type, also as JSON.
    ///
    /// # Errors
    /// If the configuration is wrong, or elements of the data type cannot be packed so.
    #[wasm_bindgen(constructor)]
    pub fn new(codec: &str, data_type: &str, shape: &[u64], big: bool) -> Result<Self, JsError> {
        let Codec::Packbits(codec) = Codec::from_json(codec.as_bytes()).map_err(shown)? else {
            return Err(shown("the codec is not packbits"));
        };
        let data_type = DataType::from_json(data_type.as_bytes()).map_err(shown)?;
        let layout = data_type.element_layout().filter(|_| data_type.is_packable());
        let layout = layout.ok_or_else(|| {
            shown(format_args!(
                "packbits: data type {data_type} is not a bool, integer, float or complex type"
            ))
        })?;
        let packing = Packing::builder(layout.component_bits)
            .components(u32::try_from(layout.components).map_err(shown)?)
            .signed(layout.signed)
            .byte_order(if big { ByteOrder::BigEndian } else { ByteOrder::LittleEndian })
            .first_bit(codec.first_bit.unwrap_or(0));
        let packing = match codec.last_bit {
            Some(bit) => packing.last_bit(bit),
            None => packing,
        };
        let packing = packing.build().map_err(|error| shown(format_args!("packbits: {error}")))?;
        let padding = match codec.padding_encoding {
            Padding::None => PaddingEncoding::None,
            Padding::FirstByte => PaddingEncoding::FirstByte,
            Padding::LastByte => PaddingEncoding::LastByte,
        };
        let elements = shape.iter().try_fold(1_u64, |count, length| count.checked_mul(*length));
        let lengths = elements.and_then(|elements| {
            let elements = usize::try_from(elements).ok()?;
            let decoded = elements.checked_mul(packing.element_size())?;
            Some((elements, decoded, packing.encoded_len(elements, padding)?))
        });
        let (elements, decoded, encoded) = lengths.ok_or_else(|| {
            shown(format_args!("packbits: a chunk of shape {shape:?} is too large for memory"))
        })?;
        Ok(Self { packing: packing.refuse_loss(true), padding, elements, decoded, encoded })
    }

    /// The bytes of an encoded chunk.
    #[must_use]
    pub fn encoded_length(&self) -> usize {
        self.encoded
    }

    /// Packs the elements of a chunk.
    ///
    /// # Errors
    /// If they are not as many as the chunk has, or one would not read back unchanged.
    pub fn encode(&self, elements: &[u8]) -> Result<Vec<u8>, JsError> {
        if elements.len() != self.decoded {
            return Err(shown(format_args!(
                "a chunk of {} bytes: {} elements take exactly {}",
                elements.len(),
                self.elements,
                self.decoded
            )));
        }
        let mut encoded = room(self.encoded)?;
        self.packing.encode(elements, self.padding, &mut encoded).map_err(shown)?;
        Ok(encoded)
    }

    /// Unpacks the elements of a chunk.
    ///
    /// # Errors
    /// If the chunk has another length, or its padding byte is wrong.
    pub fn decode(&self, encoded: &[u8]) -> Result<Vec<u8>, JsError> {
        // The length is checked before memory for the elements is allocated.
        let packed = self.packing.packed_part(encoded, self.elements, self.padding);
        let packed = packed.map_err(shown)?;
        let mut elements = room(self.decoded)?;
        self.packing.unpack(packed, &mut elements).map_err(shown)?;
        Ok(elements)
    }
}

/// Zeros, if there is memory for them.
fn room(bytes: usize) -> Result<Vec<u8>, JsError> {
    let mut zeros = Vec::new();
    zeros.try_reserve_exact(bytes).map_err(shown)?;
    zeros.resize(bytes, 0);
    Ok(zeros)
}

/// The shape that the codec `reshape` of a document, as JSON, gives to chunks of this shape.
///
/// # Errors
/// If the configuration is wrong, or chunks of this shape cannot be reshaped so.
#[wasm_bindgen]
pub fn reshaped(codec: &str, shape: &[u64]) -> Result<Vec<u64>, JsError> {
    match Codec::from_json(codec.as_bytes()).map_err(shown)? {
        Codec::Reshape(codec) => codec.output_shape(shape).map_err(|error| {
            shown(format_args!("reshape: {error}, for a chunk of shape {shape:?}"))
        }),
        _ => Err(shown("the codec is not reshape")),
    }
}
