//! When objects were modified, as every read says it.

use std::fs::File;
use std::path::Path;
use std::slice::from_ref;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use zarr_store::{GetInto, ReadRange, Store};

use crate::key;

/// 2026-11-20T21:00:00Z.
pub const SECONDS: u64 = 1_795_208_400;

/// A time so many seconds and nanoseconds after 1970.
#[must_use]
pub fn at(seconds: u64, nanos: u32) -> SystemTime {
    UNIX_EPOCH + Duration::new(seconds, nanos)
}

/// Says that a file was modified at this time.
pub fn set_time(file: &Path, time: SystemTime) {
    File::options().write(true).open(file).unwrap().set_modified(time).unwrap();
}

/// What each kind of read says of an object of four bytes.
pub fn times(store: &dyn Store, name: &str) -> Vec<Option<SystemTime>> {
    let name = key(name);
    let (mut out, part) = (Vec::new(), 1..3);
    let ranges = [
        ReadRange::All,
        ReadRange::Suffix(1),
        ReadRange::Ranges(from_ref(&part)),
        ReadRange::Ranges(&[]),
    ];
    let mut found: Vec<_> =
        ranges.map(|range| store.get(&name, range, &mut out).unwrap().unwrap().modified).into();
    found.push(store.head(&name).unwrap().unwrap().modified);
    match store.get_into(&name, &mut [0; 4]).unwrap() {
        GetInto::Read(meta) => found.push(meta.modified),
        GetInto::Unsupported => {}
        GetInto::Missing => panic!("it is there"),
    }
    found
}
