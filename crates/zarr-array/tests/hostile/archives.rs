//! Archives, in which few bytes stand for a long document.

use std::io::Write as _;
use std::sync::{Arc, PoisonError};

use flate2::write::DeflateEncoder;
use flate2::{Compression, Crc};
use zarr_array::Group;
use zarr_array::store::{MemoryStore, Prefix, Store, StoreExt as _};
use zarr_zip::ZipStore;

use super::{BYTES, ONE, document, key, peak, regular};

/// An archive with one deflated entry, as PKWARE's APPNOTE 6.3.10 lays it out.
fn archive(name: &str, bytes: &[u8]) -> Vec<u8> {
    let mut encoder = DeflateEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(bytes).expect("memory");
    let deflated = encoder.finish().expect("memory");
    let mut crc = Crc::new();
    crc.update(bytes);
    let length = |bytes: &[u8]| u32::try_from(bytes.len()).expect("short");
    let mut common = [20_u16, 0, 8, 0, 0x21].map(u16::to_le_bytes).concat();
    common.extend([crc.sum(), length(&deflated), length(bytes)].map(u32::to_le_bytes).concat());
    common.extend([u16::try_from(name.len()).expect("short"), 0].map(u16::to_le_bytes).concat());
    let local = [b"PK\x03\x04", &common[..], name.as_bytes(), &deflated].concat();
    let central = [b"PK\x01\x02\x14\x00", &common[..], &[0; 14], name.as_bytes()].concat();
    let end = [b"PK\x05\x06\0\0\0\0\x01\0\x01\0", &length(&central).to_le_bytes()[..]].concat();
    [local.clone(), central, end, [&length(&local).to_le_bytes()[..], &[0; 2]].concat()].concat()
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
    let archive = archive("zarr.json", document.as_bytes());
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
