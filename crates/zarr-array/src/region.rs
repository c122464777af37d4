//! Which elements of an array: a start, a count and a step on each axis.

use std::ops::Range;

use zarr_grid::AxisSelection;

/// The indices of a region on one axis: `start`, `start + step`, ..., `count` of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AxisRegion {
    /// The first index.
    pub start: u64,
    /// How many indices.
    pub count: u64,
    /// From one index to the next; negative to go backwards, never 0.
    pub step: i64,
    /// Whether the axis was given by one index, as in numpy, and is left out of the result's
    /// shape.
    pub dropped: bool,
}

impl AxisRegion {
    /// The index in the array of what is at this position of the region.
    pub(crate) fn index(&self, at: usize) -> u64 {
        let way = u64::try_from(at).unwrap_or(u64::MAX).saturating_mul(self.step.unsigned_abs());
        match self.step < 0 {
            true => self.start.saturating_sub(way),
            false => self.start.saturating_add(way),
        }
    }

    /// The smallest range that holds all indices.
    pub(crate) fn bounds(&self) -> Range<u64> {
        let span = self.count.saturating_sub(1).saturating_mul(self.step.unsigned_abs());
        match (self.count, self.step < 0) {
            (0, _) => self.start..self.start,
            (_, false) => self.start..self.start.saturating_add(span).saturating_add(1),
            (_, true) => self.start.saturating_sub(span)..self.start.saturating_add(1),
        }
    }
}

impl From<Range<u64>> for AxisRegion {
    fn from(range: Range<u64>) -> Self {
        let count = range.end.saturating_sub(range.start);
        Self { start: range.start, count, step: 1, dropped: false }
    }
}

/// A box of an array, perhaps with steps: one [`AxisRegion`] an axis.
///
/// # Examples
/// ```
/// use zarr_array::Region;
///
/// let shape = [100, 50, 8];
/// let region = Region::parse("10:20, 5, ::-2", &shape)?;
/// assert_eq!(region.shape(), [10, 4]); // the axis given by one index is gone, as in numpy
/// assert_eq!(region.axes()[2].start, 7);
/// assert_eq!(Region::from([10..20, 5..6, 0..8]).shape(), [10, 1, 8]);
/// # Ok::<(), zarr_array::RegionError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Region {
    axes: Vec<AxisRegion>,
}

/// A region that does not fit an array, or a text that is none.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum RegionError {
    /// More entries than the array has axes, or fewer where all are needed.
    #[error("region has {found} {}, the array has {rank}", if *.found == 1 { "axis" } else { "axes" })]
    Rank {
        /// Entries given.
        found: usize,
        /// Axes of the array.
        rank: usize,
    },
    /// An index or range outside the array.
    #[error("axis {axis}: {found} is outside the array's length {length}")]
    OutOfBounds {
        /// The axis.
        axis: usize,
        /// What was asked for.
        found: String,
        /// The array's length on that axis.
        length: u64,
    },
    /// A text that is neither an index nor a range.
    #[error(
        "axis {axis}: {found:?} is not a region; an index such as 5 or -1, a range such as \
             0:10 or ::2, or ... is allowed"
    )]
    Syntax {
        /// The axis.
        axis: usize,
        /// The text.
        found: String,
    },
    /// A step of 0.
    #[error("axis {axis}: a step of 0 leads nowhere")]
    ZeroStep {
        /// The axis.
        axis: usize,
    },
}

impl Region {
    /// The region with these axes.
    #[must_use]
    pub fn new(axes: Vec<AxisRegion>) -> Self {
        Self { axes }
    }

    /// All of an array.
    #[must_use]
    pub fn whole(shape: &[u64]) -> Self {
        Self { axes: shape.iter().map(|length| (0..*length).into()).collect() }
    }

    /// Reads numpy's notation, with or without its brackets: `0:10, 5, ::2`.
    ///
    /// Ranges are clipped to the array and negative numbers count from its end; `...` stands for
    /// as many whole axes as are left, and so does the end of the text.
    ///
    /// # Errors
    /// [`RegionError`] names the axis and what was found there.
    pub fn parse(text: &str, shape: &[u64]) -> Result<Self, RegionError> {
        let text = text.trim();
        let inner = text.strip_prefix('[').and_then(|text| text.strip_suffix(']'));
        let entries: Vec<&str> = match inner.unwrap_or(text).trim() {
            "" => Vec::new(),
            text => text.split(',').map(str::trim).collect(),
        };
        let ellipsis = entries.iter().position(|entry| *entry == "...");
        let (head, tail) = match ellipsis {
            Some(at) => (entries.get(..at), entries.get(at.saturating_add(1)..)),
            None => (entries.get(..), None),
        };
        let (head, tail) = (head.unwrap_or_default(), tail.unwrap_or_default());
        let found = head.len().saturating_add(tail.len());
        let rank = shape.len();
        let Some(between) = rank.checked_sub(found) else {
            return Err(RegionError::Rank { found, rank });
        };
        let texts = head
            .iter()
            .copied()
            .chain(std::iter::repeat_n(":", between))
            .chain(tail.iter().copied());
        let axes = texts
            .zip(shape)
            .enumerate()
            .map(|(axis, (text, length))| parse_axis(axis, text, *length))
            .collect::<Result<_, _>>()?;
        Ok(Self { axes })
    }

    /// The axes, those dropped from the result's shape included.
    #[must_use]
    pub fn axes(&self) -> &[AxisRegion] {
        &self.axes
    }

    /// The result's shape: the counts of the axes that are not dropped.
    #[must_use]
    pub fn shape(&self) -> Vec<u64> {
        self.axes.iter().filter(|axis| !axis.dropped).map(|axis| axis.count).collect()
    }

    /// How many elements, `None` past 64 bits.
    #[must_use]
    pub fn elements(&self) -> Option<u64> {
        if self.axes.iter().any(|axis| axis.count == 0) {
            return Some(0);
        }
        self.axes.iter().try_fold(1_u64, |product, axis| product.checked_mul(axis.count))
    }

    /// Whether the region holds every element between its bounds: all steps are 1 or -1.
    #[must_use]
    pub fn is_unit_step(&self) -> bool {
        self.axes.iter().all(|axis| axis.step.unsigned_abs() == 1 || axis.count <= 1)
    }

    /// The smallest box that holds the region.
    #[must_use]
    pub fn bounds(&self) -> Vec<Range<u64>> {
        self.axes.iter().map(AxisRegion::bounds).collect()
    }

    /// The region as an orthogonal selection, in the array's direction.
    pub(crate) fn selects(&self) -> Vec<AxisSelection<'static>> {
        let select = |axis: &AxisRegion| AxisSelection::Step {
            range: axis.bounds(),
            step: axis.step.unsigned_abs(),
        };
        self.axes.iter().map(select).collect()
    }

    /// Checks that the region lies within an array of this shape.
    ///
    /// # Errors
    /// [`RegionError`] names the axis.
    pub fn check(&self, shape: &[u64]) -> Result<(), RegionError> {
        if self.axes.len() != shape.len() {
            return Err(RegionError::Rank { found: self.axes.len(), rank: shape.len() });
        }
        for (axis, (region, &length)) in self.axes.iter().zip(shape).enumerate() {
            if region.step == 0 {
                return Err(RegionError::ZeroStep { axis });
            }
            let span = u128::from(region.count.saturating_sub(1))
                .saturating_mul(region.step.unsigned_abs().into());
            let start = u128::from(region.start);
            let inside = match (region.count, region.step < 0) {
                (0, _) => region.start <= length,
                (_, false) => start.saturating_add(span) < length.into(),
                (_, true) => region.start < length && span <= start,
            };
            if !inside {
                let found = format!(
                    "{} indices from {} in steps of {}",
                    region.count, region.start, region.step
                );
                return Err(RegionError::OutOfBounds { axis, found, length });
            }
        }
        Ok(())
    }
}

/// A region of an array of one dimension.
impl From<Range<u64>> for Region {
    fn from(range: Range<u64>) -> Self {
        Self { axes: vec![range.into()] }
    }
}

impl<const N: usize> From<[Range<u64>; N]> for Region {
    fn from(ranges: [Range<u64>; N]) -> Self {
        Self { axes: ranges.into_iter().map(AxisRegion::from).collect() }
    }
}

impl From<&[Range<u64>]> for Region {
    fn from(ranges: &[Range<u64>]) -> Self {
        Self { axes: ranges.iter().cloned().map(AxisRegion::from).collect() }
    }
}

/// One entry, as Python reads it.
fn parse_axis(axis: usize, text: &str, length: u64) -> Result<AxisRegion, RegionError> {
    let syntax = || RegionError::Syntax { axis, found: text.to_owned() };
    let number = |text: &str| -> Result<Option<i128>, RegionError> {
        match text.trim() {
            "" => Ok(None),
            text => text.parse::<i64>().map(|n| Some(n.into())).map_err(|_| syntax()),
        }
    };
    let length_wide = i128::from(length);
    let from_end = |n: i128| if n < 0 { n.saturating_add(length_wide) } else { n };
    let parts: Vec<&str> = text.split(':').collect();
    let (start, stop, step) = match parts.as_slice() {
        [index] => {
            let index = number(index)?.ok_or_else(syntax)?;
            let start = u64::try_from(from_end(index)).ok().filter(|start| *start < length);
            return match start {
                Some(start) => Ok(AxisRegion { start, count: 1, step: 1, dropped: true }),
                None => {
                    let found = format!("index {index}");
                    Err(RegionError::OutOfBounds { axis, found, length })
                }
            };
        }
        [start, stop] => (number(start)?, number(stop)?, 1),
        [start, stop, step] => (number(start)?, number(stop)?, number(step)?.unwrap_or(1)),
        _ => return Err(syntax()),
    };
    if step == 0 {
        return Err(RegionError::ZeroStep { axis });
    }
    // Python's `slice.indices`: forwards within 0..=length, backwards within -1..length.
    let (lowest, highest) =
        if step > 0 { (0, length_wide) } else { (-1, length_wide.saturating_sub(1)) };
    let clip =
        |n: Option<i128>, default: i128| n.map_or(default, |n| from_end(n).clamp(lowest, highest));
    let (start, stop) = if step > 0 {
        (clip(start, lowest), clip(stop, highest))
    } else {
        (clip(start, highest), clip(stop, lowest))
    };
    let distance = if step > 0 { stop.saturating_sub(start) } else { start.saturating_sub(stop) };
    let size = step.saturating_abs();
    let count = if distance <= 0 {
        0
    } else {
        distance.saturating_add(size.saturating_sub(1)).checked_div(size).unwrap_or(0)
    };
    let clipped_start = if count == 0 { 0 } else { start };
    Ok(AxisRegion {
        start: u64::try_from(clipped_start).map_err(|_| syntax())?,
        count: u64::try_from(count).map_err(|_| syntax())?,
        step: i64::try_from(step).map_err(|_| syntax())?,
        dropped: false,
    })
}
