//! Reads and writes single elements without blocking the thread.

use zarr_codec::{ByteStrings, Strings};

use super::AsyncArray;
use crate::array::Element;
use crate::points::Points;
use crate::threads::ArrayFuture;

impl AsyncArray {
    /// As [`read_points`](Array::read_points), without blocking the thread. The future borrows
    /// nothing, so it can be spawned, and it runs on any executor: a thread that may wait for the
    /// store does the work, with the array's [number of threads](Array::with_threads).
    ///
    /// Dropping the future cancels the read: chunks that are being read are finished, and no other
    /// is begun.
    ///
    /// # Errors
    /// As [`read_points`](Array::read_points).
    ///
    /// # Panics
    /// If decoding panics, on the thread that polls.
    ///
    /// # Examples
    /// ```
    /// # use std::sync::Arc;
    /// # use zarr_array::{Array, Points};
    /// # use zarr_array::store::{MemoryStore, Prefix};
    /// # use zarr_metadata::{ArrayBuilder, DataType};
    /// # let metadata = ArrayBuilder::new([4, 3], DataType::Uint8).chunk_shape([2, 2]).build()?;
    /// # let array = Array::create(Arc::new(MemoryStore::new()), &Prefix::root(), metadata)?;
    /// # let runtime = tokio::runtime::Builder::new_current_thread().build()?;
    /// # runtime.block_on(async {
    /// let points = Points::from([[0, 3], [1, 2]]);
    /// array.asynchronous().write_points(&points, vec![1, 32]).await?;
    /// assert_eq!(tokio::spawn(array.asynchronous().read_points(&points)).await??, [1, 32]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// # })?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn read_points(&self, points: impl Into<Points>) -> ArrayFuture<Vec<u8>> {
        let points = points.into();
        self.0.detached(move |array| array.read_points(points))
    }

    /// As [`read_points_as`](Array::read_points_as), without blocking the thread; see
    /// [`read_points`](Self::read_points).
    ///
    /// # Errors
    /// As [`read_points_as`](Array::read_points_as).
    ///
    /// # Panics
    /// If decoding panics, on the thread that polls.
    pub fn read_points_as<T: Element>(&self, points: impl Into<Points>) -> ArrayFuture<Vec<T>> {
        let points = points.into();
        self.0.detached(move |array| array.read_points_as(points))
    }

    /// As [`write_points`](Array::write_points), without blocking the thread; see
    /// [`read_points`](Self::read_points). `elements` can be anything that holds
    /// bytes.
    ///
    /// Dropping the future cancels the write: chunks that are being written are finished, so each
    /// chunk is old or new, and no other is begun.
    ///
    /// # Errors
    /// As [`write_points`](Array::write_points).
    ///
    /// # Panics
    /// If encoding panics, on the thread that polls.
    pub fn write_points(
        &self,
        points: impl Into<Points>,
        elements: impl AsRef<[u8]> + Send + 'static,
    ) -> ArrayFuture<()> {
        let points = points.into();
        self.0.detached(move |array| array.write_points(points, elements.as_ref()))
    }

    /// As [`write_points_as`](Array::write_points_as), without blocking the thread; see
    /// [`write_points`](Self::write_points).
    ///
    /// # Errors
    /// As [`write_points_as`](Array::write_points_as).
    ///
    /// # Panics
    /// If encoding panics, on the thread that polls.
    pub fn write_points_as<T: Element>(
        &self,
        points: impl Into<Points>,
        elements: impl AsRef<[T]> + Send + 'static,
    ) -> ArrayFuture<()> {
        let points = points.into();
        self.0.detached(move |array| array.write_points_as(points, elements.as_ref()))
    }

    /// As [`read_points_strings`](Array::read_points_strings), without blocking the thread; see
    /// [`read_points`](Self::read_points).
    ///
    /// # Errors
    /// As [`read_points_strings`](Array::read_points_strings).
    ///
    /// # Panics
    /// If decoding panics, on the thread that polls.
    pub fn read_points_strings(&self, points: impl Into<Points>) -> ArrayFuture<Strings> {
        let points = points.into();
        self.0.detached(move |array| array.read_points_strings(points))
    }

    /// As [`read_points_byte_strings`](Array::read_points_byte_strings), without blocking the
    /// thread; see [`read_points`](Self::read_points).
    ///
    /// # Errors
    /// As [`read_points_byte_strings`](Array::read_points_byte_strings).
    ///
    /// # Panics
    /// If decoding panics, on the thread that polls.
    pub fn read_points_byte_strings(&self, points: impl Into<Points>) -> ArrayFuture<ByteStrings> {
        let points = points.into();
        self.0.detached(move |array| array.read_points_byte_strings(points))
    }

    /// As [`write_points_strings`](Array::write_points_strings), without blocking the thread; see
    /// [`write_points`](Self::write_points).
    ///
    /// # Errors
    /// As [`write_points_strings`](Array::write_points_strings).
    ///
    /// # Panics
    /// If encoding panics, on the thread that polls.
    pub fn write_points_strings<S: AsRef<str> + 'static>(
        &self,
        points: impl Into<Points>,
        strings: impl AsRef<[S]> + Send + 'static,
    ) -> ArrayFuture<()> {
        let points = points.into();
        self.0.detached(move |array| array.write_points_strings(points, strings.as_ref()))
    }

    /// As [`write_points_byte_strings`](Array::write_points_byte_strings), without blocking the
    /// thread; see [`write_points`](Self::write_points).
    ///
    /// # Errors
    /// As [`write_points_byte_strings`](Array::write_points_byte_strings).
    ///
    /// # Panics
    /// If encoding panics, on the thread that polls.
    pub fn write_points_byte_strings<B: AsRef<[u8]> + 'static>(
        &self,
        points: impl Into<Points>,
        byte_strings: impl AsRef<[B]> + Send + 'static,
    ) -> ArrayFuture<()> {
        let points = points.into();
        self.0.detached(move |array| array.write_points_byte_strings(points, byte_strings.as_ref()))
    }
}
