//! Copies between strided views: zarr-view beside memcpy and other programs, in one run.
//!
//! `cargo run --release [-- FILTER]` prints a markdown table of the rows whose name contains the
//! filter. Every row copies the same bytes into a reused buffer on one core; the repetitions of all
//! programs are interleaved, and the figures are the fastest of each as ratios to memcpy of as many
//! bytes as are written. Each result is compared with ours byte by byte. numpy joins if
//! `VIEW_BENCH_PYTHON` names an interpreter that has it. `VIEW_BENCH_SHORT` takes a third of the
//! rounds, `VIEW_BENCH_LOST` prints only rows in which another program takes less than .95 of our
//! time, `VIEW_BENCH_SET` names the instruction set that we use (such as `Avx2`).
//!
//! `cargo run --release -- chunks [FILTER]` measures chunks in an array larger than the caches.

mod cases;
mod chunks;
mod numpy;
mod rivals;

use std::time::Instant;

use zarr_view::{CopyElement, CopyPlan, InstructionSet};

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

fn fastest(times: &[f64]) -> f64 {
    times.iter().copied().fold(f64::INFINITY, f64::min)
}

fn main() {
    let mut args = std::env::args().skip(1);
    let filter = args.next().unwrap_or_default();
    let set = |name: &str| std::env::var_os(name).is_some();
    let instructions = std::env::var("VIEW_BENCH_SET").map_or(InstructionSet::best(), |name| {
        let mut available = InstructionSet::available();
        available.find(|set| format!("{set:?}") == name).expect("an available instruction set")
    });
    if filter == "chunks" {
        return chunks::run(&args.next().unwrap_or_default(), instructions);
    }
    let only_ours = std::env::var("VIEW_BENCH_OURS").is_ok();
    let mut numpy = if only_ours { None } else { numpy::Numpy::start() };
    println!(
        "| copy | bytes | memcpy GB/s | zarr-view | numpy | ndarray | transpose | strided-perm | hptt |"
    );
    println!("| --- | --- | --- | --- | --- | --- | --- | --- | --- |");
    for case in cases::all() {
        if !format!("{} u{}", case.name, case.size * 8).contains(&filter) {
            continue;
        }
        let (stored, len) = (case.stored(), case.bytes());
        let outer = case.outer().iter().product::<usize>() * case.size;
        let (mut src, mut dst) = (buffer(stored.max(len)), buffer(outer));
        let (src, dst) = (aligned(&mut src, stored.max(len)), aligned(&mut dst, outer));
        let mut check = vec![0; outer];
        let mut state = 1_u64;
        for byte in src.iter_mut() {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            // Normal numbers, read as floats: hptt multiplies.
            *byte = (state >> 56) as u8 & 0x3f | 0x10;
        }
        let mut copies: Vec<(&str, Copy)> =
            vec![("memcpy", Box::new(|src, dst| dst[..len].copy_from_slice(&src[..len])))];
        let element = CopyElement::try_from(case.size).unwrap();
        let plan = CopyPlan::new(&case.from(), &case.to(), element).unwrap();
        let plan = plan.with_instruction_set(instructions).unwrap();
        copies.push(("zarr-view", Box::new(move |src, dst| plan.run(src, dst, &[]).unwrap())));
        if !only_ours {
            copies.extend(rivals::rivals(&case));
        }
        // Inner repetitions make a sample of some hundred microseconds.
        let inner = (1_usize << 20).div_ceil(len);
        let rounds =
            if len > 1 << 20 { 15 } else { 51 } / if set("VIEW_BENCH_SHORT") { 3 } else { 1 };
        let mut times = vec![Vec::new(); copies.len()];
        let mut wrong = vec![false; copies.len()];
        let mut numpy_times = Vec::new();
        for round in 0..rounds {
            for (at, (_, copy)) in copies.iter_mut().enumerate() {
                if round == 0 {
                    dst.fill(0xee);
                }
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
            if let Some(numpy) = &mut numpy
                && case.margin == 0
            {
                numpy_times.push(numpy.time(&case, inner));
            }
        }
        let best: Vec<f64> = times.iter().map(|times| fastest(times)).collect();
        let ratio = |name: &str| {
            let Some(at) = copies.iter().position(|(other, _)| *other == name) else {
                return String::new();
            };
            format!("{:.2}{}", best[0] / best[at], if wrong[at] { " (wrong)" } else { "" })
        };
        let numpy_time = (!numpy_times.is_empty()).then(|| fastest(&numpy_times));
        let numpy_ratio =
            numpy_time.map_or(String::new(), |numpy| format!("{:.2}", best[0] / numpy));
        if std::env::var_os("BENCH_RECORDS").is_some() {
            let timed = copies.iter().map(|(name, _)| *name).zip(best.iter().copied());
            for (who, seconds) in timed.chain(numpy_time.map(|seconds| ("numpy", seconds))) {
                let role = match who {
                    "memcpy" => "floor",
                    "zarr-view" => "ours",
                    _ => "peer",
                };
                let row = format!("{}, {} bytes", case.name, case.size);
                println!("record\t{}\t{row}\t{role}\t{who}\t{}", case.table, seconds * 1e9);
            }
        }
        let rival = best.iter().skip(2).chain(&numpy_time).copied().fold(f64::INFINITY, f64::min);
        if set("VIEW_BENCH_LOST") && rival >= 0.95 * best[1] {
            continue;
        }
        println!(
            "| {} | {} | {:.1} | {} | {} | {} | {} | {} | {} |",
            case.name,
            case.size,
            len as f64 / best[0] / 1e9,
            ratio("zarr-view"),
            numpy_ratio,
            ratio("ndarray"),
            ratio("transpose"),
            ratio("strided-perm"),
            ratio("hptt"),
        );
    }
}
