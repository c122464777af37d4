//! Chunks and an array that is larger than the caches: `view-bench chunks [FILTER]`.
//!
//! Reading an array copies each decoded chunk into its place in the result, and writing one copies
//! it out of the caller's. The chunk is in the cache; its rows in the array are far apart, in lines
//! that are in none. Other rows of this program reuse both sides, and show nothing of that.

use std::hint::black_box;
use std::time::Instant;

use ndarray::{ArrayView2, ArrayViewMut2, ShapeBuilder};
use zarr_view::{CopyElement, CopyPlan, InstructionSet, View};

use crate::{aligned, buffer};

/// Bytes of the array, and of one of its rows, about.
const ARRAY: usize = 40 << 20;
const ROW: usize = 6400;

/// Times that each chunk of the array is copied.
const ROUNDS: usize = 9;

#[derive(Clone, Copy, PartialEq, Eq)]
enum Order {
    Rows,
    Transposed,
    Reversed,
}

struct Case {
    order: Order,
    rows: usize,
    columns: usize,
    /// Bytes per element.
    size: usize,
}

impl Case {
    fn all() -> Vec<Self> {
        let rows = [8, 16, 24, 32, 48, 64, 96, 128, 256, 512, 1000, 2000];
        let mut all: Vec<_> = rows
            .into_iter()
            .map(|columns| Self { order: Order::Rows, rows: 64, columns, size: 1 })
            .collect();
        for order in [Order::Transposed, Order::Reversed] {
            for size in [1, 2, 4, 8, 16] {
                all.extend([8, 16, 30, 64, 256].map(|n| Self { order, rows: n, columns: n, size }));
            }
        }
        all
    }

    fn name(&self) -> String {
        let order = match self.order {
            Order::Rows => "rows",
            Order::Transposed => "transposed",
            Order::Reversed => "last axis reversed",
        };
        format!("{} x {}, {order}", self.rows, self.columns)
    }

    /// The chunk's elements, in the order of the array's axes.
    fn chunk(&self) -> View {
        let view = View::contiguous(&[self.rows, self.columns]).unwrap();
        match self.order {
            Order::Rows => view,
            Order::Transposed => {
                View::contiguous(&[self.columns, self.rows]).unwrap().permute(&[1, 0]).unwrap()
            }
            Order::Reversed => view.flip(1).unwrap(),
        }
    }

    /// Bytes of one row of a chunk, and of the array, which holds whole chunks.
    fn pitches(&self) -> (usize, usize) {
        let row = self.columns * self.size;
        (row, ROW.max(3 * row) / row * row)
    }
}

/// Copies one chunk: the chunk, and the array from its first byte there on.
type Copy<'a> = Box<dyn FnMut(&mut [u8], &mut [u8]) + 'a>;

pub fn run(filter: &str, instructions: InstructionSet) {
    println!(
        "| chunk | bytes | into the array: zarr-view | loop | ndarray | out of it: zarr-view | loop | ndarray |"
    );
    println!("| --- | --- | --- | --- | --- | --- | --- | --- |");
    let mut array = buffer(ARRAY + 64);
    let array = aligned(&mut array, ARRAY + 64);
    for case in Case::all() {
        if !case.name().contains(filter) {
            continue;
        }
        let mut times = [true, false].map(|into| {
            let mut copies = match case.size {
                1 => copies::<u8>(&case, into, instructions),
                2 => copies::<u16>(&case, into, instructions),
                4 => copies::<u32>(&case, into, instructions),
                8 => copies::<u64>(&case, into, instructions),
                _ => copies::<u128>(&case, into, instructions),
            };
            compare(&case, into, &mut copies, array);
            copies.iter_mut().map(|copy| time(&case, copy, array)).collect::<Vec<_>>()
        });
        let cells: Vec<_> = times.iter_mut().flatten().map(|time| format!("{time:.1}")).collect();
        println!("| {} | {} | {} |", case.name(), case.size, cells.join(" | "));
    }
}

/// The nanoseconds that a row of a chunk takes: those of the fastest twentieth of the array's bands
/// of chunks, as others use the machine.
fn time(case: &Case, copy: &mut Copy<'_>, array: &mut [u8]) -> f64 {
    let (row, pitch) = case.pitches();
    let mut chunk = vec![3_u128; (case.rows * row).div_ceil(16)];
    let chunk = &mut bytes(&mut chunk)[..case.rows * row];
    let mut times = Vec::new();
    for _ in 0..ROUNDS {
        // An array's buffer need not start at a line.
        for band in array[16..].chunks_exact_mut(pitch * case.rows) {
            let start = Instant::now();
            for at in (0..pitch).step_by(row) {
                copy(black_box(chunk), black_box(&mut band[at..]));
            }
            times.push(start.elapsed().as_secs_f64());
        }
    }
    times.sort_by(f64::total_cmp);
    times[times.len() / 20] / (pitch / row * case.rows) as f64 * 1e9
}

fn bytes(elements: &mut [u128]) -> &mut [u8] {
    let len = size_of_val(elements);
    // SAFETY: the bytes of the elements, of which every pattern is a value.
    unsafe { std::slice::from_raw_parts_mut(elements.as_mut_ptr().cast(), len) }
}

/// Ours, a plain loop, and ndarray, in this order.
fn copies<T: std::marker::Copy + 'static>(
    case: &Case,
    into: bool,
    instructions: InstructionSet,
) -> Vec<Copy<'static>> {
    let (rows, columns, pitch) = (case.rows, case.columns, case.pitches().1);
    let chunk = case.chunk();
    let first = chunk.position(&[0, 0]).unwrap() as isize;
    let [down, right] = [0, 1].map(|axis| chunk.strides()[axis]);
    let width = (pitch / size_of::<T>()) as isize;
    let place = View::new(&[rows, columns], &[width, 1], 0).unwrap();
    let element = CopyElement::try_from(size_of::<T>()).unwrap();
    let (src, dst) = if into { (&chunk, &place) } else { (&place, &chunk) };
    let plan = CopyPlan::new(src, dst, element).unwrap();
    let plan = plan.with_instruction_set(instructions).unwrap();
    let whole_rows = case.order == Order::Rows;
    let reversed = case.order == Order::Reversed;
    let transposed = case.order == Order::Transposed;
    let row = case.pitches().0;
    vec![
        Box::new(move |chunk, array| {
            let (src, dst) = if into { (chunk, array) } else { (array, chunk) };
            plan.run(src, dst, &[]).unwrap();
        }),
        Box::new(move |chunk, array| {
            for r in 0..rows {
                if whole_rows {
                    let (a, b) = (&mut chunk[r * row..][..row], &mut array[r * pitch..][..row]);
                    if into {
                        b.copy_from_slice(a)
                    } else {
                        a.copy_from_slice(b)
                    }
                    continue;
                }
                for c in 0..columns {
                    // SAFETY: element [r, c] of the chunk's view and of its place in the array,
                    // both of which the slices hold, aligned for `T`.
                    unsafe {
                        let at = first + r as isize * down + c as isize * right;
                        let a = chunk.as_mut_ptr().cast::<T>().offset(at);
                        let b = array.as_mut_ptr().add(r * pitch).cast::<T>().add(c);
                        if into { b.write(a.read()) } else { a.write(b.read()) }
                    }
                }
            }
        }),
        Box::new(move |chunk, array| {
            let shape = if transposed { (columns, rows) } else { (rows, columns) };
            // SAFETY: the chunk holds all elements of its shape, and the array those of its place,
            // both aligned for `T`.
            let (mut chunk, mut array) = unsafe {
                (
                    ArrayViewMut2::from_shape_ptr(shape, chunk.as_mut_ptr().cast::<T>()),
                    ArrayViewMut2::from_shape_ptr(
                        (rows, columns).strides((width as usize, 1)),
                        array.as_mut_ptr().cast::<T>(),
                    ),
                )
            };
            if transposed {
                chunk.swap_axes(0, 1);
            }
            if reversed {
                chunk.invert_axis(ndarray::Axis(1));
            }
            let view: ArrayView2<'_, T>;
            if into {
                view = chunk.view();
                array.assign(&view);
            } else {
                view = array.view();
                chunk.assign(&view);
            }
        }),
    ]
}

/// Panics if not all write the same bytes.
fn compare(case: &Case, into: bool, copies: &mut [Copy<'_>], array: &mut [u8]) {
    let (row, pitch) = case.pitches();
    let mut results = copies.iter_mut().map(|copy| {
        let mut chunk: Vec<u128> = vec![0; (case.rows * row).div_ceil(16)];
        let chunk = &mut bytes(&mut chunk)[..case.rows * row];
        let place = &mut array[16..][..pitch * case.rows];
        for (i, byte) in chunk.iter_mut().enumerate() {
            *byte = (i * 31 + i / 251) as u8;
        }
        for (i, byte) in place.iter_mut().enumerate() {
            *byte = (i * 17 + i / 253) as u8;
        }
        copy(chunk, place);
        if into { place.to_vec() } else { chunk.to_vec() }
    });
    let ours = results.next();
    assert!(results.all(|theirs| Some(&theirs) == ours.as_ref()), "{}", case.name());
}
