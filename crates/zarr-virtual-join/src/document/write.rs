//! Writes the document of a virtual join.

use std::fmt::Write as _;

use zarr_grid::{Axis, AxisKind};

use super::read::VERSION;
use super::{Document, JoinedArray, MemberReference, Missing, Node};

impl Document {
    /// The document's JSON: a line per node and per member, so that programs which compare lines show
    /// which member has changed.
    #[must_use]
    pub fn to_json(&self) -> String {
        let mut text = format!("{{\n  \"zarr_kit_join\": {VERSION},\n  \"nodes\": {{");
        for (number, (path, node)) in self.nodes.iter().enumerate() {
            let comma = if number == 0 { "" } else { "," };
            // Writing to a string does not fail.
            let _ok = write!(text, "{comma}\n    {}: {{", string(path));
            match node {
                Node::Group(group) => {
                    let _ok = write!(text, "\"metadata\": {}", one_line(group.json()));
                }
                Node::Array(array) => write_array(array, &mut text),
            }
            text.push('}');
        }
        text.push_str("\n  }\n}\n");
        text
    }
}

fn write_array(array: &JoinedArray, text: &mut String) {
    let metadata = one_line(array.metadata.json());
    let shapes: Vec<String> = array.grid.axes().iter().map(lengths).collect();
    let _ok = write!(
        text,
        "\n      \"metadata\": {metadata},\n      \"member_shapes\": [{}],",
        shapes.join(", ")
    );
    if let Some(axis) = array.new_axis {
        let _ok = write!(text, "\n      \"new_axis\": {axis},");
    }
    if array.missing == Missing::Fill {
        text.push_str("\n      \"missing\": \"fill\",");
    }
    text.push_str("\n      \"members\": [");
    for (number, member) in array.members.iter().enumerate() {
        text.push_str(if number == 0 { "\n        " } else { ",\n        " });
        match member {
            None => text.push_str("null"),
            Some(member) => write_member(member, text),
        }
    }
    text.push_str("\n      ]\n    ");
}

fn write_member(member: &MemberReference, text: &mut String) {
    let _ok = write!(text, "{{\"location\": {}", string(&member.location));
    if !member.path.is_root() {
        let _ok = write!(text, ", \"path\": {}", string(member.path.as_str()));
    }
    if let Some(length) = member.length {
        let _ok = write!(text, ", \"length\": {length}");
    }
    if let Some(etag) = &member.etag {
        let _ok = write!(text, ", \"etag\": {}", string(etag));
    }
    if let Some(time) = &member.last_modified {
        let _ok = write!(text, ", \"last_modified\": {time}");
    }
    if let Some(time) = &member.chunks_last_updated_at {
        let _ok = write!(text, ", \"chunks_last_updated_at\": {time}");
    }
    text.push('}');
}

/// The lengths of the members on an axis, in the notation of `rectilinear` grids.
fn lengths(axis: &Axis) -> String {
    if let AxisKind::Regular { edge } = axis.kind() {
        return edge.to_string();
    }
    let runs = axis.runs().map(|run| match run.count {
        1 => run.edge.to_string(),
        count => format!("[{}, {count}]", run.edge),
    });
    format!("[{}]", runs.collect::<Vec<_>>().join(", "))
}

fn string(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

/// A document of a node without the line breaks between its values. Those within strings are escaped
/// in JSON.
fn one_line(json: &str) -> String {
    json.lines().map(str::trim).collect::<Vec<_>>().join(" ")
}
