//! Every kernel against `bitvec`, on the product of all parameters of a layout.
//!
//! CI runs a thinned product. `cargo xtask exhaustive` runs the full one, for which it sets the
//! environment variable `ZARR_KIT_EXHAUSTIVE`.

use zarr_packbits::{Kernel, Packing, PaddingEncoding};

use crate::common::{self, all_packings, random_bytes};

/// Elements of the longest run.
const LONGEST: usize = 130;
/// Bytes around every target, which must not change.
const CANARY: usize = 80;

pub(crate) fn exhaustive() -> bool {
    std::env::var_os("ZARR_KIT_EXHAUSTIVE").is_some()
}

/// Lengths to try: all, or those around the step sizes of kernels.
fn lengths(thinned: bool, seed: usize) -> impl Iterator<Item = usize> {
    (0..=LONGEST).filter(move |n| !thinned || n % 13 == seed % 13 || n % 64 == 1)
}

/// Runs one packing with all kernels: every start within a group, every length, unaligned
/// buffers.
fn check(packing: Packing, thinned: bool, seed: usize) {
    let size = packing.element_size();
    let bits = packing.bits() as usize;
    let most = (LONGEST + 8) * bits / 8 + 1 + 2 * CANARY + 64;
    let packed = random_bytes(most, seed as u64);
    let src = random_bytes(LONGEST * size + 64, !(seed as u64));
    let mut expected_unpacked = vec![0; LONGEST * size];
    let noise = random_bytes(LONGEST * size + 2 * CANARY + 64, 7);
    for start in 0..8 {
        if thinned && start % 4 != seed % 4 {
            continue;
        }
        let align = (seed + 5 * start) % 64;
        let range = packing.byte_range(start, LONGEST, PaddingEncoding::None).unwrap();
        let first_byte = CANARY + align + range.bytes.start;
        common::unpack(&packing, &packed[first_byte..], range.bit, &mut expected_unpacked);
        for n in lengths(thinned, seed + start) {
            let mut expected_packed = packed.clone();
            common::pack(
                &packing,
                &src[align..align + n * size],
                &mut expected_packed[first_byte..],
                range.bit,
            );
            let end = (start + n) * bits;
            for kernel in Kernel::available() {
                let packing = packing.with_kernel(kernel).unwrap();
                let what = || format!("{packing:?}, elements {start}..{}", start + n);

                let mut got = noise.clone();
                let target = CANARY + align..CANARY + align + n * size;
                // The packed buffer ends where the last element does: reading further faults.
                let exact = packed[CANARY + align..][..end.div_ceil(8)].to_vec();
                packing
                    .unpack_range(&exact, PaddingEncoding::None, start, &mut got[target.clone()])
                    .unwrap();
                assert_eq!(
                    got[target.clone()],
                    expected_unpacked[..n * size],
                    "unpack, {}",
                    what()
                );
                assert_eq!(got[..target.start], noise[..target.start], "before, {}", what());
                assert_eq!(got[target.end..], noise[target.end..], "after, {}", what());

                let mut got = packed.clone();
                let exact = src[align..align + n * size].to_vec();
                packing
                    .pack_range(
                        &exact,
                        PaddingEncoding::None,
                        start,
                        &mut got[CANARY + align..][..end.div_ceil(8)],
                    )
                    .unwrap();
                assert_eq!(got, expected_packed, "pack, {}", what());
            }
        }
    }
}

#[test]
fn every_kernel_equals_bitvec() {
    let thinned = !exhaustive();
    for (seed, packing) in all_packings().enumerate() {
        if thinned && packing.component_size() == 8 && seed % 7 != 0 {
            continue;
        }
        check(packing, thinned, seed);
    }
}

#[test]
fn every_sub_byte_type_and_complex_type_equals_bitvec() {
    for component_bits in [1, 2, 3, 4, 5, 6, 7, 8, 12, 16, 24, 32, 48, 64] {
        for components in 1..=2 {
            for signed in [false, true] {
                for order in [zarr_packbits::BitOrder::LsbFirst, zarr_packbits::BitOrder::MsbFirst]
                {
                    let packing = Packing::builder(component_bits)
                        .components(components)
                        .signed(signed)
                        .bit_order(order)
                        .build()
                        .unwrap();
                    check(packing, !exhaustive(), component_bits as usize);
                }
            }
        }
    }
}

/// Starts that no element of a chunk has, but a bit offset may.
#[test]
fn every_bit_offset_equals_bitvec() {
    for (seed, packing) in
        all_packings().enumerate().filter(|(seed, _)| exhaustive() || seed % 29 == 0)
    {
        let bits = packing.bits() as usize;
        let size = packing.element_size();
        let packed = random_bytes(LONGEST * bits / 8 + 4, seed as u64);
        let src = random_bytes(LONGEST * size, 3);
        for bit in 0..16 {
            for n in [0, 1, 7, 8, 9, 63, 100, LONGEST] {
                let mut expected = vec![0; n * size];
                common::unpack(&packing, &packed, bit, &mut expected);
                let mut expected_packed = packed.clone();
                common::pack(&packing, &src[..n * size], &mut expected_packed, bit);
                for kernel in Kernel::available() {
                    let packing = packing.with_kernel(kernel).unwrap();
                    let mut got = vec![0; n * size];
                    packing.unpack_at(&packed, bit, &mut got).unwrap();
                    assert_eq!(got, expected, "{packing:?}, {n} from bit {bit}");
                    let mut got = packed.clone();
                    packing.pack_at(&src[..n * size], bit, &mut got).unwrap();
                    assert_eq!(got, expected_packed, "{packing:?}, {n} from bit {bit}");
                }
            }
        }
    }
}

/// Kernels that move 128 fields at a time need longer runs than the other tests have.
#[test]
fn long_runs_of_bytes_equal_bitvec() {
    const LONG: usize = 700;
    for (seed, packing) in
        all_packings().filter(|packing| packing.component_size() == 1).enumerate()
    {
        let bits = packing.bits() as usize;
        let packed = random_bytes((LONG + 8) * bits / 8 + 2, seed as u64);
        let src = random_bytes(LONG, !(seed as u64));
        for (start, n) in (0..8).flat_map(|start| [(start, 300 + 16 * start), (start, LONG)]) {
            let mut expected = vec![0; n];
            common::unpack(&packing, &packed, start * bits, &mut expected);
            let mut expected_packed = packed.clone();
            common::pack(&packing, &src[..n], &mut expected_packed, start * bits);
            for kernel in Kernel::available() {
                let packing = packing.with_kernel(kernel).unwrap();
                let mut got = vec![0; n];
                packing.unpack_range(&packed, PaddingEncoding::None, start, &mut got).unwrap();
                assert_eq!(got, expected, "{packing:?}, elements {start}..{}", start + n);
                let mut got = packed.clone();
                packing.pack_range(&src[..n], PaddingEncoding::None, start, &mut got).unwrap();
                assert_eq!(got, expected_packed, "{packing:?}, elements {start}..{}", start + n);
            }
        }
    }
}

#[test]
fn pack_zeroes_the_padding_bits() {
    for (seed, packing) in all_packings().enumerate().filter(|(seed, _)| seed % 5 == 0) {
        for n in [1, 3, 7, 65] {
            let src = random_bytes(n * packing.element_size(), seed as u64);
            let len = packing.packed_len(n).unwrap();
            let mut expected = vec![0; len];
            common::pack(&packing, &src, &mut expected, 0);
            for kernel in Kernel::available() {
                let packing = packing.with_kernel(kernel).unwrap();
                let mut got = vec![0xff; len];
                packing.pack(&src, &mut got).unwrap();
                assert_eq!(got, expected, "{packing:?}");
                assert!(packing.padding_is_zero(&got, n).unwrap());
            }
        }
    }
}

/// Outputs large enough to bypass the caches, at unaligned addresses.
#[test]
fn large_outputs_equal_those_of_the_portable_kernel() {
    let widths = [(1, 0), (4, 3), (8, 4), (16, 9), (16, 10), (32, 30), (64, 62), (64, 36)];
    for (component_bits, last) in widths {
        for packing in common::variants(component_bits, 0, last) {
            let size = packing.component_size();
            let n = (9 << 20) / size + 5;
            let packed = random_bytes(packing.packed_len(n + 3).unwrap(), last);
            let mut expected = vec![0; n * size];
            let portable = packing.with_kernel(Kernel::Portable).unwrap();
            let part = (1 << 14) / size;
            for (i, expected) in expected.chunks_mut(part * size).enumerate() {
                portable
                    .unpack_range(&packed, PaddingEncoding::None, 3 + i * part, expected)
                    .unwrap();
            }
            for kernel in Kernel::available().filter(|k| *k != Kernel::Reference) {
                let packing = packing.with_kernel(kernel).unwrap();
                for align in [0, 1, 8, 16] {
                    let mut got = vec![0xaa; n * size + 128];
                    packing
                        .unpack_range(
                            &packed,
                            PaddingEncoding::None,
                            3,
                            &mut got[align..align + n * size],
                        )
                        .unwrap();
                    assert!(got[align..align + n * size] == expected, "{packing:?} at {align}");
                    assert!(got[..align].iter().all(|b| *b == 0xaa));
                    assert!(got[align + n * size..].iter().all(|b| *b == 0xaa));
                }
            }
        }
    }
}
