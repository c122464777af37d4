//! Comparison of shapes by their lengths alone.

use zarr_metadata::{ArrayBuilder, DataType};

use super::*;

#[test]
fn long_axes_do_not_lose_the_average() {
    for (all, chunk, read, expected) in [
        (10, 4, 3, 1.5),
        (10, 10, 10, 1.0),
        (u64::MAX, 1, 1, 1.0),
        (u64::MAX, 1, 7, 7.0),
        (u64::MAX, 2, 7, 4.0),
        (u64::MAX, 3, 1 << 40, f64::from(1 << 20) * f64::from(1 << 20) / 3.0),
        (u64::MAX, 3, u64::MAX, real(u64::MAX / 3)),
    ] {
        let found = touched(&[all], &[chunk], &[read]);
        assert!((found - expected).abs() <= 1e-9 * expected, "{all} {chunk} {read}: {found}");
    }
}

/// Too many shapes of many axes are thinned, and none of the axes loses its long or short chunks.
#[test]
fn chunks_of_many_axes_have_long_and_short_lengths_on_each() {
    for rank in [1, 2, 4, 7, 9] {
        let (shape, read) = (vec![64; rank], vec![vec![5; rank]]);
        let costs = Costs {
            shape: &shape,
            reads: &read,
            latency: 0.1,
            in_flight: NonZeroUsize::MIN,
            rate: 1.0,
            element: 1.0,
            stored: 1.0,
            decode: 0.0,
            memory: 1 << 20,
        };
        let all = costs.chunks(None);
        assert!(all.len() <= COMPARED, "{rank}: {}", all.len());
        for axis in 0..rank {
            for length in [1, 5, 64] {
                let has = all.iter().any(|chunks| chunks[axis] == length);
                assert!(has, "{rank}: axis {axis} has no {length}");
            }
        }
        // A part of the lengths is not left to the first axes alone.
        let on = |axis: usize| {
            let lengths = all.iter().map(|chunks| chunks[axis]);
            lengths.collect::<BTreeSet<_>>().len()
        };
        let counts: Vec<usize> = (0..rank).map(on).collect();
        assert!(counts.iter().max() <= counts.iter().min().map(|n| n + 1).as_ref());
    }
}

#[test]
fn present_shards_are_of_chunks_and_not_too_many() {
    let plain = || vec![Codec::bytes()];
    let of = |chunks: u64, codecs: Vec<Codec>| {
        let array = ArrayBuilder::new([1 << 20], DataType::Uint8).chunk_shape([chunks]);
        present(&array.codecs(codecs).build().expect("a document"))
    };
    assert_eq!(of(8, plain()), Some((vec![8], None)));
    assert_eq!(of(8, vec![Codec::sharding([2], plain())]), Some((vec![2], Some(vec![8]))));
    let nested = Codec::sharding([4], [Codec::sharding([2], plain())]);
    assert_eq!(of(8, vec![nested]), None);
    let many = |chunks| of(chunks, vec![Codec::sharding([1], plain())]);
    assert!(many(IN_SHARD).is_some());
    assert_eq!(many(2 * IN_SHARD), None);
}
