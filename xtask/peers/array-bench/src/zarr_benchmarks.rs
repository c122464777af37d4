//! The three arrays of LDeakin's `zarr_benchmarks`, by which implementations of Zarr are compared
//! in public: plain, compressed, and compressed in shards. Read whole, read chunk by chunk, and
//! copied chunk by chunk into another array ("round trip"). Before each read of the whole as much memory
//! is allocated and freed, as in `whole`.
//!
//! Elements, chunks and codecs are those of its `generate_benchmark_array.py`; of its 1024 x 2048 x
//! 2048 elements there are 512 x 512 x 512, since 8 GiB do not fit every machine's memory. Chunks
//! (or shards) are shared out one by one among as many threads as a row says, by both programs.

use std::fs;
use std::path::Path;
use std::sync::Mutex;
use std::time::Instant;

use zarr_kit::ArrayError;
use zarrs::array::ArrayBytes;

use crate::cases::{counts, document, unravel};
use crate::tiny::on_threads;
use crate::{Result, median, ours, record, theirs};

const EDGE: usize = 512;
const CHUNK: usize = 256;
const INNER: usize = 32;
const REPETITIONS: usize = 5;
const THREADS: [usize; 2] = [1, 2];

const BYTES: &str = r#"{"name":"bytes","configuration":{"endian":"little"}}"#;
const BLOSC: &str = r#"{"name":"blosc","configuration":{"cname":"blosclz","clevel":9,"shuffle":"bitshuffle","typesize":2,"blocksize":0}}"#;

const KINDS: [&str; 3] = ["plain", "compressed", "compressed, sharded"];
const WHO: [&str; 2] = ["zarr-kit", "zarrs"];
const WHAT: [&str; 4] = ["write whole", "read whole", "read by chunk", "round trip"];

fn codecs(kind: &str) -> String {
    match kind {
        "plain" => BYTES.to_owned(),
        "compressed" => format!("{BYTES},{BLOSC}"),
        _ => format!(
            r#"{{"name":"sharding_indexed","configuration":{{"chunk_shape":[{INNER},{INNER},{INNER}],
            "codecs":[{BYTES},{BLOSC}],"index_codecs":[{BYTES},{{"name":"crc32c"}}],
            "index_location":"end"}}}}"#
        ),
    }
}

/// `(x + y² / 32 + z³) % 65536`, cut to an integer: the function of the original.
fn data() -> Vec<u8> {
    let mut data = Vec::with_capacity(EDGE * EDGE * EDGE * 2);
    for z in 0..EDGE {
        for y in 0..EDGE {
            let row = (y * y / 32 + z * z * z) % (1 << 16);
            (0..EDGE).for_each(|x| data.extend(((x + row) as u16).to_le_bytes()));
        }
    }
    data
}

/// One program's way of doing all four.
trait Contender {
    fn write(&self, path: &Path, document: &str, data: &[u8], threads: usize) -> Result<()>;
    fn read(&self, path: &Path, threads: usize) -> Result<Vec<u8>>;
    /// How many bytes there were.
    fn read_chunks(&self, path: &Path, threads: usize) -> Result<usize>;
    fn round_trip(&self, from: &Path, to: &Path, document: &str, threads: usize) -> Result<()>;
}

struct Ours;

impl Contender for Ours {
    fn write(&self, path: &Path, document: &str, data: &[u8], threads: usize) -> Result<()> {
        ours::write_array(path, document, data, threads)
    }

    fn read(&self, path: &Path, threads: usize) -> Result<Vec<u8>> {
        ours::read_fresh(path, threads)
    }

    fn read_chunks(&self, path: &Path, threads: usize) -> Result<usize> {
        let total = Mutex::new(0);
        ours::open(path, threads)?.chunks()?.par_for_each(|chunk| {
            let bytes = chunk.array().read(chunk.selection())?;
            *total.lock().expect("no thread panics") += bytes.len();
            Ok::<_, ArrayError>(())
        })?;
        Ok(total.into_inner()?)
    }

    fn round_trip(&self, from: &Path, to: &Path, document: &str, threads: usize) -> Result<()> {
        ours::create(to, document)?;
        let to = ours::open(to, 1)?;
        Ok(ours::open(from, threads)?.chunks()?.par_for_each(|chunk| {
            to.write(chunk.selection(), &chunk.array().read(chunk.selection())?)
        })?)
    }
}

struct Theirs;

impl Contender for Theirs {
    fn write(&self, path: &Path, document: &str, data: &[u8], threads: usize) -> Result<()> {
        theirs::write_array(path, document, data, threads)
    }

    fn read(&self, path: &Path, threads: usize) -> Result<Vec<u8>> {
        theirs::read_fresh(path, threads)
    }

    fn read_chunks(&self, path: &Path, threads: usize) -> Result<usize> {
        let array = theirs::open(path)?;
        let total = Mutex::new(0);
        for_each_chunk(threads, |chunk| {
            let bytes: ArrayBytes<'_> = array.retrieve_chunk_opt(chunk, &theirs::options(1))?;
            *total.lock().expect("no thread panics") += bytes.size();
            Ok(())
        })?;
        Ok(total.into_inner()?)
    }

    fn round_trip(&self, from: &Path, to: &Path, document: &str, threads: usize) -> Result<()> {
        let (from, to) = (theirs::open(from)?, theirs::create(to, document)?);
        let options = theirs::options(1);
        for_each_chunk(threads, |chunk| {
            let bytes: ArrayBytes<'_> = from.retrieve_chunk_opt(chunk, &options)?;
            Ok(to.store_chunk_opt(chunk, bytes, &options)?)
        })
    }
}

/// Calls `work` with every chunk, on so many threads: what zarrs' own program does with rayon.
fn for_each_chunk(threads: usize, work: impl Fn(&[u64]) -> Result<()> + Sync) -> Result<()> {
    let counts = counts(&[EDGE; 3], &[CHUNK; 3]);
    let left = Mutex::new(0..counts.iter().product::<usize>());
    on_threads(0..threads, |_| {
        loop {
            let Some(number) = left.lock().expect("no thread panics").next() else { return Ok(()) };
            let chunk: Vec<u64> = unravel(number, &counts).iter().map(|&at| at as u64).collect();
            work(&chunk)?;
        }
    })
}

/// Measures all kinds of array, or those given.
pub fn run(folder: &Path, only: &[&str]) -> Result<()> {
    let data = data();
    let contenders: [&dyn Contender; 2] = [&Ours, &Theirs];
    if let Some(unknown) = only.iter().find(|name| !KINDS.contains(name)) {
        return Err(format!("{unknown}: no such array; there are {}", KINDS.join("; ")).into());
    }
    for kind in KINDS.into_iter().filter(|kind| only.is_empty() || only.contains(kind)) {
        let path = folder.join("zarr-benchmarks");
        let document = document(&[EDGE; 3], &[CHUNK; 3], "uint16", "0", &codecs(kind));
        for threads in THREADS {
            let mut times = [const { [const { Vec::new() }; WHAT.len()] }; WHO.len()];
            for round in 0..REPETITIONS {
                for turn in 0..WHO.len() {
                    let number = (round + turn) % WHO.len();
                    let (from, to) = (path.join(WHO[number]), path.join("copy"));
                    let mut timed = Timed { times: &mut times[number], next: 0 };
                    let contender = contenders[number];
                    timed.of(|| contender.write(&from, &document, &data, threads))?;
                    crate::whole::prime()?;
                    if timed.of(|| contender.read(&from, threads))? != data {
                        return Err(format!("{kind}: {} reads other data", WHO[number]).into());
                    }
                    let bytes = timed.of(|| contender.read_chunks(&from, threads))?;
                    timed.of(|| contender.round_trip(&from, &to, &document, threads))?;
                    // What one has copied, the other reads.
                    let other = contenders[1 - number];
                    if bytes != data.len() || other.read(&to, threads)? != data {
                        return Err(format!("{kind}: {} copies other data", WHO[number]).into());
                    }
                    fs::remove_dir_all(&to)?;
                }
            }
            print_table(kind, threads, times);
        }
        fs::remove_dir_all(&path)?;
    }
    Ok(())
}

/// The times of one contender, taken one after the other.
struct Timed<'a> {
    times: &'a mut [Vec<f64>; WHAT.len()],
    next: usize,
}

impl Timed<'_> {
    fn of<T>(&mut self, work: impl FnOnce() -> Result<T>) -> Result<T> {
        let start = Instant::now();
        let done = work()?;
        self.times[self.next].push(start.elapsed().as_secs_f64());
        self.next += 1;
        Ok(done)
    }
}

fn print_table(kind: &str, threads: usize, times: [[Vec<f64>; WHAT.len()]; WHO.len()]) {
    println!("{kind}, {threads} threads (seconds, zarrs' time to ours)");
    let [ours, theirs] = times.map(|times| times.map(median));
    for ((what, ours), theirs) in WHAT.into_iter().zip(ours).zip(theirs) {
        for (who, seconds) in WHO.into_iter().zip([ours, theirs]) {
            let row = format!("{kind}, {what}, {threads} threads");
            record("arrays of zarr_benchmarks, 256 MiB each", &row, who, seconds);
        }
        println!("  {what:<16} {ours:>8.3} {theirs:>8.3} {:>6.2}", theirs / ours);
    }
}
