//! One behaviour behind every face: each operation leaves the same objects, or is refused, by the
//! library in Rust as by the command, on each kind of place. `test_faces.py` compares the command with
//! Python.

use std::collections::BTreeMap;
use std::error::Error;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;

use serde_json::Value;
use zarr_kit::array::store::{Links, Store, StoreExt as _, UpdatePolicy};
use zarr_kit::array::{Resize, delete_node};
use zarr_kit::copy::{CopyOptions, copy_array, create_over};
use zarr_kit::join::rearrange::{GroupRearrangement, Rearrangement, Span};
use zarr_kit::join::{Arrangement, Join, JoinOptions, Member};
use zarr_kit::metadata::ChunkGrid;
use zarr_kit::place::PlaceOptions;
use zarr_kit::virtual_join::{AxisOf, StoredDocument};
use zarr_kit::{
    Array, ArrayBuilder, ArrayMetadata, DataType, Group, GroupMetadata, Opened, Prefix,
};

use crate::support::{command, run_with, succeed};
#[cfg(feature = "remote")]
use zarr_store_tests::server::Server;

type Done = Result<(), Box<dyn Error>>;

/// A place with a group of three months.
struct Place {
    folder: PathBuf,
    name: &'static str,
    /// The endpoint of a server with a bucket, in which the place is.
    endpoint: Option<String>,
}

impl Place {
    fn below(&self, name: &str) -> String {
        let place = match &self.endpoint {
            Some(_) => Path::new("s3://bucket").join(self.folder.file_name().expect("a name")),
            None => self.folder.join(self.name),
        };
        let place = if name.is_empty() { place } else { place.join(name) };
        place.to_str().expect("UTF-8").to_owned()
    }

    fn options(&self) -> PlaceOptions {
        match &self.endpoint {
            #[cfg(feature = "remote")]
            Some(endpoint) => PlaceOptions::new().store(Server::options(endpoint)),
            _ => PlaceOptions::new(),
        }
    }

    /// The message of the command if it is refused.
    fn command(&self, arguments: &[&str]) -> Option<String> {
        let mut command = command(&self.folder, arguments);
        if let Some(endpoint) = &self.endpoint {
            let settings =
                [("REGION", "us-east-1"), ("ALLOW_HTTP", "true"), ("SKIP_SIGNATURE", "true")];
            command.env("AWS_ENDPOINT_URL", endpoint);
            command.envs(settings.map(|(name, value)| (format!("AWS_{name}"), value)));
        }
        let output = command.output().expect("runs");
        (!output.status.success()).then(|| String::from_utf8_lossy(&output.stderr).into_owned())
    }

    fn open(&self, name: &str) -> Result<Opened, Box<dyn Error>> {
        Ok(Opened::open(&self.below(name), &self.options())?)
    }

    /// Does the work in the store at a place, as one change.
    fn change(&self, name: &str, work: impl FnOnce(&Arc<dyn Store>) -> Done) -> Done {
        changed(&self.open(name)?, work)
    }

    /// The same where there may be nothing.
    fn create(&self, name: &str, work: impl FnOnce(&Arc<dyn Store>) -> Done) -> Done {
        let opened = Opened::create(&self.below(name), &self.options())?;
        changed(&opened, work).inspect_err(|_| opened.abandon())
    }

    fn array(&self, name: &str, work: impl FnOnce(Array) -> Done) -> Done {
        self.change(name, |store| work(Array::open(store.clone(), &Prefix::root())?))
    }

    fn rearrange(&self, name: &str, kept: &[std::ops::Range<u64>]) -> Done {
        if self.name.ends_with(".zjoin") {
            let document =
                StoredDocument::open(&self.below(name), &PlaceOptions::new().of_joins())?;
            let spans: Vec<_> = kept.iter().cloned().map(Span::Kept).collect();
            let planned = document.rearrange(AxisOf::Named("day"), &spans, false)?;
            return Ok(planned.write(UpdatePolicy::RequireExclusion)?);
        }
        let spans = kept.iter().cloned();
        self.change(name, |store| {
            if name.is_empty() {
                let group = Group::open(store.clone(), &Prefix::root())?;
                let plan = GroupRearrangement::plan(&group, "day", spans.map(Span::Kept), false)?;
                return Ok(plan.execute(&|_| {})?);
            }
            let array = Array::open(store.clone(), &Prefix::root())?;
            Rearrangement::plan(&array, 0, spans.map(Span::Kept))?.execute(&|_| {})?;
            Ok(())
        })
    }

    /// All objects by their names, documents as JSON, without what names a moment.
    fn objects(&self) -> BTreeMap<String, Result<Value, Vec<u8>>> {
        let path = self.folder.join(self.name);
        let mut found = BTreeMap::new();
        if self.endpoint.is_some() || self.name.ends_with(".zip") {
            let opened = self.open("").expect("opens");
            for key in opened.hierarchy().list(&Prefix::root(), Links::AsObjects) {
                let key = key.expect("lists");
                let bytes = opened.hierarchy().read(&key).expect("reads").expect("is there");
                found.insert(key.to_string(), bytes);
            }
        } else if path.is_file() {
            found.insert(self.name.to_owned(), fs::read(path).expect("reads"));
        } else {
            files(&path, "", &mut found);
        }
        let document = |bytes: Vec<u8>| match serde_json::from_slice(&bytes) {
            Ok(json) => Ok(without_times(json)),
            Err(_) => Err(bytes),
        };
        // They name a run, and stay in buckets.
        let is_marker = |name: &str| name.ends_with("zarr-kit-copy.json");
        let found = found.into_iter().filter(|(name, _)| !is_marker(name));
        found.map(|(name, bytes)| (name, document(bytes))).collect()
    }
}

fn changed(opened: &Opened, work: impl FnOnce(&Arc<dyn Store>) -> Done) -> Done {
    let changes = opened.change()?;
    work(changes.store())?;
    // Consolidated metadata that cannot follow is no error, as in the command.
    let _told = changes.commit()?;
    Ok(())
}

fn files(folder: &Path, above: &str, found: &mut BTreeMap<String, Vec<u8>>) {
    for entry in fs::read_dir(folder).expect("lists") {
        let entry = entry.expect("lists");
        let name = format!("{above}{}", entry.file_name().display());
        match entry.path().is_dir() {
            true => files(&entry.path(), &format!("{name}/"), found),
            false => {
                found.insert(name, fs::read(entry.path()).expect("reads"));
            }
        }
    }
}

fn without_times(json: Value) -> Value {
    match json {
        Value::Object(members) => {
            let times = ["last_modified", "chunks_last_updated_at", "joined_at"];
            let kept = members.into_iter().filter(|(name, _)| !times.contains(&name.as_str()));
            Value::Object(kept.map(|(name, value)| (name, without_times(value))).collect())
        }
        Value::Array(values) => values.into_iter().map(without_times).collect(),
        other => other,
    }
}

/// A group of two arrays in chunks of these lengths, with consolidated metadata.
fn months(folder: &Path, name: &str, lengths: &[u64], first: i16) {
    let days: u64 = lengths.iter().sum();
    let edges = lengths.iter().map(u64::to_string).collect::<Vec<_>>().join("|");
    succeed(folder, &["create", name, "--group", "--attributes", r#"{"title": "w"}"#]);
    for (array, dims, more) in [("rain", "day,x", ",4"), ("day", "day", "")] {
        let place = format!("{name}/{array}");
        let (shape, chunks) = (format!("{days}{more}"), format!("{edges}{more}"));
        let plain = ["--dtype", "int16", "--codecs", "bytes", "--dims", dims];
        let create = ["create", &place, "--shape", &shape, "--chunks", &chunks];
        succeed(folder, &[&create[..], &plain].concat());
        let wide: i16 = if more.is_empty() { 1 } else { 4 };
        let end = first + i16::try_from(days).expect("few");
        let values: Vec<u8> = (first * wide..end * wide).flat_map(i16::to_le_bytes).collect();
        let written = run_with(folder, &["write", &place, "--from", "-"], &values);
        assert!(written.status.success(), "{}", String::from_utf8_lossy(&written.stderr));
    }
    succeed(folder, &["consolidate", name]);
}

/// Makes a place of a kind in a folder.
fn make(at: &Path, name: &str) {
    match name {
        "w.zarr" => months(at, name, &[31, 28, 31], 0),
        "w.zip" => {
            months(at, "w.zarr", &[31, 28, 31], 0);
            succeed(at, &["copy", "w.zarr", name]);
        }
        _ => {
            // Programs that read references expect chunks of one length.
            let lengths = if name == "w.json" { [30, 30, 30] } else { [31, 28, 31] };
            let mut first = 0;
            for (number, length) in lengths.into_iter().enumerate() {
                months(at, &format!("{number}.zarr"), &[length], first);
                first += i16::try_from(length).expect("few");
            }
            let members =
                ["join", "0.zarr", "1.zarr", "2.zarr", "--along", "day", "--virtual", "-o"];
            succeed(at, &[&members[..], &["w.zjoin"]].concat());
            if name == "w.json" {
                succeed(at, &["export", "w.zjoin", name]);
            }
        }
    }
}

fn new(shape: &[u64], chunks: Option<&[u64]>) -> ArrayMetadata {
    let builder = ArrayBuilder::new(shape, DataType::Int16)
        .dimension_names(["day", "x"])
        .fill_value(-1)
        .attributes(r#"{"units": "mm"}"#);
    match chunks {
        Some(edges) => builder.chunks([edges.into(), 4.into()]),
        None => builder.chunk_shape(shape),
    }
    .build()
    .expect("a document")
}

// Codecs are the default ones of each face.
const NEW: [&str; 8] =
    ["--dtype", "int16", "--dims", "day,x", "--fill", "-1", "--attributes", r#"{"units": "mm"}"#];

type Typed = (&'static [&'static str], &'static [i16]);
type Operation = (&'static str, Typed, fn(&Place) -> Done);

/// The arguments of the command, of which the second is below the place, with its input; and the same
/// in Rust.
const OPERATIONS: &[Operation] = &[
    ("create", (&["create", "new", "--shape", "90,4", "--chunks", "31|28|31,4"], &[]), |place| {
        place.create("new", |store| {
            Array::create(store.clone(), &Prefix::root(), new(&[90, 4], Some(&[31, 28, 31])))?;
            Ok(())
        })
    }),
    ("create over", (&["create", "rain", "--shape", "3,4", "--chunks", "3,4"], &[]), |place| {
        place.create("rain", |store| {
            Array::create(store.clone(), &Prefix::root(), new(&[3, 4], None))?;
            Ok(())
        })
    }),
    (
        "overwrite",
        (&["create", "rain", "--shape", "3,4", "--chunks", "3,4", "--overwrite"], &[]),
        |place| {
            place.create("rain", |store| {
                create_over(store.clone(), &Prefix::root(), new(&[3, 4], None))?;
                Ok(())
            })
        },
    ),
    (
        "create in an array",
        (&["create", "rain/inner", "--shape", "3,4", "--chunks", "3,4"], &[]),
        |place| {
            place.create("rain/inner", |store| {
                Array::create(store.clone(), &Prefix::root(), new(&[3, 4], None))?;
                Ok(())
            })
        },
    ),
    (
        "create a group",
        (&["create", "more", "--group", "--attributes", r#"{"a": 1}"#], &[]),
        |place| {
            place.create("more", |store| {
                let metadata = GroupMetadata::new().with_attributes(r#"{"a": 1}"#)?;
                Group::create(store.clone(), &Prefix::root(), metadata)?;
                Ok(())
            })
        },
    ),
    ("write chunks", (&["write", "day", "--region", "31:59", "--from", "-"], &[7; 28]), |place| {
        place.array("day", |array| Ok(array.write_as::<i16>(31..59, &[7; 28])?))
    }),
    (
        "write parts of chunks",
        (&["write", "rain", "--region", "30:33,1:3", "--from", "-"], &[1, 2, 1, 2, 1, 2]),
        |place| {
            place.array("rain", |array| {
                Ok(array.write_as::<i16>([30..33, 1..3], &[1, 2, 1, 2, 1, 2])?)
            })
        },
    ),
    (
        "write a wrong shape",
        (&["write", "day", "--region", "0:3", "--from", "-"], &[1, 2]),
        |place| place.array("day", |array| Ok(array.write_as::<i16>(0..3, &[1, 2])?)),
    ),
    ("grow", (&["resize", "rain", "--shape", "121,4"], &[]), |place| {
        place.array("rain", |array| {
            array.resize([121, 4])?;
            Ok(())
        })
    }),
    (
        "grow by given chunks",
        (&["resize", "rain", "--shape", "120,4", "--edges", "day=10|20"], &[]),
        |place| {
            place.array("rain", |array| {
                array.resize(Resize::to([120, 4]).edges(0, [10, 20]))?;
                Ok(())
            })
        },
    ),
    ("shrink", (&["resize", "rain", "--shape", "40,3"], &[]), |place| {
        place.array("rain", |array| {
            array.resize([40, 3])?;
            Ok(())
        })
    }),
    ("shrink and keep", (&["resize", "rain", "--shape", "40,3", "--keep"], &[]), |place| {
        place.array("rain", |array| {
            array.resize(Resize::to([40, 3]).keep(true))?;
            Ok(())
        })
    }),
    ("append", (&["append", "day", "--from", "-", "--edges", "30"], &[7; 30]), |place| {
        place.array("day", |array| {
            array.append_as::<i16>(0, (30, [30]), &[7; 30])?;
            Ok(())
        })
    }),
    (
        "set attributes",
        (&["attrs", "rain", "--set", r#"units="mm""#, "--set", "scale=0.5"], &[]),
        |place| {
            place.array("rain", |array| {
                array.update_attributes(&[("units", Some(r#""mm""#)), ("scale", Some("0.5"))])?;
                Ok(())
            })
        },
    ),
    ("remove an attribute", (&["attrs", "", "--remove", "title"], &[]), |place| {
        place.change("", |store| {
            Group::open(store.clone(), &Prefix::root())?.update_attributes(&[("title", None)])?;
            Ok(())
        })
    }),
    ("delete", (&["delete", "rain", "--yes"], &[]), |place| {
        place.change("", |store| Ok(delete_node(store, &Prefix::new("rain")?)?))
    }),
    ("delete what is missing", (&["delete", "none", "--yes"], &[]), |place| {
        place.change("", |store| Ok(delete_node(store, &Prefix::new("none")?)?))
    }),
    ("copy within", (&["copy", "rain", "/again", "--chunks", "day=45"], &[]), |place| {
        copied(place, "again")
    }),
    ("copy to what exists", (&["copy", "rain", "/day", "--chunks", "day=45"], &[]), |place| {
        copied(place, "day")
    }),
    ("join within", (&["join", "rain", "/rain", "--along", "day", "-o", "/twice"], &[]), |place| {
        place.change("", |store| {
            let rain = place.open("rain")?.array()?;
            let members = ["a", "b"].map(|name| Member::new(name, rain.clone())).to_vec();
            let plan = Join::new(members, Arrangement::Along(0)).plan()?;
            plan.execute(store, &Prefix::new("twice")?, &JoinOptions::new(), &|_| {})?;
            Ok(())
        })
    }),
    (
        "remove a month",
        (&["rearrange", "", "--axis", "day", "--order", "0:31,59:90"], &[]),
        |place| place.rearrange("", &[0..31, 59..90]),
    ),
    ("order chunks", (&["rearrange", "rain", "--order", "59:90,0:59"], &[]), |place| {
        place.rearrange("rain", &[59..90, 0..59])
    }),
    ("cut a chunk", (&["rearrange", "rain", "--order", "5:90"], &[]), |place| {
        place.rearrange("rain", std::slice::from_ref(&(5..90)))
    }),
    ("consolidate", (&["consolidate", ""], &[]), |place| {
        place.change("", |store| {
            Group::open(store.clone(), &Prefix::root())?.consolidate()?;
            Ok(())
        })
    }),
];

fn copied(place: &Place, name: &str) -> Done {
    let rain = place.open("rain")?.array()?;
    let grid = ChunkGrid::Regular { chunk_shape: vec![45, 4] };
    let metadata = rain.metadata().with_shape_and_grid(rain.shape(), &grid)?;
    place.create(name, |store| {
        copy_array(
            &rain,
            store.clone(),
            &Prefix::root(),
            metadata,
            &CopyOptions::new(),
            &mut |_| {},
        )?;
        Ok(())
    })
}

/// The message of the command if it is refused.
fn by_command(place: &Place, (arguments, input): Typed) -> Option<String> {
    let bytes: Vec<u8> = input.iter().flat_map(|value| value.to_le_bytes()).collect();
    fs::write(place.folder.join("input.raw"), bytes).expect("writes");
    let mut typed: Vec<String> = Vec::new();
    for (number, argument) in arguments.iter().enumerate() {
        typed.push(match argument.strip_prefix('/') {
            Some(name) => place.below(name),
            None if number == 1 => place.below(argument),
            None if *argument == "-" => "input.raw".to_owned(),
            None => (*argument).to_owned(),
        });
    }
    if arguments[0] == "create" && !arguments.contains(&"--group") {
        typed.extend(NEW.map(str::to_owned));
    }
    place.command(&typed.iter().map(String::as_str).collect::<Vec<_>>())
}

#[test]
fn rust_leaves_the_same_as_the_command_or_refuses() {
    compare(&["w.zarr", "w.zip", "w.zjoin", "w.json"], None);
}

#[cfg(feature = "remote")]
#[test]
fn rust_leaves_the_same_in_a_bucket() {
    compare(&["w.zarr"], Some(&Server::start().endpoint));
}

fn compare(kinds: &[&'static str], endpoint: Option<&String>) {
    let folder = tempfile::tempdir().expect("makes a folder");
    let mut faults = Vec::new();
    for &kind in kinds {
        let below = folder.path().join(kind.replace('.', " "));
        let made = below.join("made");
        fs::create_dir_all(&made).expect("makes a folder");
        make(&made, kind);
        for (name, command, call) in OPERATIONS {
            let place = |face: &str| {
                let folder = below.join(format!("{name} {face}").replace(' ', "-"));
                // With its times, which virtual joins compare.
                let copied = Command::new("cp").arg("-a").args([&made, &folder]).status();
                assert!(copied.expect("runs").success());
                let place = Place { folder, name: kind, endpoint: endpoint.cloned() };
                if endpoint.is_some() {
                    assert_eq!(place.command(&["copy", kind, &place.below("")]), None);
                }
                place
            };
            let (first, second) = (place("command"), place("rust"));
            let before = first.objects();
            let refused = by_command(&first, *command);
            let failed = call(&second).err().map(|error| error.to_string());
            if refused.is_some() != failed.is_some() {
                faults.push(format!("{kind}: {name}: {refused:?}, {failed:?}"));
            }
            let (left, also) = (first.objects(), second.objects());
            let names = left.keys().chain(also.keys());
            let both = names.map(|name| (name, left.get(name), also.get(name)));
            let differ: Vec<_> = both.filter(|(_, left, also)| left != also).collect();
            if !differ.is_empty() {
                faults.push(format!("{kind}: {name}: {differ:?}"));
            }
            // Options are the command's.
            if failed.is_some_and(|said| said.contains("--")) {
                faults.push(format!("{kind}: {name}: names an option"));
            }
            if refused.is_some() && left != before {
                faults.push(format!("{kind}: {name}: refused, and changed"));
            }
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}
