//! What the attributes of a group say of the nodes below it, by the conventions that it follows.

use std::collections::{BTreeMap, BTreeSet};

use zarr_array::{Array, ArrayError, Group, node};
use zarr_cf::{GroupMeaning, Numbers, REGION_INDEX};
use zarr_metadata::{GroupMetadata, NodeMetadata};
use zarr_store::{Key, Prefix};

use crate::finding::{CONVENTION, Finding};
use crate::hierarchy::Walk;

/// The most rows of a region index that are compared.
const ROWS: u64 = 1 << 20;

impl Walk<'_> {
    /// Compares a group's attributes with the nodes that they name.
    pub(crate) fn conventions(
        &mut self,
        prefix: &Prefix,
        key: &Key,
        group: &GroupMetadata,
    ) -> Result<(), ArrayError> {
        let meaning = GroupMeaning::of(group);
        self.owned = meaning.objects();
        let mut found = meaning.contradictions();
        for part in meaning.parts() {
            let (by, path) = (part.named_by, &part.path);
            let named = prefix.join(path).map_err(ArrayError::from);
            match (named.and_then(|named| node::open(self.store, &named)), part.axes) {
                (Ok(NodeMetadata::Array(array)), Some(axes)) if array.shape().len() != axes => {
                    let rank = array.shape().len();
                    found.push(format!("{by} has {axes} axes, and its level {path:?} has {rank}"));
                }
                (Ok(NodeMetadata::Group(_)), Some(_)) => {
                    found.push(format!("{by} has the level {path:?}, which is a group"));
                }
                (Err(ArrayError::NotFound { .. } | ArrayError::Path(_)), _) => {
                    found.push(format!("{by} names {path:?}, and there is no such node"));
                }
                _ => {}
            }
        }
        if meaning.region_index() {
            let group = Group::with_metadata(self.store, prefix, group.clone());
            // Arrays that do not open have findings of their own.
            if let (Ok(index), Ok(position)) =
                (group.array(REGION_INDEX), group.array("variant_position"))
            {
                found.extend(past_chunks(&index, &position).unwrap_or_default());
            }
        }
        for text in found {
            self.found(Finding::new(CONVENTION, text).with_key(key.as_str()));
        }
        Ok(())
    }
}

/// The first chunk for which an index has another number of variants than `variant_position`.
fn past_chunks(index: &Array, position: &Array) -> Result<Option<String>, ArrayError> {
    let ([rows, 6], [axis]) = (index.shape(), position.grid().axes()) else { return Ok(None) };
    let Some(numbers) = Numbers::of(index.data_type()).filter(|_| *rows <= ROWS) else {
        return Ok(None);
    };
    let inner = zarr_copy::inner_axis(position);
    let axis = inner.as_ref().unwrap_or(axis);
    let elements = index.read([0..*rows, 0..6])?;
    let whole: Option<Vec<i128>> =
        elements.chunks_exact(numbers.size()).map(|one| numbers.whole(one)).collect();
    let Some(whole) = whole else { return Ok(None) };
    let mut counts: BTreeMap<i128, i128> = BTreeMap::new();
    for row in whole.chunks_exact(6) {
        if let [chunk, .., records] = row {
            let count = counts.entry(*chunk).or_default();
            *count = count.saturating_add(*records);
        }
    }
    let variants = |chunk: i128| {
        let within = u64::try_from(chunk).ok().and_then(|chunk| axis.clipped(chunk));
        within.map_or(0, |within| i128::from(within.end - within.start))
    };
    // A chunk that only one of them has counts no variants in the other.
    let lacking = (0..i128::from(axis.occupied())).find(|chunk| !counts.contains_key(chunk));
    let chunks: BTreeSet<i128> = counts.keys().copied().chain(lacking).collect();
    let wrong = chunks.into_iter().find_map(|chunk| {
        let (found, expected) = (counts.get(&chunk).copied().unwrap_or(0), variants(chunk));
        (found != expected).then(|| {
            format!(
                "{REGION_INDEX} has {found} variants in chunk {chunk}, and variant_position has {expected} \
                 there: programs that look for regions miss variants; a copy with other chunks makes it \
                 again"
            )
        })
    });
    Ok(wrong)
}
