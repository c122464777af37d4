//! Stores of tests that stand before another store.

/// The methods of [`Store`](crate::store::Store) that hand on to another store, by name: what a
/// wrapper does itself is what is not named.
#[macro_export]
macro_rules! hand_on {
    ($inner:tt: $($method:ident)*) => {
        $($crate::hand_on!(@$method $inner);)*
    };
    (@get $inner:tt) => {
        fn get(
            &self,
            key: &$crate::store::Key,
            range: $crate::store::ReadRange<'_>,
            out: &mut Vec<u8>,
        ) -> Result<Option<$crate::store::ObjectMeta>, $crate::store::StoreError> {
            self.$inner.get(key, range, out)
        }
    };
    (@head $inner:tt) => {
        fn head(
            &self,
            key: &$crate::store::Key,
        ) -> Result<Option<$crate::store::ObjectMeta>, $crate::store::StoreError> {
            self.$inner.head(key)
        }
    };
    (@put_opts $inner:tt) => {
        fn put_opts(
            &self,
            key: &$crate::store::Key,
            pieces: &[std::io::IoSlice<'_>],
            mode: $crate::store::PutMode<'_>,
        ) -> Result<$crate::store::PutOutcome, $crate::store::StoreError> {
            self.$inner.put_opts(key, pieces, mode)
        }
    };
    (@delete $inner:tt) => {
        fn delete(
            &self,
            key: &$crate::store::Key,
        ) -> Result<(), $crate::store::StoreError> {
            self.$inner.delete(key)
        }
    };
    (@list $inner:tt) => {
        fn list(
            &self,
            prefix: &$crate::store::Prefix,
            links: $crate::store::Links,
        ) -> $crate::store::Listing<'_, $crate::store::Key> {
            self.$inner.list(prefix, links)
        }
    };
    (@list_dir $inner:tt) => {
        fn list_dir(
            &self,
            prefix: &$crate::store::Prefix,
        ) -> $crate::store::Listing<'_, $crate::store::DirEntry> {
            self.$inner.list_dir(prefix)
        }
    };
    (@lock $inner:tt) => {
        fn lock(
            &self,
            key: &$crate::store::Key,
        ) -> Result<$crate::store::LockGuard, $crate::store::StoreError> {
            self.$inner.lock(key)
        }
    };
}
