//! The page with an entry for each rule.

use std::fs;

use zarr_check::{Severity, rules};

use crate::check::root;

/// Errors that no specification has: the limits of this reader, and faults without an id.
const LIMITS: [&str; 7] = [
    "too-deep",
    "too-many-dimensions",
    "too-many-codecs",
    "invalid-document",
    "element-too-large",
    "chunk-too-large",
    "shard-index-overlap",
];

#[test]
fn every_rule_is_in_the_documentation() {
    let docs = fs::read_to_string(root().join("../docs/check.md")).expect("docs/check.md");
    for rule in rules() {
        let severity = match rule.severity() {
            Severity::Error => "Error",
            Severity::Warning => "Warning",
            _ => "Note",
        };
        let section = format!("\n## {}\n\n{severity}. ", rule.id());
        let entry = docs.split_once(&section).map(|(_, after)| after);
        let entry = entry.unwrap_or_else(|| panic!("docs/check.md lacks {section:?}"));
        let entry = entry.split("\n#").next().unwrap_or_default();
        let says = entry.contains("\n*Spec*: ");
        let explained = zarr_check::explanation(rule.id()).expect("an explanation");
        for line in ["\nCause: ", "\nRepair: "] {
            assert_eq!(explained.matches(line).count(), 1, "{}: {line:?}:\n{explained}", rule.id());
        }
        let broken = rule.severity() == Severity::Error && !LIMITS.contains(&rule.id());
        assert_eq!(says, broken, "{}: *Spec* is for errors that are not limits", rule.id());
    }
    for broken in zarr_metadata::Rule::ALL.iter().filter(|rule| rule.severity() == Severity::Error)
    {
        let text = broken.text();
        let (first, rest) = text.split_at(1);
        let sentence = format!("\n\nError. {}{rest}.", first.to_uppercase());
        assert!(docs.contains(&sentence), "docs/check.md lacks {sentence:?}");
    }
    let mut ids: Vec<_> = rules().map(|rule| rule.id()).collect();
    ids.sort_unstable();
    assert!(ids.is_sorted_by(|one, next| one < next), "two rules have one id: {ids:?}");
    let sections: Vec<_> = docs.lines().filter_map(|line| line.strip_prefix("## ")).collect();
    assert_eq!(sections.len(), rules().count(), "an entry is there twice");
    for section in sections {
        assert!(rules().any(|rule| rule.id() == section), "{section} is never found");
    }
}
