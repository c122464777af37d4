//! The page that shows stores: put together in `target/web/page`, and tested in Chromium.

use std::env;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::debian::unpack;
use crate::release::web::{copy, copy_all};
use crate::run::{Outcome, make_folder, output, read, remove_folder, root, step, write};

/// Where Debian installs Chromium, below the root of the system or of a folder.
const CHROMIUM: &str = "usr/lib/chromium/chromium";

/// Puts the page together from the package and from what zarrita.js reads zip files with, and tests it.
pub(super) fn page(folder: &Path, package: &Path) -> Outcome {
    let page = folder.join("page");
    remove_folder(&page)?;
    for made in ["zarr-kit", "zarrita"] {
        make_folder(page.join(made))?;
    }
    copy_all(&root().join("web/page"), &page)?;
    copy_all(package, &page.join("zarr-kit"))?;
    let modules = folder.join("node_modules");
    let storage = modules.join("@zarrita/storage");
    copy(&storage.join("dist/src/util.js"), &page.join("zarrita/util.js"))?;
    copy(&storage.join("LICENSE"), &page.join("zarrita/LICENSE-zarrita"))?;
    copy(&modules.join("unzipit/LICENSE.md"), &page.join("zarrita/LICENSE-unzipit"))?;
    let unzipit = "unzipit.module.js";
    copy(&modules.join("unzipit/dist").join(unzipit), &page.join("zarrita").join(unzipit))?;
    // A browser finds no package by its name.
    let zip = read(storage.join("dist/src/zip.js"))?;
    let local = zip.replace("from \"unzipit\"", &format!("from \"./{unzipit}\""));
    if local == zip {
        return Err("zip.js of zarrita.js does not import unzipit as it did".to_owned());
    }
    write(page.join("zarrita/zip.js"), &local)?;
    let (chromium, libraries) = chromium(folder)?;
    let test = folder.join("tests/page.mjs");
    let mut command = Command::new("node");
    command.arg(test).arg(chromium).arg(&page).arg("fixtures").arg(folder.join("suite"));
    step(command.env("LD_LIBRARY_PATH", libraries))
}

/// Chromium, and the folders of its libraries: what `CHROMIUM` names, what is installed, or Debian's
/// packages, unpacked below the target folder beside those that the system has.
fn chromium(folder: &Path) -> Result<(PathBuf, String), String> {
    if let Some(chromium) = env::var_os("CHROMIUM") {
        return Ok((chromium.into(), String::new()));
    }
    let installed = Path::new("/").join(CHROMIUM);
    if installed.exists() {
        return Ok((installed, String::new()));
    }
    let at = folder.join("chromium");
    let (program, ready) = (at.join("root").join(CHROMIUM), at.join("ready"));
    if !ready.exists() {
        fetch(&at).map_err(|error| {
            format!(
                "the page is tested in Chromium, whose packages cannot be had ({error}): install \
                 chromium, or name the program in CHROMIUM"
            )
        })?;
        write(&ready, "")?;
    }
    let libraries = at.join("root/usr/lib/x86_64-linux-gnu").display().to_string();
    Ok((program, format!("{libraries}:{libraries}/pulseaudio")))
}

fn fetch(at: &Path) -> Outcome {
    for made in ["lists/partial", "archives/partial", "root"] {
        make_folder(at.join(made))?;
    }
    let place = at.display();
    let settings = at.join("apt.conf");
    write(
        &settings,
        &format!(
            "Dir::State::lists \"{place}/lists\"; Dir::Cache \"{place}\"; APT::Sandbox::User \"root\";\n\
             APT::Install-Recommends \"false\"; Acquire::Languages \"none\"; Debug::NoLocking \"1\";\n"
        ),
    )?;
    let apt = || {
        let mut command = Command::new("apt-get");
        command.env("APT_CONFIG", &settings);
        command
    };
    step(apt().arg("update"))?;
    // What the system lacks. It keeps its own C library, so these are packages of its release.
    let plan = output(apt().args(["install", "--simulate", "chromium", "fonts-dejavu-core"]))?;
    let new = plan.lines().filter_map(|line| line.strip_prefix("Inst ")?.split(' ').next());
    let packages: Vec<String> = new.map(str::to_owned).collect();
    unpack(&settings, &at.join("archives"), &packages, &at.join("root"))
}
