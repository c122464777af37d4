//! Arrays of elements that may be missing: partial writes, typed reads, checks and copies.

use std::sync::Arc;

use zarr_array::store::{MemoryStore, Prefix, Store};
use zarr_array::{Array, AxisSelection, Selection};
use zarr_check::{CheckOptions, check};
use zarr_copy::{CopyOptions, copy_array};
use zarr_metadata::{ArrayBuilder, ChunkGrid, Codec, DataType, FillValue, Optional};

fn of(inner: DataType) -> DataType {
    DataType::ZarrsOptional(Optional::new(inner).expect("a type with known elements"))
}

fn create(builder: ArrayBuilder) -> (Arc<dyn Store>, Array) {
    let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
    let metadata = builder.build().expect("a document");
    let array = Array::create(Arc::clone(&store), &Prefix::root(), metadata).expect("creates");
    (store, array)
}

/// Every write is also made to a list in memory.
#[test]
fn regions_are_those_of_a_list() {
    let data_type = of(DataType::Int16);
    let own = ArrayBuilder::new([1], data_type.clone()).build().expect("a document");
    let own = own.codecs()[0].clone();
    let chains = [
        vec![own.clone(), Codec::gzip(1)],
        vec![Codec::transpose([1, 0]), own.clone()],
        vec![Codec::sharding([1, 2], [own, Codec::Crc32c])],
    ];
    for fill in ["null", "[-7]"] {
        for chain in &chains {
            let fill = FillValue::parse(&data_type, fill).expect("a fill value");
            let of_fill = (fill.json() != "null").then_some(-7);
            let builder = ArrayBuilder::new([3, 7], data_type.clone())
                .chunks([[2, 2].into(), [4, 2, 2].into()])
                .codecs(chain.clone())
                .fill_value(fill);
            let (store, array) = create(builder);
            let mut expected = vec![of_fill; 21];
            let columns = AxisSelection::Step { range: 1..6, step: 2 };
            let selection = Selection::from_iter([AxisSelection::Range(1..3), columns]);
            let new = [Some(1_i16), None, Some(3), None, Some(-7), Some(i16::MIN)];
            array.write_as(selection.clone(), &new).expect("writes");
            for (at, element) in [8, 10, 12, 15, 17, 19].into_iter().zip(new) {
                expected[at] = element;
            }
            let whole = Selection::whole(array.shape());
            assert_eq!(array.read_as::<Option<i16>>(&whole).expect("reads"), expected);
            assert_eq!(array.read_as::<Option<i16>>(selection).expect("reads"), new);
            assert!(array.read_as::<Option<u16>>(&whole).is_err());
            assert!(array.read_as::<String>(&whole).is_err() && array.read(&whole).is_err());

            let options = CheckOptions::new().data(true);
            let summary = check(&store, &Prefix::root(), &options, &mut |found| panic!("{found}"));
            assert!(summary.expect("checks").chunks > 0);
            let grid = ChunkGrid::Regular { chunk_shape: vec![3, 2] };
            let metadata = array.metadata().with_shape_and_grid(&[3, 7], &grid).expect("fits");
            let target = Arc::new(MemoryStore::new());
            let options = CopyOptions::new().verify(true);
            let copied =
                copy_array(&array, target, &Prefix::root(), metadata, &options, &mut |_| {});
            let (copied, _) = copied.expect("copies");
            assert_eq!(copied.read_as::<Option<i16>>(&whole).expect("reads"), expected);
        }
    }
}

#[test]
fn bytes_that_are_no_element_are_refused() {
    let (_, array) = create(ArrayBuilder::new([2], of(DataType::Bool)));
    array.write_as(0..1, &[Some(true)]).expect("writes");
    assert_eq!(array.read_as::<Option<bool>>(0..2).expect("reads"), [Some(true), None]);
    for wrong in [&[][..], &[1], &[2, 1], &[1, 0], &[1, 1, 1]] {
        let error = array.write_as(1..2, &[wrong]).expect_err("refused").to_string();
        assert!(error.contains("$.codecs[0]"), "{error}");
    }
    assert_eq!(array.read_as::<Option<bool>>(0..2).expect("reads"), [Some(true), None]);
}
