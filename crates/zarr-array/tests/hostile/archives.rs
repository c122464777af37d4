//! Archives, in which few bytes stand for a long document.

use std::io::Write as _;
use std::sync::{Arc, PoisonError};

use flate2::write::DeflateEncoder;
use flate2::{Compression, Crc};
use zarr_array::store::{MemoryStore, Prefix, Store, StoreExt as _};
use zarr_array::{Array, Group};
use zarr_join::{Arrangement, Join, JoinOptions, Member};
use zarr_zip::ZipStore;

use super::{BYTES, INDEX, ONE, checked, document, key, peak, regular};
use zarr_check::CheckOptions;
use zarr_metadata::ArrayMetadata;

/// An archive of deflated entries, as PKWARE's APPNOTE 6.3.10 lays it out.
fn archive(entries: &[(&str, &[u8])]) -> Vec<u8> {
    let length = |bytes: &[u8]| u32::try_from(bytes.len()).expect("short");
    let (mut locals, mut central) = (Vec::new(), Vec::new());
    for (name, bytes) in entries {
        let mut encoder = DeflateEncoder::new(Vec::new(), Compression::fast());
        encoder.write_all(bytes).expect("memory");
        let deflated = encoder.finish().expect("memory");
        let mut crc = Crc::new();
        crc.update(bytes);
        let mut common = [20_u16, 0, 8, 0, 0x21].map(u16::to_le_bytes).concat();
        common.extend([crc.sum(), length(&deflated), length(bytes)].map(u32::to_le_bytes).concat());
        common
            .extend([u16::try_from(name.len()).expect("short"), 0].map(u16::to_le_bytes).concat());
        central.extend([b"PK\x01\x02\x14\x00", &common[..], &[0; 10]].concat());
        central.extend([&length(&locals).to_le_bytes()[..], name.as_bytes()].concat());
        locals.extend([b"PK\x03\x04", &common[..], name.as_bytes(), &deflated].concat());
    }
    let count = u16::try_from(entries.len()).expect("few").to_le_bytes();
    let sizes = [length(&central), length(&locals)].map(u32::to_le_bytes).concat();
    let end = [b"PK\x05\x06\0\0\0\0", &count[..], &count, &sizes, &[0; 2]].concat();
    [locals, central, end].concat()
}

fn within(archive: &[u8]) -> Arc<dyn Store> {
    let store = Arc::new(MemoryStore::new());
    store.put(&key("x.zip"), archive).expect("memory");
    Arc::new(ZipStore::within(store, key("x.zip")).expect("an archive"))
}

/// What is read for a chunk follows the metadata: an entry that inflates far beyond that is refused
/// before it is inflated, by reads of a chunk, of a part of one and of a shard's index, and by `check`.
#[test]
fn chunks_do_not_inflate_beyond_what_the_metadata_allows() {
    let _one = ONE.lock().unwrap_or_else(PoisonError::into_inner);
    let shard = format!(
        r#"[{{"name": "sharding_indexed", "configuration": {{"chunk_shape": [2], "codecs": [{BYTES}],
        "index_codecs": {INDEX}}}}}]"#
    );
    let gzip = format!(r#"[{BYTES}, {{"name": "gzip", "configuration": {{"level": 1}}}}]"#);
    for codecs in [format!("[{BYTES}]"), gzip, shard] {
        let document = document("[4]", &regular("[4]"), &codecs, "");
        let entries: [(&str, &[u8]); 2] =
            [("zarr.json", document.as_bytes()), ("c/0", &vec![0; 256 << 20])];
        let archive = within(&archive(&entries));
        let array = Array::open(Arc::clone(&archive), &Prefix::root()).expect("opens");
        for region in [0..4, 1..2] {
            let (used, read) = peak(|| array.read(region));
            let error = read.expect_err("too long").to_string();
            assert!(error.contains("bytes stand for 268435456"), "{error}");
            assert!(used < 4 << 20, "{codecs}: {used}");
        }
        // A plan reads the index of a shard, and a copy of unchanged chunks the whole.
        let plan = array.layout().plan(1..2).expect("within").chunks(0..1).expect("one");
        // The index of so small a shard is read apart only if further bytes cost more than a request.
        let apart = array.clone().with_range_cost(0);
        let (used, planned) = peak(|| plan[0].reads(&apart));
        assert_eq!(planned.is_err(), codecs.contains("sharding"), "{codecs}: {planned:?}");
        assert!(used < 4 << 20, "{codecs}: {used}");
        let copy: Arc<dyn Store> = Arc::new(MemoryStore::new());
        let root = Prefix::root();
        let member = || Member::new("x.zip", array.clone());
        let join = Join::new(vec![member(), member()], Arrangement::Along(0)).plan().expect("fits");
        let (used, joined) = peak(|| join.execute(&copy, &root, &JoinOptions::new(), &|_| {}));
        let error = joined.expect_err("too long").to_string();
        assert!(
            error.contains("x.zip: ") && error.contains("bytes stand for 268435456"),
            "{error}"
        );
        assert!(used < 8 << 20, "{codecs}: {used}");
        let copy: Arc<dyn Store> = Arc::new(MemoryStore::new());
        let ends = [&archive, &copy].map(|store| zarr_copy::Endpoint::new(store, &root));
        let options = zarr_copy::CopyOptions::new();
        let (used, copied) = peak(|| {
            let mut same = |_: &Prefix, metadata: &ArrayMetadata| Ok(metadata.clone());
            zarr_copy::copy_tree(ends[0], ends[1], &mut same, &options, &mut |_, _| {})
        });
        let error = copied.expect_err("too long").to_string();
        assert!(error.contains("bytes stand for 268435456"), "{error}");
        assert!(used < 8 << 20, "{codecs}: {used}");
        let (used, findings) = checked(&archive, &CheckOptions::default().data(true));
        let named = |finding: &String| finding.contains("bytes stand for 268435456");
        assert!(findings.iter().any(named), "{findings:?}");
        assert!(used < 8 << 20, "{codecs}: {used}");
    }
}

/// A shard with unused bytes beyond that bound opens where its stored bytes explain its length.
#[test]
fn deflated_shards_with_unused_bytes_are_read() {
    let codecs = format!(
        r#"[{{"name": "sharding_indexed", "configuration": {{"chunk_shape": [4], "codecs": [{BYTES}],
        "index_codecs": {INDEX}}}}}]"#
    );
    let document = document("[4]", &regular("[4]"), &codecs, "");
    // Bytes that deflate leaves as long as they are: by a generator of Marsaglia's.
    let mut state = 1_u32;
    let mut shard: Vec<u8> = (0..3 << 20)
        .map(|_| {
            state ^= state << 13;
            state ^= state >> 17;
            state ^= state << 5;
            state.to_le_bytes()[1]
        })
        .collect();
    shard.splice(..4, [5, 6, 7, 8]);
    shard.extend([0_u64, 4].map(u64::to_le_bytes).concat());
    let archive = within(&archive(&[("zarr.json", document.as_bytes()), ("c/0", &shard)]));
    let array = Array::open(archive, &Prefix::root()).expect("opens");
    assert_eq!(array.read(0..4).expect("reads"), [5, 6, 7, 8]);
}

/// Consolidated metadata of 10^5 arrays opens, within memory in proportion to the document.
#[test]
fn many_arrays_open_in_an_archive() {
    let _one = ONE.lock().unwrap_or_else(PoisonError::into_inner);
    let array = document("[4]", &regular("[4]"), &format!("[{BYTES}]"), "");
    let count = 100_000;
    let nodes: Vec<String> = (0..count).map(|n| format!(r#""n{n}":{array}"#)).collect();
    let document = format!(
        r#"{{"zarr_format": 3, "node_type": "group", "consolidated_metadata": {{"kind": "inline",
        "must_understand": false, "metadata": {{{}}}}}}}"#,
        nodes.join(",")
    );
    let archive = archive(&[("zarr.json", document.as_bytes())]);
    let store = Arc::new(MemoryStore::new());
    store.put(&key("x.zip"), &archive).expect("memory");
    let (used, ()) = peak(|| {
        let archive = ZipStore::within(store, key("x.zip")).expect("an archive");
        let archive: Arc<dyn Store> = Arc::new(archive);
        let root = Group::open_consolidated(archive, &Prefix::root()).expect("opens");
        assert_eq!(root.children().expect("known").len(), count);
        assert_eq!(root.array("n77777").expect("opens").shape(), [4]);
    });
    eprintln!("{} bytes, {used} used", document.len());
    assert!(used < 12 * document.len(), "{used} of {}", document.len());
}
