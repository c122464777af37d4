//! The arguments of commands for groups and attributes.

/// Show a group and everything below it: arrays with their type, shape and chunks.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Example:
  zarr-kit tree weather.zarr")]
pub(crate) struct Tree {
    /// An array or group: a folder or a URL.
    pub(crate) path: String,
    /// The number of levels to show [default: all].
    #[arg(long, short, value_name = "N")]
    pub(crate) depth: Option<usize>,
    /// Print one JSON document.
    #[arg(long)]
    pub(crate) json: bool,
}

/// Print or change the attributes of an array or group.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Values are JSON. Text has quotes, which need quotes around them in most shells.

Examples:
  zarr-kit attrs weather.zarr/temp
  zarr-kit attrs weather.zarr/temp units
  zarr-kit attrs image.zarr/0 --dims t,c,y,x
  zarr-kit attrs weather.zarr/temp --set 'units=\"degC\"' --set scale=0.5 --remove old")]
pub(crate) struct Attrs {
    /// An array or group: a folder or a URL.
    pub(crate) path: String,
    /// Print this attribute only.
    #[arg(conflicts_with_all = ["set", "remove"])]
    pub(crate) name: Option<String>,
    /// Set an attribute to a JSON value; may be given several times.
    #[arg(long, value_name = "NAME=JSON")]
    pub(crate) set: Vec<String>,
    /// Remove an attribute; may be given several times.
    #[arg(long, value_name = "NAME")]
    pub(crate) remove: Vec<String>,
    /// Name the axes of an array, which the standard keeps beside the attributes: time,y,x.
    #[arg(long, value_name = "NAME,NAME", conflicts_with_all = ["name", "set", "remove"])]
    pub(crate) dims: Option<String>,
}

/// Write the metadata of all nodes below a group into the group's own.
///
/// Readers that use it open a whole hierarchy with one request. Changes by zarr-kit keep it up to
/// date from then on; after changes by others, `check` names outdated metadata.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Example:
  zarr-kit consolidate weather.zarr")]
pub(crate) struct Consolidate {
    /// A group: a folder or a URL.
    pub(crate) path: String,
    /// Remove the consolidated metadata instead.
    #[arg(long)]
    pub(crate) remove: bool,
    /// Print the result as one JSON document.
    #[arg(long)]
    pub(crate) json: bool,
}

/// Delete an array, or a group and everything below it.
///
/// Asks first, unless --yes is given. The document of each node is deleted first, so that no reader sees
/// half a node. The same command completes an interrupted deletion. Of a symbolic link, only the link is
/// deleted, not its target.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Example:
  zarr-kit delete weather.zarr/old --yes")]
pub(crate) struct Delete {
    /// An array or group: a folder or a URL.
    pub(crate) path: String,
    /// Do not ask.
    #[arg(long, short)]
    pub(crate) yes: bool,
    /// Also delete files in it that belong to no node; they are listed first. Without this option,
    /// such files stay and nothing is deleted.
    #[arg(long)]
    pub(crate) with_other_files: bool,
    /// Print the result as one JSON document.
    #[arg(long)]
    pub(crate) json: bool,
}
