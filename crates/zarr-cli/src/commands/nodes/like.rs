//! The source of `create --like`.

use std::path::PathBuf;
use std::{fs, io};

use zarr_kit::metadata::Codec;
use zarr_kit::report::format::npy;
use zarr_kit::{ArrayMetadata, DataType};

use crate::error::CliError;
use crate::notation::data_type;
use crate::stores::node_store::NodeStore;

/// The source that `--like` names.
pub(crate) struct Like {
    pub(crate) shape: Vec<u64>,
    pub(crate) data_type: Option<DataType>,
    /// The whole of it, if it is an array.
    pub(super) metadata: Option<ArrayMetadata>,
}

impl Like {
    pub(crate) fn open(path: &str) -> Result<Self, CliError> {
        if !path.to_ascii_lowercase().ends_with(".npy") {
            let metadata = NodeStore::open(path)?.metadata()?;
            let (shape, data_type) = (metadata.shape().to_vec(), metadata.data_type().clone());
            return Ok(Self { shape, data_type: Some(data_type), metadata: Some(metadata) });
        }
        let path = PathBuf::from(path);
        let file = fs::File::open(&path);
        let file = file.map_err(|cause| CliError::File { path: path.clone(), cause })?;
        let (shape, name) = npy::read_shape(&mut io::BufReader::new(file))
            .map_err(|reason| CliError::Input { path: path.clone(), reason })?;
        // Another type may be given. The byte order is the file's, not the array's. Raw bytes are not
        // taken for what they may be, nor for raw bytes.
        let name = name.filter(|name| !data_type::is_perhaps_small_float(name));
        let data_type = name.and_then(|name| Some(data_type::of_numpy(&name)?.data_type));
        Ok(Self { shape, data_type, metadata: None })
    }

    /// Takes the chunks within shards for the chunks, for a new array with other shards.
    pub(super) fn leave_shards(&mut self) -> Result<(), CliError> {
        if let Some(metadata) = &mut self.metadata {
            let wrong = |cause| CliError::Metadata { argument: "--like", cause };
            *metadata = metadata.without_shards().map_err(wrong)?;
        }
        Ok(())
    }

    /// The other array's codecs, if they fit this type and number of axes.
    pub(super) fn codecs(&self, data_type: &DataType, rank: usize) -> Option<&[Codec]> {
        let same = self.shape.len() == rank && self.data_type.as_ref() == Some(data_type);
        self.metadata.as_ref().filter(|_| same).map(ArrayMetadata::codecs)
    }
}
