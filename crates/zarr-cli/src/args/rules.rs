//! Which arrays of a copy get which chunks, shards, codecs and names of axes: `--chunks`, `--shards`,
//! `--codecs`, `--preset` and `--dims`, for all arrays, and after a `--for` for those that its pattern matches.

use clap::builder::PossibleValuesParser;
use clap::error::ErrorKind;
use clap::{Arg, ArgAction, ArgMatches, FromArgMatches, ValueEnum};
use glob::{MatchOptions, Pattern};
use zarr_kit::ArrayMetadata;
use zarr_kit::metadata::{Codec, CodecNotation, Endian};

use super::advise::For;
use super::parse_codecs;
use super::shared::{dimension_names, value};
use crate::error::CliError;
use crate::notation::chunks::{self, ChunksError};

/// The rules of a command line, in order: the first is for all arrays.
#[derive(Debug, Clone, Default)]
pub(crate) struct Rules {
    rules: Vec<Rule>,
}

/// The new form of the arrays that a pattern matches.
#[derive(Debug, Clone, Default)]
struct Rule {
    /// `None`: all arrays.
    pattern: Option<Pattern>,
    chunks: Option<String>,
    shards: Option<String>,
    codecs: Option<Chosen>,
    dims: Option<String>,
}

/// The source of an array's codecs.
#[derive(Debug, Clone)]
enum Chosen {
    Codecs(CodecNotation),
    /// A trial on the data.
    Preset(For),
}

/// Rules that no array of a group has needed so far: most likely mistakes.
#[derive(Debug)]
pub(crate) struct Unused<'r> {
    patterns: Vec<&'r Pattern>,
    /// Names of axes, each with the argument and the text that has it.
    axes: Vec<(&'r str, &'static str, &'r str)>,
    rules: &'r Rules,
    /// Rules with a value of `--dims`, and the value.
    dims: Vec<(&'r Rule, &'r str)>,
}

impl Rules {
    /// The metadata of an array's copy.
    ///
    /// `path` is the array's path in the copied group; `None` if it is copied by itself: then
    /// `--chunks` must name its axes and no others. `tried` gives the best codecs for a goal, if
    /// there are data to try them on.
    pub(crate) fn apply(
        &self,
        path: Option<&str>,
        metadata: &ArrayMetadata,
        tried: impl FnOnce(For) -> Result<Option<Vec<Codec>>, CliError>,
    ) -> Result<ArrayMetadata, CliError> {
        let matching = || self.rules.iter().rev().filter(|rule| rule.matches(path));
        let shards = matching().find_map(|rule| rule.shards.as_deref());
        let chunks = matching().find_map(|rule| rule.chunks.as_deref());
        let metadata = &self.named(path, metadata)?;
        let codecs = match matching().find_map(|rule| rule.codecs.as_ref()) {
            Some(Chosen::Codecs(codecs)) => {
                Some(codecs.codecs(metadata.data_type(), metadata.shape().len(), Endian::Little))
            }
            Some(Chosen::Preset(goal)) => tried(*goal)?,
            None => None,
        };
        with_layout(metadata, (chunks, shards), codecs.as_deref(), path.is_none())
    }

    /// Whether the array at a path has shards, and `--chunks` gives the lengths of these.
    pub(crate) fn changes_shards(&self, path: &str, metadata: &ArrayMetadata) -> bool {
        let matching = || self.rules.iter().filter(|rule| rule.matches(Some(path)));
        matching().any(|rule| rule.chunks.is_some())
            && matching().all(|rule| rule.shards.is_none())
            && matches!(metadata.codecs().first(), Some(Codec::ShardingIndexed(_)))
    }

    /// The document with the names of `--dims`. In a group, arrays with another number of axes keep theirs.
    fn named(
        &self,
        path: Option<&str>,
        metadata: &ArrayMetadata,
    ) -> Result<ArrayMetadata, CliError> {
        let rank = metadata.shape().len();
        let mut given = self.rules.iter().rev().filter(|rule| rule.matches(path));
        let text = given.find_map(|rule| {
            rule.dims.as_deref().filter(|text| path.is_none() || text.split(',').count() == rank)
        });
        let Some(text) = text else { return Ok(metadata.clone()) };
        let names: Vec<_> = dimension_names(text).collect();
        let named = metadata.with_dimension_names(&names);
        named.map_err(|cause| CliError::Metadata { argument: "--dims", cause })
    }

    /// Whether codecs are tried on some arrays.
    pub(crate) fn has_preset(&self) -> bool {
        self.rules.iter().any(|rule| matches!(rule.codecs, Some(Chosen::Preset(_))))
    }

    /// Patterns and names of axes that no array has needed yet.
    pub(crate) fn unused(&self) -> Unused<'_> {
        let texts = self.rules.iter().flat_map(|rule| {
            [("--chunks", rule.chunks.as_deref()), ("--shards", rule.shards.as_deref())]
        });
        let axes = texts.filter_map(|(argument, text)| Some((argument, text?)));
        let axes = axes.flat_map(|(argument, text)| {
            chunks::names(text).map(move |name| (name, argument, text))
        });
        Unused {
            rules: self,
            dims: self
                .rules
                .iter()
                .filter_map(|rule| Some((rule, rule.dims.as_deref()?)))
                .collect(),
            patterns: self.rules.iter().filter_map(|rule| rule.pattern.as_ref()).collect(),
            axes: axes.collect(),
        }
    }

    /// Refuses patterns, for an array that is copied by itself.
    pub(crate) fn check_single(&self) -> Result<(), CliError> {
        match self.rules.iter().find_map(|rule| rule.pattern.as_ref()) {
            Some(pattern) => {
                let reason = "the source is an array; patterns are for the arrays of a group";
                Err(CliError::argument("--for", pattern.as_str(), reason))
            }
            None => Ok(()),
        }
    }
}

/// The document with the chunks of `--chunks`, the shards of `--shards` and other codecs. Axes that are not
/// named keep their chunks, and their shards. If not `all`, the array need not have all axes that are named.
pub(crate) fn with_layout(
    metadata: &ArrayMetadata,
    (chunks, shards): (Option<&str>, Option<&str>),
    codecs: Option<&[Codec]>,
    all: bool,
) -> Result<ArrayMetadata, CliError> {
    let wrong = |cause| CliError::Metadata { argument: "zarr.json would not be valid", cause };
    let grid = |argument, text, before: &ArrayMetadata| {
        chunks::changed(text, before, all)
            .map_err(|cause| CliError::argument(argument, text, cause))
    };
    let shards = shards.map(|text| grid("--shards", text, metadata)).transpose()?.flatten();
    let within = match &shards {
        Some(_) => &metadata.without_shards().map_err(wrong)?,
        None => metadata,
    };
    let chunks = chunks.map(|text| grid("--chunks", text, within)).transpose()?.flatten();
    metadata.with_layout(chunks.as_ref(), codecs, shards.as_ref()).map_err(wrong)
}

impl Rule {
    fn matches(&self, path: Option<&str>) -> bool {
        match (&self.pattern, path) {
            (None, _) => true,
            (Some(pattern), Some(path)) => matches(pattern, path),
            (Some(_), None) => false,
        }
    }
}

impl Unused<'_> {
    /// Strikes off the rules that this array needs.
    pub(crate) fn strike(&mut self, path: &str, metadata: &ArrayMetadata) {
        self.patterns.retain(|pattern| !matches(pattern, path));
        let rank = metadata.shape().len();
        self.dims
            .retain(|(rule, text)| !rule.matches(Some(path)) || text.split(',').count() != rank);
        let named = self.rules.named(Some(path), metadata);
        let named = named.as_ref().unwrap_or(metadata);
        let names = named.dimension_names().unwrap_or_default();
        self.axes.retain(|(name, ..)| chunks::axis_of(name, rank, names).is_err());
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.patterns.is_empty() && self.axes.is_empty() && self.dims.is_empty()
    }

    /// Refuses the remaining rules.
    pub(crate) fn check(&self) -> Result<(), CliError> {
        if let Some(pattern) = self.patterns.first() {
            let reason = "no array of the source has such a name or path";
            return Err(CliError::argument("--for", pattern.as_str(), reason));
        }
        if let Some((rule, text)) = self.dims.first() {
            let reason = match rule.pattern {
                Some(_) => "no array of its --for has this number of axes",
                None => "no array of the source has this number of axes",
            };
            return Err(CliError::argument("--dims", text, reason));
        }
        let Some((name, argument, text)) = self.axes.first() else { return Ok(()) };
        let allowed = "no array of the source has such an axis".to_owned();
        let cause = ChunksError::Name { name: (*name).to_owned(), allowed };
        Err(CliError::argument(argument, text, cause))
    }
}

/// Whether a pattern matches an array of this path: its whole path if the pattern has a `/`, else its
/// name alone. `*` and `?` do not match `/`, `**` matches any number of groups.
fn matches(pattern: &Pattern, path: &str) -> bool {
    let options = MatchOptions {
        case_sensitive: true,
        require_literal_separator: true,
        require_literal_leading_dot: false,
    };
    let name = match pattern.as_str().contains('/') {
        true => path,
        false => path.rsplit('/').next().unwrap_or(path),
    };
    pattern.matches_with(name, options)
}

impl clap::Args for Rules {
    fn augment_args(command: clap::Command) -> clap::Command {
        let arg = |name: &'static str| Arg::new(name).long(name).action(ArgAction::Append);
        command
            .arg(
                arg("chunks")
                    .value_name("CHUNKS")
                    .allow_hyphen_values(true)
                    .value_parser(value)
                    .help("The lengths of the target's chunks [default: the source's]"),
            )
            .arg(
                arg("shards")
                    .value_name("SHARDS")
                    .allow_hyphen_values(true)
                    .value_parser(value)
                    .help(
                        "The lengths of the target's shards, which hold the chunks; --chunks and \
                         --codecs are then those within the shards",
                    ),
            )
            .arg(arg("codecs").value_name("CODECS").help(
                "The target's codec chain: transpose,packbits:12,zstd:3, or the JSON list of \
                 zarr.json [default: the source's]",
            ))
            .arg(
                arg("preset")
                    .value_name("GOAL")
                    .value_parser(PossibleValuesParser::new(
                        For::value_variants().iter().filter_map(ValueEnum::to_possible_value),
                    ))
                    .help(
                        "In place of --codecs: try codecs on the source and take the best one, as \
                         `advise --for` does",
                    ),
            )
            .arg(arg("dims").value_name("NAME,NAME").help(
                "Names for the axes of the target's arrays that have this number of axes: time,y,x \
                 [default: the source's]",
            ))
            .arg(arg("for").value_name("PATTERN").help(
                "Limit the following --chunks, --shards, --codecs, --preset and --dims to the arrays of a group \
                 with a matching name, or with a matching path if the pattern has a /; may be given \
                 several times",
            ))
    }

    fn augment_args_for_update(command: clap::Command) -> clap::Command {
        Self::augment_args(command)
    }
}

impl FromArgMatches for Rules {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        let mut given: Vec<(usize, &str, &String)> = Vec::new();
        for name in ["for", "chunks", "shards", "codecs", "preset", "dims"] {
            let values = matches.get_many::<String>(name).into_iter().flatten();
            let indices = matches.indices_of(name).into_iter().flatten();
            given.extend(indices.zip(values).map(|(index, value)| (index, name, value)));
        }
        given.sort_unstable_by_key(|(index, ..)| *index);
        let refused = |kind, text: String| clap::Error::raw(kind, format!("{text}\n"));
        let mut rules = vec![Rule::default()];
        for (_, name, value) in given {
            let rule = match (name, rules.last_mut()) {
                ("for", _) | (_, None) => {
                    let pattern = Pattern::new(value.strip_prefix('/').unwrap_or(value));
                    let pattern = pattern.map_err(|error| {
                        let text = format!("--for {value:?} is no pattern: {error}");
                        refused(ErrorKind::ValueValidation, text)
                    })?;
                    rules.push(Rule { pattern: Some(pattern), ..Rule::default() });
                    continue;
                }
                (_, Some(rule)) => rule,
            };
            let is_again = match name {
                "chunks" => rule.chunks.replace(value.clone()).is_some(),
                "shards" => rule.shards.replace(value.clone()).is_some(),
                "dims" => rule.dims.replace(value.clone()).is_some(),
                _ => {
                    let codecs = match name {
                        "preset" => For::from_str(value, false).map(Chosen::Preset),
                        _ => parse_codecs(value)
                            .map(Chosen::Codecs)
                            .map_err(|error| error.to_string()),
                    };
                    let codecs =
                        codecs.map_err(|error| refused(ErrorKind::ValueValidation, error))?;
                    rule.codecs.replace(codecs).is_some()
                }
            };
            if is_again {
                let text = format!("--{name} is there twice for the same arrays");
                return Err(refused(ErrorKind::ArgumentConflict, text));
            }
        }
        let is_empty = |rule: &&Rule| {
            let texts = [&rule.chunks, &rule.shards, &rule.dims];
            texts.into_iter().all(Option::is_none) && rule.codecs.is_none()
        };
        let idle =
            rules.iter().filter_map(|rule| rule.pattern.as_ref().filter(|_| is_empty(&rule)));
        if let Some(pattern) = idle.into_iter().next() {
            let text = format!(
                "--for {:?} needs --chunks, --shards, --codecs, --preset or --dims after it",
                pattern.as_str()
            );
            return Err(refused(ErrorKind::ValueValidation, text));
        }
        Ok(Self { rules })
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_match_names_or_paths() {
        for (pattern, path, expected) in [
            ("temp*", "temp_max", true),
            ("temp*", "daily/temp_max", true),
            ("temp*", "temp/x", false),
            ("t?mp", "daily/temp", true),
            ("[tp]*", "daily/precipitation", true),
            ("daily/*", "daily/temp", true),
            ("daily/*", "daily/2024/temp", false),
            ("daily/**", "daily/2024/temp", true),
            ("**/temp", "temp", true),
            ("**/temp", "a/b/temp", true),
            ("daily/temp", "all/daily/temp", false),
            ("Temp*", "temp", false),
            ("*", ".hidden", true),
        ] {
            let compiled = Pattern::new(pattern).expect("a pattern");
            assert_eq!(matches(&compiled, path), expected, "{pattern} {path}");
        }
    }
}
