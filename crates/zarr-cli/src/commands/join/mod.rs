//! `zarr-kit join`.

mod arrange;
mod errors;
mod members;
mod virtual_join;

use std::fmt::Write as _;

use serde::Serialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};
use zarr_kit::array::store::shown_url;
use zarr_kit::join::{JoinOptions, JoinProgress, JoinSummary, NodeMembers, NodePlan};
use zarr_kit::metadata::{ChunkGrid, Printable};
use zarr_kit::report::format::pretty::raw;
use zarr_kit::report::readers::Readers;
use zarr_kit::report::words::{bytes, counted};
use zarr_kit::{ArrayMetadata, Prefix};

use self::errors::failed;
use crate::args;
use crate::error::CliError;
use crate::interrupt::Interrupt;
use crate::notation::chunks;
use crate::output::print::{self, Out, done, note};
use crate::output::progress::Bar;
use crate::stores::node_store::{NodeStore, refuse_place};

/// How many of the objects are named that are not in the join.
const SHOWN: usize = 10;

const INTERRUPTED: &str = "interrupted; repeat the command with --resume to continue the join";
const INTERRUPTED_OVERWRITE: &str =
    "interrupted; repeat the command with --resume instead of --overwrite to continue the join";

pub(super) fn run(args: &args::Join) -> Result<(), CliError> {
    let names = members::names(args)?;
    if args.only_document {
        return virtual_join::run(args, members::open(&names)?);
    }
    let plan = plan(args, members::open(&names)?)?;
    let mut readers = Readers::new();
    plan.arrays().iter().for_each(|(_, array)| readers.add(array.metadata()));
    if args.portable && !readers.are_all() {
        let place = shown_url(args.output.as_deref().unwrap_or_default());
        let arrays = plan.arrays();
        let mut grids = arrays.iter().map(|(_, array)| array.metadata().chunk_grid());
        let hint = match grids.any(|grid| matches!(grid, ChunkGrid::Rectilinear { .. })) {
            true => {
                "; --chunks with one length makes chunks that all read, and --dry-run says what it \
                 costs"
            }
            false => "; join without --portable, and `copy --portable` the result",
        };
        return Err(CliError::NotPortable { place, readers: readers.line(), hint });
    }
    if args.dry_run {
        show(args, &plan, names.len())?;
        print::readers(&readers, args.json);
        return Ok(());
    }
    let output = args.output.as_deref().unwrap_or_default();
    refuse_place(output)?;
    let target = NodeStore::create(output)?;
    if !args.json {
        note(in_words(&plan));
    }
    let left_out = plan.left_out();
    note_left_out(left_out, "the join");
    if args.link {
        note(
            "chunks become hard links: a program that writes into one in place changes the member \
             too; zarr-kit never does",
        );
    }
    let options = JoinOptions::new().link(args.link).resume(args.resume).overwrite(args.overwrite);
    let bar = Bar::new();
    let how = if args.overwrite { INTERRUPTED_OVERWRITE } else { INTERRUPTED };
    let interrupt = Interrupt::saying(move |_| how, &bar);
    let told = |progress: JoinProgress| {
        if bar.is_shown() {
            bar.chunks("joining", progress.done, progress.total, 0);
        }
    };
    let result = plan.execute(&target.store, &Prefix::root(), &options, &told);
    drop(interrupt);
    drop(bar);
    if result.is_err() {
        target.opened.abandon();
    }
    let did = result.map_err(|error| failed(error, args))?;
    target.finish()?;
    let text = did_in_words(names.len(), &plan, &target.shown, &did);
    done(args.json, text, || {
        json!({
            "target": target.shown, "members": names.len(), "arrays": plan.arrays().len(),
            "linked": did.linked, "reflinked": did.reflinked, "copied": did.copied,
            "copied_bytes": did.copied_bytes, "assembled": did.assembled,
            "assembled_bytes": did.assembled_bytes, "written": did.written,
            "chunks_done_before": did.skipped, "other_objects": did.others, "left_out": left_out, "read_by": readers.json(),
        })
    })?;
    print::readers(&readers, args.json);
    Ok(())
}

/// Names objects of members that a new node does not have.
pub(super) fn note_left_out(names: &[String], what: &str) {
    for name in names.iter().take(SHOWN) {
        note(format_args!("{} is not in {what}: it belongs to no array", Printable(name)));
    }
    if let Some(more) = names.len().checked_sub(SHOWN).filter(|more| *more > 0) {
        note(format_args!("nor are {} of this kind", counted(more, "more object")));
    }
}

fn plan(args: &args::Join, members: NodeMembers) -> Result<NodePlan, CliError> {
    let planned = match members {
        NodeMembers::Arrays(members) => {
            let join = arrange::arrays(args, members)?;
            join.plan_with(|metadata| chosen(args, metadata, true)).map(NodePlan::from)
        }
        NodeMembers::Groups(members) => {
            let given = [("--chunks", &args.chunks), ("--shards", &args.shards)];
            let given = given.into_iter().filter_map(|(name, text)| Some((name, text.as_deref()?)));
            let mut unused: Vec<(&str, &str, &str)> = given
                .flat_map(|(argument, text)| {
                    chunks::names(text).map(move |name| (argument, text, name))
                })
                .collect();
            let plan = arrange::groups(args, members)?.plan_with(|_, metadata| {
                let names = metadata.dimension_names().unwrap_or_default();
                let rank = metadata.shape().len();
                unused.retain(|(_, _, name)| chunks::axis_of(name, rank, names).is_err());
                chosen(args, metadata, false)
            });
            if let (Ok(_), Some((argument, text, name))) = (&plan, unused.first()) {
                let reason = format!("no array of the members has the axis {name}");
                return Err(CliError::argument(argument, text, reason));
            }
            plan.map(NodePlan::from)
        }
    };
    planned.map_err(|refused| match refused {
        CliError::Join(error) => failed(*error, args),
        error => error,
    })
}

/// The document of a joined array with the chunks of `--chunks` and `--shards`.
fn chosen(
    args: &args::Join,
    metadata: &ArrayMetadata,
    all: bool,
) -> Result<Option<ArrayMetadata>, CliError> {
    let given = (args.chunks.as_deref(), args.shards.as_deref());
    match given {
        (None, None) => Ok(None),
        given => args::with_layout(metadata, given, None, all).map(Some),
    }
}

/// Both counts, and why chunks are decoded.
fn in_words(plan: &NodePlan) -> String {
    let (mut moved, mut moved_bytes, mut written, mut written_bytes) = (0, 0_u64, 0, 0_u64);
    let mut assembled = 0;
    let mut reasons = std::collections::BTreeMap::new();
    for (_, plan) in plan.arrays() {
        moved += plan.moved_chunks();
        moved_bytes = moved_bytes.saturating_add(plan.moved_bytes());
        assembled += plan.assembled_chunks();
        written += plan.written_chunks();
        written_bytes = written_bytes.saturating_add(plan.written_bytes());
        for (reason, count) in plan.reasons() {
            *reasons.entry(reason).or_insert(0) += count;
        }
    }
    let mut text =
        format!("{} to move unchanged ({})", counted(moved, "chunk"), bytes(moved_bytes.into()));
    if assembled > 0 {
        let _infallible = write!(text, ", {assembled} to assemble from encoded chunks");
    }
    let _infallible = write!(text, ", {written} to decode and write");
    if written > 0 {
        let _infallible = write!(text, " ({})", bytes(written_bytes.into()));
    }
    let mut separator = ": ";
    for (reason, count) in reasons {
        let _infallible = write!(text, "{separator}{count} for {}", reason.words());
        separator = ", ";
    }
    text
}

fn did_in_words(members: usize, plan: &NodePlan, target: &str, did: &JoinSummary) -> String {
    let what = if matches!(plan, NodePlan::Array(_)) { "array" } else { "group" };
    let mut text = format!("joined {} into {target}", counted(members, what));
    let mut separator = ": ";
    let mut say = |count: u64, how: &str| {
        if count > 0 {
            let _infallible = write!(text, "{separator}{} {how}", counted(count, "chunk"));
            separator = ", ";
        }
    };
    say(did.linked, "linked");
    say(did.reflinked, "cloned");
    say(did.copied, &format!("copied ({})", bytes(did.copied_bytes.into())));
    let how = format!("assembled from encoded chunks ({})", bytes(did.assembled_bytes.into()));
    say(did.assembled, &how);
    say(did.written, "decoded and written");
    say(did.skipped, "done before");
    if did.others > 0 {
        let _infallible = write!(text, "; {} of the first", counted(did.others, "other object"));
    }
    text
}

/// The content of `--json` for a plan.
#[derive(Serialize)]
struct PlanJson<'a> {
    arrays: Vec<ArrayJson<'a>>,
    members: usize,
}

/// An array of a plan. Its document keeps every digit.
#[derive(Serialize)]
struct ArrayJson<'a> {
    assembled: Value,
    moved: Value,
    path: &'a str,
    shape: &'a [u64],
    written: Value,
    zarr_json: Box<RawValue>,
}

/// Prints the plan.
fn show(args: &args::Join, plan: &NodePlan, members: usize) -> Result<(), CliError> {
    if args.json {
        let arrays = plan.arrays().into_iter().map(|(path, plan)| {
            let reasons: Vec<Value> = plan
                .reasons()
                .into_iter()
                .map(|(reason, chunks)| json!({"reason": reason.words(), "chunks": chunks}))
                .collect();
            ArrayJson {
                assembled: json!({"chunks": plan.assembled_chunks()}),
                moved: json!({"chunks": plan.moved_chunks(), "bytes": plan.moved_bytes()}),
                path,
                shape: plan.metadata().shape(),
                written: json!({
                    "chunks": plan.written_chunks(), "bytes": plan.written_bytes(),
                    "reasons": reasons,
                }),
                zarr_json: raw(plan.metadata().json()),
            }
        });
        return print::json(&PlanJson { arrays: arrays.collect(), members });
    }
    let mut out = Out::stdout();
    for (path, plan) in plan.arrays() {
        let shape: Vec<String> = plan.metadata().shape().iter().map(u64::to_string).collect();
        let name = if path.is_empty() { String::new() } else { format!("{path}: ") };
        out.line(format_args!(
            "{name}{} [{}]: {} moved, {}{} decoded",
            plan.metadata().data_type(),
            shape.join(", "),
            counted(plan.moved_chunks(), "chunk"),
            match plan.assembled_chunks() {
                0 => String::new(),
                count => format!("{count} assembled, "),
            },
            plan.written_chunks()
        ))?;
    }
    out.line(in_words(plan))?;
    out.finish()
}
