//! Bytes computed by hand from the document and from the decisions on it, or written by others.

use zarr_packbits::{BitOrder, Error, Kernel, Packing, PaddingEncoding};

/// Encodes with every kernel, compares, decodes again and compares with `back`.
fn check(packing: Packing, src: &[u8], padding: PaddingEncoding, encoded: &[u8], back: &[u8]) {
    for kernel in Kernel::available() {
        let packing = packing.with_kernel(kernel).unwrap();
        let mut out = vec![0xaa; encoded.len()];
        packing.encode(src, padding, &mut out).unwrap();
        assert_eq!(out, encoded, "encoding on {kernel:?}");
        let mut out = vec![0xaa; src.len()];
        packing.decode(encoded, padding, &mut out).unwrap();
        assert_eq!(out, back, "decoding on {kernel:?}");
    }
}

fn bytes<const N: usize, T: Copy>(values: &[T], to: fn(T) -> [u8; N]) -> Vec<u8> {
    values.iter().flat_map(|v| to(*v)).collect()
}

#[test]
fn sd_10_bit_0_is_the_least_significant() {
    let packing = Packing::builder(1).build().unwrap();
    let src = [1, 0, 0, 0, 0, 0, 0, 0, 0, 1];
    check(packing, &src, PaddingEncoding::None, &[0x01, 0x02], &src);
    // A full-width type gives what `bytes` in little endian writes.
    let packing = Packing::builder(32).signed(true).build().unwrap();
    let src = bytes(&[-2, 0x0102_0304], i32::to_le_bytes);
    check(packing, &src, PaddingEncoding::None, &src, &src);
}

#[test]
fn sd_11_numcodecs_packs_most_significant_first() {
    // The output of PackBits().encode of numcodecs 0.17.1 for these arrays of bool.
    let ours = Packing::builder(1).build().unwrap();
    let theirs = Packing::builder(1).bit_order(BitOrder::MsbFirst).build().unwrap();
    let src = [1, 0, 0, 0, 0, 0, 0, 0];
    check(ours, &src, PaddingEncoding::FirstByte, &[0x00, 0x01], &src);
    check(theirs, &src, PaddingEncoding::FirstByte, &[0x00, 0x80], &src);
    let src = [1, 1, 0, 1, 0, 0, 0, 0, 1, 0, 1];
    check(theirs, &src, PaddingEncoding::FirstByte, &[0x05, 0xd0, 0xa0], &src);
}

#[test]
fn sd_13_sign_extends_to_the_whole_width() {
    let packing = Packing::builder(16).signed(true).last_bit(6).build().unwrap();
    let src = bytes(&[-1, -2, -64, 63, 0], i16::to_le_bytes);
    check(packing, &src, PaddingEncoding::None, &[0x7f, 0x3f, 0xf0, 0x07, 0x00], &src);
    let packing = Packing::builder(32).signed(true).last_bit(9).build().unwrap();
    let src = bytes(&[-1], i32::to_le_bytes);
    check(packing, &src, PaddingEncoding::None, &[0xff, 0x03], &src);
}

#[test]
fn sd_14_full_width_types_have_their_padding_byte() {
    let packing = Packing::builder(16).signed(true).build().unwrap();
    let src = bytes(&[1, 2], i16::to_le_bytes);
    check(packing, &src, PaddingEncoding::FirstByte, &[0, 1, 0, 2, 0], &src);
    check(packing, &src, PaddingEncoding::LastByte, &[1, 0, 2, 0, 0], &src);
    let error = packing.decode(&[1, 0, 2, 0], PaddingEncoding::FirstByte, &mut [0; 4]);
    assert!(matches!(error, Err(Error::MissingPaddingByte { found: 4, expected: 5, .. })));
}

#[test]
fn sd_15_ranges_are_checked() {
    let build = |n, first, last| Packing::builder(n).first_bit(first).last_bit(last).build();
    for n in 1..=64 {
        for first in 0..70 {
            for last in 0..70 {
                let valid = first <= last && last < u64::from(n);
                assert_eq!(build(n, first, last).is_ok(), valid, "{first}..={last} of {n}");
            }
        }
    }
    assert!(build(16, u64::MAX, u64::MAX).is_err());
    // The range applies to each component of a complex type.
    let packing = Packing::builder(6).components(2).first_bit(1).last_bit(4).build().unwrap();
    assert_eq!(packing.bits(), 8);
    assert!(Packing::builder(6).components(2).last_bit(6).build().is_err());
    // The default is the whole component.
    assert_eq!(Packing::builder(6).build().unwrap(), build(6, 0, 5).unwrap());
}

#[test]
fn sd_16_padding_bits_are_accepted_and_reported() {
    let packing = Packing::builder(1).build().unwrap();
    let mut out = [0xaa; 3];
    packing.decode(&[5, 0xfd], PaddingEncoding::FirstByte, &mut out).unwrap();
    assert_eq!(out, [1, 0, 1]);
    for last in 0..=255_u8 {
        assert_eq!(packing.padding_is_zero(&[last], 3).unwrap(), last >> 3 == 0);
        let msb = Packing::builder(1).bit_order(BitOrder::MsbFirst).build().unwrap();
        assert_eq!(msb.padding_is_zero(&[last], 3).unwrap(), last << 3 == 0);
        assert!(packing.padding_is_zero(&[last], 8).unwrap());
    }
    assert!(packing.padding_is_zero(&[], 0).unwrap());
    // A wrong byte or length is not accepted.
    let wrong = packing.decode(&[4, 0x05], PaddingEncoding::FirstByte, &mut out);
    assert!(matches!(
        wrong,
        Err(Error::PaddingByte { position: 0, found: 4, expected: 5, elements: 3, bits: 1 })
    ));
    let wrong = packing.decode(&[0x05, 13], PaddingEncoding::LastByte, &mut out);
    assert!(matches!(wrong, Err(Error::PaddingByte { position: 1, found: 13, expected: 5, .. })));
    let wrong = packing.decode(&[0x05], PaddingEncoding::LastByte, &mut out);
    assert!(matches!(wrong, Err(Error::EncodedLength { found: 1, expected: 2, .. })));
}

#[test]
fn sd_17_a_partial_read_gives_the_same_elements() {
    let packing = Packing::builder(16).signed(true).first_bit(2).last_bit(8).build().unwrap();
    let packed: Vec<u8> = (0..70).map(|i| (i * 37) as u8).collect();
    for kernel in Kernel::available() {
        let packing = packing.with_kernel(kernel).unwrap();
        let mut full = [0; 160];
        packing.unpack(&packed, &mut full).unwrap();
        for first in 0..=80 {
            for count in 0..=80 - first {
                let mut out = vec![0xaa; 2 * count];
                packing.unpack_range(&packed, PaddingEncoding::None, first, &mut out).unwrap();
                assert_eq!(out, full[2 * first..2 * (first + count)]);
                // Only the bytes that a reader fetches.
                let range = packing.byte_range(first, count, PaddingEncoding::None).unwrap();
                let mut out = vec![0xaa; 2 * count];
                packing.unpack_at(&packed[range.bytes], range.bit, &mut out).unwrap();
                assert_eq!(out, full[2 * first..2 * (first + count)]);
            }
        }
    }
}

#[test]
fn sd_18_sub_byte_types_take_a_byte() {
    // int4 and int2 are sign-extended, even if a writer left upper bits.
    let int4 = Packing::builder(4).signed(true).build().unwrap();
    let src = [0xfd, 0x0d, 0x07, 0x08];
    let back = [0xfd, 0xfd, 0x07, 0xf8];
    check(int4, &src, PaddingEncoding::None, &[0xdd, 0x87], &back);
    let int2 = Packing::builder(2).signed(true).build().unwrap();
    check(
        int2,
        &[0, 1, 0xfe, 0xff, 3],
        PaddingEncoding::None,
        &[0xe4, 0x03],
        &[0, 1, 0xfe, 0xff, 0xff],
    );
    // All others are zero-extended.
    let uint4 = Packing::builder(4).build().unwrap();
    check(uint4, &[0x0f, 0xf1], PaddingEncoding::None, &[0x1f], &[0x0f, 0x01]);
    let float6 = Packing::builder(6).build().unwrap();
    let src = [0x3f, 0x00, 0x20, 0x01];
    check(float6, &src, PaddingEncoding::None, &[0x3f, 0x00, 0x06], &src);
}

#[test]
fn sd_49_other_bits_are_not_packed_and_elements_that_have_any_are_told() {
    let packing = Packing::builder(16).first_bit(4).last_bit(11).build().unwrap();
    let src = bytes(&[0xfab5, 0x0ab0], u16::to_le_bytes);
    let back = bytes(&[0x0ab0, 0x0ab0], u16::to_le_bytes);
    check(packing, &src, PaddingEncoding::None, &[0xab, 0xab], &back);
    assert!(packing.lost(&src).unwrap().eq([0]));
    assert!(packing.is_lossless_for(&back).unwrap());
}

#[test]
fn sd_50_types_of_every_width_have_a_packing() {
    for n in 1..=64 {
        let packing = Packing::builder(n).build().unwrap();
        assert_eq!(packing.bits(), n);
        let size = packing.component_size();
        assert!(8 * size >= n as usize && (size == 1 || 4 * size < n as usize));
    }
}

#[test]
fn sd_51_the_real_part_is_in_the_lower_bits() {
    // complex_float4_e2m1fn: real 1, imaginary 2
    let packing = Packing::builder(4).components(2).build().unwrap();
    assert_eq!((packing.bits(), packing.element_size()), (8, 2));
    check(packing, &[1, 2], PaddingEncoding::None, &[0x21], &[1, 2]);
    // complex_float6: 12 bits per element, real 0x3f, imaginary 0, then 0x01, 0x02
    let packing = Packing::builder(6).components(2).build().unwrap();
    let src = [0x3f, 0, 1, 2];
    check(packing, &src, PaddingEncoding::LastByte, &[0x3f, 0x10, 0x08, 0], &src);
}

#[test]
fn sd_52_a_bool_byte_gives_its_lowest_bit() {
    let packing = Packing::builder(1).build().unwrap();
    let src = [2, 3, 255, 128, 1, 0];
    check(packing, &src, PaddingEncoding::None, &[0x16], &[0, 1, 1, 0, 1, 0]);
    assert!(packing.lost(&[0, 1, 2, 1, 255]).unwrap().eq([2, 4]));
}

#[test]
fn tensorstore_int4() {
    // The chunk that TensorStore 0.1.86 writes of the int4 values -8 to 7 with the `bytes` codec:
    // the upper halves are not extended. Packing drops them.
    let packing = Packing::builder(4).signed(true).build().unwrap();
    let theirs = [8, 9, 10, 11, 12, 13, 14, 15, 0, 1, 2, 3, 4, 5, 6, 7];
    let values = bytes(&[-8, -7, -6, -5, -4, -3, -2, -1, 0, 1, 2, 3, 4, 5, 6, 7], i8::to_le_bytes);
    let encoded = [0x98, 0xba, 0xdc, 0xfe, 0x10, 0x32, 0x54, 0x76];
    check(packing, &theirs, PaddingEncoding::None, &encoded, &values);
    check(packing, &values, PaddingEncoding::None, &encoded, &values);
}
