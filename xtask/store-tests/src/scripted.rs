//! A server on loopback whose every answer a test decides, and which keeps all that it was sent.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread;

/// A request as the server received it.
#[derive(Clone, Debug)]
pub struct Received {
    /// `GET` and the like.
    pub method: String,
    /// The path and the query.
    pub target: String,
    /// The headers by their names in lower case.
    pub headers: BTreeMap<String, String>,
    /// The bytes after the headers.
    pub body: Vec<u8>,
}

impl Received {
    /// The decoded value of a parameter of the query.
    #[must_use]
    pub fn parameter(&self, name: &str) -> Option<String> {
        let (_, query) = self.target.split_once('?')?;
        let mut pairs = query.split('&').map(|pair| pair.split_once('=').unwrap_or((pair, "")));
        let (_, value) = pairs.find(|(own, _)| *own == name)?;
        Some(crate::server::decoded(&value.replace('+', " ")))
    }
}

/// An answer.
#[derive(Clone, Debug)]
pub struct Reply {
    /// `200 OK` and the like.
    pub status: &'static str,
    /// Headers besides `Content-Length`.
    pub headers: Vec<(&'static str, String)>,
    /// The bytes after the headers, which are left out in an answer to HEAD.
    pub body: Vec<u8>,
    /// Whether the body comes in chunks, without `Content-Length`.
    pub chunked: bool,
}

impl Reply {
    /// An answer without headers.
    pub fn new(status: &'static str, body: impl Into<Vec<u8>>) -> Self {
        Self { status, headers: Vec::new(), body: body.into(), chunked: false }
    }

    /// With a header more.
    #[must_use]
    pub fn header(mut self, name: &'static str, value: impl Into<String>) -> Self {
        self.headers.push((name, value.into()));
        self
    }

    /// The object with these bytes, whole or the range that was asked for, with an ETag.
    #[must_use]
    pub fn object(bytes: &[u8], request: &Received) -> Self {
        let range = request.headers.get("range").map(|range| {
            let (from, to) = range.strip_prefix("bytes=").unwrap().split_once('-').unwrap();
            match (from.parse::<usize>(), to.parse::<usize>()) {
                (Ok(from), Ok(to)) => from..(to + 1).min(bytes.len()),
                (Ok(from), Err(_)) => from..bytes.len(),
                (Err(_), suffix) => bytes.len().saturating_sub(suffix.unwrap())..bytes.len(),
            }
        });
        let reply = match range {
            Some(range) => {
                let of = format!("bytes {}-{}/{}", range.start, range.end - 1, bytes.len());
                Self::new("206 Partial Content", &bytes[range]).header("Content-Range", of)
            }
            None => Self::new("200 OK", bytes),
        };
        let time = "Fri, 20 Nov 2026 21:00:00 GMT";
        reply.header("ETag", format!("\"{}\"", bytes.len())).header("Last-Modified", time)
    }
}

/// The server.
pub struct Scripted {
    /// Its URL, without a `/` at the end.
    pub endpoint: String,
    received: Arc<Mutex<Vec<Received>>>,
}

impl Scripted {
    /// Starts a server on its own port, which ends with the process. It closes each connection after
    /// one answer.
    pub fn start(script: impl Fn(&Received) -> Reply + Send + Sync + 'static) -> Self {
        Self::start_at("127.0.0.1", script)
    }

    /// As [`start`](Self::start), at another address of loopback: another host.
    pub fn start_at(
        address: &str,
        script: impl Fn(&Received) -> Reply + Send + Sync + 'static,
    ) -> Self {
        let listener = TcpListener::bind((address, 0)).unwrap();
        let endpoint = format!("http://{}", listener.local_addr().unwrap());
        let received = Arc::new(Mutex::new(Vec::new()));
        let (kept, script) = (Arc::clone(&received), Arc::new(script));
        // Ends with the test's process.
        thread::spawn(move || {
            for stream in listener.incoming() {
                let (kept, script) = (Arc::clone(&kept), Arc::clone(&script));
                thread::spawn(move || serve(&stream.unwrap(), &kept, &*script));
            }
        });
        Self { endpoint, received }
    }

    /// The requests so far.
    #[must_use]
    pub fn received(&self) -> Vec<Received> {
        self.received.lock().unwrap().clone()
    }
}

/// Answers one request.
fn serve(
    mut stream: &TcpStream,
    kept: &Mutex<Vec<Received>>,
    script: &dyn Fn(&Received) -> Reply,
) -> Option<()> {
    let request = receive(stream)?;
    kept.lock().unwrap().push(request.clone());
    let reply = script(&request);
    let mut message = format!("HTTP/1.1 {}\r\nConnection: close\r\n", reply.status);
    for (name, value) in &reply.headers {
        message.push_str(&format!("{name}: {value}\r\n"));
    }
    message.push_str(&match reply.chunked {
        true => "Transfer-Encoding: chunked\r\n\r\n".to_owned(),
        false => format!("Content-Length: {}\r\n\r\n", reply.body.len()),
    });
    let mut message = message.into_bytes();
    if request.method != "HEAD" && reply.chunked {
        // Several chunks, of one byte and of the rest.
        for piece in [reply.body.get(..1), reply.body.get(1..)].into_iter().flatten() {
            if !piece.is_empty() {
                message.extend_from_slice(format!("{:x}\r\n", piece.len()).as_bytes());
                message.extend_from_slice(&[piece, b"\r\n"].concat());
            }
        }
        message.extend_from_slice(b"0\r\n\r\n");
    } else if request.method != "HEAD" {
        message.extend_from_slice(&reply.body);
    }
    // The client may have gone.
    let _gone = stream.write_all(&message);
    Some(())
}

fn receive(stream: &TcpStream) -> Option<Received> {
    let mut reader = BufReader::new(stream);
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
    Some(Received { method, target, headers, body })
}
