//! Codec chains for members that become slices of an array with one more axis.

use zarr_metadata::{Codec, Sharding};

/// The chain that encodes a chunk with a new axis of length 1 to the same bytes as `codecs` encode
/// the chunk without it; `None` if there is a codec for which no such chain is known.
///
/// An axis of length 1 does not change the order of elements. `transpose` and `sharding_indexed`
/// name axes, and get one more; codecs that see only elements or bytes stay.
pub(crate) fn with_axis(codecs: &[Codec], axis: usize) -> Option<Vec<Codec>> {
    // A transpose does not move it among the axes.
    let at = axis;
    let mut chain = Vec::with_capacity(codecs.len());
    for codec in codecs {
        chain.push(match codec {
            Codec::Transpose(transpose) => {
                let mut order: Vec<usize> = transpose
                    .order
                    .iter()
                    .map(|from| if *from >= at { from.saturating_add(1) } else { *from })
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
            Codec::Reshape(_) | Codec::Unknown(_) => return None,
            other => other.clone(),
        });
    }
    Some(chain)
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
    fn a_reshape_is_not_known_to_fit() {
        let reshape = br#"[{"name": "reshape", "configuration": {"shape": [[0, 1]]}}, "bytes"]"#;
        let chain = Codec::list_from_json(reshape).expect("valid");
        assert_eq!(with_axis(&chain, 0), None);
    }
}
