//! Elements of a chunk past the end of its array.

/// Elements other than the fill value past the array's end.
pub(crate) enum PastEnd {
    None,
    /// The first one found.
    At(Vec<usize>),
    /// Not searched for.
    Unknown,
}

impl PastEnd {
    /// Searches the elements of a chunk, in C order, outside the box `end` at the chunk's start.
    pub(crate) fn find<'e>(
        mut elements: impl Iterator<Item = &'e [u8]>,
        shape: &[usize],
        end: &[u64],
        fill: &[u8],
    ) -> Self {
        let is_past = |(at, end): (&usize, &u64)| u64::try_from(*at).is_ok_and(|at| at >= *end);
        let (Some((length, outer)), Some(within)) = (shape.split_last(), end.last()) else {
            return Self::None;
        };
        let within = usize::try_from(*within).unwrap_or(usize::MAX);
        let mut index = vec![0; outer.len()];
        for _ in 0..outer.iter().fold(1_usize, |all, size| all.saturating_mul(*size)) {
            let skipped = if index.iter().zip(end).any(is_past) { 0 } else { within };
            let mut row = elements.by_ref().take(*length).enumerate().skip(skipped);
            if let Some((at, _)) = row.find(|(_, element)| *element != fill) {
                index.push(at);
                return Self::At(index);
            }
            for (at, size) in index.iter_mut().zip(outer).rev() {
                *at += 1;
                if *at < *size {
                    break;
                }
                *at = 0;
            }
        }
        Self::None
    }
}
