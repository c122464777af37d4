//! Making an object from an object of another store.

use std::fs::File;

use crate::ObjectMeta;

/// Whether [`Store::put_from`](crate::Store::put_from) may make a second name for the same
/// file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Sharing {
    /// No: a change of one object, by any program, does not change the other. The file system may
    /// still keep the bytes once (a reflink).
    Never,
    /// Yes: the object may be a second name of the same file (a hard link). A program that writes
    /// into the file in place, as no store of this crate does, changes both.
    HardLink,
}

/// The result of [`Store::put_from`](crate::Store::put_from).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
#[must_use]
pub enum PutFrom {
    /// The store cannot do it for these two objects, and nothing was written: read and put.
    Unsupported,
    /// The source is missing, or not of the expected version; the target has none of its bytes.
    Changed,
    /// The object is a second name of the source's file.
    Linked,
    /// The file system shares the bytes, until one of the two is changed.
    Reflinked,
    /// The bytes were copied, by the system or the server.
    Copied,
}

/// An object that is a file of this machine.
#[derive(Debug)]
pub struct ObjectFile {
    /// The file, opened for reading.
    pub file: File,
    /// Size and version of the opened object.
    pub meta: ObjectMeta,
}

/// A range of bytes of a file or of an object on a server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ObjectSource {
    /// An absolute path, or a URL without secrets.
    pub url: String,
    /// The first byte.
    pub offset: u64,
    /// The number of bytes.
    pub length: u64,
}
