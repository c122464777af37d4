//! Making the entries of folders survive a power failure.
//!
//! A flushed file is still lost if its name, or the name of a folder above it, is not on the
//! device. So a write flushes the object's own folder. The first time that this store writes there,
//! it also flushes all folders above: their creators may not have flushed them yet. For the same
//! reason `list` and `head` flush the folders of the objects that they find. If a writer was killed
//! between the rename and its flush, a power failure would remove the object.

use std::collections::HashMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The number of folders that are remembered; with more, all are forgotten and flushed again.
const REMEMBERED: usize = 1 << 16;

/// Folders known to be on the device, with all folders above them.
#[derive(Debug, Default)]
pub(super) struct Folders {
    known: Mutex<HashMap<PathBuf, Identity>>,
}

impl Folders {
    /// Flushes the entries in `folder`, and makes sure that the folder itself is on the device.
    pub(super) fn flush(&self, folder: &Path, root: &Path) -> io::Result<()> {
        flush_entries(folder)?;
        if !crate::step!("local put: flush of the folders above") {
            return Ok(());
        }
        if !cfg!(unix) || self.knows(folder, identity(folder)?) {
            return Ok(());
        }
        // A link may lead to folders that are not parents of this one by name.
        let real = dunce::canonicalize(folder)?;
        let mut met = vec![(folder.to_owned(), identity(folder)?)];
        for (path, parent) in real.ancestors().zip(real.ancestors().skip(1)) {
            let this = identity(path)?;
            if self.knows(path, this) {
                break;
            }
            let ours = path != root && path.starts_with(root);
            // The root of a mounted file system has no name in a folder.
            if !ours && identity(parent)?.device != this.device {
                break;
            }
            match flush_entries(parent) {
                // Above the store: a process that may not read a folder has created nothing in it.
                Err(error) if !ours && error.kind() == io::ErrorKind::PermissionDenied => break,
                flushed => flushed?,
            }
            met.push((path.to_owned(), this));
        }
        let mut known = self.known();
        if known.len().saturating_add(met.len()) > REMEMBERED {
            known.clear();
        }
        known.extend(met);
        Ok(())
    }

    /// Flushes the removal of something in `folder`, which may itself be gone.
    pub(super) fn flush_removal(&self, folder: &Path, root: &Path) -> io::Result<()> {
        for folder in folder.ancestors() {
            match flush_entries(folder) {
                Err(error) if error.kind() == io::ErrorKind::NotFound && folder != root => {}
                flushed => return flushed,
            }
        }
        Ok(())
    }

    /// Whether it is the folder that was flushed, and not a new one of the same name.
    fn knows(&self, path: &Path, identity: Identity) -> bool {
        self.known().get(path) == Some(&identity)
    }

    fn known(&self) -> MutexGuard<'_, HashMap<PathBuf, Identity>> {
        // The entries of the map are true whichever thread panicked.
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Tells a folder from a new one at the same path. Inode numbers are reused, so the creation time
/// is included where the file system has it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Identity {
    device: u64,
    number: u64,
    made: Option<std::time::SystemTime>,
}

#[cfg(unix)]
fn identity(folder: &Path) -> io::Result<Identity> {
    use std::os::unix::fs::MetadataExt;
    let meta = fs::metadata(folder)?;
    Ok(Identity { device: meta.dev(), number: meta.ino(), made: meta.created().ok() })
}

#[cfg(not(unix))]
fn identity(folder: &Path) -> io::Result<Identity> {
    let meta = fs::metadata(folder)?;
    Ok(Identity { device: 0, number: 0, made: meta.created().ok() })
}

#[cfg(unix)]
pub(super) fn flush_entries(folder: &Path) -> io::Result<()> {
    #[cfg(test)]
    tests::FLUSHED.with(|flushed| flushed.borrow_mut().push(folder.to_owned()));
    fs::File::open(folder)?.sync_all()
}

/// On other systems a folder cannot be opened as a file; renames are in the file system's journal.
#[cfg(not(unix))]
pub(super) fn flush_entries(_: &Path) -> io::Result<()> {
    Ok(())
}

#[cfg(all(test, unix))]
mod tests {
    use std::cell::RefCell;

    use super::*;
    use crate::{
        Durability, Key, Links, LocalStore, Prefix, Store, StoreExt as _, StoreOptions, open_url,
    };

    thread_local! {
        /// The folders with entries that this thread has flushed.
        pub(super) static FLUSHED: RefCell<Vec<PathBuf>> = const { RefCell::new(Vec::new()) };
    }

    fn flushed_by(work: impl FnOnce()) -> Vec<PathBuf> {
        FLUSHED.with(RefCell::take);
        work();
        FLUSHED.with(RefCell::take)
    }

    fn key(text: &str) -> Key {
        Key::new(text).expect("a key")
    }

    fn durable(root: &Path) -> LocalStore {
        LocalStore::open(root).expect("opens").with_durability(Durability::PowerFailure)
    }

    fn temporary() -> (tempfile::TempDir, PathBuf) {
        let folder = tempfile::tempdir().expect("makes a folder");
        let path = dunce::canonicalize(folder.path()).expect("is there");
        (folder, path)
    }

    #[test]
    fn the_folders_above_a_new_root_are_flushed_with_its_first_object() {
        let (_folder, top) = temporary();
        let root = top.join("new/er/data.zarr");
        let options = StoreOptions::new().create(true).durability(Durability::PowerFailure);
        let store = open_url(root.to_str().expect("text"), &options).expect("opens");
        let flushed = flushed_by(|| store.put(&key("c/0/1"), b"1").expect("puts"));
        let expected = ["c/0", "c", "", "..", "../.."].map(|path| root.join(path));
        for folder in expected.map(|path| dunce::canonicalize(path).expect("is there")) {
            assert!(flushed.contains(&folder), "{folder:?} of {flushed:?}");
        }
        assert!(flushed.contains(&top), "{flushed:?}");
        // From then on, new folders only.
        let flushed = flushed_by(|| store.put(&key("c/0/2"), b"2").expect("puts"));
        assert_eq!(flushed, [root.join("c/0")]);
        let flushed = flushed_by(|| store.put(&key("c/1/2"), b"2").expect("puts"));
        assert_eq!(flushed, [root.join("c/1"), root.join("c")]);
        let flushed = flushed_by(|| store.put(&key("d"), b"2").expect("puts"));
        assert_eq!(flushed, [root]);
    }

    /// As between the two steps of another writer: the folder is made, and not flushed.
    #[test]
    fn folders_that_others_have_made_are_flushed_too() {
        let (_folder, root) = temporary();
        let store = durable(&root);
        fs::create_dir_all(root.join("c/0")).expect("makes folders");
        let flushed = flushed_by(|| store.put(&key("c/0/1"), b"1").expect("puts"));
        for folder in [root.join("c/0"), root.join("c"), root.clone()] {
            assert!(flushed.contains(&folder), "{folder:?} of {flushed:?}");
        }
        // Others have created it again since.
        fs::remove_dir_all(root.join("c")).expect("removes");
        fs::create_dir_all(root.join("c/0")).expect("makes folders");
        let flushed = flushed_by(|| store.put(&key("c/0/1"), b"1").expect("puts"));
        assert_eq!(flushed, [root.join("c/0"), root.join("c"), root.clone()]);
        // By the lock of a key, which needs a folder as well.
        let flushed = flushed_by(|| {
            let _guard = store.lock(&key("l/0")).expect("locks");
            store.put(&key("l/0"), b"1").expect("puts");
        });
        assert_eq!(flushed, [root.join("l"), root]);
    }

    #[test]
    fn a_link_within_the_store_leads_to_folders_that_are_flushed() {
        let (_folder, root) = temporary();
        fs::create_dir_all(root.join("real/deep")).expect("makes folders");
        std::os::unix::fs::symlink("real/deep", root.join("link")).expect("links");
        let store = durable(&root);
        let flushed = flushed_by(|| store.put(&key("link/0"), b"1").expect("puts"));
        for folder in [root.join("link"), root.join("real"), root.clone()] {
            assert!(flushed.contains(&folder), "{folder:?} of {flushed:?}");
        }
        let flushed = flushed_by(|| store.put(&key("link/1"), b"1").expect("puts"));
        assert_eq!(flushed, [root.join("link")]);
    }

    /// A copy that is resumed skips the objects that it finds.
    #[test]
    fn what_is_found_is_flushed_whoever_wrote_it() {
        let (_folder, root) = temporary();
        LocalStore::open(&root).expect("opens").put(&key("c/0/1"), b"1").expect("puts");
        let store = durable(&root);
        let list =
            || store.list(&Prefix::root(), Links::Follow).for_each(|key| assert!(key.is_ok()));
        let listed = flushed_by(list);
        for folder in [root.join("c/0"), root.join("c"), root.clone()] {
            assert!(listed.contains(&folder), "{folder:?} of {listed:?}");
        }
        let head = |name| flushed_by(|| drop(store.head(&key(name)).expect("looks")));
        assert_eq!(head("c/0/1"), [root.join("c/0")]);
        assert!(head("c/0/2").is_empty());
    }

    #[test]
    fn what_is_gone_is_flushed_whoever_removed_it() {
        let (_folder, root) = temporary();
        let store = durable(&root);
        store.put(&key("c/0"), b"1").expect("puts");
        let delete = || flushed_by(|| store.delete(&key("c/0")).expect("deletes"));
        assert_eq!(delete(), [root.join("c")]);
        assert_eq!(delete(), [root.join("c")]);
        store.delete_prefix(&Prefix::new("c").expect("a prefix")).expect("deletes");
        assert_eq!(delete().last(), Some(&root));
    }

    #[test]
    fn nothing_is_flushed_where_the_end_of_the_process_is_all_there_is_to_survive() {
        let (_folder, root) = temporary();
        let store = LocalStore::open(&root).expect("opens");
        let flushed = flushed_by(|| {
            store.put(&key("c/0"), b"1").expect("puts");
            store.delete(&key("c/0")).expect("deletes");
            store.delete(&key("c/0")).expect("deletes");
        });
        assert!(flushed.is_empty(), "{flushed:?}");
    }
}
