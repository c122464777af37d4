//! Conventions that give groups a meaning: what in them depends on chunks, axes or order.

mod geo;
mod join;
mod ome;

use serde_json::{Map, Value};
use zarr_metadata::GroupMetadata;

pub use join::{ConventionError, JoinedAxes};
pub use ome::Part;

/// What changes about the arrays of a group.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Change<'a> {
    /// They are joined with the arrays of other groups, or appended to.
    Join,
    /// The elements along this dimension are removed, inserted or put in another order.
    Rearrange(&'a str),
    /// Elements along this dimension get another index.
    Move(&'a str),
}

/// Groups whose arrays mean nothing one by one.
struct Whole {
    convention: &'static str,
    attribute: &'static str,
    /// The texts of the attribute; none if it is an object.
    texts: &'static [&'static str],
    /// The arrays of the group that are not joined or rearranged alone either.
    each: &'static [&'static str],
    why: &'static str,
    way_out: &'static str,
}

const SAMPLES: &str = "anndata.concat or anndata.experimental.concat_on_disk joins samples";

const WHOLE: &[Whole] = &[
    Whole {
        convention: "AnnData",
        attribute: "encoding-type",
        texts: &["csr_matrix", "csc_matrix"],
        each: &["indptr", "indices", "data"],
        why: "a sparse matrix, whose indptr, indices and data belong together",
        way_out: SAMPLES,
    },
    Whole {
        convention: "AnnData",
        attribute: "encoding-type",
        texts: &["categorical"],
        each: &["codes", "categories"],
        why: "categorical values, whose codes and categories belong together",
        way_out: SAMPLES,
    },
    Whole {
        convention: "AnnData",
        attribute: "encoding-type",
        texts: &[
            "anndata",
            "raw",
            "dataframe",
            "nullable-integer",
            "nullable-boolean",
            "nullable-string-array",
            "awkward-array",
        ],
        each: &[],
        why: "made of arrays that share observations and variables",
        way_out: SAMPLES,
    },
    Whole {
        convention: "SpatialData",
        attribute: "spatialdata_attrs",
        texts: &[],
        each: &[],
        why: "made of elements that share coordinate systems, and some are no arrays",
        way_out: "spatialdata.concatenate joins data sets",
    },
];

impl Whole {
    fn reason(&self) -> String {
        let Self { convention, why, way_out, .. } = self;
        format!("by {convention} it is {why}: {way_out}")
    }
}

/// An array of VCF-Zarr with a row for each chunk of variants; see [`GroupMeaning::region_index`].
pub const REGION_INDEX: &str = "region_index";

/// The attributes of a group, and the conventions that they follow: OME-Zarr 0.4 and 0.5, VCF-Zarr,
/// AnnData, SpatialData, and `proj:` and `spatial:` of GeoZarr.
///
/// Attributes of a wrong type follow no convention.
///
/// # Examples
/// ```
/// use zarr_cf::{Change, GroupMeaning};
/// use zarr_metadata::GroupMetadata;
///
/// let group = GroupMetadata::new().with_attributes(r#"{"encoding-type": "csr_matrix"}"#)?;
/// let meaning = GroupMeaning::of(&group);
/// assert_eq!(meaning.conventions(), ["AnnData csr_matrix"]);
/// assert!(meaning.refuses(Change::Join).is_some_and(|why| why.contains("indptr")));
/// assert!(GroupMeaning::refuses_alone("data", || Some(group)).is_some());
/// # Ok::<(), zarr_metadata::MetadataError>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct GroupMeaning(Map<String, Value>);

impl GroupMeaning {
    /// Reads the attributes of a group.
    #[must_use]
    pub fn of(group: &GroupMetadata) -> Self {
        Self(serde_json::from_str(group.attributes()).unwrap_or_default())
    }

    fn text(&self, name: &str) -> Option<&str> {
        self.0.get(name)?.as_str()
    }

    fn whole(&self) -> impl Iterator<Item = &'static Whole> {
        WHOLE.iter().filter(|row| match row.texts {
            [] => self.0.get(row.attribute).is_some_and(Value::is_object),
            texts => self.text(row.attribute).is_some_and(|text| texts.contains(&text)),
        })
    }

    /// The conventions that the group follows, each with its version or what the group is by it; and those
    /// that it names and that are not known here.
    #[must_use]
    pub fn conventions(&self) -> Vec<String> {
        let mut all = Vec::new();
        if let Some((version, _)) = self.ome() {
            all.push(format!("OME-Zarr {version}"));
        }
        if let Some(version) = self.text("vcf_zarr_version") {
            all.push(format!("VCF-Zarr {version}"));
        }
        if self.0.get("spatialdata_attrs").is_some_and(Value::is_object) {
            all.push("SpatialData".to_owned());
        } else if let Some(encoding) = self.text("encoding-type") {
            all.push(format!("AnnData {encoding}"));
        }
        let has = |prefix: &&str| self.0.keys().any(|name| name.starts_with(*prefix));
        all.extend(
            ["proj:", "spatial:"]
                .iter()
                .filter(|prefix| has(prefix))
                .map(|prefix| format!("GeoZarr {prefix}")),
        );
        all.extend(self.unknown().iter().map(|name| format!("{name} (not known here)")));
        all
    }

    /// The conventions that the group names (`zarr_conventions`) and that are not known here: nothing in
    /// them is changed with arrays.
    #[must_use]
    pub fn unknown(&self) -> Vec<&str> {
        let named = self.0.get("zarr_conventions").and_then(Value::as_array);
        let names = named.into_iter().flatten().filter_map(|one| one.get("name")?.as_str());
        names.filter(|name| !["proj:", "spatial:"].contains(name)).collect()
    }

    /// Why the arrays of the group cannot be changed so, and what does it.
    #[must_use]
    pub fn refuses(&self, change: Change<'_>) -> Option<String> {
        if let Some(row) = self.whole().next() {
            return Some(row.reason());
        }
        let (dimension, name) = match change {
            Change::Join => return None,
            Change::Rearrange(dimension) => {
                (dimension, self.depend_on(dimension).first().copied()?)
            }
            Change::Move(dimension) => {
                (dimension, self.geo_origin(dimension).or_else(|| self.places_on(dimension))?)
            }
        };
        Some(format!("its attribute {name} depends on {dimension}: remove or change it first"))
    }

    /// Why an array of this name cannot be joined, appended to or rearranged without the arrays beside it,
    /// and what does it. `group` reads the group that it is in, and is asked for such names only.
    #[must_use]
    pub fn refuses_alone(
        name: &str,
        group: impl FnOnce() -> Option<GroupMetadata>,
    ) -> Option<String> {
        WHOLE.iter().find(|row| row.each.contains(&name))?;
        let of_array = |row: &&Whole| row.each.contains(&name);
        Self::of(&group()?)
            .whole()
            .find(of_array)
            .map(|row| format!("the group it is in: {}", row.reason()))
    }

    /// The meaning of the attributes for which this is true.
    #[must_use]
    pub fn only(mut self, is_kept: impl Fn(&str) -> bool) -> Self {
        self.0.retain(|name, _| is_kept(name));
        self
    }

    /// The attributes that depend on the length or the order of a dimension.
    fn depend_on(&self, dimension: &str) -> Vec<&'static str> {
        let mut names = self.geo_extent(dimension);
        names.extend(self.channels_of(dimension));
        names
    }

    /// The names of objects that are no nodes, and that the group has by its conventions.
    #[must_use]
    pub fn objects(&self) -> &'static [&'static str] {
        let is_spatial = self.0.get("spatialdata_attrs").is_some_and(Value::is_object);
        match (is_spatial, self.ome().is_some()) {
            (true, _) => &["shapes.parquet", "points.parquet"],
            (false, true) => &["OME", "METADATA.ome.xml"],
            (false, false) => &[],
        }
    }

    /// Whether the group is of VCF-Zarr, so that its array [`REGION_INDEX`] has the first and last
    /// positions of each chunk of `variant_position`.
    #[must_use]
    pub fn region_index(&self) -> bool {
        self.text("vcf_zarr_version").is_some()
    }
}
