//! Single elements, compared with elements picked one by one from a table in memory.

use std::num::NonZeroUsize;
use std::sync::Arc;
use std::thread;

use zarr_array::store::{
    Fault, FaultStore, Key, LocalStore, MemoryStore, Prefix, Store, StoreExt as _,
};
use zarr_array::{Array, ArrayError, Points, Selection};
use zarr_metadata::{ArrayBuilder, ChunkGrid, Codec, DataType, ReshapeDim};

/// A generator of numbers, the same in every run.
struct Random(u64);

impl Random {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (self.0 >> 33) % bound
    }

    /// Points in an array of this shape, some of them several times.
    fn points(&mut self, shape: &[u64], count: u64) -> Points {
        let axes = shape.iter().map(|length| (0..count).map(|_| self.below(*length)).collect());
        Points::new(axes.collect())
    }
}

/// The numbers of points in C order of an array of this shape.
fn places(points: &Points, shape: &[u64]) -> Vec<usize> {
    let place = |position| {
        let axes = points.axes().iter().zip(shape);
        axes.fold(0, |place, (axis, length): (&Vec<u64>, _)| place * length + axis[position])
    };
    (0..points.len()).map(|position| usize::try_from(place(position)).expect("small")).collect()
}

fn chains(data_type: &DataType) -> Vec<Vec<Codec>> {
    let raw = || match data_type {
        DataType::String => Codec::VlenUtf8,
        _ => Codec::bytes(),
    };
    let mut chains = vec![
        vec![raw()],
        vec![raw(), Codec::Crc32c],
        vec![Codec::transpose([1, 0]), raw(), Codec::zstd(1)],
        vec![Codec::reshape([ReshapeDim::Auto]), raw(), Codec::gzip(1)],
    ];
    if *data_type == DataType::Uint16 {
        chains.push(vec![Codec::packbits(0..=11)]);
        chains.push(vec![Codec::transpose([1, 0]), Codec::packbits(0..=11), Codec::zstd(1)]);
    }
    chains
}

/// Arrays of this shape of regular and rectilinear grids, and of shards.
fn arrays(shape: [u64; 2], data_type: &DataType) -> Vec<Array> {
    let mut builders = Vec::new();
    let half = |length: u64| (length / 2).max(1);
    for chain in chains(data_type) {
        let regular = ChunkGrid::Regular { chunk_shape: vec![half(shape[0]), 3] };
        let edges = [vec![1, shape[0].saturating_sub(1).max(1), 2], vec![shape[1]; 2]];
        let rectilinear = ChunkGrid::Rectilinear { chunk_shapes: edges.map(Into::into).into() };
        for grid in [regular, rectilinear] {
            let builder = ArrayBuilder::new(shape, data_type.clone());
            builders.push(builder.chunk_grid(grid).codecs(chain.clone()));
        }
        // Shards that are larger than the array, with inner chunks of their own chain.
        let shards = ChunkGrid::Regular { chunk_shape: vec![half(shape[0]) * 4, 8] };
        let codecs = vec![Codec::sharding([half(shape[0]), 2], chain.clone())];
        let builder = ArrayBuilder::new(shape, data_type.clone()).chunk_grid(shards.clone());
        builders.push(builder.clone().codecs(codecs.clone()));
        let turned = Codec::sharding([2, half(shape[0])], chain);
        builders.push(builder.codecs([Codec::transpose([1, 0]), turned]));
    }
    let create = |builder: ArrayBuilder| {
        let metadata = builder.build().expect("a document");
        Array::create(Arc::new(MemoryStore::new()), &Prefix::root(), metadata).expect("creates")
    };
    builders.into_iter().map(create).collect()
}

/// Every list of up to two points, and longer ones, read from written arrays and written to
/// arrays that are partly written.
#[test]
fn points_of_small_arrays_are_those_of_a_table() {
    let shape = [5, 4];
    for array in arrays(shape, &DataType::Uint16) {
        let codecs = array.metadata().json().to_owned();
        let mut table: Vec<u16> = vec![0; 20];
        // Some chunks are never written.
        (table[0], table[1], table[5], table[6]) = (100, 101, 105, 106);
        array.write_as([0..2, 0..2], &[100_u16, 101, 0, 105]).expect("writes");
        array.write_as([1..2, 2..3], &[106_u16]).expect("writes");
        let mut lists = vec![Points::from([[], []])];
        for a in 0..20 {
            lists.push(Points::from([[a / 4], [a % 4]]));
            lists.extend((0..20).map(|b| Points::from([[a / 4, b / 4], [a % 4, b % 4]])));
        }
        let mut random = Random(1);
        lists.extend((3..50).map(|count| random.points(&shape, count)));
        for (number, points) in lists.iter().enumerate() {
            let places = places(points, &shape);
            let picked: Vec<u16> = places.iter().map(|place| table[*place]).collect();
            let read = array.read_as::<u16>(points).expect("reads");
            assert_eq!(read, picked, "{points:?} {codecs}");
            if number % 5 > 0 {
                continue;
            }
            let new: Vec<u16> =
                (0..points.len()).map(|at| ((number * 7 + at) % 4000) as u16).collect();
            array.write_as(points, &new).expect("writes");
            places.iter().zip(&new).for_each(|(place, new)| table[*place] = *new);
            let whole = array.read_as::<u16>(Selection::whole(&shape)).expect("reads");
            assert_eq!(whole, table, "{points:?} {codecs}");
        }
    }
}

/// Thousands of points over many chunks, on several threads.
#[test]
fn points_of_random_grids_are_those_of_a_table() {
    let mut random = Random(5);
    for shape in [[97, 40], [1, 300], [256, 64]] {
        for array in arrays(shape, &DataType::Uint16) {
            let array = array.with_threads(NonZeroUsize::new(3).expect("not zero"));
            let codecs = array.metadata().json().to_owned();
            let count = usize::try_from(shape[0] * shape[1]).expect("small");
            let mut table = vec![0_u16; count];
            for round in [1, 40, 3000] {
                let points = random.points(&shape, round);
                let places = places(&points, &shape);
                let new: Vec<u16> = (0..round).map(|_| random.below(4096) as u16).collect();
                array.write_as(&points, &new).expect("writes");
                places.iter().zip(&new).for_each(|(place, new)| table[*place] = *new);
                let whole = array.read_as::<u16>(Selection::whole(&shape)).expect("reads");
                assert_eq!(whole, table, "{codecs}");
                let points = random.points(&shape, round);
                let places = self::places(&points, &shape);
                let picked: Vec<u16> = places.iter().map(|place| table[*place]).collect();
                assert_eq!(array.read_as::<u16>(&points).expect("reads"), picked, "{codecs}");
            }
        }
    }
}

#[test]
fn points_of_strings_are_those_of_a_table() {
    let (shape, mut random) = ([9, 6], Random(8));
    for array in arrays(shape, &DataType::String) {
        let codecs = array.metadata().json().to_owned();
        let mut table = vec![String::new(); 54];
        for round in [1, 2, 30, 80, 0] {
            let points = random.points(&shape, round);
            let new: Vec<String> = (0..round).map(|at| "é".repeat(at as usize % 7)).collect();
            array.write_as(&points, &new).expect("writes");
            for (place, new) in places(&points, &shape).into_iter().zip(new) {
                table[place] = new;
            }
            let whole = array.read_as::<String>(Selection::whole(&shape)).expect("reads");
            assert!(whole.iter().eq(&table), "{codecs}");
            let points = random.points(&shape, round);
            let read = array.read_as::<String>(&points).expect("reads");
            let picked = places(&points, &shape).into_iter().map(|place| table[place].as_str());
            assert!(read.iter().eq(picked), "{codecs}");
        }
    }
}

/// Writers of the points of one mask each, which share every chunk, lose nothing of each other.
#[test]
fn writers_of_the_same_chunks_lose_nothing() {
    let folder = tempfile::tempdir().expect("a folder");
    let stores: [Arc<dyn Store>; 2] =
        [Arc::new(MemoryStore::new()), Arc::new(LocalStore::open(folder.path()).expect("opens"))];
    for store in stores {
        let metadata = ArrayBuilder::new([40, 40], DataType::Uint16)
            .chunk_shape([16, 16])
            .codecs([Codec::packbits(0..=11), Codec::zstd(1)])
            .build()
            .expect("a document");
        let array = Array::create(store, &Prefix::root(), metadata).expect("creates");
        thread::scope(|scope| {
            for writer in 0..4_usize {
                let array = &array;
                scope.spawn(move || {
                    // In several calls, so that the writers meet.
                    for part in 0..10 {
                        let mine = |place: usize| place % 4 == writer && place / 160 == part;
                        let mask: Vec<bool> = (0..1600).map(mine).collect();
                        let points = Points::of_mask(&[40, 40], &mask).expect("a mask");
                        let new: Vec<u16> =
                            (0..1600).filter(|place| mine(*place)).map(|at| at as u16).collect();
                        array.write_as(points, &new).expect("writes");
                    }
                });
            }
        });
        let whole = array.read_as::<u16>(Selection::whole(&[40, 40])).expect("reads");
        assert!(whole.into_iter().eq(0..1600));
    }
}

#[test]
fn an_array_without_axes_has_one_point() {
    let metadata = ArrayBuilder::new([], DataType::Int16).fill_value(-3).build().expect("valid");
    let array = Array::create(Arc::new(MemoryStore::new()), &Prefix::root(), metadata).unwrap();
    let one = Points::new(Vec::new());
    assert_eq!((one.len(), array.read_as::<i16>(&one).unwrap()), (1, vec![-3]));
    array.write_as(&one, &[500_i16]).expect("writes");
    assert_eq!(array.read_as::<i16>(Selection::whole(&[])).unwrap(), [500]);
    assert_eq!(Points::of_mask(&[], &[true]).unwrap(), one);
    assert!(Points::of_mask(&[], &[false]).is_err());
}

#[test]
fn a_mask_without_elements_selects_none_whatever_its_other_sizes() {
    let none = Points::of_mask(&[1 << 40, 1 << 40, 0], &[]).expect("as many as the sizes say");
    assert!(none.is_empty());
    assert!(Points::of_mask(&[1 << 40, 1 << 40], &[]).is_err());
}

/// More chunks than 64 bits can number.
#[test]
fn grids_of_very_many_chunks() {
    let far = (1 << 40) - 1;
    let metadata = ArrayBuilder::new([1 << 40, 1 << 40], DataType::Uint8).chunk_shape([1, 2]);
    let metadata = metadata.build().expect("a document");
    let array = Array::create(Arc::new(MemoryStore::new()), &Prefix::root(), metadata).unwrap();
    let points = Points::from([[far, 0, far, 0], [far, 1, 0, far]]);
    array.write(&points, &[1, 2, 3, 4]).expect("writes");
    assert_eq!(
        array.read(Points::from([[0, far, far, 0], [far, far, far - 1, 1]])).unwrap(),
        [4, 1, 0, 2]
    );
    assert_eq!(array.stored_chunks().count(), 4);
}

#[test]
fn mistakes_name_the_axis() {
    let (array, strings) = (arrays([5, 4], &DataType::Uint16), arrays([5, 4], &DataType::String));
    let (array, strings) = (&array[0], &strings[0]);
    let mistakes = [
        Points::from([[1]]),
        Points::from([[1], [1], [1]]),
        Points::from([vec![0, 1], vec![0]]),
        Points::from([[0, 5], [0, 0]]),
        Points::from([[0, 0], [3, u64::MAX]]),
    ];
    let mut messages = Vec::new();
    for mistake in &mistakes {
        let error = array.read(mistake).expect_err("a mistake").to_string();
        assert_eq!(array.write(mistake, &[]).expect_err("a mistake").to_string(), error);
        assert_eq!(strings.read_as::<String>(mistake).unwrap_err().to_string(), error);
        let write = strings.write_as(mistake, &[""]);
        assert_eq!(write.expect_err("a mistake").to_string(), error);
        messages.push(error);
    }
    let one = || Points::from([[1], [2]]);
    messages.push(array.write(one(), &[1]).unwrap_err().to_string());
    messages.push(array.read_into(one(), &mut [0_u8; 3]).unwrap_err().to_string());
    messages.push(array.read_as::<f32>(one()).unwrap_err().to_string());
    messages.push(array.write_as(one(), &[1_i16]).unwrap_err().to_string());
    messages.push(array.read_as::<String>(one()).unwrap_err().to_string());
    messages.push(strings.read(one()).unwrap_err().to_string());
    messages.push(strings.write_as(one(), &["a", "b"]).unwrap_err().to_string());
    messages.push(Points::of_mask(&[2, 2], &[true; 3]).unwrap_err().to_string());
    insta::assert_snapshot!(messages.join("\n"));
}

/// The point whose value would be lost, by its index in the array.
#[test]
fn a_loss_names_the_point() {
    let metadata = ArrayBuilder::new([4, 4], DataType::Uint16)
        .chunk_shape([2, 2])
        .codecs([Codec::packbits(0..=9)])
        .build()
        .expect("a document");
    let array = Array::create(Arc::new(MemoryStore::new()), &Prefix::root(), metadata).unwrap();
    let points = Points::from([[3, 0, 2], [0, 3, 1]]);
    let error = array.write_as(&points, &[1, 1023, 1024_u16]).expect_err("ten bits");
    let text = error.to_string();
    assert!(
        text.contains("element [2, 1] is 1024, which packbits would store as 0; 1 of 3"),
        "{text}"
    );
}

#[test]
fn a_failed_write_lists_the_chunks() {
    let full = Fault::Fail(std::io::ErrorKind::StorageFull);
    let store = FaultStore::new(MemoryStore::new()).on(Key::new("c/1/0").unwrap(), full);
    let metadata = ArrayBuilder::new([4, 4], DataType::Uint8).chunk_shape([2, 2]);
    let metadata = metadata.codecs([Codec::bytes()]).build().expect("a document");
    let array = Array::create(Arc::new(store), &Prefix::root(), metadata).unwrap();
    let array = array.with_threads(NonZeroUsize::MIN);
    let points = Points::from([[3, 3, 0], [0, 3, 3]]);
    let error = array.write(&points, &[30, 33, 3]).expect_err("no space");
    let ArrayError::Incomplete { written, .. } = error else { panic!("{error}") };
    assert_eq!(written.chunks().collect::<Vec<_>>(), [[0, 1]]);
    assert_eq!(written.missing().collect::<Vec<_>>(), [[1, 0], [1, 1]]);
    assert_eq!(written.total(), 3);
}

/// A damaged chunk fails with its key: nothing of it is overwritten.
#[test]
fn a_damaged_chunk_is_kept() {
    let metadata = ArrayBuilder::new([4], DataType::Uint8).chunk_shape([2]);
    let metadata = metadata.codecs([Codec::bytes(), Codec::Crc32c]).build().expect("valid");
    let store = Arc::new(MemoryStore::new());
    let array = Array::create(store.clone(), &Prefix::root(), metadata).unwrap();
    let key = Key::new("c/1").unwrap();
    store.put(&key, b"broken").expect("memory");
    for error in
        [array.write(Points::from([[3]]), &[1]), array.read(Points::from([[3, 2]])).map(drop)]
    {
        let text = error.expect_err("damaged").to_string();
        assert!(text.starts_with("chunk c/1: "), "{text}");
    }
    assert_eq!(store.read(&key).unwrap().unwrap(), b"broken");
}

#[cfg(feature = "async")]
#[test]
fn futures_do_the_same() {
    let runtime = tokio::runtime::Builder::new_current_thread().build().expect("a runtime");
    let mut random = Random(2);
    runtime.block_on(async {
        for array in arrays([9, 6], &DataType::Uint16) {
            let points = random.points(&[9, 6], 30);
            let new: Vec<u16> = (0..30).map(|_| random.below(4096) as u16).collect();
            array.asynchronous().write_as(&points, new).await.expect("writes");
            let whole = Points::of_mask(&[9, 6], &[true; 54]).expect("a mask");
            let read = array.asynchronous().read_as::<u16>(whole).await.expect("reads");
            assert_eq!(read, array.read_as::<u16>(Selection::whole(&[9, 6])).expect("reads"));
            assert!(read.iter().any(|element| *element > 0));
            let error =
                array.asynchronous().read(Points::from([[9], [0]])).await.expect_err("outside");
            assert!(matches!(error, ArrayError::Selection { .. }), "{error}");
        }
        for array in arrays([9, 6], &DataType::String) {
            array
                .asynchronous()
                .write_as(Points::from([[8, 1], [5, 0]]), vec!["z", "a"])
                .await
                .expect("writes");
            let read =
                array.asynchronous().read_as::<String>(Points::from([[1, 2, 8], [0, 0, 5]])).await;
            assert!(read.expect("reads").iter().eq(["a", "", "z"]));
        }
    });
}
