//! Other crates, each where it can do the case.

use ndarray::{ArrayView, ArrayViewMut, IxDyn};
use strided_view::{StridedView, StridedViewMut};

use crate::{Case, Copy};

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
        _ => with_hptt(typed::<u64>(case), case),
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
    all.push(("hptt", if case.size == 4 { hptt32(case) } else { hptt64(case) }));
    all
}

fn typed<T: std::marker::Copy + Send + Sync + 'static>(
    case: &Case,
) -> Vec<(&'static str, Copy<'_>)> {
    let mut all: Vec<(&'static str, Copy)> = Vec::new();
    let shape: Vec<usize> = case.order.iter().map(|&axis| case.shape[axis]).collect();
    {
        let shape = shape.clone();
        all.push((
            "ndarray",
            Box::new(move |src, dst| {
                let src = ArrayView::from_shape(IxDyn(&case.shape), cast::<T>(src)).unwrap();
                let src = src.permuted_axes(IxDyn(&case.order));
                ArrayViewMut::from_shape(IxDyn(&shape), cast_mut::<T>(dst)).unwrap().assign(&src);
            }),
        ));
    }
    if let ([rows, columns], [1, 0]) = (&case.shape[..], &case.order[..]) {
        all.push((
            "transpose",
            Box::new(|src, dst| {
                transpose::transpose(cast::<T>(src), cast_mut::<T>(dst), *columns, *rows)
            }),
        ));
    }
    let strides = |shape: &[usize]| -> Vec<isize> {
        (0..shape.len()).map(|d| shape[d + 1..].iter().product::<usize>() as isize).collect()
    };
    let stored = strides(&case.shape);
    let from: Vec<isize> = case.order.iter().map(|&axis| stored[axis]).collect();
    let to = strides(&shape);
    all.push((
        "strided-perm",
        Box::new(move |src, dst| {
            let src: StridedView<T> = StridedView::new(cast::<T>(src), &shape, &from, 0).unwrap();
            let mut dst = StridedViewMut::new(cast_mut::<T>(dst), &shape, &to, 0).unwrap();
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
