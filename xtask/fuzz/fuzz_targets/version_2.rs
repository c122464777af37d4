//! Documents of Zarr version 2 and a chunk: opening, checking and reading fail or succeed, the same
//! by halves as whole; what is read is written as version 3 and means the same.
//!
//! The input is `.zarray`, `.zattrs`, `.zmetadata` and the first chunk, with a zero byte after each
//! but the last.

#![no_main]

use std::sync::Arc;

use libfuzzer_sys::fuzz_target;
use zarr_check::{CheckOptions, check};
use zarr_array::store::{Key, MemoryStore, Prefix, Store, StoreExt as _};
use zarr_array::{Array, Group, Selection};
use zarr_codec::Options;
use zarr_metadata::{ArrayMetadata, DataType, GroupMetadata, json2_elements};

/// The longest region to read, in bytes.
const LONGEST: u64 = 1 << 20;

fn key(name: &str) -> Key {
    Key::new(name).expect("a key")
}

fn documents(zarray: &[u8], zattrs: Option<&[u8]>, zmetadata: Option<&[u8]>) {
    if let Ok(array) = ArrayMetadata::from_version_2(zarray, zattrs) {
        // The document of version 3 that it is read as says the same.
        let again = ArrayMetadata::new(
            array.shape(),
            array.data_type(),
            array.chunk_grid(),
            array.fill_value(),
            array.codecs(),
        );
        if let Ok(again) = again {
            assert_eq!(again.data_type(), array.data_type());
            assert_eq!(again.codecs(), array.codecs());
            assert_eq!(again.fill_value(), array.fill_value());
        }
    }
    if let Ok(group) = GroupMetadata::from_version_2(Some(zarray), zattrs, zmetadata)
        && let Some(nodes) = group.consolidated_metadata()
    {
        for path in nodes.paths().take(8) {
            let _ = nodes.node(path);
        }
    }
}

fuzz_target!(|input: &[u8]| {
    let mut parts = input.splitn(4, |byte| *byte == 0);
    let zarray = parts.next().unwrap_or_default();
    let (zattrs, zmetadata) = (parts.next(), parts.next().filter(|text| !text.is_empty()));
    let chunk = parts.next().unwrap_or_default();
    let zattrs = zattrs.filter(|text| !text.is_empty());
    documents(zarray, zattrs, zmetadata);
    let _ = json2_elements(chunk, &[2, 2]);

    let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
    let put = |name: &str, bytes: &[u8]| store.put(&key(name), bytes).expect("memory");
    put(".zgroup", br#"{"zarr_format": 2}"#);
    put("a/.zarray", zarray);
    for (name, text) in [("a/.zattrs", zattrs), (".zmetadata", zmetadata)] {
        if let Some(text) = text {
            put(name, text);
        }
    }
    let _ = Group::open_consolidated(Arc::clone(&store), &Prefix::root());
    let prefix = Prefix::new("a").expect("a prefix");
    let options = Options::new().unknown_decoded_len(LONGEST);
    let Ok(array) = Array::open_with(Arc::clone(&store), &prefix, options) else { return };
    let first = vec![0; array.shape().len()];
    if let Ok(name) = array.layout().key(&first) {
        put(name.as_str(), chunk);
    }
    let check_options = CheckOptions::new().data(true).memory(LONGEST);
    let _ = check(&store, &Prefix::root(), &check_options, &mut |finding| {
        assert!(!finding.to_string().contains('\n'), "{finding}");
    });

    let is_small = array.shape().iter().try_fold(1_u64, |n, length| n.checked_mul(*length));
    let is_small = is_small.is_some_and(|elements| elements <= 1 << 10);
    let region: Selection = match is_small {
        true => Selection::whole(array.shape()),
        false if array.shape().len() > 8 => return,
        false => array.shape().iter().map(|length| 0..(*length).min(3)).collect(),
    };
    match array.data_type() {
        DataType::String => drop(array.read_as::<String>(&region)),
        DataType::Bytes => drop(array.read_as::<Vec<u8>>(&region)),
        _ if array.element_size() as u64 > LONGEST / (1 << 10) => {}
        _ => {
            let Ok(read) = array.read(&region) else { return };
            let Some(first) = region.axes().first() else { return };
            let middle = first.len() / 2;
            let halves = [0..middle, middle..first.len()].map(|part| {
                let mut axes = region.axes().to_vec();
                axes[0] = part.into();
                array.read(axes).expect("half of a region that reads")
            });
            assert_eq!(halves.concat(), read);
        }
    }
});
