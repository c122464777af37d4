//! Files in a store that are no objects.

use std::fs::{self, File, TryLockError};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use super::list::{Found, walk};
use super::{LocalStore, names};
use crate::{Prefix, StoreError};

/// A file in a local store that is no object.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Leftover {
    /// Where it is.
    pub path: PathBuf,
    /// What it is.
    pub kind: LeftoverKind,
    /// Whether a living process holds it: it is then in use, and no leftover yet. False too where
    /// the file system has no locks.
    pub in_use: bool,
}

/// What a file that is no object is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LeftoverKind {
    /// A write that was never finished. Harmless; may be removed unless in use.
    Temporary,
    /// An advisory lock. Harmless; the next update of its object removes it.
    Lock,
    /// A name that no key can have, or a file of a kind that holds no bytes. Not ours.
    Foreign,
}

pub(super) fn leftovers(
    store: &LocalStore,
    prefix: &Prefix,
    visit: &mut dyn FnMut(Leftover) -> ControlFlow<()>,
) -> Result<(), StoreError> {
    walk(store, prefix, false, &mut |found| {
        let Found::Other(path) = found else { return Ok(ControlFlow::Continue(())) };
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let kind = if names::is_temporary(&name) {
            LeftoverKind::Temporary
        } else if names::is_lock(&name) {
            LeftoverKind::Lock
        } else {
            LeftoverKind::Foreign
        };
        let in_use = kind != LeftoverKind::Foreign && is_locked(&path);
        Ok(visit(Leftover { path, kind, in_use }))
    })
}

fn is_locked(path: &Path) -> bool {
    // A pipe would wait for its other end, and a link leads elsewhere.
    if !fs::symlink_metadata(path).is_ok_and(|meta| meta.is_file()) {
        return false;
    }
    let Ok(file) = File::open(path) else { return false };
    matches!(file.try_lock_shared(), Err(TryLockError::WouldBlock))
}
