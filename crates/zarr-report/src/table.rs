//! Names and values, one per line.

use std::fmt::Display;

use zarr_metadata::Printable;

/// The most characters of a name to which others are aligned.
const COLUMN: usize = 40;

/// Lines of a name and a value, with the values aligned.
///
/// # Examples
/// ```
/// let mut table = zarr_report::Table::default();
/// table.row("type", "int16");
/// table.row("fill value", 0);
/// assert_eq!(table.text(), "type        int16\nfill value  0");
/// ```
#[derive(Debug, Default)]
pub struct Table {
    rows: Vec<(String, String)>,
}

impl Table {
    /// Adds a line. Characters that control a terminal are escaped, because names and values come
    /// from stores.
    pub fn row(&mut self, name: impl Display, value: impl Display) {
        // Escaped here, so that columns have the width of the printed text.
        self.rows.push((Printable(name).to_string(), Printable(value).to_string()));
    }

    /// The names and values, escaped.
    pub fn rows(&self) -> impl Iterator<Item = (&str, &str)> {
        self.rows.iter().map(|(name, value)| (name.as_str(), value.as_str()))
    }

    /// The number of characters of the longest name, of those up to 40. A longer name makes only its
    /// own line longer.
    #[must_use]
    pub fn width(&self) -> usize {
        let lengths = self.rows.iter().map(|(name, _)| name.chars().count());
        lengths.filter(|length| *length <= COLUMN).max().unwrap_or(0)
    }

    /// One line per row, of any length.
    #[must_use]
    pub fn text(&self) -> String {
        let width = self.width();
        let lines = self.rows.iter().map(|(name, value)| {
            let line = format!("{name:width$}  {value}");
            line.trim_end().to_owned()
        });
        lines.collect::<Vec<_>>().join("\n")
    }
}

/// Breaks a text into lines of at most `room` characters, at spaces if there are any.
#[must_use]
pub fn wrapped(text: &str, room: usize) -> Vec<&str> {
    let mut lines = Vec::new();
    let mut rest = text;
    while let Some((end, _)) = rest.char_indices().nth(room) {
        // A space just past the end is acceptable.
        let cut = rest[..=end].rfind(' ').filter(|cut| *cut > 0);
        let Some(cut) = cut else { break };
        lines.push(rest[..cut].trim_end());
        rest = rest[cut..].trim_start();
    }
    lines.push(rest);
    lines
}

#[cfg(test)]
mod tests {
    use super::{Table, wrapped};

    /// Formatting pads to at most 65,535 characters, and each row would be as long as the name.
    #[test]
    fn a_long_name_makes_only_its_own_line_longer() {
        let long = "k".repeat(70_000);
        let mut table = Table::default();
        table.row("type", "int8");
        table.row(&long, 1);
        assert_eq!(table.text(), format!("type  int8\n{long}  1"));
    }

    #[test]
    fn lines_end_between_words() {
        assert_eq!(wrapped("", 5), [""]);
        assert_eq!(wrapped("ab cd ef", 5), ["ab cd", "ef"]);
        assert_eq!(wrapped("ab cd ef", 4), ["ab", "cd", "ef"]);
        assert_eq!(wrapped("ab  cd ef", 8), ["ab  cd", "ef"]);
        assert_eq!(wrapped("abcdefgh ij", 5), ["abcdefgh ij"]);
        assert_eq!(wrapped("é é é é", 3), ["é é", "é é"]);
    }
}
