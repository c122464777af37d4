//! Lengths, positions and lost elements.

use zarr_packbits::{Kernel, Packing, PaddingEncoding};

use crate::common::{self, all_packings, random_bytes};
use crate::product::exhaustive;

#[test]
fn lengths_follow_the_document() {
    for bits in 1..=64_u32 {
        for components in 1..=2 {
            let packing = Packing::builder(bits).components(components).build().unwrap();
            let k = (bits * components) as usize;
            for n in 0..200 {
                let len = packing.packed_len(n).unwrap();
                assert_eq!(len, (n * k).div_ceil(8));
                assert_eq!(usize::from(packing.padding_bits(n)), 8 * len - n * k);
                for (padding, before, after) in [
                    (PaddingEncoding::None, 0, 0),
                    (PaddingEncoding::FirstByte, 1, 0),
                    (PaddingEncoding::LastByte, 0, 1),
                ] {
                    assert_eq!(padding.prefix_len(), before);
                    assert_eq!(packing.encoded_len(n, padding), Some(before + len + after));
                }
                let range = packing.byte_range(n, 3).unwrap();
                assert_eq!(8 * range.bytes.start + range.bit, n * k);
                assert_eq!(range.bytes.end, ((n + 3) * k).div_ceil(8));
                assert!(packing.byte_range(n, 0).unwrap().bytes.is_empty());
            }
        }
    }
}

#[test]
fn lengths_do_not_wrap() {
    let packing = Packing::builder(64).build().unwrap();
    assert_eq!(packing.packed_len(usize::MAX), None);
    assert_eq!(packing.packed_len(usize::MAX / 8), Some(usize::MAX - 7));
    assert_eq!(packing.byte_range(usize::MAX, 1), None);
    assert_eq!(packing.byte_range(1, usize::MAX), None);
    // The bits exceed usize, but the bytes do not.
    let packing = Packing::builder(7).build().unwrap();
    assert_eq!(packing.packed_len(usize::MAX), Some(usize::MAX / 8 * 7 + 7));
}

#[test]
fn survival_is_what_a_round_trip_keeps() {
    let some = all_packings().filter(|p| p.first_bit() % 3 == 0 && p.last_bit() % 2 == 1);
    for (number, packing) in some.enumerate() {
        let size = packing.component_size();
        // One place in turn, or all.
        let turn = number as u64 % 4;
        for seed in if exhaustive() { 0..4 } else { turn..turn + 1 } {
            // Few random bits, so that some values are restored.
            let mut src = random_bytes(9100 / size * size, seed);
            for component in src.chunks_mut(size) {
                let keep = component[0] % 16 < 13;
                if keep {
                    let copy = component.to_vec();
                    let mut packed = [0; 8];
                    common::pack(&packing, &copy, &mut packed, 0);
                    common::unpack(&packing, &packed, 0, component);
                }
            }
            let from = [0, 4090 / size * size, 8300 / size * size, src.len()][seed as usize];
            // Everything before `from` survives.
            let mut packed = vec![0; src.len() + 1];
            let head = src[..from].to_vec();
            common::pack(&packing, &head, &mut packed, 0);
            common::unpack(&packing, &packed, 0, &mut src[..from]);
            let mut back = vec![0; src.len()];
            common::pack(&packing, &src, &mut packed, 0);
            common::unpack(&packing, &packed, 0, &mut back);
            let pairs = src.chunks(size).zip(back.chunks(size)).enumerate();
            let expected: Vec<usize> = pairs.filter(|(_, (a, b))| a != b).map(|(i, _)| i).collect();
            for kernel in Kernel::available() {
                let packing = packing.with_kernel(kernel).unwrap();
                assert!(packing.lost(&src).unwrap().eq(expected.iter().copied()), "{packing:?}");
                assert_eq!(packing.is_lossless_for(&src).unwrap(), expected.is_empty());
            }
        }
    }
}

#[test]
fn a_lost_component_names_its_element() {
    let packing = Packing::builder(6).components(2).build().unwrap();
    assert!(packing.lost(&[0, 1, 2, 64, 5, 6, 64, 64]).unwrap().eq([1, 3]));
}
