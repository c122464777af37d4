//! A store of references to parts of other files.

use std::collections::{BTreeSet, HashSet};
#[cfg(feature = "parquet")]
use std::num::NonZeroUsize;
use std::ops::Range;
use std::path::Path;
use std::slice::from_ref;
use std::sync::Arc;
use std::time::SystemTime;

#[cfg(feature = "parquet")]
use zarr_store::until_error;
use zarr_store::{
    Capabilities, DirEntry, Key, Links, Listing, Location, ObjectMeta, ObjectSource, Operation,
    Prefix, ReadRange, Store, StoreError, StoreOptions, failed_listing, sorted,
};

use super::file::{self, Reference, References};
#[cfg(feature = "parquet")]
use super::form::DOCUMENT;
use super::form::is_table;
#[cfg(feature = "parquet")]
use super::table::Table;
use super::target::{Base, Home, TargetObject, Targets, refused};

/// A read-only store of objects that are parts of other files, such as chunks in NetCDF-4 files.
/// The references are in the format of kerchunk and `VirtualiZarr`: JSON of versions 0 and 1, or,
/// with the feature `parquet`, a folder of tables.
///
/// A key refers to bytes in the reference file itself (a text, `base64:` or an object), to a whole
/// target (`[url]`) or to a part of a target (`[url, offset, length]`). Targets are paths relative
/// to the reference file or else, as for fsspec, to the current folder; absolute paths; and URLs; `templates` that are texts are replaced.
/// Generated references (`gen`) are refused. Keys that no object can have are left out.
///
/// A folder of tables has the documents of all nodes in `.zmetadata`, and the references of each
/// array in files `refs.N.parq`. These are read when they are needed, and some are cached. Its
/// targets are relative to the folder that it is in.
///
/// A read fails with an error that names the target if a reference leads past the target's end, or
/// if the target is missing or has changed since its first read. Such a reference is never a
/// missing object.
///
/// # Trust
/// A reference file may come from anyone, so by default local files are read only in the folder of
/// a local reference file and below it, and objects on other servers without credentials;
/// [`StoreOptions::target`] allows more. Links that lead out of the folder are refused, unless
/// [`StoreOptions::outside_links`] allows them.
///
/// # Examples
/// ```
/// use zarr_references::ReferenceStore;
/// use zarr_store::{Key, StoreExt, StoreOptions};
///
/// let folder = tempfile::tempdir()?;
/// std::fs::write(folder.path().join("data.bin"), b"header, chunk, chunk")?;
/// let refs = r#"{"version": 1, "refs": {"a/0": ["data.bin", 8, 5], "a/1": "base64:AAE="}}"#;
/// std::fs::write(folder.path().join("refs.json"), refs)?;
///
/// let store = ReferenceStore::open(folder.path().join("refs.json"), &StoreOptions::new())?;
/// assert_eq!(store.read(&Key::new("a/0")?)?.as_deref(), Some(&b"chunk"[..]));
/// assert_eq!(store.read(&Key::new("a/1")?)?.as_deref(), Some(&[0, 1][..]));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
pub struct ReferenceStore(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    /// The document, or the folder of tables, in the store of the folder around it.
    place: Prefix,
    index: Index,
    /// When the document of references was modified.
    modified: Option<SystemTime>,
    targets: Targets,
}

/// The references of all keys.
#[derive(Debug)]
enum Index {
    /// References by key, and the names that are no keys.
    File(References, BTreeSet<String>),
    #[cfg(feature = "parquet")]
    Table(Table),
}

impl ReferenceStore {
    /// The store of the reference file or folder at `path`.
    ///
    /// # Errors
    /// [`StoreError::Io`] if it cannot be read, [`StoreError::Container`] for a fault of its contents.
    pub fn open(path: impl AsRef<Path>, options: &StoreOptions) -> Result<Self, StoreError> {
        let (home, key) = Home::of_file(path.as_ref(), options)?;
        Self::new(home, &key, options)
    }

    /// The store of a reference file in the store of the folder at this URL.
    pub(crate) fn within(
        store: Arc<dyn Store>,
        url: &str,
        key: &Key,
        options: &StoreOptions,
    ) -> Result<Self, StoreError> {
        Self::new(Home { store, base: Base::Url(url.to_owned()) }, key, options)
    }

    fn new(home: Home, key: &Key, options: &StoreOptions) -> Result<Self, StoreError> {
        let fail = |reason: String| StoreError::container(Operation::Open, key, reason);
        let targets = Targets::new(home, options);
        let place = Prefix::from(key.clone());
        #[cfg(not(feature = "parquet"))]
        if is_table(key.name()) {
            let what = "tables of references: this build is without them; the feature `parquet`";
            return Err(fail(format!("{what} adds it")));
        }
        let mut json = Vec::new();
        let mut read = |key: &Key| targets.home().get(key, ReadRange::All, &mut json);
        #[cfg(feature = "parquet")]
        if is_table(key.name()) {
            let meta = read(&place.key(DOCUMENT)?)?;
            let meta = meta.ok_or_else(|| fail(format!("it has no {}", DOCUMENT)))?;
            let table = Table::parse(place.clone(), &json).map_err(fail)?;
            if targets.home().capabilities().requests_in_flight == NonZeroUsize::MIN {
                table.find_targets(&targets);
            }
            return Ok(Self::of(place, Index::Table(table), meta, targets));
        }
        let meta = read(key)?;
        let meta = meta.ok_or_else(|| fail("there is no such reference file".to_owned()))?;
        let found = file::parse(&json, &mut |url| targets.number(url)).map_err(fail)?;
        Ok(Self::of(place, Index::File(found.0, found.1), meta, targets))
    }

    fn of(place: Prefix, index: Index, document: ObjectMeta, targets: Targets) -> Self {
        let modified = document.modified;
        Self(Arc::new(Inner { place, index, modified, targets }))
    }

    /// The reference of a key, without a look at anything but its target. The references may have
    /// changed later than the target.
    fn described(&self, key: &Key) -> Result<Option<ObjectMeta>, StoreError> {
        let Inner { modified, targets, .. } = &*self.0;
        let part = |target, len: Option<u64>| {
            let object = targets.find(target)?;
            let meta = &object.meta;
            let size = len.unwrap_or(meta.size);
            let modified = meta.modified.max(*modified);
            Ok(Some(ObjectMeta { size, modified, version: meta.version.clone() }))
        };
        match self.find(key)? {
            None => Ok(None),
            Some(Reference::Inline(bytes)) => {
                let size = bytes.len() as u64;
                Ok(Some(ObjectMeta { size, version: None, modified: *modified }))
            }
            Some(Reference::Whole(target)) => part(target, None),
            Some(Reference::Part { target, len, .. }) => part(target, Some(len)),
        }
    }

    /// The target of a key, if there is such an object.
    fn find(&self, key: &Key) -> Result<Option<Reference>, StoreError> {
        match &self.0.index {
            Index::File(keys, _) => Ok(keys.get(key.as_str()).cloned()),
            #[cfg(feature = "parquet")]
            Index::Table(table) => table.find(key, &self.0.targets),
        }
    }

    /// Reads ranges of the part of a target that begins at `offset`.
    fn part(
        &self,
        number: usize,
        (offset, len): (u64, u64),
        ranges: &[Range<u64>],
        out: &mut Vec<u8>,
    ) -> Result<ObjectMeta, StoreError> {
        let object = self.0.targets.find(number)?;
        let fail = |reason: &str| refused(&self.0.targets.shown(number), reason);
        let TargetObject { store, key, meta } = &*object;
        if offset.saturating_add(len) > meta.size {
            return Err(fail(&format!(
                "a reference leads to bytes {offset} to {}, and the file has {}; it is not the file \
                 that the references were made for",
                offset.saturating_add(len),
                meta.size
            )));
        }
        let at = |position: u64| offset.saturating_add(position);
        let shifted: Vec<Range<u64>> =
            ranges.iter().map(|range| at(range.start)..at(range.end)).collect();
        match store.get(key, ReadRange::Ranges(&shifted), out) {
            Ok(Some(now)) if now == *meta => Ok(ObjectMeta { size: len, ..now }),
            Ok(Some(_)) | Err(StoreError::Range { .. }) => {
                Err(fail("it has changed since it was opened"))
            }
            Ok(None) => Err(fail("it was removed after it was opened")),
            Err(error) => Err(error),
        }
    }
}

impl Store for ReferenceStore {
    fn get(
        &self,
        key: &Key,
        range: ReadRange<'_>,
        out: &mut Vec<u8>,
    ) -> Result<Option<ObjectMeta>, StoreError> {
        let (number, offset, len) = match self.find(key)? {
            None => {
                out.clear();
                return Ok(None);
            }
            Some(Reference::Inline(bytes)) => {
                range.copy(key, &bytes, out)?;
                return Ok(Some(ObjectMeta {
                    size: bytes.len() as u64,
                    version: None,
                    modified: None,
                }));
            }
            Some(Reference::Whole(target)) => (target, 0, self.0.targets.find(target)?.meta.size),
            Some(Reference::Part { target, offset, len }) => (target, offset, len),
        };
        let wanted = range.len_within(key, len)?;
        if let Some(refusal) = self.0.targets.document_limit().refusal(key, key, len) {
            return Err(refusal);
        }
        let suffix = len.saturating_sub(wanted)..len;
        let ranges = match range {
            ReadRange::All | ReadRange::Suffix(_) => from_ref(&suffix),
            ReadRange::Ranges(ranges) => ranges,
        };
        self.part(number, (offset, len), ranges, out).map(Some)
    }

    fn lacks(&self) -> &'static str {
        "way to write: references are read only; copy to another store first"
    }

    fn delete(&self, key: &Key) -> Result<(), StoreError> {
        match self.find(key)? {
            Some(_) => Err(StoreError::unsupported(Operation::Delete, key, self.lacks())),
            None => Ok(()),
        }
    }

    fn list(&self, prefix: &Prefix, _: Links) -> Listing<'_, Key> {
        match &self.0.index {
            Index::File(keys, _) => {
                Box::new(sorted::below(keys, prefix).map(|key| Ok(Key::new(key)?)))
            }
            #[cfg(feature = "parquet")]
            Index::Table(table) => Box::new(until_error(table.list(prefix, &self.0.targets))),
        }
    }

    fn list_described(&self, prefix: &Prefix) -> Option<Listing<'_, (Key, ObjectMeta)>> {
        Some(Box::new(self.list(prefix, Links::Follow).filter_map(|key| {
            let described = key.and_then(|key| Ok(self.described(&key)?.map(|meta| (key, meta))));
            described.transpose()
        })))
    }

    fn list_dir(&self, prefix: &Prefix) -> Listing<'_, DirEntry> {
        let children = match &self.0.index {
            Index::File(keys, _) => sorted::children(keys, prefix),
            #[cfg(feature = "parquet")]
            Index::Table(table) => table.list_dir(prefix, &self.0.targets),
        };
        children.map_or_else(failed_listing, |entries| Box::new(entries.into_iter().map(Ok)))
    }

    fn capabilities(&self) -> Capabilities {
        // Targets may be further away than the references.
        let home = self.0.targets.home().capabilities().requests_in_flight;
        let requests = self.0.targets.requests().map_or(home, |requests| requests.max(home));
        Capabilities::new().requests_in_flight(requests)
    }

    /// Its objects are in many files.
    fn reads_from(&self, prefix: &Prefix, place: &Location) -> Result<bool, StoreError> {
        let targets = &self.0.targets;
        let own = targets.home().location(&self.0.place);
        if own.is_some_and(|own| own.overlaps(place)) {
            return Ok(true);
        }
        let mut known = HashSet::new();
        for key in self.list(prefix, Links::Follow) {
            let number = match key.and_then(|key| self.find(&key)) {
                Ok(Some(Reference::Whole(target) | Reference::Part { target, .. })) => target,
                Ok(Some(Reference::Inline(_)) | None) => continue,
                // Where tables cannot be listed, it is not known which there are.
                Err(error) if error.cannot_list() => break,
                Err(error) => return Err(error),
            };
            if known.insert(number) && targets.lies_in(number, place)? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    fn source(&self, key: &Key) -> Result<Option<ObjectSource>, StoreError> {
        let (target, start, part) = match self.find(key)? {
            None | Some(Reference::Inline(_)) => return Ok(None),
            Some(Reference::Whole(target)) => (target, 0, None),
            Some(Reference::Part { target, offset, len }) => (target, offset, Some(len)),
        };
        let TargetObject { store, key, .. } = &*self.0.targets.find(target)?;
        let source = store.source(key)?;
        Ok(source.map(|whole| ObjectSource {
            url: whole.url,
            offset: whole.offset.saturating_add(start),
            length: part.unwrap_or(whole.length),
        }))
    }

    fn without_key(&self, prefix: &Prefix, found: &mut dyn FnMut(&str)) -> Result<(), StoreError> {
        let names = match &self.0.index {
            Index::File(_, names) => names,
            #[cfg(feature = "parquet")]
            Index::Table(table) => &table.without_key,
        };
        sorted::names_below(names, prefix).for_each(found);
        Ok(())
    }
}
