//! Differences between objects that belong to no node, such as tables beside arrays.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::ControlFlow;

use zarr_array::store::{Key, Prefix, ReadRange, StoreExt as _};
use zarr_array::unfinished::Unfinished;
use zarr_array::{ArrayError, parallel};
use zarr_copy::{Endpoint, TransferError, other_objects_beside};

use super::Comparison;
use super::documents::Change;
use super::node::{DiffError, DiffNode};
use crate::{ReportError, words};

/// The bytes that are compared at once.
const PIECE: u64 = 4 << 20;

impl Comparison<'_> {
    /// Compares the objects that belong to no node.
    pub(super) fn objects(&mut self, known: [Vec<(Prefix, bool)>; 2]) -> ControlFlow<()> {
        let (one, other) = (self.one, self.other);
        let [ours, theirs] = known;
        let (mut ours, mut theirs) = match (objects(one, ours), objects(other, theirs)) {
            (Ok(ours), Ok(theirs)) => (ours, theirs),
            // What one side does not show is not missing there.
            (Err(error), _) | (_, Err(error)) => return self.not_compared("", error),
        };
        let paths: BTreeSet<String> = ours.keys().chain(theirs.keys()).cloned().collect();
        for path in paths {
            let flow = match (ours.remove(&path), theirs.remove(&path)) {
                (Some(_), None) => self.only_in(&path, one.name),
                (None, Some(_)) => self.only_in(&path, other.name),
                (Some(a), Some(b)) => match object((one, &a), (other, &b), self.metadata_only) {
                    Ok(change) => self.changes(&path, change.into_iter().collect()),
                    Err(error) => self.not_compared(&path, error),
                },
                (None, None) => ControlFlow::Continue(()),
            };
            flow?;
        }
        ControlFlow::Continue(())
    }
}

/// The objects, by their paths below the node.
fn objects(
    node: &DiffNode<'_>,
    known: Vec<(Prefix, bool)>,
) -> Result<BTreeMap<String, Key>, DiffError> {
    no_copy_began(node, &known)?;
    let found = other_objects_beside(Endpoint::in_hierarchy(&node.store, &node.prefix), known);
    let failed = |cause| DiffError::new(node.name, ReportError::Objects(Box::new(cause)));
    found.collect::<Result<_, TransferError>>().map_err(failed)
}

/// Refuses arrays that a copy has begun to replace meanwhile: their removed chunks read as fill values.
fn no_copy_began(node: &DiffNode<'_>, known: &[(Prefix, bool)]) -> Result<(), DiffError> {
    let arrays: Vec<&Prefix> =
        known.iter().filter_map(|(prefix, is_array)| is_array.then_some(prefix)).collect();
    let store = node.store.store();
    let look = |prefix: &&Prefix| Unfinished::at(&**store, prefix);
    let looks = parallel::map(&arrays, parallel::requests(&**store), look)
        .map_err(|cause| node.failed(ArrayError::from(cause)))?;
    match arrays.iter().zip(looks).find(|(_, unfinished)| unfinished.is_some()) {
        None => Ok(()),
        Some((prefix, _)) => {
            let refused = TransferError::UnfinishedSource { path: prefix.as_str().to_owned() };
            Err(DiffError::new(node.name, ReportError::Objects(Box::new(refused))))
        }
    }
}

/// What differs between two objects: their sizes, or the first byte.
fn object(
    (one, ours): (&DiffNode<'_>, &Key),
    (other, theirs): (&DiffNode<'_>, &Key),
    sizes_only: bool,
) -> Result<Option<Change>, DiffError> {
    let size = |node: &DiffNode<'_>, key: &Key| {
        let size = node.store.size(key).map_err(|cause| node.failed(ArrayError::from(cause)))?;
        Ok::<u64, DiffError>(size.unwrap_or(0))
    };
    let (a, b) = (size(one, ours)?, size(other, theirs)?);
    if a != b {
        let text = |size: u64| words::counted(size, "byte");
        return Ok(Some(Change::content("size", text(a), text(b))));
    }
    let mut start = 0;
    while start < a && !sizes_only {
        let end = a.min(start.saturating_add(PIECE));
        let read = |node: &DiffNode<'_>, key: &Key| {
            let mut bytes = Vec::new();
            let range = start..end;
            let got =
                node.store.get(key, ReadRange::Ranges(std::slice::from_ref(&range)), &mut bytes);
            got.map_err(|cause| node.failed(ArrayError::from(cause))).map(|_| bytes)
        };
        let (ours, theirs) = (read(one, ours)?, read(other, theirs)?);
        if ours != theirs {
            let at = ours.iter().zip(&theirs).position(|(a, b)| a != b).unwrap_or(0);
            let byte = |bytes: &[u8]| bytes.get(at).map_or_else(String::new, u8::to_string);
            let at = start + u64::try_from(at).unwrap_or(0);
            return Ok(Some(Change::content(format!("byte {at}"), byte(&ours), byte(&theirs))));
        }
        start = end;
    }
    Ok(None)
}
