//! Codecs of other authors: at every place of a chain, and what comes of those that err.

use zarr_codec::{
    AnyChain, ArrayCodec, ArrayOutput, AxisEdges, BytesCodec, Chain, ChainError, CodecError,
    Codecs, DecodedLength, Options, Strings, VariableChain,
};
use zarr_metadata::{Codec, DataType};

use crate::support::{data_type, decode, decode_whole, encode};

/// Bytes in reverse, behind a byte that says so.
struct Reverse;

impl BytesCodec for Reverse {
    fn encode(&self, decoded: &[u8]) -> Result<Vec<u8>, CodecError> {
        Ok([b'r'].into_iter().chain(decoded.iter().rev().copied()).collect())
    }

    fn decode(&self, encoded: &[u8], _: DecodedLength) -> Result<Vec<u8>, CodecError> {
        match encoded.split_first() {
            Some((b'r', rest)) => Ok(rest.iter().rev().copied().collect()),
            _ => Err("no \"r\" at the beginning".into()),
        }
    }

    fn encoded_len(&self, decoded: u64) -> Option<u64> {
        decoded.checked_add(1)
    }
}

/// Runs of equal bytes: how many, and which.
struct Runs;

impl BytesCodec for Runs {
    fn encode(&self, decoded: &[u8]) -> Result<Vec<u8>, CodecError> {
        let runs = decoded.chunk_by(|a, b| a == b).flat_map(|run| run.chunks(255));
        Ok(runs.flat_map(|run| [u8::try_from(run.len()).unwrap_or(255), run[0]]).collect())
    }

    fn decode(&self, encoded: &[u8], length: DecodedLength) -> Result<Vec<u8>, CodecError> {
        let (DecodedLength::Exactly(most) | DecodedLength::AtMost(most)) = length;
        let mut decoded = Vec::new();
        for run in encoded.chunks_exact(2) {
            decoded.extend(std::iter::repeat_n(run[1], run[0].into()));
            if decoded.len() as u64 > most {
                return Err("more bytes than are asked for".into());
            }
        }
        Ok(decoded)
    }
}

/// Each row behind its number, as bytes: it depends on the shape.
struct Rows {
    size: usize,
}

impl ArrayCodec for Rows {
    fn output(&self) -> ArrayOutput {
        ArrayOutput::Bytes
    }

    fn encode(&self, elements: &[u8], shape: &[usize]) -> Result<Vec<u8>, CodecError> {
        let row = shape.last().copied().unwrap_or(1) * self.size;
        let rows = elements.chunks(row).enumerate();
        Ok(rows.flat_map(|(n, row)| [&[n as u8], row].concat()).collect())
    }

    fn decode(&self, encoded: &[u8], shape: &[usize]) -> Result<Vec<u8>, CodecError> {
        let row = shape.last().copied().unwrap_or(1) * self.size + 1;
        let mut elements = Vec::new();
        for (number, row) in encoded.chunks(row).enumerate() {
            match row.split_first() {
                Some((found, row)) if usize::from(*found) == number => elements.extend(row),
                found => return Err(format!("row {number} begins with {found:?}").into()),
            }
        }
        Ok(elements)
    }
}

/// uint8 as twice as much in uint16.
struct Double;

impl ArrayCodec for Double {
    fn output(&self) -> ArrayOutput {
        ArrayOutput::Elements(DataType::Uint16)
    }

    fn encode(&self, elements: &[u8], shape: &[usize]) -> Result<Vec<u8>, CodecError> {
        assert_eq!(shape.iter().product::<usize>(), elements.len());
        Ok(elements.iter().flat_map(|n| (u16::from(*n) * 2).to_le_bytes()).collect())
    }

    fn decode(&self, encoded: &[u8], shape: &[usize]) -> Result<Vec<u8>, CodecError> {
        assert_eq!(shape.iter().product::<usize>() * 2, encoded.len());
        let halves = encoded.chunks_exact(2).map(|n| u16::from_le_bytes([n[0], n[1]]));
        halves.map(|n| Ok(u8::try_from(n / 2)?)).collect()
    }
}

/// What gives nothing back.
struct Nothing(ArrayOutput);

impl ArrayCodec for Nothing {
    fn output(&self) -> ArrayOutput {
        self.0.clone()
    }

    fn encode(&self, _: &[u8], _: &[usize]) -> Result<Vec<u8>, CodecError> {
        Ok(Vec::new())
    }

    fn decode(&self, _: &[u8], _: &[usize]) -> Result<Vec<u8>, CodecError> {
        Ok(Vec::new())
    }
}

fn codecs() -> Codecs {
    Codecs::new()
        .with_bytes_codec("example.reverse", |_| Ok(Reverse))
        .with_bytes_codec("example.runs", |codec| match codec.configuration() {
            None => Ok(std::sync::Arc::new(Runs)),
            Some(found) => Err(format!("found the configuration {found}").into()),
        })
        .with_array_codec("example.rows", |_, data_type| match data_type.size() {
            Some(size) => Ok(Rows { size }),
            None => Err(format!("rows of {data_type} have no length").into()),
        })
        .with_array_codec("example.double", |_, _| Ok(Double))
        .with_array_codec("example.no-bytes", |_, _| Ok(Nothing(ArrayOutput::Bytes)))
        .with_array_codec("example.no-elements", |_, data_type| {
            Ok(Nothing(ArrayOutput::Elements(data_type.clone())))
        })
}

fn bind(json: &str, name: &str, edges: &[u64]) -> Result<Chain, ChainError> {
    let list = Codec::list_from_json(json.as_bytes()).expect("in order");
    let edges: Vec<AxisEdges> = edges.iter().map(|edge| AxisEdges::one(*edge)).collect();
    Chain::bind_with(&list, &data_type(name), &edges, Options::new().codecs(codecs()))
}

fn named(names: &[&str]) -> String {
    let codecs = names.iter().map(|name| match *name {
        "shard" => r#"{"name": "sharding_indexed", "configuration": {"chunk_shape": [2, 3],
            "codecs": [{"name": "example.rows"}, {"name": "example.runs"}],
            "index_codecs": [{"name": "bytes", "configuration": {"endian": "little"}},
                {"name": "example.reverse"}]}}"#
            .to_owned(),
        "transpose" => r#"{"name": "transpose", "configuration": {"order": [1, 0]}}"#.to_owned(),
        "gzip" => r#"{"name": "gzip", "configuration": {"level": 1}}"#.to_owned(),
        "bytes" => r#"{"name": "bytes", "configuration": {"endian": "big"}}"#.to_owned(),
        name => format!(r#"{{"name": "{name}"}}"#),
    });
    format!("[{}]", codecs.collect::<Vec<_>>().join(", "))
}

#[test]
fn they_are_called_at_every_place_of_a_chain() {
    let elements: Vec<u8> = (0..24).collect();
    let cases: [(&[&str], &[u8]); 4] = [
        (&["bytes", "example.reverse"], b"r\x17\x16\x15\x14\x13\x12"),
        (&["example.rows"], &[0, 0, 1, 2, 3, 4, 5, 1, 6, 7]),
        (&["transpose", "example.rows"], &[0, 0, 6, 12, 18, 1, 1, 7]),
        (&["example.double", "bytes"], &[0, 0, 0, 2, 0, 4]),
    ];
    for (names, beginning) in cases {
        let codec = bind(&named(names), "uint8", &[4, 6]).expect("binds").for_shape(&[4, 6]);
        let codec = codec.expect("fits");
        let (_, encoded) = encode(&codec, &elements, &[0]).expect("encodes");
        assert_eq!(&encoded[..beginning.len()], beginning, "{names:?}");
        assert_eq!(decode_whole(&codec, &encoded, &[0]).expect("decodes"), elements);
    }
    // Before and behind those that are known, within shards and around them.
    for names in [
        &["example.double", "transpose", "example.rows", "gzip", "example.reverse"][..],
        &["bytes", "example.runs", "crc32c", "example.reverse", "gzip"],
        &["shard"],
        &["transpose", "transpose", "shard", "example.runs", "gzip"],
    ] {
        let chain = bind(&named(names), "uint8", &[4, 6]).unwrap_or_else(|e| panic!("{e}"));
        assert!(chain.check_writable().is_ok());
        let codec = chain.for_shape(&[4, 6]).expect("fits");
        let (_, encoded) = encode(&codec, &elements, &[0]).expect("encodes");
        assert_eq!(decode_whole(&codec, &encoded, &[0]).expect("decodes"), elements, "{names:?}");
        let region = [(1..3).into(), (2..5).into()];
        let part = decode(&codec, &encoded, &region, &[0], &mut zarr_codec::Scratch::new());
        assert_eq!(part.expect("decodes"), [8, 9, 10, 14, 15, 16], "{names:?}");
        for length in 0..encoded.len() {
            assert!(decode_whole(&codec, &encoded[..length], &[0]).is_err(), "{names:?} {length}");
        }
    }
}

#[test]
fn strings_go_through_them() {
    let list = Codec::list_from_json(
        br#"[{"name": "vlen-utf8"}, {"name": "example.runs"}, {"name": "example.reverse"}]"#,
    );
    let options = Options::new().codecs(codecs());
    let edges = [AxisEdges::one(2)];
    let list = list.expect("in order");
    assert!(VariableChain::bind(&list, &DataType::String, &edges).is_err());
    let chain = AnyChain::bind_with(&list, &DataType::String, &edges, options);
    let AnyChain::Variable(chain) = chain.expect("binds") else { panic!("of fixed size") };
    let codec = chain.for_shape(&[2]).expect("fits");
    let mut encoded = Vec::new();
    codec.encode(&[&b"aaaa"[..], b"b"], b"", &mut encoded).expect("encodes");
    // Two elements, of 4 bytes and of 1: their bytes in runs, in reverse.
    assert_eq!(encoded, b"rb\x01\x00\x03\x01\x01a\x04\x00\x03\x04\x01\x00\x03\x02\x01");
    let decoded = codec.decode(&encoded, &[(0..2).into()], b"").expect("decodes");
    assert!(Strings::try_from(decoded).expect("UTF-8").iter().eq(["aaaa", "b"]));
}

#[test]
fn their_errors_name_them() {
    let errors = [
        bind(&named(&["bytes", "example.unknown"]), "uint8", &[2]),
        bind(&named(&["example.runs"]), "uint8", &[2]),
        bind(&named(&["bytes", "example.rows"]), "uint8", &[2]),
        bind(
            r#"[{"name": "bytes"}, {"name": "example.runs", "configuration": {}}]"#,
            "uint8",
            &[2],
        ),
        bind(&named(&["example.double", "shard"]), "uint8", &[2, 3]),
    ];
    let errors: Vec<String> =
        errors.into_iter().map(|bound| bound.expect_err("refused").to_string()).collect();
    insta::assert_snapshot!(errors.join("\n"));

    let mut errors = Vec::new();
    let decoded = [
        (named(&["bytes", "example.reverse"]), &b"x12"[..]),
        (named(&["bytes", "example.reverse"]), b"r1"),
        (named(&["bytes", "example.runs"]), b"\xff\0"),
        (named(&["bytes", "example.runs", "gzip"]), b"\xff\0"),
        (named(&["example.rows"]), b"\x01\0\0"),
        (named(&["example.no-bytes"]), b""),
        (named(&["example.no-elements", "bytes"]), b"12"),
    ];
    for (json, encoded) in decoded {
        let codec = bind(&json, "uint8", &[2]).expect("binds").for_shape(&[2]).expect("fits");
        errors.push(decode_whole(&codec, encoded, &[0]).expect_err("refused").to_string());
    }
    let json = named(&["example.no-elements", "bytes"]);
    let codec = bind(&json, "uint8", &[2]).expect("binds").for_shape(&[2]).expect("fits");
    errors.push(encode(&codec, &[1, 2], &[0]).expect_err("refused").to_string());
    insta::assert_snapshot!(errors.join("\n"));
}

#[test]
fn lists_of_codecs_are_compared_by_handle() {
    let codecs = codecs();
    assert_eq!(codecs, codecs.clone());
    assert_ne!(codecs, self::codecs());
    assert_eq!(Codecs::new(), Codecs::new());
    assert!(codecs.names().eq([
        "example.double",
        "example.no-bytes",
        "example.no-elements",
        "example.reverse",
        "example.rows",
        "example.runs"
    ]));
}
