//! Codecs of other authors, given when an array is opened: in reads, writes, copies and checks.

use std::sync::Arc;

use zarr_array::store::{MemoryStore, Prefix, Store, StoreExt as _};
use zarr_array::{Array, ArrayError, Group};
use zarr_check::{CheckOptions, check};
use zarr_codec::{ArrayCodec, ArrayOutput, BytesCodec, CodecError, Codecs, DecodedLength, Options};
use zarr_copy::{CopyOptions, Endpoint, copy_array, copy_tree};
use zarr_metadata::{ArrayBuilder, ArrayMetadata, Codec, DataType, Extension, GroupMetadata};

/// Bytes with all bits flipped.
struct Flip;

impl BytesCodec for Flip {
    fn encode(&self, decoded: &[u8]) -> Result<Vec<u8>, CodecError> {
        Ok(decoded.iter().map(|byte| !byte).collect())
    }

    fn decode(&self, encoded: &[u8], _: DecodedLength) -> Result<Vec<u8>, CodecError> {
        self.encode(encoded)
    }
}

/// Elements behind the shape of their chunk, one byte a length.
struct Shaped;

impl ArrayCodec for Shaped {
    fn output(&self) -> ArrayOutput {
        ArrayOutput::Bytes
    }

    fn encode(&self, elements: &[u8], shape: &[usize]) -> Result<Vec<u8>, CodecError> {
        let shape: Result<Vec<u8>, _> = shape.iter().map(|length| u8::try_from(*length)).collect();
        Ok([&shape?, elements].concat())
    }

    fn decode(&self, encoded: &[u8], shape: &[usize]) -> Result<Vec<u8>, CodecError> {
        let (found, elements) = encoded.split_at_checked(shape.len()).ok_or("cut short")?;
        match found.iter().map(|length| usize::from(*length)).eq(shape.iter().copied()) {
            true => Ok(elements.to_vec()),
            false => Err(format!("shape {found:?}, expected {shape:?}").into()),
        }
    }
}

fn options() -> Options {
    let codecs = Codecs::new()
        .with_bytes_codec("acme.flip", |_| Ok(Flip))
        .with_array_codec("acme.shaped", |_, _| Ok(Shaped));
    Options::new().codecs(codecs)
}

fn acme(name: &str) -> Codec {
    Codec::Unknown(Extension::new(name, None).expect("a name"))
}

/// Twelve by ten in chunks of four by six and less, sharded or not.
fn metadata(codecs: impl IntoIterator<Item = Codec>) -> ArrayMetadata {
    let builder = ArrayBuilder::new([12, 10], DataType::Uint8).chunk_shape([4, 6]);
    builder.codecs(codecs).fill_value(9).build().expect("valid")
}

fn chains() -> [Vec<Codec>; 3] {
    let inner = [acme("acme.shaped"), Codec::zstd(1), acme("acme.flip")];
    [
        inner.to_vec(),
        vec![Codec::sharding([2, 3], inner.clone())],
        vec![Codec::transpose([1, 0]), Codec::sharding([3, 2], inner), acme("acme.flip")],
    ]
}

fn written(codecs: Vec<Codec>) -> (Arc<dyn Store>, Array, Vec<u8>) {
    let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
    let array = Array::create_with(store.clone(), &Prefix::root(), metadata(codecs), options());
    let array = array.expect("created");
    let mut expected = vec![9; 120];
    for (place, n) in expected.iter_mut().zip(0..100) {
        *place = n;
    }
    array.write((0..10, 0..10), &expected[..100]).expect("written");
    array.write((3..5, 5..7), &[1, 2, 3, 4]).expect("written in part");
    for (at, value) in [(35, 1), (36, 2), (45, 3), (46, 4)] {
        expected[at] = value;
    }
    (store, array, expected)
}

#[test]
fn arrays_are_read_and_written_through_them() {
    for codecs in chains() {
        let (store, _, expected) = written(codecs);
        let array = Array::open_with(store.clone(), &Prefix::root(), options()).expect("opened");
        assert_eq!(array.read((0..12, 0..10)).expect("read"), expected);
        assert_eq!(array.read((3..5, 4..7)).expect("read"), [34, 1, 2, 44, 3, 4]);
        let array = array.resize([14, 10]).expect("resized");
        assert_eq!(array.read((13, 0..2)).expect("read"), [9, 9]);

        let error = Array::open(store, &Prefix::root()).expect_err("without codecs");
        let ArrayError::Chain { cause, .. } = &error else { panic!("{error}") };
        assert!(cause.codec().starts_with("acme."), "{error}");
    }
}

#[test]
fn copies_and_checks_take_them() {
    for codecs in chains() {
        let (store, array, expected) = written(codecs);
        // The codecs of the source are those of the target, unless others are given.
        let target: Arc<dyn Store> = Arc::new(MemoryStore::new());
        let other = ArrayBuilder::new([12, 10], DataType::Uint8)
            .chunks([[5, 7].into(), [4, 6].into()])
            .codecs([acme("acme.shaped"), acme("acme.flip")])
            .fill_value(9)
            .build()
            .expect("valid");
        let copying = CopyOptions::new().verify(true);
        let copied =
            copy_array(&array, target.clone(), &Prefix::root(), other, &copying, &mut |_| {});
        assert_eq!(copied.expect("copied").0.read((0..12, 0..10)).expect("read"), expected);

        // A hierarchy is given them.
        let plain: Arc<dyn Store> = Arc::new(MemoryStore::new());
        let root = Prefix::root();
        let (from, to) = (Endpoint::new(&store, &root), Endpoint::new(&plain, &root));
        let mut change = |_: &Prefix, old: &ArrayMetadata| Ok(old.with_codecs(&[Codec::bytes()])?);
        assert!(copy_tree(from, to, &mut change, &copying, &mut |_, _| {}).is_err());
        let copying = copying.codecs(options().other_codecs().clone());
        copy_tree(from, to, &mut change, &copying, &mut |_, _| {}).expect("copied");
        let copied = Array::open(plain, &root).expect("no codec of others is left");
        assert_eq!(copied.read((0..12, 0..10)).expect("read"), expected);

        let mut found = Vec::new();
        let given = CheckOptions::new().data(true).codecs(options().other_codecs().clone());
        let summary = check(&store, &root, &given, &mut |finding| found.push(finding));
        assert_eq!(summary.expect("checked").errors, 0, "{found:?}");
        assert!(found.iter().all(|finding| finding.rule().id() == "unknown-codec"), "{found:?}");
    }
}

#[test]
fn groups_hand_them_on() {
    let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
    let root = Group::create(store, &Prefix::root(), GroupMetadata::new()).expect("created");
    let [codecs, ..] = chains();
    assert!(root.create_array("a", metadata(codecs.clone())).is_err());
    let root = root.with_options(options());
    let inner = root.create_group("g", GroupMetadata::new()).expect("created");
    inner
        .create_array("a", metadata(codecs))
        .expect("created")
        .write((0, 0), &[5])
        .expect("written");
    assert_eq!(root.group("g").expect("a group").array("a").expect("an array").options(), &{
        root.array("g/a").expect("an array").options().clone()
    });
    assert_eq!(root.array("g/a").expect("an array").read((0, 0)).expect("read"), [5]);
}

#[test]
fn their_errors_name_the_codec_and_the_chunk() {
    let [codecs, ..] = chains();
    let (store, array, _) = written(codecs);
    let key = array.prefix().key("c/0/0").expect("a key");
    let mut bytes = store.read(&key).expect("read").expect("stored").to_vec();
    bytes.truncate(3);
    store.put(&key, &bytes).expect("stored");
    let error = array.read((0, 0)).expect_err("damaged");
    assert!(error.to_string().starts_with("chunk c/0/0: codec zstd ($.codecs[1]): "), "{error}");

    // Right for another shape.
    let other = store.read(&array.prefix().key("c/0/1").expect("a key")).expect("read");
    assert!(other.is_some());
    let narrow = ArrayBuilder::new([12, 10], DataType::Uint8).chunk_shape([6, 4]);
    let narrow = narrow.codecs(chains()[0].clone()).fill_value(9).build().expect("valid");
    let array = Array::with_metadata(store, &Prefix::root(), narrow, options()).expect("bound");
    let error = array.read((0, 5)).expect_err("another shape").to_string();
    let expected =
        "chunk c/0/1: codec acme.shaped ($.codecs[0]): corrupt: shape [4, 6], expected [6, 4]";
    assert_eq!(error, expected);
}
