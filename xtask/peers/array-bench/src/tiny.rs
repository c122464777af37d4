//! Tiny chunks that are stored: what a chunk costs besides its bytes, in memory and in files.

use std::collections::BTreeMap;
use std::fs;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError, RwLock};
use std::time::Instant;

use zarr_kit::{Array, ArrayMetadata, LocalStore, MemoryStore, Prefix, Selection, Store};
use zarrs::array::ArrayBytes;
use zarrs::filesystem::FilesystemStore;
use zarrs::storage::ReadableWritableListableStorage as TheirStore;
use zarrs::storage::store::MemoryStore as TheirMemory;

use crate::cases::document;
use crate::{Result, median, record, theirs};

const REPETITIONS: usize = 5;
const THREADS: [usize; 3] = [1, 2, 4];

struct Case {
    name: &'static str,
    packed: bool,
    edge: usize,
}

const CASES: [Case; 3] = [
    Case { name: "4 x 4 uint8", packed: false, edge: 4 },
    Case { name: "4 x 4 bool, packed", packed: true, edge: 4 },
    Case { name: "64 x 64 uint8", packed: false, edge: 64 },
];

impl Case {
    fn document(&self, chunks: usize) -> String {
        let (data_type, fill, codec) = match self.packed {
            true => ("bool", "false", "packbits"),
            false => ("uint8", "0", "bytes"),
        };
        let (extent, edge) = (chunks * self.edge, self.edge);
        let codec = format!(r#"{{"name":"{codec}"}}"#);
        document(&[extent, extent], &[edge, edge], data_type, fill, &codec)
    }

    /// Elements of which no chunk is empty.
    fn data(&self, chunks: usize) -> Vec<u8> {
        let extent = chunks * self.edge;
        let mut state = 0x2545_f491_4f6c_dd1d_u64;
        let mut random = || {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            (state >> 32) as u8 & if self.packed { 1 } else { 255 }
        };
        let mut data: Vec<u8> = (0..extent * extent).map(|_| random()).collect();
        for row in (0..extent).step_by(self.edge) {
            for column in (0..extent).step_by(self.edge) {
                data[row * extent + column] = 1;
            }
        }
        data
    }
}

trait Contender {
    fn write(&mut self, data: &[u8], threads: usize) -> Result<()>;
    fn read(&mut self, out: &mut [u8], threads: usize) -> Result<()>;
}

struct Ours(Array);

impl Contender for Ours {
    fn write(&mut self, data: &[u8], threads: usize) -> Result<()> {
        self.set_threads(threads)?;
        Ok(self.0.write(Selection::whole(self.0.shape()), data)?)
    }

    fn read(&mut self, out: &mut [u8], threads: usize) -> Result<()> {
        self.set_threads(threads)?;
        Ok(self.0.read_into(Selection::whole(self.0.shape()), out)?)
    }
}

impl Ours {
    fn open(store: Arc<dyn Store>, document: &str) -> Result<Self> {
        let metadata = ArrayMetadata::from_json(document.as_bytes())?;
        Ok(Self(Array::create(store, &Prefix::root(), metadata)?))
    }

    fn set_threads(&mut self, threads: usize) -> Result<()> {
        let store = Arc::clone(self.0.store());
        let array = Array::open(store, &Prefix::root())?;
        self.0 = array.with_threads(NonZeroUsize::new(threads).ok_or("no threads")?);
        Ok(())
    }
}

struct Theirs(zarrs::array::Array<dyn zarrs::storage::ReadableWritableListableStorageTraits>);

impl Theirs {
    fn open(store: TheirStore, document: &str) -> Result<Self> {
        let metadata = zarrs::array::ArrayMetadata::try_from(document)?;
        let array = zarrs::array::Array::new_with_metadata(store, "/", metadata)?;
        array.store_metadata()?;
        Ok(Self(array))
    }
}

impl Contender for Theirs {
    fn write(&mut self, data: &[u8], threads: usize) -> Result<()> {
        let (whole, options) = (self.0.subset_all(), theirs::options(threads));
        Ok(self.0.store_array_subset_opt(&whole, ArrayBytes::new_flen(data), &options)?)
    }

    fn read(&mut self, out: &mut [u8], threads: usize) -> Result<()> {
        let (whole, options) = (self.0.subset_all(), theirs::options(threads));
        let bytes: ArrayBytes<'_> = self.0.retrieve_array_subset_opt(&whole, &options)?;
        out.copy_from_slice(&bytes.into_fixed()?);
        Ok(())
    }
}

/// Chunks in a map behind one lock, or in plain files: no version, no lock, no temporary file.
struct ByHand {
    edge: usize,
    chunks: usize,
    packed: bool,
    place: Place,
}

enum Place {
    Memory(RwLock<BTreeMap<String, Box<[u8]>>>),
    Folder(PathBuf),
}

impl Place {
    fn put(&self, key: &str, bytes: &[u8]) -> Result<()> {
        match self {
            Self::Memory(map) => {
                let mut map = map.write().unwrap_or_else(PoisonError::into_inner);
                map.insert(key.to_owned(), bytes.into());
            }
            Self::Folder(folder) => fs::write(folder.join(key), bytes)?,
        }
        Ok(())
    }

    fn get(&self, key: &str, out: &mut Vec<u8>) -> Result<()> {
        out.clear();
        match self {
            Self::Memory(map) => {
                let map = map.read().unwrap_or_else(PoisonError::into_inner);
                out.extend_from_slice(map.get(key).ok_or("missing")?);
            }
            Self::Folder(folder) => {
                use std::io::Read as _;
                fs::File::open(folder.join(key))?.read_to_end(out)?;
            }
        }
        Ok(())
    }
}

impl ByHand {
    fn open(place: Place, case: &Case, chunks: usize) -> Result<Self> {
        if let Place::Folder(folder) = &place {
            for row in 0..chunks {
                fs::create_dir_all(folder.join(format!("c/{row}")))?;
            }
        }
        Ok(Self { edge: case.edge, chunks, packed: case.packed, place })
    }
}

impl Contender for ByHand {
    fn write(&mut self, data: &[u8], threads: usize) -> Result<()> {
        let Self { edge, chunks, packed, ref place } = *self;
        let extent = chunks * edge;
        let share = chunks.div_ceil(threads) * edge * extent;
        on_threads(data.chunks(share).enumerate(), |(part, rows)| {
            let (mut key, mut chunk, first) =
                (String::new(), Vec::new(), part * share / extent / edge);
            for (i, rows) in rows.chunks(edge * extent).enumerate() {
                for j in 0..chunks {
                    key.clear();
                    std::fmt::Write::write_fmt(&mut key, format_args!("c/{}/{j}", first + i))?;
                    chunk.clear();
                    for row in rows.chunks(extent) {
                        chunk.extend_from_slice(&row[j * edge..(j + 1) * edge]);
                    }
                    if packed {
                        let byte =
                            |bits: &[u8]| bits.iter().rev().fold(0, |byte, bit| byte << 1 | bit);
                        chunk = chunk.chunks(8).map(byte).collect();
                    }
                    place.put(&key, &chunk)?;
                }
            }
            Ok(())
        })
    }

    fn read(&mut self, out: &mut [u8], threads: usize) -> Result<()> {
        let Self { edge, chunks, packed, ref place } = *self;
        let extent = chunks * edge;
        let share = chunks.div_ceil(threads) * edge * extent;
        on_threads(out.chunks_mut(share).enumerate(), |(part, rows)| {
            let (mut key, mut chunk, first) =
                (String::new(), Vec::new(), part * share / extent / edge);
            for (i, rows) in rows.chunks_mut(edge * extent).enumerate() {
                for j in 0..chunks {
                    key.clear();
                    std::fmt::Write::write_fmt(&mut key, format_args!("c/{}/{j}", first + i))?;
                    place.get(&key, &mut chunk)?;
                    if packed {
                        let bits =
                            |byte: &u8| std::array::from_fn::<u8, 8, _>(|bit| byte >> bit & 1);
                        chunk = chunk.iter().flat_map(bits).collect();
                    }
                    for (row, from) in rows.chunks_mut(extent).zip(chunk.chunks(edge)) {
                        row[j * edge..(j + 1) * edge].copy_from_slice(from);
                    }
                }
            }
            Ok(())
        })
    }
}

/// Does each part on a thread of its own.
pub fn on_threads<T: Send>(
    parts: impl Iterator<Item = T>,
    work: impl Fn(T) -> Result<()> + Sync,
) -> Result<()> {
    let first_error = Mutex::new(None);
    std::thread::scope(|scope| {
        for part in parts {
            let (work, first_error) = (&work, &first_error);
            scope.spawn(move || {
                if let Err(error) = work(part) {
                    let mut slot = first_error.lock().unwrap_or_else(PoisonError::into_inner);
                    slot.get_or_insert(error.to_string());
                }
            });
        }
    });
    let error = first_error.into_inner().unwrap_or_else(PoisonError::into_inner);
    error.map_or(Ok(()), |error| Err(error.into()))
}

pub fn run(folder: &Path) -> Result<()> {
    for case in &CASES {
        let chunks = if case.edge > 4 { 100 } else { 300 };
        let document = case.document(chunks);
        measure(
            "memory",
            case,
            chunks,
            [
                Box::new(ByHand::open(Place::Memory(RwLock::default()), case, chunks)?),
                Box::new(Ours::open(Arc::new(MemoryStore::new()), &document)?),
                Box::new(Theirs::open(Arc::new(TheirMemory::new()), &document)?),
            ],
        )?;
        let (chunks, path) = (100, folder.join("tiny"));
        let document = case.document(chunks);
        let paths = ["floor", "zarr-kit", "zarrs"].map(|who| path.join(who));
        for path in &paths {
            fs::create_dir_all(path)?;
        }
        let [floor, ours, theirs] = &paths;
        measure(
            "files",
            case,
            chunks,
            [
                Box::new(ByHand::open(Place::Folder(floor.clone()), case, chunks)?),
                Box::new(Ours::open(Arc::new(LocalStore::open(ours)?), &document)?),
                Box::new(Theirs::open(Arc::new(FilesystemStore::new(theirs)?), &document)?),
            ],
        )?;
        let chunk = |path: &PathBuf| fs::read(path.join("c/17/3"));
        if chunk(floor)? != chunk(ours)? || chunk(floor)? != chunk(theirs)? {
            return Err(format!("{}: the chunks differ", case.name).into());
        }
        fs::remove_dir_all(&path)?;
    }
    Ok(())
}

fn measure(
    store: &str,
    case: &Case,
    chunks: usize,
    mut contenders: [Box<dyn Contender>; 3],
) -> Result<()> {
    let data = case.data(chunks);
    let mut out = vec![0; data.len()];
    println!("{chunks} x {chunks} chunks of {}, in {store} (nanoseconds a chunk)", case.name);
    println!("  {:<20} {:>10} {:>10} {:>10}", "", "by hand", "zarr-kit", "zarrs");
    for threads in THREADS {
        let mut times = [const { [const { Vec::new() }; 2] }; 3];
        for _ in 0..REPETITIONS {
            for (contender, times) in contenders.iter_mut().zip(&mut times) {
                out.fill(0);
                let start = Instant::now();
                contender.write(&data, threads)?;
                times[0].push(start.elapsed().as_secs_f64());
                let start = Instant::now();
                contender.read(&mut out, threads)?;
                times[1].push(start.elapsed().as_secs_f64());
                if out != data {
                    return Err(format!("{}: other elements", case.name).into());
                }
            }
        }
        for (which, what) in ["write again", "read"].into_iter().enumerate() {
            print!("  {:<20}", format!("{what}, {threads} threads"));
            for (who, times) in ["floor", "zarr-kit", "zarrs"].into_iter().zip(&times) {
                let each = median(times[which].clone()) / (chunks * chunks) as f64;
                let row = format!("{}, in {store}, {what}, {threads} threads", case.name);
                record("tiny chunks", &row, who, each);
                print!(" {:>10.1}", each * 1e9);
            }
            println!();
        }
    }
    Ok(())
}
