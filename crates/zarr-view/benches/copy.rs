//! Copies between views compared with memcpy of as many bytes, and the cost of views.
//!
//! `cargo bench -p zarr-view -- transpose`. For ratios to other programs, interleaved in one run,
//! see `xtask/peers/view-bench`.

#![expect(clippy::unwrap_used, reason = "known views")]

use std::hint::black_box;
use std::time::{Duration, Instant};

use zarr_view::{CopyElement, CopyPlan, View, common_shape, zeroed};

/// How long one measurement of some calls takes, and how many there are.
const LONG: Duration = Duration::from_millis(20);
const ROUNDS: usize = 15;

/// Prints the best time of a call in nanoseconds, and GB/s if it moves bytes; only of names that
/// contain the argument, if there is one.
fn time<T>(name: &str, bytes: usize, mut call: impl FnMut() -> T) {
    let wanted = std::env::args().skip(1).find(|argument| !argument.starts_with("--"));
    if wanted.is_some_and(|wanted| !name.contains(&wanted)) {
        return;
    }
    let mut calls = 1_u32;
    let mut best = f64::INFINITY;
    let mut round = 0;
    while round < ROUNDS {
        let start = Instant::now();
        (0..calls).for_each(|_| drop(black_box(call())));
        let took = start.elapsed();
        if took < LONG && calls < 1 << 30 {
            calls *= 2;
            continue;
        }
        best = best.min(took.as_secs_f64() * 1e9 / f64::from(calls));
        round += 1;
    }
    match bytes {
        0 => println!("{name:<44} {best:>14.1} ns"),
        _ => println!("{name:<44} {best:>14.1} ns {:>8.2} GB/s", bytes as f64 / best),
    }
}

fn copies() {
    let cases: &[(&str, &[usize], &[usize])] = &[
        ("256x256", &[256, 256], &[1, 0]),
        ("4096x4096", &[4096, 4096], &[1, 0]),
        ("4093x4099", &[4093, 4099], &[1, 0]),
        ("64x128x128x16-3021", &[64, 128, 128, 16], &[3, 0, 2, 1]),
        ("64x128x128x16-0312", &[64, 128, 128, 16], &[0, 3, 1, 2]),
    ];
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
            let name = format!("transpose/{name}/u{}", size * 8);
            time(&format!("{name}/view"), bytes, || {
                plan.run(black_box(&src), black_box(&mut dst), &[]).unwrap();
            });
            time(&format!("{name}/memcpy"), bytes, || {
                black_box(&mut dst).copy_from_slice(black_box(&src));
            });
        }
    }
}

fn algebra() {
    let plain = View::contiguous(&[8, 6, 4, 10]).unwrap().permute(&[1, 0, 2, 3]).unwrap();
    let masked = View::contiguous(&[8, 6, 4, 10]).unwrap();
    let masked = masked.pad(&[(2, 2), (0, 0), (0, 0), (0, 0)]).unwrap();
    let whole = View::contiguous(&[48, 40]).unwrap();
    time("algebra/reshape", 0, || black_box(&plain).reshape(&[6, 2, 4, 40]));
    time("algebra/reshape/masked", 0, || black_box(&masked).reshape(&[3, 4, 24, 10]));
    time("algebra/common_shape", 0, || common_shape(black_box(&plain), black_box(&whole)));
    let to = View::contiguous(&[6, 8, 4, 10]).unwrap();
    let element = CopyElement::try_from(4).unwrap();
    time("algebra/plan", 0, || CopyPlan::new(black_box(&plain), black_box(&to), element));
}

fn main() {
    copies();
    algebra();
}
