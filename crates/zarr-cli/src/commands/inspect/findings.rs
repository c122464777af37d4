//! Findings of `check` in words, and the labels of the elements that they concern.

use std::cell::RefCell;

use zarr_kit::check::{Finding, Severity};
use zarr_kit::report::labels::ArrayLabels;

use super::next_step::region_in_words;
use crate::error::CliError;
use crate::output::print::Out;
use crate::stores::node_store::NodeStore;

/// Prints the elements that findings at a place concern.
pub(super) struct Places<'a> {
    place: &'a NodeStore,
    /// The labels of the array that was asked for last, by its path: findings come array by array.
    last: RefCell<Option<(String, ArrayLabels)>>,
}

impl<'a> Places<'a> {
    pub(super) fn new(place: &'a NodeStore) -> Self {
        Self { place, last: RefCell::default() }
    }

    /// The labels of the elements, as `--region` takes them, on the axes that have some.
    pub(super) fn labels(&self, finding: &Finding) -> Option<String> {
        let (array, region) = finding.region()?;
        if self.last.borrow().as_ref().is_none_or(|(last, _)| last != array) {
            self.last.replace(Some((array.to_owned(), self.open(array).unwrap_or_default())));
        }
        self.last.borrow().as_ref()?.1.region(region)
    }

    fn open(&self, array: &str) -> Option<ArrayLabels> {
        let place = NodeStore::open(&self.place.opened.below(array)).ok()?;
        let metadata = place.metadata().ok()?;
        Some(ArrayLabels::of(&metadata, place.opened.name(), |name| place.opened.neighbour(name)))
    }

    /// Prints a finding in one line.
    pub(super) fn line(&self, out: &mut Out, finding: &Finding) -> Result<(), CliError> {
        use anstyle::AnsiColor;
        let style = match finding.severity() {
            Severity::Error => AnsiColor::Red.on_default().bold(),
            Severity::Warning => AnsiColor::Yellow.on_default().bold(),
            _ => AnsiColor::Cyan.on_default().bold(),
        };
        let text = finding.to_string();
        let name = finding.severity().to_string();
        let rest = text.strip_prefix(&name).unwrap_or(&text);
        let region = match finding.severity() {
            Severity::Error | Severity::Warning => region_in_words(finding),
            _ => None,
        };
        let Some(region) = region else { return out.styled(style, name, rest) };
        let labels = self.labels(finding).map_or_else(String::new, |labels| format!("; {labels}"));
        out.styled(style, name, format_args!("{rest} (region {region}{labels})"))
    }
}
