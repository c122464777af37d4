//! Answers that the backend would misunderstand.

use std::error::Error;
use std::fmt;
use std::io;

use futures_util::StreamExt as _;
use object_store::client::{
    HttpClient, HttpError, HttpErrorKind, HttpRequest, HttpResponse, HttpResponseBody,
};
use reqwest::header::{AUTHORIZATION, CONTENT_LENGTH, CONTENT_RANGE, HeaderValue, RANGE};
use reqwest::{Method, StatusCode};
use url::Url;

use super::folder_marker::FOLDER_MARKER;
use super::listed::{self, Asked};

/// An answer that the same request would get again. The backend would take it for another one, or
/// repeat the request.
#[derive(Debug)]
pub(super) enum Refusal {
    /// The server does not support such requests. The backend would retry the status 501 as any other
    /// server error.
    Unsupported(String),
    /// It is not the answer to such a request.
    Wrong(String),
    /// It sends the request to a place where it must not go.
    Redirect(String),
    /// It describes an object without its length.
    Lengthless,
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unsupported(said) | Self::Redirect(said) => f.write_str(said),
            Self::Lengthless => f.write_str("the server does not say how long the object is"),
            Self::Wrong(said) => write!(f, "the server cannot be relied on: {said}"),
        }
    }
}

impl Error for Refusal {}

impl From<Refusal> for HttpError {
    fn from(refusal: Refusal) -> Self {
        Self::new(HttpErrorKind::Unknown, refusal)
    }
}

/// The statuses of a put that is done.
const PUT_STATUSES: [StatusCode; 3] = [StatusCode::OK, StatusCode::CREATED, StatusCode::NO_CONTENT];

/// The answer to a request, as the backend understands it.
pub(super) async fn understood(
    client: &HttpClient,
    request: HttpRequest,
) -> Result<HttpResponse, HttpError> {
    let asked = Asked::of(&request);
    let root = root_of(&request);
    // A copy within Azure has another status, until it is done.
    let is_copy = request.headers().contains_key("x-ms-copy-source");
    let is_head = request.method() == Method::HEAD;
    // The whole object, or a part of it that says where it is.
    let is_get = request.method() == Method::GET;
    let is_range = is_get && request.headers().contains_key(RANGE);
    let is_put = request.method() == Method::PUT && !is_copy;
    let answer = match request.method().as_str() {
        // Another method needs another signature.
        "HEAD" if !request.headers().contains_key(AUTHORIZATION) => look_up(client, request).await,
        "PROPFIND" => folder(client, request).await,
        _ => client.execute(request).await,
    }?;
    match (asked, root) {
        _ if !answer.status().is_success() => Ok(answer),
        _ if is_put && !PUT_STATUSES.contains(&answer.status()) => {
            let said = format!("it answers a put with the status {}", answer.status());
            Err(Refusal::Wrong(said).into())
        }
        (Some(asked), _) => page(&asked, answer).await,
        (None, Some(root)) => document(root, answer).await,
        // Google Cloud Storage answers so when it decodes what is stored in the encoding gzip.
        (None, None) if is_range && answer.status() == StatusCode::OK => {
            let said = "the server sends the whole object where a range is asked for";
            Err(Refusal::Unsupported(said.to_owned()).into())
        }
        (None, None) if is_get && !is_range => with_length(answer).await,
        (None, None) if answer.status() == StatusCode::PARTIAL_CONTENT => {
            Ok(with_length_of_range(answer))
        }
        (None, None) if is_head && !answer.headers().contains_key(CONTENT_LENGTH) => {
            Err(Refusal::Lengthless.into())
        }
        (None, None) => Ok(answer),
    }
}

/// An answer with its length. One that comes in chunks has none, and the backend needs it: the object
/// is received first.
async fn with_length(answer: HttpResponse) -> Result<HttpResponse, HttpError> {
    if answer.headers().contains_key(CONTENT_LENGTH) {
        return Ok(answer);
    }
    let (mut head, body) = answer.into_parts();
    let body = received(body, None).await?;
    head.headers.insert(CONTENT_LENGTH, body.len().into());
    Ok(HttpResponse::from_parts(head, body.into()))
}

/// An answer to a part of an object, with the length of the part, as its range says.
fn with_length_of_range(mut answer: HttpResponse) -> HttpResponse {
    let range = answer.headers().get(CONTENT_RANGE).and_then(|range| range.to_str().ok());
    let length = range.and_then(|range| {
        let (from, to) = range.strip_prefix("bytes ")?.split_once('/')?.0.split_once('-')?;
        let (from, to): (u64, u64) = (from.parse().ok()?, to.parse().ok()?);
        to.checked_sub(from)?.checked_add(1)
    });
    let is_unknown = !answer.headers().contains_key(CONTENT_LENGTH);
    if let Some(length) = length.filter(|_| is_unknown) {
        answer.headers_mut().insert(CONTENT_LENGTH, length.into());
    }
    answer
}

/// The root element of the answer to a request whose success only the answer tells.
fn root_of(request: &HttpRequest) -> Option<&'static str> {
    let has = |name| request.headers().contains_key(name);
    match request.method().as_str() {
        "PUT" if has("x-amz-copy-source") || has("x-goog-copy-source") => Some("CopyObjectResult"),
        "POST" if request.uri().query() == Some("delete") => Some("DeleteResult"),
        _ => None,
    }
}

/// Looks up an object by HEAD, or by GET on a server without HEAD, or without lengths in its answers. The backend takes the status 405
/// for a missing object.
async fn look_up(client: &HttpClient, request: HttpRequest) -> Result<HttpResponse, HttpError> {
    let answer = client.execute(request.clone()).await?;
    let is_unknown =
        [StatusCode::METHOD_NOT_ALLOWED, StatusCode::NOT_IMPLEMENTED].contains(&answer.status());
    let has_no_length =
        answer.status().is_success() && !answer.headers().contains_key(CONTENT_LENGTH);
    if !is_unknown && !has_no_length {
        return Ok(answer);
    }
    let mut whole = request;
    *whole.method_mut() = Method::GET;
    let mut first_byte = whole.clone();
    first_byte.headers_mut().insert(RANGE, HeaderValue::from_static("bytes=0-0"));
    let mut answer = client.execute(first_byte).await?;
    match answer.status() {
        // An empty object has no first byte.
        StatusCode::RANGE_NOT_SATISFIABLE => with_length(client.execute(whole).await?).await,
        StatusCode::PARTIAL_CONTENT => {
            let range = answer.headers().get(CONTENT_RANGE).and_then(|range| range.to_str().ok());
            let size = range.and_then(|range| range.rsplit_once('/')?.1.parse::<u64>().ok());
            let size = size.ok_or_else(|| {
                let message = "the first byte of the object came without the size of the object";
                let cause = io::Error::new(io::ErrorKind::InvalidData, message);
                HttpError::new(HttpErrorKind::Decode, cause)
            })?;
            answer.headers_mut().insert(CONTENT_LENGTH, size.into());
            Ok(answer)
        }
        // A server without ranges sends the whole object, which the backend does not receive.
        status if status.is_success() => with_length(answer).await,
        _ => Ok(answer),
    }
}

/// Lists a folder. The backend takes the status 404 for an empty folder, but servers that do not
/// list may answer every PROPFIND with it. So the server must list a folder around a missing one.
async fn folder(client: &HttpClient, request: HttpRequest) -> Result<HttpResponse, HttpError> {
    let unknown =
        |error: Box<dyn Error + Send + Sync>| HttpError::new_boxed(HttpErrorKind::Unknown, error);
    let missing = client.execute(request.clone()).await?;
    if missing.status() != StatusCode::NOT_FOUND {
        return Ok(missing);
    }
    let mut around = request;
    around.headers_mut().insert("depth", HeaderValue::from_static("0"));
    let mut url = Url::parse(&around.uri().to_string()).map_err(|error| unknown(error.into()))?;
    while url.path() != "/" {
        let Ok(mut names) = url.path_segments_mut() else { break };
        names.pop_if_empty().pop();
        drop(names);
        *around.uri_mut() = url.as_str().parse().map_err(|error| unknown(Box::new(error)))?;
        let answer = client.execute(around.clone()).await?;
        match answer.status() {
            StatusCode::MULTI_STATUS => return Ok(missing),
            status if status == StatusCode::NOT_FOUND || status.is_success() => {}
            _ => return Ok(answer),
        }
    }
    let said =
        "the server lists neither this folder nor one around it: it answers PROPFIND with 404";
    Err(Refusal::Unsupported(said.to_owned()).into())
}

/// A page of a listing. Names of S3 and Google Cloud Storage that end in "/" get another end.
async fn page(asked: &Asked, answer: HttpResponse) -> Result<HttpResponse, HttpError> {
    let (head, body) = answer.into_parts();
    let body = received(body, asked.most_bytes()).await?;
    asked.check(&body).map_err(|reason| match asked.is_webdav() {
        true => Refusal::Unsupported(format!("the server does not list: {reason}")),
        false => Refusal::Wrong(reason),
    })?;
    let body = match std::str::from_utf8(&body) {
        Ok(xml) if asked.has_folder_markers() && xml.contains("/</Key>") => {
            xml.replace("/</Key>", &format!("/{FOLDER_MARKER}</Key>")).into()
        }
        _ => body.into(),
    };
    Ok(HttpResponse::from_parts(head, body))
}

/// The answer to a request that a server may begin to answer before it is done: its status is that of
/// a success, and its body may be an error.
async fn document(root: &str, answer: HttpResponse) -> Result<HttpResponse, HttpError> {
    let (head, body) = answer.into_parts();
    let body = received(body, Some(16 << 20)).await?;
    // The backend repeats a request with such an answer.
    let is_repeated = [&b"InternalError"[..], b"SlowDown"]
        .iter()
        .any(|code| body.windows(code.len()).any(|part| part == *code));
    match listed::check_root(&body, root) {
        Err(reason) if !is_repeated => {
            let said = format!("its answer is not the result of such a request: {reason}");
            Err(Refusal::Wrong(said).into())
        }
        _ => Ok(HttpResponse::from_parts(head, body.into())),
    }
}

/// The whole body of an answer, which has at most so many bytes.
async fn received(body: HttpResponseBody, most: Option<usize>) -> Result<Vec<u8>, HttpError> {
    let mut pieces = body.bytes_stream();
    let mut bytes = Vec::new();
    while let Some(piece) = pieces.next().await {
        let piece = piece.map_err(|error| HttpError::new(HttpErrorKind::Interrupted, error))?;
        bytes.extend_from_slice(&piece);
        if let Some(most) = most.filter(|most| bytes.len() > *most) {
            return Err(Refusal::Wrong(format!("its answer has more than {most} bytes")).into());
        }
    }
    Ok(bytes)
}
