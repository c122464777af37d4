//! Redirects: answers that send a request to another place.
//!
//! A client follows none by itself. A request to an object store is signed and carries tokens, which
//! are for its host alone; no service needs redirects within a region. A put that is followed by a
//! get, as for the status 303, would count as stored. Plain HTTP is different: portals of data send
//! readers to the server that has a file. So reads of plain HTTP are followed, without the headers of
//! the caller on another host.

use std::pin::Pin;

use object_store::client::{HttpClient, HttpError, HttpRequest, HttpResponse, HttpService};
use reqwest::StatusCode;
use reqwest::header::{
    ACCEPT_ENCODING, HeaderMap, HeaderValue, LOCATION, USER_AGENT as USER_AGENT_NAME,
};
use url::Url;

use super::answers::Refusal;

/// Which redirects are followed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Redirects {
    /// None; the text says what to do.
    Refused(&'static str),
    /// Those of reads, to any server.
    OfReads,
    /// Those of reads, within the server.
    OfReadsHere,
}

/// What servers are told of this program.
pub(super) const USER_AGENT: &str = concat!("zarr-kit/", env!("CARGO_PKG_VERSION"));

/// The most redirects of one request.
const MOST: usize = 10;

/// The headers that say what is asked for, not who asks.
const OF_REQUEST: [&str; 9] = [
    "accept",
    "accept-encoding",
    "depth",
    "if-match",
    "if-modified-since",
    "if-none-match",
    "if-range",
    "if-unmodified-since",
    "range",
];

/// Sends requests, and follows redirects as it is told.
#[derive(Debug)]
pub(super) struct Direct {
    pub(super) client: HttpClient,
    pub(super) redirects: Redirects,
}

impl HttpService for Direct {
    fn call<'a, 'b>(
        &'a self,
        request: HttpRequest,
    ) -> Pin<Box<dyn Future<Output = Result<HttpResponse, HttpError>> + Send + 'b>>
    where
        'a: 'b,
        Self: 'b,
    {
        Box::pin(async move {
            let mut request = request;
            // Sizes and ranges are those of the bytes that are sent. Otherwise a server may choose.
            request.headers_mut().insert(ACCEPT_ENCODING, HeaderValue::from_static("identity"));
            for _ in 0..=MOST {
                let answer = self.client.execute(request.clone()).await?;
                if !is_redirect(answer.status()) {
                    return Ok(answer);
                }
                self.follow(&mut request, &answer)?;
            }
            Err(Refusal::Wrong(format!("it redirects more than {MOST} times")).into())
        })
    }
}

fn is_redirect(status: StatusCode) -> bool {
    // This one says that the reader has the object.
    status.is_redirection() && status != StatusCode::NOT_MODIFIED
}

impl Direct {
    /// Sends the request to the place that the answer names.
    fn follow(&self, request: &mut HttpRequest, answer: &HttpResponse) -> Result<(), HttpError> {
        let is_listing = request.method().as_str() == "PROPFIND";
        let refuse = |why: &str| -> HttpError {
            let said = described(answer, self.redirects, why);
            match is_listing {
                // It is read without listings.
                true => Refusal::Unsupported(said).into(),
                false => Refusal::Redirect(said).into(),
            }
        };
        let asked =
            Url::parse(&request.uri().to_string()).map_err(|error| refuse(&error.to_string()))?;
        let is_read = match request.method().as_str() {
            "GET" | "HEAD" => true,
            // After 303, it would be asked by another method.
            "PROPFIND" => answer.status() != StatusCode::SEE_OTHER,
            _ => false,
        };
        match self.redirects {
            Redirects::Refused(_) => {
                return Err(refuse("requests to object storage are for one host"));
            }
            _ if !is_read => return Err(refuse("only those of reads are")),
            Redirects::OfReads | Redirects::OfReadsHere => {}
        }
        let mut place = location(answer.headers())
            .and_then(|location| asked.join(location).ok())
            .filter(|place| matches!(place.scheme(), "http" | "https") && place.has_host())
            .ok_or_else(|| refuse("it does not name a place"))?;
        if asked.scheme() == "https" && place.scheme() == "http" {
            return Err(refuse("it leads from https to http"));
        }
        // What a server says of users is none of theirs.
        let _set = (place.set_username(""), place.set_password(None));
        place.set_fragment(None);
        if !is_same_server(&asked, &place) {
            if self.redirects == Redirects::OfReadsHere {
                return Err(refuse(
                    "it leads to another server, and only named targets are allowed",
                ));
            }
            let headers = std::mem::take(request.headers_mut());
            let kept = headers.into_iter().filter_map(|(name, value)| Some((name?, value)));
            let kept = kept.filter(|(name, _)| OF_REQUEST.contains(&name.as_str()));
            request.headers_mut().extend(kept);
            request.headers_mut().insert(USER_AGENT_NAME, HeaderValue::from_static(USER_AGENT));
        }
        let place = place.as_str().parse();
        *request.uri_mut() = place.map_err(|_| refuse("it does not name a place"))?;
        Ok(())
    }
}

/// Whether a place is on the same server, perhaps by https instead of http.
fn is_same_server(asked: &Url, place: &Url) -> bool {
    let port = Url::port_or_known_default;
    let is_upgrade = asked.scheme() == "http" && port(asked) == Some(80);
    let is_upgrade = is_upgrade && place.scheme() == "https" && port(place) == Some(443);
    asked.host() == place.host() && (port(asked) == port(place) || is_upgrade)
}

fn location(headers: &HeaderMap) -> Option<&str> {
    headers.get(LOCATION)?.to_str().ok()
}

/// A redirect that is not followed. The place is shown without its path, which may be a secret.
fn described(answer: &HttpResponse, redirects: Redirects, why: &str) -> String {
    let headers = answer.headers();
    let host = location(headers).and_then(|place| Url::parse(place).ok());
    let host = host.and_then(|place| place.host_str().map(|host| format!(" to {host:?}")));
    let region = headers.get("x-amz-bucket-region").and_then(|region| region.to_str().ok());
    let advice = match (region, redirects) {
        (Some(region), _) => {
            format!("; the bucket is in the region {region:?}: set the region (AWS_REGION)")
        }
        (None, Redirects::Refused(advice)) => advice.to_owned(),
        (None, _) => String::new(),
    };
    format!(
        "the server redirects{} (status {}), which is not followed: {why}{advice}",
        host.unwrap_or_default(),
        answer.status().as_u16()
    )
}
