//! What a store tells of versions, and whether a cache can use it.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::thread;
use std::time::{Duration, SystemTime};

use zarr_array::Array;
use zarr_array::store::{Key, MemoryStore, ObjectMeta, Operation, Prefix, StoreError, Version};
use zarr_metadata::{ArrayBuilder, Codec, DataType};

use super::watched::{HeadsTell, Tells, Watched, counted};

/// The version of an object by its size alone, and a time.
fn by_size(meta: ObjectMeta, modified: Option<SystemTime>) -> ObjectMeta {
    ObjectMeta { version: Some(Version::from_numbers([meta.size, 0, 0, 0])), modified, ..meta }
}

/// The answer of a store that takes long to arrive.
fn late(meta: ObjectMeta) -> ObjectMeta {
    let told = by_size(meta, Some(SystemTime::now()));
    thread::sleep(Duration::from_millis(60));
    told
}

/// A tag, which is another one for each put.
fn tagged(meta: ObjectMeta) -> ObjectMeta {
    ObjectMeta { version: Some(Version::from_tag("a")), modified: Some(SystemTime::now()), ..meta }
}

fn whole_seconds(before: u64) -> SystemTime {
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap().as_secs();
    SystemTime::UNIX_EPOCH + Duration::from_secs(since - before)
}

#[test]
fn objects_whose_next_version_may_look_like_this_one_are_not_kept() {
    let young: [Tells; 5] = [
        |meta| by_size(meta, Some(SystemTime::now())),
        // The clock of a server that is ahead.
        |meta| by_size(meta, Some(SystemTime::now() + Duration::from_secs(3))),
        |meta| by_size(meta, Some(SystemTime::now() - Duration::from_millis(30))),
        |meta| by_size(meta, Some(whole_seconds(1))),
        late,
    ];
    for tells in young {
        let (store, decodes) = (Watched::new(MemoryStore::new()), Arc::default());
        let (codec, options) = counted(&decodes);
        let builder = ArrayBuilder::new([4], DataType::Uint8).chunk_shape([4]);
        let metadata = builder.codecs([Codec::bytes(), codec]).build().expect("valid");
        let array = Array::create_with(store.clone(), &Prefix::root(), metadata, options);
        let plain = array.expect("creates");
        let array = plain.clone().with_cache(1 << 20);
        store.tell(tells);
        for round in 1..5 {
            plain.write(0..4, &[round; 4]).expect("writes");
            assert_eq!(array.read(0..4).expect("reads"), [round; 4]);
        }
        // The same version, a while later.
        let old: [Tells; 3] = [
            |meta| by_size(meta, Some(SystemTime::now() - Duration::from_millis(90))),
            |meta| by_size(meta, Some(whole_seconds(4))),
            tagged,
        ];
        for tells in old {
            let array = plain.clone().with_cache(1 << 20);
            store.tell(tells);
            decodes.store(0, Ordering::Relaxed);
            assert_eq!(array.read(0..4).expect("reads"), [4; 4]);
            assert_eq!(array.read(0..4).expect("reads"), [4; 4]);
            assert_eq!(decodes.load(Ordering::Relaxed), 1);
        }
    }
}

/// The same rule for indices of shards, which every handle keeps.
#[test]
fn indices_of_shards_whose_next_version_may_look_like_this_one_are_not_kept() {
    let young: [Tells; 4] = [
        |meta| by_size(meta, Some(SystemTime::now())),
        |meta| by_size(meta, Some(SystemTime::now() + Duration::from_secs(3))),
        |meta| by_size(meta, Some(whole_seconds(1))),
        late,
    ];
    // So large that an inner chunk is read by its range.
    const INNER: u64 = 100_000;
    let create = |store: &Arc<Watched>| {
        let builder = ArrayBuilder::new([4 * INNER], DataType::Uint8).chunk_shape([4 * INNER]);
        let codecs = [Codec::sharding([INNER], [Codec::bytes(), Codec::Crc32c])];
        let metadata = builder.fill_value(0).codecs(codecs).build().expect("valid");
        Array::create(store.clone(), &Prefix::root(), metadata).expect("creates")
    };
    let one = |at: u64| at * INNER..(at + 1) * INNER;
    for tells in young {
        let store = Watched::new(MemoryStore::new());
        let array = create(&store);
        store.tell(tells);
        for round in 1..5_u8 {
            // One inner chunk is stored.
            let stored = u64::from(round % 2);
            let other = Array::open(store.clone(), &Prefix::root()).expect("opens");
            other.write(one(stored), &[round; INNER as usize]).expect("writes");
            other.write(one(1 - stored), &[0; INNER as usize]).expect("writes");
            assert_eq!(array.read(one(stored)).expect("reads"), [round; INNER as usize]);
            assert_eq!(array.read(one(1 - stored)).expect("reads"), [0; INNER as usize]);
        }
    }
    // Others are.
    let old: [Tells; 4] = [
        |meta| by_size(meta, Some(SystemTime::now() - Duration::from_millis(90))),
        |meta| by_size(meta, Some(whole_seconds(4))),
        |meta| by_size(meta, None),
        tagged,
    ];
    for tells in old {
        let store = Watched::new(MemoryStore::new());
        let array = create(&store);
        array.write(0..4 * INNER, &[1; 4 * INNER as usize]).expect("writes");
        store.tell(tells);
        let read = |at| {
            store.asked();
            array.read(one(at)).expect("reads");
            store.asked().1
        };
        assert!(read(0) > read(2));
    }
}

#[test]
fn stores_without_versions_are_read_without_the_cache() {
    let (store, plain, _) = super::watched();
    store.tell(|meta| ObjectMeta { version: None, ..meta });
    let array = plain.clone().with_cache(1 << 20);
    for round in 0..4_u8 {
        plain.write([0..2, 0..2], &[round; 4]).expect("writes");
        store.asked();
        assert_eq!(array.read([0..2, 0..2]).expect("reads"), [round; 4]);
        assert_eq!(store.asked().0, u64::from(round == 0));
    }
}

/// Each read would pay for an attempt that fails, for ever.
#[test]
fn stores_whose_look_ups_are_of_no_use_are_read_without_the_cache_in_the_end() {
    let refused: HeadsTell = |_| {
        let key = Key::new("c/0/0").expect("a key");
        Err(StoreError::unsupported(Operation::Head, &key, "HEAD"))
    };
    let other: HeadsTell =
        |meta| Ok(ObjectMeta { version: Some(Version::from_numbers([9; 4])), ..meta });
    for useless in [refused, other] {
        let (store, plain, _) = super::watched();
        let array = plain.clone().with_cache(1 << 20);
        let window = || [7..9, 7..9];
        let wanted = plain.read(window()).expect("reads");
        let heads = |array: &Array| {
            store.asked();
            assert_eq!(array.read(window()).expect("reads"), wanted);
            store.asked().0
        };
        // Some reads that fail are an accident, such as an object that others replace.
        for _ in 0..2 {
            store.tell_heads(Some(useless));
            assert!(heads(&array) > 0 && heads(&array) > 0);
            store.tell_heads(None);
            plain.write((7, 7), &wanted[..1]).expect("writes");
            assert_eq!(heads(&array), 4);
        }
        store.tell_heads(Some(useless));
        let asked: Vec<u64> = (0..5).map(|_| heads(&array)).collect();
        assert!(asked[2] > 0 && asked[3..] == [0, 0], "{asked:?}");
    }
    // What may pass is not counted.
    let (store, plain, _) = super::watched();
    let array = plain.with_cache(1 << 20);
    store.tell_heads(Some(|_| {
        let lost = std::io::ErrorKind::ConnectionReset.into();
        Err(StoreError::io(Operation::Head, "c/0/0", lost))
    }));
    for _ in 0..9 {
        array.read([0..1, 0..1]).expect("reads");
    }
    assert_eq!(store.asked().0, 9);
}
