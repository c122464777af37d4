//! The oracle of joins and rearrangements: the arrays at the target are, at each moment, absent or
//! whole, and what the operations explain.

use std::ops::Range;
use std::sync::{Mutex, PoisonError};

use crate::order::{Timed, Verdict, explain};

/// The elements of an array, if it is there.
pub(crate) type State = Option<Vec<u16>>;

/// The second array of a group has the elements of the first one, and this added to each.
pub(crate) const SECOND: u16 = 50;

/// A part of a rearranged array.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Piece {
    /// Elements that it had before.
    Kept(Range<u64>),
    /// Elements of an inserted array.
    New(Vec<u16>),
}

#[derive(Clone, Debug)]
pub(crate) enum Step {
    /// An array was read.
    Saw {
        array: usize,
        state: State,
    },
    /// All arrays were made, or removed.
    Became(State),
    Rearranged(Vec<Piece>),
}

/// What was done to the target, and seen of it.
#[derive(Default)]
pub(crate) struct Steps(Mutex<Vec<Timed<Step>>>);

impl Steps {
    pub(crate) fn add(&self, step: Timed<Step>) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(step);
    }

    /// Judges what was seen until now, and forgets it: a power failure may take what was not finished.
    pub(crate) fn forget_seen(&self, arrays: usize) -> Result<bool, String> {
        let judged = self.judge(arrays);
        let mut steps = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        steps.retain(|timed| !matches!(timed.op, Step::Saw { .. }));
        judged
    }

    /// What holds if clients rearranged something at once because locks were lost: each element is of
    /// a member, or lost.
    pub(crate) fn judge_unlocked(&self, values: &[u16]) -> Result<(), String> {
        for timed in self.0.lock().unwrap_or_else(PoisonError::into_inner).iter() {
            if let Step::Saw { state: Some(seen), .. } = &timed.op
                && seen.iter().any(|element| *element != 0 && !values.contains(&(element / 100)))
            {
                return Err(format!("nobody wrote all of {seen:?}"));
            }
        }
        Ok(())
    }

    /// The first array that no order of the steps explains, and whether all was decided.
    pub(crate) fn judge(&self, arrays: usize) -> Result<bool, String> {
        let steps = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let mut is_decided = true;
        for array in 0..arrays {
            let is_of = |timed: &&Timed<Step>| match &timed.op {
                Step::Saw { array: of, .. } => *of == array,
                _ => true,
            };
            let of_array: Vec<_> = steps.iter().filter(is_of).cloned().collect();
            match explain(None, &of_array, |state, step| after(array, state, step)) {
                Verdict::Impossible => {
                    let mut lines: Vec<_> = of_array.iter().map(line).collect();
                    lines.sort();
                    let lines: String = lines.into_iter().map(|(_, line)| line).collect();
                    return Err(format!("array {array} is not explained:{lines}"));
                }
                verdict => is_decided &= verdict == Verdict::Explained,
            }
        }
        Ok(is_decided)
    }
}

fn line(timed: &Timed<Step>) -> (u64, String) {
    let Timed { start, end, op, is_sure } = timed;
    let perhaps = if *is_sure { "" } else { " perhaps" };
    (*start, format!("\n    {start:>4} to {end:>4}{perhaps} {op:?}"))
}

/// The elements of one of the arrays, given those of the first.
pub(crate) fn of_array(array: usize, first: &[u16]) -> Vec<u16> {
    let added = if array == 0 { 0 } else { SECOND };
    first.iter().map(|element| element + added).collect()
}

/// An array after a step, if that can happen.
fn after(array: usize, state: &State, step: &Step) -> Option<State> {
    match step {
        Step::Saw { state: seen, .. } => (seen == state).then(|| state.clone()),
        Step::Became(new) => Some(new.as_ref().map(|first| of_array(array, first))),
        Step::Rearranged(pieces) => {
            let old = state.as_ref()?;
            let mut new = Vec::new();
            for piece in pieces {
                match piece {
                    Piece::New(first) => new.extend(of_array(array, first)),
                    Piece::Kept(range) => {
                        let at = |index: u64| usize::try_from(index).unwrap_or(usize::MAX);
                        new.extend_from_slice(old.get(at(range.start)..at(range.end))?);
                    }
                }
            }
            Some(Some(new))
        }
    }
}
