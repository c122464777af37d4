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
                    assert_eq!(packing.encoded_len(n, padding), Some(before + len + after));
                    let range = packing.byte_range(n, 3, padding).unwrap();
                    assert_eq!(8 * (range.bytes.start - before) + range.bit, n * k);
                    assert_eq!(range.bytes.end - before, ((n + 3) * k).div_ceil(8));
                    assert!(packing.byte_range(n, 0, padding).unwrap().bytes.is_empty());
                }
            }
        }
    }
}

#[test]
fn lengths_do_not_wrap() {
    let packing = Packing::builder(64).build().unwrap();
    assert_eq!(packing.packed_len(usize::MAX), None);
    assert_eq!(packing.packed_len(usize::MAX / 8), Some(usize::MAX - 7));
    assert_eq!(packing.byte_range(usize::MAX, 1, PaddingEncoding::None), None);
    assert_eq!(packing.byte_range(1, usize::MAX, PaddingEncoding::None), None);
    // The bits exceed usize, but the bytes do not.
    let packing = Packing::builder(7).build().unwrap();
    assert_eq!(packing.packed_len(usize::MAX), Some(usize::MAX / 8 * 7 + 7));
}

/// Of a chunk of each padding, each range is that of the elements, bit by bit.
#[test]
fn ranges_are_after_the_padding_byte() {
    for packing in all_packings().filter(|p| p.first_bit() == 0 && p.last_bit() % 3 == 1) {
        let size = packing.element_size();
        let mut whole = vec![0; 19 * size];
        common::unpack(&packing, &random_bytes(19 * size, 5), 0, &mut whole);
        for padding in
            [PaddingEncoding::None, PaddingEncoding::FirstByte, PaddingEncoding::LastByte]
        {
            let mut encoded = vec![0; packing.encoded_len(19, padding).unwrap()];
            packing.encode(&whole, padding, &mut encoded).unwrap();
            let ahead = 8 * usize::from(padding == PaddingEncoding::FirstByte);
            for (first, count) in
                (0..=19).flat_map(|first| (0..=19 - first).map(move |n| (first, n)))
            {
                let wanted = &whole[size * first..size * (first + count)];
                let mut naive = vec![0; size * count];
                let bit = ahead + first * packing.bits() as usize;
                common::unpack(&packing, &encoded, bit, &mut naive);
                assert_eq!(naive, wanted);
                let mut found = vec![0xaa; size * count];
                packing.unpack_range(&encoded, padding, first, &mut found).unwrap();
                assert_eq!(found, wanted, "{packing:?}, {padding}, {first}");
                let range = packing.byte_range(first, count, padding).unwrap();
                packing.unpack_at(&encoded[range.bytes], range.bit, &mut found).unwrap();
                assert_eq!(found, wanted, "{packing:?}, {padding}, {first}");
                // Other elements and the padding byte stay.
                let mut written = encoded.clone();
                packing.pack_range(&vec![0; found.len()], padding, first, &mut written).unwrap();
                assert_eq!(written.len(), encoded.len());
                packing.pack_range(wanted, padding, first, &mut written).unwrap();
                assert_eq!(written, encoded, "{packing:?}, {padding}, {first}");
            }
            // The padding byte is no part of any element.
            let past = 8 * encoded.len() / packing.bits() as usize + 1;
            let mut one = vec![0; size];
            assert!(packing.unpack_range(&encoded, padding, past, &mut one).is_err());
            assert!(packing.unpack_range(&[], padding, 0, &mut one).is_err());
        }
    }
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
