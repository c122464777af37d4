//! Explains messages of servers and their clients, with the remedy.

use zarr_kit::array::store::Service;

/// The beginnings of clients' messages, which follow the request.
const CLIENTS: [&str; 6] = [
    "Generic S3 error: ",
    "Generic GCS error: ",
    "Generic MicrosoftAzure error: ",
    "Generic HTTP error: ",
    "Object at location ",
    "The operation lacked ",
];

/// The beginnings of what zarr-store says in place of a client.
const OWN: [&str; 3] =
    ["the server redirects", "the server cannot be relied on: ", "the server does not list: "];

/// Metadata addresses from which machines in a cloud get credentials; unreachable outside a cloud.
const CREDENTIALS: [&str; 2] = ["://169.254.169.254/", "://metadata.google.internal/"];

/// The variables that give access.
fn variables(service: Service) -> &'static str {
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
        _ => "credentials are not sent to plain servers; use a URL that needs none",
    }
}

/// The text of an error at a place. The client's message is replaced by its meaning and the remedy,
/// if known. The request stays in front of it.
pub(crate) fn explained(place: &str, text: &str) -> Option<String> {
    let service = Service::of(place)?;
    let begin = CLIENTS.iter().filter_map(|client| text.find(client)).min()?;
    let (asked, said) = text.split_at_checked(begin)?;
    Some(format!("{asked}{}", meaning(service, said)?))
}

fn meaning(service: Service, said: &str) -> Option<String> {
    let has = |part: &str| said.contains(part);
    if CREDENTIALS.iter().any(|address| has(address)) || has("Account must be specified") {
        return Some(format!("no credentials were found; {}", variables(service)));
    }
    // What the library says of a request itself has its remedy.
    for own in OWN {
        if let Some(at) = said.find(own) {
            return said.get(at..).map(str::to_owned);
        }
    }
    if has("NoSuchBucket") || has("ContainerNotFound") {
        return Some(match service {
            Service::S3 => {
                "there is no such bucket; check its name, and AWS_ENDPOINT_URL unless it \
                            is at AWS"
                    .to_owned()
            }
            Service::Azure => "there is no such container; check its name and \
                               AZURE_STORAGE_ACCOUNT_NAME"
                .to_owned(),
            _ => "there is no such bucket; check its name".to_owned(),
        });
    }
    if let Some(status) = ["401 Unauthorized", "403 Forbidden"].iter().find(|status| has(status)) {
        let code = code(said).map_or_else(String::new, |code| format!(", {code}"));
        let variables = variables(service);
        // The store says it where a document led.
        if let Some(at) = said.find("it was asked without credentials") {
            let said = said.get(at..).unwrap_or_default();
            let said = said.split(')').next().unwrap_or_default();
            return Some(format!("the server refuses access ({status}{code}); {said}"));
        }
        // The store says it of reads.
        let missing = said.find("; the object may be missing").and_then(|at| said.get(at..));
        let missing = missing.unwrap_or_default();
        return Some(format!("the server refuses access ({status}{code}); {variables}{missing}"));
    }
    // Of one of the objects of a bulk deletion, which as a whole has succeeded.
    if service == Service::S3 && has("(code: AccessDenied)") {
        let variables = variables(service);
        return Some(format!("the server refuses access (AccessDenied); {variables}"));
    }
    if service == Service::S3 && (has("PermanentRedirect") || has("redirect without LOCATION")) {
        return Some("the bucket is in another region; set AWS_REGION".to_owned());
    }
    if let Some((_, reason)) = said.rsplit_once("client error (Connect): ") {
        return Some(format!(
            "the server cannot be reached ({reason}); check the address and the network"
        ));
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
    use super::explained;

    #[test]
    fn nobody_is_left_alone_with_what_a_client_says() {
        let asked = "cannot read \"zarr.json\": ";
        for (place, said, expected) in [
            (
                "s3://a/b",
                "Generic S3 error: Error performing PUT http://169.254.169.254/latest/api/token",
                "no credentials were found; set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or \
                 AWS_SKIP_SIGNATURE=true for a public bucket",
            ),
            (
                "gs://a/b",
                "Generic GCS error: x http://metadata.google.internal/computeMetadata: dns error",
                "no credentials were found; set GOOGLE_APPLICATION_CREDENTIALS, or \
                 GOOGLE_SKIP_SIGNATURE=true for a public bucket",
            ),
            (
                "az://a/b",
                "Generic MicrosoftAzure error: Account must be specified",
                "no credentials were found; set AZURE_STORAGE_ACCOUNT_NAME and \
                 AZURE_STORAGE_ACCOUNT_KEY, or AZURE_SKIP_SIGNATURE=true for a public container",
            ),
            (
                "az://a/b",
                "Object at location b not found: <Error><Code>ContainerNotFound</Code></Error>",
                "there is no such container; check its name and AZURE_STORAGE_ACCOUNT_NAME",
            ),
            (
                "s3://a/b",
                "Generic S3 error: Received redirect without LOCATION, this normally indicates an \
                 incorrectly configured region",
                "the bucket is in another region; set AWS_REGION",
            ),
            (
                "s3://a/b",
                "The operation lacked the necessary privileges: 403 Forbidden: \
                 <Code>SignatureDoesNotMatch</Code>",
                "the server refuses access (403 Forbidden, SignatureDoesNotMatch); set \
                 AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or AWS_SKIP_SIGNATURE=true for a \
                 public bucket",
            ),
            (
                "s3://a/b",
                "Generic S3 error: DeleteObjects request failed for key b/zarr.json: Access Denied \
                 (code: AccessDenied)",
                "the server refuses access (AccessDenied); set AWS_ACCESS_KEY_ID and \
                 AWS_SECRET_ACCESS_KEY, or AWS_SKIP_SIGNATURE=true for a public bucket",
            ),
            (
                "https://host/a",
                "Generic HTTP error: after 10 retries - HTTP error: error sending request: client \
                 error (Connect): dns error: Name or service not known",
                "the server cannot be reached (dns error: Name or service not known); check the \
                 address and the network",
            ),
        ] {
            let found = explained(place, &format!("{asked}{said}"));
            assert_eq!(found, Some(format!("{asked}{expected}")), "{place}");
        }
        // Unknown messages, and errors in folders, stay unchanged.
        assert_eq!(explained("s3://a/b", "cannot read \"x\": Generic S3 error: 500"), None);
        assert_eq!(explained("s3://a/b", "c/0: 403 Forbidden"), None);
        assert_eq!(explained("a/b", "Generic S3 error: 403 Forbidden"), None);
    }
}
