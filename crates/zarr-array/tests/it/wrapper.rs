//! Stores of tests that stand before another store.

/// The methods of [`Store`](zarr_array::store::Store) that hand on to another store, by name: what a
/// wrapper does itself is what is not named.
macro_rules! hand_on {
    ($inner:tt: $($method:ident)*) => {
        $(crate::wrapper::hand_on!(@$method $inner);)*
    };
    (@get $inner:tt) => {
        fn get(
            &self,
            key: &zarr_array::store::Key,
            range: zarr_array::store::ReadRange<'_>,
            out: &mut Vec<u8>,
        ) -> Result<Option<zarr_array::store::ObjectMeta>, zarr_array::store::StoreError> {
            self.$inner.get(key, range, out)
        }
    };
    (@head $inner:tt) => {
        fn head(
            &self,
            key: &zarr_array::store::Key,
        ) -> Result<Option<zarr_array::store::ObjectMeta>, zarr_array::store::StoreError> {
            self.$inner.head(key)
        }
    };
    (@put $inner:tt) => {
        fn put(
            &self,
            key: &zarr_array::store::Key,
            bytes: &[u8],
        ) -> Result<(), zarr_array::store::StoreError> {
            self.$inner.put(key, bytes)
        }
    };
    (@delete $inner:tt) => {
        fn delete(
            &self,
            key: &zarr_array::store::Key,
        ) -> Result<(), zarr_array::store::StoreError> {
            self.$inner.delete(key)
        }
    };
    (@list $inner:tt) => {
        fn list(
            &self,
            prefix: &zarr_array::store::Prefix,
            links: zarr_array::store::Links,
            visit: &mut dyn FnMut(zarr_array::store::Key) -> std::ops::ControlFlow<()>,
        ) -> Result<(), zarr_array::store::StoreError> {
            self.$inner.list(prefix, links, visit)
        }
    };
    (@list_dir $inner:tt) => {
        fn list_dir(
            &self,
            prefix: &zarr_array::store::Prefix,
            visit: &mut dyn FnMut(zarr_array::store::DirEntry) -> std::ops::ControlFlow<()>,
        ) -> Result<(), zarr_array::store::StoreError> {
            self.$inner.list_dir(prefix, visit)
        }
    };
    (@lock $inner:tt) => {
        fn lock(
            &self,
            key: &zarr_array::store::Key,
        ) -> Result<zarr_array::store::LockGuard, zarr_array::store::StoreError> {
            self.$inner.lock(key)
        }
    };
}

pub(crate) use hand_on;
