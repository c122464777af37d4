//! Keys of many chunks without an allocation for each.

use crate::layout::ChunkLayout;
use crate::store::{Key, KeyError};

/// The keys of chunks, one at a time, each reusing the memory of the previous one.
pub(crate) struct ChunkKeys<'a> {
    layout: &'a ChunkLayout,
    key: Option<Key>,
}

impl<'a> ChunkKeys<'a> {
    pub(crate) fn new(layout: &'a ChunkLayout) -> Self {
        Self { layout, key: None }
    }

    /// As [`ChunkLayout::key`].
    pub(crate) fn of(&mut self, chunk: &[u64]) -> Result<&Key, KeyError> {
        let layout = self.layout;
        let key = match self.key.take() {
            Some(key) => key.with_end(layout.prefix.key_start(), |text| {
                layout.key_encoding.encode_into(chunk, text);
            }),
            None => layout.key(chunk),
        };
        Ok(self.key.insert(key?))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::{MAX_KEY_LEN, Prefix};
    use zarr_metadata::ArrayMetadata;

    fn layout(encoding: &str, prefix: &str) -> ChunkLayout {
        let document = format!(
            r#"{{"zarr_format": 3, "node_type": "array", "shape": [500, 500],
            "data_type": "uint8", "fill_value": 0, "codecs": [{{"name": "bytes"}}],
            "chunk_grid": {{"name": "regular", "configuration": {{"chunk_shape": [3, 3]}}}},
            "chunk_key_encoding": {encoding}}}"#
        );
        let metadata = ArrayMetadata::from_json(document.as_bytes()).unwrap();
        ChunkLayout::new(&Prefix::new(prefix).unwrap(), &metadata).unwrap()
    }

    #[test]
    fn keys_in_one_buffer_are_those_of_the_layout() {
        for name in ["default", "v2"] {
            for separator in ["/", "."] {
                let encoding = format!(
                    r#"{{"name": "{name}", "configuration": {{"separator": "{separator}"}}}}"#
                );
                for prefix in ["", "a", "group/array"] {
                    let layout = layout(&encoding, prefix);
                    let mut keys = ChunkKeys::new(&layout);
                    let mut kept = Vec::new();
                    for chunk in [[0, 0], [1, 99], [12, 100], [u64::MAX, 1], [9, 10], [0, 0]] {
                        let key = keys.of(&chunk).unwrap().clone();
                        assert_eq!(key, layout.key(&chunk).unwrap());
                        let relative = layout.key_encoding().encode(&chunk);
                        assert_eq!(key, layout.prefix().key(&relative).unwrap());
                        kept.push((chunk, key));
                    }
                    // Keys that a caller keeps do not change.
                    for (chunk, key) in kept {
                        assert_eq!(key, layout.key(&chunk).unwrap());
                    }
                }
            }
        }
    }

    #[test]
    fn keys_go_on_after_one_that_is_too_long() {
        let layout = layout(r#"{"name": "default"}"#, &"p".repeat(MAX_KEY_LEN - 10));
        let mut keys = ChunkKeys::new(&layout);
        for chunk in [[0, 0], [1 << 40, 1 << 40], [7, 8]] {
            assert_eq!(keys.of(&chunk).cloned(), layout.key(&chunk));
        }
        assert!(keys.of(&[1 << 40, 0]).is_err());
    }
}
