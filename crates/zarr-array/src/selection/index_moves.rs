//! Moves single elements, by a list of source and target indices per axis.
//!
//! Views cannot express this: a list has no stride. Elements that are contiguous on both sides are
//! still moved together.

/// An index of the source and one of the target.
pub(crate) type Pair = (usize, usize);

/// Moves between two buffers of elements in C order: the product of one list of pairs per axis. If
/// several moves have the same target, the last in C order of the pairs wins.
#[derive(Clone, Debug)]
pub(crate) struct IndexMoves {
    /// For each axis but the last, distances in bytes from the start of source and target.
    outer: Vec<Vec<Pair>>,
    /// The last axis: the same, and the number of bytes moved together.
    runs: Vec<(Pair, usize)>,
}

impl IndexMoves {
    /// The moves of elements of `size` bytes between buffers of these shapes. Each has one entry
    /// per axis.
    pub(crate) fn new(
        pairs: &[Vec<Pair>],
        source: &[usize],
        target: &[usize],
        size: usize,
    ) -> Self {
        let mut unit = size;
        let mut axes: Vec<_> = pairs.iter().zip(source.iter().zip(target)).collect();
        // An axis that moves whole makes the elements of the axis before it larger.
        while let Some((pairs, (from, to))) = axes.last()
            && from == to
            && pairs.len() == **from
            && pairs.iter().enumerate().all(|(at, pair)| *pair == (at, at))
        {
            unit = unit.saturating_mul(**from);
            axes.pop();
        }
        let mut outer = Vec::with_capacity(axes.len());
        let mut strides = (unit, unit);
        for (pairs, (from, to)) in axes.into_iter().rev() {
            let distance =
                |pair: &Pair| (pair.0.saturating_mul(strides.0), pair.1.saturating_mul(strides.1));
            outer.push(pairs.iter().map(distance).collect::<Vec<_>>());
            strides = (strides.0.saturating_mul(*from), strides.1.saturating_mul(*to));
        }
        outer.reverse();
        let last = outer.pop().unwrap_or_else(|| vec![(0, 0)]);
        let mut runs: Vec<(Pair, usize)> = Vec::new();
        for pair in last {
            match runs.last_mut() {
                Some(((from, to), length))
                    if (from.saturating_add(*length), to.saturating_add(*length)) == pair =>
                {
                    *length = length.saturating_add(unit);
                }
                _ => runs.push((pair, unit)),
            }
        }
        Self { outer, runs }
    }

    /// Moves the elements. Moves outside either buffer are skipped.
    pub(crate) fn run(&self, source: &[u8], target: &mut [u8]) {
        self.axis(0, source, target);
    }

    fn axis(&self, axis: usize, source: &[u8], target: &mut [u8]) {
        if let Some(pairs) = self.outer.get(axis) {
            for (from, to) in pairs {
                let (source, target) = (source.get(*from..), target.get_mut(*to..));
                if let (Some(source), Some(target)) = (source, target) {
                    self.axis(axis.saturating_add(1), source, target);
                }
            }
            return;
        }
        for &((from, to), length) in &self.runs {
            let source = source.get(from..from.saturating_add(length));
            let target = target.get_mut(to..to.saturating_add(length));
            if let (Some(source), Some(target)) = (source, target) {
                match length {
                    // A copy of a constant length needs no call.
                    1 => copy::<1>(source, target),
                    2 => copy::<2>(source, target),
                    4 => copy::<4>(source, target),
                    8 => copy::<8>(source, target),
                    _ => target.copy_from_slice(source),
                }
            }
        }
    }
}

#[inline]
fn copy<const N: usize>(source: &[u8], target: &mut [u8]) {
    if let (Some(source), Some(target)) = (source.first_chunk::<N>(), target.first_chunk_mut()) {
        *target = *source;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Element by element, from the definition.
    fn naive(pairs: &[Vec<Pair>], source: &[usize], target: &[usize], size: usize) -> Vec<u8> {
        let elements = |shape: &[usize]| shape.iter().product::<usize>();
        let mut out = vec![0xee; elements(target) * size];
        let counts: Vec<usize> = pairs.iter().map(Vec::len).collect();
        for mut linear in 0..elements(&counts) {
            let (mut from, mut to) = ((0, 1), (0, 1));
            for ((pairs, a), b) in pairs.iter().zip(source).zip(target).rev() {
                let pair = pairs[linear % pairs.len()];
                linear /= pairs.len();
                from = (from.0 + pair.0 * from.1, from.1 * a);
                to = (to.0 + pair.1 * to.1, to.1 * b);
            }
            for byte in 0..size {
                out[to.0 * size + byte] = ((from.0 * size + byte) % 251) as u8;
            }
        }
        out
    }

    #[test]
    fn every_pair_of_short_lists_moves_as_element_by_element() {
        let lists: Vec<Vec<Pair>> = vec![
            vec![],
            vec![(0, 0)],
            vec![(1, 0)],
            vec![(0, 0), (1, 1)],
            vec![(0, 0), (1, 1), (2, 2)],
            vec![(1, 0), (2, 1)],
            vec![(2, 0), (1, 1), (0, 2)],
            vec![(0, 2), (1, 2), (2, 1)],
        ];
        for size in [1, 2, 3, 4, 8, 16] {
            for a in &lists {
                for b in &lists {
                    for c in &lists {
                        let pairs = [a.clone(), b.clone(), c.clone()];
                        let (source, target) = ([3, 4, 3], [3, 3, 3]);
                        let bytes: Vec<u8> = (0..36 * size).map(|at| (at % 251) as u8).collect();
                        let mut out = vec![0xee; 27 * size];
                        IndexMoves::new(&pairs, &source, &target, size).run(&bytes, &mut out);
                        assert_eq!(out, naive(&pairs, &source, &target, size), "{pairs:?} {size}");
                    }
                }
            }
        }
    }

    #[test]
    fn no_axes_move_one_element() {
        let mut out = [0; 4];
        IndexMoves::new(&[], &[], &[], 4).run(&[1, 2, 3, 4], &mut out);
        assert_eq!(out, [1, 2, 3, 4]);
    }
}
