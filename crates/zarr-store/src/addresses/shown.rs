//! URLs without the secrets that they may contain.

use crate::addresses::scheme::{Service, has_container_first, scheme_of};

/// The URL of a store as errors and logs may show it: without user and password, and without the
/// part after `?` or `#`, where signed URLs have their signature. Paths are unchanged, so that they
/// still name the same file or folder: also spaces at their ends.
///
/// Works on any text that a user typed, also on malformed URLs: any possible password is removed.
/// The container of `abfss://container@account.host` is not a user, and is kept unless a password
/// follows it.
///
/// # Examples
/// ```
/// use zarr_store::shown_url;
///
/// assert_eq!(shown_url("https://me:secret@host:8080/a.zarr?sig=secret"), "https://host:8080/a.zarr");
/// assert_eq!(shown_url("s3://bucket/a@2024.zarr"), "s3://bucket/a@2024.zarr");
/// assert_eq!(shown_url("data/a#1?.zarr"), "data/a#1?.zarr");
/// assert_eq!(shown_url(" a.zarr "), " a.zarr ");
/// ```
#[must_use]
pub fn shown_url(url: &str) -> String {
    // Parsers of URLs ignore these: a path that begins with them may be meant as a URL.
    let is_ignored = |c: char| c.is_control() || c == ' ';
    let start = url.trim_start_matches(is_ignored);
    let Some((scheme, rest)) = scheme_of(start) else {
        return url.to_owned();
    };
    let ignored = url.strip_suffix(start).unwrap_or_default();
    // In a path, also that of a URL of a file, they are part of the name.
    let rest = match ignored.is_empty() && !scheme.eq_ignore_ascii_case("file") {
        true => rest.trim_end_matches(is_ignored),
        false => rest,
    };
    let slashes = match scheme.to_ascii_lowercase().as_str() {
        // Three slashes begin a path, not a host.
        "file" | "memory" => rest.len().min(2).min(count_slashes(rest)),
        // Others treat any number of slashes as `//`.
        _ => count_slashes(rest),
    };
    let (slashes, rest) = rest.split_at(slashes);
    let authority_end = rest.find(['/', '\\', '?', '#']).unwrap_or(rest.len());
    let authority = rest.get(..authority_end).unwrap_or_default();
    let container = has_container_first(scheme);
    let kept = match authority.rsplit_once('@') {
        Some((user, _)) if container && !user.contains(':') => rest,
        Some((user, _)) => rest.get(user.len() + 1..).unwrap_or_default(),
        None if is_host(authority) => rest,
        // The text in the place of a port is none: it is a password with one of `/?#` in it.
        None => match rest.rsplit_once('@') {
            Some((_, after)) => after,
            None => authority.split(':').next().unwrap_or_default(),
        },
    };
    let kept = kept.split(['?', '#']).next().unwrap_or_default();
    format!("{ignored}{scheme}:{slashes}{kept}")
}

/// A message with every URL in it shown by [`shown_url`]: for messages of other libraries, and for
/// typed text.
///
/// # Examples
/// ```
/// use zarr_store::without_secrets;
///
/// let said = "error sending request for url (http://me:secret@host/a?sig=secret)";
/// assert_eq!(without_secrets(said), "error sending request for url (http://host/a)");
/// ```
#[must_use]
pub fn without_secrets(message: &str) -> String {
    let in_scheme = |c: char| c.is_ascii_alphanumeric() || matches!(c, '+' | '-' | '.');
    let mut text = String::with_capacity(message.len());
    let mut rest = message;
    // Where the search for the next colon begins.
    let mut searched = 0;
    while let Some(colon) = rest.get(searched..).and_then(|after| after.find(':')) {
        let colon = searched + colon;
        let (before, from) = rest.split_at(colon);
        let start = before.trim_end_matches(in_scheme).len();
        let scheme = before.get(start..).unwrap_or_default();
        let end = colon + end_of_url(from);
        let url = rest.get(start..end).unwrap_or_default();
        // Punctuation of the sentence around it.
        let bare = url.trim_end_matches([')', ']', ',', ';', '.', ':', '\'']);
        // A server's URL names its host after any number of slashes, also after none.
        let is_server = Service::of_scheme(scheme).is_some();
        let is_url = from.starts_with("://") || (is_server && bare.len() > scheme.len());
        if !is_url {
            searched = colon + 1;
            continue;
        }
        text.push_str(rest.get(..start).unwrap_or_default());
        match scheme_of(bare) {
            Some(_) => text.push_str(&shown_url(bare)),
            // Not a valid scheme; the rest may still be a secret.
            None => {
                let shown = shown_url(&format!("any{bare}"));
                text.push_str(shown.strip_prefix("any").unwrap_or_default());
            }
        }
        text.push_str(url.get(bare.len()..).unwrap_or_default());
        rest = rest.get(end..).unwrap_or_default();
        searched = 0;
    }
    text.push_str(rest);
    text
}

/// Where a URL ends in a message: at white space or an unescaped quote.
fn end_of_url(text: &str) -> usize {
    let mut escaped = false;
    for (at, c) in text.char_indices() {
        let quote = matches!(c, '"' | '<' | '>' | '`') && !escaped;
        if c.is_whitespace() || quote {
            return at;
        }
        escaped = c == '\\' && !escaped;
    }
    text.len()
}

fn count_slashes(text: &str) -> usize {
    text.len() - text.trim_start_matches(['/', '\\']).len()
}

/// Whether it is a host name with an optional port, so that no part can be a password.
fn is_host(authority: &str) -> bool {
    let after_address = authority.rsplit(']').next().unwrap_or_default();
    match after_address.split_once(':') {
        Some((_, port)) => port.bytes().all(|byte| byte.is_ascii_digit()),
        None => true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_are_left_out() {
        let cases = [
            ("https://u:SECRET@host/a", "https://host/a"),
            ("https://SECRET@host/a", "https://host/a"),
            ("HTTP://u:SECRET@host:80/a?SECRET#SECRET", "HTTP://host:80/a"),
            ("http:u:SECRET@host/a", "http:host/a"),
            ("http:/u:SECRET@host/a", "http:/host/a"),
            ("http:\\\\u:SECRET@host\\a", "http:\\\\host\\a"),
            ("http://u:SEC/RET@host/a", "http://host/a"),
            ("http://u:SEC?RET@host/a", "http://host/a"),
            ("http://u:SEC#RET@host/a", "http://host/a"),
            ("http://u:SEC@RET@host/a", "http://host/a"),
            ("http://u:SECRET", "http://u"),
            ("http://u:SECRET/a", "http://u"),
            ("http://[::1]:80/a", "http://[::1]:80/a"),
            ("http://u:SECRET@[::1]/a", "http://[::1]/a"),
            ("\u{0} http://u:SECRET@host", "\u{0} http://host"),
            ("http://u:SECRET@host/a \n", "http://host/a"),
            (" s3://KEY:SECRET@bucket/a ", " s3://bucket/a "),
            ("file:///data/a ", "file:///data/a "),
            (" data/a.zarr\n", " data/a.zarr\n"),
            ("me:SECRET@host/a", "me:host/a"),
            // One letter is a drive.
            ("u:data@host/a", "u:data@host/a"),
            ("s3://KEY:SECRET@bucket/a", "s3://bucket/a"),
            ("s3://bucket/a@b/c", "s3://bucket/a@b/c"),
            ("abfss://container@account.host/a", "abfss://container@account.host/a"),
            ("abfss://c:SECRET@account.host/a", "abfss://account.host/a"),
            ("file:///me@home/a", "file:///me@home/a"),
            ("file://u:SECRET@host/a", "file://host/a"),
            ("memory:", "memory:"),
            ("gopher://host/a?token=SECRET", "gopher://host/a"),
            ("data/me@home:1/a?b#c", "data/me@home:1/a?b#c"),
            ("C:\\data?", "C:\\data?"),
            ("", ""),
        ];
        for (url, expected) in cases {
            assert_eq!(shown_url(url), expected, "{url}");
        }
    }

    #[test]
    fn messages_have_no_secrets() {
        let cases = [
            ("no url: at all", "no url: at all"),
            ("a http://u:SECRET@h/x?SECRET, b https://h/?SECRET.", "a http://h/x, b https://h/."),
            ("\"http://u:SE\\\"CRET@h/x?y\" is", "\"http://h/x\" is"),
            ("(http://h/a?SECRET): s3://SECRET@b", "(http://h/a): s3://b"),
            ("://x", "://x"),
            ("é://u:SECRET@h", "é://h"),
            ("1x://u:SECRET@h", "1x://h"),
            ("https:/u:SECRET@h/x: not found", "https:/h/x: not found"),
            ("at: \"S3:u:SECRET@h/x\"", "at: \"S3:h/x\""),
            ("http:\\u:SECRET@h\\x", "http:\\h\\x"),
            ("é: https:/u:SECRET@h", "é: https:/h"),
            ("file:, s3:, az: or https:", "file:, s3:, az: or https:"),
            ("data/http:", "data/http:"),
            ("time:5@x", "time:5@x"),
        ];
        for (message, expected) in cases {
            assert_eq!(without_secrets(message), expected, "{message}");
        }
    }
}
