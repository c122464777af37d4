//! Operations that are recorded, and then moved by as few copies as they need.
//!
//! `cargo run -p zarr-view --example recorded`

use zarr_view::{CopyElement, View, ViewStack, copy};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let pixels: Vec<u8> = (0..24).collect();

    // A picture of 4 rows and 6 columns, read column by column as one line. No strides do that, so
    // the stack holds two views: a plain `View` would have to be copied here.
    let turned = View::contiguous(&[4, 6])?.permute(&[1, 0])?;
    let mut recorded = ViewStack::new(turned.clone());
    recorded.reshape(&[24])?;
    assert_eq!(recorded.views().len(), 2);

    // Of this line, the second and the third column, as rows: one view again, and one copy.
    recorded.apply(|line| line.slice(0, 4, 1, 8))?;
    recorded.reshape(&[2, 4])?;
    let view = recorded.as_view().ok_or("more than one view")?;
    let mut columns = [0; 8];
    let to = View::contiguous(view.shape())?;
    copy(view, &pixels, &to, &mut columns, CopyElement::try_from(1)?, &[])?;
    assert_eq!(columns, [1, 7, 13, 19, 2, 8, 14, 20]);

    // Places that somebody chose in pictures of 4 columns, such as a diagonal, applied to one that
    // is a view itself.
    let diagonal = View::new(&[4], &[5], 0)?;
    let view = diagonal.compose_over(&turned)?.ok_or("no single view")?;
    assert_eq!(view, View::new(&[4], &[7], 0)?);
    println!("columns {columns:?}, diagonal from {view:?}");
    Ok(())
}
