//! The extent of a check.

use std::num::NonZeroUsize;

use zarr_array::{Part, parallel};
use zarr_codec::Codecs;

use crate::finding::{Finding, rules};

/// The extent of a check.
#[derive(Clone, Debug)]
#[must_use]
pub struct CheckOptions {
    pub(crate) data: bool,
    pub(crate) complete: bool,
    pub(crate) checksums: bool,
    pub(crate) threads: NonZeroUsize,
    pub(crate) memory: u64,
    pub(crate) part: Option<Part>,
    pub(crate) codecs: Codecs,
    ignored: Vec<(String, String)>,
}

impl Default for CheckOptions {
    fn default() -> Self {
        Self::new()
    }
}

impl CheckOptions {
    /// Checks documents and keys only, with one thread per core and one gibibyte for elements.
    pub fn new() -> Self {
        Self {
            data: false,
            complete: false,
            checksums: false,
            threads: parallel::cores(),
            memory: 1 << 30,
            part: None,
            codecs: Codecs::new(),
            ignored: Vec::new(),
        }
    }

    /// Accepts findings with this id, or `id:pattern`, those of keys that fit the pattern: in it, `*` stands for
    /// any text. They are neither reported nor counted.
    ///
    /// # Errors
    /// The id, if no rule has it.
    ///
    /// # Examples
    /// ```
    /// use zarr_check::CheckOptions;
    ///
    /// let options = CheckOptions::new().ignore("stray-object:*.parquet");
    /// assert!(options.is_ok());
    /// assert_eq!(CheckOptions::new().ignore("stray").unwrap_err(), "stray");
    /// ```
    pub fn ignore(mut self, text: &str) -> Result<Self, String> {
        let (id, pattern) = text.split_once(':').unwrap_or((text, "*"));
        if !rules().any(|rule| rule.id() == id) {
            return Err(id.to_owned());
        }
        self.ignored.push((id.to_owned(), pattern.to_owned()));
        Ok(self)
    }

    pub(crate) fn ignores(&self, finding: &Finding) -> bool {
        let key = finding.key().unwrap_or_default();
        let mut ignored = self.ignored.iter();
        ignored.any(|(id, pattern)| id == finding.id() && fits(key, pattern))
    }

    /// Whether every stored chunk is read and decoded.
    pub fn data(mut self, data: bool) -> Self {
        self.data = data;
        self
    }

    /// Whether each chunk that is not stored is a warning, and each inner chunk that a stored shard lacks,
    /// for which the shard's index is read. Otherwise an array that lacks few chunks
    /// gets one note. A check of one part does not report them.
    pub fn complete(mut self, complete: bool) -> Self {
        self.complete = complete;
        self
    }

    /// Whether arrays without checksums get a note if chunks are decoded: their changed bytes are not
    /// found.
    pub fn checksums(mut self, checksums: bool) -> Self {
        self.checksums = checksums;
        self
    }

    /// The number of threads that decode chunks. There are more if the store answers more requests at
    /// once.
    pub fn threads(mut self, threads: NonZeroUsize) -> Self {
        self.threads = threads;
        self
    }

    /// The most bytes of elements that may be decoded at the same time. If necessary, fewer threads
    /// are used. A larger chunk, or a larger inner chunk of a shard, is reported as not examined.
    ///
    /// In addition, each thread holds the stored bytes of a chunk and their decompressed form. To
    /// compare them with the content that a writer should write, it also holds up to twice the
    /// elements.
    ///
    /// A chunk of strings or byte strings may decompress to half of this memory.
    pub fn memory(mut self, bytes: u64) -> Self {
        self.memory = bytes;
        self
    }

    /// Checks one part, while other processes check the others: each reads its chunks of every
    /// array, and the first part also checks everything else. So each finding is in one part,
    /// and the numbers of the summaries add up to the whole's.
    pub fn part(mut self, part: impl Into<Option<Part>>) -> Self {
        self.part = part.into();
        self
    }

    /// Whether documents and keys are checked.
    pub(crate) fn is_first_part(&self) -> bool {
        self.part.is_none_or(Part::is_first)
    }

    /// The third-party codecs, for chunks that are decoded.
    pub fn codecs(mut self, codecs: Codecs) -> Self {
        self.codecs = codecs;
        self
    }
}

/// Whether a key is as a pattern says.
fn fits(key: &str, pattern: &str) -> bool {
    let Some((first, rest)) = pattern.split_once('*') else { return key == pattern };
    let Some(mut key) = key.strip_prefix(first) else { return false };
    let mut parts: Vec<&str> = rest.split('*').collect();
    let last = parts.pop().unwrap_or_default();
    for part in parts {
        match key.split_once(part) {
            Some((_, after)) => key = after,
            None => return false,
        }
    }
    key.ends_with(last)
}
