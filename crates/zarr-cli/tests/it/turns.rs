//! Random histories by two builds of the command in turn on one store, with a model in memory.
//!
//! `ZARR_KIT_EARLIER` names the program of an earlier revision, as `cargo xtask earlier` sets it. Without
//! it, both are this build, in processes of their own.

use std::collections::BTreeMap;
use std::env;
use std::fs;
use std::process::{Child, Command, Output, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use tempfile::TempDir;

use crate::support::file;

const WIDTH: usize = 3;
const MOST_ROWS: usize = 60;

type Rows = Vec<[i16; WIDTH]>;

/// The last are shards.
const CODECS: [&str; 4] = [
    "bytes,crc32c",
    "packbits:12,crc32c",
    "transpose,bytes,crc32c",
    r#"[{"name": "sharding_indexed", "configuration": {"chunk_shape": [1, 1],
        "codecs": [{"name": "bytes", "configuration": {"endian": "big"}}],
        "index_codecs": [{"name": "bytes", "configuration": {"endian": "little"}}]}}]"#,
];

#[derive(Clone, Default)]
struct Model {
    rows: Rows,
    attributes: BTreeMap<String, usize>,
}

struct Turns {
    folder: TempDir,
    programs: [String; 2],
    random: u64,
    models: BTreeMap<String, Model>,
    names: usize,
    log: String,
    /// How often each kind of work was killed before its end, and completed or undone by the other build.
    resumed: BTreeMap<&'static str, usize>,
}

fn rows(bytes: &[u8]) -> Rows {
    let value = |two: &[u8]| i16::from_le_bytes([two[0], two[1]]);
    let row = |row: &[u8]| [value(&row[..2]), value(&row[2..4]), value(&row[4..])];
    bytes.chunks_exact(2 * WIDTH).map(row).collect()
}

impl Turns {
    fn begin(seed: u64, earlier: Option<String>) -> Self {
        let this = env!("CARGO_BIN_EXE_zarr-kit").to_owned();
        let programs = [earlier.unwrap_or_else(|| this.clone()), this];
        let folder = tempfile::tempdir().expect("makes a folder");
        let (models, resumed, log) = (BTreeMap::new(), BTreeMap::new(), format!("seed {seed}\n"));
        let mut turns = Self { folder, programs, random: seed, models, names: 0, log, resumed };
        let by = turns.below(2);
        turns.succeed(by, &["create", "g", "--group"]);
        turns
    }

    fn below(&mut self, below: usize) -> usize {
        let next = self.random.wrapping_mul(6_364_136_223_846_793_005);
        self.random = next.wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.random >> 33).expect("small") % below.max(1)
    }

    fn values(&mut self, count: usize) -> Rows {
        (0..count).map(|_| [(); WIDTH].map(|()| self.below(2_000) as i16)).collect()
    }

    /// One of the arrays.
    fn pick(&mut self) -> String {
        let at = self.below(self.models.len());
        self.models.keys().nth(at).expect("there are arrays").clone()
    }

    fn new_name(&mut self) -> String {
        self.names += 1;
        format!("g/a{}", self.names)
    }

    /// A file with elements to write.
    fn input(&self, elements: &[[i16; WIDTH]]) -> String {
        let name = format!("{}.raw", self.log.len());
        file(
            self.folder.path(),
            &name,
            elements.iter().flatten().flat_map(|value| value.to_le_bytes()).collect::<Vec<_>>(),
        );
        name
    }

    fn start(&mut self, by: usize, arguments: &[&str]) -> Child {
        self.log += &format!("{by} {arguments:?}\n");
        let mut command = Command::new(&self.programs[by]);
        command.args(arguments).current_dir(self.folder.path()).stdin(Stdio::null());
        command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("starts")
    }

    fn run(&mut self, by: usize, arguments: &[&str]) -> Output {
        self.start(by, arguments).wait_with_output().expect("ends")
    }

    fn succeed(&mut self, by: usize, arguments: &[&str]) -> Vec<u8> {
        let output = self.run(by, arguments);
        let said = [&output.stdout[..], &output.stderr].concat();
        let said = String::from_utf8_lossy(&said);
        assert!(output.status.success(), "{arguments:?} by {by}: {said}\n{}", self.log);
        output.stdout
    }

    /// Starts, and kills a little after a file appears.
    fn kill(&mut self, by: usize, arguments: &[&str], after: &str) {
        let (wait, begun) = (Duration::from_micros(self.below(8_000) as u64), Instant::now());
        let (mut child, after) = (self.start(by, arguments), self.folder.path().join(after));
        while child.try_wait().expect("is asked").is_none() && !after.exists() {
            assert!(begun.elapsed() < Duration::from_secs(60), "{arguments:?} hangs\n{}", self.log);
        }
        thread::sleep(wait);
        child.kill().expect("is killed, or has ended");
        child.wait().expect("ends");
    }

    fn read(&mut self, by: usize, name: &str) -> Rows {
        rows(&self.succeed(by, &["read", name, "-f", "raw"]))
    }

    /// Both builds read what the model has.
    fn verify(&mut self, name: &str) {
        let expected = self.models[name].clone();
        for by in [0, 1] {
            assert_eq!(self.read(by, name), expected.rows, "{name} by {by}\n{}", self.log);
            let found = self.succeed(by, &["attrs", name]);
            let found: BTreeMap<String, usize> = serde_json::from_slice(&found).expect("JSON");
            assert_eq!(found, expected.attributes, "{name} by {by}\n{}", self.log);
        }
    }

    fn create(&mut self) -> String {
        let (name, length) = (self.new_name(), self.below(12));
        let codecs = CODECS[self.below(CODECS.len())];
        let edges = ["3,1", "1x60,2|1"][self.below(2)];
        let shape = format!("{length},{WIDTH}");
        let new = ["create", &name, "--shape", &shape, "--dtype", "int16", "--chunks", edges];
        self.change(&[&new[..], &["--codecs", codecs]].concat(), false);
        let rows = vec![[0; WIDTH]; length];
        self.models.insert(name.clone(), Model { rows, attributes: BTreeMap::new() });
        name
    }

    fn model(&mut self, name: &str) -> &mut Model {
        self.models.get_mut(name).expect("is there")
    }

    /// Runs one of the builds, or kills it while it starts or runs.
    fn change(&mut self, arguments: &[&str], is_killed: bool) {
        let by = self.below(2);
        match is_killed {
            true => self.kill(by, arguments, ""),
            false => drop(self.succeed(by, arguments)),
        }
    }

    fn write(&mut self, name: &str, is_killed: bool) {
        let mut expected = self.models[name].rows.clone();
        let start = self.below(expected.len() + 1);
        let count = self.below(expected.len() - start + 1);
        let (new, region) = (self.values(count), format!("{start}:{}", start + count));
        let input = self.input(&new);
        self.change(&["write", name, "--from", &input, "--region", &region], is_killed);
        // Each element is old or new after a kill, and stays so.
        let found = self.read(1, name);
        for (row, (new, found)) in new.iter().zip(&found[start..]).enumerate() {
            for axis in 0..WIDTH {
                if !is_killed || found[axis] == new[axis] {
                    expected[start + row][axis] = new[axis];
                }
            }
        }
        self.model(name).rows = expected;
    }

    /// After a kill all of it is there, or nothing: then the same command completes it.
    fn append(&mut self, name: &str, is_killed: bool) {
        let (old, count) = (self.models[name].rows.len(), self.below(5));
        let new = self.values(count);
        let input = self.input(&new);
        let append = ["append", name, "--from", &input];
        self.change(&append, is_killed);
        if self.read(0, name).len() == old {
            self.change(&append, false);
        }
        self.model(name).rows.extend(new);
    }

    fn resize(&mut self, name: &str) {
        let length = self.below(MOST_ROWS);
        // The revision kept the elements past the end: it only lets arrays grow.
        let by = if length < self.models[name].rows.len() { 1 } else { self.below(2) };
        self.succeed(by, &["resize", name, "--shape", &format!("{length},{WIDTH}")]);
        self.model(name).rows.resize(length, [0; WIDTH]);
    }

    fn attributes(&mut self, name: &str) {
        let (key, value) = (format!("k{}", self.below(3)), self.below(1_000));
        self.change(&["attrs", name, "--set", &format!("{key}={value}")], false);
        self.model(name).attributes.insert(key, value);
    }

    /// Kills a copy or join. The other build goes on.
    fn transfer(&mut self, kind: &'static str, arguments: &[&str], to: &str, model: Model) {
        let by = self.below(2);
        let marker = format!("{to}/zarr-kit-copy.json");
        self.kill(by, arguments, &marker);
        let at = self.folder.path().join(to);
        let is_whole = at.join("zarr.json").exists() && !self.folder.path().join(&marker).exists();
        if !is_whole {
            let resume = [arguments, &["--resume"]].concat();
            let output = self.run(1 - by, &resume);
            // The earlier build may refuse what the later one began, and changes nothing then.
            if !output.status.success() {
                let said = String::from_utf8_lossy(&output.stderr);
                let refused = said.contains("not an interrupted copy") || said.contains("version");
                assert!(by == 1 && refused, "{resume:?}: {said}\n{}", self.log);
                self.succeed(by, &resume);
            }
            *self.resumed.entry(kind).or_default() += 1;
        }
        self.models.insert(to.to_owned(), model);
    }

    fn copy(&mut self, name: &str) {
        let (to, codecs) = (self.new_name(), CODECS[self.below(3)]);
        let copy = ["copy", name, &to, "--chunks", "1,1", "--codecs", codecs];
        self.transfer("copy", &copy, &to, self.models[name].clone());
    }

    fn join(&mut self, name: &str, other: &str) {
        let (to, mut model) = (self.new_name(), self.models[name].clone());
        let more = self.models[other].rows.clone();
        if model.rows.len() + more.len() > MOST_ROWS || model.rows.is_empty() || more.is_empty() {
            return;
        }
        model.rows.extend(more);
        self.transfer("join", &["join", name, other, "--along", "0", "-o", &to], &to, model);
    }

    /// Inserts a copy of an array in front of it, is killed, and the other build repairs.
    fn insert(&mut self, name: &str) {
        let (from, by) = (self.new_name(), self.below(2));
        self.succeed(by, &["copy", name, &from]);
        let old = self.models[name].rows.clone();
        let insert = ["rearrange", name, "--insert", &from, "--at", "0"];
        let marker = format!("{name}/zarr-kit-rearrange.json");
        self.kill(by, &insert, &marker);
        let is_marked = self.folder.path().join(&marker).exists();
        *self.resumed.entry("rearrange").or_default() += usize::from(is_marked);
        self.succeed(1 - by, &["check", name, "--repair", "--data"]);
        let found = self.read(1 - by, name);
        let new = [&old[..], &old[..]].concat();
        assert!(found == old || found == new, "{name}: {found:?}\n{}", self.log);
        self.model(name).rows = found;
        self.succeed(1 - by, &["delete", &from, "--yes"]);
    }

    /// Both builds write rows of the same chunks at the same time: locks of the one hold for the other.
    fn write_together(&mut self, name: &str) {
        let length = self.models[name].rows.len();
        let new = self.values(length.min(6));
        let children: Vec<_> = (0..new.len())
            .map(|row| {
                let (input, region) = (self.input(&new[row..=row]), format!("{row}:{}", row + 1));
                self.start(row % 2, &["write", name, "--from", &input, "--region", &region])
            })
            .collect();
        for child in children {
            let output = child.wait_with_output().expect("ends");
            let said = String::from_utf8_lossy(&output.stderr);
            assert!(output.status.success(), "{said}\n{}", self.log);
        }
        self.model(name).rows[..new.len()].copy_from_slice(&new);
    }

    fn step(&mut self) {
        let name = if self.models.is_empty() { self.create() } else { self.pick() };
        let kind = self.below(13);
        let room = self.models[&name].rows.len() * 2 <= MOST_ROWS;
        match kind {
            0 => drop(self.create()),
            1 | 2 => self.write(&name, kind == 1),
            3 | 4 if room => self.append(&name, kind == 3),
            5 => self.resize(&name),
            6 => self.attributes(&name),
            7 => self.copy(&name),
            8 | 9 => {
                let other = self.pick();
                self.join(&name, &other);
            }
            10 if room => self.insert(&name),
            11 => self.write_together(&name),
            12 if self.models.len() > 3 => {
                self.change(&["delete", &name, "--yes"], false);
                self.models.remove(&name);
                return;
            }
            _ => {}
        }
        self.verify(&name);
    }

    /// What both builds find and leave at the end.
    fn end(&mut self) {
        for name in self.models.keys().cloned().collect::<Vec<_>>() {
            self.verify(&name);
        }
        self.succeed(1, &["check", "g", "--repair", "--data"]);
        self.succeed(0, &["check", "g", "--data"]);
        let mut folders = vec![self.folder.path().join("g")];
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(folder).expect("lists") {
                let path = entry.expect("lists").path();
                let name = path.file_name().expect("has a name").to_string_lossy().into_owned();
                assert!(!name.contains("zarr-kit"), "{} is left\n{}", path.display(), self.log);
                if path.is_dir() {
                    folders.push(path);
                }
            }
        }
    }
}

#[test]
fn each_reads_and_completes_what_the_other_began() {
    let earlier = env::var("ZARR_KIT_EARLIER").ok();
    let seed: Option<u64> =
        env::var("ZARR_KIT_SEED").ok().map(|seed| seed.parse().expect("is a number"));
    let (histories, steps) = if earlier.is_some() { (20, 60) } else { (1, 20) };
    let mut resumed = BTreeMap::<_, usize>::new();
    for history in seed.map_or(0..histories, |seed| seed..seed + 1) {
        let mut turns = Turns::begin(history, earlier.clone());
        (0..steps).for_each(|_| turns.step());
        turns.end();
        for (kind, count) in turns.resumed {
            *resumed.entry(kind).or_default() += count;
        }
    }
    println!("killed, and ended by the other build: {resumed:?}");
    let are_many = resumed.len() == 3 && resumed.values().all(|count| *count > 2);
    assert!(earlier.is_none() || seed.is_some() || are_many, "{resumed:?}");
}
