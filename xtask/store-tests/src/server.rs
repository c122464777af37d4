//! A small S3 server on loopback, which fails as a test tells it to. It has any bucket but one called
//! `missing`, and refuses all access to one called `private`.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use socket2::SockRef;
use zarr_store::{Store, StoreOptions, open_url};

use crate::Objects;

use self::answers::{Answer, Request, answer, empty, refused, tag};

mod answers;

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
    /// It is not executed, and answered with this status, as S3 does in a conflict (409), if a
    /// condition is not met (412), or if it is busy (503).
    Refuses(&'static str),
    /// As [`Refuses`](Self::Refuses), and the answer ends in the middle of its body.
    RefusesTruncated(&'static str),
    /// It is not executed, and the connection is reset.
    Resets,
    /// It is executed, and the connection is reset.
    DoneThenResets,
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

/// What somebody else does to the objects just before a request is answered.
struct Change {
    method: &'static str,
    part: String,
    work: Box<dyn FnOnce(&mut Objects) + Send>,
}

/// What becomes of a CopyObject.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Copies {
    /// It is executed.
    #[default]
    Done,
    /// What is to be copied is ignored, and the empty body of the request stored.
    Ignored,
    /// It is refused with 501.
    Refused,
}

#[derive(Default)]
struct State {
    objects: Objects,
    copies: Copies,
    /// The fault of the request after this many, of whatever method.
    next: Option<(usize, ServerFault)>,
    /// The request that failed so.
    failed: Option<String>,
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

    /// Lets the request fail that comes after so many others, of whatever method. Returns the last
    /// request that failed so: method and target.
    pub fn fail(&self, next: Option<(usize, ServerFault)>) -> Option<String> {
        let mut state = self.state.lock().unwrap();
        state.next = next;
        state.failed.take()
    }

    /// Says what becomes of copies.
    pub fn copies(&self, copies: Copies) {
        self.state.lock().unwrap().copies = copies;
    }

    /// All objects.
    #[must_use]
    pub fn objects(&self) -> Objects {
        self.state.lock().unwrap().objects.clone()
    }

    /// Replaces all objects.
    pub fn set_objects(&self, objects: Objects) {
        self.state.lock().unwrap().objects = objects;
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

    /// The requests so far: method and target.
    #[must_use]
    pub fn seen(&self) -> Vec<String> {
        self.state.lock().unwrap().seen.clone()
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
            let planned = plan.map(|plan| {
                plan.times -= 1;
                plan.fault
            });
            planned.or_else(|| match state.next.take() {
                Some((0, fault)) => {
                    state.failed = state.seen.last().cloned();
                    Some(fault)
                }
                next => {
                    state.next = next.map(|(number, fault)| (number - 1, fault));
                    None
                }
            })
        };
        let answer = match fault {
            Some(
                ServerFault::Fails
                | ServerFault::Closes
                | ServerFault::Silent
                | ServerFault::Lost
                | ServerFault::Resets,
            ) => {
                let headers = format!("ETag: {}\r\n", tag(&request.body));
                Answer { headers, ..empty("200 OK") }
            }
            Some(ServerFault::Refuses(status) | ServerFault::RefusesTruncated(status)) => {
                let mut answer = refused(status, &status.replace(|c: char| !c.is_alphabetic(), ""));
                if request.method == "HEAD" {
                    answer.length = Some(answer.body.len());
                    answer.body.clear();
                }
                answer
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
            Some(ServerFault::Resets | ServerFault::DoneThenResets) => {
                // What is lost is all that was not sent.
                SockRef::from(stream).set_linger(Some(Duration::ZERO)).unwrap();
                return;
            }
            Some(ServerFault::Truncated | ServerFault::RefusesTruncated(_)) => {
                let mut answer = answer;
                // An empty body has no middle.
                if answer.length.is_none() && answer.body.is_empty() {
                    answer.length = Some(2);
                }
                send(stream, &answer, answer.body.len() / 2);
                return;
            }
            _ => send(stream, &answer, answer.body.len()),
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

pub(crate) fn decoded(text: &str) -> String {
    let mut pieces = text.split('%');
    let mut bytes = pieces.next().unwrap().as_bytes().to_vec();
    for piece in pieces {
        bytes.push(u8::from_str_radix(&piece[..2], 16).unwrap());
        bytes.extend_from_slice(&piece.as_bytes()[2..]);
    }
    String::from_utf8(bytes).unwrap()
}

/// Sends this much of the body.
fn send(mut stream: &TcpStream, answer: &Answer, bytes: usize) {
    let length = answer.length.unwrap_or(answer.body.len());
    let head =
        format!("HTTP/1.1 {}\r\nContent-Length: {length}\r\n{}\r\n", answer.status, answer.headers);
    let message = [head.as_bytes(), &answer.body[..bytes]].concat();
    // The client may have gone.
    let _gone = stream.write_all(&message);
}

/// The ways to lose the answer to a request.
pub const LOST: [ServerFault; 5] = [
    ServerFault::DoneThenFails,
    ServerFault::DoneThenCloses,
    ServerFault::Fails,
    ServerFault::Closes,
    ServerFault::DoneThenSilent,
];

/// A store that gives up requests after a quarter of a second, and asks again.
pub fn soon(server: &Server) -> Arc<dyn Store> {
    let options = Server::options(&server.endpoint).setting("timeout", "250 ms");
    open_url("s3://bucket/base", &options).unwrap()
}
