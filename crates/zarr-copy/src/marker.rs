//! The object that marks an unfinished copy: writing and finding it.

use std::hash::{BuildHasher as _, Hasher as _, RandomState};

use fnv::FnvHasher;
use serde_json::Value;
use zarr_array::node::{self, put_new};
use zarr_array::unfinished::{
    Kind, MARKER, MARKER_VERSION, Unfinished, UnfinishedWork, marker_text, other_version,
    read_marker,
};
use zarr_metadata::NodeMetadata;
use zarr_store::{Key, LockGuard, Prefix, PutOutcome, StoreExt as _};

use crate::CopySummary;
use crate::content::{ContentDigest, hash_of};
use crate::endpoint::{Endpoint, below};
use crate::error::{TransferError, source};

/// The progress of an unfinished copy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Step {
    /// The previous content of the target is being removed, and may be there in part.
    Clearing,
    /// The target has only objects of this copy.
    Copying,
}

/// The state in which a target was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TargetState {
    /// Empty. The marker has been put.
    Fresh,
    /// This copy, interrupted.
    Interrupted,
    /// This copy of an array, finished except perhaps for the marker: its document is there.
    Finished,
}

/// A copy's marker at its target.
pub(crate) struct Marker<'a> {
    pub(crate) to: Endpoint<'a>,
    pub(crate) key: Key,
    kind: Kind,
    /// The document that the target will have.
    document: String,
    /// The place of the source, for messages.
    from: Option<String>,
    work: UnfinishedWork,
    /// The place of the source, its document, and the target's document, each as a hash.
    identity: [u64; 3],
    /// The digest of the objects of the source, if it is known: of the root of a copy.
    content: Option<ContentDigest>,
    /// The number of parts, if it is a copy in parts.
    parts: Option<u32>,
    /// Where intermediates are, if not beside the chunks: a copy that is resumed uses or removes them.
    intermediates: Option<String>,
    /// A random number of this run, by which it finds that another has taken the copy over. Parts
    /// have none, since they share the marker; nor have older markers.
    run: Option<String>,
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
            let [place, document, _] = one.identity;
            places.write(&place.to_le_bytes());
            documents.write(&document.to_le_bytes());
            words = words.or(one.from);
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
            kind,
            document,
            from,
            work,
            identity,
            content: None,
            parts: None,
            intermediates: None,
            run: None,
        })
    }

    /// The same marker with an identity of the source's objects: a copy of other objects is not
    /// resumed.
    pub(crate) fn with_content(self, content: Option<ContentDigest>) -> Self {
        Self { content, ..self }
    }

    /// The same marker with a number of this run, for the root of a copy.
    pub(crate) fn of_this_run(self) -> Self {
        let run = RandomState::new().hash_one(self.key.as_str());
        Self { run: Some(format!("{run:016x}")), ..self }
    }

    /// The same marker for a copy with intermediates in this place.
    pub(crate) fn with_intermediates(self, intermediates: Option<String>) -> Self {
        Self { intermediates, ..self }
    }

    /// The marker of the same copy in parts. It describes more of the copy, since the parts must
    /// agree on it: the nodes below the root, and whether other objects are copied.
    ///
    /// `below` are the [hashes](Self::hashes) of those nodes, in the order of a visit.
    pub(crate) fn in_parts(mut self, of: u32, below: &[[u64; 2]], nodes_only: bool) -> Self {
        let [place, source, target] = self.identity;
        let (mut sources, mut targets) = (FnvHasher::default(), FnvHasher::default());
        sources.write(&source.to_le_bytes());
        targets.write(&target.to_le_bytes());
        targets.write(&[u8::from(nodes_only)]);
        for [source, target] in below {
            sources.write(&source.to_le_bytes());
            targets.write(&target.to_le_bytes());
        }
        self.identity = [place, sources.finish(), targets.finish()];
        self.parts = Some(of);
        self.run = None;
        self
    }

    /// The identity of this node in a tree: its source, and its target below the root of the tree's
    /// target.
    pub(crate) fn hashes(&self, root: &Prefix) -> [u64; 2] {
        let [place, source, target] = self.identity.map(u64::to_le_bytes);
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

    /// Puts the target's document: last, so that there is no node until it is complete.
    pub(crate) fn put_document(&self) -> Result<(), TransferError> {
        put_verified(self.to, &self.to.document()?, self.document.as_bytes())
    }

    /// Whether the target's document is there. This copy puts no other.
    pub(crate) fn is_finished(&self) -> Result<bool, TransferError> {
        match self.to.store.read(&self.to.document()?)? {
            None => Ok(false),
            Some(document) if document == self.document.as_bytes() => Ok(true),
            Some(_) => Err(TransferError::OtherDocument { path: self.to.path() }),
        }
    }

    /// Whether this is an array, and the document that is there is an array's.
    fn is_array_there(&self) -> bool {
        self.kind == Kind::Array
            && matches!(node::open(self.to.store, self.to.prefix), Ok(NodeMetadata::Array(_)))
    }

    /// The state of a node of this copy whose document is there. Programs that make groups ahead put
    /// the same document of a group, so all below it is looked at.
    pub(crate) fn with_document(&self) -> TargetState {
        match self.kind {
            Kind::Array => TargetState::Finished,
            Kind::Group => TargetState::Interrupted,
        }
    }

    /// Puts the first marker, unless another process, such as another part of the copy, has.
    pub(crate) fn put_first(&self) -> Result<PutOutcome, TransferError> {
        Ok(put_new(&**self.to.store, &self.key, self.text(Step::Copying).as_bytes())?)
    }

    /// Why the marker that is there is not this one.
    pub(crate) fn other(&self) -> Result<TransferError, TransferError> {
        let path = self.to.path();
        let text = self.stored()?.unwrap_or_default();
        if let Some(found) = other_version(&text) {
            return Ok(TransferError::MarkerVersion { path, found, allowed: MARKER_VERSION });
        }
        let found = Unfinished::read(&text);
        let place = member(&text, "intermediates");
        if place != self.intermediates {
            return Ok(TransferError::OtherIntermediates { path, place });
        }
        let there = without_content(&text);
        let mut steps = [Step::Clearing, Step::Copying].into_iter();
        let same = steps.any(|step| without_content(self.text(step).as_bytes()) == there);
        Ok(match found.kind.map(|_| found.parts).filter(|found| *found != self.parts) {
            Some(of) => TransferError::OtherParts { path, of },
            None if same => TransferError::SourceChanged { path },
            None => TransferError::OtherCopy { path },
        })
    }

    pub(crate) fn put(&self, step: Step) -> Result<(), TransferError> {
        Ok(self.to.store.put(&self.key, self.text(step).as_bytes())?)
    }

    /// The marker that is there, of any copy.
    pub(crate) fn stored(&self) -> Result<Option<Vec<u8>>, TransferError> {
        Ok(read_marker(&**self.to.store, &self.key)?)
    }

    /// Restores the marker that was there before, which is still valid.
    pub(crate) fn restore(&self, before: Option<&[u8]>) -> Result<(), TransferError> {
        match before {
            Some(text) => Ok(self.to.store.put(&self.key, text)?),
            None => self.remove(),
        }
    }

    /// Removes the marker, because the copy is finished.
    pub(crate) fn remove(&self) -> Result<(), TransferError> {
        Ok(self.to.store.delete(&self.key)?)
    }

    /// The progress of the copy of the found marker, if there is one: `Some(None)` for another
    /// copy's marker.
    pub(crate) fn find(&self) -> Result<Option<Option<Step>>, TransferError> {
        Ok(self.stored()?.map(|text| self.step_of(&text)))
    }

    /// The step that this text of a marker says, or `None` for another copy's marker.
    pub(crate) fn step_of(&self, text: &[u8]) -> Option<Step> {
        let steps = [Step::Clearing, Step::Copying];
        // Another run of the same copy has another number.
        let run = member(text, "run");
        steps.into_iter().find(|step| self.text_of(*step, run.as_deref()).as_bytes() == text)
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
        Ok(self.to.store.lock_all(&[self.key.clone(), self.to.document()?])?)
    }

    /// Makes an interrupted run's marker this run's.
    pub(crate) fn take_over(&self) -> Result<(), TransferError> {
        let _held = self.lock()?;
        match self.find()? {
            Some(Some(Step::Copying)) => self.put(Step::Copying),
            _ => Err(TransferError::Removed { path: self.to.path() }),
        }
    }

    /// As [`put_document`](Self::put_document) and [`remove`](Self::remove), unless another process
    /// has taken over.
    pub(crate) fn end(&self, found: TargetState) -> Result<(), TransferError> {
        let _held = self.lock()?;
        self.check(Step::Copying)?;
        if found != TargetState::Finished {
            let (store, key) = (&**self.to.store, self.to.document()?);
            let bytes = self.document.as_bytes();
            // Without a conditional put, the lock excludes others.
            let put = if store.capabilities().conditional_put {
                store.put_if(&key, bytes, None)?
            } else if store.head(&key)?.is_none() {
                store.put(&key, bytes)?;
                PutOutcome::Written
            } else {
                PutOutcome::Changed
            };
            verify(self.to, &key, bytes, put)?;
        }
        self.remove()
    }

    /// Prepares a node within a tree that was found in the state `tree`. The copy of the tree has
    /// put everything there, since the target was empty when it began.
    pub(crate) fn begin_within(&self, tree: TargetState) -> Result<TargetState, TransferError> {
        if tree != TargetState::Fresh {
            let marker = self.find()?;
            if marker.is_some_and(|step| step != Some(Step::Copying)) {
                return Err(TransferError::OtherCopy { path: self.to.path() });
            }
            match self.is_finished() {
                Ok(false) => {}
                Ok(true) => return Ok(self.with_document()),
                // The marker of a group says nothing of the chunks of its arrays.
                Err(TransferError::OtherDocument { path })
                    if marker.is_none() && self.is_array_there() =>
                {
                    return Err(TransferError::OtherCopy { path });
                }
                Err(error) => return Err(error),
            }
            if marker.is_some() {
                return Ok(TargetState::Interrupted);
            }
        }
        self.put(Step::Copying)?;
        Ok(TargetState::Fresh)
    }

    /// Does the work of a copy that was found in the state `found`, unless it is finished:
    /// document and marker are the last two steps. `root` is the marker of the whole copy.
    pub(crate) fn finish(
        &self,
        found: TargetState,
        root: &Self,
        work: impl FnOnce() -> Result<CopySummary, TransferError>,
    ) -> Result<CopySummary, TransferError> {
        let summary = match found {
            TargetState::Finished => CopySummary { arrays: 1, ..CopySummary::default() },
            TargetState::Fresh | TargetState::Interrupted => work()?,
        };
        if std::ptr::eq(self, root) {
            self.end(found)?;
            return Ok(summary);
        }
        root.check(Step::Copying)?;
        if found != TargetState::Finished {
            self.put_document()?;
        }
        self.remove()?;
        Ok(summary)
    }

    fn text(&self, step: Step) -> String {
        self.text_of(step, self.run.as_deref())
    }

    fn text_of(&self, step: Step, run: Option<&str>) -> String {
        let kind = match self.kind {
            Kind::Array => "array",
            Kind::Group => "group",
        };
        let step = match step {
            Step::Clearing => "clearing",
            Step::Copying => "copying",
        };
        let quoted = |text: &str| Value::from(text).to_string();
        let hash = |hash: u64| quoted(&format!("{hash:016x}"));
        let [place, source, target] = self.identity.map(hash);
        let work = Some(self.work).filter(|work| *work != UnfinishedWork::Copy);
        let members = [
            ("node", Some(quoted(kind))),
            ("from", self.from.as_deref().map(quoted)),
            ("work", work.map(|work| quoted(&work.to_string()))),
            ("parts", self.parts.map(|parts| quoted(&parts.to_string()))),
            ("intermediates", self.intermediates.as_deref().map(quoted)),
            ("content", self.content.map(|content| hash(content.number()))),
            ("run", run.map(quoted)),
            ("step", Some(quoted(step))),
            ("source_place", Some(place)),
            ("source", Some(source)),
            ("target", Some(target)),
        ];
        let members = members.into_iter().filter_map(|(name, json)| Some((name, json?)));
        marker_text("unfinished_copy", &members.collect::<Vec<_>>())
    }
}

/// A text of the marker: `intermediates`, where they are, or `run`.
fn member(text: &[u8], name: &str) -> Option<String> {
    let json: Value = serde_json::from_slice(text).unwrap_or_default();
    Some(json.get("unfinished_copy")?.get(name)?.as_str()?.to_owned())
}

/// The identity of a copy in its marker, without the run and the objects of the source.
fn without_content(text: &[u8]) -> Value {
    let mut json: Value = serde_json::from_slice(text).unwrap_or_default();
    if let Some(members) = json.get_mut("unfinished_copy").and_then(Value::as_object_mut) {
        members.remove("content");
        members.remove("run");
    }
    json
}

/// Puts a document of a target, unless it is there already; any other document there is an error.
/// Reads the stored document afterwards: no copy counts as complete before its documents were read.
pub(crate) fn put_verified(
    to: Endpoint<'_>,
    key: &Key,
    document: &[u8],
) -> Result<(), TransferError> {
    verify(to, key, document, put_new(&**to.store, key, document)?)
}

/// Reads the document that was put.
fn verify(
    to: Endpoint<'_>,
    key: &Key,
    document: &[u8],
    put: PutOutcome,
) -> Result<(), TransferError> {
    match (to.store.read(key)?.as_deref() == Some(document), put) {
        (true, _) => Ok(()),
        (false, PutOutcome::Changed) => Err(TransferError::OtherDocument { path: to.path() }),
        (false, _) => Err(TransferError::VerifyObject { key: key.to_string() }),
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
        marker.put(Step::Copying).expect("puts");
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
        assert!(read.from.is_some_and(|from| from.starts_with('/') && from.ends_with("/a b é")));
    }

    #[cfg(unix)]
    #[test]
    fn names_with_characters_that_json_escapes_are_read_back() {
        let (text, read) = marker_of("a\"\\\n\u{1b}[2J");
        assert!(!text.contains('\u{1b}'), "{text:?}");
        assert!(read.from.is_some_and(|from| from.contains("/a")), "{text}");
    }
}
