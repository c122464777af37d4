//! Opening files to lock them, and the meaning of failures.

use std::fs::{self, File, OpenOptions};
use std::io;
use std::ops::Deref;
use std::path::Path;
use std::thread;
use std::time::Duration;

/// A file that was opened to be locked; unlocked when dropped. A process that was forked meanwhile has
/// it open too, and closing it here would not release its lock until that process ends.
#[derive(Debug)]
pub(super) struct LockableFile(pub(super) File);

impl Deref for LockableFile {
    type Target = File;

    fn deref(&self) -> &File {
        &self.0
    }
}

impl Drop for LockableFile {
    fn drop(&mut self) {
        let _ = self.unlock();
    }
}

/// Opens or creates the lock file; also returns whether it existed.
pub(super) fn open_or_create(path: &Path) -> io::Result<(LockableFile, bool)> {
    again_if_refused(|| open_or_create_once(path))
}

/// Calls again for a second what Windows refuses while others have a file open.
///
/// It replaces no file that is open if its file system is not NTFS, or if a program opened it that
/// looks for viruses. There a removed file keeps its name until nobody has it open any more, and
/// nobody opens it meanwhile.
pub(super) fn again_if_refused<T>(call: impl Fn() -> io::Result<T>) -> io::Result<T> {
    let mut pause = Duration::from_millis(1);
    loop {
        match call() {
            Err(error)
                if cfg!(windows)
                    && error.kind() == io::ErrorKind::PermissionDenied
                    && pause < Duration::from_millis(600) =>
            {
                thread::sleep(pause);
                pause *= 2;
            }
            result => return result,
        }
    }
}

fn open_or_create_once(path: &Path) -> io::Result<(LockableFile, bool)> {
    let mut options = OpenOptions::new();
    options.read(true);
    let refused = refuse_links(&mut options);
    let is_link = || fs::symlink_metadata(path).is_ok_and(|meta| meta.is_symlink());
    let link = || io::Error::other("there is a symbolic link in the place of its lock file");
    // If opening follows links: the maker of the store may have put one here, and a file would be
    // created elsewhere.
    if !refused && is_link() {
        return Err(link());
    }
    match options.clone().write(true).create_new(true).open(path) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
        result => return result.map(|file| (LockableFile(file), false)),
    }
    match options.clone().write(true).create(true).truncate(false).open(path) {
        // It may have been left by another user's process: permission to read suffices to lock it.
        Err(error) if is_read_only(&error) => options.open(path).map_err(|_| error),
        Err(_) if refused && is_link() => Err(link()),
        result => result,
    }
    .map(|file| (LockableFile(file), true))
}

/// Opens a file to lock it, if it exists.
pub(super) fn open_existing(path: &Path) -> io::Result<LockableFile> {
    let mut options = OpenOptions::new();
    options.read(true);
    refuse_links(&mut options);
    // Some network file systems grant exclusive locks only on files opened for writing.
    match options.clone().write(true).open(path) {
        Err(error) if is_read_only(&error) => options.open(path),
        opened => opened,
    }
    .map(LockableFile)
}

/// Whether a file was not opened for writing though it may be there to read.
fn is_read_only(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem)
}

/// Opening a link becomes an error, and opening a pipe does not wait. Returns whether the system
/// supports this.
#[cfg(target_os = "linux")]
fn refuse_links(options: &mut OpenOptions) -> bool {
    use rustix::fs::OFlags;
    use std::os::unix::fs::OpenOptionsExt;
    options.custom_flags((OFlags::NOFOLLOW | OFlags::NONBLOCK).bits().cast_signed());
    true
}

#[cfg(not(target_os = "linux"))]
fn refuse_links(_: &mut OpenOptions) -> bool {
    false
}

/// Calls to lock a file, again whenever a signal interrupts it.
pub(super) fn locked(lock: impl Fn() -> io::Result<()>) -> io::Result<()> {
    loop {
        match lock() {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            result => return result,
        }
    }
}

/// Whether a call to lock failed because the file system has no locks, so that there is no holder:
/// `ENOSYS`, `EOPNOTSUPP` or, in some file systems in user space and in networks, `EINVAL`. After any
/// other error, such as `ENOLCK` or `EIO`, others may hold locks.
pub(super) fn has_no_locks(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::Unsupported | io::ErrorKind::InvalidInput)
}

/// Whether the path leads to the open file. Not if others removed the file or put another in its place.
#[cfg(unix)]
pub(super) fn is_at(file: &File, path: &Path) -> io::Result<bool> {
    use std::os::unix::fs::MetadataExt;
    let here = file.metadata()?;
    match fs::symlink_metadata(path) {
        Ok(there) => Ok((here.dev(), here.ino()) == (there.dev(), there.ino())),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
        Err(error) => Err(error),
    }
}

#[cfg(windows)]
pub(super) fn is_at(file: &File, path: &Path) -> io::Result<bool> {
    use same_file::Handle;
    use std::os::windows::fs::OpenOptionsExt;
    /// `FILE_FLAG_OPEN_REPARSE_POINT`: a link is another file.
    const THE_LINK: u32 = 0x0020_0000;
    // Its numbers can be asked for without the right to read it, whatever others may do with it.
    let there = match OpenOptions::new().access_mode(0).custom_flags(THE_LINK).open(path) {
        Ok(there) => there,
        // Refused: it was removed, and keeps its name while others have it open.
        Err(error)
            if matches!(
                error.kind(),
                io::ErrorKind::NotFound | io::ErrorKind::PermissionDenied
            ) =>
        {
            return Ok(false);
        }
        Err(error) => return Err(error),
    };
    // Both are open, so neither has the number of a file that was removed.
    Ok(Handle::from_file(file.try_clone()?)? == Handle::from_file(there)?)
}

/// Elsewhere the standard library locks no file.
#[cfg(not(any(unix, windows)))]
pub(super) fn is_at(_: &File, _: &Path) -> io::Result<bool> {
    Ok(true)
}

/// Whether a file has several names, as one by which a process locks several objects has. If that
/// process is dead, each name would lock all of them.
#[cfg(unix)]
pub(super) fn has_other_names(file: &File) -> io::Result<bool> {
    use std::os::unix::fs::MetadataExt;
    Ok(crate::step!("lock file: look for other names") && file.metadata()?.nlink() > 1)
}

/// Only on Unix does a holder give its file other names.
#[cfg(not(unix))]
pub(super) fn has_other_names(_: &File) -> io::Result<bool> {
    Ok(false)
}

#[cfg(target_os = "linux")]
#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use rustix::io::Errno;

    use super::{File, has_no_locks, io, is_read_only, locked, open_existing, open_or_create};

    #[test]
    fn a_file_that_is_dropped_is_unlocked_though_a_forked_process_has_it_open() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("lock");
        let (file, _) = open_or_create(&path).expect("creates");
        let waiting = File::open(&path).expect("opens");
        for (file, shared) in [(file, false), (open_existing(&path).expect("opens"), true)] {
            let forked = file.try_clone().expect("copies");
            match shared {
                true => file.lock_shared().expect("shares"),
                false => file.lock().expect("locks"),
            }
            assert!(waiting.try_lock().is_err());
            drop(file);
            waiting.try_lock().expect("is free");
            waiting.unlock().expect("unlocks");
            drop(forked);
        }
    }

    /// The error of a call that was interrupted twice before it failed, or succeeded.
    fn after_two_signals(last: Option<Errno>) -> Option<io::Error> {
        let calls = Cell::new(0);
        let result = locked(|| match calls.replace(calls.get() + 1) {
            0 | 1 => Err(Errno::INTR.into()),
            _ => last.map_or(Ok(()), |last| Err(last.into())),
        });
        assert_eq!(calls.get(), 3);
        result.err()
    }

    #[test]
    fn files_are_opened_to_read_where_they_cannot_be_written() {
        for (errno, expected) in [(Errno::ACCESS, true), (Errno::ROFS, true), (Errno::IO, false)] {
            assert_eq!(is_read_only(&errno.into()), expected, "{errno}");
        }
    }

    #[test]
    fn three_errors_of_a_lock_say_that_there_are_no_locks() {
        assert!(after_two_signals(None).is_none());
        let failed = |errno| after_two_signals(Some(errno)).expect("it failed");
        for errno in [Errno::INVAL, Errno::NOSYS, Errno::OPNOTSUPP] {
            assert!(has_no_locks(&failed(errno)), "{errno}");
        }
        for errno in [Errno::NOLCK, Errno::IO, Errno::STALE, Errno::PERM, Errno::BADF] {
            assert!(!has_no_locks(&failed(errno)), "{errno}");
        }
        let held = failed(Errno::WOULDBLOCK);
        assert!(held.kind() == io::ErrorKind::WouldBlock && !has_no_locks(&held));
    }
}
