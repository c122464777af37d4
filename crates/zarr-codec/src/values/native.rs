//! Conversions between the processor's own numbers, for speed: the same result as one by one.

use zarr_metadata::DataType;

/// A number of the processor.
trait Native: Copy {
    const SIZE: usize;
    fn load(bytes: &[u8]) -> Self;
    fn append(self, out: &mut Vec<u8>);
}

macro_rules! natives {
    ($($native:ty),*) => { $(impl Native for $native {
        const SIZE: usize = size_of::<$native>();

        #[inline]
        fn load(bytes: &[u8]) -> Self {
            Self::from_le_bytes(bytes.try_into().unwrap_or_default())
        }

        #[inline]
        fn append(self, out: &mut Vec<u8>) {
            out.extend_from_slice(&self.to_le_bytes());
        }
    })* };
}

natives!(i8, i16, i32, i64, u8, u16, u32, u64, f32, f64);

/// Converts all elements, or none if one of them may change.
fn all<A: Native, B: Native>(elements: &[u8], convert: impl Fn(A) -> Option<B>) -> Option<Vec<u8>> {
    let count = elements.len().checked_div(A::SIZE)?;
    let mut out = Vec::with_capacity(count.checked_mul(B::SIZE)?);
    for bytes in elements.chunks_exact(A::SIZE) {
        convert(A::load(bytes))?.append(&mut out);
    }
    Some(out)
}

/// An integer as a `f64`, if both are equal.
#[expect(clippy::as_conversions, reason = "integers below 2^53 are exact")]
#[inline]
fn float64(n: i64) -> Option<f64> {
    (n.unsigned_abs() < 1 << 53).then_some(n as f64)
}

/// A float, rounded, unless it is finite and becomes infinite.
#[expect(clippy::as_conversions, reason = "rounds to the nearest, as IEEE 754 does")]
#[inline]
fn float32(x: f64) -> Option<f32> {
    Some(x as f32).filter(|y| y.is_finite() || !x.is_finite())
}

/// As [`convert`](super::convert()) without loss, if both types are the processor's; `None` if they are
/// not, or if an element may change.
pub(super) fn converted(elements: &[u8], from: &DataType, to: &DataType) -> Option<Vec<u8>> {
    macro_rules! to {
        ($from:ty) => {
            match to {
                DataType::Int8 => all::<$from, i8>(elements, |n| n.try_into().ok()),
                DataType::Int16 => all::<$from, i16>(elements, |n| n.try_into().ok()),
                DataType::Int32 => all::<$from, i32>(elements, |n| n.try_into().ok()),
                DataType::Int64 => all::<$from, i64>(elements, |n| n.try_into().ok()),
                DataType::Uint8 => all::<$from, u8>(elements, |n| n.try_into().ok()),
                DataType::Uint16 => all::<$from, u16>(elements, |n| n.try_into().ok()),
                DataType::Uint32 => all::<$from, u32>(elements, |n| n.try_into().ok()),
                DataType::Uint64 => all::<$from, u64>(elements, |n| n.try_into().ok()),
                DataType::Float32 => all::<$from, f32>(elements, |n| {
                    let exact = n.try_into().ok().filter(|n: &i64| n.unsigned_abs() < 1 << 24)?;
                    float32(float64(exact)?)
                }),
                DataType::Float64 => {
                    all::<$from, f64>(elements, |n| n.try_into().ok().and_then(float64))
                }
                _ => None,
            }
        };
    }
    match from {
        DataType::Int8 => to!(i8),
        DataType::Int16 => to!(i16),
        DataType::Int32 => to!(i32),
        DataType::Int64 => to!(i64),
        DataType::Uint8 => to!(u8),
        DataType::Uint16 => to!(u16),
        DataType::Uint32 => to!(u32),
        DataType::Uint64 => to!(u64),
        DataType::Float32 if *to == DataType::Float64 => {
            all::<f32, f64>(elements, |x| Some(x.into()))
        }
        DataType::Float64 if *to == DataType::Float32 => all(elements, float32),
        _ => None,
    }
}
