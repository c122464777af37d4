//! A short list with one entry per dimension.

use alloc::vec::Vec;
use core::fmt;
use core::hash::{Hash, Hasher};
use core::ops::{Deref, DerefMut};

/// Entries without a heap allocation.
const INLINE: usize = 6;

/// A list of plain entries, without a heap allocation for up to six.
///
/// General small vectors clone, collect and repeat entry by entry, or call the C library's copy.
/// That was half of the instructions of a reshape and of a plan. Here all six places move at once,
/// used or not.
#[derive(Clone)]
pub(crate) enum Dims<T> {
    Inline {
        len: u8,
        entries: [T; INLINE],
    },
    /// More than fit.
    Heap(Vec<T>),
}

impl<T: Copy + Default> Dims<T> {
    #[inline]
    pub(crate) fn new() -> Self {
        Self::repeat(T::default(), 0)
    }

    #[inline]
    pub(crate) fn repeat(value: T, len: usize) -> Self {
        if len <= INLINE {
            Self::Inline { len: len as u8, entries: [value; INLINE] }
        } else {
            Self::Heap(alloc::vec![value; len])
        }
    }

    #[inline]
    pub(crate) fn push(&mut self, value: T) {
        match self {
            Self::Inline { len, entries } => match entries.get_mut(usize::from(*len)) {
                Some(place) => (*place, *len) = (value, *len + 1),
                None => *self = Self::Heap(entries.iter().copied().chain([value]).collect()),
            },
            Self::Heap(entries) => entries.push(value),
        }
    }

    /// Keeps the first `kept` entries, or all if there are fewer.
    #[inline]
    pub(crate) fn truncate(&mut self, kept: usize) {
        match self {
            Self::Inline { len, .. } => *len = kept.min(usize::from(*len)) as u8,
            Self::Heap(entries) => entries.truncate(kept),
        }
    }

    /// Puts a value before entry `at`, or behind the last one.
    #[inline]
    pub(crate) fn insert(&mut self, at: usize, value: T) {
        self.push(value);
        for i in (at + 1..self.len()).rev() {
            self.swap(i, i - 1);
        }
    }

    /// Takes out entry `at`, which must exist.
    #[inline]
    pub(crate) fn remove(&mut self, at: usize) -> T {
        let value = self[at];
        for i in at + 1..self.len() {
            self.swap(i, i - 1);
        }
        self.truncate(self.len() - 1);
        value
    }
}

impl<T> Deref for Dims<T> {
    type Target = [T];

    #[inline]
    fn deref(&self) -> &[T] {
        match self {
            Self::Inline { len, entries } => &entries[..usize::from(*len)],
            Self::Heap(entries) => entries,
        }
    }
}

impl<T> DerefMut for Dims<T> {
    #[inline]
    fn deref_mut(&mut self) -> &mut [T] {
        match self {
            Self::Inline { len, entries } => &mut entries[..usize::from(*len)],
            Self::Heap(entries) => entries,
        }
    }
}

impl<T: Copy + Default> From<&[T]> for Dims<T> {
    #[inline]
    fn from(from: &[T]) -> Self {
        from.iter().copied().collect()
    }
}

impl<T: Copy + Default> FromIterator<T> for Dims<T> {
    #[inline]
    fn from_iter<I: IntoIterator<Item = T>>(from: I) -> Self {
        let mut from = from.into_iter();
        let mut entries = [T::default(); INLINE];
        for (len, place) in entries.iter_mut().enumerate() {
            match from.next() {
                Some(entry) => *place = entry,
                None => return Self::Inline { len: len as u8, entries },
            }
        }
        let mut all = Self::Inline { len: INLINE as u8, entries };
        from.for_each(|entry| all.push(entry));
        all
    }
}

impl<'a, T> IntoIterator for &'a Dims<T> {
    type Item = &'a T;
    type IntoIter = core::slice::Iter<'a, T>;

    #[inline]
    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

impl<'a, T> IntoIterator for &'a mut Dims<T> {
    type Item = &'a mut T;
    type IntoIter = core::slice::IterMut<'a, T>;

    #[inline]
    fn into_iter(self) -> Self::IntoIter {
        self.iter_mut()
    }
}

impl<T: PartialEq> PartialEq for Dims<T> {
    #[inline]
    fn eq(&self, other: &Self) -> bool {
        **self == **other
    }
}

impl<T: Eq> Eq for Dims<T> {}

impl<T: Hash> Hash for Dims<T> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        (**self).hash(state);
    }
}

impl<T: fmt::Debug> fmt::Debug for Dims<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}

#[cfg(test)]
mod tests {
    use alloc::vec::Vec;

    use super::Dims;

    /// Every operation at every length around the inline one, compared with a `Vec`.
    #[test]
    fn lists_are_those_of_a_vec() {
        for len in 0..10_usize {
            let vec: Vec<usize> = (10..10 + len).collect();
            let dims: Dims<usize> = vec.iter().copied().collect();
            assert_eq!((&dims[..], dims.clone()), (&vec[..], Dims::from(&vec[..])));
            assert_eq!(&Dims::repeat(7, len)[..], &alloc::vec![7; len][..]);
            let pushed = vec.iter().fold(Dims::new(), |mut all, &entry| {
                all.push(entry);
                all
            });
            assert_eq!(pushed, dims);
            for at in 0..=len {
                let (mut vec, mut dims) = (vec.clone(), dims.clone());
                vec.insert(at, 99);
                dims.insert(at, 99);
                assert_eq!(&dims[..], &vec[..], "{len}, {at}");
                assert_eq!(dims.remove(at), vec.remove(at));
                assert_eq!(&dims[..], &vec[..], "{len}, {at}");
                dims.truncate(at);
                assert_eq!(&dims[..], &vec[..at]);
            }
        }
    }
}
