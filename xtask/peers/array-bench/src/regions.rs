//! Small regions at random places: what it takes to find and fetch the few bytes of each.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::fs::{self, File};
use std::ops::Range;
use std::os::unix::fs::FileExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

use zarr_kit::{Array, Selection};
use zarrs::array::{
    ArrayBytes, ArrayShardedReadableExt as _, ArrayShardedReadableExtCache, ArraySubset,
};
use zarrs::filesystem::FilesystemStore;
use zstd::bulk::Decompressor;

use crate::cases::{BYTES, CASES, document};
use crate::{Result, median, ours, record, theirs};

const SHAPE: [usize; 2] = [8192, 16384];
pub const CHUNK: [usize; 2] = [1024, 2048];
/// Edge of the inner chunks.
const INNER: usize = 64;
/// Edge of a region, unless told otherwise.
const EDGE: usize = 16;
/// How many regions, unless told otherwise.
const REGIONS: usize = 2000;
const REPETITIONS: usize = 7;

#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    Plain,
    ShardedBytes,
    ShardedZstd,
}

pub const KINDS: [(Kind, &str); 3] = [
    (Kind::Plain, "uncompressed"),
    (Kind::ShardedBytes, "sharded"),
    (Kind::ShardedZstd, "sharded-zstd"),
];

/// The document of an array of 256 MiB in 64 chunks of 512 inner ones each.
pub fn document_of(kind: Kind) -> String {
    let bytes = r#"{"name":"bytes","configuration":{"endian":"little"}}"#;
    let zstd = r#",{"name":"zstd","configuration":{"level":1,"checksum":false}}"#;
    let inner = if kind == Kind::ShardedZstd { zstd } else { "" };
    let codecs = match kind {
        Kind::Plain => bytes.to_owned(),
        Kind::ShardedBytes | Kind::ShardedZstd => format!(
            r#"{{"name":"sharding_indexed","configuration":{{"chunk_shape":[{INNER},{INNER}],
            "codecs":[{bytes}{inner}],"index_codecs":[{bytes},{{"name":"crc32c"}}],
            "index_location":"end"}}}}"#
        ),
    };
    document(&SHAPE, &CHUNK, "uint16", "0", &codecs)
}

/// Elements that compress about 3 to 1.
pub fn data() -> Result<Vec<u8>> {
    let case = CASES.iter().find(|case| case.name == "uint16-zstd").ok_or("no such case")?;
    Ok(case.data())
}

/// Reads one region after the other.
trait Reader {
    fn read(&mut self, at: [usize; 2], edge: usize, out: &mut [u8]) -> Result<()>;
}

/// Rows of uncompressed chunks by positioned reads; of inner chunks, the bytes from the region's
/// first element to its last if they are uncompressed, else all. Each shard's index is read once.
struct ByHand {
    path: PathBuf,
    kind: Kind,
    indices: HashMap<[usize; 2], Vec<(u64, u64)>>,
    encoded: Vec<u8>,
    inner: Vec<u8>,
    decompressor: Decompressor<'static>,
}

impl ByHand {
    /// Reads bytes of an inner chunk, numbered in the whole array, into `self.inner`. Returns where
    /// they start: all are read if they are compressed.
    fn inner_chunk(&mut self, chunk: [usize; 2], wanted: Range<usize>) -> Result<usize> {
        let per = [CHUNK[0] / INNER, CHUNK[1] / INNER];
        let shard = [chunk[0] / per[0], chunk[1] / per[1]];
        let file = self.file(shard)?;
        let index = match self.indices.entry(shard) {
            Entry::Occupied(entry) => entry.into_mut(),
            Entry::Vacant(entry) => entry.insert(read_index(&file, per[0] * per[1])?),
        };
        let (offset, length) = index[chunk[0] % per[0] * per[1] + chunk[1] % per[1]];
        if self.kind == Kind::ShardedBytes {
            self.inner.resize(wanted.len(), 0);
            file.read_exact_at(&mut self.inner, offset + wanted.start as u64)?;
            return Ok(wanted.start);
        }
        self.encoded.resize(usize::try_from(length)?, 0);
        file.read_exact_at(&mut self.encoded, offset)?;
        self.inner.clear();
        self.inner.reserve(INNER * INNER * 2);
        self.decompressor.decompress_to_buffer(&self.encoded, &mut self.inner)?;
        Ok(0)
    }

    fn file(&self, chunk: [usize; 2]) -> Result<File> {
        Ok(File::open(self.path.join(format!("c/{}/{}", chunk[0], chunk[1])))?)
    }
}

/// The place of each inner chunk, from the end of its shard.
fn read_index(file: &File, inner_chunks: usize) -> Result<Vec<(u64, u64)>> {
    let mut bytes = vec![0; inner_chunks * 16];
    let start = file.metadata()?.len() - bytes.len() as u64 - 4;
    file.read_exact_at(&mut bytes, start)?;
    let number = |bytes: &[u8]| bytes.try_into().map(u64::from_le_bytes);
    let entries = bytes.chunks_exact(16);
    entries.map(|entry| Ok((number(&entry[..8])?, number(&entry[8..])?))).collect()
}

impl Reader for ByHand {
    fn read(&mut self, at: [usize; 2], edge: usize, out: &mut [u8]) -> Result<()> {
        let piece = if self.kind == Kind::Plain { CHUNK } else { [INNER, INNER] };
        let first = [at[0] / piece[0], at[1] / piece[1]];
        let last = [(at[0] + edge - 1) / piece[0], (at[1] + edge - 1) / piece[1]];
        for row in first[0]..=last[0] {
            for column in first[1]..=last[1] {
                let rows = at[0].max(row * piece[0])..(at[0] + edge).min((row + 1) * piece[0]);
                let columns =
                    at[1].max(column * piece[1])..(at[1] + edge).min((column + 1) * piece[1]);
                let file = match self.kind {
                    Kind::Plain => Some(self.file([row, column])?),
                    _ => None,
                };
                let place =
                    |line: usize| (line % piece[0] * piece[1] + columns.start % piece[1]) * 2;
                let mut start = 0;
                if file.is_none() {
                    let end = place(rows.end - 1) + columns.len() * 2;
                    start = self.inner_chunk([row, column], place(rows.start)..end)?;
                }
                for line in rows {
                    let from = place(line) - start;
                    let to = ((line - at[0]) * edge + columns.start - at[1]) * 2;
                    let to = &mut out[to..to + columns.len() * 2];
                    match &file {
                        Some(file) => file.read_exact_at(to, from as u64)?,
                        None => to.copy_from_slice(&self.inner[from..from + columns.len() * 2]),
                    }
                }
            }
        }
        Ok(())
    }
}

struct Ours(Array);

impl Reader for Ours {
    fn read(&mut self, at: [usize; 2], edge: usize, out: &mut [u8]) -> Result<()> {
        let [row, column] = at.map(|at| at as u64..(at + edge) as u64);
        Ok(self.0.read_into([row, column], out)?)
    }
}

struct Theirs {
    array: Arc<zarrs::array::Array<FilesystemStore>>,
    cache: ArrayShardedReadableExtCache,
    kind: Kind,
}

impl Reader for Theirs {
    fn read(&mut self, at: [usize; 2], edge: usize, out: &mut [u8]) -> Result<()> {
        let [row, column] = at.map(|at| at as u64..(at + edge) as u64);
        let subset = ArraySubset::new_with_ranges(&[row, column]);
        let options = theirs::options(1);
        let bytes: ArrayBytes<'_> = if self.kind == Kind::Plain {
            self.array.retrieve_array_subset_opt(&subset, &options)?
        } else {
            self.array.retrieve_array_subset_sharded_opt(&self.cache, &subset, &options)?
        };
        out.copy_from_slice(&bytes.into_fixed()?);
        Ok(())
    }
}

fn open(contender: &str, path: &Path, kind: Kind) -> Result<Box<dyn Reader>> {
    Ok(match contender {
        "floor" => Box::new(ByHand {
            path: path.to_owned(),
            kind,
            indices: HashMap::new(),
            encoded: Vec::new(),
            inner: Vec::new(),
            decompressor: Decompressor::new()?,
        }),
        "zarr-kit" => Box::new(Ours(ours::open(path, 1)?)),
        _ => {
            let array = Arc::new(theirs::open(path)?);
            let cache = ArrayShardedReadableExtCache::new(&array);
            Box::new(Theirs { array, cache, kind })
        }
    })
}

pub fn run(folder: &Path, arguments: &[&str]) -> Result<()> {
    let (count, edge) = match arguments {
        [] => (REGIONS, EDGE),
        [count] => (count.parse()?, EDGE),
        [count, edge] => (count.parse()?, edge.parse()?),
        _ => return Err("usage: array-bench regions FOLDER [COUNT [EDGE]]".into()),
    };
    let data = data()?;
    fs::write(folder.join("regions.raw"), &data)?;
    let mut state = 0x2545_f491_4f6c_dd1d_u64;
    let mut random = |below: usize| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 11) as usize % below
    };
    let places: Vec<[usize; 2]> =
        (0..count).map(|_| [random(SHAPE[0] - edge), random(SHAPE[1] - edge)]).collect();
    let text: Vec<String> = places.iter().map(|[row, column]| format!("{row} {column}")).collect();
    fs::write(folder.join("regions.places"), text.join("\n"))?;
    for (kind, name) in KINDS {
        let path = folder.join(format!("regions-{name}"));
        ours::create(&path, &document_of(kind))?;
        let array = ours::open(&path, 2)?;
        array.write(Selection::whole(array.shape()), &data)?;
        measure(&path, kind, name, (&places, edge), &data)
            .map_err(|error| format!("regions of {name}: {error}"))?;
    }
    Ok(())
}

fn measure(
    path: &Path,
    kind: Kind,
    name: &str,
    (places, edge): (&[[usize; 2]], usize),
    data: &[u8],
) -> Result<()> {
    assert_eq!(data.len(), BYTES, "the array's length");
    let contenders = ["floor", "zarr-kit", "zarrs"];
    let mut times = vec![[const { Vec::new() }; 2]; contenders.len()];
    for _ in 0..REPETITIONS {
        for (contender, times) in contenders.iter().zip(&mut times) {
            let mut all = vec![0_u8; places.len() * edge * edge * 2];
            let mut start = Instant::now();
            let mut reader = open(contender, path, kind)?;
            for times in times {
                for (at, out) in places.iter().zip(all.chunks_exact_mut(edge * edge * 2)) {
                    reader.read(*at, edge, out)?;
                }
                times.push(start.elapsed().as_secs_f64());
                start = Instant::now();
            }
            check(places, edge, &all, data).map_err(|error| format!("{contender}: {error}"))?;
        }
    }
    println!(
        "{} regions of {edge} x {edge}, {name} (microseconds each, ratio to the floor)",
        places.len()
    );
    println!("  {:<10} {:>16} {:>16}", "", "opened anew", "again");
    let floor = times[0].clone().map(median);
    for (contender, times) in contenders.iter().zip(&times) {
        for (what, times) in ["opened anew", "again"].into_iter().zip(times) {
            let each = median(times.clone()) / places.len() as f64;
            record("small regions", &format!("{name}, {what}"), contender, each);
        }
    }
    for (contender, times) in contenders.iter().zip(times) {
        print!("  {contender:<10}");
        for (times, floor) in times.into_iter().zip(floor) {
            let seconds = median(times);
            print!(" {:>9.2} {:>6.2}", seconds * 1e6 / places.len() as f64, seconds / floor);
        }
        println!();
    }
    Ok(())
}

fn check(places: &[[usize; 2]], edge: usize, all: &[u8], data: &[u8]) -> Result<()> {
    for ([row, column], out) in places.iter().zip(all.chunks_exact(edge * edge * 2)) {
        for (line, out) in out.chunks_exact(edge * 2).enumerate() {
            let start = ((row + line) * SHAPE[1] + column) * 2;
            if out != &data[start..start + edge * 2] {
                return Err(format!("other data at row {row}, column {column}").into());
            }
        }
    }
    Ok(())
}
