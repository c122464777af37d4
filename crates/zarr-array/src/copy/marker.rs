//! The object that tells an unfinished copy.

use std::fmt::Write;
use std::hash::Hasher as _;

use fnv::FnvHasher;

use super::error::{TransferError, source};
use super::side::Side;
use crate::store::Key;

/// The object beside a target's `zarr.json` while a copy to it is not finished.
pub const MARKER: &str = "zarr-kit-copy.json";

/// How far an unfinished copy is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Step {
    /// What was at the target is being removed: it may be there in part.
    Clearing,
    /// Nothing is at the target but what the copy has put there.
    Copying,
}

/// What a target was found to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Found {
    /// Nothing. The marker has been put.
    Fresh,
    /// This copy, interrupted.
    Interrupted,
    /// This copy, finished: told by the marker of the tree that it belongs to.
    Finished,
}

/// A copy's marker at its target.
pub(super) struct Marker<'a> {
    pub(super) to: Side<'a>,
    key: Key,
    /// The document that the target is to have.
    document: String,
    /// Where the source is, its document, and the target's document, each by its hash.
    identity: [u64; 3],
}

impl<'a> Marker<'a> {
    /// The marker of the copy that makes the node `to` with the document `to_document` from the
    /// node `from` with the document `from_document`.
    pub(super) fn new(
        from: Side<'_>,
        from_document: &str,
        to: Side<'a>,
        to_document: String,
    ) -> Result<Self, TransferError> {
        // Where a store does not know where it is, documents alone tell sources apart.
        let place = from.store.location(from.prefix).map(|place| place.bytes());
        let meta = from.store.head(&from.document()?).map_err(source)?;
        // What tells versions of local files apart holds a number of their device, which may be
        // another one after a restart.
        let version = meta.and_then(|meta| meta.version);
        let tag = version.as_ref().and_then(|version| version.tag()).unwrap_or_default();
        let identity = [
            hash_of(&[&place.unwrap_or_default()]),
            hash_of(&[from_document.as_bytes(), tag.as_bytes()]),
            hash_of(&[to_document.as_bytes()]),
        ];
        Ok(Self { to, key: to.prefix.key(MARKER)?, document: to_document, identity })
    }

    pub(super) fn put(&self, step: Step) -> Result<(), TransferError> {
        Ok(self.to.store.put(&self.key, self.text(step).as_bytes())?)
    }

    /// The copy is finished.
    pub(super) fn remove(&self) -> Result<(), TransferError> {
        Ok(self.to.store.delete(&self.key)?)
    }

    /// How far the copy is of which there is a marker, if there is one: `Some(None)` for that of
    /// another copy.
    pub(super) fn find(&self) -> Result<Option<Option<Step>>, TransferError> {
        let Some(text) = self.to.store.get(&self.key)? else { return Ok(None) };
        let steps = [Step::Clearing, Step::Copying];
        Ok(Some(steps.into_iter().find(|step| self.text(*step).as_bytes() == text)))
    }

    /// Makes a node ready that belongs to a tree, which was found to be `tree`. What is there has
    /// been put by the copy of the tree, since nothing was there when that began.
    pub(super) fn begin_within(&self, tree: Found) -> Result<Found, TransferError> {
        let other = || TransferError::OtherCopy { path: self.to.path() };
        if tree != Found::Fresh {
            match self.find()? {
                Some(Some(Step::Copying)) => return Ok(Found::Interrupted),
                Some(_) => return Err(other()),
                None => {}
            }
            match self.to.store.get(&self.to.document()?)? {
                Some(document) if document == self.document.as_bytes() => {
                    return Ok(Found::Finished);
                }
                Some(_) => return Err(other()),
                None => {}
            }
        }
        self.put(Step::Copying)?;
        Ok(Found::Fresh)
    }

    /// The same in every process and version.
    fn text(&self, step: Step) -> String {
        let step = match step {
            Step::Clearing => "clearing",
            Step::Copying => "copying",
        };
        let [place, source, target] = self.identity;
        let mut text = String::new();
        let _infallible = writeln!(
            text,
            "{{\"unfinished copy\": {{\"step\": \"{step}\", \"source place\": \"{place:016x}\", \
             \"source\": \"{source:016x}\", \"target\": \"{target:016x}\"}}}}"
        );
        text
    }
}

/// The hash of all parts and where they end: FNV-1a, the same in every process and version.
fn hash_of(parts: &[&[u8]]) -> u64 {
    let mut hasher = FnvHasher::default();
    for part in parts {
        hasher.write(part);
        hasher.write(&u64::try_from(part.len()).unwrap_or(u64::MAX).to_le_bytes());
    }
    hasher.finish()
}
