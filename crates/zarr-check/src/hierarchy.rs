//! Nodes, their documents, and other objects next to them.

use std::collections::{HashMap, HashSet};

use zarr_array::Array;
use zarr_array::ArrayError;
use zarr_array::ChunkLayout;
use zarr_array::Hierarchy;
use zarr_array::names_without_key;
use zarr_array::node::{self, METADATA_KEY};
use zarr_array::unfinished::{Kind, MARKER, Unfinished, UnfinishedWork};
use zarr_codec::{ChainError, Options};
use zarr_metadata::{ArrayMetadata, GroupMetadata, MetadataError, NodeMetadata};
use zarr_store::{Key, Prefix, StoreExt as _, path_below};

use crate::finding::{
    CONSOLIDATED, FILL, Finding, NO_CHECKSUM, Severity, UNFINISHED, UNKNOWN_CODEC, UNSUPPORTED,
    foreign, rule_of_document, rule_of_grid, unexamined, unreadable,
};
use crate::options::CheckOptions;
use crate::summary::{CheckWatch, Summary};

/// A parent that is searched for nodes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Parent {
    Group,
    /// A group of Zarr version 2.
    GroupOfVersion2,
    /// Not a group, so its children are not judged.
    Folder,
}

/// A prefetched node.
pub(crate) enum Ahead {
    Array(Box<Looked>),
    /// The document of another node.
    Document(Vec<u8>),
}

/// The findings in an array.
pub(crate) struct Looked {
    pub(crate) metadata: ArrayMetadata,
    pub(crate) findings: Vec<Finding>,
    pub(crate) summary: Summary,
    pub(crate) result: Result<(), ArrayError>,
}

/// A check in progress.
pub(crate) struct Walk<'a> {
    pub(crate) store: &'a Hierarchy,
    pub(crate) options: &'a CheckOptions,
    report: &'a mut dyn FnMut(Finding),
    pub(crate) watch: CheckWatch<'a>,
    pub(crate) summary: Summary,
    /// The groups above the current node that have consolidated metadata, and the paths of the
    /// nodes listed in it.
    consolidated: Vec<(Prefix, HashSet<String>)>,
    /// Prefetched nodes.
    pub(crate) looked: HashMap<Prefix, Ahead>,
    /// The arrays without a checksum.
    bare: u64,
    /// The names of objects that the group in hand has by its conventions.
    pub(crate) owned: &'static [&'static str],
}

impl<'a> Walk<'a> {
    pub(crate) fn new(
        store: &'a Hierarchy,
        options: &'a CheckOptions,
        report: &'a mut dyn FnMut(Finding),
        watch: CheckWatch<'a>,
    ) -> Self {
        let (summary, consolidated, looked) = (Summary::default(), Vec::new(), HashMap::new());
        Self { store, options, report, watch, summary, consolidated, looked, bare: 0, owned: &[] }
    }

    /// Reports a finding in documents and keys; of several parts, only the first does.
    pub(crate) fn found(&mut self, finding: Finding) {
        if self.options.is_first_part() {
            self.found_in_chunk(finding);
        }
    }

    /// Reports a finding in a chunk; each chunk is read by one part.
    pub(crate) fn found_in_chunk(&mut self, finding: Finding) {
        if self.options.ignores(&finding) {
            return;
        }
        let count = match finding.severity() {
            Severity::Error => &mut self.summary.errors,
            Severity::Warning => &mut self.summary.warnings,
            _ => &mut self.summary.notes,
        };
        *count += 1;
        (self.report)(finding);
    }

    pub(crate) fn run(mut self, root: &Prefix) -> Result<Summary, ArrayError> {
        // If there is no node at all, that is an error, not a finding.
        match node::open(self.store, root) {
            Err(ArrayError::Metadata { .. } | ArrayError::Unfinished { .. }) | Ok(_) => {}
            Err(error) => return Err(error),
        }
        // An explicit stack: hostile hierarchies may be deeper than a thread's stack.
        let mut waiting = vec![root.clone()];
        while let Some(prefix) = waiting.pop() {
            match self.node(&prefix, &mut waiting) {
                // The error concerns only this node.
                Err(ArrayError::Store(error)) if error.is_of_one_object() => {
                    self.found(unreadable(node::metadata_key(&prefix), &error));
                }
                looked => looked?,
            }
        }
        match names_without_key(&**self.store, root) {
            Ok(names) => names.into_iter().for_each(|name| self.found(foreign(name))),
            // Folders that may not be read have been reported.
            Err(error) if error.is_of_one_object() => {}
            Err(error) => return Err(error.into()),
        }
        self.found_bare();
        if !self.options.is_first_part() {
            (self.summary.groups, self.summary.arrays) = (0, 0);
        }
        Ok(self.summary)
    }

    fn node(&mut self, prefix: &Prefix, waiting: &mut Vec<Prefix>) -> Result<(), ArrayError> {
        let key = prefix.key(METADATA_KEY)?;
        let document = match self.ahead(prefix, waiting) {
            Some(Ahead::Array(looked)) => {
                self.listed(prefix);
                return self.add(*looked);
            }
            Some(Ahead::Document(document)) => Some(document),
            None => self.store.read(&key)?,
        };
        let Some(document) = document else {
            return self.of_version_2(prefix, waiting);
        };
        match NodeMetadata::from_json(&document) {
            Err(error) => {
                self.found(document_error(key.as_str(), &error));
                // Check everything below it, of whatever kind it is.
                self.children(prefix, Parent::Folder, waiting)
            }
            Ok(NodeMetadata::Group(group)) => {
                self.summary.groups += 1;
                self.listed(prefix);
                self.findings(&key, group.findings());
                self.consolidated(prefix, &key, &group)?;
                self.conventions(prefix, &key, &group)?;
                self.children(prefix, Parent::Group, waiting)
            }
            Ok(NodeMetadata::Array(array)) => {
                self.listed(prefix);
                self.of_version_3(prefix, &key, array)
            }
        }
    }

    /// Checks an array, except its entries in consolidated metadata of groups above.
    pub(crate) fn of_version_3(
        &mut self,
        prefix: &Prefix,
        key: &Key,
        array: ArrayMetadata,
    ) -> Result<(), ArrayError> {
        self.summary.arrays += 1;
        self.tell(&array);
        self.findings(key, array.findings());
        self.array(prefix, key, array)
    }

    /// Counts an array if changed bytes of its chunks cannot be found.
    pub(crate) fn count_bare(&mut self, array: &ArrayMetadata) {
        if !array.has_checksum() && !self.store.capabilities().checksums {
            self.bare += 1;
        }
    }

    /// Reports the arrays without a checksum, in one note, if chunks were decoded.
    fn found_bare(&mut self) {
        let message = match (self.bare, self.summary.arrays) {
            (0, _) => return,
            (1, 1) => "the array has no checksum".to_owned(),
            (1, arrays) => format!("1 of {arrays} arrays has no checksum"),
            (bare, arrays) => format!("{bare} of {arrays} arrays have no checksum"),
        };
        if self.options.data && self.options.checksums {
            let message = format!("{message}: changed bytes are not found");
            self.found(Finding::new(NO_CHECKSUM, message));
        }
    }

    /// Tells of the document of an array.
    pub(crate) fn tell(&mut self, array: &ArrayMetadata) {
        self.count_bare(array);
        if let Some(tell) = &mut self.watch.arrays {
            tell(array);
        }
    }

    fn findings(&mut self, key: &Key, findings: &[Finding]) {
        for finding in findings {
            self.found(finding.clone().with_key(key.as_str()));
        }
    }

    /// A place without a document: there is an unfinished copy, or it has just been removed.
    pub(crate) fn unfinished(
        &mut self,
        prefix: &Prefix,
        waiting: &mut Vec<Prefix>,
    ) -> Result<(), ArrayError> {
        let Some(copy) = Unfinished::at(&**self.store, prefix)? else { return Ok(()) };
        let key = prefix.key(MARKER)?;
        self.found(match copy.kind {
            Some(Kind::Array) => unfinished(&key, "array", copy.work),
            Some(Kind::Group) => unfinished(&key, "group", copy.work),
            None => {
                let message = "an interrupted copy, or something else of this name: it says nothing \
                               to resume it by; start again";
                Finding::new(UNFINISHED, message).with_key(key.as_str())
            }
        });
        // Finished nodes in it are checked; the chunks of an unfinished array belong to the copy.
        match copy.kind {
            Some(Kind::Group) => self.children(prefix, Parent::Folder, waiting),
            Some(Kind::Array) | None => Ok(()),
        }
    }

    /// Compares consolidated metadata with the document of each node.
    pub(crate) fn consolidated(
        &mut self,
        prefix: &Prefix,
        key: &Key,
        group: &GroupMetadata,
    ) -> Result<(), ArrayError> {
        let Some(consolidated) = group.consolidated_metadata() else { return Ok(()) };
        for (path, said) in consolidated.nodes() {
            let at = format!("$.consolidated_metadata.metadata[{path:?}]");
            let own_prefix = prefix.join(path);
            let own_prefix = own_prefix.and_then(|at| at.key(METADATA_KEY).map(|key| (at, key)));
            let Ok((own_prefix, own_key)) = own_prefix else {
                self.found(
                    Finding::new(CONSOLIDATED, "no path that a node can have")
                        .with_key(key.as_str())
                        .with_path(at),
                );
                continue;
            };
            let own = match self.store.read(&own_key)? {
                None if group.is_version_2() => self.own_of_version_2(&own_prefix)?,
                own => own.map(|document| NodeMetadata::from_json(&document)),
            };
            let message = match (said, own) {
                (_, None) => "there is no such node",
                // Left to its own documents, which are checked too.
                (Err(_), Some(_)) if group.is_version_2() => continue,
                (Err(_), _) => "not a valid document",
                (Ok(said), Some(Ok(own))) if !node::is_same(&said, &own) => {
                    zarr_store::reached!("check: consolidated metadata differ");
                    "differs from the node's own"
                }
                _ => continue,
            };
            self.found(Finding::new(CONSOLIDATED, message).with_key(key.as_str()).with_path(at));
        }
        let paths = consolidated.paths().map(str::to_owned).collect();
        self.consolidated.push((prefix.clone(), paths));
        Ok(())
    }

    /// Reports the node at `prefix` for each group above it if the group's consolidated metadata
    /// lacks the node.
    pub(crate) fn listed(&mut self, prefix: &Prefix) {
        // Nodes come depth first: a group that is not above this node is not above any later one.
        let below = |group: &Prefix| {
            path_below(prefix.as_str(), group.as_str()).filter(|path| !path.is_empty())
        };
        self.consolidated.retain(|(group, _)| below(group).is_some());
        let lacking: Vec<Finding> = self
            .consolidated
            .iter()
            .filter_map(|(group, paths)| {
                let path = below(group)?;
                (!paths.contains(path)).then(|| {
                    Finding::new(CONSOLIDATED, format!("lacks the node {path:?}"))
                        .with_key(node::metadata_key(group))
                        .with_path("$.consolidated_metadata.metadata")
                })
            })
            .collect();
        for finding in lacking {
            self.found(finding);
        }
    }

    pub(crate) fn array(
        &mut self,
        prefix: &Prefix,
        key: &Key,
        metadata: ArrayMetadata,
    ) -> Result<(), ArrayError> {
        let layout = match ChunkLayout::new(prefix, &metadata) {
            Ok(layout) => layout,
            Err(ArrayError::Grid { cause, .. }) => {
                let rule = rule_of_grid(&cause);
                self.found(
                    Finding::new(rule, cause.to_string())
                        .with_key(key.as_str())
                        .with_path("$.chunk_grid"),
                );
                return self.marker(prefix);
            }
            // The document's own finding says so.
            Err(ArrayError::Unknown { .. }) => return self.marker(prefix),
            Err(error) => return Err(error),
        };
        let is_version_2 = metadata.is_version_2();
        let array = self.open(prefix, key, metadata)?;
        let found = self.chunks(self.store, &layout, array.as_ref(), is_version_2)?;
        found.into_iter().for_each(|finding| self.found_in_chunk(finding));
        Ok(())
    }

    /// Opens the array with this document. If its elements cannot be read, that is a finding.
    fn open(
        &mut self,
        prefix: &Prefix,
        key: &Key,
        metadata: ArrayMetadata,
    ) -> Result<Option<Array>, ArrayError> {
        let options = Options::new()
            .unknown_decoded_len(self.options.memory)
            .codecs(self.options.codecs.clone());
        match Array::with_metadata(self.store, prefix, metadata, options) {
            Ok(array) => {
                if let Err(ArrayError::FillValue { fill_value, read_back, .. }) =
                    node::refuse_unwritable(&array, key)
                {
                    let message = format!("{fill_value} would read back as {read_back}");
                    self.found(
                        Finding::new(FILL, message)
                            .with_key(key.as_str())
                            .with_path("$.fill_value"),
                    );
                }
                return Ok(Some(array));
            }
            Err(ArrayError::Chain { cause, .. }) => self.found(chain_error(key, &cause)),
            Err(ArrayError::DataType { data_type, .. }) => {
                let message = format!("elements of type {data_type} are not read here");
                self.found(
                    Finding::new(UNSUPPORTED, message)
                        .with_key(key.as_str())
                        .with_path("$.data_type"),
                );
            }
            Err(error @ ArrayError::Store(_)) => return Err(error),
            // The error concerns only this node.
            Err(error) => {
                self.found(unexamined(key, error));
            }
        }
        Ok(None)
    }

    /// Looks for the marker of a copy in an array without a listing of its objects.
    fn marker(&mut self, prefix: &Prefix) -> Result<(), ArrayError> {
        let Ok(key) = prefix.key(MARKER) else { return Ok(()) };
        if let Some(copy) = Unfinished::at(&**self.store, prefix)? {
            self.found(unfinished(&key, "array", copy.work));
        }
        Ok(())
    }
}

pub(crate) fn unfinished(marker: &Key, node: &str, work: UnfinishedWork) -> Finding {
    let message = match work {
        UnfinishedWork::Creation => {
            format!("the creation of an {node} here was interrupted: create it again, overwriting")
        }
        _ => {
            format!("a copy to this {node} was interrupted: resume it, or start again")
        }
    };
    Finding::new(UNFINISHED, message).with_key(marker.as_str())
}

pub(crate) fn document_error(key: &str, error: &MetadataError) -> Finding {
    Finding::new(rule_of_document(error), error.reason().to_string())
        .with_key(key)
        .with_path(error.path())
}

fn chain_error(key: &Key, error: &ChainError) -> Finding {
    let rule = match error.rule() {
        None if error.is_unknown_codec() && !is_registered(error.codec()) => UNKNOWN_CODEC,
        rule => rule.unwrap_or(UNSUPPORTED),
    };
    let message = format!("codec {}: {}", error.codec(), error.reason());
    Finding::new(rule, message).with_key(key.as_str()).with_path(error.path())
}

/// Whether an unsupported codec is known elsewhere: it is in the registry of zarr-extensions as of
/// July 2026, or its name has an owner (it contains a dot, or is a URI).
fn is_registered(codec: &str) -> bool {
    const NAMES: [&str; 7] = [
        "bitround",
        "cast_value",
        "conditional",
        "n5_default",
        "scale_offset",
        "vlen-bytes",
        "vlen-utf8",
    ];
    // Long names are cut in errors, and then end in dots.
    NAMES.contains(&codec) || codec.trim_end_matches("...").contains(['.', ':'])
}
