//! Whether there is an order of operations that explains what all clients saw: linearizability, by
//! the search of Wing and Gong with the memory of Lowe.

use std::collections::HashSet;
use std::hash::Hash;

/// An operation with the time between its begin and its end.
#[derive(Clone, Debug)]
pub(crate) struct Timed<O> {
    pub(crate) start: u64,
    pub(crate) end: u64,
    pub(crate) op: O,
    /// Whether it happened. Otherwise it may have, at one moment between begin and end.
    pub(crate) is_sure: bool,
}

/// The most steps of a search.
const MAX_STEPS: u64 = 200_000;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    Explained,
    Impossible,
    /// The search takes too long.
    Unknown,
}

/// Searches an order in which each operation takes effect at one moment between its begin and its
/// end. `apply` gives the state after an operation, or `None` if it cannot happen in the state.
pub(crate) fn explain<O, S: Clone + Eq + Hash>(
    first: S,
    ops: &[Timed<O>],
    apply: impl Fn(&S, &O) -> Option<S>,
) -> Verdict {
    if ops.len() > 128 {
        return Verdict::Unknown;
    }
    let bit = |at: usize| 1_u128 << at;
    let sure = (0..ops.len()).filter(|at| ops[*at].is_sure).fold(0, |all, at| all | bit(at));
    let mut seen = HashSet::new();
    // Operations that are done, the latest begin of them, the state.
    let mut waiting = vec![(0_u128, 0_u64, first)];
    let mut steps = 0;
    while let Some((done, latest, state)) = waiting.pop() {
        if done & sure == sure {
            return Verdict::Explained;
        }
        steps += 1;
        if steps > MAX_STEPS {
            return Verdict::Unknown;
        }
        let left = |at: &usize| done & bit(*at) == 0;
        // No operation comes after one that began when it had ended.
        let before = (0..ops.len()).filter(left).filter(|at| ops[*at].is_sure);
        let before = before.map(|at| ops[at].end).min().unwrap_or(u64::MAX);
        for at in (0..ops.len()).rev().filter(left) {
            let op = &ops[at];
            if op.start > before || op.end < latest {
                continue;
            }
            if let Some(state) = apply(&state, &op.op) {
                let next = (done | bit(at), latest.max(op.start), state);
                if seen.insert((next.0, next.2.clone())) {
                    waiting.push(next);
                }
            }
        }
    }
    Verdict::Impossible
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Clone, Copy, Debug)]
    enum Op {
        Set(u8),
        See(u8),
    }

    fn verdict(ops: &[(u64, u64, Op, bool)]) -> Verdict {
        let timed = |&(start, end, op, is_sure): &_| Timed { start, end, op, is_sure };
        let ops: Vec<_> = ops.iter().map(timed).collect();
        explain(0, &ops, |state, op| match op {
            Op::Set(value) => Some(*value),
            Op::See(value) => (value == state).then_some(*state),
        })
    }

    use Op::{See, Set};

    #[test]
    fn what_ended_before_is_seen() {
        assert_eq!(verdict(&[(0, 1, Set(1), true), (2, 3, See(1), true)]), Verdict::Explained);
        assert_eq!(verdict(&[(0, 1, Set(1), true), (2, 3, See(0), true)]), Verdict::Impossible);
        assert_eq!(verdict(&[(0, 3, Set(1), true), (1, 2, See(0), true)]), Verdict::Explained);
    }

    #[test]
    fn what_may_have_happened_is_seen_for_good_or_never() {
        let may = (0, 1, Set(1), false);
        assert_eq!(verdict(&[may, (2, 3, See(0), true)]), Verdict::Explained);
        assert_eq!(verdict(&[may, (2, 3, See(1), true)]), Verdict::Explained);
        let flicker = [may, (2, 3, See(1), true), (4, 5, See(0), true)];
        assert_eq!(verdict(&flicker), Verdict::Impossible);
        let late = [may, (2, 3, See(0), true), (4, 5, See(1), true)];
        assert_eq!(verdict(&late), Verdict::Impossible);
    }

    #[test]
    fn a_lost_update_is_noticed() {
        let both = [(0, 5, Set(1), true), (1, 4, Set(2), true), (6, 7, See(0), true)];
        assert_eq!(verdict(&both), Verdict::Impossible);
    }
}
