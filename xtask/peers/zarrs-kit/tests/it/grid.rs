//! `rectilinear`.

use serde_json::{Value, json};
use zarrs::array::{ArraySubset, ChunkGridTraits};
use zarrs::metadata::v3::MetadataV3;
use zarrs_kit::RectilinearGrid;

use crate::{Random, Result, create, document, read, rectilinear, refusal, write};

fn grid(shape: &[u64], chunk_shapes: Value) -> Result<RectilinearGrid> {
    let metadata: MetadataV3 = serde_json::from_value(rectilinear(chunk_shapes))?;
    Ok(RectilinearGrid::from_metadata(&metadata, shape)?)
}

/// What zarrs' tests of its own grid show.
#[test]
fn chunks_of_zarrs_own_tests() -> Result<()> {
    let edges = || json!([[[5, 3], [15, 2], 20, 35], [[10, 10]]]);
    let both = grid(&[100, 100], edges())?;
    assert_eq!((both.dimensionality(), both.grid_shape()), (2, &[7, 10][..]));
    assert_eq!(both.chunk_indices(&[17, 17])?, Some(vec![3, 1]));
    assert_eq!(both.chunk_element_indices(&[17, 17])?, Some(vec![2, 7]));
    let region = both.chunks_subset(&[1..5, 2..6])?;
    assert_eq!(region, Some(ArraySubset::new_with_ranges(&[5..45, 20..60])));
    assert_eq!(both.chunk_origin(&[6, 9])?, Some(vec![65, 90]));
    assert!(both.chunk_indices_inbounds(&[6, 9]) && !both.chunk_indices_inbounds(&[7, 9]));
    assert_eq!((both.chunk_origin(&[7, 9])?, both.chunk_indices(&[100, 100])?), (None, None));
    assert!(both.chunk_origin(&[0]).is_err() && both.chunk_indices(&[0, 0, 0]).is_err());

    let mixed = grid(&[100, 100], json!([10, [5, 5, 5, 15, 15, 20, 35]]))?;
    assert_eq!(mixed.grid_shape(), [10, 7]);
    assert_eq!(mixed.chunk_indices(&[25, 17])?, Some(vec![2, 3]));
    assert_eq!(mixed.chunk_origin(&[2, 3])?, Some(vec![20, 15]));

    // An axis of length 0 goes on without end.
    let endless = grid(&[100, 0], json!([[[5, 3], [15, 2], 20, 35], 10]))?;
    assert_eq!(endless.grid_shape(), [7, 0]);
    assert_eq!(endless.chunk_origin(&[6, 123])?, Some(vec![65, 1230]));
    assert_eq!(endless.chunk_shape_u64(&[6, 100])?, Some(vec![35, 10]));
    assert_eq!(endless.chunk_indices(&[99, 150])?, Some(vec![6, 15]));
    assert_eq!(endless.chunk_origin(&[0, u64::MAX])?, None);

    assert!(grid(&[100; 3], edges()).is_err() && grid(&[123, 100], edges()).is_err());
    Ok(())
}

/// SD-05. zarrs' own grid counts declared chunks, which reach beyond the array.
#[test]
fn the_grid_has_the_chunks_that_hold_elements() -> Result<()> {
    let over = grid(&[6, 6], json!([[4, 4, 4], [3, 3, 3]]))?;
    assert_eq!(over.grid_shape(), [2, 2]);
    assert_eq!(over.chunk_indices(&[5, 5])?, Some(vec![1, 1]));
    assert!(over.array_indices_inbounds(&[5, 5]) && !over.array_indices_inbounds(&[6, 0]));
    Ok(())
}

#[test]
fn runs_are_not_expanded() -> Result<()> {
    let many = grid(&[1 << 62], json!([[1, [1, (1_u64 << 62) + 5]]]))?;
    assert_eq!(many.chunk_indices(&[(1 << 62) - 1])?, Some(vec![(1 << 62) - 1]));
    Ok(())
}

#[test]
fn refusals_name_the_axis() {
    let bytes = json!([{"name": "bytes", "configuration": {"endian": "little"}}]);
    for (edges, text) in [
        (json!([[4, 1], 2]), "rectilinear: axis 0: "),
        (json!([6, [[0, 2]]]), "$.configuration.chunk_shapes[1]"),
        (json!([6]), "rectilinear: 1 axes of edges for 2 dimensions"),
        (json!([6, [u64::MAX, 2]]), "rectilinear: $.configuration.chunk_shapes[1][1]: "),
    ] {
        let document = document("int16", &[6, 6], rectilinear(edges), bytes.clone(), json!(0));
        let error = refusal(&document, &[]);
        assert!(error.contains(text), "{error}\nhas not\n{text}");
    }
}

#[test]
fn every_region_of_random_grids() -> Result<()> {
    let mut random = Random(5);
    let bytes = json!([{"name": "bytes"}]);
    for _ in 0..60 {
        let shape = [1 + random.below(12), 1 + random.below(12)];
        let edges = shape.map(|length| {
            let mut edges = Vec::new();
            while edges.iter().sum::<u64>() < length || random.below(4) == 0 {
                edges.push(1 + random.below(5));
            }
            edges
        });
        let (array, _) =
            create(&document("uint8", &shape, rectilinear(json!(edges)), bytes.clone(), json!(9)))?;
        let elements: Vec<u8> = (0..shape[0] * shape[1]).map(|_| random.next() as u8).collect();
        write(&array, &elements)?;
        for _ in 0..20 {
            let region = random.region(&shape);
            let expected = crate::part(&elements, &shape, &region, 1);
            assert_eq!(read(&array, &region)?, expected, "{region:?} of {edges:?}");
        }
    }
    Ok(())
}
