//! Elements of one array, kept until those of the other are read.
//!
//! The chunks of the arrays cross, so that each piece of one needs parts of many pieces of the other.
//! The parts of all pieces of the first array lie one after another in memory or, if they are many, in
//! a temporary file.

use std::io::{self, Read as _, Seek as _, SeekFrom, Write as _};
use std::ops::Range;

use tempfile::SpooledTempFile;
use zarr_array::ByteStrings;

use super::tasks::Piece;

/// Bytes that are kept in memory.
const IN_MEMORY: usize = 64 << 20;

/// A part that is kept.
pub(super) struct Part {
    /// The box of its elements.
    pub(super) region: Vec<Range<u64>>,
    at: u64,
    bytes: usize,
}

/// Parts, by the piece of the other array that they are compared with.
pub(super) struct Spool {
    file: SpooledTempFile,
    end: u64,
    parts: Vec<Vec<Part>>,
}

impl Spool {
    /// For so many pieces of the other array.
    pub(super) fn new(pieces: usize) -> Self {
        let parts = (0..pieces).map(|_| Vec::new()).collect();
        Self { file: SpooledTempFile::new(IN_MEMORY), end: 0, parts }
    }

    /// Keeps the elements of a box for a piece.
    pub(super) fn keep(
        &mut self,
        piece: usize,
        region: Vec<Range<u64>>,
        elements: &Piece,
    ) -> io::Result<()> {
        let mut lengths = Vec::new();
        let parts = match elements {
            Piece::Fixed(bytes, _) => [&[], bytes.as_slice()],
            Piece::Variable(strings) => {
                lengths.extend(strings.iter().flat_map(|string| {
                    u64::try_from(string.len()).unwrap_or(u64::MAX).to_le_bytes()
                }));
                [lengths.as_slice(), strings.bytes()]
            }
        };
        for part in parts {
            self.file.write_all(part)?;
        }
        let bytes = parts.map(<[u8]>::len).iter().sum();
        let part = Part { region, at: self.end, bytes };
        self.end += u64::try_from(bytes).unwrap_or(u64::MAX);
        if let Some(parts) = self.parts.get_mut(piece) {
            parts.push(part);
        }
        Ok(())
    }

    /// Takes the parts for a piece.
    pub(super) fn take(&mut self, piece: usize) -> Vec<Part> {
        self.parts.get_mut(piece).map(std::mem::take).unwrap_or_default()
    }

    /// The elements of a part: of this size, or of variable length.
    pub(super) fn read(&mut self, part: &Part, size: Option<usize>) -> io::Result<Piece> {
        self.file.seek(SeekFrom::Start(part.at))?;
        let mut bytes = vec![0; part.bytes];
        self.file.read_exact(&mut bytes)?;
        let Some(size) = size else {
            let lengths = super::tasks::count(&part.region).saturating_mul(8);
            let lengths = usize::try_from(lengths).unwrap_or(usize::MAX).min(bytes.len());
            let (lengths, mut rest) = bytes.split_at(lengths);
            let mut strings = ByteStrings::new();
            for length in lengths.as_chunks::<8>().0 {
                let length = usize::try_from(u64::from_le_bytes(*length)).unwrap_or(usize::MAX);
                let (string, after) = rest.split_at(length.min(rest.len()));
                strings.push(string);
                rest = after;
            }
            return Ok(Piece::Variable(strings));
        };
        Ok(Piece::Fixed(bytes, size))
    }
}

#[cfg(test)]
mod tests {
    use super::Spool;
    use crate::diff::tasks::Piece;

    /// Parts of both kinds of elements, in another order, from memory and from a file.
    #[test]
    fn parts_are_read_as_they_were_kept() {
        let strings = |from: u64| -> Piece {
            let texts =
                (from..from + 4).map(|n| "é".repeat(usize::try_from(n % 3).expect("small")));
            Piece::Variable(texts.collect::<Vec<_>>().iter().map(String::as_bytes).collect())
        };
        let numbers = |from: u64| Piece::Fixed((from..from + 8).map(|n| n as u8).collect(), 2);
        for size in [None, Some(2)] {
            let piece = |from: u64| if size.is_some() { numbers(from) } else { strings(from) };
            for in_file in [false, true] {
                let mut spool = Spool::new(2);
                if in_file {
                    spool.file.roll().expect("makes a file");
                }
                for n in 0..4_u64 {
                    let region = vec![n..n + 2, 0..2];
                    let at = usize::try_from(n % 2).expect("small");
                    spool.keep(at, region, &piece(n * 5)).expect("keeps");
                }
                for at in [1, 0] {
                    let parts = spool.take(at);
                    assert_eq!(parts.len(), 2);
                    for part in parts {
                        let read = spool.read(&part, size).expect("reads");
                        let expected = piece(part.region[0].start * 5);
                        assert!(read.elements().eq(expected.elements()));
                        assert!(read.elements().count() == 4);
                    }
                }
            }
        }
    }
}
