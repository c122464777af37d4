//! Common to all kernels: starts within a byte, ends, and neighbours that must not change.
//!
//! A run of fields is cut into three parts. Kernels see only the middle one:
//!
//! ```text
//! head                         groups                       tail
//! up to 7 fields, one by one   8 fields, b whole bytes, each   less than 8 fields
//! until one starts a byte
//! ```
//!
//! Kernels that read or write whole words beyond a group stop before the end of the buffer. The
//! portable kernel processes the rest in a buffer with spare room. The AVX-512 kernel does not need
//! this: it unpacks from any bit to the last element.

#[cfg(all(target_arch = "aarch64", target_feature = "neon", target_endian = "little"))]
use crate::arch::Neon;
#[cfg(all(target_arch = "wasm32", target_feature = "simd128"))]
use crate::arch::Simd128;
#[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
use crate::arch::{Avx2, Avx512, Ssse3};
use crate::lossless::LostBits;
use crate::used_bits::{self, NOTHING, PLAIN, SUMS, UsedBits, Watch};
use crate::{BitOrder, Kernel, field::Field, scalar, word};

/// The most bytes that the portable kernel does not process, and as many again to spare.
const SPARE: usize = 192;

/// The block size, in unpacked bytes, in which values are checked before the portable kernel
/// packs them; a block stays in the first-level cache.
const BLOCK: usize = 8 << 10;

/// From this many unpacked bytes on, the AVX-512 kernel bypasses the caches, which its output
/// would only flush. The other kernels would gain nothing: their vectors are not whole lines, and
/// writing through a buffer costs more.
#[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
const STREAM_FROM: usize = 8 << 20;

/// From this many unpacked bytes on, it pays off to fill the tables of the other vector kernels.
const VECTORS_FROM: usize = 64;

/// The number of fields before the first that starts at a byte. `None` if there is no such field:
/// then no element of a chunk can start here.
fn head(field: &Field, bit: usize) -> Option<usize> {
    (0..8).find(|fields| (bit + fields * field.bits as usize).is_multiple_of(8))
}

/// Unpacks from bit `bit` (0 to 7) of `packed` on; the caller has checked the length.
pub(crate) fn unpack(kernel: Kernel, field: &Field, packed: &[u8], bit: usize, dst: &mut [u8]) {
    if kernel == Kernel::Reference {
        return scalar::unpack(field, packed, bit as u64, dst);
    }
    if bit == 0 && field.is_copy() {
        return dst.copy_from_slice(&packed[..dst.len()]);
    }
    #[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
    if kernel == Kernel::Avx512
        && let Some(avx512) = Avx512::new()
        && avx512.unpack(field, packed, bit, dst, dst.len() >= STREAM_FROM)
    {
        return;
    }
    let fields = dst.len() / field.size;
    let head = head(field, bit).unwrap_or(fields).min(fields);
    let (single, rest) = dst.split_at_mut(head * field.size);
    let mut position = bit;
    for component in single.chunks_exact_mut(field.size) {
        let value = word::get(field, packed, position).to_le_bytes();
        component.copy_from_slice(&value[..field.size]);
        position += field.bits as usize;
    }
    if !rest.is_empty() {
        unpack_groups(kernel, field, &packed[position / 8..], rest);
    }
}

/// Unpacks from the start of `packed` on.
fn unpack_groups(kernel: Kernel, field: &Field, packed: &[u8], dst: &mut [u8]) {
    let (mut packed, mut dst) = (packed, dst);
    let done = unpack_vectors(kernel, field, packed, dst);
    (packed, dst) = (&packed[done / 8 * field.bits as usize..], &mut dst[done * field.size..]);
    let done = word::unpack(field, packed, dst);
    (packed, dst) = (&packed[done / 8 * field.bits as usize..], &mut dst[done * field.size..]);
    // No bytes are left, or so few packed bytes that they fit.
    let fields = dst.len() / field.size;
    if fields == 0 {
        return;
    }
    let mut spare = [0; SPARE];
    let needed = (fields * field.bits as usize).div_ceil(8);
    spare[..needed].copy_from_slice(&packed[..needed]);
    let (groups, tail) = dst.split_at_mut(fields / 8 * 8 * field.size);
    word::unpack(field, &spare, groups);
    let mut group = [0; 64];
    let group = &mut group[..8 * field.size];
    word::unpack(field, &spare[fields / 8 * field.bits as usize..], group);
    tail.copy_from_slice(&group[..tail.len()]);
}

/// Unpacks a multiple of eight fields with a kernel that does not process the last ones, nor some
/// layouts: the portable kernel does. Returns their number.
fn unpack_vectors(kernel: Kernel, field: &Field, packed: &[u8], dst: &mut [u8]) -> usize {
    if dst.len() < VECTORS_FROM {
        return 0;
    }
    let _ = (field, packed);
    match kernel {
        #[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
        Kernel::Ssse3 => Ssse3::new().map_or(0, |ssse3| ssse3.unpack(field, packed, dst)),
        #[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
        Kernel::Avx2 => Avx2::new().map_or(0, |avx2| avx2.unpack(field, packed, dst)),
        #[cfg(all(target_arch = "aarch64", target_feature = "neon", target_endian = "little"))]
        Kernel::Neon => Neon::new().map_or(0, |neon| neon.unpack(field, packed, dst)),
        #[cfg(all(target_arch = "wasm32", target_feature = "simd128"))]
        Kernel::Simd128 => Simd128::new().map_or(0, |simd128| simd128.unpack(field, packed, dst)),
        _ => 0,
    }
}

/// Packs `src` from bit `bit` (0 to 7) of `dst` on; the caller has checked that it fits.
pub(crate) fn pack(kernel: Kernel, field: &Field, src: &[u8], dst: &mut [u8], bit: usize) {
    pack_watching::<NOTHING>(kernel, field, src, dst, bit);
}

/// As [`pack`]; false if unpacking gives other elements than `src`.
pub(crate) fn pack_kept(
    kernel: Kernel,
    field: &Field,
    src: &[u8],
    dst: &mut [u8],
    bit: usize,
) -> bool {
    if kernel == Kernel::Reference {
        pack(kernel, field, src, dst, bit);
        return !LostBits::of(field).any(src);
    }
    match used_bits::watch(field) {
        NOTHING => pack_watching::<NOTHING>(kernel, field, src, dst, bit).is_kept(field),
        SUMS => pack_watching::<SUMS>(kernel, field, src, dst, bit).is_kept(field),
        _ => pack_watching::<PLAIN>(kernel, field, src, dst, bit).is_kept(field),
    }
}

fn pack_watching<const WATCH: Watch>(
    kernel: Kernel,
    field: &Field,
    src: &[u8],
    dst: &mut [u8],
    bit: usize,
) -> UsedBits<WATCH> {
    let mut seen = UsedBits::default();
    if kernel == Kernel::Reference {
        scalar::pack(field, src, dst, bit as u64);
        return seen;
    }
    if bit == 0 && field.is_copy() {
        dst[..src.len()].copy_from_slice(src);
        return seen;
    }
    let fields = src.len() / field.size;
    let head = head(field, bit).unwrap_or(fields).min(fields);
    let (single, rest) = src.split_at(head * field.size);
    let mut position = bit;
    seen.look(field, single);
    for component in single.chunks_exact(field.size) {
        let mut value = [0; 8];
        value[..field.size].copy_from_slice(component);
        word::put(field, u64::from_le_bytes(value), dst, position);
        position += field.bits as usize;
    }
    let groups = (fields - head) / 8;
    let (groups, tail) = (groups * 8 * field.size, groups * field.bits as usize);
    let (groups, last) = rest.split_at(groups);
    if rest.is_empty() {
        return seen;
    }
    let (whole, dst) = dst[position / 8..].split_at_mut(tail);
    pack_groups(kernel, field, groups, whole, &mut seen);
    pack_tail(field, last, dst, &mut seen);
    seen
}

/// Packs a multiple of eight fields into the whole of `dst`.
fn pack_groups<const WATCH: Watch>(
    kernel: Kernel,
    field: &Field,
    src: &[u8],
    dst: &mut [u8],
    seen: &mut UsedBits<WATCH>,
) {
    #[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
    if kernel == Kernel::Avx512
        && let Some(avx512) = Avx512::new()
    {
        return avx512.pack(field, src, dst, seen);
    }
    let done = pack_vectors(kernel, field, src, dst, seen);
    let (src, dst) = (&src[done * field.size..], &mut dst[done / 8 * field.bits as usize..]);
    #[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
    if kernel == Kernel::Avx2
        && let Some(avx2) = Avx2::new()
    {
        return pack_words(field, src, dst, seen, |seen, block| avx2.look(seen, field, block));
    }
    pack_words(field, src, dst, seen, |seen, block| seen.look(field, block));
}

/// As [`unpack_vectors`], packs a multiple of eight fields, and returns their number.
fn pack_vectors<const WATCH: Watch>(
    kernel: Kernel,
    field: &Field,
    src: &[u8],
    dst: &mut [u8],
    seen: &mut UsedBits<WATCH>,
) -> usize {
    if src.len() < VECTORS_FROM {
        return 0;
    }
    let _ = (field, &dst, &seen);
    match kernel {
        #[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
        Kernel::Ssse3 => Ssse3::new().map_or(0, |ssse3| ssse3.pack(field, src, dst, seen)),
        #[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
        Kernel::Avx2 => Avx2::new().map_or(0, |avx2| avx2.pack(field, src, dst, seen)),
        #[cfg(all(target_arch = "aarch64", target_feature = "neon", target_endian = "little"))]
        Kernel::Neon => Neon::new().map_or(0, |neon| neon.pack(field, src, dst, seen)),
        #[cfg(all(target_arch = "wasm32", target_feature = "simd128"))]
        Kernel::Simd128 => Simd128::new().map_or(0, |simd128| simd128.pack(field, src, dst, seen)),
        _ => 0,
    }
}

/// Packs a multiple of eight fields into the whole of `dst` with the portable kernel. Before it
/// packs a block, `look` gathers the words for [`UsedBits`] from the block, with vector
/// instructions.
fn pack_words<const WATCH: Watch>(
    field: &Field,
    src: &[u8],
    dst: &mut [u8],
    seen: &mut UsedBits<WATCH>,
    look: impl Fn(&mut UsedBits<WATCH>, &[u8]),
) {
    let (mut rest, mut dst) = (src, dst);
    let block_len = if WATCH == NOTHING { src.len().max(1) } else { BLOCK };
    for block in src.chunks(block_len) {
        look(seen, block);
        // The kernel does not process the fields of the last bytes, so later blocks start with
        // them.
        let done = word::pack(field, &rest[..rest.len().min(block.len())], dst);
        (rest, dst) = (&rest[done * field.size..], &mut dst[done / 8 * field.bits as usize..]);
    }
    let mut spare = [0; SPARE];
    word::pack(field, rest, &mut spare);
    dst.copy_from_slice(&spare[..dst.len()]);
}

/// Packs less than eight fields to the start of `dst`, and changes no bit after them.
fn pack_tail<const WATCH: Watch>(
    field: &Field,
    src: &[u8],
    dst: &mut [u8],
    seen: &mut UsedBits<WATCH>,
) {
    if src.is_empty() {
        return;
    }
    let mut group = [0; 64];
    group[..src.len()].copy_from_slice(src);
    seen.look(field, src);
    let mut spare = [0; SPARE];
    word::pack(field, &group[..8 * field.size], &mut spare);
    let bits = src.len() / field.size * field.bits as usize;
    let (bytes, rest) = (bits / 8, bits % 8);
    dst[..bytes].copy_from_slice(&spare[..bytes]);
    if rest > 0 {
        let theirs = match field.order {
            BitOrder::LsbFirst => 0xff << rest,
            BitOrder::MsbFirst => 0xff >> rest,
        };
        dst[bytes] = dst[bytes] & theirs | spare[bytes];
    }
}
