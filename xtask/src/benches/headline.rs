//! The chart of the README: a few rows of the benchmarks' last run, in words that need no other page.
//!
//! Bars are times as multiples of ours on a linear scale. A bar that does not fit is cut and marked;
//! its number is written in full. One row is a case in which we lose.

use std::fmt::Write as _;

use crate::benches::records::{Role, Table};
use crate::benches::svg::escape;

/// The name of the picture.
pub(crate) const PICTURE: &str = "bench-headline.svg";

/// What is beside us, as the records call it and as the chart does, with its colour.
const PEERS: [(&str, &str, &str); 3] = [
    ("zarrs", "zarrs", "#d55e00"),
    ("zarr-python, fused", "zarr-python (fastest pipeline)", "#0072b2"),
    ("TensorStore", "TensorStore", "#e69f00"),
];
const OURS: &str = "#009e73";

/// The tables that a row is taken from: Rust programs in one, Python libraries in the other.
const ARRAYS: [&str; 2] =
    ["arrays of 256 MiB, 2 threads", "arrays of 256 MiB, 2 threads, beside Python libraries"];
const REGIONS: [&str; 2] = ["small regions", "small regions, beside Python libraries"];

/// A row: what is done, in plain words, where it is measured, and its name there.
const ROWS: [(&str, [&str; 2], &str); 8] = [
    ("read a mask, packed to 1 bit per value", ARRAYS, "bool-packbits, read, fresh"),
    ("write a mask, packed to 1 bit per value", ARRAYS, "bool-packbits, write"),
    ("read, zstd and axes transposed", ARRAYS, "uint16-transpose-zstd, read, fresh"),
    ("write, zstd and axes transposed", ARRAYS, "uint16-transpose-zstd, write"),
    ("read, zstd", ARRAYS, "uint16-zstd, read, fresh"),
    ("write, zstd", ARRAYS, "uint16-zstd, write"),
    ("write, not compressed", ARRAYS, "uint16-bytes, write"),
    ("read 16 x 16 values of a shard, zstd", REGIONS, "sharded-zstd, again"),
];

const WIDTH: f64 = 760.0;
const LEFT: f64 = 270.0;
const RIGHT: f64 = 700.0;
/// The multiple at the right end.
const LIMIT: f64 = 14.0;
const BAR: f64 = 11.0;
const GAP: f64 = 12.0;
const TOP: f64 = 76.0;

/// Draws the chart, or says which measurement the last run lacks.
pub(crate) fn headline(tables: &[Table]) -> Result<String, String> {
    let mut bars = String::new();
    let mut y = TOP;
    for (words, tables_of_row, name) in ROWS {
        let top = y;
        bar(&mut bars, &mut y, OURS, 1.0);
        for (who, _, colour) in PEERS {
            if let Some(ratio) = ratio(tables, tables_of_row, name, who)? {
                bar(&mut bars, &mut y, colour, ratio);
            }
        }
        let middle = f64::midpoint(top, y) + 4.0;
        let _ = writeln!(
            bars,
            "<text x=\"{}\" y=\"{middle:.1}\" text-anchor=\"end\">{}</text>",
            LEFT - 12.0,
            escape(words)
        );
        y += GAP;
    }
    let height = y + 8.0;
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {height}\" \
         font-family=\"sans-serif\" font-size=\"12\">\n\
         <title>Times of other libraries as multiples of zarr-kit's</title>\n\
         <rect width=\"{WIDTH}\" height=\"{height}\" fill=\"#ffffff\"/>\n\
         <text x=\"24\" y=\"24\" font-size=\"14\" font-weight=\"bold\">\
         Time as a multiple of zarr-kit's: shorter is faster</text>\n"
    );
    let mut x = 24.0;
    for (name, colour) in
        [("zarr-kit", OURS)].into_iter().chain(PEERS.map(|(_, name, colour)| (name, colour)))
    {
        let _ = writeln!(
            svg,
            "<rect x=\"{x}\" y=\"42\" width=\"12\" height=\"12\" fill=\"{colour}\"/>\n\
             <text x=\"{}\" y=\"52\">{name}</text>",
            x + 18.0
        );
        x += 52.0 + 7.0 * name.len() as f64;
    }
    let one = at(1.0);
    let _ = writeln!(
        svg,
        "<line x1=\"{one:.1}\" y1=\"{TOP}\" x2=\"{one:.1}\" y2=\"{y:.1}\" stroke=\"#888888\" \
         stroke-dasharray=\"3 3\"/>"
    );
    svg.push_str(&bars);
    svg.push_str("</svg>\n");
    Ok(svg)
}

/// Their time as a multiple of ours, if one of the tables has both; a row without ours is an error.
fn ratio(tables: &[Table], names: [&str; 2], row: &str, who: &str) -> Result<Option<f64>, String> {
    for name in names {
        let found = tables.iter().find(|table| table.name == name);
        let found = found.and_then(|table| table.rows.iter().find(|known| known.name == row));
        let found = found.ok_or_else(|| format!("the last run has no `{row}` in `{name}`"))?;
        let peer = found.relative().find(|(time, _)| time.role == Role::Peer && time.who == who);
        if let Some((_, ratio)) = peer {
            return Ok(Some(ratio));
        }
    }
    Ok(None)
}

fn at(ratio: f64) -> f64 {
    LEFT + ratio.min(LIMIT) / LIMIT * (RIGHT - LEFT)
}

fn bar(svg: &mut String, y: &mut f64, colour: &str, ratio: f64) {
    let end = at(ratio);
    let _ = writeln!(
        svg,
        "<rect x=\"{LEFT}\" y=\"{y:.1}\" width=\"{:.1}\" height=\"{}\" fill=\"{colour}\"/>",
        end - LEFT,
        BAR - 1.0
    );
    // A gap near the end of a bar says that it is cut.
    if ratio > LIMIT {
        let _ = writeln!(
            svg,
            "<rect x=\"{:.1}\" y=\"{y:.1}\" width=\"4\" height=\"{}\" fill=\"#ffffff\"/>",
            end - 16.0,
            BAR - 1.0
        );
    }
    let number = if ratio < 9.95 { format!("{ratio:.1}") } else { format!("{ratio:.0}") };
    let _ = writeln!(
        svg,
        "<text x=\"{:.1}\" y=\"{:.1}\" font-size=\"10\">{number}</text>",
        end + 4.0,
        *y + BAR - 2.0
    );
    *y += BAR;
}

#[cfg(test)]
mod tests {
    use super::{ROWS, headline};
    use crate::benches::records::parse;

    /// Every row in both of its tables, with our time 2 and one peer's.
    fn records(peer: f64) -> String {
        let mut text = String::new();
        for (_, tables, row) in ROWS {
            for table in tables {
                text += &format!("{table}\t{row}\tours\tzarr-kit\t2\n");
            }
            text += &format!("{}\t{row}\tpeer\tzarrs\t{peer}\n", tables[0]);
        }
        text
    }

    #[test]
    fn a_bar_is_as_long_as_its_ratio_and_a_long_one_is_cut() {
        let svg = headline(&parse(&records(4.0)).unwrap()).unwrap();
        assert_eq!(svg.matches(">2.0<").count(), ROWS.len());
        assert_eq!(svg.matches("width=\"4\"").count(), 0);
        let svg = headline(&parse(&records(200.0)).unwrap()).unwrap();
        assert_eq!(svg.matches(">100<").count(), ROWS.len());
        assert_eq!(svg.matches("width=\"4\"").count(), ROWS.len());
    }

    #[test]
    fn a_missing_measurement_is_named() {
        let message = headline(&parse("a\tb\tours\tzarr-kit\t2").unwrap()).unwrap_err();
        assert!(message.contains("bool-packbits, read, fresh"), "{message}");
    }
}
