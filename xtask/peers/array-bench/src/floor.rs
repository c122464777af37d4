//! By hand: what must be done to the same bytes with no Zarr at all. Each chunk is a file, read in
//! one go, decompressed or unpacked into reused memory, and copied row by row into the result.

use std::fs::{self, File};
use std::io::Read as _;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};

use zarr_packbits::Packing;
use zarr_view::{Element, Output, View};

use crate::Result;
use crate::cases::{Case, Leaf};

#[derive(Default)]
struct Buffers {
    encoded: Vec<u8>,
    elements: Vec<u8>,
}

pub fn write(case: &Case, path: &Path, data: &[u8], threads: usize) -> Result<()> {
    fs::create_dir_all(path)?;
    let [rows, columns] = case.chunk();
    let (size, width) = (case.element_size, case.columns());
    shared(threads, |chunk, buffers| {
        let (row, column) = (chunk / 8 * rows, chunk % 8 * columns);
        buffers.elements.clear();
        for line in row..row + rows {
            let start = (line * width + column) * size;
            buffers.elements.extend_from_slice(&data[start..start + columns * size]);
        }
        let encoded = match case.leaf {
            Leaf::Bytes => &buffers.elements,
            Leaf::Zstd => {
                buffers.encoded = zstd::bulk::compress(&buffers.elements, 1)?;
                &buffers.encoded
            }
            Leaf::Packed { bits, signed } => {
                let packing = Packing::builder(bits).signed(signed).build()?;
                buffers.encoded.resize(rows * columns * bits as usize / 8, 0);
                packing.pack(&buffers.elements, &mut buffers.encoded)?;
                &buffers.encoded
            }
        };
        let target = path.join(chunk.to_string());
        let temporary = path.join(format!("{chunk}.tmp"));
        fs::write(&temporary, encoded)?;
        Ok(fs::rename(temporary, target)?)
    })
}

pub fn read(case: &Case, path: &Path, out: &mut Vec<u8>, threads: usize) -> Result<()> {
    if out.is_empty() {
        *out = zarr_view::zeroed(256 << 20)?;
    }
    let [rows, columns] = case.chunk();
    let shape = [case.rows, case.columns()];
    let cuts = |axis: usize| (1..8).map(move |part| part * shape[axis] / 8).collect::<Vec<_>>();
    let places = Output::new(out, &View::contiguous(&shape)?, case.element_size)?
        .grid(&[cuts(0), cuts(1)])?;
    let chunk_view = View::contiguous(&[rows, columns])?;
    let element = Element::new(case.element_size);
    shared(threads, |chunk, buffers| {
        buffers.encoded.clear();
        File::open(path.join(chunk.to_string()))?.read_to_end(&mut buffers.encoded)?;
        let length = rows * columns * case.element_size;
        let elements = match case.leaf {
            Leaf::Bytes => &buffers.encoded,
            Leaf::Zstd => {
                buffers.elements.clear();
                buffers.elements.reserve(length);
                zstd::bulk::Decompressor::new()?
                    .decompress_to_buffer(&buffers.encoded, &mut buffers.elements)?;
                &buffers.elements
            }
            Leaf::Packed { bits, signed } => {
                buffers.elements.resize(length, 0);
                let packing = Packing::builder(bits).signed(signed).build()?;
                packing.unpack(&buffers.encoded, &mut buffers.elements)?;
                &buffers.elements
            }
        };
        let mut place = places.take(&[chunk / 8, chunk % 8]).ok_or("taken twice")?;
        Ok(place.copy_from(&chunk_view, elements, element, &[])?)
    })
}

/// The 64 chunks, shared between threads.
fn shared(
    threads: usize,
    work: impl Fn(usize, &mut Buffers) -> Result<()> + Sync,
) -> Result<()> {
    let next = AtomicUsize::new(0);
    let run = || -> std::result::Result<(), String> {
        let mut buffers = Buffers::default();
        loop {
            let chunk = next.fetch_add(1, Ordering::Relaxed);
            if chunk >= 64 {
                return Ok(());
            }
            work(chunk, &mut buffers).map_err(|error| error.to_string())?;
        }
    };
    std::thread::scope(|scope| {
        let others: Vec<_> = (1..threads).map(|_| scope.spawn(run)).collect();
        let mut result = run();
        for other in others {
            result = result.and(other.join().unwrap_or_else(|_| Err("panicked".to_owned())));
        }
        Ok(result?)
    })
}
