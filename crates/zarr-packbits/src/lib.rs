//! Packing of values of any number of bits, as the Zarr v3 `packbits` codec lays them out.
//!
//! A [`Packing`] knows how the elements of one data type are packed; it [packs](Packing::pack) and
//! [unpacks](Packing::unpack) whole chunks, and [ranges](Packing::unpack_range) from any element on.
//! The caller provides all buffers.
//!
//! ```
//! use zarr_packbits::{Packing, PaddingEncoding};
//!
//! // uint16 samples of 10 bits, with {"last_bit": 9, "padding_encoding": "last_byte"}
//! let packing = Packing::builder(16).last_bit(9).build()?;
//! let src: Vec<u8> = [1_u16, 2, 1023].iter().flat_map(|v| v.to_le_bytes()).collect();
//!
//! let len = packing.encoded_len(3, PaddingEncoding::LastByte).unwrap();
//! let mut encoded = vec![0; len];
//! packing.encode(&src, PaddingEncoding::LastByte, &mut encoded)?;
//! assert_eq!(encoded, [0x01, 0x08, 0xf0, 0x3f, 2]);
//!
//! let mut back = vec![0; src.len()];
//! packing.decode(&encoded, PaddingEncoding::LastByte, &mut back)?;
//! assert_eq!(back, src);
//! # Ok::<(), zarr_packbits::Error>(())
//! ```
//!
//! # Promises
//! - Every [`Kernel`] gives the same bytes as the reference, which moves one bit at a time.
//! - Lengths are checked before any byte is moved; a wrong length is an [`Error`], never a panic.
//! - No operation allocates, or writes outside the target.
//!
//! # Specification
//! The codec `packbits` of
//! [zarr-extensions](https://github.com/zarr-developers/zarr-extensions/tree/main/codecs/packbits).
//! Numbers such as SD-10 are this project's decisions where the specification leaves a question
//! open.
//!
//! # Features
//! `std` (default): detects the instructions of the processor at run time. Without it the crate is
//! `no_std` and uses the instructions that it is compiled for. On targets without vector registers,
//! such as operating system kernels, it uses the portable kernel.
//!
//! # Non-goals
//! Data type names, JSON, fill values and parallelism are the caller's task. Other layouts (bit
//! planes, deltas, transposed lanes) belong to other crates.

#![no_std]
#![cfg_attr(docsrs, feature(doc_cfg))]

#[cfg(feature = "std")]
extern crate std;

#[cfg(any(
    all(target_arch = "x86_64", target_feature = "sse2"),
    all(target_arch = "aarch64", target_feature = "neon", target_endian = "little"),
    all(target_arch = "wasm32", target_feature = "simd128"),
))]
mod arch;
mod choices;
mod dispatch;
mod error;
mod field;
mod lossless;
mod memory;
mod operations;
mod padding;
mod run;
mod scalar;
mod spec;
mod used_bits;
mod word;

pub use choices::{BitOrder, ByteOrder, Kernel, PaddingEncoding};
pub use error::Error;
pub use lossless::Lost;
pub use spec::{PackedRange, Packing, PackingBuilder};

/// The README's example, run as a test.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
