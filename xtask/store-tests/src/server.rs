//! A small S3 server on loopback, which fails as a test tells it to. It has any bucket but one called
//! `missing`, and refuses all access to one called `private`.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use zarr_store::{Store, StoreOptions, open_url};

/// How a request fails.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ServerFault {
    /// It is executed, and answered with 500.
    DoneThenFails,
    /// It is executed, and the connection is closed without an answer.
    DoneThenCloses,
    /// It is executed, and never answered.
    DoneThenSilent,
    /// It is not executed, and answered with 500.
    Fails,
    /// It is not executed, and the connection is closed without an answer.
    Closes,
    /// It is not executed, and never answered.
    Silent,
    /// The answer ends in the middle of its body.
    Truncated,
    /// It is not executed, and answered as if it were.
    Lost,
    /// Only the first half of its bytes is stored.
    Halved,
    /// Other bytes are stored than those sent, and the answer is that for the right bytes.
    Swapped,
}

struct Plan {
    method: &'static str,
    part: String,
    times: usize,
    fault: ServerFault,
}

/// The objects of a bucket, by their paths.
pub type Objects = BTreeMap<String, Vec<u8>>;

/// What somebody else does to the objects just before a request is answered.
struct Change {
    method: &'static str,
    part: String,
    work: Box<dyn FnOnce(&mut Objects) + Send>,
}

#[derive(Default)]
struct State {
    objects: Objects,
    /// What `Last-Modified` says of objects whose path contains a text; nothing if it is empty.
    times: Vec<(String, String)>,
    plans: Vec<Plan>,
    changes: Vec<Change>,
    /// The requests so far: method and target.
    seen: Vec<String>,
}

/// The server, whose objects are in memory.
pub struct Server {
    /// Its URL.
    pub endpoint: String,
    state: Arc<Mutex<State>>,
}

/// Few entries, so that listings have pages.
const PAGE: usize = 5;

impl Server {
    /// Starts a server on its own port, which ends with the process.
    #[must_use]
    pub fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let endpoint = format!("http://{}", listener.local_addr().unwrap());
        let state = Arc::new(Mutex::new(State::default()));
        let shared = Arc::clone(&state);
        // Ends with the test's process.
        thread::spawn(move || {
            for stream in listener.incoming() {
                let state = Arc::clone(&shared);
                thread::spawn(move || serve(&stream.unwrap(), &state));
            }
        });
        Self { endpoint, state }
    }

    /// Options for which `s3://bucket/...` is this server.
    pub fn options(endpoint: &str) -> StoreOptions {
        StoreOptions::new()
            .setting("endpoint", endpoint)
            .setting("allow_http", "true")
            .setting("region", "us-east-1")
            .setting("skip_signature", "true")
            .retries(4, Duration::from_secs(20))
    }

    /// The store at `s3://bucket/base` of this server.
    #[must_use]
    pub fn open(&self) -> Arc<dyn Store> {
        open_url("s3://bucket/base", &Self::options(&self.endpoint)).unwrap()
    }

    /// Lets the next `times` requests of `method` fail whose target contains `part`.
    pub fn plan(&self, method: &'static str, part: &str, times: usize, fault: ServerFault) {
        let plan = Plan { method, part: part.to_owned(), times, fault };
        self.state.lock().unwrap().plans.push(plan);
    }

    /// Changes the objects when the next request of `method` comes whose target contains `part`,
    /// before it is answered.
    pub fn change(
        &self,
        method: &'static str,
        part: &str,
        work: impl FnOnce(&mut Objects) + Send + 'static,
    ) {
        let change = Change { method, part: part.to_owned(), work: Box::new(work) };
        self.state.lock().unwrap().changes.push(change);
    }

    /// Lets `Last-Modified` of the objects whose path contains `part` be `time`; an empty one is left
    /// out. The last call for an object counts.
    pub fn modified(&self, part: &str, time: &str) {
        self.state.lock().unwrap().times.push((part.to_owned(), time.to_owned()));
    }

    /// Whether all planned failures and changes have happened.
    pub fn is_done(&self) -> bool {
        let state = self.state.lock().unwrap();
        state.changes.is_empty() && state.plans.iter().all(|plan| plan.times == 0)
    }

    /// The bytes of an object.
    #[must_use]
    pub fn object(&self, key: &str) -> Option<Vec<u8>> {
        self.state.lock().unwrap().objects.get(&format!("base/{key}")).cloned()
    }

    /// The length of an object, by its whole path in the bucket; 0 if there is none.
    #[must_use]
    pub fn size(&self, path: &str) -> u64 {
        self.state.lock().unwrap().objects.get(path).map_or(0, |object| object.len() as u64)
    }

    /// Removes objects, by their whole paths in the bucket.
    pub fn remove(&self, paths: &[&str]) {
        let mut state = self.state.lock().unwrap();
        for path in paths {
            assert!(state.objects.remove(*path).is_some(), "{path}");
        }
    }

    /// The number of requests of `method` whose target contains `part`.
    pub fn count(&self, method: &str, part: &str) -> usize {
        let state = self.state.lock().unwrap();
        let is_one = |line: &&String| line.starts_with(method) && line.contains(part);
        state.seen.iter().filter(is_one).count()
    }
}

impl State {
    /// What `Last-Modified` says of an object.
    fn time(&self, path: &str) -> &str {
        let said = self.times.iter().rev().find(|(part, _)| path.contains(part));
        said.map_or("Fri, 20 Nov 2026 21:00:00 GMT", |(_, time)| time)
    }
}

struct Request {
    method: String,
    /// The first name of the path.
    bucket: String,
    path: String,
    query: BTreeMap<String, String>,
    headers: BTreeMap<String, String>,
    body: Vec<u8>,
}

struct Answer {
    status: &'static str,
    headers: String,
    body: Vec<u8>,
    /// The announced length, if there is no body.
    length: Option<usize>,
}

fn empty(status: &'static str) -> Answer {
    Answer { status, headers: String::new(), body: Vec::new(), length: None }
}

/// Answers the requests of one connection, until it is closed.
fn serve(stream: &TcpStream, state: &Mutex<State>) {
    let mut reader = BufReader::new(stream);
    while let Some((target, request)) = receive(&mut reader) {
        let fault = {
            let mut state = state.lock().unwrap();
            state.seen.push(format!("{} {target}", request.method));
            let change = state.changes.iter().position(|change| {
                change.method == request.method && target.contains(&change.part)
            });
            if let Some(at) = change {
                let change = state.changes.remove(at);
                (change.work)(&mut state.objects);
            }
            let plan = state.plans.iter_mut().find(|plan| {
                plan.times > 0 && plan.method == request.method && target.contains(&plan.part)
            });
            plan.map(|plan| {
                plan.times -= 1;
                plan.fault
            })
        };
        let undone =
            [ServerFault::Fails, ServerFault::Closes, ServerFault::Silent, ServerFault::Lost];
        let answer = match fault {
            Some(fault) if undone.contains(&fault) => {
                let headers = format!("ETag: {}\r\n", tag(&request.body));
                Answer { headers, ..empty("200 OK") }
            }
            fault => {
                let mut request = request;
                if fault == Some(ServerFault::Halved) {
                    request.body.truncate(request.body.len() / 2);
                }
                let mut answer = answer(&mut state.lock().unwrap(), &request);
                if fault == Some(ServerFault::Swapped) {
                    request.body.fill(b'?');
                    state.lock().unwrap().objects.insert(request.path.clone(), request.body);
                }
                if request.method == "HEAD" {
                    answer.length = Some(answer.body.len());
                    answer.body.clear();
                }
                answer
            }
        };
        match fault {
            Some(ServerFault::DoneThenCloses | ServerFault::Closes) => return,
            Some(ServerFault::DoneThenSilent | ServerFault::Silent) => {
                thread::sleep(Duration::from_secs(100));
                return;
            }
            Some(ServerFault::DoneThenFails | ServerFault::Fails) => {
                send(stream, &empty("500 Broken"), 0);
            }
            Some(ServerFault::Truncated) => {
                send(stream, &answer, answer.body.len() / 2);
                return;
            }
            Some(ServerFault::Lost | ServerFault::Halved | ServerFault::Swapped) | None => {
                send(stream, &answer, answer.body.len());
            }
        }
    }
}

fn receive(reader: &mut BufReader<&TcpStream>) -> Option<(String, Request)> {
    let mut lines = reader.by_ref().lines().map_while(Result::ok);
    let first = lines.next()?;
    let headers: BTreeMap<String, String> = lines
        .take_while(|line| !line.is_empty())
        .filter_map(|line| {
            let (name, value) = line.split_once(": ")?;
            Some((name.to_ascii_lowercase(), value.to_owned()))
        })
        .collect();
    let length = headers.get("content-length").map_or(0, |length| length.parse().unwrap());
    let mut body = vec![0; length];
    reader.read_exact(&mut body).ok()?;
    let mut words = first.split(' ');
    let (method, target) = (words.next()?.to_owned(), words.next()?.to_owned());
    let (path, query) = target.split_once('?').unwrap_or((&target, ""));
    let bucket = path.split('/').nth(1).unwrap_or("").to_owned();
    let query = query
        .split('&')
        .map(|pair| pair.split_once('=').unwrap_or((pair, "")))
        // A space is `+` in the query, and only there.
        .map(|(name, value)| (name.to_owned(), decoded(&value.replace('+', " "))))
        .collect();
    let path = decoded(path.strip_prefix("/bucket").unwrap_or(path));
    let path = path.trim_start_matches('/').to_owned();
    Some((target, Request { method, bucket, path, query, headers, body }))
}

fn decoded(text: &str) -> String {
    let mut pieces = text.split('%');
    let mut bytes = pieces.next().unwrap().as_bytes().to_vec();
    for piece in pieces {
        bytes.push(u8::from_str_radix(&piece[..2], 16).unwrap());
        bytes.extend_from_slice(&piece.as_bytes()[2..]);
    }
    String::from_utf8(bytes).unwrap()
}

fn send(mut stream: &TcpStream, answer: &Answer, bytes: usize) {
    let length = answer.length.unwrap_or(answer.body.len());
    let head =
        format!("HTTP/1.1 {}\r\nContent-Length: {length}\r\n{}\r\n", answer.status, answer.headers);
    let message = [head.as_bytes(), &answer.body[..bytes]].concat();
    // The client may have gone.
    let _gone = stream.write_all(&message);
}

/// As in S3, computed from the bytes alone: equal bytes have equal tags.
fn tag(bytes: &[u8]) -> String {
    let hash = bytes.iter().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(*byte)).wrapping_mul(0x100_0000_01b3)
    });
    format!("\"{hash:016x}\"")
}

/// As S3 refuses a request.
fn refused(status: &'static str, code: &str) -> Answer {
    let body = format!("<?xml version=\"1.0\"?><Error><Code>{code}</Code></Error>").into_bytes();
    Answer { body, ..empty(status) }
}

fn answer(state: &mut State, request: &Request) -> Answer {
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
                return copy(state, &decoded(source), &request.path);
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
    let mut body = String::new();
    let mut last = String::new();
    for (name, is_folder) in left.by_ref().take(PAGE) {
        body.push_str(&match is_folder {
            true => format!("<CommonPrefixes><Prefix>{name}</Prefix></CommonPrefixes>"),
            false => format!(
                "<Contents><Key>{name}</Key><LastModified>2026-11-20T21:00:00.000Z</LastModified>\
                 <ETag>&quot;x&quot;</ETag><Size>{}</Size></Contents>",
                state.objects[&name].len()
            ),
        });
        last = name;
    }
    if left.next().is_some() {
        body.push_str(&format!("<NextContinuationToken>{last}</NextContinuationToken>"));
    }
    let body = format!("<?xml version=\"1.0\"?><ListBucketResult>{body}</ListBucketResult>");
    Answer { body: body.into_bytes(), ..empty("200 OK") }
}

/// The ways to lose the answer to a request.
pub const LOST: [ServerFault; 5] = [
    ServerFault::DoneThenFails,
    ServerFault::DoneThenCloses,
    ServerFault::Fails,
    ServerFault::Closes,
    ServerFault::DoneThenSilent,
];

/// A store that gives up requests after a second.
pub fn soon(server: &Server) -> Arc<dyn Store> {
    let options = Server::options(&server.endpoint).setting("timeout", "1 s");
    open_url("s3://bucket/base", &options).unwrap()
}
