//! One pass over a value: every check of its syntax, and a list of the values within it.
//!
//! All levels read from the list, so that no text is read twice.

use super::raw::{Entry, Key, Raw};
use super::read::Reader;
use crate::error::{MetadataError, Result, path_member};

/// Whether the bare words `NaN`, `Infinity` and `-Infinity` count as numbers (SD-43).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Grammar {
    Json,
    WithNotFinite,
}

/// A whole text that holds one value.
#[derive(Debug)]
pub(crate) struct Outline<'a> {
    text: &'a str,
    within: Vec<Entry<'a>>,
}

impl<'a> Outline<'a> {
    /// Reads the text: its value and all values within.
    pub(crate) fn read(text: &'a str, grammar: Grammar) -> Result<Self> {
        let mut reader = Reader::new(text);
        // Elements are read separately, and a number has no values within it.
        if !matches!(reader.peek(), Some(b'{' | b'[')) {
            let start = reader.offset();
            reader.scalar(grammar)?;
            let text = reader.since(start);
            reader.end()?;
            return Ok(Outline { text, within: Vec::new() });
        }
        Self::read_in_place(text, grammar, None)
    }

    /// As [`read`](Self::read); `in_place` as for [`Outliner::value`].
    pub(crate) fn read_in_place(
        text: &'a str,
        grammar: Grammar,
        in_place: InPlace<'_, 'a>,
    ) -> Result<Self> {
        let mut outliner = Outliner::default();
        let mut reader = Reader::new(text);
        let text = outliner.value(&mut reader, grammar, usize::MAX, in_place)?;
        reader.end()?;
        Ok(Outline { text, within: outliner.entries })
    }

    pub(crate) fn root(&self) -> Raw<'_> {
        Raw::new(self.text, &self.within)
    }
}

/// The members of an object by their names, and their texts; none of a value of another type.
pub(crate) fn members(text: &str) -> Result<Vec<(Key<'_>, &str)>> {
    let mut outliner = Outliner::default();
    outliner.value(&mut Reader::new(text), Grammar::WithNotFinite, 1, None)?;
    let pairs = outliner.entries.as_chunks::<2>().0;
    let is_object = text.trim_start().starts_with('{');
    Ok(pairs
        .iter()
        .filter(|_| is_object)
        .map(|[key, value]| (Key::new(key.text), value.text))
        .collect())
}

/// Asked at each value of a member, with the number of open objects and arrays and the key: true if
/// it has read the value.
pub(crate) type InPlace<'f, 'a> =
    Option<&'f mut dyn FnMut(usize, Key<'a>, &mut Reader<'a>) -> bool>;

/// One open object or array.
#[derive(Debug)]
struct Frame {
    /// Where the keys of this object begin in the shared list; `None` for an array.
    first_key: Option<usize>,
    /// Elements or members seen.
    count: usize,
    /// Where the text begins.
    start: usize,
    /// Its place in the list of entries.
    entry: Option<usize>,
}

impl<'a> Reader<'a> {
    /// Passes over the next value and gives its text, without the values within it.
    pub(crate) fn value(&mut self, grammar: Grammar) -> Result<Raw<'a>> {
        let text = Outliner::default().value(self, grammar, 0, None)?;
        Ok(Raw::new(text, &[]))
    }
}

/// Makes the list of the values within a value, or within several ones, one after the other.
#[derive(Debug, Default)]
pub(crate) struct Outliner<'a> {
    entries: Vec<Entry<'a>>,
    levels: usize,
    /// Open objects and arrays, and the keys of the open objects.
    open: Vec<Frame>,
    keys: Vec<Key<'a>>,
}

impl<'a> Outliner<'a> {
    /// With room for this number of entries.
    pub(crate) fn with_capacity(entries: usize) -> Self {
        Outliner { entries: Vec::with_capacity(entries), ..Self::default() }
    }

    pub(crate) fn entries(&self) -> &[Entry<'a>] {
        &self.entries
    }

    /// Passes over the next value, gives its text, and appends the values within it to the entries,
    /// as deep as `levels` objects and arrays. A value that `in_place` reads is recorded as one
    /// entry.
    ///
    /// Checks the grammar, the depth and that no object has a key twice, without recursion. Memory
    /// is proportional to the text.
    pub(crate) fn value(
        &mut self,
        reader: &mut Reader<'a>,
        grammar: Grammar,
        levels: usize,
        in_place: InPlace<'_, 'a>,
    ) -> Result<&'a str> {
        reader.space();
        let start = reader.offset();
        let outer = reader.depth;
        self.levels = levels;
        self.walk(reader, grammar, in_place)
            .map_err(|error| within(error, &self.open, &self.keys))?;
        reader.depth = outer;
        Ok(reader.since(start))
    }

    fn walk(
        &mut self,
        reader: &mut Reader<'a>,
        grammar: Grammar,
        mut in_place: InPlace<'_, 'a>,
    ) -> Result<()> {
        let mut key = None;
        loop {
            // A value comes here.
            let first = reader.peek();
            let start = reader.offset();
            let is_read = match (&mut in_place, key) {
                (Some(in_place), Some(key)) => in_place(self.open.len(), key, reader),
                _ => false,
            };
            match first {
                Some(bracket @ (b'{' | b'[')) if !is_read => {
                    reader.open(bracket, "a value")?;
                    let first_key = (bracket == b'{').then_some(self.keys.len());
                    let entry = self.record("").then(|| self.entries.len().saturating_sub(1));
                    self.open.push(Frame { first_key, count: 0, start, entry });
                }
                _ => {
                    if !is_read {
                        reader.scalar(grammar)?;
                        if reader.not_finite.count == 1 && reader.not_finite.first.is_empty() {
                            path_of(&self.open, &self.keys, &mut reader.not_finite.first);
                        }
                    }
                    self.record(reader.since(start));
                }
            }
            // Close the containers that end here, and step to the next value.
            loop {
                let Some(frame) = self.open.last_mut() else { return Ok(()) };
                let is_first = frame.count == 0;
                let goes_on = match frame.first_key {
                    Some(_) => {
                        key = reader.next_key(is_first)?;
                        key.is_some()
                    }
                    None => {
                        key = None;
                        reader.next_element(is_first)?
                    }
                };
                if goes_on {
                    frame.count += 1;
                    if let Some(key) = key {
                        self.keys.push(key);
                        self.record(key.text());
                    }
                    break;
                }
                self.close(reader)?;
            }
        }
    }

    /// Adds an entry, unless it lies too deep.
    fn record(&mut self, text: &'a str) -> bool {
        let is_recorded = (1..=self.levels).contains(&self.open.len());
        if is_recorded {
            self.entries.push(Entry { text, within: 0 });
        }
        is_recorded
    }

    fn close(&mut self, reader: &Reader<'a>) -> Result<()> {
        let Some(frame) = self.open.pop() else { return Ok(()) };
        if let Some(first_key) = frame.first_key {
            if let Some(keys) = self.keys.get(first_key..) {
                distinct(keys.iter().copied())?;
            }
            self.keys.truncate(first_key);
        }
        let number = self.entries.len();
        if let Some(at) = frame.entry
            && let Some(entry) = self.entries.get_mut(at)
        {
            let within = number.saturating_sub(at).saturating_sub(1);
            *entry = Entry { text: reader.since(frame.start), within };
        }
        Ok(())
    }
}

impl Reader<'_> {
    fn scalar(&mut self, grammar: Grammar) -> Result<()> {
        match self.rest {
            [b'"', ..] => self.string().map(drop),
            [b't', ..] => self.word("true"),
            [b'f', ..] => self.word("false"),
            [b'n', ..] => self.word("null"),
            [b'N', ..] if grammar == Grammar::WithNotFinite => self.not_finite("NaN"),
            [b'I', ..] if grammar == Grammar::WithNotFinite => self.not_finite("Infinity"),
            [b'-', b'I', ..] if grammar == Grammar::WithNotFinite => self.not_finite("-Infinity"),
            [b'N', b'a', b'N', ..] => Err(self.syntax("a JSON value, which NaN is not")),
            [b'I', b'n', b'f', ..] | [b'-', b'I', ..] => {
                Err(self.syntax("a JSON value, which Infinity is not"))
            }
            _ => self.number(),
        }
    }

    fn word(&mut self, word: &'static str) -> Result<()> {
        match self.rest.strip_prefix(word.as_bytes()) {
            Some(tail) => {
                self.rest = tail;
                Ok(())
            }
            None => Err(self.syntax("a value")),
        }
    }

    fn not_finite(&mut self, word: &'static str) -> Result<()> {
        self.word(word)?;
        self.not_finite.count += 1;
        if self.not_finite.count == 1 {
            self.not_finite.word = word;
        }
        Ok(())
    }
}

/// Checks that no two of `keys` are the same (SD-43). Sorts them if they are many.
pub(crate) fn distinct<'a>(keys: impl ExactSizeIterator<Item = Key<'a>> + Clone) -> Result<()> {
    let twice = if keys.len() <= 16 && !keys.clone().any(Key::has_escapes) {
        let is_before =
            |at: usize, key: Key<'_>| keys.clone().take(at).any(|other| other.text() == key.text());
        let twice = keys.clone().enumerate().find(|(at, key)| is_before(*at, *key));
        twice.map(|(_, key)| key.name())
    } else {
        let mut names: Vec<_> = keys.map(Key::name).collect();
        names.sort_unstable();
        names.windows(2).find_map(|pair| match pair {
            [a, b] if a == b => Some(a.clone()),
            _ => None,
        })
    };
    match twice {
        Some(key) => Err(MetadataError::duplicate(&key)),
        None => Ok(()),
    }
}

/// Puts the place of the innermost open value before the error's own.
#[cold]
fn within(error: MetadataError, open: &[Frame], keys: &[Key<'_>]) -> MetadataError {
    if error.is_depth() {
        return error;
    }
    let mut path = String::new();
    path_of(open, keys, &mut path);
    error.under(&path)
}

fn path_of(open: &[Frame], keys: &[Key<'_>], path: &mut String) {
    for frame in open {
        let Some(last) = frame.count.checked_sub(1) else { continue };
        match frame.first_key {
            Some(first) => {
                let key = keys.get(first + last);
                path_member(path, &key.map(|key| key.name()).unwrap_or_default());
            }
            None => path.push_str(&format!("[{last}]")),
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::*;
    use crate::json::JsonType;

    /// Compares with the tree that `serde_json` reads.
    fn assert_same(raw: Raw<'_>, tree: &Value) {
        let again: Value = serde_json::from_str(raw.text()).expect("JSON");
        assert_eq!(again, *tree);
        match tree {
            Value::Object(map) => {
                let members: Vec<_> = raw.members().collect();
                assert_eq!(members.len(), map.len());
                members.iter().for_each(|(key, raw)| assert_same(*raw, &map[key.name().as_ref()]));
            }
            Value::Array(list) => {
                let elements: Vec<_> = raw.elements().collect();
                assert_eq!(elements.len(), list.len());
                elements.iter().zip(list).for_each(|(raw, tree)| assert_same(*raw, tree));
            }
            _ => assert!(!matches!(raw.json_type(), JsonType::Object | JsonType::Array)),
        }
    }

    #[test]
    fn what_lies_within_is_what_serde_json_reads() {
        for text in [
            "3",
            " [ ] ",
            r#"{"a": {}, "b": [[], [1, [2.50, "x"]], {"c": null}], "d": "é\"\\"}"#,
            r#"[{"\u0061": [1], "\"": 2, "": {"deep": {"deeper": [[[0]]]}}}, -1e5, true]"#,
        ] {
            let outline = Outline::read(text, Grammar::Json).expect("JSON");
            assert_same(outline.root(), &serde_json::from_str(text).expect("JSON"));
        }
    }

    #[test]
    fn no_more_is_recorded_than_is_asked_for() {
        let text = r#"{"a": {"b": {"c": [1, 2]}}, "d": [3]}"#;
        for (levels, entries) in [(0, 0), (1, 4), (2, 7), (3, 9), (4, 11), (9, 11)] {
            let mut outliner = Outliner::default();
            let read = outliner.value(&mut Reader::new(text), Grammar::Json, levels, None);
            assert_eq!(read.expect("JSON"), text);
            assert_eq!(outliner.entries().len(), entries, "{levels}");
        }
    }

    #[test]
    fn what_is_read_in_place_is_one_value() {
        let text = r#"{"a": [1, 2], "b": {"a": [3, {"a": [4]}]}}"#;
        let mut levels = Vec::new();
        let mut in_place = |level, key: Key<'_>, reader: &mut Reader<'_>| {
            let is_read = key.is("a") && level > 1;
            if is_read {
                levels.push((level, reader.value(Grammar::Json).expect("JSON").text().to_owned()));
            }
            is_read
        };
        let outline =
            Outline::read_in_place(text, Grammar::Json, Some(&mut in_place)).expect("JSON");
        let [(_, first), (_, second)] = outline.root().members().collect::<Vec<_>>()[..] else {
            panic!("two members")
        };
        assert_eq!(first.elements().count(), 2);
        let [(_, inner)] = second.members().collect::<Vec<_>>()[..] else { panic!("one member") };
        assert_eq!((inner.text(), inner.elements().count()), (r#"[3, {"a": [4]}]"#, 0));
        assert_eq!(levels, [(2, inner.text().to_owned())]);
    }
}
