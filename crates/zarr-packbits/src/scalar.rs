//! The reference: one bit at a time, in the words of the document.
//!
//! A *field* is the `b` encoded bits of one component. Elements of one component are one field
//! each; complex elements are two, the real part first. So element `i` of `c` components is fields
//! `[i * c, (i + 1) * c)`. Field `f` is bits `[f * b, (f + 1) * b)` of the sequence. These are the
//! bits `[i * k, (i + 1) * k)` of the document. Nothing else in this crate handles components.

use crate::{BitOrder, field::Field};

/// The place of bit `position` of the sequence: a byte, and a bit of it, counted from the least
/// significant.
fn locate(position: u64, order: BitOrder) -> (usize, u32) {
    let in_byte = (position % 8) as u32;
    let bit = match order {
        BitOrder::LsbFirst => in_byte,
        BitOrder::MsbFirst => 7 - in_byte,
    };
    ((position / 8) as usize, bit)
}

/// The bit of the component that is the `nth` of its field.
fn component_bit(nth: u32, field: &Field) -> u32 {
    match field.order {
        BitOrder::LsbFirst => field.first_bit + nth,
        BitOrder::MsbFirst => field.last_bit() - nth,
    }
}

/// "The `b` bits from `first_bit` to `last_bit` are then extracted."
///
/// Writes the fields of `src` from bit `start` of `packed` on, and changes no other bit.
pub(crate) fn pack(field: &Field, src: &[u8], packed: &mut [u8], start: u64) {
    let mut position = start;
    for component in src.chunks_exact(field.size) {
        for nth in 0..field.bits {
            let from = component_bit(nth, field);
            let value = component[(from / 8) as usize] >> (from % 8) & 1;
            let (byte, bit) = locate(position, field.order);
            packed[byte] = packed[byte] & !(1 << bit) | value << bit;
            position += 1;
        }
    }
}

/// "The `b` encoded bits are first shifted to `first_bit`. Depending on the data type, the value
/// is then sign-extended or zero-extended": here up to the whole width in memory (SD-13, SD-18).
pub(crate) fn unpack(field: &Field, packed: &[u8], start: u64, dst: &mut [u8]) {
    let mut position = start;
    for component in dst.chunks_exact_mut(field.size) {
        component.fill(0);
        let mut top = 0;
        for nth in 0..field.bits {
            let (byte, bit) = locate(position, field.order);
            let value = packed[byte] >> bit & 1;
            let to = component_bit(nth, field);
            component[(to / 8) as usize] |= value << (to % 8);
            if to == field.last_bit() {
                top = value;
            }
            position += 1;
        }
        if field.signed && top == 1 {
            for to in field.last_bit() + 1..8 * field.size as u32 {
                component[(to / 8) as usize] |= 1 << (to % 8);
            }
        }
    }
}
