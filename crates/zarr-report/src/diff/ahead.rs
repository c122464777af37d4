//! Small arrays are read before their turn, several at once: a group of many costs the time of a request
//! each otherwise.

use std::collections::{BTreeMap, HashMap};
use std::convert::Infallible;
use std::num::NonZeroUsize;

use zarr_array::{Array, Selection, parallel};
use zarr_metadata::NodeMetadata;

use super::node::{DiffNode, ReadNode};

/// The most bytes of the elements of such an array, and of one of its chunks in memory.
const SMALL: u64 = 1 << 18;

/// The most chunks of such an array: they are asked for one after another.
const CHUNKS: u64 = 4;

/// The nodes of both sides, by their paths.
type Nodes<'n> = [&'n BTreeMap<String, ReadNode>; 2];

/// The look ahead.
pub(super) struct Ahead<'a> {
    one: &'a DiffNode<'a>,
    other: &'a DiffNode<'a>,
    paths: &'a [String],
    at_once: NonZeroUsize,
    /// Whether elements of whole arrays are compared at all.
    looks: bool,
    /// The numbers of elements of arrays that were found to be equal.
    found: HashMap<&'a str, u64>,
}

impl<'a> Ahead<'a> {
    pub(super) fn new(
        one: &'a DiffNode<'a>,
        other: &'a DiffNode<'a>,
        paths: &'a [String],
        metadata_only: bool,
    ) -> Self {
        let at_once = parallel::requests(&**one.store).max(parallel::requests(&**other.store));
        let looks = !metadata_only && !one.has_regions() && !other.has_regions();
        Self { one, other, paths, at_once, looks, found: HashMap::new() }
    }

    /// The number of elements of the array at the path of this number, if it is small and has the same
    /// elements on both sides, bit by bit. All others are compared in their turn, and so are those that
    /// cannot be read. The paths come in their order.
    pub(super) fn equal(&mut self, number: usize, nodes: Nodes<'_>) -> Option<u64> {
        if self.looks && number.is_multiple_of(self.at_once.get()) {
            let next = self.paths.get(number..).unwrap_or_default();
            let next = next.get(..self.at_once.get()).unwrap_or(next);
            self.found = equal([self.one, self.other], nodes, next, self.at_once);
        }
        self.found.remove(self.paths.get(number)?.as_str())
    }
}

/// The small arrays among these paths with equal elements, and how many elements.
fn equal<'p>(
    [one, other]: [&DiffNode<'_>; 2],
    nodes: Nodes<'_>,
    paths: &'p [String],
    at_once: NonZeroUsize,
) -> HashMap<&'p str, u64> {
    let pair = |path: &'p String| {
        let [ours, theirs] = nodes.map(|nodes| match nodes.get(path) {
            Some(Ok(NodeMetadata::Array(array))) => Some(array),
            _ => None,
        });
        let (ours, theirs) = (ours?, theirs?);
        let size = u64::try_from(ours.data_type().size()?).ok()?;
        let count = ours.shape().iter().try_fold(1_u64, |all, one| all.checked_mul(*one))?;
        let is_small = count.checked_mul(size).is_some_and(|bytes| bytes <= SMALL);
        let is_alike = ours.shape() == theirs.shape() && ours.data_type() == theirs.data_type();
        if !is_small || !is_alike {
            return None;
        }
        let open = |node: &DiffNode<'_>, metadata| {
            Some(node.array(path, metadata).ok()?.with_threads(NonZeroUsize::MIN))
        };
        let (ours, theirs) = (open(one, ours)?, open(other, theirs)?);
        let has_small_chunks = |array: &Array| {
            array.grid().largest_chunk().saturating_mul(size) <= SMALL
                && array.grid().occupied_chunks().is_some_and(|chunks| chunks <= CHUNKS)
        };
        let is_small = has_small_chunks(&ours) && has_small_chunks(&theirs);
        is_small.then_some((path.as_str(), count, ours, theirs))
    };
    let small: Vec<(&str, u64, Array, Array)> = paths.iter().filter_map(pair).collect();
    let found = parallel::map(&small, at_once, |(path, count, ours, theirs)| {
        let read = |array: &Array| array.read(Selection::whole(array.shape())).ok();
        let is_equal = read(ours).is_some_and(|ours| read(theirs) == Some(ours));
        Ok::<_, Infallible>(is_equal.then_some((*path, *count)))
    });
    let Ok(found) = found;
    found.into_iter().flatten().collect()
}
