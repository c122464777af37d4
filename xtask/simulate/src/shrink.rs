//! Makes a failing run shorter, as long as it fails.

use crate::plan::Plan;
use crate::run::run;

/// The most runs.
const MAX_RUNS: usize = 2_000;

/// The shortest history found that fails: fewer operations, then fewer clients, then fewer faults.
pub(crate) fn shrink(plan: &Plan) -> Plan {
    let mut best = plan.clone();
    let mut runs = 0;
    loop {
        let shorter = candidates(&best).into_iter().find(|candidate| {
            runs += 1;
            runs <= MAX_RUNS && run(candidate, false).fault.is_some()
        });
        match shorter {
            Some(shorter) => best = shorter,
            None => return best,
        }
    }
}

fn candidates(plan: &Plan) -> Vec<Plan> {
    let mut all = Vec::new();
    let mut add = |change: &dyn Fn(&mut Plan)| {
        let mut candidate = plan.clone();
        change(&mut candidate);
        all.push(candidate);
    };
    for (client, ops) in plan.clients.iter().enumerate() {
        if ops.len() > 1 {
            add(&|plan| plan.clients[client].clear());
        }
        for op in 0..ops.len() {
            add(&|plan| {
                plan.clients[client].remove(op);
            });
            // A later fault of the client then meets an earlier request.
            for back in 1..=4 {
                add(&|plan| {
                    plan.clients[client].remove(op);
                    for fault in plan.faults.iter_mut().filter(|fault| fault.client == client) {
                        fault.request = fault.request.saturating_sub(back);
                    }
                });
            }
        }
    }
    for fault in 0..plan.faults.len() {
        add(&|plan| {
            plan.faults.remove(fault);
        });
    }
    if plan.switch < 100 {
        add(&|plan| plan.switch = 100);
    }
    all
}
