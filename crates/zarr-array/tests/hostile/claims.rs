//! Grids of more chunks than memory could list: whatever is asked of them takes memory for the
//! answer, or is refused. A list of all chunks would take a terabyte and more.

use std::hint::black_box;
use std::num::NonZeroUsize;
use std::sync::{Arc, PoisonError};

use zarr_array::store::{Fault, FaultStore, MemoryStore, Prefix, Store, StoreExt as _};
use zarr_array::{Array, ArrayError, Part, Points, Selection};
use zarr_check::{CheckOptions, check};
use zarr_copy::{CopyOptions, copy_array};
use zarr_grid::{Axis, AxisSelection, Grid, Growth, Run};
use zarr_join::rearrange::{Rearrangement, Span};
use zarr_metadata::ArrayMetadata;
use zarr_view::View;

use super::{BYTES, ONE, document, key, list, peak, regular};

/// What any answer may take.
const MEMORY: usize = 4 << 20;

const MANY: u64 = 1 << 40;

/// Axes of at least so many chunks, by each way in which boundaries are kept.
fn axes() -> Vec<Axis> {
    let run = |edge, count| Run { edge, count };
    [
        Axis::regular(MANY, 1),
        Axis::regular(10 * MANY - 1, 7),
        Axis::from_runs(MANY, [run(1, MANY)]),
        Axis::from_runs(3 * MANY, [run(1, MANY), run(2, MANY)]),
        // Declared and not occupied.
        Axis::from_runs(5, [run(1, MANY)]),
        Axis::from_runs(0, [run(1, MANY)]),
    ]
    .into_iter()
    .map(|axis| axis.expect("valid"))
    .collect()
}

fn bounded<T>(name: &str, work: impl FnOnce() -> T) -> T {
    let (used, result) = peak(work);
    assert!(used < MEMORY, "{name} took {used} bytes");
    result
}

#[test]
fn an_axis_of_many_chunks_answers_in_little_memory() {
    let _one = ONE.lock().unwrap_or_else(PoisonError::into_inner);
    let all = axes();
    for axis in &all {
        let (extent, occupied) = (axis.extent(), axis.occupied());
        bounded("queries", || {
            let _ = black_box((axis.clone(), axis.distinct_edges()));
            black_box((axis.runs().count(), axis.max_edge(), axis.regular_edge()));
            black_box((axis.to_rectilinear(), axis.to_regular()));
            let _ = black_box((axis.start(occupied / 2), axis.chunks_in(0..extent)));
            let _ = black_box(format!("{axis:?}"));
        });
        let selections = [
            AxisSelection::from(0..extent),
            AxisSelection::Step { range: 0..extent, step: 3 },
            AxisSelection::Step { range: 0..extent, step: -2 },
            AxisSelection::from([extent / 2, 0, extent.saturating_sub(1)]),
        ];
        for selection in &selections {
            bounded("selections", || {
                black_box(axis.next_chunk_position(selection, 0));
                if let Ok(selected) = axis.select(selection) {
                    black_box((selected.len(), selected.is_reversed()));
                    let mut parts = selected.parts();
                    black_box((parts.remaining(), parts.next().is_some(), parts.nth(1 << 20)));
                }
            });
        }
        bounded("changes", || {
            for count in [0, occupied / 3, occupied] {
                let _ = black_box(axis.skip_chunks(count));
                let _ = black_box(axis.take_chunks(&[count..occupied, 0..count]));
            }
            let _ = black_box(axis.resized(extent.saturating_mul(2), Growth::RepeatLast));
            let _ = black_box((
                axis.resized(1, Growth::RepeatLast),
                axis.resized(0, Growth::RepeatLast),
            ));
            let _ = black_box(Axis::concat(&[axis, axis]));
        });
        for other in &all {
            bounded("comparisons", || {
                let _ = black_box((axis.same_chunks(other), axis.is_union_of(other)));
                let _ =
                    black_box((axis.common_coarsening(other), axis.common_refinement(other, 9)));
                let _ = black_box(axis.overlaps(other).map(|parts| parts.take(3).count()));
                for most in [1, 5, 1 << 20] {
                    let _ = black_box((axis.grouped(most, None), axis.grouped(most, Some(other))));
                }
            });
        }
    }
}

#[test]
fn a_grid_of_many_chunks_answers_in_little_memory() {
    let _one = ONE.lock().unwrap_or_else(PoisonError::into_inner);
    for axis in axes() {
        for beside in [Axis::regular(MANY, 3), Axis::regular(4, 2), Axis::regular(0, 2)] {
            let beside = beside.expect("valid");
            for axes in
                [vec![axis.clone()], vec![axis.clone(), beside.clone()], vec![beside, axis.clone()]]
            {
                let grid = Grid::new(axes);
                let whole: Vec<_> = grid.shape().iter().map(|length| 0..*length).collect();
                bounded("a grid", || {
                    black_box((grid.declared_chunks(), grid.occupied_chunks()));
                    let _ = black_box((grid.grouped(1 << 20, None), grid.grouped(9, Some(&grid))));
                    if let Ok(mut parts) = grid.chunks(&whole) {
                        black_box(parts.next_part().is_some());
                        black_box(parts.range(7..9).next_part().is_some());
                    }
                });
            }
        }
    }
}

fn array(shape: &[u64], edges: &str, data_type: &str) -> Array {
    let (fill, codec) = match data_type {
        "string" => (r#""""#, "vlen-utf8"),
        _ => ("0", "bytes"),
    };
    let document = format!(
        r#"{{"zarr_format": 3, "node_type": "array", "shape": {shape:?}, "data_type": "{data_type}",
        "chunk_grid": {{"name": "rectilinear", "configuration":
            {{"kind": "inline", "chunk_shapes": {edges}}}}},
        "chunk_key_encoding": {{"name": "default"}}, "fill_value": {fill},
        "codecs": [{{"name": "{codec}"}}]}}"#
    );
    let metadata = ArrayMetadata::from_json(document.as_bytes()).expect("valid");
    let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
    let array = Array::create(store, &Prefix::root(), metadata).expect("creates");
    array.with_threads(NonZeroUsize::MIN)
}

/// Arrays of many chunks, of each with an axis without elements: none of the chunks of the others
/// is there then.
fn arrays() -> Vec<Array> {
    let many = MANY.to_string();
    let mut all = Vec::new();
    for data_type in ["uint8", "string"] {
        for (shape, edges) in [
            (vec![MANY], "[1]".to_owned()),
            (vec![MANY], format!("[[[1, {many}]]]")),
            (vec![MANY, MANY], "[1, 33554432]".to_owned()),
            (vec![MANY, 0], "[1, 1]".to_owned()),
            (vec![0, MANY], format!("[2, [[1, {many}]]]")),
            (vec![3, MANY, 0], "[3, 5, 1]".to_owned()),
        ] {
            all.push(array(&shape, &edges, data_type));
        }
    }
    all
}

/// Everything that arrays can be asked. What has elements is refused, since nobody has the memory.
#[test]
fn an_array_of_many_chunks_answers_in_little_memory() {
    let _one = ONE.lock().unwrap_or_else(PoisonError::into_inner);
    for array in arrays() {
        let shape = array.shape();
        let is_empty = shape.contains(&0);
        let whole = Selection::whole(shape);
        let backwards: Selection = shape
            .iter()
            .map(|length| AxisSelection::Step { range: 0..*length, step: -1 })
            .collect();
        let listed: Selection = shape
            .iter()
            .enumerate()
            .map(|(axis, length)| match (axis, *length) {
                (0, 1..) => AxisSelection::from([length - 1, 0, length / 2]),
                _ => AxisSelection::from(0..*length),
            })
            .collect();
        for selection in [&whole, &backwards, &listed] {
            let name = format!("{shape:?} {} {selection:?}", array.data_type());
            let reads = |name: &str, read: Result<usize, ArrayError>| match (is_empty, read) {
                (true, Ok(0)) | (false, Err(ArrayError::SelectionTooLarge { .. })) => {}
                // A list of three indices.
                (false, Ok(3)) if *selection == listed && shape.len() == 1 => {}
                (_, read) => panic!("{name}: {read:?}"),
            };
            bounded(&format!("plans of {name}"), || {
                let plan = array.layout().plan(selection).expect("plans");
                black_box((plan.len(), plan.shares(NonZeroUsize::MIN), format!("{plan:?}")));
                let chunks = plan.chunks(0..3).expect("a few");
                assert_eq!(chunks.is_empty(), is_empty, "{name}");
                let pieces = array.batches(selection, 1 << 10).expect("pieces");
                black_box(pieces.take(3).count());
            });
            if array.data_type().is_variable_length() {
                bounded(&name, || {
                    reads(&name, array.read_as::<String>(selection).map(|read| read.len()));
                    reads(&name, array.read_as::<Vec<u8>>(selection).map(|read| read.len()));
                    let written = array.write_as::<&str>(selection, &[]);
                    assert_eq!(written.is_ok(), is_empty, "{name}: {written:?}");
                });
                continue;
            }
            bounded(&name, || {
                reads(&name, array.read(selection).map(|read| read.len()));
                reads(&name, array.read_as::<u8>(selection).map(|read| read.len()));
                let _ = black_box(array.read_into(selection, &mut [0_u8; 0]));
                let written = array.write(selection, &[]);
                assert_eq!(written.is_ok(), is_empty, "{name}: {written:?}");
                let _ = black_box(array.write_as::<u8>(selection, &[]));
            });
        }
        let name = format!("{shape:?} {}", array.data_type());
        bounded(&name, || {
            black_box((array.stored_chunks().count(), format!("{array:?}").len()));
            black_box(array.chunks().expect("chunks").take(3).count());
            let _ = black_box("2/3".parse::<Part>().map(|part| part.regions(&array)));
            let points = Points::new(shape.iter().map(|length| vec![length / 2; 2]).collect());
            let _ = black_box((array.read(points.clone()), array.read_as::<String>(points)));
        });
        bounded(&format!("a check of {name}"), || {
            let options = CheckOptions::new().data(true).threads(NonZeroUsize::MIN);
            check(array.store(), &Prefix::root(), &options, &mut |_| {}).expect("checks");
        });
        bounded(&format!("a copy of {name}"), || {
            let to: Arc<dyn Store> = Arc::new(MemoryStore::new());
            let options = CopyOptions::new().memory(1 << 36);
            let metadata = array.metadata().clone();
            copy_array(&array, to, &Prefix::root(), metadata, &options, &mut |_| {})
                .expect("copies");
        });
        bounded(&format!("changes of {name}"), || {
            let halves: Vec<u64> = shape.iter().map(|length| length / 2).collect();
            let shrunk = array.resize(halves).expect("shrinks");
            let grown = shrunk.resize(shape).expect("grows");
            let _ = black_box(grown.append(0, 1 << 30, &[]));
            let _ =
                black_box(Rearrangement::plan(&grown, 0, [Span::Kept(1..grown.shape()[0].max(1))]));
        });
    }
}

/// One value for all of an array that has more chunks than any list: it is written until that fails,
/// and the error can say which chunks were not written without naming all.
#[test]
fn one_value_for_many_chunks_is_written_one_by_one() {
    let _one = ONE.lock().unwrap_or_else(PoisonError::into_inner);
    for (shape, edges, failing) in
        [(vec![MANY], "[1]", "c/2"), (vec![3 * MANY, 2], "[3, 1]", "c/1/0")]
    {
        let array = array(&shape, edges, "uint8");
        let fault = Fault::Fail(std::io::ErrorKind::StorageFull);
        let store = FaultStore::new(Arc::clone(array.store())).on(key(failing), fault);
        let array = array.with_store(Arc::new(store));
        let lengths: Vec<usize> = shape.iter().map(|length| *length as usize).collect();
        let view = View::new(&lengths, &vec![0; shape.len()], 0).expect("one element");
        let error = bounded("a write", || {
            array.write(Selection::whole(&shape), (&view, &[7][..])).expect_err("is full")
        });
        let ArrayError::Incomplete { written, .. } = error else { panic!("{error}") };
        bounded("what is written", || {
            assert_eq!((written.count(), written.chunks().count()), (2, 2));
            let missing = written.missing().next().expect("the one that failed");
            assert_eq!(array.layout().key(&missing).expect("short").as_str(), failing);
            assert_eq!(written.missing().take(5).count(), 5);
        });
    }
}

/// Each compressor lengthens what none can shorten, so a thousand of them would take a thousand times
/// the memory of the chunk: a write refuses what a read would not accept.
#[test]
fn writes_through_a_thousand_compressors_have_bounds() {
    let _one = ONE.lock().unwrap_or_else(PoisonError::into_inner);
    let gzip = r#"{"name": "gzip", "configuration": {"level": 1}}"#;
    let codecs = list([vec![BYTES], vec![gzip; 1000]].concat());
    let length = 1 << 20;
    let document = document(&format!("[{length}]"), &regular(&format!("[{length}]")), &codecs, "");
    let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
    store.put(&key("zarr.json"), document.as_bytes()).expect("memory");
    let array = Array::open(Arc::clone(&store), &Prefix::root()).expect("opens");
    let mut state = 1_u32;
    let elements: Vec<u8> = (0..length)
        .map(|_| {
            state ^= state << 13;
            state ^= state >> 17;
            state ^= state << 5;
            state.to_le_bytes()[1]
        })
        .collect();
    let (used, written) = peak(|| array.write(0..length, &elements));
    let error = written.expect_err("too long").to_string();
    assert!(error.contains("bytes from the codecs before it, more than the"), "{error}");
    assert_eq!(store.size(&key("c/0")).expect("memory"), None);
    assert!(used < 32 << 20, "{used}");
}
