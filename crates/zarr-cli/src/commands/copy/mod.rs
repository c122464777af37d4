//! `zarr-kit copy`.

mod plan;

use std::collections::hash_map::Entry;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use serde_json::json;
use zarr_kit::array::unfinished::Unfinished;
use zarr_kit::copy::{
    CopyOptions, Endpoint, INTERMEDIATE, PartStatus, TransferError, copy_tree, document_of_copy,
    plan_tree, source_arrays,
};
use zarr_kit::metadata::{Codec, NodeMetadata};
use zarr_kit::report::ReportError;
use zarr_kit::report::advise::short;
use zarr_kit::report::readers::{Readers, portable};
use zarr_kit::report::words;
use zarr_kit::{Array, ArrayMetadata, Prefix};

use super::inspect::advise;
use crate::args::{Copy, For, Rules};
use crate::error::{CliError, memory_for_chunks};
use crate::interrupt::Interrupt;
use crate::output::print::{self, done, note};
use crate::output::progress::Bar;
use crate::stores::node_store::{NodeStore, is_in_file, refuse_place};

/// How many of the files are named that are not in the copy.
const SHOWN: usize = 10;

/// The message when a signal ends the copy.
const INTERRUPTED: &str = "interrupted; repeat the command with --resume to continue the copy";
const INTERRUPTED_PART: &str = "interrupted; repeat the command to continue this part";
const INTERRUPTED_OVERWRITE: &str =
    "interrupted; repeat the command with --resume instead of --overwrite to continue the copy";

pub(super) fn run(args: &Copy) -> Result<(), CliError> {
    let source = NodeStore::open(&args.source)?;
    let node = source.node()?;
    // Mistakes are found before a folder is created; those in a group, before anything is in it.
    let is_group = match &node {
        NodeMetadata::Array(metadata) => {
            args.rules.check_single()?;
            args.rules.apply(None, metadata, |_| Ok(None))?;
            false
        }
        NodeMetadata::Group(_) => {
            check_rules(&args.rules, &source)?;
            true
        }
    };
    if args.part.is_some() && is_in_file(&args.target) {
        let reason = "an archive is written by one process; copy into a folder or URL";
        return Err(CliError::argument("--part", &args.target, reason));
    }
    if args.rules.has_preset() && (args.resume || args.part.is_some()) {
        let message = "--preset measures, and may choose otherwise each time: to continue a copy, or \
                       to copy parts, give the --codecs that were said, or that `advise` prints";
        return Err(CliError::Usage { message: message.to_owned() });
    }
    refuse_place(&args.target)?;
    let target = NodeStore::create(&args.target)?;
    let options = CopyOptions::new()
        .memory(memory_for_chunks(args.memory))
        .resume(args.resume)
        .overwrite(args.overwrite)
        .verify(args.verify)
        .allow_loss(args.allow_loss)
        .nodes_only(args.nodes_only)
        .keep_unfit(true)
        .ome_0_5(args.ome.is_some())
        .part(args.part);
    let intermediate = args.intermediate.as_deref().map(NodeStore::create).transpose()?;
    let options = match &intermediate {
        Some(place) => options.intermediates(Arc::clone(place.store.store())),
        None => options,
    };
    let abandon = || intermediate.iter().chain([&target]).for_each(|place| place.opened.abandon());
    let root = Prefix::root();
    let mut readers = Readers::new();
    // Each array is asked for more than once, and measured once.
    let mut presets: HashMap<Prefix, Option<Vec<Codec>>> = HashMap::new();
    let mut with_shards = HashSet::new();
    let change = &mut |prefix: &Prefix, metadata: &ArrayMetadata| {
        let path = is_group.then(|| prefix.as_str());
        if args.rules.changes_shards(prefix.as_str(), metadata) {
            with_shards.insert(prefix.to_string());
        }
        let tried = |goal| match presets.entry(prefix.clone()) {
            Entry::Occupied(known) => Ok(known.get().clone()),
            Entry::Vacant(new) => Ok(new.insert(best(args, &source, prefix, goal)?).clone()),
        };
        let changed = args.rules.apply(path, metadata, tried)?;
        // Its codecs are those that readers will find.
        let mut changed = document_of_copy(metadata, changed)?;
        if args.portable {
            let refused = |cause: ReportError| CliError::Usage { message: cause.to_string() };
            changed = portable(&changed).map_err(refused)?;
        }
        readers.add(&changed);
        Ok(changed)
    };
    let ends = (Endpoint::in_hierarchy(&source.store, &root), Endpoint::new(&target.store, &root));
    if args.dry_run {
        let plans = plan_tree(ends.0, ends.1, change, &options);
        abandon();
        let plans = plans.map_err(|error| failed(error, args, &source, &target))?;
        return plan::print(&plans, args.json);
    }
    let bar = Bar::new();
    let how = match (args.part, args.overwrite) {
        (Some(_), _) => INTERRUPTED_PART,
        (None, true) => INTERRUPTED_OVERWRITE,
        (None, false) => INTERRUPTED,
    };
    let interrupt = Interrupt::saying(move |_| how, &bar);
    let result = copy_tree(ends.0, ends.1, change, &options, &mut |prefix, progress| {
        let name = if prefix.is_root() { "copying" } else { prefix.as_str() };
        if progress.done == 0
            && let Some(said) = plan::warning(progress.route, progress.times)
        {
            let array = if prefix.is_root() { &source.shown } else { name };
            bar.beside(|| note(format_args!("{array}: {said}")));
        }
        bar.bytes(name, progress.done, progress.total);
    });
    drop(interrupt);
    drop(bar);
    if result.is_err() {
        abandon();
    }
    let summary = result.map_err(|error| failed(error, args, &source, &target))?;
    // The part that completes the copy changes the target, and needs no intermediate copies any
    // more.
    if summary.part.is_none_or(|state| state == PartStatus::Completed) {
        intermediate.iter().for_each(|place| place.opened.abandon());
        target.finish()?;
    }
    let what = args.part.map_or_else(String::new, |part| format!("part {part} of "));
    let mut text = format!(
        "copied {what}{} to {}: {}",
        source.shown,
        target.shown,
        words::counted(summary.arrays, "array")
    );
    if summary.groups > 0 {
        text.push_str(&format!(" in {}", words::counted(summary.groups, "group")));
    }
    let kept = u64::try_from(summary.kept.len()).unwrap_or(u64::MAX);
    if kept > 0 {
        text.push_str(&format!(" ({} copied unchanged)", words::count(kept)));
    }
    for array in &summary.kept {
        note(format_args!("{} is copied as it is: {}", array.path, array.reason));
    }
    if summary.kept.iter().any(|array| with_shards.contains(&array.path)) {
        note(
            "the stored chunks of such arrays are shards, for which --chunks alone gives lengths; with \
             --shards, --chunks are those within the shards",
        );
    }
    if summary.hidden_chunks > 0 {
        note(format_args!(
            "{} under keys of another encoding than the document's: they read as the fill value, and \
             `zarr-kit check` says what makes them visible",
            words::counted(summary.hidden_chunks, "chunk")
        ));
    }
    if summary.ome_0_4 > 0 {
        note(format_args!(
            "{} of OME-Zarr 0.4, which programs read in Zarr version 2 only: --ome 0.5 makes them groups of 0.5",
            words::counted(summary.ome_0_4, "group")
        ));
    }
    if summary.made_region_index {
        note("region_index refers to chunks by number; it was made again for the new chunks");
    }
    if summary.others > 0 {
        text.push_str(&format!(", {}", words::counted(summary.others, "other object")));
    }
    text.push_str(&format!(", {}", words::bytes(summary.bytes.into())));
    let missing = u64::try_from(summary.untranslated.len()).unwrap_or(u64::MAX);
    for array in &summary.untranslated {
        note(format_args!("{} is not in the copy: {}", array.path, array.reason));
    }
    let without_key = &summary.without_key;
    for name in without_key.iter().take(SHOWN) {
        let reason = "no key can have this name, or it is no regular file";
        note(format_args!("{name} is not in the copy: {reason}"));
    }
    if let Some(more) = without_key.len().checked_sub(SHOWN).filter(|more| *more > 0) {
        let more = words::counted(more, "more file");
        note(format_args!("nor are {more} of this kind"));
    }
    if summary.left_out > 0 {
        let left_out = words::counted(summary.left_out, "other object");
        text.push_str(&format!("; {left_out} left out"));
    }
    if summary.skipped > 0 {
        let all = summary.skipped + summary.tasks;
        text.push_str(&format!(
            "; {} of {} had been done",
            words::count(summary.skipped),
            words::counted(all, "task")
        ));
    }
    if summary.intermediates > 0 {
        text.push_str("; in two passes");
    }
    if let Some(state) = summary.part {
        let did = summary.arrays.max(summary.tasks).max(summary.skipped).max(summary.others);
        text = match state {
            // It was done before, or there are more parts than chunks.
            PartStatus::Waiting if did == 0 => {
                format!("{what}{} has nothing left to copy; other parts are not done", source.shown)
            }
            PartStatus::Waiting => format!("{text}; other parts are not done"),
            PartStatus::Completed => format!("{text}; all parts are done"),
            _ => format!("{}: all parts were done before", target.shown),
        };
    }
    done(args.json, text, || {
        json!({
            "part": args.part.map(|part| part.to_string()),
            "complete": summary.part != Some(PartStatus::Waiting),
            "source": source.shown, "target": target.shown,
            "arrays": summary.arrays, "groups": summary.groups, "bytes": summary.bytes,
            "other_objects": summary.others, "left_out": summary.left_out,
            "without_key": without_key,
            "read_by": readers.json(),
            "intermediates": summary.intermediates,
            "tasks": summary.tasks, "tasks_done_before": summary.skipped,
            "kept": summary.kept.iter().map(|array| {
                json!({"array": array.path, "reason": array.reason})
            }).collect::<Vec<_>>(),
            "not_copied": summary.untranslated.iter().map(|array| {
                json!({"array": array.path, "reason": array.reason})
            }).collect::<Vec<_>>(),
        })
    })?;
    print::readers(&readers, args.json);
    match missing {
        0 => Ok(()),
        // Whoever removes the source after a copy must not lose them.
        _ => Err(CliError::Incomplete {
            place: source.shown,
            arrays: words::counted(missing, "array"),
        }),
    }
}

/// The best codecs for an array of the source, which are said.
fn best(
    args: &Copy,
    source: &NodeStore,
    prefix: &Prefix,
    goal: For,
) -> Result<Option<Vec<Codec>>, CliError> {
    let array = Array::open(source.store.clone(), prefix).map_err(|cause| source.failed(cause))?;
    let codecs = advise::best(&array, goal, args.portable);
    let codecs = codecs.map_err(|cause| source.not_reported(cause))?;
    if let Some(codecs) = &codecs {
        let name = if prefix.is_root() { &source.shown } else { prefix.as_str() };
        note(format_args!("{name}: --codecs {}", short(codecs, array.data_type())));
    }
    Ok(codecs)
}

/// Refuses rules that are for no array of a group, which most likely are mistakes.
fn check_rules(rules: &Rules, source: &NodeStore) -> Result<(), CliError> {
    let mut unused = rules.unused();
    if unused.is_empty() {
        return Ok(());
    }
    let root = Prefix::root();
    for found in source_arrays(Endpoint::in_hierarchy(&source.store, &root)) {
        // The copy itself reports unreadable nodes.
        let Ok((prefix, metadata)) = found else { return Ok(()) };
        unused.strike(prefix.as_str(), &metadata);
    }
    unused.check()
}

/// The error, with the place as the user wrote it.
fn failed(error: TransferError, args: &Copy, source: &NodeStore, target: &NodeStore) -> CliError {
    let memory = args.memory;
    // If this cannot be found out, it is not reported.
    let begun = Unfinished::at(&*target.store, &Prefix::root()).is_ok_and(|found| found.is_some());
    // Of an archive that was not finished, nothing is there.
    let begun = (begun && !is_in_file(&args.target)).then_some(args.overwrite);
    let place = match &error {
        TransferError::UnfinishedSource { .. }
        | TransferError::NoObject { .. }
        | TransferError::Source(_) => &source.shown,
        _ => &target.shown,
    };
    match error {
        TransferError::Overlap { path } if path.contains(INTERMEDIATE) => {
            let place = args.intermediate.as_deref().unwrap_or(&args.target);
            let reason = "it lies in the source; choose another place";
            CliError::argument("--intermediate", place, reason)
        }
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
