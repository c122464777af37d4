//! A mask of one bit per element, and 12-bit samples: an eighth and three quarters of the bytes.
//!
//! `cargo run --example masks`

use std::error::Error;
use std::sync::Arc;

use zarr_kit::{Array, ArrayBuilder, Codec, DataType, MemoryStore, Selection, Store, StoreExt};

/// The bytes of all chunks of an array.
fn stored_bytes(array: &Array) -> Result<u64, Box<dyn Error>> {
    let mut bytes = 0;
    for chunk in array.stored_chunks() {
        bytes += array.store().size(&chunk?.key)?.unwrap_or(0);
    }
    Ok(bytes)
}

fn main() -> Result<(), Box<dyn Error>> {
    let store: Arc<dyn Store> = Arc::new(MemoryStore::new());

    let metadata = ArrayBuilder::new([512, 512], DataType::Bool)
        .chunk_shape([512, 512])
        .codecs([Codec::packbits(0..=0)])
        .build()?;
    let land = Array::create(store.clone(), "land", metadata)?;
    let disc = |at: u64| (at / 512).abs_diff(256).pow(2) + (at % 512).abs_diff(256).pow(2) < 40_000;
    let mask: Vec<bool> = (0..512 * 512).map(disc).collect();
    land.write_as(Selection::whole(land.shape()), &mask)?;
    println!("{} elements of bool in {} bytes", mask.len(), stored_bytes(&land)?);
    assert!(stored_bytes(&land)? <= 512 * 512 / 8 + 1);

    // A part of it is read without unpacking the rest.
    let row = land.read_as::<bool>([256..257, 0..512])?;
    assert_eq!(row.iter().filter(|is_land| **is_land).count(), 399);

    let metadata = ArrayBuilder::new([1000], DataType::Uint16)
        .chunk_shape([1000])
        .codecs([Codec::packbits(0..=11)])
        .build()?;
    let camera = Array::create(store, "camera", metadata)?;
    let samples: Vec<u16> = (0..1000).map(|at| at * 4).collect();
    camera.write_as(0..1000, &samples)?;
    println!("1000 samples of 12 bits in {} bytes", stored_bytes(&camera)?);
    assert_eq!(camera.read_as::<u16>(998..1000)?, [3992, 3996]);

    // A value that needs more bits is refused, and nothing is cut off in silence.
    let error = camera.write_as::<u16>(0..1, &[5000]).expect_err("13 bits");
    println!("refused: {error}");
    Ok(())
}

#[test]
fn runs() -> Result<(), Box<dyn Error>> {
    main()
}
