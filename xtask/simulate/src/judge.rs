//! The oracles: what documents and chunks may have held, given the history.

use std::ops::Range;

use crate::history::{Document, Event, What};
use crate::order::{Timed, Verdict, explain};

/// What a client did with one chunk, or saw in it: the elements that it covers.
#[derive(Clone, Debug)]
enum Touch {
    Set(Vec<bool>, u16),
    Saw(Vec<Option<u16>>),
}

/// The first thing that no order of the operations explains, and whether all was decided.
///
/// With `grows_last`, appended elements are written before the document says that they are there.
pub(crate) fn judge(
    first: Document,
    chunk: u64,
    grows_last: bool,
    events: &[Event],
) -> Result<bool, String> {
    let mut timed: Vec<Timed<What>> = events
        .iter()
        .map(|Event { start, end, what, is_sure }| Timed {
            start: *start,
            end: *end,
            op: what.clone(),
            is_sure: *is_sure,
        })
        .collect();
    let of_document: Vec<_> =
        timed.iter().filter(|timed| is_of_document(&timed.op)).cloned().collect();
    let mut decided = match explain(first, &of_document, after) {
        Verdict::Impossible => {
            return Err(format!("the document is not explained:{}", shown(&of_document)));
        }
        verdict => verdict == Verdict::Explained,
    };
    timed.retain(|timed| !is_refuted(first, &of_document, timed));
    for timed in &mut timed {
        let is_append = grows_last && matches!(timed.op, What::Wrote(..));
        timed.is_sure |= is_append && must_have_grown(first, &of_document, timed.start);
    }
    let kept = if grows_last { kept(first, &of_document, &timed) } else { Vec::new() };
    let longest = timed.iter().map(|timed| end_of(&timed.op)).max().unwrap_or(0);
    for start in (0..longest).step_by(usize::try_from(chunk).unwrap_or(1)) {
        let touches: Vec<Timed<Touch>> = timed
            .iter()
            .filter_map(|Timed { start: begin, end, op, is_sure }| {
                let mut op = touch(op, start, chunk)?;
                for (_, elements) in kept.iter().filter(|(discard, _)| discard == begin) {
                    op.spare(start, elements);
                }
                Some(Timed { start: *begin, end: *end, op, is_sure: *is_sure })
            })
            .collect();
        let empty = vec![0_u16; usize::try_from(chunk).unwrap_or(0)];
        match explain(empty, &touches, touched) {
            Verdict::Impossible => {
                return Err(format!(
                    "elements {start}..{} are not explained:{}",
                    start + chunk,
                    shown(&touches)
                ));
            }
            verdict => decided &= verdict == Verdict::Explained,
        }
    }
    Ok(decided)
}

impl Touch {
    /// Elements that it does not set, in the chunk that begins at `start`.
    fn spare(&mut self, start: u64, elements: &Range<u64>) {
        let Self::Set(set, _) = self else { return };
        for (index, is_set) in (start..).zip(set) {
            *is_set &= !elements.contains(&index);
        }
    }
}

/// What was appended after a resize had put its document, which therefore does not discard it: the
/// begin of the discard, and the elements.
fn kept(
    first: Document,
    of_document: &[Timed<What>],
    timed: &[Timed<What>],
) -> Vec<(u64, Range<u64>)> {
    let discards = timed.iter().filter(|timed| matches!(timed.op, What::Discarded(_)));
    let pairs = discards.flat_map(|discard| of_document.iter().map(move |other| (discard, other)));
    let is_later = |resize: u64, append: u64| {
        let named = |timed: &Timed<What>| Timed {
            start: timed.start,
            end: timed.end,
            op: (timed.start, timed.op.clone()),
            is_sure: timed.is_sure,
        };
        let named: Vec<_> = of_document.iter().map(named).collect();
        // No order has the append first.
        let append_first = |(document, is_resized): &(Document, bool),
                            (start, what): &(u64, What)| {
            let is_resized = *is_resized || (*start == resize && matches!(what, What::Resized(..)));
            match *start == append && is_resized {
                true => None,
                false => Some((after(document, what)?, is_resized)),
            }
        };
        explain((first, false), &named, append_first) == Verdict::Impossible
    };
    pairs
        .filter_map(|(discard, other)| match other.op {
            What::Appended(from, to)
                if other.is_sure
                    && other.start < discard.end
                    && is_later(discard.start, other.start) =>
            {
                Some((discard.start, from..to))
            }
            _ => None,
        })
        .collect()
}

/// What holds although locks were lost: updates of others may be undone, but what is read was written,
/// at its place and before.
pub(crate) fn judge_unlocked(first: Document, events: &[Event]) -> Result<(), String> {
    for seen in events {
        let any = |may: &dyn Fn(&What) -> bool| {
            events.iter().any(|event| event.start <= seen.end && may(&event.what))
        };
        match &seen.what {
            What::Opened(document) => {
                let length = document.length;
                let resized = |what: &What| matches!(what, What::Resized(_, to) | What::Appended(_, to) if *to == length);
                if length != first.length && !any(&resized) {
                    return Err(format!("nobody made the length {length}"));
                }
                for (name, value) in document.attributes.iter().enumerate() {
                    let set = |what: &What| *what == What::Set(name, *value);
                    if *value != first.attributes[name] && !any(&set) {
                        return Err(format!("nobody set attribute {name} to {value}"));
                    }
                }
            }
            What::Read(values) => {
                for (at, value) in (0..).zip(values).filter(|(_, value)| **value != 0) {
                    let wrote = |what: &What| matches!(what, What::Wrote(range, by) if range.contains(&at) && by == value);
                    if !any(&wrote) {
                        return Err(format!("nobody wrote {value} to {at}"));
                    }
                }
            }
            _ => {}
        }
    }
    Ok(())
}

/// Whether elements cannot have been discarded, because the document was not changed: that comes first.
fn is_refuted(first: Document, of_document: &[Timed<What>], discarded: &Timed<What>) -> bool {
    if discarded.is_sure || !matches!(discarded.op, What::Discarded(_)) {
        return false;
    }
    let mut with_it = of_document.to_vec();
    for timed in &mut with_it {
        // Each operation begins at a time of its own.
        timed.is_sure |= timed.start == discarded.start;
    }
    explain(first, &with_it, after) == Verdict::Impossible
}

/// Whether the operation that began at a time must have changed the length.
fn must_have_grown(first: Document, of_document: &[Timed<What>], start: u64) -> bool {
    let is_change = |timed: &Timed<What>| {
        timed.start == start && !timed.is_sure && matches!(timed.op, What::Appended(..))
    };
    let mut without = of_document.to_vec();
    without.retain(|timed| !is_change(timed));
    without.len() < of_document.len() && explain(first, &without, after) == Verdict::Impossible
}

fn shown<O: std::fmt::Debug>(ops: &[Timed<O>]) -> String {
    let mut lines: Vec<_> = ops
        .iter()
        .map(|Timed { start, end, op, is_sure }| {
            let perhaps = if *is_sure { "" } else { " perhaps" };
            (*start, format!("\n    {start:>4} to {end:>4}{perhaps} {op:?}"))
        })
        .collect();
    lines.sort();
    lines.into_iter().map(|(_, line)| line).collect()
}

fn is_of_document(what: &What) -> bool {
    matches!(what, What::Opened(_) | What::Resized(..) | What::Appended(..) | What::Set(..))
}

/// The document after an operation.
fn after(document: &Document, what: &What) -> Option<Document> {
    let mut new = *document;
    match what {
        What::Opened(seen) => return (seen == document).then_some(new),
        What::Resized(from, to) if [*from, *to].contains(&document.length) => new.length = *to,
        What::Appended(from, to) if *from == document.length => new.length = *to,
        What::Resized(..) | What::Appended(..) => return None,
        What::Set(name, value) => new.attributes[*name] = *value,
        What::Read(_) | What::Wrote(..) | What::Discarded(_) => {}
    }
    Some(new)
}

/// The end of the elements that an operation names.
fn end_of(what: &What) -> u64 {
    match what {
        What::Read(values) => values.len() as u64,
        What::Wrote(range, _) => range.end,
        _ => 0,
    }
}

fn touch(what: &What, start: u64, chunk: u64) -> Option<Touch> {
    let indices = start..start + chunk;
    match what {
        What::Read(values) => {
            let value = |index| values.get(usize::try_from(index).ok()?).copied();
            let seen: Vec<_> = indices.map(value).collect();
            seen.iter().any(Option::is_some).then_some(Touch::Saw(seen))
        }
        What::Wrote(range, value) => {
            let set: Vec<_> = indices.map(|index| range.contains(&index)).collect();
            set.contains(&true).then_some(Touch::Set(set, *value))
        }
        What::Discarded(from) => {
            let set: Vec<_> = indices.map(|index| index >= *from).collect();
            set.contains(&true).then_some(Touch::Set(set, 0))
        }
        What::Opened(_) | What::Resized(..) | What::Appended(..) | What::Set(..) => None,
    }
}

fn touched(elements: &Vec<u16>, touch: &Touch) -> Option<Vec<u16>> {
    match touch {
        Touch::Saw(seen) => {
            let same = |(seen, is): (&Option<u16>, &u16)| seen.is_none_or(|seen| seen == *is);
            seen.iter().zip(elements).all(same).then(|| elements.clone())
        }
        Touch::Set(set, value) => {
            let new = set.iter().zip(elements);
            Some(new.map(|(is_set, old)| if *is_set { *value } else { *old }).collect())
        }
    }
}
