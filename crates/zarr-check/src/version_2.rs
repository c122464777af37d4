//! Nodes of Zarr version 2, which are checked as their translation to version 3.

use zarr_array::ArrayError;
use zarr_array::version_2;
use zarr_metadata::{MetadataError, NodeMetadata};
use zarr_store::Prefix;

use crate::finding::Finding;
use crate::hierarchy::{Parent, Walk, document_error};

impl Walk<'_> {
    /// A place without a `zarr.json`.
    pub(crate) fn of_version_2(
        &mut self,
        prefix: &Prefix,
        waiting: &mut Vec<Prefix>,
    ) -> Result<(), ArrayError> {
        let node = match version_2::open(self.store, prefix) {
            Ok(None) => return self.unfinished(prefix, waiting),
            Ok(Some(node)) => node,
            Err(ArrayError::Metadata { key, cause }) => {
                self.found(document_error(&key, &cause));
                return self.children(prefix, Parent::Folder, waiting);
            }
            Err(error) => return Err(error),
        };
        self.listed(prefix);
        match node {
            NodeMetadata::Group(group) => {
                self.summary.groups += 1;
                self.findings_of_documents(prefix, version_2::ATTRIBUTES, group.findings())?;
                self.consolidated(prefix, &prefix.key(version_2::CONSOLIDATED)?, &group)?;
                self.conventions(prefix, &prefix.key(version_2::ATTRIBUTES)?, &group)?;
                self.children(prefix, Parent::GroupOfVersion2, waiting)
            }
            NodeMetadata::Array(array) => {
                self.summary.arrays += 1;
                self.count_bare(&array);
                self.findings_of_documents(prefix, version_2::ARRAY, array.findings())?;
                self.array(prefix, &prefix.key(version_2::ARRAY)?, array)
            }
        }
    }

    /// Findings of a translated document, at their places in the two that it was made of.
    fn findings_of_documents(
        &mut self,
        prefix: &Prefix,
        document: &str,
        findings: &[Finding],
    ) -> Result<(), ArrayError> {
        for finding in findings {
            let path = finding.path().unwrap_or("$");
            let (name, path) = match path.strip_prefix("$.attributes") {
                Some(rest) => (version_2::ATTRIBUTES, format!("${rest}")),
                None => (document, path.to_owned()),
            };
            self.found(finding.clone().with_key(prefix.key(name)?.as_str()).with_path(path));
        }
        Ok(())
    }

    /// The content of the documents of a node of version 2.
    pub(crate) fn own_of_version_2(
        &self,
        prefix: &Prefix,
    ) -> Result<Option<Result<NodeMetadata, MetadataError>>, ArrayError> {
        match version_2::open(self.store, prefix) {
            Err(ArrayError::Metadata { cause, .. }) => Ok(Some(Err(cause))),
            node => Ok(node?.map(Ok)),
        }
    }
}
