//! Changed bytes are found, or a note says that they cannot be.

use std::sync::Arc;

use zarr_array::Array;
use zarr_array::store::{Key, MemoryStore, Prefix, Store, StoreExt as _};
use zarr_check::CheckOptions;
use zarr_metadata::{ArrayBuilder, Codec, CodecNotation, DataType, Endian};

use crate::check::{GROUP, findings_by};

fn findings_with_notes(store: &Arc<dyn Store>, data: bool) -> Vec<String> {
    findings_by(store, &CheckOptions::new().data(data).checksums(true))
}

/// An array of 16 by 16 elements in chunks of 8 by 16, with values that differ.
fn written(builder: ArrayBuilder) -> (Arc<dyn Store>, Array) {
    let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
    let array = Array::create(
        Arc::clone(&store),
        &Prefix::root(),
        builder.chunk_shape([8, 16]).build().expect("a document"),
    );
    let array = array.expect("creates");
    let values: Vec<u8> = (0..256 * array.data_type().size().expect("a size"))
        .map(|n| match array.data_type() {
            DataType::Int4 => [0, 1, 2, 3, 0xff, 0xfe][n * n % 6],
            _ => u8::try_from(n * n % 251).expect("a byte"),
        })
        .collect();
    array.write([0..16, 0..16], &values).expect("writes");
    (store, array)
}

/// The chains that are made for who names none, and by the short form.
fn defaults() -> Vec<(&'static str, ArrayBuilder)> {
    let new = |data_type: DataType| ArrayBuilder::new([16, 16], data_type);
    let short = |text: &str, data_type: &DataType| {
        let chain: CodecNotation = text.parse().expect("a chain");
        new(data_type.clone()).codecs(chain.codecs(data_type, 2, Endian::Little))
    };
    let shard = |data_type: DataType| {
        let inner = [Codec::array_to_bytes(&data_type), Codec::zstd(3)];
        new(data_type).codecs([Codec::sharding([4, 8], inner)])
    };
    vec![
        ("the default", new(DataType::Uint16)),
        ("the default of int4", new(DataType::Int4)),
        ("packed", short("packbits,zstd", &DataType::Int4)),
        (
            "usual",
            new(DataType::Float32).codecs(CodecNotation::usual().codecs(
                &DataType::Float32,
                2,
                Endian::Little,
            )),
        ),
        ("gzip", short("gzip", &DataType::Uint16)),
        ("crc32c", short("packbits,crc32c", &DataType::Uint16)),
        ("shards", shard(DataType::Uint16)),
    ]
}

#[test]
fn every_changed_bit_that_changes_elements_is_found() {
    for (name, builder) in defaults() {
        let (store, array) = written(builder);
        let before = array.read([0..16, 0..16]).expect("reads");
        assert_eq!(findings_with_notes(&store, true), [""; 0], "{name}");
        let key = Key::new("c/0/0").expect("a key");
        let chunk = store.read(&key).expect("reads").expect("a chunk");
        let mut unseen = 0;
        for bit in 0..chunk.len() * 8 {
            let mut changed = chunk.clone();
            changed[bit / 8] ^= 1 << (bit % 8);
            store.put(&key, &changed).expect("puts");
            if !findings_with_notes(&store, true).iter().any(|found| found.starts_with("error: ")) {
                unseen += 1;
                let after = array.read([0..16, 0..16]).expect("reads");
                assert!(after == before, "{name}: bit {bit} changes elements unseen");
            }
        }
        // Formats have bits without a meaning, such as the time in a header of gzip.
        assert!(unseen * 10 < chunk.len() * 8, "{name}: {unseen} of {} bits", chunk.len() * 8);
    }
}

#[test]
fn arrays_without_a_checksum_are_one_note() {
    let (store, _) = written(ArrayBuilder::new([16, 16], DataType::Uint8).codecs([Codec::bytes()]));
    assert_eq!(findings_with_notes(&store, false), [""; 0]);
    assert_eq!(
        findings_with_notes(&store, true),
        ["note: the array has no checksum: changed bytes are not found [no-checksum]"]
    );
    let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
    store.put(&Key::new("zarr.json").expect("a key"), GROUP).expect("puts");
    let chains = [
        ("a", vec![Codec::bytes()]),
        ("b", vec![Codec::bytes(), Codec::zstd(1)]),
        // The index has one, the inner chunks do not.
        ("c", vec![Codec::sharding([4], [Codec::bytes()])]),
        ("d", vec![Codec::sharding([4], [Codec::bytes(), Codec::Crc32c])]),
        ("e", vec![Codec::sharding([4], [Codec::bytes()]), Codec::Crc32c]),
    ];
    for (name, codecs) in chains {
        let built = ArrayBuilder::new([8], DataType::Uint8).chunk_shape([8]).codecs(codecs).build();
        let prefix = Prefix::root().join(name).expect("a prefix");
        Array::create(Arc::clone(&store), &prefix, built.expect("a document")).expect("creates");
    }
    assert_eq!(
        findings_with_notes(&store, true),
        ["note: 2 of 5 arrays have no checksum: changed bytes are not found [no-checksum]"]
    );
}
