//! Arrays that consist of others: the place of each member.

use std::collections::HashMap;
use std::fmt;
use std::ops::Range;
use std::sync::{Arc, Mutex, PoisonError};

use zarr_grid::Grid;
use zarr_metadata::DataType;

use crate::array::Array;
use crate::error::ArrayError;

/// The most members that are kept open, some kilobytes each.
const KEPT: usize = 4096;

/// Opens the members of an array that consists of others.
pub trait MemberSource: fmt::Debug + Send + Sync {
    /// Opens the member with these numbers, one per axis; `None` for a place without a member,
    /// which reads as the fill value. May be called from several threads at once.
    ///
    /// # Errors
    /// Any failure of opening it, and any sign that it is not the intended array.
    fn open(&self, member: &[u64]) -> Result<Option<Array>, ArrayError>;

    /// The name of a member in messages.
    fn name(&self, member: &[u64]) -> String;
}

/// The member arrays of another array, side by side in a grid: each is one chunk of it.
///
/// A [`Hierarchy`](crate::Hierarchy) names them beside its store. Then [`Array::open`] opens an
/// array with the elements of its members. Each chunk is read from the member around it, with that
/// member's own chunks, codecs and fill value. Members are opened when a read needs them, and kept
/// open.
///
/// Each chunk of the array must lie within one member. Ideally it is one chunk of the member, or
/// several whole ones: threads divide the work by the array's chunks.
///
/// # Examples
/// ```
/// use std::sync::Arc;
/// use zarr_array::store::{MemoryStore, Prefix};
/// use zarr_array::{Array, ArrayError, MemberSource, Members};
/// use zarr_grid::{Axis, Grid, Run};
/// use zarr_metadata::{ArrayBuilder, DataType};
///
/// #[derive(Debug)]
/// struct Months(Vec<Array>);
///
/// impl MemberSource for Months {
///     fn open(&self, member: &[u64]) -> Result<Option<Array>, ArrayError> {
///         Ok(self.0.get(member[0] as usize).cloned())
///     }
///
///     fn name(&self, member: &[u64]) -> String {
///         format!("month {}", member[0] + 1)
///     }
/// }
///
/// let mut months = Vec::new();
/// for days in [31, 28] {
///     let metadata = ArrayBuilder::new([days], DataType::Uint8).chunk_shape([7]).build()?;
///     months.push(Array::create(Arc::new(MemoryStore::new()), &Prefix::root(), metadata)?);
/// }
/// months[1].write(0..1, &[5])?;
/// let axis = Axis::from_runs(59, [31, 28].map(|edge| Run { edge, count: 1 }))?;
/// let members = Members::new(Grid::new([axis]), DataType::Uint8, Arc::new(Months(months)));
/// assert_eq!(members.locate(&[31])?, (vec![1], vec![0]));
/// assert_eq!(members.open(&[1])?.ok_or("there")?.read(0..2)?, [5, 0]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Members {
    grid: Grid,
    data_type: DataType,
    /// The axis of the array that members do not have.
    pub(crate) new_axis: Option<usize>,
    source: Arc<dyn MemberSource>,
    /// By their numbers in C order.
    opened: Mutex<HashMap<u64, Option<Array>>>,
}

impl fmt::Debug for Members {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Members")
            .field("shape", &self.grid.shape())
            .field("source", &self.source)
            .finish_non_exhaustive()
    }
}

impl Members {
    /// Members of an array with this data type: each is one chunk of `grid`.
    #[must_use]
    pub fn new(grid: Grid, data_type: DataType, source: Arc<dyn MemberSource>) -> Self {
        Self { grid, data_type, new_axis: None, source, opened: Mutex::default() }
    }

    /// Declares that the members do not have this axis of the array: each is at one index of it.
    #[must_use]
    pub fn new_axis(mut self, axis: usize) -> Self {
        self.new_axis = Some(axis);
        self
    }

    /// A list with one entry per axis of the array, without the entry of the new axis.
    pub(crate) fn without_new_axis<T>(&self, mut axes: Vec<T>) -> Vec<T> {
        if let Some(axis) = self.new_axis.filter(|axis| *axis < axes.len()) {
            axes.remove(axis);
        }
        axes
    }

    /// The grid of the members, each as long as one of its chunks.
    #[must_use]
    pub fn grid(&self) -> &Grid {
        &self.grid
    }

    /// The number of the member that holds an element of the array, and the element's index in the
    /// member.
    ///
    /// # Errors
    /// [`ArrayError::Selection`] for an index outside the array, or of another rank.
    pub fn locate(&self, index: &[u64]) -> Result<(Vec<u64>, Vec<u64>), ArrayError> {
        let (mut member, mut within) = (vec![0; self.grid.rank()], vec![0; self.grid.rank()]);
        self.grid
            .locate(index, &mut member, &mut within)
            .map_err(|cause| ArrayError::Selection { cause })?;
        Ok((member, self.without_new_axis(within)))
    }

    /// The region of the array that corresponds to a region of a member; `None` if there is no such
    /// member.
    #[must_use]
    pub fn region_of(&self, member: &[u64], region: &[Range<u64>]) -> Option<Vec<Range<u64>>> {
        let mut region = region.to_vec();
        if let Some(axis) = self.new_axis.filter(|axis| *axis <= region.len()) {
            region.insert(axis, 0..1);
        }
        let axes = self.grid.axes().iter().zip(member).zip(region);
        axes.map(|((axis, member), range)| {
            let start = axis.clipped(*member)?.start;
            Some(start.checked_add(range.start)?..start.checked_add(range.end)?)
        })
        .collect()
    }

    /// The name of a member in messages.
    #[must_use]
    pub fn name(&self, member: &[u64]) -> String {
        self.source.name(member)
    }

    /// Opens a member, or returns it if it is open already; `None` for a place without a member.
    ///
    /// # Errors
    /// [`ArrayError::Member`] with the member's name, and the reason why it cannot be opened; also
    /// if its shape or data type does not fit its place.
    pub fn open(&self, member: &[u64]) -> Result<Option<Array>, ArrayError> {
        let number = self.number(member);
        if let Some(open) = number.and_then(|number| self.opened().get(&number).cloned()) {
            return Ok(open);
        }
        let open = self.open_anew(member).map_err(|cause| self.failed(member, cause))?;
        let mut opened = self.opened();
        if opened.len() >= KEPT {
            opened.clear();
        }
        if let Some(number) = number {
            opened.insert(number, open.clone());
        }
        Ok(open)
    }

    /// The number of a member in C order; `None` if there is no such member, or if no `u64` counts
    /// all of them.
    fn number(&self, member: &[u64]) -> Option<u64> {
        let counts = self.grid.occupied();
        let mut axes = member.iter().zip(counts);
        let number = axes.try_fold(0_u64, |number, (at, count)| {
            (at < count).then_some(number)?.checked_mul(*count)?.checked_add(*at)
        });
        number.filter(|_| member.len() == counts.len())
    }

    /// The same without opening it: `None` if it is not kept open.
    #[cfg(feature = "async")]
    pub(crate) fn kept(&self, member: &[u64]) -> Option<Option<Array>> {
        self.opened().get(&self.number(member)?).cloned()
    }

    fn open_anew(&self, member: &[u64]) -> Result<Option<Array>, ArrayError> {
        let Some(array) = self.source.open(member)? else { return Ok(None) };
        let mut shape = vec![0; self.grid.rank()];
        self.grid
            .chunk_shape(member, &mut shape)
            .map_err(|cause| ArrayError::Selection { cause })?;
        let shape = self.without_new_axis(shape);
        if array.shape() != shape {
            return Err(ArrayError::MemberChanged {
                what: "its shape",
                found: format!("{:?}", array.shape()),
                recorded: format!("{shape:?}"),
            });
        }
        if *array.data_type() != self.data_type {
            return Err(ArrayError::MemberChanged {
                what: "its data type",
                found: array.data_type().to_string(),
                recorded: self.data_type.to_string(),
            });
        }
        Ok(Some(array))
    }

    /// An error of a member, with its name.
    pub(crate) fn failed(&self, member: &[u64], cause: ArrayError) -> ArrayError {
        ArrayError::Member { member: self.name(member), cause: Box::new(cause) }
    }

    fn opened(&self) -> std::sync::MutexGuard<'_, HashMap<u64, Option<Array>>> {
        self.opened.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug)]
    struct Nobody;

    impl MemberSource for Nobody {
        fn open(&self, _: &[u64]) -> Result<Option<Array>, ArrayError> {
            Ok(None)
        }

        fn name(&self, member: &[u64]) -> String {
            format!("{member:?}")
        }
    }

    /// No two places have the same number, even places that do not exist.
    #[test]
    fn members_are_numbered_in_c_order() {
        let members = |shape: &[u64], chunk: &[u64]| {
            let grid = Grid::regular(shape, chunk).unwrap();
            Members::new(grid, DataType::Uint8, Arc::new(Nobody))
        };
        let few = members(&[4, 9], &[2, 3]);
        let places = (0..2).flat_map(|row| (0..3).map(move |column| [row, column]));
        let numbers: Vec<Option<u64>> = places.map(|place| few.number(&place)).collect();
        assert_eq!(numbers, (0..6).map(Some).collect::<Vec<_>>());
        for none in [&[0, 3][..], &[2, 0], &[0, u64::MAX], &[1], &[], &[0, 0, 0]] {
            assert_eq!(few.number(none), None, "{none:?}");
        }
        // More than can be counted: opened each time, and never taken for another.
        let many = members(&[u64::MAX, u64::MAX], &[1, 1]);
        assert_eq!(many.number(&[0, 7]), Some(7));
        assert_eq!(many.number(&[u64::MAX - 1, 7]), None);
        assert_eq!(members(&[], &[]).number(&[]), Some(0));
    }
}
