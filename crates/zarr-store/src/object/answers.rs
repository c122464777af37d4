//! Answers that the backend would misunderstand.

use std::error::Error;
use std::fmt;
use std::io;

use object_store::client::{HttpClient, HttpError, HttpErrorKind, HttpRequest, HttpResponse};
use reqwest::header::{AUTHORIZATION, CONTENT_LENGTH, CONTENT_RANGE, HeaderValue, RANGE};
use reqwest::{Method, StatusCode};
use url::Url;

use super::folder_marker::FOLDER_MARKER;

/// The server does not support such requests, and never will. The backend would retry the status 501 as
/// any other server error.
#[derive(Debug)]
pub(super) struct Unsupported(pub(super) String);

impl fmt::Display for Unsupported {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl Error for Unsupported {}

/// The answer to a request, as the backend understands it.
pub(super) async fn understood(
    client: &HttpClient,
    request: HttpRequest,
) -> Result<HttpResponse, HttpError> {
    match request.method().as_str() {
        // Another method needs another signature.
        "HEAD" if !request.headers().contains_key(AUTHORIZATION) => look_up(client, request).await,
        "PROPFIND" => folder(client, request).await,
        "GET" if request.uri().query().is_some_and(|query| query.contains("list-type=2")) => {
            page(client.execute(request).await?).await
        }
        _ => client.execute(request).await,
    }
}

/// Looks up an object by HEAD, or by GET on a server without HEAD. The backend takes the status 405
/// for a missing object.
async fn look_up(client: &HttpClient, request: HttpRequest) -> Result<HttpResponse, HttpError> {
    let answer = client.execute(request.clone()).await?;
    if ![StatusCode::METHOD_NOT_ALLOWED, StatusCode::NOT_IMPLEMENTED].contains(&answer.status()) {
        return Ok(answer);
    }
    let mut whole = request;
    *whole.method_mut() = Method::GET;
    let mut first_byte = whole.clone();
    first_byte.headers_mut().insert(RANGE, HeaderValue::from_static("bytes=0-0"));
    let mut answer = client.execute(first_byte).await?;
    match answer.status() {
        // An empty object has no first byte.
        StatusCode::RANGE_NOT_SATISFIABLE => client.execute(whole).await,
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
    Err(unknown(Box::new(Unsupported(said.to_owned()))))
}

/// A page of a listing of S3 or Google Cloud Storage, where names that end in "/" get another end.
async fn page(answer: HttpResponse) -> Result<HttpResponse, HttpError> {
    if !answer.status().is_success() {
        return Ok(answer);
    }
    let (head, body) = answer.into_parts();
    let body = body.bytes().await;
    let body = body.map_err(|error| HttpError::new(HttpErrorKind::Interrupted, error))?;
    let body = match std::str::from_utf8(&body) {
        Ok(xml) if xml.contains("/</Key>") => {
            xml.replace("/</Key>", &format!("/{FOLDER_MARKER}</Key>")).into()
        }
        _ => body.into(),
    };
    Ok(HttpResponse::from_parts(head, body))
}
