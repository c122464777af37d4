//! The archive that a session writes: a temporary copy, which takes the archive's place at the end.

use std::collections::BTreeMap;
use std::fmt;
use std::fs::File;
use std::io::{self, IoSlice, Read, Seek, SeekFrom, Write};
use std::path::Path;
use std::slice::from_ref;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipWriter};

use zarr_store::{
    Durability, Key, ObjectMeta, Operation, ReadRange, StoreError, TemporaryFile, Version, reserve,
};

use super::archive::{Archive, store_error};
use super::ozx::{arrange, is_ozx};

/// Sizes from here on need the fields of zip64.
const ZIP64: u64 = u32::MAX as u64;

/// An archive that is being written, beside the archive that it will replace.
pub(super) struct Draft {
    /// `None` once it has been finished.
    zip: Option<ZipWriter<Sink>>,
    given_up: Arc<AtomicBool>,
    /// `None` once it has been renamed.
    temporary: Option<TemporaryFile>,
    /// The same file, with the position of the writer.
    file: File,
    /// Where the new objects are in the temporary file.
    pub(super) entries: BTreeMap<String, Written>,
}

/// The next number of a version. It counts on over all drafts: what one added that was given up is no
/// version of the next one.
static NEXT_VERSION: AtomicU64 = AtomicU64::new(0);

/// An object that was added.
#[derive(Debug)]
pub(super) struct Written {
    start: u64,
    size: u64,
    version: u64,
}

impl Written {
    pub(super) fn meta(&self) -> ObjectMeta {
        // No entry of an archive has this last number.
        let version = Version::from_numbers([self.start, self.size, self.version, 1]);
        ObjectMeta { size: self.size, version: Some(version), modified: None }
    }
}

impl fmt::Debug for Draft {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Draft").field("entries", &self.entries).finish_non_exhaustive()
    }
}

/// Discards the temporary archive. The library would otherwise finish it on drop, and print if that
/// fails.
impl Drop for Draft {
    fn drop(&mut self) {
        self.given_up.store(true, Ordering::Relaxed);
        self.zip = None;
    }
}

/// Writes to the temporary file until a write fails or it is given up, and then nowhere. The
/// library continues after an error, and then expects the position to be unchanged.
struct Sink {
    file: File,
    given_up: Arc<AtomicBool>,
    at: u64,
    end: u64,
}

impl Sink {
    fn new(file: File, given_up: &Arc<AtomicBool>) -> Self {
        Self { file, given_up: Arc::clone(given_up), at: 0, end: 0 }
    }

    fn is_given_up(&self) -> bool {
        self.given_up.load(Ordering::Relaxed)
    }

    fn is_at(&mut self, at: u64) {
        self.at = at;
        self.end = self.end.max(at);
    }
}

impl Write for Sink {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.is_given_up() {
            return Ok(bytes.len());
        }
        let written = self.file.write(bytes);
        match &written {
            Ok(written) => self.is_at(self.at + *written as u64),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(_) => {
                zarr_store::reached!("zip: a write that fails ends the session");
                self.given_up.store(true, Ordering::Relaxed);
            }
        }
        written
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Read for Sink {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        let read = self.file.read(bytes)?;
        self.is_at(self.at + read as u64);
        Ok(read)
    }
}

impl Seek for Sink {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        if self.is_given_up() {
            return Ok(self.end);
        }
        let at = self.file.seek(to)?;
        self.is_at(at);
        Ok(at)
    }
}

impl Draft {
    /// A temporary file beside the archive at `path`, with a copy of `base`, its content.
    pub(super) fn begin(path: &Path, base: Option<&Archive>) -> Result<Self, StoreError> {
        let fail = |error| StoreError::io(Operation::Put, path.display(), error);
        let temporary = TemporaryFile::beside(path).map_err(fail)?;
        let given_up = Arc::new(AtomicBool::new(false));
        let mut file = temporary.file().try_clone().map_err(fail)?;
        let shared = file.try_clone().map_err(fail)?;
        let zip = match base {
            None => ZipWriter::new(Sink::new(file, &given_up)),
            Some(base) => {
                zarr_store::reached!("zip: an archive is added to");
                let mut archive = File::open(path).map_err(fail)?;
                // Systems that can share the blocks of both files do, within this call.
                let copied = io::copy(&mut archive, &mut file).map_err(fail)?;
                if copied != base.source.meta.size {
                    return Err(replaced(path));
                }
                ZipWriter::new_append(Sink::new(file, &given_up))
                    .map_err(|error| store_error(error, &|reason| container(path, reason)))?
            }
        };
        Ok(Self {
            zip: Some(zip),
            given_up,
            temporary: Some(temporary),
            file: shared,
            entries: BTreeMap::new(),
        })
    }

    /// The file that it is in.
    pub(super) fn temporary(&self) -> Option<&TemporaryFile> {
        self.temporary.as_ref()
    }

    /// Adds an object, or replaces an added object.
    pub(super) fn put(
        &mut self,
        path: &Path,
        key: &Key,
        pieces: &[IoSlice<'_>],
    ) -> Result<(), StoreError> {
        let size = pieces.iter().fold(0_u64, |sum, piece| sum + piece.len() as u64);
        self.refuse_given_up(path)?;
        self.remove(key)?;
        let fail = |error| store_error(error, &|reason| container(path, reason));
        let options = SimpleFileOptions::default()
            .compression_method(CompressionMethod::Stored)
            .large_file(size >= ZIP64)
            .unix_permissions(0o644);
        let Some(zip) = &mut self.zip else {
            return Err(container(path, "its archive is finished"));
        };
        zip.start_file(key.as_str(), options).map_err(fail)?;
        let start = (&self.file).stream_position();
        let start = start.map_err(|error| StoreError::io(Operation::Put, key, error))?;
        for piece in pieces {
            zip.write_all(piece).map_err(|error| StoreError::io(Operation::Put, key, error))?;
        }
        let version = NEXT_VERSION.fetch_add(1, Ordering::Relaxed);
        self.entries.insert(key.to_string(), Written { start, size, version });
        Ok(())
    }

    /// Bytes that were written after a failed write are nowhere.
    fn refuse_given_up(&self, path: &Path) -> Result<(), StoreError> {
        match self.given_up.load(Ordering::Relaxed) {
            true => Err(container(path, "a write of this session failed; begin another one")),
            false => Ok(()),
        }
    }

    /// Takes an object that was added out of the archive's directory; its bytes stay unused.
    pub(super) fn remove(&mut self, key: &Key) -> Result<(), StoreError> {
        if self.entries.remove(key.as_str()).is_some()
            && let Some(zip) = &mut self.zip
        {
            let fail = |reason| StoreError::container(Operation::Delete, key, reason);
            zip.hide_file(key.as_str()).map_err(|error| store_error(error, &fail))?;
        }
        Ok(())
    }

    pub(super) fn get(
        &self,
        key: &Key,
        written: &Written,
        range: ReadRange<'_>,
        out: &mut Vec<u8>,
    ) -> Result<(), StoreError> {
        let len = range.len_within(key, written.size)?;
        out.clear();
        reserve(key, out, len)?;
        let (all, suffix) = (0..written.size, written.size.saturating_sub(len)..written.size);
        let ranges = match range {
            ReadRange::All => from_ref(&all),
            ReadRange::Suffix(_) => from_ref(&suffix),
            ReadRange::Ranges(ranges) => ranges,
        };
        let mut read = || {
            for range in ranges {
                (&self.file).seek(SeekFrom::Start(written.start + range.start))?;
                (&self.file).take(range.end - range.start).read_to_end(out)?;
            }
            Ok::<_, io::Error>(())
        };
        // The position is the writer's, too.
        let result = (&self.file).stream_position().and_then(|at| {
            let result = read();
            (&self.file).seek(SeekFrom::Start(at)).and(result)
        });
        result.map_err(|error| StoreError::io(Operation::Get, key, error))
    }

    /// Writes the archive's directory, and puts the file in the place of the archive.
    pub(super) fn finish(mut self, path: &Path, durability: Durability) -> Result<(), StoreError> {
        let fail = |error| StoreError::io(Operation::Put, path.display(), error);
        if let Some(zip) = self.zip.take() {
            let finished = zip.finish();
            finished.map_err(|error| store_error(error, &|reason| container(path, reason)))?;
        }
        self.refuse_given_up(path)?;
        let Some(mut temporary) = self.temporary.take() else { return Ok(()) };
        if is_ozx(path) {
            let arranged = TemporaryFile::beside(path).map_err(fail)?;
            let failed = |error| store_error(error, &|reason| container(path, reason));
            let to = Sink::new(arranged.file().try_clone().map_err(fail)?, &self.given_up);
            arrange(temporary.file(), to).map_err(failed)?;
            temporary = arranged;
        }
        temporary.install(durability).map_err(fail)
    }
}

/// An error that concerns the whole archive.
pub(super) fn container(path: &Path, reason: impl Into<String>) -> StoreError {
    StoreError::container(Operation::Put, path.display(), reason)
}

/// The error if another writer has replaced the archive.
pub(super) fn replaced(path: &Path) -> StoreError {
    container(path, "another writer replaced the archive; nothing was added to it")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_archive_that_cannot_be_arranged_is_an_error() {
        let folder = tempfile::tempdir().expect("makes a folder");
        let path = folder.path().join("a.zip");
        let mut draft = Draft::begin(&path, None).expect("begins");
        let key = Key::new("zarr.json").expect("a key");
        draft.put(&path, &key, &[IoSlice::new(b"{}")]).expect("writes");
        draft.finish(&path, Durability::ProcessEnd).expect("finishes");
        let archive = File::open(&path).expect("opens");
        // As on a full disk. The library would print when it drops what it cannot finish.
        let given_up = Arc::new(AtomicBool::new(false));
        let full = Sink::new(File::open(&path).expect("opens"), &given_up);
        arrange(&archive, full).expect_err("is full");
        assert!(given_up.load(Ordering::Relaxed), "nothing more is written");
    }

    #[test]
    fn a_write_that_fails_ends_the_session() {
        let folder = tempfile::tempdir().expect("makes a folder");
        let path = folder.path().join("a.zip");
        let bytes = [IoSlice::new(b"bytes")];
        let begin = || {
            let mut draft = Draft::begin(&path, None).expect("begins");
            let key = Key::new("before").expect("a key");
            draft.put(&path, &key, &bytes).expect("writes");
            // Open to be read only, a file fails each write, as one on a full disk does.
            let full = folder.path().join("full");
            std::fs::write(&full, "").expect("writes");
            let full = File::open(full).expect("opens");
            draft.zip = Some(ZipWriter::new(Sink::new(full, &draft.given_up)));
            draft
        };
        let failed = |draft: &mut Draft, name: &str| {
            let key = Key::new(name).expect("a key");
            let error = draft.put(&path, &key, &bytes).expect_err(name);
            assert!(!draft.entries.contains_key(name), "{name}");
            error.to_string()
        };
        let mut draft = begin();
        let first = failed(&mut draft, "first");
        let later = failed(&mut draft, "later");
        let ended = "a write of this session failed; begin another one";
        assert!(!first.contains(ended) && later.contains(ended), "{first}; {later}");
        let finished = draft.finish(&path, Durability::ProcessEnd).expect_err("is not finished");
        assert!(finished.to_string().contains(ended), "{finished}");
        // Dropped at once.
        failed(&mut begin(), "first");
        let left = std::fs::read_dir(folder.path()).expect("lists").count();
        assert_eq!(left, 1, "neither an archive nor a temporary file");
    }
}
