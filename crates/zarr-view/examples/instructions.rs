//! Reshapes and compositions in a loop, to count their instructions:
//!
//! ```text
//! cargo build --release --example instructions
//! valgrind --tool=callgrind --callgrind-out-file=/dev/null target/release/examples/instructions plain 1000
//! ```
//!
//! The difference between 2000 and 1000 rounds, divided by 1000, is one operation.

#![expect(clippy::unwrap_used, reason = "an example with known views")]

use std::hint::black_box;

use zarr_view::View;

fn main() {
    let mut args = std::env::args().skip(1);
    let name = args.next().unwrap_or_default();
    let rounds: usize = args.next().and_then(|n| n.parse().ok()).unwrap_or(1000);
    let view = View::contiguous(&[8, 6, 4, 10]).unwrap();
    let permuted = view.permute(&[1, 0, 2, 3]).unwrap();
    let masked = view.pad(&[(2, 2), (0, 0), (0, 0), (0, 0)]).unwrap();
    let outer = View::contiguous(&[6, 8, 40]).unwrap().flip(2).unwrap();
    for _ in 0..rounds {
        let result = match name.as_str() {
            "plain" => black_box(&permuted).reshape(black_box(&[6, 2, 4, 40])),
            "masked" => black_box(&masked).reshape(black_box(&[3, 4, 24, 10])),
            "none" => black_box(&permuted).reshape(black_box(&[48, 2, 2, 10])),
            "compose" => black_box(&outer).compose_over(black_box(&permuted)),
            other => {
                eprintln!("unknown operation {other:?}: plain, masked, none, compose");
                return;
            }
        };
        black_box(result.unwrap());
    }
}
