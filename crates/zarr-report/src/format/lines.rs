//! One element per line, in C order, as JSON.

use zarr_metadata::{DataType, MetadataError};

use super::value;

/// Bytes of text that are gathered before they are passed on.
const BLOCK: usize = 1 << 16;

/// Formats elements and calls `visit` with each.
pub fn each(
    data_type: &DataType,
    elements: &[u8],
    mut visit: impl FnMut(&str),
) -> Result<(), MetadataError> {
    let mut text = String::new();
    for element in elements.chunks_exact(data_type.size().unwrap_or(1).max(1)) {
        text.clear();
        value::write(data_type, element, &mut text)?;
        visit(&text);
    }
    Ok(())
}

/// Formats elements and passes the text on in blocks.
pub fn format<E: From<MetadataError>>(
    data_type: &DataType,
    elements: &[u8],
    mut write: impl FnMut(&[u8]) -> Result<(), E>,
) -> Result<(), E> {
    let size = data_type.size().unwrap_or(1).max(1);
    let mut text = String::with_capacity(BLOCK + 256);
    for element in elements.chunks_exact(size) {
        value::write(data_type, element, &mut text)?;
        text.push('\n');
        if text.len() >= BLOCK {
            write(text.as_bytes())?;
            text.clear();
        }
    }
    write(text.as_bytes())
}
