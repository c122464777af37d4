//! The object that marks a group while its arrays are rearranged.

use zarr_array::ArrayError;
use zarr_array::store::{Prefix, Store};
use zarr_array::unfinished::marker_text;

use crate::rearrange::marker_json::{marker_at, string};

/// How far the rearrangement of a group has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::rearrange) enum GroupMarker {
    /// Chunks are being copied. All arrays are the old ones.
    Leaving,
    /// The documents are being put: arrays that are still the old ones will be the new ones.
    Switching,
    /// All arrays are the new ones, and return to their own keys.
    Returning,
}

impl GroupMarker {
    /// All steps, in their order.
    pub(in crate::rearrange) const ALL: [Self; 3] =
        [Self::Leaving, Self::Switching, Self::Returning];

    /// The marker of the group at `prefix`, if there is one.
    pub(in crate::rearrange) fn at(
        store: &dyn Store,
        prefix: &Prefix,
    ) -> Result<Option<Self>, ArrayError> {
        marker_at(store, prefix, NAME, |members| {
            let step = string(members, "step")?;
            Self::ALL.into_iter().find(|marker| marker.step() == step)
        })
    }

    fn step(self) -> &'static str {
        match self {
            Self::Leaving => "leaving",
            Self::Switching => "switching",
            Self::Returning => "returning",
        }
    }

    /// Its text, with the number of the run.
    pub(in crate::rearrange) fn text(self, run: Option<&str>) -> String {
        let run = run.map(|run| ("run", format!("\"{run}\"")));
        let step = [("step", format!("\"{}\"", self.step()))];
        marker_text(NAME, &step.into_iter().chain(run).collect::<Vec<_>>())
    }
}

/// The name of the object in a marker.
const NAME: &str = "unfinished_rearrangement_of_arrays";

#[cfg(test)]
mod tests {
    use super::*;
    use zarr_array::store::{Key, MemoryStore, StoreExt as _};
    use zarr_array::unfinished::REARRANGE_MARKER as MARKER;

    #[test]
    fn every_marker_is_read_back_and_nothing_else_is_one() {
        let (store, root) = (MemoryStore::new(), Prefix::root());
        assert_eq!(GroupMarker::at(&store, &root).expect("reads"), None);
        let key = Key::new(MARKER).expect("a key");
        for (marker, run) in GroupMarker::ALL.into_iter().zip([None, Some("ab"), Some("cd")]) {
            let text = marker.text(run);
            store.put(&key, text.as_bytes()).expect("puts");
            assert_eq!(GroupMarker::at(&store, &root).expect("reads"), Some(marker));
            let json: serde_json::Value = serde_json::from_str(&text).expect("is JSON");
            let members = &json["unfinished_rearrangement_of_arrays"];
            assert!(members["step"].is_string());
            assert_eq!(members["run"].as_str(), run);
        }
        for text in [&b""[..], b"{}", b"\0\xff", &[b' '; 5000]] {
            store.put(&key, text).expect("puts");
            let error = GroupMarker::at(&store, &root).expect_err("is no marker").to_string();
            assert!(error.contains("zarr-kit-rearrange.json is not understood"), "{error}");
        }
        let later = GroupMarker::Leaving.text(None).replace("\"version\": 1", "\"version\": 2");
        store.put(&key, later.as_bytes()).expect("puts");
        let error = GroupMarker::at(&store, &root).expect_err("is a later one").to_string();
        assert!(error.contains("has version 2, and version 1 is known"), "{error}");
    }
}
