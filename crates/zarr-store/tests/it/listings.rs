//! Servers whose listings are incomplete, or none: whatever is asked, the answer is an error, since what
//! is not listed would be missing.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use zarr_store::{Links, Prefix, Store, StoreOptions, open_url};
use zarr_store_tests::keys_below;
use zarr_store_tests::scripted::{Received, Reply, Scripted};

const KEYS: [&str; 7] = ["a/0", "a/1", "a/2", "a/3", "a/4", "a/b/5", "a/b/6"];
/// Names on a page.
const PAGE: usize = 2;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Service {
    S3,
    Gcs,
    Azure,
}

/// The members of a page, before they are written.
#[derive(Clone, Debug)]
struct Page {
    root: &'static str,
    prefix: Option<String>,
    count: Option<usize>,
    truncated: Option<&'static str>,
    token: Option<String>,
    encoding: Option<&'static str>,
    objects: Vec<String>,
    folders: Vec<String>,
}

/// Changes a page of the service; the number of the request is the last argument.
type Lie = fn(&mut Page, usize);

fn page(service: Service, request: &Received) -> Page {
    let prefix = request.parameter("prefix").unwrap_or_default();
    let by_folder = request.parameter("delimiter").is_some();
    let token = if service == Service::Azure { "marker" } else { "continuation-token" };
    let after = request.parameter(token).unwrap_or_default();
    let names: BTreeSet<String> = KEYS
        .iter()
        .filter_map(|key| {
            let rest = key.strip_prefix(prefix.as_str())?;
            let end = rest.find('/').filter(|_| by_folder).map(|at| at + 1);
            Some(format!("{prefix}{}", &rest[..end.unwrap_or(rest.len())]))
        })
        .filter(|name| *name > after)
        .collect();
    let is_more = names.len() > PAGE;
    let names: Vec<String> = names.into_iter().take(PAGE).collect();
    let token = is_more.then(|| names[PAGE - 1].clone());
    let count = (service != Service::Azure).then_some(names.len());
    let (folders, objects) = names.into_iter().partition(|name: &String| name.ends_with('/'));
    let truncated = (service != Service::Azure).then_some(if is_more { "true" } else { "false" });
    let root = if service == Service::Azure { "EnumerationResults" } else { "ListBucketResult" };
    let prefix = Some(prefix).filter(|prefix| !prefix.is_empty());
    Page { root, prefix, count, truncated, token, encoding: None, objects, folders }
}

fn written(service: Service, page: &Page) -> String {
    let element = |name: &str, text: &str| format!("<{name}>{text}</{name}>");
    let mut body = String::new();
    body += &page.prefix.as_ref().map_or(String::new(), |prefix| element("Prefix", prefix));
    let time = "Fri, 20 Nov 2026 21:00:00 GMT";
    if service == Service::Azure {
        let of_blob = element("Last-Modified", time)
            + &element("Content-Length", "1")
            + &element("Content-Type", "text/plain");
        let properties = element("Properties", &of_blob);
        let blob = |name: &String| element("Blob", &(element("Name", name) + &properties));
        let folder = |name: &String| element("BlobPrefix", &element("Name", name));
        let blobs: String = page.objects.iter().map(blob).collect();
        let folders: String = page.folders.iter().map(folder).collect();
        body += &element("Blobs", &(blobs + &folders));
        body += &element("NextMarker", page.token.as_deref().unwrap_or(""));
    } else {
        body += &page.count.map_or(String::new(), |count| element("KeyCount", &count.to_string()));
        body += &page.encoding.map_or(String::new(), |text| element("EncodingType", text));
        body += &page.truncated.map_or(String::new(), |text| element("IsTruncated", text));
        body += &page
            .token
            .as_ref()
            .map_or(String::new(), |token| element("NextContinuationToken", token));
        for name in &page.objects {
            let members = [
                element("Key", name),
                element("LastModified", "2026-11-20T21:00:00.000Z"),
                element("ETag", "&quot;x&quot;"),
                element("Size", "1"),
            ];
            body += &element("Contents", &members.concat());
        }
        for name in &page.folders {
            body += &element("CommonPrefixes", &element("Prefix", name));
        }
    }
    format!("<?xml version=\"1.0\"?>{}", element(page.root, &body))
}

fn open(service: Service, server: &Scripted, base: &str) -> Arc<dyn Store> {
    let (url, settings) = match service {
        Service::S3 => ("s3://bucket", vec![("endpoint", server.endpoint.as_str())]),
        // Without a token it would ask the machine's environment for one, before it deletes.
        Service::Gcs => {
            ("gs://bucket", vec![("base_url", server.endpoint.as_str()), ("bearer_token", "token")])
        }
        Service::Azure => (
            "az://bucket",
            vec![("endpoint", server.endpoint.as_str()), ("account_name", "account")],
        ),
    };
    let mut options = StoreOptions::new().retries(1, Duration::from_secs(20));
    for (name, value) in settings {
        options = options.setting(name, value);
    }
    let options = options.setting("allow_http", "true").setting("skip_signature", "true");
    open_url(&format!("{url}/{base}"), &options).unwrap()
}

/// The errors of all ways to list the whole store; `None` for a way that finds none.
fn failures(store: &dyn Store) -> [Option<String>; 4] {
    let root = Prefix::root();
    [
        store.list(&root, Links::Follow).find_map(Result::err),
        store.list_described(&root).unwrap().find_map(Result::err),
        store.list_dir(&root).find_map(Result::err),
        store.delete_prefix(&root).err(),
    ]
    .map(|error| {
        // What lies is not a server that cannot list, whose store is read in other ways.
        error.map(|error| {
            assert!(!error.cannot_list(), "{error}");
            error.to_string()
        })
    })
}

fn lying(service: Service, lie: Lie) -> Scripted {
    let number = AtomicUsize::new(0);
    Scripted::start(move |request| {
        if request.method == "POST" || request.method == "DELETE" {
            let deleted = "<DeleteResult><Deleted><Key>x</Key></Deleted></DeleteResult>";
            return Reply::new("200 OK", deleted);
        }
        let mut page = page(service, request);
        lie(&mut page, number.fetch_add(1, Ordering::SeqCst));
        Reply::new("200 OK", written(service, &page))
    })
}

const SERVICES: [Service; 3] = [Service::S3, Service::Gcs, Service::Azure];

#[test]
fn honest_listings_are_read_to_their_end() {
    for service in SERVICES {
        let server = lying(service, |_, _| {});
        let store = open(service, &server, "a");
        let keys = KEYS.map(|key| key[2..].to_owned());
        assert_eq!(keys_below(&*store, ""), BTreeSet::from(keys), "{service:?}");
        assert_eq!(store.list_dir(&Prefix::root()).map(Result::unwrap).count(), 6);
        assert_eq!(keys_below(&*open(service, &server, ""), "").len(), KEYS.len());
        assert_eq!(keys_below(&*open(service, &server, "a/none"), "").len(), 0);
    }
}

#[test]
fn a_page_that_is_not_the_whole_listing_is_an_error() {
    let of_all: [(&str, Lie, &str); 10] = [
        ("another root", |page, _| page.root = "ListAllMyBucketsResult", "root element"),
        ("an error", |page, _| page.root = "Error", "root element"),
        ("another prefix", |page, _| page.prefix = Some("b/".to_owned()), "lists the prefix"),
        (
            "names of another prefix",
            |page, _| {
                page.objects.push("other/zarr.json".to_owned());
                page.count = page.count.map(|count| count + 1);
            },
            "other/zarr.json",
        ),
        (
            "folders of another prefix",
            |page, _| {
                page.folders.push("other/".to_owned());
                page.count = page.count.map(|count| count + 1);
            },
            "other/",
        ),
        (
            "a name in the place of another on its page",
            |page, _| {
                if let [first, second] = &mut page.objects[..] {
                    second.clone_from(first);
                }
            },
            "\"a/0\" twice",
        ),
        (
            "a name of the page before in the place of another",
            |page, _| {
                if page.objects.first().is_some_and(|name| name == "a/2") {
                    page.objects[0] = "a/1".to_owned();
                }
            },
            "\"a/1\" twice",
        ),
        ("one token", |page, _| page.token = Some("one".to_owned()), "circle"),
        (
            "two tokens in turn",
            |page, at| page.token = Some(["one", "two"][at % 2].to_owned()),
            "circle",
        ),
        (
            "new tokens for the same page",
            |page, at| {
                page.token = Some(format!("token {at}"));
                page.objects = vec!["a/0".to_owned()];
                page.folders.clear();
                page.count = page.count.map(|_| 1);
            },
            "circle",
        ),
    ];
    let of_s3: [(&str, Lie, &str); 7] = [
        ("no token", |page, _| page.token = None, "NextContinuationToken"),
        ("an empty token", |page, _| page.token = Some(String::new()), "NextContinuationToken"),
        (
            "the end is missing",
            |page, _| (page.truncated, page.token) = (None, None),
            "IsTruncated",
        ),
        ("neither true nor false", |page, _| page.truncated = Some("maybe"), "IsTruncated"),
        (
            "encoded names",
            |page, _| {
                page.objects = vec!["a/x%20y".to_owned()];
                page.folders.clear();
                (page.count, page.encoding) = (Some(1), Some("url"));
            },
            "EncodingType",
        ),
        ("too few", |page, _| page.objects.truncate(1), "KeyCount"),
        ("too many", |page, _| page.count = Some(1), "KeyCount"),
    ];
    for service in SERVICES {
        let of_s3 = if service == Service::Azure { &of_s3[..0] } else { &of_s3[..] };
        for (what, lie, expected) in of_all.iter().chain(of_s3) {
            let server = lying(service, *lie);
            let store = open(service, &server, "a");
            for (way, failure) in failures(&*store).into_iter().enumerate() {
                let failure = failure.unwrap_or_else(|| panic!("{service:?} {what}, {way}"));
                assert!(failure.contains(expected), "{service:?} {what}, {way}: {failure}");
            }
        }
        // The root of a bucket has a prefix, too: none.
        for (what, lie, expected) in &of_all[..3] {
            let server = lying(service, *lie);
            for failure in failures(&*open(service, &server, "")) {
                let failure = failure.unwrap_or_else(|| panic!("{service:?} {what}"));
                assert!(failure.contains(expected), "{service:?} {what}: {failure}");
            }
        }
    }
}

/// As a server that knows the first version of listings alone.
#[test]
fn the_first_version_of_listings_is_read_if_it_is_complete() {
    for (is_more, marker) in [("false", ""), ("true", "<NextMarker>a/1</NextMarker>"), ("true", "")]
    {
        let server = Scripted::start(move |request| {
            let prefix = request.parameter("prefix").unwrap_or_default();
            let objects = ["a/0", "a/1"].map(|key| {
                format!(
                    "<Contents><Key>{key}</Key><LastModified>2026-11-20T21:00:00.000Z\
                     </LastModified><ETag>x</ETag><Size>1</Size></Contents>"
                )
            });
            let body = format!(
                "<ListBucketResult xmlns=\"http://s3.amazonaws.com/doc/2006-03-01/\">\
                 <Prefix>{prefix}</Prefix><Marker/><IsTruncated>{is_more}</IsTruncated>{marker}{}\
                 </ListBucketResult>",
                objects.concat()
            );
            Reply::new("200 OK", body)
        });
        let store = open(Service::S3, &server, "a");
        if is_more == "false" {
            assert_eq!(keys_below(&*store, "").len(), 2);
            continue;
        }
        for failure in failures(&*store) {
            assert!(failure.unwrap().contains("does not know ListObjectsV2"));
        }
    }
}

#[test]
fn what_is_not_xml_is_not_an_empty_listing() {
    let whole = written(
        Service::S3,
        &Page {
            root: "ListBucketResult",
            prefix: None,
            count: None,
            truncated: Some("false"),
            token: None,
            encoding: None,
            objects: Vec::new(),
            folders: Vec::new(),
        },
    );
    let answers = [
        (String::new(), "not XML"),
        ("<html><body>Sign in to the hotel's network<br></body></html>".to_owned(), "\"html\""),
        ("{\"items\": []}".to_owned(), "not XML"),
        (whole[..whole.len() - 5].to_owned(), "damaged"),
        (whole[..whole.len() - "</ListBucketResult>".len()].to_owned(), "middle"),
        (whole.clone() + &whole, "root element"),
        (
            "<Error><Code>AccessDenied</Code><Message>no \u{1b}[2J</Message></Error>".to_owned(),
            "AccessDenied: no",
        ),
        ("<ListBucketResult/>".to_owned(), "IsTruncated"),
    ];
    for (answer, expected) in answers {
        for service in [Service::S3, Service::Gcs] {
            let body = answer.clone();
            let server = Scripted::start(move |_| Reply::new("200 OK", body.clone()));
            for failure in failures(&*open(service, &server, "a")) {
                let failure = failure.unwrap_or_else(|| panic!("{answer}"));
                assert!(failure.contains(expected), "{failure}");
                assert!(!failure.contains(char::is_control), "{failure:?}");
            }
        }
    }
}

/// A server that lists a folder of WebDAV in another way than it was asked to.
#[test]
fn a_folder_of_another_name_is_not_an_empty_folder() {
    let response = |href: &str, kind: &str| {
        format!(
            "<D:response><D:href>{href}</D:href><D:propstat><D:prop>{kind}<D:getlastmodified>\
             Fri, 20 Nov 2026 21:00:00 GMT</D:getlastmodified></D:prop>\
             <D:status>HTTP/1.1 200 OK</D:status></D:propstat></D:response>"
        )
    };
    let folder = |href| response(href, "<D:resourcetype><D:collection/></D:resourcetype>");
    let file = |href| response(href, "<D:getcontentlength>1</D:getcontentlength><D:resourcetype/>");
    let multistatus = |all: String| {
        format!("<?xml version=\"1.0\"?><D:multistatus xmlns:D=\"DAV:\">{all}</D:multistatus>")
    };
    let cases = [
        (multistatus(folder("/data/") + &file("/data/a")), None),
        (multistatus(folder("/data") + &file("/data/a")), None),
        (multistatus(folder("http://other:1/data/") + &file("/d%61ta/a")), None),
        (multistatus(folder("/")), Some("lists \"\"")),
        (multistatus(folder("/x/")), Some("lists \"x\"")),
        (multistatus(file("/data/a")), Some("without the folder itself")),
        (multistatus(folder("/data/") + &file("/data/b/c")), Some("lists \"data/b/c\"")),
        (multistatus(folder("/data/") + &file("/other/a")), Some("lists \"other/a\"")),
        (multistatus(String::new()), Some("without the folder itself")),
        ("<html><body>Sign in</body></html>".to_owned(), Some("\"html\"")),
        ("<D:error xmlns:D=\"DAV:\"/>".to_owned(), Some("\"error\"")),
        (String::new(), Some("not XML")),
    ];
    for (answer, expected) in cases {
        let body = answer.clone();
        let server = Scripted::start(move |_| Reply::new("207 Multi-Status", body.clone()));
        let options = StoreOptions::new().retries(1, Duration::from_secs(20));
        let store = open_url(&format!("{}/data", server.endpoint), &options).unwrap();
        let root = Prefix::root();
        let failures = [
            store.list(&root, Links::Follow).find_map(Result::err),
            store.list_dir(&root).find_map(Result::err),
        ];
        for failure in failures {
            match (failure, expected) {
                (None, None) => {}
                (Some(failure), Some(expected)) => {
                    let failure = failure.to_string();
                    assert!(failure.contains(expected), "{answer}: {failure}");
                }
                (failure, _) => panic!("{answer}: {failure:?}"),
            }
        }
    }
}

/// Success is what the answer says, not its status.
#[test]
fn a_deletion_and_a_copy_count_if_the_answer_says_so() {
    let key = zarr_store_tests::key;
    for body in
        ["<html><body>Sign in</body></html>", "", "<Error><Code>AccessDenied</Code></Error>"]
    {
        let server = Scripted::start(move |request| match request.method.as_str() {
            "GET" if request.target.contains("list-type") => {
                let mut all = page(Service::S3, request);
                (all.objects, all.token, all.truncated) = (vec!["a/0".into()], None, Some("false"));
                (all.folders, all.count) = (Vec::new(), None);
                Reply::new("200 OK", written(Service::S3, &all))
            }
            "HEAD" | "GET" => Reply::object(b"1", request),
            _ => Reply::new("200 OK", body),
        });
        let store = open(Service::S3, &server, "a");
        let error = store.delete_prefix(&Prefix::root()).unwrap_err().to_string();
        assert!(error.contains("not the result of such a request"), "{error}");
        let meta = store.head(&key("0")).unwrap().unwrap();
        let sharing = zarr_store::Sharing::Never;
        let copied = store.put_from(&key("1"), &*store, &key("0"), &meta, sharing).unwrap();
        assert_eq!(copied, zarr_store::PutFrom::Unsupported, "{body}");
    }
}
