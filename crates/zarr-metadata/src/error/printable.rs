//! Text from outside, made safe to show.

use std::fmt::{self, Write};

/// Shows a value and escapes all characters that control a terminal or hide text.
///
/// Names, keys and attributes come from the writer of a store, who may be hostile. Unescaped, they
/// could move the cursor, recolour or rename a terminal, forge lines, or reverse the order of
/// letters. All messages of this project's errors pass through here. Characters that
/// [`is_printable`] refuses are written as in Rust's literals: `\n`, `\u{1b}`. Backslashes stay as
/// they are, so that text may pass through twice.
///
/// # Examples
/// ```
/// use zarr_metadata::Printable;
///
/// assert_eq!(Printable("a\u{1b}[2Jb\nerror: c").to_string(), r"a\u{1b}[2Jb\nerror: c");
/// assert_eq!(Printable("température").to_string(), "température");
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Printable<T>(pub T);

impl<T: fmt::Display> fmt::Display for Printable<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(Escaping(f), "{}", self.0)
    }
}

struct Escaping<'a, 'f>(&'a mut fmt::Formatter<'f>);

impl Write for Escaping<'_, '_> {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        let mut rest = text;
        while let Some((at, c)) = rest.char_indices().find(|(_, c)| !is_printable(*c)) {
            let (before, from) = rest.split_at(at);
            write!(self.0, "{before}{}", c.escape_default())?;
            rest = from.get(c.len_utf8()..).unwrap_or_default();
        }
        self.0.write_str(rest)
    }
}

/// Whether a character shows as itself and does not change its surroundings. Refused are control
/// characters, line and paragraph separators, Unicode's bidirectional controls, and invisible
/// characters except the joiners that some scripts need.
///
/// # Examples
/// ```
/// use zarr_metadata::is_printable;
///
/// assert!(is_printable('é'));
/// assert!(!is_printable('\u{1b}')); // begins the escape sequences of terminals
/// ```
#[must_use]
pub fn is_printable(c: char) -> bool {
    let hides = matches!(c,
        // Bidirectional controls: marks, embeddings, overrides and isolates.
        '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}'
        // Separators of lines and paragraphs.
        | '\u{2028}' | '\u{2029}'
        // Invisible: soft hyphen, zero-width space, word joiner and operators, deprecated format
        // characters, byte order mark, annotations, tags; and the two of no meaning that XML forbids.
        | '\u{ad}' | '\u{200b}' | '\u{2060}'..='\u{2065}' | '\u{206a}'..='\u{206f}' | '\u{feff}'
        | '\u{fff9}'..='\u{fffb}' | '\u{fffe}' | '\u{ffff}' | '\u{e0000}'..='\u{e007f}');
    !c.is_control() && !hides
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_terminal_obeys_is_escaped() {
        let cases = [
            ("", ""),
            ("temp_max", "temp_max"),
            ("日本語 é e\u{301} 👩\u{200d}🔬", "日本語 é e\u{301} 👩\u{200d}🔬"),
            ("\u{1b}]0;title\u{7}", r"\u{1b}]0;title\u{7}"),
            ("a\r\nb\tc", r"a\r\nb\tc"),
            ("\u{9b}31m", r"\u{9b}31m"),
            ("\u{7f}", r"\u{7f}"),
            ("a\u{202e}cba", r"a\u{202e}cba"),
            ("\u{2028}\u{2029}", r"\u{2028}\u{2029}"),
            ("\u{e0041}", r"\u{e0041}"),
            ("\u{fffd}\u{fffe}\u{ffff}", "\u{fffd}\\u{fffe}\\u{ffff}"),
        ];
        for (text, expected) in cases {
            let shown = Printable(text).to_string();
            assert_eq!(shown, expected);
            assert_eq!(Printable(&shown).to_string(), shown, "twice");
        }
    }

    #[test]
    fn every_ascii_character_that_prints_stays() {
        for c in '\0'..='\u{7f}' {
            assert_eq!(is_printable(c), c == ' ' || c.is_ascii_graphic(), "{c:?}");
        }
    }
}
