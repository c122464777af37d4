//! Reads and checks the document of a virtual join.

use std::collections::BTreeMap;

use zarr_array::grid_of;
use zarr_array::store::Prefix;
use zarr_grid::Grid;
use zarr_metadata::{ArrayMetadata, ChunkGrid, NodeMetadata};

use super::json::{Object, Value};
use super::member_reference::{LOCATION, is_location};
use super::time::is_time;
use super::{Document, JoinedArray, MemberReference, Missing, Node};
use crate::error::VirtualJoinError;

/// The version of documents that are read and written.
pub(super) const VERSION: u64 = 1;

impl Document {
    /// Reads a document; `place` is its path or URL, for messages.
    ///
    /// # Errors
    /// [`VirtualJoinError::Document`] with the JSON path of the fault, and the allowed values.
    pub fn from_json(place: &str, json: &[u8]) -> Result<Self, VirtualJoinError> {
        let mut document = Value::parse(place, json)?.object()?;
        let version = document.need("zarr_kit_join")?;
        // First: another version may have other members.
        if version.integer().ok() != Some(VERSION) {
            return Err(version.expected("1, the only version that is read"));
        }
        let listed = document.need("nodes")?;
        document.end()?;
        let mut nodes = BTreeMap::new();
        for (name, value) in listed.clone().object()?.into_members() {
            let path = Prefix::new(&name).map_err(|error| value.wrong(error.to_string()))?;
            nodes.insert(path.as_str().to_owned(), node(value)?);
        }
        if !nodes.contains_key("") {
            return Err(listed.wrong("there is no node \"\", the root"));
        }
        for path in nodes.keys() {
            let parent = Prefix::new(path).ok().and_then(|path| path.parent());
            let Some(parent) = parent else { continue };
            if !matches!(nodes.get(parent.as_str()), Some(Node::Group(_))) {
                let reason = format!("the node {path:?} has no group above it");
                return Err(listed.wrong(reason));
            }
        }
        Ok(Self { nodes })
    }
}

fn node(value: Value<'_>) -> Result<Node, VirtualJoinError> {
    let mut node = value.object()?;
    let metadata = node.need("metadata")?;
    let parsed = NodeMetadata::from_json(metadata.text().as_bytes());
    match parsed.map_err(|error| metadata.wrong(error.to_string()))? {
        NodeMetadata::Group(group) => {
            node.end()?;
            Ok(Node::Group(group))
        }
        NodeMetadata::Array(array) => {
            joined_array(node, array).map(|array| Node::Array(Box::new(array)))
        }
    }
}

fn joined_array(
    mut node: Object<'_>,
    metadata: ArrayMetadata,
) -> Result<JoinedArray, VirtualJoinError> {
    let shapes = node.need("member_shapes")?;
    let grid = member_grid(&shapes, metadata.shape())?;
    let new_axis = node.take("new_axis").map(|value| {
        let axis = usize::try_from(value.integer()?).ok();
        let axis = axis.and_then(|axis| Some((axis, grid.axes().get(axis)?)));
        let (axis, members) = axis.ok_or_else(|| value.expected("an axis of the array"))?;
        match members.occupied() == members.extent() {
            true => Ok(axis),
            false => Err(value.wrong("members are longer than 1 on this axis")),
        }
    });
    let missing = node.take("missing").map(|value| match value.string()?.as_str() {
        "error" => Ok(Missing::Error),
        "fill" => Ok(Missing::Fill),
        _ => Err(value.expected("\"error\" or \"fill\"")),
    });
    let members = node.need("members")?;
    node.end()?;
    let listed = members.clone().list()?;
    let count = grid.occupied_chunks();
    if u64::try_from(listed.len()).ok() != count {
        let count = count.map_or_else(|| "more than 2^64".to_owned(), |count| count.to_string());
        let found = listed.len();
        return Err(members.wrong(format!("{found} members, but \"member_shapes\" has {count}")));
    }
    members_of_whole_chunks(&grid, &metadata).map_err(|reason| shapes.wrong(reason))?;
    Ok(JoinedArray {
        metadata,
        grid,
        new_axis: new_axis.transpose()?,
        missing: missing.transpose()?.unwrap_or_default(),
        members: listed.into_iter().map(member).collect::<Result<_, _>>()?,
    })
}

/// Each member ends where a chunk of the array ends: a chunk has one member.
fn members_of_whole_chunks(members: &Grid, metadata: &ArrayMetadata) -> Result<(), String> {
    let chunks =
        grid_of(metadata.shape(), metadata.chunk_grid()).map_err(|error| error.to_string())?;
    for (number, (members, chunks)) in members.axes().iter().zip(chunks.axes()).enumerate() {
        if !members.is_union_of(chunks).map_err(|error| error.to_string())? {
            return Err(format!("axis {number}: a member ends within a chunk of the chunk_grid"));
        }
    }
    Ok(())
}

/// The grid with one member per chunk, in the notation of `rectilinear` grids.
fn member_grid(shapes: &Value<'_>, shape: &[u64]) -> Result<Grid, VirtualJoinError> {
    let text = format!(
        r#"{{"name": "rectilinear", "configuration": {{"kind": "inline", "chunk_shapes": {}}}}}"#,
        shapes.text()
    );
    // Its paths belong to a document that does not exist.
    let grid = ChunkGrid::from_json(text.as_bytes()).map_err(|_| {
        shapes.wrong(
            "expected the lengths of the members for each axis, each at least 1, such as \
             [[31, 28], 100]",
        )
    })?;
    let grid = grid_of(shape, &grid).map_err(|error| shapes.wrong(error.to_string()))?;
    for (number, axis) in grid.axes().iter().enumerate() {
        if axis.declared_end() != axis.extent() {
            let (sum, extent) = (axis.declared_end(), axis.extent());
            let reason = format!(
                "axis {number}: the lengths of the members sum to {sum}, but the array has length {extent}"
            );
            return Err(shapes.wrong(reason));
        }
    }
    Ok(grid)
}

fn member(value: Value<'_>) -> Result<Option<MemberReference>, VirtualJoinError> {
    if value.text() == "null" {
        return Ok(None);
    }
    let mut member = value.object()?;
    let location = member.need("location")?;
    let text = location.string()?;
    if !is_location(&text) {
        return Err(location.expected(LOCATION));
    }
    let path = member
        .take("path")
        .map(|value| Prefix::new(value.string()?).map_err(|error| value.wrong(error.to_string())));
    let length = member.take("length").map(|value| value.integer());
    let etag = member.take("etag").map(|value| value.string());
    let last_modified = member.take("last_modified").map(time);
    let chunks_last_updated_at = member.take("chunks_last_updated_at").map(time);
    member.end()?;
    Ok(Some(MemberReference {
        location: text,
        path: path.transpose()?.unwrap_or_else(Prefix::root),
        length: length.transpose()?,
        etag: etag.transpose()?,
        last_modified: last_modified.transpose()?,
        chunks_last_updated_at: chunks_last_updated_at.transpose()?,
    }))
}

/// A time, as it is written.
fn time(value: Value<'_>) -> Result<String, VirtualJoinError> {
    match is_time(value.text()) {
        true => Ok(value.text().to_owned()),
        false => {
            Err(value.expected("seconds since 1970 with up to nine decimals, such as 1732291200.5"))
        }
    }
}
