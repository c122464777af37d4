//! The abilities of a terminal.

/// The abilities of a terminal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Screen {
    /// Characters per line.
    pub columns: usize,
    /// Whether text may have colours.
    pub color: bool,
    /// Whether there are more than 256 colours.
    pub true_color: bool,
}
