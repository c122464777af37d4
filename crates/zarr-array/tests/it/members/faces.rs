//! Members in stores with asynchronous interfaces.

use std::num::NonZeroUsize;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::task::{Context, Poll, Waker};

use zarr_array::Members;
use zarr_array::store::{Capabilities, Key, MemoryStore, Store, StoreExt as _};
use zarr_grid::Grid;
use zarr_metadata::DataType;
use zarr_store_tests::hand_on;

use super::{Joined, LITTLE, Open, create, open, rectilinear};
use crate::asynchronous::face::{Faced, Manner};

/// The same store, far away.
#[derive(Debug)]
pub(super) struct Far(pub(super) Arc<dyn Store>);

impl Store for Far {
    hand_on!(0: get head put_opts delete list list_dir lock);

    fn capabilities(&self) -> Capabilities {
        Capabilities::new().requests_in_flight(NonZeroUsize::new(1000).expect("some"))
    }
}

/// Chunks of several members are requested at once, without a thread that waits for each.
#[test]
fn members_are_read_through_their_own_interfaces() {
    let (mut arrays, mut faces) = (Vec::new(), Vec::new());
    for number in 0..40_u16 {
        let array = create(&[3], &rectilinear(&[vec![3]]), 9, LITTLE);
        array.write_as(0..2, &[number, 100 + number]).unwrap();
        let face = Faced::new(array.store().clone(), Manner::Held);
        arrays.push(Some(array.with_store(Arc::new(face.clone()))));
        faces.push(face);
    }
    let source = Arc::new(Open { arrays, counts: vec![40], opened: AtomicU64::new(0) });
    let members = Members::new(Grid::regular(&[120], &[3]).unwrap(), DataType::Uint16, source);
    let store = Joined { inner: MemoryStore::new(), members: Arc::new(members), requests: 1000 };
    let metadata = create(&[120], &rectilinear(&[vec![3; 40]]), 9, LITTLE);
    let document = metadata.metadata().json().as_bytes();
    store.put(&Key::new("zarr.json").unwrap(), document).unwrap();
    let array = open(store);
    let array = array.asynchronous().with_chunks_in_flight(NonZeroUsize::new(25).unwrap());

    let waiting = || faces.iter().map(Faced::waiting).sum::<usize>();
    let mut context = Context::from_waker(Waker::noop());
    let mut read = array.read_as::<u16>(0..120);
    while waiting() < 25 {
        assert!(read.as_mut().poll(&mut context).is_pending());
        std::thread::yield_now();
    }
    // No more than are wanted, however often it is polled.
    assert!(read.as_mut().poll(&mut context).is_pending());
    assert_eq!(waiting(), 25);
    let elements = loop {
        faces.iter().for_each(|face| while face.answer(0) {});
        match read.as_mut().poll(&mut context) {
            Poll::Ready(elements) => break elements.unwrap(),
            Poll::Pending => std::thread::yield_now(),
        }
    };
    let expected: Vec<u16> = (0..40).flat_map(|number| [number, 100 + number, 9]).collect();
    assert_eq!(elements, expected);

    // A dropped read waits for nothing.
    let mut read = array.read(0..120);
    while waiting() < 25 {
        assert!(read.as_mut().poll(&mut context).is_pending());
    }
    drop(read);
    assert_eq!(faces.iter().map(Faced::given_up).sum::<usize>(), 25);
}
