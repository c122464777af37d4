//! Values that `packbits` would cut are refused unless the loss is allowed (SD-49).

use std::sync::Arc;

use zarr_array::store::{Fault, FaultStore, Links, MemoryStore, Prefix, Store, StoreExt as _};
use zarr_array::{Array, ArrayError, AxisSelection, Group, Loss, Selection};
use zarr_codec::Options;
use zarr_copy::{CopyOptions, Endpoint, MARKER, TransferError, copy_array, copy_tree};
use zarr_metadata::{ArrayMetadata, Codec, GroupMetadata};

/// Twelve bits, signed: -2048 to 2047.
const TWELVE: &str = r#"[{"name": "packbits", "configuration": {"last_bit": 11}}]"#;

const LITTLE: &str = r#"[{"name": "bytes", "configuration": {"endian": "little"}}]"#;

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

/// An array that others may have made: `create` refuses it.
fn with_fill(shape: &[u64], chunk: &[u64], codecs: &str, fill: i32) -> Array {
    let (store, metadata) = (Arc::new(MemoryStore::new()), metadata(shape, chunk, codecs, fill));
    let error = Array::create(store.clone(), &Prefix::root(), metadata.clone()).expect_err("cut");
    assert!(matches!(error, ArrayError::FillValue { .. }), "{error}");
    let key = Prefix::root().key("zarr.json").expect("a key");
    store.put(&key, metadata.json().as_bytes()).expect("memory");
    Array::open(store, &Prefix::root()).expect("opens")
}

/// The loss that a write refused, and its message.
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

/// A fill value that a codec refuses is no fault of a chunk.
#[test]
fn sd_49_a_fill_value_that_a_codec_refuses_is_named_in_its_document() {
    let scaled = LITTLE.replacen(
        '[',
        r#"[{"name": "scale_offset", "configuration": {"offset": 1, "scale": 2}}, "#,
        1,
    );
    let create = |fill| {
        let metadata = metadata(&[3], &[3], &scaled, fill);
        Array::create(Arc::new(MemoryStore::new()), &Prefix::root(), metadata)
    };
    let error = create(32767).expect_err("65532 is no int16");
    assert!(matches!(error, ArrayError::RefusedFillValue { .. }), "{error:?}");
    assert_eq!(
        error.to_string(),
        "zarr.json: $.fill_value: codec scale_offset ($.codecs[0]): element 0 has the bits 0x7fff, \
         out of the range of int16"
    );
    create(100).expect("99 * 2 is an int16");
}

#[test]
fn sd_49_a_write_names_the_first_value_and_how_many_there_are() {
    let array = create(&[4, 5], &[2, 2], TWELVE);
    let region = Selection::whole(&[4, 5]);
    let mut elements = [7_i16; 20];
    (elements[13], elements[6], elements[19]) = (-2049, 3000, 2048);
    let (loss, message) = refused(array.write_as(&region, &elements));
    assert_eq!(
        (loss.index, loss.value, loss.read_back),
        (vec![1, 1], "3000".into(), "-1096".into())
    );
    assert_eq!((loss.count, loss.elements), (3, 20));
    assert!(message.starts_with("zarr.json: $.codecs[0]: element [1, 1] is 3000, which packbits would store as -1096; 3 of 20 elements would change"), "{message}");
    // If the loss is allowed, the old behaviour applies.
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
        let whole = Selection::whole(&[9, 10]);
        array.write_as(&whole, &[5_i16; 90]).expect("writes");
        let before = array.read(&whole).expect("reads");
        // Backwards and by steps: rows 7, 4, 1, columns 2, 5, 8.
        let region = Selection::parse("7::-3, 2:9:3", &[9, 10]).expect("a region");
        let (loss, _) = refused(array.write_as(&region, &[1_i16, 2, 3, 4, 5, 3000, 7, 8, 9]));
        assert_eq!((loss.index, loss.count, loss.elements), (vec![4, 8], 1, 9));
        // A single element: less than a chunk, and in a shard less than an inner chunk.
        let (loss, _) = refused(array.write_as([8..9, 9..10], &[-2049_i16]));
        assert_eq!((loss.index, loss.read_back), (vec![8, 9], "2047".into()));
        // By lists of indices.
        let columns = AxisSelection::Step { range: 1..10, step: 4 };
        let selects = [AxisSelection::from(vec![8, 0, 3]), columns];
        let mut elements = [0_u8; 18];
        elements[2 * 5 + 1] = 0x10; // 4096
        let (loss, _) = refused(array.write(selects, &elements));
        assert_eq!(
            (loss.index, loss.value, loss.read_back),
            (vec![0, 9], "4096".into(), "0".into())
        );
        // The refused writes left all chunks with such a value unchanged.
        let now = array.read_as::<i16>(&whole).expect("reads");
        assert!(now.iter().all(|value| (-2048..2048).contains(value)));
        assert_eq!(now[89], 5);
        // An append reports the index that the element would have.
        let (loss, _) = refused(array.append_as(0, 1, &[2048_i16; 10]));
        assert_eq!((loss.index, loss.count, loss.elements), (vec![9, 0], 10, 10));
        array.write(&whole, &before).expect("what was read is kept");
    }
}

/// As `metadata`, of another type than int16.
fn narrow(data_type: &str, shape: &[u64], chunk: &[u64], codecs: &str) -> ArrayMetadata {
    let document = metadata(shape, chunk, LITTLE, 0).json().replace(LITTLE, codecs);
    let document = document.replace("int16", data_type);
    ArrayMetadata::from_json(document.as_bytes()).expect("valid")
}

/// Whole chunks, parts of chunks, lists and appends: the byte's own number is reported, and it is
/// masked if the loss is allowed.
#[test]
fn sd_18_a_write_names_the_byte_that_is_out_of_range() {
    for (codecs, codec) in [
        (r#"[{"name": "bytes"}]"#, "bytes"),
        (r#"[{"name": "packbits"}]"#, "packbits"),
        (r#"[{"name": "bytes"}, {"name": "crc32c"}]"#, "bytes"),
    ] {
        let metadata = narrow("int4", &[6, 4], &[3, 2], codecs);
        let store = Arc::new(MemoryStore::new());
        let array = Array::create(store, &Prefix::root(), metadata).expect("creates");
        let whole = Selection::whole(&[6, 4]);
        let mut elements = [7_i8; 24];
        (elements[13], elements[22]) = (100, -9);
        let (loss, message) = refused(array.write_as(&whole, &elements));
        assert_eq!(
            (loss.index, loss.value, loss.read_back),
            (vec![3, 1], "100".into(), "4".into())
        );
        assert_eq!((loss.count, loss.elements, loss.codec.as_str()), (2, 24, codec));
        assert!(message.contains("element [3, 1] is 100"), "{message}");
        let (loss, _) = refused(array.write_as([5..6, 2..3], &[-128_i8]));
        assert_eq!(
            (loss.index, loss.value, loss.read_back),
            (vec![5, 2], "-128".into(), "0".into())
        );
        let selects = [AxisSelection::from(vec![5, 0]), AxisSelection::from(vec![3, 0])];
        let (loss, _) = refused(array.write(selects, &[1, 2, 3, 8]));
        assert_eq!((loss.index, loss.value, loss.read_back), (vec![0, 0], "8".into(), "-8".into()));
        let (loss, _) = refused(array.append_as(0, 1, &[8_i8; 4]));
        assert_eq!((loss.index, loss.count), (vec![6, 0], 4));
        let now = array.read_as::<i8>(&whole).expect("reads");
        assert!(now.iter().all(|value| [0, 1, 2, 3, 7].contains(value)), "{now:?}");
        // If the loss is allowed, the upper bits are dropped.
        let array = array.with_options(Options::new().allow_loss(true)).expect("binds");
        array.write_as(&whole, &elements).expect("writes");
        (elements[13], elements[22]) = (4, 7);
        assert_eq!(array.read_as::<i8>(&whole).expect("reads"), elements);
    }
}

#[test]
fn sd_18_bits_of_a_float_out_of_range_are_shown() {
    let metadata = narrow("float6_e2m3fn", &[2], &[2], r#"[{"name": "bytes"}]"#);
    let store = Arc::new(MemoryStore::new());
    let array = Array::create(store, &Prefix::root(), metadata).expect("creates");
    let (loss, _) = refused(array.write(Selection::whole(&[2]), &[0, 0x48]));
    assert_eq!((loss.index, loss.value, loss.read_back), (vec![1], "0x48".into(), "1.0".into()));
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
    // A whole chunk does not contain it; parts, and elements past the array's end, do.
    array.write_as(0..4, &[1_i16, 2, 3, 4]).expect("writes");
    fill(array.write_as(4..5, &[1_i16]));
    fill(array.write_as(4..6, &[1_i16, 2]));
    let elements = array.read_as::<i16>(Selection::whole(&[6])).expect("reads");
    assert_eq!(elements, [1, 2, 3, 4, 5000, 5000]);
    fill(array.resize([3]).map(drop));
    // The loss of an element is reported before that of the fill value.
    let (loss, _) = refused(array.write_as(4..6, &[1_i16, 4096]));
    assert_eq!(loss.index, [5]);
}

#[test]
fn sd_49_a_copy_loses_nothing_unless_that_is_allowed() {
    let from =
        create(&[5, 3], &[2, 3], r#"[{"name": "bytes", "configuration": {"endian": "little"}}]"#);
    let region = Selection::whole(&[5, 3]);
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
    // An allowed loss is not a fault of the copy, which is compared with the expected result.
    let options = CopyOptions::new().allow_loss(true).verify(true);
    let (to, _) = copy(options).expect("copies");
    elements[7] = 9;
    assert_eq!(to.read_as::<i16>(&region).expect("reads"), elements);
}

/// What codecs lose depends on the whole chunk, which the shape does not fill.
#[cfg(feature = "zfp")]
#[test]
fn sd_49_a_copy_to_a_codec_that_rounds_by_blocks_is_verified() {
    let from = create(&[50, 30], &[10, 30], LITTLE);
    let region = Selection::whole(&[50, 30]);
    let elements: Vec<i16> = (0..1500).map(|n| n % 37 * (n % 53)).collect();
    from.write_as(&region, &elements).expect("writes");
    let rate = r#"[{"name": "zfp", "configuration": {"mode": "fixed_rate", "rate": 6}}]"#;
    let root = Prefix::root();
    let metadata = metadata(&[50, 30], &[16, 7], rate, 0);
    // One task for all chunks, and one for each.
    for memory in [1 << 20, 3000] {
        let options = CopyOptions::new().memory(memory).allow_loss(true).verify(true);
        let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
        let (to, _) = copy_array(&from, store, &root, metadata.clone(), &options, &mut |_| {})
            .expect("verified");
        assert_ne!(to.read_as::<i16>(&region).expect("reads"), elements);
    }
}

/// A chunk that an interrupted run stored, and that is damaged, is no allowed loss.
#[test]
fn sd_49_a_verification_finds_damage_where_loss_is_allowed() {
    let from = create(&[5, 3], &[2, 3], LITTLE);
    from.write_as(Selection::whole(&[5, 3]), &[3000_i16; 15]).expect("writes");
    let codecs = Codec::list_from_json(TWELVE.as_bytes()).expect("valid");
    let metadata = from.metadata().with_codecs(&codecs).expect("valid");
    let options = CopyOptions::new().memory(90).allow_loss(true).verify(true);
    let copy = |store: Arc<dyn Store>, options: &CopyOptions| {
        let (root, metadata) = (Prefix::root(), metadata.clone());
        copy_array(&from, store, &root, metadata, options, &mut |_| {}).map(|(array, _)| array)
    };
    let whole = copy(Arc::new(MemoryStore::new()), &options).expect("copies");
    let whole = whole.read(Selection::whole(&[5, 3])).expect("reads");
    let inner = MemoryStore::new();
    let second = Prefix::root().key("c/1/0").expect("a key");
    let dying = FaultStore::new(inner.clone()).on(second, Fault::DieBefore);
    copy(Arc::new(dying), &options).expect_err("dies");
    let first = Prefix::root().key("c/0/0").expect("a key");
    let mut chunk = inner.read(&first).expect("reads").expect("is there");
    chunk[1] ^= 1;
    inner.put(&first, &chunk).expect("memory");
    let array = copy(Arc::new(inner), &options.resume(true)).expect("continues");
    assert_eq!(array.read(Selection::whole(&[5, 3])).expect("reads"), whole);
}

fn keys(store: &Arc<dyn Store>) -> Vec<String> {
    let keys = store.list(&Prefix::root(), Links::Follow).map(|key| key.map(|key| key.to_string()));
    let mut keys = keys.collect::<Result<Vec<_>, _>>().expect("lists");
    keys.sort_unstable();
    keys
}

/// Before a chunk is stored there is nothing to resume; later, the same copy with loss allowed
/// continues.
#[test]
fn sd_49_a_refused_copy_leaves_nothing_or_can_be_resumed() {
    // One task per chunk.
    let options = CopyOptions::new().memory(62);
    let codecs = Codec::list_from_json(TWELVE.as_bytes()).expect("valid");
    for (lost, left) in [(0, false), (7, true)] {
        let from = create(&[5, 3], &[2, 3], LITTLE);
        let mut elements = [1_i16; 15];
        elements[lost] = 3000;
        from.write_as(Selection::whole(&[5, 3]), &elements).expect("writes");
        let metadata = from.metadata().with_codecs(&codecs).expect("valid");
        let copy = |store: &Arc<dyn Store>, options: CopyOptions| {
            let root = Prefix::root();
            copy_array(&from, store.clone(), &root, metadata.clone(), &options, &mut |_| {})
                .map(|(_, summary)| summary)
        };
        let undisturbed: Arc<dyn Store> = Arc::new(MemoryStore::new());
        copy(&undisturbed, options.clone().allow_loss(true)).expect("allowed");
        for overwrite in [false, true] {
            let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
            if overwrite {
                copy(&store, options.clone().allow_loss(true)).expect("allowed");
            }
            let begin = options.clone().overwrite(overwrite);
            let error = copy(&store, begin).expect_err("3000 in twelve bits");
            assert!(matches!(error, TransferError::Target(_)), "{error}");
            let expected: &[&str] = if left { &["c/0/0", MARKER] } else { &[] };
            assert_eq!(keys(&store), expected);
            if left {
                copy(&store, options.clone()).expect_err("is there");
                copy(&store, options.clone().resume(true)).expect_err("still cut");
                assert_eq!(keys(&store), expected);
            }
            let again = if left { options.clone().resume(true) } else { options.clone() };
            let summary = copy(&store, again.allow_loss(true)).expect("goes on");
            assert_eq!(summary.skipped, u64::from(left));
            assert_eq!(keys(&store), keys(&undisturbed));
        }
    }
}

#[test]
fn sd_49_a_refused_copy_of_a_group_leaves_nothing_or_can_be_resumed() {
    let from: Arc<dyn Store> = Arc::new(MemoryStore::new());
    let root = Prefix::root();
    let group = Group::create(from.clone(), &root, GroupMetadata::new()).expect("creates");
    let inner = group.create_group("inner", GroupMetadata::new()).expect("creates");
    let document = metadata(&[4], &[4], TWELVE, 0).json().replace(TWELVE, LITTLE);
    let document = ArrayMetadata::from_json(document.as_bytes()).expect("valid");
    let array = inner.create_array("b", document.clone()).expect("creates");
    array.write_as(Selection::whole(&[4]), &[3000_i16; 4]).expect("writes");
    let codecs = Codec::list_from_json(TWELVE.as_bytes()).expect("valid");
    let copy = |store: &Arc<dyn Store>, options: CopyOptions| {
        let change = &mut |_: &Prefix, metadata: &ArrayMetadata| Ok(metadata.with_codecs(&codecs)?);
        let (from, to) = (Endpoint::new(&from, &root), Endpoint::new(store, &root));
        copy_tree(from, to, change, &options, &mut |_, _| {})
    };
    let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
    copy(&store, CopyOptions::new()).expect_err("cut");
    assert_eq!(keys(&store), [""; 0]);
    // An array before it that can be copied.
    let array = inner.create_array("a", document).expect("creates");
    array.write_as(Selection::whole(&[4]), &[30_i16; 4]).expect("writes");
    copy(&store, CopyOptions::new()).expect_err("cut");
    // Documents go last, all together; the marker is that of the root.
    assert_eq!(keys(&store), ["inner/a/c/0", MARKER]);
    copy(&store, CopyOptions::new().resume(true).allow_loss(true)).expect("goes on");
    assert!(keys(&store).iter().all(|key| !key.ends_with(MARKER)));
    let copied = Array::open(store, &Prefix::new("inner/b").expect("a prefix")).expect("opens");
    assert_eq!(copied.read_as::<i16>(Selection::whole(&[4])).expect("reads"), [-1096; 4]);
}
