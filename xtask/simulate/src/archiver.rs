//! A client that adds arrays to a zip archive, in a session each, and reads them.

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use zarr_array::{Array, ArrayError};
use zarr_store::{Durability, Prefix, Session, Store, StoreError};
use zarr_zip::ZipStore;

use crate::client::store;
use crate::copier::elements;
use crate::history::History;
use crate::op::Op;
use crate::world::{FaultKind, Storage, World};

/// The length of the arrays.
const LENGTH: u64 = 5;

/// What is known of an array.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Is {
    There,
    Absent,
    /// Its session was interrupted, and nobody has looked since.
    Unknown,
    /// Its session was interrupted, and it was there: a power failure may still take it.
    Seen,
}

pub(crate) struct Archiver<'r> {
    pub(crate) world: &'r Arc<World>,
    pub(crate) history: &'r History,
    pub(crate) number: usize,
    /// By the value of the array.
    pub(crate) known: &'r Mutex<BTreeMap<u16, Is>>,
}

impl Archiver<'_> {
    pub(crate) fn run(&self, ops: &[Op]) {
        for op in ops {
            // A new process, after a power failure on what that has left.
            drop(store(self.world, self.number));
            let done = match op {
                Op::Session { value } => self.add(*value).map_err(|error| error.to_string()),
                _ => self.look(),
            };
            let met = self.world.take_met(self.number);
            if met.contains(&FaultKind::PowerFailure) {
                let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
                let seen = known.values_mut().filter(|is| **is == Is::Seen);
                seen.for_each(|is| *is = Is::Unknown);
            }
            self.world.note_end(self.number, op, done.as_ref().copied());
            if let Err(error) = done
                && met.is_empty()
                && !self.world.is_damaged()
            {
                self.history.blame(format!("{op:?} failed: {error}"));
            }
        }
    }

    fn path(&self) -> PathBuf {
        let folder = self.world.disk.as_ref().map(|disk| disk.root().to_owned());
        folder.unwrap_or_default().join("z.zip")
    }

    fn archive(&self) -> Result<Arc<dyn Store>, StoreError> {
        let is_durable = self.world.storage == Storage::Disk { is_durable: true };
        let durability = if is_durable { Durability::PowerFailure } else { Durability::ProcessEnd };
        Ok(Arc::new(ZipStore::create(self.path())?.with_durability(durability)))
    }

    /// Adds an array in a session.
    fn add(&self, value: u16) -> Result<(), ArrayError> {
        self.learn(value, Is::Unknown);
        let session = Session::begin(&self.archive()?)?;
        let metadata = crate::run::metadata(LENGTH, 2)?;
        let written = Array::create(session.store().clone(), &prefix(value)?, metadata)
            .and_then(|array| array.write_as(0..LENGTH, &elements(value, LENGTH)));
        // Whoever commits after an error gets no part of what was written.
        let committed = session.commit();
        written?;
        committed?;
        self.learn(value, Is::There);
        Ok(())
    }

    fn learn(&self, value: u16, is: Is) {
        self.known.lock().unwrap_or_else(PoisonError::into_inner).insert(value, is);
    }

    /// Reads all arrays: those are there whose sessions were committed, and no part of another.
    pub(crate) fn look(&self) -> Result<(), String> {
        let archive = self.archive().map_err(|error| error.to_string())?;
        let known = self.known.lock().unwrap_or_else(PoisonError::into_inner).clone();
        for (value, is) in known {
            let read = prefix(value).and_then(|prefix| {
                let array = Array::open(archive.clone(), &prefix)?;
                array.read_as::<u16>(0..LENGTH)
            });
            let found = match read {
                Ok(values) if values == elements(value, LENGTH) => match is {
                    Is::Unknown => Is::Seen,
                    Is::Absent => Is::There,
                    is => is,
                },
                Ok(values) => {
                    self.history.blame(format!("the array of {value} is {values:?}"));
                    return Ok(());
                }
                Err(ArrayError::NotFound { .. }) => Is::Absent,
                Err(error) => return Err(error.to_string()),
            };
            if is != Is::Unknown && is != found && !self.world.is_damaged() {
                self.history.blame(format!("the array of {value} was {is:?}, and is {found:?}"));
            }
            self.learn(value, found);
        }
        Ok(())
    }

    /// Looks, and removes what sessions left that were interrupted.
    pub(crate) fn audit(&self) -> Result<(), String> {
        drop(store(self.world, self.number));
        let looked = self.look();
        if self.world.is_damaged() {
            return Ok(());
        }
        looked?;
        let words = |error: StoreError| format!("clean: {error}");
        let session = Session::begin(&self.archive().map_err(words)?).map_err(words)?;
        session.store().clean(&Prefix::root(), &mut |_| {}).map_err(words)?;
        drop(session);
        let folder = self.path().parent().map(fs::read_dir);
        for entry in folder.ok_or("a folder")?.map_err(|error| error.to_string())? {
            let name = entry.map_err(|error| error.to_string())?.file_name();
            if name != "z.zip" {
                return Err(format!("{} is left", name.display()));
            }
        }
        Ok(())
    }
}

fn prefix(value: u16) -> Result<Prefix, ArrayError> {
    Ok(Prefix::new(format!("a{value}"))?)
}
