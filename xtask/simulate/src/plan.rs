//! What a run does, all of it from its seed: storage, clients, operations and faults.

use std::fmt;

use crate::copier::WIDE_LENGTH;
use crate::op::Op;
use crate::random::Random;
use crate::rival::add_rival;
use crate::world::{Fault, FaultKind, Storage};

/// What the clients of a run do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Scene {
    /// They change one array.
    Shared,
    /// They copy an array.
    Copies(Copies),
    /// They join arrays or groups.
    Joins(Joins),
    /// One of them adds arrays to a zip archive.
    Archive,
    /// One of them joins arrays virtually, and all rearrange and read the joins.
    Links,
}

/// How an array is copied.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Copies {
    /// The length of the copy's chunks; `None` if objects are copied as they are.
    pub(crate) chunk: Option<u64>,
    /// Into how many parts a copy is divided, if it is.
    pub(crate) parts: u32,
    /// Whether a copy that is there is removed again.
    pub(crate) removes: bool,
    /// Whether the array is so large that it is copied in two passes.
    pub(crate) is_wide: bool,
    /// Whether another client fills the source while it is copied.
    pub(crate) changes: bool,
    /// Whether another client begins the copy again, of another state of the source, while the
    /// first one sleeps.
    pub(crate) has_rival: bool,
}

/// What is joined.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Joins {
    /// Whether groups of two arrays are joined, or arrays.
    pub(crate) is_group: bool,
    /// The length of each member.
    pub(crate) lengths: Vec<u64>,
    /// The length of their chunks.
    pub(crate) chunk: u64,
    /// Whether a member is inserted into what was joined.
    pub(crate) inserts: bool,
}

/// A run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Plan {
    pub(crate) seed: u64,
    pub(crate) storage: Storage,
    pub(crate) tag_by_content: bool,
    /// The length of a chunk.
    pub(crate) chunk: u64,
    /// The length of the array at first.
    pub(crate) length: u64,
    /// How likely another client is next, in percent.
    pub(crate) switch: u64,
    /// The operations of each client.
    pub(crate) clients: Vec<Vec<Op>>,
    pub(crate) faults: Vec<Fault>,
    pub(crate) scene: Scene,
    /// Whether the chunks of the array that all change have different lengths.
    pub(crate) is_rectilinear: bool,
    /// Whether changes are refused if nothing excludes others, even if there are none.
    pub(crate) is_strict: bool,
    /// Whether the power fails when all clients have ended.
    pub(crate) fails_last: bool,
    /// Whether the clock jumps, and whether also back.
    pub(crate) has_jumps: bool,
    pub(crate) goes_back: bool,
}

/// The longest array.
const LONGEST: u64 = 18;

/// About how many requests an operation takes.
fn requests(scene: &Scene) -> u64 {
    match scene {
        Scene::Shared => 6,
        Scene::Copies(Copies { is_wide: true, .. }) => 90,
        Scene::Copies(_) => 12,
        Scene::Joins(_) => 30,
        Scene::Archive => 10,
        Scene::Links => 7,
    }
}

impl Plan {
    pub(crate) fn new(seed: u64) -> Self {
        let mut random = Random::new(seed);
        // What was added later, so that all else of a seed stays.
        let mut more = Random::new(seed ^ 0x6d6f_7265);
        let is_durable = random.chance(75);
        let storage = random.pick(&[
            Storage::Objects,
            Storage::Files,
            Storage::Objects,
            Storage::Files,
            Storage::Plain,
            Storage::Disk { is_durable },
            Storage::Disk { is_durable },
        ]);
        let is_disk = matches!(storage, Storage::Disk { .. });
        let chunk = 2 + random.below(4);
        let mut length = 1 + random.below(12);
        let switch = random.pick(&[10, 30, 60, 100]);
        let tag_by_content = random.chance(50);
        let count = if is_disk { 1 } else { 1 + random.below(3) };
        // Without any exclusion only one client may write.
        let one_writes = storage == Storage::Plain || random.chance(25);
        let mut scene = match random.below(20) {
            0..=8 => Scene::Shared,
            9..=13 => Scene::Copies(Copies {
                chunk: random.chance(50).then(|| 2 + random.below(4)),
                parts: u32::try_from(1 + random.below(3)).unwrap_or(1),
                removes: random.chance(50),
                is_wide: false,
                changes: false,
                has_rival: false,
            }),
            14 | 15 if is_disk => Scene::Archive,
            16 | 17 if is_disk => Scene::Links,
            _ => Scene::Joins(Joins {
                is_group: random.chance(40),
                lengths: (0..=random.below(2) + 1).map(|_| 1 + random.below(7)).collect(),
                chunk,
                inserts: random.chance(50),
            }),
        };
        let mut in_parts = random.chance(50);
        if let Scene::Copies(copies) = &mut scene
            && copies.chunk.is_some()
            && more.chance(8)
        {
            copies.is_wide = true;
            (length, in_parts) = (WIDE_LENGTH, false);
        }
        let mut value = 0;
        let mut clients: Vec<Vec<Op>> = (0..count)
            .map(|client| {
                let ops = 1 + random.below(6);
                (0..ops)
                    .map(|at| {
                        value += 1;
                        let is_first = client == 0;
                        match &scene {
                            Scene::Joins(_) if is_first && at == 0 => {
                                Op::Join { link: random.chance(50), overwrite: false }
                            }
                            Scene::Archive if random.chance(60) => Op::Session { value },
                            Scene::Links if at == 0 || random.chance(30) => {
                                Op::Document { may_change: random.chance(40) }
                            }
                            Scene::Links if random.chance(40) => {
                                Op::FillMember { member: usize::from(random.chance(50)), value }
                            }
                            scene => {
                                let writes = is_first || !one_writes;
                                scene.op(&mut random, is_first, writes, in_parts, value)
                            }
                        }
                    })
                    .collect()
            })
            .collect();
        if let Scene::Copies(copies) = &mut scene
            && let [copier, filler, ..] = &mut clients[..]
            && !in_parts
            && !copies.is_wide
            && more.chance(50)
        {
            copies.changes = true;
            for op in copier.iter_mut().filter(|op| matches!(op, Op::Fill { .. })) {
                *op = Op::Copy { overwrite: copies.removes };
            }
            for op in filler.iter_mut() {
                value += 1;
                *op = Op::Fill { value };
            }
        }
        let has_jumps = random.chance(30);
        let mut faults = Vec::new();
        if random.chance(75) {
            let is_shared = matches!(scene, Scene::Shared);
            let is_archive = matches!(scene, Scene::Archive);
            // Otherwise damage is expected, of which only this scene knows what it may be.
            let keeps_power =
                storage == Storage::Disk { is_durable: false } && !is_shared && !is_archive;
            let kinds: &[FaultKind] = match random.below(3) {
                0 if is_disk => &[FaultKind::Fail, FaultKind::CrashBefore],
                _ if keeps_power => &[FaultKind::CrashBefore],
                // What was read of a write that a process did not finish may be lost.
                1 if is_disk && is_shared => &[FaultKind::CrashBefore],
                _ if is_disk && is_shared => &[FaultKind::PowerFailure],
                _ if is_disk => &[FaultKind::CrashBefore, FaultKind::PowerFailure],
                0 if is_shared => &[
                    FaultKind::LostBefore,
                    FaultKind::LostAfter,
                    FaultKind::Conflict,
                    FaultKind::Stale,
                ],
                0 => &[FaultKind::LostBefore, FaultKind::LostAfter, FaultKind::Conflict],
                1 => &[FaultKind::CrashBefore, FaultKind::CrashAfter],
                _ => &[
                    FaultKind::CrashBefore,
                    FaultKind::CrashAfter,
                    FaultKind::LostBefore,
                    FaultKind::LostAfter,
                    FaultKind::Conflict,
                    FaultKind::Fail,
                    FaultKind::Truncated,
                ],
            };
            for _ in 0..=random.below(3) {
                let client = usize::try_from(random.below(count)).unwrap_or(0);
                let each = requests(&scene) * if is_disk { 2 } else { 1 };
                let requests = clients[client].len() as u64 * each;
                let request = random.below(requests);
                faults.push(Fault { client, request, kind: random.pick(kinds) });
            }
        }
        match &scene {
            // Interrupted in either pass.
            Scene::Copies(Copies { is_wide: true, .. }) if more.chance(60) => {
                clients[0][0] = Op::Copy { overwrite: false };
                let (request, kind) = (30 + more.below(120), FaultKind::CrashBefore);
                faults.push(Fault { client: 0, request, kind });
            }
            Scene::Links => add_shifts(&mut more, &mut clients, &mut faults),
            Scene::Shared if storage == Storage::Files && more.chance(25) => {
                lose_locks(&mut more, &clients, &scene, &mut faults);
            }
            _ => {}
        }
        let goes_back = more.chance(50);
        let mut more = Random::new(seed ^ 0x6169_6e6e);
        let is_shared = matches!(scene, Scene::Shared);
        let is_rectilinear = is_shared && more.chance(20);
        let is_strict = is_shared && storage == Storage::Plain && more.chance(15);
        let is_joined = matches!(scene, Scene::Joins(_));
        let is_fixed = matches!(scene, Scene::Archive | Scene::Links);
        let has_locks = is_disk && !is_fixed || storage == Storage::Files && is_joined;
        if has_locks && more.chance(50) {
            avoid_power_failures(&mut faults);
            for _ in 0..=more.below(2) {
                let ops = (0..=more.below(5)).map(|_| {
                    value += 1;
                    match more.below(6) {
                        0 | 1 if is_joined => Op::Rearrange { choice: more.next() },
                        2 | 3 if is_joined => Op::Repair,
                        _ => scene.op(&mut more, false, !one_writes, in_parts, value),
                    }
                });
                clients.push(ops.collect());
                if more.chance(50) {
                    let (client, request) = (clients.len() - 1, more.below(40));
                    let kind = more.pick(&[FaultKind::CrashBefore, FaultKind::Fail]);
                    faults.push(Fault { client, request, kind });
                }
            }
        }
        if is_shared && storage == Storage::Objects && !one_writes && more.chance(25) {
            // Appends of equal length make equal documents.
            for op in clients.iter_mut().flatten().filter(|_| more.chance(50)) {
                value += 1;
                *op = Op::Append { count: 2, value };
            }
            for client in 0..clients.len() {
                let (request, kind) = (more.below(3), FaultKind::LostDocument);
                faults.push(Fault { client, request, kind });
            }
        }
        if is_joined && more.chance(70) {
            // Each step of a rearrangement is rare.
            for _ in 0..4 {
                let client = usize::try_from(more.below(clients.len() as u64)).unwrap_or(0);
                let (kind, most) = more.pick(&[
                    (FaultKind::Fail, requests(&scene)),
                    (FaultKind::Fail, requests(&scene)),
                    (FaultKind::CrashAtDocument, 4),
                ]);
                let request = more.below(clients[client].len() as u64 * most);
                faults.push(Fault { client, request, kind });
            }
        }
        if storage == Storage::Files && !is_shared && more.chance(25) {
            lose_locks(&mut more, &clients, &scene, &mut faults);
        }
        if storage == (Storage::Disk { is_durable: true })
            && matches!(scene, Scene::Copies(_))
            && more.chance(50)
        {
            // Others continue with what nobody has flushed.
            let (request, kind) = (more.below(16), FaultKind::CrashAtFlush);
            faults.push(Fault { client: 0, request, kind });
        }
        let fails_last = more.chance(50)
            && match storage {
                // Reads of what nobody finished may be lost.
                Storage::Disk { is_durable: true } => {
                    faults.is_empty() || matches!(scene, Scene::Copies(_))
                }
                Storage::Disk { is_durable: false } => is_shared,
                _ => false,
            };
        let mut more = Random::new(seed ^ 0x736c_6565);
        add_rival(
            &mut more,
            (&mut scene, storage, in_parts),
            &mut clients,
            &mut faults,
            &mut value,
        );
        if clients.len() > 1 && more.chance(40) {
            for _ in 0..=more.below(2) {
                let client = usize::try_from(more.below(clients.len() as u64)).unwrap_or(0);
                let most = (clients[client].len() as u64 * requests(&scene)).max(1);
                let request = more.below(most);
                faults.push(Fault { client, request, kind: FaultKind::Sleep });
            }
        }
        Self {
            seed,
            storage,
            tag_by_content,
            chunk,
            length,
            switch,
            clients,
            faults,
            scene,
            is_rectilinear,
            is_strict,
            fails_last,
            has_jumps,
            goes_back,
        }
    }

    /// Whether at most one client changes anything.
    pub(crate) fn one_writes(&self) -> bool {
        self.clients.iter().filter(|ops| ops.iter().any(|op| op.writes())).count() <= 1
    }
}

/// The power fails for all clients, and would take what they read of each other's unfinished writes.
pub(crate) fn avoid_power_failures(faults: &mut [Fault]) {
    for fault in faults.iter_mut().filter(|fault| fault.kind == FaultKind::PowerFailure) {
        fault.kind = FaultKind::CrashBefore;
    }
}

/// Lets clients lose their locks.
fn lose_locks(more: &mut Random, clients: &[Vec<Op>], scene: &Scene, faults: &mut Vec<Fault>) {
    for _ in 0..=more.below(3) {
        let client = usize::try_from(more.below(clients.len() as u64)).unwrap_or(0);
        let request = more.below(clients[client].len() as u64 * requests(scene));
        faults.push(Fault { client, request, kind: FaultKind::LostLocks });
    }
}

/// Adds operations that rearrange virtual joins, and often clients that do that and read.
fn add_shifts(more: &mut Random, clients: &mut Vec<Vec<Op>>, faults: &mut Vec<Fault>) {
    for op in clients.iter_mut().flat_map(|ops| ops.iter_mut().skip(1)) {
        if more.chance(50) {
            *op = Op::Shift { choice: more.next() };
        }
    }
    let others = more.below(3);
    if others == 0 {
        return;
    }
    // What chunks are is known to one client only.
    avoid_power_failures(faults);
    for op in clients.iter_mut().flatten() {
        if let Op::Document { may_change } = op {
            *may_change = false;
        }
    }
    for _ in 0..others {
        let op = |more: &mut Random| match more.chance(75) {
            true => Op::Shift { choice: more.next() },
            false => Op::Look,
        };
        clients.push((0..=more.below(6)).map(|_| op(more)).collect());
        if more.chance(50) {
            let (client, request) = (clients.len() - 1, more.below(25));
            let kind = more.pick(&[FaultKind::CrashBefore, FaultKind::Fail]);
            faults.push(Fault { client, request, kind });
        }
    }
}

impl Scene {
    /// An operation of one of the clients.
    fn op(
        &self,
        random: &mut Random,
        is_first: bool,
        writes: bool,
        in_parts: bool,
        value: u16,
    ) -> Op {
        match self {
            Self::Shared => op(random, writes, value),
            Self::Copies(copies) => copy_op(random, *copies, in_parts, is_first, value),
            Self::Joins(joins) => join_op(random, joins, is_first, value),
            Self::Archive | Self::Links => Op::Look,
        }
    }
}

fn copy_op(random: &mut Random, copies: Copies, in_parts: bool, is_first: bool, value: u16) -> Op {
    match random.below(8) {
        0 => Op::ReadCopy,
        _ if in_parts => {
            let number = u32::try_from(1 + random.below(copies.parts.into())).unwrap_or(1);
            Op::CopyPart { number }
        }
        _ if !is_first => Op::ReadCopy,
        1..=4 => Op::Copy { overwrite: copies.removes && random.chance(30) },
        5 if copies.removes => Op::DeleteCopy,
        _ => Op::Fill { value },
    }
}

fn join_op(random: &mut Random, joins: &Joins, is_first: bool, value: u16) -> Op {
    if !is_first {
        return Op::Look;
    }
    match random.below(16) {
        0..=3 => Op::Join { link: random.chance(50), overwrite: false },
        4 => Op::Join { link: random.chance(50), overwrite: true },
        5 | 6 => {
            let member = random.below(joins.lengths.len() as u64);
            Op::FillMember { member: usize::try_from(member).unwrap_or(0), value }
        }
        7..=11 => Op::Rearrange { choice: random.next() },
        12 if !joins.is_group => Op::Replace { length: 1 + random.below(9) },
        12..=14 => Op::Repair,
        _ => Op::Look,
    }
}

fn op(random: &mut Random, may_write: bool, value: u16) -> Op {
    if !may_write {
        return random.pick(&[Op::Open, Op::Read, Op::Read]);
    }
    // Some elements are set to the fill value, so that chunks become empty.
    let value = if random.chance(15) { 0 } else { value };
    match random.below(16) {
        0 => Op::Open,
        1..=3 => Op::Read,
        4 => Op::Write { start: 0, count: LONGEST, value },
        5..=8 => Op::Write { start: random.below(12), count: 1 + random.below(6), value },
        9 | 10 => Op::Append { count: 1 + random.below(4), value },
        11 | 12 => Op::Resize { length: 1 + random.below(LONGEST), discard: random.chance(65) },
        13 | 14 => Op::Set { name: usize::from(random.chance(50)), value },
        _ => Op::Consolidate,
    }
}

impl fmt::Display for Plan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { seed, storage, chunk, length, switch, tag_by_content, .. } = self;
        writeln!(
            f,
            "seed {seed}: {storage:?}, {length} elements in chunks of {chunk}, switch {switch} %, \
             tags by content: {tag_by_content}"
        )?;
        for (client, ops) in self.clients.iter().enumerate().filter(|(_, ops)| !ops.is_empty()) {
            writeln!(f, "  client {client}:")?;
            ops.iter().try_for_each(|op| writeln!(f, "    {op:?}"))?;
        }
        let chunks = if self.is_rectilinear { ", chunks of different lengths" } else { "" };
        let strict = if self.is_strict { ", strict" } else { "" };
        let last = if self.fails_last { ", the power fails last" } else { "" };
        writeln!(f, "  {:?}{chunks}{strict}{last}", self.scene)?;
        self.faults.iter().try_for_each(|Fault { client, request, kind }| {
            writeln!(f, "  {kind:?} at request {request} of client {client}")
        })
    }
}
