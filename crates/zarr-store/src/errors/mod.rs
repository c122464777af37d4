//! Errors and their messages.

pub(crate) mod error;
pub(crate) mod full_message;
pub(crate) mod remedy;
pub(crate) mod utc;

use std::fmt::{self, Write as _};

/// Writes a text without line breaks or control characters, which a name in it may have.
#[doc(hidden)]
pub fn one_line(text: &dyn fmt::Display, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    text.to_string().chars().try_for_each(|c| match full_message::breaks(c) {
        true => write!(f, "{}", c.escape_default()),
        false => f.write_char(c),
    })
}

/// Errors whose `{:?}` is their `{}`: the one line that `main`, `unwrap` and `expect` print.
#[doc(hidden)]
#[macro_export]
macro_rules! debug_as_text {
    ($($error:ty),+) => {$(
        impl ::std::fmt::Debug for $error {
            fn fmt(&self, f: &mut ::std::fmt::Formatter<'_>) -> ::std::fmt::Result {
                $crate::one_line(self, f)
            }
        }
    )+};
}

crate::debug_as_text!(error::StoreError, error::ModifiedObject, crate::KeyError);

#[cfg(test)]
mod tests {
    use super::*;

    struct Named(&'static str);

    impl fmt::Display for Named {
        fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            write!(f, "{}: refused", self.0)
        }
    }

    crate::debug_as_text!(Named);

    #[test]
    fn debug_is_one_line_whatever_a_name_has() {
        assert_eq!(format!("{:?}", Named("räin \\ \"a\"")), "räin \\ \"a\": refused");
        let hostile = Named("a\n\u{1b}[2Jb\u{202e}c");
        assert_eq!(format!("{hostile:?}"), "a\\n\\u{1b}[2Jb\\u{202e}c: refused");
    }
}
