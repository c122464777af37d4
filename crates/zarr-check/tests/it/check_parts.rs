//! Checks in parts.

use std::sync::Mutex;

use zarr_array::Part;
use zarr_array::store::Prefix;
use zarr_check::{CheckOptions, CheckProgress, CheckWatch, check, check_watched};

use crate::check::{BYTES, GROUP, array, memory};

/// Each finding is that of one part, whatever kind it is, and numbers add up.
#[test]
fn parts_find_together_what_the_whole_finds() {
    let uint8 = array("uint8", BYTES, "");
    let mut objects: Vec<(String, Vec<u8>)> =
        vec![("zarr.json".into(), GROUP.into()), ("loose".into(), b"?".into())];
    for name in ["a", "b", "g/c"] {
        objects.push((format!("{name}/zarr.json"), uint8.clone().into_bytes()));
        objects.push((format!("{name}/c/0"), vec![1, 2, 3, 4]));
        // Too short, outside, and no chunk.
        objects.push((format!("{name}/c/1"), vec![1, 2, 3]));
        objects.push((format!("{name}/c/7"), vec![1, 2, 3, 4]));
        objects.push((format!("{name}/notes"), b"?".into()));
    }
    objects.push(("g/zarr.json".into(), GROUP.into()));
    let borrowed: Vec<(&str, &[u8])> =
        objects.iter().map(|(key, bytes)| (key.as_str(), bytes.as_slice())).collect();
    let store = memory(&borrowed);
    let root = Prefix::root();
    let mut whole = Vec::new();
    let options = CheckOptions::new().data(true);
    let total =
        check(&store, &root, &options, &mut |found| whole.push(found.to_string())).expect("checks");
    whole.sort();
    assert_eq!(whole.len(), 10, "{whole:?}");
    for of in [1, 2, 3, 16] {
        let (mut found, mut sum) = (Vec::new(), [0; 7]);
        for number in (1..=of).rev() {
            let part = options.clone().part(Part::new(number, of).expect("a part"));
            let progress = Mutex::new(CheckProgress::default());
            let told = |_: &Prefix, now: CheckProgress| {
                assert!(now.done <= now.total, "{now:?}");
                *progress.lock().expect("no panic") = now;
            };
            let one = check_watched(
                &store,
                &root,
                &part,
                &mut |finding| found.push(finding.to_string()),
                CheckWatch { progress: Some(&told), arrays: None },
            )
            .expect("checks");
            let numbers = [
                one.groups,
                one.arrays,
                one.chunks,
                one.bytes,
                one.errors,
                one.warnings,
                one.notes,
            ];
            sum.iter_mut().zip(numbers).for_each(|(sum, number)| *sum += number);
        }
        found.sort();
        assert_eq!(found, whole, "{of} parts");
        let total = [
            total.groups,
            total.arrays,
            total.chunks,
            total.bytes,
            total.errors,
            total.warnings,
            total.notes,
        ];
        assert_eq!(sum, total, "{of} parts");
    }
}
