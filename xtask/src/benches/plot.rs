//! `cargo xtask plot`: a chart for each table of the benchmarks' last run that is not too long,
//! beside its records, and the README's chart of a few rows in `docs/pictures/`
//! ([`mod@headline`]).
//!
//! Each row is a line, and each other program a dot on it: its time as a multiple of ours, on a
//! logarithmic scale. Programs left of the line at 1 were faster than we were.

use std::fmt::Write as _;
use std::fs;

use crate::benches::headline::{self, headline};
use crate::benches::records::{Role, Table, folder, last};
use crate::benches::svg::escape;
use crate::run::{Outcome, root};

const PICTURES: &str = "docs/pictures";

/// Okabe and Ito's colours, which nearly everybody can tell apart, without the faint yellow.
const COLOURS: &[&str] =
    &["#000000", "#d55e00", "#0072b2", "#009e73", "#cc79a7", "#e69f00", "#56b4e9"];

/// The width of the dots' area; the names of rows are to the left of it.
const FIELD: f64 = 520.0;
/// The approximate width of a letter.
const LETTER: f64 = 6.7;
const MARGIN: f64 = 24.0;
/// The gap between a name and the dots.
const GAP: f64 = 10.0;
const LINE: f64 = 18.0;
const LEGEND: f64 = 22.0;

/// Draws the charts, and removes earlier ones.
pub(crate) fn plot(arguments: &[String]) -> Outcome {
    if !arguments.is_empty() {
        return Err("usage: cargo xtask plot".to_owned());
    }
    let failed = |error: std::io::Error| format!("charts: {error}");
    let tables = last()?;
    for entry in fs::read_dir(folder()).map_err(failed)? {
        let path = entry.map_err(failed)?.path();
        if path.extension().is_some_and(|kind| kind == "svg") {
            fs::remove_file(path).map_err(failed)?;
        }
    }
    for table in &tables {
        if let Some(picture) = table.picture() {
            fs::write(folder().join(picture), chart(table)).map_err(failed)?;
        }
    }
    fs::write(root().join(PICTURES).join(headline::PICTURE), headline(&tables)?).map_err(failed)
}

/// A logarithmic scale between two multiples.
struct Scale {
    low: f64,
    high: f64,
    /// Where it begins, to the right of the longest name.
    left: f64,
}

impl Scale {
    /// A scale that includes every dot and the line at 1.
    fn of(table: &Table) -> Self {
        let ratios = || table.rows.iter().flat_map(|row| row.relative().map(|(_, ratio)| ratio));
        let longest = table.rows.iter().map(|row| row.name.chars().count()).max().unwrap_or(0);
        Self {
            low: ratios().fold(0.5, f64::min) / 1.2,
            high: ratios().fold(2.0, f64::max) * 1.2,
            left: MARGIN + LETTER * longest as f64 + GAP,
        }
    }

    fn x(&self, ratio: f64) -> f64 {
        let part = (ratio / self.low).ln() / (self.high / self.low).ln();
        self.left + part * FIELD
    }

    /// Multiples with a grid line: 1, 2 and 5 in each decade, or only 1 if there are many decades.
    fn ticks(&self) -> Vec<f64> {
        let steps: &[f64] = if self.high / self.low < 300.0 { &[1.0, 2.0, 5.0] } else { &[1.0] };
        (-4..=9)
            .flat_map(|power| steps.iter().map(move |step| step * 10_f64.powi(power)))
            .filter(|tick| (self.low..=self.high).contains(tick))
            .collect()
    }
}

fn chart(table: &Table) -> String {
    let others = table.peers();
    let scale = Scale::of(table);
    let (left, right) = (scale.left, scale.left + FIELD);
    let width = right + MARGIN;
    let columns = 4;
    let top = 34.0 + LEGEND * others.len().div_ceil(columns) as f64;
    let bottom = top + LINE * table.rows.len() as f64;
    let height = bottom + 44.0;
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width:.1} {height}\" \
         font-family=\"sans-serif\" font-size=\"12\">\n\
         <title>{title}: times of others as multiples of ours</title>\n\
         <rect width=\"{width:.1}\" height=\"{height}\" fill=\"#ffffff\"/>\n\
         <text x=\"{MARGIN}\" y=\"20\" font-size=\"14\" font-weight=\"bold\">{title}</text>\n",
        title = escape(&table.name)
    );
    for (at, who) in others.iter().enumerate() {
        let x = MARGIN + 6.0 + (at % columns) as f64 * (width - 2.0 * MARGIN) / columns as f64;
        let y = 38.0 + LEGEND * (at / columns) as f64;
        dot(&mut svg, x, y, at, role_of(table, who));
        let _ = writeln!(svg, "<text x=\"{}\" y=\"{}\">{}</text>", x + 10.0, y + 4.0, escape(who));
    }
    // The area of faster programs has its own background.
    let one = scale.x(1.0);
    let _ = writeln!(
        svg,
        "<rect x=\"{left:.1}\" y=\"{top}\" width=\"{:.1}\" height=\"{}\" fill=\"#fbeee6\"/>",
        one - left,
        bottom - top
    );
    for tick in scale.ticks() {
        let (x, colour) = (scale.x(tick), if tick == 1.0 { "#000000" } else { "#d0d0d0" });
        let _ = writeln!(
            svg,
            "<line x1=\"{x:.1}\" y1=\"{top}\" x2=\"{x:.1}\" y2=\"{bottom}\" stroke=\"{colour}\"/>\n\
             <text x=\"{x:.1}\" y=\"{}\" text-anchor=\"middle\">{tick}</text>",
            bottom + 16.0
        );
    }
    for (number, row) in table.rows.iter().enumerate() {
        let y = top + LINE * (number as f64 + 0.5);
        let _ = writeln!(
            svg,
            "<text x=\"{}\" y=\"{}\" text-anchor=\"end\">{}</text>\n\
             <line x1=\"{left:.1}\" y1=\"{y}\" x2=\"{}\" y2=\"{y}\" stroke=\"#eeeeee\"/>",
            left - GAP,
            y + 4.0,
            escape(&row.name),
            right
        );
        for (time, ratio) in row.relative() {
            let at = others.iter().position(|who| *who == time.who).unwrap_or_default();
            dot(&mut svg, scale.x(ratio), y, at, time.role);
        }
    }
    let _ = writeln!(
        svg,
        "<text x=\"{:.1}\" y=\"{}\" text-anchor=\"middle\">time as a multiple of ours: \
         right of 1 is slower than we are, left of it faster</text>\n</svg>",
        f64::midpoint(left, right),
        bottom + 36.0
    );
    svg
}

/// A rival is a full dot; a bound or another form of ours an empty one.
fn dot(svg: &mut String, x: f64, y: f64, colour: usize, role: Role) {
    let colour = COLOURS[colour % COLOURS.len()];
    let fill = if role == Role::Peer { colour } else { "#ffffff" };
    let _ = writeln!(
        svg,
        "<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"4.5\" fill=\"{fill}\" stroke=\"{colour}\" \
         stroke-width=\"1.5\"/>"
    );
}

fn role_of(table: &Table, who: &str) -> Role {
    let mut times = table.rows.iter().flat_map(|row| &row.times);
    times.find(|time| time.who == who).map_or(Role::Other, |time| time.role)
}

#[cfg(test)]
mod tests {
    use super::chart;
    use crate::benches::records::parse;

    #[test]
    fn a_chart_has_a_dot_for_every_time_that_is_not_ours() {
        let tables = parse(
            "a < b\tfirst\tours\tus\t2\na < b\tfirst\tpeer\tthem\t4\na < b\tfirst\tfloor\tcopy\t1",
        );
        let svg = chart(&tables.unwrap()[0]);
        // Two in the legend, two on the line.
        assert_eq!(svg.matches("<circle").count(), 4);
        assert!(svg.contains("a &lt; b"), "{svg}");
        // The same distance from the line at 1 on both sides.
        let at = |from: &str| -> Vec<f64> {
            let texts = svg.split(from).skip(1);
            texts.map(|rest| rest.split('"').next().unwrap().parse().unwrap()).collect()
        };
        let dots = at("<circle cx=\"");
        let ground = at("<rect x=\"67.5\" y=\"56\" width=\"");
        let one = 67.5 + ground[0];
        assert!((dots[2] + dots[3] - 2.0 * one).abs() < 0.3, "{dots:?}, {one}");
    }
}
