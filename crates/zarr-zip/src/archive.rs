//! The entries of an archive, by key.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, Read as _, Seek as _, SeekFrom};
use std::sync::OnceLock;

use zip::result::ZipError;
use zip::{CompressionMethod, ZipArchive};

use zarr_store::{Key, ObjectMeta, Operation, StoreError, Version};

use super::source::{Reader, Source, WINDOW};

/// The length of a local header without its name and extra fields.
pub(super) const LOCAL_HEADER: u64 = 30;
/// The signature of an entry of the directory, and its length without the variable fields after it.
const CENTRAL: &[u8; 4] = b"PK\x01\x02";
const CENTRAL_HEADER: u64 = 46;
/// The signature of the record behind the directory.
const END: &[u8] = b"PK\x05\x06";

/// One version of an archive, and where its objects are.
#[derive(Debug)]
pub(super) struct Archive {
    pub(super) source: Source,
    pub(super) entries: BTreeMap<String, Entry>,
    /// The names of files that are no keys.
    pub(super) without_key: BTreeSet<String>,
    /// Where the archive's directory begins, and the entries end.
    pub(super) directory: u64,
}

/// An object of an archive.
#[derive(Debug)]
pub(super) struct Entry {
    /// Where its local header begins, and the bytes behind it end at the earliest.
    pub(super) header_start: u64,
    /// Where its bytes begin, once the local header has been read.
    pub(super) data_start: OnceLock<u64>,
    pub(super) compressed: u64,
    pub(super) size: u64,
    pub(super) crc: u32,
    pub(super) method: CompressionMethod,
    pub(super) encrypted: bool,
}

impl Entry {
    /// Place, size and checksum identify the version: in an archive that was replaced, another
    /// object with all three the same holds the same bytes.
    fn version(&self) -> Version {
        Version::from_numbers([self.header_start, self.size, self.crc.into(), 0])
    }
}

impl Archive {
    /// Whether this is a later version of the archive `old`: no object is gone or changed.
    pub(super) fn extends(&self, old: &Self) -> bool {
        old.entries.iter().all(|(key, old)| {
            self.entries.get(key).is_some_and(|found| found.version() == old.version())
        })
    }

    pub(super) fn head(&self, key: &Key) -> Option<ObjectMeta> {
        self.entries.get(key.as_str()).map(|entry| self.meta(entry))
    }

    /// The metadata of an entry. It was modified when the archive was: times of entries are local
    /// times of any writer.
    pub(super) fn meta(&self, entry: &Entry) -> ObjectMeta {
        let modified = self.source.meta.modified;
        ObjectMeta { size: entry.size, version: Some(entry.version()), modified }
    }

    /// Reads the archive's directory. Names that are no keys are no entries: no reader of a Zarr
    /// hierarchy asks for them, and nothing is unpacked to a path. Of several entries of one name
    /// the last counts, as for Python's `zipfile`: zarr-python writes them when it overwrites.
    pub(super) fn open(source: Source) -> Result<Self, StoreError> {
        let fail = |reason: String| StoreError::container(Operation::Open, &source.key, reason);
        let zip =
            ZipArchive::new(source.reader(WINDOW)).map_err(|error| store_error(error, &fail))?;
        let directory = zip.central_directory_start();
        let (mut entries, mut without_key) = (BTreeMap::new(), BTreeSet::new());
        let mut extents = Vec::with_capacity(zip.len());
        let mut last = directory;
        for index in 0..zip.len() {
            let entry = zip.by_index_data(index).map_err(|error| store_error(error, &fail))?;
            let (header_start, compressed) = (entry.header_start(), entry.compressed_size());
            let header = LOCAL_HEADER.saturating_add(entry.name_raw().len() as u64);
            let end = header_start.saturating_add(header).saturating_add(compressed);
            extents.push((header_start, end));
            last = last.max(entry.central_header_start());
            if !entry.is_file() {
                continue;
            }
            let Some(key) = entry.name().ok().and_then(|name| Key::new(name).ok()) else {
                without_key.insert(String::from_utf8_lossy(entry.name_raw()).into_owned());
                continue;
            };
            let entry = Entry {
                header_start,
                data_start: OnceLock::new(),
                compressed,
                size: entry.size(),
                crc: entry.crc32(),
                method: entry.compression(),
                encrypted: entry.encrypted(),
            };
            entries.insert(key.to_string(), entry);
        }
        refuse_overlaps(extents, directory).map_err(fail)?;
        let count = zip.len();
        if goes_on(zip.into_inner(), last).map_err(|error| store_error(error.into(), &fail))? {
            return Err(fail(format!(
                "its directory goes on after the {count} entries that it counts, as programs without \
                 zip64 write it; copy it by a program that reads all of them, such as Python's zipfile"
            )));
        }
        Ok(Self { source, entries, without_key, directory })
    }
}

/// Whether another entry of the directory follows the entry at `last`. If no entry is counted and
/// the directory's end is there: whether the directory has a length. Writers without zip64 count
/// modulo 2^16, and uncounted entries would read as absent.
fn goes_on(mut file: Reader, last: u64) -> io::Result<bool> {
    let mut header = Vec::new();
    file.seek(SeekFrom::Start(last))?;
    file.by_ref().take(CENTRAL_HEADER).read_to_end(&mut header)?;
    if header.starts_with(END) {
        return Ok(header.get(12..16).is_some_and(|length| length != [0; 4]));
    }
    if !header.starts_with(CENTRAL) {
        return Ok(false);
    }
    file.seek(SeekFrom::Start(last.saturating_add(CENTRAL_HEADER)))?;
    let length = |at: usize| match header.get(at..) {
        Some([low, high, ..]) => i64::from(u16::from_le_bytes([*low, *high])),
        _ => 0,
    };
    // The lengths of the name, the extra fields and the comment.
    file.seek(SeekFrom::Current(length(28) + length(30) + length(32)))?;
    let mut next = [0; CENTRAL.len()];
    Ok(file.read_exact(&mut next).is_ok() && next == *CENTRAL)
}

/// Refuses entries that share bytes: a small archive could otherwise unpack to any size.
fn refuse_overlaps(mut extents: Vec<(u64, u64)>, directory: u64) -> Result<(), String> {
    extents.sort_unstable();
    let starts = extents.iter().skip(1).map(|(start, _)| *start).chain([directory]);
    match extents.iter().zip(starts).find(|((_, end), next)| end > next) {
        Some(((start, _), _)) => Err(format!(
            "the entry at byte {start} reaches into the next one, or into the archive's directory; \
             an archive may not use bytes twice"
        )),
        None => Ok(()),
    }
}

/// The library's error, or the error of the store below it.
pub(super) fn store_error(error: ZipError, fail: &dyn Fn(String) -> StoreError) -> StoreError {
    match error {
        ZipError::Io(error) => match error.downcast::<StoreError>() {
            Ok(error) => error,
            Err(error) => fail(error.to_string()),
        },
        ZipError::InvalidArchive(text) => {
            fail(format!("it is not a zip archive, or a damaged one: {text}"))
        }
        error => fail(error.to_string()),
    }
}
