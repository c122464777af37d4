//! Members with numbers of a narrower type, which are joined and inserted as numbers of a wider one.

use std::sync::Arc;

use zarr_array::Array;
use zarr_array::store::{Key, MemoryStore, Prefix, Store, StoreExt as _};
use zarr_join::{Arrangement, Join, JoinOptions, Member, check_insertion};
use zarr_metadata::{ArrayBuilder, DataType};

/// An array of version 3 with one chunk.
fn member(data_type: DataType, attributes: &str, elements: &[u8]) -> Member {
    let length = (elements.len() / data_type.size().expect("a size")) as u64;
    let metadata = ArrayBuilder::new([length], data_type).chunk_shape([length]);
    let metadata = metadata.attributes(attributes).build().expect("valid");
    let store = Arc::new(MemoryStore::new());
    let array = Array::create(store, &Prefix::root(), metadata).expect("creates");
    array.write(0..length, elements).expect("writes");
    Member::new("wide", array)
}

/// An array of version 2 of the `int32` numbers 2 and -999, with the fill value -999.
fn of_version_2(attributes: &str) -> Member {
    let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
    let put = |key: &str, bytes: &[u8]| {
        store.put(&Key::new(key).expect("a key"), bytes).expect("puts");
    };
    let document = br#"{"zarr_format": 2, "shape": [2], "chunks": [2], "dtype": "<i4",
        "order": "C", "filters": null, "compressor": null, "fill_value": -999}"#;
    put(".zarray", document);
    put(".zattrs", attributes.as_bytes());
    put("0", &int32(&[2, -999]));
    Member::new("narrow", Array::open(store, &Prefix::root()).expect("opens"))
}

fn int32(values: &[i32]) -> Vec<u8> {
    values.iter().flat_map(|value| value.to_le_bytes()).collect()
}

fn int64(values: &[i64]) -> Vec<u8> {
    values.iter().flat_map(|value| value.to_le_bytes()).collect()
}

fn joined(members: Vec<Member>) -> Result<Array, String> {
    let plan = Join::new(members, Arrangement::Along(0)).promote(true).plan();
    let plan = plan.map_err(|cause| cause.to_string())?;
    let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
    let done = plan.execute(&store, &Prefix::root(), &JoinOptions::new(), &|_| {});
    Ok(done.map_err(|cause| cause.to_string())?.0)
}

const HOURS: &str = r#"{"units": "hours since 2000-01-01"}"#;
const DAYS: &str = r#"{"units": "days since 2000-01-01"}"#;

#[test]
fn missing_times_of_version_2_stay_missing_in_a_wider_type() {
    let wide = member(DataType::Int64, HOURS, &int64(&[0, 24]));
    let array = joined(vec![wide, of_version_2(DAYS)]).expect("fits");
    assert_eq!(array.read_as::<i64>(0..4).expect("reads"), [0, 24, 48, -999]);
}

#[test]
fn an_inserted_array_of_version_2_keeps_its_missing_values_or_is_refused() {
    let error = |attributes: &str, wide: Member| {
        check_insertion(&wide, &of_version_2(attributes), 0, true).expect_err("differs").to_string()
    };
    assert_eq!(
        error("{}", member(DataType::Int64, "{}", &int64(&[1]))),
        "narrow: fill value of Zarr version 2: -999, but 0 in wide"
    );
    let metadata = ArrayBuilder::new([2], DataType::Int64).fill_value(-999_i64);
    let filled = |attributes: &str| {
        let metadata = metadata.clone().attributes(attributes).build().expect("valid");
        let array = Array::create(Arc::new(MemoryStore::new()), &Prefix::root(), metadata);
        Member::new("wide", array.expect("creates"))
    };
    let refused = error(DAYS, filled(HOURS));
    assert!(refused.starts_with("narrow: the attribute units is \"days since"), "{refused}");
    let inserted = check_insertion(&filled(DAYS), &of_version_2(DAYS), 0, true).expect("fits");
    assert_eq!(inserted.read_as::<i64>(0..2).expect("reads"), [2, -999]);
}
