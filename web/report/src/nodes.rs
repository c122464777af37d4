//! The nodes of a store, and the chunks of a selection: what a page offers to choose from.

use serde_json::{Value, json};
use wasm_bindgen::prelude::{JsError, wasm_bindgen};
use zarr_array::node::DOCUMENTS;
use zarr_array::store::{Links, Prefix};
use zarr_array::{ChunkLayout, Selection, open_node};
use zarr_metadata::NodeMetadata;
use zarr_report::words;
use zarr_wasm::{Fetched, shown};

use crate::document;

/// The nodes of a store by their paths, as JSON, at most `most`. They come from the keys, if they are
/// told, else from the consolidated metadata of the root; without either, the root is the only one.
///
/// # Errors
/// If keys are not told, and there is no node at the root.
#[wasm_bindgen]
pub fn nodes(fetched: &Fetched, most: usize) -> Result<String, JsError> {
    let (store, root) = (fetched.store(), Prefix::root());
    let mut nodes = Vec::new();
    let mut total = 1;
    let listed: Result<Vec<_>, _> = store.list(&root, Links::Follow).collect();
    if let Ok(keys) = listed {
        let documents = keys.iter().map(|key| key.as_str()).filter_map(|key| {
            let (path, name) = key.rsplit_once('/').unwrap_or(("", key));
            DOCUMENTS.contains(&name).then_some(path)
        });
        let mut paths: Vec<&str> = documents.collect();
        paths.sort_unstable();
        paths.dedup();
        total = paths.len();
        // All are asked for before an error counts.
        for path in paths.into_iter().take(most) {
            let node = Prefix::new(path)
                .map_err(|error| error.to_string())
                .and_then(|prefix| open_node(&store, &prefix).map_err(|error| error.to_string()));
            nodes.push(described(path, node));
        }
    } else {
        let node = open_node(&store, &root).map_err(shown)?;
        if let NodeMetadata::Group(group) = &node
            && let Some(consolidated) = group.consolidated_metadata()
        {
            total += consolidated.paths().filter(|path| !path.is_empty()).count();
            for (path, below) in consolidated.nodes().take(most) {
                let below = match (below, Prefix::new(path)) {
                    (_, Err(error)) => Err(error.to_string()),
                    // For some nodes of version 2, their own documents count.
                    (Err(_), Ok(prefix)) => {
                        open_node(&store, &prefix).map_err(|error| error.to_string())
                    }
                    (Ok(below), _) => Ok(below),
                };
                if !path.is_empty() {
                    nodes.push(described(path, below));
                }
            }
        }
        nodes.insert(0, described("", Ok(node)));
    }
    Ok(json!({"nodes": nodes, "total": total}).to_string())
}

fn described(path: &str, node: Result<NodeMetadata, String>) -> Value {
    match node {
        Ok(NodeMetadata::Array(array)) => json!({
            "path": path, "node_type": "array",
            "about": format!("{} {}", array.data_type(), words::shape(array.shape())),
        }),
        Ok(NodeMetadata::Group(_)) => json!({"path": path, "node_type": "group", "about": ""}),
        Err(error) => json!({"path": path, "node_type": null, "about": error}),
    }
}

/// The number of chunks that a selection in numpy's notation touches, and the key, start and stop of
/// the first of them, at most `most`, as JSON.
///
/// # Errors
/// If there is no array with a chunk grid, or it has no such selection.
#[wasm_bindgen]
pub fn chunks(fetched: &Fetched, path: &str, region: &str, most: u32) -> Result<String, JsError> {
    let prefix = Prefix::new(path).map_err(shown)?;
    let metadata = document(fetched, &prefix)?;
    let layout = ChunkLayout::new(&prefix, &metadata).map_err(shown)?;
    let selection = Selection::parse(region, metadata.shape()).map_err(shown)?;
    let plan = layout.plan(&selection).map_err(shown)?;
    let mut chunks = Vec::new();
    for chunk in plan.chunks(0..u64::from(most)).map_err(shown)? {
        let region = layout.chunk_region(&chunk.chunk).map_err(shown)?;
        let ends = region.iter().map(|range| [range.start, range.end]).collect::<Vec<_>>();
        chunks.push(
            json!({"key": layout.key(&chunk.chunk).map_err(shown)?.as_str(), "region": ends}),
        );
    }
    Ok(json!({"total": plan.len(), "chunks": chunks}).to_string())
}
