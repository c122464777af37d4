//! Many reads at once from object storage, without a thread for each.
//!
//! `cargo run --example async_s3 --features aws -- s3://bucket/weather.zarr`, with the usual
//! `AWS_*` in the environment; without a URL, from memory.

use std::error::Error;
use std::sync::Arc;

use zarr_kit::array::asynchronous::AsyncArray;
use zarr_kit::array::store::{StoreOptions, open_url};
use zarr_kit::{ArrayBuilder, DataType, MemoryStore, Store};

/// The mean of each chunk of a one-dimensional array; chunks are requested at the same time.
async fn means(store: Arc<dyn Store>) -> Result<Vec<f64>, Box<dyn Error>> {
    let array = AsyncArray::open(store, "").await?;
    // The futures borrow nothing, so they can be spawned.
    let reads: Vec<_> = array
        .chunks()?
        .map(|chunk| tokio::spawn(array.asynchronous().read_as::<f32>(chunk.selection())))
        .collect();
    let mut means = Vec::new();
    for read in reads {
        let values = read.await??;
        let sum: f64 = values.iter().copied().map(f64::from).sum();
        means.push(sum / values.len() as f64);
    }
    Ok(means)
}

/// A store in memory with a year in months, in place of a bucket.
async fn example() -> Result<Arc<dyn Store>, Box<dyn Error>> {
    let months = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];
    let metadata = ArrayBuilder::new([365], DataType::Float32).chunks([months.into()]).build()?;
    let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
    let array = AsyncArray::create(store.clone(), "", metadata).await?;
    let days: Vec<f32> = (0..365_u16).map(f32::from).collect();
    array.asynchronous().write_as(0..365, days).await?;
    Ok(store)
}

async fn run(url: Option<String>) -> Result<Vec<f64>, Box<dyn Error>> {
    let store = match url {
        Some(url) => open_url(&url, &StoreOptions::new())?,
        None => example().await?,
    };
    means(store).await
}

fn main() -> Result<(), Box<dyn Error>> {
    let runtime = tokio::runtime::Builder::new_multi_thread().build()?;
    let means = runtime.block_on(run(std::env::args().nth(1)))?;
    println!("{means:?}");
    Ok(())
}

#[test]
fn runs() -> Result<(), Box<dyn Error>> {
    let runtime = tokio::runtime::Builder::new_multi_thread().build()?;
    let means = runtime.block_on(run(None))?;
    assert_eq!((means.len(), means[0], means[1]), (12, 15.0, 44.5));
    Ok(())
}
