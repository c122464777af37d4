//! Attributes of Zarr version 2: what they become in version 3.

use crate::version_2::zarray;
use zarr_metadata::ArrayMetadata;

fn array(changes: &[(&str, &str)], zattrs: &str) -> ArrayMetadata {
    let zarray = zarray(changes);
    ArrayMetadata::from_version_2(zarray.as_bytes(), Some(zattrs.as_bytes())).unwrap()
}

#[test]
fn what_xarray_keeps_among_the_attributes() {
    let read = |changes: &[(&str, &str)], zattrs: &str| {
        let array = array(changes, zattrs);
        let names: Option<Vec<_>> = array
            .dimension_names()
            .map(|names| names.iter().map(|name| name.clone().unwrap()).collect());
        (names, array.attributes().to_owned())
    };
    let names = r#"{"units": "m", "_ARRAY_DIMENSIONS": ["y", "x"]}"#;
    let both = Some(vec!["y".to_owned(), "x".to_owned()]);
    let of_ints = (both, r#"{"units": "m", "_FillValue": -9}"#.to_owned());
    assert_eq!(read(&[("fill_value", "-9")], names), of_ints);
    assert_eq!(read(&[("fill_value", "null")], names).1, r#"{"units": "m"}"#);
    let said = r#"{"_ARRAY_DIMENSIONS": ["y", "x"], "_FillValue": 7}"#;
    assert_eq!(read(&[], said).1, r#"{"_FillValue": 7}"#);
    // Half a surrogate pair is no text, but may be in a key.
    let half = r#"{"\ud800": 1, "_ARRAY_DIMENSIONS": ["y", "x"]}"#;
    assert_eq!(read(&[("fill_value", "null")], half).1, r#"{"\ud800": 1}"#);
    // What is no list of two names is an attribute like any other.
    for other in [r#"["y"]"#, r#"["y", 1]"#, "\"y x\"", "null"] {
        let text = format!(r#"{{"_ARRAY_DIMENSIONS": {other}}}"#);
        assert_eq!(read(&[], &text), (None, text));
    }
    // Without Xarray's mark the fill value marks nothing.
    assert_eq!(read(&[("fill_value", "-9")], r#"{"a": NaN}"#).1, r#"{"a": NaN}"#);
}

/// As zarr-python 2 and tifffile write images and masks.
#[test]
fn sd_73_zero_without_a_description_is_a_value() {
    let only_names = r#"{"_ARRAY_DIMENSIONS": ["y", "x"]}"#;
    let described = r#"{"_ARRAY_DIMENSIONS": ["y", "x"], "units": "m"}"#;
    for (dtype, fill, zattrs, missing) in [
        ("|u1", "0", only_names, None),
        (">u2", "0", only_names, None),
        ("<i8", "0", only_names, None),
        ("|b1", "false", only_names, None),
        // Somebody chose these.
        ("|u1", "255", only_names, Some("255")),
        ("|b1", "true", only_names, Some("true")),
        ("|u1", "0", described, Some("0")),
        ("<f4", "0.0", only_names, Some(r#""AAAAAAAAAAA=""#)),
    ] {
        let dtype = format!("\"{dtype}\"");
        let array = array(&[("dtype", &dtype), ("fill_value", fill)], zattrs);
        assert_eq!(array.attribute("_FillValue"), missing, "{dtype} {fill} {zattrs}");
    }
}

/// By Xarray 2026.9: `FillValueCoder.encode(numpy.dtype(dtype).type(fill), numpy.dtype(dtype))`.
#[test]
fn missing_floats_are_those_of_xarray() {
    let cases = [
        ("<f8", "0.1", r#""mpmZmZmZuT8=""#),
        ("<f4", "\"NaN\"", r#""AAAAAAAA+H8=""#),
        ("<f4", "\"-Infinity\"", r#""AAAAAAAA8P8=""#),
        ("<f4", "0.1", r#""AAAAoJmZuT8=""#),
        (">f4", "1e20", r#""AAAAgB2vFUQ=""#),
        ("<f4", "9.969209968386869e36", r#""AAAAAAAAnkc=""#),
        ("<f4", "-3.4028235e38", r#""AAAA4P//78c=""#),
        ("<f2", "65504", r#""AAAAAAD870A=""#),
        ("<f2", "-6e-8", r#""AAAAAAAAcL4=""#),
        ("<f2", "\"Infinity\"", r#""AAAAAAAA8H8=""#),
        (">c8", "[0.5, 0.1]", r#"["AAAAAAAA4D8=", "AAAAoJmZuT8="]"#),
    ];
    for (dtype, fill, missing) in cases {
        let dtype = format!("\"{dtype}\"");
        let changes = [("dtype", dtype.as_str()), ("fill_value", fill)];
        let array = array(&changes, r#"{"_ARRAY_DIMENSIONS": ["y", "x"]}"#);
        assert_eq!(array.attribute("_FillValue"), Some(missing), "{dtype} {fill}");
    }
}

/// As above. In version 3, Xarray refuses a number for floats.
#[test]
fn missing_numbers_among_the_attributes_become_those_of_xarray() {
    let cases = [
        ("<f4", "-9999.0", r#""AAAAAICHw8A=""#),
        ("<f4", "0.1", r#""AAAAoJmZuT8=""#),
        (">f2", "-999", r#""AAAAAAA4j8A=""#),
        ("<f8", "NaN", r#""AAAAAAAA+H8=""#),
        ("<i2", "-9.0", "-9"),
        // What is no number stays.
        ("<f4", r#""AAAAAICHw8A=""#, r#""AAAAAICHw8A=""#),
        ("<f4", "null", "null"),
        ("<i2", "-9.5", "-9.5"),
    ];
    for (dtype, said, missing) in cases {
        let dtype = format!("\"{dtype}\"");
        let zattrs = format!(r#"{{"_FillValue": {said}, "_ARRAY_DIMENSIONS": ["y", "x"]}}"#);
        let array = array(&[("dtype", &dtype), ("fill_value", "null")], &zattrs);
        assert_eq!(array.attribute("_FillValue"), Some(missing), "{dtype} {said}");
    }
}
