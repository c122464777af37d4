//! The system calls by which local files change, and the clock: the functions of the C library that
//! the standard library calls, in their place.
//!
//! A thread that plays a process on a [`Disk`](crate::disk::Disk) asks it before each call. All other
//! threads get the system's own calls. Calls that pass the C library by, such as `openat2`, only read.

#![expect(unsafe_code, reason = "the functions of the C library have raw pointers")]

use std::ffi::{CStr, OsStr};
use std::io;
use std::os::fd::RawFd;
use std::os::unix::ffi::OsStrExt as _;
use std::path::PathBuf;

use libc::{
    c_char, c_int, c_long, c_uint, c_void, clockid_t, iovec, mode_t, off64_t, pid_t, size_t,
    ssize_t, timespec,
};

use crate::disk::{Call, Process, of_thread};

/// Makes a call, unless the disk of this thread decides otherwise.
fn made(call: impl FnOnce() -> Call, real: impl Fn() -> c_long) -> c_long {
    answer(of_thread(|disk| disk.call(&call(), &real)).unwrap_or_else(|| outcome(real())))
}

/// What a function of the C library returns.
fn answer(result: io::Result<c_long>) -> c_long {
    match result {
        Ok(done) => done,
        Err(error) => {
            let number = error.raw_os_error().unwrap_or(libc::EIO);
            // SAFETY: the pointer is to this thread's error number.
            unsafe { *libc::__errno_location() = number };
            -1
        }
    }
}

/// What a call returned: an error is in this thread's error number.
pub(crate) fn outcome(returned: c_long) -> io::Result<c_long> {
    if returned < 0 { Err(io::Error::last_os_error()) } else { Ok(returned) }
}

fn path(text: *const c_char) -> PathBuf {
    // SAFETY: callers of these functions pass texts that end in NUL.
    let bytes = unsafe { CStr::from_ptr(text) }.to_bytes();
    PathBuf::from(OsStr::from_bytes(bytes))
}

fn int(value: c_long) -> c_int {
    c_int::try_from(value).unwrap_or(-1)
}

fn size(value: c_long) -> ssize_t {
    ssize_t::try_from(value).unwrap_or(-1)
}

macro_rules! system {
    ($number:ident $(, $argument:expr)*) => {
        // SAFETY: the arguments are those of the caller, for the call that it made.
        unsafe { libc::syscall(libc::$number $(, $argument)*) }
    };
}

const HERE: c_int = libc::AT_FDCWD;

/// SAFETY: the name is the C library's, and so is what the function does.
#[unsafe(no_mangle)]
extern "C" fn open64(name: *const c_char, flags: c_int, mode: mode_t) -> c_int {
    let real = || system!(SYS_openat, HERE, name, flags, c_uint::from(mode));
    if flags & libc::O_CREAT == 0 {
        return int(real());
    }
    let is_new = flags & libc::O_EXCL != 0;
    int(made(|| Call::Create { path: path(name), is_new }, real))
}

/// SAFETY: as [`open64`].
#[unsafe(no_mangle)]
extern "C" fn write(fd: RawFd, bytes: *const c_void, count: size_t) -> ssize_t {
    let real = || system!(SYS_write, fd, bytes, count);
    // Messages of panics are no part of a run.
    size(if fd <= libc::STDERR_FILENO { real() } else { made(|| Call::Write, real) })
}

/// SAFETY: as [`open64`].
#[unsafe(no_mangle)]
extern "C" fn writev(fd: RawFd, pieces: *const iovec, count: c_int) -> ssize_t {
    size(made(|| Call::Write, || system!(SYS_writev, fd, pieces, count)))
}

/// SAFETY: as [`open64`]. Before a read, other clients go on.
#[unsafe(no_mangle)]
extern "C" fn read(fd: RawFd, bytes: *mut c_void, count: size_t) -> ssize_t {
    let _turn = of_thread(|disk| disk.take_turn_to_read(fd));
    size(system!(SYS_read, fd, bytes, count))
}

/// SAFETY: as [`read`].
#[unsafe(no_mangle)]
extern "C" fn pread64(fd: RawFd, bytes: *mut c_void, count: size_t, at: off64_t) -> ssize_t {
    let _turn = of_thread(|disk| disk.take_turn_to_read(fd));
    size(system!(SYS_pread64, fd, bytes, count, at))
}

/// SAFETY: as [`open64`]. The disk keeps what a power failure must not take; the system need not.
#[unsafe(no_mangle)]
extern "C" fn fsync(fd: RawFd) -> c_int {
    match of_thread(|_| ()) {
        None => int(system!(SYS_fsync, fd)),
        Some(()) => int(made(|| Call::Flush { fd }, || 0)),
    }
}

/// SAFETY: as [`open64`]. Whoever would wait for a lock in the system lets other clients go on.
#[unsafe(no_mangle)]
extern "C" fn flock(fd: RawFd, operation: c_int) -> c_int {
    let real = |operation: c_int| system!(SYS_flock, fd, operation);
    let waits = operation & libc::LOCK_NB == 0;
    let locked = of_thread(|disk| disk.lock(waits, &|| real(operation | libc::LOCK_NB)));
    int(answer(locked.unwrap_or_else(|| outcome(real(operation)))))
}

/// SAFETY: as [`open64`]. Closing a file releases its lock.
#[unsafe(no_mangle)]
extern "C" fn close(fd: RawFd) -> c_int {
    let done = int(system!(SYS_close, fd));
    of_thread(Process::release);
    done
}

/// SAFETY: as [`open64`]. Each client is a process, whose threads exclude each other before locks do.
#[unsafe(no_mangle)]
extern "C" fn getpid() -> pid_t {
    let client = of_thread(Process::number).unwrap_or(0);
    int(system!(SYS_getpid)).saturating_add(client)
}

/// SAFETY: as [`open64`].
#[unsafe(no_mangle)]
extern "C" fn rename(from: *const c_char, to: *const c_char) -> c_int {
    let real = || system!(SYS_renameat2, HERE, from, HERE, to, 0 as c_uint);
    int(made(|| Call::Rename { from: path(from), to: path(to) }, real))
}

/// SAFETY: as [`open64`].
#[unsafe(no_mangle)]
extern "C" fn unlink(name: *const c_char) -> c_int {
    let real = || system!(SYS_unlinkat, HERE, name, 0 as c_int);
    int(made(|| Call::Remove { path: path(name) }, real))
}

/// SAFETY: as [`open64`].
#[unsafe(no_mangle)]
extern "C" fn rmdir(name: *const c_char) -> c_int {
    let real = || system!(SYS_unlinkat, HERE, name, libc::AT_REMOVEDIR);
    int(made(|| Call::RemoveFolder { path: path(name) }, real))
}

/// SAFETY: as [`open64`].
#[unsafe(no_mangle)]
extern "C" fn mkdir(name: *const c_char, mode: mode_t) -> c_int {
    let real = || system!(SYS_mkdirat, HERE, name, c_uint::from(mode));
    int(made(|| Call::CreateFolder { path: path(name) }, real))
}

/// SAFETY: as [`open64`].
#[unsafe(no_mangle)]
extern "C" fn linkat(
    from_folder: RawFd,
    from: *const c_char,
    to_folder: RawFd,
    to: *const c_char,
    flags: c_int,
) -> c_int {
    let real = || system!(SYS_linkat, from_folder, from, to_folder, to, flags);
    int(made(|| Call::Link { from: path(from), to: path(to) }, real))
}

/// SAFETY: as [`open64`]. The time of day is the disk's.
#[unsafe(no_mangle)]
extern "C" fn clock_gettime(clock: clockid_t, time: *mut timespec) -> c_int {
    let simulated = (clock == libc::CLOCK_REALTIME).then(|| of_thread(|disk| disk.now())).flatten();
    match simulated {
        None => int(system!(SYS_clock_gettime, clock, time)),
        Some(seconds) => {
            // SAFETY: callers pass a place for a time.
            unsafe { *time = timespec { tv_sec: seconds, tv_nsec: 0 } };
            0
        }
    }
}
