//! Codecs and chains.

use zarr_metadata::{Blosc, Codec, CodecKind, Packbits, ReshapeDim};

use crate::support::{breaks, codec, message, outcomes, with_codecs};

#[test]
fn sd_12_packbits_as_the_readme_spells_it() {
    insta::assert_snapshot!(outcomes(
        "packbits",
        &[
            (
                "valid",
                &[
                    "{}",
                    r#"{"padding_encoding": "none"}"#,
                    r#"{"padding_encoding": "first_byte"}"#,
                    r#"{"padding_encoding": "last_byte", "first_bit": 1, "last_bit": 3}"#
                ]
            ),
            (
                "packbits-padding-encoding",
                &[
                    r#"{"padding_encoding": "start_byte"}"#,
                    r#"{"padding_encoding": "end_byte"}"#,
                    r#"{"padding_encoding": null}"#,
                    r#"{"padding_encoding": "middle"}"#
                ]
            ),
            ("packbits-spelling", &[r#"{"start_bit": 1}"#, r#"{"end_bit": 1}"#]),
            ("unknown-extension-member", &[r#"{"first_bits": 1}"#])
        ]
    ));
}

#[test]
fn sd_15_bits_are_in_order_and_inside_a_component() {
    insta::assert_snapshot!(outcomes(
        "packbits",
        &[
            (
                "valid",
                &[r#"{"first_bit": null, "last_bit": null}"#, r#"{"first_bit": 3, "last_bit": 3}"#]
            ),
            ("packbits-bit-range", &[r#"{"first_bit": 3, "last_bit": 2}"#]),
            (
                "packbits-bit",
                &[
                    r#"{"first_bit": -1}"#,
                    r#"{"first_bit": 1.0}"#,
                    r#"{"last_bit": "7"}"#,
                    r#"{"last_bit": 18446744073709551616}"#
                ]
            )
        ]
    ));
    let chain = |data_type: &str, configuration: &str| {
        let packbits = format!(r#"[{{"name": "packbits", "configuration": {configuration}}}]"#);
        with_codecs(data_type, &packbits)
    };
    for (data_type, bits) in
        [("bool", 1), ("int4", 4), ("float6_e2m3fn", 6), ("uint64", 64), ("complex128", 64)]
    {
        for member in ["first_bit", "last_bit"] {
            let bit = |bit: u32| format!("{{\"{member}\": {bit}}}");
            assert!(chain(data_type, &bit(bits - 1)).is_ok(), "{data_type}");
            let error = breaks("packbits-bit-range", chain(data_type, &bit(bits)));
            let place = format!("$.codecs[0].configuration.{member}: found {bits}");
            assert!(error.starts_with(&place), "{error}");
        }
    }
}

#[test]
fn sd_15_null_is_kept_as_written() {
    let json = r#"[{"name": "packbits", "configuration": {"first_bit": null}}]"#;
    let array = with_codecs("int16", json).unwrap();
    assert_eq!(array.codecs(), [Codec::Packbits(Packbits::default())]);
    assert!(array.json().contains(json));
}

#[test]
fn sd_50_packbits_takes_types_of_fixed_size() {
    let packbits = r#"[{"name": "packbits"}]"#;
    for name in ["bool", "float16", "complex_float16", "float8_e4m3", "int64", "complex64"] {
        assert!(with_codecs(name, packbits).is_ok(), "{name}");
    }
    for name in ["string", "r16"] {
        let error = message(with_codecs(name, packbits));
        assert!(error.starts_with("$.codecs[0].configuration: found type"), "{error}");
    }
}

#[test]
fn sd_20_input_dimensions_are_in_range() {
    let chain = |shape: &str| {
        with_codecs(
            "uint8",
            &format!(
                r#"[{{"name": "reshape", "configuration": {{"shape": {shape}}}}}, {{"name": "bytes"}}]"#
            ),
        )
    };
    assert!(chain("[[0, 1]]").is_ok());
    insta::assert_snapshot!(
        message(chain("[[0], [2]]")),
        @"$.codecs[0].configuration.shape[1][0]: found 2, expected a dimension below 2, the rank of the input"
    );
    // After a reshape, the rank of its output counts.
    let two = r#"[{"name": "reshape", "configuration": {"shape": [[0], 3, -1]}},
                  {"name": "reshape", "configuration": {"shape": [[0, 1, 2]]}}, {"name": "bytes"}]"#;
    assert!(with_codecs("uint8", two).is_ok());
}

#[test]
fn sd_21_sd_22_sd_23_shapes_of_reshape() {
    insta::assert_snapshot!(outcomes(
        "reshape",
        &[
            (
                "valid",
                &[
                    r#"{"shape": []}"#,
                    r#"{"shape": [[]]}"#,
                    r#"{"shape": [[0, 2]]}"#,
                    r#"{"shape": [-1, [3], 7]}"#
                ]
            ),
            (
                "reshape-increasing",
                &[
                    r#"{"shape": [[1], [0]]}"#,
                    r#"{"shape": [[1, 1]]}"#,
                    r#"{"shape": [[0], [], [0]]}"#
                ]
            ),
            ("reshape-auto", &[r#"{"shape": [-1, 2, -1]}"#]),
            (
                "reshape-shape",
                &[
                    r#"{"shape": [0]}"#,
                    r#"{"shape": [-2]}"#,
                    r#"{"shape": [2.0]}"#,
                    r#"{"shape": [1e3]}"#,
                    r#"{"shape": ["2"]}"#,
                    r#"{"shape": [null]}"#
                ]
            ),
            (
                "reshape-input-dim",
                &[r#"{"shape": [[-1]]}"#, r#"{"shape": [[0.5]]}"#, r#"{"shape": [[[0]]]}"#]
            ),
            ("reshape-shape", &[r#"{"shape": [18446744073709551616]}"#, r#"{"shape": 6}"#]),
            ("unknown-extension-member", &[r#"{"shapes": [6]}"#]),
            ("missing-member", &["{}"])
        ]
    ));
    let Ok(Codec::Reshape(reshape)) = codec("reshape", r#"{"shape": [[], -1]}"#) else { panic!() };
    assert_eq!(reshape.shape, [ReshapeDim::InputDims(vec![]), ReshapeDim::Auto]);
}

#[test]
fn sd_30_transpose_needs_a_permutation() {
    insta::assert_snapshot!(outcomes(
        "transpose",
        &[
            ("valid", &[r#"{"order": []}"#, r#"{"order": [2, 0, 1]}"#]),
            ("transpose-order", &[r#"{"order": "C"}"#, r#"{"order": "F"}"#, r#"{"order": "A"}"#]),
            ("transpose-permutation", &[r#"{"order": [0, 0]}"#, r#"{"order": [0, 2]}"#]),
            ("transpose-order", &[r#"{"order": [-1, 0]}"#, r#"{"order": [1.0, 0]}"#]),
            ("missing-member", &["{}"])
        ]
    ));
    let transposed = r#"[{"name": "transpose", "configuration": {"order": [2, 0, 1]}}, "bytes"]"#;
    insta::assert_snapshot!(
        breaks("transpose-rank", with_codecs("uint8", transposed)),
        @"$.codecs[0].configuration.order: found length 3, expected length 2, the rank of the input"
    );
}

#[test]
fn sd_31_chains_are_in_order() {
    let t = r#"{"name": "transpose", "configuration": {"order": [1, 0]}}"#;
    let b = r#"{"name": "bytes"}"#;
    let p = r#"{"name": "packbits"}"#;
    let c = r#"{"name": "crc32c"}"#;
    let u = r#"{"name": "unknown"}"#;
    let i = r#"{"name": "ignored", "must_understand": false}"#;
    let chain = |codecs: &[&str]| with_codecs("uint8", &format!("[{}]", codecs.join(", ")));
    for valid in [
        &[b][..],
        &[p],
        &[t, t, b, c, c],
        &[u],
        &[u, b],
        &[b, u],
        &[t, u, c],
        &[u, u, c, u],
        &[i, t, i, b, i, c, i],
    ] {
        assert!(chain(valid).is_ok(), "{valid:?}");
    }
    let invalid = [
        &[][..],
        &[t],
        &[c],
        &[c, b],
        &[b, t],
        &[b, p],
        &[b, c, b],
        &[b, c, t],
        &[b, u, t],
        &[i],
        &[i, c],
        &[t, i],
        &[u, t, c],
        &[u, t],
        &[c, u],
        &[u, c, b],
    ];
    let lines: Vec<_> = invalid.iter().map(|codecs| breaks("chain-order", chain(codecs))).collect();
    insta::assert_snapshot!(lines.join("\n"));
}

#[test]
fn sd_53_bytes_needs_an_order_for_wide_types() {
    for chain in
        [r#"["bytes"]"#, r#"[{"name": "bytes"}]"#, r#"[{"name": "bytes", "configuration": {}}]"#]
    {
        for name in ["bool", "uint8", "int4", "float8_e5m2", "complex_float4_e2m1fn", "r16"] {
            assert!(with_codecs(name, chain).is_ok(), "{name}");
        }
        for name in ["int16", "bfloat16", "complex64"] {
            let error = message(with_codecs(name, chain));
            assert!(error.starts_with("$.codecs[0].configuration.endian: missing"), "{error}");
        }
    }
    insta::assert_snapshot!(outcomes(
        "bytes",
        &[
            ("valid", &[r#"{"endian": "big"}"#]),
            ("bytes-endian", &[r#"{"endian": "Little"}"#, r#"{"endian": null}"#]),
            ("unknown-extension-member", &[r#"{"endianness": "big"}"#])
        ]
    ));
}

#[test]
fn sd_41_unknown_members_of_known_codecs() {
    insta::assert_snapshot!(
        breaks("unknown-extension-member", codec("gzip", r#"{"levle": 1}"#)),
        @r#"$.configuration.levle: unknown member "levle", expected "level"; did you mean "level"?"#
    );
    insta::assert_snapshot!(
        breaks("unknown-extension-member", Codec::from_json(br#"{"name": "gzip", "config": {"level": 1}}"#)),
        @r#"$.config: unknown member "config", expected one of "name", "configuration", "must_understand""#
    );
    insta::assert_snapshot!(
        breaks("unknown-extension-member", codec("crc32c", r#"{"seed": 1}"#)),
        @r#"$.configuration.seed: unknown member "seed", expected no members"#
    );
    insta::assert_snapshot!(
        breaks("unknown-extension-member", codec("blosc", r#"{"cname": "lz4", "type_size": 4}"#)),
        @r#"$.configuration.type_size: unknown member "type_size", expected one of "cname", "clevel", "shuffle", "typesize", "blocksize"; did you mean "typesize"?"#
    );
}

#[test]
fn sd_59_sharding() {
    let inner = r#""codecs": ["bytes"], "index_codecs": [{"name": "bytes", "configuration": {"endian": "little"}}, "crc32c"]"#;
    let chain = |members: &str| {
        let codec = format!(r#"[{{"name": "sharding_indexed", "configuration": {{{members}}}}}]"#);
        with_codecs("uint8", &codec)
    };
    let array = chain(&format!(r#""chunk_shape": [3, 1], {inner}"#)).unwrap();
    let Codec::ShardingIndexed(sharding) = &array.codecs()[0] else { panic!() };
    assert_eq!(sharding.index_location, zarr_metadata::IndexLocation::End);
    insta::assert_snapshot!(array.codecs()[0].to_json());
    let findings: Vec<_> = array.findings().iter().filter_map(|f| f.path()).collect();
    assert_eq!(
        findings,
        ["$.codecs[0].configuration.codecs[0]", "$.codecs[0].configuration.index_codecs[1]"]
    );

    let wrong = [
        ("missing-member", inner.to_owned()),
        ("sharding-rank", format!(r#""chunk_shape": [3], {inner}"#)),
        ("sharding-chunk-shape", format!(r#""chunk_shape": [0, 1], {inner}"#)),
        ("sharding-index-location", format!(r#""chunk_shape": [3, 1], "index_location": "middle", {inner}"#)),
        ("missing-member", r#""chunk_shape": [3, 1], "codecs": ["bytes"]"#.to_owned()),
        ("chain-order", r#""chunk_shape": [3, 1], "codecs": [], "index_codecs": []"#.to_owned()),
        ("bytes-endian-missing", r#""chunk_shape": [3, 1], "codecs": ["bytes"], "index_codecs": ["bytes"]"#.to_owned()),
        ("packbits-bit-range", r#""chunk_shape": [3, 1], "codecs": [{"name":"packbits","configuration":{"last_bit":8}}], "index_codecs": ["packbits"]"#.to_owned()),
        ("sharding-index-size", r#""chunk_shape": [3, 1], "codecs": ["bytes"], "index_codecs": ["packbits", {"name":"gzip","configuration":{"level":1}}]"#.to_owned()),
    ];
    let lines: Vec<_> = wrong.iter().map(|(rule, members)| breaks(rule, chain(members))).collect();
    insta::assert_snapshot!("sharding_errors", lines.join("\n"));
}

#[test]
fn sd_61_members_that_matter_for_encoding_only() {
    insta::assert_snapshot!(
        "compressors",
        [
            outcomes("gzip", &[("valid", &["{}", r#"{"level": 0}"#]), ("gzip-configuration", &[r#"{"level": 10}"#, r#"{"level": -1}"#])]),
            outcomes("zstd", &[("valid", &["{}", r#"{"level": -131072, "checksum": true}"#]), ("zstd-configuration", &[r#"{"level": 23}"#, r#"{"level": 1.0}"#, r#"{"checksum": 1}"#])]),
            outcomes("blosc", &[("valid", &["{}", r#"{"cname": "lz4", "clevel": 9, "shuffle": "shuffle", "typesize": 4, "blocksize": 0}"#]), ("blosc-configuration", &[r#"{"cname": "lzma"}"#, r#"{"clevel": 10}"#, r#"{"shuffle": 1}"#]), ("valid", &[r#"{"shuffle": "noshuffle", "typesize": null}"#]), ("blosc-configuration", &[r#"{"typesize": 0}"#, r#"{"blocksize": -1}"#])]),
        ]
        .join("\n")
    );
    let array = with_codecs(
        "uint8",
        r#"[{"name": "bytes"}, {"name": "gzip"}, {"name": "zstd", "configuration": {"level": 1}},
            {"name": "blosc", "configuration": {"cname": "lz4", "shuffle": "shuffle"}}]"#,
    )
    .unwrap();
    let findings: Vec<_> = array.findings().iter().map(ToString::to_string).collect();
    insta::assert_snapshot!("missing_members", findings.join("\n"));
    let Codec::Blosc(Blosc { typesize, .. }) = array.codecs()[3] else { panic!() };
    assert_eq!(typesize, None);
}

#[test]
fn sd_11_numcodecs_packbits_is_read() {
    let json = r#"[{"name": "numcodecs.packbits", "configuration": {}}, {"name": "bytes"}]"#;
    let array = with_codecs("bool", json).unwrap();
    assert_eq!(array.codecs()[0], Codec::NumcodecsPackbits);
    assert_eq!(array.codecs()[0].kind(), Some(CodecKind::ArrayToArray));
    assert!(with_codecs("uint8", json).is_err());
}

#[test]
fn lists_of_codecs_are_chains() {
    assert_eq!(Codec::list_from_json(br#"["bytes", "crc32c"]"#).unwrap().len(), 2);
    assert!(Codec::list_from_json(br#"["crc32c", "bytes"]"#).is_err());
    assert!(Codec::list_from_json(br#"{"name": "bytes"}"#).is_err());
}

#[test]
fn codecs_of_numcodecs_take_what_numcodecs_takes() {
    let mut all = Vec::new();
    for (name, good, bad) in [
        (
            "zlib",
            &["{}", r#"{"level": -1}"#, r#"{"level": 9}"#][..],
            &[r#"{"level": 10}"#, r#"{"level": 1.0}"#, r#"{"lvel": 1}"#][..],
        ),
        ("gzip", &[r#"{"level": 0}"#], &[r#"{"level": -2}"#]),
        ("bz2", &["{}", r#"{"level": null}"#], &[r#"{"level": 0}"#]),
        ("lz4", &["{}", r#"{"acceleration": -1}"#], &[r#"{"acceleration": 3000000000}"#]),
        (
            "zstd",
            &["{}", r#"{"level": -131072, "checksum": true}"#],
            &[r#"{"level": 23}"#, r#"{"checksum": 1}"#],
        ),
        (
            "blosc",
            &[
                "{}",
                r#"{"shuffle": -1, "typesize": 8}"#,
                r#"{"cname": "zstd", "shuffle": 2, "blocksize": 64}"#,
            ],
            &[
                r#"{"shuffle": "shuffle"}"#,
                r#"{"shuffle": 3}"#,
                r#"{"typesize": 0}"#,
                r#"{"clevel": 10}"#,
            ],
        ),
        (
            "lzma",
            &[
                "{}",
                r#"{"format": 2, "check": -1, "preset": 2147483657}"#,
                r#"{"format": 3, "filters": [{"id": 33}]}"#,
                r#"{"check": 10}"#,
                r#"{"format": 1, "filters": [{"id": 3}, {"id": 33}]}"#,
                r#"{"format": 2, "filters": [{"id": 4611686018427387905}]}"#,
                r#"{"format": 3, "filters": [{"id": 4611686018427387905}]}"#,
            ],
            // Python's `lzma` refuses these filters, too.
            &[
                r#"{"format": 4}"#,
                r#"{"check": 2}"#,
                r#"{"preset": 10}"#,
                r#"{"filters": 1}"#,
                r#"{"format": 1, "filters": [{"id": 4611686018427387905}]}"#,
                r#"{"format": 1, "filters": [{"id": 33}, {"id": 33}]}"#,
                r#"{"format": 2, "filters": [{"id": 33}]}"#,
                r#"{"format": 2, "filters": [{"id": 3}, {"id": 4611686018427387905}]}"#,
                r#"{"format": 3, "filters": []}"#,
            ],
        ),
        (
            "zfpy",
            &[
                "{}",
                r#"{"mode": 4, "tolerance": 0.01, "rate": -1, "precision": -1,
                    "compression_kwargs": {"tolerance": 0.01}}"#,
                r#"{"mode": 4, "tolerance": 0}"#,
                r#"{"mode": 2, "rate": 10.5}"#,
                r#"{"mode": 2, "rate": -1, "tolerance": 3}"#,
                r#"{"mode": 3, "precision": 19}"#,
                r#"{"mode": 3, "precision": -1}"#,
                r#"{"mode": 5}"#,
            ],
            &[
                r#"{"mode": 1}"#,
                r#"{"mode": 6}"#,
                r#"{"mode": "reversible"}"#,
                r#"{"tolerance": "1"}"#,
                r#"{"tolerance": 1e999}"#,
                r#"{"precision": 1.5}"#,
                r#"{"precision": 2147483648}"#,
                r#"{"maxbits": 3}"#,
            ],
        ),
        ("bitround", &[r#"{"keepbits": 0}"#], &[r#"{"keepbits": -1}"#]),
        ("shuffle", &["{}", r#"{"elementsize": 0}"#], &[r#"{"elementsize": -1}"#]),
        ("crc32", &["{}", r#"{"location": "end"}"#], &[r#"{"location": "middle"}"#]),
        ("crc32c", &[r#"{"location": "start"}"#], &[r#"{"location": 0}"#]),
        ("adler32", &[r#"{"location": null}"#], &[r#"{"place": 0}"#]),
        ("fletcher32", &["{}"], &[r#"{"location": "end"}"#]),
        (
            "jenkins_lookup3",
            &["{}", r#"{"initval": 4294967295, "prefix": null}"#],
            &[r#"{"initval": -1}"#, r#"{"prefix": "a"}"#],
        ),
    ] {
        let name = format!("numcodecs.{name}");
        for configuration in good {
            let read =
                codec(&name, configuration).unwrap_or_else(|error| panic!("{name}: {error}"));
            assert_eq!(read.name(), name);
            assert_eq!(Codec::from_json(read.to_json().as_bytes()).unwrap(), read);
        }
        let is_unknown = |bad: &&str| {
            ["lvel", "maxbits", "place"].iter().any(|member| bad.contains(member))
                || name == "numcodecs.fletcher32"
        };
        let (unknown, wrong): (Vec<_>, Vec<_>) = bad.iter().copied().partition(is_unknown);
        let groups = [
            ("valid", good),
            ("numcodecs-configuration", wrong.as_slice()),
            ("unknown-extension-member", unknown.as_slice()),
        ];
        all.push(format!("{name}\n{}", outcomes(&name, &groups)));
    }
    insta::assert_snapshot!(all.join("\n"));
}

#[test]
fn bits_of_numcodecs_bitround_are_bits_of_the_mantissa() {
    let chain = |keepbits: u32| {
        let filter = format!(
            r#"{{"name": "numcodecs.bitround", "configuration": {{"keepbits": {keepbits}}}}}"#
        );
        format!(r#"[{filter}, {{"name": "bytes", "configuration": {{"endian": "little"}}}}]"#)
    };
    for (name, most) in [("float16", 10), ("float32", 23), ("float64", 52)] {
        for keepbits in [0, most] {
            assert!(with_codecs(name, &chain(keepbits)).is_ok(), "{name} {keepbits}");
        }
        assert_eq!(
            breaks("numcodecs-configuration", with_codecs(name, &chain(most + 1))),
            format!(
                "$.codecs[0].configuration.keepbits: found {}, expected at most {most}, the bits of \
                 the mantissa",
                most + 1
            )
        );
    }
    for name in ["int16", "bfloat16", "complex64"] {
        assert_eq!(
            breaks("numcodecs-configuration", with_codecs(name, &chain(0))),
            format!(
                "$.codecs[0].configuration: found type {name}, expected float16, float32 or float64"
            )
        );
    }
}
