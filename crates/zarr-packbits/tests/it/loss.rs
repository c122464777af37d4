//! Packings that refuse loss (SD-49) refuse exactly the elements that a round trip changes. Every
//! kernel detects them while it packs, wherever the element is.

use zarr_packbits::{Error, Kernel, Packing, PaddingEncoding};

use crate::common::{self, all_packings, random_bytes};

/// Elements that unpacking produced.
fn surviving(packing: &Packing, elements: usize, seed: u64) -> Vec<u8> {
    let packed = random_bytes(packing.packed_len(elements).unwrap(), seed);
    let mut src = vec![0; elements * packing.element_size()];
    common::unpack(packing, &packed, 0, &mut src);
    src
}

/// The bits of a component that are not packed.
fn outside(packing: &Packing) -> Vec<u32> {
    let kept = packing.first_bit()..=packing.last_bit();
    (0..8 * packing.component_size() as u32).filter(|bit| !kept.contains(bit)).collect()
}

/// Packs with every kernel, starting at element `start`: returns the first lost element, if there
/// is one, and the bytes of a packing that allows loss.
#[track_caller]
fn check(packing: &Packing, src: &[u8], start: usize, lost: Option<usize>) {
    let end = start + src.len() / packing.element_size();
    let mut expected = vec![0x5a; packing.packed_len(end).unwrap()];
    packing.pack_range(src, PaddingEncoding::None, start, &mut expected).unwrap();
    let (first_bit, last_bit) = (packing.first_bit(), packing.last_bit());
    let answer = lost.map_or(Ok(()), |element| Err(Error::Lost { element, first_bit, last_bit }));
    for kernel in Kernel::available() {
        let packing = packing.with_kernel(kernel).unwrap().refuse_loss(true);
        let mut packed = vec![0x5a; expected.len()];
        let what = || format!("{packing:?}, {} bytes from {start}", src.len());
        assert_eq!(
            packing.pack_range(src, PaddingEncoding::None, start, &mut packed),
            answer,
            "{}",
            what()
        );
        assert_eq!(packed, expected, "{}", what());
    }
}

/// Vectors have at most 64 bytes, and kernels process up to four per iteration: put one lossy
/// element at each place of more than four, with a different dropped bit at each place.
#[test]
fn sd_49_one_lost_element_is_found_at_every_place() {
    for (seed, packing) in all_packings().enumerate() {
        let size = packing.component_size();
        let elements = 280 / size + 3;
        let mut src = surviving(&packing, elements, seed as u64);
        let start = seed % 8;
        check(&packing, &src, start, None);
        let outside = outside(&packing);
        let step = if size == 8 { 3 } else { 1 };
        for place in
            (seed % step..elements).step_by(if outside.is_empty() { elements } else { step })
        {
            let Some(bit) = outside.get((place + seed) % outside.len().max(1)) else { break };
            let byte = place * size + *bit as usize / 8;
            src[byte] ^= 1 << (bit % 8);
            check(&packing, &src, start, Some(place));
            src[byte] ^= 1 << (bit % 8);
        }
    }
}

/// Every single bit that packing drops, next to zeros and next to ones.
#[test]
fn sd_49_every_bit_outside_is_found() {
    for packing in all_packings() {
        let size = packing.component_size();
        for packed in [0, 0xff] {
            let mut src = vec![0; 19 * size];
            common::unpack(&packing, &vec![packed; 19 * size], 0, &mut src);
            check(&packing, &src, 0, None);
            for bit in outside(&packing) {
                // In the groups of eight that vectors may process, or after them.
                let place = if (bit + u32::from(packed)) % 2 == 0 { 10 } else { 18 };
                let mut src = src.clone();
                src[place * size + bit as usize / 8] ^= 1 << (bit % 8);
                check(&packing, &src, 0, Some(place));
            }
        }
    }
}

/// A sum that carried into the next component would hide the lowest bits that it drops.
#[test]
fn sd_49_no_sum_hides_bits_of_the_next_component() {
    for packing in all_packings().filter(|packing| packing.is_signed() && packing.first_bit() > 0) {
        let (size, first_bit) = (packing.component_size(), packing.first_bit());
        for place in [10, 11] {
            let mut src = vec![0; 40 * size];
            let (least, next) = src[place * size..][..2 * size].split_at_mut(size);
            least.copy_from_slice(&(u64::MAX << first_bit).to_le_bytes()[..size]);
            next.copy_from_slice(&((1_u64 << first_bit) - 1).to_le_bytes()[..size]);
            check(&packing, &src, 0, Some(place + 1));
        }
    }
}

/// Any bytes, of every length and from every start: the result equals that of the plain check.
#[test]
fn sd_49_kernels_refuse_what_the_plain_check_finds() {
    for (seed, packing) in all_packings().enumerate().filter(|(seed, _)| seed % 11 == 0) {
        for n in 0..150 {
            let mut src = surviving(&packing, n, seed as u64);
            if n % 3 > 0 {
                let noise = random_bytes(src.len(), n as u64);
                let from = (seed + 7 * n) % src.len();
                src[from..].copy_from_slice(&noise[from..]);
            }
            let lost = packing.lost(&src).unwrap().next();
            check(&packing, &src, (seed + n) % 8, lost);
        }
    }
}

#[test]
fn sd_49_sub_byte_and_complex_types_refuse_by_element() {
    for bits in 1..8 {
        for signed in [false, true] {
            let packing = Packing::builder(bits).components(2).signed(signed).build().unwrap();
            let mut src = surviving(&packing, 200, u64::from(bits));
            check(&packing, &src, 3, None);
            for place in 0..200 {
                // The imaginary part.
                src[2 * place + 1] ^= 0x80;
                check(&packing, &src, 3, Some(place));
                src[2 * place + 1] ^= 0x80;
            }
        }
    }
}

#[test]
fn full_width_refuses_nothing() {
    for bits in [8, 16, 32, 64] {
        for packing in common::variants(bits, 0, u64::from(bits) - 1) {
            check(&packing, &random_bytes(8 * 131, 5), 0, None);
        }
    }
}

/// Runs long enough that kernels align their loads and check blocks: lost elements at both ends
/// of the run, of lines and of blocks, with the run at several offsets within a line.
#[test]
fn sd_49_lost_elements_of_long_runs_are_found() {
    let bits = [(8, 0, 0), (8, 0, 1), (8, 1, 4), (8, 0, 4), (16, 0, 9), (16, 4, 13), (16, 0, 0)];
    let wide = [(32, 0, 19), (32, 0, 30), (64, 0, 36), (64, 0, 47), (64, 3, 62)];
    for (component_bits, first, last) in bits.into_iter().chain(wide) {
        for packing in common::variants(component_bits, first, last) {
            let size = packing.component_size();
            let elements = 20_011 / size;
            let near = |bytes: usize| bytes / size..(bytes + 72) / size;
            let places = near(0).chain(near(8 << 10)).chain(near(16 << 10));
            let places: Vec<usize> = places.chain(elements - 16..elements).collect();
            let bit = *outside(&packing).last().unwrap();
            let mut room = vec![0; 20_011 + 64];
            let line = room.as_ptr().align_offset(64);
            for (turn, place) in places.into_iter().enumerate() {
                let start = (line + 8 * turn) % 64;
                let src = &mut room[start..start + elements * size];
                let byte = place * size + bit as usize / 8;
                src[byte] = 1 << (bit % 8);
                for kernel in Kernel::available().filter(|kernel| *kernel != Kernel::Reference) {
                    let packing = packing.with_kernel(kernel).unwrap().refuse_loss(true);
                    let mut packed = vec![0; packing.packed_len(elements).unwrap()];
                    let lost = packing.pack(src, &mut packed).unwrap_err();
                    let is_it = matches!(lost, Error::Lost { element, .. } if element == place);
                    assert!(is_it, "{packing:?}, {place}: {lost}");
                }
                src[byte] = 0;
            }
        }
    }
}
