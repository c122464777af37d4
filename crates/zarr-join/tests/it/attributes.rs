//! Attributes: those that say what values mean, and the rules for the others.

use std::sync::Arc;

use zarr_array::Array;
use zarr_array::store::{MemoryStore, Prefix};
use zarr_join::{Arrangement, CombineAttributes, Join, JoinPlan, Member};
use zarr_metadata::{ArrayBuilder, DataType};

fn member(name: &str, attributes: &str) -> Member {
    let metadata = ArrayBuilder::new([2], DataType::Int16).attributes(attributes).build();
    let store = Arc::new(MemoryStore::new());
    let array = Array::create(store, &Prefix::root(), metadata.expect("valid"));
    Member::new(name, array.expect("creates"))
}

fn plan(a: &str, b: &str, rule: CombineAttributes) -> Result<JoinPlan, String> {
    let members = vec![member("a.zarr", a), member("b.zarr", b)];
    let join = Join::new(members, Arrangement::Along(0)).attributes(rule);
    join.plan().map_err(|error| error.to_string())
}

const ALL: [CombineAttributes; 5] = [
    CombineAttributes::Override,
    CombineAttributes::DropConflicts,
    CombineAttributes::NoConflicts,
    CombineAttributes::Identical,
    CombineAttributes::Drop,
];

#[test]
fn no_rule_joins_values_that_mean_something_else() {
    for name in zarr_cf::MEANING {
        for rule in ALL {
            for (b, shown) in [(format!(r#"{{"{name}": "K"}}"#), "\"K\""), ("{}".into(), "absent")]
            {
                let a = format!(r#"{{"{name}": "degC", "x": 1}}"#);
                let error = plan(&a, &b, rule).expect_err("differs");
                let expected =
                    format!("b.zarr: the attribute {name} is {shown}, but \"degC\" in a.zarr");
                assert_eq!(error, expected);
            }
        }
    }
    // The same number in other words is the same.
    plan(r#"{"scale_factor": 0.10}"#, r#"{"scale_factor": 1e-1}"#, ALL[0]).expect("equal");
}

#[test]
fn the_other_attributes_follow_the_rule() {
    let (a, b) =
        (r#"{"same": 1, "conflict": 1, "a": [1]}"#, r#"{"same": 1, "conflict": 2, "b": 0}"#);
    let attributes = |rule| plan(a, b, rule).map(|plan| plan.metadata().attributes().to_owned());
    assert_eq!(attributes(CombineAttributes::Override).as_deref(), Ok(a));
    let dropped = attributes(CombineAttributes::DropConflicts);
    assert_eq!(dropped.as_deref(), Ok(r#"{"same": 1, "a": [1], "b": 0}"#));
    assert_eq!(attributes(CombineAttributes::Drop).as_deref(), Ok("{}"));
    let conflict = Err("b.zarr: the attribute conflict is 2, but 1 in a.zarr");
    assert_eq!(
        attributes(CombineAttributes::NoConflicts).as_deref().map_err(String::as_str),
        conflict
    );
    assert_eq!(
        attributes(CombineAttributes::Identical).as_deref().map_err(String::as_str),
        conflict
    );

    let (a, b) = (r#"{"same": 1, "a": [1]}"#, r#"{"same": 1, "b": 0}"#);
    let attributes = |rule| plan(a, b, rule).map(|plan| plan.metadata().attributes().to_owned());
    let merged = attributes(CombineAttributes::NoConflicts);
    assert_eq!(merged.as_deref(), Ok(r#"{"same": 1, "a": [1], "b": 0}"#));
    let missing = Err("b.zarr: the attribute a is absent, but [1] in a.zarr");
    assert_eq!(
        attributes(CombineAttributes::Identical).as_deref().map_err(String::as_str),
        missing
    );

    // Of a document only the members that differ are shown, and of long texts the beginning.
    let document = |name: &str, kind: &str| {
        format!(
            r#"{{"ome": {{"version": "0.5", "multiscales": [{{"name": "{name}", "{kind}": 1}}]}}}}"#
        )
    };
    let error = |a: &str, b: &str| plan(a, b, CombineAttributes::Identical).expect_err("differs");
    assert_eq!(
        error(&document("one", "mean"), &document("two", "max")),
        "b.zarr: the attribute ome.multiscales[0].max (and ome.multiscales[0].name, \
         ome.multiscales[0].mean) is 1, but absent in a.zarr"
    );
    let error = error(r#"{"a": "x"}"#, &format!(r#"{{"a": "{}"}}"#, "y".repeat(1000)));
    assert!(error.len() < 300 && error.contains("y…, but"), "{error}");
}

#[test]
fn twenty_thousand_attributes_are_combined_by_their_names() {
    let of = |last: &str| {
        let mut text = "{".to_owned();
        (0..20_000).for_each(|number| text.push_str(&format!("\"a{number}\": {number}, ")));
        text + &format!("\"last\": {last}}}")
    };
    let (a, b) = (of("1"), of("2"));
    let merged = plan(&a, &b, CombineAttributes::DropConflicts).expect("joins");
    let expected: Vec<String> = (0..20_000).map(|number| format!("a{number}")).collect();
    assert_eq!(merged.metadata().attribute_names(), expected);
    let error = plan(&a, &b, CombineAttributes::Identical).expect_err("differs");
    assert!(error.contains("the attribute last is 2, but 1"), "{error}");
}
