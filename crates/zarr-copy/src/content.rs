//! The objects of a source when its copy begins: a resume compares them, so that no copy has
//! objects of two states.

use std::hash::{Hash as _, Hasher as _};
use std::time::UNIX_EPOCH;

use fnv::FnvHasher;
use zarr_array::parallel;
use zarr_store::{Key, Links, ObjectMeta, Prefix, Store, StoreError};

use crate::error::{TransferError, source};

/// Keys that are looked up at once, where listings do not describe objects.
const BATCH: usize = 4096;

/// A digest of objects: of the name, size, time and `ETag` of each, in any order. Two are equal if
/// no object was added, removed or replaced, as far as the store tells.
///
/// # Examples
/// ```
/// use zarr_copy::ContentDigest;
/// use zarr_store::ObjectMeta;
///
/// let of = |names: [&str; 2]| {
///     let mut digest = ContentDigest::default();
///     let meta = ObjectMeta { size: 1, version: None, modified: None };
///     names.iter().for_each(|name| digest.add_object(name, &meta));
///     digest
/// };
/// assert_eq!(of(["c/0", "c/1"]), of(["c/1", "c/0"]));
/// assert_ne!(of(["c/0", "c/1"]), of(["c/0", "c/2"]));
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ContentDigest(u64);

impl ContentDigest {
    /// Adds an object, by its name below the source.
    pub fn add_object(&mut self, name: &str, meta: &ObjectMeta) {
        self.add(name, |entry| {
            entry.write(&meta.size.to_le_bytes());
            let tag = meta.version.as_ref().and_then(|version| version.tag());
            let time = meta.modified.map(|time| time.duration_since(UNIX_EPOCH));
            match (tag, time) {
                // Listings have other decimals than reads.
                (Some(tag), time) => {
                    entry.write(tag.as_bytes());
                    if let Some(Ok(time)) = time {
                        entry.write(&time.as_secs().to_le_bytes());
                    }
                }
                // The version of a local file has a device number, which may change after a restart.
                (None, Some(Ok(time))) => entry.write(&time.as_nanos().to_le_bytes()),
                (None, Some(Err(before))) => {
                    entry.write(&before.duration().as_nanos().to_be_bytes());
                }
                // A store without times is one of this process.
                (None, None) => meta.version.hash(entry),
            }
        });
    }

    /// Adds a document, by its name below the source.
    pub fn add_document(&mut self, name: &str, document: &str) {
        self.add(name, |entry| entry.write(document.as_bytes()));
    }

    /// Adds the objects of a part of the source, by its name.
    pub fn add_part(&mut self, name: &str, part: Self) {
        self.add(name, |entry| entry.write(&part.0.to_le_bytes()));
    }

    fn add(&mut self, name: &str, rest: impl FnOnce(&mut FnvHasher)) {
        let mut entry = FnvHasher::default();
        entry.write(name.as_bytes());
        // No name has this byte.
        entry.write(&[0xff]);
        rest(&mut entry);
        // The order of a listing is unspecified.
        self.0 = self.0.wrapping_add(mixed(entry.finish()));
    }

    pub(crate) fn number(self) -> u64 {
        self.0
    }

    /// Adds an object by the facts that [`is_listed_again`](crate::source_state) compares: these
    /// are not stored, so they may contain a device number.
    pub(crate) fn add_state(&mut self, name: &str, meta: Option<&ObjectMeta>) {
        self.add(name, |entry| {
            let Some(meta) = meta else { return };
            meta.size.hash(entry);
            meta.version.hash(entry);
            meta.modified.filter(|_| meta.version.is_none()).hash(entry);
        });
    }
}

/// Calls `visit` with the name and the description of everything at and below a node; `None` for a
/// link that leads to no object. False if the store cannot list.
pub(crate) fn each_object(
    store: &dyn Store,
    prefix: &Prefix,
    visit: &mut dyn FnMut(&str, Option<ObjectMeta>),
) -> Result<bool, TransferError> {
    let name = |key: &Key| prefix.strip(key).unwrap_or_default().to_owned();
    if let Some(listed) = store.list_described(prefix) {
        for found in listed {
            match found {
                Ok((key, meta)) => visit(&name(&key), Some(meta)),
                Err(error) => return unlisted(error),
            }
        }
        return Ok(true);
    }
    let mut keys = store.list(prefix, Links::Follow);
    loop {
        let batch = keys.by_ref().take(BATCH).collect::<Result<Vec<Key>, _>>();
        let batch = match batch {
            Ok(batch) if batch.is_empty() => return Ok(true),
            Ok(batch) => batch,
            Err(error) => return unlisted(error),
        };
        let threads = parallel::requests(store);
        let metas = parallel::map(&batch, threads, |key| match store.head(key) {
            // No copy reads it.
            Err(StoreError::OutsideRoot { .. } | StoreError::DanglingLink { .. }) => Ok(None),
            found => found,
        });
        for (key, meta) in batch.iter().zip(metas.map_err(source)?) {
            visit(&name(key), meta);
        }
    }
}

/// Makes each bit depend on all. Without this, the hashes of entries that differ in few bits differ
/// in few bits, and two such differences could cancel out in a sum. The last steps of SplitMix64.
fn mixed(hash: u64) -> u64 {
    let hash = (hash ^ (hash >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let hash = (hash ^ (hash >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    hash ^ (hash >> 31)
}

/// The hash of all parts and their lengths: FNV-1a, identical in every process and version.
pub(crate) fn hash_of(parts: &[&[u8]]) -> u64 {
    let mut hasher = FnvHasher::default();
    for part in parts {
        hasher.write(part);
        hasher.write(&u64::try_from(part.len()).unwrap_or(u64::MAX).to_le_bytes());
    }
    hasher.finish()
}

/// A store that cannot be listed may be readable all the same.
fn unlisted(error: StoreError) -> Result<bool, TransferError> {
    if error.cannot_list() { Ok(false) } else { Err(source(error)) }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use zarr_array::store::{ObjectMeta, Version};

    use super::ContentDigest;

    /// Two objects that were replaced, in a store that counts its writes.
    #[test]
    fn changes_of_two_objects_do_not_cancel_out() {
        let of = |first: u64, second: u64| {
            let mut digest = ContentDigest::default();
            for (name, number) in [("c/0", first), ("c/1", second)] {
                let version = Some(Version::from_numbers([number, 8, 0, 0]));
                digest.add_object(name, &ObjectMeta { size: 8, version, modified: None });
            }
            digest.number()
        };
        let pairs = (0..64).flat_map(|first| (0..64).map(move |second| (first, second)));
        let digests: HashSet<u64> = pairs.map(|(first, second)| of(first, second)).collect();
        assert_eq!(digests.len(), 64 * 64);
    }
}
