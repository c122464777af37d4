//! Properties of a data type's elements that its name does not show.

use zarr_metadata::{DataType, RawBits};

/// The first number in a name: the bits of a component, or of both for `complex64` and `complex128`.
fn number(name: &str) -> Option<u32> {
    let digits = name.split(|letter: char| !letter.is_ascii_digit()).find(|part| !part.is_empty());
    digits.map(|digits| digits.parse().unwrap())
}

#[test]
fn names_say_what_an_element_is() {
    for data_type in DataType::FIXED {
        let name = data_type.name();
        let (complex, rest) = match name.strip_prefix("complex") {
            Some(rest) => (true, rest.trim_start_matches('_')),
            None => (false, &name[..]),
        };
        let is_bool = rest == "bool";
        let pair = complex && rest.starts_with(|letter: char| letter.is_ascii_digit());
        let bits = number(rest).map_or(1, |bits| if pair { bits / 2 } else { bits });
        let layout = data_type.element_layout().unwrap();
        assert_eq!(layout.component_bits, bits, "{name}");
        assert_eq!(layout.components, if complex { 2 } else { 1 }, "{name}");
        assert_eq!(layout.component_size, bits.div_ceil(8) as usize, "{name}");
        assert_eq!(layout.swap_unit, layout.component_size, "{name}");
        assert_eq!(layout.signed, rest.starts_with("int"), "{name}");
        assert_eq!(data_type.size(), Some(layout.component_size * layout.components), "{name}");
        assert_eq!(data_type.is_complex(), complex, "{name}");
        let is_float = rest.trim_start_matches('b').starts_with("float") || pair;
        assert_eq!(data_type.is_float(), is_float, "{name}");
        assert_eq!(data_type.is_sub_byte(), bits < 8 && !is_bool, "{name}");
        assert!(data_type.is_packable(), "{name}");
        assert_eq!(name.parse::<DataType>().unwrap(), *data_type);
        assert_eq!(data_type.to_json(), format!("\"{name}\""));
    }
}

#[test]
fn sd_54_raw_bits_have_no_order_and_no_meaning() {
    let raw = DataType::RawBits(RawBits::new(3).unwrap());
    let layout = raw.element_layout().unwrap();
    assert_eq!((layout.component_bits, layout.component_size, layout.components), (24, 3, 1));
    assert_eq!((layout.swap_unit, layout.signed), (1, false));
    assert!(!raw.is_packable() && !raw.is_float() && !raw.is_sub_byte() && !raw.is_complex());
    assert_eq!(raw.to_json(), r#""r24""#);
}

#[test]
fn what_is_not_interpreted_has_no_size() {
    let other = DataType::from_json(br#""acme.type""#).unwrap();
    assert_eq!((other.element_layout(), other.size(), other.parts().len()), (None, None, 0));
    assert!(!other.is_packable() && !other.is_sub_byte() && !other.is_complex());
    assert!(!other.is_variable_length() && other.is_unknown());
}

#[test]
fn strings_and_bytes_have_a_length_of_their_own() {
    for (names, data_type) in [
        (&["string"][..], DataType::String),
        (&["bytes", "variable_length_bytes"], DataType::Bytes),
    ] {
        assert_eq!(data_type.name(), names[0]);
        assert_eq!((data_type.element_layout(), data_type.size()), (None, None));
        assert!(data_type.is_variable_length() && !data_type.is_packable());
        for name in names {
            assert_eq!(name.parse::<DataType>().unwrap(), data_type);
            let object = format!(r#"{{"name": "{name}"}}"#);
            assert_eq!(DataType::from_json(object.as_bytes()).unwrap(), data_type);
        }
    }
}

/// A message that names two types of one name tells them apart.
#[test]
fn types_with_parameters_are_shown_with_them() {
    let all = |name: &str, configurations: &[(&str, &str)]| {
        for (configuration, shown) in configurations {
            let json = format!(r#"{{"name": "{name}", "configuration": {configuration}}}"#);
            assert_eq!(DataType::from_json(json.as_bytes()).unwrap().to_string(), *shown);
        }
    };
    let lengths = [
        (r#"{"length_bytes": 4}"#, "fixed_length_utf32 (1 code point)"),
        (r#"{"length_bytes": 20}"#, "fixed_length_utf32 (5 code points)"),
    ];
    all("fixed_length_utf32", &lengths);
    all("null_terminated_bytes", &[(r#"{"length_bytes": 3}"#, "null_terminated_bytes (3 bytes)")]);
    all("raw_bytes", &[(r#"{"length_bytes": 1}"#, "raw_bytes (1 byte)")]);
    for name in ["numpy.datetime64", "numpy.timedelta64"] {
        all(
            name,
            &[
                (r#"{"unit": "s", "scale_factor": 1}"#, &format!("{name}[s]")),
                (r#"{"unit": "us", "scale_factor": 10}"#, &format!("{name}[10us]")),
            ],
        );
    }
    all(
        "struct",
        &[
            (r#"{"fields": [{"name": "a", "data_type": "int16"}]}"#, "struct (a: int16)"),
            (
                r#"{"fields": [{"name": "b\n", "data_type": "int8"}, {"name": "c", "data_type":
                {"name": "raw_bytes", "configuration": {"length_bytes": 2}}}]}"#,
                "struct (b\\n: int8, c: raw_bytes (2 bytes))",
            ),
        ],
    );
    for plain in DataType::FIXED.iter().chain([&DataType::String, &DataType::Bytes]) {
        assert_eq!(plain.to_string(), plain.name());
    }
}
