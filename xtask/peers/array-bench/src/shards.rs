//! Shards of tiny inner chunks: what each of them costs beside the few bytes that it has.
//!
//! The floor copies the rows of every inner chunk to or from the shard's bytes, packs or unpacks
//! them, and reads or writes the index, but neither makes nor checks its checksum.

use std::fs;
use std::path::Path;
use std::time::Instant;

use zarr_kit::Selection;
use zarr_packbits::Packing;

use crate::cases::document;
use crate::{Result, median, ours, record, theirs};

/// Edges of the array, of a shard and of an inner chunk.
const ARRAY: usize = 4096;
const SHARD: usize = 1024;
const INNER: usize = 16;
const REPETITIONS: usize = 7;

struct Kind {
    name: &'static str,
    data_type: &'static str,
    element_size: usize,
    /// Whether inner chunks are packed to a bit an element.
    packed: bool,
}

const KINDS: [Kind; 3] = [
    Kind { name: "uint16", data_type: "uint16", element_size: 2, packed: false },
    Kind { name: "uint8", data_type: "uint8", element_size: 1, packed: false },
    Kind { name: "bool-packbits", data_type: "bool", element_size: 1, packed: true },
];

impl Kind {
    fn document(&self) -> String {
        let bytes = r#"{"name":"bytes","configuration":{"endian":"little"}}"#;
        let inner = if self.packed { r#"{"name":"packbits"}"# } else { bytes };
        let codecs = format!(
            r#"{{"name":"sharding_indexed","configuration":{{"chunk_shape":[{INNER},{INNER}],
            "codecs":[{inner}],"index_codecs":[{bytes},{{"name":"crc32c"}}],
            "index_location":"end"}}}}"#
        );
        let fill = if self.packed { "false" } else { "0" };
        document(&[ARRAY, ARRAY], &[SHARD, SHARD], self.data_type, fill, &codecs)
    }

    /// Elements of which no inner chunk is all 0.
    fn data(&self) -> Vec<u8> {
        let mut state = 0x9e37_79b9_7f4a_7c15_u64;
        let mut byte = || {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            (state >> 32) as u8 & if self.packed { 1 } else { u8::MAX }
        };
        (0..ARRAY * ARRAY * self.element_size).map(|_| byte()).collect()
    }

    /// Bytes of a row of an inner chunk in memory, and of an inner chunk in the shard.
    fn lengths(&self) -> (usize, usize) {
        let row = INNER * self.element_size;
        (row, if self.packed { INNER * INNER / 8 } else { INNER * row })
    }

    /// Where in the array the rows of a shard's inner chunks start, in bytes: the inner chunks one
    /// after the other.
    fn rows(&self, shard: [usize; 2]) -> impl Iterator<Item = [usize; INNER]> {
        let inner = SHARD / INNER;
        let size = self.element_size;
        (0..inner * inner).map(move |number| {
            let row = shard[0] * SHARD + number / inner * INNER;
            let column = shard[1] * SHARD + number % inner * INNER;
            std::array::from_fn(|line| ((row + line) * ARRAY + column) * size)
        })
    }

    fn write_by_hand(&self, path: &Path, data: &[u8]) -> Result<()> {
        fs::create_dir_all(path)?;
        let packing = Packing::builder(1).build()?;
        let (row, length) = self.lengths();
        let (mut bytes, mut index) = (Vec::new(), Vec::new());
        let mut chunk = [0; INNER * INNER];
        for shard in shards() {
            bytes.clear();
            index.clear();
            for rows in self.rows(shard) {
                index.extend((bytes.len() as u64).to_le_bytes());
                index.extend((length as u64).to_le_bytes());
                if self.packed {
                    for (start, to) in rows.into_iter().zip(chunk.chunks_exact_mut(row)) {
                        to.copy_from_slice(&data[start..start + row]);
                    }
                    let start = bytes.len();
                    bytes.resize(start + length, 0);
                    packing.pack(&chunk, &mut bytes[start..])?;
                } else {
                    rows.iter().for_each(|&start| bytes.extend(&data[start..start + row]));
                }
            }
            bytes.extend(&index);
            bytes.extend([0; 4]);
            let target = path.join(format!("{}.{}", shard[0], shard[1]));
            let temporary = target.with_extension("tmp");
            fs::write(&temporary, &bytes)?;
            fs::rename(temporary, target)?;
        }
        Ok(())
    }

    fn read_by_hand(&self, path: &Path, out: &mut [u8]) -> Result<()> {
        let packing = Packing::builder(1).build()?;
        let row = self.lengths().0;
        let mut chunk = [0; INNER * INNER];
        for shard in shards() {
            let bytes = fs::read(path.join(format!("{}.{}", shard[0], shard[1])))?;
            let inner_chunks = (SHARD / INNER) * (SHARD / INNER);
            let index = &bytes[bytes.len() - 4 - inner_chunks * 16..];
            for (rows, entry) in self.rows(shard).zip(index.chunks_exact(16)) {
                let number = |bytes: &[u8]| bytes.try_into().map(u64::from_le_bytes);
                let offset = usize::try_from(number(&entry[..8])?)?;
                let length = usize::try_from(number(&entry[8..])?)?;
                let mut elements = &bytes[offset..offset + length];
                if self.packed {
                    packing.unpack(elements, &mut chunk)?;
                    elements = &chunk;
                }
                for (start, from) in rows.into_iter().zip(elements.chunks_exact(row)) {
                    out[start..start + row].copy_from_slice(from);
                }
            }
        }
        Ok(())
    }
}

fn shards() -> impl Iterator<Item = [usize; 2]> {
    (0..ARRAY / SHARD).flat_map(|row| (0..ARRAY / SHARD).map(move |column| [row, column]))
}

const CONTENDERS: [&str; 3] = ["floor", "zarr-kit", "zarrs"];

/// `shards FOLDER [NAME]`: all contenders, or one.
pub fn run(folder: &Path, arguments: &[&str]) -> Result<()> {
    let contenders: Vec<&str> = match arguments {
        [] => CONTENDERS.to_vec(),
        [one] if CONTENDERS.contains(one) => vec![one],
        _ => return Err("usage: array-bench shards FOLDER [floor|zarr-kit|zarrs]".into()),
    };
    for kind in &KINDS {
        measure(folder, kind, &contenders).map_err(|error| format!("{}: {error}", kind.name))?;
    }
    Ok(())
}

fn measure(folder: &Path, kind: &Kind, contenders: &[&str]) -> Result<()> {
    let (document, data) = (kind.document(), kind.data());
    let mut out = vec![0; data.len()];
    let mut times = vec![[const { Vec::new() }; 2]; contenders.len()];
    for round in 0..REPETITIONS {
        for turn in 0..contenders.len() {
            // Each has every place in the order.
            let number = (round + turn) % contenders.len();
            let (contender, times) = (contenders[number], &mut times[number]);
            let path = folder.join(format!("shards-{}-{contender}", kind.name));
            let start = Instant::now();
            match contender {
                "floor" => kind.write_by_hand(&path, &data)?,
                "zarr-kit" => {
                    ours::create(&path, &document)?;
                    let array = ours::open(&path, 1)?;
                    array.write(Selection::whole(array.shape()), &data)?;
                }
                _ => theirs::write_array(&path, &document, &data, 1)?,
            }
            times[0].push(start.elapsed().as_secs_f64());
            out.fill(0);
            let start = Instant::now();
            match contender {
                "floor" => kind.read_by_hand(&path, &mut out)?,
                "zarr-kit" => {
                    let array = ours::open(&path, 1)?;
                    array.read_into(Selection::whole(array.shape()), &mut out)?;
                }
                _ => theirs::read_array(&path, &mut out, kind.element_size, 1)?,
            }
            times[1].push(start.elapsed().as_secs_f64());
            if out != data {
                return Err(format!("{contender} reads other data").into());
            }
        }
    }
    same_shards(folder, kind)?;
    let inner_chunks = (ARRAY / INNER) * (ARRAY / INNER);
    println!(
        "{}, {inner_chunks} inner chunks of {INNER} x {INNER} (ns each, ratio to the floor)",
        kind.name
    );
    println!("  {:<10} {:>16} {:>16}", "", "write", "read, reused");
    let floor = times[0].clone().map(median);
    for (contender, times) in contenders.iter().zip(times) {
        print!("  {contender:<10}");
        let whats = ["write", "read, reused"].into_iter();
        for ((what, times), floor) in whats.zip(times).zip(floor) {
            let seconds = median(times);
            record("tiny inner chunks", &format!("{}, {what}", kind.name), contender, seconds);
            print!(" {:>9.1} {:>6.2}", seconds * 1e9 / inner_chunks as f64, seconds / floor);
        }
        println!();
    }
    Ok(())
}

/// zarr-kit and the floor write the same shards, but for the checksum.
fn same_shards(folder: &Path, kind: &Kind) -> Result<()> {
    let path = |contender: &str| folder.join(format!("shards-{}-{contender}", kind.name));
    if !path("floor").exists() || !path("zarr-kit").exists() {
        return Ok(());
    }
    for [row, column] in shards() {
        let floor = fs::read(path("floor").join(format!("{row}.{column}")))?;
        let ours = fs::read(path("zarr-kit").join(format!("c/{row}/{column}")))?;
        if floor.len() != ours.len() || floor[..floor.len() - 4] != ours[..ours.len() - 4] {
            return Err(format!("shard {row}.{column} has other bytes").into());
        }
    }
    Ok(())
}
