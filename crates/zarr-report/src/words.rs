//! Describes numbers, axes, codecs and views in words.

use zarr_array::Array;
use zarr_codec::AnyChunkCodec;
use zarr_grid::{Axis, AxisKind, Run};
use zarr_metadata::{
    BloscShuffle, Codec, DataType, Endian, IndexLocation, Lzma, Packbits, PaddingEncoding, Reshape,
    ReshapeDim, Sharding, Shuffle, TimeStep, TimeUnit, Zfp,
};

/// A number with its digits in groups of three.
pub fn count(n: impl TryInto<u128>) -> String {
    let digits = n.try_into().unwrap_or(u128::MAX).to_string();
    let mut text = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// `1 chunk`, `2 chunks`.
pub fn counted(n: impl TryInto<u128>, thing: &str) -> String {
    let n = n.try_into().unwrap_or(u128::MAX);
    let plural = if n == 1 { "" } else { "s" };
    format!("{} {thing}{plural}", count(n))
}

/// `1 axis`, `2 axes`, `no axes`.
pub fn axes(n: usize) -> String {
    match n {
        0 => "no axes".to_owned(),
        1 => "1 axis".to_owned(),
        n => format!("{n} axes"),
    }
}

/// Bytes in the unit that gives one to four digits.
pub fn bytes(n: u128) -> String {
    const UNITS: [&str; 7] = ["KiB", "MiB", "GiB", "TiB", "PiB", "EiB", "ZiB"];
    if n < 1024 {
        return format!("{n} B");
    }
    let mut unit = 0;
    let mut rest = n;
    // Tenths, rounded to the nearest, but never to 1024.0.
    while rest >= 1024 * 1024 && unit + 1 < UNITS.len() {
        rest /= 1024;
        unit += 1;
    }
    let tenths = (rest * 10 + 512) / 1024;
    if tenths >= 10240 && unit + 1 < UNITS.len() {
        return format!("1.0 {}", UNITS[unit + 1]);
    }
    format!("{}.{} {}", tenths / 10, tenths % 10, UNITS[unit])
}

/// The ratio of two sizes, with two decimals: `1.52`.
pub fn ratio(size: u128, stored: u128) -> String {
    let hundredths = size.saturating_mul(100).saturating_add(stored / 2) / stored.max(1);
    format!("{}.{:02}", count(hundredths / 100), hundredths % 100)
}

/// Formats sizes: `1,461 x 2`; `()` without dimensions.
pub fn shape<T: Copy + TryInto<u128>>(sizes: &[T]) -> String {
    match sizes {
        [] => "()".to_owned(),
        sizes => {
            let sizes = sizes.iter().map(|size| count(*size));
            sizes.collect::<Vec<_>>().join(" x ")
        }
    }
}

/// The names of the axes; `axis 0` if they have none.
pub fn axis_names(array: &zarr_metadata::ArrayMetadata) -> Vec<String> {
    let given = array.dimension_names().unwrap_or_default();
    (0..array.shape().len())
        .map(|axis| match given.get(axis) {
            Some(Some(name)) => name.clone(),
            _ => format!("axis {axis}"),
        })
        .collect()
}

/// A data type and a description of its elements: `int4 (4 bits)`, `struct (2 fields, 12 bytes)`.
pub fn data_type(data_type: &DataType) -> String {
    let name = data_type.name();
    let size = |bytes: usize| counted(bytes, "byte");
    match (data_type, data_type.size()) {
        (DataType::String | DataType::Bytes, _) => format!("{name} (of any length)"),
        (DataType::ZarrsOptional(optional), _) => {
            format!("{name} of {}", self::data_type(optional.inner()))
        }
        (DataType::NumpyDatetime64(step), _) => format!("{name} ({}, {})", since(step), size(8)),
        (DataType::NumpyTimedelta64(step), _) => format!("{name} ({}, {})", unit(step), size(8)),
        (DataType::FixedLengthUtf32(length), _) => {
            let points = counted(length.code_points(), "code point");
            format!("{name} (at most {points}, {})", size(length.bytes()))
        }
        (DataType::NullTerminatedBytes(length), _) => {
            format!("{name} (at most {})", size(length.bytes()))
        }
        (DataType::Struct(record), _) => {
            let fields = counted(record.fields().len(), "field");
            format!("{name} ({fields}, {})", size(record.size()))
        }
        (_, Some(bytes)) => match data_type.element_layout().filter(|_| data_type.is_sub_byte()) {
            Some(layout) => {
                format!("{name} ({})", counted(u64::from(layout.component_bits), "bit"))
            }
            None => format!("{name} ({})", size(bytes)),
        },
        (_, None) if data_type.is_unknown() => format!("{name} (not known here)"),
        (_, None) => name.into_owned(),
    }
}

/// The fields of a record, with fields of nested records joined by a dot: `point.x`, `float32 (4
/// bytes)`. Returns at most `most` fields, and their total number.
pub fn fields(data_type: &DataType, most: usize) -> (Vec<(String, String)>, usize) {
    fn gather(
        data_type: &DataType,
        name: &str,
        most: usize,
        found: &mut Vec<(String, String)>,
    ) -> usize {
        let DataType::Struct(record) = data_type else {
            if found.len() < most {
                found.push((name.to_owned(), self::data_type(data_type)));
            }
            return 1;
        };
        let fields = record.fields().iter().map(|field| {
            let name = match name {
                "" => field.name().to_owned(),
                name => format!("{name}.{}", field.name()),
            };
            gather(field.data_type(), &name, most, found)
        });
        fields.sum()
    }
    let mut found = Vec::new();
    match data_type {
        DataType::Struct(_) => {
            let all = gather(data_type, "", most, &mut found);
            (found, all)
        }
        _ => (found, 0),
    }
}

/// `seconds since 1970`, `steps of 10 microseconds since 1970`.
fn since(step: &TimeStep) -> String {
    match step.unit() {
        TimeUnit::Generic => unit(step),
        _ => format!("{} since 1970", unit(step)),
    }
}

/// `seconds`, `steps of 10 microseconds`.
fn unit(step: &TimeStep) -> String {
    let name = match step.unit() {
        TimeUnit::Year => "years",
        TimeUnit::Month => "months",
        TimeUnit::Week => "weeks",
        TimeUnit::Day => "days",
        TimeUnit::Hour => "hours",
        TimeUnit::Minute => "minutes",
        TimeUnit::Second => "seconds",
        TimeUnit::Millisecond => "milliseconds",
        TimeUnit::Microsecond => "microseconds",
        TimeUnit::Nanosecond => "nanoseconds",
        TimeUnit::Picosecond => "picoseconds",
        TimeUnit::Femtosecond => "femtoseconds",
        TimeUnit::Attosecond => "attoseconds",
        _ => "unspecified units",
    };
    match step.scale_factor() {
        1 => name.to_owned(),
        scale => format!("steps of {} {name}", count(scale)),
    }
}

/// The chunks of an axis: `1,461 in 48 chunks: 31, 29, 31, 30, ...`.
pub fn axis(axis: &Axis) -> String {
    let extent = count(axis.extent());
    let chunks = counted(axis.declared(), "chunk");
    let mut text = match axis.kind() {
        AxisKind::Regular { edge } => format!("{extent} in {chunks} of {}", count(edge)),
        AxisKind::Rectilinear => match axis.regular_edge() {
            Some(edge) if axis.declared() > 1 => {
                format!("{extent} in {chunks} of {}, as a list", count(edge))
            }
            _ => format!("{extent} in {chunks}: {}", edges(axis.runs())),
        },
    };
    if axis.occupied() < axis.declared() {
        let beyond = axis.declared() - axis.occupied();
        text.push_str(&format!("; {} wholly past the end", count(beyond)));
    } else if axis.declared_end() > axis.extent() {
        let beyond = axis.declared_end() - axis.extent();
        text.push_str(&format!("; the last reaches {} past the end", count(beyond)));
    }
    text
}

/// Edges in sequence, a run as `31 x2`; long lists are cut.
fn edges(runs: impl Iterator<Item = Run>) -> String {
    const SHOWN: usize = 12;
    let mut runs = runs.peekable();
    let mut words = Vec::new();
    while words.len() < SHOWN
        && let Some(run) = runs.next()
    {
        words.push(match run.count {
            1 => count(run.edge),
            n => format!("{} x{}", count(run.edge), count(n)),
        });
    }
    if runs.peek().is_some() {
        words.push("...".to_owned());
    }
    words.join(", ")
}

/// A codec chain in the order of encoding.
pub fn codecs(codecs: &[Codec], data_type: &DataType) -> String {
    let words: Vec<String> = codecs.iter().map(|codec| self::codec(codec, data_type)).collect();
    words.join(" -> ")
}

fn codec(codec: &Codec, data_type: &DataType) -> String {
    match codec {
        Codec::Bytes(bytes) => match bytes.endian.filter(|_| data_type.has_byte_order()) {
            Some(Endian::Big) => "bytes (big endian)".to_owned(),
            Some(Endian::Little) => "bytes (little endian)".to_owned(),
            None => "bytes".to_owned(),
        },
        Codec::Packbits(packbits) => self::packbits(packbits, data_type),
        Codec::Transpose(transpose) => format!("transpose ({:?})", transpose.order),
        Codec::Reshape(reshape) => format!("reshape ([{}])", self::reshape(reshape)),
        Codec::Gzip(gzip) => format!("gzip (level {})", gzip.level),
        Codec::Zstd(zstd) if zstd.checksum => format!("zstd (level {}, checksum)", zstd.level),
        Codec::Zstd(zstd) => format!("zstd (level {})", zstd.level),
        Codec::NumcodecsZlib(zlib) => format!("numcodecs.zlib (level {})", zlib.level),
        Codec::NumcodecsGzip(gzip) => format!("numcodecs.gzip (level {})", gzip.level),
        Codec::NumcodecsBz2(bz2) => format!("numcodecs.bz2 (level {})", bz2.level),
        Codec::NumcodecsPcodec(pcodec) => format!("numcodecs.pcodec (level {})", pcodec.level),
        Codec::Zfp(zfp) => format!("zfp ({})", self::zfp(zfp)),
        Codec::NumcodecsZfpy(zfpy) => format!("numcodecs.zfpy ({})", self::zfp(&zfpy.into())),
        Codec::NumcodecsZstd(zstd) => format!("numcodecs.zstd (level {})", zstd.level),
        Codec::NumcodecsLzma(Lzma { preset: Some(preset), .. }) => {
            format!("numcodecs.lzma (preset {preset})")
        }
        Codec::NumcodecsBlosc(blosc) => {
            let name = format!("{:?}", blosc.cname).to_lowercase();
            format!("numcodecs.blosc ({name}, level {})", blosc.clevel)
        }
        Codec::NumcodecsShuffle(Shuffle { elementsize: Some(size), .. }) => {
            format!("numcodecs.shuffle ({})", counted(*size, "byte"))
        }
        Codec::Blosc(blosc) => {
            let shuffle = match blosc.shuffle {
                BloscShuffle::Shuffle => ", shuffle",
                BloscShuffle::BitShuffle => ", bitshuffle",
                BloscShuffle::NoShuffle => "",
            };
            let name = format!("{:?}", blosc.cname).to_lowercase();
            format!("blosc ({name}, level {}{shuffle})", blosc.clevel)
        }
        Codec::ShardingIndexed(sharding) => self::sharding(sharding, data_type),
        Codec::Unknown(unknown) => format!("{} (not known here)", unknown.name()),
        other => other.name().to_owned(),
    }
}

/// The mode of zfp, and whether it keeps every bit.
fn zfp(zfp: &Zfp) -> String {
    let mode = match zfp {
        Zfp::Reversible => return "reversible".to_owned(),
        // With 0 and less, the library is as exact as it can be.
        Zfp::FixedAccuracy { tolerance } if tolerance.parse().is_ok_and(|n: f64| n <= 0.0) => {
            "error of floats as small as possible".to_owned()
        }
        Zfp::FixedAccuracy { tolerance } => format!("error of floats at most {tolerance}"),
        Zfp::FixedRate { rate } => format!("{rate} bits per element"),
        Zfp::FixedPrecision { precision: 0 } => "all bit planes".to_owned(),
        Zfp::FixedPrecision { precision } => counted(u64::from(*precision), "bit plane"),
        Zfp::Expert { minbits, maxbits, maxprec, minexp } => {
            let planes = counted(u64::from(*maxprec), "bit plane");
            format!("{minbits} to {maxbits} bits per block, {planes}, down to 2^{minexp}")
        }
        _ => "a mode that is not known here".to_owned(),
    };
    let end = if zfp.is_reversible() { "reversible" } else { "lossy" };
    format!("{mode}; {end}")
}

fn packbits(packbits: &Packbits, data_type: &DataType) -> String {
    let bits = u64::from(data_type.element_layout().map_or(0, |layout| layout.component_bits));
    let first = packbits.first_bit.unwrap_or(0);
    let last = packbits.last_bit.unwrap_or(bits.saturating_sub(1));
    let width = last.saturating_sub(first).saturating_add(1);
    let mut text = match width == bits {
        true => format!("packbits ({} each", counted(bits, "bit")),
        false => format!("packbits (bits {first} to {last} of {bits}"),
    };
    match packbits.padding_encoding {
        PaddingEncoding::None => {}
        PaddingEncoding::FirstByte => text.push_str(", padding in the first byte"),
        PaddingEncoding::LastByte => text.push_str(", padding in the last byte"),
    }
    text.push(')');
    text
}

fn reshape(reshape: &Reshape) -> String {
    let dims = reshape.shape.iter().map(|dim| match dim {
        ReshapeDim::Size(size) => size.to_string(),
        ReshapeDim::InputDims(dims) => format!("{dims:?}"),
        ReshapeDim::Auto => "-1".to_owned(),
    });
    dims.collect::<Vec<_>>().join(", ")
}

fn sharding(sharding: &Sharding, data_type: &DataType) -> String {
    let location = match sharding.index_location {
        IndexLocation::Start => "start",
        IndexLocation::End => "end",
    };
    let inner = codecs(&sharding.codecs, data_type);
    let size = shape(&sharding.chunk_shape);
    format!("sharding_indexed (inner chunks {size}: {inner}; index at the {location})")
}

/// The view to which the array-to-array codecs compile for one chunk shape.
pub fn transform(codec: &AnyChunkCodec) -> String {
    let transform = codec.transform();
    match transform.view() {
        Some(view) if view.is_contiguous() => {
            "one view of the stored elements, in C order".to_owned()
        }
        Some(view) => {
            let strides: Vec<String> = view.strides().iter().map(ToString::to_string).collect();
            format!(
                "one view of the stored elements: shape {}, strides {}",
                shape(transform.chunk_shape()),
                strides.join(", ")
            )
        }
        None => format!(
            "no single view from a chunk of {} to its stored elements, {}",
            shape(transform.chunk_shape()),
            shape(transform.stored_shape())
        ),
    }
}

/// The shape of the first chunk as it is stored; `None` without chunks.
pub fn first_chunk(array: &Array) -> Option<Vec<u64>> {
    let grid = array.grid();
    let mut shape = vec![0; grid.rank()];
    grid.chunk_shape(&vec![0; grid.rank()], &mut shape).ok()?;
    Some(shape)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_grouped() {
        let words = [0_u64, 999, 1000, 12_345, 1_000_000].map(count);
        assert_eq!(words, ["0", "999", "1,000", "12,345", "1,000,000"]);
        assert_eq!(counted(1_u64, "chunk"), "1 chunk");
        assert_eq!(counted(0_u64, "chunk"), "0 chunks");
        assert_eq!(shape(&[1461_u64, 2]), "1,461 x 2");
        assert_eq!(shape::<u64>(&[]), "()");
        assert_eq!(ratio(3, 2), "1.50");
        assert_eq!(ratio(999, 1000), "1.00");
        assert_eq!(ratio(1_000_000, 1), "1,000,000.00");
    }

    #[test]
    fn sizes_have_a_unit_that_suits_them() {
        let cases = [
            (0, "0 B"),
            (1023, "1023 B"),
            (1024, "1.0 KiB"),
            (1536, "1.5 KiB"),
            (1_048_575, "1.0 MiB"),
            (1 << 20, "1.0 MiB"),
            (u128::from(u64::MAX), "16.0 EiB"),
        ];
        for (n, expected) in cases {
            assert_eq!(bytes(n), expected, "{n}");
        }
    }
}
