//! What a check finds, and the list of all there is to find.

use std::fmt;

use zarr_codec::ChunkErrorKind;
use zarr_grid::{GridError, GridErrorKind};
use zarr_metadata::{MetadataError, Printable};

/// How bad it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Severity {
    /// A rule of the specifications is broken: readers may fail, or read something else.
    Error,
    /// Allowed, or harmless here, but not what was meant: other readers may refuse it.
    Warning,
    /// Nothing is wrong, but worth knowing: what ordinary writers leave, or what could not be
    /// checked here.
    Note,
}

impl fmt::Display for Severity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Error => "error",
            Self::Warning => "warning",
            Self::Note => "note",
        })
    }
}

/// One thing that is wrong, and where.
///
/// Displayed as one line whatever is in it: severity, key, JSON path, message, and the id in
/// brackets, escaped as by [`Printable`](zarr_metadata::Printable).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// A stable name of the kind of finding; [`rules`] lists them, and `docs/check.md` has an
    /// entry for each.
    pub id: &'static str,
    /// How bad it is.
    pub severity: Severity,
    /// The object in the store that it is about: a document, a chunk, a stray file.
    pub key: String,
    /// The place in that object if it is a document, as a JSON path.
    pub path: Option<String>,
    /// What was found and what is allowed: one line.
    pub message: String,
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { id, severity, key, path, message } = self;
        write!(f, "{severity}: {}: ", Printable(key))?;
        if let Some(path) = path {
            write!(f, "{}: ", Printable(path))?;
        }
        write!(f, "{} [{id}]", Printable(message))
    }
}

/// A kind of finding.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Rule {
    /// The id that its findings have.
    pub id: &'static str,
    /// How bad it is.
    pub severity: Severity,
    /// What must be so, or else what it means, in one sentence without its period.
    pub about: &'static str,
}

macro_rules! rules {
    ($($name:ident $id:literal $severity:ident $about:literal;)*) => {
        /// What is found beside documents that break a rule.
        const HERE: &[Rule] =
            &[$(Rule { id: $id, severity: Severity::$severity, about: $about }),*];

        $(pub(super) const $name: Rule =
            Rule { id: $id, severity: Severity::$severity, about: $about };)*
    };
}

rules! {
    DOCUMENT "invalid-document" Error "a zarr.json breaks a rule that has no id of its own";
    FILL "fill-value-lost" Warning "the fill value does not survive the codec chain";
    LENGTH "chunk-length" Error "a chunk is stored and decoded at exactly its length";
    CHECKSUM "chunk-checksum" Error "a checksum is that of the bytes before it";
    CORRUPT "chunk-corrupt" Error "compressed bytes are of the compressor's format";
    BOOL "chunk-bool" Error "a bool is stored as the byte 0 or 1";
    PADDING "chunk-padding-byte" Error "the padding byte of packed bits is there, and says how \
        many bits are unused";
    INDEX_ENTRY "shard-index-entry" Error "both numbers of an index entry are 2^64 - 1, or neither";
    INDEX_RANGE "shard-index-range" Error "an inner chunk lies within its shard, and outside the \
        index";
    INDEX_OVERLAP "shard-index-overlap" Error "inner chunks of a shard share no more bytes than \
        equal ones that are stored once";
    DECODE "chunk-does-not-decode" Error "a chunk can be decoded within the limits set here";
    CLIPPED "clipped-chunk" Error "a chunk at the array's end is stored without its overflow";
    UNSUPPORTED "not-supported" Note "a codec or data type is not read here, so that chunks \
        cannot be checked";
    UNEXAMINED "not-examined" Warning "a chunk that could not be looked into, so that it may be \
        anything";
    UNKNOWN_CODEC "unknown-codec" Warning "no codec of this name is registered";
    CONSOLIDATED "stale-consolidated" Warning "consolidated metadata differs from the documents";
    VERSION_2 "zarr-v2-node" Warning "a node of Zarr version 2 in a hierarchy of version 3";
    STRAY "stray-object" Warning "an object that belongs to no node";
    OUTSIDE "chunk-outside-grid" Warning "a chunk that the grid does not declare";
    PAST "chunk-past-end" Warning "a chunk wholly past the array's end, which shows again when \
        the array grows";
    OVERFLOW "elements-past-end" Warning "a chunk that the array's end cuts holds elements past \
        it, which show again when the array grows";
    FILL_ONLY "fill-only-chunk" Note "a stored chunk with nothing but the fill value";
    BITS "not-canonical" Warning "bits that no element has are not what a writer should leave";
    UNFINISHED "unfinished-copy" Warning "a copy to this array or group was interrupted";
    TEMPORARY "leftover-temporary" Warning "a write that was never finished";
    LOCK "leftover-lock" Warning "an advisory lock that nobody holds";
    FOREIGN "foreign-file" Warning "a file whose name no key can have";
}

/// Findings of documents, which have ids of their own in `zarr_metadata`.
macro_rules! document_rules {
    ($($id:literal $severity:ident $about:literal;)*) => {
        /// What documents have that is read all the same.
        const READ_ALL_THE_SAME: &[Rule] =
            &[$(Rule { id: $id, severity: Severity::$severity, about: $about }),*];
    };
}

document_rules! {
    "bare-string-codec" Warning "a codec is written as a string, which others refuse";
    "bare-string-chunk-key-encoding" Warning "the key encoding is written as a string";
    "missing-codec-member" Note "a codec lacks a member that does not matter for reading";
    "unknown-rectilinear-member" Note "a rectilinear grid has a member that its document lacks";
    "unknown-data-type" Warning "no data type of this name is registered";
    "not-finite-word" Warning "bare NaN or Infinity, which is no JSON";
}

/// Every kind of finding there is.
pub fn rules() -> impl Iterator<Item = Rule> {
    let broken = zarr_metadata::Rule::ALL.iter().map(|rule| (*rule).into());
    broken.chain(READ_ALL_THE_SAME.iter().chain(HERE).copied())
}

impl From<zarr_metadata::Rule> for Rule {
    /// Documents must not break it.
    fn from(rule: zarr_metadata::Rule) -> Self {
        Self { id: rule.id(), severity: Severity::Error, about: rule.text() }
    }
}

impl Rule {
    /// The rule that a document breaks.
    pub(super) fn of_document(error: &MetadataError) -> Self {
        error.rule().map_or(DOCUMENT, Self::from)
    }

    /// What a document has that is read all the same.
    pub(super) fn of_finding(finding: &zarr_metadata::Finding) -> Option<Self> {
        READ_ALL_THE_SAME.iter().find(|rule| rule.id == finding.id()).copied()
    }

    /// The rule that edges break.
    pub(super) fn of_grid(error: &GridError) -> Self {
        use zarr_metadata::Rule as Broken;
        match error.kind() {
            GridErrorKind::ZeroEdge { .. } => Broken::GridZeroEdge.into(),
            GridErrorKind::ZeroCount { .. } => Broken::GridRun.into(),
            GridErrorKind::EdgeOverflow => Broken::GridOverflow.into(),
            GridErrorKind::EdgesTooShort { .. } => Broken::GridTooShort.into(),
            GridErrorKind::Rank { .. } => Broken::GridRank.into(),
            // The others are about what is asked of a grid.
            _ => DOCUMENT,
        }
    }

    /// The rule that a chunk's bytes break.
    pub(super) fn of_chunk(error: &ChunkErrorKind) -> Self {
        use zarr_packbits::Error as Packed;
        match error {
            ChunkErrorKind::DecodedLength { .. }
            | ChunkErrorKind::DecodedTooLong { .. }
            | ChunkErrorKind::DecodedTooShort { .. }
            | ChunkErrorKind::EncodedLength { .. }
            | ChunkErrorKind::IndexLength { .. } => LENGTH,
            ChunkErrorKind::Packed(
                Packed::MissingPaddingByte { .. } | Packed::PaddingByte { .. },
            ) => PADDING,
            ChunkErrorKind::Packed(_) => LENGTH,
            ChunkErrorKind::Checksum { .. } => CHECKSUM,
            ChunkErrorKind::Corrupt { .. } => CORRUPT,
            ChunkErrorKind::Bool { .. } => BOOL,
            ChunkErrorKind::IndexEntry { .. } => INDEX_ENTRY,
            ChunkErrorKind::IndexRange { .. } => INDEX_RANGE,
            ChunkErrorKind::IndexOverlap { .. } => INDEX_OVERLAP,
            ChunkErrorKind::OutOfMemory { .. } | ChunkErrorKind::DecodedLimit { .. } => UNEXAMINED,
            _ => DECODE,
        }
    }

    pub(super) fn at(self, key: impl Into<String>, message: impl Into<String>) -> Finding {
        let Self { id, severity, .. } = self;
        Finding { id, severity, key: key.into(), path: None, message: message.into() }
    }

    pub(super) fn at_path(self, key: &str, path: &str, message: impl Into<String>) -> Finding {
        Finding { path: Some(path.to_owned()), ..self.at(key, message) }
    }
}
