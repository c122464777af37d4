//! References as tables: a folder with `.zmetadata`, which has the documents of all nodes, and
//! with files `ARRAY/refs.N.parq`, each with the references of `record_size` chunks. An array that is
//! the root has its files `refs.N.parq` in the folder itself.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::iter;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

use zarr_store::{
    DirEntry, Key, Operation, Prefix, Store, StoreError, StoreExt as _, path_below, sorted,
};

use super::file::Reference;
use super::json::Json;
use super::rows::Rows;
use super::target::Targets;

/// The most rows that one file may have: it takes some bytes to say that all of them are equal.
const MOST_ROWS: u64 = 1 << 22;

/// The bytes of rows that are cached; at least the file that is read.
const KEPT: usize = 64 << 20;

/// The references of a folder. Its files are read when they are needed.
#[derive(Debug)]
pub(super) struct Table {
    /// The folder's key in the store of the folder around it.
    folder: Prefix,
    documents: BTreeMap<String, Arc<[u8]>>,
    /// The names of documents that no object can have as key.
    pub(super) without_key: BTreeSet<String>,
    arrays: BTreeMap<String, Chunks>,
    record_size: u64,
    /// The files that were read last, the latest at the end.
    files: Mutex<VecDeque<(Key, Arc<File>)>>,
}

/// The chunks of an array.
#[derive(Debug)]
struct Chunks {
    /// The number of chunks on each axis.
    counts: Vec<u64>,
    separator: char,
}

/// A file: `None` until it was read, `Some(None)` if there is none.
type File = Mutex<Option<Option<Arc<Rows>>>>;

#[derive(Deserialize)]
struct Document<'a> {
    /// As text: programs that parse numbers round them.
    #[serde(borrow)]
    metadata: BTreeMap<String, &'a RawValue>,
    record_size: u64,
}

/// A document of version 3.
#[derive(Deserialize)]
struct NodeDocument {
    node_type: Value,
}

#[derive(Deserialize)]
struct ArrayDocument {
    shape: Vec<u64>,
    chunks: Vec<u64>,
    dimension_separator: Option<char>,
}

impl Table {
    /// Reads the document of a folder.
    pub(super) fn parse(folder: Prefix, json: &[u8]) -> Result<Self, String> {
        let json = Json::new(json);
        let Document { metadata, record_size } = json.read().map_err(|error| {
            format!("it is not the document of a folder of references: {error}")
        })?;
        if !(1..=MOST_ROWS).contains(&record_size) {
            return Err(format!("its record_size is {record_size}, expected 1 to {MOST_ROWS}"));
        }
        let (mut documents, mut arrays) = (BTreeMap::new(), BTreeMap::new());
        let mut without_key = BTreeSet::new();
        for (key, value) in metadata {
            if Key::new(&key).is_err() {
                without_key.insert(key);
                continue;
            }
            let (path, name) = key.rsplit_once('/').unwrap_or(("", &key));
            if name == ".zarray" {
                let chunks =
                    Chunks::of(value.get()).map_err(|reason| format!("{key:?}: {reason}"))?;
                arrays.insert(path.to_owned(), chunks);
            }
            // No program defines their files, so all chunks would read as fill values.
            let is_array = || {
                serde_json::from_str::<NodeDocument>(value.get())
                    .is_ok_and(|node| node.node_type == "array")
            };
            if name == "zarr.json" && is_array() {
                return Err(format!(
                    "{key:?} is an array of version 3, and tables have chunks of arrays of version 2 \
                     (\".zarray\") only; a reference file of JSON may have both"
                ));
            }
            documents.insert(key, json.given(value).into());
        }
        Ok(Self { folder, documents, without_key, arrays, record_size, files: Mutex::default() })
    }

    /// The target of a key.
    pub(super) fn find(
        &self,
        key: &Key,
        targets: &Targets,
    ) -> Result<Option<Reference>, StoreError> {
        if let Some(document) = self.documents.get(key.as_str()) {
            return Ok(Some(Reference::Inline(Arc::clone(document))));
        }
        let Some((array, number)) = self.chunk(key) else { return Ok(None) };
        let (record, row) = (number / self.record_size, number % self.record_size);
        let file = self.file(array, record)?;
        let Some(rows) = self.rows(&file, targets)? else { return Ok(None) };
        if row >= rows.count {
            let reason = format!("it has {} rows, and the chunk is in row {row}", rows.count);
            return Err(StoreError::container(Operation::Get, &file, reason));
        }
        Ok(rows.get(row).cloned())
    }

    /// The array that has a chunk of this key, and the number of the chunk in C order.
    fn chunk<'k>(&self, key: &'k Key) -> Option<(&'k str, u64)> {
        let slashes = key.as_str().match_indices('/').map(|(at, _)| at);
        let below = slashes.filter_map(|at| {
            let (array, rest) = key.as_str().split_at_checked(at)?;
            Some((array, rest.strip_prefix('/')?))
        });
        // The root may be an array.
        iter::once(("", key.as_str()))
            .chain(below)
            .find_map(|(array, rest)| Some((array, self.arrays.get(array)?.number(rest)?)))
    }

    fn file(&self, array: &str, record: u64) -> Result<Key, StoreError> {
        Ok(self.folder.join(array)?.key(&format!("refs.{record}.parq"))?)
    }

    fn files(&self) -> MutexGuard<'_, VecDeque<(Key, Arc<File>)>> {
        self.files.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The rows of a file, which is read by one thread; `None` if there is none: then no chunk of
    /// it is there.
    fn rows(&self, key: &Key, targets: &Targets) -> Result<Option<Arc<Rows>>, StoreError> {
        let file = {
            let mut files = self.files();
            let at = files.iter().position(|(own, _)| own == key);
            let entry = at.and_then(|at| files.remove(at));
            let (key, file) = entry.unwrap_or_else(|| (key.clone(), Arc::default()));
            files.push_back((key, Arc::clone(&file)));
            file
        };
        let mut rows = file.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(rows) = &*rows {
            return Ok(rows.clone());
        }
        let read = match targets.home().read(key)? {
            None => None,
            Some(bytes) => {
                let read = Rows::read(bytes, self.record_size, &mut |url| targets.number(url));
                let fail = |reason| StoreError::container(Operation::Get, key, reason);
                Some(Arc::new(read.map_err(fail)?))
            }
        };
        *rows = Some(read.clone());
        drop(rows);
        self.forget();
        Ok(read)
    }

    /// Forgets the files that were not used for longest, as long as there is too much.
    fn forget(&self) {
        // A file that another thread reads counts for nothing.
        let memory = |file: &File| {
            let rows = file.try_lock().ok();
            let rows = rows.as_ref().and_then(|rows| rows.as_ref()?.as_ref());
            rows.map_or(256, |rows| rows.memory())
        };
        let mut files = self.files();
        let mut sum = files.iter().fold(0_usize, |sum, (_, file)| sum + memory(file));
        while sum > KEPT && files.len() > 1 {
            let Some((_, file)) = files.pop_front() else { return };
            sum = sum.saturating_sub(memory(&file));
        }
    }

    /// The chunks of an array that have references, by their keys.
    fn chunks<'t>(
        &'t self,
        array: &'t str,
        chunks: &'t Chunks,
        targets: &'t Targets,
    ) -> impl Iterator<Item = Result<Key, StoreError>> + 't {
        // By the files that there are: an array may claim any number of chunks.
        self.records(array, targets).flat_map(move |record| {
            let read = record.and_then(|record| {
                let rows = self.rows(&self.file(array, record)?, targets)?;
                let numbers: Vec<u64> = rows.iter().flat_map(|rows| rows.numbers()).collect();
                Ok((record, numbers))
            });
            let (record, numbers, error) = match read {
                Ok((record, numbers)) => (record, numbers, None),
                Err(error) => (0, Vec::new(), Some(error)),
            };
            let keys = numbers.into_iter().filter_map(move |row| {
                let number = record.checked_mul(self.record_size)?.checked_add(row)?;
                let key = chunks.key(number)?;
                Some(Prefix::new(array).and_then(|array| array.key(&key)).map_err(StoreError::from))
            });
            keys.chain(error.map(Err))
        })
    }

    /// Reads the first file of arrays up to one with a target, which tells how far away targets are.
    /// A read reports the errors.
    pub(super) fn find_targets(&self, targets: &Targets) {
        for (path, chunks) in &self.arrays {
            if targets.requests().is_some() {
                return;
            }
            let _reported_later = self.chunks(path, chunks, targets).next();
        }
    }

    /// The numbers of an array's files, in ascending order, then the errors of their listing.
    fn records(
        &self,
        array: &str,
        targets: &Targets,
    ) -> impl Iterator<Item = Result<u64, StoreError>> + use<> {
        let entries = match self.folder.join(array) {
            Ok(folder) => targets.home().list_dir(&folder),
            Err(error) => Box::new(iter::once(Err(error.into()))),
        };
        let records = entries.filter_map(|entry| match entry {
            Ok(DirEntry::Object(key)) => record_of(&key).map(Ok),
            Ok(DirEntry::Prefix(_)) => None,
            Err(error) => Some(Err(error)),
        });
        let mut records: Vec<_> = records.collect();
        records.sort_by_key(|record| (record.is_err(), record.as_ref().ok().copied()));
        records.into_iter()
    }

    /// All keys below a prefix.
    pub(super) fn list<'t>(
        &'t self,
        prefix: &Prefix,
        targets: &'t Targets,
    ) -> impl Iterator<Item = Result<Key, StoreError>> + 't {
        let documents = sorted::below(&self.documents, prefix).map(|key| Ok(Key::new(key)?));
        let below = prefix.clone();
        let arrays = self.arrays.iter().filter(move |(path, _)| meets(path, below.as_str()));
        let chunks = arrays.flat_map(|(path, chunks)| self.chunks(path, chunks, targets));
        let prefix = prefix.clone();
        documents.chain(
            chunks.filter(move |key| key.as_ref().map_or(true, |key| prefix.strip(key).is_some())),
        )
    }

    /// The direct children of a prefix.
    pub(super) fn list_dir(
        &self,
        prefix: &Prefix,
        targets: &Targets,
    ) -> Result<Vec<DirEntry>, StoreError> {
        let is_in = |path: &&String| path_below(prefix.as_str(), path).is_some();
        let Some(array) = self.arrays.keys().find(is_in) else {
            // Every array has a document.
            return sorted::children(&self.documents, prefix);
        };
        let array = Prefix::new(array)?;
        let keys = self.list(&array, targets).map(|key| Ok((key?.as_str().to_owned(), ())));
        let keys = keys.collect::<Result<BTreeMap<String, ()>, StoreError>>()?;
        sorted::children(&keys, prefix)
    }
}

/// The number in `refs.N.parq`.
fn record_of(key: &Key) -> Option<u64> {
    let number = key.name().strip_prefix("refs.")?.strip_suffix(".parq")?;
    digits(number)
}

/// A number without sign and leading zeros.
fn digits(text: &str) -> Option<u64> {
    let canonical = text == "0" || !text.starts_with(['0', '+']);
    text.parse().ok().filter(|_| canonical)
}

/// Whether one of two paths is the other, or in it.
fn meets(one: &str, other: &str) -> bool {
    path_below(one, other).is_some() || path_below(other, one).is_some()
}

impl Chunks {
    fn of(document: &str) -> Result<Self, String> {
        let ArrayDocument { shape, chunks, dimension_separator } =
            serde_json::from_str(document).map_err(|error| error.to_string())?;
        if shape.len() != chunks.len() {
            return Err(format!("{} lengths and {} of chunks", shape.len(), chunks.len()));
        }
        let separator = dimension_separator.unwrap_or('.');
        if !matches!(separator, '.' | '/') {
            return Err(format!("dimension_separator is {separator:?}, expected \".\" or \"/\""));
        }
        let counts = shape.iter().zip(&chunks).map(|(length, chunk)| match chunk {
            0 => Err("a chunk of length 0".to_owned()),
            chunk => Ok(length.div_ceil(*chunk)),
        });
        Ok(Self { counts: counts.collect::<Result<_, _>>()?, separator })
    }

    /// The number of a chunk in C order, by its key.
    fn number(&self, key: &str) -> Option<u64> {
        if self.counts.is_empty() {
            return (key == "0").then_some(0);
        }
        let mut number = 0_u64;
        let mut places = key.split(self.separator);
        for count in &self.counts {
            let place = digits(places.next()?).filter(|place| place < count)?;
            number = number.checked_mul(*count)?.checked_add(place)?;
        }
        places.next().is_none().then_some(number)
    }

    /// The key of a chunk; `None` past the last.
    fn key(&self, mut number: u64) -> Option<String> {
        if self.counts.is_empty() {
            return (number == 0).then(|| "0".to_owned());
        }
        let mut places = Vec::with_capacity(self.counts.len());
        for count in self.counts.iter().rev() {
            places.push(number.checked_rem(*count)?.to_string());
            number = number.checked_div(*count)?;
        }
        places.reverse();
        (number == 0).then(|| places.join(&self.separator.to_string()))
    }
}
