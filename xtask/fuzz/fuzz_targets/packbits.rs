//! Any layout, any buffers: wrong lengths are errors, and every kernel gives the result of the
//! reference, to the last byte around the target.

#![no_main]

use libfuzzer_sys::{
    arbitrary::{Arbitrary, Result, Unstructured},
    fuzz_target,
};
use zarr_packbits::{BitOrder, ByteOrder, Kernel, Packing, PaddingEncoding};

#[derive(Debug)]
struct Input {
    packing: Packing,
    padding: PaddingEncoding,
    /// The number of an element, or of a bit.
    at: usize,
    elements: usize,
    align: usize,
    src: Vec<u8>,
    packed: Vec<u8>,
}

impl<'a> Arbitrary<'a> for Input {
    fn arbitrary(u: &mut Unstructured<'a>) -> Result<Self> {
        let component_bits = u.int_in_range(1..=64)?;
        let last = u.int_in_range(0..=component_bits - 1)?;
        let first = u.int_in_range(0..=last)?;
        let packing = Packing::builder(component_bits)
            .first_bit(first.into())
            .last_bit(last.into())
            .components(u.int_in_range(1..=2)?)
            .signed(u.arbitrary()?)
            .bit_order(if u.arbitrary()? { BitOrder::LsbFirst } else { BitOrder::MsbFirst })
            .byte_order(if u.ratio(1, 4)? { ByteOrder::BigEndian } else { ByteOrder::LittleEndian })
            .build()
            .expect("a range within the component");
        let padding = *u.choose(&[
            PaddingEncoding::None,
            PaddingEncoding::FirstByte,
            PaddingEncoding::LastByte,
        ])?;
        let at = if u.ratio(1, 20)? { u.arbitrary()? } else { u.int_in_range(0..=300)? };
        // The reference takes a bit at a time: few inputs are long.
        let most = if u.ratio(1, 16)? { 3000 } else { 200 };
        let elements = u.int_in_range(0..=most)?;
        let align = u.int_in_range(0..=63)?;
        let src = Vec::arbitrary(u)?;
        let packed = Vec::arbitrary(u)?;
        Ok(Self { packing, padding, at, elements, align, src, packed })
    }
}

/// Runs an operation with the reference and with every other kernel: same answer, same bytes.
fn same<E: PartialEq + std::fmt::Debug>(
    packing: &Packing,
    target: &[u8],
    align: usize,
    operation: impl Fn(&Packing, &mut [u8]) -> std::result::Result<(), E>,
) -> bool {
    let on = |kernel| {
        let packing = packing.with_kernel(kernel).expect("an available kernel");
        let mut bytes = vec![0x5a; align];
        bytes.extend_from_slice(target);
        bytes.extend_from_slice(&[0x5a; 128]);
        let answer = operation(&packing, &mut bytes[align..align + target.len()]);
        (answer, bytes)
    };
    let expected = on(Kernel::Reference);
    for kernel in Kernel::available() {
        assert_eq!(on(kernel), expected, "{kernel:?}");
    }
    expected.0.is_ok()
}

/// Repeats `bytes` to this length.
fn fill(bytes: &[u8], len: usize) -> Vec<u8> {
    (0..len)
        .map(|i| bytes.get(i % bytes.len().max(1)).map_or(i as u8, |b| b ^ (i >> 8) as u8))
        .collect()
}

fuzz_target!(|input: Input| {
    let Input { packing, padding, at, elements, align, src, packed } = input;
    // Buffers of any length.
    same(&packing, &packed, align, |p, packed| p.pack(&src, packed));
    same(&packing, &src, align, |p, dst| p.unpack(&packed, dst));
    same(&packing, &packed, align, |p, packed| p.pack_range(&src, PaddingEncoding::None, at, packed));
    same(&packing, &src, align, |p, dst| p.unpack_range(&packed, PaddingEncoding::None, at, dst));
    same(&packing, &packed, align, |p, packed| p.pack_at(&src, at, packed));
    same(&packing, &src, align, |p, dst| p.unpack_at(&packed, at, dst));
    same(&packing, &packed, align, |p, packed| p.encode(&src, padding, packed));
    same(&packing, &src, align, |p, dst| p.decode(&packed, padding, dst));
    let _ = packing.lost(&src).map(Iterator::count);
    let _ = packing.padding_is_zero(&packed, elements);
    let _ = packing.byte_range(at, elements, PaddingEncoding::None);

    // Buffers of the right lengths.
    let src = fill(&src, elements * packing.element_size());
    let len = packing.packed_len(elements).expect("few elements");
    let packed = fill(&packed, len);
    assert!(same(&packing, &packed, align, |p, packed| p.pack(&src, packed)));
    assert!(same(&packing, &src, align, |p, dst| p.unpack(&packed, dst)));
    if at < elements {
        let part = at * packing.element_size();
        assert!(same(&packing, &packed, align, |p, packed| p.pack_range(&src[part..], PaddingEncoding::None, at, packed)));
        assert!(same(&packing, &src[part..], align, |p, dst| p.unpack_range(&packed, PaddingEncoding::None, at, dst)));
    }
    // Unpacked elements survive, and surviving elements are restored.
    let mut back = src.clone();
    packing.unpack(&packed, &mut back).expect("right lengths");
    assert!(packing.is_lossless_for(&back).expect("whole elements"));
    let mut again = packed.clone();
    packing.pack(&src, &mut again).expect("right lengths");
    packing.unpack(&again, &mut back).expect("right lengths");
    let changed = src
        .chunks(packing.element_size())
        .zip(back.chunks(packing.element_size()))
        .enumerate()
        .filter(|(_, (before, after))| before != after);
    let changed = changed.map(|(element, _)| element);
    assert!(packing.lost(&src).expect("whole elements").eq(changed));
    // Every kernel refuses the others, if loss is refused.
    let refusing = packing.refuse_loss(true);
    let kept = same(&refusing, &packed, align, |p, packed| p.pack(&src, packed));
    assert_eq!(kept, packing.is_lossless_for(&src).expect("whole elements"));
});
