//! What the server answers to a request that does not fail.

use std::collections::{BTreeMap, BTreeSet};

use super::{Copies, State, decoded};

/// Few entries, so that listings have pages.
const PAGE: usize = 5;

pub(super) struct Request {
    pub(super) method: String,
    /// The first name of the path.
    pub(super) bucket: String,
    pub(super) path: String,
    pub(super) query: BTreeMap<String, String>,
    pub(super) headers: BTreeMap<String, String>,
    pub(super) body: Vec<u8>,
}

pub(super) struct Answer {
    pub(super) status: &'static str,
    pub(super) headers: String,
    pub(super) body: Vec<u8>,
    /// The announced length, if there is no body.
    pub(super) length: Option<usize>,
}

pub(super) fn empty(status: &'static str) -> Answer {
    Answer { status, headers: String::new(), body: Vec::new(), length: None }
}

/// As in S3, computed from the bytes alone: equal bytes have equal tags.
pub(super) fn tag(bytes: &[u8]) -> String {
    let hash = bytes.iter().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(*byte)).wrapping_mul(0x100_0000_01b3)
    });
    format!("\"{hash:016x}\"")
}

/// As S3 refuses a request.
pub(super) fn refused(status: &'static str, code: &str) -> Answer {
    let body = format!("<?xml version=\"1.0\"?><Error><Code>{code}</Code></Error>").into_bytes();
    Answer { body, ..empty(status) }
}

pub(super) fn answer(state: &mut State, request: &Request) -> Answer {
    match request.bucket.as_str() {
        "missing" => return refused("404 Not Found", "NoSuchBucket"),
        "private" => return refused("403 Forbidden", "AccessDenied"),
        _ => {}
    }
    let found = state.objects.get(&request.path);
    match request.method.as_str() {
        "GET" if request.path.is_empty() => list(state, &request.query),
        "GET" | "HEAD" => match found {
            Some(bytes) => get(bytes, state.time(&request.path), request),
            None => empty("404 Not Found"),
        },
        "PUT" => {
            let refused =
                match (request.headers.get("if-none-match"), request.headers.get("if-match")) {
                    (Some(_), _) => found.is_some(),
                    (_, Some(expected)) => found.map(|bytes| tag(bytes)).as_ref() != Some(expected),
                    (None, None) => false,
                };
            if refused {
                return empty("412 Precondition Failed");
            }
            if let Some(source) = request.headers.get("x-amz-copy-source") {
                match state.copies {
                    Copies::Done => return copy(state, &decoded(source), &request.path),
                    Copies::Ignored => {}
                    Copies::Refused => {
                        return self::refused("501 Not Implemented", "NotImplemented");
                    }
                }
            }
            state.objects.insert(request.path.clone(), request.body.clone());
            let headers = format!("ETag: {}\r\n", tag(&request.body));
            Answer { headers, ..empty("200 OK") }
        }
        "DELETE" => {
            state.objects.remove(&request.path);
            empty("204 No Content")
        }
        "POST" => {
            let body = String::from_utf8(request.body.clone()).unwrap();
            let mut deleted = String::new();
            for key in body.split("<Key>").skip(1) {
                let key = key.split('<').next().unwrap();
                state.objects.remove(key);
                deleted.push_str(&format!("<Deleted><Key>{key}</Key></Deleted>"));
            }
            let body = format!("<DeleteResult>{deleted}</DeleteResult>").into_bytes();
            Answer { body, ..empty("200 OK") }
        }
        _ => empty("405 Method Not Allowed"),
    }
}

/// CopyObject, from any place of the bucket.
fn copy(state: &mut State, source: &str, target: &str) -> Answer {
    let source = source.trim_start_matches('/').strip_prefix("bucket/").unwrap_or(source);
    let Some(bytes) = state.objects.get(source).cloned() else {
        return refused("404 Not Found", "NoSuchKey");
    };
    let tag = tag(&bytes).replace('"', "&quot;");
    state.objects.insert(target.to_owned(), bytes);
    let body = format!(
        "<?xml version=\"1.0\"?><CopyObjectResult><ETag>{tag}</ETag>\
         <LastModified>2026-11-20T21:00:00.000Z</LastModified></CopyObjectResult>"
    );
    Answer { body: body.into_bytes(), ..empty("200 OK") }
}

fn get(bytes: &[u8], time: &str, request: &Request) -> Answer {
    let modified = match time {
        "" => String::new(),
        time => format!("Last-Modified: {time}\r\n"),
    };
    let common = format!("ETag: {}\r\n{modified}Accept-Ranges: bytes\r\n", tag(bytes));
    let len = bytes.len();
    let range = request.headers.get("range").map(|range| {
        let (from, to) = range.strip_prefix("bytes=").unwrap().split_once('-').unwrap();
        match (from.parse::<usize>(), to.parse::<usize>()) {
            (Ok(from), Ok(to)) => (from, (to + 1).min(len)),
            (Ok(from), Err(_)) => (from, len),
            (Err(_), suffix) => (len.saturating_sub(suffix.unwrap()), len),
        }
    });
    match range {
        None => Answer { headers: common, body: bytes.to_vec(), ..empty("200 OK") },
        Some((from, to)) if from < to => {
            let headers = format!("Content-Range: bytes {from}-{}/{len}\r\n{common}", to - 1);
            Answer { headers, body: bytes[from..to].to_vec(), ..empty("206 Partial Content") }
        }
        Some(_) => empty("416 Range Not Satisfiable"),
    }
}

/// ListObjectsV2, in small pages.
fn list(state: &State, query: &BTreeMap<String, String>) -> Answer {
    let given = |name: &str| query.get(name).map(String::as_str);
    let prefix = given("prefix").unwrap_or("");
    let after = given("continuation-token").or(given("start-after"));
    let mut entries: BTreeSet<(String, bool)> = BTreeSet::new();
    for key in state.objects.keys().filter(|key| key.starts_with(prefix)) {
        let rest = &key[prefix.len()..];
        match given("delimiter").and_then(|delimiter| rest.split_once(delimiter)) {
            Some((folder, _)) => entries.insert((format!("{prefix}{folder}/"), true)),
            None => entries.insert((key.clone(), false)),
        };
    }
    let mut left =
        entries.into_iter().filter(|(name, _)| after.is_none_or(|after| **name > *after));
    let page: Vec<_> = left.by_ref().take(PAGE).collect();
    let is_truncated = left.next().is_some();
    let mut body = format!(
        "<Prefix>{prefix}</Prefix><KeyCount>{}</KeyCount><IsTruncated>{is_truncated}</IsTruncated>",
        page.len()
    );
    let mut last = String::new();
    for (name, is_folder) in page {
        body.push_str(&match is_folder {
            true => format!("<CommonPrefixes><Prefix>{name}</Prefix></CommonPrefixes>"),
            false => format!(
                "<Contents><Key>{name}</Key><LastModified>2026-11-20T21:00:00.000Z</LastModified>\
                 <ETag>{}</ETag><Size>{}</Size></Contents>",
                tag(&state.objects[&name]).replace('"', "&quot;"),
                state.objects[&name].len()
            ),
        });
        last = name;
    }
    if is_truncated {
        body.push_str(&format!("<NextContinuationToken>{last}</NextContinuationToken>"));
    }
    let body = format!("<?xml version=\"1.0\"?><ListBucketResult>{body}</ListBucketResult>");
    Answer { body: body.into_bytes(), ..empty("200 OK") }
}
