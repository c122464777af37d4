//! Opening files by paths without links, in one step.
//!
//! The root of a store is an absolute path without links, so a path below it without links leads
//! nowhere else. `openat2` checks that and opens the file in one call. It takes the absolute path,
//! not a path relative to an open folder: if the root is moved away and created again, reads and
//! writes use the same new folder.

use std::fs::File;
use std::io;
use std::path::Path;

/// Opens a file for reading; `None` if there is a link on the way, or the system cannot tell.
pub(super) fn open(path: &Path) -> Option<io::Result<File>> {
    system::open(path, system::READ)
}

/// As [`open`], but only for the metadata, which needs no permission to read.
pub(super) fn look(path: &Path) -> Option<io::Result<File>> {
    system::open(path, system::LOOK)
}

/// As [`look`], for a folder. It is an error if there is no folder at this path.
pub(super) fn folder(path: &Path) -> Option<io::Result<File>> {
    system::open(path, system::FOLDER)
}

#[cfg(target_os = "linux")]
mod system {
    use super::{File, Path, io};
    use rustix::fs::{CWD, Mode, OFlags, ResolveFlags, openat2};
    use rustix::io::Errno;

    // Opening a pipe or a terminal that has an object's name must not wait.
    pub(super) const READ: OFlags = OFlags::NONBLOCK.union(OFlags::NOCTTY);
    pub(super) const LOOK: OFlags = OFlags::PATH;
    pub(super) const FOLDER: OFlags = OFlags::PATH.union(OFlags::DIRECTORY);

    pub(super) fn open(path: &Path, how: OFlags) -> Option<io::Result<File>> {
        let flags = OFlags::RDONLY | OFlags::CLOEXEC | how;
        match openat2(CWD, path, flags, Mode::empty(), ResolveFlags::NO_SYMLINKS) {
            Ok(file) => Some(Ok(File::from(file))),
            Err(error @ (Errno::NOENT | Errno::NOTDIR)) => Some(Err(error.into())),
            // A link, a kernel before 5.6, a filter of system calls, or an error that checking
            // folder by folder meets again and reports.
            Err(_) => None,
        }
    }
}

#[cfg(not(target_os = "linux"))]
mod system {
    use super::{File, Path, io};

    pub(super) const READ: () = ();
    pub(super) const LOOK: () = ();
    pub(super) const FOLDER: () = ();

    pub(super) fn open(_: &Path, (): ()) -> Option<io::Result<File>> {
        None
    }
}
