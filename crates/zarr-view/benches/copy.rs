//! Copies between views beside a plain copy of as many bytes (`memcpy`), and the cost of views.
//!
//! `cargo bench -p zarr-view -- transpose/256x256` runs the ids that match: `transpose/256x256/u64/view`
//! is a case, an element and what is measured. Ratios to other programs, in turns in one run, are in
//! `xtask/peers/view-bench`.

#![expect(clippy::unwrap_used, reason = "known views")]

use std::hint::black_box;
use std::time::Duration;

use criterion::{Bencher, Criterion, Throughput, criterion_group, criterion_main};
use zarr_view::{CopyElement, CopyPlan, View, zeroed};

/// A shape, and the order in which its axes are copied.
const CASES: &[(&str, &[usize], &[usize])] = &[
    ("128x128-contiguous", &[128, 128], &[0, 1]),
    ("256x256", &[256, 256], &[1, 0]),
    ("4096x4096", &[4096, 4096], &[1, 0]),
    ("4093x4099", &[4093, 4099], &[1, 0]),
    ("64x128x128x16-3021", &[64, 128, 128, 16], &[3, 0, 2, 1]),
    ("64x128x128x16-0312", &[64, 128, 128, 16], &[0, 3, 1, 2]),
];

fn copies(criterion: &mut Criterion) {
    for &(name, shape, order) in CASES {
        for size in [1, 2, 4, 8] {
            let bytes = shape.iter().product::<usize>() * size;
            let mut group = criterion.benchmark_group(format!("transpose/{name}/u{}", size * 8));
            group.throughput(Throughput::Bytes(bytes as u64));
            group.bench_function("view", |bencher| by_view(bencher, shape, order, size));
            group.bench_function("memcpy", |bencher| {
                let (src, mut dst) = (source(bytes), zeroed(bytes).unwrap());
                bencher.iter(|| black_box(&mut dst).copy_from_slice(black_box(&src)));
            });
            group.finish();
        }
    }
}

fn source(bytes: usize) -> Vec<u8> {
    (0..bytes).map(|i| (i * 31 + i / 253) as u8).collect()
}

fn by_view(bencher: &mut Bencher<'_>, shape: &[usize], order: &[usize], size: usize) {
    let from = View::contiguous(shape).unwrap().permute(order).unwrap();
    let to = View::contiguous(from.shape()).unwrap();
    let bytes = shape.iter().product::<usize>() * size;
    let (src, mut dst) = (source(bytes), zeroed(bytes).unwrap());
    let plan = CopyPlan::new(&from, &to, CopyElement::try_from(size).unwrap()).unwrap();
    plan.run(&src, &mut dst, &[]).unwrap();
    // A few elements of the result, computed from the definition.
    for i in (0..bytes / size).step_by(1013) {
        let index: Vec<usize> =
            (0..to.rank()).map(|d| i / to.strides()[d].max(1) as usize % to.shape()[d]).collect();
        let at = from.position(&index).unwrap() * size;
        assert_eq!(dst[i * size..][..size], src[at..][..size]);
    }
    bencher.iter(|| plan.run(black_box(&src), black_box(&mut dst), &[]).unwrap());
}

fn algebra(criterion: &mut Criterion) {
    let plain = View::contiguous(&[8, 6, 4, 10]).unwrap().permute(&[1, 0, 2, 3]).unwrap();
    let masked = View::contiguous(&[8, 6, 4, 10]).unwrap();
    let masked = masked.pad(&[(2, 2), (0, 0), (0, 0), (0, 0)]).unwrap();
    let to = View::contiguous(&[6, 8, 4, 10]).unwrap();
    let element = CopyElement::try_from(4).unwrap();
    let mut group = criterion.benchmark_group("algebra");
    group.bench_function("reshape", |bencher| {
        bencher.iter(|| black_box(&plain).reshape(&[6, 2, 4, 40]));
    });
    group.bench_function("reshape-masked", |bencher| {
        bencher.iter(|| black_box(&masked).reshape(&[3, 4, 24, 10]));
    });
    group.bench_function("plan", |bencher| {
        bencher.iter(|| CopyPlan::new(black_box(&plain), black_box(&to), element));
    });
    group.finish();
}

criterion_group! {
    name = benches;
    config = Criterion::default()
        .sample_size(20)
        .warm_up_time(Duration::from_millis(200))
        .measurement_time(Duration::from_secs(1));
    targets = copies, algebra
}
criterion_main!(benches);
