//! Advice compared with a trial of all chains on all chunks.

use std::convert::Infallible;
use std::sync::{Arc, LazyLock};

use zarr_array::store::{Links, MemoryStore, Prefix, Store, StoreExt as _};
use zarr_array::{Array, Selection, parallel};
use zarr_metadata::{
    ArrayBuilder, ArrayMetadata, Blosc, BloscCompressor, BloscShuffle, Bz2, Codec, DataType, Delta,
    Lzma, Shuffle,
};

use super::{Advice, AdviceOptions, Goal, Trial};

/// A generator of numbers: xorshift.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }
}

/// The first arrays are those of the page on packing.
const ON_PAGE: usize = 6;

/// Arrays of the kinds that people have, 8 chunks of 4,096 elements each.
fn arrays() -> Vec<(&'static str, Array)> {
    const COUNT: u64 = 8 * 4096;
    let mut random = Random(0x9e37_79b9);
    let mut noise = |most: u64| random.next() % most;
    let wave = |n: u64, length: f64| {
        #[expect(clippy::cast_precision_loss, reason = "small numbers")]
        let at = n as f64 / length;
        at.sin()
    };
    #[expect(clippy::cast_possible_truncation, reason = "in range")]
    let of = |number: f64| number as i64;
    let mut arrays = Vec::new();
    let mut add = |name, data_type: DataType, elements: Vec<Vec<u8>>| {
        let metadata = ArrayBuilder::new([COUNT], data_type).chunk_shape([4096]);
        let metadata = metadata.codecs([Codec::bytes()]).build().expect("a document");
        arrays.push((name, filled(&metadata, &elements.concat())));
    };
    let each = |of: &mut dyn FnMut(u64) -> Vec<u8>| (0..COUNT).map(of).collect::<Vec<_>>();
    add(
        "camera frames of 12 bits: a signal with noise",
        DataType::Uint16,
        each(&mut |n| {
            let value =
                of(2000.0 + 1900.0 * wave(n, 400.0)) + i64::try_from(noise(33)).expect("small");
            u16::try_from(value).expect("12 bits").to_le_bytes().into()
        }),
    );
    add(
        "a mask of shapes",
        DataType::Bool,
        each(&mut |n| vec![u8::from(wave(n % 256, 40.0) + wave(n / 256, 31.0) > 0.3)]),
    );
    add("a counter", DataType::Int64, each(&mut |n| (1_700_000_000 + 60 * n).to_le_bytes().into()));
    add(
        "noise of 10 bits in 16",
        DataType::Uint16,
        each(&mut |_| {
            let sample = u16::try_from(noise(1024)).expect("10 bits");
            (sample << 2).to_le_bytes().into()
        }),
    );
    add(
        "a signal with noise",
        DataType::Int32,
        each(&mut |n| {
            let value = of(20_000.0 * wave(n, 300.0)) + i64::try_from(noise(7)).expect("small");
            i32::try_from(value).expect("small").to_le_bytes().into()
        }),
    );
    add(
        "a field",
        DataType::Float32,
        each(&mut |n| {
            #[expect(clippy::cast_possible_truncation, reason = "to single precision")]
            let value = (280.0 + 15.0 * wave(n, 900.0)) as f32;
            value.to_le_bytes().into()
        }),
    );
    add("a mask with few values", DataType::Uint8, each(&mut |n| vec![u8::from(n % 97 == 3)]));
    add(
        "labels of regions",
        DataType::Int32,
        each(&mut |n| {
            let label = i32::try_from(n % 256 / 37 * 100 + n / 256 / 29).expect("small");
            label.to_le_bytes().into()
        }),
    );
    add("a mask of noise", DataType::Bool, each(&mut |_| vec![u8::from(noise(2) == 1)]));
    let mut time = 1_700_000_000_000_000_000_u64;
    add(
        "sorted times",
        DataType::Int64,
        each(&mut |_| {
            time += noise(2_000_000);
            time.to_le_bytes().into()
        }),
    );
    add(
        "floats, a fifth of them NaN",
        DataType::Float32,
        each(&mut |n| {
            let noise = u16::try_from(noise(1000)).expect("small");
            #[expect(clippy::cast_possible_truncation, reason = "to single precision")]
            let value = (280.0 + 10.0 * wave(n, 5000.0)) as f32 + f32::from(noise) / 1000.0;
            (if noise < 200 { f32::NAN } else { value }).to_le_bytes().into()
        }),
    );
    add(
        "an image of labels",
        DataType::Uint8,
        each(&mut |n| {
            let label = (n % 128 + noise(3)) / 19 + n / 128 / 23 * 7;
            vec![u8::try_from(label).expect("small")]
        }),
    );
    let mut value = 0_i16;
    add(
        "six values that repeat",
        DataType::Int16,
        each(&mut |n| {
            if n % 8 == 0 {
                let at = usize::try_from(noise(6)).expect("small");
                value = [-9999, 0, 3, 17, 250, 3000][at];
            }
            value.to_le_bytes().into()
        }),
    );
    arrays
}

fn filled(metadata: &ArrayMetadata, elements: &[u8]) -> Array {
    let array = Array::create(Arc::new(MemoryStore::new()), &Prefix::root(), metadata.clone());
    let array = array.expect("creates");
    array.write(Selection::whole(metadata.shape()), elements).expect("writes");
    array
}

/// The stored bytes of the whole array with these codecs; `None` if they do not take it.
fn stored(array: &Array, codecs: &[Codec]) -> Option<u64> {
    let metadata = array.metadata().with_codecs(codecs).ok()?;
    let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
    let copy = Array::create(Arc::clone(&store), &Prefix::root(), metadata).ok()?;
    let whole = Selection::whole(array.shape());
    copy.write(&whole, &array.read(&whole).expect("reads")).ok()?;
    let objects = store.list(&Prefix::new("c").expect("a prefix"), Links::AsObjects);
    let sizes = objects.map(|key| store.size(&key.expect("lists")).expect("a size").unwrap_or(0));
    Some(sizes.sum())
}

/// The chain of a filter, a packing and a compressor that stores the array in the fewest bytes.
/// `all` tries each level of a compressor and each width of bits; otherwise the highest level, and of
/// the widths that hold the array, the least and those of whole bytes.
fn smallest(array: &Array, all: bool) -> (u64, Vec<Codec>) {
    let data_type = array.data_type();
    let size = u64::try_from(data_type.size().expect("fixed")).expect("small");
    let bits = size * 8;
    let mut filters: Vec<Vec<Codec>> = vec![vec![]];
    if !data_type.is_float() {
        filters.push(vec![Codec::NumcodecsDelta(Delta::new(data_type.clone(), None))]);
    }
    let bytes = vec![Codec::bytes()];
    let shuffled = vec![Codec::bytes(), Codec::NumcodecsShuffle(Shuffle::new(size))];
    let zstd = if all { &[3, 19][..] } else { &[19] };
    let zstd: Vec<Codec> = zstd.iter().map(|level| Codec::zstd(*level)).collect();
    let mut compressors = zstd.clone();
    compressors.push(Codec::gzip(9));
    if all {
        compressors.extend([1, 9].map(Codec::zstd));
        compressors.extend([1, 6].map(Codec::gzip));
    }
    let levels = if all { &[1, 5, 9][..] } else { &[9] };
    for compressor in [BloscCompressor::Lz4, BloscCompressor::Lz4hc, BloscCompressor::Zstd] {
        for shuffle in [BloscShuffle::NoShuffle, BloscShuffle::Shuffle, BloscShuffle::BitShuffle] {
            compressors.extend(levels.iter().map(|level| {
                Codec::Blosc(Blosc::new(compressor, *level).with_shuffle(shuffle, size))
            }));
        }
    }
    let mut found = Vec::new();
    let mut add = |chain: Vec<Codec>, compressors: &[Codec]| {
        let Some(bytes) = stored(array, &chain) else { return false };
        for compressor in compressors {
            let chain = [&chain, std::slice::from_ref(compressor)].concat();
            found.extend(stored(array, &chain).map(|bytes| (bytes, chain)));
        }
        found.push((bytes, chain));
        true
    };
    for filter in filters {
        for packing in [&bytes, &shuffled] {
            add([&filter[..], packing].concat(), &compressors);
        }
        for first in [0, 2] {
            // Too small widths are refused.
            let mut is_held = false;
            for last in first..bits.min(32) {
                if all || !is_held || first == 0 && (last + 1) % 8 == 0 {
                    let packed = [Codec::packbits(first..=last)];
                    is_held |= add([&filter[..], &packed].concat(), &zstd);
                }
            }
        }
    }
    add(bytes, &[Codec::NumcodecsBz2(Bz2::new(9)), Codec::NumcodecsLzma(Lzma::new(6))]);
    found.into_iter().min_by_key(|(bytes, _)| *bytes).expect("chains")
}

/// Advice on how to read each array, from all of its chunks.
static TO_READ: LazyLock<Vec<(&'static str, Array, Advice)>> = LazyLock::new(|| {
    let advised = |(name, array): &(&'static str, Array)| {
        let options = AdviceOptions::new().goal(Goal::Read).sample(u64::MAX / 8);
        let whole = Selection::whole(array.shape());
        let advice = Advice::of(array, &whole, &options, &mut |_, _| {}).expect("advises");
        Ok::<_, Infallible>((*name, array.clone(), advice))
    };
    let Ok(advised) = parallel::map(&arrays(), parallel::cores(), advised);
    advised
});

/// From half of the chunks, advise finds a chain that stores the whole array in at most a twentieth
/// more than the smallest chain, plus 8 bytes for each chunk: the headers of compressors differ by
/// this much.
#[test]
fn the_smallest_chain_of_a_sample_is_about_the_smallest_of_all() {
    let compare = |(name, array): &(&str, Array)| {
        let whole = Selection::whole(array.shape());
        let size = u64::try_from(array.element_size()).expect("small");
        let options = AdviceOptions::new().goal(Goal::Size).sample(4 * 4096 * size);
        let advice = Advice::of(array, &whole, &options, &mut |_, _| {}).expect("advises");
        let advised = stored(array, &advice.best().codecs).expect("takes the whole");
        // Lower levels and other widths store more: no need to try them on every array.
        let least = smallest(array, name.starts_with("camera"));
        assert!(
            advised * 20 <= least.0 * 21 + 8 * 8 * 20,
            "{name}: {advised} bytes by {:?}, {} by {:?}",
            advice.best().codecs,
            least.0,
            least.1
        );
        Ok::<(), Infallible>(())
    };
    let Ok(()) = parallel::each(&arrays(), parallel::cores(), compare);
}

/// To read, no compressor of the best chain is left at a setting that stores more: whatever chain is
/// the fastest here.
#[test]
fn the_best_chain_to_read_was_tried_at_its_hardest() {
    for (name, _, advice) in TO_READ.iter() {
        let tried = |chain: &Vec<Codec>| advice.trials().iter().any(|trial| trial.codecs == *chain);
        let harder = super::candidates::harder(&advice.best().codecs);
        assert!(harder.as_ref().is_none_or(tried), "{name}: {harder:?}");
        for (at, trial) in advice.trials().iter().enumerate() {
            let same = |other: &Trial| other.codecs == trial.codecs;
            assert!(!advice.trials()[..at].iter().any(same), "{name}: {trial:?}");
        }
    }
}

/// Of a sample that is the whole array, sizes are the store's.
#[test]
fn sizes_are_exact() {
    for (name, array, advice) in TO_READ.iter() {
        for trial in advice.trials() {
            assert_eq!(Some(trial.bytes), stored(array, &trial.codecs), "{name} {trial:?}");
        }
    }
}

/// The table in the page on packing; `BOOK=write` writes it.
#[test]
fn the_page_on_packing_has_the_sizes() {
    const PAGE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/packbits.md");
    const START: &str = "<!-- made by `BOOK=write cargo test -p zarr-report page_on_packing` -->\n";
    let mut table =
        "| bytes of 32,768 elements | `bytes` | `packbits` | `zstd:3` | `packbits`, `zstd:3` | \
                     `blosc:zstd:5:bitshuffle` | smallest tried | |\n\
                     | --- | --: | --: | --: | --: | --: | --: | --- |\n"
            .to_owned();
    for (name, array) in arrays().into_iter().take(ON_PAGE) {
        let size = u64::try_from(array.element_size()).expect("small");
        let whole = Selection::whole(array.shape());
        let options = AdviceOptions::new().goal(Goal::Size).sample(u64::MAX / 8);
        let advice = Advice::of(&array, &whole, &options, &mut |_, _| {}).expect("advises");
        let packed = advice.trials().iter().find_map(|trial| match trial.codecs.as_slice() {
            [Codec::Packbits(packbits)] => Some(Codec::Packbits(*packbits)),
            _ => None,
        });
        let blosc =
            Blosc::new(BloscCompressor::Zstd, 5).with_shuffle(BloscShuffle::BitShuffle, size);
        let cell = |chain: Option<Vec<Codec>>| match chain.and_then(|chain| stored(&array, &chain))
        {
            Some(bytes) => crate::words::count(bytes),
            None => "no bit less".to_owned(),
        };
        // Codecs that every build has: the page is the same with all features.
        let is_extra = |codec: &Codec| {
            use Codec::{NumcodecsBz2, NumcodecsLzma, NumcodecsPcodec};
            matches!(codec, NumcodecsBz2(_) | NumcodecsLzma(_) | NumcodecsPcodec(_))
        };
        let built_in = |trial: &&Trial| !trial.codecs.iter().any(is_extra);
        let best = advice.trials().iter().filter(built_in).min_by_key(|trial| trial.bytes);
        let best = best.expect("a chain");
        table.push_str(&format!(
            "| {name} | {} | {} | {} | {} | {} | {} | `{}` |\n",
            cell(Some(vec![Codec::bytes()])),
            cell(packed.clone().map(|packed| vec![packed])),
            cell(Some(vec![Codec::bytes(), Codec::zstd(3)])),
            cell(packed.map(|packed| vec![packed, Codec::zstd(3)])),
            cell(Some(vec![Codec::bytes(), Codec::Blosc(blosc)])),
            crate::words::count(best.bytes),
            super::short(&best.codecs, array.data_type()),
        ));
    }
    let page = std::fs::read_to_string(PAGE).expect("a page");
    let (before, rest) = page.split_once(START).expect("the start of the table");
    let (_, after) = rest.split_once("\n\n").expect("the end of the table");
    let written = format!("{before}{START}{table}\n{after}");
    if std::env::var("BOOK").is_ok_and(|book| book == "write") {
        std::fs::write(PAGE, written).expect("writes");
    } else {
        assert_eq!(page, written);
    }
}
