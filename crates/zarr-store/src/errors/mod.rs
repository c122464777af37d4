//! Errors and their messages.

pub(crate) mod error;
pub(crate) mod full_message;
pub(crate) mod remedy;
pub(crate) mod utc;

/// Errors whose `{:?}` is their `{}`: the one line that `main`, `unwrap` and `expect` print.
#[doc(hidden)]
#[macro_export]
macro_rules! debug_as_text {
    ($($error:ty),+) => {$(
        impl ::std::fmt::Debug for $error {
            fn fmt(&self, f: &mut ::std::fmt::Formatter<'_>) -> ::std::fmt::Result {
                ::std::fmt::Display::fmt(self, f)
            }
        }
    )+};
}

crate::debug_as_text!(error::StoreError, error::ModifiedObject, crate::KeyError);
