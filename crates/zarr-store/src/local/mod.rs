//! A store in a folder of the local file system.

mod direct;
mod durable;
mod folder;
mod leftovers;
mod list;
mod lock;
mod lock_file;
mod names;
mod other_format;
mod path;
mod read;
mod rewrite;
mod share;
mod shared_lock;
mod temporary;
mod turn;
mod write;

use std::io::IoSlice;
use std::path::PathBuf;
use std::sync::Arc;

pub use self::folder::{Durability, LocalStore};
pub use self::leftovers::{Leftover, LeftoverKind};
pub use self::path::real_path;
pub use self::temporary::TemporaryFile;
use super::{
    Capabilities, DirEntry, GetInto, Key, KeyFilter, Links, Listing, Location, LockGuard,
    ObjectFile, ObjectMeta, ObjectSource, Operation, PieceWriter, Prefix, PutFrom, PutMode,
    PutOutcome, ReadRange, Rewrite, RewritePiece, Sharing, Store, StoreError,
};

impl Store for LocalStore {
    fn get(
        &self,
        key: &Key,
        range: ReadRange<'_>,
        out: &mut Vec<u8>,
    ) -> Result<Option<ObjectMeta>, StoreError> {
        read::get(self, key, range, out)
    }

    fn get_into(&self, key: &Key, out: &mut [u8]) -> Result<GetInto, StoreError> {
        read::get_into(self, key, out)
    }

    fn put_opts(
        &self,
        key: &Key,
        pieces: &[IoSlice<'_>],
        mode: PutMode<'_>,
    ) -> Result<PutOutcome, StoreError> {
        mode.require_overwrite(key)?;
        write::put(self, key, pieces)?;
        Ok(PutOutcome::Written)
    }

    fn head(&self, key: &Key) -> Result<Option<ObjectMeta>, StoreError> {
        read::head(self, key)
    }

    // Elsewhere than on Unix the standard library writes the pieces one by one.
    fn capabilities(&self) -> Capabilities {
        Capabilities::new().vectored_put(cfg!(unix))
    }

    fn delete(&self, key: &Key) -> Result<(), StoreError> {
        write::delete(self, key)
    }

    fn delete_where(&self, prefix: &Prefix, which: &KeyFilter) -> Result<(), StoreError> {
        write::delete_where(self, prefix, which)
    }

    fn list(&self, prefix: &Prefix, links: Links) -> Listing<'_, Key> {
        list::list(self, prefix, links)
    }

    fn list_dir(&self, prefix: &Prefix) -> Listing<'_, DirEntry> {
        list::list_dir(self, prefix)
    }

    fn lock(&self, key: &Key) -> Result<LockGuard, StoreError> {
        lock::lock(self, key)
    }

    fn lock_all(&self, keys: &[Key]) -> Result<LockGuard, StoreError> {
        lock::lock_all(self, keys)
    }

    fn lock_shared(&self, key: &Key) -> Result<Option<LockGuard>, StoreError> {
        shared_lock::lock_shared(self, key).map(Some)
    }

    fn outer_stores(&self) -> Vec<(Arc<dyn Store>, Prefix)> {
        let named = self.named.iter().filter(|folder| self.may_follow(folder));
        let folders = named.chain([&self.root]);
        folders.filter_map(|folder| self.outer(folder)).collect()
    }

    fn put_from(
        &self,
        key: &Key,
        from: &dyn Store,
        from_key: &Key,
        expected: &ObjectMeta,
        sharing: Sharing,
    ) -> Result<PutFrom, StoreError> {
        share::put_from(self, key, from, from_key, expected, sharing)
    }

    fn rewrite(
        &self,
        key: &Key,
        expected: &ObjectMeta,
        pieces: &[RewritePiece<'_>],
    ) -> Result<Rewrite, StoreError> {
        rewrite::rewrite(self, key, expected, pieces)
    }

    fn put_in_pieces(&self, key: &Key) -> Result<Option<Box<dyn PieceWriter + '_>>, StoreError> {
        write::put_in_pieces(self, key).map(Some)
    }

    fn file(&self, key: &Key) -> Result<Option<ObjectFile>, StoreError> {
        let opened = read::open(self, Operation::Get, key)?;
        Ok(opened.map(|(file, meta)| ObjectFile { file, meta }))
    }

    fn file_path(&self, key: &Key) -> Result<Option<PathBuf>, StoreError> {
        self.unchecked_path(key.as_str()).map(Some)
    }

    fn source(&self, key: &Key) -> Result<Option<ObjectSource>, StoreError> {
        let Some(meta) = self.head(key)? else { return Ok(None) };
        let path = self.unchecked_path(key.as_str())?;
        let url = path.into_os_string().into_string().ok();
        // As in URLs; Windows takes both.
        let url = url.map(|url| url.replace(std::path::MAIN_SEPARATOR, "/"));
        Ok(url.map(|url| ObjectSource { url, offset: 0, length: meta.size }))
    }

    fn location(&self, prefix: &Prefix) -> Option<Location> {
        path::location(self.root(), prefix)
    }

    fn clean(&self, prefix: &Prefix, removed: &mut dyn FnMut(&str)) -> Result<(), StoreError> {
        leftovers::clean(self, prefix, removed)
    }

    fn without_key(&self, prefix: &Prefix, found: &mut dyn FnMut(&str)) -> Result<(), StoreError> {
        leftovers::without_key(self, prefix, found)
    }
}
