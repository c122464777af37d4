//! Any bytes as a chunk of strings or byte strings: an error, or as many elements as the chunk has,
//! the same whole and one by one, and the same again once they are encoded.

#![no_main]

use std::sync::LazyLock;

use libfuzzer_sys::fuzz_target;
use zarr_codec::{AxisEdges, Strings, VariableChain, VariableChunkCodec};
use zarr_metadata::{Codec, DataType};

const SHAPE: [u64; 2] = [2, 6];

/// Chains, each behind `VLEN`, which stands for the codec of the data type. What the first writes is
/// settled by the elements.
const CHAINS: [&str; 6] = [
    r#"[VLEN]"#,
    r#"[{"name":"transpose","configuration":{"order":[1,0]}},VLEN]"#,
    r#"[VLEN,{"name":"crc32c"}]"#,
    r#"[VLEN,{"name":"zstd","configuration":{"level":1,"checksum":false}},
        {"name":"gzip","configuration":{"level":1}}]"#,
    r#"[{"name":"sharding_indexed","configuration":{"chunk_shape":[1,2],"codecs":[VLEN],
        "index_codecs":[{"name":"bytes","configuration":{"endian":"little"}}]}}]"#,
    r#"[{"name":"reshape","configuration":{"shape":[-1]}},{"name":"sharding_indexed",
        "configuration":{"chunk_shape":[6],"codecs":[{"name":"sharding_indexed","configuration":
        {"chunk_shape":[3],"codecs":[VLEN],"index_codecs":[{"name":"bytes","configuration":
        {"endian":"big"}}],"index_location":"start"}}],"index_codecs":[{"name":"bytes",
        "configuration":{"endian":"little"}},{"name":"crc32c"}]}}]"#,
];

static CODECS: LazyLock<Vec<(DataType, VariableChunkCodec)>> = LazyLock::new(|| {
    let types = [(DataType::String, "vlen-utf8"), (DataType::Bytes, "vlen-bytes")];
    let pairs = CHAINS.iter().flat_map(|chain| types.iter().map(move |one| (chain, one)));
    pairs
        .map(|(chain, (data_type, name))| {
            let json = chain.replace("VLEN", &format!(r#"{{"name":"{name}"}}"#));
            let codecs = Codec::list_from_json(json.as_bytes()).expect("valid");
            let edges = SHAPE.map(AxisEdges::one);
            let chain = VariableChain::bind(&codecs, data_type, &edges).expect("binds");
            (data_type.clone(), chain.for_shape(&SHAPE).expect("fits"))
        })
        .collect()
});

fuzz_target!(|input: &[u8]| {
    let Some((choice, bytes)) = input.split_first() else { return };
    let number = usize::from(*choice) % CODECS.len();
    let (data_type, codec) = &CODECS[number];
    let fill = b"-";
    let Ok(elements) = codec.decode_all(bytes, fill) else { return };
    assert_eq!(elements.len(), codec.elements());
    for index in 0..elements.len() {
        let one = codec.decode_at(bytes, &[index], fill).expect("all of it decodes");
        assert!(one.iter().eq([&elements.get(index).expect("there")[..]]));
    }
    if *data_type == DataType::String {
        assert!(Strings::try_from(elements.clone()).is_ok(), "checked to be UTF-8");
    }
    assert!(codec.fill_only(bytes, fill).is_ok(), "inner chunks decode");
    let list: Vec<&[u8]> = elements.iter().collect();
    let mut again = Vec::new();
    codec.encode(&list, fill, &mut again).expect("they were in a chunk");
    if number < 2 {
        assert_eq!(again, bytes, "there is one way to write a list");
    }
    assert_eq!(codec.decode_all(&again, fill).expect("just encoded"), elements);
});
