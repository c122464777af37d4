//! `zarr-kit copy`.

use serde_json::json;
use zarr_kit::array::Node;
use zarr_kit::array::copy::{CopyOptions, Endpoint, MARKER, TransferError, copy_tree};
use zarr_kit::array::store::archive_of;
use zarr_kit::metadata::{Codec, MetadataError};
use zarr_kit::{ArrayMetadata, Prefix};

use crate::args::Copy;
use crate::chunks;
use crate::error::{CliError, memory_for_chunks};
use crate::interrupt::Interrupt;
use crate::node_store::NodeStore;
use crate::print::done;
use crate::progress::Bar;
use crate::words;

/// The message when a signal ends the copy.
const INTERRUPTED: &str = "interrupted; repeat the command with --resume to continue the copy";
const INTERRUPTED_OVERWRITE: &str =
    "interrupted; repeat the command with --resume instead of --overwrite to continue the copy";

pub(super) fn run(args: &Copy) -> Result<(), CliError> {
    let source = NodeStore::open(&args.source)?;
    let codecs = match &args.codecs {
        Some(json) => Some(
            Codec::list_from_json(json.as_bytes())
                .map_err(|cause| CliError::Metadata { argument: "--codecs", cause })?,
        ),
        None => None,
    };
    // Mistakes are found before a folder is created; those in a group, before anything is in it.
    if let Node::Array(metadata) = source.node()? {
        changed(args, codecs.as_deref(), &metadata)?;
    }
    let target = NodeStore::create(&args.target)?;
    let options = CopyOptions::new()
        .memory(memory_for_chunks(args.memory))
        .resume(args.resume)
        .overwrite(args.overwrite)
        .verify(args.verify)
        .allow_loss(args.allow_loss)
        .nodes_only(args.nodes_only);
    let bar = Bar::new();
    let how = if args.overwrite { INTERRUPTED_OVERWRITE } else { INTERRUPTED };
    let interrupt = Interrupt::saying(how, &bar);
    let root = Prefix::root();
    let result = copy_tree(
        Endpoint::new(&source.store, &root),
        Endpoint::new(&target.store, &root),
        &mut |_, metadata| changed(args, codecs.as_deref(), metadata).map_err(Into::into),
        &options,
        &mut |prefix, progress| {
            let name = if prefix.is_root() { "copying" } else { prefix.as_str() };
            bar.bytes(name, progress.done, progress.total);
        },
    );
    drop(interrupt);
    drop(bar);
    if result.is_err() {
        target.abandon();
    }
    let summary = result.map_err(|error| failed(error, args, &source, &target))?;
    target.changed()?;
    let mut text = format!(
        "copied {} to {}: {}",
        source.shown,
        target.shown,
        words::counted(summary.arrays, "array")
    );
    if summary.groups > 0 {
        text.push_str(&format!(" in {}", words::counted(summary.groups, "group")));
    }
    if summary.others > 0 {
        text.push_str(&format!(", {}", words::counted(summary.others, "other object")));
    }
    text.push_str(&format!(", {}", words::bytes(summary.bytes.into())));
    if summary.left_out > 0 {
        let left_out = words::counted(summary.left_out, "other object");
        text.push_str(&format!("; {left_out} left out"));
    }
    if summary.skipped > 0 {
        let all = summary.skipped.saturating_add(summary.tasks);
        text.push_str(&format!(
            "; {} of {} had been done",
            words::count(summary.skipped),
            words::counted(all, "task")
        ));
    }
    done(args.json, text, || {
        json!({
            "source": source.shown, "target": target.shown,
            "arrays": summary.arrays, "groups": summary.groups, "bytes": summary.bytes,
            "other_objects": summary.others, "left_out": summary.left_out,
            "tasks": summary.tasks, "tasks_done_before": summary.skipped,
        })
    })
}

/// The error, with the place as the user wrote it.
fn failed(error: TransferError, args: &Copy, source: &NodeStore, target: &NodeStore) -> CliError {
    let memory = args.memory;
    // If this cannot be found out, it is not reported.
    let begun = Prefix::root()
        .key(MARKER)
        .is_ok_and(|marker| target.store.head(&marker).is_ok_and(|marker| marker.is_some()));
    // Of an archive that was not finished, nothing is there.
    let is_archive = archive_of(&args.target).is_some();
    let begun = (begun && !is_archive).then_some(args.overwrite);
    let place = match &error {
        TransferError::UnfinishedSource { .. }
        | TransferError::NoObject { .. }
        | TransferError::Source(_) => &source.shown,
        _ => &target.shown,
    };
    match error {
        // An error of this command about an array.
        TransferError::Change { path, cause } => match cause.downcast::<CliError>() {
            Ok(cause) => CliError::Within { array: path, cause },
            Err(cause) => {
                let cause = Box::new(TransferError::Change { path, cause });
                CliError::Copy { place: place.clone(), memory, begun, cause }
            }
        },
        error => CliError::Copy { place: place.clone(), memory, begun, cause: Box::new(error) },
    }
}

/// The metadata of the target array.
fn changed(
    args: &Copy,
    codecs: Option<&[Codec]>,
    metadata: &ArrayMetadata,
) -> Result<ArrayMetadata, CliError> {
    let wrong = |cause: MetadataError| CliError::Metadata {
        argument: "zarr.json would not be valid",
        cause,
    };
    let mut metadata = metadata.clone();
    if let Some(text) = &args.chunks {
        let names = metadata.dimension_names().unwrap_or_default();
        let grid = chunks::parse(text, metadata.shape(), names)
            .map_err(|cause| CliError::Chunks { text: text.clone(), cause })?;
        metadata = metadata.with_shape_and_grid(metadata.shape(), &grid).map_err(wrong)?;
    }
    if let Some(codecs) = codecs {
        metadata = metadata.with_codecs(codecs).map_err(wrong)?;
    }
    Ok(metadata)
}
