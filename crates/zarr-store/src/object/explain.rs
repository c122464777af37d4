//! What the messages of servers and their clients mean, with the setting that would help.

use crate::errors::error::ANONYMOUS;
use crate::{ServerFault, Service};

/// The beginnings of what this crate says in place of a client.
const OWN: [&str; 3] =
    ["the server redirects", "the server cannot be relied on: ", "the server does not list: "];

/// Metadata addresses from which machines in a cloud get credentials; unreachable outside a cloud.
const CREDENTIALS: [&str; 2] = ["://169.254.169.254/", "://metadata.google.internal/"];

/// The settings that give access.
fn settings(service: Service) -> &'static str {
    match service {
        Service::S3 => {
            "set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or AWS_SKIP_SIGNATURE=true for a \
             public bucket"
        }
        Service::GoogleCloud => {
            "set GOOGLE_APPLICATION_CREDENTIALS, or GOOGLE_SKIP_SIGNATURE=true for a public bucket"
        }
        Service::Azure => {
            "set AZURE_STORAGE_ACCOUNT_NAME and AZURE_STORAGE_ACCOUNT_KEY, or \
             AZURE_SKIP_SIGNATURE=true for a public container"
        }
        Service::Http => "credentials are not sent to plain servers; use a URL that needs none",
    }
}

/// The meaning of what a client says of a failed request, if it is known. `None` of a `service` is a
/// client of the caller's, who knows its settings.
pub(super) fn meaning(
    service: Option<Service>,
    said: &str,
) -> Option<(Option<ServerFault>, String)> {
    let has = |part: &str| said.contains(part);
    let has_none =
        CREDENTIALS.iter().any(|address| has(address)) || has("Account must be specified");
    if let (true, Some(service)) = (has_none, service) {
        let text = format!("no credentials were found; {}", settings(service));
        return Some((Some(ServerFault::NoCredentials), text));
    }
    // What this crate says of a request itself has its remedy.
    for own in OWN {
        if let Some(at) = said.find(own) {
            return Some((None, said.get(at..)?.to_owned()));
        }
    }
    let service = service?;
    let settings = settings(service);
    if has("NoSuchBucket") || has("ContainerNotFound") {
        let text = match service {
            Service::S3 => {
                "there is no such bucket; check its name, and AWS_ENDPOINT_URL unless it is at AWS"
            }
            Service::Azure => {
                "there is no such container; check its name and AZURE_STORAGE_ACCOUNT_NAME"
            }
            _ => "there is no such bucket; check its name",
        };
        return Some((Some(ServerFault::NoBucket), text.to_owned()));
    }
    if let Some(status) = ["401 Unauthorized", "403 Forbidden"].iter().find(|status| has(status)) {
        let code = code(said).map_or_else(String::new, |code| format!(", {code}"));
        // It is said where a document led.
        let what = if has(ANONYMOUS) { ANONYMOUS } else { settings };
        let text = format!("the server refuses access ({status}{code}); {what}");
        return Some((Some(ServerFault::Refused), text));
    }
    // Of one of the objects of a bulk deletion, which as a whole has succeeded.
    if service == Service::S3 && has("(code: AccessDenied)") {
        let text = format!("the server refuses access (AccessDenied); {settings}");
        return Some((Some(ServerFault::Refused), text));
    }
    if service == Service::S3 && (has("PermanentRedirect") || has("redirect without LOCATION")) {
        let text = "the bucket is in another region; set AWS_REGION".to_owned();
        return Some((Some(ServerFault::OtherRegion), text));
    }
    if let Some((_, reason)) = said.rsplit_once("client error (Connect): ") {
        let text =
            format!("the server cannot be reached ({reason}); check the address and the network");
        return Some((Some(ServerFault::Unreachable), text));
    }
    None
}

/// The code of an error as services write it.
fn code(said: &str) -> Option<&str> {
    let (_, rest) = said.split_once("<Code>")?;
    let (code, _) = rest.split_once("</Code>")?;
    code.bytes().all(|byte| byte.is_ascii_alphanumeric()).then_some(code)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nobody_is_left_alone_with_what_a_client_says() {
        use ServerFault::*;
        for (service, said, fault, expected) in [
            (
                Service::S3,
                "Generic S3 error: Error performing PUT http://169.254.169.254/latest/api/token",
                NoCredentials,
                "no credentials were found; set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or \
                 AWS_SKIP_SIGNATURE=true for a public bucket",
            ),
            (
                Service::GoogleCloud,
                "Generic GCS error: x http://metadata.google.internal/computeMetadata: dns error",
                NoCredentials,
                "no credentials were found; set GOOGLE_APPLICATION_CREDENTIALS, or \
                 GOOGLE_SKIP_SIGNATURE=true for a public bucket",
            ),
            (
                Service::Azure,
                "Generic MicrosoftAzure error: Account must be specified",
                NoCredentials,
                "no credentials were found; set AZURE_STORAGE_ACCOUNT_NAME and \
                 AZURE_STORAGE_ACCOUNT_KEY, or AZURE_SKIP_SIGNATURE=true for a public container",
            ),
            (
                Service::Azure,
                "Object at location b not found: <Error><Code>ContainerNotFound</Code></Error>",
                NoBucket,
                "there is no such container; check its name and AZURE_STORAGE_ACCOUNT_NAME",
            ),
            (
                Service::S3,
                "Generic S3 error: Received redirect without LOCATION, this normally indicates an \
                 incorrectly configured region",
                OtherRegion,
                "the bucket is in another region; set AWS_REGION",
            ),
            (
                Service::S3,
                "The operation lacked the necessary privileges: 403 Forbidden: \
                 <Code>SignatureDoesNotMatch</Code>",
                Refused,
                "the server refuses access (403 Forbidden, SignatureDoesNotMatch); set \
                 AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or AWS_SKIP_SIGNATURE=true for a \
                 public bucket",
            ),
            (
                Service::S3,
                "Generic S3 error: DeleteObjects request failed for key b/zarr.json: Access Denied \
                 (code: AccessDenied)",
                Refused,
                "the server refuses access (AccessDenied); set AWS_ACCESS_KEY_ID and \
                 AWS_SECRET_ACCESS_KEY, or AWS_SKIP_SIGNATURE=true for a public bucket",
            ),
            (
                Service::Http,
                "Generic HTTP error: after 10 retries - HTTP error: error sending request: client \
                 error (Connect): dns error: Name or service not known",
                Unreachable,
                "the server cannot be reached (dns error: Name or service not known); check the \
                 address and the network",
            ),
        ] {
            let expected = Some((Some(fault), expected.to_owned()));
            assert_eq!(meaning(Some(service), said), expected, "{said}");
            assert_eq!(meaning(None, said), None, "{said}");
        }
        assert_eq!(meaning(Some(Service::S3), "Generic S3 error: 500"), None);
        let own = "Generic HTTP error: the server does not list: no body";
        let expected = Some((None, "the server does not list: no body".to_owned()));
        assert_eq!(meaning(None, own), expected);
    }
}
