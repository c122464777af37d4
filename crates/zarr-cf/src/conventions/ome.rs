//! OME-Zarr 0.4, whose keys are attributes, and 0.5, which has them in the attribute `ome`.

use serde_json::{Map, Value, json};

use super::GroupMeaning;
use super::join::{ConventionError, JoinedAxes, Joining, differs, same_numbers};

/// A node below a group that the group's attributes name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Part {
    /// The attribute that names it, and what it is called there.
    pub named_by: &'static str,
    /// Its path below the group.
    pub path: String,
    /// The number of axes of an array; a group has none.
    pub axes: Option<usize>,
}

/// The keys that are attributes by 0.4 and members of `ome` by 0.5.
const KEYS: &[&str] = &[
    "multiscales",
    "omero",
    "plate",
    "well",
    "image-label",
    "bioformats2raw.layout",
    "series",
    "labels",
];

/// The lists of names in attributes: the attribute, the list in it, and the member with the path.
const LISTS: &[(&str, &str, &str)] =
    &[("plate", "wells", "path"), ("well", "images", "path"), ("labels", "", "")];

/// Whether an attribute of a group is the key of 0.4 of this name. Others are the user's.
fn is_key(name: &str, value: Option<&Value>) -> bool {
    let Some(value) = value else { return false };
    match LISTS.iter().find(|(list, ..)| *list == name) {
        Some((_, "", _)) => value.as_array().is_some_and(|all| all.iter().all(Value::is_string)),
        Some((_, below, _)) => value.get(below).is_some_and(Value::is_array),
        None => true,
    }
}

fn list<'a>(value: &'a Value, name: &str) -> impl Iterator<Item = &'a Value> {
    value.get(name).and_then(Value::as_array).into_iter().flatten()
}

/// The names of the axes of an image: objects, or texts by 0.3.
fn axes_of(image: &Value) -> Option<Vec<String>> {
    let axes = image.get("axes")?.as_array()?;
    let name = |axis: &Value| axis.get("name").unwrap_or(axis).as_str().map(str::to_owned);
    axes.iter().map(name).collect()
}

/// The transformations of an image, and of each of its levels, each with its path in the attributes.
fn transformations(image: &Value) -> Vec<(String, Vec<&Value>)> {
    const NAME: &str = "coordinateTransformations";
    let own = (NAME.to_owned(), list(image, NAME).collect());
    let levels = list(image, "datasets").enumerate();
    let levels =
        levels.map(|(at, level)| (format!("datasets[{at}].{NAME}"), list(level, NAME).collect()));
    std::iter::once(own).chain(levels).collect()
}

/// The type of an axis and its place in the order of axes.
fn kind(axis: &Value) -> u8 {
    match axis.get("type").and_then(Value::as_str) {
        Some("time") => 0,
        Some("space") => 2,
        _ => 1,
    }
}

fn type_of(name: &str) -> Option<&'static str> {
    match name {
        "t" | "time" => Some("time"),
        "c" | "channel" => Some("channel"),
        "z" | "y" | "x" => Some("space"),
        _ => None,
    }
}

impl GroupMeaning {
    /// The version and the object with the keys.
    pub(super) fn ome(&self) -> Option<(String, &Map<String, Value>)> {
        if let Some(ome) = self.0.get("ome").and_then(Value::as_object) {
            let has_key = KEYS.iter().any(|key| ome.contains_key(*key));
            let version = ome.get("version").and_then(Value::as_str).unwrap_or("0.5");
            return has_key.then(|| (version.to_owned(), ome));
        }
        let is_kind = |name: &str, is: fn(&Value) -> bool| self.0.get(name).is_some_and(is);
        let is_known = is_kind("multiscales", Value::is_array)
            || ["plate", "well"].iter().any(|name| is_key(name, self.0.get(*name)))
            || is_kind("image-label", Value::is_object)
            || is_kind("bioformats2raw.layout", Value::is_number);
        if !is_known {
            return None;
        }
        let version = ["multiscales", "plate", "well", "image-label"].iter().find_map(|name| {
            let value = self.0.get(*name)?;
            value.get(0).unwrap_or(value).get("version")?.as_str()
        });
        Some((version.unwrap_or("0.4").to_owned(), &self.0))
    }

    fn images(&self) -> impl Iterator<Item = &Value> {
        let all = self.ome().and_then(|(_, ome)| ome.get("multiscales")?.as_array());
        all.into_iter().flatten()
    }

    /// The names of the axes of the array at a path below the group, which is a level of an image, by
    /// `multiscales`.
    #[must_use]
    pub fn axes(&self, path: &str) -> Option<Vec<String>> {
        let is_level = |level: &Value| level.get("path").and_then(Value::as_str) == Some(path);
        self.images().find(|image| list(image, "datasets").any(is_level)).and_then(axes_of)
    }

    /// The nodes below the group that its attributes name: levels of images, wells, images of wells,
    /// labels.
    #[must_use]
    pub fn parts(&self) -> Vec<Part> {
        let mut parts = Vec::new();
        let mut add = |named_by, path: Option<&Value>, axes| {
            if let Some(path) = path.and_then(Value::as_str) {
                parts.push(Part { named_by, path: path.to_owned(), axes });
            }
        };
        for image in self.images() {
            let axes = axes_of(image).map(|axes| axes.len());
            list(image, "datasets").for_each(|level| add("multiscales", level.get("path"), axes));
        }
        let Some((_, ome)) = self.ome() else { return parts };
        for (name, below, path) in LISTS {
            let Some(value) = ome.get(*name) else { continue };
            match value.as_array() {
                Some(names) => names.iter().for_each(|label| add(name, Some(label), None)),
                None => list(value, below).for_each(|one| add(name, one.get(path), None)),
            }
        }
        parts
    }

    /// Where `multiscales` contradicts itself: scales and translations that do not count as many axes as
    /// there are, levels without a path.
    #[must_use]
    pub fn contradictions(&self) -> Vec<String> {
        let mut found = Vec::new();
        for (at, image) in self.images().enumerate() {
            let Some(axes) = axes_of(image).map(|axes| axes.len()) else {
                found.push(format!("multiscales[{at}] has no list of named axes"));
                continue;
            };
            for (path, all) in transformations(image) {
                for (kind, one) in ["scale", "translation"]
                    .iter()
                    .flat_map(|kind| all.iter().filter_map(move |one| Some((kind, one.get(kind)?))))
                {
                    let count = one.as_array().map_or(0, Vec::len);
                    if count != axes {
                        found.push(format!(
                            "multiscales[{at}].{path} has a {kind} of {count} numbers for {axes} axes"
                        ));
                    }
                }
            }
            if !list(image, "datasets").all(|level| level.get("path").is_some_and(Value::is_string))
            {
                found.push(format!("multiscales[{at}] has a level without a path"));
            }
        }
        found
    }

    /// The attribute that lists the channels, if this is their axis.
    pub(super) fn channels_of(&self, dimension: &str) -> Option<&'static str> {
        let channels = self.ome()?.1.get("omero")?.get("channels")?.as_array()?;
        let is_channel = self.images().any(|image| {
            list(image, "axes").any(|axis| {
                axis.get("name").and_then(Value::as_str) == Some(dimension) && kind(axis) == 1
            })
        });
        (is_channel && !channels.is_empty()).then_some("omero")
    }

    /// The attribute with the places of images on an axis, if they have some.
    pub(super) fn places_on(&self, dimension: &str) -> Option<&'static str> {
        let mut images = self.images().filter(|image| {
            axes_of(image).is_some_and(|names| names.iter().any(|name| name == dimension))
        });
        let is_placed = images.any(|image| {
            let mut all = transformations(image).into_iter().flat_map(|(_, all)| all);
            all.any(|one| one.get("translation").is_some())
        });
        is_placed.then_some("multiscales")
    }

    /// The changed attributes of images that become one.
    pub(super) fn ome_joined(
        joining: &Joining<'_>,
    ) -> Result<Vec<(&'static str, Option<String>)>, ConventionError> {
        let Some(((first, meaning), others)) = joining.members.split_first() else {
            return Ok(Vec::new());
        };
        for (member, other) in others {
            let count = |meaning: &GroupMeaning| Value::from(meaning.images().count());
            let (found, expected) = (count(other), count(meaning));
            if found != expected {
                let what = "the number of images in multiscales";
                return Err(differs(member, what, Some(&found), first, Some(&expected)));
            }
            for (at, (a, b)) in other.images().zip(meaning.images()).enumerate() {
                same_image(&format!("multiscales[{at}]"), (member, a), (first, b), joining.axes)?;
            }
        }
        let Some((_, ome)) = meaning.ome() else { return Ok(Vec::new()) };
        let mut changed = Map::new();
        match joining.axes {
            JoinedAxes::New(name) => {
                let mut images: Vec<Value> = meaning.images().cloned().collect();
                for image in &mut images {
                    add_axis(image, name).map_err(|reason| ConventionError {
                        member: (*first).to_owned(),
                        reason,
                    })?;
                }
                if !images.is_empty() {
                    changed.insert("multiscales".to_owned(), images.into());
                }
            }
            JoinedAxes::Along(names) => {
                if names.iter().any(|name| meaning.channels_of(name).is_some()) && names.len() > 1 {
                    let reason =
                        "omero lists the channels: join along channels alone first".to_owned();
                    return Err(ConventionError { member: (*first).to_owned(), reason });
                }
                if names.iter().any(|name| meaning.channels_of(name).is_some()) {
                    let all = joining.members.iter().filter_map(|(_, meaning)| {
                        meaning.ome()?.1.get("omero")?.get("channels")?.as_array()
                    });
                    let channels: Vec<Value> = all.flatten().cloned().collect();
                    let mut omero = ome.get("omero").cloned().unwrap_or_default();
                    if let Some(omero) = omero.as_object_mut() {
                        omero.insert("channels".to_owned(), channels.into());
                    }
                    changed.insert("omero".to_owned(), omero);
                }
            }
        }
        if changed.is_empty() {
            return Ok(Vec::new());
        }
        if !meaning.0.contains_key("ome") {
            let names = KEYS.iter().filter_map(|key| Some((*key, changed.get(*key)?)));
            return Ok(names.map(|(key, value)| (key, Some(value.to_string()))).collect());
        }
        let mut ome = ome.clone();
        ome.extend(changed);
        Ok(vec![("ome", Some(Value::from(ome).to_string()))])
    }

    /// The attributes of OME-Zarr 0.4 as those of 0.5: each changed one with its JSON text, or `None` if it
    /// moves into `ome`. `None` if the group follows another version, or another convention.
    ///
    /// `name` is the last part of the group's path. In a group named `labels` the attribute `labels` alone
    /// is enough; elsewhere it may be the user's.
    #[must_use]
    pub fn ome_0_5(&self, name: &str) -> Option<Vec<(&'static str, Option<String>)>> {
        let is_labels = name == "labels" && is_key("labels", self.0.get("labels"));
        let (version, _) = self.ome().or_else(|| is_labels.then(|| ("0.4".to_owned(), &self.0)))?;
        if version != "0.4" || self.0.contains_key("ome") {
            return None;
        }
        let mut ome = Map::from_iter([("version".to_owned(), "0.5".into())]);
        let mut changes = Vec::new();
        for key in KEYS {
            let value = self.0.get(*key).filter(|value| is_key(key, Some(value)));
            let Some(mut value) = value.cloned() else { continue };
            let of_one = |value: &mut Value| {
                if let Some(object) = value.as_object_mut() {
                    object.remove("version");
                }
            };
            match &mut value {
                Value::Array(all) => all.iter_mut().for_each(of_one),
                one => of_one(one),
            }
            ome.insert((*key).to_owned(), value);
            changes.push((*key, None));
        }
        changes.push(("ome", Some(Value::from(ome).to_string())));
        Some(changes)
    }
}

/// Refuses an image with other axes, levels or pixels than the first member's.
fn same_image(
    what: &str,
    (member, image): (&str, &Value),
    (first, expected): (&str, &Value),
    axes: JoinedAxes<'_>,
) -> Result<(), ConventionError> {
    let same = |path: &str, a: Option<&Value>, b: Option<&Value>| match (a, b) {
        (Some(a), Some(b)) if same_numbers(a, b) => Ok(()),
        (None, None) => Ok(()),
        _ => Err(differs(member, &format!("{what}.{path}"), a, first, b)),
    };
    same("axes", image.get("axes"), expected.get("axes"))?;
    let names = axes_of(expected).unwrap_or_default();
    let is_joined = |axis: usize| match axes {
        JoinedAxes::New(_) => false,
        JoinedAxes::Along(along) => names.get(axis).is_some_and(|name| along.contains(name)),
    };
    let levels =
        |image| Value::from_iter(list(image, "datasets").map(|level| level.get("path").cloned()));
    same("datasets", Some(&levels(image)), Some(&levels(expected)))?;
    // A tile has a place of its own on the axes along which it is joined.
    let placed = |one: &Value| {
        let mut one = one.clone();
        let places = one.get_mut("translation").and_then(Value::as_array_mut);
        let places = places.into_iter().flatten().enumerate();
        places.filter(|(axis, _)| is_joined(*axis)).for_each(|(_, place)| *place = Value::Null);
        one
    };
    for ((path, a), (_, b)) in transformations(image).into_iter().zip(transformations(expected)) {
        let count = |all: &[&Value]| Value::from(all.len());
        same(&format!("{path}.length"), Some(&count(&a)), Some(&count(&b)))?;
        for (at, (a, b)) in a.iter().zip(&b).enumerate() {
            if !same_numbers(&placed(a), &placed(b)) {
                let what = format!("{what}.{path}[{at}]");
                return Err(differs(member, &what, Some(a), first, Some(b)));
            }
        }
    }
    Ok(())
}

/// Adds an axis before the others, on which elements are one apart.
fn add_axis(image: &mut Value, name: &str) -> Result<(), String> {
    let known = axes_of(image).unwrap_or_default();
    let axes = image.get_mut("axes").and_then(Value::as_array_mut);
    let axes = axes.filter(|axes| axes.iter().all(Value::is_object));
    let Some(axes) = axes else {
        return Err("multiscales has an image without a list of named axes".to_owned());
    };
    let axis = match type_of(name) {
        Some(of_axis) => json!({ "name": name, "type": of_axis }),
        None => json!({ "name": name }),
    };
    let alike = axes.iter().filter(|other| kind(other) == kind(&axis)).count();
    let most = if kind(&axis) == 2 { 2 } else { 0 };
    let is_first = axes.iter().all(|other| kind(&axis) <= kind(other));
    if !is_first || alike > most || known.iter().any(|known| known == name) {
        return Err(format!(
            "OME-Zarr has one axis of time, then one of channels, then up to three of space: an axis {name} \
             cannot come before {}; time is t, channels are c",
            known.join(", ")
        ));
    }
    axes.insert(0, axis);
    let mut parts = vec![&mut *image];
    while let Some(part) = parts.pop() {
        let Some(part) = part.as_object_mut() else { continue };
        for (key, value) in part.iter_mut() {
            match (key.as_str(), value.as_array_mut()) {
                ("datasets", Some(levels)) => parts.extend(levels),
                ("coordinateTransformations", Some(all)) => {
                    all.iter_mut().try_for_each(add_to_transformation)?;
                }
                _ => {}
            }
        }
    }
    Ok(())
}

fn add_to_transformation(one: &mut Value) -> Result<(), String> {
    for (kind, number) in [("scale", 1.0), ("translation", 0.0)] {
        if one.get("type").and_then(Value::as_str) == Some(kind)
            && let Some(numbers) = one.get_mut(kind).and_then(Value::as_array_mut)
        {
            numbers.insert(0, number.into());
            return Ok(());
        }
    }
    match one.get("type").and_then(Value::as_str) {
        Some("identity") if one.get("input").is_none() => Ok(()),
        _ => Err(format!("no axis can be added to the transformation {one}")),
    }
}
