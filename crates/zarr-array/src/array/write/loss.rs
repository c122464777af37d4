//! Describes the values that a refused write would have changed.

use std::borrow::Cow;

use zarr_codec::{ChunkErrorKind, Lost};
use zarr_metadata::DataType;

use crate::array::Array;
use crate::counts::wide;
use crate::error::{ArrayError, Loss, chunk_error};
use crate::hierarchy::node::{self, METADATA_KEY};

impl Array {
    /// Describes the values that a refused write would have lost: given elements, or the fill value,
    /// which the write would have stored next to them. Speed no longer matters here.
    /// `index` converts the number of an element to its index in the array. Other errors are
    /// returned unchanged, without a call of `elements`, which may take much memory.
    pub(in crate::array) fn explain_loss<'e>(
        &self,
        cause: ArrayError,
        elements: impl FnOnce() -> Option<Cow<'e, [u8]>>,
        index: impl Fn(usize) -> Vec<u64>,
    ) -> ArrayError {
        let ArrayError::Chunk { cause: chunk, .. } = &cause else { return cause };
        if !matches!(chunk.kind(), ChunkErrorKind::Lost { .. }) {
            return cause;
        }
        let Ok(key) = self.prefix().key(METADATA_KEY) else { return cause };
        let size = self.element_size();
        let Ok(chain) = self.fixed_chain() else { return cause };
        let Some(elements) = elements() else { return cause };
        let Ok(Some(Lost { first, count })) = chain.lost(&elements) else {
            return self.check_writable(&key).err().unwrap_or(cause);
        };
        let start = first * size;
        let element = elements.get(start..start + size).unwrap_or_default();
        let described = self.value(element).and_then(|value| {
            let read_back = chain.read_back(element).map_err(|cause| chunk_error(&key, cause))?;
            Ok((value, self.value(&read_back)?))
        });
        match described {
            Ok((value, read_back)) => ArrayError::Loss {
                key: key.to_string(),
                loss: Box::new(Loss {
                    path: chunk.path().to_owned(),
                    codec: chunk.codec().to_owned(),
                    index: index(first),
                    value,
                    read_back,
                    count,
                    elements: wide(elements.len().checked_div(size).unwrap_or(0)),
                }),
            },
            Err(_) => cause,
        }
    }

    /// An element as the JSON of a fill value. An element out of the range of a sub-byte type
    /// (SD-18) is the number of its byte, or hexadecimal bits if the type's values are not
    /// integers.
    pub(in crate::array) fn value(&self, element: &[u8]) -> Result<String, ArrayError> {
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
            ArrayError::Metadata { key: node::metadata_key(self.prefix()), cause }
        })?;
        Ok(text)
    }
}
