//! The sizes that the pages of a column claim to have once they are decompressed.
//!
//! The reader of the crate `parquet` makes room for what the header of a page claims, up to 2 GiB,
//! and compressed zeros fill it. So the headers are looked at first, as far as that takes: they are
//! structs of the compact protocol of Thrift, whose first three fields are the kind of the page,
//! its decompressed and its stored length.

/// The most bytes that one page may have.
const LONGEST_PAGE: u64 = 256 << 20;

/// How deep structs may lie within each other in a header; those of the format lie three deep.
const DEPTH: usize = 8;

/// Checks all pages in the bytes of a column.
pub(super) fn check(column: &[u8]) -> Result<(), String> {
    let mut rest = Bytes(column);
    while !rest.0.is_empty() {
        let (longest, stored) = rest.header().ok_or("the header of a page is damaged")?;
        if longest > LONGEST_PAGE {
            return Err(format!("a page of {longest} bytes, and {LONGEST_PAGE} is the limit"));
        }
        rest.skip(stored).ok_or("a page ends past its column")?;
    }
    Ok(())
}

/// Bytes that are still to be read.
struct Bytes<'a>(&'a [u8]);

impl Bytes<'_> {
    fn byte(&mut self) -> Option<u8> {
        let (first, rest) = self.0.split_first()?;
        self.0 = rest;
        Some(*first)
    }

    fn skip(&mut self, count: u64) -> Option<()> {
        self.0 = self.0.get(usize::try_from(count).ok()?..)?;
        Some(())
    }

    /// An unsigned number of seven bits per byte.
    fn number(&mut self) -> Option<u64> {
        let mut number = 0_u64;
        for shift in (0..64).step_by(7) {
            let byte = self.byte()?;
            number |= u64::from(byte & 0x7f).checked_shl(shift)?;
            if byte & 0x80 == 0 {
                return Some(number);
            }
        }
        None
    }

    /// A number that is not negative, of which the lowest bit is the sign.
    fn length(&mut self) -> Option<u64> {
        let number = self.number()?;
        (number & 1 == 0).then_some(number >> 1)
    }

    /// Reads the header of a page: its decompressed and its stored length.
    fn header(&mut self) -> Option<(u64, u64)> {
        let (mut decompressed, mut stored) = (None, None);
        let mut field = 0_i64;
        loop {
            match self.field(&mut field)? {
                0 => return Some((decompressed?, stored?)),
                // Numbers of 32 bits.
                5 if field == 2 => decompressed = Some(self.length()?),
                5 if field == 3 => stored = Some(self.length()?),
                kind => self.value(kind, DEPTH)?,
            }
        }
    }

    /// The kind of the next field, 0 at the end of a struct, and its number.
    fn field(&mut self, field: &mut i64) -> Option<u8> {
        let byte = self.byte()?;
        if byte == 0 {
            return Some(0);
        }
        *field = match byte >> 4 {
            // The number itself follows, of which the lowest bit is the sign.
            0 => i64::try_from(self.number()? >> 1).ok()?,
            step => field.checked_add(step.into())?,
        };
        Some(byte & 0x0f).filter(|kind| *kind != 0)
    }

    /// Skips a value.
    fn value(&mut self, kind: u8, depth: usize) -> Option<()> {
        let below = depth.checked_sub(1)?;
        match kind {
            // Booleans, which are in the kind.
            1 | 2 => Some(()),
            3 => self.skip(1),
            4..=6 => self.number().map(drop),
            7 => self.skip(8),
            8 => {
                let length = self.number()?;
                self.skip(length)
            }
            9 | 10 => {
                let head = self.byte()?;
                let count = match head >> 4 {
                    15 => self.number()?,
                    count => count.into(),
                };
                for _ in 0..count {
                    match head & 0x0f {
                        // In lists, each has a byte.
                        1 | 2 => self.skip(1)?,
                        kind => self.value(kind, below)?,
                    }
                }
                Some(())
            }
            12 => {
                let mut field = 0;
                loop {
                    match self.field(&mut field)? {
                        0 => return Some(()),
                        kind => self.value(kind, below)?,
                    }
                }
            }
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The header of a page of 300 bytes, stored as 2: kind, both lengths, a struct and a list.
    const HEADER: [u8; 16] =
        [0x15, 0, 0x15, 0xd8, 0x04, 0x15, 4, 0x2c, 0x15, 2, 0x19, 0x23, 1, 0, 0, 0];

    #[test]
    fn headers_are_skipped_to_the_next_page() {
        let mut column = [&HEADER[..], b"xy"].concat();
        assert_eq!(Bytes(&HEADER).header(), Some((300, 2)));
        assert_eq!(check(&column), Ok(()));
        column.extend_from_within(..);
        assert_eq!(check(&column), Ok(()));
        for end in 1..column.len() {
            let whole = end % (HEADER.len() + 2) == 0;
            assert_eq!(check(&column[..end]).is_ok(), whole, "{end}");
        }
    }

    #[test]
    fn pages_that_would_fill_the_memory_are_refused() {
        let long = [0x15, 0, 0x15, 0xfe, 0xff, 0xff, 0xff, 0x0f, 0x15, 0, 0];
        let message = check(&long).expect_err("is too long");
        assert_eq!(message, "a page of 2147483647 bytes, and 268435456 is the limit");
        // Negative lengths, a field of no kind, and structs without end.
        for wrong in
            [&[0x15, 0, 0x15, 1, 0x15, 0, 0][..], &[0x10], &[0x1c; 100], &[0x19, 0xff, 0xff]]
        {
            assert!(check(wrong).is_err(), "{wrong:?}");
        }
    }
}
