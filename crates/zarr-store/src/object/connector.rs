//! Connects clients to servers: as the client library does, but without its redirects.

use std::net::SocketAddr;

use object_store::client::HttpClient;
use object_store::{ClientConfigKey as Key, ClientOptions, Error};
use reqwest::dns::{Addrs, Name, Resolve, Resolving};
use reqwest::redirect::Policy;
use reqwest::tls::Certificate;
use reqwest::{ClientBuilder, NoProxy, Proxy};

use super::redirects::{Direct, Redirects, USER_AGENT};
use crate::addresses::settings::flag;
use crate::update::jitter;

/// A client with the proxy, the certificates and the time limits of these options, which follows
/// redirects as it is told.
pub(super) fn connect(options: &ClientOptions, redirects: Redirects) -> Result<HttpClient, Error> {
    // A provider that the program has installed stays.
    let _installed = rustls::crypto::ring::default_provider().install_default();
    let builder = configured(options)?.redirect(Policy::none());
    let client = builder.build().map_err(generic)?;
    Ok(HttpClient::new(Direct { client: HttpClient::new(client), redirects }))
}

fn generic(cause: reqwest::Error) -> Error {
    Error::Generic { store: "HTTP client", source: Box::new(cause) }
}

/// A value that is not one of its setting.
fn wrong(key: Key, cause: impl std::fmt::Display) -> Error {
    let source = format!("the setting {}: {cause}", key.as_ref()).into();
    Error::Generic { store: "HTTP client", source }
}

/// A builder with all options that texts can set.
fn configured(options: &ClientOptions) -> Result<ClientBuilder, Error> {
    let text = |key| options.get_config_value(&key);
    let is = |key| text(key).as_deref().and_then(flag) == Some(true);
    let time = |key: Key| {
        let value = text(key).map(|value| humantime::parse_duration(&value));
        value.transpose().map_err(|error| wrong(key, error))
    };
    let number = |key: Key| {
        let value = text(key).map(|value| value.parse::<u32>());
        value.transpose().map_err(|error| wrong(key, error))
    };
    let mut builder = ClientBuilder::new()
        .user_agent(text(Key::UserAgent).unwrap_or_else(|| USER_AGENT.to_owned()))
        .https_only(!is(Key::AllowHttp))
        .danger_accept_invalid_certs(is(Key::AllowInvalidCertificates))
        .http2_keep_alive_while_idle(is(Key::Http2KeepAliveWhileIdle))
        // Encodings are refused, and never asked for.
        .no_gzip()
        .no_brotli()
        .no_zstd()
        .no_deflate();
    if is(Key::NoSystemCertificates) {
        builder = builder.tls_certs_only([]);
    }
    if let Some(url) = text(Key::ProxyUrl) {
        let mut proxy = Proxy::all(url).map_err(generic)?;
        if let Some(certificate) = text(Key::ProxyCaCertificate) {
            let certificate = Certificate::from_pem(certificate.as_bytes()).map_err(generic)?;
            builder = builder.tls_certs_merge([certificate]);
        }
        if let Some(hosts) = text(Key::ProxyExcludes) {
            proxy = proxy.no_proxy(NoProxy::from_string(&hosts));
        }
        builder = builder.proxy(proxy);
    }
    for (key, set) in [
        (Key::Timeout, ClientBuilder::timeout as fn(_, _) -> _),
        (Key::ConnectTimeout, ClientBuilder::connect_timeout),
        (Key::ReadTimeout, ClientBuilder::read_timeout),
        (Key::Http2KeepAliveTimeout, ClientBuilder::http2_keep_alive_timeout),
    ] {
        if let Some(time) = time(key)? {
            builder = set(builder, time);
        }
    }
    if let Some(time) = time(Key::PoolIdleTimeout)? {
        builder = builder.pool_idle_timeout(time);
    }
    if let Some(time) = time(Key::Http2KeepAliveInterval)? {
        builder = builder.http2_keep_alive_interval(time);
    }
    if let Some(connections) = number(Key::PoolMaxIdlePerHost)? {
        let connections = usize::try_from(connections).unwrap_or(usize::MAX);
        builder = builder.pool_max_idle_per_host(connections);
    }
    if let Some(size) = number(Key::Http2MaxFrameSize)? {
        builder = builder.http2_max_frame_size(size);
    }
    if is(Key::Http1Only) {
        builder = builder.http1_only();
    }
    if is(Key::Http2Only) {
        builder = builder.http2_prior_knowledge();
    }
    if is(Key::RandomizeAddresses) {
        builder = builder.dns_resolver(AnyOrder);
    }
    Ok(builder)
}

/// Gives the addresses of a host beginning with any of them, so that connections spread over the
/// servers of a service.
#[derive(Debug)]
struct AnyOrder;

impl Resolve for AnyOrder {
    fn resolve(&self, name: Name) -> Resolving {
        Box::pin(async move {
            // The client puts the port in.
            let found = tokio::net::lookup_host((name.as_str(), 0)).await?;
            let mut addresses: Vec<SocketAddr> = found.collect();
            let random = jitter(std::time::Duration::from_secs(1)).subsec_nanos();
            let start = usize::try_from(random).unwrap_or(0).checked_rem(addresses.len());
            addresses.rotate_left(start.unwrap_or(0));
            Ok(Box::new(addresses.into_iter()) as Addrs)
        })
    }
}
