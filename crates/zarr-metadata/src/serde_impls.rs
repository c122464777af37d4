//! `serde` for the types that are JSON by themselves, with the same checks as `from_json`.
//!
//! They use the raw text of `serde_json`, so that nothing is lost; other formats of `serde` cannot
//! carry them.

use serde::de::{Deserialize, Deserializer, Error as _};
use serde::ser::{Error as _, Serialize, Serializer};
use serde_json::value::RawValue;

use crate::{
    ArrayMetadata, ChunkGrid, ChunkKeyEncoding, Codec, DataType, FillValue, GroupMetadata,
    NodeMetadata,
};

fn serialize<S: Serializer>(json: &str, serializer: S) -> Result<S::Ok, S::Error> {
    let raw: &RawValue = serde_json::from_str(json).map_err(S::Error::custom)?;
    raw.serialize(serializer)
}

macro_rules! through_json {
    ($($type:ty: $json:ident),*) => {$(
        impl Serialize for $type {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serialize(self.$json().as_ref(), serializer)
            }
        }

        impl<'de> Deserialize<'de> for $type {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let raw = Box::<RawValue>::deserialize(deserializer)?;
                Self::from_json(raw.get().as_bytes()).map_err(D::Error::custom)
            }
        }
    )*};
}

through_json!(
    ArrayMetadata: json,
    GroupMetadata: json,
    NodeMetadata: json,
    DataType: to_json,
    ChunkGrid: to_json,
    ChunkKeyEncoding: to_json,
    Codec: to_json
);

/// A fill value cannot be read without its data type, so there is no `Deserialize`.
impl Serialize for FillValue {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serialize(self.json(), serializer)
    }
}
