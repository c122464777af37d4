//! The JSON schemas of the conformance suite, against what they describe.

use std::collections::BTreeSet;
use std::fs;

use serde_json::Value;

use crate::support::root;
use crate::writers::unpack;

/// A schema, of which a test reads all that it says: an unknown word is an error of the schema.
struct Schema(Value);

impl Schema {
    fn of(path: &str) -> Self {
        Self(json(&format!("fixtures/conformance/{path}")))
    }

    /// Where the value breaks the schema, as a JSON path and a word of the schema.
    fn broken(&self, value: &Value) -> Option<String> {
        self.at(&self.0, value, "$").err()
    }

    fn at(&self, schema: &Value, value: &Value, path: &str) -> Result<(), String> {
        let words = schema.as_object().expect("a schema is an object");
        for (word, says) in words {
            let holds = match word.as_str() {
                "$schema" | "$defs" | "title" | "description" => true,
                "additionalProperties" | "properties" | "items" | "prefixItems" => true,
                "$ref" => {
                    let name = says.as_str().and_then(|name| name.strip_prefix("#/$defs/"));
                    self.at(&self.0["$defs"][name.expect("a definition")], value, path)?;
                    true
                }
                "const" => value == says,
                "enum" => says.as_array().expect("a list").contains(value),
                "type" => match says {
                    Value::Array(types) => types.iter().any(|one| is_of(value, one)),
                    one => is_of(value, one),
                },
                "minimum" => {
                    value.as_f64().is_none_or(|value| value >= says.as_f64().expect("a number"))
                }
                "minLength" => value.as_str().is_none_or(|text| text.len() as u64 >= number(says)),
                "minItems" => value.as_array().is_none_or(|list| list.len() as u64 >= number(says)),
                // The one pattern that there is.
                "pattern" => {
                    assert_eq!(says, r"^[^\u0000-\u001f\u007f-\u009f]*$");
                    value.as_str().is_none_or(|text| !text.chars().any(char::is_control))
                }
                "required" => value.as_object().is_none_or(|members| {
                    says.as_array()
                        .expect("a list")
                        .iter()
                        .all(|name| members.contains_key(text(name)))
                }),
                "oneOf" => {
                    let kinds = says.as_array().expect("a list").iter();
                    kinds.filter(|kind| self.at(kind, value, path).is_ok()).count() == 1
                }
                other => panic!("{other}: the test does not know this word of a schema"),
            };
            if !holds {
                return Err(format!("{path}: {word}"));
            }
        }
        for (name, member) in value.as_object().into_iter().flatten() {
            let path = format!("{path}.{name}");
            match (schema["properties"].get(name), schema.get("additionalProperties")) {
                (Some(schema), _) => self.at(schema, member, &path)?,
                (None, Some(Value::Bool(false))) => {
                    return Err(format!("{path}: additionalProperties"));
                }
                (None, Some(schema)) => self.at(schema, member, &path)?,
                (None, None) => {}
            }
        }
        for (number, item) in value.as_array().into_iter().flatten().enumerate() {
            let path = format!("{path}[{number}]");
            match (schema["prefixItems"].get(number), schema.get("items")) {
                (Some(schema), _) => self.at(schema, item, &path)?,
                (None, Some(Value::Bool(false))) => return Err(format!("{path}: items")),
                (None, Some(schema)) => self.at(schema, item, &path)?,
                (None, None) => {}
            }
        }
        Ok(())
    }
}

fn is_of(value: &Value, kind: &Value) -> bool {
    match text(kind) {
        "null" => value.is_null(),
        "boolean" => value.is_boolean(),
        "string" => value.is_string(),
        "array" => value.is_array(),
        "object" => value.is_object(),
        "number" => value.is_number(),
        "integer" => value.is_i64() || value.is_u64(),
        other => panic!("{other}: no type"),
    }
}

fn text(value: &Value) -> &str {
    value.as_str().expect("a text")
}

fn number(value: &Value) -> u64 {
    value.as_u64().expect("a count")
}

fn json(path: &str) -> Value {
    serde_json::from_slice(&fs::read(root().join(path)).expect(path)).expect(path)
}

fn page(path: &str) -> String {
    fs::read_to_string(root().join(path)).expect(path)
}

#[test]
fn the_manifest_follows_its_schema() {
    let schema = Schema::of("schema.json");
    let mut manifest = json("fixtures/conformance/manifest.json");
    assert_eq!(schema.broken(&manifest), None);
    let cases = manifest["cases"].as_array_mut().expect("a list");
    cases[7]["colour"] = "red".into();
    assert_eq!(
        schema.broken(&manifest).as_deref(),
        Some("$.cases[7].colour: additionalProperties")
    );
}

/// Refusals whose reason is beyond a schema, as the page says, or is no matter of the document's syntax.
const BEYOND: &[&str] = &[
    "twice",
    "no-group",
    "axes",
    "sum",
    "integer-cut",
    "count",
    "many",
    "new-axis",
    "new-axis-beyond",
    "time-exponent",
    "time-decimals",
];

#[test]
fn documents_of_virtual_joins_follow_their_schema() {
    let schema = Schema::of("zjoin/schema.json");
    let folder = tempfile::tempdir().expect("makes a folder");
    let mut beyond = BTreeSet::new();
    for case in unpack("zjoin", folder.path()) {
        let document = fs::read(folder.path().join(text(&case["path"]))).expect("a document");
        let document = serde_json::from_slice(&document).expect("JSON");
        let broken = schema.broken(&document);
        let id = text(&case["id"]).trim_start_matches("zjoin/").to_owned();
        match (broken, case["fails"].as_str()) {
            (None, Some("open")) => drop(beyond.insert(id)),
            (Some(_), Some("open")) | (None, _) => {}
            (Some(at), _) => panic!("{id}: {at}"),
        }
    }
    assert_eq!(beyond, BEYOND.iter().map(|id| (*id).to_owned()).collect());
}

/// The page, its example, the schema and the reader have the same fields.
#[test]
fn the_page_of_virtual_joins_has_the_fields_of_the_schema() {
    let page = page("fixtures/conformance/zjoin/README.md");
    let schema = Schema::of("zjoin/schema.json");
    let example = page.split_once("```json\n").and_then(|(_, rest)| rest.split_once("```"));
    let (example, _) = example.expect("an example");
    assert_eq!(schema.broken(&serde_json::from_str(example).expect("JSON")), None);

    let fields = page.lines().filter_map(|line| {
        let (name, rest) = line.strip_prefix("| `")?.split_once("` | ")?;
        let name = name.rsplit(['.', ']']).next().unwrap_or(name);
        let (kind, _) = rest.split_once(" | ")?;
        Some((name.to_owned(), kind.to_owned()))
    });
    let fields: BTreeSet<_> = fields.collect();
    let defined = &schema.0["$defs"];
    let mut expected = BTreeSet::new();
    for object in [&schema.0, &defined["array"], &defined["member"]] {
        let required = object["required"].as_array().expect("a list");
        for (name, says) in object["properties"].as_object().expect("an object") {
            let says = match says["$ref"].as_str() {
                Some(name) => &defined[name.trim_start_matches("#/$defs/")],
                None => says,
            };
            let kind = match (says["type"].as_str(), says.get("const"), says.get("enum")) {
                (Some("array"), ..) => "list",
                (Some(kind), ..) => kind,
                (None, Some(constant), _) if constant.is_u64() => "integer",
                (None, _, Some(_)) => "string",
                _ => panic!("{name}: {says}"),
            };
            let is_required = required.iter().any(|one| one == name);
            let optional = if is_required { "" } else { ", optional" };
            expected.insert((name.clone(), format!("{kind}{optional}")));
        }
    }
    assert_eq!(fields, expected);
}

/// Each erratum names cases that there are, or says why no case shows it.
#[test]
fn errata_name_cases_of_the_suite() {
    let manifest = json("fixtures/conformance/manifest.json");
    let cases = manifest["cases"].as_array().expect("a list");
    let ids: BTreeSet<&str> = cases.iter().map(|case| text(&case["id"])).collect();
    let list = page("docs/SUMMARY.md");
    let mut without = Vec::new();
    for file in fs::read_dir(root().join("docs/errata")).expect("a folder") {
        let name = file.expect("a file").file_name().into_string().expect("UTF-8");
        assert!(list.contains(&format!("(errata/{name})")), "{name} is not in the list");
        let erratum = page(&format!("docs/errata/{name}"));
        for part in ["\n**What.** ", "\n**Why.** ", "\n```diff\n", "\n**Shown by.** "] {
            assert_eq!(erratum.matches(part).count(), 1, "{name}: {part}");
        }
        let (_, shown) = erratum.split_once("**Shown by.** ").expect("is there");
        let named: Vec<&str> = shown.split('`').skip(1).step_by(2).collect();
        for id in &named {
            assert!(ids.contains(id), "{name}: there is no case {id}");
        }
        if named.is_empty() {
            assert!(shown.starts_with("None: "), "{name}");
            without.push(name);
        }
    }
    without.sort();
    let numbers: Vec<&str> = without.iter().map(|name| &name[..2]).collect();
    assert_eq!(numbers, ["25", "26", "27", "28"]);
}
