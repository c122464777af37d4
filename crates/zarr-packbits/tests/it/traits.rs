//! The traits that all types implement, whatever they hold: checked at compile time.

use std::fmt::Debug;
use std::hash::{BuildHasher, BuildHasherDefault, DefaultHasher};

use zarr_packbits::*;

fn all<T: Send + Sync + Debug + Clone>() {}
fn compared<T: Eq + std::hash::Hash>() {}

#[test]
fn types_can_be_sent_shown_cloned_and_compared() {
    all::<(
        Packing,
        PackingBuilder,
        PackedRange,
        PaddingEncoding,
        BitOrder,
        ByteOrder,
        Kernel,
        Error,
    )>();
    compared::<(Packing, PackingBuilder, PackedRange, PaddingEncoding, BitOrder, ByteOrder, Kernel)>(
    );
    let _: &dyn std::error::Error = &Error::ComponentBits { found: 0 };
}

/// The kernel decides how bits are moved, not where they go.
#[test]
fn packings_on_different_kernels_are_equal_and_hash_alike() {
    let hash = |packing: &Packing| BuildHasherDefault::<DefaultHasher>::default().hash_one(packing);
    let packing = Packing::builder(16).last_bit(9).signed(true).build().unwrap();
    for kernel in Kernel::available() {
        let other = packing.with_kernel(kernel).unwrap();
        assert_eq!(other.kernel(), kernel);
        assert_eq!(packing, other);
        assert_eq!(hash(&packing), hash(&other));
    }
    let different = [
        Packing::builder(16).last_bit(10).signed(true),
        Packing::builder(16).last_bit(9),
        Packing::builder(16).last_bit(9).signed(true).components(2),
        Packing::builder(16).first_bit(1).last_bit(9).signed(true),
        Packing::builder(32).last_bit(9).signed(true),
        Packing::builder(16).last_bit(9).signed(true).bit_order(BitOrder::MsbFirst),
        Packing::builder(16).last_bit(9).signed(true).byte_order(ByteOrder::BigEndian),
    ];
    for different in different {
        assert_ne!(packing, different.build().unwrap());
    }
}
