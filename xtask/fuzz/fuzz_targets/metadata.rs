//! Documents of any bytes: no panic, memory in proportion, nothing lost when written back.

#![no_main]

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicUsize, Ordering};

use libfuzzer_sys::fuzz_target;
use zarr_metadata::{
    ArrayMetadata, ChunkGrid, ChunkKeyEncoding, Codec, DataType, FillValue, GroupMetadata,
    NodeMetadata, format_element, parse_element,
};

/// Counts the allocated bytes and their maximum.
struct Counting;

static NOW: AtomicUsize = AtomicUsize::new(0);
static PEAK: AtomicUsize = AtomicUsize::new(0);

// SAFETY: every call goes to the system's allocator unchanged.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let now = NOW.fetch_add(layout.size(), Ordering::Relaxed) + layout.size();
        PEAK.fetch_max(now, Ordering::Relaxed);
        // SAFETY: the caller upholds the requirements.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        NOW.fetch_sub(layout.size(), Ordering::Relaxed);
        // SAFETY: the caller upholds the requirements.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// Runs `read` and checks that its memory is in proportion to `input`.
fn bounded<T>(input: &[u8], read: impl FnOnce(&[u8]) -> T) -> T {
    let before = NOW.load(Ordering::Relaxed);
    PEAK.store(before, Ordering::Relaxed);
    let result = read(input);
    let used = PEAK.load(Ordering::Relaxed).saturating_sub(before);
    assert!(used <= 256 * input.len() + (64 << 10), "{used} bytes for {}", input.len());
    result
}

fn array(array: &ArrayMetadata, json: &[u8]) {
    assert_eq!(array.json().as_bytes(), json);
    assert_eq!(&ArrayMetadata::from_json(json).expect("what was read once"), array);
    if let Some(bytes) = array.fill_value().bytes() {
        let written = FillValue::from_bytes(array.data_type(), bytes).expect("an element");
        assert_eq!(&written, array.fill_value());
        element(array.data_type(), bytes);
    }
    let grid = ChunkGrid::from_json(array.chunk_grid().to_json().as_bytes()).expect("a grid");
    assert_eq!(&grid, array.chunk_grid());
    let canonical = ArrayMetadata::new(
        array.shape(),
        array.data_type(),
        array.chunk_grid(),
        array.fill_value(),
        array.codecs(),
    );
    // An empty list of edges and a blosc filter without its typesize are refused.
    if let Ok(canonical) = canonical {
        assert_eq!(canonical.shape(), array.shape());
        assert_eq!(canonical.data_type(), array.data_type());
        assert_eq!(canonical.chunk_grid(), array.chunk_grid());
        assert_eq!(canonical.fill_value(), array.fill_value());
        assert_eq!(canonical.codecs(), array.codecs());
    }
    let changed = array.with_attributes(r#"{"a": 1}"#).expect("any document takes attributes");
    assert_eq!(changed.attributes(), r#"{"a": 1}"#);
    assert_eq!(changed.codecs(), array.codecs());
    for finding in array.findings() {
        assert!(finding.path().is_some_and(|path| path.starts_with('$')));
    }
}

fn element(data_type: &DataType, bytes: &[u8]) {
    let mut text = String::new();
    format_element(data_type, bytes, &mut text).expect("an element");
    let mut back = Vec::new();
    parse_element(data_type, &text, &mut back).expect("what was written");
    assert_eq!(back, bytes);
}

fuzz_target!(|input: &[u8]| {
    match bounded(input, NodeMetadata::from_json) {
        Ok(NodeMetadata::Array(read)) => array(&read, input),
        Ok(NodeMetadata::Group(group)) => {
            assert_eq!(group.json().as_bytes(), input);
            assert_eq!(GroupMetadata::from_json(input).as_ref(), Ok(&group));
            if let Some(consolidated) = group.consolidated_metadata() {
                for path in consolidated.paths().take(8) {
                    let _ = consolidated.node(path);
                }
            }
        }
        Err(error) => {
            assert!(error.path().starts_with('$'));
            assert!(!error.to_string().contains('\n'), "{error}");
        }
    }
    if let Ok(codec) = bounded(input, Codec::from_json) {
        assert_eq!(Codec::from_json(codec.to_json().as_bytes()), Ok(codec));
    }
    let _ = bounded(input, Codec::list_from_json);
    let _ = bounded(input, ChunkKeyEncoding::from_json);
    if let Ok(grid) = bounded(input, ChunkGrid::from_json) {
        assert_eq!(ChunkGrid::from_json(grid.to_json().as_bytes()), Ok(grid));
    }
    // The first byte chooses a type; the others are an element's text and its bytes.
    if let [first, rest @ ..] = input {
        let data_type = &DataType::FIXED[usize::from(*first) % DataType::FIXED.len()];
        if let Some(text) = str::from_utf8(rest).ok()
            && let Ok(value) = bounded(rest, |_| FillValue::parse(data_type, text))
            && let Some(bytes) = value.bytes()
        {
            element(data_type, bytes);
        }
        let size = data_type.size().unwrap_or_default();
        if let Some(bytes) = rest.get(..size) {
            let mut bytes = bytes.to_vec();
            data_type.canonicalize_element(&mut bytes);
            if *data_type != DataType::Bool || bytes[0] < 2 {
                element(data_type, &bytes);
            }
        }
    }
});
