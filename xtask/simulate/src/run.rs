//! One run: clients, then an audit of what they left.

use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

use zarr_array::{Array, ArrayError, Group};
use zarr_check::{CheckOptions, check};
use zarr_metadata::{ArrayBuilder, ArrayMetadata, ChunkGrid, Codec, DataType, GroupMetadata};
use zarr_store::{Prefix, Store, UpdatePolicy};

use crate::archiver::Archiver;
use crate::client::{ARRAY, Client, document_of, store};
use crate::copier::{Copier, Known, SOURCE, all, elements, short, source_metadata};
use crate::disk::{self, Disk};
use crate::history::{Document, Event, History, NAMES, What};
use crate::joined::{Step, Steps, of_array};
use crate::joiner::Joiner;
use crate::judge::{judge, judge_unlocked};
use crate::linker::{self, Linker, Links};
use crate::op::Op;
use crate::order::Timed;
use crate::plan::{Joins, Plan, Scene};
use crate::random::Random;
use crate::schedule::Schedule;
use crate::world::{FaultKind, Storage, World};

/// The value of the source of copies at first.
pub(crate) const FIRST: u16 = 90;

/// What came of a run.
pub(crate) struct Report {
    /// What must not have happened.
    pub(crate) fault: Option<String>,
    /// Whether the oracles decided everything.
    pub(crate) is_decided: bool,
    /// A hash of all that happened.
    pub(crate) trace: u64,
    pub(crate) lines: Vec<String>,
    pub(crate) requests: u64,
    /// The faults that clients met.
    pub(crate) met: Vec<FaultKind>,
}

pub(crate) fn run(plan: &Plan, has_lines: bool) -> Report {
    let clients = plan.clients.len();
    let disk = match plan.storage {
        Storage::Disk { .. } => Some(
            Disk::new(plan.seed, plan.has_jumps.then_some(plan.seed), plan.goes_back)
                .expect("a folder for the run can be made"),
        ),
        _ => None,
    };
    let schedule = Schedule::new(clients + 1, plan.switch, plan.seed ^ 0x5ced_01e5);
    let world = Arc::new(World::new(
        schedule,
        clients + 1,
        plan.storage,
        plan.tag_by_content,
        plan.faults.clone(),
        has_lines,
        disk,
    ));
    let history = History::default();
    let steps = Steps::default();
    let outcome = play(plan, &world, &history, &steps);
    let (trace, lines) = world.trace();
    let requests = world.requests();
    let met = world.all_met();
    let (events, mut faults) = history.into_parts();
    let mut is_decided = true;
    match outcome {
        Err(fault) => faults.push(fault),
        Ok(()) => {
            let grows_last = plan.storage != Storage::Objects || plan.one_writes();
            let first = Document { length: plan.length, attributes: [0; 2] };
            let judged = match &plan.scene {
                _ if world.is_damaged() => known_values(plan, &events),
                Scene::Shared if world.has_lost_locks() => {
                    judge_unlocked(first, &events).map(|()| true)
                }
                Scene::Joins(_) if is_torn(plan, &world) => {
                    steps.judge_unlocked(&joined_values(plan)).map(|()| true)
                }
                Scene::Joins(joins) => steps.judge(if joins.is_group { 2 } else { 1 }),
                _ => judge(first, plan.chunk, grows_last, &events),
            };
            match judged {
                Ok(decided) => is_decided = decided,
                Err(fault) => faults.push(fault),
            }
        }
    }
    let fault = (!faults.is_empty()).then(|| faults.join("\n"));
    Report { fault, is_decided, trace, lines, requests, met }
}

fn play(plan: &Plan, world: &Arc<World>, history: &History, steps: &Steps) -> Result<(), String> {
    let auditor = plan.clients.len();
    let alone = |work: &dyn Fn() -> Result<(), String>| {
        world.schedule.admit(auditor);
        let worked = guarded(work);
        disk::play(None);
        world.schedule.end(auditor);
        worked?
    };
    let is_alone = plan.one_writes() && !plan.is_strict;
    let known = Mutex::new(Known { source: FIRST, copy: None });
    let copier = |number, copies| Copier {
        world,
        history,
        number,
        copies,
        length: plan.length,
        chunk: usize::try_from(plan.chunk).unwrap_or(1),
        known: &known,
    };
    let members = Mutex::new(vec![FIRST; 3]);
    let joiner = |number, joins| Joiner {
        world,
        history,
        steps,
        number,
        joins,
        is_alone: number == auditor || plan.one_writes(),
        known: &members,
    };
    let archived = Mutex::new(BTreeMap::new());
    let archiver = |number| Archiver { world, history, number, known: &archived };
    let links = Mutex::new(Links::new());
    let linker = |number| Linker { world, history, number, known: &links };
    alone(&|| {
        create(plan, &store(world, auditor)).map_err(|error| format!("create: {error}"))?;
        if plan.scene == Scene::Links {
            // All clients find one.
            linker(auditor).run(&[Op::Document { may_change: false }]);
        }
        Ok(())
    })?;
    if let Some(disk) = &world.disk {
        disk.flush_all().map_err(|error| error.to_string())?;
    }
    let work = |number: usize, ops: &[Op]| match &plan.scene {
        Scene::Shared => Client::new(world, history, number, is_alone).run(ops),
        Scene::Copies(copies) => copier(number, *copies).run(ops),
        Scene::Joins(joins) => joiner(number, joins).run(ops),
        Scene::Archive => archiver(number).run(ops),
        Scene::Links => linker(number).run(ops),
    };
    thread::scope(|scope| {
        for (number, ops) in plan.clients.iter().enumerate() {
            let work = &work;
            scope.spawn(move || {
                if world.schedule.begin(number).is_ok()
                    && let Err(panic) = guarded(|| work(number, ops))
                {
                    history.blame(format!("client {number}: {panic}"));
                }
                disk::play(None);
                world.schedule.end(number);
            });
        }
        world.schedule.run(plan.clients.len())
    })
    .map_err(|stuck| format!("{stuck:?}"))?;
    if plan.fails_last {
        world.fail_last(&mut Random::new(plan.seed)).map_err(|error| error.to_string())?;
    }
    alone(&|| match &plan.scene {
        Scene::Shared => audit(plan, world, history),
        Scene::Copies(copies) => audit_copy(plan, &copier(auditor, *copies)),
        Scene::Joins(joins) => audit_joined(plan, &joiner(auditor, joins)),
        Scene::Archive => archiver(auditor).audit(),
        Scene::Links => linker(auditor).audit(),
    })
}

/// The values that members had.
fn joined_values(plan: &Plan) -> Vec<u16> {
    let of = |op: &Op| match op {
        Op::FillMember { value, .. } => Some(*value),
        _ => None,
    };
    [FIRST].into_iter().chain(plan.clients.iter().flatten().filter_map(of)).collect()
}

/// Whether all elements that were read are of a write: after damage, of any.
fn known_values(plan: &Plan, events: &[Event]) -> Result<bool, String> {
    let written: Vec<u16> = plan
        .clients
        .iter()
        .flatten()
        .filter_map(|op| match op {
            Op::Write { value, .. } | Op::Append { value, .. } => Some(*value),
            _ => None,
        })
        .collect();
    for event in events {
        if let What::Read(values) = &event.what
            && let Some(value) =
                values.iter().find(|value| **value != 0 && !written.contains(value))
        {
            return Err(format!("{value} was read, and nobody wrote it"));
        }
    }
    Ok(true)
}

/// Runs `work`, and turns a panic into words.
fn guarded<T>(work: impl FnOnce() -> T) -> Result<T, String> {
    catch_unwind(AssertUnwindSafe(work)).map_err(|panic| {
        let text = panic.downcast_ref::<String>().map(String::as_str);
        let text = text.or_else(|| panic.downcast_ref::<&str>().copied());
        format!("panic: {}", text.unwrap_or_default())
    })
}

fn create(plan: &Plan, store: &Arc<dyn Store>) -> Result<(), ArrayError> {
    match plan.scene {
        Scene::Archive => return Ok(()),
        Scene::Links => {
            return linker::first_values().iter().enumerate().try_for_each(|(member, value)| {
                let prefix = Prefix::new(format!("m{member}"))?;
                let metadata = metadata(linker::LENGTH, plan.chunk)?;
                let array = Array::create(store.clone(), &prefix, metadata)?;
                array.write_as(0..linker::LENGTH, &linker::elements_of(member, *value))
            });
        }
        _ => {}
    }
    let root = Group::create(store.clone(), &Prefix::root(), GroupMetadata::new())?;
    if let Scene::Joins(joins) = &plan.scene {
        return create_members(joins, &root);
    }
    if let Scene::Copies(copies) = plan.scene {
        let source = root.create_array(SOURCE, source_metadata(plan, copies)?)?;
        let source = source.with_update_policy(UpdatePolicy::AcceptSingleProcess);
        return source.write_as(&all(&source)[..], &elements(FIRST, plan.length));
    }
    let shared = match plan.is_rectilinear {
        false => metadata(plan.length, plan.chunk)?,
        true => {
            // Multiples of the length by which the oracle divides the array; some past its end.
            let edges = [&[2 * plan.chunk][..], &[plan.chunk; 6]].concat();
            let chunks = ChunkGrid::Rectilinear { chunk_shapes: vec![edges.into()] };
            metadata_of([plan.length], chunks, Codec::Crc32c)?
        }
    };
    root.create_array(ARRAY, shared)?;
    Ok(())
}

fn create_members(joins: &Joins, root: &Group) -> Result<(), ArrayError> {
    for (member, length) in joins.lengths.iter().enumerate() {
        let group = root.create_group(&format!("m{member}"), GroupMetadata::new())?;
        for (array, name) in crate::joiner::NAMES.iter().enumerate() {
            let metadata = metadata(*length, joins.chunk)?;
            let metadata = metadata
                .with_dimension_names(&[Some(crate::joiner::DIMENSION)])
                .map_err(|cause| ArrayError::Metadata { key: (*name).to_owned(), cause })?;
            let made = group.create_array(name, metadata)?;
            let made = made.with_update_policy(UpdatePolicy::AcceptSingleProcess);
            made.write_as(0..*length, &of_array(array, &elements(FIRST, *length)))?;
        }
    }
    Ok(())
}

/// The metadata of an array of one dimension, whose damage is noticed.
pub(crate) fn metadata(length: u64, chunk: u64) -> Result<ArrayMetadata, ArrayError> {
    metadata_of([length], ChunkGrid::Regular { chunk_shape: vec![chunk] }, Codec::Crc32c)
}

/// An array's metadata.
pub(crate) fn metadata_of<const N: usize>(
    shape: [u64; N],
    chunks: ChunkGrid,
    codec: Codec,
) -> Result<ArrayMetadata, ArrayError> {
    ArrayBuilder::new(shape, DataType::Uint16)
        .chunk_grid(chunks)
        .codecs([Codec::bytes(), codec])
        .attribute(NAMES[0], "0")
        .attribute(NAMES[1], "0")
        .build()
        .map_err(|cause| ArrayError::Metadata { key: ARRAY.to_owned(), cause })
}

/// Looks at the copy that the clients left, completes it, and looks again.
fn audit_copy(plan: &Plan, copier: &Copier<'_>) -> Result<(), String> {
    let store = store(copier.world, copier.number);
    let read = || copier.read(&store).map_err(|error| format!("audit: {error}"));
    let known = copier.known.lock().unwrap_or_else(PoisonError::into_inner);
    let (source, copy) = (known.source, known.copy);
    drop(known);
    let shown =
        |found: &Option<Vec<u16>>| found.as_deref().map_or_else(|| "absent".to_owned(), short);
    let found = read()?;
    if let Some(value) = copy
        && found != Some(elements(value, plan.length))
    {
        return Err(format!("the copy of {value} is {}", shown(&found)));
    }
    if found.as_ref().is_some_and(|values| !copier.is_whole(values)) {
        return Err(format!("the copy is a mixture: {}", shown(&found)));
    }
    let in_parts = |op: &Op| matches!(op, Op::CopyPart { .. });
    match plan.clients.iter().flatten().any(in_parts) {
        true => (1..=copier.copies.parts).try_for_each(|part| copier.copy_part(&store, part)),
        false => copier.copy(&store, found.is_some()),
    }
    .map_err(|error| format!("completing the copy: {error}"))?;
    let found = read()?;
    if found != Some(elements(source, plan.length)) {
        return Err(format!("the completed copy of {source} is {}", shown(&found)));
    }
    clean(&store)?;
    refuse(&store, &["stale-consolidated"])
}

/// Looks at the target that the clients left, repairs it, looks again, and joins it anew.
fn audit_joined(plan: &Plan, joiner: &Joiner<'_>) -> Result<(), String> {
    let store = store(joiner.world, joiner.number);
    let is_there = match is_torn(plan, joiner.world) {
        false => audit_repaired(joiner, &store)?,
        true => {
            let target = Prefix::new(crate::joiner::TARGET).map_err(|error| error.to_string())?;
            store.delete_prefix(&target).map_err(|error| error.to_string())?;
            false
        }
    };
    let join = |overwrite| {
        let joined = joiner.join(&store, false, overwrite, &mut Vec::new());
        joined.map_err(|error| format!("joining again: {error}"))
    };
    if is_there {
        // Completes this join if its marker is left.
        join(false)?;
    }
    join(is_there)?;
    for array in 0..joiner.arrays() {
        let found = joiner.read(&store, array).map_err(|error| format!("audit: {error}"))?;
        if found != Some(of_array(array, &joiner.joined())) {
            return Err(format!("joined again, array {array} is {found:?}"));
        }
    }
    clean(&store)?;
    refuse(&store, &[])
}

/// Whether clients rearranged something at once: then chunks may be missing.
fn is_torn(plan: &Plan, world: &World) -> bool {
    world.has_lost_locks() && !plan.one_writes()
}

/// Looks at the target that the clients left, repairs it, and looks again. Returns whether it is there.
fn audit_repaired(joiner: &Joiner<'_>, store: &Arc<dyn Store>) -> Result<bool, String> {
    let words = |error: ArrayError| format!("audit: {error}");
    let seen = || {
        let start = joiner.world.schedule.tick();
        let mut effects = Vec::new();
        joiner.look(store, &mut effects).map_err(words)?;
        let end = joiner.world.schedule.tick();
        let mut states = Vec::new();
        for (step, is_sure) in effects {
            if let Step::Saw { state, .. } = &step {
                states.push(state.clone());
            }
            joiner.steps.add(Timed { start, end, op: step, is_sure });
        }
        Ok::<_, String>(states)
    };
    let before = seen()?;
    // A rearrangement in place removes chunks after it has put the document, as a resize does.
    const ALLOWED: [&str; 7] = [
        "chunk-outside-grid",
        "chunk-past-end",
        "unfinished-copy",
        "unfinished-rearrangement",
        "half-rearranged-group",
        "leftover-temporary",
        "leftover-lock",
    ];
    let is_finished = joiner.world.all_met().iter().all(|kind| kind.is_mended());
    refuse(store, if is_finished { &[] } else { &ALLOWED })?;
    clean(store)?;
    joiner.repair(store).map_err(|error| format!("repair: {error}"))?;
    joiner.discard(store).map_err(|error| format!("repair: {error}"))?;
    let after = seen()?;
    // A group that was half rearranged is completed.
    if !joiner.joins.is_group && before != after {
        return Err(format!("the repair made {after:?} of {before:?}"));
    }
    if let [first, second] = after.as_slice()
        && first.as_ref().map(|first| of_array(1, first)) != *second
    {
        return Err(format!("the repair left a group half rearranged: {after:?}"));
    }
    refuse(store, &["unfinished-copy"])?;
    Ok(after.iter().any(Option::is_some))
}

/// Looks at what the clients left, repairs it, and looks again.
fn audit(plan: &Plan, world: &Arc<World>, history: &History) -> Result<(), String> {
    let store = store(world, plan.clients.len());
    let prefix = Prefix::new(ARRAY).map_err(|error| error.to_string())?;
    let open = || Array::open(store.clone(), &prefix).map_err(|error| format!("audit: {error}"));
    let read = || {
        let array = open()?;
        let document = document_of(&array);
        let values = array.read_as::<u16>(0..document.length);
        Ok::<_, String>((document, values.map_err(|error| format!("audit: {error}"))?))
    };
    // What is stored past the end shows when the array grows, and is of a write.
    const ALLOWED: [&str; 7] = [
        "chunk-past-end",
        "chunk-outside-grid",
        "elements-past-end",
        "fill-only-chunk",
        "leftover-temporary",
        "leftover-lock",
        "stale-consolidated",
    ];
    // Whatever was consolidated follows each change of the array, unless something went wrong.
    let is_finished = world.all_met().iter().all(|kind| kind.is_sound());
    let allowed = if is_finished { &ALLOWED[..6] } else { &ALLOWED[..] };
    let found = read();
    if world.is_damaged() {
        return match found {
            Ok((_, values)) => {
                let what = What::Read(values);
                history.add(Event { start: 0, end: 0, what, is_sure: true });
                Ok(())
            }
            // Whatever cannot be read is named.
            Err(error) => match refuse(&store, allowed) {
                Ok(()) => Err(format!("check names nothing, and: {error}")),
                Err(_) => Ok(()),
            },
        };
    }
    let (document, values) = found?;
    let time = world.schedule.tick();
    for what in [What::Opened(document), What::Read(values.clone())] {
        history.add(Event { start: time, end: time, what, is_sure: true });
    }
    refuse(&store, allowed)?;
    let array = open()?.with_update_policy(UpdatePolicy::AcceptSingleProcess);
    array.resize([document.length]).map_err(|error| format!("repair: {error}"))?;
    let group = Group::open(store.clone(), &Prefix::root()).map_err(|error| error.to_string())?;
    let group = group.with_update_policy(UpdatePolicy::AcceptSingleProcess);
    group.consolidate().map_err(|error| format!("repair: {error}"))?;
    clean(&store)?;
    refuse(&store, &["fill-only-chunk"])?;
    match read()? == (document, values) {
        true => Ok(()),
        false => Err("the repair changed the array".to_owned()),
    }
}

/// Removes what processes left that ended while they wrote.
fn clean(store: &Arc<dyn Store>) -> Result<(), String> {
    store.clean(&Prefix::root(), &mut |_| {}).map_err(|error| format!("clean: {error}"))
}

/// Refuses all findings but those of the rules that are allowed.
fn refuse(store: &Arc<dyn Store>, allowed: &[&str]) -> Result<(), String> {
    let mut found = Vec::new();
    let options = CheckOptions::new().data(true);
    check(store, &Prefix::root(), &options, &mut |finding| {
        let text = finding.to_string();
        // Chunks of nothing but the fill value are not stored.
        let may_lack = text.ends_with("[few-missing-chunks]");
        if !may_lack && !allowed.iter().any(|rule| text.ends_with(&format!("[{rule}]"))) {
            found.push(text);
        }
    })
    .map_err(|error| format!("check: {error}"))?;
    if found.is_empty() { Ok(()) } else { Err(format!("check found: {}", found.join("; "))) }
}
