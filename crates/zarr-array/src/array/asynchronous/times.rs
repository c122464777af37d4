//! Reads and writes times and durations without blocking the thread.

use jiff::{SignedDuration, Timestamp};
use zarr_metadata::TimeStep;

use super::AsyncArray;
use crate::array::Array;
use crate::error::ArrayError;
use crate::selection::Selection;
use crate::threads::{self, ArrayFuture};
use crate::times::{durations, of_durations, of_timestamps, timestamps};

impl AsyncArray {
    /// As [`read_timestamps`](Array::read_timestamps), without blocking the thread; see
    /// [`read`](Self::read).
    ///
    /// # Errors
    /// As [`read_timestamps`](Array::read_timestamps).
    ///
    /// # Panics
    /// If decoding panics, on the thread that polls.
    ///
    /// # Examples
    /// ```
    /// # use std::sync::Arc;
    /// # use zarr_array::Array;
    /// # use zarr_array::store::{MemoryStore, Prefix};
    /// # use zarr_metadata::{ArrayBuilder, DataType, TimeUnit};
    /// use jiff::Timestamp;
    ///
    /// # let days = DataType::NumpyDatetime64(TimeUnit::Day.into());
    /// # let metadata = ArrayBuilder::new([2], days).build()?;
    /// # let array = Array::create(Arc::new(MemoryStore::new()), &Prefix::root(), metadata)?;
    /// # let runtime = tokio::runtime::Builder::new_current_thread().build()?;
    /// # runtime.block_on(async {
    /// let day: Timestamp = "2024-02-29T00:00:00Z".parse()?;
    /// array.asynchronous().write_timestamps(0..2, [Some(day), None]).await?;
    /// let times = tokio::spawn(array.asynchronous().read_timestamps(0..2)).await??;
    /// assert_eq!(times, [Some(day), None]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// # })?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Spec
    /// zarr-extensions `data-types/numpy.datetime64`.
    pub fn read_timestamps(
        &self,
        selection: impl Into<Selection>,
    ) -> ArrayFuture<Vec<Option<Timestamp>>> {
        self.0.read_times(selection.into(), Array::datetime_step, timestamps)
    }

    /// As [`write_timestamps`](Array::write_timestamps), without blocking the thread; see
    /// [`write`](Self::write).
    ///
    /// # Errors
    /// As [`write_timestamps`](Array::write_timestamps).
    ///
    /// # Panics
    /// If encoding panics, on the thread that polls.
    pub fn write_timestamps(
        &self,
        selection: impl Into<Selection>,
        times: impl AsRef<[Option<Timestamp>]> + Send + 'static,
    ) -> ArrayFuture<()> {
        self.0.write_times(selection.into(), Array::datetime_step, move |step| {
            of_timestamps(times.as_ref(), step)
        })
    }

    /// As [`read_durations`](Array::read_durations), without blocking the thread; see
    /// [`read`](Self::read).
    ///
    /// # Errors
    /// As [`read_durations`](Array::read_durations).
    ///
    /// # Panics
    /// If decoding panics, on the thread that polls.
    ///
    /// # Spec
    /// zarr-extensions `data-types/numpy.timedelta64`.
    pub fn read_durations(
        &self,
        selection: impl Into<Selection>,
    ) -> ArrayFuture<Vec<Option<SignedDuration>>> {
        self.0.read_times(selection.into(), Array::timedelta_step, durations)
    }

    /// As [`write_durations`](Array::write_durations), without blocking the thread; see
    /// [`write`](Self::write).
    ///
    /// # Errors
    /// As [`write_durations`](Array::write_durations).
    ///
    /// # Panics
    /// If encoding panics, on the thread that polls.
    pub fn write_durations(
        &self,
        selection: impl Into<Selection>,
        durations: impl AsRef<[Option<SignedDuration>]> + Send + 'static,
    ) -> ArrayFuture<()> {
        self.0.write_times(selection.into(), Array::timedelta_step, move |step| {
            of_durations(durations.as_ref(), step)
        })
    }
}

impl Array {
    fn read_times<T: Send + 'static>(
        &self,
        selection: Selection,
        step: fn(&Array) -> Result<TimeStep, ArrayError>,
        times: fn(&[i64], TimeStep) -> Result<Vec<T>, ArrayError>,
    ) -> ArrayFuture<Vec<T>> {
        let array = self.clone();
        Box::pin(async move {
            let step = step(&array)?;
            let counts = array.asynchronous().read_as::<i64>(selection).await?;
            // Calendar months take a while, which is not for the executor's thread.
            let times = threads::DECODERS.run(move || times(&counts, step));
            times.await.map_err(threads::interrupted)?
        })
    }

    fn write_times(
        &self,
        selection: Selection,
        step: fn(&Array) -> Result<TimeStep, ArrayError>,
        counts: impl FnOnce(TimeStep) -> Result<Vec<i64>, ArrayError> + Send + 'static,
    ) -> ArrayFuture<()> {
        let array = self.clone();
        Box::pin(async move {
            let step = step(&array)?;
            let counts = threads::DECODERS.run(move || counts(step));
            let counts = counts.await.map_err(threads::interrupted)??;
            array.asynchronous().write_as(selection, counts).await
        })
    }
}
