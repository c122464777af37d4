//! The arguments of `join`.

use std::path::PathBuf;

use clap::ValueEnum;

use super::shared::value;

/// Join arrays or groups into one, without decoding chunks that fit.
///
/// Chunks of the members become chunks of the joined array unchanged: the file system clones their
/// objects if it can, else they are copied; --link makes hard links. Only chunks that must change are
/// decoded: the padded last chunk of a member with chunks of one length, and members that differ from
/// the first member in codecs or fill value. All members are checked before anything is written.
///
/// Arrays of groups are matched by name. Arrays without the joined dimension must be equal in all
/// members.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  zarr-kit join 2015-*.zarr --along time -o 2015.zarr
  zarr-kit join 2015-*.zarr --along time -o 2015.zarr --dry-run
  zarr-kit join @months.txt --along time -o 2015.zarr --link
  zarr-kit join tiles/*.zarr --along y,x --grid 3x4 -o map.zarr
  zarr-kit join tiles/*.zarr --along y,x --grid auto -o map.zarr
  zarr-kit join tiles/*.zarr --along y,x --grid auto --shards 4096,4096 -o map.zarr
  zarr-kit join run-*.zarr --new-axis run -o runs.zarr
  zarr-kit join 2015-*.zarr --along time --virtual -o 2015.zjoin")]
pub(crate) struct Join {
    /// The members, in order: folders or URLs, patterns with * and ?, or @FILE for a file with one
    /// member per line. In a URL the last name may have *.
    #[arg(value_name = "MEMBER")]
    pub(crate) members: Vec<String>,
    /// The joined array or group: a folder or a URL.
    #[arg(long, short, value_name = "OUT", required_unless_present = "dry_run")]
    pub(crate) output: Option<String>,
    /// A file with one member per line, which follow the members in the arguments; - is standard input.
    #[arg(long, value_name = "FILE")]
    pub(crate) from: Option<PathBuf>,
    /// The axis along which to join: its name or, for arrays and for groups of arrays without names, its
    /// number. With --grid, one per axis of the grid.
    #[arg(long, value_name = "AXIS,AXIS", required_unless_present = "new_axis")]
    #[arg(allow_hyphen_values = true, value_parser = value)]
    pub(crate) along: Option<String>,
    /// Stack the members along a new first axis with this name.
    #[arg(long, value_name = "NAME", conflicts_with_all = ["along", "grid"])]
    pub(crate) new_axis: Option<String>,
    /// How many members lie along each axis, the last one varying fastest: 3x4; or auto, by the
    /// coordinates of the members, which must be groups.
    #[arg(long, value_name = "NxM|auto")]
    pub(crate) grid: Option<String>,
    /// The chunks of the joined arrays, instead of the members' chunks: time=365. Chunks that no member
    /// has are decoded and written; --dry-run counts them.
    #[arg(long, value_name = "CHUNKS", allow_hyphen_values = true, value_parser = value)]
    pub(crate) chunks: Option<String>,
    /// The lengths of the joined arrays' shards, which hold the chunks; --chunks are then those within the
    /// shards. Chunks and inner chunks of members that are inner chunks of these shards move as they are.
    #[arg(long, value_name = "SHARDS", allow_hyphen_values = true, value_parser = value)]
    pub(crate) shards: Option<String>,
    /// Refuse a result that another program does not read. All programs read the result of --chunks
    /// with one length.
    #[arg(long, conflicts_with = "only_document")]
    pub(crate) portable: bool,
    /// How attributes that differ are combined. Those that change what numbers mean must always be equal:
    /// units, calendar, scale_factor, add_offset, _FillValue, missing_value, _Unsigned, dtype, flags.
    #[arg(long, value_enum, value_name = "RULE", default_value = "override")]
    pub(crate) combine_attrs: Combine,
    /// Join numbers of different types in the narrowest type that has all of them: int16 of int8 and int16.
    /// Members of a narrower type are decoded and written. No integer is rounded.
    #[arg(long)]
    pub(crate) promote: bool,
    /// Also join groups with coordinates that overlap or change direction.
    #[arg(long)]
    pub(crate) any_order: bool,
    /// Make hard links to the members' chunks instead of copies. A program that later writes into such a
    /// file in place also changes the member; zarr-kit never does.
    #[arg(long)]
    pub(crate) link: bool,
    /// Write a virtual join: a small file OUT, which must end in .zjoin, that opens as the joined array.
    /// Nothing is copied, and members may differ in chunks, codecs and fill values.
    #[arg(long = "virtual", conflicts_with_all = ["chunks", "shards", "promote", "link", "resume", "overwrite", "dry_run"])]
    pub(crate) only_document: bool,
    /// With --virtual: members that are missing later read as the fill value.
    #[arg(long, requires = "only_document")]
    pub(crate) fill_missing: bool,
    /// With --virtual: chunks of members may change after the join; reads return the current elements.
    /// Without this option, reading a chunk that was modified after the join is an error.
    #[arg(long, requires = "only_document")]
    pub(crate) chunks_may_change: bool,
    /// Continue an interrupted join of the same members.
    #[arg(long, conflicts_with = "overwrite")]
    pub(crate) resume: bool,
    /// Remove the array or group at OUT first.
    #[arg(long)]
    pub(crate) overwrite: bool,
    /// Print the plan, and write nothing.
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// Print the result, or with --dry-run the plan, as one JSON document.
    #[arg(long)]
    pub(crate) json: bool,
}

/// The names that Xarray gives the rules.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
#[value(rename_all = "snake_case")]
pub(crate) enum Combine {
    /// The attributes of the first member.
    Override,
    /// All attributes, except conflicting ones.
    DropConflicts,
    /// All attributes; conflicting values are an error.
    NoConflicts,
    /// All members must have the same attributes.
    Identical,
    /// No attributes.
    Drop,
}
