//! Where objects are, and making objects of them without reading their bytes.

use std::path::PathBuf;

use crate::{
    Key, Location, ObjectFile, ObjectMeta, Prefix, PutFrom, Rewrite, RewritePiece, Sharing, Store,
    StoreError,
};

/// Links and clones between stores, from [`Store::linking`]. A store tells where it keeps its
/// objects; so another store can recognise shared objects, and link or clone objects instead of
/// copying their bytes.
///
/// Callers find the first two methods in [`StoreExt`](crate::StoreExt) too, for any store.
pub trait Linking {
    /// The location of the objects below `prefix`, to tell whether two stores share them; `None` if
    /// the store does not know.
    ///
    /// Links are followed, except dangling links.
    fn location(&self, prefix: &Prefix) -> Option<Location>;

    /// Whether objects below `prefix` are read from objects at `place`, below it or around it: who
    /// removes the objects there removes them too. By default, those at the
    /// [location](Linking::location) are. A store whose objects are parts of others looks at these.
    ///
    /// # Errors
    /// As for [`list`](Store::list), if the store cannot tell where its objects are.
    fn reads_from(&self, prefix: &Prefix, place: &Location) -> Result<bool, StoreError> {
        Ok(self.location(prefix).is_some_and(|own| own.overlaps(place)))
    }

    /// Puts the bytes of the object `from_key` of the store `from` at `key`, without reading them
    /// into this process: by a hard link, a reflink, or a copy within the system or the server.
    /// `expected` is the source's size and version, as [`head`](Store::head) gave it.
    ///
    /// Atomic, as a put without condition.
    ///
    /// By default [`PutFrom::Unsupported`]: the caller reads and puts.
    ///
    /// # Errors
    /// As for [`put_opts`](Store::put_opts).
    fn put_from(
        &self,
        key: &Key,
        from: &dyn Store,
        from_key: &Key,
        expected: &ObjectMeta,
        sharing: Sharing,
    ) -> Result<PutFrom, StoreError> {
        let _ = (key, from, from_key, expected, sharing);
        Ok(PutFrom::Unsupported)
    }

    /// Replaces an object by one that is assembled from ranges of its own bytes and new ones, without
    /// reading the ranges into this process. `expected` is its size and version, as a
    /// [`get`](Store::get) gave it; the ranges must lie within that size.
    ///
    /// Atomic, as a put without condition. Callers hold the [lock](Store::lock) of the key.
    ///
    /// By default [`Rewrite::Unsupported`]: the caller reads and puts.
    ///
    /// # Errors
    /// As for [`put_opts`](Store::put_opts).
    fn rewrite(
        &self,
        key: &Key,
        expected: &ObjectMeta,
        pieces: &[RewritePiece<'_>],
    ) -> Result<Rewrite, StoreError> {
        let _ = (key, expected, pieces);
        Ok(Rewrite::Unsupported)
    }

    /// The object as a file of this machine, for another store to [put](Linking::put_from); `None`
    /// if there is no such object, or, by default, if the store does not keep each object in a
    /// file.
    ///
    /// # Errors
    /// As for [`get`](Store::get).
    fn file(&self, key: &Key) -> Result<Option<ObjectFile>, StoreError> {
        let _ = key;
        Ok(None)
    }

    /// The path of the object's file, whether or not there is one, for another store to link;
    /// `None`, the default, if the store does not keep each object in a file. Links in the path are
    /// not checked: compare the [version](ObjectMeta::version) of the found file.
    ///
    /// # Errors
    /// [`StoreError::Reserved`] if no object can have this key.
    fn file_path(&self, key: &Key) -> Result<Option<PathBuf>, StoreError> {
        let _ = key;
        Ok(None)
    }

    /// The location of an object's bytes, for other programs to read them there. `None`, the
    /// default, if other programs cannot, or if there is no such object. Links are not followed.
    ///
    /// # Errors
    /// As for [`head`](Store::head).
    fn source(&self, key: &Key) -> Result<Option<ObjectSource>, StoreError> {
        let _ = key;
        Ok(None)
    }

    /// Checks that chunks without an object read as the fill value that the document of the array at
    /// `prefix` has: other programs, which read the [sources](Linking::source), know no other value.
    /// By default they do.
    ///
    /// # Errors
    /// [`StoreError`] that names the array if some read as another value; as for
    /// [`head`](Store::head).
    fn check_absent_chunks(&self, prefix: &Prefix) -> Result<(), StoreError> {
        let _ = prefix;
        Ok(())
    }
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
