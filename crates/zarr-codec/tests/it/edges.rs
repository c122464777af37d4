//! SD-24, SD-34: a chain is accepted exactly if the documents allow it for every chunk shape of the
//! grid, the full product of the axes' edges.

use serde_json::{Value, json};
use zarr_codec::AxisEdges;
use zarr_metadata::Codec;

use crate::naive::{allows, encoded_shape, indices};
use crate::support::{Random, bind, list};

/// Every set of one to three of these edges.
fn sets() -> Vec<Vec<u64>> {
    let edges = [1, 2, 3, 4, 6];
    let mut sets = Vec::new();
    for bits in 1_u32..1 << edges.len() {
        let set: Vec<u64> =
            (0..edges.len()).filter(|n| bits >> n & 1 == 1).map(|n| edges[n]).collect();
        if set.len() <= 3 {
            sets.push(set);
        }
    }
    sets
}

/// An entry of `reshape`: sizes, `-1`, and input dimensions in every order, valid or not.
fn entry(random: &mut Random, rank: usize) -> Value {
    match random.below(6) {
        0 | 1 => json!([1, 2, 3, 4, 6, 12][random.below(6)]),
        2 => json!(-1),
        3 => json!([]),
        _ => {
            let first = random.below(rank + 1);
            let dims: Vec<usize> = (first..first + 1 + random.below(2)).collect();
            json!(dims)
        }
    }
}

/// A chain for arrays of this rank, more often invalid than valid; `None` for a chain that
/// metadata refuses before it reaches a grid.
fn chain(random: &mut Random, mut rank: usize) -> Option<Vec<Value>> {
    let mut codecs = Vec::new();
    for _ in 0..random.below(3) {
        if random.below(3) == 0 {
            let mut rest: Vec<usize> = (0..rank).collect();
            let mut order = Vec::new();
            while !rest.is_empty() {
                order.push(rest.remove(random.below(rest.len())));
            }
            codecs.push(json!({"name": "transpose", "configuration": {"order": order}}));
            continue;
        }
        let entries: Vec<Value> = (0..1 + random.below(3)).map(|_| entry(random, rank)).collect();
        if entries.iter().filter(|entry| **entry == json!(-1)).count() > 1 {
            return None;
        }
        rank = entries.len();
        codecs.push(json!({"name": "reshape", "configuration": {"shape": entries}}));
    }
    let bytes = json!({"name": "bytes"});
    if random.below(2) == 0 {
        let inner: Vec<u64> = (0..rank).map(|_| [1, 1, 2, 3, 4, 6][random.below(6)]).collect();
        let index = json!([{"name": "bytes", "configuration": {"endian": "little"}}]);
        codecs.push(json!({"name": "sharding_indexed", "configuration": {"chunk_shape": inner,
            "codecs": [bytes], "index_codecs": index}}));
    } else {
        codecs.push(bytes);
    }
    Codec::list_from_json(list(&codecs).as_bytes()).ok()?;
    Some(codecs)
}

/// Whether the specifications allow the chain for every shape of the product.
fn naive(codecs: &[Value], edges: &[Vec<u64>]) -> bool {
    let counts: Vec<usize> = edges.iter().map(Vec::len).collect();
    indices(&counts).iter().all(|at| {
        let shape: Vec<usize> = at
            .iter()
            .zip(edges)
            .map(|(n, edges)| usize::try_from(edges[*n]).expect("small"))
            .collect();
        allows(codecs, &shape)
    })
}

#[test]
fn sd_24_sd_34_accepted_exactly_if_every_shape_of_the_product_is() {
    let mut random = Random(24);
    let sets = sets();
    let (mut accepted, mut refused) = ([0; 4], 0);
    // All of them where this crate is optimised, as `cargo xtask check` runs it.
    let cases = if cfg!(debug_assertions) { 100_000 } else { 400_000 };
    for _ in 0..cases {
        let rank = random.below(4);
        let Some(codecs) = chain(&mut random, rank) else { continue };
        let edges: Vec<Vec<u64>> = (0..rank)
            .map(|_| match random.below(3) {
                0 => sets[random.below(sets.len())].clone(),
                _ => vec![[1, 2, 3, 4, 6][random.below(5)]],
            })
            .collect();
        let axes: Vec<AxisEdges> =
            edges.iter().map(|edges| AxisEdges::of(edges.iter().copied())).collect();
        let bound = bind(&list(&codecs), "uint8", &axes);
        assert_eq!(
            bound.is_ok(),
            naive(&codecs, &edges),
            "{} on {edges:?}: {bound:?}",
            list(&codecs)
        );
        match bound {
            Ok(chain) => {
                accepted[edges.iter().filter(|edges| edges.len() > 1).count()] += 1;
                let shape: Vec<u64> = edges.iter().map(|edges| edges[0]).collect();
                chain.for_shape(&shape).expect("a shape of the grid");
            }
            Err(_) => refused += 1,
        }
    }
    // The generator makes enough of both, also on several ragged axes.
    assert!(accepted.iter().all(|count| *count > cases / 8_000), "{accepted:?} accepted");
    assert!(refused > cases / 40, "{refused} refused");
}

/// [`Reshape::output_shape`] is for one shape what the chain is for all shapes of a grid.
#[test]
fn sd_20_sd_23_one_shape_is_reshaped_as_the_document_says() {
    let mut random = Random(20);
    let (mut accepted, mut refused) = (0, 0);
    for _ in 0..50_000 {
        let rank = random.below(4);
        let entries: Vec<Value> = (0..random.below(4)).map(|_| entry(&mut random, rank)).collect();
        let codec = json!({"name": "reshape", "configuration": {"shape": entries}});
        let Ok(Codec::Reshape(reshape)) = Codec::from_json(codec.to_string().as_bytes()) else {
            continue;
        };
        let shape: Vec<usize> = (0..rank).map(|_| [1, 2, 3, 4, 6][random.below(5)]).collect();
        let wide = |shape: &[usize]| shape.iter().map(|n| *n as u64).collect::<Vec<_>>();
        let found = reshape.output_shape(&wide(&shape));
        let expected = encoded_shape(&codec, &shape).map(|shape| wide(&shape));
        assert_eq!(found.as_ref().ok(), expected.as_ref(), "{codec} on {shape:?}: {found:?}");
        *if found.is_ok() { &mut accepted } else { &mut refused } += 1;
    }
    assert!(accepted > 2_000 && refused > 2_000, "{accepted} accepted, {refused} refused");
}

#[test]
fn sd_24_per_axis_divisibility_is_not_enough() {
    let reshape = |shape: Value| {
        list(&[
            json!({"name": "reshape", "configuration": {"shape": shape}}),
            json!({"name": "bytes"}),
        ])
    };
    let ragged = [AxisEdges::of([2, 6]), AxisEdges::of([3, 9])];
    assert!(bind(&reshape(json!([6, -1])), "uint8", &ragged).is_ok());
    let coprime = [AxisEdges::of([2, 6]), AxisEdges::of([3, 8])];
    assert!(bind(&reshape(json!([6, -1])), "uint8", &coprime).is_err());
}

#[test]
fn sd_24_an_axis_without_chunks_makes_all_true() {
    let codecs = list(&[
        json!({"name": "reshape", "configuration": {"shape": [7, 5]}}),
        json!({"name": "sharding_indexed", "configuration": {"chunk_shape": [2, 2],
            "codecs": [{"name": "bytes"}],
            "index_codecs": [{"name": "bytes", "configuration": {"endian": "little"}}]}}),
    ]);
    assert!(bind(&codecs, "uint8", &[AxisEdges::of([2, 3]), AxisEdges::empty()]).is_ok());
    assert!(bind(&codecs, "uint8", &[AxisEdges::of([2, 3]), AxisEdges::one(1)]).is_err());
}

#[test]
fn sd_24_sizes_are_checked_on_the_longest_edges() {
    let codecs = list(&[json!({"name": "bytes"})]);
    let far = AxisEdges::of([1, 1 << 32]);
    let error = bind(&codecs, "uint8", &[far, far]).expect_err("too large");
    insta::assert_snapshot!(error, @"$.codecs: codec chain: a chunk of shape [4294967296, 4294967296] has more than 2^64 elements");
}
