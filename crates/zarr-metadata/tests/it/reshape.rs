//! The shape that `reshape` gives to one chunk.

use zarr_metadata::Reshape;
use zarr_metadata::ReshapeDim::{self, Auto, InputDims, Size};

use crate::support::breaks;

/// Shapes of `reshape` on an input that documents cannot have, or that need the shape of a chunk.
#[test]
fn sd_20_sd_21_sd_23_the_output_of_reshape() {
    let dims = |dims: &[usize]| InputDims(dims.to_vec());
    let of = |shape: Vec<ReshapeDim>, input: &[u64]| Reshape::new(shape).output_shape(input);
    assert_eq!(of(vec![dims(&[0, 1]), dims(&[2]), Size(3)], &[5, 4, 4, 3]), Ok(vec![20, 4, 3]));
    assert_eq!(of(vec![dims(&[0]), Auto, dims(&[2, 3])], &[5, 4, 4, 3]), Ok(vec![5, 4, 12]));
    assert_eq!(of(vec![Auto, dims(&[])], &[]), Ok(vec![1, 1]));
    assert_eq!(of(vec![], &[1, 1]), Ok(vec![]));
    let half = 1 << 32;
    for (rule, shape, input, message) in [
        (
            "reshape-elements",
            vec![Size(2), Size(2)],
            vec![5],
            "$.shape: found 4 elements, expected 5, the elements of the input",
        ),
        (
            "reshape-divides",
            vec![Size(2), Auto],
            vec![5],
            "$.shape[1]: found -1 beside sizes whose product is 2, expected -1 only if the sizes \
             divide 5, the elements of the input",
        ),
        (
            "reshape-place",
            vec![Size(2), dims(&[1]), Size(2)],
            vec![4, 6],
            "$.shape[1]: found an output whose lengths before it have the product 2, expected 4, \
             as of the lengths before input dimension 1",
        ),
        (
            "reshape-place",
            vec![dims(&[0, 2]), Size(3)],
            vec![2, 3, 2],
            "$.shape[0]: found an output whose lengths after it have the product 3, expected 1, as of \
             the lengths after input dimension 2",
        ),
        (
            "reshape-input-dim",
            vec![dims(&[0]), dims(&[2])],
            vec![3, 4],
            "$.shape[1][0]: found 2, expected a dimension below 2, the rank of the input",
        ),
        (
            "reshape-increasing",
            vec![dims(&[1]), dims(&[0])],
            vec![1, 1],
            "$.shape: found input dimensions that do not rise, expected rising input dimensions",
        ),
        (
            "reshape-auto",
            vec![Auto, Auto],
            vec![1, 1],
            "$.shape: found a second -1, expected -1 at most once",
        ),
        (
            "reshape-overflow",
            vec![Auto],
            vec![half, half],
            "$.shape: found lengths whose product exceeds 64 bits, expected lengths whose product \
             is less than 2^64",
        ),
        (
            "reshape-overflow",
            vec![Size(half), Size(half), Auto],
            vec![1],
            "$.shape: found lengths whose product exceeds 64 bits, expected lengths whose product \
             is less than 2^64",
        ),
    ] {
        assert_eq!(breaks(rule, of(shape, &input)), message);
    }
}
