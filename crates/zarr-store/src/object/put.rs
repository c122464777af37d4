//! Writing objects, also if responses are lost.

use std::io;

use futures_util::TryStreamExt as _;
use object_store::path::Path;
use object_store::{
    Error, GetOptions, ObjectStoreExt as _, PutMode, PutOptions, PutPayload, UpdateVersion,
};
use tokio::time::timeout;

use super::client::{Client, remote};
use super::retry::{Tries, Unanswered, is_lost};
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
        let size = bytes.len() as u64;
        let payload = PutPayload::from(bytes);
        let _permit = self.permit().await;
        let put = self
            .retrying(|| {
                let put = self.backend.put(&path, payload.clone());
                self.answer(Operation::Put, key.as_str(), put)
            })
            .await
            .map_err(|error| remote(Operation::Put, &key, error))?;
        if self.checked { self.check(&key, &path, size, put.e_tag).await } else { Ok(()) }
    }

    /// Copies an object of the same bucket within the server.
    pub(super) async fn copy(self, from: Path, key: Key, size: u64) -> Result<PutFrom, StoreError> {
        /// The largest object that S3 copies in one request.
        const MOST: u64 = 5 << 30;
        if size > MOST {
            return Ok(PutFrom::Unsupported);
        }
        let path = self.path(Operation::Put, key.as_str())?;
        let _permit = self.permit().await;
        let copied = self
            .retrying(|| {
                let copy = self.backend.copy(&from, &path);
                self.answer(Operation::Put, key.as_str(), copy)
            })
            .await;
        match copied {
            Ok(()) if self.checked => {
                self.check(&key, &path, size, None).await.map(|()| PutFrom::Copied)
            }
            Ok(()) => Ok(PutFrom::Copied),
            Err(Error::NotFound { .. }) => Ok(PutFrom::Changed),
            Err(Error::NotImplemented { .. } | Error::NotSupported { .. }) => {
                Ok(PutFrom::Unsupported)
            }
            Err(error) => Err(remote(Operation::Put, &key, error)),
        }
    }

    /// Verifies that an object that was put is there, with its length and the ETag of the response.
    async fn check(
        &self,
        key: &Key,
        path: &Path,
        size: u64,
        tag: Option<String>,
    ) -> Result<(), StoreError> {
        let asked = self.backend.head(path);
        let found = match self.answer(Operation::Put, key.as_str(), asked).await {
            Ok(meta) if meta.size != size => format!("it has {} bytes", meta.size),
            Ok(meta) if tag.is_some() && meta.e_tag.is_some() && meta.e_tag != tag => {
                "it has another ETag".to_owned()
            }
            Ok(_) => return Ok(()),
            Err(Error::NotFound { .. }) => "it is not there".to_owned(),
            Err(error) => return Err(remote(Operation::Put, key, error)),
        };
        let message = format!("the server said that it stored {size} bytes, but {found}");
        Err(StoreError::io(
            Operation::Put,
            key,
            io::Error::new(io::ErrorKind::InvalidData, message),
        ))
    }

    /// # Lost responses
    /// A conditional put that succeeded is refused if it is repeated: the object is no longer the
    /// expected one. So once a response may have been lost, the object's contents decide.
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
                Ok(_) => return Ok(PutOutcome::Written),
                Err(error) => error,
            };
            let lost = is_lost(&error);
            if lost {
                // A backend of the caller's does not report its own retries.
                unanswered.set();
            }
            let refused = match &error {
                Error::AlreadyExists { .. } | Error::Precondition { .. } => true,
                // Some backends say so if the object has been removed; a bucket may be missing too.
                Error::NotFound { .. } => expected.is_some(),
                _ => false,
            };
            let holds = match unanswered.is_set() {
                true => self.holds(&key, &path, &payload, &tries).await,
                false => Ok(false),
            };
            match holds {
                Ok(true) => return Ok(PutOutcome::Written),
                Ok(false) if refused => return Ok(PutOutcome::Changed),
                // Whether it was written is unknown.
                Err(unread) if refused => return Err(remote(Operation::Put, &key, unread)),
                Ok(_) | Err(_) => {}
            }
            if !lost || !tries.next().await {
                return Err(remote(Operation::Put, &key, error));
            }
        }
    }

    /// Whether the object holds these bytes.
    async fn holds(
        &self,
        key: &Key,
        path: &Path,
        payload: &PutPayload,
        tries: &Tries,
    ) -> Result<bool, Error> {
        let read = async {
            let found = match self.backend.get_opts(path, GetOptions::default()).await {
                Err(Error::NotFound { .. }) => return Ok(false),
                found => found?,
            };
            if found.meta.size != payload.content_length() as u64 {
                return Ok(false);
            }
            let pieces: Vec<_> = found.into_stream().try_collect().await?;
            let read = pieces.iter().flat_map(|piece| piece.iter());
            Ok(read.eq(payload.iter().flat_map(|piece| piece.iter())))
        };
        let read = timeout(tries.time_left(), self.answer(Operation::Get, key.as_str(), read));
        read.await.unwrap_or_else(|late| {
            Err(Error::Generic { store: "zarr-kit", source: Box::new(late) })
        })
    }
}
