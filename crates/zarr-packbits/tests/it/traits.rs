//! What all types can do, whatever they hold: decided when this compiles.

use std::fmt::Debug;

use zarr_packbits::*;

fn all<T: Send + Sync + Debug + Clone>() {}
fn compared<T: Eq + std::hash::Hash>() {}

#[test]
fn types_can_be_sent_shown_cloned_and_compared() {
    all::<(Packing, PackingBuilder, PackedRange, PaddingEncoding, BitOrder, Kernel, Tiles, Error)>(
    );
    compared::<(Packing, PackingBuilder, PackedRange, PaddingEncoding, BitOrder, Kernel)>();
    let _: &dyn std::error::Error = &Error::ComponentBits { found: 0 };
}
