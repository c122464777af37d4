//! Every operation that writes, through a server that refuses one request, loses it or its answer, or
//! breaks the answer off: each request in turn.

use std::error::Error;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use zarr_array::store::{Prefix, Store, StoreOptions, UpdatePolicy, open_url};
use zarr_array::unfinished::is_ended;
use zarr_array::{Array, Group, Part, Resize, create_parents, delete_node, refresh_consolidated};
use zarr_copy::{CopyOptions, Endpoint, MARKER, copy_array, copy_tree, create_over};
use zarr_join::rearrange::{GroupRearrangement, Rearrangement, Span};
use zarr_join::{
    Arrangement, GroupArrangement, GroupMember, Join, JoinGroups, JoinOptions, Member,
};
use zarr_metadata::{ArrayBuilder, ArrayMetadata, DataType, GroupMetadata};
use zarr_store_tests::server::{Copies, Server, ServerFault};
use zarr_store_tests::{Objects, prefix, sampled};
use zarr_virtual_join::{Document, Missing};

type Done = Result<(), Box<dyn Error>>;

/// Where an operation is tried.
struct Place {
    server: Server,
    options: StoreOptions,
    store: Arc<dyn Store>,
}

impl Place {
    fn new() -> Self {
        let server = Server::start();
        let (options, store) = (Server::options(&server.endpoint), server.open());
        Self { server, options, store }
    }

    /// All objects but markers of work that has ended, which have the number of a run.
    fn objects(&self) -> Objects {
        let mut objects = self.server.objects();
        objects.retain(|key, text| !(key.ends_with(MARKER) && is_ended(text)));
        objects
    }

    /// A group `g` with an array `a` and consolidated metadata, and an array `n` without chunks.
    fn prepare(&self) -> Done {
        let group = Group::create(self.store.clone(), &prefix("g"), GroupMetadata::new())?;
        group.create_array("a", metadata(8, 4)?)?.write(0..8, &[1, 2, 3, 4, 5, 6, 7, 8])?;
        group.consolidate()?;
        Array::create(self.store.clone(), &prefix("n"), metadata(8, 4)?)?;
        Ok(())
    }

    fn array(&self, at: &str) -> Result<Array, Box<dyn Error>> {
        let array = Array::open(self.store.clone(), &prefix(at))?;
        Ok(array.with_update_policy(UpdatePolicy::AcceptSingleProcess))
    }

    fn group(&self) -> Result<Group, Box<dyn Error>> {
        let group = Group::open(self.store.clone(), &prefix("g"))?;
        Ok(group.with_update_policy(UpdatePolicy::AcceptSingleProcess))
    }

    fn copy(&self, options: &CopyOptions) -> Done {
        let (from, to) = (prefix("g"), prefix("h"));
        let (from, to) = (Endpoint::new(&self.store, &from), Endpoint::new(&self.store, &to));
        let mut same = |_: &Prefix, array: &ArrayMetadata| Ok(array.clone());
        copy_tree(from, to, &mut same, options, &mut |_, _| {})?;
        Ok(())
    }
}

fn metadata(length: u64, chunk: u64) -> Result<ArrayMetadata, Box<dyn Error>> {
    let builder = ArrayBuilder::new([length], DataType::Uint8).chunk_shape([chunk]);
    Ok(builder.dimension_names(["x"]).build()?)
}

type Operation = (&'static str, fn(&Place) -> Done);

const OPERATIONS: [Operation; 20] = [
    ("create", |place| {
        Array::create(place.store.clone(), &prefix("new"), metadata(8, 4)?)?;
        Ok(())
    }),
    ("create in a group", |place| {
        place.group()?.create_array("b", metadata(8, 4)?)?;
        Ok(())
    }),
    ("create with parents", |place| {
        let at = prefix("q/r/new");
        create_parents(&place.store, &at)?;
        Array::create(place.store.clone(), &at, metadata(8, 4)?)?;
        Ok(())
    }),
    ("create over", |place| {
        create_over(place.store.clone(), &prefix("g/a"), metadata(5, 4)?)?;
        Ok(())
    }),
    ("write", |place| Ok(place.array("n")?.write(0..8, &[9; 8])?)),
    ("write a part of no chunk", |place| Ok(place.array("n")?.write(1..3, &[9; 2])?)),
    ("write parts of chunks", |place| Ok(place.array("g/a")?.write(3..6, &[9; 3])?)),
    ("append", |place| {
        place.array("g/a")?.append(0, 2, &[9; 2])?;
        Ok(())
    }),
    ("resize", |place| {
        place.array("g/a")?.resize(Resize::to([10]).keep(true))?;
        Ok(())
    }),
    ("discard", |place| {
        place.array("g/a")?.resize([3])?;
        Ok(())
    }),
    ("attributes", |place| {
        place.array("g/a")?.update_attributes(&[("k", Some("1"))])?;
        Ok(())
    }),
    ("copy", |place| place.copy(&CopyOptions::new())),
    ("copy in parts", |place| {
        place.copy(&CopyOptions::new().part(Part::new(1, 2)?))?;
        place.copy(&CopyOptions::new().part(Part::new(2, 2)?))
    }),
    ("copy with other chunks", |place| {
        let (from, to) = (place.array("g/a")?, prefix("h"));
        let options = CopyOptions::new();
        copy_array(&from, place.store.clone(), &to, metadata(8, 3)?, &options, &mut |_| {})?;
        Ok(())
    }),
    ("join", |place| {
        let members = ["1", "2"].map(|name| Ok(Member::new(name, place.array("g/a")?)));
        let members = members.into_iter().collect::<Result<_, Box<dyn Error>>>()?;
        let plan = Join::new(members, Arrangement::Along(0)).plan()?;
        plan.execute(&place.store, &prefix("j"), &JoinOptions::new(), &|_| {})?;
        Ok(())
    }),
    ("join groups", |place| {
        let members = ["1", "2"].map(|name| Ok(GroupMember::new(name, place.group()?)));
        let members = members.into_iter().collect::<Result<_, Box<dyn Error>>>()?;
        let plan = JoinGroups::new(members, GroupArrangement::Along("x".into())).plan()?;
        plan.execute(&place.store, &prefix("j"), &JoinOptions::new(), &|_| {})?;
        Ok(())
    }),
    ("join virtually", |place| {
        let url = "s3://bucket/base/g/a";
        let array = Array::open(open_url(url, &place.options)?, &Prefix::root())?;
        let members = ["1", "2"].map(|_| Member::new(url, array.clone())).into();
        let (join, to) = (Join::new(members, Arrangement::Along(0)), "s3://bucket/base/j.zjoin");
        // Without the times of this test.
        Document::of_join(join, to, Missing::Error)?
            .chunks_may_change()
            .write(to, &place.options)?;
        Ok(())
    }),
    ("rearrange", |place| {
        let array = place.array("g/a")?;
        let plan = Rearrangement::plan(&array, 0, [Span::Kept(4..8), Span::Kept(0..4)])?;
        plan.execute(&|_| {})?;
        Ok(())
    }),
    ("rearrange a group", |place| {
        let group = place.group()?;
        let plan =
            GroupRearrangement::plan(&group, "x", [Span::Kept(4..8), Span::Kept(0..4)], false)?;
        plan.execute(&|_| {})?;
        Ok(())
    }),
    ("delete and consolidate", |place| {
        delete_node(&place.store, &prefix("n"))?;
        delete_node(&place.store, &prefix("g/a"))?;
        place.group()?.consolidate()?;
        refresh_consolidated(&place.store, &prefix("g"), UpdatePolicy::default())?;
        Ok(())
    }),
];

/// Answers that only requests with a condition get.
const REFUSALS: [ServerFault; 2] =
    [ServerFault::Refuses("409 Conflict"), ServerFault::Refuses("412 Precondition Failed")];

/// What happens to a request that reads.
const OF_READS: [ServerFault; 6] = [
    REFUSALS[0],
    REFUSALS[1],
    ServerFault::Fails,
    ServerFault::Closes,
    ServerFault::Resets,
    ServerFault::Truncated,
];

/// What happens to a request that writes, besides.
const OF_WRITES: [ServerFault; 5] = [
    ServerFault::Refuses("503 Slow Down"),
    ServerFault::RefusesTruncated("409 Conflict"),
    ServerFault::DoneThenFails,
    ServerFault::DoneThenCloses,
    ServerFault::DoneThenResets,
];

/// Calls `work` for each item, with a place of its thread. Most of the time is waiting.
fn each<T: Sync>(items: &[T], work: impl Fn(&Place, &T) + Sync) {
    let next = AtomicUsize::new(0);
    thread::scope(|scope| {
        for _ in 0..16 {
            scope.spawn(|| {
                let place = Place::new();
                while let Some(item) = items.get(next.fetch_add(1, Ordering::Relaxed)) {
                    work(&place, item);
                }
            });
        }
    });
}

/// What "done" says is stored, whatever happens to one request.
#[test]
fn one_request_that_goes_wrong_changes_nothing() {
    let place = Place::new();
    place.prepare().expect("prepares");
    let before = place.server.objects();
    let mut after = Vec::new();
    let mut faults = Vec::new();
    for (operation, (name, run)) in OPERATIONS.into_iter().enumerate() {
        place.server.set_objects(before.clone());
        let begun = place.server.seen().len();
        run(&place).unwrap_or_else(|error| panic!("{name}: {error}"));
        after.push(place.objects());
        for (number, request) in place.server.seen().split_off(begun).iter().enumerate() {
            let is_read = request.starts_with("GET") || request.starts_with("HEAD");
            let more: &[_] = if is_read { &[] } else { &OF_WRITES };
            let all = OF_READS.iter().chain(more);
            faults.extend(all.map(|fault| (operation, number, *fault)));
        }
    }
    // All of them take minutes. Neither number divides those of the faults of a request.
    let step = sampled(if cfg!(debug_assertions) { 13 } else { 5 });
    faults = faults.into_iter().step_by(step).collect();
    let happened = AtomicUsize::new(0);
    each(&faults, |place, &(operation, number, fault)| {
        let (name, run) = OPERATIONS[operation];
        place.server.set_objects(before.clone());
        place.server.fail(Some((number, fault)));
        let result = run(place);
        // Threads make a few requests more or less.
        let Some(failed) = place.server.fail(None) else { return };
        happened.fetch_add(1, Ordering::Relaxed);
        let what = format!("{name}, request {number}, {failed}: {fault:?}");
        if let Err(error) = result {
            // No server answers a listing so, and the client does not retry it.
            let is_refused = failed.contains("list-type") && REFUSALS.contains(&fault);
            let text = error.to_string();
            assert!(is_refused && text.contains("list request"), "{what}: {text}");
            return;
        }
        let found = place.objects();
        assert!(found == after[operation], "{what}: {:?}", found.keys());
    });
    assert!(happened.into_inner() > faults.len() * 9 / 10);
}

/// Where the server copies nothing, chunks are read and put.
#[test]
fn servers_without_copies_are_written_to() {
    each(&OPERATIONS, |_, (name, run)| {
        let done = [Copies::Done, Copies::Ignored, Copies::Refused].map(|copies| {
            let place = Place::new();
            place.prepare().expect("prepares");
            place.server.copies(copies);
            run(&place).unwrap_or_else(|error| panic!("{name}, {copies:?}: {error}"));
            place.objects()
        });
        assert!(done[0] == done[1] && done[0] == done[2], "{name}");
    });
}
