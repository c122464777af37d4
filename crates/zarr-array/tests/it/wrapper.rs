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
    (@put_opts $inner:tt) => {
        fn put_opts(
            &self,
            key: &zarr_array::store::Key,
            pieces: &[std::io::IoSlice<'_>],
            mode: zarr_array::store::PutMode<'_>,
        ) -> Result<zarr_array::store::PutOutcome, zarr_array::store::StoreError> {
            self.$inner.put_opts(key, pieces, mode)
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
        ) -> zarr_array::store::Listing<'_, zarr_array::store::Key> {
            self.$inner.list(prefix, links)
        }
    };
    (@list_dir $inner:tt) => {
        fn list_dir(
            &self,
            prefix: &zarr_array::store::Prefix,
        ) -> zarr_array::store::Listing<'_, zarr_array::store::DirEntry> {
            self.$inner.list_dir(prefix)
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
