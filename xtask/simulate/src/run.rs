//! One run: clients, then an audit of what they left.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

use zarr_array::{Array, ArrayError, Cut, Group};
use zarr_check::{CheckOptions, check};
use zarr_metadata::{ArrayBuilder, ArrayMetadata, Codec, DataType, GroupMetadata};
use zarr_store::{Prefix, Store, UpdatePolicy};

use crate::client::{ARRAY, Client, document_of, store};
use crate::copier::{Copier, Known, SOURCE, elements};
use crate::history::{Document, Event, History, NAMES, What};
use crate::judge::judge;
use crate::plan::{Copies, Op, Plan};
use crate::schedule::Schedule;
use crate::world::{FaultKind, Storage, World};

/// The value of the source of copies at first.
const FIRST: u16 = 90;

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
    let schedule = Schedule::new(clients + 1, plan.switch, plan.seed ^ 0x5ced_01e5);
    let world = Arc::new(World::new(
        schedule,
        clients + 1,
        plan.storage,
        plan.tag_by_content,
        plan.faults.clone(),
        has_lines,
    ));
    let history = History::default();
    let outcome = play(plan, &world, &history);
    let (trace, lines) = world.trace();
    let requests = world.requests();
    let met = world.all_met();
    let (events, mut faults) = history.into_parts();
    let mut is_decided = true;
    match outcome {
        Err(fault) => faults.push(fault),
        Ok(()) => {
            let grows_last = plan.storage == Storage::Files || plan.one_writes();
            let first = Document { length: plan.length, attributes: [0; 2] };
            match judge(first, plan.chunk, grows_last, &events) {
                Ok(decided) => is_decided = decided,
                Err(fault) => faults.push(fault),
            }
        }
    }
    let fault = (!faults.is_empty()).then(|| faults.join("\n"));
    Report { fault, is_decided, trace, lines, requests, met }
}

fn play(plan: &Plan, world: &Arc<World>, history: &History) -> Result<(), String> {
    let auditor = plan.clients.len();
    let alone = |work: &dyn Fn() -> Result<(), String>| {
        world.schedule.admit(auditor);
        let worked = guarded(work);
        world.schedule.end(auditor);
        worked?
    };
    alone(&|| create(plan, &store(world, auditor)).map_err(|error| format!("create: {error}")))?;
    let is_alone = plan.one_writes();
    let known = Mutex::new(Known { source: FIRST, copy: None });
    let copier = |number| Copier {
        world,
        history,
        number,
        copies: plan.copies.unwrap_or(Copies { chunk: None, parts: 1, removes: false }),
        length: plan.length,
        known: &known,
    };
    let work = |number: usize, ops: &[Op]| match plan.copies {
        None => Client::new(world, history, number, is_alone).run(ops),
        Some(_) => copier(number).run(ops),
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
                world.schedule.end(number);
            });
        }
        world.schedule.run(plan.clients.len())
    })
    .map_err(|stuck| format!("{stuck:?}"))?;
    alone(&|| match plan.copies {
        None => audit(plan, world, history),
        Some(_) => audit_copy(plan, &copier(auditor)),
    })
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
    let root = Group::create(store.clone(), &Prefix::root(), GroupMetadata::new())?;
    if plan.copies.is_some() {
        let source = root.create_array(SOURCE, metadata(plan.length, plan.chunk)?)?;
        let source = source.with_update_policy(UpdatePolicy::AcceptSingleProcess);
        return source.write_as(0..plan.length, &elements(FIRST, plan.length));
    }
    root.create_array(ARRAY, metadata(plan.length, plan.chunk)?)?;
    Ok(())
}

/// An array's metadata.
pub(crate) fn metadata(length: u64, chunk: u64) -> Result<ArrayMetadata, ArrayError> {
    ArrayBuilder::new([length], DataType::Uint16)
        .chunk_shape([chunk])
        .codecs([Codec::bytes()])
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
    let found = read()?;
    if let Some(value) = copy
        && found != Some(elements(value, plan.length))
    {
        return Err(format!("the copy of {value} is {found:?}"));
    }
    if found.as_ref().is_some_and(|values| !copier.is_whole(values)) {
        return Err(format!("the copy is a mixture: {found:?}"));
    }
    let in_parts = |op: &Op| matches!(op, Op::CopyPart { .. });
    match plan.clients.iter().flatten().any(in_parts) {
        true => (1..=copier.copies.parts).try_for_each(|part| copier.copy_part(&store, part)),
        false => copier.copy(&store, found.is_some()),
    }
    .map_err(|error| format!("completing the copy: {error}"))?;
    let found = read()?;
    if found != Some(elements(source, plan.length)) {
        return Err(format!("the completed copy of {source} is {found:?}"));
    }
    refuse(&store, &["stale-consolidated"])
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
    let (document, values) = read()?;
    let time = world.schedule.tick();
    for what in [What::Opened(document), What::Read(values.clone())] {
        history.add(Event { start: time, end: time, what, is_sure: true });
    }
    // What is stored past the end shows when the array grows, and is of a write.
    const ALLOWED: [&str; 5] = [
        "chunk-past-end",
        "chunk-outside-grid",
        "elements-past-end",
        "fill-only-chunk",
        "stale-consolidated",
    ];
    refuse(&store, &ALLOWED)?;
    let array = open()?.with_update_policy(UpdatePolicy::AcceptSingleProcess);
    array
        .resize(&[document.length], &[Vec::new()], Cut::Discard)
        .map_err(|error| format!("repair: {error}"))?;
    let group = Group::open(store.clone(), &Prefix::root()).map_err(|error| error.to_string())?;
    let group = group.with_update_policy(UpdatePolicy::AcceptSingleProcess);
    group.consolidate().map_err(|error| format!("repair: {error}"))?;
    refuse(&store, &["fill-only-chunk"])?;
    match read()? == (document, values) {
        true => Ok(()),
        false => Err("the repair changed the array".to_owned()),
    }
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
