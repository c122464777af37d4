//! `zarr-kit check`.

use serde_json::json;
use zarr_kit::array::store::{Links, LocalStore};
use zarr_kit::array::unfinished::REARRANGE_MARKER;
use zarr_kit::array::{Part, open_node};
use zarr_kit::check::{self, CheckOptions, CheckProgress, CheckWatch, Finding};
use zarr_kit::join::rearrange::{Repair, repair as repair_array, repair_group};
use zarr_kit::metadata::{NodeMetadata, Printable};
use zarr_kit::report::readers::Readers;
use zarr_kit::report::{words, wrapped};
use zarr_kit::{Array, ArrayError, Group, Prefix};

use super::findings::Places;
use super::next_step::{CheckedPlace, next_step, region_in_words};
use crate::args::Check;
use crate::commands::nodes::resize::policy;
use crate::error::CliError;
use crate::error::nearest;
use crate::output::print::{self, Out, columns, note};
use crate::output::progress::Bar;
use crate::stores::node_store::{Around, NodeStore};

/// Exit status if `check` found an error or a warning; notes need no action.
const FOUND: u8 = 1;

/// The most ids and next steps that are printed.
const LINKS: usize = 3;

pub(crate) fn run(args: &Check) -> Result<u8, CliError> {
    if let Some(id) = &args.explain {
        return explain(id);
    }
    let place = NodeStore::open(args.path.as_deref().unwrap_or_default())?;
    let mut out = Out::stdout();
    let (settled, removed) = match args.repair {
        true => (settle(&place, args, &mut out)?, repair(&place, args.json, &mut out)?),
        false => (Vec::new(), Vec::new()),
    };
    let mut failed = None;
    let mut found: Vec<Finding> = Vec::new();
    // Each id, and the next step after its first finding.
    let mut ids: Vec<(&'static str, Option<String>)> = Vec::new();
    let options = CheckOptions::new()
        .data(args.data)
        .checksums(true)
        .complete(args.complete)
        .memory(args.memory);
    let mut options = options.part(args.part);
    for text in &args.ignore {
        options = options.ignore(text).map_err(|id| unknown("--ignore", &id))?;
    }
    let is_first = args.part.is_none_or(Part::is_first);
    let bar = Bar::new();
    let places = Places::new(&place);
    let checked = CheckedPlace {
        url: place.opened.address(),
        path: "",
        folder: place.opened.folder(),
        is_virtual_join: place.opened.is_virtual_join(),
        is_in_file: place.opened.is_in_file(),
    };
    let mut report = |finding: Finding| {
        if !ids.iter().any(|(id, _)| *id == finding.id()) {
            ids.push((finding.id(), next_step(&finding, &checked)));
        }
        if args.json {
            found.push(finding);
        } else if failed.is_none() {
            // A line and the bar may share a terminal.
            let now = bar.is_shown();
            let print = || {
                places.line(&mut out, &finding)?;
                if now { out.flush() } else { Ok(()) }
            };
            failed = bar.beside(print).err();
        }
    };
    let root = Prefix::root();
    let told = |array: &Prefix, at: CheckProgress| {
        let name = if array.is_root() { "checking" } else { array.as_str() };
        bar.chunks(name, at.done, at.total, at.bytes);
    };
    let mut readers = None;
    let watch = CheckWatch {
        progress: (args.data && bar.is_shown()).then_some(&told),
        arrays: Some(&mut |metadata| Readers::add_to(&mut readers, metadata)),
    };
    let summary = check::check_watched(&place.store, &root, &options, &mut report, watch);
    let mut summary = summary.map_err(|cause| place.failed(cause))?;
    if let Some(folder) = place.opened.folder().filter(|_| is_first) {
        let store = LocalStore::open(folder).map_err(|cause| place.failed(cause))?;
        let mut more = 0;
        check::leftovers(&store, &mut |finding| {
            more += 1;
            report(finding);
        })
        .map_err(|cause| place.failed(cause))?;
        summary.warnings += more;
    }
    drop(bar);
    print::unless_closed(failed.map_or(Ok(()), Err))?;
    if args.json {
        let findings: Vec<_> = found
            .iter()
            .map(|finding| {
                json!({
                    "id": finding.id(), "severity": finding.severity().to_string(),
                    "key": finding.key(), "path": finding.path(), "message": finding.message(),
                    "rule": finding.rule().text(),
                    "region": region_in_words(finding), "labels": places.labels(finding),
                    "next": next_step(finding, &checked),
                    "help": format!("zarr-kit check --explain {}", finding.id()),
                })
            })
            .collect();
        print::unless_closed(out.json(&json!({
            "part": args.part.map(|part| part.to_string()),
            "findings": findings,
            "groups": summary.groups, "arrays": summary.arrays, "chunks": summary.chunks,
            "bytes_read": summary.bytes, "errors": summary.errors, "warnings": summary.warnings,
            "notes": summary.notes, "removed": removed,
            "settled": settled.iter().map(|Repaired { path, is_group, how }| {
                let kind = if *is_group { "group" } else { "array" };
                json!({kind: path, "rearrangement": how})
            }).collect::<Vec<_>>(),
        })))?;
    }
    print::unless_closed(out.finish())?;
    if !args.json {
        let read = match args.data {
            true => format!(" ({} read)", words::bytes(summary.bytes.into())),
            false => String::new(),
        };
        let notes = match summary.notes {
            0 => String::new(),
            notes => format!(", {}", words::counted(notes, "note")),
        };
        let part = args.part.map_or_else(String::new, |part| format!("part {part}: "));
        note(format_args!(
            "checked {part}{}, {}, {}{read}: {}, {}{notes}",
            words::counted(summary.groups, "group"),
            words::counted(summary.arrays, "array"),
            words::counted(summary.chunks, "stored chunk"),
            words::counted(summary.errors, "error"),
            words::counted(summary.warnings, "warning"),
        ));
        let steps = ids.iter().filter_map(|(id, next)| Some((id, next.as_ref()?)));
        steps.take(LINKS).for_each(|(id, next)| note(format_args!("next, for {id}: {next}")));
        match ids.len() {
            0 => {}
            1..=LINKS => {
                let ids = ids.iter().map(|(id, _)| *id).collect::<Vec<_>>().join(", ");
                note(format_args!("`zarr-kit check --explain ID` explains {ids}"));
            }
            _ => note("`zarr-kit check --explain ID` explains each [id]"),
        }
        if !place.opened.is_virtual_join() {
            readers.iter().for_each(|readers| print::readers(readers, false));
        }
    }
    let any = summary.errors > 0 || summary.warnings > 0;
    Ok(if any { FOUND } else { 0 })
}

/// A rearrangement that was undone or completed.
struct Repaired {
    path: String,
    is_group: bool,
    how: &'static str,
}

/// Undoes or completes rearrangements that were interrupted.
fn settle(place: &NodeStore, args: &Check, out: &mut Out) -> Result<Vec<Repaired>, CliError> {
    let failed = |cause: ArrayError| place.failed(cause);
    let mut paths = Vec::new();
    for key in place.store.list(&Prefix::root(), Links::AsObjects) {
        let key = key.map_err(|cause| place.failed(cause))?;
        if key.name() == REARRANGE_MARKER {
            let path = key.as_str().strip_suffix(REARRANGE_MARKER).unwrap_or_default();
            paths.push(path.trim_end_matches('/').to_owned());
        }
    }
    let mut settled = Vec::new();
    if paths.is_empty() {
        return Ok(settled);
    }
    // The groups around it follow each step.
    // The markers of a rearranged group are above its arrays.
    let Around { top, prefix: root } = place.hierarchy()?;
    let store = &top.store;
    // Groups come before their arrays, which are repaired with them.
    paths.sort_unstable();
    for path in paths {
        let prefix = match path.as_str() {
            "" => root.clone(),
            path => root.join(path).map_err(|cause| failed(cause.into()))?,
        };
        let node = open_node(store, &prefix);
        let is_group = matches!(node, Ok(NodeMetadata::Group(_)));
        let policy = policy(args.sole_writer);
        let done = match is_group {
            true => Group::open(store.clone(), &prefix)
                .and_then(|group| repair_group(&group.with_update_policy(policy))),
            false => Array::open(store.clone(), &prefix)
                .and_then(|array| repair_array(&array.with_update_policy(policy))),
        };
        let how = match done {
            Ok(Some(Repair::Undone)) => "undone",
            Ok(Some(_)) => "completed",
            Ok(None) => continue,
            // The check finds that it is still there.
            Err(cause) => {
                note(format_args!("not repaired: {}", failed(cause)));
                continue;
            }
        };
        if !args.json {
            let shown = if path.is_empty() { &place.shown } else { &path };
            out.line(format_args!("{how}: the rearrangement of {}", Printable(shown)))?;
        }
        settled.push(Repaired { path, is_group, how });
    }
    top.finish()?;
    Ok(settled)
}

/// Removes files that killed writers left; returns their names.
fn repair(place: &NodeStore, as_json: bool, out: &mut Out) -> Result<Vec<String>, CliError> {
    let mut removed = Vec::new();
    let cleaned = place.store.clean(&Prefix::root(), &mut |name| removed.push(name.to_owned()));
    cleaned.map_err(|cause| place.failed(cause))?;
    removed.sort_unstable();
    if !as_json {
        removed.iter().try_for_each(|name| out.line(format_args!("removed: {name}")))?;
    }
    Ok(removed)
}

/// The error of an id that no finding has.
fn unknown(argument: &'static str, id: &str) -> CliError {
    let ids: Vec<&str> = check::rules().map(|rule| rule.id()).collect();
    let hint = nearest::hint(id, ids.iter().copied());
    let reason = format!("no finding has this id; it is in brackets after a finding{hint}");
    CliError::argument(argument, id, reason)
}

/// Prints the explanation of an id.
fn explain(id: &str) -> Result<u8, CliError> {
    let text = check::explanation(id).ok_or_else(|| unknown("--explain", id))?;
    let mut out = Out::stdout();
    for (at, paragraph) in text.split("\n\n").enumerate() {
        if at > 0 {
            out.line("")?;
        }
        for line in paragraph.lines() {
            wrapped(line, columns()).into_iter().try_for_each(|line| out.line(line))?;
        }
    }
    out.finish()?;
    Ok(0)
}
