//! The settings of clients, from the environment and from options, as clients take them.
//!
//! Clients panic, or sign requests that no server accepts, if a key ends in the line feed of the file
//! that it was read from or an endpoint lacks its scheme. So values are trimmed, an empty one is none,
//! and what cannot be a value is refused with the name of the setting, never with the value.

use std::collections::BTreeMap;
use std::env;
use std::str::FromStr;

use url::Url;

use crate::{Service, StoreOptions};

/// A setting as a user gave it.
struct Given {
    /// The name of the variable or option.
    name: String,
    value: String,
}

/// What a value must be.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Flag,
    Duration,
    Number,
    /// An address of a server, which is `http:` or `https:`.
    Endpoint,
    /// As an endpoint, or another kind of proxy.
    Proxy,
    /// A part of the name of a host.
    HostName,
    /// The path of a file, or text with several lines, such as a certificate.
    Text,
    /// A text that clients put into headers.
    Header,
}

/// The kinds of settings, by their names without the name of the service; others are
/// [`Kind::Header`].
const KINDS: [(Kind, &[&str]); 7] = [
    (
        Kind::Flag,
        &[
            "allow_http",
            "allow_invalid_certificates",
            "disable_bulk_delete",
            "disable_system_certificates",
            "disable_tagging",
            "http1_only",
            "http2_keep_alive_while_idle",
            "http2_only",
            "imdsv1_fallback",
            "randomize_addresses",
            "request_payer",
            "s3_express",
            "skip_signature",
            "sse_bucket_key_enabled",
            "storage_use_emulator",
            "unsigned_payload",
            "use_azure_cli",
            "use_fabric_endpoint",
            "virtual_hosted_style_request",
        ],
    ),
    (
        Kind::Duration,
        &[
            "connect_timeout",
            "http2_keep_alive_interval",
            "http2_keep_alive_timeout",
            "pool_idle_timeout",
            "read_timeout",
            "timeout",
        ],
    ),
    (Kind::Number, &["http2_max_frame_size", "pool_max_idle_per_host"]),
    (
        Kind::Endpoint,
        &[
            "base_url",
            "container_credentials_full_uri",
            "endpoint",
            "endpoint_url_s3",
            "endpoint_url_sts",
            "fabric_token_service_url",
            "fabric_workload_host",
            "metadata_endpoint",
            "msi_endpoint",
            "storage_authority_host",
            "storage_endpoint",
        ],
    ),
    (Kind::Proxy, &["proxy_url"]),
    (Kind::HostName, &["default_region", "region", "storage_account_name"]),
    (
        Kind::Text,
        &[
            "application_credentials",
            "container_authorization_token_file",
            "federated_token_file",
            "proxy_ca_certificate",
            "service_account",
            "service_account_key",
            "web_identity_token_file",
        ],
    ),
];

/// The settings that say how a server is reached, not who reaches it. Only they apply where a
/// document led.
const NO_CREDENTIALS: [&str; 23] = [
    "allow_http",
    "allow_invalid_certificates",
    "base_url",
    "connect_timeout",
    "default_region",
    "disable_system_certificates",
    "endpoint",
    "endpoint_url_s3",
    "http1_only",
    "http2_keep_alive_interval",
    "http2_keep_alive_timeout",
    "http2_keep_alive_while_idle",
    "http2_max_frame_size",
    "http2_only",
    "pool_idle_timeout",
    "pool_max_idle_per_host",
    "proxy_ca_certificate",
    "proxy_excludes",
    "proxy_url",
    "randomize_addresses",
    "read_timeout",
    "region",
    "timeout",
];

/// The same, of single services.
const NO_CREDENTIALS_OF_ONE: [&str; 3] =
    ["storage_account_name", "storage_endpoint", "virtual_hosted_style_request"];

/// The settings of a client with keys of type `K`: those of the environment, and over them those of
/// the options. The error is a fault that can be shown.
pub(crate) fn read<K: FromStr + AsRef<str>>(
    service: Service,
    options: &StoreOptions,
) -> Result<Vec<(K, String)>, String> {
    let mut found = from_environment::<K>(service);
    for (name, value) in options.settings() {
        let Ok(key) = name.to_ascii_lowercase().parse::<K>() else {
            return Err(format!("the option {name:?} is unknown for {service}"));
        };
        found.insert(key.as_ref().to_owned(), Given { name, value });
    }
    if options.is_anonymous() {
        let name = "skip_signature".to_owned();
        found.retain(|key, _| {
            let key = bare(key);
            NO_CREDENTIALS.contains(&key) || NO_CREDENTIALS_OF_ONE.contains(&key)
        });
        if let Ok(key) = name.parse::<K>() {
            found.insert(key.as_ref().to_owned(), Given { name, value: "true".to_owned() });
        }
    }
    found.retain(|_, given| {
        given.value = given.value.trim().to_owned();
        !given.value.is_empty()
    });
    for (key, given) in &found {
        check(kind(bare(key)), &given.value)
            .map_err(|reason| format!("the setting {} {reason}", given.name))?;
    }
    allow_plain_http(&mut found)?;
    let keys = found.into_iter().filter_map(|(key, given)| Some((key.parse().ok()?, given.value)));
    Ok(keys.collect())
}

/// Whether a client of any service knows an option.
pub(crate) fn is_known(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    let known = [
        #[cfg(feature = "aws")]
        name.parse::<object_store::aws::AmazonS3ConfigKey>().is_ok(),
        #[cfg(feature = "gcp")]
        name.parse::<object_store::gcp::GoogleConfigKey>().is_ok(),
        #[cfg(feature = "azure")]
        name.parse::<object_store::azure::AzureConfigKey>().is_ok(),
        name.parse::<object_store::ClientConfigKey>().is_ok(),
    ];
    known.contains(&true)
}

/// The variables of a service that its client knows, by the names that the client gives them.
fn from_environment<K: FromStr + AsRef<str>>(service: Service) -> BTreeMap<String, Given> {
    let (prefix, others): (_, &[(&str, &str)]) = match service {
        Service::S3 => ("AWS_", &[]),
        Service::GoogleCloud => ("GOOGLE_", &[("SERVICE_ACCOUNT", "service_account")]),
        Service::Azure => ("AZURE_", &[("IDENTITY_ENDPOINT", "msi_endpoint")]),
        // Proxies are taken from the environment by the client itself.
        Service::Http => return BTreeMap::new(),
    };
    let mut found = BTreeMap::new();
    let mut take = |name: &str, key: &str, value: String| {
        if let Ok(key) = key.parse::<K>() {
            found.insert(key.as_ref().to_owned(), Given { name: name.to_owned(), value });
        }
    };
    for (name, key) in others {
        if let Ok(value) = env::var(name) {
            take(name, key, value);
        }
    }
    // In one order, since several names may stand for the same setting; the longest counts.
    let variables = env::vars_os().filter_map(|(name, value)| {
        let (name, value) = (name.into_string().ok()?, value.into_string().ok()?);
        (name.starts_with(prefix) && !value.trim().is_empty()).then_some((name, value))
    });
    for (name, value) in variables.collect::<BTreeMap<_, _>>() {
        take(&name, &name.to_ascii_lowercase(), value);
    }
    found
}

/// The name of a setting without the name of its service.
fn bare(key: &str) -> &str {
    let prefixes = ["aws_", "google_", "azure_"];
    prefixes.iter().find_map(|prefix| key.strip_prefix(prefix)).unwrap_or(key)
}

fn kind(key: &str) -> Kind {
    let of = KINDS.iter().find(|(_, keys)| keys.contains(&key));
    of.map_or(Kind::Header, |(kind, _)| *kind)
}

/// Says why a value cannot be one of this kind.
fn check(kind: Kind, value: &str) -> Result<(), String> {
    let is_wrong = match kind {
        Kind::Text => return Ok(()),
        _ if value.contains(char::is_control) => {
            return Err("has a line feed or another control character within its value".to_owned());
        }
        Kind::Flag => flag(value).is_none().then_some("is not true or false"),
        Kind::Duration => humantime::parse_duration(value)
            .is_err()
            .then_some("is not a duration, such as \"30 s\""),
        Kind::Number => value.parse::<u32>().is_err().then_some("is not a whole number"),
        Kind::Endpoint => return check_url(value, &["http", "https"]),
        Kind::Proxy => return check_url(value, &["http", "https", "socks5", "socks5h"]),
        Kind::HostName => {
            let is_part = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '.' | '_');
            (!value.chars().all(is_part))
                .then_some("has other characters than letters, digits, '-', '.' and '_'")
        }
        Kind::Header => (!value.is_ascii()).then_some("has characters that are not ASCII"),
    };
    is_wrong.map_or(Ok(()), |reason| Err(reason.to_owned()))
}

/// A flag, as clients read it.
pub(crate) fn flag(value: &str) -> Option<bool> {
    match value.to_ascii_lowercase().as_str() {
        "1" | "true" | "on" | "yes" | "y" => Some(true),
        "0" | "false" | "off" | "no" | "n" => Some(false),
        _ => None,
    }
}

fn check_url(value: &str, schemes: &[&str]) -> Result<(), String> {
    let example = "such as https://host:9000";
    match Url::parse(value) {
        Ok(url) if !schemes.contains(&url.scheme()) || !value.contains("://") => {
            Err(format!("is not a URL: it begins with http:// or https://, {example}"))
        }
        Err(error) => Err(format!("is not a URL, {example}: {error}")),
        Ok(url) if url.query().is_some() || url.fragment().is_some() => {
            Err(format!("has a '?' or '#': it is the URL of a server, {example}"))
        }
        // A proxy may need them.
        Ok(url)
            if schemes.len() == 2 && !(url.username().is_empty() && url.password().is_none()) =>
        {
            Err(format!("has a user or a password: it is the URL of a server, {example}"))
        }
        Ok(_) => Ok(()),
    }
}

/// Allows plain HTTP if the user wrote an endpoint with `http:`.
fn allow_plain_http(found: &mut BTreeMap<String, Given>) -> Result<(), String> {
    let endpoints =
        ["aws_endpoint_url_s3", "aws_endpoint", "google_base_url", "azure_storage_endpoint"];
    let plain = endpoints.iter().find_map(|key| {
        let given = found.get(*key)?;
        let (scheme, _) = given.value.split_once(':')?;
        scheme.eq_ignore_ascii_case("http").then(|| given.name.clone())
    });
    let Some(endpoint) = plain else { return Ok(()) };
    match found.get("allow_http") {
        Some(given) if flag(&given.value) == Some(false) => Err(format!(
            "the setting {endpoint} is a URL of plain http, which the setting {} does not allow",
            given.name
        )),
        Some(_) => Ok(()),
        None => {
            let (name, value) = ("allow_http".to_owned(), "true".to_owned());
            found.insert(name.clone(), Given { name, value });
            Ok(())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_refused_by_their_kind() {
        for (key, good, bad) in [
            (
                "endpoint",
                &["http://127.0.0.1:9000", "HTTPS://host/minio"][..],
                &[
                    "127.0.0.1:9000",
                    "localhost:9000",
                    "minio",
                    "http:host",
                    "s3://b",
                    "http://:80",
                    "h h",
                    "http://h/?x",
                    "http://u:p@h",
                    "http://h\n.x",
                    "http://[::1",
                ][..],
            ),
            ("allow_http", &["true", "Yes", "0"], &["maybe", "tru e"]),
            ("timeout", &["30 s", "1m", "250 ms"], &["45", "soon", "-1 s"]),
            ("pool_max_idle_per_host", &["8"], &["-1", "many"]),
            ("region", &["eu-central-1", "auto"], &["eu central", "eu/1", "é"]),
            ("proxy_url", &["http://u:p@proxy:80", "socks5://proxy"], &["proxy:80", "ftp://x"]),
            ("access_key_id", &["AKIA/+="], &["AK\nIA", "schlüssel", "a\u{7f}"]),
            ("session_token", &["a b"], &["a\rb"]),
            ("service_account_key", &["{\n}"], &[]),
        ] {
            let kind = kind(key);
            for value in good {
                assert_eq!(check(kind, value), Ok(()), "{key} {value}");
            }
            for value in bad {
                let reason = check(kind, value).expect_err(value);
                assert!(!reason.contains(value), "{key} {value}: {reason}");
            }
        }
    }
}
