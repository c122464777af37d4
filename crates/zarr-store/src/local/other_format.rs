//! Files of other formats in place of a store: their names, and programs that read them.

use std::fs::File;
use std::io::{self, ErrorKind, Read as _};
use std::path::Path;

/// The bytes of a file that are looked at. The header of HDF5 may follow a block of the user, of 512
/// bytes or of a power of two times that.
const LOOKED_AT: u64 = 4096 + 8;

/// A format, with the first bytes of its files.
struct Format {
    begins: &'static [&'static [u8]],
    name: &'static str,
    /// How to make it readable; `FILE` is the path.
    instead: &'static str,
}

const HDF5: Format = Format {
    begins: &[b"\x89HDF\r\n\x1a\n"],
    name: "NetCDF-4 or HDF5",
    instead: "write references to its chunks, and open FILE.json: `import json, kerchunk.hdf; \
              json.dump(kerchunk.hdf.SingleHdf5ToZarr(\"FILE\").translate(), open(\"FILE.json\", \"w\"))`, \
              or by VirtualiZarr",
};

const FORMATS: &[Format] = &[
    HDF5,
    Format {
        begins: &[b"CDF\x01", b"CDF\x02", b"CDF\x05"],
        name: "NetCDF-3",
        instead: "write references to its arrays, and open FILE.json: `import json, kerchunk.netCDF3; \
                  json.dump(kerchunk.netCDF3.NetCDF3ToZarr(\"FILE\").translate(), \
                  open(\"FILE.json\", \"w\"))`, or by VirtualiZarr",
    },
    Format {
        begins: &[b"GRIB"],
        name: "GRIB",
        instead: "its elements are decoded by eccodes alone; copy it: `import xarray, zarr_kit.xarray; \
                  zarr_kit.xarray.to_zarr(xarray.open_dataset(\"FILE\", engine=\"cfgrib\"), \"FILE.zarr\")`",
    },
    Format {
        begins: &[b"II*\0", b"MM\0*", b"II+\0", b"MM\0+"],
        name: "TIFF",
        instead: "write references to its tiles, and open FILE.json: `import tifffile; \
                  tifffile.imread(\"FILE\", aszarr=True).write_fsspec(\"FILE.json\", url=\"\")`",
    },
];

/// The error of opening a path as a store that is a file, or leads into a file.
pub(super) fn not_a_folder(path: &Path) -> io::Error {
    let file = path.ancestors().find(|path| path.is_file());
    let Some((file, format)) = file.and_then(|file| Some((file, format_of(file)?))) else {
        return ErrorKind::NotADirectory.into();
    };
    let name =
        file.file_name().map_or_else(String::new, |name| name.to_string_lossy().into_owned());
    // A name with control characters or quotes is not put into code.
    let is_plain = |c: char| !c.is_control() && !matches!(c, '"' | '\\' | '`');
    let name = if name.chars().all(is_plain) { name } else { "FILE".to_owned() };
    let what = if file == path { "this" } else { name.as_str() };
    let instead = format.instead.replace("FILE", &name);
    let text = format!("{what} is a {} file, not a Zarr store: {instead}", format.name);
    io::Error::new(ErrorKind::NotADirectory, text)
}

/// The format of a file of arrays; `None` for other files, and for unreadable files.
fn format_of(file: &Path) -> Option<&'static Format> {
    let mut bytes = Vec::new();
    let _read = File::open(file).ok()?.take(LOOKED_AT).read_to_end(&mut bytes).ok()?;
    let begins = |at: usize, format: &Format| {
        let rest = bytes.get(at..).unwrap_or_default();
        format.begins.iter().any(|begin| rest.starts_with(begin))
    };
    let found = FORMATS.iter().find(|format| begins(0, format));
    found.or_else(|| [512, 1024, 2048, 4096].iter().any(|at| begins(*at, &HDF5)).then_some(&HDF5))
}
