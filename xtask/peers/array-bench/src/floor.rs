//! By hand: what must be done to the same bytes with no Zarr at all. Each chunk is a file, read in
//! one go, decompressed or unpacked into reused memory, and copied row by row into the result. Of
//! arrays whose chunks are stored in another order, the result has that order, too.

use std::fs::{self, File};
use std::io::{self, Read as _};
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};

use zarr_packbits::Packing;
use zarr_view::{CopyElement, Output, View};
use zstd::bulk::{Compressor, Decompressor};

use crate::Result;
use crate::cases::{BYTES, CHUNKS, Layout, Leaf, Work, counts, unravel};

struct Buffers {
    encoded: Vec<u8>,
    elements: Vec<u8>,
    compressor: Compressor<'static>,
    decompressor: Decompressor<'static>,
}

pub fn write(work: &Work, path: &Path, threads: usize) -> Result<()> {
    fs::create_dir_all(path)?;
    let Work { case, layout, data } = work;
    shared(threads, |chunk, buffers| {
        buffers.elements.clear();
        for_each_row(layout, chunk, |start, length| {
            let (start, length) = (start * case.element_size, length * case.element_size);
            buffers.elements.extend_from_slice(&data[start..start + length]);
        });
        let encoded = match case.leaf {
            Leaf::Bytes => &buffers.elements,
            Leaf::Zstd => {
                buffers.encoded.clear();
                buffers.encoded.reserve(zstd::zstd_safe::compress_bound(buffers.elements.len()));
                buffers.compressor.compress_to_buffer(&buffers.elements, &mut buffers.encoded)?;
                &buffers.encoded
            }
            Leaf::Packed { bits, signed } => {
                let packing = Packing::builder(bits).signed(signed).build()?;
                buffers.encoded.resize(BYTES / CHUNKS * bits as usize / 8, 0);
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

pub fn read(work: &Work, path: &Path, out: &mut Vec<u8>, threads: usize) -> Result<()> {
    if out.is_empty() {
        *out = zarr_view::zeroed(BYTES)?;
    }
    let Work { case, layout, .. } = work;
    let counts = counts(&layout.shape, &layout.chunk);
    let cuts: Vec<Vec<usize>> = counts
        .iter()
        .zip(&layout.chunk)
        .map(|(&count, edge)| (1..count).map(|part| part * edge).collect())
        .collect();
    let places =
        Output::new(out, &View::contiguous(&layout.shape)?, case.element_size)?.grid(&cuts)?;
    let chunk_view = View::contiguous(&layout.chunk)?;
    let element = CopyElement::try_from(case.element_size)?;
    shared(threads, |chunk, buffers| {
        buffers.encoded.clear();
        File::open(path.join(chunk.to_string()))?.read_to_end(&mut buffers.encoded)?;
        let elements = match case.leaf {
            Leaf::Bytes => &buffers.encoded,
            Leaf::Zstd => {
                buffers.elements.clear();
                buffers.elements.reserve(BYTES / CHUNKS);
                buffers
                    .decompressor
                    .decompress_to_buffer(&buffers.encoded, &mut buffers.elements)?;
                &buffers.elements
            }
            Leaf::Packed { bits, signed } => {
                buffers.elements.resize(BYTES / CHUNKS, 0);
                let packing = Packing::builder(bits).signed(signed).build()?;
                packing.unpack(&buffers.encoded, &mut buffers.elements)?;
                &buffers.elements
            }
        };
        let mut place = places.take(&unravel(chunk, &counts)).ok_or("taken twice")?;
        Ok(place.copy_from(&chunk_view, elements, element, &[])?)
    })
}

/// Calls `visit` with the start and the length of each row of a chunk, in elements of the array.
fn for_each_row(layout: &Layout, chunk: usize, mut visit: impl FnMut(usize, usize)) {
    let Layout { shape, chunk: edges, .. } = layout;
    let at = unravel(chunk, &counts(shape, edges));
    let mut strides = vec![1; shape.len()];
    for axis in (1..shape.len()).rev() {
        strides[axis - 1] = strides[axis] * shape[axis];
    }
    let last = edges.len() - 1;
    let mut start = (0..=last).map(|axis| at[axis] * edges[axis] * strides[axis]).sum();
    let mut within = vec![0; last];
    loop {
        visit(start, edges[last]);
        let mut axis = last;
        loop {
            if axis == 0 {
                return;
            }
            axis -= 1;
            within[axis] += 1;
            start += strides[axis];
            if within[axis] < edges[axis] {
                break;
            }
            start -= edges[axis] * strides[axis];
            within[axis] = 0;
        }
    }
}

/// The chunks, shared between threads.
fn shared(threads: usize, work: impl Fn(usize, &mut Buffers) -> Result<()> + Sync) -> Result<()> {
    let next = AtomicUsize::new(0);
    let run = || -> std::result::Result<(), String> {
        let failed = |error: io::Error| error.to_string();
        let mut buffers = Buffers {
            encoded: Vec::new(),
            elements: Vec::new(),
            compressor: Compressor::new(1).map_err(failed)?,
            decompressor: Decompressor::new().map_err(failed)?,
        };
        loop {
            let chunk = next.fetch_add(1, Ordering::Relaxed);
            if chunk >= CHUNKS {
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
