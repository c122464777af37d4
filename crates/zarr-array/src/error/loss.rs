//! Values that a write refused because its codecs would change them (SD-18, SD-49).

use std::fmt;

/// Values that a write refused because they would read back differently.
///
/// # Examples
/// ```
/// use std::sync::Arc;
/// use zarr_array::store::{MemoryStore, Prefix};
/// use zarr_array::{Array, ArrayError, Selection};
/// use zarr_metadata::{ArrayBuilder, Codec, DataType};
///
/// // Twelve bits, signed: -2048 to 2047.
/// let builder = ArrayBuilder::new([3], DataType::Int16).codecs([Codec::packbits(0..=11)]);
/// let metadata = builder.build()?;
/// let array = Array::create(Arc::new(MemoryStore::new()), &Prefix::root(), metadata)?;
/// match array.write_as(Selection::whole(&[3]), &[2047_i16, 3000, -2049]) {
///     Err(ArrayError::Loss { loss, .. }) => {
///         assert_eq!((loss.index.as_slice(), loss.value.as_str()), (&[1][..], "3000"));
///         assert_eq!((loss.read_back.as_str(), loss.count, loss.elements), ("-1096", 2, 3));
///     }
///     other => panic!("{other:?}"),
/// }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Loss {
    /// The path of the codec in the metadata document, as a JSON path.
    pub path: String,
    /// The codec's name.
    pub codec: String,
    /// The index in the array of the first such element, in the order of the given elements.
    pub index: Vec<u64>,
    /// Its value, as the JSON of a fill value. For a byte out of the range of a sub-byte type,
    /// its number or bits.
    pub value: String,
    /// The value after writing and reading it.
    pub read_back: String,
    /// The number of elements that would change.
    pub count: u64,
    /// The number of elements that were given.
    pub elements: u64,
}

/// The first such element.
impl fmt::Display for Loss {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { path, codec, index, value, read_back, .. } = self;
        write!(f, "{path}: element {index:?} is {value}, which {codec} would store as {read_back}")
    }
}
