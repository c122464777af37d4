//! The next step after a finding.

use std::path::Path;

use zarr_kit::array::store::{place_below, shown_url};
use zarr_kit::check::Finding;

/// The checked place, for the commands of next steps.
#[derive(Clone, Copy, Debug)]
pub struct CheckedPlace<'a> {
    /// The folder or URL of the store.
    pub url: &'a str,
    /// The path of the checked node in it.
    pub path: &'a str,
    /// The folder of the store, if it is a folder.
    pub folder: Option<&'a Path>,
    /// Whether the store is a virtual join: its chunks belong to its members.
    pub is_virtual_join: bool,
    /// Whether the store is in a file, such as an archive: its documents cannot be replaced.
    pub is_in_file: bool,
}

/// The elements that a finding concerns, as `zarr-kit read --region` takes them.
pub(crate) fn region_in_words(finding: &Finding) -> Option<String> {
    let (_, region) = finding.region().filter(|(_, region)| !region.is_empty())?;
    let axes = region.iter().map(|axis| format!("{}:{}", axis.start, axis.end));
    Some(axes.collect::<Vec<_>>().join(","))
}

/// The next step after a finding at a place: a text with the command of `zarr-kit`. It has no
/// secrets of the URL.
///
/// # Examples
/// ```
/// use zarr_cli::{CheckedPlace, next_step};
/// use zarr_kit::check::{Finding, rules};
///
/// let rule = rules().find(|rule| rule.id() == "stale-consolidated").expect("a rule");
/// let finding = Finding::new(rule, "lacks the node \"rain\"").with_key("zarr.json");
/// let place = CheckedPlace {
///     url: "data.zarr",
///     path: "",
///     folder: None,
///     is_virtual_join: false,
///     is_in_file: false,
/// };
/// let step = next_step(&finding, &place).expect("a step");
/// assert_eq!(step, "`zarr-kit consolidate data.zarr`");
/// let step = next_step(&finding.with_key("rain/zarr.json"), &place).expect("a step");
/// assert_eq!(step, "`zarr-kit consolidate data.zarr/rain`");
/// ```
#[must_use]
pub fn next_step(finding: &Finding, place: &CheckedPlace<'_>) -> Option<String> {
    let at = |path: &str| match path {
        "" => shown_url(place.url),
        path => shown_url(&place_below(place.url, path)),
    };
    let root = at(place.path);
    let text = match (finding.id(), region_in_words(finding)) {
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
        ("stale-consolidated", _) if place.is_in_file => {
            "an archive cannot replace its documents: copy it into a folder, and repeat the check there"
                .to_owned()
        }
        ("stale-consolidated", _) => {
            let group = finding.key()?.rsplit_once('/').map_or("", |(group, _)| group);
            format!("`zarr-kit consolidate {}`", at(group))
        }
        ("unfinished-copy", _) => {
            "repeat the command that was interrupted, with --resume".to_owned()
        }
        // It cannot be opened.
        ("unusable-member", None) => {
            "--outside-members or --targets allow a member that is elsewhere; otherwise restore it"
                .to_owned()
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
        (_, Some(_)) if place.is_virtual_join => {
            "copy the object from another copy of the member, or write its elements there"
                .to_owned()
        }
        (_, Some(region)) => {
            let (array, _) = finding.region()?;
            let (key, array) = (finding.key()?, at(array));
            let linked = match is_linked(place.folder, key) {
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
fn is_linked(folder: Option<&Path>, key: &str) -> bool {
    #[cfg(unix)]
    {
        use std::os::unix::fs::MetadataExt as _;
        let file = folder.map(|folder| folder.join(key));
        file.and_then(|file| file.metadata().ok())
            .is_some_and(|file| file.is_file() && file.nlink() > 1)
    }
    #[cfg(not(unix))]
    {
        let _ = (folder, key);
        false
    }
}
