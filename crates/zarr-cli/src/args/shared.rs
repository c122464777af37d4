//! Arguments that several commands share.

use clap::ValueEnum;
use zarr_kit::array::Part;

/// The help of `--region`: a constant, because rustdoc would take its brackets for links.
pub(super) const REGION: &str = "Region in numpy's syntax, 0:10,5,::2,[0,3], by the names of axes, time=0:10,x=5, or by labels, time=2015-03,lat=40.5:50.0 [default: the whole array]";

/// How input is read.
#[derive(Debug, Clone, Copy, clap::Args)]
pub(crate) struct Reading {
    /// The format of the input [default: by the extension of FILE: .npy, .json, .jsonl, .csv, .raw,
    /// .bin; else by the content].
    #[arg(long, short, value_enum, value_name = "FORMAT")]
    pub(crate) format: Option<InputFormat>,
    /// Convert the numbers of a .npy file to the type of the array. Fractions are rounded to the nearest
    /// float. A number that would change in another way is refused.
    #[arg(long)]
    pub(crate) cast: bool,
}

/// A format of elements to be written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum InputFormat {
    /// One element per line, as the JSON of a fill value.
    Lines,
    /// One JSON document: nested lists of elements.
    Json,
    /// Comma-separated values, with or without a line of names and a column of labels.
    Csv,
    /// numpy's file format.
    Npy,
    /// Elements in C order, little endian.
    Raw,
}

/// How elements are written.
#[derive(Debug, Clone, Copy, clap::Args)]
pub(crate) struct Writing {
    /// Store values even if packbits drops some of their bits, if they exceed the range of int4 and
    /// similar types, or if a number changes in the type of the array: an integer that a float rounds, a
    /// number that becomes infinite. They then read back as other values. By default they are refused.
    #[arg(long)]
    pub(crate) allow_loss: bool,
    /// Also store chunks that have only the fill value. By default they are omitted, and read as the fill
    /// value.
    #[arg(long)]
    pub(crate) store_empty: bool,
}

/// A value that may begin with a hyphen, as negative numbers do, but is not an option.
pub(super) fn value(text: &str) -> Result<String, NoValue> {
    match text.strip_prefix("--").is_some_and(|rest| rest.starts_with(char::is_alphabetic)) {
        true => Err(NoValue),
        false => Ok(text.to_owned()),
    }
}

/// The next option stands where the value of an option is expected.
#[derive(Debug, thiserror::Error)]
#[error("needs a value")]
pub(crate) struct NoValue;

/// One of several parts: 3/16.
pub(super) fn part(text: &str) -> Result<Part, String> {
    text.parse().map_err(|_| {
        format!("parts are numbered from 1, such as 3/16, and at most {} in number", Part::MOST)
    })
}

/// The names in the value of `--dims`.
pub(crate) fn dimension_names(text: &str) -> impl Iterator<Item = Option<&str>> {
    text.split(',').map(|name| Some(name.trim()).filter(|name| !name.is_empty()))
}
