//! A codec's configuration, which can be read, written and checked.

use std::borrow::Cow;
use std::fmt::{Display, Write};

use crate::data_type::DataType;
use crate::error::finding::Finding;
use crate::error::{At, Result};
use crate::json::{Object, Raw, write_string};

/// The configuration of a codec.
pub(super) trait Configuration {
    /// Reads the members of `"configuration"`, none if it is left out.
    fn read(members: &mut Object<'_>, context: &mut Context<'_>) -> Result<Self>
    where
        Self: Sized;

    /// Writes the members of `"configuration"`, without members that equal their default.
    fn write(&self, _members: &mut Members<'_>) {}

    /// Refuses an input that the codec cannot encode, as far as the input is known.
    fn check(&self, _input: Input<'_>) -> Result<()> {
        Ok(())
    }

    /// The output of an array-to-array codec.
    fn output<'a>(&'a self, input: Input<'a>) -> Input<'a> {
        input
    }
}

/// The configuration of a codec that has none.
pub(super) struct NoConfiguration;

impl Configuration for NoConfiguration {
    fn read(members: &mut Object<'_>, _: &mut Context<'_>) -> Result<Self> {
        members.check_known(&[]).map(|()| NoConfiguration)
    }
}

/// The array that reaches a codec. Both are `None` after an unknown codec.
#[derive(Clone, Copy)]
pub(super) struct Input<'a> {
    pub(super) data_type: Option<&'a DataType>,
    pub(super) rank: Option<usize>,
}

/// Findings of a reader in addition to the configuration.
pub(super) struct Context<'c> {
    /// Members that do not affect decoding, and are not there (SD-61).
    pub(super) missing: Vec<&'static str>,
    pub(super) findings: &'c mut Vec<Finding>,
}

impl Context<'_> {
    /// Reads a member that does not affect decoding: reported if it is missing.
    pub(super) fn or_default<T>(
        &mut self,
        members: &mut Object<'_>,
        key: &'static str,
        default: T,
        read: impl FnOnce(Raw<'_>) -> Result<T>,
    ) -> Result<T> {
        match members.take(key) {
            Some(raw) => read(raw).member(key),
            None => {
                self.missing.push(key);
                Ok(default)
            }
        }
    }
}

/// The members of an object that is being written.
pub(super) struct Members<'j> {
    json: &'j mut String,
    first: bool,
}

impl<'j> Members<'j> {
    pub(super) fn new(json: &'j mut String) -> Self {
        Members { json, first: true }
    }

    /// No member has been written.
    pub(super) fn is_empty(&self) -> bool {
        self.first
    }

    /// Begins a member: its value is to be appended.
    pub(super) fn begin(&mut self, key: &'static str) -> &mut String {
        self.json.push_str(if self.first { "\"" } else { ", \"" });
        self.first = false;
        self.json.push_str(key);
        self.json.push_str("\": ");
        self.json
    }

    /// A member with a value that is written as it is displayed: a number or a boolean.
    pub(super) fn plain(&mut self, key: &'static str, value: impl Display) {
        // Writing to a `String` has no way to fail.
        let _infallible = write!(self.begin(key), "{value}");
    }

    /// A member out of a table of names.
    pub(super) fn named<T: PartialEq>(&mut self, key: &'static str, names: Names<T>, value: &T) {
        let name = names.iter().find(|(known, _)| known == value).map_or("", |(_, name)| name);
        write_string(name, self.begin(key));
    }
}

/// Pairs of a value and its name, in the order in which messages list them.
pub(super) type Names<T> = &'static [(T, &'static str)];

/// Reads a string out of a table of names.
pub(super) fn read_named<T: Copy>(names: Names<T>, raw: Raw<'_>) -> Result<T> {
    let text = raw.string("a name").ok();
    let named = names.iter().find(|(_, name)| text.as_deref() == Some(*name));
    named.map(|(value, _)| *value).ok_or_else(|| raw.expected(one_of(names)))
}

fn one_of<T>(names: Names<T>) -> Cow<'static, str> {
    let quoted: Vec<_> = names.iter().map(|(_, name)| format!("\"{name}\"")).collect();
    quoted.join(" or ").into()
}

/// Reads the level of a compressor.
pub(super) fn from_0_to_9(raw: Raw<'_>) -> Result<u32> {
    raw.natural()
        .and_then(|n| u32::try_from(n).ok())
        .filter(|level| *level <= 9)
        .ok_or_else(|| raw.expected("an integer from 0 to 9"))
}

/// Reads the number of a dimension.
pub(super) fn dimension(raw: Raw<'_>) -> Result<usize> {
    raw.natural()
        .and_then(|n| usize::try_from(n).ok())
        .ok_or_else(|| raw.expected("a dimension, counted from 0"))
}
