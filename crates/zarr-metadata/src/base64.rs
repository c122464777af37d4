//! Standard base64 with its padding, both ways.

/// Appends standard base64 with its padding.
pub(crate) fn write_base64(bytes: &[u8], out: &mut String) {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    for group in bytes.chunks(3) {
        let mut word = [0; 4];
        word.iter_mut().skip(1).zip(group).for_each(|(to, from)| *to = *from);
        let word = u32::from_be_bytes(word);
        for (at, shift) in [18_u32, 12, 6, 0].into_iter().enumerate() {
            let digit = usize::try_from(word.wrapping_shr(shift) & 63).unwrap_or_default();
            let digit = DIGITS.get(digit).copied().unwrap_or_default();
            out.push(if at > group.len() { '=' } else { char::from(digit) });
        }
    }
}

/// Standard base64 with its padding.
pub(crate) fn read_base64(text: &str) -> Option<Vec<u8>> {
    let mut out = Vec::new();
    let groups = text.as_bytes().chunks(4);
    let last = groups.len().checked_sub(1);
    for (index, group) in groups.enumerate() {
        let padding = group.iter().rev().take_while(|b| **b == b'=').count();
        if group.len() != 4 || padding > 2 || (padding > 0 && Some(index) != last) {
            return None;
        }
        let digits = group.len().saturating_sub(padding);
        let mut word = 0_u32;
        for &byte in group.iter().take(digits) {
            word = word.wrapping_shl(6) | base64_digit(byte)?;
        }
        let word = word.wrapping_shl(u32::try_from(padding).ok()?.wrapping_mul(6));
        let [_, bytes @ ..] = word.to_be_bytes();
        let (kept, dropped) = bytes.split_at_checked(3_usize.saturating_sub(padding))?;
        if dropped.iter().any(|b| *b != 0) {
            return None;
        }
        out.extend_from_slice(kept);
    }
    Some(out)
}

fn base64_digit(byte: u8) -> Option<u32> {
    let (first, base) = match byte {
        b'A'..=b'Z' => (b'A', 0),
        b'a'..=b'z' => (b'a', 26),
        b'0'..=b'9' => (b'0', 52),
        b'+' => (b'+', 62),
        b'/' => (b'/', 63),
        _ => return None,
    };
    Some(u32::from(byte.wrapping_sub(first)).saturating_add(base))
}
