//! The objects that all clients share, and what goes wrong with their requests.

use std::collections::BTreeMap;
use std::fmt;
use std::io;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::disk::Disk;
use crate::random::Random;
use crate::schedule::{Schedule, Stuck, Turn};

/// What holds the objects.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Storage {
    /// Object storage with conditional puts, through `RemoteStore`.
    Objects,
    /// Object storage without conditional puts, through `RemoteStore`.
    Plain,
    /// A store with locks between processes and no conditional puts, as local files are.
    Files,
    /// A folder of local files, through `LocalStore`. With `is_durable`, writes
    /// are to survive a power failure.
    Disk { is_durable: bool },
}

/// What goes wrong with a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum FaultKind {
    /// The client's process ends before the request.
    CrashBefore,
    /// The client's process ends after the request, before its response.
    CrashAfter,
    /// The client's process ends before a put of a document; these are counted, not all requests.
    CrashAtDocument,
    /// The client's process ends before a flush of a folder; these are counted, not all requests.
    CrashAtFlush,
    /// A put of a document is lost; these are counted, not all requests.
    LostDocument,
    /// A request that writes is lost.
    LostBefore,
    /// The response to a request that writes is lost.
    LostAfter,
    /// A request that writes is refused because of another one (409).
    Conflict,
    /// The request fails, and has no effect: a server's error after all retries, or a full disk.
    Fail,
    /// The response to a read breaks off.
    Truncated,
    /// The power fails before the call.
    PowerFailure,
    /// A list lacks what was put last.
    Stale,
    /// The client sleeps before the request, while others go on.
    Sleep,
    /// The client's locks are lost, and it does not know: somebody has removed their files, or a
    /// server has forgotten them.
    LostLocks,
}

impl FaultKind {
    /// Whether the store repeats the request, so that its caller does not notice.
    pub(crate) fn is_mended(self) -> bool {
        matches!(
            self,
            Self::LostDocument
                | Self::LostBefore
                | Self::LostAfter
                | Self::Conflict
                | Self::Stale
                | Self::Sleep
        )
    }

    /// Whether nothing goes wrong by it: listings are complete, too.
    pub(crate) fn is_sound(self) -> bool {
        self.is_mended() && self != Self::Stale
    }

    pub(crate) fn is_crash(self) -> bool {
        matches!(
            self,
            Self::CrashBefore
                | Self::CrashAfter
                | Self::CrashAtDocument
                | Self::CrashAtFlush
                | Self::PowerFailure
        )
    }
}

/// A fault at one of a client's requests, by the number of the request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Fault {
    pub(crate) client: usize,
    pub(crate) request: u64,
    pub(crate) kind: FaultKind,
}

/// What a request does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Does {
    Read,
    Write,
    List,
    Lock,
}

/// How a request fails.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Failure {
    /// The client's process has ended.
    Dead,
    Lost,
    Conflict,
    Failed,
    Stuck(Stuck),
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Dead => f.write_str("simulated: the process has ended"),
            Self::Lost => f.write_str("simulated: the response was lost"),
            Self::Conflict => f.write_str("simulated: 409 Conflict"),
            Self::Failed => f.write_str("simulated: status code: 500 Internal Server Error"),
            Self::Stuck(stuck) => write!(f, "simulated: {stuck:?}"),
        }
    }
}

impl std::error::Error for Failure {}

/// An object.
#[derive(Clone, Debug)]
pub(crate) struct Stored {
    pub(crate) bytes: Arc<[u8]>,
    /// When it was written: a number that no other write has.
    pub(crate) written: u64,
}

/// What the requests change.
#[derive(Default)]
pub(crate) struct Content {
    pub(crate) objects: BTreeMap<String, Stored>,
    /// By key: the client and its incarnation.
    locks: BTreeMap<String, (usize, u32)>,
    writes: u64,
    requests: Vec<u64>,
    documents: Vec<u64>,
    flushes: Vec<u64>,
    incarnations: Vec<u32>,
    /// The faults of each client since it asked for them.
    met: Vec<Vec<FaultKind>>,
    faults: Vec<Fault>,
    all_met: Vec<FaultKind>,
    /// A hash of all requests and their outcomes.
    hash: u64,
    lines: Option<Vec<String>>,
    /// The power has failed, and nobody has looked at the disk since.
    has_no_power: bool,
    /// The power has failed, and writes were not to survive that.
    is_damaged: bool,
    has_lost_locks: bool,
}

impl Content {
    pub(crate) fn put(&mut self, key: &str, bytes: Arc<[u8]>) -> u64 {
        self.writes += 1;
        self.objects.insert(key.to_owned(), Stored { bytes, written: self.writes });
        self.writes
    }

    /// Adds a line to what the run has done. A message after it is shown and not hashed: it may
    /// name a file by the number of a process.
    fn note(&mut self, line: &str, message: &str) {
        self.hash = line
            .bytes()
            .fold(self.hash, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3));
        if let Some(lines) = &mut self.lines {
            lines.push(format!("{line}{message}"));
        }
    }
}

/// All that a run shares.
pub(crate) struct World {
    pub(crate) schedule: Schedule,
    pub(crate) storage: Storage,
    /// Whether the ETag of an object follows from its bytes.
    pub(crate) tag_by_content: bool,
    /// Tells runs of this process apart.
    pub(crate) number: u64,
    pub(crate) disk: Option<Arc<Disk>>,
    content: Mutex<Content>,
}

impl World {
    pub(crate) fn new(
        schedule: Schedule,
        clients: usize,
        storage: Storage,
        tag_by_content: bool,
        faults: Vec<Fault>,
        has_lines: bool,
        disk: Option<Arc<Disk>>,
    ) -> Self {
        static NUMBER: AtomicU64 = AtomicU64::new(0);
        let content = Content {
            requests: vec![0; clients],
            documents: vec![0; clients],
            flushes: vec![0; clients],
            incarnations: vec![0; clients],
            met: vec![Vec::new(); clients],
            faults,
            hash: 0xcbf2_9ce4_8422_2325,
            lines: has_lines.then(Vec::new),
            ..Content::default()
        };
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        Self { schedule, storage, tag_by_content, number, disk, content: Mutex::new(content) }
    }

    pub(crate) fn content(&self) -> MutexGuard<'_, Content> {
        self.content.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds a line to what the run has done.
    pub(crate) fn note(&self, line: &str) {
        self.content().note(line, "");
    }

    /// Notes how an operation of a client ended.
    pub(crate) fn note_end<E: fmt::Display>(
        &self,
        client: usize,
        op: impl fmt::Debug,
        done: Result<(), E>,
    ) {
        let line = format!("client {client} {op:?}: ");
        match done {
            Ok(()) => self.content().note(&format!("{line}done"), ""),
            Err(error) => self.content().note(&line, &error.to_string()),
        }
    }

    /// A hash of all requests, and the requests themselves if they were kept.
    pub(crate) fn trace(&self) -> (u64, Vec<String>) {
        let mut content = self.content();
        (content.hash, content.lines.take().unwrap_or_default())
    }

    /// The faults that a client has met since the last call.
    pub(crate) fn take_met(&self, client: usize) -> Vec<FaultKind> {
        std::mem::take(&mut self.content().met[client])
    }

    /// All faults that clients have met.
    pub(crate) fn all_met(&self) -> Vec<FaultKind> {
        self.content().all_met.clone()
    }

    /// How many requests there have been.
    pub(crate) fn requests(&self) -> u64 {
        self.content().requests.iter().sum()
    }

    /// Whether clients did not exclude each other although they had locks.
    pub(crate) fn has_lost_locks(&self) -> bool {
        self.content().has_lost_locks
    }

    /// Whether there are several clients, besides the one that looks at what they leave.
    pub(crate) fn is_shared(&self) -> bool {
        self.content().incarnations.len() > 2
    }

    /// A new process of the client.
    pub(crate) fn connect(self: &Arc<Self>, client: usize) -> Connection {
        let incarnation = self.content().incarnations[client];
        Connection { world: self.clone(), client, incarnation }
    }

    /// Whether the power has failed since the last call, and which number decides what is left.
    pub(crate) fn take_power_failure(&self) -> Option<u64> {
        let mut content = self.content();
        std::mem::take(&mut content.has_no_power).then_some(content.hash)
    }

    /// The power fails when all clients have ended.
    pub(crate) fn fail_last(&self, random: &mut Random) -> io::Result<()> {
        self.content().is_damaged |= self.storage == Storage::Disk { is_durable: false };
        self.disk.as_ref().map_or(Ok(()), |disk| disk.fail(random))
    }

    /// Whether anything may be lost that was not written for good.
    pub(crate) fn is_damaged(&self) -> bool {
        self.content().is_damaged
    }
}

/// What the process of a client reaches the objects by.
#[derive(Clone)]
pub(crate) struct Connection {
    pub(crate) world: Arc<World>,
    pub(crate) client: usize,
    incarnation: u32,
}

impl fmt::Debug for Connection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "simulated-{}-{}-{}", self.world.number, self.client, self.incarnation)
    }
}

impl Connection {
    pub(crate) fn is_alive(&self) -> bool {
        self.world.content().incarnations[self.client] == self.incarnation
    }

    /// Waits until the client is to make its next request.
    pub(crate) fn turn(&self) -> Result<(), Failure> {
        match self.is_alive() {
            true => {
                let sleeps = self.falls_asleep();
                self.world.schedule.turn(self.client, sleeps).map_err(Failure::Stuck)
            }
            false => Err(Failure::Dead),
        }
    }

    /// As [`turn`](Self::turn), for a task on behalf of the client; `None` for a dead client.
    pub(crate) fn turn_async(&self) -> Option<Turn> {
        self.is_alive().then(|| self.world.schedule.turn_async(self.client, self.falls_asleep()))
    }

    /// Whether the client sleeps before its next request, once.
    fn falls_asleep(&self) -> bool {
        let mut content = self.world.content();
        let (client, request) = (self.client, content.requests[self.client]);
        let sleep = Fault { client, request, kind: FaultKind::Sleep };
        let Some(at) = content.faults.iter().position(|fault| *fault == sleep) else {
            return false;
        };
        content.faults.remove(at);
        content.note(&format!("client {client} sleeps"), "");
        content.met[client].push(FaultKind::Sleep);
        content.all_met.push(FaultKind::Sleep);
        true
    }

    /// Makes a request, whose turn it is. `line` describes it.
    pub(crate) fn request<T>(
        &self,
        does: Does,
        line: &str,
        effect: impl FnOnce(&mut Content) -> T,
    ) -> Result<(T, Option<FaultKind>), Failure> {
        let mut content = self.world.content();
        let request = content.requests[self.client];
        content.requests[self.client] += 1;
        let is_document = does == Does::Write && line.ends_with("/zarr.json");
        let document = content.documents[self.client];
        content.documents[self.client] += u64::from(is_document);
        let is_flush = line.starts_with("fsync ") && !line.ends_with("temporary");
        let flush = content.flushes[self.client];
        content.flushes[self.client] += u64::from(is_flush);
        let is_here = |fault: &Fault| {
            let is_it = match fault.kind {
                FaultKind::CrashAtDocument | FaultKind::LostDocument => {
                    is_document && fault.request == document
                }
                FaultKind::CrashAtFlush => is_flush && fault.request == flush,
                FaultKind::Sleep => false,
                _ => fault.request == request,
            };
            is_it && fault.client == self.client
        };
        let fault = content.faults.iter().find(|fault| is_here(fault)).map(|fault| fault.kind);
        let mine = (self.client, self.incarnation);
        let is_locked = content.locks.values().any(|holder| *holder == mine);
        let fault = fault.filter(|kind| {
            applies(*kind, does, self.world.storage) && (*kind != FaultKind::LostLocks || is_locked)
        });
        let shown = fault.map_or_else(String::new, |kind| format!(" {kind:?}"));
        content.note(&format!("client {} {line}{shown}", self.client), "");
        content.met[self.client].extend(fault);
        content.all_met.extend(fault);
        match fault {
            Some(FaultKind::PowerFailure) => {
                content.has_no_power = true;
                content.is_damaged |= self.world.storage == Storage::Disk { is_durable: false };
                self.die(&mut content);
                return Err(Failure::Dead);
            }
            Some(FaultKind::CrashBefore | FaultKind::CrashAtDocument | FaultKind::CrashAtFlush) => {
                self.die(&mut content);
                return Err(Failure::Dead);
            }
            Some(FaultKind::LostBefore | FaultKind::LostDocument) => return Err(Failure::Lost),
            Some(FaultKind::Conflict) => return Err(Failure::Conflict),
            Some(FaultKind::Fail) => return Err(Failure::Failed),
            Some(FaultKind::LostLocks) => {
                content.has_lost_locks = true;
                content.locks.retain(|_, holder| *holder != mine);
                self.world.schedule.release();
            }
            _ => {}
        }
        let done = effect(&mut content);
        match fault {
            Some(FaultKind::CrashAfter) => {
                self.die(&mut content);
                Err(Failure::Dead)
            }
            Some(FaultKind::LostAfter) => Err(Failure::Lost),
            fault => Ok((done, fault)),
        }
    }

    /// Ends the process: its locks are free, and none of its requests reaches the store.
    fn die(&self, content: &mut Content) {
        content.incarnations[self.client] += 1;
        content.locks.retain(|_, holder| *holder != (self.client, self.incarnation));
        self.world.schedule.release();
    }

    /// Waits for the lock of a key and takes it.
    pub(crate) fn lock(&self, key: &str) -> Result<Held, Failure> {
        self.turn()?;
        let mine = (self.client, self.incarnation);
        self.request(Does::Lock, &format!("lock {key}"), |_| ())?;
        loop {
            let mut content = self.world.content();
            if !content.locks.contains_key(key) {
                content.locks.insert(key.to_owned(), mine);
                return Ok(Held { world: self.world.clone(), key: key.to_owned(), mine });
            }
            drop(content);
            self.wait_for_lock()?;
        }
    }

    /// Waits until another client releases a lock.
    pub(crate) fn wait_for_lock(&self) -> Result<(), Failure> {
        self.world.schedule.wait_for_lock(self.client).map_err(Failure::Stuck)
    }
}

fn applies(kind: FaultKind, does: Does, storage: Storage) -> bool {
    let is_disk = matches!(storage, Storage::Disk { .. });
    let has_requests = !is_disk && storage != Storage::Files;
    match kind {
        FaultKind::CrashBefore
        | FaultKind::CrashAfter
        | FaultKind::CrashAtDocument
        | FaultKind::CrashAtFlush
        | FaultKind::Sleep
        | FaultKind::Fail => true,
        // Reads whose responses are lost are repeated by clients below the simulation.
        FaultKind::LostDocument
        | FaultKind::LostBefore
        | FaultKind::LostAfter
        | FaultKind::Conflict => does == Does::Write && has_requests,
        FaultKind::Truncated => does == Does::Read && has_requests,
        FaultKind::Stale => does == Does::List && has_requests,
        FaultKind::PowerFailure => is_disk,
        // Only of a client that holds some.
        FaultKind::LostLocks => storage == Storage::Files,
    }
}

/// A lock, until it is dropped.
pub(crate) struct Held {
    world: Arc<World>,
    key: String,
    mine: (usize, u32),
}

impl Drop for Held {
    fn drop(&mut self) {
        let mut content = self.world.content();
        if content.locks.get(&self.key) == Some(&self.mine) {
            content.locks.remove(&self.key);
            self.world.schedule.release();
        }
    }
}
