//! The chunks of a new array for which none are chosen.
//!
//! A chunk is read and decoded as a whole, so large chunks make small reads slow. Each chunk is an
//! object, so many small chunks make everything slow. With 1 to 16 MiB of elements, neither
//! matters. This aims at 4 MiB, from which shapes that do not divide evenly stay within that range.

// Shapes come from callers.
#![warn(clippy::arithmetic_side_effects)]

use crate::codec::Codec;
use crate::data_type::DataType;

/// The most decoded bytes of a chunk.
const MOST: u64 = 4 << 20;

/// Assumed bytes of an element of variable length.
const VARIABLE_BYTES: u64 = 16;

/// The shape of the array, its longest edge halved until a chunk has at most [`MOST`] bytes. Axes
/// of length 0 are meant to grow: they share the bytes that remain after the other axes.
///
/// If the codecs begin with a shard, its inner chunks take the place of the elements, so that the
/// shards consist of whole ones.
pub(crate) fn default_chunk_shape(
    shape: &[u64],
    data_type: &DataType,
    codecs: &[Codec],
) -> Vec<u64> {
    let size = match data_type.is_variable_length() {
        true => VARIABLE_BYTES,
        false => data_type.size().and_then(|size| u64::try_from(size).ok()).unwrap_or(1),
    };
    let inner = match codecs.first() {
        Some(Codec::ShardingIndexed(sharding)) if sharding.chunk_shape.len() == shape.len() => {
            sharding.chunk_shape.clone()
        }
        _ => vec![1; shape.len()],
    };
    // In units of the inner chunks; their sizes are 0 only in documents that are refused later.
    let size = inner.iter().fold(size.max(1), |all, edge| all.saturating_mul((*edge).max(1)));
    let lengths = shape.iter().zip(&inner).map(|(length, inner)| length.div_ceil((*inner).max(1)));
    let lengths: Vec<u64> = lengths.collect();
    let mut edges: Vec<u64> = lengths.iter().map(|length| (*length).max(1)).collect();
    let bytes = |edges: &[u64]| edges.iter().fold(size, |all, edge| all.saturating_mul(*edge));
    while bytes(&edges) > MOST {
        match edges.iter_mut().max() {
            Some(longest) if *longest > 1 => *longest = longest.div_ceil(2),
            _ => break,
        }
    }
    let is_empty: Vec<bool> = lengths.iter().map(|length| *length == 0).collect();
    while bytes(&edges) <= MOST / 2 {
        let axes = edges.iter_mut().zip(&is_empty);
        let to_grow = axes.filter(|(_, is_empty)| **is_empty).map(|(edge, _)| edge);
        match to_grow.min() {
            Some(shortest) => *shortest = shortest.saturating_mul(2),
            None => break,
        }
    }
    edges.iter().zip(&inner).map(|(edge, inner)| edge.saturating_mul((*inner).max(1))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::codec::IndexLocation;
    use crate::codec::Sharding;

    fn bytes(edges: &[u64], size: u64) -> u128 {
        edges.iter().fold(u128::from(size), |all, edge| all.saturating_mul((*edge).into()))
    }

    fn random(seed: &mut u64) -> u64 {
        *seed =
            seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        *seed >> 33
    }

    /// Shapes of up to six axes, of lengths of every magnitude, with axes of length 0 and 1.
    fn shapes() -> Vec<Vec<u64>> {
        let mut shapes =
            vec![vec![], vec![0], vec![1], vec![u64::MAX; 3], vec![0; 32], vec![3; 32]];
        let mut seed = 7;
        for _ in 0..4000 {
            let rank = random(&mut seed) % 7;
            let length = |seed: &mut u64| match random(seed) % 4 {
                0 => random(seed) % 3,
                _ => (random(seed) << 31 | random(seed)) >> (random(seed) % 62),
            };
            shapes.push((0..rank).map(|_| length(&mut seed)).collect());
        }
        shapes
    }

    const TYPES: [(DataType, u64); 6] = [
        (DataType::Bool, 1),
        (DataType::Int2, 1),
        (DataType::Uint4, 1),
        (DataType::Int16, 2),
        (DataType::Complex128, 16),
        (DataType::String, VARIABLE_BYTES),
    ];

    #[test]
    fn chunks_are_of_mebibytes_unless_the_array_is_smaller() {
        for shape in shapes() {
            for (data_type, size) in &TYPES {
                let edges = default_chunk_shape(&shape, data_type, &[]);
                let said = format!("{shape:?} of {data_type}: {edges:?}");
                assert_eq!(edges.len(), shape.len(), "{said}");
                let chunk = bytes(&edges, *size);
                assert!(chunk <= 4 << 20, "{said}");
                let is_one_chunk = edges == shape;
                assert!(is_one_chunk || chunk >= 1 << 20, "{said}");
                let grows = shape.contains(&0);
                for (edge, length) in edges.iter().zip(&shape) {
                    assert!(*edge >= 1 && (grows && *length == 0 || edge <= length), "{said}");
                }
                // Along no axis are there twice as many chunks as would fill it.
                for (edge, length) in edges.iter().zip(&shape) {
                    let (count, whole) = (length.div_ceil(*edge), length / edge);
                    assert!(count <= whole.saturating_mul(2).max(1), "{said}");
                }
            }
        }
    }

    #[test]
    fn shards_consist_of_whole_chunks() {
        let mut seed = 11;
        for shape in shapes().into_iter().filter(|shape| shape.len() < 6) {
            let inner: Vec<u64> = shape.iter().map(|_| random(&mut seed) % 40 + 1).collect();
            let sharding = Sharding::new(inner.clone(), [Codec::bytes()])
                .with_index([Codec::bytes(), Codec::Crc32c], IndexLocation::End);
            let codecs = [Codec::ShardingIndexed(Box::new(sharding))];
            let edges = default_chunk_shape(&shape, &DataType::Int16, &codecs);
            let said = format!("{shape:?} with {inner:?}: {edges:?}");
            for (edge, inner) in edges.iter().zip(&inner) {
                assert!(*edge > 0 && edge % inner == 0, "{said}");
            }
            let chunk = bytes(&edges, 2);
            assert!(chunk <= 4 << 20 || edges == inner, "{said}");
            let holds_all = edges.iter().zip(&shape).all(|(edge, length)| edge >= length);
            assert!(holds_all || edges == inner || chunk >= 1 << 20, "{said}");
        }
    }
}
