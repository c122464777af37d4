//! A disk with local files, on which processes end and the power fails.
//!
//! The files are real ones, in a folder of the run. Beside them is kept what a power failure must not
//! take: the bytes of each file when it was flushed last, and the names in each folder when that was.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File, FileTimes};
use std::io;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, UNIX_EPOCH};

use crate::calls::outcome;
use crate::random::Random;
use crate::world::{Connection, Does, Failure};

/// A call that changes files.
#[derive(Debug)]
pub(crate) enum Call {
    /// Opens a file that is created, or may be.
    Create {
        path: PathBuf,
        is_new: bool,
    },
    Write,
    /// Flushes a file or a folder.
    Flush {
        fd: i32,
    },
    Rename {
        from: PathBuf,
        to: PathBuf,
    },
    Remove {
        path: PathBuf,
    },
    RemoveFolder {
        path: PathBuf,
    },
    CreateFolder {
        path: PathBuf,
    },
    Link {
        from: PathBuf,
        to: PathBuf,
    },
}

/// The number of a file or folder. Those of the system are used again.
type Id = u64;

#[derive(Default)]
struct Kept {
    /// By the system's number.
    ids: BTreeMap<u64, Id>,
    next: Id,
    /// The flushed bytes of files.
    files: BTreeMap<Id, Vec<u8>>,
    /// Bytes of files whose name was flushed, and they were not.
    unsafe_files: BTreeMap<Id, Vec<u8>>,
    /// The flushed names in folders.
    folders: BTreeMap<Id, BTreeMap<String, Id>>,
    /// The time of day in seconds.
    time: i64,
    jumps: Option<Random>,
    /// Whether jumps also go back, and how often they did.
    goes_back: bool,
    backs: u64,
}

pub(crate) struct Disk {
    root: PathBuf,
    /// The device that has the root.
    device: u64,
    kept: Mutex<Kept>,
}

/// The process that a thread plays.
pub(crate) struct Process {
    disk: Arc<Disk>,
    connection: Connection,
}

thread_local! {
    static PROCESS: RefCell<Option<Process>> = const { RefCell::new(None) };
}

/// Lets this thread play a process, or none any more.
pub(crate) fn play(process: Option<Process>) {
    PROCESS.with(|playing| playing.replace(process));
}

/// Calls `work` with the process of this thread, if it plays one. Calls within `work` are the system's.
pub(crate) fn of_thread<T>(work: impl FnOnce(&Process) -> T) -> Option<T> {
    let take = || PROCESS.try_with(|playing| playing.try_borrow_mut().ok()?.take()).ok().flatten();
    let process = take()?;
    let done = work(&process);
    play(Some(process));
    Some(done)
}

/// The folder of a run is a new one below this.
fn temporary() -> PathBuf {
    // In memory, if that is there.
    let memory = Path::new("/dev/shm");
    if memory.is_dir() { memory.to_owned() } else { std::env::temp_dir() }
}

impl Disk {
    pub(crate) fn new(number: u64, jumps: Option<u64>, goes_back: bool) -> io::Result<Arc<Self>> {
        let root = temporary().join(format!("zarr-simulate-{}-{number}", std::process::id()));
        fs::create_dir_all(&root)?;
        let root = fs::canonicalize(&root)?;
        let jumps = jumps.map(Random::new);
        let kept = Kept { time: 1_700_000_000, jumps, goes_back, ..Kept::default() };
        let device = fs::metadata(&root)?.dev();
        let disk = Self { root, device, kept: Mutex::new(kept) };
        disk.flush_all()?;
        Ok(Arc::new(disk))
    }

    pub(crate) fn root(&self) -> &Path {
        &self.root
    }

    pub(crate) fn process(self: &Arc<Self>, connection: Connection) -> Process {
        Process { disk: self.clone(), connection }
    }

    /// The number of the file at a path, if there is one: each new file has another.
    pub(crate) fn file(&self, path: &Path) -> Option<Id> {
        self.kept().id(path).ok()
    }

    /// How often the clock has gone back.
    pub(crate) fn backs(&self) -> u64 {
        self.kept().backs
    }

    fn kept(&self) -> MutexGuard<'_, Kept> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Everything is on the disk.
    pub(crate) fn flush_all(&self) -> io::Result<()> {
        let mut kept = self.kept();
        let mut waiting = vec![self.root.clone()];
        while let Some(folder) = waiting.pop() {
            kept.flush(&folder)?;
            for entry in fs::read_dir(&folder)? {
                let path = entry?.path();
                if path.is_dir() { waiting.push(path) } else { kept.flush(&path)? }
            }
        }
        Ok(())
    }

    /// The power fails: what was not flushed may be there, lost, or there in part.
    pub(crate) fn fail(&self, random: &mut Random) -> io::Result<()> {
        let lost = random.pick(&[0, 30, 60, 100]);
        let mut kept = self.kept();
        let root = kept.id(&self.root)?;
        kept.restore(&self.root, root, lost, random)?;
        drop(kept);
        self.flush_all()
    }
}

impl Drop for Disk {
    fn drop(&mut self) {
        // Nothing depends on what stays.
        let _stays = fs::remove_dir_all(&self.root);
    }
}

impl Process {
    /// Lets other clients go on before this one does, if there are some.
    pub(crate) fn take_turn(&self) -> io::Result<()> {
        if self.connection.world.is_shared() && self.connection.is_alive() {
            self.connection.turn().map_err(|_| ended())?;
        }
        Ok(())
    }

    /// Lets other clients go on before a file of the disk is read.
    ///
    /// Files of the system, such as the number of cores, are read once in this program and not in each
    /// run, so they take no turn.
    pub(crate) fn take_turn_to_read(&self, fd: i32) -> io::Result<()> {
        let is_here = fs::metadata(of_fd(fd)).is_ok_and(|file| file.dev() == self.disk.device);
        if is_here { self.take_turn() } else { Ok(()) }
    }

    /// Makes a call if the process is alive and nothing fails.
    pub(crate) fn call(&self, call: &Call, real: &dyn Fn() -> i64) -> io::Result<i64> {
        self.take_turn()?;
        if !self.connection.is_alive() {
            return Err(ended());
        }
        let line = self.line(call);
        let made = self.connection.request(Does::Write, &line, |_| {
            let done = outcome(real())?;
            self.disk.kept().after(&self.disk.root, call, done)?;
            Ok(done)
        });
        match made {
            Ok((done, _)) => done,
            Err(Failure::Failed) => Err(io::Error::from_raw_os_error(libc::ENOSPC)),
            Err(_) => Err(ended()),
        }
    }

    /// Makes a call to lock a file, again until no other client holds the lock if it `waits`.
    pub(crate) fn lock(&self, waits: bool, real: &dyn Fn() -> i64) -> io::Result<i64> {
        loop {
            self.take_turn()?;
            if !self.connection.is_alive() {
                return Err(ended());
            }
            match outcome(real()) {
                Err(error) if waits && error.kind() == io::ErrorKind::WouldBlock => {
                    self.connection.wait_for_lock().map_err(|_| ended())?;
                }
                done => return done,
            }
        }
    }

    /// Lets all clients look again that wait for locks.
    pub(crate) fn release(&self) {
        self.connection.world.schedule.release();
    }

    /// The number of the client, which none of this program's other threads has.
    pub(crate) fn number(&self) -> i32 {
        i32::try_from(self.connection.client).unwrap_or(0).saturating_add(1)
    }

    /// The time of day, which passes with each look at it.
    pub(crate) fn now(&self) -> i64 {
        let kept = &mut *self.disk.kept();
        kept.time += 1;
        if let Some(jumps) = &mut kept.jumps
            && jumps.chance(20)
        {
            let by = i64::try_from(jumps.below(100_000)).unwrap_or(0);
            let is_back = kept.goes_back && jumps.chance(50);
            kept.time += if is_back { -by } else { by };
            kept.backs += u64::from(is_back);
        }
        kept.time
    }

    /// A call in words. Temporary files have names that differ between runs.
    fn line(&self, call: &Call) -> String {
        let short = |path: &Path| {
            let path =
                path.strip_prefix(&self.disk.root).unwrap_or(path).to_string_lossy().into_owned();
            let temporary = path.split_once(".zarr-kit-tmp");
            temporary.map_or(path.clone(), |(folder, _)| format!("{folder}temporary"))
        };
        match call {
            Call::Create { path, .. } => format!("creat {}", short(path)),
            Call::Write => "write".to_owned(),
            Call::Flush { fd } => {
                format!("fsync {}", short(&fs::read_link(of_fd(*fd)).unwrap_or_default()))
            }
            Call::Rename { from, to } => format!("rename {} {}", short(from), short(to)),
            Call::Remove { path } => format!("unlink {}", short(path)),
            Call::RemoveFolder { path } => format!("rmdir {}", short(path)),
            Call::CreateFolder { path } => format!("mkdir {}", short(path)),
            Call::Link { from, to } => format!("link {} {}", short(from), short(to)),
        }
    }
}

/// The error of each call of a process that has ended.
fn ended() -> io::Error {
    io::Error::from_raw_os_error(libc::EIO)
}

fn of_fd(fd: i32) -> PathBuf {
    PathBuf::from(format!("/proc/self/fd/{fd}"))
}

impl Kept {
    /// The number of what is at a path.
    fn id(&mut self, path: &Path) -> io::Result<Id> {
        let number = fs::metadata(path)?.ino();
        let next = self.next;
        let id = *self.ids.entry(number).or_insert(next);
        self.next += u64::from(id == next);
        Ok(id)
    }

    /// Something new has this path.
    fn renew(&mut self, path: &Path) -> io::Result<Id> {
        self.ids.remove(&fs::metadata(path)?.ino());
        self.id(path)
    }

    fn after(&mut self, root: &Path, call: &Call, done: i64) -> io::Result<()> {
        match call {
            Call::Create { is_new: true, .. } => {
                let fd = i32::try_from(done).unwrap_or(-1);
                self.renew(&of_fd(fd))?;
            }
            Call::CreateFolder { path } => {
                let id = self.renew(path)?;
                self.folders.insert(id, BTreeMap::new());
            }
            Call::Flush { fd } => {
                let path = fs::read_link(of_fd(*fd))?;
                // The folder above is nobody's.
                if path.starts_with(root) {
                    self.flush(&path)?;
                }
            }
            Call::Rename { to, .. } => {
                self.time += 1;
                let seconds = Duration::from_secs(u64::try_from(self.time).unwrap_or(0));
                let times = FileTimes::new().set_modified(UNIX_EPOCH + seconds);
                File::open(to)?.set_times(times)?;
            }
            _ => {}
        }
        Ok(())
    }

    /// A file or folder is on the disk as it is now.
    fn flush(&mut self, path: &Path) -> io::Result<()> {
        let id = self.id(path)?;
        if !path.is_dir() {
            self.files.insert(id, fs::read(path)?);
            return Ok(());
        }
        let names = self.names(path)?;
        for (name, id) in &names {
            let path = path.join(name);
            if path.is_dir() {
                self.folders.entry(*id).or_default();
            } else if !self.files.contains_key(id) {
                self.unsafe_files.insert(*id, fs::read(path)?);
            }
        }
        self.folders.insert(id, names);
        Ok(())
    }

    /// The names in a folder, none if there is no such folder.
    fn names(&mut self, folder: &Path) -> io::Result<BTreeMap<String, Id>> {
        let mut names = BTreeMap::new();
        let Ok(entries) = fs::read_dir(folder) else { return Ok(names) };
        for entry in entries {
            let entry = entry?;
            names.insert(entry.file_name().to_string_lossy().into_owned(), self.id(&entry.path())?);
        }
        Ok(names)
    }

    /// Brings a folder to what a power failure leaves of it.
    fn restore(&mut self, folder: &Path, id: Id, lost: u64, random: &mut Random) -> io::Result<()> {
        let current = self.names(folder)?;
        let flushed = self.folders.get(&id).cloned().unwrap_or_default();
        let names: BTreeSet<_> = current.keys().chain(flushed.keys()).cloned().collect();
        for name in names {
            let (now, then) = (current.get(&name), flushed.get(&name));
            let chosen = if now != then && random.chance(lost) { then } else { now };
            let path = folder.join(&name);
            if now.is_some() && now != chosen {
                if path.is_dir() { fs::remove_dir_all(&path)? } else { fs::remove_file(&path)? }
            }
            let Some(chosen) = chosen else { continue };
            if self.folders.contains_key(chosen) {
                fs::create_dir_all(&path)?;
                self.restore(&path, *chosen, lost, random)?;
                continue;
            }
            let flushed = self.files.get(chosen);
            let last = match now == Some(chosen) {
                true => Some(fs::read(&path)?),
                false => self.unsafe_files.get(chosen).or(flushed).cloned(),
            };
            let last = last.unwrap_or_default();
            if flushed != Some(&last) || now != Some(chosen) {
                let torn = torn(flushed, &last, random);
                fs::write(&path, torn)?;
            }
        }
        Ok(())
    }
}

/// What is left of a file.
fn torn(flushed: Option<&Vec<u8>>, last: &[u8], random: &mut Random) -> Vec<u8> {
    if flushed.is_some_and(|flushed| flushed == last) {
        return last.to_vec();
    }
    let part = usize::try_from(random.below(last.len() as u64 + 1)).unwrap_or(0);
    let begin = &last[..part];
    match random.below(4) {
        0 => last.to_vec(),
        1 => flushed.cloned().unwrap_or_default(),
        2 => begin.to_vec(),
        // Its length is there, and some of its bytes are.
        _ => [begin, &vec![0; last.len() - part]].concat(),
    }
}
