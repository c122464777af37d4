//! Views, plans and small copies in a loop, to count their instructions:
//!
//! ```text
//! cargo build --release --example instructions
//! valgrind --tool=callgrind --callgrind-out-file=/dev/null target/release/examples/instructions reshape 1000
//! ```
//!
//! The difference between 2000 and 1000 rounds, divided by 1000, is one operation.

#![expect(clippy::unwrap_used, reason = "an example with known views")]

use std::hint::black_box;

use zarr_view::{CopyElement, CopyPlan, View};

fn main() {
    let mut args = std::env::args().skip(1);
    let name = args.next().unwrap_or_default();
    let rounds: usize = args.next().and_then(|n| n.parse().ok()).unwrap_or(1000);
    let view = View::contiguous(&[8, 6, 4, 10]).unwrap();
    let permuted = view.permute(&[1, 0, 2, 3]).unwrap();
    let masked = view.pad(&[(2, 2), (0, 0), (0, 0), (0, 0)]).unwrap();
    let outer = View::contiguous(&[6, 8, 40]).unwrap().flip(2).unwrap();
    let upper = View::contiguous(&[6, 8, 4, 10]).unwrap().permute(&[3, 1, 0, 2]).unwrap();
    let to = View::contiguous(&[10, 8, 6, 4]).unwrap();
    let square = View::contiguous(&[4, 4]).unwrap();
    let turned = square.permute(&[1, 0]).unwrap();
    let element = CopyElement::try_from(4).unwrap();
    let plan = CopyPlan::new(&turned, &square, element).unwrap();
    let (src, mut dst) = ([1; 64], [0; 64]);
    for _ in 0..rounds {
        match name.as_str() {
            "reshape" => {
                black_box(&black_box(&permuted).reshape(black_box(&[6, 2, 4, 40])));
            }
            "masked" => {
                black_box(&black_box(&masked).reshape(black_box(&[3, 4, 24, 10])));
            }
            "none" => {
                black_box(&black_box(&permuted).reshape(black_box(&[48, 2, 2, 10])));
            }
            "compose" => {
                black_box(&black_box(&outer).compose_over(black_box(&permuted)));
            }
            "permuted" => {
                black_box(&black_box(&upper).compose_over(black_box(&permuted)));
            }
            "plan" => {
                black_box(&CopyPlan::new(black_box(&turned), &square, element));
            }
            "plan4" => {
                black_box(&CopyPlan::new(black_box(&upper), &to, element));
            }
            "run" => black_box(&plan).run(black_box(&src), black_box(&mut dst), &[]).unwrap(),
            other => {
                eprintln!(
                    "unknown operation {other:?}: reshape, masked, none, compose, permuted, plan, \
                     plan4, run"
                );
                return;
            }
        }
    }
}
