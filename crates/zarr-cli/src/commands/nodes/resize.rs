//! `zarr-kit resize`.

use serde_json::json;
use zarr_kit::ArrayMetadata;
use zarr_kit::array::store::UpdatePolicy;
use zarr_kit::grid::Run;
use zarr_kit::metadata::{ChunkEdges, EdgeRun};
use zarr_kit::report::words;

use super::create::numbers;
use crate::args::Resize;
use crate::error::CliError;
use crate::notation::chunks::chunk_counts;
use crate::notation::chunks::{self, ChunksError};
use crate::output::print::done;
use crate::stores::node_store::NodeStore;

pub(crate) fn run(args: &Resize) -> Result<(), CliError> {
    let place = NodeStore::to_change(&args.array)?;
    let array = place.array()?.with_update_policy(policy(args.sole_writer));
    let shape = numbers("--shape", &args.shape)?;
    if shape.len() != array.shape().len() {
        let reason = format!("the array has {}", words::axes(array.shape().len()));
        return Err(CliError::argument("--shape", &args.shape, reason));
    }
    let mut to = zarr_kit::array::Resize::to(shape).keep(args.keep);
    if let Some(text) = &args.edges {
        let edges = edges(text, array.metadata())
            .map_err(|cause| CliError::argument("--edges", text, cause))?;
        to = edges.into_iter().enumerate().fold(to, |to, (axis, edges)| to.edges(axis, edges));
    }
    let before = array.shape().to_vec();
    let array = array.resize(to).map_err(|cause| place.failed(cause))?;
    place.finish()?;
    let (from, to) = (words::shape(&before), words::shape(array.shape()));
    done(args.json, format_args!("resized {}: {from} to {to}", place.shown), || {
        json!({
            "array": place.shown, "from": before, "to": array.shape(),
            "chunks": chunk_counts(array.grid()),
        })
    })
}

/// Parses `time=30|31`: one entry per axis that gets new chunks, or one entry per axis without
/// names.
fn edges(text: &str, metadata: &ArrayMetadata) -> Result<Vec<Vec<Run>>, ChunksError> {
    let names = metadata.dimension_names().unwrap_or_default();
    let axes = chunks::by_axis(text, metadata.shape().len(), names, true)?.into_iter();
    Ok(axes.map(|edges| edges.map_or_else(Vec::new, runs)).collect())
}

/// The runs of new chunks.
pub(crate) fn runs(edges: ChunkEdges) -> Vec<Run> {
    match edges {
        ChunkEdges::Regular(edge) => vec![Run { edge, count: 1 }],
        ChunkEdges::Runs(runs) => {
            runs.iter().map(|run: &EdgeRun| Run { edge: run.edge(), count: run.count() }).collect()
        }
    }
}

/// Whether to refuse changes of several objects if no lock excludes other processes.
pub(crate) fn policy(sole_writer: bool) -> UpdatePolicy {
    if sole_writer { UpdatePolicy::AcceptSingleProcess } else { UpdatePolicy::RequireExclusion }
}
