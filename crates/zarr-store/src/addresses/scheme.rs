//! The schemes of URLs, and their percent encodings.

use std::fmt;

/// A kind of server, by the scheme of its URLs.
///
/// # Examples
/// ```
/// use zarr_store::Service;
///
/// assert_eq!(Service::of("abfss://data@account.dfs.core.windows.net/x"), Some(Service::Azure));
/// assert_eq!(Service::of("HTTPS://host/x"), Some(Service::Http));
/// assert_eq!((Service::of("file:///x"), Service::of("x"), Service::of("ftp://x")), (None, None, None));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Service {
    /// Amazon S3, and servers of its protocol.
    S3,
    /// Google Cloud Storage.
    GoogleCloud,
    /// Azure Blob Storage and Data Lake Storage.
    Azure,
    /// Any other server of HTTP.
    Http,
}

/// The schemes of servers. A build without a client knows its schemes too.
const SCHEMES: [(&str, Service); 11] = [
    ("s3", Service::S3),
    ("s3a", Service::S3),
    ("gs", Service::GoogleCloud),
    ("gcs", Service::GoogleCloud),
    ("az", Service::Azure),
    ("adl", Service::Azure),
    ("azure", Service::Azure),
    ("abfs", Service::Azure),
    ("abfss", Service::Azure),
    ("http", Service::Http),
    ("https", Service::Http),
];

impl Service {
    /// The kind of server that a URL names, by its scheme; `None` for a path and for other schemes.
    #[must_use]
    pub fn of(url: &str) -> Option<Self> {
        Self::of_scheme(scheme_of(url)?.0)
    }

    /// The kind of server of the URLs of a scheme, in lower or upper case.
    pub(crate) fn of_scheme(scheme: &str) -> Option<Self> {
        let known = SCHEMES.iter().find(|(name, _)| scheme.eq_ignore_ascii_case(name));
        known.map(|(_, service)| *service)
    }
}

impl fmt::Display for Service {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::S3 => "S3",
            Self::GoogleCloud => "Google Cloud Storage",
            Self::Azure => "Azure",
            Self::Http => "HTTP",
        })
    }
}

/// Whether what stands before an `@` in URLs of a scheme is a container, not a user.
pub(crate) fn has_container_first(scheme: &str) -> bool {
    ["abfs", "abfss"].iter().any(|name| scheme.eq_ignore_ascii_case(name))
}

/// The schemes that this build can open.
pub(crate) fn schemes() -> String {
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

/// Splits a URL after its scheme; `None` for a path. A scheme has two letters or more: `C:\data` is
/// a path.
pub(crate) fn scheme_of(url: &str) -> Option<(&str, &str)> {
    url.split_once(':').filter(|(scheme, _)| {
        scheme.len() > 1
            && scheme.starts_with(|c: char| c.is_ascii_alphabetic())
            && scheme.chars().all(|c| c.is_ascii_alphanumeric() || "+-.".contains(c))
    })
}

/// The scheme of a URL in lower case; `None` for a path. Case does not matter, and schemes have two
/// letters or more.
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

/// Decodes a path of a URL, in which every `%` is followed by two hexadecimal digits.
pub(crate) fn percent_decoded(text: &str) -> Result<String, String> {
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

/// As [`percent_decoded`]; a `%` without two hexadecimal digits is kept.
pub(crate) fn percent_decoded_leniently(text: &str) -> Result<String, String> {
    decoded_text(percent_bytes(text).0)
}

fn decoded_text(bytes: Vec<u8>) -> Result<String, String> {
    String::from_utf8(bytes).map_err(|_| "the path is not UTF-8 once decoded".to_owned())
}

/// The percent-decoded bytes of a text, and the text after the first `%` without two hexadecimal
/// digits; such a `%` is kept.
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
