//! What conventions say of groups that are copied.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::error::Error;

use zarr_array::{ArrayError, node};
use zarr_cf::{GroupMeaning, REGION_INDEX};
use zarr_metadata::{ArrayMetadata, Codec, GroupMetadata, MetadataError, NodeMetadata};
use zarr_store::Prefix;

use crate::array_copy::Change;
use crate::endpoint::Endpoint;
use crate::error::{TransferError, source};
use crate::region_index::check_region_index;
use crate::{CopyOptions, CopySummary};

/// The array with whose chunks the rows of an index go.
const VARIANTS: &str = "variant_position";

/// The index of VCF-Zarr, if it is in the source and the copy has other chunks of variants: it is left out,
/// and made again of the copied arrays.
pub(crate) fn stale_index(
    from: Endpoint<'_>,
    change: &mut Change<'_>,
) -> Result<Option<Prefix>, TransferError> {
    let NodeMetadata::Group(group) = node::open(from.store, from.prefix).map_err(source)? else {
        return Ok(None);
    };
    if !GroupMeaning::of(&group).region_index() {
        return Ok(None);
    }
    let (index, variants) = (from.prefix.join(REGION_INDEX)?, from.prefix.join(VARIANTS)?);
    let array = |prefix: &Prefix| match node::open(from.store, prefix) {
        Ok(NodeMetadata::Array(array)) => Ok(Some(array)),
        // An index that is not understood is said by the copy itself.
        Ok(_) | Err(ArrayError::NotFound { .. } | ArrayError::Metadata { .. }) => Ok(None),
        Err(error) => Err(source(error)),
    };
    let (Some(_), Some(variants_now)) = (array(&index)?, array(&variants)?) else {
        return Ok(None);
    };
    // The copy itself says what is wrong with the change.
    let Ok(changed) = change(&variants, &variants_now) else { return Ok(None) };
    if has_same_chunks(&changed, &variants_now) {
        return Ok(None);
    }
    check_region_index(from.store, from.prefix).map_err(source)?;
    Ok(Some(index))
}

/// Whether two arrays have the same chunks and, in shards, the same inner chunks.
fn has_same_chunks(one: &ArrayMetadata, other: &ArrayMetadata) -> bool {
    let inner = |array: &ArrayMetadata| match array.codecs().first() {
        Some(Codec::ShardingIndexed(shards)) => Some(shards.chunk_shape.clone()),
        _ => None,
    };
    one.chunk_grid() == other.chunk_grid() && inner(one) == inner(other)
}

/// Refuses to change chunks of variants in a group below the copied one if the group has an index of them,
/// which would refer to the old chunks.
pub(crate) fn refuse_stale_index_below(
    from: Endpoint<'_>,
    prefix: &Prefix,
    array: &ArrayMetadata,
    changed: &ArrayMetadata,
) -> Result<(), ArrayError> {
    let Some(above) = prefix.parent() else { return Ok(()) };
    if prefix.segments().last() != Some(VARIANTS)
        || above == *from.prefix
        || prefix == from.prefix
        || has_same_chunks(changed, array)
    {
        return Ok(());
    }
    let at = |prefix: &Prefix| match node::open(from.store, prefix) {
        Ok(found) => Ok(Some(found)),
        Err(ArrayError::NotFound { .. }) => Ok(None),
        Err(error) => Err(error),
    };
    let Some(NodeMetadata::Group(group)) = at(&above)? else { return Ok(()) };
    if !GroupMeaning::of(&group).region_index() || at(&above.join(REGION_INDEX)?)?.is_none() {
        return Ok(());
    }
    let cause = "its array region_index refers to chunks of variants by number, and is made again only if \
                 this group itself is copied: copy it by its own path, and leave its chunks as they are here";
    Err(ArrayError::Refused { path: node::display(&above), cause: cause.into(), remedy: None })
}

fn name_of(prefix: &Prefix) -> &str {
    prefix.segments().last().unwrap_or_default()
}

impl CopySummary {
    /// Counts a group whose attributes are not those of its version.
    pub(crate) fn add_ome(
        &mut self,
        prefix: &Prefix,
        group: &GroupMetadata,
        options: &CopyOptions,
    ) {
        let is_old = group.is_version_2() && !options.ome_0_5;
        if is_old && GroupMeaning::of(group).ome_0_5(name_of(prefix)).is_some() {
            self.ome_0_4 += 1;
        }
    }
}

/// The document of a group of OME-Zarr 0.4 as one of 0.5; `None` for other groups.
pub(crate) fn ome_0_5(
    prefix: &Prefix,
    group: &GroupMetadata,
) -> Result<Option<GroupMetadata>, MetadataError> {
    let Some(changes) = GroupMeaning::of(group).ome_0_5(name_of(prefix)) else { return Ok(None) };
    let changes: Vec<_> = changes.iter().map(|(name, json)| (*name, json.as_deref())).collect();
    group.with_changed_attributes(&changes).map(Some)
}

/// The names that OME-Zarr 0.5 asks of the axes of arrays, by the images that they are levels of.
pub(crate) struct Axes<'a> {
    from: Endpoint<'a>,
    groups: HashMap<Prefix, GroupMeaning>,
}

impl<'a> Axes<'a> {
    pub(crate) fn of(from: Endpoint<'a>) -> Self {
        Self { from, groups: HashMap::new() }
    }

    /// The document of an array with the names, unless it has others.
    pub(crate) fn named(
        &mut self,
        prefix: &Prefix,
        array: &ArrayMetadata,
    ) -> Result<ArrayMetadata, Box<dyn Error + Send + Sync>> {
        if array.dimension_names().is_some() {
            return Ok(array.clone());
        }
        let copied = self.from.prefix;
        let from_the_copy =
            |above: &Prefix| zarr_store::path_below(above.as_str(), copied.as_str()).is_some();
        for above in prefix.ancestors().skip(1) {
            let Some(path) = zarr_store::path_below(prefix.as_str(), above.as_str()) else {
                continue;
            };
            let group = match self.groups.entry(above.clone()) {
                Entry::Occupied(known) => known.into_mut(),
                Entry::Vacant(unknown) => {
                    unknown.insert(match node::open(self.from.store, &above) {
                        Ok(NodeMetadata::Group(group)) => GroupMeaning::of(&group),
                        Ok(_) | Err(ArrayError::NotFound { .. }) => GroupMeaning::default(),
                        Err(error) if from_the_copy(&above) => return Err(error.into()),
                        // Who may not read what is above has no group there.
                        Err(_) => GroupMeaning::default(),
                    })
                }
            };
            let names = group.axes(path).filter(|names| names.len() == array.shape().len());
            if let Some(names) = names {
                let names: Vec<_> = names.iter().map(|name| Some(name.as_str())).collect();
                return Ok(array.with_dimension_names(&names)?);
            }
        }
        Ok(array.clone())
    }
}
