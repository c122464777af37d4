//! Errors of stores.

use std::error::Error;
use std::fmt;
use std::io;
use std::ops::Range;
use std::path::PathBuf;
use std::time::SystemTime;

use crate::KeyError;
use crate::errors::full_message::FullMessage;
use crate::errors::remedy::Remedy;
use crate::errors::utc::Utc;

/// An operation of a store.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Operation {
    /// Open the store itself.
    Open,
    /// Read an object, whole or in ranges.
    Get,
    /// Look up size and version of an object.
    Head,
    /// Write an object.
    Put,
    /// Remove an object.
    Delete,
    /// List keys.
    List,
    /// Take the advisory lock of a key.
    Lock,
}

impl fmt::Display for Operation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Open => "open",
            Self::Get => "read",
            Self::Head => "look up",
            Self::Put => "write",
            Self::Delete => "delete",
            Self::List => "list",
            Self::Lock => "lock",
        })
    }
}

/// The error of every store operation.
///
/// A missing object is not an error: reads return `None`. Messages are complete, including the
/// message of the system or a client library; `source` returns `None`.
#[derive(thiserror::Error)]
#[non_exhaustive]
pub enum StoreError {
    /// The text given for a key is not a key.
    #[error(transparent)]
    Key(#[from] KeyError),
    /// The operating system refused the operation: full disk, no permission, and the like.
    #[error("cannot {operation} {key:?}: {}", FullMessage(cause))]
    Io {
        /// The operation.
        operation: Operation,
        /// Key, prefix or path that it concerned.
        key: String,
        /// The error of the system.
        cause: io::Error,
    },
    /// A remote store failed the operation, after its retries.
    #[error("cannot {operation} {key:?}: {}", FullMessage(cause.as_ref()))]
    Remote {
        /// The operation.
        operation: Operation,
        /// Key, prefix or URL that it concerned.
        key: String,
        /// The error of the client library.
        cause: Box<dyn Error + Send + Sync>,
    },
    /// A byte range ends beyond the object: the object is truncated, or the range is wrong.
    #[error("cannot read bytes {} to {} of {key:?}: the object has {size} bytes", range.start, range.end)]
    Range {
        /// The object.
        key: String,
        /// The range requested.
        range: Range<u64>,
        /// Size of the object in bytes.
        size: u64,
    },
    /// The object is shorter than the requested suffix: it is truncated.
    #[error("cannot read the last {len} bytes of {key:?}: the object has {size} bytes")]
    Suffix {
        /// The object.
        key: String,
        /// The number of requested bytes.
        len: u64,
        /// Size of the object in bytes.
        size: u64,
    },
    /// The object is larger than this process can hold.
    #[error("cannot read {key:?}: {size} bytes do not fit into memory")]
    TooLarge {
        /// The object.
        key: String,
        /// Bytes requested.
        size: u64,
    },
    /// A symbolic link leads out of a local store, which is not allowed.
    #[error("cannot use {key:?}: the symbolic link {link:?} leads outside the store")]
    OutsideRoot {
        /// The key.
        key: String,
        /// The link.
        link: PathBuf,
    },
    /// The caller has not allowed this, and could: a place to which a document leads, or its length.
    #[error("cannot {operation} {key:?}: {reason}")]
    NotAllowed {
        /// The operation.
        operation: Operation,
        /// Key or URL that it concerned.
        key: String,
        /// What was found, and what is allowed.
        reason: String,
        /// What allows more.
        remedy: Remedy,
    },
    /// A symbolic link in a local store leads nowhere: what it led to, such as a disk that is not
    /// mounted, may have the object.
    #[error(
        "cannot use {key:?}: the symbolic link {link:?} leads to nothing that is there; restore its \
         target, such as by mounting a disk, or remove the link"
    )]
    DanglingLink {
        /// The key.
        key: String,
        /// The link.
        link: PathBuf,
    },
    /// The key has a name that a local store reserves for its own temporary and lock files, or that
    /// is no file name on this platform.
    #[error("cannot use {key:?}: the name {segment:?} is reserved")]
    Reserved {
        /// The key.
        key: String,
        /// The segment in question.
        segment: String,
    },
    /// The store cannot do this at all.
    #[error("cannot {operation} {key:?}: this store has no {missing}")]
    Unsupported {
        /// The operation.
        operation: Operation,
        /// Key that it concerned.
        key: String,
        /// The method that the store lacks.
        missing: &'static str,
    },
    /// An update was refused because the store cannot exclude other processes, which could
    /// overwrite it.
    #[error(
        "cannot update {key:?}: this store has neither locks between processes nor conditional \
         writes, so that another writer's change could be lost"
    )]
    NoExclusion {
        /// The key.
        key: String,
    },
    /// Other writers replaced the object repeatedly while parts of it were read.
    #[error("cannot read {key:?}: other writers replaced it in each of {attempts} attempts")]
    Unsteady {
        /// The key.
        key: String,
        /// The number of attempts.
        attempts: u32,
    },
    /// The operation needs a client that belongs to the parent process of this fork, and cannot be
    /// recreated.
    #[error("cannot {operation} {key:?}: {reason}")]
    Forked {
        /// The operation.
        operation: Operation,
        /// Key or prefix that it concerned.
        key: String,
        /// The part that cannot be recreated, and the remedy.
        reason: &'static str,
    },
    /// A URL or an option for opening a store is not understood.
    #[error("cannot open {url:?}: {reason}")]
    Url {
        /// The URL as [`shown_url`](crate::shown_url) has it.
        url: String,
        /// Its fault, and the allowed values.
        reason: String,
    },
    /// The container of the store's objects, such as a zip archive, is damaged, was replaced, or
    /// holds the object in an unsupported form.
    #[error("cannot {operation} {key:?}: {reason}")]
    Container {
        /// The operation.
        operation: Operation,
        /// The archive, or the object in it.
        key: String,
        /// The fault.
        reason: String,
    },
    /// The bytes of the object are not those that were written: a checksum of its container differs,
    /// or they cannot be decompressed.
    #[error("cannot read {key:?}: {reason}")]
    Damaged {
        /// The object.
        key: String,
        /// What tells it.
        reason: String,
    },
    /// The object was modified later than its reader accepts: for example, a chunk of a virtual
    /// join that was overwritten after the join.
    #[error(transparent)]
    Modified(Box<ModifiedObject>),
    /// The work that this process does has a marker, which is gone or now another process's: nothing
    /// was written.
    #[error(
        "cannot change {key:?}: another process has finished, resumed, restarted or removed this \
         work, whose marker {marker:?} is no longer this process's"
    )]
    Overtaken {
        /// Key or prefix that was to be written or removed.
        key: String,
        /// The marker.
        marker: String,
    },
    /// Other writers changed the object repeatedly between reading and writing it.
    #[error("cannot update {key:?}: other writers changed it in each of {attempts} attempts")]
    Contention {
        /// The key.
        key: String,
        /// The number of attempts.
        attempts: u32,
    },
}

/// An object that was modified later than its reader accepts.
#[derive(Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "cannot {operation} {key:?}: it was modified at {}, after {}, {meaning}",
    Utc(*modified),
    Utc(*latest)
)]
pub struct ModifiedObject {
    /// The operation.
    pub operation: Operation,
    /// The object.
    pub key: String,
    /// When it was modified.
    pub modified: SystemTime,
    /// The latest time that is accepted.
    pub latest: SystemTime,
    /// The event at that time.
    pub meaning: &'static str,
}

impl StoreError {
    /// Whether the error concerns only one object or folder, so that others may be read: permissions,
    /// links out of the store, damaged files and entries of archives. An error of a server concerns
    /// all its objects, and requests of each of them would take as many time-outs.
    ///
    /// # Examples
    /// ```
    /// use zarr_store::StoreError;
    ///
    /// let truncated = StoreError::Range { key: "c/0".to_owned(), range: 0..4, size: 1 };
    /// assert!(truncated.is_of_one_object());
    /// ```
    #[must_use]
    pub fn is_of_one_object(&self) -> bool {
        matches!(
            self,
            Self::Io { .. }
                | Self::Range { .. }
                | Self::Suffix { .. }
                | Self::TooLarge { .. }
                | Self::OutsideRoot { .. }
                | Self::NotAllowed { operation: Operation::Get, .. }
                | Self::NotAllowed { remedy: Remedy::OutsideMembers, .. }
                | Self::DanglingLink { .. }
                | Self::Reserved { .. }
                | Self::Unsteady { .. }
                | Self::Container { operation: Operation::Get, .. }
                | Self::Damaged { .. }
                | Self::Modified(_)
        )
    }

    /// Whether a listing failed because the store cannot list at all, or not for this client. The
    /// store may be readable all the same. False for a temporary failure, such as a lost or a
    /// throttled request: an operation must not treat the object as missing then.
    #[must_use]
    pub fn cannot_list(&self) -> bool {
        match self {
            Self::Unsupported { .. } => true,
            #[cfg(feature = "object_store")]
            Self::Remote { cause, .. } => {
                !cause.downcast_ref::<RemoteCause>().is_some_and(|cause| cause.may_pass)
            }
            #[cfg(not(feature = "object_store"))]
            Self::Remote { .. } => true,
            _ => false,
        }
    }

    /// What would allow the operation, if the caller can.
    #[must_use]
    pub fn remedy(&self) -> Option<Remedy> {
        match self {
            Self::OutsideRoot { .. } => Some(Remedy::OutsideLinks),
            Self::NotAllowed { remedy, .. } => Some(*remedy),
            Self::NoExclusion { .. } => Some(Remedy::SoleWriter),
            Self::Modified(_) => Some(Remedy::ChangingChunks),
            #[cfg(feature = "object_store")]
            Self::Remote { cause, .. } => {
                let cause = cause.downcast_ref::<RemoteCause>()?;
                cause.said.contains(ANONYMOUS).then_some(Remedy::Target)
            }
            _ => None,
        }
    }

    /// Why a server did not do what it was asked, if its answer shows it. The message has the
    /// setting that would help.
    #[must_use]
    pub fn server_fault(&self) -> Option<ServerFault> {
        match self {
            #[cfg(feature = "object_store")]
            Self::Remote { cause, .. } => cause.downcast_ref::<RemoteCause>()?.fault,
            _ => None,
        }
    }

    /// An [`StoreError::Io`] with its context.
    pub fn io(operation: Operation, key: impl fmt::Display, cause: io::Error) -> Self {
        Self::Io { operation, key: key.to_string(), cause }
    }

    /// A [`StoreError::Container`] with its context: for a store whose objects are in a file of
    /// another form.
    ///
    /// ```
    /// use zarr_store::{Operation, StoreError};
    ///
    /// let error = StoreError::container(Operation::Get, "a.tar", "its last entry is cut off");
    /// assert_eq!(error.to_string(), "cannot read \"a.tar\": its last entry is cut off");
    /// ```
    pub fn container(
        operation: Operation,
        key: impl fmt::Display,
        reason: impl Into<String>,
    ) -> Self {
        Self::Container { operation, key: key.to_string(), reason: reason.into() }
    }

    /// A [`StoreError::Unsupported`] with its context: for an operation that a store lacks.
    ///
    /// ```
    /// use zarr_store::{Operation, StoreError};
    ///
    /// let error = StoreError::unsupported(Operation::Put, "zarr.json", "way to write");
    /// assert_eq!(error.to_string(), "cannot write \"zarr.json\": this store has no way to write");
    /// ```
    pub fn unsupported(
        operation: Operation,
        key: impl fmt::Display,
        missing: &'static str,
    ) -> Self {
        Self::Unsupported { operation, key: key.to_string(), missing }
    }

    /// A [`StoreError::NotAllowed`] with its context.
    ///
    /// ```
    /// use zarr_store::{Operation, Remedy, StoreError};
    ///
    /// let error = StoreError::not_allowed(Operation::Get, "c/0", "it is elsewhere", Remedy::Target);
    /// assert_eq!(error.to_string(), "cannot read \"c/0\": it is elsewhere");
    /// assert_eq!(error.remedy(), Some(Remedy::Target));
    /// ```
    pub fn not_allowed(
        operation: Operation,
        key: impl fmt::Display,
        reason: impl Into<String>,
        remedy: Remedy,
    ) -> Self {
        Self::NotAllowed { operation, key: key.to_string(), reason: reason.into(), remedy }
    }

    /// The error where a [`PerProcess`](crate::PerProcess) has no room left.
    pub fn too_many_forks(operation: Operation, key: impl fmt::Display) -> Self {
        let reason = "too many processes before this one used stores and then forked; start it \
                      with exec";
        Self::Forked { operation, key: key.to_string(), reason }
    }
}

/// Why a request had no credentials.
#[cfg(feature = "object_store")]
pub(crate) const ANONYMOUS: &str = "it was asked without credentials, since a document leads to it";

/// The words of a remote store, and whether the same request may succeed later.
#[cfg(feature = "object_store")]
#[derive(Debug, thiserror::Error)]
#[error("{said}")]
pub(crate) struct RemoteCause {
    pub(crate) said: String,
    pub(crate) may_pass: bool,
    pub(crate) fault: Option<ServerFault>,
}

/// Why a server did not do what it was asked, as far as its answer shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ServerFault {
    /// The request was not made, because no credentials were found.
    NoCredentials,
    /// The server refuses access.
    Refused,
    /// There is no bucket, or container, of this name.
    NoBucket,
    /// The bucket is in another region.
    OtherRegion,
    /// The server cannot be reached.
    Unreachable,
}
