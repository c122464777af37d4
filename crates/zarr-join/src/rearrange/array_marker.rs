//! The object that marks an array while its chunks are rearranged.

use zarr_array::ArrayError;
use zarr_array::store::{Key, Prefix, Store, StoreExt as _};
use zarr_array::unfinished::marker_text;
use zarr_metadata::{ChunkKeyEncoding, Separator};

use super::group::recorded_plan::RecordedPlan;
use super::marker_json::{Members, marker_at, string};

/// How far a rearrangement has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Step {
    /// The chunks are being copied to other keys. While the document names the array's own keys, it
    /// belongs to the old array.
    Leaving,
    /// The document has named the other keys. When it names the array's own keys again, it belongs
    /// to the new array.
    Returning,
}

/// The contents of a marker.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ArrayMarker {
    /// The key encoding of the array before and after.
    pub(super) home: ChunkKeyEncoding,
    /// How far it has come.
    pub(super) step: Step,
    /// The plan for the array if it is rearranged together with other arrays of a group.
    pub(super) share: Option<Box<RecordedPlan>>,
}

/// The key encoding that the chunks have while an array with keys of another encoding is
/// rearranged. No key is one of both encodings.
pub(super) fn away(home: &ChunkKeyEncoding) -> ChunkKeyEncoding {
    let separator = match home {
        ChunkKeyEncoding::Default { separator: Separator::Dot }
        | ChunkKeyEncoding::DefaultSuffix { separator: Separator::Dot, .. } => Separator::Slash,
        ChunkKeyEncoding::Template(keys) if keys.format().starts_with("c.") => Separator::Slash,
        _ => Separator::Dot,
    };
    ChunkKeyEncoding::Default { separator }
}

impl ArrayMarker {
    /// The marker of the array at `prefix`, if there is one.
    pub(super) fn at(store: &dyn Store, prefix: &Prefix) -> Result<Option<Self>, ArrayError> {
        marker_at(store, prefix, NAME, Self::read)
    }

    /// The marker of an array that is rearranged on its own.
    pub(super) fn alone(home: &ChunkKeyEncoding, step: Step) -> Self {
        Self { home: home.clone(), step, share: None }
    }

    /// Puts the marker of an array that is rearranged with a group, which has the marker of the run.
    pub(super) fn put(&self, store: &dyn Store, key: &Key) -> Result<(), ArrayError> {
        Ok(store.put(key, self.text(None).as_bytes())?)
    }

    fn read(members: &Members) -> Option<Self> {
        let home = members.get("chunk_key_encoding")?.get();
        let home = ChunkKeyEncoding::from_json(home.as_bytes()).ok()?;
        let step = match &*string(members, "step")? {
            "leaving" => Step::Leaving,
            "returning" => Step::Returning,
            _ => return None,
        };
        let share = match members.contains_key("group") {
            true => Some(Box::new(RecordedPlan::read(members)?)),
            false => None,
        };
        Some(Self { home, step, share })
    }

    /// Its text, with the number of the run.
    pub(super) fn text(&self, run: Option<&str>) -> String {
        let step = match self.step {
            Step::Leaving => "\"leaving\"",
            Step::Returning => "\"returning\"",
        };
        let own = [("chunk_key_encoding", self.home.to_json()), ("step", step.to_owned())];
        let run = run.map(|run| ("run", format!("\"{run}\"")));
        let share = self.share.as_ref().map(|share| share.members());
        let members = own.into_iter().chain(run).chain(share.into_iter().flatten());
        marker_text(NAME, &members.collect::<Vec<_>>())
    }
}

/// The name of the object in a marker.
const NAME: &str = "unfinished_rearrangement";

#[cfg(test)]
mod tests {
    use super::*;
    use zarr_array::store::MemoryStore;
    use zarr_array::unfinished::REARRANGE_MARKER as MARKER;

    #[test]
    fn every_marker_is_read_back_and_is_json() {
        let (store, root) = (MemoryStore::new(), Prefix::root());
        let key = root.key(MARKER).expect("a key");
        assert!(matches!(ArrayMarker::at(&store, &root), Ok(None)));
        for separator in [Separator::Slash, Separator::Dot] {
            for home in
                [ChunkKeyEncoding::Default { separator }, ChunkKeyEncoding::V2 { separator }]
            {
                for step in [Step::Leaving, Step::Returning] {
                    let marker = ArrayMarker::alone(&home, step);
                    marker.put(&store, &key).expect("puts");
                    assert_eq!(
                        ArrayMarker::at(&store, &root).expect("reads").as_ref(),
                        Some(&marker)
                    );
                    let json: serde_json::Value =
                        serde_json::from_str(&marker.text(Some("ab"))).expect("is JSON");
                    assert_eq!(json["unfinished_rearrangement"]["run"], "ab");
                    assert!(json["unfinished_rearrangement"]["step"].is_string());
                }
                // Numbers of any length: no key of one encoding is a key of the other.
                for index in [vec![0], vec![0, 1], vec![12, 345, 6]] {
                    let rank = index.len();
                    assert_eq!(away(&home).decode(&home.encode(&index), rank), None, "{home:?}");
                    assert_eq!(home.decode(&away(&home).encode(&index), rank), None, "{home:?}");
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
            let error = ArrayMarker::at(&store, &root).expect_err("is no marker").to_string();
            assert!(error.contains("zarr-kit-rearrange.json is not understood"), "{error}");
        }
        let home = ChunkKeyEncoding::Default { separator: Separator::Slash };
        let later = ArrayMarker::alone(&home, Step::Leaving).text(None);
        let later = later.replace("\"version\": 1", "\"version\": 2");
        store.put(&key, later.as_bytes()).expect("puts");
        let error = ArrayMarker::at(&store, &root).expect_err("is a later one").to_string();
        assert!(error.contains("has version 2, and version 1 is known"), "{error}");
    }
}
