//! A document that every program of the table reads.

use zarr_array::ChunkLayout;
use zarr_array::store::Prefix;
use zarr_metadata::{ArrayMetadata, ChunkGrid, Codec};

use super::{AFTER_SHARDS, CHUNKS_OF_0, Needs, RECTILINEAR, Readers, SNAPPY, programs};
use crate::ReportError;

/// The same array without features that a program of the table lacks. A rectilinear grid becomes
/// regular, with the length of the longest chunk, and `zstd` replaces codecs that others lack.
/// Shards stay, with `zstd` for such codecs inside. An array that all programs read is unchanged.
///
/// # Errors
/// [`ReportError::NotPortable`] if a program lacks the data type: no other type has the same
/// values.
///
/// # Examples
/// ```
/// # use zarr_metadata::{ArrayBuilder, Codec, DataType};
/// # use zarr_report::readers::{Readers, portable};
/// let months = ArrayBuilder::new([90], DataType::Int16)
///     .chunks([[31, 28, 31].into()])
///     .codecs([Codec::packbits(0..=11)])
///     .build()?;
/// assert!(Readers::of(&portable(&months)?).are_all());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn portable(metadata: &ArrayMetadata) -> Result<ArrayMetadata, ReportError> {
    let needs = Needs::of(metadata);
    let lacking: Vec<String> =
        programs().iter().flat_map(|program| needs.lacking(program)).collect();
    if lacking.contains(&needs.data_type) {
        let readers = Readers::of(metadata).line();
        return Err(ReportError::NotPortable { data_type: needs.data_type, readers });
    }
    let mut changed = metadata.clone();
    if needs.grid == RECTILINEAR || needs.others.contains(&CHUNKS_OF_0) {
        let layout = ChunkLayout::new(&Prefix::root(), metadata)?;
        let longest = layout.grid().axes().iter().map(|axis| axis.max_edge().max(1));
        let grid = ChunkGrid::Regular { chunk_shape: longest.collect() };
        changed = changed.with_shape_and_grid(metadata.shape(), &grid)?;
    }
    let is_lacking = |name: &str| {
        lacking.iter().any(|lacking| lacking == name)
            || programs().iter().any(|program| program.faulty.iter().any(|faulty| faulty == name))
    };
    let is_changed = needs.codecs.iter().any(|codec| is_lacking(codec))
        || [AFTER_SHARDS, SNAPPY].iter().any(|other| is_lacking(other));
    // Inner chunks that divided the lengths of before need not divide the longest.
    if is_changed
        || (needs.grid == RECTILINEAR
            && needs.codecs.iter().any(|codec| codec == "sharding_indexed"))
    {
        changed = changed.with_codecs(&chain(metadata, &changed))?;
    }
    Ok(changed)
}

/// The usual codecs, in the shards of the array if they divide its chunks.
fn chain(metadata: &ArrayMetadata, changed: &ArrayMetadata) -> Vec<Codec> {
    let plain = vec![Codec::array_to_bytes(metadata.data_type()), Codec::zstd(3)];
    let Some(Codec::ShardingIndexed(sharding)) = metadata.codecs().first() else { return plain };
    let ChunkGrid::Regular { chunk_shape } = changed.chunk_grid() else { return plain };
    let divides = |(inner, edge): (&u64, &u64)| *inner > 0 && edge % inner == 0;
    match sharding.chunk_shape.iter().zip(chunk_shape).all(divides) {
        true => vec![Codec::sharding(sharding.chunk_shape.clone(), plain)],
        false => plain,
    }
}

#[cfg(test)]
mod tests {
    use zarr_metadata::{ArrayBuilder, DataType};

    use super::*;

    #[test]
    fn what_others_lack_is_replaced_and_nothing_else() {
        let of = |builder: ArrayBuilder| builder.build().expect("a document");
        let plain = of(ArrayBuilder::new([8], DataType::Int16).chunk_shape([4]));
        assert_eq!(portable(&plain).expect("portable").json(), plain.json());
        let shards = of(ArrayBuilder::new([8], DataType::Int16)
            .chunks([[2, 6].into()])
            .codecs([Codec::sharding([2], [Codec::packbits(0..=3)])]));
        let found = portable(&shards).expect("portable");
        assert!(Readers::of(&found).are_all());
        assert_eq!(found.codecs()[0], Codec::sharding([2], [Codec::bytes(), Codec::zstd(3)]));
        let odd = of(ArrayBuilder::new([10], DataType::Int16)
            .chunks([[4, 6].into()])
            .codecs([Codec::sharding([2], [Codec::bytes()]), Codec::zstd(1)]));
        assert!(Readers::of(&portable(&odd).expect("portable")).are_all());
        let zero = plain.with_shape(&[0]).expect("valid").json().replace("[4]", "[0]");
        let zero = ArrayMetadata::from_json(zero.as_bytes()).expect("is read");
        assert!(!Readers::of(&zero).are_all());
        assert!(Readers::of(&portable(&zero).expect("portable")).are_all());
        let int4 = of(ArrayBuilder::new([8], DataType::Int4).chunk_shape([4]));
        let refused = portable(&int4).expect_err("no other type").to_string();
        assert_eq!(
            refused,
            "elements of type int4 are not read by all programs: zarrs, TensorStore; not zarr-python, \
             Xarray, GDAL (int4)"
        );
    }
}
