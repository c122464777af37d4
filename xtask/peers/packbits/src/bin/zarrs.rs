//! Races the `packbits` codec of zarrs: how many times as fast the best and the portable kernel are.
//!
//! `cargo run --release --manifest-path xtask/peers/packbits/Cargo.toml --bin zarrs`. Both encode
//! and decode a chunk of 64 KiB, in turns, zarrs into buffers that it allocates as its interface
//! has it, this crate into buffers that are reused. What zarrs decodes wrongly is not compared.

use std::{hint::black_box, num::NonZeroU64, time::Instant};

use zarr_packbits::{Kernel, Packing};
use zarrs::array::codec::PackBitsCodec;
use zarrs::array::{ArrayBytes, DataType, FillValue, data_type};
use zarrs_codec::{ArrayToBytesCodecTraits, CodecOptions};
use zarrs_metadata_ext::codec::packbits::PackBitsPaddingEncoding;

fn median(tasks: &mut [Box<dyn FnMut() + '_>]) -> Vec<f64> {
    let mut times = vec![Vec::new(); tasks.len()];
    for _ in 0..31 {
        for (task, times) in tasks.iter_mut().zip(&mut times) {
            let start = Instant::now();
            let mut calls = 0;
            while calls == 0 || start.elapsed().as_micros() < 100 {
                task();
                calls += 1;
            }
            times.push(start.elapsed().as_nanos() as f64 / f64::from(calls));
        }
    }
    times
        .into_iter()
        .map(|mut times| {
            times.sort_by(f64::total_cmp);
            times[times.len() / 2]
        })
        .collect()
}

fn main() {
    let rows: [(&str, DataType, Packing, Option<u64>); 7] = [
        ("bool", data_type::bool(), of(1, false, None), None),
        ("int2", data_type::int2(), of(2, true, None), None),
        ("int4", data_type::int4(), of(4, true, None), None),
        ("float6", data_type::float6_e2m3fn(), of(6, false, None), None),
        ("uint16 10 bits", data_type::uint16(), of(16, false, Some(9)), Some(9)),
        ("int16 12 bits", data_type::int16(), of(16, true, Some(11)), Some(11)),
        ("uint32 20 bits", data_type::uint32(), of(32, false, Some(19)), Some(19)),
    ];
    println!("| 64 KiB | zarrs GB/s | best kernel, times zarrs | portable, times zarrs |");
    println!("|---|---|---|---|");
    for (name, data_type, packing, last_bit) in rows {
        let size = packing.element_size();
        let elements = (64 << 10) / size;
        let shape = [NonZeroU64::new(elements as u64).expect("not empty")];
        let fill = FillValue::new(vec![0; size]);
        let options = CodecOptions::default();
        let codec = PackBitsCodec::new(PackBitsPaddingEncoding::None, None, last_bit)
            .expect("a valid configuration");

        let mut state = 1_u64;
        let packed: Vec<u8> = (0..packing.packed_len(elements).expect("few"))
            .map(|_| {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                (state >> 56) as u8
            })
            .collect();
        let mut values = vec![0; elements * size];
        packing.unpack(&packed, &mut values).expect("right lengths");
        let bytes: ArrayBytes<'_> = values.clone().into();
        let encoded =
            codec.encode(bytes.clone(), &shape, &data_type, &fill, &options).expect("a chunk");
        assert!(*encoded == packed[..], "{name}: zarrs packs other bytes");

        for direction in ["pack", "unpack"] {
            let (mut best_out, mut portable_out) = if direction == "pack" {
                (packed.clone(), packed.clone())
            } else {
                (values.clone(), values.clone())
            };
            let portable = packing.with_kernel(Kernel::Portable).expect("always available");
            let mut tasks: Vec<Box<dyn FnMut()>> = if direction == "pack" {
                vec![
                    Box::new(|| {
                        let input: ArrayBytes<'_> = ArrayBytes::new_flen(&values);
                        black_box(
                            codec
                                .encode(input, &shape, &data_type, &fill, &options)
                                .expect("a chunk"),
                        );
                    }),
                    Box::new(|| {
                        packing.pack(black_box(&values), black_box(&mut best_out)).expect("lengths")
                    }),
                    Box::new(|| {
                        portable
                            .pack(black_box(&values), black_box(&mut portable_out))
                            .expect("lengths")
                    }),
                ]
            } else {
                vec![
                    Box::new(|| {
                        let input = std::borrow::Cow::Borrowed(&packed[..]);
                        black_box(
                            codec
                                .decode(input, &shape, &data_type, &fill, &options)
                                .expect("a chunk"),
                        );
                    }),
                    Box::new(|| {
                        packing
                            .unpack(black_box(&packed), black_box(&mut best_out))
                            .expect("lengths")
                    }),
                    Box::new(|| {
                        portable
                            .unpack(black_box(&packed), black_box(&mut portable_out))
                            .expect("lengths")
                    }),
                ]
            };
            let times = median(&mut tasks);
            if std::env::var_os("BENCH_RECORDS").is_some() {
                let names = [("peer", "zarrs"), ("ours", "best kernel"), ("other", "portable")];
                for ((role, who), time) in names.into_iter().zip(&times) {
                    println!(
                        "record\tpackbits beside zarrs, 64KiB\t{direction} {name}\t{role}\t{who}\t{time}"
                    );
                }
            }
            println!(
                "| {direction} {name} | {:.2} | {:.0} | {:.0} |",
                values.len() as f64 / times[0],
                times[0] / times[1],
                times[0] / times[2],
            );
        }
    }
}

fn of(bits: u32, signed: bool, last: Option<u64>) -> Packing {
    let builder = Packing::builder(bits).signed(signed);
    let builder = if let Some(last) = last { builder.last_bit(last) } else { builder };
    builder.build().expect("a valid layout")
}
