//! Copies between strided views: zarr-view beside memcpy and other programs, in one run.
//!
//! `cargo run --release [-- FILTER]` prints a markdown table. Every row copies the same bytes into a
//! reused buffer on one core; the repetitions of all programs are interleaved, and the figures are
//! medians as ratios to memcpy of as many bytes. Each result is compared with ours byte by byte.
//! numpy joins if `VIEW_BENCH_PYTHON` names an interpreter that has it.

mod numpy;
mod rivals;

use std::time::Instant;

use zarr_view::{CopyPlan, Element, View};

/// A permutation of an array: `shape`, then `order` as in `numpy.transpose`.
pub struct Case {
    pub name: &'static str,
    pub shape: Vec<usize>,
    pub order: Vec<usize>,
    pub size: usize,
}

impl Case {
    pub fn bytes(&self) -> usize {
        self.shape.iter().product::<usize>() * self.size
    }
}

fn cases() -> Vec<Case> {
    let mut cases = Vec::new();
    let rows: &[(&'static str, &[usize], &[usize])] = &[
        ("4096 x 4096", &[4096, 4096], &[1, 0]),
        ("4093 x 4099", &[4093, 4099], &[1, 0]),
        ("[64,128,128,16] to [3,0,2,1]", &[64, 128, 128, 16], &[3, 0, 2, 1]),
        ("[64,128,128,16] to [0,3,1,2]", &[64, 128, 128, 16], &[0, 3, 1, 2]),
        ("[64,128,128,16] to [2,1,0,3]", &[64, 128, 128, 16], &[2, 1, 0, 3]),
        ("[64,128,128,16] to [1,3,0,2]", &[64, 128, 128, 16], &[1, 3, 0, 2]),
        ("[251,259,257] to [2,1,0]", &[251, 259, 257], &[2, 1, 0]),
        ("[251,259,257] to [1,0,2]", &[251, 259, 257], &[1, 0, 2]),
        ("[251,259,257] to [0,2,1]", &[251, 259, 257], &[0, 2, 1]),
        ("256 x 256 in cache", &[256, 256], &[1, 0]),
        ("contiguous", &[1 << 24], &[0]),
    ];
    for &(name, shape, order) in rows {
        for size in [1, 2, 4, 8] {
            cases.push(Case { name, shape: shape.into(), order: order.into(), size });
        }
    }
    cases
}

/// One program's way to copy a case once; the seconds come from outside.
pub type Copy<'a> = Box<dyn FnMut(&[u8], &mut [u8]) + 'a>;

/// An aligned buffer in huge pages, as large allocations of numpy are.
fn buffer(len: usize) -> Vec<u8> {
    let mut bytes = zarr_view::zeroed(len.next_multiple_of(64) + (4 << 20)).expect("memory");
    bytes.iter_mut().for_each(|byte| *byte = 1);
    bytes
}

fn aligned(bytes: &mut [u8], len: usize) -> &mut [u8] {
    let skip = bytes.as_ptr().align_offset(4096);
    &mut bytes[skip..skip + len]
}

fn median(times: &mut [f64]) -> f64 {
    times.sort_by(f64::total_cmp);
    times[times.len() / 2]
}

fn main() {
    let filter = std::env::args().nth(1).unwrap_or_default();
    let only_ours = std::env::var("VIEW_BENCH_OURS").is_ok();
    let mut numpy = if only_ours { None } else { numpy::Numpy::start() };
    println!(
        "| copy | bytes | memcpy GB/s | zarr-view | numpy | ndarray | transpose | strided-perm | hptt |"
    );
    println!("| --- | --- | --- | --- | --- | --- | --- | --- | --- |");
    for case in cases() {
        if !format!("{} u{}", case.name, case.size * 8).contains(&filter) {
            continue;
        }
        let len = case.bytes();
        let (mut src, mut dst, mut check) = (buffer(len), buffer(len), vec![0; len]);
        let (src, dst) = (aligned(&mut src, len), aligned(&mut dst, len));
        let mut state = 1_u64;
        for byte in src.iter_mut() {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            // Normal numbers, read as floats: hptt multiplies.
            *byte = (state >> 56) as u8 & 0x3f | 0x10;
        }
        let mut copies: Vec<(&str, Copy)> =
            vec![("memcpy", Box::new(|src, dst| dst.copy_from_slice(src)))];
        let from = View::contiguous(&case.shape).unwrap().permute(&case.order).unwrap();
        let to = View::contiguous(from.shape()).unwrap();
        let plan = CopyPlan::new(&from, &to, Element::try_from(case.size).unwrap()).unwrap();
        copies.push(("zarr-view", Box::new(move |src, dst| plan.run(src, dst, &[]).unwrap())));
        if !only_ours {
            copies.extend(rivals::rivals(&case));
        }
        // Inner repetitions make a sample of some hundred microseconds.
        let inner = (1_usize << 20).div_ceil(len);
        let rounds = if len > 1 << 20 { 15 } else { 101 };
        let mut times = vec![Vec::new(); copies.len()];
        let mut wrong = vec![false; copies.len()];
        let mut numpy_times = Vec::new();
        for round in 0..rounds {
            for (at, (_, copy)) in copies.iter_mut().enumerate() {
                // Untimed, so that each program finds what it left itself, not what others did.
                copy(std::hint::black_box(src), std::hint::black_box(dst));
                let start = Instant::now();
                for _ in 0..inner {
                    copy(std::hint::black_box(src), std::hint::black_box(dst));
                }
                times[at].push(start.elapsed().as_secs_f64() / inner as f64);
                if round == 0 && at == 1 {
                    check.copy_from_slice(dst);
                } else if round == 0 && at > 1 {
                    wrong[at] = dst != check;
                }
            }
            if let Some(numpy) = &mut numpy {
                numpy_times.push(numpy.time(&case, inner));
            }
        }
        let medians: Vec<f64> = times.iter_mut().map(|times| median(times)).collect();
        let ratio = |name: &str| {
            let Some(at) = copies.iter().position(|(other, _)| *other == name) else {
                return String::new();
            };
            format!("{:.2}{}", medians[0] / medians[at], if wrong[at] { " (wrong)" } else { "" })
        };
        let numpy_median = (!numpy_times.is_empty()).then(|| median(&mut numpy_times));
        let numpy_ratio =
            numpy_median.map_or(String::new(), |numpy| format!("{:.2}", medians[0] / numpy));
        if std::env::var_os("BENCH_RECORDS").is_some() {
            let timed = copies.iter().map(|(name, _)| *name).zip(medians.iter().copied());
            for (who, seconds) in timed.chain(numpy_median.map(|seconds| ("numpy", seconds))) {
                let role = match who {
                    "memcpy" => "floor",
                    "zarr-view" => "ours",
                    _ => "peer",
                };
                let row = format!("{}, {} bytes", case.name, case.size);
                println!("record\tcopies through views\t{row}\t{role}\t{who}\t{}", seconds * 1e9);
            }
        }
        println!(
            "| {} | {} | {:.1} | {} | {} | {} | {} | {} | {} |",
            case.name,
            case.size,
            len as f64 / medians[0] / 1e9,
            ratio("zarr-view"),
            numpy_ratio,
            ratio("ndarray"),
            ratio("transpose"),
            ratio("strided-perm"),
            ratio("hptt"),
        );
    }
}
