//! Values that a write was given and that its codecs would change (SD-18, SD-49).

use zarr_codec::{ChunkErrorKind, Lost};
use zarr_metadata::DataType;

use super::Array;
use crate::error::ArrayError;
use crate::node::METADATA_KEY;
use crate::transfer::number;

/// Values that a write refused since they would read back as others.
///
/// # Examples
/// ```
/// # use std::sync::Arc;
/// # use zarr_array::store::{MemoryStore, Prefix};
/// # use zarr_metadata::ArrayMetadata;
/// use zarr_array::{Array, ArrayError, Selection};
/// # let document = br#"{"zarr_format": 3, "node_type": "array", "shape": [3],
/// #   "data_type": "int16", "fill_value": 0,
/// #   "codecs": [{"name": "packbits", "configuration": {"last_bit": 11}}],
/// #   "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": [3]}},
/// #   "chunk_key_encoding": {"name": "default"}}"#;
/// # let metadata = ArrayMetadata::from_json(document)?;
///
/// // Twelve bits, signed: -2048 to 2047.
/// let array = Array::create(Arc::new(MemoryStore::new()), &Prefix::root(), metadata)?;
/// match array.write_as(Selection::whole(&[3]), &[2047_i16, 3000, -2049]) {
///     Err(ArrayError::Loss { loss, .. }) => {
///         assert_eq!((loss.index.as_slice(), loss.value.as_str()), (&[1][..], "3000"));
///         assert_eq!((loss.read_back.as_str(), loss.count, loss.elements), ("-1096", 2, 3));
///     }
///     other => panic!("{other:?}"),
/// }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Loss {
    /// The codec's place in the metadata document, as a JSON path.
    pub path: String,
    /// The codec's name.
    pub codec: String,
    /// The index in the array of the first of them, in the order in which they were given.
    pub index: Vec<u64>,
    /// Its value, as the JSON of a fill value; the number or the bits of a byte that is out of the
    /// range of a sub-byte type.
    pub value: String,
    /// What it would become.
    pub read_back: String,
    /// How many elements would change.
    pub count: u64,
    /// How many elements were given.
    pub elements: u64,
}

impl Array {
    /// Tells of a write that was refused for a loss what would be lost, now that speed no longer
    /// matters: of the elements given, of this shape in C order, or of the fill value, which the
    /// write would have stored beside them. `index` is the index in the array of a position on an
    /// axis of the shape. Other errors stay as they are.
    pub(super) fn explain_loss(
        &self,
        cause: ArrayError,
        elements: &[u8],
        shape: &[usize],
        index: impl Fn(usize, usize) -> u64,
    ) -> ArrayError {
        let ArrayError::Chunk { cause: chunk, .. } = &cause else { return cause };
        if !matches!(chunk.kind(), ChunkErrorKind::Lost { .. }) {
            return cause;
        }
        let Ok(key) = self.prefix().key(METADATA_KEY) else { return cause };
        let size = self.element_size();
        let Ok(chain) = self.chain() else { return cause };
        let Ok(Some(Lost { first, count })) = chain.lost(elements) else {
            return self.check_writable(&key).err().unwrap_or(cause);
        };
        let start = first.saturating_mul(size);
        let element = elements.get(start..start.saturating_add(size)).unwrap_or_default();
        let wide = |n: usize| u64::try_from(n).unwrap_or(u64::MAX);
        let at = number(wide(first), shape.iter().copied()).into_iter().enumerate();
        let described = self.value(element).and_then(|value| {
            let read_back = chain
                .read_back(element)
                .map_err(|cause| ArrayError::Chunk { key: key.to_string(), cause })?;
            Ok((value, self.value(&read_back)?))
        });
        match described {
            Ok((value, read_back)) => ArrayError::Loss {
                key: key.to_string(),
                loss: Box::new(Loss {
                    path: chunk.path().to_owned(),
                    codec: chunk.codec().to_owned(),
                    index: at.map(|(axis, at)| index(axis, at)).collect(),
                    value,
                    read_back,
                    count,
                    elements: wide(elements.len().checked_div(size).unwrap_or(0)),
                }),
            },
            Err(_) => cause,
        }
    }

    /// An element as the JSON of a fill value; one out of the range of a sub-byte type (SD-18) as the
    /// number that its byte is, or as hexadecimal bits where the type's values are not integers.
    pub(super) fn value(&self, element: &[u8]) -> Result<String, ArrayError> {
        let mut text = String::new();
        let mut canonical = element.to_vec();
        self.data_type().canonicalize_element(&mut canonical);
        let data_type = match (canonical == element, self.data_type()) {
            (true, data_type) => data_type,
            (false, DataType::Int2 | DataType::Int4) => &DataType::Int8,
            (false, DataType::Uint2 | DataType::Uint4) => &DataType::Uint8,
            (false, _) => {
                let parts: Vec<String> =
                    element.iter().map(|byte| format!("0x{byte:02x}")).collect();
                return Ok(match parts.as_slice() {
                    [part] => part.clone(),
                    parts => format!("[{}]", parts.join(", ")),
                });
            }
        };
        zarr_metadata::format_element(data_type, element, &mut text).map_err(|cause| {
            ArrayError::Metadata { key: crate::node::metadata_key(self.prefix()), cause }
        })?;
        Ok(text)
    }
}
