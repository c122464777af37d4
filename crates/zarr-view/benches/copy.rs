//! Copies between views compared with memcpy of as many bytes, and the cost of views.
//!
//! `cargo bench -p zarr-view -- transpose`. For ratios to other programs, interleaved in one run,
//! see `xtask/peers/view-bench`.

#![expect(clippy::unwrap_used, reason = "known views")]

use std::hint::black_box;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use zarr_view::{CopyElement, CopyPlan, View, common_shape, zeroed};

fn copies(c: &mut Criterion) {
    let cases: &[(&str, &[usize], &[usize])] = &[
        ("256x256", &[256, 256], &[1, 0]),
        ("4096x4096", &[4096, 4096], &[1, 0]),
        ("4093x4099", &[4093, 4099], &[1, 0]),
        ("64x128x128x16-3021", &[64, 128, 128, 16], &[3, 0, 2, 1]),
        ("64x128x128x16-0312", &[64, 128, 128, 16], &[0, 3, 1, 2]),
    ];
    let mut group = c.benchmark_group("transpose");
    group.sample_size(10);
    for &(name, shape, order) in cases {
        for size in [1, 2, 4, 8] {
            let bytes = shape.iter().product::<usize>() * size;
            let (mut src, mut dst) = (zeroed(bytes).unwrap(), zeroed(bytes).unwrap());
            (0..bytes).for_each(|i| src[i] = (i * 31 + i / 253) as u8);
            let from = View::contiguous(shape).unwrap().permute(order).unwrap();
            let to = View::contiguous(from.shape()).unwrap();
            let plan = CopyPlan::new(&from, &to, CopyElement::try_from(size).unwrap()).unwrap();
            plan.run(&src, &mut dst, &[]).unwrap();
            // A few elements of the result, computed from the definition.
            for i in (0..bytes / size).step_by(1013) {
                let index: Vec<usize> = (0..to.rank())
                    .map(|d| i / to.strides()[d].max(1) as usize % to.shape()[d])
                    .collect();
                let at = from.position(&index).unwrap() * size;
                assert_eq!(dst[i * size..][..size], src[at..][..size]);
            }
            group.throughput(Throughput::Bytes(bytes as u64));
            group.bench_function(format!("{name}/u{}/view", size * 8), |b| {
                b.iter(|| plan.run(black_box(&src), black_box(&mut dst), &[]).unwrap());
            });
            group.bench_function(format!("{name}/u{}/memcpy", size * 8), |b| {
                b.iter(|| black_box(&mut dst).copy_from_slice(black_box(&src)));
            });
        }
    }
    group.finish();
}

fn algebra(c: &mut Criterion) {
    let mut group = c.benchmark_group("algebra");
    let plain = View::contiguous(&[8, 6, 4, 10]).unwrap().permute(&[1, 0, 2, 3]).unwrap();
    let masked = View::contiguous(&[8, 6, 4, 10]).unwrap();
    let masked = masked.pad(&[(2, 2), (0, 0), (0, 0), (0, 0)]).unwrap();
    let whole = View::contiguous(&[48, 40]).unwrap();
    group.bench_function("reshape", |b| b.iter(|| black_box(&plain).reshape(&[6, 2, 4, 40])));
    group.bench_function("reshape/masked", |b| {
        b.iter(|| black_box(&masked).reshape(&[3, 4, 24, 10]));
    });
    group.bench_function("common_shape", |b| {
        b.iter(|| common_shape(black_box(&plain), black_box(&whole)));
    });
    let to = View::contiguous(&[6, 8, 4, 10]).unwrap();
    let element = CopyElement::try_from(4).unwrap();
    group.bench_function("plan", |b| {
        b.iter(|| CopyPlan::new(black_box(&plain), black_box(&to), element));
    });
    group.finish();
}

criterion_group!(benches, copies, algebra);
criterion_main!(benches);
