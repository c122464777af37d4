//! File systems of a given size.

use std::path::{Path, PathBuf};
use std::process::Command;

/// A small file system in memory, until this is dropped.
#[derive(Debug)]
pub struct SmallDisk(PathBuf);

impl SmallDisk {
    /// `None`, with the reason printed, if this process may not mount.
    pub fn mount(at: &Path, options: &str) -> Option<Self> {
        let result =
            Command::new("mount").args(["-t", "tmpfs", "-o", options, "tmpfs"]).arg(at).output();
        match result {
            Ok(output) if output.status.success() => Some(Self(at.to_owned())),
            Ok(output) => {
                let reason = String::from_utf8_lossy(&output.stderr);
                println!("skipped: mounting is not permitted here: {}", reason.trim());
                None
            }
            Err(error) => {
                println!("skipped: there is no mount command: {error}");
                None
            }
        }
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg(&self.0).status();
    }
}
