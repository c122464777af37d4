//! `zarr-kit copy`.

use std::fs;
use std::ops::ControlFlow;
use std::path::Path;

use serde_json::json;
use zarr_kit::array::copy::{CopyOptions, copy_tree};
use zarr_kit::array::store::{LeftoverKind, LocalStore};
use zarr_kit::array::{Node, open_node};
use zarr_kit::metadata::{Codec, MetadataError};
use zarr_kit::{ArrayError, ArrayMetadata, Group, Prefix};

use crate::args::Copy;
use crate::chunks;
use crate::error::CliError;
use crate::place::Place;
use crate::print::done;
use crate::progress::Bar;
use crate::words;

/// What the process and the compressors take for themselves.
const ITSELF: u64 = 8 << 20;

pub(super) fn run(args: &Copy) -> Result<(), CliError> {
    let source = Place::open(&args.source)?;
    let codecs = match &args.codecs {
        Some(json) => Some(
            Codec::list_from_json(json.as_bytes())
                .map_err(|source| CliError::Metadata { argument: "--codecs", source })?,
        ),
        None => None,
    };
    // A mistake is found before a folder is made.
    match source.node()? {
        Node::Array(metadata) => {
            changed(args, codecs.as_deref(), &metadata)?;
        }
        Node::Group(_) if args.chunks.is_some() || codecs.is_some() => {
            changed_below(args, codecs.as_deref(), &source)?;
        }
        Node::Group(_) => {}
    }
    apart(args)?;
    let target = Place::create(&args.target)?;
    let options = CopyOptions::default()
        .with_memory(args.memory.saturating_sub(ITSELF.min(args.memory / 8)))
        .with_resume(args.resume)
        .with_overwrite(args.overwrite)
        .with_verify(args.verify);
    let bar = Bar::new();
    let root = Prefix::root();
    let mut mistake = None;
    let result = copy_tree(
        (&source.store, &root),
        (&target.store, &root),
        &mut |prefix, metadata| {
            changed(args, codecs.as_deref(), metadata).map_err(|error| {
                mistake.get_or_insert(error);
                ArrayError::NotFound { path: prefix.to_string() }
            })
        },
        &options,
        &mut |prefix, progress| {
            let name = if prefix.is_root() { "copying" } else { prefix.as_str() };
            bar.bytes(name, progress.done, progress.total);
        },
    );
    drop(bar);
    if result.is_err() {
        target.abandon();
    }
    if let Some(error) = mistake {
        return Err(error);
    }
    let summary = result.map_err(|source| CliError::Copy {
        place: target.shown.clone(),
        source: Box::new(source),
    })?;
    if args.resume {
        remove_temporaries(&target)?;
    }
    let document = |finished_before: bool| {
        json!({
            "source": source.shown, "target": target.shown,
            "arrays": summary.arrays, "groups": summary.groups, "bytes": summary.bytes,
            "tasks": summary.tasks, "tasks_done_before": summary.skipped,
            "finished_before": finished_before,
        })
    };
    if summary.groups == 0 && summary.tasks == 0 && summary.skipped == 0 && args.resume {
        let message = format!("{}: the copy had been finished", target.shown);
        return done(args.json, message, || document(true));
    }
    let mut text = format!(
        "copied {} to {}: {}",
        source.shown,
        target.shown,
        words::counted(summary.arrays, "array")
    );
    if summary.groups > 0 {
        text.push_str(&format!(" in {}", words::counted(summary.groups, "group")));
    }
    text.push_str(&format!(", {}", words::bytes(summary.bytes.into())));
    if summary.skipped > 0 {
        let all = summary.skipped.saturating_add(summary.tasks);
        text.push_str(&format!(
            "; {} of {} had been done",
            words::count(summary.skipped),
            words::counted(all, "task")
        ));
    }
    done(args.json, text, || document(false))
}

/// Removes the files that the killed copy was writing, so that the target is as if nothing had
/// happened. Nobody else writes to a target that is being copied into.
fn remove_temporaries(target: &Place) -> Result<(), CliError> {
    let Some(folder) = &target.folder else { return Ok(()) };
    let mut left = Vec::new();
    LocalStore::open(folder)?.leftovers(&Prefix::root(), &mut |leftover| {
        if leftover.kind == LeftoverKind::Temporary && !leftover.in_use {
            left.push(leftover.path);
        }
        ControlFlow::Continue(())
    })?;
    for path in left {
        fs::remove_file(&path).map_err(|source| CliError::File { path, source })?;
    }
    Ok(())
}

/// The metadata of the target of one array.
fn changed(
    args: &Copy,
    codecs: Option<&[Codec]>,
    metadata: &ArrayMetadata,
) -> Result<ArrayMetadata, CliError> {
    let wrong = |source: MetadataError| CliError::Metadata {
        argument: "zarr.json would not be valid",
        source,
    };
    let mut metadata = metadata.clone();
    if let Some(text) = &args.chunks {
        let names = metadata.dimension_names().unwrap_or_default();
        let grid = chunks::parse(text, metadata.shape(), names)
            .map_err(|source| CliError::Chunks { text: text.clone(), source })?;
        metadata = metadata.with_shape_and_grid(metadata.shape(), &grid).map_err(wrong)?;
    }
    if let Some(codecs) = codecs {
        metadata = metadata.with_codecs(codecs).map_err(wrong)?;
    }
    Ok(metadata)
}

/// Looks for mistakes in all arrays of a group.
fn changed_below(args: &Copy, codecs: Option<&[Codec]>, source: &Place) -> Result<(), CliError> {
    let failed = |error| source.failed(error);
    let mut waiting = vec![Prefix::root()];
    while let Some(prefix) = waiting.pop() {
        let group = Group::open(source.store.clone(), &prefix).map_err(failed)?;
        for name in group.children().map_err(failed)? {
            let path = if prefix.is_root() { name } else { format!("{prefix}/{name}") };
            let key = |error| CliError::Key { place: source.shown.clone(), source: error };
            let child = Prefix::new(&path).map_err(key)?;
            match open_node(&source.store, &child).map_err(failed)? {
                Node::Array(metadata) => {
                    let within = |error| CliError::Within { array: path, source: Box::new(error) };
                    changed(args, codecs, &metadata).map_err(within)?;
                }
                Node::Group(_) => waiting.push(child),
            }
        }
    }
    Ok(())
}

/// A copy into itself would never end, or remove its own source.
fn apart(args: &Copy) -> Result<(), CliError> {
    let real = |path: &str| {
        // The target may not be there yet; then its parents say where it will be.
        let path = Path::new(path);
        path.ancestors().find_map(|parent| {
            let rest = path.strip_prefix(parent).ok()?;
            let parent = if parent == Path::new("") { Path::new(".") } else { parent };
            Some(std::fs::canonicalize(parent).ok()?.join(rest))
        })
    };
    if args.source.contains("://") || args.target.contains("://") {
        return Ok(());
    }
    if let (Some(source), Some(target)) = (real(&args.source), real(&args.target))
        && (target.starts_with(&source) || source.starts_with(&target))
    {
        let reason = "source and target lie in each other";
        return Err(CliError::argument("target", &args.target, reason));
    }
    Ok(())
}
