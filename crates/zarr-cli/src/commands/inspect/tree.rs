//! `zarr-kit tree`.

use serde_json::{Map, Value, json};
use zarr_kit::metadata::NodeMetadata;
use zarr_kit::report::info::unfinished;
use zarr_kit::report::words;
use zarr_kit::{ArrayMetadata, Group, Prefix};

use crate::args::Tree;
use crate::error::{CliError, remedy};
use crate::output::print::{self, LABEL, Out};
use crate::stores::node_store::NodeStore;

/// A node, and its members if it is a group.
struct Branch {
    name: String,
    /// The node, or the error of reading it.
    node: Result<NodeMetadata, String>,
    /// A copy or join that was interrupted at this place.
    unfinished: Option<String>,
    /// `None` below the requested depth.
    members: Option<Vec<Branch>>,
}

pub(crate) fn run(args: &Tree) -> Result<(), CliError> {
    let place = NodeStore::open(&args.path)?;
    // If there is no node here, that is an error.
    let node = place.node()?;
    let depth = args.depth.unwrap_or(usize::MAX);
    let root = branch(&place, &Prefix::root(), place.shown.clone(), Ok(node), depth)?;
    if args.json {
        return print::json(&to_json(&root));
    }
    let mut out = Out::stdout();
    out.styled(LABEL, &root.name, described(&root))?;
    lines(&root, "", &mut out)?;
    out.finish()
}

/// Levels of groups beyond which a tree is cut: hostile hierarchies may be deeper than a stack.
const DEEPEST: usize = 200;

fn branch(
    place: &NodeStore,
    prefix: &Prefix,
    name: String,
    node: Result<NodeMetadata, String>,
    depth: usize,
) -> Result<Branch, CliError> {
    let is_group = matches!(node, Ok(NodeMetadata::Group(_)));
    // On a server, each array would take a request of its own.
    let is_asked = is_group || place.opened.is_quick() || prefix.is_root();
    let unfinished = is_asked.then(|| unfinished(&**place.store, prefix)).flatten();
    let unfinished = unfinished.as_ref().map(remedy::of_interrupted);
    let deepest = prefix.segments().count() >= DEEPEST;
    if !is_group || depth == 0 || deepest {
        let members = (!is_group).then(Vec::new);
        return Ok(Branch { name, node, unfinished, members });
    }
    let failed = |cause| place.failed(cause);
    let group = Group::open(place.store.clone(), prefix).map_err(failed)?;
    let mut members = Vec::new();
    for (name, node) in group.nodes().map_err(failed)? {
        let prefix = prefix.join(&name).map_err(|cause| place.failed(cause))?;
        let node = node.map_err(|error| remedy::of_array(&error));
        members.push(branch(place, &prefix, name, node, depth - 1)?);
    }
    Ok(Branch { name, node, unfinished, members: Some(members) })
}

fn lines(group: &Branch, indent: &str, out: &mut Out) -> Result<(), CliError> {
    let members = group.members.as_deref().unwrap_or_default();
    for (at, member) in members.iter().enumerate() {
        let is_last = at + 1 == members.len();
        let (joint, below) =
            if is_last { ("└── ", "    ") } else { ("├── ", "│   ") };
        out.line(format_args!("{indent}{joint}{}{}", member.name, described(member)))?;
        lines(member, &format!("{indent}{below}"), out)?;
    }
    Ok(())
}

/// The text after a name.
fn described(branch: &Branch) -> String {
    let mut text = match &branch.node {
        Ok(NodeMetadata::Array(array)) => format!("  {}", array_in_words(array)),
        Ok(NodeMetadata::Group(_)) if branch.members.is_none() => "/ ...".to_owned(),
        Ok(NodeMetadata::Group(_)) => "/".to_owned(),
        Err(error) => format!("  error: {error}"),
    };
    if let Some(unfinished) = &branch.unfinished {
        text.push_str(&format!("  unfinished: {unfinished}"));
    }
    text
}

fn array_in_words(array: &ArrayMetadata) -> String {
    let shape = words::shape(array.shape());
    let codecs = words::codecs(array.codecs(), array.data_type());
    format!("{} {shape}  {codecs}", array.data_type().name())
}

fn to_json(branch: &Branch) -> Value {
    let mut members = Map::new();
    members.insert("name".to_owned(), branch.name.as_str().into());
    match &branch.node {
        Ok(NodeMetadata::Array(array)) => {
            members.insert("node_type".to_owned(), "array".into());
            members.insert("data_type".to_owned(), array.data_type().name().into());
            members.insert("shape".to_owned(), json!(array.shape()));
            members.insert("dimension_names".to_owned(), json!(array.dimension_names()));
        }
        Ok(NodeMetadata::Group(_)) => {
            members.insert("node_type".to_owned(), "group".into());
            let below = branch.members.as_ref();
            let below = below.map(|below| below.iter().map(to_json).collect::<Vec<_>>());
            members.insert("members".to_owned(), json!(below));
        }
        Err(error) => {
            members.insert("error".to_owned(), error.as_str().into());
        }
    }
    if let Some(unfinished) = &branch.unfinished {
        members.insert("unfinished".to_owned(), unfinished.as_str().into());
    }
    Value::Object(members)
}
