//! Codec chains for members that become slices of an array with one more axis.

use zarr_metadata::{Codec, OptionalCodecs, Sharding};

/// The chain of `codecs` for chunks with a new axis of length 1; `None` if there is a codec for which
/// no such chain is known.
///
/// An axis of length 1 does not change the order of elements. `transpose` and `sharding_indexed`
/// name axes, and get one more, except after `zarrs.squeeze`. Other codecs stay, and
/// `numcodecs.json2`, which can only be read, becomes `vlen-utf8`.
pub(crate) fn with_axis(codecs: &[Codec], axis: usize) -> Option<Vec<Codec>> {
    // A transpose does not move it among the axes.
    let at = axis;
    // `zarrs.squeeze` removes it again.
    let mut is_there = true;
    let mut chain = Vec::with_capacity(codecs.len());
    for codec in codecs {
        chain.push(match codec {
            // It can only be read.
            Codec::NumcodecsJson2 => Codec::VlenUtf8,
            Codec::Unknown(_) => return None,
            _ if !is_there => codec.clone(),
            Codec::ZarrsSqueeze => {
                is_there = false;
                Codec::ZarrsSqueeze
            }
            Codec::Transpose(transpose) => {
                let mut order: Vec<usize> = transpose
                    .order
                    .iter()
                    .map(|from| if *from >= at { from + 1 } else { *from })
                    .collect();
                // It stays where it was, among the axes in their new order.
                order.insert(at.min(order.len()), at);
                Codec::transpose(order)
            }
            Codec::ShardingIndexed(sharding) => {
                let mut chunk_shape = sharding.chunk_shape.clone();
                chunk_shape.insert(at.min(chunk_shape.len()), 1);
                let codecs = with_axis(&sharding.codecs, at)?;
                let (index, place) = (sharding.index_codecs.clone(), sharding.index_location);
                let sharding = Sharding::new(chunk_shape, codecs).with_index(index, place);
                Codec::ShardingIndexed(Box::new(sharding))
            }
            // The mask has the axes of the chunk; the values have one dimension.
            Codec::ZarrsOptional(optional) => {
                let mask = with_axis(&optional.mask_codecs, at)?;
                let values = optional.data_codecs.iter().cloned();
                Codec::ZarrsOptional(Box::new(OptionalCodecs::new(mask, values)))
            }
            Codec::Reshape(_) => return None,
            other => other.clone(),
        });
    }
    Some(chain)
}

/// Whether `codecs` encode a chunk to the bytes to which `joined` encodes the chunk with a new axis
/// of length 1 at `axis`.
#[must_use]
pub fn encode_alike(codecs: &[Codec], axis: usize, joined: &[Codec]) -> bool {
    with_axis(codecs, axis).is_some_and(|codecs| codecs == joined) && !depend_on_rank(codecs)
}

/// Whether the encoded bytes depend on the number of dimensions, and not on the order of elements
/// alone.
fn depend_on_rank(codecs: &[Codec]) -> bool {
    codecs.iter().any(|codec| match codec {
        // Blocks of 4 elements along each dimension; a shape in the bytes.
        Codec::Zfp(_) | Codec::NumcodecsZfpy(_) | Codec::NumcodecsJson2 => true,
        Codec::ShardingIndexed(sharding) => depend_on_rank(&sharding.codecs),
        Codec::ZarrsOptional(optional) => depend_on_rank(&optional.mask_codecs),
        _ => false,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn axes_are_renumbered() {
        let chain = [Codec::transpose([1, 0]), Codec::bytes(), Codec::zstd(3)];
        for (axis, order) in [(0, [0, 2, 1]), (1, [2, 1, 0]), (2, [1, 0, 2])] {
            let found = with_axis(&chain, axis).expect("known");
            let expected = [Codec::transpose(order), Codec::bytes(), Codec::zstd(3)];
            assert_eq!(found, expected, "axis {axis}");
        }
    }

    #[test]
    fn inner_chunks_get_the_axis_too() {
        let inner = |order: &[usize]| [Codec::transpose(order), Codec::bytes()];
        let shards = Codec::ShardingIndexed(Box::new(Sharding::new([4, 2], inner(&[1, 0]))));
        let expected =
            Codec::ShardingIndexed(Box::new(Sharding::new([1, 4, 2], inner(&[0, 2, 1]))));
        assert_eq!(with_axis(&[shards], 0), Some(vec![expected]));
    }

    #[test]
    fn masks_get_the_axis_and_values_do_not() {
        let optional = |order: &[usize]| {
            let mask = [Codec::transpose(order), Codec::packbits(0..=0)];
            let values = [Codec::transpose([0]), Codec::bytes()];
            [Codec::ZarrsOptional(Box::new(OptionalCodecs::new(mask, values)))]
        };
        assert_eq!(with_axis(&optional(&[1, 0]), 0), Some(optional(&[0, 2, 1]).into()));
        assert!(encode_alike(&optional(&[1, 0]), 0, &optional(&[0, 2, 1])));
    }

    #[test]
    fn blocks_of_zfp_are_others_with_another_axis() {
        let zfp = br#"[{"name": "zfp", "configuration": {"mode": "reversible"}}, "crc32c"]"#;
        let zfp = Codec::list_from_json(zfp).expect("valid");
        assert_eq!(with_axis(&zfp, 0), Some(zfp.clone()));
        assert!(!encode_alike(&zfp, 0, &zfp));
        let shards = |shape: &[u64]| {
            [Codec::ShardingIndexed(Box::new(Sharding::new(shape.to_vec(), zfp.clone())))]
        };
        assert!(!encode_alike(&shards(&[4, 2]), 0, &shards(&[1, 4, 2])));
        let plain = [Codec::bytes(), Codec::zstd(3)];
        assert!(encode_alike(&plain, 0, &plain));
        assert!(!encode_alike(&plain, 0, &plain[..1]));
    }

    #[test]
    fn a_squeezed_axis_is_not_renumbered() {
        let chain = [Codec::ZarrsSqueeze, Codec::transpose([1, 0]), Codec::bytes()];
        assert_eq!(with_axis(&chain, 0), Some(chain.to_vec()));
        assert!(encode_alike(&chain, 0, &chain));
    }

    #[test]
    fn json_texts_become_strings() {
        let strings = [Codec::VlenUtf8, Codec::zstd(1)];
        let chain = [Codec::NumcodecsJson2, Codec::zstd(1)];
        assert_eq!(with_axis(&chain, 0), Some(strings.to_vec()));
        assert!(!encode_alike(&chain, 0, &strings));
    }

    #[test]
    fn a_reshape_is_not_known_to_fit() {
        let reshape = br#"[{"name": "reshape", "configuration": {"shape": [[0, 1]]}}, "bytes"]"#;
        let chain = Codec::list_from_json(reshape).expect("valid");
        assert_eq!(with_axis(&chain, 0), None);
    }
}
