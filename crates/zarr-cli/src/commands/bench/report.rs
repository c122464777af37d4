//! The output of `bench`.

use std::num::NonZeroUsize;
use std::time::Duration;

use serde_json::{Value, json};
use zarr_kit::codec::Metered;
use zarr_kit::metadata::CodecKind;
use zarr_kit::report::{Table, words};
use zarr_kit::{Array, Codec, Selection};

use super::counts::Fetched;
use super::reading::Reading;
use crate::error::CliError;
use crate::output::print::{Out, print_table};

/// Where the time of a read on one thread went.
#[derive(Debug)]
pub(super) struct Stages {
    stages: Vec<Stage>,
    /// Bytes of objects; without any, every element is the fill value.
    stored: u64,
    total: Duration,
}

#[derive(Debug)]
struct Stage {
    kind: Kind,
    time: Duration,
}

#[derive(Debug)]
enum Kind {
    Fetch(Fetched),
    Decode(Metered),
    /// With the names of the codecs that belong to it.
    Place(Vec<String>),
}

impl Stages {
    /// Divides the time of a read among the store, the counted codecs, and the rest, which is the
    /// time of the other codecs.
    pub(super) fn new(reading: &Reading, codecs: Vec<Metered>, chain: &[Codec]) -> Self {
        let fetched = reading.fetched;
        let mut left = reading.time;
        let mut stages = vec![Stage { kind: Kind::Fetch(fetched), time: fetched.time.min(left) }];
        left = left.saturating_sub(fetched.time);
        for codec in codecs {
            let time = codec.time.min(left);
            left = left.saturating_sub(time);
            stages.push(Stage { kind: Kind::Decode(codec), time });
        }
        let mut names = Vec::new();
        uncounted(chain, &mut names);
        stages.push(Stage { kind: Kind::Place(names), time: left });
        Self { stages, stored: fetched.bytes, total: reading.time }
    }

    /// Of all time, from 0 to 1.
    fn share(&self, stage: &Stage) -> f64 {
        match self.total.as_secs_f64() {
            0.0 => 0.0,
            total => stage.time.as_secs_f64() / total,
        }
    }

    /// The name of a stage. Codecs with the same name are distinguished by their place.
    fn name(&self, stage: &Stage) -> String {
        match &stage.kind {
            Kind::Fetch(_) => "fetching".to_owned(),
            Kind::Place(_) => "placing elements".to_owned(),
            Kind::Decode(codec) => {
                let same = self.stages.iter().filter(
                    |stage| matches!(&stage.kind, Kind::Decode(other) if other.name == codec.name),
                );
                match same.count() {
                    1 => format!("decoding {}", codec.name),
                    _ => format!("decoding {} ({})", codec.name, codec.path),
                }
            }
        }
    }

    /// One sentence.
    fn conclusion(&self) -> String {
        if self.stored == 0 {
            return "no chunk of it is stored: all elements are the fill value, and nothing is \
                    decoded"
                .to_owned();
        }
        let mut stages: Vec<(f64, String)> =
            self.stages.iter().map(|stage| (self.share(stage), self.name(stage))).collect();
        stages.sort_by(|one, other| other.0.total_cmp(&one.0));
        let in_words: Vec<String> = stages
            .iter()
            .map(|(share, name)| format!("{name} takes {}", percent(*share)))
            .collect();
        match (stages.as_slice(), in_words.as_slice()) {
            ([(share, _), ..], [first, ..]) if *share >= 0.5 => format!("{first} of the time"),
            (_, [first, second, ..]) => format!("nothing dominates: {first} of the time, {second}"),
            _ => String::new(),
        }
    }
}

/// The names of codecs without a count of their own, also of those within shards.
fn uncounted(chain: &[Codec], names: &mut Vec<String>) {
    for codec in chain {
        match codec {
            Codec::ShardingIndexed(sharding) => {
                names.push(codec.name().to_owned());
                uncounted(&sharding.codecs, names);
            }
            codec if matches!(codec.kind(), Some(CodecKind::BytesToBytes) | None) => {}
            codec => names.push(codec.name().to_owned()),
        }
    }
}

/// A share in whole percent.
fn percent(share: f64) -> String {
    format!("{:.0}%", share * 100.0)
}

fn milliseconds(time: Duration) -> String {
    match time.as_secs_f64() * 1e3 {
        ms if ms < 9.995 => format!("{ms:.2} ms"),
        ms if ms < 999.5 => format!("{ms:.0} ms"),
        ms => format!("{:.2} s", ms / 1e3),
    }
}

pub(super) struct Report<'a> {
    pub(super) place: &'a str,
    pub(super) array: &'a Array,
    pub(super) region: &'a Selection,
    /// Chunks of the region.
    pub(super) chunks: u64,
    pub(super) threads: Option<NonZeroUsize>,
    pub(super) opened: Duration,
    pub(super) first: Reading,
    pub(super) again: Reading,
    /// `None` if the stages cannot be told apart.
    pub(super) stages: Option<Stages>,
}

impl Report<'_> {
    fn conclusion(&self) -> String {
        match &self.stages {
            _ if self.first.boxes == 0 => "there are no elements to read".to_owned(),
            None => {
                "the array is a virtual join: whether its members took the time to fetch or to decode \
                 is not told apart; `bench` of one of them does so"
                    .to_owned()
            }
            Some(stages) => stages.conclusion(),
        }
    }

    pub(super) fn print(&self, out: &mut Out) -> Result<(), CliError> {
        let Self { first, again, .. } = self;
        let mut table = Table::default();
        let of = match first.chunks == self.chunks {
            true => words::counted(self.chunks, "chunk"),
            false => format!(
                "{} of {} in the time that --seconds gives",
                words::count(first.chunks),
                words::counted(self.chunks, "chunk")
            ),
        };
        table.row(
            "read",
            format_args!(
                "{} of {}, {}",
                words::counted(first.elements, "element"),
                words::data_type(self.array.data_type()),
                words::bytes(first.bytes.into())
            ),
        );
        table.row("chunks", of);
        if self.stages.is_some() && first.boxes > 0 {
            let Fetched { requests, missing, bytes, .. } = first.fetched;
            let mut text = format!(
                "{} by {}",
                words::bytes(bytes.into()),
                words::counted(requests, "request")
            );
            if missing > 0 {
                text.push_str(&format!(
                    ", {} for chunks that are not stored",
                    words::count(missing)
                ));
            }
            table.row("fetched", text);
        }
        table.row("opened", format_args!("in {}", milliseconds(self.opened)));
        if first.boxes > 0 {
            table.row("first read", self.rates(first));
            let rounds = match again.rounds {
                0 => "in part".to_owned(),
                rounds => words::counted(rounds, "time"),
            };
            table.row("read again", format_args!("{}; {rounds}", self.rates(again)));
        }
        if let Some(stages) = self.stages.as_ref().filter(|_| first.boxes > 0) {
            table.row("on one thread", milliseconds(stages.total));
            for stage in &stages.stages {
                let detail = match &stage.kind {
                    Kind::Fetch(fetched) => rate(fetched.bytes, stage.time),
                    Kind::Decode(codec) => format!(
                        "{}, {} times",
                        rate(codec.decoded, stage.time),
                        words::count(codec.calls)
                    ),
                    Kind::Place(names) => names.join(", "),
                };
                let share = percent(stages.share(stage));
                table
                    .row(format!("  {}", stages.name(stage)), format_args!("{share:>4}  {detail}"));
            }
        }
        print_table(&table, out)?;
        out.line("")?;
        out.line(self.conclusion())
    }

    fn rates(&self, reading: &Reading) -> String {
        let stored = match self.stages.is_some() {
            true => format!("{} stored, ", rate(reading.fetched.bytes, reading.time)),
            false => String::new(),
        };
        let chunks = per_second(reading.chunks, reading.time);
        format!(
            "{}: {} of elements, {stored}{} chunks/s",
            milliseconds(reading.time),
            rate(reading.bytes, reading.time),
            words::count(whole(chunks))
        )
    }

    pub(super) fn document(&self) -> Value {
        json!({
            "array": self.place,
            "shape": self.region.shape(),
            "chunks": self.chunks,
            "threads": self.threads,
            "is_complete": self.first.chunks == self.chunks,
            "open_seconds": self.opened.as_secs_f64(),
            "first": self.reading(&self.first),
            "again": self.reading(&self.again),
            "stages": self.stages.as_ref().filter(|_| self.first.boxes > 0).map(stages),
            "conclusion": self.conclusion(),
        })
    }

    fn reading(&self, reading: &Reading) -> Value {
        let Reading { time, rounds, chunks, elements, bytes, fetched, .. } = reading;
        let mut document = json!({
            "seconds": time.as_secs_f64(), "rounds": rounds, "chunks": chunks,
            "elements": elements, "element_bytes": bytes,
            "element_bytes_per_second": per_second(*bytes, *time),
            "chunks_per_second": per_second(*chunks, *time),
        });
        if let (true, Some(members)) = (self.stages.is_some(), document.as_object_mut()) {
            members.insert("stored_bytes".to_owned(), fetched.bytes.into());
            let rate = per_second(fetched.bytes, *time);
            members.insert("stored_bytes_per_second".to_owned(), rate.into());
            members.insert("requests".to_owned(), fetched.requests.into());
            members.insert("requests_not_stored".to_owned(), fetched.missing.into());
        }
        document
    }
}

fn stages(stages: &Stages) -> Value {
    let all = stages.stages.iter().map(|stage| {
        let mut document = match &stage.kind {
            Kind::Fetch(fetched) => {
                json!({"stage": "fetch", "requests": fetched.requests, "bytes": fetched.bytes})
            }
            Kind::Decode(codec) => json!({
                "stage": "decode", "codec": codec.name, "path": codec.path, "calls": codec.calls,
                "encoded_bytes": codec.encoded, "decoded_bytes": codec.decoded,
            }),
            Kind::Place(names) => json!({"stage": "place", "codecs": names}),
        };
        if let Some(members) = document.as_object_mut() {
            members.insert("seconds".to_owned(), stage.time.as_secs_f64().into());
            members.insert("share".to_owned(), stages.share(stage).into());
        }
        document
    });
    all.collect()
}

#[expect(clippy::cast_precision_loss, reason = "a rate")]
fn per_second(count: u64, time: Duration) -> f64 {
    match time.as_secs_f64() {
        0.0 => 0.0,
        seconds => count as f64 / seconds,
    }
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "it saturates")]
fn whole(number: f64) -> u64 {
    number.round() as u64
}

fn rate(bytes: u64, time: Duration) -> String {
    format!("{}/s", words::bytes(whole(per_second(bytes, time)).into()))
}
