//! Whether the answer to a listing is a complete page of that listing.
//!
//! The backend's readers take every member of a page for optional. A login page, an error or the
//! listing of another prefix would be an empty folder, and a page that does not say how to go on the
//! last one. What is not listed reads as fill values, and is not copied. So an answer counts only if
//!
//! - it is XML with the root element of its protocol,
//! - the prefix that it echoes is the one that was asked for, and all entries lie below it,
//! - it has as many entries as it counts, and
//! - it says that it is complete, or how the listing goes on.
//!
//! Azure does not say the last but one, and leaves out the last on the last page. A server of WebDAV
//! lists a folder in one answer, which has the folder itself as its echo.

use std::borrow::Cow;

use object_store::client::HttpRequest;
use quick_xml::Reader;
use quick_xml::events::Event;
use url::{Url, form_urlencoded};

use crate::addresses::scheme::percent_decoded_leniently;

/// A listing that a request asks for.
pub(super) struct Asked {
    protocol: Protocol,
    /// What all names begin with; in WebDAV the URL of the folder.
    prefix: String,
    /// Whether names below a further `/` are asked for as that folder.
    by_folder: bool,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Protocol {
    /// `ListObjectsV2` of S3, also in the XML interface of Google Cloud Storage.
    S3,
    Azure,
    WebDav,
}

/// What an answer says.
#[derive(Default)]
struct Page {
    echo: Option<String>,
    count: Option<String>,
    truncated: Option<String>,
    token: Option<String>,
    /// How names are written, which nobody asked for.
    encoding: Option<String>,
    objects: usize,
    folders: usize,
    /// The first name that was not asked for.
    stray: Option<String>,
    /// The first name that is another one if names are encoded.
    encoded: Option<String>,
    /// Whether a folder of WebDAV lists itself.
    itself: bool,
}

impl Asked {
    /// The listing that a request asks for; `None` for other requests.
    pub(super) fn of(request: &HttpRequest) -> Option<Self> {
        let query = request.uri().query().unwrap_or_default().as_bytes();
        let parameter = |name: &str| {
            let mut pairs = form_urlencoded::parse(query);
            pairs.find(|(own, _)| own == name).map(|(_, value)| value)
        };
        let is = |name: &str, value: &str| parameter(name).is_some_and(|given| given == value);
        let protocol = match request.method().as_str() {
            "GET" if is("list-type", "2") => Protocol::S3,
            "GET" if is("comp", "list") => Protocol::Azure,
            // Depth 0 asks whether there is a folder.
            "PROPFIND" if request.headers().get("depth").is_none_or(|depth| depth != "0") => {
                let prefix = request.uri().to_string();
                return Some(Self { protocol: Protocol::WebDav, prefix, by_folder: true });
            }
            _ => return None,
        };
        let prefix = parameter("prefix").map(Cow::into_owned).unwrap_or_default();
        Some(Self { protocol, prefix, by_folder: parameter("delimiter").is_some() })
    }

    /// The most bytes of an answer. A page has at most 5000 entries; a folder of WebDAV any number.
    pub(super) fn most_bytes(&self) -> Option<usize> {
        (!self.is_webdav()).then_some(64 << 20)
    }

    pub(super) fn is_webdav(&self) -> bool {
        self.protocol == Protocol::WebDav
    }

    /// Whether names that end in `/` are objects, beside folders.
    pub(super) fn has_folder_markers(&self) -> bool {
        self.protocol == Protocol::S3
    }

    /// Checks an answer; the error says what is wrong with it.
    pub(super) fn check(&self, answer: &[u8]) -> Result<(), String> {
        let root = match self.protocol {
            Protocol::S3 => "ListBucketResult",
            Protocol::Azure => "EnumerationResults",
            Protocol::WebDav => "multistatus",
        };
        let mut page = Page::default();
        let walked = elements(answer, root, |way, text| self.take(&mut page, way, text));
        walked.map_err(|reason| format!("its answer is not a listing: {reason}"))?;
        if self.is_webdav() {
            return self.check_folder(&page);
        }
        self.check_page(&page)
    }

    /// Notes an element.
    fn take(&self, page: &mut Page, way: &str, text: &str) {
        let told = || Some(text.to_owned());
        match (self.protocol, way) {
            (Protocol::S3 | Protocol::Azure, "/Prefix") => page.echo = told(),
            (Protocol::S3, "/KeyCount") => page.count = told(),
            (Protocol::S3, "/IsTruncated") => page.truncated = told(),
            (Protocol::S3, "/NextContinuationToken") => page.token = told(),
            (Protocol::S3, "/EncodingType") => page.encoding = told(),
            (Protocol::S3, "/Contents/Key") | (Protocol::Azure, "/Blobs/Blob/Name") => {
                page.objects += 1;
                self.take_name(page, text);
            }
            (Protocol::S3, "/CommonPrefixes/Prefix")
            | (Protocol::Azure, "/Blobs/BlobPrefix/Name") => {
                page.folders += 1;
                self.take_name(page, text);
            }
            (Protocol::WebDav, "/response/href") => self.take_href(page, text),
            _ => {}
        }
    }

    fn take_name(&self, page: &mut Page, name: &str) {
        if name.contains(['%', '+']) && page.encoded.is_none() {
            page.encoded = Some(name.to_owned());
        }
        let rest = name.strip_prefix(&self.prefix);
        // Folders, and objects for them, end in "/".
        let deep = |rest: &str| self.by_folder && rest.trim_end_matches('/').contains('/');
        if rest.is_none_or(deep) && page.stray.is_none() {
            page.stray = Some(name.to_owned());
        }
    }

    fn take_href(&self, page: &mut Page, href: &str) {
        let found = self.names(href);
        let folder = self.folder();
        if found == folder {
            page.itself = true;
            return;
        }
        let below = match folder.as_str() {
            "" => Some(found.as_str()),
            folder => found.strip_prefix(folder).and_then(|rest| rest.strip_prefix('/')),
        };
        if below.is_none_or(|rest| rest.contains('/')) && page.stray.is_none() {
            page.stray = Some(found);
        }
    }

    /// The decoded path of a URL, or of a path on the server of the folder.
    fn names(&self, href: &str) -> String {
        let base = Url::parse(&self.prefix).ok();
        let url = Url::options().base_url(base.as_ref()).parse(href.trim());
        let path = url.map_or_else(|_| href.to_owned(), |url| url.path().to_owned());
        let path = percent_decoded_leniently(&path).unwrap_or(path);
        path.trim_matches('/').to_owned()
    }

    fn folder(&self) -> String {
        self.names("")
    }

    fn check_folder(&self, page: &Page) -> Result<(), String> {
        let folder = self.folder();
        match &page.stray {
            Some(other) => Err(format!("it lists {other:?} in the folder {folder:?}")),
            None if !page.itself => {
                Err(format!("its listing of the folder {folder:?} is without the folder itself"))
            }
            None => Ok(()),
        }
    }

    fn check_page(&self, page: &Page) -> Result<(), String> {
        let Page {
            echo, count, truncated, token, objects, folders, stray, encoding, encoded, ..
        } = page;
        let asked = &self.prefix;
        if let Some(echo) = echo.as_ref().filter(|echo| *echo != asked) {
            return Err(format!("it lists the prefix {echo:?}, and {asked:?} was asked for"));
        }
        if let Some(stray) = stray {
            return Err(format!("it lists {stray:?} for the prefix {asked:?}"));
        }
        if let Some((encoding, name)) = encoding.as_ref().zip(encoded.as_ref()) {
            return Err(format!(
                "it writes names in another way than was asked for (EncodingType {encoding:?}), \
                 such as {name:?}"
            ));
        }
        let entries = objects + folders;
        // Some servers count the objects alone.
        let agrees = |count: usize| count == entries || count == *objects;
        let number = |count: &str| count.trim().parse().ok();
        if let Some(count) = count.as_ref().filter(|count| !number(count).is_some_and(agrees)) {
            return Err(format!("it lists {entries} names and counts {count:?} (KeyCount)"));
        }
        if self.protocol == Protocol::Azure {
            return Ok(());
        }
        let goes_on = token.as_ref().is_some_and(|token| !token.is_empty());
        match truncated.as_deref().map(str::trim) {
            Some("true") if !goes_on => {
                Err("it says that the listing goes on (IsTruncated) and not \
                                             how (NextContinuationToken): it does not know \
                                             ListObjectsV2, or its answer is incomplete"
                    .to_owned())
            }
            Some("true" | "false") => Ok(()),
            Some(other) => Err(format!("it says {other:?} in IsTruncated, which is true or false")),
            // The token says the same.
            None if goes_on => Ok(()),
            None => Err("it does not say whether its listing is complete (IsTruncated)".to_owned()),
        }
    }
}

/// Whether an answer is a document in XML with this root element; the error says what it is.
pub(super) fn check_root(answer: &[u8], root: &str) -> Result<(), String> {
    elements(answer, root, |_, _| {})
}

/// Calls `each` for every element of a document in XML below its root element, which must be `root`:
/// with the names on the way to it, such as `/Contents/Key`, and its own text.
fn elements(xml: &[u8], root: &str, mut each: impl FnMut(&str, &str)) -> Result<(), String> {
    let mut reader = Reader::from_reader(xml);
    let mut text = String::new();
    // The names of the open elements below the root, and where each begins.
    let (mut way, mut starts) = (String::new(), Vec::new());
    let mut found = None;
    let mut is_open = false;
    loop {
        let event = match reader.read_event() {
            Ok(event) => event,
            Err(_) if found.is_none() => return Err("it is not XML".to_owned()),
            Err(error) => return Err(format!("it is damaged: {error}")),
        };
        match event {
            Event::Start(ref tag) | Event::Empty(ref tag) => {
                text.clear();
                let name = String::from_utf8_lossy(tag.local_name().into_inner()).into_owned();
                let ends = matches!(event, Event::Empty(_));
                if !is_open {
                    if found.is_some() || name != root {
                        return Err(other_root(xml, &name, root));
                    }
                    (found, is_open) = (Some(name), !ends);
                    continue;
                }
                starts.push(way.len());
                way.push('/');
                way.push_str(&name);
                if ends {
                    each(&way, "");
                    way.truncate(starts.pop().unwrap_or_default());
                }
            }
            Event::End(_) => {
                match starts.pop() {
                    Some(start) => {
                        each(&way, &text);
                        way.truncate(start);
                    }
                    None => is_open = false,
                }
                text.clear();
            }
            Event::Text(piece) => {
                text.push_str(&piece.xml10_content().map_err(|_| "it is not UTF-8")?);
            }
            Event::CData(piece) => {
                text.push_str(&piece.xml10_content().map_err(|_| "it is not UTF-8")?);
            }
            Event::GeneralRef(reference) => {
                let named = || {
                    let name = reference.decode().ok()?;
                    quick_xml::escape::resolve_xml_entity(&name).map(str::to_owned)
                };
                let character = reference.resolve_char_ref().ok().flatten().map(String::from);
                let meant = character.or_else(named);
                text.push_str(&meant.ok_or("it has a reference to an entity of its own")?);
            }
            Event::Eof => break,
            Event::Comment(_) | Event::Decl(_) | Event::PI(_) | Event::DocType(_) => {}
        }
    }
    match found {
        None => Err("it is not XML".to_owned()),
        Some(_) if is_open => Err("it ends in the middle".to_owned()),
        Some(_) => Ok(()),
    }
}

/// What an answer with another root element is. Servers say in an element `Error` why they refuse.
fn other_root(xml: &[u8], found: &str, expected: &str) -> String {
    let mut why = Vec::new();
    if found == "Error" && expected != "Error" {
        let said = |way: &str, text: &str| {
            if matches!(way, "/Code" | "/Message") {
                why.push(text.chars().take(200).collect::<String>());
            }
        };
        // What can be read of it.
        let _rest = elements(xml, found, said);
    }
    let found: String = found.chars().take(100).collect();
    let why = if why.is_empty() { String::new() } else { format!(" ({})", why.join(": ")) };
    format!("its root element is {found:?}{why}, expected {expected:?}")
}
