//! Lengths, positions, survival and tiles.

use zarr_packbits::{Packing, PaddingEncoding};

use crate::common::{self, all_packings, random_bytes, variants};

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
                for (padding, extra) in [
                    (PaddingEncoding::None, 0),
                    (PaddingEncoding::FirstByte, 1),
                    (PaddingEncoding::LastByte, 1),
                ] {
                    assert_eq!(packing.encoded_len(n, padding), Some(len + extra));
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
    // Bits past usize in bytes that are not.
    let packing = Packing::builder(7).build().unwrap();
    assert_eq!(packing.packed_len(usize::MAX), Some(usize::MAX / 8 * 7 + 7));
}

#[test]
fn survival_is_what_a_round_trip_keeps() {
    for packing in all_packings().filter(|p| p.first_bit() % 3 == 0 && p.last_bit() % 2 == 1) {
        let size = packing.component_size();
        for seed in 0..4 {
            // Few random bits, so that some values survive.
            let mut src = random_bytes(1100 / size * size, seed);
            for component in src.chunks_mut(size) {
                let keep = component[0] % 16 < 13;
                if keep {
                    let copy = component.to_vec();
                    let mut packed = [0; 8];
                    common::pack(&packing, &copy, &mut packed, 0);
                    common::unpack(&packing, &packed, 0, component);
                }
            }
            let from = [0, 510 / size * size, 1000 / size * size, src.len()][seed as usize];
            // Everything before `from` survives.
            let mut packed = vec![0; src.len() + 1];
            let head = src[..from].to_vec();
            common::pack(&packing, &head, &mut packed, 0);
            common::unpack(&packing, &packed, 0, &mut src[..from]);
            let mut back = vec![0; src.len()];
            common::pack(&packing, &src, &mut packed, 0);
            common::unpack(&packing, &packed, 0, &mut back);
            let expected = src.chunks(size).zip(back.chunks(size)).position(|(a, b)| a != b);
            assert_eq!(packing.first_lost(&src).unwrap(), expected, "{packing:?}");
            assert_eq!(packing.survives(&src).unwrap(), expected.is_none());
        }
    }
}

#[test]
fn a_lost_component_names_its_element() {
    let packing = Packing::builder(6).components(2).build().unwrap();
    assert_eq!(packing.first_lost(&[0, 1, 2, 64]).unwrap(), Some(1));
}

#[test]
fn tiles_cover_the_range_in_order() {
    let packing = Packing::builder(12).components(2).build().unwrap();
    for tile_bytes in [4, 7, 8, 255, 256, 257, 1000] {
        let most = tile_bytes / 4;
        for start in 0..70 {
            for end in start..300 {
                let mut next = start;
                let mut tiles = packing.tiles(start..end, tile_bytes).unwrap();
                let mut left = tiles.len();
                while let Some(tile) = tiles.next() {
                    left -= 1;
                    assert_eq!(tiles.len(), left);
                    assert_eq!(tile.start, next);
                    assert!(!tile.is_empty() && tile.len() <= most);
                    assert!(most < 64 || tile.start == start || tile.start % 64 == 0);
                    next = tile.end;
                }
                assert_eq!((next, left), (end, 0));
            }
        }
    }
    let last = packing.tiles(usize::MAX - 3..usize::MAX, 1 << 12).unwrap().last().unwrap();
    assert_eq!(last.end, usize::MAX);
}

#[test]
fn tiles_give_what_a_whole_call_gives() {
    for (first, last) in [(0, 9), (3, 14), (0, 15)] {
        for packing in variants(16, first, last) {
            let src = random_bytes(2 * 1000, 1);
            let mut packed = vec![0; packing.packed_len(1000).unwrap()];
            packing.pack(&src, &mut packed).unwrap();
            for range in [0..1000, 13..977, 5..5, 999..1000] {
                for tile in [2, 60, 128, 300, 4000] {
                    let mut whole = vec![0; 2 * range.len()];
                    packing.unpack_range(&packed, range.start, &mut whole).unwrap();
                    let mut tiled = vec![0; 2 * range.len()];
                    let mut scratch = vec![0; tile];
                    packing
                        .unpack_tiles(&packed, range.clone(), &mut scratch, |first, bytes| {
                            let at = 2 * (first - range.start);
                            tiled[at..at + bytes.len()].copy_from_slice(bytes);
                        })
                        .unwrap();
                    assert_eq!(tiled, whole);

                    let mut expected = random_bytes(packed.len(), 2);
                    let mut got = expected.clone();
                    common::pack(
                        &packing,
                        &src[2 * range.start..2 * range.end],
                        &mut expected,
                        range.start * packing.bits() as usize,
                    );
                    packing
                        .pack_tiles(range.clone(), &mut scratch, &mut got, |first, bytes| {
                            bytes.copy_from_slice(&src[2 * first..2 * first + bytes.len()]);
                        })
                        .unwrap();
                    assert_eq!(got, expected);
                }
            }
        }
    }
}
