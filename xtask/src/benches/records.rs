//! The records of a run of the benchmarks: tables of rows of times.

use std::path::PathBuf;

use crate::run::target;

/// The folder of a run: its records, and the page made from them.
pub(crate) fn folder() -> PathBuf {
    target().join("bench")
}

/// The records of the last run.
pub(crate) fn records() -> PathBuf {
    folder().join("all.tsv")
}

/// How a time relates to ours.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Role {
    Ours,
    Peer,
    Floor,
    Other,
}

#[derive(Debug, PartialEq)]
pub(crate) struct Time {
    pub(crate) role: Role,
    pub(crate) who: String,
    pub(crate) nanoseconds: f64,
}

#[derive(Debug, PartialEq)]
pub(crate) struct Row {
    pub(crate) name: String,
    pub(crate) times: Vec<Time>,
}

impl Row {
    pub(crate) fn ours(&self) -> Option<&Time> {
        self.times.iter().find(|time| time.role == Role::Ours)
    }

    /// The times of all others, as multiples of ours.
    pub(crate) fn relative(&self) -> impl Iterator<Item = (&Time, f64)> {
        let ours = self.ours();
        let others = self.times.iter().filter(|time| time.role != Role::Ours);
        others.filter_map(move |time| Some((time, time.nanoseconds / ours?.nanoseconds)))
    }
}

#[derive(Debug, PartialEq)]
pub(crate) struct Table {
    pub(crate) name: String,
    pub(crate) rows: Vec<Row>,
}

impl Table {
    /// The other programs, in the order in which they appear.
    pub(crate) fn peers(&self) -> Vec<&str> {
        let mut names: Vec<&str> = Vec::new();
        for (time, _) in self.rows.iter().flat_map(Row::relative) {
            if !names.contains(&time.who.as_str()) {
                names.push(&time.who);
            }
        }
        names
    }
}

/// What a line holds before a record, and the record: some programs print records while they print
/// a row of their own.
pub(crate) fn split(line: &str) -> Option<(&str, &str)> {
    line.split_once("record\t")
}

/// Tables and rows in the order in which they first appear.
pub(crate) fn parse(text: &str) -> Result<Vec<Table>, String> {
    let mut tables: Vec<Table> = Vec::new();
    for line in text.lines() {
        let fields: Vec<&str> = line.split('\t').collect();
        let [table, row, role, who, nanoseconds] = fields[..] else {
            return Err(format!("not five fields: {line:?}"));
        };
        let role = match role {
            "ours" => Role::Ours,
            "peer" => Role::Peer,
            "floor" => Role::Floor,
            "other" => Role::Other,
            _ => return Err(format!("no such role: {role:?}")),
        };
        let nanoseconds = nanoseconds.parse().ok().filter(|time: &f64| *time > 0.0);
        let nanoseconds = nanoseconds.ok_or_else(|| format!("not a time: {line:?}"))?;
        let at = tables.iter().position(|known| known.name == table).unwrap_or_else(|| {
            tables.push(Table { name: table.to_owned(), rows: Vec::new() });
            tables.len() - 1
        });
        let rows = &mut tables[at].rows;
        let at = rows.iter().position(|known| known.name == row).unwrap_or_else(|| {
            rows.push(Row { name: row.to_owned(), times: Vec::new() });
            rows.len() - 1
        });
        rows[at].times.push(Time { role, who: who.to_owned(), nanoseconds });
    }
    Ok(tables)
}

#[cfg(test)]
mod tests {
    use super::{Role, parse, split};

    #[test]
    fn records_become_tables_in_order() {
        let text =
            "t\tb\tours\tus\t2\nt\ta\tours\tus\t1\nt\tb\tpeer\tthem\t3.5\nu\ta\tfloor\tcopy\t4";
        let tables = parse(text).unwrap();
        assert_eq!(tables.iter().map(|table| &table.name).collect::<Vec<_>>(), ["t", "u"]);
        let rows = &tables[0].rows;
        assert_eq!(rows.iter().map(|row| &row.name).collect::<Vec<_>>(), ["b", "a"]);
        let relative: Vec<_> = rows[0].relative().collect();
        assert_eq!(relative.len(), 1);
        assert_eq!((relative[0].0.role, relative[0].1), (Role::Peer, 1.75));
        assert_eq!(tables[1].rows[0].relative().count(), 0);
    }

    #[test]
    fn a_record_may_begin_within_a_line() {
        assert_eq!(split("record\tt\tr"), Some(("", "t\tr")));
        assert_eq!(split("  164.1record\tt\tr"), Some(("  164.1", "t\tr")));
        assert_eq!(split("  164.1"), None);
    }

    #[test]
    fn broken_records_are_refused() {
        for text in ["t\ta\tours\tus", "t\ta\tour\tus\t1", "t\ta\tours\tus\tx", "t\ta\tours\tus\t0"]
        {
            assert!(parse(text).is_err(), "{text}");
        }
    }
}
