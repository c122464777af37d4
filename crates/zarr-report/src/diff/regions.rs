//! The regions of an array in which elements differ.

use std::ops::Range;

use super::tasks::{around, count};

/// The most regions; with more, the two that grow least together become one.
const MOST: usize = 8;

/// Boxes that hold all differences, and as little else as few boxes can.
#[derive(Clone, Debug, Default)]
pub(super) struct Regions {
    boxes: Vec<Vec<Range<u64>>>,
    /// Neighbours on the last axis, which are not yet among the boxes.
    line: Option<Vec<Range<u64>>>,
}

impl Regions {
    /// Adds an element. Neighbours in C order cost least.
    pub(super) fn add(&mut self, index: &[u64]) {
        if let Some(line) = &mut self.line {
            let follows = line.iter().zip(index).enumerate().all(|(axis, (range, at))| {
                match axis + 1 == index.len() {
                    true => *at == range.end,
                    false => *at == range.start,
                }
            });
            match line.last_mut() {
                Some(last) if follows => {
                    last.end += 1;
                    return;
                }
                _ => self.close(),
            }
        }
        self.line = Some(index.iter().map(|at| *at..at + 1).collect());
    }

    /// Adds a box.
    pub(super) fn add_box(&mut self, added: Vec<Range<u64>>) {
        self.close();
        self.line = Some(added);
        self.close();
    }

    /// The boxes, by their first index.
    pub(super) fn finish(mut self) -> Vec<Vec<Range<u64>>> {
        self.close();
        self.boxes.sort_by(|one, other| {
            one.iter().map(|axis| axis.start).cmp(other.iter().map(|axis| axis.start))
        });
        self.boxes
    }

    fn close(&mut self) {
        let Some(mut added) = self.line.take() else { return };
        // A box that grows by nothing but what is added may then fit another one.
        while let Some(at) = self.boxes.iter().position(|old| growth(old, &added) == 0) {
            added = around(&self.boxes.swap_remove(at), &added);
        }
        self.boxes.push(added);
        if self.boxes.len() > MOST {
            let pairs = (1..self.boxes.len()).flat_map(|b| (0..b).map(move |a| (a, b)));
            let grown = |(a, b): &(usize, usize)| match (self.boxes.get(*a), self.boxes.get(*b)) {
                (Some(a), Some(b)) => growth(a, b),
                _ => u64::MAX,
            };
            if let Some((a, b)) = pairs.min_by_key(grown) {
                let other = self.boxes.swap_remove(b);
                if let Some(one) = self.boxes.get_mut(a) {
                    *one = around(one, &other);
                }
            }
        }
    }
}

/// The elements of the box around two boxes that are in neither, if they do not overlap.
fn growth(one: &[Range<u64>], other: &[Range<u64>]) -> u64 {
    let both = count(one).saturating_add(count(other));
    count(&around(one, other)).saturating_sub(both)
}

#[cfg(test)]
mod tests {
    use super::Regions;

    fn of(elements: impl IntoIterator<Item = [u64; 2]>) -> Vec<String> {
        let mut regions = Regions::default();
        elements.into_iter().for_each(|index| regions.add(&index));
        regions.finish().iter().map(|region| format!("{region:?}")).collect()
    }

    #[test]
    fn boxes_are_put_together() {
        let square = |rows: std::ops::Range<u64>, from: u64| {
            rows.flat_map(move |row| (from..from + 3).map(move |column| [row, column]))
        };
        assert_eq!(of(square(2..5, 4)), ["[2..5, 4..7]"]);
        assert_eq!(of(square(2..5, 4).chain(square(5..6, 4))), ["[2..6, 4..7]"]);
        assert_eq!(of(square(2..5, 4).chain(square(0..2, 20))), ["[0..2, 20..23]", "[2..5, 4..7]"]);
        assert_eq!(of([[7, 7]]), ["[7..8, 7..8]"]);
        assert_eq!(of([]), [""; 0]);
    }

    /// Every element is in a box, and there are few of them.
    #[test]
    fn many_places_are_in_few_boxes() {
        let elements: Vec<[u64; 2]> = (0..300).map(|n| [n / 4, n * 37 % 100]).collect();
        let mut regions = Regions::default();
        elements.iter().for_each(|index| regions.add(index));
        let boxes = regions.finish();
        assert!(boxes.len() <= 8, "{boxes:?}");
        for index in elements {
            let holds = |region: &Vec<std::ops::Range<u64>>| {
                region.iter().zip(index).all(|(axis, at)| axis.contains(&at))
            };
            assert!(boxes.iter().any(holds), "{index:?}");
        }
    }
}
