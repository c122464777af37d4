//! The version of a member's document, which shows whether it has changed since the join.

use std::path::Path;

use zarr_array::ArrayError;
use zarr_array::store::{Key, ObjectMeta};

use crate::document::{MemberReference, same_time, seconds};

/// The length, the tag and the time of a document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct DocumentVersion {
    pub(crate) length: u64,
    pub(crate) etag: Option<String>,
    pub(crate) last_modified: Option<String>,
}

impl DocumentVersion {
    /// The version of a found document. `place` is the member's folder, if it is local, or the file
    /// that contains it, such as an archive. The time of such a file counts, since any change of
    /// the file may be a change of the member.
    pub(crate) fn new(meta: &ObjectMeta, key: &Key, place: Option<&Path>) -> Self {
        // Stores with numbered versions add the number on a separate line.
        let tag = meta.version.as_ref().and_then(|version| version.tag());
        let etag = tag.and_then(|tag| tag.lines().next()).filter(|tag| !tag.is_empty());
        let etag = etag.map(str::to_owned);
        let found = place.and_then(|place| {
            let metadata = std::fs::metadata(place).ok()?;
            if metadata.is_file() {
                return Some(metadata);
            }
            std::fs::metadata(place.join(key.name())).ok()
        });
        let last_modified = found.and_then(|found| seconds(found.modified().ok()?));
        Self { length: meta.size, etag, last_modified }
    }

    /// Compares with the record in a document of a join, as far as both are known.
    pub(crate) fn check(&self, member: &MemberReference) -> Result<(), ArrayError> {
        let changed = |what, found: &str, recorded: &str| {
            let (found, recorded) = (found.to_owned(), recorded.to_owned());
            Err(ArrayError::MemberChanged { what, found, recorded })
        };
        if let Some(length) = member.length
            && length != self.length
        {
            let (found, recorded) = (format!("{} bytes", self.length), format!("{length} bytes"));
            return changed("the length of its document", &found, &recorded);
        }
        if let (Some(found), Some(recorded)) = (&self.etag, &member.etag)
            && found != recorded
        {
            return changed("the ETag of its document", found, recorded);
        }
        if let (Some(found), Some(recorded)) = (&self.last_modified, &member.last_modified)
            && !same_time(found, recorded)
        {
            return changed("the modification time of its document", found, recorded);
        }
        Ok(())
    }
}
