//! The names of this crate's own files, which are not objects.

use std::borrow::Cow;
use std::path::{Component, Path};
use std::sync::LazyLock;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{SystemTime, UNIX_EPOCH};

use crate::hash::fnv1a;

/// The start of every such name; no key may have such a segment.
pub(super) const RESERVED: &str = ".zarr-kit-";
const TEMPORARY: &str = ".zarr-kit-tmp.";
const LOCK: &str = ".zarr-kit-lock.";
const TURN: &str = ".zarr-kit-turn.";

/// The most characters of an object's name (of up to 4 bytes each) in such a name: file systems
/// allow names of 255 bytes.
const MAX_REPEATED: usize = 40;

pub(super) fn is_temporary(name: &str) -> bool {
    name.starts_with(TEMPORARY)
}

/// Whether this is an object's lock file, or the file of who waits to have that lock alone.
pub(super) fn is_lock(name: &str) -> bool {
    name.starts_with(LOCK) || name.starts_with(TURN)
}

/// A new name for the temporary file of an object. Boot, process, time and a counter make
/// collisions rare; after one the caller tries again.
pub(super) fn temporary(name: &str) -> String {
    static COUNTER: AtomicU64 = AtomicU64::new(0);
    let count = COUNTER.fetch_add(1, Ordering::Relaxed);
    let process = std::process::id();
    // A clock before 1970 only makes names less varied.
    let nanos = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |time| time.subsec_nanos());
    let repeated: String = name.chars().take(MAX_REPEATED).collect();
    let boot = boot().unwrap_or_default();
    format!("{TEMPORARY}{boot:x}.{process:x}.{nanos:x}.{count:x}.{repeated}")
}

/// Whether this is a temporary file of the object `of`.
pub(super) fn is_temporary_of(name: &str, of: &str) -> bool {
    let repeated: String = of.chars().take(MAX_REPEATED).collect();
    // After the empty text before the first dot, the start of every such name, and four numbers.
    is_temporary(name) && name.splitn(7, '.').nth(6) == Some(&repeated)
}

/// Whether a process of this system created a temporary file since the system started: then the
/// system itself knows every lock on it.
pub(super) fn is_of_this_boot(name: &str) -> bool {
    let made = name.strip_prefix(TEMPORARY).and_then(|rest| rest.split('.').next());
    boot().is_some_and(|boot| made == Some(format!("{boot:x}").as_str()))
}

/// A number that identifies this boot of this system, if the system provides one.
fn boot() -> Option<u64> {
    static BOOT: LazyLock<Option<u64>> = LazyLock::new(|| {
        if !cfg!(target_os = "linux") {
            return None;
        }
        let id = std::fs::read("/proc/sys/kernel/random/boot_id").ok()?;
        Some(fnv1a(&id)).filter(|boot| *boot != 0)
    });
    *BOOT
}

/// The name of an object's lock file.
///
/// Long names are replaced by a hash; two objects that share one only wait for each other
/// unnecessarily.
pub(super) fn lock(name: &str) -> String {
    format!("{LOCK}{}", short(name))
}

/// The name of the file of who waits to have an object's lock alone. No object has a lock file of
/// this name.
pub(super) fn turn(name: &str) -> String {
    format!("{TURN}{}", short(name))
}

fn short(name: &str) -> Cow<'_, str> {
    match name.chars().count() <= MAX_REPEATED {
        true => Cow::Borrowed(name),
        false => Cow::Owned(format!("#{:016x}", fnv1a(name.as_bytes()))),
    }
}

/// Whether a segment of a key is a file name on this platform. Each is, except on Windows.
pub(super) fn is_file_name(segment: &str) -> bool {
    !cfg!(windows) || is_windows_name(segment)
}

/// Whether Windows and its programs take a name as it is: it refuses some characters, drops dots and
/// spaces at the end, and opens devices by their names in any folder and with any extension.
fn is_windows_name(name: &str) -> bool {
    let refused = |c: char| c < ' ' || r#"<>:"/\|?*"#.contains(c);
    let stem = name.split('.').next().unwrap_or(name).trim_end_matches(' ').to_ascii_uppercase();
    let is_device = match stem.as_str() {
        "CON" | "PRN" | "AUX" | "NUL" | "CONIN$" | "CONOUT$" => true,
        stem => ["COM", "LPT"].iter().any(|device| {
            let mut number = stem.strip_prefix(device).unwrap_or_default().chars();
            matches!((number.next(), number.next()), (Some('1'..='9' | '¹' | '²' | '³'), None))
        }),
    };
    !name.contains(refused) && !name.ends_with(['.', ' ']) && !is_device
}

/// The first name of a path that is not a file name on this platform.
pub(super) fn not_a_file_name(path: &Path) -> Option<String> {
    path.components().find_map(|part| match part {
        Component::Normal(name) if !is_file_name(&name.to_string_lossy()) => {
            Some(name.to_string_lossy().into_owned())
        }
        _ => None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_turn_of_an_object_is_the_lock_of_no_other() {
        assert!(is_lock(&turn("x")));
        for name in ["x", "x.turn", "turn.x"] {
            assert_ne!(turn("x"), lock(name));
        }
    }

    /// <https://learn.microsoft.com/windows/win32/fileio/naming-a-file>
    #[test]
    fn names_that_windows_changes_or_reserves_are_not_file_names_there() {
        for name in [
            "con", "AUX", "nul.json", "Com1", "lpt9.a.b", "COM¹", "aux ", "aux .x", "conin$", "a.",
            "a ", "...", "C:", "a:b", "a?b", "*", "a|b", "a\"b", "a<", "a>b", "a\tb", "a\\b",
        ] {
            assert!(!is_windows_name(name), "{name}");
        }
        for name in [
            "a",
            "zarr.json",
            "0.0",
            ".zarray",
            "c",
            "a b",
            " a",
            "com",
            "com0",
            "com10",
            "lpt",
            "auxx",
            "con-1",
            "x.con",
            "é",
            "a#b",
            "a%b",
            "a;b",
            "~",
            "-",
            "COM¹1",
        ] {
            assert!(is_windows_name(name), "{name}");
        }
    }

    #[test]
    fn long_names_stay_within_what_file_systems_allow() {
        let long = "𝄞".repeat(63);
        assert!(temporary(&long).len() <= 255);
        assert!(lock(&long).len() <= 255);
        assert!(is_temporary(&temporary(&long)));
        assert!(is_lock(&lock(&long)));
        assert!(turn(&long).len() <= 255);
        assert!(is_lock(&turn(&long)));
        assert_ne!(lock(&long), lock(&"𝄢".repeat(63)));
        assert_eq!(is_of_this_boot(&temporary("0")), cfg!(target_os = "linux"));
        assert!(!is_of_this_boot(".zarr-kit-tmp.1.2.3.0"));
    }
}
