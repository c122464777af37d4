//! The codec `zfp`: its modes, and the arrays that it takes.

use zarr_metadata::Codec;

use crate::support::{codec, message, outcomes, with_codecs};

#[test]
fn zfp_takes_one_mode_and_its_parameters() {
    insta::assert_snapshot!(outcomes(
        "zfp",
        &[
            (
                "valid",
                &[
                    r#"{"mode": "reversible"}"#,
                    r#"{"mode": "fixed_accuracy", "tolerance": 5.0e-2}"#,
                    r#"{"mode": "fixed_rate", "rate": 10.5}"#,
                    r#"{"mode": "fixed_precision", "precision": 19}"#,
                    r#"{"mode": "expert", "minbits": 1, "maxbits": 13, "maxprec": 19, "minexp": -2}"#
                ]
            ),
            ("missing-member", &["{}"]),
            ("zfp-configuration", &[r#"{"mode": null}"#, r#"{"mode": "fixedrate", "rate": 8}"#]),
            ("unknown-extension-member", &[r#"{"mode": "reversible", "tolerance": 1}"#]),
            ("missing-member", &[r#"{"mode": "fixed_accuracy"}"#]),
            (
                "zfp-configuration",
                &[
                    r#"{"mode": "fixed_accuracy", "tolerance": "0.1"}"#,
                    r#"{"mode": "fixed_accuracy", "tolerance": 1e400}"#
                ]
            ),
            ("unknown-extension-member", &[r#"{"mode": "fixed_accuracy", "rate": 1}"#]),
            ("missing-member", &[r#"{"mode": "fixed_rate"}"#]),
            (
                "zfp-configuration",
                &[
                    r#"{"mode": "fixed_precision", "precision": -1}"#,
                    r#"{"mode": "fixed_precision", "precision": 4294967296}"#
                ]
            ),
            (
                "missing-member",
                &[r#"{"mode": "expert", "minbits": 1, "maxbits": 13, "maxprec": 19}"#]
            ),
            (
                "zfp-configuration",
                &[
                    r#"{"mode": "expert", "minbits": 1, "maxbits": 13, "maxprec": 19, "minexp": -2.0}"#,
                    r#"{"mode": "expert", "minbits": 1, "maxbits": 13, "maxprec": 19, "minexp": 2147483648}"#
                ]
            )
        ]
    ));
    for (mode, reversible) in [
        (r#"{"mode": "reversible"}"#, true),
        (r#"{"mode": "fixed_accuracy", "tolerance": 0}"#, false),
        (r#"{"mode": "fixed_precision", "precision": 64}"#, false),
        (
            r#"{"mode": "expert", "minbits": 9, "maxbits": 16658, "maxprec": 64, "minexp": -1075}"#,
            true,
        ),
        (
            r#"{"mode": "expert", "minbits": 1, "maxbits": 16657, "maxprec": 64, "minexp": -1075}"#,
            false,
        ),
        (
            r#"{"mode": "expert", "minbits": 1, "maxbits": 16658, "maxprec": 63, "minexp": -1075}"#,
            false,
        ),
        (
            r#"{"mode": "expert", "minbits": 1, "maxbits": 16658, "maxprec": 64, "minexp": -1074}"#,
            false,
        ),
    ] {
        let Codec::Zfp(zfp) = codec("zfp", mode).unwrap() else { panic!("{mode}") };
        assert_eq!(zfp.is_reversible(), reversible, "{mode}");
    }
}

#[test]
fn zfp_takes_arrays_that_it_can_compress() {
    let chain =
        |configuration: &str| format!(r#"[{{"name": "zfp", "configuration": {configuration}}}]"#);
    let reversible = chain(r#"{"mode": "reversible"}"#);
    for data_type in ["int8", "uint8", "int16", "uint32", "int64", "uint64", "float32", "float64"] {
        assert!(with_codecs(data_type, &reversible).is_ok(), "{data_type}");
    }
    let expert = |minbits: u32, maxbits: u32, maxprec: u32, minexp: i32| {
        chain(&format!(
            r#"{{"mode": "expert", "minbits": {minbits}, "maxbits": {maxbits}, "maxprec": {maxprec}, "minexp": {minexp}}}"#
        ))
    };
    let rate = |rate: &str| chain(&format!(r#"{{"mode": "fixed_rate", "rate": {rate}}}"#));
    // The array has two dimensions: blocks of 16 elements.
    for (data_type, codecs) in [
        ("float32", rate("0.53125")),
        ("float64", rate("0.71875")),
        ("int32", rate("0.03125")),
        ("int32", rate("1041.125")),
        ("float32", expert(0, 9, 1, -1074)),
        ("float64", expert(12, 12, 64, 5)),
        ("float32", expert(16658, 4_294_967_295, 64, -1075)),
        ("int64", expert(0, 6, 64, -1075)),
    ] {
        assert!(with_codecs(data_type, &codecs).is_ok(), "{data_type} {codecs}");
    }
    let errors = [
        ("bool", reversible.clone()),
        ("float16", reversible.clone()),
        ("complex64", reversible),
        ("float32", rate("0.53")),
        ("float64", rate("0.71")),
        ("int32", rate("0.03")),
        ("int32", rate("-1")),
        ("int32", rate("1041.2")),
        ("float32", expert(1, 8, 64, -1074)),
        ("float64", expert(1, 18, 64, -1075)),
        ("int32", expert(1, 4, 64, -1075)),
        ("int32", expert(0, 0, 64, 0)),
        ("int32", expert(9, 8, 64, 0)),
        ("int32", expert(16659, 16659, 64, 0)),
        ("int32", expert(1, 99, 0, 0)),
        ("int32", expert(1, 99, 65, 0)),
        (
            "int32",
            r#"[{"name": "reshape", "configuration": {"shape": [3, 1, 1, 1, 2]}},
            {"name": "zfp", "configuration": {"mode": "reversible"}}]"#
                .to_owned(),
        ),
        ("int8", r#"[{"name": "numcodecs.zfpy", "configuration": {}}]"#.to_owned()),
        (
            "float32",
            r#"[{"name": "numcodecs.zfpy", "configuration": {"mode": 2, "rate": 0}}]"#.to_owned(),
        ),
    ];
    let lines = errors.map(|(data_type, codecs)| message(with_codecs(data_type, &codecs)));
    insta::assert_snapshot!(lines.join("\n"));
}
