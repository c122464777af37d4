//! Lists with one entry per axis.

use smallvec::SmallVec;

/// Without an allocation for up to four axes: allocations took a sixth of the time of a small read.
pub(crate) type PerAxis<T> = SmallVec<[T; 4]>;
