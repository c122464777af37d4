//! The members that the arguments name.

use std::fs;
use std::io::{self, Read as _};
use std::path::Path;

use glob::Pattern;
use zarr_kit::Prefix;
use zarr_kit::array::store::{self, DirEntry};
use zarr_kit::join::{NodeMember, NodeMembers};

use crate::args::Join;
use crate::error::CliError;
use crate::stores::access::store_options;
use crate::stores::node_store::NodeStore;

/// The paths and URLs of all members, in order.
pub(super) fn names(args: &Join) -> Result<Vec<String>, CliError> {
    let mut names = Vec::new();
    for argument in &args.members {
        match argument.strip_prefix('@') {
            Some(file) => names.extend(listed(Path::new(file))?),
            None => names.extend(expanded(argument)?),
        }
    }
    if let Some(file) = &args.from {
        names.extend(listed(file)?);
    }
    if names.is_empty() {
        let message = "give the arrays or groups to join; see zarr-kit join --help".to_owned();
        return Err(CliError::Usage { message });
    }
    Ok(names)
}

/// The lines of a file, without empty ones. Names keep the spaces at their ends.
fn listed(file: &Path) -> Result<Vec<String>, CliError> {
    let read = match file.as_os_str() == "-" {
        true => {
            let mut text = String::new();
            io::stdin().read_to_string(&mut text).map(|_| text)
        }
        false => fs::read_to_string(file),
    };
    let text = read.map_err(|cause| CliError::File { path: file.to_owned(), cause })?;
    let lines = text.lines().filter(|line| !line.trim().is_empty());
    Ok(lines.map(str::to_owned).collect())
}

/// The folders that a pattern matches, in the order of [`natural`]; an argument that is no pattern, or that is
/// the name of a folder, as it is.
fn expanded(argument: &str) -> Result<Vec<String>, CliError> {
    if argument.contains("://") {
        // A URL may have '?' and '[' that are no pattern.
        return if argument.contains('*') {
            expanded_url(argument)
        } else {
            Ok(vec![argument.into()])
        };
    }
    let is_pattern = argument.contains(['*', '?', '[']);
    if !is_pattern
        || store::Place::parse(argument, &store_options())
            .is_ok_and(|place| place.folder().is_some_and(|folder| folder.exists()))
    {
        return Ok(vec![argument.to_owned()]);
    }
    let wrong = |reason: String| CliError::argument("MEMBER", argument, reason);
    let mut found = Vec::new();
    for path in glob::glob(argument).map_err(|error| wrong(error.to_string()))? {
        let path = path.map_err(|error| wrong(error.to_string()))?;
        let text = path.to_str().ok_or_else(|| wrong("a name that is not Unicode".to_owned()))?;
        found.push(text.to_owned());
    }
    match found.is_empty() {
        true => Err(wrong("nothing matches this pattern".to_owned())),
        false => Ok(sorted(found)),
    }
}

fn sorted(mut names: Vec<String>) -> Vec<String> {
    names.sort_by(|a, b| natural(a).cmp(&natural(b)).then_with(|| a.cmp(b)));
    names
}

/// The parts of a name by which it is sorted: numbers by their value, so that `m-2` is before `m-10`.
fn natural(name: &str) -> Vec<NamePart<'_>> {
    let mut parts = Vec::new();
    let mut rest = name;
    while let Some(first) = rest.bytes().next() {
        let is_number = first.is_ascii_digit();
        let end = rest.bytes().take_while(|byte| byte.is_ascii_digit() == is_number).count();
        let (part, after) = rest.split_at(end);
        let digits = part.trim_start_matches('0');
        parts.push(match is_number {
            true => NamePart::Number { length: digits.len(), digits },
            false => NamePart::Text(part),
        });
        rest = after;
    }
    parts
}

#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
enum NamePart<'n> {
    /// The digits without zeros in front: the longer number is the greater one.
    Number {
        length: usize,
        digits: &'n str,
    },
    Text(&'n str),
}

/// The URLs that a pattern in the last name of a URL matches, in the order of [`natural`].
fn expanded_url(argument: &str) -> Result<Vec<String>, CliError> {
    let wrong = |reason: &str| CliError::argument("MEMBER", argument, reason);
    let (parent, last) = argument.trim_end_matches('/').rsplit_once('/').unwrap_or_default();
    let has_server = parent.split_once("://").is_some_and(|(_, server)| !server.is_empty());
    if !has_server || parent.contains('*') {
        return Err(wrong("in a URL, only the last name may be a pattern"));
    }
    let place = NodeStore::open(parent)?;
    // In a pattern, an encoded character stands for itself.
    let escaped = ["%2A", "%3F", "%5B", "%5D"].into_iter().zip(["[*]", "[?]", "[[]", "[]]"]);
    let last = escaped.fold(last.to_owned(), |last, (code, escaped)| {
        last.replace(code, escaped).replace(&code.to_ascii_lowercase(), escaped)
    });
    let last = store::names_in(argument, &last).map_err(|cause| place.failed(cause))?;
    let pattern = Pattern::new(&last).map_err(|error| wrong(&error.to_string()))?;
    let mut found = Vec::new();
    for entry in place.store.list_dir(&Prefix::root()) {
        let name = match entry.map_err(|cause| place.failed(cause))? {
            DirEntry::Object(key) => key.as_str().to_owned(),
            DirEntry::Prefix(prefix) => prefix.as_str().to_owned(),
        };
        if pattern.matches(&name) {
            found.push(store::place_below(parent, &name));
        }
    }
    match found.is_empty() {
        true => Err(wrong("nothing matches this pattern")),
        false => Ok(sorted(found)),
    }
}

/// Opens the members, which must be all arrays or all groups.
pub(super) fn open(names: &[String]) -> Result<NodeMembers, CliError> {
    let members = names.iter().map(|name| {
        let place = NodeStore::open(name)?;
        let member = NodeMember::open(&place.shown, place.store.clone(), &Prefix::root());
        member.map_err(|cause| place.failed(cause))
    });
    let members = members.collect::<Result<Vec<_>, _>>()?;
    Ok(NodeMembers::new(members)?)
}

#[cfg(test)]
mod tests {
    use super::sorted;

    #[test]
    fn numbers_in_names_are_sorted_by_their_value() {
        let ordered = [
            "2015-01.zarr",
            "2015-2.zarr",
            "2015-10.zarr",
            "m",
            "m-1",
            "m-01",
            "m-2",
            "m-10",
            "m-10-b2",
            "m-10-b11",
            "m-18446744073709551616",
            "m-28446744073709551616",
            "mé-3",
        ];
        let mut names = ordered.map(str::to_owned).to_vec();
        names.reverse();
        let found = sorted(names);
        let mut expected = ordered.map(str::to_owned).to_vec();
        expected.swap(4, 5); // equal numbers: by their text
        assert_eq!(found, expected);
    }
}
