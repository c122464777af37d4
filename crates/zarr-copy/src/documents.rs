//! The documents of a target, which come last.

use zarr_array::node;
use zarr_array::parallel;
use zarr_array::unfinished::MARKER;
use zarr_store::{Key, Prefix, PutOutcome, StoreExt as _};

use crate::error::TransferError;
use crate::marker::{Marker, Step, TargetState};

/// Documents that are put under one lock of the marker. Each is locked, too, which takes an open file
/// where the file system has no hard links.
const DOCUMENTS: usize = 64;

/// A document that the target gets when all objects are there.
#[derive(Debug)]
pub(crate) struct Pending {
    pub(crate) key: Key,
    pub(crate) bytes: Vec<u8>,
}

impl Marker<'_> {
    /// The target's document, to be put when all objects are there.
    pub(crate) fn pending(&self) -> Result<Pending, TransferError> {
        Ok(Pending { key: self.to.document()?, bytes: self.document().as_bytes().to_vec() })
    }

    /// Puts the target's document, of an intermediate. The marker of the whole copy is the caller's.
    pub(crate) fn put_document(&self) -> Result<(), TransferError> {
        self.put_absent(&self.pending()?)
    }

    /// Puts the documents that are not there yet, unless another process has taken over: all together,
    /// when all objects are there. Then, at the `end` of the copy, its own document, and removes the
    /// marker. Nobody can take over between a look at the marker and the documents that follow, if the
    /// store has locks.
    pub(crate) fn put_documents(
        &self,
        documents: &[Pending],
        end: Option<TargetState>,
    ) -> Result<(), TransferError> {
        let last = end.map(|_| self.pending()).transpose()?;
        let mut batches: Vec<Vec<&Pending>> =
            documents.chunks(DOCUMENTS).map(|batch| batch.iter().collect()).collect();
        if let Some(last) = &last {
            batches.push(vec![last]);
        }
        let count = batches.len();
        for (number, batch) in batches.into_iter().enumerate() {
            let keys = batch.iter().map(|document| document.key.clone());
            let keys: Vec<Key> = keys.chain([self.key.clone()]).collect();
            let store = &self.to.store;
            let held =
                zarr_store::lock_step!("copy: lock of its documents", store.lock_all(&keys))?;
            if zarr_store::step!("copy: look at the marker before documents") {
                self.check(Step::Copying)?;
            }
            // Those of groups after those of their members: one after another unless none is of a group.
            let threads = parallel::requests(&**self.to.store);
            for level in batch.chunk_by(|a, b| depth(&a.key) == depth(&b.key)) {
                parallel::each(level, threads, |document| self.put_absent(document))?;
            }
            if end.is_some() && number + 1 == count {
                self.remove(&held)?;
            }
        }
        Ok(())
    }

    /// As [`put_documents`](Self::put_documents) at the end of a copy, of a node in this state.
    pub(crate) fn end(
        &self,
        documents: &[Pending],
        found: TargetState,
    ) -> Result<(), TransferError> {
        // Builds that marked each node of a tree may have begun this one.
        if found != TargetState::Fresh {
            let held = self.hold()?.store(self.to.store);
            for document in documents {
                let marker = document.key.as_str().strip_suffix(node::METADATA_KEY);
                if let Some(Ok(marker)) = marker.map(|start| Key::new(format!("{start}{MARKER}"))) {
                    held.delete(&marker)?;
                }
            }
        }
        self.put_documents(documents, Some(found))
    }

    /// Puts a document unless it is there; any other document there is an error. Reads the stored
    /// document afterwards: no copy counts as complete before its documents were read.
    fn put_absent(&self, document: &Pending) -> Result<(), TransferError> {
        let (store, Pending { key, bytes }) = (&**self.to.store, document);
        // Without a conditional put, the lock excludes others.
        let put = if store.capabilities().conditional_put
            && zarr_store::step!("copy: a document only where there is none")
        {
            store.put_if(key, bytes, None)?
        } else if store.head(key)?.is_none() {
            store.put(key, bytes)?;
            PutOutcome::Written
        } else {
            PutOutcome::Changed
        };
        match (store.read(key)?.as_deref() == Some(bytes), put) {
            (true, _) => Ok(()),
            (false, PutOutcome::Changed) => {
                let folder = key.as_str().rsplit_once('/').map_or("", |(folder, _)| folder);
                let path =
                    Prefix::new(folder).map_or_else(|_| key.to_string(), |at| node::display(&at));
                Err(TransferError::OtherDocument { path })
            }
            (false, _) => Err(TransferError::VerifyObject { key: key.to_string() }),
        }
    }
}

/// How many folders a key has.
fn depth(key: &Key) -> usize {
    key.as_str().matches('/').count()
}
