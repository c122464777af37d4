//! The rules for objects of a store, in addition to the rules for documents, and the rule that an
//! error breaks.

use zarr_codec::ChunkErrorKind;
use zarr_grid::{GridError, GridErrorKind};
use zarr_metadata::MetadataError;
pub use zarr_metadata::{Finding, Rule, Severity};
use zarr_store::{Key, Store, StoreError};

macro_rules! rules {
    ($($name:ident $id:literal $severity:ident $text:literal;)*) => {
        $(pub(crate) const $name: Rule = Rule::new($id, Severity::$severity, $text);)*

        /// The rules that do not concern a document.
        const OF_OBJECTS: &[Rule] = &[$($name),*];
    };
}

rules! {
    DOCUMENT "invalid-document" Error "a zarr.json breaks a rule that has no id of its own";
    FILL "fill-value-lost" Warning "the fill value does not survive the codec chain";
    LENGTH "chunk-length" Error "a chunk must have the length that follows from the metadata";
    CHECKSUM "chunk-checksum" Error "a checksum must match the bytes before it";
    CORRUPT "chunk-corrupt" Error "compressed bytes must have the compressor's format";
    BOOL "chunk-bool" Error "a bool must be stored as the byte 0 or 1";
    TEXT "chunk-text" Error "a code unit of fixed_length_utf32 must be a Unicode code point";
    PADDING "chunk-padding-byte" Error "the padding byte of packed bits must be the number of \
        unused bits";
    INDEX_ENTRY "shard-index-entry" Error "both numbers of an index entry must be 2^64 - 1, or neither";
    INDEX_RANGE "shard-index-range" Error "an inner chunk must lie within its shard, and outside \
        the index";
    INDEX_OVERLAP "shard-index-overlap" Error "inner chunks of a shard must share no more bytes \
        than equal chunks that are stored once";
    DECODE "chunk-does-not-decode" Error "decoding a chunk must stay within the limits";
    CLIPPED "clipped-chunk" Error "a chunk at the array's end must be stored at full size";
    UNSUPPORTED "not-supported" Note "this build lacks a codec or data type, so chunks cannot \
        be checked";
    UNEXAMINED "not-examined" Warning "an object that could not be checked";
    UNKNOWN_CODEC "unknown-codec" Warning "no codec of this name is registered";
    CONSOLIDATED "stale-consolidated" Warning "consolidated metadata differs from the documents";
    NODE_NAME "node-name" Error "a node's name must not be zarr.json, consist of periods only, or \
        begin with __";
    VERSION_2 "zarr-v2-node" Warning "a node of Zarr version 2 in a hierarchy of version 3";
    STRAY "stray-object" Warning "an object that belongs to no node";
    CONVENTION "convention" Warning "attributes of a known convention do not agree with the nodes of \
        their group";
    HIDDEN "hidden-chunks" Warning "chunks under keys of another encoding than the document's, which \
        read as fill values";
    MIGRATED "migrated-document" Note "a document of Zarr version 2 beside one of version 3";
    OUTSIDE "chunk-outside-grid" Warning "a chunk that the grid does not declare";
    PAST "chunk-past-end" Warning "a chunk wholly past the array's end, which shows again when \
        the array grows";
    OVERFLOW "elements-past-end" Note "a chunk that the array's end cuts holds elements past \
        it, which show again when the array grows";
    MISSING "missing-chunk" Warning "a chunk is not stored, although all were expected";
    MISSING_FEW "few-missing-chunks" Note "most chunks are stored, and a few are not";
    FILL_ONLY "fill-only-chunk" Note "a stored chunk with nothing but the fill value";
    BITS "not-canonical" Warning "unused bits are set";
    MEMBER "unusable-member" Error "a member of a virtual join must be present and unchanged";
    NO_CHECKSUM "no-checksum" Note "changed bytes of an array's chunks are not found";
    UNFINISHED "unfinished-copy" Warning "a copy to this array or group was interrupted";
    REARRANGING "unfinished-rearrangement" Warning "moving chunks along an axis of this array was \
        interrupted";
    HALF "half-rearranged-group" Warning "rearranging the arrays of a group was interrupted";
    TEMPORARY "leftover-temporary" Warning "a write that was never finished";
    LOCK "leftover-lock" Warning "a lock file of a process that has ended";
    FOREIGN "foreign-file" Warning "a file that is not an object: its name is not a valid key, or \
        it is not a regular file";
}

/// The consequence of chunks and elements past the end of an array, as a text.
pub(crate) fn shows_again(is_version_2: bool) -> &'static str {
    match is_version_2 {
        // It is not resized here.
        true => "it shows again when the array grows",
        false => {
            "it shows again when the array grows; a resize to the array's own shape removes it"
        }
    }
}

/// A finding that an object, or the content of a folder, could not be examined.
pub(crate) fn unexamined(key: impl std::fmt::Display, why: impl std::fmt::Display) -> Finding {
    Finding::new(UNEXAMINED, format!("not examined: {why}")).with_key(key.to_string())
}

/// A finding of an object that could not be read: an error if its container tells that its bytes
/// have changed.
pub(crate) fn unreadable(key: impl std::fmt::Display, error: &StoreError) -> Finding {
    match error {
        StoreError::Damaged { .. } => {
            Finding::new(CHECKSUM, error.to_string()).with_key(key.to_string())
        }
        _ => unexamined(key, error),
    }
}

/// A finding of a document of version 2 that is not read.
pub(crate) fn migrated(key: &Key) -> Finding {
    let message = "of Zarr version 2, beside a zarr.json, which is read in its place: a migration may have left it";
    Finding::new(MIGRATED, message).with_key(key.as_str())
}

/// A finding of something that is no object.
pub(crate) fn foreign(name: String) -> Finding {
    let message = "no object: no key can have this name, or it is no regular file";
    Finding::new(FOREIGN, message).with_key(name)
}

/// Whether a listed key is a link that leads nowhere: it is told as what is [no object](foreign). Only
/// stores of files are asked.
pub(crate) fn leads_nowhere(store: &dyn Store, key: &Key) -> bool {
    matches!(store.file_path(key), Ok(Some(_)))
        && matches!(store.head(key), Err(StoreError::DanglingLink { .. }))
}

/// Every rule of a check: the rules for documents, [`Rule::ALL`], and the rules for chunks and keys.
pub fn rules() -> impl Iterator<Item = Rule> {
    Rule::ALL.iter().chain(OF_OBJECTS).copied()
}

/// The explanation of a rule, by its id: the rule's severity, its meaning, the cause and the repair,
/// which may be those of similar rules. Markdown, without a heading; `None` if no rule has the id.
///
/// # Examples
/// ```
/// let text = zarr_check::explanation("stray-object").expect("a rule");
/// assert!(text.starts_with("Warning. ") && text.contains("\nCause: ") && text.contains("\nRepair: "));
/// ```
#[must_use]
pub fn explanation(id: &str) -> Option<String> {
    /// The page with an entry for each rule.
    const PAGE: &str = include_str!("../findings.md");
    let id = rules().find(|rule| rule.id() == id)?.id();
    let (before, entry) = PAGE.split_once(&format!("\n## {id}\n\n"))?;
    let mut text = entry.split("\n#").next().unwrap_or(entry).trim().to_owned();
    let (_, section) = before.rsplit_once("\n# ")?;
    let of_section = section.split("\n## ").next().unwrap_or_default();
    for kind in ["Cause: ", "Repair: "] {
        let is_of_kind = |line: &&str| line.starts_with(kind);
        if !text.lines().any(|line| is_of_kind(&line)) {
            for line in of_section.lines().filter(is_of_kind) {
                text.push('\n');
                text.push_str(line);
            }
        }
    }
    Some(text)
}

/// The rule that a document breaks.
pub(crate) fn rule_of_document(error: &MetadataError) -> Rule {
    error.rule().unwrap_or(DOCUMENT)
}

/// The rule that edges break.
pub(crate) fn rule_of_grid(error: &GridError) -> Rule {
    match error.kind() {
        GridErrorKind::ZeroEdge { .. } => Rule::GRID_ZERO_EDGE,
        GridErrorKind::ZeroCount { .. } => Rule::GRID_RUN,
        GridErrorKind::EdgeOverflow => Rule::GRID_OVERFLOW,
        GridErrorKind::EdgesTooShort { .. } => Rule::GRID_TOO_SHORT,
        GridErrorKind::Rank { .. } => Rule::GRID_RANK,
        // The other errors concern requests to a grid.
        _ => DOCUMENT,
    }
}

/// The rule that a chunk's bytes break.
pub(crate) fn rule_of_chunk(error: &ChunkErrorKind) -> Rule {
    use zarr_packbits::Error as Packed;
    match error {
        ChunkErrorKind::DecodedLength { .. }
        | ChunkErrorKind::DecodedTooLong { .. }
        | ChunkErrorKind::DecodedTooShort { .. }
        | ChunkErrorKind::EncodedLength { .. }
        | ChunkErrorKind::ElementCount { .. }
        | ChunkErrorKind::ElementLength { .. }
        | ChunkErrorKind::TrailingBytes { .. }
        | ChunkErrorKind::IndexLength { .. } => LENGTH,
        ChunkErrorKind::Packed(Packed::MissingPaddingByte { .. } | Packed::PaddingByte { .. }) => {
            PADDING
        }
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
