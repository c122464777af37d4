//! Files of references by VirtualiZarr: NetCDF-4 files read as one array, with values by h5py.

use std::fs;

use crate::support::{root, run, session, stdout, succeed, text};

const REFS: &str = "fixtures/references/v3.json";

#[test]
fn a_folder_of_netcdf_files_is_one_array() {
    let raw =
        |name: &str| fs::read(root().join("fixtures/references").join(name)).expect("a fixture");
    let folder = tempfile::tempdir().expect("makes a folder");
    let copy = folder.path().join("copy.zarr").display().to_string();
    let info = text(&root(), &["info", &format!("{REFS}/rain")]);
    assert!(info.contains("62 x 20") && info.contains("4 stored"), "{info}");
    succeed(&root(), &["check", "--data", REFS]);
    succeed(&root(), &["copy", REFS, &copy]);
    for place in [REFS, &copy] {
        for array in ["rain", "plain"] {
            let read = stdout(&root(), &["read", &format!("{place}/{array}"), "-f", "raw"]);
            assert_eq!(read, raw(&format!("{array}.raw")), "{place}/{array}");
        }
    }
    // Across the border of the two files.
    let part = ["read", &format!("{REFS}/plain"), "-r", "30:32,0", "-f", "raw"];
    let plain = raw("plain.raw");
    assert_eq!(stdout(&root(), &part), [&plain[1200..1202], &plain[1240..1242]].concat());
}

#[test]
fn files_of_other_formats_are_told_by_their_content() {
    let folder = tempfile::tempdir().expect("makes a folder");
    let put =
        |name: &str, bytes: &[u8]| fs::write(folder.path().join(name), bytes).expect("writes");
    let hdf5 = fs::read(root().join("fixtures/references/january.nc")).expect("a fixture");
    put("january.nc", &hdf5);
    put("no-extension", &hdf5);
    put("with-user-block.h5", &[&[0; 512][..], &hdf5].concat());
    put("classic.nc", b"CDF\x01\0\0\0\0");
    put("forecast", b"GRIB\0\0\0\x02");
    put("camera.tif", b"II*\0\x08\0\0\0");
    put("camera.ome", b"MM\0+\0\x08\0\0");
    put("quoted\".nc", b"CDF\x05");
    put("other.nc", b"CDF");
    put("empty.nc", b"");
    insta::assert_snapshot!(session(
        folder.path(),
        &[
            &["info", "january.nc"],
            &["read", "january.nc/rain"],
            &["info", "no-extension"],
            &["info", "with-user-block.h5"],
            &["info", "classic.nc"],
            &["copy", "forecast", "a.zarr"],
            &["check", "camera.tif"],
            &["info", "camera.ome"],
            &["info", "quoted\".nc"],
            &["info", "other.nc"],
            &["info", "empty.nc"],
            &["join", "january.nc", "no-extension", "--along", "time", "-o", "a.zarr"],
        ],
    ));
}

/// Chunks of 365 and 366 days, which kerchunk does not combine.
#[test]
fn twenty_years_of_netcdf_are_one_array() {
    let folder = tempfile::tempdir().expect("makes a folder");
    for entry in fs::read_dir(root().join("fixtures/netcdf-years")).expect("the fixtures") {
        let entry = entry.expect("an entry");
        fs::copy(entry.path(), folder.path().join(entry.file_name())).expect("copies");
    }
    let raw = fs::read(folder.path().join("temp.raw")).expect("the values by h5py");
    for program in ["kerchunk", "virtualizarr"] {
        let members = format!("{program}-*.json");
        for (how, joined) in [("--virtual", "years.zjoin"), ("--any-order", "years.zarr")] {
            let joined = format!("{program}-{joined}");
            let said = ["join", &members, "--along", "time", how, "-o", &joined];
            succeed(folder.path(), &said);
            let read = ["read", &format!("{joined}/temp"), "-f", "raw"];
            assert_eq!(stdout(folder.path(), &read), raw, "{joined}");
            let info = text(folder.path(), &["info", &format!("{joined}/temp")]);
            assert!(info.contains("7,305 x 2"), "{info}");
        }
    }
}

/// As those programs write them, with documents of Zarr version 2.
#[test]
fn references_of_kerchunk_and_virtualizarr_are_read() {
    let folder = tempfile::tempdir().expect("makes a folder");
    let raw =
        |name: &str| fs::read(root().join("fixtures/references").join(name)).expect("a fixture");
    let read = |place: &str| {
        stdout(&root(), &["read", &format!("fixtures/references/{place}"), "-f", "raw"])
    };
    for (array, size) in [("rain", 4), ("plain", 2)] {
        let all = raw(&format!("{array}.raw"));
        assert_eq!(read(&format!("virtualizarr.json/{array}")), all, "{array}");
        // Of January alone.
        assert_eq!(read(&format!("kerchunk.json/{array}")), all[..31 * 20 * size], "{array}");
    }
    let days: Vec<u8> = (0..62_i32).flat_map(i32::to_le_bytes).collect();
    assert_eq!(read("virtualizarr.json/time"), days);
    // The same references as tables, written through two programs.
    for tables in ["fastparquet.parq", "pyarrow.parq"] {
        assert_eq!(read(&format!("{tables}/rain")), raw("rain.raw"), "{tables}");
        assert_eq!(read(&format!("{tables}/plain")), raw("plain.raw"), "{tables}");
        assert_eq!(read(&format!("{tables}/time")), days, "{tables}");
        let tables = format!("fixtures/references/{tables}");
        succeed(&root(), &["check", "--data", &tables]);
        let info = text(&root(), &["info", &format!("{tables}/rain")]);
        assert!(info.contains("62 x 20") && info.contains("4 stored"), "{info}");
        let copy = folder.path().join("copy.zarr").display().to_string();
        succeed(&root(), &["copy", &tables, &copy, "--overwrite"]);
        let copied = stdout(&root(), &["read", &format!("{copy}/rain"), "-f", "raw"]);
        assert_eq!(copied, raw("rain.raw"));
    }
    let tree = text(&root(), &["tree", "fixtures/references/virtualizarr.json"]);
    assert!(tree.contains("rain") && tree.contains("station"), "{tree}");
    succeed(&root(), &["info", "fixtures/references/virtualizarr.json"]);
}

/// References may lead out of their folder only where that is allowed.
#[test]
fn targets_elsewhere_are_allowed_by_an_option() {
    let folder = tempfile::tempdir().expect("makes a folder");
    let data = fs::canonicalize(root().join("fixtures/references")).expect("a fixture");
    let refs = fs::read_to_string(data.join("v3.json")).expect("reads");
    let refs = refs.replace("\"./\"", &format!("\"{}/\"", data.display()));
    fs::write(folder.path().join("refs.json"), refs).expect("writes");
    let read = ["read", "refs.json/plain", "-f", "raw"];
    let output = run(folder.path(), &read);
    let stderr = String::from_utf8(output.stderr).expect("UTF-8");
    assert_eq!(output.status.code(), Some(2), "{stderr}");
    assert!(stderr.contains("january.nc") && stderr.contains("--targets"), "{stderr}");
    let allowed = data.display().to_string();
    let read = [&read[..], &["--targets", &allowed]].concat();
    assert_eq!(stdout(folder.path(), &read), fs::read(data.join("plain.raw")).expect("reads"));
}

/// A target that is not allowed is a finding, after which the others are checked.
#[test]
fn check_goes_on_after_a_target_that_is_not_allowed() {
    let (folder, data) = (tempfile::tempdir().expect("makes a folder"), root());
    let data = data.join("fixtures/references");
    let refs = fs::read_to_string(data.join("v3.json")).expect("reads");
    let outside = format!("\"{}/january.nc\"", data.display());
    let refs = refs.replace("\"{{months}}january.nc\"", &outside);
    fs::write(folder.path().join("refs.json"), refs).expect("writes");
    let february = fs::read(data.join("february.nc")).expect("reads");
    fs::write(folder.path().join("february.nc"), &february[..2400]).expect("writes");
    let output = run(folder.path(), &["check", "refs.json", "--data"]);
    let said = [output.stdout, output.stderr].concat();
    let said = String::from_utf8(said).expect("UTF-8");
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert!(said.contains("out of the folder of the reference file"), "{said}");
    // Those of February, which come later.
    assert!(said.contains("plain/c.1.0") && said.contains("rain/c.1.0"), "{said}");
}

/// The times of the files that references lead to count.
#[test]
fn a_file_that_was_modified_after_a_join_is_named_by_its_chunks() {
    let folder = tempfile::tempdir().expect("makes a folder");
    for name in ["v3.json", "january.nc", "february.nc"] {
        let from = root().join("fixtures/references").join(name);
        fs::copy(from, folder.path().join(name)).expect("copies");
    }
    let join = ["join", "v3.json/rain", "--along", "time", "--virtual", "-o", "rain.zjoin"];
    succeed(folder.path(), &join);
    let read = ["read", "rain.zjoin", "-f", "raw"];
    assert_eq!(
        stdout(folder.path(), &read),
        fs::read(root().join("fixtures/references/rain.raw")).expect("reads")
    );
    let february = folder.path().join("february.nc");
    let february = fs::File::options().write(true).open(february).expect("opens");
    let later = std::time::UNIX_EPOCH + std::time::Duration::from_secs(4_000_000_000);
    february.set_modified(later).expect("sets");
    let output = run(folder.path(), &read);
    let said = String::from_utf8(output.stderr).expect("UTF-8");
    assert_eq!(output.status.code(), Some(2), "{said}");
    for part in ["member v3.json/rain", "\"rain/c.1.0\"", "2096-10-02T07:06:40Z", "join again"] {
        assert!(said.contains(part), "{said}");
    }
    // January has not changed.
    succeed(folder.path(), &["read", "rain.zjoin", "--region", "0:31", "-f", "raw"]);
}

/// Of another length than the references were made for.
#[test]
fn a_file_that_was_truncated_is_named() {
    let folder = tempfile::tempdir().expect("makes a folder");
    for name in ["v3.json", "january.nc", "february.nc"] {
        let from = root().join("fixtures/references").join(name);
        fs::copy(from, folder.path().join(name)).expect("copies");
    }
    let february = folder.path().join("february.nc");
    let bytes = fs::read(&february).expect("reads");
    fs::write(&february, &bytes[..2400]).expect("writes");
    for array in ["rain", "plain"] {
        let output = run(folder.path(), &["read", &format!("v3.json/{array}")]);
        let stderr = String::from_utf8(output.stderr).expect("UTF-8");
        assert_eq!(output.status.code(), Some(2), "{stderr}");
        assert!(stderr.contains("february.nc") && stderr.contains("2400"), "{stderr}");
    }
}
