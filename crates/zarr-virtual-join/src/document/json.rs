//! JSON values that are read strictly: every error has its JSON path.

use std::fmt;

use serde::de::{self, Deserialize, Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;

use crate::error::VirtualJoinError;

/// A value of a document, and where it is.
#[derive(Clone, Debug)]
pub(super) struct Value<'a> {
    place: &'a str,
    path: String,
    raw: &'a RawValue,
}

/// The members of an object that have not been taken yet.
pub(super) struct Object<'a> {
    place: &'a str,
    path: String,
    members: Vec<(String, &'a RawValue)>,
    /// The known names.
    known: Vec<&'static str>,
}

impl<'a> Value<'a> {
    /// The document in `place`.
    pub(super) fn parse(place: &'a str, text: &'a [u8]) -> Result<Self, VirtualJoinError> {
        let wrong = |reason: String| VirtualJoinError::Document {
            place: place.to_owned(),
            path: "$".to_owned(),
            reason,
        };
        let text = std::str::from_utf8(text)
            .map_err(|error| wrong(format!("not UTF-8: byte {}", error.valid_up_to())))?;
        let raw =
            serde_json::from_str(text).map_err(|error| wrong(format!("not JSON: {error}")))?;
        Ok(Self { place, path: "$".to_owned(), raw })
    }

    pub(super) fn wrong(&self, reason: impl Into<String>) -> VirtualJoinError {
        VirtualJoinError::Document {
            place: self.place.to_owned(),
            path: self.path.clone(),
            reason: reason.into(),
        }
    }

    /// The text of the value.
    pub(super) fn text(&self) -> &'a str {
        self.raw.get()
    }

    /// An error about a value of another kind.
    pub(super) fn expected(&self, what: &str) -> VirtualJoinError {
        self.wrong(format!("found {}, expected {what}", found(self.text())))
    }

    pub(super) fn object(self) -> Result<Object<'a>, VirtualJoinError> {
        if !self.text().starts_with('{') {
            return Err(self.expected("an object"));
        }
        // It is known to be JSON; only a name that is there twice is an error.
        let Pairs(members) =
            serde_json::from_str(self.text()).map_err(|error| self.wrong(error.to_string()))?;
        Ok(Object { place: self.place, path: self.path, members, known: Vec::new() })
    }

    pub(super) fn list(self) -> Result<Vec<Self>, VirtualJoinError> {
        if !self.text().starts_with('[') {
            return Err(self.expected("a list"));
        }
        let values: Vec<&'a RawValue> =
            serde_json::from_str(self.text()).map_err(|error| self.wrong(error.to_string()))?;
        let value = |(number, raw)| Self {
            place: self.place,
            path: format!("{}[{number}]", self.path),
            raw,
        };
        Ok(values.into_iter().enumerate().map(value).collect())
    }

    pub(super) fn string(&self) -> Result<String, VirtualJoinError> {
        serde_json::from_str(self.text()).map_err(|_| self.expected("a string"))
    }

    pub(super) fn integer(&self) -> Result<u64, VirtualJoinError> {
        serde_json::from_str(self.text())
            .map_err(|_| self.expected("an integer of at least 0 and less than 2^64"))
    }
}

impl<'a> Object<'a> {
    /// Takes a member, if it is there.
    pub(super) fn take(&mut self, name: &'static str) -> Option<Value<'a>> {
        self.known.push(name);
        let at = self.members.iter().position(|(own, _)| own == name)?;
        let (_, raw) = self.members.swap_remove(at);
        Some(Value { place: self.place, path: format!("{}.{name}", self.path), raw })
    }

    /// Takes a member that must be there.
    pub(super) fn need(&mut self, name: &'static str) -> Result<Value<'a>, VirtualJoinError> {
        self.take(name).ok_or_else(|| VirtualJoinError::Document {
            place: self.place.to_owned(),
            path: self.path.clone(),
            reason: format!("{name:?} is missing"),
        })
    }

    /// All members, by their names.
    pub(super) fn into_members(self) -> impl Iterator<Item = (String, Value<'a>)> {
        let (place, path) = (self.place, self.path);
        self.members.into_iter().map(move |(name, raw)| {
            let path = format!("{path}[{name:?}]");
            (name, Value { place, path, raw })
        })
    }

    /// Refuses members that were not taken.
    pub(super) fn end(self) -> Result<(), VirtualJoinError> {
        let Some((name, _)) = self.members.first() else { return Ok(()) };
        Err(VirtualJoinError::Document {
            place: self.place.to_owned(),
            path: self.path.clone(),
            reason: format!("{name:?} is not known; known are {}", self.known.join(", ")),
        })
    }
}

/// The found value, for messages; short values unchanged.
fn found(text: &str) -> String {
    match text.as_bytes() {
        [b'{', ..] => "an object".to_owned(),
        [b'[', ..] => "a list".to_owned(),
        _ if text.len() <= 40 => text.to_owned(),
        [b'"', ..] => "a string".to_owned(),
        _ => "a number".to_owned(),
    }
}

/// The members of an object in their order, each name once.
struct Pairs<'a>(Vec<(String, &'a RawValue)>);

impl<'de: 'a, 'a> Deserialize<'de> for Pairs<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Members<'a>(std::marker::PhantomData<&'a ()>);
        impl<'de: 'a, 'a> Visitor<'de> for Members<'a> {
            type Value = Pairs<'a>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut members = Vec::new();
                let mut names = std::collections::HashSet::new();
                while let Some((name, value)) = map.next_entry::<String, &'de RawValue>()? {
                    if !names.insert(name.clone()) {
                        return Err(de::Error::custom(format!("{name:?} is there twice")));
                    }
                    members.push((name, value));
                }
                Ok(Pairs(members))
            }
        }
        deserializer.deserialize_map(Members(std::marker::PhantomData))
    }
}
