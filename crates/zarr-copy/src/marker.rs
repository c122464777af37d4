//! The marker of a copy at its target: finding, beginning and taking over.

use std::hash::Hasher as _;

use fnv::FnvHasher;
use zarr_array::node::put_new;
use zarr_array::unfinished::{
    CopyMarker, Hold, Kind, MARKER, MARKER_VERSION, Unfinished, UnfinishedWork, end_marker,
    is_ended, other_version, read_marker, replace_marker, run_number,
};
use zarr_store::{Key, LockGuard, LockScope, Prefix, PutOutcome, StoreExt as _};

pub(crate) use zarr_array::unfinished::CopyStep as Step;

use crate::content::{ContentDigest, hash_of};
use crate::endpoint::{Endpoint, below};
use crate::error::{TransferError, source};

/// The state in which a target was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TargetState {
    /// Empty. The marker has been put.
    Fresh,
    /// This copy, interrupted.
    Interrupted,
    /// This copy of an array, and its document is there. A run that was overtaken may have put that
    /// before all chunks were, so missing objects are put. Those that are there stay: other programs
    /// may have changed them, since they see an array.
    Documented,
}

/// A copy's marker at its target.
pub(crate) struct Marker<'a> {
    pub(crate) to: Endpoint<'a>,
    pub(crate) key: Key,
    /// The document that the target will have.
    document: String,
    is: CopyMarker,
}

impl<'a> Marker<'a> {
    /// The marker of the copy from the node `from` with the document `from_document` to the node
    /// `to` with the document `to_document`.
    pub(crate) fn new(
        from: Endpoint<'_>,
        from_document: &str,
        to: Endpoint<'a>,
        kind: Kind,
        to_document: String,
    ) -> Result<Self, TransferError> {
        // If a store does not know its location, only the documents distinguish sources.
        let place = from.store.location(from.prefix);
        let words = place.as_ref().map(ToString::to_string);
        let place = place.map(|place| place.bytes());
        let meta = from.store.head(&from.document()?).map_err(source)?;
        // Versions of local files contain a device number, which may change after a restart.
        let version = meta.and_then(|meta| meta.version);
        let tag = version.as_ref().and_then(|version| version.tag()).unwrap_or_default();
        let identity = [
            hash_of(&[&place.unwrap_or_default()]),
            hash_of(&[from_document.as_bytes(), tag.as_bytes()]),
            hash_of(&[to_document.as_bytes()]),
        ];
        Self::with_identity(to, kind, to_document, words, UnfinishedWork::Copy, identity)
    }

    /// The marker of the node `to`, a join of several nodes, each with its document.
    pub(crate) fn of_many(
        from: &[(Endpoint<'_>, &str)],
        to: Endpoint<'a>,
        kind: Kind,
        to_document: String,
    ) -> Result<Self, TransferError> {
        let (mut places, mut documents) = (FnvHasher::default(), FnvHasher::default());
        let mut words = None;
        for (endpoint, document) in from {
            // As if each were the only one.
            let one = Self::new(*endpoint, document, to, kind, String::new())?;
            let [place, document, _] = one.is.identity;
            places.write(&place.to_le_bytes());
            documents.write(&document.to_le_bytes());
            words = words.or(one.is.from);
        }
        let others = from.len().saturating_sub(1);
        let words = words.filter(|_| others > 0).map(|first| format!("{first} and {others} more"));
        let target = hash_of(&[to_document.as_bytes()]);
        let identity = [places.finish(), documents.finish(), target];
        Self::with_identity(to, kind, to_document, words, UnfinishedWork::Join, identity)
    }

    /// The marker of a new array without a source.
    pub(crate) fn of_creation(to: Endpoint<'a>, document: String) -> Result<Self, TransferError> {
        let identity = [0, 0, hash_of(&[document.as_bytes()])];
        Self::with_identity(to, Kind::Array, document, None, UnfinishedWork::Creation, identity)
    }

    fn with_identity(
        to: Endpoint<'a>,
        kind: Kind,
        document: String,
        from: Option<String>,
        work: UnfinishedWork,
        identity: [u64; 3],
    ) -> Result<Self, TransferError> {
        let key = to.prefix.key(MARKER)?;
        Ok(Self {
            to,
            key,
            document,
            is: CopyMarker { from, work, ..CopyMarker::new(kind, identity) },
        })
    }

    /// The same marker with an identity of the source's objects: a copy of other objects is not
    /// resumed.
    pub(crate) fn with_content(mut self, content: Option<ContentDigest>) -> Self {
        self.is.content = content.map(ContentDigest::number);
        self
    }

    /// Says what the arrays below a group will be, so that a copy with others is another one.
    pub(crate) fn set_below(&mut self, below: Option<ContentDigest>) {
        self.is.below = below.map(ContentDigest::number);
    }

    /// The same marker with a number of this run, for the root of a copy.
    pub(crate) fn of_this_run(mut self) -> Self {
        self.is.run = Some(run_number());
        self
    }

    /// The same marker for a copy with intermediates in this place.
    pub(crate) fn with_intermediates(mut self, intermediates: Option<String>) -> Self {
        self.is.intermediates = intermediates;
        self
    }

    /// The marker of the same copy in parts. It describes more of the copy, since the parts must
    /// agree on it: the nodes below the root, and whether other objects are copied.
    ///
    /// `below` are the [hashes](Self::hashes) of those nodes, in the order of a visit.
    pub(crate) fn in_parts(mut self, of: u32, below: &[[u64; 2]], nodes_only: bool) -> Self {
        let [place, source, target] = self.is.identity;
        let (mut sources, mut targets) = (FnvHasher::default(), FnvHasher::default());
        sources.write(&source.to_le_bytes());
        targets.write(&target.to_le_bytes());
        targets.write(&[u8::from(nodes_only)]);
        for [source, target] in below {
            sources.write(&source.to_le_bytes());
            targets.write(&target.to_le_bytes());
        }
        self.is.identity = [place, sources.finish(), targets.finish()];
        self.is.parts = Some(of);
        self.is.run = None;
        self
    }

    /// The identity of this node in a tree: its source, and its target below the root of the tree's
    /// target.
    pub(crate) fn hashes(&self, root: &Prefix) -> [u64; 2] {
        let [place, source, target] = self.is.identity.map(u64::to_le_bytes);
        let path = below(root, self.to.prefix).as_bytes();
        [hash_of(&[&place, &source]), hash_of(&[path, &target])]
    }

    /// As [`hashes`](Self::hashes), for a document that is copied unchanged.
    pub(crate) fn hashes_of_document(root: &Prefix, key: &Key, document: &[u8]) -> [u64; 2] {
        let path = root.strip(key).unwrap_or_default().as_bytes();
        [hash_of(&[document]), hash_of(&[path, document])]
    }

    /// The document that the target will have.
    pub(crate) fn document(&self) -> &str {
        &self.document
    }

    /// Whether the target's document is there. This copy puts no other.
    pub(crate) fn is_finished(&self) -> Result<bool, TransferError> {
        match self.to.store.read(&self.to.document()?)? {
            None => Ok(false),
            Some(document) if document == self.document.as_bytes() => Ok(true),
            Some(_) => Err(TransferError::OtherDocument { path: self.to.path() }),
        }
    }

    /// The state of a node of this copy whose document is there or not. Programs that make groups ahead
    /// put the same document of a group.
    pub(crate) fn found_with(&self, document: bool) -> TargetState {
        match document && self.is.kind == Kind::Array {
            true => TargetState::Documented,
            false => TargetState::Interrupted,
        }
    }

    /// Puts the first marker in place of one that has ended or none, unless another process, such as
    /// another part of the copy, has.
    pub(crate) fn put_first(&self, ended: Option<&[u8]>) -> Result<PutOutcome, TransferError> {
        let (store, text) = (&**self.to.store, self.text(Step::Copying));
        let Some(ended) = ended else { return Ok(put_new(store, &self.key, text.as_bytes())?) };
        let _held = self.lock()?;
        Ok(match replace_marker(store, &self.key, Some(ended), text.as_bytes())? {
            true => PutOutcome::Written,
            false => PutOutcome::Changed,
        })
    }

    /// Why the marker that is there is not this one.
    pub(crate) fn other(&self) -> Result<TransferError, TransferError> {
        let path = self.to.path();
        let text = self.stored()?.unwrap_or_default();
        if let Some(found) = other_version(&text) {
            return Ok(TransferError::MarkerVersion { path, found, allowed: MARKER_VERSION });
        }
        let found = Unfinished::read(&text);
        let place = CopyMarker::intermediates_in(&text);
        if place != self.is.intermediates {
            return Ok(TransferError::OtherIntermediates { path, place });
        }
        let same = self.is.is_of_other_content(&text);
        Ok(match found.kind.map(|_| found.parts).filter(|found| *found != self.is.parts) {
            Some(of) => TransferError::OtherParts { path, of },
            None if same => TransferError::SourceChanged { path },
            None => TransferError::OtherCopy { path },
        })
    }

    /// Makes the marker `before` this one, or puts it where there is none.
    pub(crate) fn replace(&self, before: Option<&[u8]>, step: Step) -> Result<(), TransferError> {
        match replace_marker(&**self.to.store, &self.key, before, self.text(step).as_bytes())? {
            true => Ok(()),
            false => Err(self.taken(before)?),
        }
    }

    /// Why there is another marker than `before`.
    fn taken(&self, before: Option<&[u8]>) -> Result<TransferError, TransferError> {
        let path = self.to.path();
        Ok(match self.stored()?.filter(|text| !is_ended(text)) {
            // Another copy has begun since.
            Some(text) if before != Some(&*text) => TransferError::Unfinished { path },
            _ => TransferError::Removed { path },
        })
    }

    /// The marker that is there, of any copy.
    pub(crate) fn stored(&self) -> Result<Option<Vec<u8>>, TransferError> {
        Ok(read_marker(&**self.to.store, &self.key)?)
    }

    /// Restores the marker that was there before, which is still valid, in place of this one.
    pub(crate) fn restore(&self, before: Option<&[u8]>, step: Step) -> Result<(), TransferError> {
        let held = self.lock()?;
        let Some(before) = before.filter(|before| !before.is_empty()) else {
            return self.remove_at(step, &held);
        };
        let (store, own) = (&**self.to.store, self.text(step));
        match replace_marker(store, &self.key, Some(own.as_bytes()), before)? {
            true => Ok(()),
            false => Err(TransferError::Removed { path: self.to.path() }),
        }
    }

    /// Removes the marker because the copy is finished, or puts it a last time where another process
    /// could take over before the removal. `held` is [its lock](Self::lock).
    pub(crate) fn remove(&self, held: &LockGuard) -> Result<(), TransferError> {
        self.remove_at(Step::Copying, held)
    }

    fn remove_at(&self, step: Step, held: &LockGuard) -> Result<(), TransferError> {
        let (own, ended) = (self.text(step), self.text(Step::Ended));
        let store = &**self.to.store;
        match end_marker(store, held, &self.key, own.as_bytes(), ended.as_bytes())? {
            true => Ok(()),
            false => Err(TransferError::Removed { path: self.to.path() }),
        }
    }

    /// The progress of the copy of the found marker, if there is one that has not ended: `Some(None)`
    /// for another copy's marker.
    pub(crate) fn find(&self) -> Result<Option<Option<Step>>, TransferError> {
        let found = self.stored()?.filter(|text| !is_ended(text));
        Ok(found.map(|text| self.step_of(&text)))
    }

    /// The step that this text of a marker says, or `None` for another copy's marker.
    pub(crate) fn step_of(&self, text: &[u8]) -> Option<Step> {
        self.is.step_of(text)
    }

    /// Refuses to go on if the marker is gone, or another process has put its own.
    pub(crate) fn check(&self, step: Step) -> Result<(), TransferError> {
        match self.to.store.read(&self.key)?.as_deref() == Some(self.text(step).as_bytes()) {
            true => Ok(()),
            false => Err(TransferError::Removed { path: self.to.path() }),
        }
    }

    /// Excludes other processes from marker and document, as far as the store can.
    pub(crate) fn lock(&self) -> Result<LockGuard, TransferError> {
        let keys = [self.key.clone(), self.to.document()?];
        Ok(zarr_store::lock_step!("copy: lock of the marker", self.to.store.lock_all(&keys))?)
    }

    /// This run's hold on the target's objects.
    pub(crate) fn hold(&self) -> Result<std::sync::Arc<Hold>, TransferError> {
        let texts = [Step::Clearing, Step::Copying].map(|step| self.text(step).into_bytes());
        Ok(Hold::new(self.to.store, self.key.clone(), texts.into())?)
    }

    /// Whether objects of another run may come to the target after this one has replaced it.
    pub(crate) fn follows(&self) -> bool {
        self.is.follows
    }

    /// Records what the run finds that begins or resumes the copy: the marker that was there. `is_new`
    /// says that it replaces what is there.
    pub(crate) fn find_out(
        &mut self,
        before: Option<&[u8]>,
        is_new: bool,
    ) -> Result<(), TransferError> {
        let follows = before.is_some_and(|text| {
            let is_other = is_new && !is_ended(text) && self.step_of(text).is_none();
            CopyMarker::follows_in(text) || is_other
        });
        self.is.follows = follows && !self.hold()?.excludes_late_puts();
        Ok(())
    }

    /// Gives the copy in parts a number, if only one part can put the first marker; the others
    /// [adopt](Self::adopt) it.
    pub(crate) fn number_parts(&mut self) -> Result<(), TransferError> {
        let store = &**self.to.store;
        let is_exclusive = store.capabilities().conditional_put
            || store.lock(&self.key)?.scope() == LockScope::AllProcesses;
        self.is.run = is_exclusive.then(run_number);
        Ok(())
    }

    /// Takes the number of the marker that is there, of the same copy in parts.
    pub(crate) fn adopt(&mut self, text: &[u8]) {
        self.is.run = CopyMarker::run_in(text);
    }

    /// The number of this run, or of the copy in parts.
    pub(crate) fn run(&self) -> Option<&str> {
        self.is.run.as_deref()
    }

    /// Makes an interrupted run's marker this run's.
    pub(crate) fn take_over(&mut self) -> Result<(), TransferError> {
        let _held = self.lock()?;
        let before = self.stored()?;
        match before.as_deref().map(|text| self.step_of(text)) {
            Some(Some(Step::Copying)) => {
                self.is.follows = before.as_deref().is_some_and(CopyMarker::follows_in);
                self.replace(before.as_deref(), Step::Copying)
            }
            _ => Err(TransferError::Removed { path: self.to.path() }),
        }
    }

    /// The state of a node within a tree that was found in the state `tree`. The copy of the tree has
    /// put everything there, since the target was empty when it began.
    pub(crate) fn begin_within(&self, tree: TargetState) -> Result<TargetState, TransferError> {
        if tree == TargetState::Fresh {
            return Ok(TargetState::Fresh);
        }
        // Of a build that marked each node of a tree.
        if self.find()?.is_some_and(|step| step != Some(Step::Copying)) {
            return Err(TransferError::OtherCopy { path: self.to.path() });
        }
        let is_finished = self.is_finished()?;
        Ok(self.found_with(is_finished))
    }

    pub(crate) fn text(&self, step: Step) -> String {
        self.is.text(step)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use zarr_store::{LocalStore, MemoryStore, Store};

    /// The marker of a copy from a folder with this name.
    fn marker_of(name: &str) -> (String, Unfinished) {
        let folder = tempfile::tempdir().expect("makes a folder");
        let source = LocalStore::create(folder.path().join(name)).expect("makes a store");
        let from: Arc<dyn Store> = Arc::new(source);
        let to: Arc<dyn Store> = Arc::new(MemoryStore::new());
        let root = Prefix::root();
        let (from, to) = (Endpoint::new(&from, &root), Endpoint::new(&to, &root));
        let marker = Marker::new(from, "{}", to, Kind::Group, "{}".to_owned()).expect("a marker");
        assert_eq!(marker.put_first(None).expect("puts"), PutOutcome::Written);
        let read = Unfinished::at(&**to.store, &root).expect("reads").expect("is there");
        (marker.text(Step::Copying), read)
    }

    #[test]
    fn a_marker_is_json_and_tells_where_the_copy_is_from() {
        let (text, read) = marker_of("a b é");
        let json: serde_json::Value = serde_json::from_str(&text).expect("valid");
        let copy = &json["unfinished_copy"];
        assert_eq!((&copy["node"], &copy["step"]), (&"group".into(), &"copying".into()));
        assert_eq!(read.kind, Some(Kind::Group));
        assert_eq!(copy["from"].as_str(), read.from.as_deref());
        let from = std::path::PathBuf::from(read.from.expect("is told"));
        assert!(from.is_absolute() && from.ends_with("a b é"), "{}", from.display());
    }

    #[cfg(unix)]
    #[test]
    fn names_with_characters_that_json_escapes_are_read_back() {
        let (text, read) = marker_of("a\"\\\n\u{1b}[2J");
        assert!(!text.contains('\u{1b}'), "{text:?}");
        assert!(read.from.is_some_and(|from| from.contains("/a")), "{text}");
    }
}
