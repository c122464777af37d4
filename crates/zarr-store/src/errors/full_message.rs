//! The complete message of another library's error, in one line.

use std::error::Error;
use std::fmt;
use std::iter;

/// The most sources that are followed: an error may be its own source.
const MOST_LEVELS: usize = 64;

/// An error and its sources, joined by `": "`.
///
/// Some libraries include the source in an error's text, some return it, some do both. A source
/// that the text already contains is not repeated.
pub struct FullMessage<'a>(pub &'a (dyn Error + 'static));

impl fmt::Display for FullMessage<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut text = one_line(self.0);
        let below = iter::successors(self.0.source(), |&error| error.source());
        for error in below.take(MOST_LEVELS) {
            let said = one_line(error);
            if !says(&text, &said) {
                text.push_str(": ");
                text.push_str(&said);
            }
        }
        f.write_str(&text)
    }
}

/// Whether a text already contains the text of its source, and not merely within a name or an
/// address.
fn says(text: &str, below: &str) -> bool {
    let bounds = |c: char| !c.is_alphanumeric() && !matches!(c, '/' | '-' | '_');
    text.match_indices(below).any(|(at, _)| {
        let (before, rest) = text.split_at(at);
        let after = rest.get(below.len()..).unwrap_or_default();
        before.chars().next_back().is_none_or(bounds) && after.chars().next().is_none_or(bounds)
    })
}

/// Without line breaks and control characters, which servers send and libraries repeat.
fn one_line(error: &dyn Error) -> String {
    let text = error.to_string();
    let lines = text.split(breaks).map(str::trim).filter(|line| !line.is_empty());
    lines.collect::<Vec<_>>().join(" ")
}

/// Whether a character breaks a line, controls a terminal or changes the direction of a text.
pub(super) fn breaks(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

#[cfg(test)]
mod tests {
    use std::io;

    use super::*;

    /// An error as libraries have them: its own text, which may show the rest or not, and the rest.
    #[derive(Debug)]
    struct Level(&'static str, Option<Box<Level>>);

    impl fmt::Display for Level {
        fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str(self.0)
        }
    }

    impl Error for Level {
        fn source(&self) -> Option<&(dyn Error + 'static)> {
            self.1.as_deref().map(|level| level as _)
        }
    }

    fn levels(texts: &[&'static str]) -> Level {
        let (text, below) = texts.split_first().expect("a text");
        Level(text, (!below.is_empty()).then(|| Box::new(levels(below))))
    }

    fn said(texts: &[&'static str]) -> String {
        FullMessage(&levels(texts)).to_string()
    }

    #[test]
    fn every_level_is_said_once() {
        assert_eq!(said(&["connect", "tcp", "refused"]), "connect: tcp: refused");
        assert_eq!(said(&["connect: tcp", "tcp", "refused"]), "connect: tcp: refused");
        assert_eq!(
            said(&["connect: refused", "refused", "errno 111"]),
            "connect: refused: errno 111"
        );
        assert_eq!(
            said(&["GET http://host/timeout/0 failed", "timeout"]),
            "GET http://host/timeout/0 failed: timeout"
        );
        assert_eq!(said(&["a (timeout)", "timeout"]), "a (timeout)");
        assert_eq!(said(&["a\rb\u{1b}[1m", "c"]), "a b [1m: c");
        assert_eq!(said(&["a\u{202e}b\u{9b}31m\u{2028}", "c"]), "a b 31m: c");
        assert_eq!(said(&["<Error>\r\n  <Code>\n\n", "Busy"]), "<Error> <Code>: Busy");
    }

    #[test]
    fn an_error_that_is_its_own_source_ends() {
        #[derive(Debug)]
        struct Endless;

        impl fmt::Display for Endless {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("endless")
            }
        }

        impl Error for Endless {
            fn source(&self) -> Option<&(dyn Error + 'static)> {
                Some(self)
            }
        }

        assert_eq!(FullMessage(&Endless).to_string(), "endless");
    }

    #[test]
    fn an_io_error_says_what_it_was_made_of() {
        let error = io::Error::other(levels(&["handshake", "expired"]));
        assert_eq!(FullMessage(&error).to_string(), "handshake: expired");
    }
}
