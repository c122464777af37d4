//! `cargo xtask python`: builds and tests the Python package in a separate environment.

use std::path::Path;
use std::process::Command;

use crate::run::{Outcome, root, step, target};
use crate::testing::{optimised, s3};
use crate::venv;

/// Builds the package as `pip install` does, and runs its tests, its examples and a type checker.
/// With `--if-possible`, a machine without a suitable Python or its packages is not a failure. With
/// `--public`, the package that was installed last runs zarr-python's tests of its public interface.
pub(crate) fn python(arguments: &[String]) -> Outcome {
    let if_possible = match arguments {
        [] => false,
        [flag] if flag == "--if-possible" => true,
        [flag] if flag == "--public" => return zarr_python(&venv::package()?, "public.py", &[]),
        _ => return Err("usage: cargo xtask python [--if-possible | --public]".to_owned()),
    };
    let prepared = venv::package().and_then(|python| {
        zarr_python(&python, CODECS, &["--fetch"])?;
        Ok(python)
    });
    match prepared {
        Ok(python) => build_and_test(&python),
        Err(reason) if if_possible => {
            eprintln!("── the Python package is not tested: {reason}");
            Ok(())
        }
        Err(reason) => Err(reason),
    }
}

/// Installs a wheel, and runs the package's tests and examples with it.
pub(crate) fn test_wheel(wheel: &Path) -> Outcome {
    let python = venv::package()?;
    let pip = ["pip", "install", "--quiet", "--no-deps", "--force-reinstall"];
    step(module(&python, &pip).arg(wheel))?;
    test(&python)
}

fn build_and_test(python: &Path) -> Outcome {
    let package = root().join("crates/zarr-python");
    let module = |arguments: &[&str]| module(python, arguments);
    let pip = ["pip", "install", "--quiet", "--no-deps", "--no-build-isolation"];
    // pip calls maturin by name, which is in the environment.
    let inherited = std::env::var_os("PATH").unwrap_or_default();
    let path = python.parent().into_iter().map(Path::to_path_buf);
    let path = std::env::join_paths(path.chain(std::env::split_paths(&inherited)))
        .map_err(|error| error.to_string())?;
    // Built as the optimised tests, which share the crates of others with all tests.
    let [config, file] = optimised::CONFIG;
    let how = format!("--profile dev {config} '{}'", root().join(file).display());
    let mut install = module(&pip);
    install.arg("--force-reinstall").arg(&package).env("PATH", path);
    step(install.env("MATURIN_PEP517_ARGS", how))?;
    let cache = target().join("mypy");
    let mut types = module(&["mypy", "-p", "zarr_kit", "--config-file"]);
    types.arg(package.join("pyproject.toml")).arg("--cache-dir").arg(cache);
    step(&mut types)?;
    test(python)?;
    zarr_python(python, CODECS, &[])
}

/// The tests and examples, with the package that is installed.
fn test(python: &Path) -> Outcome {
    let pytest = ["pytest", "-q", "-p", "no:cacheprovider"];
    let tests = root().join("crates/zarr-python/tests");
    // Object storage is tested on this server and on moto's.
    step(module(python, &pytest).arg(tests).env("ZARR_KIT_S3_SERVER", s3::program()?))?;
    step(module(python, &pytest).args(["--doctest-modules", "--pyargs", "zarr_kit"]))
}

/// `python -m` with these arguments.
fn module(python: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new(python);
    command.arg("-m").args(arguments).env("PYTHONDONTWRITEBYTECODE", "1");
    command
}

/// Runs zarr-python's own tests with the package's codec pipeline.
const CODECS: &str = "run.py";

/// One of the scripts that run zarr-python's own tests, or, with `--fetch`, what they need.
fn zarr_python(python: &Path, script: &str, arguments: &[&str]) -> Outcome {
    let script = root().join("crates/zarr-python/tests/zarr_python").join(script);
    let mut command = Command::new(python);
    command.arg(script).arg(target().join("zarr-python-tests")).args(arguments);
    step(command.env("PYTHONDONTWRITEBYTECODE", "1"))
}
