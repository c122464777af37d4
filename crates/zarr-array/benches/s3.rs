//! Reading from and writing to an S3-compatible server with 64 requests in flight, beside the
//! plain client: `cargo xtask s3-test --bench`. Beside the rate, which is the server's as well, it
//! shows what each object takes of the processors in this process alone.

use std::env;
use std::sync::Arc;
use std::time::Instant;

use futures_util::{StreamExt, stream};
use object_store::aws::AmazonS3Builder;
use object_store::path::Path;
use object_store::{ObjectStoreExt, PutPayload};
use zarr_array::store::{Key, ReadRange, StoreExt as _, StoreOptions, open_url};

const IN_FLIGHT: usize = 64;
const ROUNDS: usize = 5;

/// What one run took: seconds, and seconds of the processors that were this process's.
#[derive(Clone, Copy)]
struct Taken {
    wall: f64,
    own: f64,
}

fn report(what: &str, size: usize, objects: usize, runs: &[Taken]) {
    let best = runs.iter().map(|run| run.wall).fold(f64::INFINITY, f64::min);
    let rate = (objects * size) as f64 / best / 1e6;
    let own = runs.iter().map(|run| run.own).sum::<f64>() / runs.len() as f64;
    println!(
        "{what:<18} {:5} KiB  {rate:6.0} MB/s  {:6.0} objects/s  {:6.0} µs of processor each",
        size >> 10,
        objects as f64 / best,
        own * 1e6 / objects as f64
    );
}

/// Seconds of all processors that this process has had, where the system tells (in hundredths).
fn processor_seconds() -> f64 {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    // Past the name, which may have spaces.
    let fields = stat.rsplit_once(") ").map_or("", |(_, fields)| fields);
    let ticks = |n: usize| fields.split(' ').nth(n).and_then(|field| field.parse::<f64>().ok());
    (ticks(11).unwrap_or(0.0) + ticks(12).unwrap_or(0.0)) / 100.0
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let Ok(bucket) = env::var("ZARR_KIT_S3_URL") else {
        println!("skipped: no server; run by cargo xtask s3-test --bench");
        return Ok(());
    };
    let url = format!("{bucket}/bench");
    let options = StoreOptions::new().requests_in_flight(IN_FLIGHT);
    let blocking = open_url(&url, &options)?;
    let asynchronous = blocking.asynchronous().ok_or("object storage has an asynchronous face")?;
    let plain = Arc::new(AmazonS3Builder::from_env().with_url(&url).build()?);
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    let keys: Vec<Key> = (0..512).map(|n| Key::new(format!("c/{n}"))).collect::<Result<_, _>>()?;
    let paths: Vec<Path> = keys.iter().map(|key| Path::from(format!("bench/{key}"))).collect();

    for (size, objects) in [(16 << 10, 512), (1 << 20, 128)] {
        let (keys, paths) = (&keys[..objects], &paths[..objects]);
        let bytes = vec![7; size];
        let time = |run: &mut dyn FnMut()| {
            let (start, own) = (Instant::now(), processor_seconds());
            run();
            Taken { wall: start.elapsed().as_secs_f64(), own: processor_seconds() - own }
        };
        let mut seconds = [const { Vec::new() }; 5];
        // In turns, so that a change in the machine's load meets all alike.
        for _ in 0..ROUNDS {
            seconds[0].push(time(&mut || {
                runtime.block_on(async {
                    let payload = PutPayload::from(bytes.clone());
                    let puts = stream::iter(paths).map(|path| plain.put(path, payload.clone()));
                    puts.buffer_unordered(IN_FLIGHT)
                        .for_each(async |put| assert!(put.is_ok()))
                        .await;
                });
            }));
            seconds[1].push(time(&mut || {
                in_threads(keys, |key, _| assert!(blocking.put(key, &bytes).is_ok()));
            }));
            seconds[2].push(time(&mut || {
                runtime.block_on(async {
                    let gets =
                        stream::iter(paths).map(async |path| plain.get(path).await?.bytes().await);
                    gets.buffer_unordered(IN_FLIGHT)
                        .for_each(async |got| assert!(got.is_ok_and(|got| got.len() == size)))
                        .await;
                });
            }));
            seconds[3].push(time(&mut || {
                runtime.block_on(async {
                    let gets = stream::iter(keys)
                        .map(|key| asynchronous.get(key, ReadRange::All, Vec::new()));
                    gets.buffer_unordered(IN_FLIGHT)
                        .for_each(async |got| {
                            assert!(got.is_ok_and(|got| got.is_some_and(|got| got.bytes == bytes)));
                        })
                        .await;
                });
            }));
            seconds[4].push(time(&mut || {
                in_threads(keys, |key, buffer| {
                    assert!(blocking.read_into(key, buffer).is_ok());
                    assert!(*buffer == bytes);
                });
            }));
        }
        let names = [
            "put, plain client",
            "put, 64 threads",
            "get, plain client",
            "get, asynchronous",
            "get, 64 threads",
        ];
        for (name, seconds) in names.iter().zip(&seconds) {
            report(name, size, objects, seconds);
        }
    }
    Ok(())
}

fn in_threads(keys: &[Key], run: impl Fn(&Key, &mut Vec<u8>) + Sync) {
    std::thread::scope(|scope| {
        for thread in 0..IN_FLIGHT {
            let run = &run;
            scope.spawn(move || {
                let mut buffer = Vec::new();
                for key in keys.iter().skip(thread).step_by(IN_FLIGHT) {
                    run(key, &mut buffer);
                }
            });
        }
    });
}
