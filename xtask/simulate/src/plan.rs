//! What a run does, all of it from its seed: storage, clients, operations and faults.

use std::fmt;

use crate::random::Random;
use crate::world::{Fault, FaultKind, Storage};

/// An operation of a client on the array.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Op {
    /// Opens the array anew.
    Open,
    Read,
    /// Writes `count` elements from an index on, as far as the array reaches.
    Write {
        start: u64,
        count: u64,
        value: u16,
    },
    Append {
        count: u64,
        value: u16,
    },
    Resize {
        length: u64,
        discard: bool,
    },
    /// Sets an attribute.
    Set {
        name: usize,
        value: u16,
    },
    /// Consolidates the metadata of the group.
    Consolidate,
}

impl Op {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Open => "open",
            Self::Read => "read",
            Self::Write { .. } => "write",
            Self::Append { .. } => "append",
            Self::Resize { discard: false, .. } => "resize",
            Self::Resize { discard: true, .. } => "resize and discard",
            Self::Set { .. } => "attributes",
            Self::Consolidate => "consolidate",
        }
    }

    /// Whether it changes the array.
    pub(crate) fn writes(self) -> bool {
        !matches!(self, Self::Open | Self::Read)
    }
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
}

/// The longest array.
const LONGEST: u64 = 18;

/// About how many requests an operation takes.
const REQUESTS: u64 = 6;

impl Plan {
    pub(crate) fn new(seed: u64) -> Self {
        let mut random = Random::new(seed);
        let storage = random.pick(&[
            Storage::Objects,
            Storage::Files,
            Storage::Objects,
            Storage::Files,
            Storage::Plain,
        ]);
        let chunk = 2 + random.below(4);
        let length = 1 + random.below(12);
        let switch = random.pick(&[10, 30, 60, 100]);
        let tag_by_content = random.chance(50);
        let count = 1 + random.below(3);
        // Without any exclusion only one client may write.
        let one_writes = storage == Storage::Plain || random.chance(25);
        let mut value = 0;
        let clients: Vec<Vec<Op>> = (0..count)
            .map(|client| {
                let ops = 1 + random.below(6);
                (0..ops)
                    .map(|_| {
                        value += 1;
                        op(&mut random, client == 0 || !one_writes, value)
                    })
                    .collect()
            })
            .collect();
        let mut faults = Vec::new();
        if random.chance(75) {
            let kinds: &[FaultKind] = match random.below(3) {
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
                let requests = clients[client].len() as u64 * REQUESTS;
                let request = random.below(requests);
                faults.push(Fault { client, request, kind: random.pick(kinds) });
            }
        }
        Self { seed, storage, tag_by_content, chunk, length, switch, clients, faults }
    }

    /// Whether at most one client writes.
    pub(crate) fn one_writes(&self) -> bool {
        self.clients.iter().filter(|ops| ops.iter().any(|op| op.writes())).count() <= 1
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
        self.faults.iter().try_for_each(|Fault { client, request, kind }| {
            writeln!(f, "  {kind:?} at request {request} of client {client}")
        })
    }
}
