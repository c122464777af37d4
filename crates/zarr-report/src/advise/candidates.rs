//! The chains that are tried: all that make sense for the type and for the bits that are used.

use zarr_metadata::{
    ArrayMetadata, Blosc, BloscCompressor, BloscShuffle, Bytes, Bz2, Codec, DataType, Delta,
    Endian, Lzma, Packbits, Pcodec, Shuffle,
};

use super::goal::Goal;
use crate::bits::Bits;

/// The chains to try, each once. The chains of a sharded array are for its inner chunks. The
/// array's own chain is the first.
pub(super) fn of(metadata: &ArrayMetadata, bits: Option<&Bits>, goal: Goal) -> Vec<Vec<Codec>> {
    let codecs = metadata.codecs();
    let mut chains: Vec<Vec<Codec>> = vec![codecs.to_vec()];
    for chain in plain(metadata.data_type(), bits, goal) {
        let chain = in_shards(codecs, chain);
        if !chains.contains(&chain) {
            chains.push(chain);
        }
    }
    chains
}

/// The same shards with inner chunks encoded by this chain.
fn in_shards(codecs: &[Codec], chain: Vec<Codec>) -> Vec<Codec> {
    let Some(at) = codecs.iter().position(|codec| matches!(codec, Codec::ShardingIndexed(_)))
    else {
        return chain;
    };
    let mut outer = codecs.to_vec();
    if let Some(Codec::ShardingIndexed(sharding)) = outer.get_mut(at) {
        sharding.codecs = in_shards(&sharding.codecs, chain);
    }
    outer
}

/// The level of zstd beyond which it takes much more memory.
const HARDEST: i32 = 19;

/// The chain with its compressor set to find the fewest bytes: slow to write, and read as fast as
/// the chain itself, from fewer bytes. `None` if its compressor is not of this kind.
pub(super) fn harder(chain: &[Codec]) -> Option<Vec<Codec>> {
    let mut chain = chain.to_vec();
    match chain.last_mut()? {
        Codec::Zstd(zstd) => zstd.level = zstd.level.max(HARDEST),
        Codec::Blosc(blosc) => {
            blosc.cname = match blosc.cname {
                BloscCompressor::Zstd => BloscCompressor::Zstd,
                BloscCompressor::Lz4 | BloscCompressor::Lz4hc => BloscCompressor::Lz4hc,
                _ => return None,
            };
            blosc.clevel = 9;
        }
        Codec::ShardingIndexed(sharding) => sharding.codecs = harder(&sharding.codecs)?,
        _ => return None,
    }
    Some(chain)
}

fn plain(data_type: &DataType, bits: Option<&Bits>, goal: Goal) -> Vec<Vec<Codec>> {
    let bytes = match Codec::array_to_bytes(data_type) {
        Codec::Bytes(Bytes { endian: Some(_), .. }) => {
            Codec::Bytes(Bytes::new(Some(Endian::Little)))
        }
        codec => codec,
    };
    let size = data_type.size().and_then(|size| u64::try_from(size).ok()).unwrap_or(1).max(1);
    let is_small = goal == Goal::Size;
    let levels: &[i32] = match goal {
        Goal::Size => &[3, 9, HARDEST],
        Goal::Read => &[1, 3],
        Goal::Write | Goal::Both => &[1, 3, 9],
    };
    let zstd: Vec<Codec> = levels.iter().map(|level| Codec::zstd(*level)).collect();
    let mut chains = vec![vec![bytes.clone()]];
    let add = |first: &[Codec], last: &[Codec], chains: &mut Vec<Vec<Codec>>| {
        chains.extend(last.iter().map(|last| [first, std::slice::from_ref(last)].concat()));
    };
    let plain = [bytes.clone()];
    add(&plain, &zstd, &mut chains);
    add(&plain, &[Codec::gzip(6)], &mut chains);
    if is_small {
        // Slow, and the smallest where few values repeat without order.
        let slow = [Codec::NumcodecsBz2(Bz2::new(9)), Codec::NumcodecsLzma(Lzma::new(6))];
        add(&plain, &slow, &mut chains);
    }
    add(&plain, &blosc(size, goal), &mut chains);
    if size > 1 {
        let shuffled = [bytes.clone(), Codec::NumcodecsShuffle(Shuffle::new(size))];
        add(&shuffled, &zstd, &mut chains);
    }
    let Some(bits) = bits else { return chains };
    let is_integer = !data_type.is_float() && *data_type != DataType::Bool;
    if is_integer && !data_type.is_sub_byte() && !data_type.is_complex() {
        let delta = [Codec::NumcodecsDelta(Delta::new(data_type.clone(), None)), bytes];
        add(&delta, &zstd, &mut chains);
        add(&delta, &blosc(size, goal), &mut chains);
    }
    if let Some(packed) = packed(data_type, bits) {
        chains.push(vec![packed.clone()]);
        add(&[packed], &zstd, &mut chains);
    }
    if size > 1 {
        chains.push(vec![Codec::NumcodecsPcodec(Pcodec::new(8))]);
    }
    chains
}

/// Blosc where its filters matter: with lz4, which is fast, and with zstd, which is small. Without a
/// filter, zstd within blosc stores as much as zstd alone, and of lz4 there is no other codec.
fn blosc(size: u64, goal: Goal) -> Vec<Codec> {
    let mut chains = Vec::new();
    let filters: &[BloscShuffle] = match size {
        1 => &[BloscShuffle::BitShuffle],
        _ => &[BloscShuffle::Shuffle, BloscShuffle::BitShuffle],
    };
    let levels: &[(BloscCompressor, u32)] = match goal {
        Goal::Size => {
            &[(BloscCompressor::Lz4, 5), (BloscCompressor::Zstd, 5), (BloscCompressor::Zstd, 9)]
        }
        Goal::Read => &[(BloscCompressor::Lz4, 5), (BloscCompressor::Zstd, 1)],
        Goal::Write | Goal::Both => {
            &[(BloscCompressor::Lz4, 5), (BloscCompressor::Zstd, 1), (BloscCompressor::Zstd, 5)]
        }
    };
    let mut add = |compressor: BloscCompressor, level: u32, filter: BloscShuffle| {
        chains.push(Codec::Blosc(Blosc::new(compressor, level).with_shuffle(filter, size)));
    };
    for filter in filters {
        levels.iter().for_each(|(compressor, level)| add(*compressor, *level, *filter));
    }
    if goal == Goal::Read {
        add(BloscCompressor::Lz4, 5, BloscShuffle::NoShuffle);
    }
    chains
}

/// Packbits, if it saves a bit of each element in memory.
fn packed(data_type: &DataType, bits: &Bits) -> Option<Codec> {
    let (first, last) = bits.kept().filter(|_| data_type.is_packable())?;
    let layout = data_type.element_layout()?;
    let in_memory = u32::try_from(layout.component_size).ok()?.checked_mul(8)?;
    match last - first + 1 {
        kept if kept >= in_memory => None,
        kept if kept == bits.width() => Some(Codec::Packbits(Packbits::default())),
        _ => Some(Codec::packbits(first.into()..=last.into())),
    }
}

#[cfg(test)]
mod tests {
    use zarr_metadata::{ArrayBuilder, CodecKind};

    use super::*;

    fn has(chain: &[Codec], kind: CodecKind) -> usize {
        chain.iter().filter(|codec| codec.kind() == Some(kind)).count()
    }

    #[test]
    fn chains_are_whole_and_each_is_there_once() {
        for data_type in ["bool", "int4", "uint16", "float32", "complex64", "string", "r24"] {
            let data_type: DataType = data_type.parse().expect("a type");
            let metadata = ArrayBuilder::new([8], data_type.clone()).build().expect("a document");
            let bits = Bits::of(&data_type);
            let chains = of(&metadata, bits.as_ref(), Goal::Size);
            assert!(chains.len() > 5, "{data_type}");
            for (at, chain) in chains.iter().enumerate() {
                assert_eq!(has(chain, CodecKind::ArrayToBytes), 1, "{chain:?}");
                assert!(!chains[..at].contains(chain), "{chain:?}");
            }
        }
    }

    /// Each compressor of the candidates for reading has a harder setting, in shards as well.
    #[test]
    fn compressors_are_set_to_find_the_fewest_bytes() {
        let blosc = |compressor, level, shuffle| {
            Codec::Blosc(Blosc::new(compressor, level).with_shuffle(shuffle, 2))
        };
        let of = |last: Codec| harder(&[Codec::bytes(), last]).and_then(|mut chain| chain.pop());
        assert_eq!(of(Codec::zstd(1)), Some(Codec::zstd(19)));
        assert_eq!(of(Codec::zstd(22)), Some(Codec::zstd(22)));
        for shuffle in [BloscShuffle::NoShuffle, BloscShuffle::Shuffle, BloscShuffle::BitShuffle] {
            for (one, other) in [
                (BloscCompressor::Lz4, BloscCompressor::Lz4hc),
                (BloscCompressor::Zstd, BloscCompressor::Zstd),
            ] {
                assert_eq!(of(blosc(one, 5, shuffle)), Some(blosc(other, 9, shuffle)));
            }
        }
        assert_eq!(of(Codec::gzip(6)), None);
        assert_eq!(harder(&[Codec::bytes()]), None);
        let shards = |level| [Codec::sharding([2], [Codec::bytes(), Codec::zstd(level)])];
        assert_eq!(harder(&shards(3)), Some(shards(19).to_vec()));
        let metadata = ArrayBuilder::new([8], DataType::Int16).build().expect("a document");
        let chains = super::of(&metadata, Bits::of(&DataType::Int16).as_ref(), Goal::Read);
        let filters = [BloscShuffle::NoShuffle, BloscShuffle::Shuffle, BloscShuffle::BitShuffle];
        for filter in filters {
            let has =
                |chain: &Vec<Codec>| chain.last() == Some(&blosc(BloscCompressor::Lz4, 5, filter));
            assert!(chains.iter().any(has), "{filter:?}");
        }
    }

    #[test]
    fn shards_stay() {
        let inner = Codec::sharding([2], [Codec::bytes()]);
        let metadata = ArrayBuilder::new([8], DataType::Uint16).chunk_shape([4]).codecs([inner]);
        let metadata = metadata.build().expect("a document");
        for chain in of(&metadata, None, Goal::Both) {
            assert!(matches!(chain.as_slice(), [Codec::ShardingIndexed(_)]), "{chain:?}");
        }
    }
}
