//! Members in object storage, which change in the middle of a read.

use std::ops::Range;
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use zarr_array::store::{Key, Prefix, Remedy, StoreExt as _, StoreOptions, open_url};
use zarr_array::{Array, ArrayError, Selection};
use zarr_join::{Arrangement, Join, JoinOptions, Member};
use zarr_store_tests::Objects;
use zarr_store_tests::executor::block_on;
use zarr_store_tests::objects;
use zarr_store_tests::server::{Server, ServerFault};
use zarr_virtual_join::{AllowedMembers, Document, Missing, OpenOptions, open_store};

use super::newer::joined_at;
use crate::cases::{fixture, year};

const PLACE: &str = "s3://bucket/base/year.zjoin";

fn options(server: &Server) -> StoreOptions {
    Server::options(&server.endpoint).retries(1, Duration::from_secs(20))
}

/// The members as stores of a bucket, named by their numbers.
fn in_bucket(members: &[Member], server: &Server) -> Vec<Member> {
    let place = |(number, member): (usize, &Member)| {
        let url = format!("s3://bucket/base/{number}.zarr");
        let store = open_url(&url, &options(server)).expect("opens");
        for (key, object) in objects(&**member.array().store()) {
            store.put(&Key::new(key).expect("a key"), &object).expect("puts");
        }
        Member::new(url, Array::open(store, &Prefix::root()).expect("opens"))
    };
    members.iter().enumerate().map(place).collect()
}

/// The first year as twelve stores of a bucket, joined by a document there.
fn joined(server: &Server) -> Array {
    let members = in_bucket(&year(&fixture("temp_max")), server);
    let document =
        Document::of_join(Join::new(members, Arrangement::Along(0)), PLACE, Missing::Error);
    let document = document.expect("links");
    // As the server gives it: nothing else is an ETag to other programs.
    let tag = |tag: &str| tag.strip_prefix('"')?.strip_suffix('"').map(str::len);
    for member in document.members() {
        assert_eq!(member.etag.as_deref().and_then(tag), Some(16), "{member:?}");
    }
    document.write(PLACE, &options(server)).expect("writes");
    let store = open_store(PLACE, &OpenOptions::new().store(options(server))).expect("opens");
    Array::open(store, &Prefix::root()).expect("opens")
}

/// The array is read without and with blocking, each time with a server of its own, to which
/// `prepare` is done first. Both must end in the same way.
fn read(days: Range<u64>, prepare: &(dyn Fn(&Server) + Sync)) -> Result<Vec<u8>, String> {
    let read = |is_async: bool| {
        let server = Server::start();
        let array = joined(&server);
        prepare(&server);
        let read = match is_async {
            true => block_on(array.asynchronous().read(days.clone())),
            false => array.read(days.clone()),
        };
        assert!(server.is_done(), "what was to happen has not");
        read.map_err(|error: ArrayError| steady(&error.to_string()))
    };
    // At once: most of the time is waiting.
    let [blocking, asynchronous] = thread::scope(|scope| {
        let blocking = scope.spawn(|| read(false));
        let asynchronous = read(true);
        [blocking.join().expect("does not panic"), asynchronous]
    });
    assert_eq!(blocking, asynchronous);
    asynchronous
}

/// Ports and times in what the client says differ from run to run.
fn steady(text: &str) -> String {
    match text.split_once(": Generic S3 error: ") {
        Some((before, _)) => format!("{before}: (what the client says)"),
        None => text.to_owned(),
    }
}

/// What is left of a member.
fn remove(objects: &mut Objects, part: &str) {
    objects.retain(|path, _| !path.contains(part));
}

/// Another document of the same length.
fn rewrite(objects: &mut Objects) {
    let document = objects.get_mut("base/5.zarr/zarr.json").expect("is there");
    let text = String::from_utf8(document.clone()).expect("UTF-8");
    let other = text.replacen("temperature", "TEMPERATURE", 1);
    assert_ne!(text, other);
    *document = other.into_bytes();
}

#[test]
fn a_member_that_disappears_or_changes_in_the_middle_of_a_read_is_named() {
    let (document, chunk) = ("/5.zarr/zarr.json", "/5.zarr/c/");
    let prepared: [&(dyn Fn(&Server) + Sync); 8] = [
        &|server| server.change("GET", document, |all| remove(all, "/5.zarr/")),
        &|server| server.change("GET", document, rewrite),
        &|server| server.change("GET", chunk, |all| remove(all, "/5.zarr/")),
        &|server| {
            server.change("GET", chunk, |all| {
                remove(all, "/5.zarr/c/");
                rewrite(all);
            });
        },
        &|server| {
            server.change("GET", chunk, |all| {
                let chunk = all.get_mut("base/5.zarr/c/0").expect("is there");
                chunk.truncate(chunk.len() / 2);
            });
        },
        &|server| server.plan("GET", chunk, 2, ServerFault::Fails),
        &|server| server.plan("GET", chunk, 2, ServerFault::Closes),
        &|server| server.plan("GET", chunk, 2, ServerFault::Truncated),
    ];
    // All members; the sixth is June.
    let messages = thread::scope(|scope| {
        prepared
            .map(|prepare| scope.spawn(|| read(0..366, prepare).expect_err("June")))
            .map(|message| message.join().expect("does not panic"))
    });
    assert!(messages.iter().all(|message| message.contains("5.zarr")), "{messages:?}");
    insta::assert_snapshot!(messages.join("\n"));
}

/// All objects of the server were modified at 21:00:00, and the members were joined half a second
/// later.
#[test]
fn a_chunk_that_is_overwritten_in_object_storage_is_an_error() {
    const JOINED: &str = "1795208400.5";
    let of = fixture("temp_max");
    let expected = of.read(0..31).expect("reads");
    let cases = [
        ("", Ok(&expected)),
        ("Thu, 01 Jan 1970 00:00:00 GMT", Ok(&expected)),
        ("Fri, 20 Nov 2026 21:00:00 GMT", Ok(&expected)),
        ("Fri, 20 Nov 2026 21:00:01 GMT", Err("2026-11-20T21:00:01Z")),
        ("Fri, 20 Nov 2099 21:00:00 GMT", Err("2099-11-20T21:00:00Z")),
    ];
    for (time, expected) in cases {
        for is_async in [false, true] {
            let server = Server::start();
            let members = in_bucket(&year(&of), &server);
            let document =
                Document::of_join(Join::new(members, Arrangement::Along(0)), PLACE, Missing::Error);
            let text = joined_at(&document.expect("links"), JOINED);
            let base = open_url("s3://bucket/base", &options(&server)).expect("opens");
            base.put(&Key::new("year.zjoin").expect("a key"), text.as_bytes()).expect("puts");
            let store = open_store(PLACE, &OpenOptions::new().store(options(&server)));
            let array = Array::open(store.expect("opens"), &Prefix::root()).expect("opens");
            let before = ["GET", "HEAD"].map(|method| server.count(method, "/0.zarr/"));
            server.modified("/0.zarr/c/", time);
            let read = match is_async {
                true => block_on(array.asynchronous().read(0..31)),
                false => array.read(0..31),
            };
            match (&read, expected) {
                (Ok(read), Ok(expected)) => assert_eq!(read, expected, "{time}"),
                (Err(error), Err(expected)) => {
                    let said = error.to_string();
                    let parts = ["0.zarr/c/0", expected, "2026-11-20T21:00:00.5Z"];
                    assert_eq!(error.remedy(), Some(Remedy::ChangingChunks), "{said}");
                    assert!(parts.iter().all(|part| said.contains(part)), "{said}");
                }
                _ => panic!("{time}: {read:?}"),
            }
            // The document and the chunk, and nothing to look at times.
            let after = ["GET", "HEAD"].map(|method| server.count(method, "/0.zarr/"));
            assert_eq!((after[0] - before[0], after[1] - before[1]), (2, 0), "{time}");
        }
    }
}

#[test]
fn what_happens_to_other_members_does_not_matter_and_an_absent_chunk_is_fill_values() {
    let of = fixture("temp_max");
    let expected = of.read(0..31).expect("reads");
    let found = read(0..31, &|server| {
        server.change("GET", "/0.zarr/c/", |all| remove(all, "/5.zarr/"));
    });
    assert_eq!(found.as_ref(), Ok(&expected));
    // One failed request is repeated.
    let found = read(0..31, &|server| server.plan("GET", "/0.zarr/c/", 1, ServerFault::Fails));
    assert_eq!(found.as_ref(), Ok(&expected));
    let found = read(0..31, &|server| {
        server.change("GET", "/0.zarr/c/", |all| remove(all, "/0.zarr/c/"));
    });
    assert_eq!(found, Ok(of.fill().repeat(31)));
}

#[test]
fn object_storage_copies_the_chunks_of_a_join_itself() {
    let of = fixture("temp_max");
    let server = Server::start();
    let members = in_bucket(&year(&of), &server);
    let join = || Join::new(members.clone(), Arrangement::Along(0)).plan().expect("fits");
    let target = |name: &str| {
        open_url(&format!("s3://bucket/base/{name}"), &options(&server)).expect("opens")
    };
    server.plan("PUT", "/year.zarr/c/3", 1, ServerFault::Fails);
    server.plan("PUT", "/year.zarr/c/4", 1, ServerFault::DoneThenCloses);
    let done = join().execute(&target("year.zarr"), &Prefix::root(), &JoinOptions::new(), &|_| {});
    let (joined, summary) = done.expect("joins");
    assert!(server.is_done());
    assert_eq!((summary.copied, summary.written, summary.linked), (12, 0, 0));
    // No byte of a chunk came here.
    assert_eq!(server.count("GET", ".zarr/c/"), 0);
    for chunk in 0..12 {
        let key = of.layout().key(&[chunk]).expect("a key");
        let expected = of.store().read(&key).expect("reads");
        assert_eq!(server.object(&format!("year.zarr/c/{chunk}")), expected, "{chunk}");
    }
    let read = joined.read(Selection::whole(joined.shape())).expect("reads");
    assert_eq!(read, of.read(0..366).expect("reads"));

    // A member that changes or goes just before the server copies it.
    let plans = [join(), join()];
    let changes: [fn(&mut Objects); 2] = [
        |all| drop(all.insert("base/5.zarr/c/0".to_owned(), b"other".to_vec())),
        |all| remove(all, "/5.zarr/"),
    ];
    let before = server.object("5.zarr/c/0").expect("is there");
    for (plan, change) in plans.into_iter().zip(changes) {
        server.change("PUT", "/changed.zarr/c/5", change);
        let to = target("changed.zarr");
        let error = plan.execute(&to, &Prefix::root(), &JoinOptions::new(), &|_| {});
        let error = error.expect_err("has changed").to_string();
        assert!(server.is_done() && error.contains("5.zarr"), "{error}");
        assert_eq!(server.object("changed.zarr/zarr.json"), None);
        assert_eq!(server.object("changed.zarr/c/5"), None);
        // As it was, for the next one.
        let june: Arc<_> = target("5.zarr");
        june.put(&Key::new("c/0").expect("a key"), &before).expect("puts");
        for (key, _) in objects(&*target("changed.zarr")) {
            target("changed.zarr").delete(&Key::new(key).expect("a key")).expect("deletes");
        }
    }
}

/// An object where a member should be is of a kind that nobody knows: it is not missing, wherever the
/// reference leads, and however the URL is spelled.
#[test]
fn an_object_of_an_unknown_kind_is_no_missing_member() {
    let server = Server::start();
    let bucket = open_url("s3://bucket", &options(&server)).expect("opens");
    for name in ["base/a.raw", "base/deep/b c.raw", "other.raw"] {
        bucket.put(&Key::new(name).expect("a key"), b"raw").expect("puts");
    }
    let read = |location: &str, path: &str| {
        let text = format!(
            r#"{{"zarr_kit_join": 1, "nodes": {{"": {{"metadata": {{
                "zarr_format": 3, "node_type": "array", "shape": [2], "data_type": "uint8",
                "chunk_grid": {{"name": "regular", "configuration": {{"chunk_shape": [2]}}}},
                "chunk_key_encoding": {{"name": "default"}}, "fill_value": 7, "codecs": ["bytes"]}},
                "member_shapes": [[2]], "missing": "fill",
                "members": [{{"location": "{location}", "path": "{path}"}}]}}}}}}"#
        );
        bucket.put(&Key::new("base/year.zjoin").expect("a key"), text.as_bytes()).expect("puts");
        let open = OpenOptions::new().store(options(&server));
        let store = open_store(PLACE, &open.allowed_members(AllowedMembers::Anywhere));
        let array = Array::open(store.expect("opens"), &Prefix::root()).expect("opens");
        let [blocking, asynchronous] =
            [array.read(0..2), block_on(array.asynchronous().read(0..2))]
                .map(|read| read.map_err(|error| error.to_string()));
        assert_eq!(blocking, asynchronous, "{location}");
        blocking
    };
    for (location, path) in [
        ("a.raw", ""),
        ("a.raw", "in/it"),
        ("a.raw/in", ""),
        ("deep/b c.raw", ""),
        ("../other.raw", ""),
        ("s3://bucket/other.raw", ""),
        ("s3://bucket/base/deep/b%20c.raw", "x"),
    ] {
        let error = read(location, path).expect_err(location);
        assert!(error.contains(".raw"), "{location}: {error}");
    }
    for location in ["nothing.zarr", "deep", "../no.raw", "s3://bucket/base/b%20c.raw"] {
        assert_eq!(read(location, ""), Ok(vec![7, 7]), "{location}");
    }
}

/// A local document with members on a server was read by one thread per core, and its asynchronous
/// reads waited where those of local arrays wait.
#[test]
fn members_on_a_server_take_many_requests_at_once() {
    let server = Server::start();
    let members = in_bucket(&year(&fixture("temp_max")), &server);
    let folder = tempfile::tempdir().expect("a folder");
    let place = folder.path().join("year.zjoin").display().to_string();
    let document =
        Document::of_join(Join::new(members, Arrangement::Along(0)), &place, Missing::Error);
    document.expect("links").write(&place, &StoreOptions::new()).expect("writes");
    let options = OpenOptions::new().store(options(&server).requests_in_flight(16));
    let store = open_store(&place, &options.allowed_members(AllowedMembers::Anywhere));
    let store = store.expect("opens");
    assert_eq!(store.capabilities().requests_in_flight.get(), 16);
    let array = Array::open(store, &Prefix::root()).expect("opens");
    let expected = fixture("temp_max").read(0..366).expect("reads");
    assert_eq!(block_on(array.asynchronous().read(0..366)).expect("reads"), expected);
}
