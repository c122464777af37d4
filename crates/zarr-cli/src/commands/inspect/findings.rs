//! Findings of `check` in words: which elements they concern, and what to do.

use std::cell::RefCell;

use zarr_kit::AxisSelection;
use zarr_kit::array::store::shown_url;
use zarr_kit::check::{Finding, Severity};

use crate::error::CliError;
use crate::notation::labels::Labels;
use crate::output::print::Out;
use crate::stores::node_store::NodeStore;

/// The name and the labels of an axis that has some.
type Axis = Option<(String, Labels)>;

/// Says what findings at a place concern.
pub(super) struct Places<'a> {
    place: &'a NodeStore,
    /// The labels of the array that was asked for last, by its path: findings come array by array.
    last: RefCell<Option<(String, Vec<Axis>)>>,
}

impl<'a> Places<'a> {
    pub(super) fn new(place: &'a NodeStore) -> Self {
        Self { place, last: RefCell::default() }
    }

    /// The indices of the elements, as `--region` takes them.
    pub(super) fn region(finding: &Finding) -> Option<String> {
        let (_, region) = finding.region().filter(|(_, region)| !region.is_empty())?;
        let axes = region.iter().map(|axis| format!("{}:{}", axis.start, axis.end));
        Some(axes.collect::<Vec<_>>().join(","))
    }

    /// The labels of the elements, as `--region` takes them, on the axes that have some.
    pub(super) fn labels(&self, finding: &Finding) -> Option<String> {
        let (array, region) = finding.region()?;
        if self.last.borrow().as_ref().is_none_or(|(last, _)| last != array) {
            self.last.replace(Some((array.to_owned(), self.open(array))));
        }
        let last = self.last.borrow();
        let (_, labels) = last.as_ref()?;
        let axes = labels.iter().zip(region).filter_map(|(labels, axis)| {
            let (name, labels) = labels.as_ref()?;
            let at = |index| labels.marked(&AxisSelection::Index(index)).ok()?.pop();
            let (first, last) = (at(axis.start)?, at(axis.end.checked_sub(1)?)?);
            let to = if first == last { String::new() } else { format!(":{last}") };
            Some(format!("{name}={first}{to}"))
        });
        let text = axes.collect::<Vec<_>>().join(",");
        (!text.is_empty()).then_some(text)
    }

    /// The labels of each axis of an array, other than of those that are labels themselves.
    fn open(&self, array: &str) -> Vec<Axis> {
        let Ok(place) = NodeStore::open(&self.place.below(array)) else { return Vec::new() };
        let Ok(metadata) = place.metadata() else { return Vec::new() };
        let names = metadata.dimension_names().unwrap_or_default();
        let axes = names.iter().zip(metadata.shape());
        let is_itself = |name: &str| metadata.shape().len() == 1 && place.is_named(name);
        let of = |(name, length): (&Option<String>, &u64)| {
            let name = name.clone().filter(|name| !is_itself(name))?;
            let labels = Labels::beside(&place, &name, *length).ok()?;
            Some((name, labels))
        };
        axes.map(of).collect()
    }

    /// The next step, and the command for it.
    pub(super) fn next(&self, finding: &Finding) -> Option<String> {
        let at = |path: &str| shown_url(&self.place.below(path));
        let root = at("");
        let text = match (finding.id(), Self::region(finding)) {
            ("few-missing-chunks", _) => {
                format!("`zarr-kit check {root} --complete` lists each, with its region")
            }
            (
                "leftover-temporary"
                | "leftover-lock"
                | "unfinished-rearrangement"
                | "half-rearranged-group",
                _,
            ) => format!("`zarr-kit check {root} --repair`"),
            ("stale-consolidated", _) => format!("`zarr-kit consolidate {root}`"),
            ("unfinished-copy", _) => {
                "repeat the command that was interrupted, with --resume".to_owned()
            }
            (
                "chunk-outside-grid" | "chunk-past-end" | "elements-past-end" | "fill-only-chunk"
                | "not-examined",
                _,
            )
            | (_, None) => {
                return None;
            }
            ("unusable-member", _) => {
                "join again if the change was meant; otherwise restore the member".to_owned()
            }
            (_, Some(_)) if self.place.is_virtual_join() => {
                "copy the object from another copy of the member, or write its elements there"
                    .to_owned()
            }
            (_, Some(region)) => {
                let (array, _) = finding.region()?;
                let (key, array) = (finding.key()?, at(array));
                let linked = match self.is_linked(key) {
                    true => {
                        "; it is a hard link, so that the member of a join that it is from has the same fault"
                    }
                    false => "",
                };
                format!(
                    "copy {key} from another copy, or from the member that a join took it from; or \
                     `zarr-kit write {array} --region {region} --from FILE`{linked}"
                )
            }
        };
        Some(text)
    }

    /// Whether the object is a file with other names.
    fn is_linked(&self, key: &str) -> bool {
        #[cfg(unix)]
        {
            use std::os::unix::fs::MetadataExt as _;
            let file = self.place.folder.as_ref().map(|folder| folder.join(key));
            file.and_then(|file| file.metadata().ok()).is_some_and(|file| file.nlink() > 1)
        }
        #[cfg(not(unix))]
        {
            let _ = key;
            false
        }
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
            Severity::Error | Severity::Warning => Self::region(finding),
            _ => None,
        };
        let Some(region) = region else { return out.styled(style, name, rest) };
        let labels = self.labels(finding).map_or_else(String::new, |labels| format!("; {labels}"));
        out.styled(style, name, format_args!("{rest} (region {region}{labels})"))
    }
}
