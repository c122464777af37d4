//! What clients do.

/// An operation of a client.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Op {
    /// Opens the array anew.
    Open,
    Read,
    /// Writes `count` elements from an index on, as far as the array reaches.
    Write {
        start: u64,
        count: u64,
        value: u16,
    },
    Append {
        count: u64,
        value: u16,
    },
    Resize {
        length: u64,
        discard: bool,
    },
    /// Sets an attribute.
    Set {
        name: usize,
        value: u16,
    },
    /// Consolidates the metadata of the group.
    Consolidate,
    /// Copies the source, over a copy that is there if so wished.
    Copy {
        overwrite: bool,
    },
    /// Copies a part of the source.
    CopyPart {
        number: u32,
    },
    ReadCopy,
    /// Sets all elements of the source.
    Fill {
        value: u16,
    },
    DeleteCopy,
    /// Joins the members, with links if the store has them, over what is there if so wished.
    Join {
        link: bool,
        overwrite: bool,
    },
    /// Sets all elements of a member.
    FillMember {
        member: usize,
        value: u16,
    },
    /// Moves chunks of what was joined; the number decides which.
    Rearrange {
        choice: u64,
    },
    /// Creates an array in the place of what was joined.
    Replace {
        length: u64,
    },
    /// Undoes or completes an interrupted rearrangement.
    Repair,
    /// Reads what was joined or added.
    Look,
    /// Adds an array to a zip archive.
    Session {
        value: u16,
    },
    /// Joins arrays virtually.
    Document {
        may_change: bool,
    },
    /// Moves, removes or inserts members of a virtual join; the number decides which.
    Shift {
        choice: u64,
    },
}

impl Op {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Open => "open",
            Self::Read => "read",
            Self::Write { .. } => "write",
            Self::Append { .. } => "append",
            Self::Resize { discard: false, .. } => "resize",
            Self::Resize { discard: true, .. } => "resize and discard",
            Self::Set { .. } => "attributes",
            Self::Consolidate => "consolidate",
            Self::Copy { .. } => "copy",
            Self::CopyPart { .. } => "copy a part",
            Self::ReadCopy => "read a copy",
            Self::Fill { .. } => "change the source",
            Self::DeleteCopy => "delete",
            Self::Join { overwrite: false, .. } => "join",
            Self::Join { overwrite: true, .. } => "join over what is there",
            Self::FillMember { .. } => "change a member",
            Self::Rearrange { .. } => "rearrange",
            Self::Replace { .. } => "create over what is there",
            Self::Repair => "repair",
            Self::Look => "read what was joined or added",
            Self::Session { .. } => "zip session",
            Self::Document { .. } => "virtual join",
            Self::Shift { .. } => "rearrange a virtual join",
        }
    }

    /// Whether it changes anything.
    pub(crate) fn writes(self) -> bool {
        !matches!(self, Self::Open | Self::Read | Self::ReadCopy | Self::Look)
    }
}
