//! What a path or URL names, by its scheme.

use std::path::PathBuf;

use crate::addresses::scheme::{percent_decoded, scheme_of};
use crate::{StoreError, shown_url};

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
