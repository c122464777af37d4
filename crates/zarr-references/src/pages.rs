//! The sizes that the pages of a column claim.
//!
//! The reader of the crate `parquet` allocates the size that the header of a page claims: up to 2
//! GiB of decompressed bytes, which compressed zeros fill, and as many values. So the headers are
//! looked at first. They are structs of the compact protocol of Thrift. Field 2 is the decompressed
//! length, and field 3 the stored length. Fields 5, 7 and 8 are structs about the kind of the page;
//! their field 1 is the number of values.

/// The most bytes that one page may have.
const LONGEST_PAGE: u64 = 256 << 20;

/// The number of values that a page may always have.
const FEW: u64 = 1 << 16;

/// The kinds of a number of 32 bits and of a struct.
const NUMBER: u8 = 5;
const STRUCT: u8 = 12;

/// The deepest nesting of structs in a header; the format needs three levels.
const DEPTH: usize = 8;

/// The sizes that the header of a page claims.
#[derive(Debug, Default, PartialEq, Eq)]
struct Header {
    decompressed: u64,
    stored: u64,
    values: u64,
}

/// Checks all pages in the bytes of a column that has a value for each of so many rows.
pub(super) fn check(column: &[u8], rows: u64) -> Result<(), String> {
    let mut rest = Bytes(column);
    while !rest.0.is_empty() {
        let header = rest.header().ok_or("a page with a damaged header")?;
        let Header { decompressed, stored, values } = header;
        if decompressed > LONGEST_PAGE {
            return Err(format!("a page of {decompressed} bytes, and {LONGEST_PAGE} is the limit"));
        }
        // A dictionary may have values that no row has, but not many.
        if values > rows.max(FEW) {
            return Err(format!("a page of {values} values for {rows} rows"));
        }
        rest.skip(stored).ok_or("a page that ends past its column")?;
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

    /// A number that is not negative; its lowest bit is the sign.
    fn length(&mut self) -> Option<u64> {
        let number = self.number()?;
        (number & 1 == 0).then_some(number >> 1)
    }

    /// Reads the header of a page.
    fn header(&mut self) -> Option<Header> {
        let mut header = Header::default();
        let mut field = 0;
        loop {
            match self.field(&mut field)? {
                0 => return Some(header),
                NUMBER if field == 2 => header.decompressed = self.length()?,
                NUMBER if field == 3 => header.stored = self.length()?,
                STRUCT if matches!(field, 5 | 7 | 8) => {
                    let mut inner = 0;
                    loop {
                        match self.field(&mut inner)? {
                            0 => break,
                            NUMBER if inner == 1 => header.values = self.length()?,
                            kind => self.value(kind, DEPTH)?,
                        }
                    }
                }
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
            // The number itself follows. Its lowest bit is the sign.
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
            STRUCT => {
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

    /// The header of a page of 300 bytes, stored as 2: kind, both lengths, a struct with one value,
    /// and a list of two numbers.
    const HEADER: [u8; 16] =
        [0x15, 0, 0x15, 0xd8, 0x04, 0x15, 4, 0x2c, 0x15, 2, 0, 0x19, 0x25, 1, 2, 0];

    #[test]
    fn headers_are_read_to_the_next_page() {
        let mut column = [&HEADER[..], b"xy"].concat();
        let header = Header { decompressed: 300, stored: 2, values: 1 };
        assert_eq!(Bytes(&HEADER).header(), Some(header));
        assert_eq!(check(&column, 1), Ok(()));
        column.extend_from_within(..);
        assert_eq!(check(&column, 1), Ok(()));
        for end in 1..column.len() {
            let whole = end % (HEADER.len() + 2) == 0;
            assert_eq!(check(&column[..end], 1).is_ok(), whole, "{end}");
        }
    }

    #[test]
    fn pages_that_would_fill_the_memory_are_refused() {
        let long = [0x15, 0, 0x15, 0xfe, 0xff, 0xff, 0xff, 0x0f, 0x15, 0, 0];
        let message = check(&long, 1).expect_err("is too long");
        assert_eq!(message, "a page of 2147483647 bytes, and 268435456 is the limit");
        let many = [0x15, 0, 0x15, 0, 0x15, 0, 0x2c, 0x15, 0x80, 0xb5, 0x18, 0, 0];
        assert_eq!(check(&many, 200_000), Ok(()));
        let message = check(&many, 199_999).expect_err("has too many values");
        assert_eq!(message, "a page of 200000 values for 199999 rows");
        // Negative lengths, a field of no kind, and structs and lists without end.
        let wrong =
            [&[0x15, 0, 0x15, 1, 0x15, 0, 0][..], &[0x10], &[0x1c; 100], &[0x19, 0xff, 0xff]];
        for wrong in wrong {
            assert!(check(wrong, 1).is_err(), "{wrong:?}");
        }
    }
}
