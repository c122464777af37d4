//! The object that marks an array whose chunks are being rearranged.

use zarr_metadata::{ChunkKeyEncoding, Separator};

use crate::error::{ArrayError, RearrangeFault};
use crate::node;
use crate::store::{Key, Prefix, Store, StoreExt as _};

/// The name of the object next to an array's `zarr.json` as long as a
/// [rearrangement](crate::Array::rearrange) of its chunks is not finished.
pub const MARKER: &str = "zarr-kit-rearrange.json";

/// How far a rearrangement has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Step {
    /// The chunks are being copied to other keys. While the document names the array's own keys, it
    /// is that of the old array.
    Leaving,
    /// The document has named the other keys. When it names the array's own keys again, it is that
    /// of the new array.
    Returning,
}

/// The contents of a marker.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Marker {
    /// The key encoding of the array before and after.
    pub(crate) home: ChunkKeyEncoding,
    pub(crate) step: Step,
}

/// The key encoding that the chunks have while an array with keys of another encoding is
/// rearranged. No key is one of both encodings.
pub(crate) fn away(home: ChunkKeyEncoding) -> ChunkKeyEncoding {
    let separator = match home {
        ChunkKeyEncoding::Default { separator: Separator::Dot } => Separator::Slash,
        _ => Separator::Dot,
    };
    ChunkKeyEncoding::Default { separator }
}

impl Marker {
    /// The marker of the array at `prefix`, if there is one.
    pub(crate) fn at(store: &dyn Store, prefix: &Prefix) -> Result<Option<Self>, ArrayError> {
        // If the key would be too long, there is no marker: none could have been put.
        let Ok(key) = prefix.key(MARKER) else { return Ok(None) };
        let Some(size) = store.size(&key)? else { return Ok(None) };
        let text = if size > LONGEST { None } else { store.read(&key)? };
        let marker = text.and_then(|text| Self::read(&text));
        marker.map(Some).ok_or_else(|| ArrayError::Rearrange {
            path: node::display(prefix),
            fault: Box::new(RearrangeFault::Marker { key: key.to_string() }),
        })
    }

    pub(super) fn put(self, store: &dyn Store, key: &Key) -> Result<(), ArrayError> {
        Ok(store.put(key, self.text().as_bytes())?)
    }

    /// There are so few markers that text is compared, and not parsed.
    fn read(text: &[u8]) -> Option<Self> {
        let separators = [Separator::Slash, Separator::Dot];
        let homes = separators.into_iter().flat_map(|separator| {
            [ChunkKeyEncoding::Default { separator }, ChunkKeyEncoding::V2 { separator }]
        });
        homes
            .flat_map(|home| [Step::Leaving, Step::Returning].map(|step| Self { home, step }))
            .find(|marker| marker.text().as_bytes() == text)
    }

    fn text(self) -> String {
        let step = match self.step {
            Step::Leaving => "leaving",
            Step::Returning => "returning",
        };
        let home = self.home.to_json();
        format!(
            "{{\"unfinished_rearrangement\": {{\n  \"chunk_key_encoding\": {home},\n  \"step\": \
             \"{step}\"\n}}}}\n"
        )
    }
}

/// A marker has fewer bytes.
const LONGEST: u64 = 1 << 10;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::MemoryStore;

    #[test]
    fn every_marker_is_read_back_and_is_json() {
        let (store, root) = (MemoryStore::new(), Prefix::root());
        let key = root.key(MARKER).expect("a key");
        assert!(matches!(Marker::at(&store, &root), Ok(None)));
        for separator in [Separator::Slash, Separator::Dot] {
            for home in
                [ChunkKeyEncoding::Default { separator }, ChunkKeyEncoding::V2 { separator }]
            {
                for step in [Step::Leaving, Step::Returning] {
                    let marker = Marker { home, step };
                    marker.put(&store, &key).expect("puts");
                    assert_eq!(Marker::at(&store, &root).expect("reads"), Some(marker));
                    let json: serde_json::Value =
                        serde_json::from_str(&marker.text()).expect("is JSON");
                    assert!(json["unfinished_rearrangement"]["step"].is_string());
                }
                // Numbers of any length: no key of one encoding is a key of the other.
                for index in [vec![0], vec![0, 1], vec![12, 345, 6]] {
                    let rank = index.len();
                    assert_eq!(away(home).decode(&home.encode(&index), rank), None, "{home:?}");
                    assert_eq!(home.decode(&away(home).encode(&index), rank), None, "{home:?}");
                }
            }
        }
    }

    #[test]
    fn what_others_put_in_its_place_is_not_taken_for_a_marker() {
        let (store, root) = (MemoryStore::new(), Prefix::root());
        let key = root.key(MARKER).expect("a key");
        for text in [&b""[..], b"{}", b"\0\xff", &[b' '; 5000]] {
            store.put(&key, text).expect("puts");
            let error = Marker::at(&store, &root).expect_err("is no marker").to_string();
            assert!(error.contains("zarr-kit-rearrange.json is not understood"), "{error}");
        }
    }
}
