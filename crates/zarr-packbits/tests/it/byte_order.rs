//! Big-endian memory: the same packed bits, checked against `bitvec` on swapped components.

use std::hash::Hasher;

use zarr_packbits::{ByteOrder, Error, Kernel, Packing, PaddingEncoding};

use crate::common::{self, random_bytes};

/// The bytes of every component, reversed.
fn swapped(packing: &Packing, bytes: &[u8]) -> Vec<u8> {
    bytes.chunks(packing.component_size()).flat_map(|each| each.iter().rev().copied()).collect()
}

/// The same layout in big-endian memory.
fn big_endian(packing: &Packing) -> Packing {
    let big = Packing::builder(8 * packing.component_size() as u32)
        .first_bit(packing.first_bit().into())
        .last_bit(packing.last_bit().into())
        .components(packing.components())
        .signed(packing.is_signed())
        .bit_order(packing.bit_order())
        .byte_order(ByteOrder::BigEndian)
        .build()
        .unwrap();
    assert_eq!(big.byte_order(), ByteOrder::BigEndian);
    big
}

#[test]
fn packed_bits_are_those_of_swapped_components() {
    let wide = common::all_packings().filter(|packing| packing.component_size() > 1);
    for (seed, little) in wide.enumerate().filter(|(seed, _)| seed % 61 == 0) {
        let (big, size) = (big_endian(&little), little.component_size());
        // Up to several blocks, starting at any element.
        for (n, first) in [(0, 0), (1, 0), (7, 3), (64, 0), (130, 5), (4500, 1), (9001 / size, 6)] {
            let src = random_bytes(n * size, seed as u64);
            let len = little.packed_len(first + n).unwrap();
            let before = random_bytes(len + 9, 5);
            let start = little.byte_range(first, n, PaddingEncoding::None).unwrap();
            let mut expected = before.clone();
            common::pack(&little, &src, &mut expected[start.bytes.start..], start.bit);
            let mut expected_back = vec![0; n * size];
            common::unpack(&little, &expected[start.bytes.start..], start.bit, &mut expected_back);
            let (src, expected_back) = (swapped(&big, &src), swapped(&big, &expected_back));
            for kernel in Kernel::available() {
                let big = big.with_kernel(kernel).unwrap();
                let mut packed = before.clone();
                big.pack_range(&src, PaddingEncoding::None, first, &mut packed).unwrap();
                assert_eq!(packed, expected, "{big:?}, {n} from {first}");
                let mut back = vec![0xee; n * size];
                big.unpack_range(&packed[..len], PaddingEncoding::None, first, &mut back).unwrap();
                assert_eq!(back, expected_back, "{big:?}, {n} from {first}");
                // What is lost is what did not come back.
                let differs = |i: &usize| src[i * size..][..size] != back[i * size..][..size];
                let lost: Vec<usize> = (0..n).filter(differs).collect();
                assert!(big.lost(&src).unwrap().eq(lost.iter().copied()), "{big:?}");
                let refused = big.refuse_loss(true).pack_range(
                    &src,
                    PaddingEncoding::None,
                    first,
                    &mut packed,
                );
                assert_eq!(
                    refused.err(),
                    lost.first().map(|&element| Error::Lost {
                        element,
                        first_bit: big.first_bit(),
                        last_bit: big.last_bit(),
                    })
                );
            }
        }
    }
}

/// Values that are all restored, so that refusing is not the only case.
#[test]
fn values_that_fit_are_kept() {
    let values: Vec<i32> = (0..3000).map(|i| (i * 37) % 4096 - 2048).collect();
    let src: Vec<u8> = values.iter().flat_map(|value| value.to_be_bytes()).collect();
    let little: Vec<u8> = values.iter().flat_map(|value| value.to_le_bytes()).collect();
    let builder = Packing::builder(32).last_bit(11).signed(true);
    let big = builder.byte_order(ByteOrder::BigEndian).build().unwrap().refuse_loss(true);
    let (mut packed, mut expected) = (vec![0; 4500], vec![0; 4500]);
    big.pack(&src, &mut packed).unwrap();
    builder.build().unwrap().pack(&little, &mut expected).unwrap();
    assert_eq!(packed, expected);
    let mut back = vec![0; src.len()];
    big.unpack(&packed, &mut back).unwrap();
    assert_eq!(back, src);
}

/// Gathers numbers as they lie in memory: what the default methods of a hasher hash.
#[derive(Default)]
struct Memory(Vec<u8>);

impl Hasher for Memory {
    fn write(&mut self, bytes: &[u8]) {
        self.0.extend(bytes);
    }

    fn finish(&self) -> u64 {
        0
    }
}

#[test]
fn native_memory_is_packed_by_value() {
    let mut memory = Memory::default();
    memory.write_u16(0x123);
    memory.write_u16(0xabc);
    let builder = Packing::builder(16).last_bit(11).byte_order(ByteOrder::NATIVE);
    let mut packed = [0; 3];
    builder.build().unwrap().pack(&memory.0, &mut packed).unwrap();
    assert_eq!(packed, [0x23, 0xc1, 0xab]);
}
