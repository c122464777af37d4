//! An independent implementation with `bitvec`, and packings to test it on.

use bitvec::{field::BitField, order::Lsb0, order::Msb0, view::BitView};
use zarr_packbits::{BitOrder, Packing};

/// Every packing of components of 8, 16, 32 or 64 bits, with one component per element.
pub(crate) fn all_packings() -> impl Iterator<Item = Packing> {
    [8_u32, 16, 32, 64].into_iter().flat_map(|component_bits| {
        (0..u64::from(component_bits)).flat_map(move |first| {
            (first..u64::from(component_bits))
                .flat_map(move |last| variants(component_bits, first, last))
        })
    })
}

/// Both signs and both bit orders.
pub(crate) fn variants(
    component_bits: u32,
    first: u64,
    last: u64,
) -> impl Iterator<Item = Packing> {
    [false, true].into_iter().flat_map(move |signed| {
        [BitOrder::LsbFirst, BitOrder::MsbFirst].into_iter().map(move |order| {
            Packing::builder(component_bits)
                .first_bit(first)
                .last_bit(last)
                .signed(signed)
                .bit_order(order)
                .build()
                .unwrap()
        })
    })
}

/// Packs with `bitvec` from bit `bit` on.
pub(crate) fn pack(packing: &Packing, src: &[u8], packed: &mut [u8], bit: usize) {
    let width = (packing.last_bit() - packing.first_bit() + 1) as usize;
    for (i, component) in src.chunks(packing.component_size()).enumerate() {
        let mut bytes = [0; 8];
        bytes[..component.len()].copy_from_slice(component);
        let value = u64::from_le_bytes(bytes) >> packing.first_bit();
        let at = bit + i * width..bit + (i + 1) * width;
        match packing.bit_order() {
            BitOrder::LsbFirst => packed.view_bits_mut::<Lsb0>()[at].store_le(value),
            BitOrder::MsbFirst => packed.view_bits_mut::<Msb0>()[at].store_be(value),
        }
    }
}

/// Unpacks with `bitvec` from bit `bit` on.
pub(crate) fn unpack(packing: &Packing, packed: &[u8], bit: usize, dst: &mut [u8]) {
    let width = (packing.last_bit() - packing.first_bit() + 1) as usize;
    for (i, component) in dst.chunks_mut(packing.component_size()).enumerate() {
        let at = bit + i * width..bit + (i + 1) * width;
        let field: u64 = match packing.bit_order() {
            BitOrder::LsbFirst => packed.view_bits::<Lsb0>()[at].load_le(),
            BitOrder::MsbFirst => packed.view_bits::<Msb0>()[at].load_be(),
        };
        let unused = 64 - width;
        let field =
            if packing.is_signed() { ((field << unused) as i64 >> unused) as u64 } else { field };
        let value = field << packing.first_bit();
        component.copy_from_slice(&value.to_le_bytes()[..component.len()]);
    }
}

/// Bytes of a seeded generator (splitmix64).
pub(crate) fn random_bytes(len: usize, seed: u64) -> Vec<u8> {
    let mut state = seed;
    let mut bytes = Vec::with_capacity(len + 8);
    while bytes.len() < len {
        state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = state;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        bytes.extend((z ^ (z >> 31)).to_le_bytes());
    }
    bytes.truncate(len);
    bytes
}
