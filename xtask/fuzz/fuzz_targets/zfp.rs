//! Any bytes as a stream of zfp, in any mode: an error, or as many elements as the chunk has, the
//! same by regions; in the reversible mode any elements are the same after they are encoded.
//!
//! The first bytes of the input choose the type, the shape and the mode.

#![no_main]

mod decode;

use libfuzzer_sys::fuzz_target;
use zarr_codec::{AxisEdges, Chain, Options, Scratch, Slice};
use zarr_metadata::{Codec, DataType};
use zarr_view::View;

use decode::{decode, whole};

const TYPES: [DataType; 10] = [
    DataType::Int8,
    DataType::Uint8,
    DataType::Int16,
    DataType::Uint16,
    DataType::Int32,
    DataType::Uint32,
    DataType::Int64,
    DataType::Uint64,
    DataType::Float32,
    DataType::Float64,
];

fuzz_target!(|input: &[u8]| {
    let Some(([kind, rank, sizes, mode, first, second], rest)) = input.split_first_chunk() else {
        return;
    };
    let data_type = &TYPES[usize::from(*kind) % TYPES.len()];
    let shape: Vec<u64> =
        (0..*rank % 5).map(|axis| 1 + u64::from(*sizes >> (2 * axis) & 3) * 3).collect();
    let (first, second) = (u32::from(*first), u32::from(*second));
    let codec = match *mode % 8 {
        0 | 1 => r#"{"name":"zfp","configuration":{"mode":"reversible"}}"#.to_owned(),
        2 => format!(
            r#"{{"name":"zfp","configuration":{{"mode":"fixed_accuracy","tolerance":{}}}}}"#,
            f64::from(first) / 16.0
        ),
        3 => format!(
            r#"{{"name":"zfp","configuration":{{"mode":"fixed_rate","rate":{}}}}}"#,
            f64::from(first) / 4.0
        ),
        4 => format!(
            r#"{{"name":"zfp","configuration":{{"mode":"fixed_precision","precision":{first}}}}}"#
        ),
        5 => format!(
            r#"{{"name":"zfp","configuration":{{"mode":"expert","minbits":{},"maxbits":{},"maxprec":{},"minexp":{}}}}}"#,
            first,
            first + second * 16,
            1 + second % 64,
            -1075 + i32::from(*sizes) * 8
        ),
        _ => r#"{"name":"numcodecs.zfpy","configuration":{}}"#.to_owned(),
    };
    let Ok(codecs) = Codec::list_from_json(format!("[{codec}]").as_bytes()) else { return };
    let edges: Vec<AxisEdges> = shape.iter().map(|size| AxisEdges::one(*size)).collect();
    let options = Options::new().allow_loss(true);
    let Ok(chain) = Chain::bind_with(&codecs, data_type, &edges, options) else { return };
    let codec = chain.for_shape(&shape).expect("the shape it was bound to");
    let (size, mut scratch) = (chain.element_size(), Scratch::new());
    let whole = whole(&codec);
    if let Some(all) = decode(&codec, size, rest, &whole, &mut scratch) {
        let corner: Vec<Slice> = codec.shape().iter().map(|_| (0..1).into()).collect();
        let part = decode(&codec, size, rest, &corner, &mut scratch).expect("decodes whole");
        assert_eq!(part, all[..size]);
    }
    // Any elements.
    let view = View::contiguous(codec.shape()).expect("small");
    let mut elements = rest.to_vec();
    elements.resize(view.len() * size, 1);
    if matches!(data_type, DataType::Uint32 | DataType::Uint64) {
        elements.iter_mut().skip(size - 1).step_by(size).for_each(|byte| *byte &= 0x7f);
    }
    let mut encoded = Vec::new();
    let fill = vec![0; size];
    codec.encode(&elements, &view, &fill, &mut encoded, &mut scratch).expect("encodes");
    let back = decode(&codec, size, &encoded, &whole, &mut scratch).expect("just encoded");
    if matches!(*mode % 8, 0 | 1 | 6 | 7) {
        assert_eq!(back, elements, "{codec:?}");
    }
});
