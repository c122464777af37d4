//! Other crates, each where it can do the case.

use ndarray::{ArrayView, ArrayViewMut, Axis, IxDyn, Slice};
use strided_view::{StridedView, StridedViewMut};
use zarr_view::View;

use crate::Copy;
use crate::cases::Case;

/// The bytes as elements. The buffers are aligned to a page.
fn cast<T>(bytes: &[u8]) -> &[T] {
    assert_eq!(bytes.as_ptr().align_offset(align_of::<T>()), 0);
    // SAFETY: aligned, and every bit pattern is a value of the unsigned types used here.
    unsafe { std::slice::from_raw_parts(bytes.as_ptr().cast(), bytes.len() / size_of::<T>()) }
}

fn cast_mut<T>(bytes: &mut [u8]) -> &mut [T] {
    assert_eq!(bytes.as_ptr().align_offset(align_of::<T>()), 0);
    // SAFETY: as above.
    unsafe {
        std::slice::from_raw_parts_mut(bytes.as_mut_ptr().cast(), bytes.len() / size_of::<T>())
    }
}

pub fn rivals(case: &Case) -> Vec<(&'static str, Copy<'_>)> {
    match case.size {
        1 => typed::<u8>(case),
        2 => typed::<u16>(case),
        4 => with_hptt(typed::<u32>(case), case),
        8 => with_hptt(typed::<u64>(case), case),
        _ => typed::<u128>(case),
    }
}

#[cfg(not(feature = "hptt"))]
fn with_hptt<'a>(all: Vec<(&'static str, Copy<'a>)>, _: &Case) -> Vec<(&'static str, Copy<'a>)> {
    all
}

#[cfg(feature = "hptt")]
fn with_hptt<'a>(
    mut all: Vec<(&'static str, Copy<'a>)>,
    case: &'a Case,
) -> Vec<(&'static str, Copy<'a>)> {
    if !plain(case) {
        return all;
    }
    all.push(("hptt", if case.size == 4 { hptt32(case) } else { hptt64(case) }));
    all
}

/// Whether the case is a transpose of a whole array.
fn plain(case: &Case) -> bool {
    case.margin == 0 && case.parts.iter().all(|part| part.step == 1)
}

fn typed<T: std::marker::Copy + Send + Sync + 'static>(
    case: &Case,
) -> Vec<(&'static str, Copy<'_>)> {
    let mut all: Vec<(&'static str, Copy)> = Vec::new();
    let (from, to) = (case.from(), case.to());
    let (shape, outer) = (from.shape().to_vec(), case.outer());
    all.push((
        "ndarray",
        Box::new(move |src, dst| {
            let stored = case.shape.iter().product();
            let src = ArrayView::from_shape(IxDyn(&case.shape), &cast::<T>(src)[..stored]).unwrap();
            let mut src = src.permuted_axes(IxDyn(&case.order));
            for (axis, part) in case.parts.iter().enumerate() {
                if part.step != 1 && part.step != 0 {
                    src.slice_axis_inplace(Axis(axis), Slice::new(0, None, part.step));
                }
            }
            let src = src.broadcast(IxDyn(&shape)).unwrap();
            let mut dst = ArrayViewMut::from_shape(IxDyn(&outer), cast_mut::<T>(dst)).unwrap();
            for axis in 0..outer.len() {
                let range = case.margin..case.margin + case.parts[axis].count;
                dst.slice_axis_inplace(Axis(axis), Slice::from(range));
            }
            dst.assign(&src);
        }),
    ));
    if let ([rows, columns], [1, 0], true) = (&case.shape[..], &case.order[..], plain(case)) {
        all.push((
            "transpose",
            Box::new(|src, dst| {
                transpose::transpose(cast::<T>(src), cast_mut::<T>(dst), *columns, *rows)
            }),
        ));
    }
    all.push((
        "strided-perm",
        Box::new(move |src, dst| {
            let first = |view: &View| view.position(&vec![0; view.rank()]).unwrap() as isize;
            let (shape, at) = (from.shape(), first(&from));
            let src: StridedView<T> =
                StridedView::new(cast::<T>(src), shape, from.strides(), at).unwrap();
            let at = first(&to);
            let mut dst = StridedViewMut::new(cast_mut::<T>(dst), shape, to.strides(), at).unwrap();
            strided_perm::copy_into(&mut dst, &src, threadteam::Exec::serial()).unwrap();
        }),
    ));
    all
}

#[cfg(feature = "hptt")]
fn hptt32(case: &Case) -> Copy<'_> {
    Box::new(|src, dst| {
        hptt::transpose_f32(
            &case.order,
            1.0,
            cast(src),
            &case.shape,
            0.0,
            cast_mut(dst),
            1,
            hptt::MemoryOrder::RowMajor,
        )
        .unwrap();
    })
}

#[cfg(feature = "hptt")]
fn hptt64(case: &Case) -> Copy<'_> {
    Box::new(|src, dst| {
        hptt::transpose_f64(
            &case.order,
            1.0,
            cast(src),
            &case.shape,
            0.0,
            cast_mut(dst),
            1,
            hptt::MemoryOrder::RowMajor,
        )
        .unwrap();
    })
}
