//! Writing objects, also if responses are lost.

use std::io;

use futures_util::TryStreamExt as _;
use object_store::path::Path;
use object_store::{
    Error, GetOptions, ObjectStoreExt as _, PutMode, PutOptions, PutPayload, UpdateVersion,
};
use tokio::time::timeout;

use super::client::{Client, describe, refused_without_end};
use super::retry::{Cause, Tries, Unanswered, is_unsupported, is_wrong};
use crate::{Key, Operation, PutFrom, PutOutcome, StoreError, Version};

/// The reverse of [`describe`](super::client::describe), for conditional puts.
fn expectation(version: &Version) -> UpdateVersion {
    let (tag, number) = version.tag().and_then(|tag| tag.split_once('\n')).unwrap_or_default();
    let given = |text: &str| (!text.is_empty()).then(|| text.to_owned());
    UpdateVersion { e_tag: given(tag), version: given(number) }
}

impl Client {
    pub(super) async fn put(self, key: Key, bytes: Vec<u8>) -> Result<(), StoreError> {
        let path = self.path(Operation::Put, key.as_str())?;
        let payload = PutPayload::from(bytes);
        let _permit = self.permit().await;
        let put = self
            .retrying(Cause::of, || {
                let put = self.backend.put(&path, payload.clone());
                self.answer(Operation::Put, key.as_str(), put)
            })
            .await
            .map_err(|error| self.failed(Operation::Put, &key, error))?;
        self.check_put(&key, &path, put.e_tag, &payload).await
    }

    /// Looks at an object that the server said it stored, if puts are checked.
    async fn check_put(
        &self,
        key: &Key,
        path: &Path,
        tag: Option<String>,
        payload: &PutPayload,
    ) -> Result<(), StoreError> {
        match self.checked {
            true if crate::step!("checked put: look at the object") => {
                let size = payload.content_length() as u64;
                self.check(key, path, size, Some((tag, payload))).await
            }
            _ => Ok(()),
        }
    }

    /// Copies an object of the same bucket within the server. [`PutFrom::Unsupported`] if the
    /// server did not copy, for any reason: the caller then reads and puts, with a more precise
    /// error. Only a server that cannot copy is not asked again.
    pub(super) async fn copy(self, from: Path, key: Key, size: u64) -> Result<PutFrom, StoreError> {
        /// The largest object that S3 copies in one request.
        const MOST: u64 = 5 << 30;
        let known = self.copies.get().copied();
        if size > MOST || known == Some(false) {
            return Ok(PutFrom::Unsupported);
        }
        let path = self.path(Operation::Put, key.as_str())?;
        let permit = self.permit().await;
        let copied = self
            .retrying(Cause::of, || {
                let copy = self.backend.copy(&from, &path);
                self.answer(Operation::Put, key.as_str(), copy)
            })
            .await;
        // An answer with the status of a success that says nothing of a copy.
        let is_wrong = copied.as_ref().is_err_and(is_wrong);
        match copied {
            Ok(()) => {}
            Err(_) if is_wrong => {}
            Err(Error::NotFound { .. }) => return Ok(PutFrom::Changed),
            Err(error) => {
                if is_unsupported(&error) {
                    let _known = self.copies.set(false);
                }
                return Ok(PutFrom::Unsupported);
            }
        }
        let unseen = self.checked || known.is_none();
        let unseen = unseen && crate::step!("copy within a server: look at the object");
        if is_wrong || (unseen && self.check(&key, &path, size, None).await.is_err()) {
            // Servers without copies ignore the source, and store the empty body of the request.
            let found = self.backend.head(&path).await;
            let is_empty = size > 0 && found.is_ok_and(|found| found.size == 0);
            if is_empty {
                let _known = self.copies.set(false);
            }
            drop(permit);
            // What else is there after a wrong answer may have been there before.
            if is_empty || !is_wrong {
                self.delete(key).await?;
            }
            return Ok(PutFrom::Unsupported);
        }
        if size > 0 {
            let _known = self.copies.set(true);
        }
        Ok(PutFrom::Copied)
    }

    /// Verifies that a put object exists, with its length and either the ETag of the response, if
    /// it had one, or its bytes. Others may put the same bytes, and some servers give these another
    /// ETag.
    async fn check(
        &self,
        key: &Key,
        path: &Path,
        size: u64,
        put: Option<(Option<String>, &PutPayload)>,
    ) -> Result<(), StoreError> {
        let tag = put.as_ref().and_then(|(tag, _)| tag.clone());
        let asked = self.retrying(Cause::of_read, || {
            self.answer(Operation::Put, key.as_str(), self.backend.head(path))
        });
        let found = match asked.await {
            Ok(meta) if meta.size != size => format!("it has {} bytes", meta.size),
            Ok(meta) if tag.is_some() && meta.e_tag.is_some() && meta.e_tag != tag => {
                let ours = put.map(|(_, payload)| payload);
                let tries = Tries::new(self.limits);
                match self.stored(key, path, ours, None, &tries).await {
                    Ok(Stored::Ours) => return Ok(()),
                    _ => "it has another ETag".to_owned(),
                }
            }
            Ok(_) => return Ok(()),
            Err(Error::NotFound { .. }) => "it is not there".to_owned(),
            Err(error) => return Err(self.failed(Operation::Put, key, error)),
        };
        let message = format!("the server said that it stored {size} bytes, but {found}");
        Err(StoreError::io(
            Operation::Put,
            key,
            io::Error::new(io::ErrorKind::InvalidData, message),
        ))
    }

    /// # Refused and lost requests
    /// A refusal alone says little. 409 is also the response if two requests coincide, and a
    /// successful put is refused if it is repeated after its response was lost. So after any of
    /// them the object is read again, and its bytes decide.
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
        let payload = PutPayload::from(bytes);
        let unanswered = Unanswered::default();
        let mut tries = Tries::new(self.limits);
        let _permit = self.permit().await;
        loop {
            let mut options = PutOptions { mode: mode.clone(), ..PutOptions::default() };
            options.extensions.insert(unanswered.clone());
            let put = self.backend.put_opts(&path, payload.clone(), options);
            let error = match self.answer(Operation::Put, key.as_str(), put).await {
                Ok(put) => {
                    self.check_put(&key, &path, put.e_tag, &payload).await?;
                    return Ok(PutOutcome::Written);
                }
                Err(error) => error,
            };
            let cause = match &error {
                // Some backends say so if the object has been removed; a bucket may be missing too.
                Error::NotFound { .. } if expected.is_some() => Some(Cause::Conflict),
                error => Cause::of(error),
            };
            if cause == Some(Cause::Lost) {
                // A backend of the caller's does not report its own retries.
                unanswered.set();
            }
            if cause.is_none() && !unanswered.is_set() {
                return Err(self.failed(Operation::Put, &key, error));
            }
            let reads = crate::step!("conditional put: look after a lost answer");
            let is_ours = unanswered.is_set().then_some(&payload).filter(|_| reads);
            match self.stored(&key, &path, is_ours, expected.as_ref(), &tries).await {
                Ok(Stored::Ours) => {
                    crate::reached!("conditional put: lost, and stored");
                    return Ok(PutOutcome::Written);
                }
                Ok(Stored::Other) if cause.is_some() => {
                    crate::reached!("conditional put: others were faster");
                    return Ok(PutOutcome::Changed);
                }
                // Whether it was written is unknown.
                Err(unread) if cause == Some(Cause::Conflict) => {
                    return Err(self.failed(Operation::Put, &key, unread));
                }
                Ok(_) | Err(_) => {}
            }
            match cause {
                Some(cause) if tries.next(cause).await => {
                    crate::reached!("conditional put: again");
                }
                Some(Cause::Conflict) => return Err(refused_without_end(&key)),
                _ => return Err(self.failed(Operation::Put, &key, error)),
            }
        }
    }

    /// The object that is stored now, after a put that may have replaced the version `expected` by
    /// `ours`.
    async fn stored(
        &self,
        key: &Key,
        path: &Path,
        ours: Option<&PutPayload>,
        expected: Option<&Version>,
        tries: &Tries,
    ) -> Result<Stored, Error> {
        let read = async {
            let found = match self.ask(key, path, &GetOptions::default()).await {
                Err(Error::NotFound { .. }) if expected.is_none() => return Ok(Stored::Expected),
                Err(Error::NotFound { .. }) => return Ok(Stored::Other),
                found => found?,
            };
            let meta = describe(&found.meta);
            if let Some(ours) = ours.filter(|ours| ours.content_length() as u64 == meta.size) {
                let pieces: Vec<_> = found.into_stream().try_collect().await?;
                let read = pieces.iter().flat_map(|piece| piece.iter());
                if read.eq(ours.iter().flat_map(|piece| piece.iter())) {
                    return Ok(Stored::Ours);
                }
            }
            let is_expected = expected.is_some() && meta.version.as_ref() == expected;
            Ok(if is_expected { Stored::Expected } else { Stored::Other })
        };
        timeout(tries.time_left(), read).await.unwrap_or_else(|late| {
            Err(Error::Generic { store: "zarr-kit", source: Box::new(late) })
        })
    }
}

/// The state that a conditional put finds after it failed.
enum Stored {
    /// The bytes that it was to write.
    Ours,
    /// The version that it was to replace.
    Expected,
    Other,
}
