//! The habits of programs that write version 2, and the members that version 2 fills in: the oracle is
//! what the programs wrote, and numcodecs' own defaults (`fixtures/other-writers.json`).

use serde_json::{Value, json};
use zarr_metadata::ArrayMetadata;

fn fixture() -> Value {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/other-writers.json");
    serde_json::from_str(&std::fs::read_to_string(path).expect("a fixture")).expect("JSON")
}

fn array(zarray: &Value, zattrs: Option<&Value>) -> ArrayMetadata {
    let zattrs = zattrs.map(Value::to_string);
    let bytes = zattrs.as_ref().map(String::as_bytes);
    let found = ArrayMetadata::from_version_2(zarray.to_string().as_bytes(), bytes);
    found.unwrap_or_else(|error| panic!("{zarray}: {error}"))
}

#[test]
fn habits_are_findings_at_their_places() {
    let fixture = fixture();
    let cases = fixture["cases"].as_array().expect("cases");
    assert!(cases.len() > 20);
    for case in cases {
        let array = array(&case["zarray"], case.get("zattrs"));
        let found: Vec<&str> = array
            .findings()
            .iter()
            .filter(|finding| finding.id() == "other-writer")
            .filter_map(|finding| finding.path())
            .collect();
        let expected: Vec<&str> =
            case["notes"].as_array().expect("notes").iter().filter_map(Value::as_str).collect();
        assert_eq!(found, expected, "{}", case["name"]);
    }
}

/// Each codec with its required members alone, and with all members that numcodecs gives it then.
#[test]
fn absent_members_have_the_defaults_of_numcodecs() {
    let fixture = fixture();
    let codecs = fixture["defaults"]["codecs"].as_array().expect("codecs");
    assert!(codecs.len() > 15);
    for codec in codecs {
        let id = codec["few"]["id"].as_str().expect("an id");
        let dtype = match id {
            "astype" | "fixedscaleoffset" | "quantize" => "<f8",
            "bitround" => "<f4",
            "packbits" => "|b1",
            _ => "<i4",
        };
        let chain = |codec: &Value| {
            let mut codec = codec.clone();
            // The type of the elements, which is another spelling of an absent one.
            if codec["astype"] == dtype {
                codec.as_object_mut().expect("an object").remove("astype");
            }
            let zarray = json!({
                "zarr_format": 2, "shape": [12], "chunks": [12], "dtype": dtype, "fill_value": null,
                "order": "C", "filters": [codec], "compressor": null,
            });
            let array = array(&zarray, None);
            let document: Value = serde_json::from_str(array.json()).expect("JSON");
            document["codecs"].clone()
        };
        assert_eq!(chain(&codec["few"]), chain(&codec["all"]), "{id}");
    }
}

#[test]
fn what_is_no_habit_stays_an_error() {
    let refused = |codec: Value, dtype: &str, fill: Value| {
        let zarray = json!({
            "zarr_format": 2, "shape": [2], "chunks": [2], "dtype": dtype, "fill_value": fill,
            "order": "C", "filters": null, "compressor": codec,
        });
        let found = ArrayMetadata::from_version_2(zarray.to_string().as_bytes(), None);
        found.expect_err("refused").to_string()
    };
    let messages = [
        refused(json!({"id": "zlib", "level": "fast"}), "<i2", json!(0)),
        refused(json!({"id": "zlib", "level": 1.5}), "<i2", json!(0)),
        refused(json!({"id": "zlib", "threads": 4}), "<i2", json!(0)),
        refused(json!({"id": "blosc", "cname": "5"}), "<i2", json!(0)),
        refused(Value::Null, "<i2", json!("1.5")),
        refused(Value::Null, "<i2", json!("70000")),
        refused(Value::Null, "<i2", json!("")),
        refused(Value::Null, "float16", json!(0)),
        refused(Value::Null, "<bfloat16", json!(0)),
    ];
    assert!(messages.iter().all(|message| message.starts_with(".zarray: $.")), "{messages:#?}");
}
