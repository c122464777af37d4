//! Throughput of every kernel as a ratio to a plain copy of the unpacked bytes.
//!
//! `cargo bench -p zarr-packbits -- [WORD...]` runs the rows and sizes whose names have all
//! words, for instance `-- int4 64KiB`. All kernels of a row and the copy take turns in one loop,
//! so that other load on the machine affects them equally; figures are medians. The reference
//! kernel is the floor. Every result is compared with the reference's.
//!
//! The rows of 4 and 64 KiB are measured a second time with buffers that end at a page whose successor
//! was never touched (`-- "page end"`), as those of a freshly mapped file do: a vector that
//! extends into that page costs as much as a page fault, even if its mask is clear there. A third
//! time they start at odd addresses (`-- "odd offsets"`), as chunks behind a header do: vectors
//! then lie across cache lines.

#![expect(clippy::unwrap_used, reason = "a failed unwrap is a failed bench")]

use std::{
    hint::black_box,
    ops::{Deref, DerefMut},
    time::Instant,
};

use zarr_packbits::{BitOrder, Kernel, Packing};

/// A row: its name and its layout.
fn rows() -> Vec<(&'static str, Packing)> {
    let of = Packing::builder;
    [
        ("bool", of(1)),
        ("int2", of(2).signed(true)),
        ("int4", of(4).signed(true)),
        ("uint4", of(4)),
        ("float6", of(6)),
        ("uint16 10 bits", of(16).last_bit(9)),
        ("int16 12 bits", of(16).last_bit(11).signed(true)),
        ("uint32 20 bits", of(32).last_bit(19)),
        ("uint64 37 bits", of(64).last_bit(36)),
        ("complex float6", of(6).components(2)),
        ("uint16 bits 4-13", of(16).first_bit(4).last_bit(13)),
        ("uint16 11 bits", of(16).last_bit(10)),
        ("int16 15 bits", of(16).last_bit(14).signed(true)),
        ("uint32 31 bits", of(32).last_bit(30)),
        ("uint64 63 bits", of(64).last_bit(62)),
        ("uint16 1 bit", of(16).last_bit(0)),
        ("uint8 3 bits", of(8).last_bit(2)),
        ("uint8 5 bits", of(8).last_bit(4)),
        ("uint8 7 bits", of(8).last_bit(6)),
        ("bool MSB first", of(1).bit_order(BitOrder::MsbFirst)),
        ("uint16 12 bits MSB first", of(16).last_bit(11).bit_order(BitOrder::MsbFirst)),
    ]
    .map(|(name, builder)| (name, builder.build().unwrap()))
    .into()
}

/// Bytes at a given distance from the start of a page.
///
/// A copy is a third slower if its source follows its destination within some bytes of a page.
/// With the allocator's choice of addresses, that is a matter of luck.
struct Buffer {
    bytes: Vec<u8>,
    start: usize,
    len: usize,
}

impl Buffer {
    const PAGE: usize = 4096;
    /// Pages that the system may merge from neighbouring ones.
    const HUGE_PAGE: usize = 2 << 20;
    /// Zeroed memory of this size is always mapped, and none of its pages exists until it is
    /// touched.
    const MAPPED: usize = 64 << 20;
    /// The offset of large allocations, because the allocator's own data comes first.
    const SOURCE: usize = 16;
    const DESTINATION: usize = Self::SOURCE + Self::PAGE / 2;
    /// From there to an odd address.
    const ODD: usize = 13;

    fn new(bytes: &[u8], offset: usize) -> Self {
        let len = bytes.len();
        let mut buffer = Self { bytes: vec![1; len + 2 * Self::PAGE], start: 0, len };
        buffer.start = buffer.bytes.as_ptr().align_offset(Self::PAGE) + offset;
        buffer.copy_from_slice(bytes);
        buffer
    }

    /// Bytes that end with a page, where the next page is not in memory.
    fn at_page_end(bytes: &[u8]) -> Self {
        let len = bytes.len();
        let mut buffer = Self { bytes: vec![0; len + Self::MAPPED], start: 0, len };
        buffer.start = buffer.bytes.as_ptr().wrapping_add(len).align_offset(Self::HUGE_PAGE);
        buffer.copy_from_slice(bytes);
        buffer
    }
}

/// Where the buffers of a row lie.
#[derive(Clone, Copy, PartialEq)]
enum Place {
    /// As the allocator puts them.
    Heap,
    /// At odd addresses.
    Odd,
    /// Before a page that was never touched.
    PageEnd,
}

impl Place {
    fn buffer(self, bytes: &[u8], offset: usize) -> Buffer {
        match self {
            Self::Heap => Buffer::new(bytes, offset),
            Self::Odd => Buffer::new(bytes, offset + Buffer::ODD),
            Self::PageEnd => Buffer::at_page_end(bytes),
        }
    }
}

impl Deref for Buffer {
    type Target = [u8];
    fn deref(&self) -> &[u8] {
        &self.bytes[self.start..self.start + self.len]
    }
}

impl DerefMut for Buffer {
    fn deref_mut(&mut self) -> &mut [u8] {
        &mut self.bytes[self.start..self.start + self.len]
    }
}

/// A task to time.
type Task<'a> = Box<dyn FnMut() + 'a>;

/// The minimum nanoseconds of one turn of a task.
const TURN: f64 = 40e3;

/// Times tasks in turns; returns the median nanoseconds of one call of each.
fn race(tasks: &mut [Task<'_>]) -> Vec<f64> {
    let time = |task: &mut Task<'_>, calls: usize| {
        let start = Instant::now();
        for _ in 0..calls {
            task();
        }
        start.elapsed().as_nanos() as f64 / calls as f64
    };
    let calls: Vec<usize> = tasks
        .iter_mut()
        .map(|task| {
            let once = time(task, 1).min(time(task, 1)).max(1.0);
            (TURN / once).ceil() as usize
        })
        .collect();
    let turns = if calls[0] == 1 { 9 } else { 101 };
    let mut times = vec![Vec::new(); tasks.len()];
    for _ in 0..turns {
        for ((task, calls), times) in tasks.iter_mut().zip(&calls).zip(&mut times) {
            times.push(time(task, *calls));
        }
    }
    times
        .into_iter()
        .map(|mut times| {
            times.sort_by(f64::total_cmp);
            times[times.len() / 2]
        })
        .collect()
}

/// Prints the times of a row, with that of the copy first, for `cargo xtask bench`.
fn record(row: &str, size: &str, best: Kernel, kernels: &[Kernel], times: &[f64]) {
    if std::env::var_os("BENCH_RECORDS").is_some() {
        println!("record\tpackbits, {size}\t{row}\tfloor\tmemcpy\t{}", times[0]);
        for (kernel, time) in kernels.iter().zip(&times[1..]) {
            let role = if *kernel == best { "ours" } else { "other" };
            println!("record\tpackbits, {size}\t{row}\t{role}\t{kernel:?}\t{time}");
        }
    }
}

fn main() {
    let words: Vec<String> = std::env::args().skip(1).filter(|a| !a.starts_with("--")).collect();
    let sizes = [
        ("64 elements", 0, Place::Heap),
        ("1KiB", 1 << 10, Place::Heap),
        ("4KiB", 4 << 10, Place::Heap),
        ("16KiB", 16 << 10, Place::Heap),
        ("64KiB", 64 << 10, Place::Heap),
        ("4KiB odd offsets", 4 << 10, Place::Odd),
        ("64KiB odd offsets", 64 << 10, Place::Odd),
        ("4KiB page end", 4 << 10, Place::PageEnd),
        ("64KiB page end", 64 << 10, Place::PageEnd),
        ("64MiB", 64 << 20, Place::Heap),
    ];
    for (size_name, size, place) in sizes {
        let mut header = false;
        for (name, packing) in rows() {
            let id = format!("{name} {size_name}");
            if !words.iter().all(|word| id.contains(word)) {
                continue;
            }
            let kernels: Vec<Kernel> =
                Kernel::available().filter(|k| *k != Kernel::Reference || size < 1 << 20).collect();
            if !header {
                header = true;
                println!(
                    "\n| {size_name} | copy GB/s | {} |",
                    kernels.iter().map(|k| format!("{k:?}")).collect::<Vec<_>>().join(" | ")
                );
                println!("|---|---|{}", "---|".repeat(kernels.len()));
            }
            let elements = if size == 0 { 64 } else { size / packing.element_size() };
            let size = elements * packing.element_size();
            let packed_len = packing.packed_len(elements).unwrap();
            // Values that packing keeps, from a simple generator.
            let mut state = 1_u64;
            let packed: Vec<u8> = (0..packed_len)
                .map(|_| {
                    state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                    (state >> 56) as u8
                })
                .collect();
            let mut unpacked = vec![0; size];
            packing.with_kernel(Kernel::Reference).unwrap().unpack(&packed, &mut unpacked).unwrap();
            let packed = place.buffer(&packed, Buffer::SOURCE);
            let unpacked = place.buffer(&unpacked, Buffer::SOURCE);

            for direction in ["unpack", "pack"] {
                let ones = vec![1; if direction == "pack" { packed_len } else { size }];
                let mut copied = place.buffer(&unpacked, Buffer::DESTINATION);
                let mut results: Vec<Buffer> =
                    kernels.iter().map(|_| place.buffer(&ones, Buffer::DESTINATION)).collect();
                let mut tasks: Vec<Task<'_>> = vec![Box::new(|| {
                    copied.copy_from_slice(black_box(&unpacked[..]));
                    black_box(&mut copied[..]);
                })];
                for (kernel, result) in kernels.iter().zip(&mut results) {
                    let packing = packing.with_kernel(*kernel).unwrap();
                    let (packed, unpacked) = (&packed, &unpacked);
                    tasks.push(if direction == "pack" {
                        Box::new(move || {
                            packing.pack(black_box(&unpacked[..]), result).unwrap();
                            black_box(&mut result[..]);
                        })
                    } else {
                        Box::new(move || {
                            packing.unpack(black_box(&packed[..]), result).unwrap();
                            black_box(&mut result[..]);
                        })
                    });
                }
                let times = race(&mut tasks);
                drop(tasks);
                for (kernel, result) in kernels.iter().zip(&results) {
                    if direction == "pack" {
                        let padding = packing.padding_bits(elements);
                        assert!(
                            padding > 0 || **result == *packed,
                            "{kernel:?} packs {name} wrongly"
                        );
                    } else {
                        assert!(**result == *unpacked, "{kernel:?} unpacks {name} wrongly");
                    }
                }
                let cells: Vec<String> = times[1..]
                    .iter()
                    .map(|time| {
                        if size_name.contains("elements") {
                            format!("{time:.0} ns")
                        } else {
                            format!("{:.3}", times[0] / time)
                        }
                    })
                    .collect();
                record(
                    &format!("{direction} {name}"),
                    size_name,
                    packing.kernel(),
                    &kernels,
                    &times,
                );
                println!(
                    "| {direction} {name} | {:.1} | {} |",
                    size as f64 / times[0],
                    cells.join(" | ")
                );
            }
        }
    }
}
