//! What the attributes of an array say about its elements.

use zarr_metadata::{ArrayMetadata, DataType, Printable};

use crate::attributes::{VALID, element_type, text};
use crate::calendar::Calendar;
use crate::duration::Durations;
use crate::error::CfError;
use crate::missing::declared;
use crate::numbers::Numbers;
use crate::packing::Packing;
use crate::time_axis::TimeAxis;

/// What the attributes of an array say about its elements: their type, their packing, which are
/// missing, and what the unpacked numbers are.
///
/// # Examples
/// ```
/// use zarr_cf::{Kind, Meaning};
/// use zarr_metadata::{ArrayBuilder, DataType};
///
/// let attributes = r#"{"_Unsigned": "true", "units": "days since 2000-01-01", "_FillValue": -1}"#;
/// let array = ArrayBuilder::new([2], DataType::Int8).attributes(attributes).build()?;
/// let meaning = Meaning::of(&array, None)?;
/// assert_eq!(meaning.data_type, DataType::Uint8);
/// assert_eq!(meaning.missing, [[255]]);
/// assert!(matches!(meaning.kind, Kind::Times(_)));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Meaning {
    /// The type of the elements as numbers, by `_Unsigned`.
    pub data_type: DataType,
    /// How numbers are packed.
    pub packing: Packing,
    /// The elements that are missing.
    pub missing: Vec<Vec<u8>>,
    /// What the unpacked numbers are.
    pub kind: Kind,
    /// What the attributes say and nothing follows, in words.
    pub notes: Vec<String>,
}

/// What numbers are.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub enum Kind {
    /// Numbers.
    Numbers,
    /// Points in time.
    Times(TimeAxis),
    /// Durations, by Xarray's attribute `dtype`.
    Durations(Durations),
    /// Truth values, by Xarray's attribute `dtype`: what is not 0 is true.
    Truth,
}

impl Meaning {
    /// The meaning by the attributes of an array. If it has the bounds of a `coordinate`, the
    /// coordinate's units are its units.
    ///
    /// # Errors
    /// [`CfError::NotNumbers`]; [`CfError::Units`] if the units are of a time and not understood.
    pub fn of(
        metadata: &ArrayMetadata,
        coordinate: Option<&ArrayMetadata>,
    ) -> Result<Self, CfError> {
        let stored = metadata.data_type();
        let data_type = element_type(metadata);
        if Numbers::of(&data_type).is_none() {
            return Err(CfError::NotNumbers { data_type });
        }
        let declared = declared(metadata);
        let times =
            TimeAxis::of(metadata, coordinate).map_err(|reason| CfError::Units { reason })?;
        let kind = match (times, text(metadata, "dtype").as_deref()) {
            (Some(axis), _) => Kind::Times(axis),
            (None, Some("bool")) => Kind::Truth,
            (None, Some(name)) => {
                let units = text(metadata, "units");
                let durations = units.and_then(|units| Durations::of(&units, name));
                durations.map_or(Kind::Numbers, Kind::Durations)
            }
            (None, None) => Kind::Numbers,
        };
        let mut notes = declared.notes;
        for name in ["scale_factor", "add_offset"] {
            let json = metadata.attribute(name).filter(|json| Packing::number(json).is_none());
            notes.extend(json.map(|json| {
                format!("{name} {} is not a number, and is not applied", Printable(json))
            }));
        }
        if let Some(json) = metadata.attribute("_Unsigned").filter(|_| data_type == *stored) {
            let is_signed =
                Numbers::of(stored).filter(Numbers::are_whole).map(|numbers| numbers.are_signed());
            let is_so = match json {
                "\"true\"" => is_signed == Some(false),
                "\"false\"" => is_signed == Some(true),
                _ => false,
            };
            if !is_so {
                notes.push(format!(
                    "_Unsigned {} is not applied to {stored}: \"true\" is, of signed integers, and \
                     \"false\", of unsigned ones",
                    Printable(json)
                ));
            }
        }
        let valid = VALID.into_iter().filter(|name| metadata.attribute(name).is_some());
        notes.extend(valid.map(|name| format!("{name} describes values, and masks none")));
        Ok(Self {
            data_type,
            packing: Packing::of(metadata),
            missing: declared.elements,
            kind,
            notes,
        })
    }

    /// Whether numpy has the dates of the times; `true` if there are no times.
    #[must_use]
    pub(crate) fn has_numpys_dates(&self) -> bool {
        match self.kind {
            Kind::Times(axis) => matches!(axis.calendar, Calendar::Gregorian | Calendar::Mixed),
            _ => true,
        }
    }
}
