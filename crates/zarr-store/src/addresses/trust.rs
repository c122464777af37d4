//! Where documents may lead, and whether with credentials.
//!
//! A reference file or a virtual join may come from anybody. Whatever places it names, and however
//! their URLs are spelled: the reader's credentials go only to places that the reader has named, and
//! to the bucket that the document itself is in.

use crate::addresses::scheme::{percent_decoded_leniently, scheme_of};
use crate::{Operation, Remedy, Service, StoreError, StoreOptions, shown_url};

impl StoreOptions {
    /// The options for the place `to`, to which a document at the path or URL `from` leads: a server
    /// gets no credentials, unless [`target`](Self::target) allows the place, or it is in the bucket
    /// of the document, spelled in the same way.
    ///
    /// For the documents of these options it is the same: what a place without credentials leads to
    /// gets none either.
    ///
    /// # Errors
    /// [`StoreError::NotAllowed`] for a place on a server that is no target, with
    /// [`only_targets`](Self::only_targets).
    ///
    /// # Examples
    /// ```
    /// use zarr_store::StoreOptions;
    ///
    /// let options = StoreOptions::new().target("s3://ours").only_targets(true);
    /// assert!(options.following("refs.json", "s3://ours/x").is_ok());
    /// assert!(options.following("refs.json", "https://host/x").is_err());
    /// # Ok::<(), zarr_store::StoreError>(())
    /// ```
    pub fn following(&self, from: &str, to: &str) -> Result<Self, StoreError> {
        if Service::of(to).is_none() {
            return Ok(self.clone());
        }
        let is_target = self.is_target(to);
        if self.only_targets && !is_target {
            let place = shown_url(to);
            return Err(StoreError::not_allowed(Operation::Open, place, NO_TARGET, Remedy::Target));
        }
        let is_own = bucket_of(from).is_some_and(|own| bucket_of(to) == Some(own));
        let mut options = self.clone();
        options.anonymous = !is_target && (self.anonymous || !is_own);
        Ok(options)
    }

    /// Whether [`target`](Self::target) allows a URL.
    #[must_use]
    pub fn is_target(&self, url: &str) -> bool {
        self.targets.iter().any(|target| is_within(url, target))
    }
}

/// Why a place is refused.
const NO_TARGET: &str = "a document leads to it, and only the named targets are allowed";

/// Whether a URL is another one, or lies below it. Both are compared as they are spelled; a URL that
/// clients take for another one lies nowhere.
fn is_within(url: &str, above: &str) -> bool {
    let above = above.trim_end_matches('/');
    let Some(rest) = url.strip_prefix(above) else { return false };
    let is_plain = !rest.contains(['\\', '?', '#']) && !rest.split('/').any(is_dots);
    Service::of(above).is_some() && (rest.is_empty() || rest.starts_with('/')) && is_plain
}

/// Whether a name in a URL leads elsewhere.
fn is_dots(name: &str) -> bool {
    matches!(percent_decoded_leniently(name).as_deref(), Ok("." | ".."))
}

/// Whether clients look for the bucket or container in the path on this host, whatever its port. On
/// hosts of Amazon, they do if its name begins so; others have the bucket in the name.
fn is_path_style(host: &str, amazon: &str) -> bool {
    let ends = [
        "r2.cloudflarestorage.com",
        "dfs.core.windows.net",
        "blob.core.windows.net",
        "dfs.fabric.microsoft.com",
        "blob.fabric.microsoft.com",
    ];
    ends.iter().any(|end| host.ends_with(end))
        || (host.ends_with("amazonaws.com") && host.starts_with(amazon))
}

/// Whether the first name in the path of an `https` URL is the bucket or container for clients with
/// credentials. If the name of the host has it, they take nothing out of the path.
///
/// # Examples
/// ```
/// use zarr_store::has_bucket_in_path;
///
/// assert!(has_bucket_in_path("https://s3.eu-west-1.amazonaws.com/data/x"));
/// assert!(!has_bucket_in_path("https://s3data.s3.eu-west-1.amazonaws.com/x"));
/// ```
#[must_use]
pub fn has_bucket_in_path(url: &str) -> bool {
    let url = url.to_ascii_lowercase();
    let Some(rest) = url.strip_prefix("https://") else { return false };
    let host = rest.split([':', '/']).next().unwrap_or_default();
    is_path_style(host, "s3.")
}

/// The bucket or server of a URL, in one spelling; `None` for a path, and for a URL that may be
/// understood in several ways.
fn bucket_of(url: &str) -> Option<String> {
    let (scheme, rest) = scheme_of(url)?;
    let service = Service::of_scheme(scheme)?;
    let rest = rest.strip_prefix("//")?;
    let (authority, path) = rest.split_once('/').unwrap_or((rest, ""));
    let authority = authority.to_ascii_lowercase();
    // Clients skip control characters, and read some that are not of ASCII as dots.
    let is_plain = authority.bytes().all(|byte| byte.is_ascii_graphic())
        && !authority.contains(['\\', '?', '#', '%'])
        && !url.contains(|c: char| c == '\\' || c.is_control());
    if authority.is_empty() || !is_plain {
        return None;
    }
    let host = authority.split_once(':').map_or(&*authority, |(host, _)| host);
    // Some clients take any of Amazon's hosts that begins so for one with the bucket in the path.
    let is_path_style = service == Service::Http && is_path_style(host.trim_end_matches('.'), "s3");
    let in_path = if is_path_style { path.split('/').next() } else { None };
    if in_path.is_some_and(|bucket| bucket.is_empty() || path.split('/').any(is_dots)) {
        return None;
    }
    let scheme = match service {
        Service::S3 => "s3".to_owned(),
        Service::GoogleCloud => "gs".to_owned(),
        // The account of `abfss://container@account` is part of it.
        Service::Azure if authority.contains('@') => "abfs".to_owned(),
        Service::Azure => "az".to_owned(),
        Service::Http if authority.contains('@') => return None,
        Service::Http => scheme.to_ascii_lowercase(),
    };
    Some(format!("{scheme}://{authority}/{}", in_path.unwrap_or_default()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_anonymous(options: &StoreOptions, from: &str, to: &str) -> bool {
        options.following(from, to).expect("may lead anywhere").anonymous
    }

    #[test]
    fn credentials_stay_in_the_bucket_of_the_document() {
        let options = StoreOptions::new();
        for (from, to) in [
            ("s3://b/refs", "s3://b/x"),
            ("s3://b", "S3://b/x"),
            ("s3a://B/refs", "s3://b/x"),
            ("gcs://b/refs", "gs://b/x"),
            ("az://c/refs", "abfs://c/x"),
            ("abfss://c@a.dfs.core.windows.net/r", "abfs://c@a.dfs.core.windows.net/x"),
            ("https://s3.eu-west-1.amazonaws.com/b/r", "https://s3.eu-west-1.amazonaws.com/b/x"),
            ("https://b.s3.amazonaws.com/r", "https://b.s3.amazonaws.com/x/y"),
            ("https://a.blob.core.windows.net/c/r", "https://a.blob.core.windows.net/c/x"),
            ("http://host:80/r", "http://HOST:80/x"),
        ] {
            assert!(!is_anonymous(&options, from, to), "{from} {to}");
            // What is read without them leads to nothing that is read with them.
            let anonymous = options.following("refs.json", from).expect("may lead anywhere");
            assert!(is_anonymous(&anonymous, from, to), "{from} {to}");
        }
        for (from, to) in [
            ("refs.json", "s3://b/x"),
            ("/refs.json", "https://b.s3.amazonaws.com/x"),
            ("file:///refs.json", "gs://b/x"),
            ("s3://b/refs", "s3://c/x"),
            ("s3://b/refs", "s3://b.evil/x"),
            ("s3://b/refs", "gs://b/x"),
            ("s3://b/refs", "https://b.s3.amazonaws.com/x"),
            ("s3://b/refs", "s3://b\\evil/x"),
            ("s3://b/refs", "s3:b/x"),
            ("https://s3.amazonaws.com/b/r", "https://s3.amazonaws.com/c/x"),
            ("https://x.r2.cloudflarestorage.com/b/r", "https://y.r2.cloudflarestorage.com/b/x"),
            ("https://a.blob.core.windows.net/c/r", "https://a.blob.core.windows.net/d/x"),
            ("az://c/refs", "abfss://c@other.dfs.core.windows.net/x"),
            ("abfss://c@a.dfs.core.windows.net/r", "abfss://c@b.dfs.core.windows.net/x"),
            ("http://host/r", "http://host@evil/x"),
            ("http://me@host/r", "http://me@host/x"),
            // Clients look at the name of the host alone, in which they read any dot as one.
            (
                "https://s3.eu-west-1.amazonaws.com:443/b/r",
                "https://s3.eu-west-1.amazonaws.com:443/c/x",
            ),
            (
                "https://x.r2.cloudflarestorage.com:443/b/r",
                "https://x.r2.cloudflarestorage.com:443/c/x",
            ),
            ("https://a.blob.core.windows.net:443/c/r", "https://a.blob.core.windows.net:443/d/x"),
            (
                "https://a.dfs.fabric.microsoft.com:443/c/r",
                "https://a.dfs.fabric.microsoft.com:443/d/x",
            ),
            ("https://s3.eu-west-1.amazonaws。com/b/r", "https://s3.eu-west-1.amazonaws。com/c/x"),
            ("https://s3.eu-west-1.amazonaws.com//b/r", "https://s3.eu-west-1.amazonaws.com//c/x"),
            (
                "https://s3.eu-west-1.amazonaws.com/\t/b/r",
                "https://s3.eu-west-1.amazonaws.com/\t/c/x",
            ),
            (
                "https://s3.eu-west-1.amazonaws.com/b/r",
                "https://s3.eu-west-1.amazonaws.com/b/../c/x",
            ),
            (
                "https://s3.eu-west-1.amazonaws.com/b/r",
                "https://s3.eu-west-1.amazonaws.com/b/.%2E/c/x",
            ),
            ("https://s3.eu-west-1.amazonaws.com/", "https://s3.eu-west-1.amazonaws.com/"),
        ] {
            assert!(is_anonymous(&options, from, to), "{from} {to}");
        }
    }

    #[test]
    fn targets_are_named_as_they_are_spelled() {
        let options = StoreOptions::new().target("s3://b/data/").target("https://host");
        for url in ["s3://b/data", "s3://b/data/x", "s3://b/data/a/..b", "https://host/x"] {
            assert!(options.is_target(url), "{url}");
            assert!(!is_anonymous(&options, "refs.json", url), "{url}");
        }
        for url in [
            "s3://b/data2",
            "s3://b/data/../x",
            "s3://b/data/./x",
            "s3://b/data/%2e%2E/x",
            "https://host/a/..\\..\\x",
            "https://host?x",
            "https://host@evil/x",
            "https://host:80/x",
            "https://host.evil/x",
            "S3://b/data/x",
            "/data",
        ] {
            assert!(!options.is_target(url), "{url}");
        }
        let only = options.only_targets(true);
        assert!(only.following("refs.json", "https://host/x").is_ok());
        let error = only.following("s3://b/refs", "s3://b/x?sig=SECRET").expect_err("no target");
        assert!(error.to_string().contains("only the named targets are allowed"), "{error}");
        assert_eq!(error.remedy(), Some(Remedy::Target));
        assert!(!error.to_string().contains("SECRET"));
        // No server.
        assert!(only.following("refs.json", "data/x").is_ok());
    }
}
