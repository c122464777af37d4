//! Opens the members of an array, and verifies that they have not changed since the join.

use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use zarr_array::store::{Key, Location, ObjectMeta, Prefix, ReadRange, Store, shown_url};
use zarr_array::{Array, ArrayError, MemberSource, node};
use zarr_grid::Grid;
use zarr_metadata::NodeMetadata;

use crate::document::{Latest, MemberReference, Missing};
use crate::document_folder::{DocumentFolder, MemberStore};
use crate::document_version::DocumentVersion;
use crate::watched::{Joined, Watch, Watched};

/// The members of one array of a document.
#[derive(Debug)]
pub(crate) struct Source {
    pub(crate) base: Arc<DocumentFolder>,
    pub(crate) grid: Grid,
    pub(crate) missing: Missing,
    pub(crate) members: Vec<Option<MemberReference>>,
    /// Members that were opened, each with another document, the latest last.
    pub(crate) alike: Mutex<Vec<Array>>,
}

/// The number of documents that are kept for comparison: members of a join mostly have few
/// different documents.
const DOCUMENTS: usize = 8;

impl Source {
    /// The member with this number on each axis.
    fn reference(&self, member: &[u64]) -> Option<&MemberReference> {
        let counts = self.grid.occupied();
        let number = member
            .iter()
            .zip(counts)
            .try_fold(0_u64, |number, (at, count)| number.checked_mul(*count)?.checked_add(*at))?;
        self.members.get(usize::try_from(number).ok()?)?.as_ref()
    }

    fn alike(&self) -> MutexGuard<'_, Vec<Array>> {
        self.alike.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The store that a member is in, and its place there. `None` if there is no such store, and the
    /// member may be missing.
    fn resolve(
        &self,
        member: &MemberReference,
    ) -> Result<Option<(MemberStore, Prefix)>, ArrayError> {
        let found = match self.base.resolve(&member.location) {
            Ok(found) => found,
            Err(error) if self.missing == Missing::Fill && error.is_not_found() => return Ok(None),
            Err(error) => return Err(error.into_array_error(&member.location)),
        };
        let prefix = match found.prefix.is_root() {
            true => member.path.clone(),
            false if member.path.is_root() => found.prefix.clone(),
            false => found.prefix.join(member.path.as_str())?,
        };
        Ok(Some((found, prefix)))
    }

    /// Whether a member is read from objects at `place`. Members are not opened.
    pub(crate) fn reads_from(&self, place: &Location) -> Result<bool, ArrayError> {
        for member in self.members.iter().flatten() {
            let Some((found, prefix)) = self.resolve(member)? else { continue };
            if found.store.reads_from(&prefix, place)? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    fn open_reference(&self, member: &MemberReference) -> Result<Option<Array>, ArrayError> {
        let Some((found, prefix)) = self.resolve(member)? else { return Ok(None) };
        let folder = found.file.as_ref().map(|file| match file.is_file() {
            true => file.clone(),
            false => member.path.segments().fold(file.clone(), |path, name| path.join(name)),
        });
        let Some((key, meta, document)) = document(&*found.store, &prefix)? else {
            // A file is a member of an unknown kind, not a missing member.
            let is_file = found.is_folder
                && folder.as_deref().is_some_and(|folder| folder.ancestors().any(Path::is_file));
            return match self.missing {
                Missing::Fill if !is_file && !leads_to_object(&*found.store, &prefix)? => Ok(None),
                Missing::Fill | Missing::Error => {
                    Err(ArrayError::NotFound { path: node::display(&prefix) })
                }
            };
        };
        if zarr_array::store::step!("virtual join: comparison of a member's document") {
            DocumentVersion::new(&meta, &key, folder.as_deref()).check(member)?;
        }
        let options = self.base.options.codecs.clone();
        let joined = Joined(member.chunks_last_updated_at.as_deref().and_then(Latest::new));
        let watch = Watch { key: key.clone(), size: meta.size, version: meta.version };
        let inner = Arc::clone(found.store.store());
        let watched = Watched { inner, document: Arc::new(watch), joined };
        let watched = found.store.with_store(Arc::new(watched));
        if key.name() != "zarr.json" {
            // An older format, if it can be read at all.
            return Array::open_with(watched, &prefix, options).map(Some);
        }
        let is_alike = |array: &&Array| array.metadata().json().as_bytes() == document;
        let alike = self.alike().iter().find(is_alike).cloned();
        if let Some(alike) = alike {
            return Ok(Some(alike.at(watched, &prefix)));
        }
        match NodeMetadata::from_json(&document) {
            Ok(NodeMetadata::Array(metadata)) => {
                let array = Array::with_metadata(watched, &prefix, metadata, options)?;
                let mut alike = self.alike();
                if alike.len() >= DOCUMENTS {
                    alike.remove(0);
                }
                alike.push(array.clone());
                Ok(Some(array))
            }
            Ok(NodeMetadata::Group(_)) => {
                Err(ArrayError::NotArray { path: node::display(&prefix) })
            }
            Err(cause) => Err(ArrayError::Metadata { key: key.to_string(), cause }),
        }
    }
}

impl MemberSource for Source {
    fn open(&self, member: &[u64]) -> Result<Option<Array>, ArrayError> {
        match self.reference(member) {
            Some(reference) => self.open_reference(reference),
            None => Ok(None),
        }
    }

    fn name(&self, member: &[u64]) -> String {
        match self.reference(member) {
            Some(member) if member.path.is_root() => shown_url(&member.location),
            Some(member) => format!("{}/{}", shown_url(&member.location), member.path),
            None => format!("{member:?}"),
        }
    }
}

/// Whether an object has the name of `prefix`, or of a prefix around it.
fn leads_to_object(store: &dyn Store, prefix: &Prefix) -> Result<bool, ArrayError> {
    let mut around = Prefix::root();
    for name in prefix.segments() {
        if store.head(&around.key(name)?)?.is_some() {
            return Ok(true);
        }
        around = around.join(name)?;
    }
    Ok(false)
}

/// The document of the array at `prefix`: its key, size and version, and bytes.
pub(crate) fn document(
    store: &dyn Store,
    prefix: &Prefix,
) -> Result<Option<(Key, ObjectMeta, Vec<u8>)>, ArrayError> {
    for name in ["zarr.json", ".zarray"] {
        let key = prefix.key(name)?;
        let mut bytes = Vec::new();
        if let Some(meta) = store.get(&key, ReadRange::All, &mut bytes)? {
            return Ok(Some((key, meta, bytes)));
        }
    }
    Ok(None)
}
