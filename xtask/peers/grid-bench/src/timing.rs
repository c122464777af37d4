//! Interleaved repetitions, the best of each, and tables.

use std::time::Instant;

/// A thing to time: what it is called, how many operations it does, and the thing.
pub struct Case<'a> {
    name: &'static str,
    operations: usize,
    run: Box<dyn FnMut() + 'a>,
}

impl<'a> Case<'a> {
    pub fn new(name: &'static str, operations: usize, run: impl FnMut() + 'a) -> Case<'a> {
        Case { name, operations, run: Box::new(run) }
    }
}

/// Nanoseconds an operation by name, the first being the peer.
pub type Row = Vec<(&'static str, f64)>;

const ROUNDS: usize = 11;

/// The best time of each case over rounds that run all of them in turn: on a machine that others
/// share it is what repeats.
pub fn run<'a>(cases: impl IntoIterator<Item = Case<'a>>) -> Row {
    let mut cases: Vec<Case<'a>> = cases.into_iter().collect();
    let mut times = vec![Vec::new(); cases.len()];
    for _ in 0..ROUNDS {
        for (case, times) in cases.iter_mut().zip(&mut times) {
            // Once untimed: what the case before left in the caches is not this one's cost.
            (case.run)();
            let start = Instant::now();
            (case.run)();
            times.push(start.elapsed().as_nanos() as f64 / case.operations as f64);
        }
    }
    let best = |times: &Vec<f64>| times.iter().copied().fold(f64::INFINITY, f64::min);
    cases.iter().zip(&times).map(|(case, times)| (case.name, best(times))).collect()
}

/// Prints rows of the same cases as a Markdown table, with the first case's ratio to each.
pub fn table(title: &str, rows: &[(String, Row)]) {
    println!("\n### {title}\n");
    let Some((_, first)) = rows.first() else { return };
    record(title, rows);
    let names: Vec<&str> = first.iter().map(|(name, _)| *name).collect();
    println!("| | {} |", names.join(" | "));
    println!("| --- |{}", " --- |".repeat(names.len()));
    for (name, row) in rows {
        let peer = row[0].1;
        let cells: Vec<String> = row
            .iter()
            .enumerate()
            .map(|(at, (_, time))| match at {
                0 => format!("{time:.1}"),
                _ => format!("{time:.1} ({:.1}x)", peer / time),
            })
            .collect();
        println!("| {name} | {} |", cells.join(" | "));
    }
}

/// Prints every time, for `cargo xtask bench`. Whatever is not a peer's is ours, of which the first
/// is the one to compare.
fn record(title: &str, rows: &[(String, Row)]) {
    if std::env::var_os("BENCH_RECORDS").is_none() {
        return;
    }
    let unit = if title.ends_with("microseconds") { 1e3 } else { 1.0 };
    for (name, row) in rows {
        let is_peer = |who: &str| who.starts_with("zarrs") || who.starts_with("serde_json");
        let first = row.iter().position(|(who, _)| !is_peer(who));
        for (at, (who, time)) in row.iter().enumerate() {
            let role = match first {
                _ if is_peer(who) => "peer",
                Some(first) if first == at => "ours",
                _ => "other",
            };
            println!("record\tgrids: {title}\t{name}\t{role}\t{who}\t{}", time * unit);
        }
    }
}

/// A small generator with a seed (splitmix64).
pub struct Random(pub u64);

impl Random {
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    pub fn below(&mut self, limit: u64) -> u64 {
        self.next() % limit
    }
}
