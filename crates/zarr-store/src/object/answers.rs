//! Answers that the backend would misunderstand.

use std::io;

use object_store::client::{HttpClient, HttpError, HttpErrorKind, HttpRequest, HttpResponse};
use reqwest::header::{AUTHORIZATION, CONTENT_LENGTH, CONTENT_RANGE, HeaderValue, RANGE};
use reqwest::{Method, StatusCode};

/// The answer to a request, as the backend understands it.
pub(super) async fn understood(
    client: &HttpClient,
    request: HttpRequest,
) -> Result<HttpResponse, HttpError> {
    match request.method().as_str() {
        // Another method needs another signature.
        "HEAD" if !request.headers().contains_key(AUTHORIZATION) => look_up(client, request).await,
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
