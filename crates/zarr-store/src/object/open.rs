//! Creates clients from URLs and settings.

#[cfg(any(feature = "aws", feature = "gcp", feature = "azure", feature = "http"))]
use std::sync::Arc;

use object_store::path::Path;
use object_store::{Error, ObjectStoreScheme};
use url::Url;

use super::client::{Origin, remote};
#[cfg(any(feature = "aws", feature = "gcp", feature = "azure", feature = "http"))]
use super::redirects::Redirects;
#[cfg(any(feature = "aws", feature = "gcp", feature = "azure", feature = "http"))]
use super::retry::Watch;
use crate::addresses::scheme::{has_container_first, schemes};
#[cfg(any(feature = "aws", feature = "gcp", feature = "azure", feature = "http"))]
use crate::addresses::settings;
use crate::{
    Operation, Service, StoreError, StoreOptions, has_bucket_in_path, shown_url, without_secrets,
};

pub(super) fn from_url(text: &str, options: &StoreOptions) -> Result<Origin, StoreError> {
    let refuse = |reason: String| StoreError::Url { url: shown_url(text), reason };
    // The parser would drop them, and the URL would name something else.
    if text.trim_matches(' ') != text || text.contains(char::is_control) {
        let reason = "a store's URL has no control characters, and no space at its ends; in a path \
                      they are percent-encoded, such as %20";
        return Err(refuse(reason.to_owned()));
    }
    let mut url = Url::parse(text).map_err(|error| refuse(error.to_string()))?;
    // As fsspec writes it. Neither is a scheme of the web, so that it can be set.
    if url.scheme() == "gcs" {
        let _set = url.set_scheme("gs");
    }
    let url = url;
    if url.query().is_some() || url.fragment().is_some() {
        return Err(refuse("a store's URL has no '?' or '#'; give settings as options".to_owned()));
    }
    // The clients would not send them, but would show them in errors.
    let container = has_container_first(url.scheme());
    if url.password().is_some() || (!url.username().is_empty() && !container) {
        let reason = "a store's URL has no user and password; the environment or options have them";
        return Err(refuse(reason.to_owned()));
    }
    let service = Service::of_scheme(url.scheme());
    let whole_path =
        || Path::from_url_path(url.path()).map_err(|error| without_secrets(&error.to_string()));
    let parsed = match service {
        // The URL of an object store is one of HTTP like any other, where its client would take
        // credentials along.
        Some(Service::Http) if options.is_anonymous() => {
            whole_path().map(|base| (ObjectStoreScheme::Http, base))
        }
        service => ObjectStoreScheme::parse(&url).map_err(|error| match service {
            Some(_) => without_secrets(&error.to_string()),
            None => no_client(&url),
        }),
    };
    let (scheme, mut base) = parsed.map_err(refuse)?;
    // The parser takes the bucket of `https://s3data.s3.amazonaws.com/x` for the service.
    if scheme == ObjectStoreScheme::AmazonS3
        && service == Some(Service::Http)
        && !has_bucket_in_path(text)
    {
        base = whole_path().map_err(refuse)?;
    }
    let fail = |error: Error| remote(service, Operation::Open, shown_url(text), error);
    match scheme {
        #[cfg(feature = "aws")]
        ObjectStoreScheme::AmazonS3 => aws(&url, base, options, refuse, fail),
        #[cfg(feature = "gcp")]
        ObjectStoreScheme::GoogleCloudStorage => gcp(&url, base, options, refuse, fail),
        #[cfg(feature = "azure")]
        ObjectStoreScheme::MicrosoftAzure => azure(&url, base, options, refuse, fail),
        #[cfg(feature = "http")]
        ObjectStoreScheme::Http => http(&url, base, options, refuse, fail),
        _ => {
            // Unused without any of the features.
            let _ = (options, base, fail);
            Err(refuse(no_client(&url)))
        }
    }
}

fn no_client(url: &Url) -> String {
    let built = schemes();
    format!("this build has no client for {}: but for {built}", url.scheme())
}

/// A builder with all settings of its service, whose keys have the type that its `with_config` takes.
#[cfg(any(feature = "aws", feature = "gcp", feature = "azure", feature = "http"))]
macro_rules! configure {
    ($builder:expr, $service:expr, $options:expr, $refuse:expr) => {{
        let mut builder = $builder;
        for (key, value) in settings::read($service, $options).map_err($refuse)? {
            builder = builder.with_config(key, value);
        }
        builder.with_http_connector(watch($service, $options)).with_retry(retry($options))
    }};
}

#[cfg(any(feature = "aws", feature = "gcp", feature = "azure", feature = "http"))]
fn watch(service: Service, options: &StoreOptions) -> Watch {
    let redirects = match service {
        Service::Http if options.has_only_targets() => Redirects::OfReadsHere,
        Service::Http => Redirects::OfReads,
        Service::S3 => {
            Redirects::Refused("; if the bucket is in another region, set the region (AWS_REGION)")
        }
        Service::GoogleCloud | Service::Azure => Redirects::Refused(""),
    };
    Watch { redirects, anonymous: options.is_anonymous() }
}

#[cfg(any(feature = "aws", feature = "gcp", feature = "azure", feature = "http"))]
fn retry(options: &StoreOptions) -> object_store::RetryConfig {
    let (max_retries, retry_timeout) = options.retry_limits();
    object_store::RetryConfig { max_retries, retry_timeout, ..object_store::RetryConfig::default() }
}

/// A backend that can list in pages.
#[cfg(any(feature = "aws", feature = "gcp", feature = "azure"))]
fn paged<B: object_store::ObjectStore + object_store::list::PaginatedListStore>(
    backend: B,
    base: Path,
    conditional_put: bool,
    service: Service,
) -> Origin {
    let service = Some(service);
    let backend = Arc::new(backend);
    let (pages, by_folder, space) = (Some(backend.clone() as _), false, None);
    Origin { backend, pages, by_folder, base, space, conditional_put, service }
}

#[cfg(feature = "aws")]
fn aws(
    url: &Url,
    base: Path,
    options: &StoreOptions,
    refuse: impl Fn(String) -> StoreError,
    fail: impl Fn(Error) -> StoreError,
) -> Result<Origin, StoreError> {
    use object_store::aws::{AmazonS3Builder, AmazonS3ConfigKey};

    let builder = AmazonS3Builder::new().with_url(url.as_str());
    let builder = configure!(builder, Service::S3, options, &refuse);
    let conditional = builder.get_config_value(&AmazonS3ConfigKey::ConditionalPut);
    let conditional = conditional.as_deref().map(str::trim) != Some("disabled");
    let endpoint = [AmazonS3ConfigKey::S3Endpoint, AmazonS3ConfigKey::Endpoint]
        .iter()
        .find_map(|key| builder.get_config_value(key));
    let mut origin = paged(builder.build().map_err(fail)?, base, conditional, Service::S3);
    // Without an endpoint, bucket names are unique worldwide.
    if let Some(Ok(endpoint)) = endpoint.map(|endpoint| Url::parse(&endpoint)) {
        let host = &endpoint[url::Position::BeforeHost..url::Position::AfterPort];
        origin.space = Some(format!("{} at {host}", origin.backend));
    }
    Ok(origin)
}

#[cfg(feature = "gcp")]
fn gcp(
    url: &Url,
    base: Path,
    options: &StoreOptions,
    refuse: impl Fn(String) -> StoreError,
    fail: impl Fn(Error) -> StoreError,
) -> Result<Origin, StoreError> {
    use object_store::StaticCredentialProvider;
    use object_store::gcp::{GcpCredential, GoogleCloudStorageBuilder};

    let mut builder = GoogleCloudStorageBuilder::new().with_url(url.as_str());
    if options.is_anonymous() {
        // So that the client does not look for any.
        let nobody = GcpCredential { bearer: String::new() };
        builder = builder.with_credentials(Arc::new(StaticCredentialProvider::new(nobody)));
    }
    let builder = configure!(builder, Service::GoogleCloud, options, &refuse);
    Ok(paged(builder.build().map_err(fail)?, base, true, Service::GoogleCloud))
}

#[cfg(feature = "azure")]
fn azure(
    url: &Url,
    base: Path,
    options: &StoreOptions,
    refuse: impl Fn(String) -> StoreError,
    fail: impl Fn(Error) -> StoreError,
) -> Result<Origin, StoreError> {
    let builder = object_store::azure::MicrosoftAzureBuilder::new().with_url(url.as_str());
    let builder = configure!(builder, Service::Azure, options, &refuse);
    Ok(paged(builder.build().map_err(fail)?, base, true, Service::Azure))
}

#[cfg(feature = "http")]
fn http(
    url: &Url,
    base: Path,
    options: &StoreOptions,
    refuse: impl Fn(String) -> StoreError,
    fail: impl Fn(Error) -> StoreError,
) -> Result<Origin, StoreError> {
    use object_store::ClientConfigKey;
    use object_store::http::HttpBuilder;

    let origin = &url[..url::Position::BeforePath];
    let mut builder = HttpBuilder::new().with_url(origin);
    if url.scheme() == "http" {
        builder = builder.with_config(ClientConfigKey::AllowHttp, "true");
    }
    let builder = configure!(builder, Service::Http, options, &refuse);
    let backend = Arc::new(builder.build().map_err(fail)?);
    let space = Some(url[url::Position::BeforeHost..url::Position::AfterPort].to_owned());
    // Many servers of WebDAV list only one folder at a time: some refuse `Depth: infinity`, and some
    // take it for 1.
    let (pages, by_folder) = (None, true);
    // Plain HTTP has no conditional puts.
    let service = Some(Service::Http);
    Ok(Origin { backend, pages, by_folder, base, space, conditional_put: false, service })
}

#[cfg(all(test, feature = "aws"))]
mod tests {
    use super::*;

    #[test]
    fn a_bucket_in_the_host_is_not_looked_for_in_the_path() {
        let options = StoreOptions::new();
        for (url, base) in [
            ("https://s3.eu-west-1.amazonaws.com/b/x/y", "x/y"),
            ("https://b.s3.eu-west-1.amazonaws.com/x/y", "x/y"),
            ("https://s3data.s3.eu-west-1.amazonaws.com/x/y", "x/y"),
            ("https://a.r2.cloudflarestorage.com/b/x/y", "x/y"),
            ("s3://b/x/y", "x/y"),
        ] {
            assert_eq!(from_url(url, &options).expect("opens").base.as_ref(), base, "{url}");
        }
    }
}
