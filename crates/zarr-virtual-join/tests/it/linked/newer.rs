//! Chunks that were modified after their array was joined.

use std::fs::{self, File};
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use zarr_array::store::{
    Key, MemoryStore, Prefix, Store as _, StoreError, StoreExt as _, UpdatePolicy,
};
use zarr_array::{Array, ArrayError, Selection};
use zarr_check::{CheckOptions, check};
use zarr_join::rearrange::Span;
use zarr_join::{Arrangement, Member, NodeMember};
use zarr_metadata::{ArrayBuilder, Codec, DataType};
use zarr_store_tests::executor::block_on;
use zarr_virtual_join::{AxisOf, Document, OpenOptions, StoredDocument};

use super::{link, on_disk, open};
use crate::cases::whole;

/// When the members are joined, in seconds since 1970.
const JOINED: &str = "1700000000.5";
const SECOND: u64 = 1_700_000_000;

fn set_time(file: &Path, seconds: u64, nanos: u32) {
    let file = File::options().write(true).open(file).expect("opens");
    file.set_modified(UNIX_EPOCH + Duration::new(seconds, nanos)).expect("sets");
}

/// The text of a document whose members were joined at this time.
pub(super) fn joined_at(document: &Document, time: &str) -> String {
    let mut parts = document.to_json();
    let name = "\"chunks_last_updated_at\": ";
    let mut text = String::new();
    while let Some((before, after)) = parts.split_once(name) {
        let (_, rest) = after.split_once('}').expect("is the last field");
        text.push_str(&format!("{before}{name}{time}}}"));
        parts = rest.to_owned();
    }
    text + &parts
}

fn member(codecs: &[Codec], number: u16) -> Member {
    let metadata = ArrayBuilder::new([6, 4], DataType::Uint16)
        .chunk_shape([6, 4])
        .codecs(codecs.to_vec())
        .build()
        .expect("valid");
    let array = Array::create(Arc::new(MemoryStore::new()), &Prefix::root(), metadata);
    let array = array.expect("creates");
    let values: Vec<u16> = (0..24).map(|at| 100 * number + at + 1).collect();
    array.write_as(Selection::whole(&[6, 4]), &values).expect("writes");
    Member::new(format!("{number}"), array)
}

/// Two members, joined at [`JOINED`], whose chunks are older. The first one's chunk is then written in
/// place by a program that sets no times.
fn overwritten(codecs: &[Codec], folder: &Path, time: Option<&str>) -> Array {
    let members = on_disk(&[member(codecs, 0), member(codecs, 1)], folder);
    let place = folder.join("both.zjoin");
    let document = link(members, Arrangement::Along(0), &place).expect("links");
    let text = match time {
        Some(time) => joined_at(&document, time),
        None => document.chunks_may_change().to_json(),
    };
    fs::write(&place, text).expect("writes");
    for number in 0..2 {
        set_time(&folder.join(format!("{number}.zarr/c/0/0")), SECOND - 1, 0);
    }
    let other = member(codecs, 7);
    let bytes = other.array().store().read(&Key::new("c/0/0").expect("a key"));
    let file = folder.join("0.zarr/c/0/0");
    fs::write(&file, bytes.expect("reads").expect("is there")).expect("writes");
    set_time(&file, SECOND, 500_000_000);
    open(&place).expect("opens")
}

fn is_modified(error: &ArrayError) -> bool {
    match error {
        ArrayError::Member { cause, .. } => is_modified(cause),
        ArrayError::Store(error) => matches!(error, StoreError::Modified(_)),
        _ => false,
    }
}

/// Uncompressed, with a checksum, and a shard whose index is at its end or its beginning.
fn chains() -> [Vec<Codec>; 3] {
    [
        vec![Codec::bytes()],
        vec![Codec::bytes(), Codec::Crc32c],
        vec![Codec::sharding(vec![2, 4], [Codec::bytes()])],
    ]
}

#[test]
fn a_chunk_that_is_overwritten_in_place_is_an_error() {
    let mut messages = Vec::new();
    for codecs in chains() {
        let folder = tempfile::tempdir().expect("a folder");
        let array = overwritten(&codecs, folder.path(), Some(JOINED));
        let file = folder.path().join("0.zarr/c/0/0");
        // Whole, a row, and a row with steps, without and with blocking.
        let regions: [Selection; 3] =
            [(0..6, 0..4).into(), (1..2, 0..4).into(), (0..6, 1..3).into()];
        for region in &regions {
            set_time(&file, SECOND, 500_000_000);
            let before = array.read(region.clone()).expect("is as old as the join");
            let later =
                block_on(array.asynchronous().read(region.clone())).expect("is as old as the join");
            assert_eq!(before, later);
            for (seconds, nanos) in
                [(SECOND + 1, 0), (SECOND, 600_000_000), (SECOND + 1_000_000, 0)]
            {
                set_time(&file, seconds, nanos);
                let errors = [
                    array.read(region.clone()).expect_err("is newer"),
                    block_on(array.asynchronous().read(region.clone())).expect_err("is newer"),
                ];
                assert!(errors.iter().all(is_modified), "{errors:?}");
                let [one, other] = errors.map(|error| error.to_string());
                assert_eq!(one, other);
                messages.push(one);
            }
        }
        // The other member has not changed.
        array.read((6..12, 0..4)).expect("reads");
        // Nor is it passed on as it is stored.
        let key = Key::new("c/0/0").expect("a key");
        for error in [
            array.store().head(&key).map(drop).expect_err("is newer"),
            array.store().read(&key).map(drop).expect_err("is newer"),
        ] {
            assert!(matches!(error, StoreError::Modified(_)), "{error}");
        }
    }
    messages.sort();
    messages.dedup();
    insta::assert_snapshot!(messages.join("\n"));
}

#[test]
fn a_check_reports_a_newer_chunk_with_its_member_and_key() {
    let folder = tempfile::tempdir().expect("a folder");
    let array = overwritten(&chains()[1], folder.path(), Some(JOINED));
    let findings = |with_data| {
        let mut findings = Vec::new();
        let options = CheckOptions::new().data(with_data);
        check(array.hierarchy(), &Prefix::root(), &options, &mut |finding| findings.push(finding))
            .expect("checks");
        findings
    };
    assert_eq!(findings(true), []);
    set_time(&folder.path().join("0.zarr/c/0/0"), SECOND + 1, 0);
    let [finding] = findings(true).try_into().expect("one");
    assert_eq!((finding.id(), finding.key()), ("unusable-member", Some("0.zarr/c/0/0")));
    let message = finding.message();
    assert!(message.starts_with("member 0.zarr: ") && message.contains("was joined"), "{message}");
    // Their sizes are looked up even if they are not read.
    let [unread] = findings(false).try_into().expect("one");
    assert_eq!((unread.id(), unread.key()), ("unusable-member", Some("0.zarr/c/0/0")));
}

/// As servers give them, and as some file systems do.
#[test]
fn whole_seconds_are_compared_with_whole_seconds() {
    let folder = tempfile::tempdir().expect("a folder");
    let array = overwritten(&chains()[0], folder.path(), Some("1700000000"));
    let file = folder.path().join("0.zarr/c/0/0");
    for (seconds, nanos, is_read) in [
        (SECOND, 0, true),
        (SECOND, 999_999_999, true),
        (SECOND + 1, 0, false),
        (SECOND - 1, 0, true),
        (0, 0, true),
    ] {
        set_time(&file, seconds, nanos);
        assert_eq!(array.read((0..1, 0..1)).is_ok(), is_read, "{seconds}.{nanos}");
    }
}

#[test]
fn extreme_times_are_times() {
    for (time, is_read) in [
        ("0", false),
        ("0.000000001", false),
        ("18446744073709551615", true),
        ("18446744073709551615.999999999", true),
        ("9223372036854775807.5", true),
    ] {
        let folder = tempfile::tempdir().expect("a folder");
        let array = overwritten(&chains()[0], folder.path(), Some(time));
        assert_eq!(array.read((0..1, 0..1)).is_ok(), is_read, "{time}");
    }
}

#[test]
fn chunks_may_change_if_that_was_asked_for_and_in_documents_without_the_field() {
    let codecs = &chains()[2];
    let folder = tempfile::tempdir().expect("a folder");
    let array = overwritten(codecs, folder.path(), None);
    let text = fs::read_to_string(folder.path().join("both.zjoin")).expect("reads");
    assert!(!text.contains("last_updated_at") && text.contains("\"last_modified\": "), "{text}");
    set_time(&folder.path().join("0.zarr/c/0/0"), 2 * SECOND, 0);
    let [new, old] = [7, 1].map(|number| whole(member(codecs, number).array()));
    assert_eq!(whole(&array), [new, old].concat());
}

#[test]
fn a_member_that_is_replaced_as_a_whole_while_it_is_open_is_an_error() {
    let folder = tempfile::tempdir().expect("a folder");
    let array = overwritten(&chains()[0], folder.path(), Some(JOINED));
    whole(&array);
    let (first, second) = (folder.path().join("0.zarr"), folder.path().join("1.zarr"));
    fs::remove_dir_all(&first).expect("removes");
    // The other member's, with the same document.
    fs::create_dir_all(first.join("c/0")).expect("creates");
    for name in ["zarr.json", "c/0/0"] {
        fs::copy(second.join(name), first.join(name)).expect("copies");
        set_time(&first.join(name), SECOND + 1, 0);
    }
    let error = array.read((0..1, 0..1)).expect_err("is another one");
    assert!(is_modified(&error), "{error}");
    array.read((6..7, 0..1)).expect("reads");
}

#[test]
fn a_chunk_that_is_written_later_is_an_error() {
    let folder = tempfile::tempdir().expect("a folder");
    let array = overwritten(&chains()[0], folder.path(), Some(JOINED));
    let file = folder.path().join("0.zarr/c/0/0");
    let bytes = fs::read(&file).expect("reads");
    fs::remove_file(&file).expect("removes");
    assert_eq!(array.read_as::<u16>((0..1, 0..4)).expect("is absent"), [0; 4]);
    fs::write(&file, bytes).expect("writes");
    set_time(&file, SECOND + 1, 0);
    let error = array.read((0..1, 0..4)).expect_err("is newer");
    assert!(is_modified(&error), "{error}");
}

/// The times that a document records.
fn recorded(document: &Document) -> Vec<Option<&str>> {
    document.members().map(|member| member.chunks_last_updated_at.as_deref()).collect()
}

#[test]
fn the_time_of_the_join_is_recorded_or_that_of_a_newer_document() {
    let folder = tempfile::tempdir().expect("a folder");
    let members = on_disk(&[member(&chains()[0], 0), member(&chains()[0], 1)], folder.path());
    let seconds = |time: SystemTime| time.duration_since(UNIX_EPOCH).expect("after 1970");
    // Written by a host whose clock is ahead.
    let ahead = seconds(SystemTime::now()).as_secs() + 1_000_000;
    set_time(&folder.path().join("1.zarr/zarr.json"), ahead, 250_000_000);
    let before = SystemTime::now();
    let document = link(members, Arrangement::Along(0), &folder.path().join("a.zjoin"));
    let (document, after) = (document.expect("links"), SystemTime::now());
    let [first, second] = recorded(&document).try_into().expect("two members");
    assert_eq!(second, Some(format!("{ahead}.250000000").as_str()));
    let (whole, decimals) = first.and_then(|time| time.split_once('.')).expect("a time");
    let first = Duration::new(whole.parse().expect("a number"), decimals.parse().expect("digits"));
    assert!(seconds(before) <= first && first <= seconds(after), "{first:?}");
}

#[test]
fn an_inserted_member_has_its_own_time_unless_no_member_has_one() {
    let folder = tempfile::tempdir().expect("a folder");
    let members: Vec<Member> = (0..3).map(|number| member(&chains()[0], number)).collect();
    let members = on_disk(&members, folder.path());
    let place = folder.path().join("some.zjoin");
    let url = place.to_str().expect("UTF-8");
    let insert = || {
        let document = StoredDocument::open(url, &OpenOptions::new()).expect("is there");
        let member = NodeMember::Array(members[2].clone());
        let spans = [Span::Kept(0..12), Span::Inserted(member)];
        let plan = document.rearrange(AxisOf::Number(0), &spans, false).expect("fits");
        plan.write(UpdatePolicy::RequireExclusion).expect("writes");
        Document::from_json(url, &fs::read(&place).expect("reads")).expect("valid")
    };
    let document = link(members[..2].to_vec(), Arrangement::Along(0), &place).expect("links");
    fs::write(&place, joined_at(&document, JOINED)).expect("writes");
    let inserted = insert();
    let times = recorded(&inserted);
    assert_eq!(times[..2], [Some(JOINED); 2]);
    assert!(times[2].is_some_and(|time| time > JOINED), "{times:?}");
    fs::write(&place, document.chunks_may_change().to_json()).expect("writes");
    assert_eq!(recorded(&insert()), [None; 3]);
}
