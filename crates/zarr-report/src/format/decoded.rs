//! Elements as their attributes mean them: `scale_factor`, `add_offset` and missing values.

use zarr_metadata::ArrayMetadata;
use zarr_metadata::cf::missing;

use crate::stats::Scale;
use crate::{Numbers, ReportError, words};

/// How elements become the numbers that the attributes of the CF conventions mean.
///
/// # Examples
/// ```
/// use zarr_metadata::{ArrayBuilder, DataType};
/// use zarr_report::format::decoded::Decoded;
///
/// let metadata = ArrayBuilder::new([2], DataType::Int8)
///     .attributes(r#"{"scale_factor": 0.5, "add_offset": 10, "_FillValue": -1}"#)
///     .build()?;
/// let decoded = Decoded::of(&metadata)?;
/// let numbers = decoded.numbers(&[4, 0xff]);
/// assert_eq!(numbers[0], 12.0);
/// assert!(numbers[1].is_nan());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Decoded {
    numbers: Numbers,
    missing: Vec<Vec<u8>>,
    scale: Scale,
}

impl Decoded {
    /// By the attributes of this document.
    ///
    /// # Errors
    /// [`ReportError::NotNumbers`].
    pub fn of(metadata: &ArrayMetadata) -> Result<Self, ReportError> {
        let data_type = metadata.data_type();
        let numbers = Numbers::of(data_type);
        let numbers = numbers
            .ok_or_else(|| ReportError::NotNumbers { data_type: words::data_type(data_type) })?;
        Ok(Self { numbers, missing: missing(metadata), scale: Scale::of(metadata) })
    }

    /// Whether the attributes say nothing: no scale, no offset, no missing value.
    #[must_use]
    pub fn is_plain(&self) -> bool {
        self.scale.is_one() && self.missing.is_empty()
    }

    /// Whether an element is declared as missing.
    #[must_use]
    pub fn is_missing(&self, element: &[u8]) -> bool {
        self.missing.iter().any(|missing| missing == element)
    }

    /// The numbers that are meant; NaN where elements are missing.
    #[must_use]
    pub fn numbers(&self, elements: &[u8]) -> Vec<f64> {
        let mut numbers = Vec::new();
        self.numbers.list(elements, &mut numbers);
        let elements = elements.chunks_exact(self.numbers.size());
        for (number, element) in numbers.iter_mut().zip(elements) {
            *number = match self.is_missing(element) {
                true => f64::NAN,
                false => self.scale.of_number(*number),
            };
        }
        numbers
    }
}
