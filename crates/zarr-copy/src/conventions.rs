//! What conventions say of groups that are copied.

use std::collections::HashMap;

use zarr_array::{ArrayError, node};
use zarr_cf::{GroupMeaning, REGION_INDEX};
use zarr_metadata::{ArrayMetadata, Codec, GroupMetadata, MetadataError, NodeMetadata};
use zarr_store::Prefix;

use crate::array_copy::Change;
use crate::endpoint::Endpoint;
use crate::error::{TransferError, source};
use crate::{CopyOptions, CopySummary};

/// The index of VCF-Zarr, if it is in the source and the copy has other chunks of variants: it is left out,
/// and made again of the copied arrays.
pub(crate) fn stale_index(
    from: Endpoint<'_>,
    change: &mut Change<'_>,
) -> Result<Option<Prefix>, TransferError> {
    let Ok(NodeMetadata::Group(group)) = node::open(from.store, from.prefix) else {
        return Ok(None);
    };
    if !GroupMeaning::of(&group).region_index() {
        return Ok(None);
    }
    let (index, variants) =
        (from.prefix.join(REGION_INDEX)?, from.prefix.join("variant_position")?);
    let array = |prefix: &Prefix| match node::open(from.store, prefix) {
        Ok(NodeMetadata::Array(array)) => Ok(Some(array)),
        Ok(_) | Err(ArrayError::NotFound { .. } | ArrayError::Metadata { .. }) => Ok(None),
        Err(error) => Err(source(error)),
    };
    let (Some(_), Some(variants_now)) = (array(&index)?, array(&variants)?) else {
        return Ok(None);
    };
    // The copy itself says what is wrong with the change.
    let Ok(changed) = change(&variants, &variants_now) else { return Ok(None) };
    let inner = |array: &ArrayMetadata| match array.codecs().first() {
        Some(Codec::ShardingIndexed(shards)) => Some(shards.chunk_shape.clone()),
        _ => None,
    };
    let is_same = changed.chunk_grid() == variants_now.chunk_grid()
        && inner(&changed) == inner(&variants_now);
    Ok(Some(index).filter(|_| !is_same))
}

impl CopySummary {
    /// Counts a group whose attributes are not those of its version.
    pub(crate) fn add_ome(&mut self, group: &GroupMetadata, options: &CopyOptions) {
        let is_old = group.is_version_2() && !options.ome_0_5;
        if is_old && GroupMeaning::of(group).ome_0_5().is_some() {
            self.ome_0_4 = self.ome_0_4.saturating_add(1);
        }
    }
}

/// The document of a group of OME-Zarr 0.4 as one of 0.5; `None` for other groups.
pub(crate) fn ome_0_5(group: &GroupMetadata) -> Result<Option<GroupMetadata>, MetadataError> {
    let Some(changes) = GroupMeaning::of(group).ome_0_5() else { return Ok(None) };
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
    ) -> Result<ArrayMetadata, MetadataError> {
        if array.dimension_names().is_some() {
            return Ok(array.clone());
        }
        for above in prefix.ancestors().skip(1) {
            let Some(path) = zarr_store::path_below(prefix.as_str(), above.as_str()) else {
                continue;
            };
            let from = self.from;
            let group = self.groups.entry(above.clone()).or_insert_with(|| {
                match node::open(from.store, &above) {
                    Ok(NodeMetadata::Group(group)) => GroupMeaning::of(&group),
                    _ => GroupMeaning::default(),
                }
            });
            let names = group.axes(path).filter(|names| names.len() == array.shape().len());
            if let Some(names) = names {
                let names: Vec<_> = names.iter().map(|name| Some(name.as_str())).collect();
                return array.with_dimension_names(&names);
            }
        }
        Ok(array.clone())
    }
}
