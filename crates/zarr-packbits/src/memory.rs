//! The order of bytes in memory. Kernels move little-endian components; others are swapped on the
//! way, in blocks that stay in the first-level cache.

use crate::{ByteOrder, Kernel, field::Field, run};

/// The block size in unpacked bytes. It is a multiple of eight components of any size, so a block
/// packs to whole bytes and the next one starts at the same bit.
const BLOCK: usize = 4 << 10;

/// Unpacks from bit `bit` (0 to 7) of `packed` on; the caller has checked the length.
pub(crate) fn unpack(kernel: Kernel, field: &Field, packed: &[u8], bit: usize, dst: &mut [u8]) {
    if is_little(field) {
        return run::unpack(kernel, field, packed, bit, dst);
    }
    let field = little(field);
    for (i, block) in dst.chunks_mut(BLOCK).enumerate() {
        run::unpack(kernel, &field, &packed[i * packed_len(&field)..], bit, block);
        swap(block, field.size);
    }
}

/// Packs `src` from bit `bit` (0 to 7) of `dst` on; the caller has checked that it fits.
pub(crate) fn pack(kernel: Kernel, field: &Field, src: &[u8], dst: &mut [u8], bit: usize) {
    if is_little(field) {
        return run::pack(kernel, field, src, dst, bit);
    }
    blocks(field, src, dst, |field, block, dst| run::pack(kernel, field, block, dst, bit));
}

/// As [`pack`]; false if unpacking gives other elements than `src`.
pub(crate) fn pack_kept(
    kernel: Kernel,
    field: &Field,
    src: &[u8],
    dst: &mut [u8],
    bit: usize,
) -> bool {
    if is_little(field) {
        return run::pack_kept(kernel, field, src, dst, bit);
    }
    let mut kept = true;
    blocks(field, src, dst, |field, block, dst| {
        kept &= run::pack_kept(kernel, field, block, dst, bit);
    });
    kept
}

/// Hands out the blocks of `src`, swapped, each with its field after the swap and the rest of `dst`
/// from its place on.
fn blocks(
    field: &Field,
    src: &[u8],
    dst: &mut [u8],
    mut pack: impl FnMut(&Field, &[u8], &mut [u8]),
) {
    let field = little(field);
    let mut swapped = [0; BLOCK];
    for (i, block) in src.chunks(BLOCK).enumerate() {
        let swapped = &mut swapped[..block.len()];
        swapped.copy_from_slice(block);
        swap(swapped, field.size);
        pack(&field, swapped, &mut dst[i * packed_len(&field)..]);
    }
}

/// Whether the kernels can take the memory as it is.
fn is_little(field: &Field) -> bool {
    field.memory == ByteOrder::LittleEndian || field.size == 1
}

fn little(field: &Field) -> Field {
    Field { memory: ByteOrder::LittleEndian, ..*field }
}

/// The packed bytes of a block.
fn packed_len(field: &Field) -> usize {
    BLOCK / field.size / 8 * field.bits as usize
}

/// Reverses the bytes of each component.
fn swap(components: &mut [u8], size: usize) {
    match size {
        2 => components.as_chunks_mut::<2>().0.iter_mut().for_each(|each| each.reverse()),
        4 => components.as_chunks_mut::<4>().0.iter_mut().for_each(|each| each.reverse()),
        8 => components.as_chunks_mut::<8>().0.iter_mut().for_each(|each| each.reverse()),
        _ => {}
    }
}
