//! Single requests.

use std::io;
use std::sync::Arc;

use futures_util::StreamExt;
use object_store::list::PaginatedListStore;
use object_store::path::Path;
use object_store::{
    Error, GetOptions, GetResult, ObjectStore as Backend, ObjectStoreExt, PutMode, PutOptions,
    PutPayload, UpdateVersion,
};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::{Key, ObjectMeta, Operation, Prefix, PutOutcome, StoreError, Version, reserve};

/// What all clones of a store share.
#[derive(Clone)]
pub(super) struct Client {
    pub(super) backend: Arc<dyn Backend>,
    /// The backend once more, if it lists in pages what lies directly below a prefix.
    pub(super) pages: Option<Arc<dyn PaginatedListStore>>,
    pub(super) base: Path,
    /// What the paths are in: a service's bucket.
    pub(super) space: Arc<str>,
    pub(super) requests: Arc<Semaphore>,
}

/// An error of the backend with its context.
pub(super) fn remote(operation: Operation, name: impl ToString, cause: Error) -> StoreError {
    StoreError::Remote { operation, key: name.to_string(), cause: Box::new(cause) }
}

/// `None` where the error says that there is no such object.
pub(super) fn present<T>(
    operation: Operation,
    key: &Key,
    result: Result<T, Error>,
) -> Result<Option<T>, StoreError> {
    match result {
        Ok(found) => Ok(Some(found)),
        Err(Error::NotFound { .. }) => Ok(None),
        Err(error) => Err(remote(operation, key, error)),
    }
}

/// Size and version as the backend tells them: by ETag and version number, else by the time of the
/// last change, in whole seconds as it may be.
pub(super) fn describe(meta: &object_store::ObjectMeta) -> ObjectMeta {
    let version = match (&meta.e_tag, &meta.version) {
        (None, None) => {
            let millis = meta.last_modified.timestamp_millis();
            Version::from_numbers([u64::from_le_bytes(millis.to_le_bytes()), meta.size, 0, 0])
        }
        (tag, number) => {
            // Neither holds a line feed: both come from HTTP headers.
            let tag = tag.as_deref().unwrap_or_default();
            let number = number.as_deref().unwrap_or_default();
            Version::from_tag(&format!("{tag}\n{number}"))
        }
    };
    ObjectMeta { size: meta.size, version: Some(version) }
}

/// The reverse of [`describe`], for conditional puts.
fn expectation(version: &Version) -> UpdateVersion {
    let (tag, number) = version.tag().and_then(|tag| tag.split_once('\n')).unwrap_or_default();
    let given = |text: &str| (!text.is_empty()).then(|| text.to_owned());
    UpdateVersion { e_tag: given(tag), version: given(number) }
}

impl Client {
    pub(super) fn path(&self, operation: Operation, name: &str) -> Result<Path, StoreError> {
        let below = Path::parse(name)
            .map_err(|error| remote(operation, name, Error::InvalidPath { source: error }))?;
        Ok(self.base.parts().chain(below.parts()).collect())
    }

    /// Waits until another request may be made. The semaphore is never closed.
    pub(super) async fn permit(&self) -> Option<OwnedSemaphorePermit> {
        Arc::clone(&self.requests).acquire_owned().await.ok()
    }

    pub(super) async fn get(
        self,
        key: Key,
        mut out: Vec<u8>,
    ) -> Result<(Vec<u8>, Option<ObjectMeta>), StoreError> {
        out.clear();
        let path = self.path(Operation::Get, key.as_str())?;
        let _permit = self.permit().await;
        let found = self.backend.get_opts(&path, GetOptions::default()).await;
        let Some(found) = present(Operation::Get, &key, found)? else { return Ok((out, None)) };
        let meta = describe(&found.meta);
        reserve(&key, &mut out, meta.size)?;
        receive(&key, found, |_, bytes| out.extend_from_slice(bytes)).await?;
        Ok((out, Some(meta)))
    }

    pub(super) async fn head(self, key: Key) -> Result<Option<ObjectMeta>, StoreError> {
        let path = self.path(Operation::Head, key.as_str())?;
        let _permit = self.permit().await;
        let found = present(Operation::Head, &key, self.backend.head(&path).await)?;
        Ok(found.map(|meta| describe(&meta)))
    }

    pub(super) async fn put(self, key: Key, bytes: Vec<u8>) -> Result<(), StoreError> {
        let path = self.path(Operation::Put, key.as_str())?;
        let _permit = self.permit().await;
        let put = self.backend.put(&path, PutPayload::from(bytes)).await;
        put.map(drop).map_err(|error| remote(Operation::Put, &key, error))
    }

    pub(super) async fn put_if(
        self,
        key: Key,
        bytes: Vec<u8>,
        expected: Option<Version>,
    ) -> Result<PutOutcome, StoreError> {
        let path = self.path(Operation::Put, key.as_str())?;
        let mode = match &expected {
            None => PutMode::Create,
            Some(version) => PutMode::Update(expectation(version)),
        };
        let _permit = self.permit().await;
        let options = PutOptions { mode, ..PutOptions::default() };
        match self.backend.put_opts(&path, PutPayload::from(bytes), options).await {
            Ok(_) => Ok(PutOutcome::Written),
            Err(Error::AlreadyExists { .. } | Error::Precondition { .. }) => {
                Ok(PutOutcome::Changed)
            }
            // Gone meanwhile, as some backends put it; but a bucket may be missing too.
            Err(Error::NotFound { .. }) if expected.is_some() => Ok(PutOutcome::Changed),
            Err(error) => Err(remote(Operation::Put, &key, error)),
        }
    }

    pub(super) async fn delete(self, key: Key) -> Result<(), StoreError> {
        let path = self.path(Operation::Delete, key.as_str())?;
        let _permit = self.permit().await;
        present(Operation::Delete, &key, self.backend.delete(&path).await).map(drop)
    }

    /// Deletes in bulk, while the listing goes on, where the backend can.
    pub(super) async fn delete_prefix(self, prefix: Prefix) -> Result<(), StoreError> {
        let path = self.path(Operation::Delete, prefix.as_str())?;
        let _permit = self.permit().await;
        let listed = self.backend.list(Some(&path));
        let paths = listed.map(|found| found.map(|meta| meta.location)).boxed();
        let mut deleted = self.backend.delete_stream(paths);
        while let Some(result) = deleted.next().await {
            match result {
                Ok(_) | Err(Error::NotFound { .. }) => {}
                Err(error) => return Err(remote(Operation::Delete, &prefix, error)),
            }
        }
        Ok(())
    }
}

/// Takes in what was asked for, piece by piece, with each piece's position in the object; an error
/// if it is more or less than was announced.
pub(super) async fn receive(
    key: &Key,
    found: GetResult,
    mut take: impl FnMut(u64, &[u8]),
) -> Result<(), StoreError> {
    let mut at = found.range.start;
    let end = found.range.end;
    let mut stream = found.into_stream();
    while let Some(piece) = stream.next().await {
        let piece = piece.map_err(|error| remote(Operation::Get, key, error))?;
        let next = at + piece.len() as u64;
        if next > end {
            let message = "the server sent more bytes than it announced";
            let cause = io::Error::new(io::ErrorKind::InvalidData, message);
            return Err(StoreError::io(Operation::Get, key, cause));
        }
        take(at, &piece);
        at = next;
    }
    if at < end {
        let message = format!("the server sent {} bytes less than it announced", end - at);
        let cause = io::Error::new(io::ErrorKind::UnexpectedEof, message);
        return Err(StoreError::io(Operation::Get, key, cause));
    }
    Ok(())
}
