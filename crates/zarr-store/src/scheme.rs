//! What a URL names, by its scheme.

use std::path::PathBuf;

use super::{StoreError, shown_url};

/// The schemes that this build can open.
pub(super) fn schemes() -> String {
    let all = [
        (true, "file:"),
        (true, "memory:"),
        (cfg!(feature = "aws"), "s3:"),
        (cfg!(feature = "gcp"), "gs:"),
        (cfg!(feature = "azure"), "az:"),
        (cfg!(feature = "http"), "http(s):"),
    ];
    let built: Vec<&str> = all.iter().filter(|(built, _)| *built).map(|(_, name)| *name).collect();
    built.join(", ")
}

/// What a path or URL names, by its scheme alone.
///
/// # Examples
/// ```
/// use zarr_store::Address;
///
/// assert_eq!(Address::parse("file:///a%20b")?, Address::Folder("/a b".into()));
/// assert_eq!(Address::parse("memory:")?, Address::Memory);
/// assert_eq!(Address::parse("s3://bucket/a")?, Address::Remote);
/// assert!(Address::parse("file://host/a").is_err());
/// # Ok::<(), zarr_store::StoreError>(())
/// ```
#[derive(Debug, PartialEq, Eq)]
pub enum Address {
    /// A path of the local file system.
    Folder(PathBuf),
    /// A new store in memory.
    Memory,
    /// A place on a server, of any scheme.
    Remote,
}

impl Address {
    /// Parses a path or URL.
    ///
    /// # Errors
    /// [`StoreError::Url`] if it is empty, a URL of a file that has a host or is not
    /// percent-encoded, or a URL of memory with a path.
    pub fn parse(url: &str) -> Result<Self, StoreError> {
        address(url).map_err(|reason| StoreError::Url { url: shown_url(url), reason })
    }
}

/// Splits a URL after its scheme; `None` for a path. A scheme has two letters or more: `C:\data` is
/// a path.
pub(super) fn scheme_of(url: &str) -> Option<(&str, &str)> {
    url.split_once(':').filter(|(scheme, _)| {
        scheme.len() > 1
            && scheme.starts_with(|c: char| c.is_ascii_alphabetic())
            && scheme.chars().all(|c| c.is_ascii_alphanumeric() || "+-.".contains(c))
    })
}

/// The scheme of a URL in small letters; `None` for a path. Schemes have no case, and two letters or more.
///
/// # Examples
/// ```
/// use zarr_store::scheme;
///
/// assert_eq!(scheme("HTTP://host/a").as_deref(), Some("http"));
/// assert_eq!(scheme("Memory:").as_deref(), Some("memory"));
/// assert_eq!((scheme("data.zarr"), scheme("C:/data")), (None, None));
/// ```
#[must_use]
pub fn scheme(url: &str) -> Option<String> {
    Some(scheme_of(url)?.0.to_ascii_lowercase())
}

fn address(url: &str) -> Result<Address, String> {
    match scheme_of(url) {
        Some((scheme, rest)) => match scheme.to_ascii_lowercase().as_str() {
            "file" => file_path(rest).map(Address::Folder),
            "memory" if rest.trim_matches('/').is_empty() => Ok(Address::Memory),
            "memory" => Err("a store in memory has no path: memory: alone is allowed".to_owned()),
            _ => Ok(Address::Remote),
        },
        _ if url.is_empty() => Err("the empty text is neither a path nor a URL".to_owned()),
        _ => Ok(Address::Folder(PathBuf::from(url))),
    }
}

/// The path in what follows `file:`, which is `/path`, `///path` or `//localhost/path`.
fn file_path(rest: &str) -> Result<PathBuf, String> {
    let path = match rest.strip_prefix("//") {
        None => rest,
        Some(host) => {
            host.strip_prefix("localhost").filter(|path| path.starts_with('/')).unwrap_or(host)
        }
    };
    if !path.starts_with('/') {
        return Err("a file URL has an absolute path and no host: file:///path".to_owned());
    }
    if path.contains(['?', '#']) {
        return Err("a store's URL has no '?' or '#'; in a path they are %3F and %23".to_owned());
    }
    let text = percent_decoded(path)?;
    // On Windows file:///C:/data is C:/data.
    let drive = text.as_bytes().get(2) == Some(&b':');
    let path = if cfg!(windows) && drive { text.trim_start_matches('/') } else { &text };
    Ok(PathBuf::from(path))
}

/// Decodes a path of a URL, in which every `%` is followed by two hexadecimal digits.
pub(super) fn percent_decoded(text: &str) -> Result<String, String> {
    let (bytes, stray) = percent_bytes(text);
    if let Some(piece) = stray {
        let found: String = piece.chars().take(2).collect();
        let found = format!("%{found}");
        return Err(format!(
            "{found:?} is not a percent encoding: '%' must be followed by two hexadecimal digits"
        ));
    }
    decoded_text(bytes)
}

/// As [`percent_decoded`]; a `%` without two hexadecimal digits stands for itself.
pub(super) fn percent_decoded_leniently(text: &str) -> Result<String, String> {
    decoded_text(percent_bytes(text).0)
}

fn decoded_text(bytes: Vec<u8>) -> Result<String, String> {
    String::from_utf8(bytes).map_err(|_| "the path is not UTF-8 once decoded".to_owned())
}

/// The bytes that a text stands for, and what follows the first `%` without two hexadecimal digits,
/// which stands for itself.
fn percent_bytes(text: &str) -> (Vec<u8>, Option<&str>) {
    let mut pieces = text.split('%');
    let mut bytes = pieces.next().unwrap_or_default().as_bytes().to_vec();
    let mut stray = None;
    for piece in pieces {
        // Digits alone: a number may have a sign, too.
        let digits = |hex: &str| hex.bytes().all(|digit| digit.is_ascii_hexdigit());
        let code = piece
            .split_at_checked(2)
            .filter(|(hex, _)| digits(hex))
            .and_then(|(hex, rest)| Some((u8::from_str_radix(hex, 16).ok()?, rest)));
        let (byte, rest) = code.unwrap_or_else(|| {
            stray.get_or_insert(piece);
            (b'%', piece)
        });
        bytes.push(byte);
        bytes.extend_from_slice(rest.as_bytes());
    }
    (bytes, stray)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_and_urls_are_told_apart() {
        let folder = |path: &str| Ok(Address::Folder(PathBuf::from(path)));
        assert_eq!(address("data.zarr"), folder("data.zarr"));
        assert_eq!(address("/a b/c%20d"), folder("/a b/c%20d"));
        assert_eq!(address("./a:b"), folder("./a:b"));
        assert_eq!(address("file:///a%20b/%C3%A9"), folder("/a b/é"));
        assert_eq!(address("file:/a"), folder("/a"));
        assert_eq!(address("FILE://localhost/a"), folder("/a"));
        assert_eq!(address("memory:"), Ok(Address::Memory));
        assert_eq!(address("memory://"), Ok(Address::Memory));
        assert_eq!(address("s3://bucket/a"), Ok(Address::Remote));
        assert_eq!(address("https://host/a"), Ok(Address::Remote));
        for wrong in [
            "",
            "file://host/a",
            "file:a",
            "file:///a?b",
            "file:///%2",
            "file:///%f_",
            "file:///%FF",
            "memory:x",
        ] {
            assert!(address(wrong).is_err(), "{wrong}");
        }
        for (wrong, found) in [
            ("file:///tmp/b%+9g", r#""%+9""#),
            ("file:///a%-1", r#""%-1""#),
            ("file:///a% 1", r#""% 1""#),
            ("file:///a%", r#""%""#),
            ("file:///a%4", r#""%4""#),
            ("file:///a%%41", r#""%""#),
            ("file:///a%é", r#""%é""#),
            ("file:///a%\u{1b}[", r#""%\u{1b}[""#),
        ] {
            let message = address(wrong).unwrap_err();
            assert_eq!(
                message,
                format!(
                    "{found} is not a percent encoding: '%' must be followed by two hexadecimal digits"
                )
            );
        }
    }
}
