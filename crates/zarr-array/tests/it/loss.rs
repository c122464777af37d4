//! Values that `packbits` would cut are refused, and a loss is one that was asked for (SD-49).

use std::sync::Arc;

use zarr_array::copy::{CopyOptions, TransferError, copy_array};
use zarr_array::store::{MemoryStore, Prefix, Store};
use zarr_array::{Array, ArrayError, AxisSelection, Cut, Loss, Region};
use zarr_codec::Options;
use zarr_metadata::{ArrayMetadata, Codec};

/// Twelve bits, signed: -2048 to 2047.
const TWELVE: &str = r#"[{"name": "packbits", "configuration": {"last_bit": 11}}]"#;

fn metadata(shape: &[u64], chunk: &[u64], codecs: &str, fill: i32) -> ArrayMetadata {
    let document = format!(
        r#"{{"zarr_format": 3, "node_type": "array", "shape": {shape:?}, "data_type": "int16",
        "chunk_grid": {{"name": "regular", "configuration": {{"chunk_shape": {chunk:?}}}}},
        "chunk_key_encoding": {{"name": "default"}}, "fill_value": {fill}, "codecs": {codecs}}}"#
    );
    ArrayMetadata::from_json(document.as_bytes()).expect("valid")
}

fn create(shape: &[u64], chunk: &[u64], codecs: &str) -> Array {
    let metadata = metadata(shape, chunk, codecs, 0);
    Array::create(Arc::new(MemoryStore::new()), &Prefix::root(), metadata).expect("creates")
}

/// As others may have made it: `create` refuses it.
fn with_fill(shape: &[u64], chunk: &[u64], codecs: &str, fill: i32) -> Array {
    let (store, metadata) = (Arc::new(MemoryStore::new()), metadata(shape, chunk, codecs, fill));
    let error = Array::create(store.clone(), &Prefix::root(), metadata.clone()).expect_err("cut");
    assert!(matches!(error, ArrayError::FillValue { .. }), "{error}");
    let key = Prefix::root().key("zarr.json").expect("a key");
    store.put(&key, metadata.json().as_bytes()).expect("memory");
    Array::open(store, &Prefix::root()).expect("opens")
}

/// What a write refused to lose, and its message.
#[track_caller]
fn refused<T>(result: Result<T, ArrayError>) -> (Loss, String) {
    let error = result.map(drop).expect_err("values that would be cut");
    let message = error.to_string();
    let mut error = error;
    if let ArrayError::Incomplete { cause, .. } = error {
        error = *cause;
    }
    match error {
        ArrayError::Loss { loss, .. } => (*loss, message),
        other => panic!("{other}"),
    }
}

#[test]
fn sd_49_a_write_names_the_first_value_and_how_many_there_are() {
    let array = create(&[4, 5], &[2, 2], TWELVE);
    let region = Region::whole(&[4, 5]);
    let mut elements = [7_i16; 20];
    (elements[13], elements[6], elements[19]) = (-2049, 3000, 2048);
    let (loss, message) = refused(array.write_as(&region, &elements));
    assert_eq!(
        (loss.index, loss.value, loss.read_back),
        (vec![1, 1], "3000".into(), "-1096".into())
    );
    assert_eq!((loss.count, loss.elements), (3, 20));
    assert!(message.starts_with("zarr.json: $.codecs[0]: element [1, 1] is 3000, which packbits would store as -1096; 3 of 20 elements would change"), "{message}");
    // Asked for by name, it is what it was.
    let array = array.with_options(Options::new().allow_loss(true)).expect("binds");
    array.write_as(&region, &elements).expect("writes");
    let kept: Vec<i16> = elements.iter().map(|n| n << 4 >> 4).collect();
    assert_eq!(array.read_as::<i16>(&region).expect("reads"), kept);
}

#[test]
fn sd_49_the_index_is_that_of_the_array() {
    for codecs in [
        TWELVE.to_owned(),
        TWELVE.replacen('[', r#"[{"name": "transpose", "configuration": {"order": [1, 0]}}, "#, 1),
        format!(
            r#"[{{"name": "sharding_indexed", "configuration": {{"chunk_shape": [3, 1],
            "codecs": {TWELVE},
            "index_codecs": [{{"name": "bytes", "configuration": {{"endian": "little"}}}}]}}}}]"#
        ),
    ] {
        let array = create(&[9, 10], &[6, 4], &codecs);
        let whole = Region::whole(&[9, 10]);
        array.write_as(&whole, &[5_i16; 90]).expect("writes");
        let before = array.read(&whole).expect("reads");
        // Backwards and by steps: rows 7, 4, 1, columns 2, 5, 8.
        let region = Region::parse("7::-3, 2:9:3", &[9, 10]).expect("a region");
        let (loss, _) = refused(array.write_as(&region, &[1_i16, 2, 3, 4, 5, 3000, 7, 8, 9]));
        assert_eq!((loss.index, loss.count, loss.elements), (vec![4, 8], 1, 9));
        // A single element: less than a chunk, and in a shard less than an inner chunk.
        let (loss, _) = refused(array.write_as(&Region::from([8..9, 9..10]), &[-2049_i16]));
        assert_eq!((loss.index, loss.read_back), (vec![8, 9], "2047".into()));
        // By lists of indices.
        let columns = AxisSelection::Step { range: 1..10, step: 4 };
        let selects = [AxisSelection::from(vec![8, 0, 3]), columns];
        let mut elements = [0_u8; 18];
        elements[2 * 5 + 1] = 0x10; // 4096
        let (loss, _) = refused(array.write_orthogonal(&selects, &elements));
        assert_eq!(
            (loss.index, loss.value, loss.read_back),
            (vec![0, 9], "4096".into(), "0".into())
        );
        // What was refused left all chunks that have such a value as they were.
        let now = array.read_as::<i16>(&whole).expect("reads");
        assert!(now.iter().all(|value| (-2048..2048).contains(value)));
        assert_eq!(now[89], 5);
        // An append, to the index that it would have.
        let (loss, _) = refused(array.append_as(0, 1, &[2048_i16; 10], &[]));
        assert_eq!((loss.index, loss.count, loss.elements), (vec![9, 0], 10, 10));
        array.write(&whole, &before).expect("what was read is kept");
    }
}

#[test]
fn sd_49_a_fill_value_that_is_cut_is_never_stored_unasked() {
    let array = with_fill(&[6], &[4], TWELVE, 5000);
    let fill = |result: Result<(), ArrayError>| {
        let message = result.expect_err("the fill value is cut").to_string();
        assert!(
            message.contains("$.fill_value: 5000 does not survive the codec chain"),
            "{message}"
        );
    };
    // A whole chunk has none of it; parts, and what lies past the array's end, have.
    array.write_as(&Region::from(0..4), &[1_i16, 2, 3, 4]).expect("writes");
    fill(array.write_as(&Region::from(4..5), &[1_i16]));
    fill(array.write_as(&Region::from(4..6), &[1_i16, 2]));
    let elements = array.read_as::<i16>(&Region::whole(&[6])).expect("reads");
    assert_eq!(elements, [1, 2, 3, 4, 5000, 5000]);
    fill(array.resize(&[3], &[vec![]], Cut::Discard).map(drop));
    // The value of an element goes before that of the fill value.
    let (loss, _) = refused(array.write_as(&Region::from(4..6), &[1_i16, 4096]));
    assert_eq!(loss.index, [5]);
}

#[test]
fn sd_49_a_copy_loses_nothing_unless_that_is_allowed() {
    let from =
        create(&[5, 3], &[2, 3], r#"[{"name": "bytes", "configuration": {"endian": "little"}}]"#);
    let region = Region::whole(&[5, 3]);
    let mut elements = [1_i16; 15];
    elements[7] = -1271;
    from.write_as(&region, &elements).expect("writes");
    let six_bits = TWELVE.replace("11", "5");
    let codecs = Codec::list_from_json(six_bits.as_bytes()).expect("valid");
    let metadata = from.metadata().with_codecs(&codecs).expect("valid");
    let copy = |options: CopyOptions| {
        let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
        copy_array(&from, store, &Prefix::root(), metadata.clone(), &options, &mut |_| {})
    };
    match copy(CopyOptions::new()) {
        Err(TransferError::Target(error)) => {
            let (loss, _) = refused(Err::<(), _>(error));
            assert_eq!(
                (loss.index, loss.value, loss.read_back),
                (vec![2, 1], "-1271".into(), "9".into())
            );
        }
        other => panic!("{:?}", other.map(|(_, summary)| summary)),
    }
    // What was allowed is no fault of the copy, which is compared with what it should have become.
    let options = CopyOptions::new().allow_loss(true).verify(true);
    let (to, _) = copy(options).expect("copies");
    elements[7] = 9;
    assert_eq!(to.read_as::<i16>(&region).expect("reads"), elements);
}
