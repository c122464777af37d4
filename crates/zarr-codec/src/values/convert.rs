//! Elements of one data type as elements of another, without losing a value.

use std::fmt;

use zarr_metadata::{DataType, Loss, Rounding, format_element};

use super::cast::Cast;
use super::native;
use super::number::{Kind, Misfit, Number, load, store};

/// Elements that another data type has no values for.
#[derive(Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum ConvertError {
    /// Elements of these types are not numbers of the same sort.
    Types {
        /// The type of the elements.
        from: DataType,
        /// The type that was asked for.
        to: DataType,
    },
    /// The bytes are not a whole number of elements.
    Length {
        /// How many there are.
        bytes: usize,
        /// The bytes of an element.
        size: usize,
    },
    /// An element would become another number.
    Value {
        /// The index of the first such element.
        index: usize,
        /// The element as JSON.
        value: String,
        /// What it would become as JSON; `None` if the type has nothing near it.
        stored: Option<String>,
        /// Why.
        why: Change,
        /// The type that was asked for.
        to: DataType,
    },
}

/// As the text.
impl fmt::Debug for ConvertError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// How a number would change.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Change {
    /// It exceeds the range of the type.
    OutOfRange,
    /// It is an integer that the type rounds, or has a fraction that the type does not have.
    Rounded,
    /// It is infinite or NaN, which the type does not have.
    NotFinite,
}

impl ConvertError {
    /// The message for elements of an array of this shape, in C order: it names the element by its
    /// index on each axis.
    ///
    /// # Examples
    /// ```
    /// use zarr_codec::convert;
    /// use zarr_metadata::{DataType, Loss};
    ///
    /// let error = convert(&[1, 2, 3, 200], &DataType::Uint8, &DataType::Int8, Loss::Refuse);
    /// let message = "element [1, 1]: 200 does not fit into int8";
    /// assert_eq!(error.unwrap_err().within(&[2, 2]), message);
    /// ```
    #[must_use]
    pub fn within(&self, shape: &[u64]) -> String {
        let Self::Value { index, value, stored, why, to } = self else { return self.to_string() };
        let mut rest = u64::try_from(*index).unwrap_or(u64::MAX);
        let mut place = vec![0; shape.len()];
        for (axis, length) in place.iter_mut().zip(shape).rev() {
            (*axis, rest) =
                (rest.checked_rem(*length).unwrap_or(0), rest.checked_div(*length).unwrap_or(0));
        }
        let element =
            if shape.is_empty() { "the value".into() } else { format!("element {place:?}") };
        let what = match (why, stored) {
            (Change::NotFinite, _) => ", which has no such value".to_owned(),
            (_, Some(stored)) => format!(", where it would be {stored}"),
            (_, None) => String::new(),
        };
        format!("{element}: {value} does not fit into {to}{what}")
    }
}

impl fmt::Display for ConvertError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Types { from, to } => write!(f, "elements of {from} are not values of {to}"),
            Self::Length { bytes, size } => {
                write!(f, "{bytes} bytes, expected a multiple of {size}, the size of an element")
            }
            Self::Value { .. } => f.write_str(&self.within(&[u64::MAX])),
        }
    }
}

impl std::error::Error for ConvertError {}

/// Converts elements, little-endian, to another data type by the rule of [`Loss`].
///
/// The types are integers, truth values, floats and complex numbers. Truth values are 0 and 1. A real
/// number is a complex number without imaginary part. If loss is allowed, the result is NumPy's:
/// integers wrap, fractions are cut, and numbers beyond the range of a float become infinite, or its
/// greatest number; what NumPy leaves to the processor is an error still.
///
/// # Examples
/// ```
/// use zarr_codec::{ConvertError, convert};
/// use zarr_metadata::{DataType, Loss};
///
/// let elements = [1_i64, 16_777_217].map(i64::to_le_bytes).concat();
/// let error = convert(&elements, &DataType::Int64, &DataType::Float32, Loss::Refuse);
/// assert!(matches!(error, Err(ConvertError::Value { index: 1, .. })));
/// let exact = convert(&elements, &DataType::Int64, &DataType::Float64, Loss::Refuse)?;
/// assert_eq!(exact, [1.0_f64, 16_777_217.0].map(f64::to_le_bytes).concat());
/// # Ok::<_, ConvertError>(())
/// ```
///
/// # Errors
/// [`ConvertError::Value`] names the first element that would change.
pub fn convert(
    elements: &[u8],
    from: &DataType,
    to: &DataType,
    loss: Loss,
) -> Result<Vec<u8>, ConvertError> {
    let types = || ConvertError::Types { from: from.clone(), to: to.clone() };
    let (Some(source), Some(target)) = (Numbers::of(from), Numbers::of(to)) else {
        return Err(types());
    };
    if source.components > target.components {
        return Err(types());
    }
    let size = source.kind.size() * source.components;
    if !elements.len().is_multiple_of(size) {
        return Err(ConvertError::Length { bytes: elements.len(), size });
    }
    if from == to {
        return Ok(elements.to_vec());
    }
    if loss == Loss::Refuse
        && let Some(out) = native::converted(elements, from, to)
    {
        return Ok(out);
    }
    let count = elements.len().checked_div(size).unwrap_or(0);
    let width = target.kind.size();
    let stride = width * target.components;
    // The imaginary part of a real number is zero.
    let mut out = vec![0; count * stride];
    let cast = Cast::numpy(source.kind, target.kind).with_truth(*to == DataType::Bool);
    for (index, (from_bytes, to_bytes)) in
        elements.chunks_exact(size).zip(out.chunks_exact_mut(stride)).enumerate()
    {
        let parts = from_bytes.chunks_exact(source.kind.size());
        for (part, place) in parts.zip(to_bytes.chunks_exact_mut(width)) {
            let code = load(part);
            let kept = match loss {
                Loss::Refuse => kept(code, source.kind, target.kind),
                Loss::Allow => cast.cast(code, true).map_err(|_| (Change::NotFinite, None)),
            };
            let new = kept.map_err(|(why, near)| ConvertError::Value {
                index,
                value: shown(from, from_bytes),
                stored: near.filter(|_| target.components == 1).map(|near| {
                    let bytes = near.to_le_bytes();
                    shown(to, bytes.get(..width).unwrap_or(&bytes))
                }),
                why,
                to: to.clone(),
            })?;
            store(new, place);
        }
    }
    Ok(out)
}

/// An element as JSON.
fn shown(data_type: &DataType, bytes: &[u8]) -> String {
    let mut text = String::new();
    match format_element(data_type, bytes, &mut text) {
        Ok(()) => text.replace('"', ""),
        Err(error) => error.to_string(),
    }
}

/// The numbers of a data type.
struct Numbers {
    kind: Kind,
    components: usize,
}

impl Numbers {
    fn of(data_type: &DataType) -> Option<Self> {
        let kind = match data_type {
            DataType::Bool => Kind::Int { bits: 1, signed: false },
            _ => Kind::of(data_type)?,
        };
        let components = data_type.element_layout()?.components;
        Some(Self { kind, components })
    }
}

/// The bits of the same number in another kind, or how it would change and the bits of the number near
/// it.
fn kept(code: u64, from: Kind, to: Kind) -> Result<u64, (Change, Option<u64>)> {
    let number = from.decode(code);
    let near = to.encode(number, Rounding::NearestEven).map_err(|misfit| match misfit {
        Misfit::OutOfRange => (Change::OutOfRange, None),
        Misfit::NotFinite => (Change::NotFinite, None),
    })?;
    let rounds = matches!((from, to, number), (Kind::Float(_), Kind::Float(_), _))
        || matches!(number, Number::Infinite { .. } | Number::Nan);
    match rounds || to.decode(near).same_value(number) {
        true => Ok(near),
        false => Err((Change::Rounded, Some(near))),
    }
}
