//! Which kernels there are: those that are missing would be neither chosen nor tested.

use zarr_packbits::{Kernel, Packing};

/// The kernels of this processor, found without the crate.
fn expected() -> Vec<Kernel> {
    let mut kernels = vec![Kernel::Reference, Kernel::Portable];
    #[cfg(target_arch = "x86_64")]
    {
        use std::arch::is_x86_feature_detected as has;
        if has!("ssse3") {
            kernels.push(Kernel::Ssse3);
        }
        if has!("avx2") {
            kernels.push(Kernel::Avx2);
        }
        if has!("avx512f") && has!("avx512bw") && has!("avx512vbmi") {
            kernels.push(Kernel::Avx512);
        }
    }
    if cfg!(all(target_arch = "aarch64", target_endian = "little")) {
        kernels.push(Kernel::Neon);
    }
    if cfg!(all(target_arch = "wasm32", target_feature = "simd128")) {
        kernels.push(Kernel::Simd128);
    }
    kernels
}

#[test]
fn all_kernels_of_the_processor_are_listed_slowest_first() {
    let expected = expected();
    assert!(Kernel::available().eq(expected.iter().copied()), "{expected:?}");
    assert_eq!(Kernel::best(), expected[expected.len() - 1]);
    let packing = Packing::builder(16).last_bit(9).build().unwrap();
    assert_eq!(packing.kernel(), Kernel::best());
    for kernel in Kernel::ALL {
        let found = packing.with_kernel(*kernel).ok().map(|packing| packing.kernel());
        assert_eq!(found, expected.contains(kernel).then_some(*kernel));
    }
}
