//! Tests every kernel between two protected pages: an access before the first or behind the last
//! element of a view faults.

#![expect(unsafe_code, reason = "makes pages inaccessible")]

use std::ptr;

use super::{CopyElement, CopyPlan};
use crate::{InstructionSet, View};

const PAGE: usize = 4096;

/// Memory between two pages that can be neither read nor written.
struct Guarded {
    start: *mut u8,
    room: usize,
}

impl Guarded {
    fn new(bytes: usize) -> Self {
        let room = bytes.next_multiple_of(PAGE);
        // SAFETY: a new mapping at an address that the system chooses; the other calls make its
        // first and its last page inaccessible.
        unsafe {
            let (flags, all) = (libc::MAP_PRIVATE | libc::MAP_ANONYMOUS, room + 2 * PAGE);
            let access = libc::PROT_READ | libc::PROT_WRITE;
            let start = libc::mmap(ptr::null_mut(), all, access, flags, -1, 0);
            assert_ne!(start, libc::MAP_FAILED);
            let start = start.cast::<u8>();
            for page in [start, start.add(PAGE + room)] {
                assert_eq!(libc::mprotect(page.cast(), PAGE, libc::PROT_NONE), 0);
            }
            Self { start, room }
        }
    }

    /// The first or the last `len` bytes.
    fn slice(&mut self, len: usize, is_last: bool) -> &mut [u8] {
        assert!(len <= self.room);
        let at = PAGE + if is_last { self.room - len } else { 0 };
        // SAFETY: within the accessible pages, which were zeroed when mapped and are borrowed
        // exclusively.
        unsafe { core::slice::from_raw_parts_mut(self.start.add(at), len) }
    }
}

impl Drop for Guarded {
    fn drop(&mut self) {
        // SAFETY: the whole mapping, which nothing borrows any longer.
        unsafe { libc::munmap(self.start.cast(), self.room + 2 * PAGE) };
    }
}

/// Numbers that are the same everywhere.
struct Random(u64);

impl Random {
    fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % bound as u64) as usize
    }
}

/// A view of this shape with its dimensions in another order, some of them reversed, stepped or,
/// in a source, repeated. It has no position before its first element or behind its last one.
fn view(shape: &[usize], random: &mut Random, may_repeat: bool) -> View {
    let rank = shape.len();
    let mut order: Vec<usize> = (0..rank).collect();
    (1..rank).for_each(|at| order.swap(at, random.below(at + 1)));
    let kinds: Vec<usize> = (0..rank).map(|_| random.below(6)).collect();
    let is_repeated = |axis: usize| may_repeat && kinds[axis] == 0;
    let step = |axis: usize| if kinds[axis] == 1 { 2 } else { 1 };
    let (mut strides, mut offset, mut next) = (vec![0_isize; rank], 0, 1_isize);
    for &axis in &order {
        if is_repeated(axis) {
            continue;
        }
        let stride = next * step(axis);
        strides[axis] = stride;
        next = stride * shape[axis] as isize;
        if kinds[axis] == 2 {
            offset += stride * (shape[axis] as isize - 1);
            strides[axis] = -stride;
        }
    }
    View::new(shape, &strides, offset).expect("a view of less than memory")
}

/// Where the elements of a view lie, in C order.
fn positions(view: &View) -> Vec<usize> {
    let shape = view.shape();
    (0..view.len())
        .map(|mut rest| {
            let mut index = vec![0; shape.len()];
            for (axis, size) in shape.iter().enumerate().rev() {
                (index[axis], rest) = (rest % size, rest / size);
            }
            view.position(&index).expect("no view is masked")
        })
        .collect()
}

fn check(shape: &[usize], element: CopyElement, random: &mut Random) {
    let (from, to) = (view(shape, random, true), view(shape, random, false));
    let (size, unit) = (element.size(), element.unit());
    let (from_len, to_len) = (from.span().end * size, to.span().end * size);
    let (mut src, mut dst) = (Guarded::new(from_len), Guarded::new(to_len));
    let bytes: Vec<u8> = (0..from_len).map(|at| (at * 151 + at / 7 * 13 + 5) as u8).collect();
    let mut expected = vec![0xa5; to_len];
    for (from, to) in positions(&from).into_iter().zip(positions(&to)) {
        let (read, written) = (&bytes[from * size..][..size], &mut expected[to * size..][..size]);
        written.copy_from_slice(read);
        written.chunks_mut(unit).for_each(<[u8]>::reverse);
    }
    let plan = CopyPlan::new(&from, &to, element).expect("the shapes are the same");
    for set in InstructionSet::available() {
        let plan = plan.clone().with_instruction_set(set).expect("it is available");
        for is_last in [false, true] {
            let (src, dst) = (src.slice(from_len, is_last), dst.slice(to_len, is_last));
            src.copy_from_slice(&bytes);
            dst.fill(0xa5);
            plan.run(src, dst, &[]).expect("the buffers hold the views");
            assert!(*dst == *expected, "{from:?} to {to:?} of {element:?} by {set:?}");
        }
    }
}

fn elements() -> impl Iterator<Item = CopyElement> {
    let units = [1, 2, 3, 4, 8, 12, 16, 24, 64].map(|size| (size, 1));
    let swapped = [(2, 2), (4, 4), (8, 8), (16, 8), (12, 4)];
    units.into_iter().chain(swapped).map(|(size, unit)| {
        CopyElement::swapped_in_units(size, unit).expect("the unit divides the size")
    })
}

#[test]
fn copies_touch_nothing_beyond_the_first_and_the_last_element() {
    let mut random = Random(9);
    for element in elements() {
        for _ in 0..120 {
            let rank = 1 + random.below(3);
            let sizes = [1, 2, 3, 4, 5, 7, 8, 15, 16, 17, 31, 33, 64, 70];
            let shape: Vec<usize> = (0..rank).map(|_| sizes[random.below(sizes.len())]).collect();
            if shape.iter().product::<usize>() <= 20_000 {
                check(&shape, element, &mut random);
            }
        }
    }
}

/// Copies that exceed the cache, in blocks and with streaming stores.
#[test]
fn large_copies_touch_nothing_beyond_the_first_and_the_last_element() {
    let mut random = Random(11);
    for (shape, size) in [([1031, 1100], 4), ([2100, 2003], 1), ([4, 300_001], 4), ([513, 600], 16)]
    {
        for _ in 0..3 {
            check(&shape, CopyElement::try_from(size).unwrap(), &mut random);
        }
    }
}
