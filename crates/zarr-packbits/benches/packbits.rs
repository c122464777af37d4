//! Throughput of every kernel, in unpacked bytes, beside a plain copy of these bytes (`copy`).
//!
//! `cargo bench -p zarr-packbits -- int4` runs the ids that match: `unpack/int4/64KiB/avx2` is a
//! direction, a layout, a size and a kernel. The reference kernel is the floor; each result is compared
//! with the reference's before it is timed.
//!
//! `64KiB-page-end` has buffers that end at a page whose successor was never touched, as those of a
//! freshly mapped file do: a vector that extends into that page costs as much as a page fault, even if its
//! mask is clear there. The buffers of `64KiB-odd` start at odd addresses, as chunks behind a header do:
//! vectors then lie across cache lines. Pairs with other programs, in turns, are in `xtask/peers`.

#![expect(clippy::unwrap_used, reason = "a failed unwrap is a failed bench")]

use std::hint::black_box;
use std::ops::{Deref, DerefMut};
use std::time::Duration;

use criterion::{Bencher, Criterion, Throughput, criterion_group, criterion_main};
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
        ("uint16-10", of(16).last_bit(9)),
        ("int16-12", of(16).last_bit(11).signed(true)),
        ("uint32-20", of(32).last_bit(19)),
        ("uint64-37", of(64).last_bit(36)),
        ("complex-float6", of(6).components(2)),
        ("uint16-bits-4-to-13", of(16).first_bit(4).last_bit(13)),
        ("uint16-11", of(16).last_bit(10)),
        ("int16-15", of(16).last_bit(14).signed(true)),
        ("uint32-31", of(32).last_bit(30)),
        ("uint64-63", of(64).last_bit(62)),
        ("uint16-1", of(16).last_bit(0)),
        ("uint8-3", of(8).last_bit(2)),
        ("uint8-5", of(8).last_bit(4)),
        ("uint8-7", of(8).last_bit(6)),
        ("bool-msb-first", of(1).bit_order(BitOrder::MsbFirst)),
        ("uint16-12-msb-first", of(16).last_bit(11).bit_order(BitOrder::MsbFirst)),
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

/// The sizes of unpacked buffers in bytes, and where the buffers lie.
const SIZES: [(&str, usize, Place); 7] = [
    ("64B", 64, Place::Heap),
    ("1KiB", 1 << 10, Place::Heap),
    ("4KiB", 4 << 10, Place::Heap),
    ("64KiB", 64 << 10, Place::Heap),
    ("64KiB-odd", 64 << 10, Place::Odd),
    ("64KiB-page-end", 64 << 10, Place::PageEnd),
    ("64MiB", 64 << 20, Place::Heap),
];

/// Random packed bytes, and the values that the reference kernel unpacks them to.
fn packed_and_unpacked(packing: Packing, elements: usize) -> [Vec<u8>; 2] {
    let mut state = 1_u64;
    let packed: Vec<u8> = (0..packing.packed_len(elements).unwrap())
        .map(|_| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (state >> 56) as u8
        })
        .collect();
    let mut unpacked = vec![0; elements * packing.element_size()];
    packing.with_kernel(Kernel::Reference).unwrap().unpack(&packed, &mut unpacked).unwrap();
    // Bits that no element has are 0 in what is packed again.
    let mut packed = vec![0; packed.len()];
    packing.with_kernel(Kernel::Reference).unwrap().pack(&unpacked, &mut packed).unwrap();
    [packed, unpacked]
}

fn unpack(bencher: &mut Bencher<'_>, packing: Packing, elements: usize, place: Place) {
    let [packed, unpacked] = packed_and_unpacked(packing, elements);
    let from = place.buffer(&packed, Buffer::SOURCE);
    let mut to = place.buffer(&vec![1; unpacked.len()], Buffer::DESTINATION);
    packing.unpack(&from, &mut to).unwrap();
    assert!(to[..] == unpacked[..], "the kernel's values differ from the reference's");
    bencher.iter(|| packing.unpack(black_box(&from), black_box(&mut to)).unwrap());
}

fn pack(bencher: &mut Bencher<'_>, packing: Packing, elements: usize, place: Place) {
    let [packed, unpacked] = packed_and_unpacked(packing, elements);
    let from = place.buffer(&unpacked, Buffer::SOURCE);
    let mut to = place.buffer(&vec![1; packed.len()], Buffer::DESTINATION);
    packing.pack(&from, &mut to).unwrap();
    assert!(to[..] == packed[..], "the kernel's bytes differ from the reference's");
    bencher.iter(|| packing.pack(black_box(&from), black_box(&mut to)).unwrap());
}

fn copy(bencher: &mut Bencher<'_>, size: usize, place: Place) {
    let bytes = vec![1; size];
    let from = place.buffer(&bytes, Buffer::SOURCE);
    let mut to = place.buffer(&bytes, Buffer::DESTINATION);
    bencher.iter(|| black_box(&mut to[..]).copy_from_slice(black_box(&from)));
}

/// What measures one kernel.
type Measure = fn(&mut Bencher<'_>, Packing, usize, Place);

fn kernels(criterion: &mut Criterion) {
    let directions: [(&str, Measure); 2] = [("unpack", unpack), ("pack", pack)];
    for (direction, measure) in directions {
        for (row, packing) in rows() {
            for (size_name, size, place) in SIZES {
                let elements = size / packing.element_size();
                let size = elements * packing.element_size();
                let mut group = criterion.benchmark_group(format!("{direction}/{row}/{size_name}"));
                group.throughput(Throughput::Bytes(size as u64));
                group.bench_function("copy", |bencher| copy(bencher, size, place));
                for kernel in Kernel::available() {
                    // The reference takes seconds for large buffers.
                    if kernel == Kernel::Reference && size > 1 << 20 {
                        continue;
                    }
                    let packing = packing.with_kernel(kernel).unwrap();
                    let name = format!("{kernel:?}").to_lowercase();
                    group
                        .bench_function(name, |bencher| measure(bencher, packing, elements, place));
                }
                group.finish();
            }
        }
    }
}

criterion_group! {
    name = benches;
    config = Criterion::default()
        .sample_size(30)
        .warm_up_time(Duration::from_millis(100))
        .measurement_time(Duration::from_millis(500));
    targets = kernels
}
criterion_main!(benches);
