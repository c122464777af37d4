//! A client that begins a copy again while another one sleeps.

use crate::op::Op;
use crate::plan::{Scene, avoid_power_failures};
use crate::random::Random;
use crate::world::{Fault, FaultKind, Storage};

/// Makes a second client begin a copy again, of another state of the source, while the first one
/// sleeps.
pub(crate) fn add_rival(
    more: &mut Random,
    (scene, storage, in_parts): (&mut Scene, Storage, bool),
    clients: &mut Vec<Vec<Op>>,
    faults: &mut Vec<Fault>,
    value: &mut u16,
) {
    let Scene::Copies(copies) = scene else { return };
    let is_kept_apart = match storage {
        Storage::Disk { .. } => true,
        // The server's own copies have no condition.
        Storage::Objects => copies.chunk.is_some(),
        // No shared lock keeps them away between a look at the marker and a put.
        Storage::Files | Storage::Plain => false,
    };
    let is_simple = !in_parts && !copies.is_wide && !copies.changes && !copies.removes;
    let has_lost = faults.iter().any(|fault| fault.kind == FaultKind::LostLocks);
    if !is_kept_apart || !is_simple || has_lost || !more.chance(70) {
        return;
    }
    copies.has_rival = true;
    avoid_power_failures(faults);
    let rival = (0..=more.below(2)).flat_map(|_| {
        *value += 1;
        [Op::Fill { value: *value }, Op::Copy { overwrite: true }]
    });
    let copier = vec![Op::Copy { overwrite: false }; 1 + usize::from(more.chance(30))];
    let reader = (0..more.below(3)).map(|_| Op::ReadCopy).collect();
    *clients = vec![copier, rival.collect(), reader];
    let request = more.below(40);
    faults.push(Fault { client: 0, request, kind: FaultKind::Sleep });
}
