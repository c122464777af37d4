//! The values of a plane, as shares of their range.

use zarr_array::{Array, AxisSelection, Selection};
use zarr_cf::{Numbers, element_type, missing};
use zarr_metadata::ArrayMetadata;

use super::colors::{Colors, MIDDLE};
use crate::{ReportError, words};

/// An axis is not read in larger steps than the other if it would have fewer pixels than this.
const NARROW: u64 = 64;

/// Values as shares of their range.
pub(super) struct Plane {
    pub(super) width: usize,
    /// Row by row: 0 to 1, `None` for missing values.
    pub(super) cells: Vec<Option<f64>>,
    /// The values of the colours; `None` if there is no value.
    pub(super) colors: Option<Colors>,
    /// Further notes about the picture.
    pub(super) words: Vec<String>,
    /// The vertical and the horizontal axis, if they are drawn.
    pub(super) sides: [Option<Side>; 2],
}

/// An axis that is drawn: its name, and the first and the last index.
pub(super) struct Side {
    pub(super) name: String,
    pub(super) ends: [u64; 2],
}

impl Plane {
    /// Reads a picture of at most so many pixels.
    pub(super) fn read(
        array: &Array,
        region: &Selection,
        height: u64,
        width: u64,
        progress: &mut dyn FnMut(u64, u64),
    ) -> Result<Self, ReportError> {
        let metadata = array.metadata();
        let data_type = element_type(metadata);
        let Some(numbers) = Numbers::of(&data_type) else {
            return Err(ReportError::NotNumbers { data_type: words::data_type(&data_type) });
        };
        let (down, across) = sides(metadata, region)?;
        let length = |axis: Option<usize>| {
            axis.and_then(|axis| region.axes().get(axis)).map_or(1, AxisSelection::len)
        };
        let [down_step, across_step] = steps([length(down), length(across)], [height, width]);
        let mut said = Vec::new();
        let names = words::axis_names(metadata);
        let axes = region.axes().iter().enumerate().map(|(number, axis)| {
            let step = match Some(number) {
                number if number == down => down_step,
                number if number == across => across_step,
                _ => 1,
            };
            if step > 1 {
                let name = names.get(number).map_or("", String::as_str);
                said.push(format!("1 of {} indices of {name}", words::count(step)));
            }
            stepped(axis, step)
        });
        let read: Selection = Selection::new(axes.collect());
        let mut cells = Self::cells(array, &read, &numbers, progress)?;
        let all = || cells.iter().flatten().copied();
        let finite = || all().filter(|number| number.is_finite());
        let least = finite().reduce(f64::min);
        let greatest = finite().reduce(f64::max);
        let mut words = Vec::new();
        let transparent = cells.len() - all().count();
        if !said.is_empty() {
            words.push(format!("drawn is {}", said.join(", ")));
        }
        let colors = least.zip(greatest).map(|ends| Colors::new(metadata, ends));
        if colors.is_none() {
            let what = if transparent == cells.len() { "value" } else { "finite value" };
            words.push(format!("there is no {what}"));
        }
        if transparent > 0 {
            let of = words::counted(to_u64(cells.len()), "element");
            let transparent = words::count(to_u64(transparent));
            words.push(format!("{transparent} of {of} are transparent: fill value or missing"));
        }
        let (least, greatest) = least.zip(greatest).unwrap_or_default();
        cells.iter_mut().flatten().for_each(|number| *number = share(*number, least, greatest));
        let width = across.and_then(|axis| read.axes().get(axis)).map_or(1, AxisSelection::len);
        let width = usize::try_from(width).unwrap_or(usize::MAX).max(1);
        let sides = [down, across].map(|axis| {
            let (name, axis) = (names.get(axis?)?.clone(), read.axes().get(axis?)?);
            Some(Side { name, ends: [axis.get(0)?, axis.get(axis.len().checked_sub(1)?)?] })
        });
        Ok(Self { width, cells, colors, words, sides })
    }

    /// The notes to print where the picture itself is not shown.
    pub(super) fn notes(&self) -> Vec<String> {
        let colors = self.colors.as_ref().map(Colors::words);
        colors.into_iter().chain(self.words.iter().cloned()).collect()
    }

    /// The numbers of a region; `None` where they are missing.
    ///
    /// The fill value is missing too, but for a zero of integers and booleans: nobody chose it to mark
    /// gaps, and it is black in images and false in masks. So it looks the same in every plane.
    fn cells(
        array: &Array,
        read: &Selection,
        numbers: &Numbers,
        progress: &mut dyn FnMut(u64, u64),
    ) -> Result<Vec<Option<f64>>, ReportError> {
        let apart = missing(array.metadata());
        let is_zero = |bytes: &&[u8]| numbers.are_whole() && bytes.iter().all(|byte| *byte == 0);
        let fill = array.metadata().fill_value().bytes().filter(|bytes| !is_zero(bytes));
        let size = array.element_size().max(1);
        let bytes = read.elements().unwrap_or(0).saturating_mul(to_u64(size));
        let (mut cells, mut list, mut done) = (Vec::new(), Vec::new(), 0_u64);
        // The picture is small and the chunks read for it need not be: pieces report progress.
        for piece in array.batches(read, (bytes / 16).max(1))? {
            let elements = array.read(&piece)?;
            numbers.list(&elements, &mut list);
            cells.extend(list.iter().zip(elements.chunks_exact(size)).map(|(number, element)| {
                let is_missing = number.is_nan() || apart.iter().any(|apart| apart == element);
                (!is_missing && Some(element) != fill).then_some(*number)
            }));
            done += to_u64(elements.len());
            progress(done, bytes);
        }
        Ok(cells)
    }

    pub(super) fn height(&self) -> usize {
        self.cells.len() / self.width.max(1)
    }

    /// The number of pixels of a value, down and across. They are squares, unless only one axis is
    /// so short that its values would be lines.
    pub(super) fn factors(&self, height: u64, width: u64) -> (usize, usize) {
        let own = |room: u64, size: usize| (room / to_u64(size).max(1)).max(1);
        let (down, across) = (own(height, self.height()), own(width, self.width));
        let is_short = |size: usize| to_u64(size) < NARROW;
        let (down, across) = match (is_short(self.height()), is_short(self.width)) {
            (true, false) | (false, true) => (down, across),
            _ => (down.min(across), down.min(across)),
        };
        let narrow = |factor: u64| usize::try_from(factor.min(NARROW)).unwrap_or(1);
        (narrow(down), narrow(across))
    }

    /// The colour at a place.
    pub(super) fn color(&self, row: usize, column: usize) -> Option<[u8; 3]> {
        let share = self.share(row, column)?;
        Some(color(share))
    }

    pub(super) fn share(&self, row: usize, column: usize) -> Option<f64> {
        self.cells.get(row * self.width + column).copied().flatten()
    }
}

/// Viridis, which is as bright as the share is large.
pub(super) fn color(share: f64) -> [u8; 3] {
    colorous::VIRIDIS.eval_continuous(share).as_array()
}

/// The vertical and the horizontal axis: the two of the region that have more than one index.
fn sides(
    metadata: &ArrayMetadata,
    region: &Selection,
) -> Result<(Option<usize>, Option<usize>), ReportError> {
    let axes = region.axes().iter().enumerate();
    let kept = |wide: bool| {
        let axes = axes.clone().filter(|(_, axis)| !matches!(axis, AxisSelection::Index(_)));
        axes.filter(|(_, axis)| !wide || axis.len() != 1).map(|(axis, _)| axis).collect::<Vec<_>>()
    };
    let mut sides = kept(false);
    if sides.len() > 2 {
        sides = kept(true);
    }
    match sides.as_slice() {
        [] => Ok((None, None)),
        [across] => Ok((None, Some(*across))),
        [down, across] => Ok((Some(*down), Some(*across))),
        many => {
            let names = words::axis_names(metadata);
            let names: Vec<String> = many
                .iter()
                .filter_map(|axis| {
                    let name = names.get(*axis)?;
                    Some(name.strip_prefix("axis ").unwrap_or(name).to_owned())
                })
                .collect();
            let example: Vec<String> =
                names.iter().take(names.len() - 2).map(|name| format!("{name}=0")).collect();
            Err(ReportError::Plane { axes: names.join(", "), example: example.join(",") })
        }
    }
}

/// The steps in which the two axes are read, the same for both unless one is much shorter.
fn steps(lengths: [u64; 2], most: [u64; 2]) -> [u64; 2] {
    let needed = |at: usize| lengths[at].div_ceil(most[at].max(1)).max(1);
    let common = needed(0).max(needed(1));
    [0, 1].map(|at| common.min((lengths[at] / NARROW).max(1)).max(needed(at)))
}

/// Every `step`-th index of an axis.
fn stepped(axis: &AxisSelection, step: u64) -> AxisSelection {
    let wide = |step: u64| i64::try_from(step).unwrap_or(i64::MAX);
    match axis {
        axis if step <= 1 => axis.clone(),
        AxisSelection::Range(range) => {
            AxisSelection::Step { range: range.clone(), step: wide(step) }
        }
        axis => {
            // The pixels are few.
            let count = axis.len().div_ceil(step);
            let indices = (0..count).filter_map(|at| axis.get(at * step));
            indices.collect::<Vec<u64>>().into()
        }
    }
}

/// Where a number is between two, from 0 to 1; halfway if they are equal. Infinities are at the ends.
fn share(number: f64, least: f64, greatest: f64) -> f64 {
    // Halves, because the difference of large numbers may be too large.
    let (from, to) = (number / 2.0 - least / 2.0, greatest / 2.0 - least / 2.0);
    match to > 0.0 {
        true => (from / to).clamp(0.0, 1.0),
        false if number.is_finite() => MIDDLE,
        false => f64::from(number > 0.0),
    }
}

fn to_u64(n: usize) -> u64 {
    u64::try_from(n).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::{share, steps};

    #[test]
    fn shares_are_within_the_range() {
        assert_eq!(share(5.0, 0.0, 10.0), 0.5);
        assert_eq!(share(0.0, -f64::MAX, f64::MAX), 0.5);
        assert_eq!(share(f64::INFINITY, 0.0, 10.0), 1.0);
        assert_eq!(share(f64::NEG_INFINITY, 0.0, 0.0), 0.0);
        assert_eq!(share(3.0, 3.0, 3.0), 0.5);
    }

    #[test]
    fn steps_are_alike_unless_an_axis_is_short() {
        assert_eq!(steps([100, 100], [1024, 1024]), [1, 1]);
        assert_eq!(steps([4000, 2000], [1024, 1024]), [4, 4]);
        assert_eq!(steps([100_000, 4], [1024, 1024]), [98, 1]);
        assert_eq!(steps([4, 100_000], [1024, 1024]), [1, 98]);
        assert_eq!(steps([0, 0], [64, 80]), [1, 1]);
        assert_eq!(steps([u64::MAX, 200], [1024, 1024])[1], 3);
    }
}
