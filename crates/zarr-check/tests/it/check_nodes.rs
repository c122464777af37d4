//! Findings about nodes: their names, and their consolidated metadata.

use std::sync::Arc;

use zarr_array::Group;
use zarr_array::store::Prefix;
use zarr_metadata::GroupMetadata;

use crate::check::{BYTES, GROUP, array, findings, memory};

/// A group with these members in its consolidated metadata.
fn consolidated(members: &str) -> String {
    format!(
        r#"{{"zarr_format": 3, "node_type": "group", "consolidated_metadata": {{
        "kind": "inline", "must_understand": false, "metadata": {{{members}}}}}}}"#
    )
}

#[test]
fn consolidated_metadata_is_compared_by_value() {
    let array =
        |attributes: &str| array("uint8", BYTES, &format!(", \"attributes\": {attributes}"));
    let own = array(r#"{"a": 1e-05, "b": "caf\u00e9", "c": [NaN, 1.0]}"#);
    let copy = array(r#"{"c":[NaN,1],"a":0.00001,"b":"café"}"#);
    let root = consolidated(&format!(r#""x": {copy}"#));
    let objects = [("zarr.json", root.as_bytes()), ("x/zarr.json", own.as_bytes())];
    let found = findings(&memory(&objects), false);
    let of_copy = |finding: &&String| finding.contains("stale-consolidated");
    assert_eq!(found.iter().filter(of_copy).count(), 0, "{found:?}");
    // An integer of many digits differs from the float closest to it.
    let own = array(r#"{"a": 12345678901234567890123}"#);
    let copy = array(r#"{"a": 1.2345678901234568e+22}"#);
    let root = consolidated(&format!(r#""x": {copy}"#));
    let objects = [("zarr.json", root.as_bytes()), ("x/zarr.json", own.as_bytes())];
    assert_eq!(
        findings(&memory(&objects), false),
        [
            "warning: zarr.json: $.consolidated_metadata.metadata[\"x\"]: differs from the node's own \
         [stale-consolidated]"
        ]
    );
}

#[test]
fn nodes_that_consolidated_metadata_lacks() {
    let inner = consolidated("");
    let group = r#"{"zarr_format": 3, "node_type": "group"}"#;
    let root = consolidated(&format!(r#""a": {group}, "a/b": {group}, "c": {group}"#));
    let store = memory(&[
        ("zarr.json", root.as_bytes()),
        ("a/zarr.json", inner.as_bytes()),
        ("a/b/zarr.json", GROUP),
        ("a/b/deep/zarr.json", GROUP),
        ("c/zarr.json", GROUP),
        ("d/zarr.json", GROUP),
    ]);
    let at = "$.consolidated_metadata.metadata: lacks the node";
    assert_eq!(
        findings(&store, false),
        [
            format!("warning: a/zarr.json: {at} \"b\" [stale-consolidated]"),
            format!("warning: zarr.json: {at} \"a/b/deep\" [stale-consolidated]"),
            format!("warning: a/zarr.json: {at} \"b/deep\" [stale-consolidated]"),
            format!("warning: zarr.json: {at} \"d\" [stale-consolidated]"),
        ]
    );
}

#[test]
fn names_that_no_node_can_have() {
    let store = memory(&[
        ("zarr.json", GROUP),
        ("__a/zarr.json", GROUP),
        ("...../zarr.json", GROUP),
        ("zarr.json/zarr.json", GROUP),
        ("__extension/data", b"?"),
        ("_a/zarr.json", GROUP),
    ]);
    assert_eq!(
        findings(&store, false),
        [
            r#"error: ...../zarr.json: the node's name "....." is of periods alone [node-name]"#,
            r#"error: __a/zarr.json: the node's name "__a" begins with __, which is reserved [node-name]"#,
            r#"error: zarr.json/zarr.json: the node's name "zarr.json" is the name of its document [node-name]"#,
        ]
    );
    for (name, fault) in [
        ("__a", "begins with __, which is reserved"),
        ("a/__b/c", "begins with __, which is reserved"),
        ("...", "is of periods alone"),
        ("zarr.json", "is the name of its document"),
    ] {
        let prefix = Prefix::new(name).expect("a prefix");
        let error = Group::create(Arc::clone(&store), &prefix, GroupMetadata::new())
            .expect_err("no name")
            .to_string();
        assert!(error.ends_with(fault), "{error}");
    }
}

/// As in stores of anndata 0.7, whose categories are in groups named `__categories`.
#[test]
fn version_2_reserves_no_names() {
    let group = br#"{"zarr_format": 2}"#;
    let store = memory(&[(".zgroup", group), ("__categories/.zgroup", group)]);
    assert!(findings(&store, false).is_empty(), "{:?}", findings(&store, false));
}

/// Findings of a node of version 2 are at their places in its documents.
#[test]
fn findings_of_version_2_name_the_document_and_the_member() {
    let array = br#"{"zarr_format": 2, "shape": [1], "chunks": [1], "dtype": "bfloat16",
        "compressor": null, "fill_value": "0", "order": "C", "filters": null}"#;
    let attributes = br#"{"range": [NaN, 1]}"#;
    let found = findings(&memory(&[(".zarray", array), (".zattrs", attributes)]), false);
    assert_eq!(found.len(), 3, "{found:?}");
    for place in [".zarray: $.dtype: ", ".zarray: $.fill_value: ", ".zattrs: $.range[0]: "] {
        assert!(found.iter().any(|finding| finding.contains(place)), "{place}: {found:?}");
    }
}
