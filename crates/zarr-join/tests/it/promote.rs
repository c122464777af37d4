//! Members with numbers of a narrower type, which are joined and inserted as numbers of a wider one.

use std::sync::Arc;

use zarr_array::store::{Key, MemoryStore, Prefix, Remedy, Store, StoreExt as _};
use zarr_array::{Array, ArrayError, Group, Hierarchy, JoinedNodes, MemberSource, Members};
use zarr_grid::Grid;
use zarr_join::rearrange::MOST_PROMOTED;
use zarr_join::{
    Arrangement, GroupArrangement, GroupMember, Join, JoinError, JoinGroups, JoinOptions, Member,
    check_insertion, check_order,
};
use zarr_metadata::{ArrayBuilder, DataType, GroupMetadata};

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

fn int16(values: &[i16]) -> Vec<u8> {
    values.iter().flat_map(|value| value.to_le_bytes()).collect()
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
        check_insertion(&wide, &of_version_2(attributes), 0, Some(&mut { MOST_PROMOTED }))
            .expect_err("differs")
            .to_string()
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
    let inserted =
        check_insertion(&filled(DAYS), &of_version_2(DAYS), 0, Some(&mut { MOST_PROMOTED }))
            .expect("fits");
    assert_eq!(inserted.read_as::<i64>(0..2).expect("reads"), [2, -999]);
}

/// An array of two numbers with these codecs.
fn with_codecs(data_type: DataType, codecs: &str) -> Member {
    let metadata = ArrayBuilder::new([64], data_type).chunk_shape([64]).build().expect("valid");
    let metadata = metadata.with_member("codecs", codecs).expect("valid");
    let array = Array::create(Arc::new(MemoryStore::new()), &Prefix::root(), metadata);
    Member::new("wide", array.expect("creates"))
}

#[test]
fn numbers_are_not_widened_into_codecs_that_may_change_them() {
    let narrow =
        || Member::new("narrow", member(DataType::Int16, "{}", &int16(&[1001])).array().clone());
    let reason = "may change numbers of a narrower type that are written with it: copy the array with \
                  other codecs first";
    let sharded = r#"[{"name": "sharding_indexed", "configuration": {"chunk_shape": [8], "codecs": [
        {"name": "numcodecs.bitround", "configuration": {"keepbits": 3}}, BYTES],
        "index_codecs": [BYTES]}}]"#;
    let bytes = r#"{"name": "bytes", "configuration": {"endian": "little"}}"#;
    for (data_type, codec, codecs) in [
        (
            DataType::Float32,
            "bitround",
            r#"[{"name": "bitround", "configuration": {"keepbits": 3}}, BYTES]"#,
        ),
        (DataType::Float32, "numcodecs.bitround", sharded),
        (
            DataType::Int32,
            "cast_value",
            r#"[{"name": "cast_value", "configuration": {"data_type": "int8", "out_of_range": "wrap"}}, {"name": "bytes"}]"#,
        ),
        (
            DataType::Float32,
            "scale_offset",
            r#"[{"name": "scale_offset", "configuration": {"scale": 3}}, BYTES]"#,
        ),
        (
            DataType::Float64,
            "numcodecs.delta",
            r#"[{"name": "numcodecs.delta", "configuration": {"dtype": "<f8"}}, BYTES]"#,
        ),
    ] {
        let wide = || with_codecs(data_type.clone(), &codecs.replace("BYTES", bytes));
        let expected = format!("wide: the codec {codec} {reason}");
        assert_eq!(joined(vec![wide(), narrow()]).expect_err("lossy"), expected);
        assert_eq!(joined(vec![narrow(), wide()]).expect_err("lossy"), expected);
        let refused = check_insertion(&wide(), &narrow(), 0, Some(&mut { MOST_PROMOTED }))
            .expect_err("lossy");
        assert_eq!(refused.to_string(), expected);
        // Nothing is widened.
        assert!(joined(vec![wide(), wide()]).is_ok());
    }
    let plain = with_codecs(DataType::Float64, &format!("[{bytes}]"));
    let array = joined(vec![plain, narrow()]).expect("fits");
    assert_eq!(array.read_as::<f64>(64..65).expect("reads"), [1001.]);
}

/// One member, the array of these numbers.
#[derive(Debug)]
struct Only(Member);

impl MemberSource for Only {
    fn open(&self, _: &[u64]) -> Result<Option<Array>, ArrayError> {
        Ok(Some(self.0.array().clone()))
    }

    fn name(&self, _: &[u64]) -> String {
        self.0.name().to_owned()
    }
}

#[derive(Debug)]
struct Root(Arc<Members>);

impl JoinedNodes for Root {
    fn members(&self, _: &Prefix) -> Option<Arc<Members>> {
        Some(Arc::clone(&self.0))
    }
}

#[test]
fn an_array_that_consists_of_others_is_not_widened() {
    let only = member(DataType::Int16, "{}", &int16(&[1, 2]));
    let grid = Grid::regular(&[2], &[2]).expect("a grid");
    let members = Members::new(grid, DataType::Int16, Arc::new(Only(only.clone())));
    let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
    Array::create(store.clone(), &Prefix::root(), only.array().metadata().clone())
        .expect("creates");
    let hierarchy = Hierarchy::joined(store, Arc::new(Root(Arc::new(members))));
    let array = Array::open(hierarchy, &Prefix::root()).expect("opens");
    let narrow = || Member::new("virtual", array.clone());
    let wide = || member(DataType::Int32, "{}", &int32(&[3]));
    let expected = "virtual: the root: the array consists of other arrays, and has no chunks of its \
                    own: copy it first";
    let plan = Join::new(vec![narrow(), wide()], Arrangement::Along(0)).promote(true).plan();
    assert_eq!(plan.expect_err("has members").to_string(), expected);
    let refused = check_insertion(&wide(), &narrow(), 0, Some(&mut { MOST_PROMOTED }))
        .expect_err("has members");
    assert_eq!(refused.to_string(), expected);
    // Of one type, it is read as any other.
    assert!(Join::new(vec![narrow(), only], Arrangement::Along(0)).promote(true).plan().is_ok());
}

/// A group with the coordinates `time` alone.
fn times(data_type: DataType, attributes: &str, elements: &[u8]) -> GroupMember {
    let length = (elements.len() / data_type.size().expect("a size")) as u64;
    let metadata = ArrayBuilder::new([length], data_type).dimension_names(["time"]);
    let metadata = metadata.attributes(attributes).build().expect("valid");
    let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
    let group = Group::create(store, &Prefix::root(), GroupMetadata::new()).expect("creates");
    let time = group.create_array("time", metadata).expect("creates");
    time.write(0..length, elements).expect("writes");
    GroupMember::new("group", group)
}

#[test]
fn coordinates_of_a_narrower_type_are_in_an_order() {
    let wide = |attributes| {
        let elements: Vec<u8> = [0_f64, 24.].iter().flat_map(|one| one.to_le_bytes()).collect();
        times(DataType::Float64, attributes, &elements)
    };
    let narrow = |attributes, values: &[i32]| times(DataType::Int32, attributes, &int32(values));
    for (order, expected) in [
        (check_order(&[wide("{}"), narrow("{}", &[30, 40])], "time"), true),
        (check_order(&[narrow("{}", &[-3, -1]), wide("{}")], "time"), true),
        (check_order(&[wide(HOURS), narrow(DAYS, &[2, 3])], "time"), true),
        (check_order(&[wide("{}"), narrow("{}", &[20, 30])], "time"), false),
        (check_order(&[wide(HOURS), narrow(DAYS, &[1, 2])], "time"), false),
    ] {
        assert_eq!(order.is_ok(), expected, "{order:?}");
        assert!(order.err().is_none_or(|error| matches!(error, JoinError::Coordinates { .. })));
    }
}

/// Attributes that are no strict JSON cannot be set, but stay where they are.
#[test]
fn a_member_with_an_attribute_of_nan_is_widened() {
    let with_nan = |name: &str, data_type: DataType, elements: &[u8]| {
        let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
        let document = format!(
            r#"{{"zarr_format": 3, "node_type": "array", "shape": [2], "data_type": "{data_type}",
            "chunk_grid": {{"name": "regular", "configuration": {{"chunk_shape": [2]}}}},
            "chunk_key_encoding": {{"name": "default"}}, "fill_value": 0, "attributes": {{"low": NaN}},
            "codecs": [{{"name": "bytes", "configuration": {{"endian": "little"}}}}]}}"#
        );
        let key = Key::new("zarr.json").expect("a key");
        store.put(&key, document.as_bytes()).expect("puts");
        let array = Array::open(store, &Prefix::root()).expect("opens");
        array.write(0..2, elements).expect("writes");
        Member::new(name, array)
    };
    let wide = || with_nan("wide", DataType::Int32, &int32(&[70_000, 1]));
    let narrow = || with_nan("narrow", DataType::Int16, &int16(&[-1, 2]));
    for (members, expected) in
        [(vec![wide(), narrow()], [70_000, 1, -1, 2]), (vec![narrow(), wide()], [-1, 2, 70_000, 1])]
    {
        let array = joined(members).expect("fits");
        assert_eq!(array.read_as::<i32>(0..4).expect("reads"), expected);
        assert_eq!(array.metadata().attribute("low"), Some("NaN"));
    }
    let inserted =
        check_insertion(&wide(), &narrow(), 0, Some(&mut { MOST_PROMOTED })).expect("fits");
    assert_eq!(inserted.read_as::<i32>(0..2).expect("reads"), [-1, 2]);
}

/// A group of VCF-Zarr with two variants and an index.
fn genome(positions: DataType) -> GroupMember {
    let metadata = GroupMetadata::new().with_attributes(r#"{"vcf_zarr_version": "0.4"}"#);
    let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
    let group = Group::create(store, &Prefix::root(), metadata.expect("valid")).expect("creates");
    let make = |name: &str, data_type: DataType, shape: &[u64], names: &[&str]| {
        let metadata = ArrayBuilder::new(shape, data_type).dimension_names(names.iter().copied());
        group.create_array(name, metadata.build().expect("valid")).expect("creates");
    };
    make("variant_position", positions, &[2], &["variants"]);
    make("variant_contig", DataType::Int8, &[2], &["variants"]);
    make("variant_length", DataType::Int8, &[2], &["variants"]);
    let names = ["region_index_values", "region_index_fields"];
    make("region_index", DataType::Int32, &[1, 6], &names);
    GroupMember::new("genome", group)
}

#[test]
fn an_index_of_positions_that_become_floats_is_refused_before_they_are_written() {
    let plan = |types: [DataType; 2]| {
        let along = GroupArrangement::Along("variants".into());
        JoinGroups::new(types.map(genome).into(), along).promote(true).plan()
    };
    for types in [[DataType::Int32, DataType::Float64], [DataType::Float64, DataType::Int32]] {
        let error = plan(types).expect_err("floats").to_string();
        assert!(error.starts_with("genome: region_index: the index of chunks cannot"), "{error}");
    }
    let plan = plan([DataType::Int16, DataType::Int32]).expect("integers");
    let position = plan.array("variant_position").expect("an array");
    assert_eq!(position.data_type(), &DataType::Int32);
}

#[test]
fn copies_of_all_inserted_arrays_together_have_the_allowed_bytes() {
    let wide = member(DataType::Int32, "{}", &int32(&[1]));
    let narrow = member(DataType::Int16, "{}", &int16(&[2, 3]));
    let mut room = 12;
    check_insertion(&wide, &narrow, 0, Some(&mut room)).expect("eight bytes");
    assert_eq!(room, 4);
    let error = check_insertion(&wide, &narrow, 0, Some(&mut room)).expect_err("twelve bytes");
    assert!(error.to_string().contains("8 bytes of elements would be"), "{error}");
    assert_eq!(error.remedy(), Some(Remedy::PromoteIntoNew));
    let error = check_insertion(&wide, &narrow, 0, None).expect_err("converts nothing");
    assert!(error.to_string().contains("; int32 has the numbers of both"), "{error}");
    // An array of this type is not copied.
    check_insertion(&wide, &wide, 0, Some(&mut room)).expect("fits");
    assert_eq!(room, 4);
}
