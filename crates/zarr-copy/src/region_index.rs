//! The index of VCF-Zarr, which has a row for each chunk of variants.

use std::sync::Arc;

use zarr_array::store::{Prefix, Store};
use zarr_array::{Array, ArrayError, Group, node};
use zarr_cf::{Numbers, REGION_INDEX};
use zarr_grid::Axis;
use zarr_metadata::{ArrayBuilder, ArrayMetadata, Codec};

/// The columns: the chunk, its contig, the first and last position, the greatest end, the records.
const COLUMNS: u64 = 6;

/// The most rows of an index, for which memory is taken.
const ROWS: u64 = 1 << 20;

/// The arrays from which it follows.
const NAMES: [&str; 3] = ["variant_position", "variant_contig", "variant_length"];

/// Their names in messages.
const COLUMNS_OF: &str = "variant_position, variant_contig and variant_length";

/// Why an index cannot be made.
#[derive(Debug, thiserror::Error)]
enum IndexError {
    #[error(
        "the index would have more than {ROWS} rows, one for each contig in each chunk: it is not made; \
         make chunks of variants larger"
    )]
    Rows,
    #[error(
        "the index would have the number {value}, which {data_type} does not have: it is not made"
    )]
    Number { value: i128, data_type: String },
    #[error(
        "the index of chunks cannot be made again: it follows from {COLUMNS_OF}, which are integers in one \
         dimension, of one length; delete it first"
    )]
    Arrays,
}

/// Makes the array `region_index` of a group of VCF-Zarr as bio2zarr does: by the chunks of
/// `variant_position`, a row for each contig in each chunk. An index that is there stays.
///
/// It is called after chunks or variants have changed, when the old index is gone: at each moment there
/// is no index or a right one.
///
/// # Errors
/// Errors of reading these arrays, and of creating and writing the index; [`ArrayError::Refused`] if they
/// are not all there, are no integers or have other shapes, if it would have more than 2^20 rows, or a
/// number that the type of `variant_position` does not have.
pub fn make_region_index(store: &Arc<dyn Store>, prefix: &Prefix) -> Result<(), ArrayError> {
    let refused = |cause| refused(prefix, cause);
    let group = Group::open(store.clone(), prefix)?;
    let arrays = columns(&group)?;
    let [position, contig, length] = &arrays;
    let [axis] = position.0.grid().axes() else { return refused(IndexError::Arrays) };
    let inner = inner_axis(&position.0);
    let axis = inner.as_ref().unwrap_or(axis);
    if axis.occupied() > ROWS {
        return refused(IndexError::Rows);
    }
    let mut rows: Vec<[i128; 6]> = Vec::new();
    for (number, chunk) in
        (0..axis.occupied()).map(|chunk| (i128::from(chunk), axis.clipped(chunk)))
    {
        let Some(variants) = chunk else { continue };
        let read = |(array, numbers): &(Array, Numbers)| {
            let elements = array.read(variants.clone())?;
            let values =
                elements.chunks_exact(numbers.size()).map(|one| numbers.whole(one).unwrap_or(0));
            Ok::<Vec<i128>, ArrayError>(values.collect())
        };
        let (starts, contigs, lengths) = (read(position)?, read(contig)?, read(length)?);
        let mut before = None;
        for ((start, contig), length) in starts.into_iter().zip(contigs).zip(lengths) {
            let end = start.saturating_add(length).saturating_sub(1);
            match rows.last_mut().filter(|_| before == Some(contig)) {
                Some([_, _, _, last, greatest, records]) => {
                    *last = start;
                    *greatest = end.max(*greatest);
                    *records += 1;
                }
                None => rows.push([number, contig, start, start, end, 1]),
            }
            before = Some(contig);
        }
        if u64::try_from(rows.len()).is_ok_and(|rows| rows > ROWS) {
            return refused(IndexError::Rows);
        }
    }
    let count = u64::try_from(rows.len()).unwrap_or(u64::MAX);
    let metadata = ArrayBuilder::new([count, COLUMNS], position.0.data_type().clone())
        .chunk_shape([count.max(1), COLUMNS])
        .dimension_names(["region_index_values", "region_index_fields"])
        .build()
        .map_err(|cause| ArrayError::Metadata { key: REGION_INDEX.to_owned(), cause })?;
    let size = position.1.size();
    let mut bytes = Vec::with_capacity(rows.len().saturating_mul(48));
    for value in rows.iter().flatten() {
        let start = bytes.len();
        bytes.extend(value.to_le_bytes().into_iter().take(size));
        if bytes.get(start..).and_then(|one| position.1.whole(one)) != Some(*value) {
            let data_type = position.0.data_type().to_string();
            return refused(IndexError::Number { value: *value, data_type });
        }
    }
    // Between its document and its elements it reads as the fill value.
    let index = match group.create_array(REGION_INDEX, metadata) {
        // Another process made it of the same arrays.
        Err(ArrayError::Exists { .. }) => return Ok(()),
        made => made?,
    };
    index.write([0..count, 0..COLUMNS], &bytes)
}

/// Refuses a group of VCF-Zarr of whose arrays [`make_region_index`] could make no index: before work that
/// would need it again.
///
/// # Errors
/// As there, by the documents of the arrays alone.
pub fn check_region_index(store: &Arc<dyn Store>, prefix: &Prefix) -> Result<(), ArrayError> {
    columns(&Group::open(store.clone(), prefix)?).map(drop)
}

/// As [`check_region_index`], of the documents that the arrays of the group at `prefix` will have, by their
/// names.
///
/// # Errors
/// As there.
pub fn check_planned_region_index<'a>(
    prefix: &Prefix,
    document: impl Fn(&str) -> Option<&'a ArrayMetadata>,
) -> Result<(), ArrayError> {
    match numbers(NAMES.map(document)) {
        Some(_) => Ok(()),
        None => refused(prefix, IndexError::Arrays),
    }
}

fn refused<T>(prefix: &Prefix, cause: IndexError) -> Result<T, ArrayError> {
    let path = node::display(&prefix.join(REGION_INDEX)?);
    Err(ArrayError::Refused { path, cause: Box::new(cause), remedy: None })
}

/// The arrays from which the index of a group follows.
fn columns(group: &Group) -> Result<[(Array, Numbers); 3], ArrayError> {
    let column = |name| match group.array(name) {
        Ok(array) => Ok(array),
        Err(ArrayError::NotFound { .. }) => refused(group.prefix(), IndexError::Arrays),
        Err(error) => Err(error),
    };
    let [position, contig, length] = NAMES;
    let [position, contig, length] = [column(position)?, column(contig)?, column(length)?];
    let documents = [&position, &contig, &length].map(|array| Some(array.metadata()));
    let Some([positions, contigs, lengths]) = numbers(documents) else {
        return refused(group.prefix(), IndexError::Arrays);
    };
    Ok([(position, positions), (contig, contigs), (length, lengths)])
}

/// The numbers of arrays of integers in one dimension, of one length.
fn numbers(documents: [Option<&ArrayMetadata>; 3]) -> Option<[Numbers; 3]> {
    let [position, contig, length] = documents;
    let shape = position?.shape();
    let of = |document: Option<&ArrayMetadata>| {
        let document = document.filter(|one| shape.len() == 1 && one.shape() == shape)?;
        Numbers::of(document.data_type()).filter(Numbers::are_whole)
    };
    Some([of(position)?, of(contig)?, of(length)?])
}

/// The inner chunks of the first axis, if the array has shards: for bio2zarr they are the chunks.
#[must_use]
pub fn inner_axis(array: &Array) -> Option<Axis> {
    let Some(Codec::ShardingIndexed(shards)) = array.metadata().codecs().first() else {
        return None;
    };
    Axis::regular(*array.shape().first()?, *shards.chunk_shape.first()?).ok()
}
