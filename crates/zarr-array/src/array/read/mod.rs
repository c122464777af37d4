//! Reading selections.

pub(crate) mod piece_readers;
pub(crate) mod region_reader;

use std::num::NonZeroUsize;

use zarr_view::Output;

use crate::array::Array;
use crate::array::read::region_reader::RegionReader;
use crate::array::worker::Worker;
use crate::counts::wide;
use crate::error::ArrayError;
use crate::parallel;
use crate::selection::AnySelection;
use crate::selection::Points;
use crate::selection::index_moves::IndexMoves;
use crate::store::{GetInto, Key, StoreError};
use crate::transfer::{ChunkRegion, Selected, Transfer, check_length};

impl Array {
    /// Reads a [`Selection`](crate::Selection) and returns the bytes of its elements in C order, or
    /// single elements in the order of [`Points`]. Lists keep their order and their repetitions.
    /// Chunks that are not stored read as the fill value.
    ///
    /// Each chunk that the selection touches is read once. If a chunk can be read in part, only the
    /// selected elements are read, with gaps of less than the [range
    /// cost](Array::with_range_cost); of a shard, only the inner chunks that contain selected elements.
    /// This holds for ranges, steps, lists and points. Large shards are read in pieces of some
    /// MiB, so that their encoded bytes are never in memory as a whole.
    ///
    /// Lists that go back and forth between chunks need a second buffer as large as the result. So do
    /// points that are not in the order of the chunks.
    ///
    /// # Errors
    /// [`ArrayError`] names the axis and the selected indices, or the chunk that could not be
    /// read.
    ///
    /// # Examples
    /// ```
    /// # use std::sync::Arc;
    /// # use zarr_array::{Array, Points};
    /// # use zarr_array::store::{MemoryStore, Prefix};
    /// # use zarr_metadata::{ArrayBuilder, DataType};
    /// # let builder = ArrayBuilder::new([4, 3], DataType::Uint8).chunk_shape([2, 2]);
    /// # let metadata = builder.fill_value(9).build()?;
    /// # let array = Array::create(Arc::new(MemoryStore::new()), &Prefix::root(), metadata)?;
    /// array.write([1..3, 0..3], &[10, 11, 12, 20, 21, 22])?;
    /// assert_eq!(array.read([0..2, 1..3])?, [9, 9, 11, 12]);
    /// // Elements (2, 1), (1, 2) and (3, 0).
    /// assert_eq!(array.read(Points::from([[2, 1, 3], [1, 2, 0]]))?, [21, 12, 9]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn read(&self, selection: impl Into<AnySelection>) -> Result<Vec<u8>, ArrayError> {
        let selection = selection.into();
        let wanted = Wanted::new(self, &selection)?;
        let mut out = wanted.zeroed()?;
        self.read_wanted(&selection, wanted, &mut out)?;
        Ok(out)
    }

    /// Reads the bytes of elements into memory that must be as long.
    pub(in crate::array) fn read_bytes(
        &self,
        selection: &AnySelection,
        out: &mut [u8],
    ) -> Result<(), ArrayError> {
        let wanted = Wanted::new(self, selection)?;
        check_length(out.len(), wanted.length())?;
        self.read_wanted(selection, wanted, out)
    }

    /// Reads into memory of the right length what is wanted of this selection.
    pub(in crate::array) fn read_wanted(
        &self,
        selection: &AnySelection,
        wanted: Wanted<'_>,
        out: &mut [u8],
    ) -> Result<(), ArrayError> {
        if let Some(units) = self.through_cache(selection, out.len())
            && units.read_bytes(selection, out).is_ok()
        {
            return Ok(());
        }
        self.read_past_cache(wanted, out)
    }

    /// As [`read_wanted`](Self::read_wanted), without the cache.
    pub(in crate::array) fn read_past_cache(
        &self,
        wanted: Wanted<'_>,
        out: &mut [u8],
    ) -> Result<(), ArrayError> {
        match wanted {
            Wanted::Product(selected) => {
                let threads = self.threads_for(out.len());
                self.read_selected(selected, out, threads)
            }
            Wanted::Points { points, .. } => self.read_points_in_order(points, out),
        }
    }

    /// Reads a selection on this number of threads.
    pub(crate) fn read_selected(
        &self,
        selected: Selected<'_>,
        out: &mut [u8],
        threads: NonZeroUsize,
    ) -> Result<(), ArrayError> {
        match selected.order() {
            None => {
                let transfer = Transfer::new(selected, out.len())?;
                self.read_in_order_of_chunks(&transfer, transfer.output(out)?, threads)
            }
            Some(order) => self.read_and_order(selected, &order, out, threads),
        }
    }

    /// Reads into a second buffer, then puts the elements in order.
    pub(in crate::array) fn read_and_order(
        &self,
        selected: Selected<'_>,
        order: &IndexMoves,
        out: &mut [u8],
        threads: NonZeroUsize,
    ) -> Result<(), ArrayError> {
        let transfer = Transfer::new(selected, out.len())?;
        let mut by_chunk = transfer.selected.zeroed()?;
        self.read_in_order_of_chunks(&transfer, transfer.output(&mut by_chunk)?, threads)?;
        order.run(&by_chunk, out);
        Ok(())
    }

    /// Reads into the places of the parts, in the order of [`Transfer::view`].
    pub(in crate::array) fn read_in_order_of_chunks(
        &self,
        transfer: &Transfer<'_>,
        mut out: Output<'_>,
        threads: NonZeroUsize,
    ) -> Result<(), ArrayError> {
        if transfer.parts() == 1 {
            // Its place is the whole output, which need not be cut for other threads.
            let mut worker = Worker::new(self);
            return transfer
                .for_each_part(0..1, |part| self.read_part(part, &mut out, &mut worker));
        }
        let places = transfer.cut(out)?;
        parallel::for_each(
            transfer.parts(),
            threads,
            || Worker::new(self),
            |worker, range| {
                transfer.for_each_part(range, |part| {
                    let place = places.take(part.number);
                    let mut place =
                        place.expect("each part is visited once, so that its place is there");
                    self.read_part(part, &mut place, worker)
                })
            },
        )
    }

    /// Reads a part of a chunk into its place.
    pub(in crate::array) fn read_part(
        &self,
        part: &ChunkRegion<'_>,
        out: &mut Output<'_>,
        worker: &mut Worker<'_>,
    ) -> Result<(), ArrayError> {
        if self.read_part_of_member(part, out, &mut worker.buffers)? {
            return Ok(());
        }
        let Worker { keys, codecs, buffers } = worker;
        let (key, codec) = (keys.of(part.chunk)?, codecs.of(part.chunk_shape)?);
        if part.fills_chunk() && codec.stores_memory() && self.read_in_place(key, out)? {
            return Ok(());
        }
        RegionReader::new(self, part, key.clone(), codec, out.view())?
            .read(self, part, out, buffers)
    }

    /// Reads an unencoded chunk directly to its position, if its elements are adjacent there. False if
    /// they are not, or the store has other bytes or cannot do it: then the usual way reads the
    /// chunk, or reports the fault.
    fn read_in_place(&self, key: &Key, out: &mut Output<'_>) -> Result<bool, ArrayError> {
        let Some(place) = out.as_mut_slice() else { return Ok(false) };
        match self.store().get_into(key, place) {
            Ok(GetInto::Read(_)) => {
                crate::store::reached!("read: straight to its place");
                Ok(true)
            }
            Ok(GetInto::Missing) => Ok(out.fill(self.fill()).map(|()| true)?),
            // The usual way begins again where an object is replaced meanwhile.
            Ok(GetInto::Unsupported) | Err(StoreError::Unsteady { .. }) => Ok(false),
            Err(error) => Err(error.into()),
        }
    }
}

/// Elements to read, and how many bytes they take.
pub(in crate::array) enum Wanted<'a> {
    Product(Selected<'a>),
    Points { points: &'a Points, length: usize, element_size: usize },
}

impl<'a> Wanted<'a> {
    /// Refuses arrays with elements of no fixed size.
    pub(in crate::array) fn new(
        array: &'a Array,
        selection: &'a AnySelection,
    ) -> Result<Self, ArrayError> {
        match selection {
            AnySelection::Product(selection) => Selected::new(array, selection).map(Self::Product),
            AnySelection::Points(points) => {
                array.fixed_chain()?;
                let (length, element_size) = (array.bytes_of_points(points)?, array.element_size());
                Ok(Self::Points { points, length, element_size })
            }
        }
    }

    pub(in crate::array) fn length(&self) -> usize {
        match self {
            Self::Product(selected) => selected.length,
            Self::Points { length, .. } => *length,
        }
    }

    pub(in crate::array) fn too_large(&self) -> ArrayError {
        match self {
            Self::Product(selected) => selected.too_large(),
            Self::Points { points, element_size, .. } => ArrayError::SelectionTooLarge {
                elements: wide(points.len()).into(),
                element_size: *element_size,
            },
        }
    }

    /// Zeros in place of the elements.
    pub(in crate::array) fn zeroed(&self) -> Result<Vec<u8>, ArrayError> {
        zarr_view::zeroed(self.length()).map_err(|_| self.too_large())
    }
}
